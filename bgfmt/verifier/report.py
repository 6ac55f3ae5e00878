"""The report of a verification: a one-line verdict, findings, and the level that was reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import Any

from bgfmt.errors import VerificationError
from bgfmt.verifier import words
from bgfmt.verifier.findings import (
    LEVELS,
    MAX_FINDINGS,
    Finding,
    Kind,
    Observations,
    Outcome,
    Rule,
    exit_code,
    select_faults,
    status_of,
)

EMPTY: Mapping[str, Any] = MappingProxyType({})
OUTCOME_FIELDS = ("recipe", "entries", "checked", "inherited", "differences")  # from an outcome
COUNTS = ("entries", "checked", "wrong", "inherited")
#: what a report says in one word or number, in the order of JSON
SCALAR_FIELDS = (
    "file", "verdict", "status", "exit_code", "format", "title", "kind", "recipe", "rung", "known_as", *COUNTS,
    "cause",
)  # fmt: skip
STYLE = (  # of the page of HTML
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}"
    "pre{font-size:12px;overflow-x:auto}h1,p,td{overflow-wrap:anywhere}"
    ".good{color:#060}.bad{color:#a00}"
)
#: fields of a report that a page lists, with what it calls them
PAGE_FIELDS = {
    "title": "title", "format": "format", "recipe": "recipe", "rung": "level", **{name: name for name in COUNTS},
    "cause": "cause", "known_as": "known_as", "sha256": "sha256", "bgfmt": "bgfmt", "date": "date",
}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The result of `bgfmt.verify`.

    Attributes
    ----------
    file : name of the file.
    verdict : the result in one line.
    status : proved, within tolerance, unproved (nothing wrong found in what was checked), differs (from every known
        recipe), damaged, not what it claims, or not readable.
    exit_code : exit code of the command, 0, 1 or 2.
    rung : the highest level that was completed.
    known_as : the published file with the same checksum, or "".
    entries, checked : entries of the table, and of those checked.
    wrong, inherited : entries that are wrong themselves, and those wrong only because they depend on wrong ones.
    differences : size of a difference -> number of entries.
    exact : errors of the stored numbers, see `bgfmt.verifier.measures`.
    findings, notes : faults, and remarks that count nothing against the file.
    parts : reports of the single databases, if the file holds several.
    seconds : time spent on each level.
    """

    file: str
    verdict: str
    status: str
    exit_code: int
    format: str = ""
    title: str = ""
    kind: str = ""
    recipe: str = ""
    rung: str = ""
    known_as: str = ""
    entries: int = 0
    checked: int = 0
    wrong: int = 0
    inherited: int = 0
    cause: str = ""
    differences: Mapping[str, float] = field(default_factory=dict)
    exact: Mapping[str, Any] = field(default_factory=dict)
    bound: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[Report] = field(default_factory=list)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there is nothing that counts against the file; notes do not."""
        return self.exit_code == 0

    def __str__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        return "".join(_in_html(*block) for block in _blocks(self.as_dict()))

    def raise_for_findings(self) -> Report:
        """Return the report itself, or raise VerificationError with the verdict if `ok` is false."""
        if not self.ok:
            raise VerificationError(f"{self.file}: {self.verdict}", self)
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report as dicts, lists, strings and numbers, as `--json` prints it."""
        out: dict[str, Any] = {name: getattr(self, name) for name in SCALAR_FIELDS}
        out |= {
            "differences": dict(self.differences),
            "exact": dict(self.exact),
            "bound": dict(self.bound),
            "findings": [finding_as_dict(finding) for finding in self.findings],
            "notes": list(self.notes),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }
        if self.parts:
            out["parts"] = [part.as_dict() for part in self.parts]
        return out


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as a dict of plain values, without fields that are empty or None."""
    out: dict[str, Any] = {
        "check": finding.rule.check,
        "rule": finding.rule.label,
        "kind": finding.rule.kind.value,
        "message": words.message(finding),
    }
    more = {"position_number": finding.entry, "position": words.position(finding)}
    more |= {name: getattr(finding, name) for name in ("field", "offset", "expected", "found")}
    more |= {"board": words.board(finding)}
    return out | {name: value for name, value in more.items() if value is not None and value != ""}


def build(file: str, seen: Observations, **about: Any) -> Report:
    """Build the report of one table.

    about : the fields format, title, kind, exact, bound and seconds of the `Report`.
    """
    status = status_of(seen)
    outcome = seen.outcome or Outcome()
    against = select_faults(seen)
    notes = [f for f in seen.findings if f.rule.kind is Kind.NOTE]
    notes += [f for f in seen.faults if f not in against]
    notes += [f for f in outcome.findings if f.rule.kind is Kind.NOTE]
    faults = [*against, *(f for f in outcome.findings if f.rule.kind is not Kind.NOTE)]
    own = outcome.failing if outcome.wrong is None else outcome.wrong
    return Report(
        file,
        words.verdict(seen, status),
        status.value,
        exit_code(status, seen.limited),
        rung=seen.level,
        known_as=next((str(f.found) for f in seen.findings if f.rule is Rule.KNOWN), ""),
        wrong=own if outcome.failing else 0,
        cause=words.likely(seen.likely or (outcome.likely if outcome.failing else None)),
        findings=faults[:MAX_FINDINGS],
        notes=[words.message(f) for f in notes],
        **{name: getattr(outcome, name) for name in OUTCOME_FIELDS},
        **about,
    )


def merge_reports(file: str, reports: Sequence[Report]) -> Report:
    """Merge the reports of a file's databases into one; a single report is returned as it is."""
    if len(reports) == 1:
        return reports[0]
    worst = max(reports, key=lambda r: r.exit_code)
    if worst.exit_code == 0:
        line = f"{len(reports)} databases; {'; '.join(r.verdict for r in reports)}"
    else:
        head, _, rest = worst.verdict.partition(": ")
        line = f"{head}: database {reports.index(worst)} of {len(reports)}: {rest}"
    return replace(
        worst,
        file=file,
        verdict=line,
        rung=min((r.rung for r in reports), key=LEVELS.index),
        **{name: sum(getattr(r, name) for r in reports) for name in COUNTS},
        findings=[f for r in reports for f in r.findings],
        notes=list(dict.fromkeys(note for r in reports for note in r.notes)),
        parts=list(reports),
        seconds=_sum_seconds(report.seconds for report in reports),
    )


def _sum_seconds(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of the seconds by level."""
    total: Counter[str] = Counter()
    for seconds in each:
        total.update(seconds)
    return dict(total)


# -- pages of HTML and Markdown ------------------------------------------------------------------------------


MARKDOWN = {"title": "# {}\n", "good": "**{}**\n", "bad": "**{}**\n", "heading": "## {}\n", "text": "- {}\n"}
HTML = {
    "title": "<h1>{}</h1>", "good": "<p class='good'>{}</p>", "bad": "<p class='bad'>{}</p>",
    "heading": "<h2>{}</h2>", "text": "<p>{}</p>", "board": "<pre>{}</pre>",
}  # fmt: skip


def _blocks(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the blocks of a report's page as (kind of block, text); for a table, its rows of (name, value)."""
    yield "title", report["file"]
    yield "bad" if report["exit_code"] else "good", report["verdict"]
    facts = [(label, report[name]) for name, label in PAGE_FIELDS.items() if report.get(name)]
    yield "table", facts + [(f"differences {size}", count) for size, count in report["differences"].items()]
    yield from (("text", note) for note in report["notes"])
    if report["exact"]:
        yield "heading", "Compared with exact numbers"
        yield "table", list(_flatten(report["exact"]))
    if report["bound"]:
        yield "heading", "Proved error bounds"
        yield "table", list(_flatten(report["bound"]))
    if report["findings"]:
        yield "heading", "Findings"
    for finding in report["findings"]:
        yield "text", finding["message"]
        if finding.get("board"):
            yield "board", finding["board"]
    for part in report.get("parts", ()):
        yield from _blocks(part)


def markdown(reports: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown page of reports in the form of `Report.as_dict`."""
    return "\n".join(_in_markdown(*block) for report in reports for block in _blocks(report))


def _in_markdown(kind: str, value: Any) -> str:
    if kind == "table":
        rows = (f"| {_in_line(name.replace('_', ' '))} | {_in_line(v)} |\n" for name, v in value)
        return f"| | |\n|---|---|\n{''.join(rows)}"
    if kind == "board":
        return f"```text\n{value.rstrip()}\n```\n"
    return MARKDOWN[kind].format(_in_line(value))


def _in_line(value: object) -> str:
    """Return text on one line, escaped so that Markdown shows it unchanged."""
    text = escape(" ".join(str(value).split()), quote=False)
    return "".join(f"\\{c}" if c in "\\`*_[]|#" else c for c in text)


def html(reports: Sequence[Mapping[str, Any]]) -> str:
    """Return an HTML page of reports in the form of `Report.as_dict`."""
    body = "\n".join(_in_html(*block) for report in reports for block in _blocks(report))
    width = "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    head = f"<meta charset='utf-8'>{width}<title>bgfmt verify</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def _in_html(kind: str, value: Any) -> str:
    if kind == "table":
        cells = (f"<th>{escape(name.replace('_', ' '))}</th><td>{escape(str(v))}</td>" for name, v in value)
        return f"<table>{''.join(f'<tr>{both}</tr>' for both in cells)}</table>"
    return HTML[kind].format(escape(value))


def _flatten(value: Mapping[str, Any], before: str = "") -> Any:
    for name, item in value.items():
        label = f"{before} {name}".strip()
        if isinstance(item, Mapping):
            yield from _flatten(item, label)
        elif isinstance(item, list):
            for k, one in enumerate(item):
                yield from _flatten(one, f"{label} {k + 1}") if isinstance(one, Mapping) else ((label, one),)
        else:
            yield label, item
