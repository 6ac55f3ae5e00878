"""A report as a page of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}pre{font-size:12px}"
    ".good{color:#060}.bad{color:#a00}"
)
FACTS = ("title", "format", "recipe", "rung", "entries", "checked", "wrong", "inherited", "cause", "known_as")


def html(reports: Sequence[Mapping[str, Any]]) -> str:
    """A page for reports as `Report.as_dict` gives them."""
    body = "\n".join(_report(report) for report in reports)
    head = f"<meta charset='utf-8'><title>bgfmt verify</title><style>{STYLE}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def _report(report: Mapping[str, Any]) -> str:
    kind = "bad" if report["exit_code"] else "good"
    lines = [f"<h1>{escape(report['file'])}</h1>", f"<p class='{kind}'>{escape(report['verdict'])}</p>"]
    facts = [(name, report[name]) for name in FACTS if report[name]]
    facts += [(f"differences {size}", count) for size, count in report["differences"].items()]
    lines.append(_table(facts))
    lines += [f"<p>{escape(note)}</p>" for note in report["notes"]]
    if report["exact"]:
        lines += ["<h2>Against the truth</h2>", _table(list(_flat(report["exact"])))]
    if report["findings"]:
        lines.append("<h2>Findings</h2>")
    for finding in report["findings"]:
        lines.append(f"<p>{escape(finding['message'])}</p>")
        if finding.get("board"):
            lines.append(f"<pre>{escape(finding['board'])}</pre>")
    lines += [_report(part) for part in report.get("parts", ())]
    return "\n".join(lines)


def _table(rows: Sequence[tuple[str, Any]]) -> str:
    cells = "".join(
        f"<tr><th>{escape(name.replace('_', ' '))}</th><td>{escape(str(v))}</td></tr>" for name, v in rows
    )
    return f"<table>{cells}</table>"


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
