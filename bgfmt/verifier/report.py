"""What a verification says: a verdict in one line, findings, and how far it looked."""

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
    KEPT,
    LEVELS,
    Finding,
    Kind,
    Outcome,
    Rule,
    Seen,
    counted,
    exit_code,
    status_of,
)

NOTHING: Mapping[str, Any] = MappingProxyType({})
TAKEN_OVER = ("recipe", "entries", "checked", "inherited", "differences")  # from an outcome
COUNTS = ("entries", "checked", "wrong", "inherited")
#: what a report says in one word or number, in the order of JSON
PLAIN = (
    "file", "verdict", "status", "exit_code", "format", "title", "kind", "recipe", "rung", "known_as", *COUNTS,
    "cause",
)  # fmt: skip
STYLE = (  # of the page of HTML
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}pre{font-size:12px}"
    ".good{color:#060}.bad{color:#a00}"
)
FACTS = (
    "title", "format", "recipe", "rung", *COUNTS, "cause", "known_as", "sha256", "bgfmt", "date",
)  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The result of `bgfmt.verify`.

    status : proved, within tolerance, unproved (nothing wrong as far as it looked), differs (from every known
    recipe), damaged, not what it claims, or not readable. rung : the highest rung that was climbed whole. wrong,
    inherited : entries wrong in themselves, and those that only follow from wrong ones. differences : how many
    entries differ by how many units. exit_code : 0, 1 or 2 as the command line returns it.
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
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[Report] = field(default_factory=list)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return self.exit_code == 0

    def __str__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        return "".join(_in_html(*block) for block in _blocks(self.as_dict()))

    def findings_of(self, check: str) -> list[Finding]:
        """The findings of one rung."""
        return [finding for finding in self.findings if finding.rule.check == check]

    def raise_for_findings(self) -> Report:
        """Return self; VerificationError with the verdict when anything was found."""
        if not self.ok:
            raise VerificationError(f"{self.file}: {self.verdict}", self)
        return self

    def as_dict(self) -> dict[str, Any]:
        """The whole report as plain values."""
        out: dict[str, Any] = {name: getattr(self, name) for name in PLAIN}
        out |= {
            "differences": dict(self.differences),
            "exact": dict(self.exact),
            "findings": [finding_as_dict(finding) for finding in self.findings],
            "notes": list(self.notes),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }
        if self.parts:
            out["parts"] = [part.as_dict() for part in self.parts]
        return out


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """A finding as plain values, without what is empty."""
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


def build(file: str, seen: Seen, **about: Any) -> Report:
    """The report of one table; about : format, title, kind, exact and seconds of the `Report`."""
    status = status_of(seen)
    outcome = seen.outcome or Outcome()
    against = counted(seen)
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
        rung=seen.rung,
        known_as=next((str(f.found) for f in seen.findings if f.rule is Rule.KNOWN), ""),
        wrong=own if outcome.failing else 0,
        cause=words.likely(seen.likely or (outcome.likely if outcome.failing else None)),
        findings=faults[:KEPT],
        notes=[words.message(f) for f in notes],
        **{name: getattr(outcome, name) for name in TAKEN_OVER},
        **about,
    )


def together(file: str, reports: Sequence[Report]) -> Report:
    """One report over the databases of a file; of one its own."""
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
        seconds=_add_up(report.seconds for report in reports),
    )


def _add_up(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of the seconds by rung."""
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
    """What a page says of a report, in order, each with its kind; a table is rows of name and value."""
    yield "title", report["file"]
    yield "bad" if report["exit_code"] else "good", report["verdict"]
    facts = [(name, report[name]) for name in FACTS if report.get(name)]
    yield "table", facts + [(f"differences {size}", count) for size, count in report["differences"].items()]
    yield from (("text", note) for note in report["notes"])
    if report["exact"]:
        yield "heading", "Against the truth"
        yield "table", list(_flat(report["exact"]))
    if report["findings"]:
        yield "heading", "Findings"
    for finding in report["findings"]:
        yield "text", finding["message"]
        if finding.get("board"):
            yield "board", finding["board"]
    for part in report.get("parts", ()):
        yield from _blocks(part)


def markdown(reports: Sequence[Mapping[str, Any]]) -> str:
    """A page of Markdown for reports as `Report.as_dict` gives them."""
    return "\n".join(_in_markdown(*block) for report in reports for block in _blocks(report))


def _in_markdown(kind: str, value: Any) -> str:
    if kind == "table":
        rows = (f"| {_in_line(name.replace('_', ' '))} | {_in_line(v)} |\n" for name, v in value)
        return f"| | |\n|---|---|\n{''.join(rows)}"
    if kind == "board":
        return f"```text\n{value.rstrip()}\n```\n"
    return MARKDOWN[kind].format(_in_line(value))


def _in_line(value: object) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = escape(" ".join(str(value).split()), quote=False)
    return "".join(f"\\{c}" if c in "\\`*_[]|#" else c for c in text)


def html(reports: Sequence[Mapping[str, Any]]) -> str:
    """A page of HTML for reports as `Report.as_dict` gives them."""
    body = "\n".join(_in_html(*block) for report in reports for block in _blocks(report))
    head = f"<meta charset='utf-8'><title>bgfmt verify</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def _in_html(kind: str, value: Any) -> str:
    if kind == "table":
        cells = (f"<th>{escape(name.replace('_', ' '))}</th><td>{escape(str(v))}</td>" for name, v in value)
        return f"<table>{''.join(f'<tr>{both}</tr>' for both in cells)}</table>"
    return HTML[kind].format(escape(value))


def _flat(value: Mapping[str, Any], before: str = "") -> Any:
    for name, item in value.items():
        label = f"{before} {name}".strip()
        if isinstance(item, Mapping):
            yield from _flat(item, label)
        elif isinstance(item, list):
            for k, one in enumerate(item):
                yield from _flat(one, f"{label} {k + 1}") if isinstance(one, Mapping) else ((label, one),)
        else:
            yield label, item
