"""Judgements as one HTML page: boards as SVG, its own style, light and dark, and no request to anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape
from importlib.resources import files
from urllib.parse import quote

from bgfmt.extras.matches.annotate import text
from bgfmt.extras.matches.annotate.judging import Judgement
from bgfmt.extras.matches.annotate.report import FIGURES, WORST, MatchReport, Report, Total
from bgfmt.game.display import DEFINITIONS, board
from bgfmt.game.drawing import many, printable
from bgfmt.game.identifiers import gnubg_id

STYLE = files("bgfmt.extras.matches.annotate") / "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(title: str, body: Iterable[str], style: str = "") -> str:
    """A page that asks nothing of any other: its title, then lines of HTML."""
    head = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,">
<title>{escaped(title)}</title><style>
{STYLE.read_text()}{style}</style></head><body>
{DEFINITIONS}
<main><h1>{escaped(title)}</h1>"""
    return "\n".join([head, *body, "</main></body></html>", ""])


def page(report: Report, *, most: int = WORST) -> str:
    """The page. Names of players and files are escaped, and shown without what a reader cannot see."""
    title = many(len(report.matches), "match").replace("matchs", "matches")
    if len(report.matches) == 1:
        title = text.title(report.matches[0])
    return document(title, _body(report, most))


def _body(report: Report, most: int) -> Iterator[str]:
    several = len(report.matches) != 1
    yield from _summary(report, several)
    worst = report.worst(most)
    if worst:
        heading = f"The {len(worst)} worst" if len(worst) > 1 else "The worst"
        yield f'<h2>{heading}</h2><p class="soft">By equity lost; the dice have no part in it.</p>'
        yield from _cards(worst, report.page, named=several)
    cards = {id(one) for _, one in worst}
    for one_match in report.matches:
        yield from _match(one_match, cards, report.page, named=several)
    if report.unread:
        yield "<h2>Not read</h2>"
        yield from (f"<p>{escaped(name)}: {escaped(why, 400)}</p>" for name, why, _ in report.unread)


def escaped(words: str, limit: int = 200) -> str:
    """Words for HTML, without what a reader cannot see, and cut."""
    return escape(printable(words, limit))


def _summary(report: Report, several: bool) -> Iterator[str]:
    bases = list(dict.fromkeys(text.basis(one) for one in report.matches))
    yield from (f'<p class="soft">{escaped(basis[:1].upper() + basis[1:])}.</p>' for basis in bases)
    if not several:
        yield f'<p class="soft">{escaped(text.coverage(report.matches[0]))}.</p>'
    yield _table(report.totals)
    yield (
        '<p class="soft">Errors are decisions that surely cost something. Forced plays, differences within the error '
        "of the numbers (close) and estimated ones (approximate) are none. MWC: match winning chance. Race PR: 500 "
        "times the equity lost a decision, as eXtreme Gammon reckons; race mEMG: thousandths of it, as gnubg does; "
        "both of the race alone. Doubtful, bad and very bad: from 0.04, 0.08 and 0.16, as gnubg marks them; XG "
        "errors and blunders: from 0.02 and 0.08.</p>"
    )


def _table(totals: list[Total]) -> str:
    columns = [f for f in FIGURES if f.heading and any(getattr(one, f.name) for one in totals)]
    head = "".join(f"<th>{figure.heading}</th>" for figure in columns)
    rows = "".join(
        f'<tr><td class="w">{escaped(one.name) or "(no name)"}</td>'
        + "".join(f"<td>{figure.text(one)}</td>" for figure in columns)
        + "</tr>"
        for one in totals
    )
    return (
        f'<div class="scroll"><table><thead><tr><th class="l">player</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cards(judgements: list[tuple[MatchReport, Judgement]], base: str, *, named: bool) -> Iterator[str]:
    yield '<div class="cards">'
    yield from (_card(report, one, base, named=named) for report, one in judgements)
    yield "</div>"


def _card(report: MatchReport, one: Judgement, base: str, *, named: bool) -> str:
    file = f"{escaped(report.file)}, " if named else ""
    lines = "".join(f"<p>{escaped(words)}</p>" for words in text.behind(one))
    best, decision = f"best {escaped(one.best)} {text.worth(one.best_equity, one.best_mwc)}", one.decision
    anchor = f"d{id(report):x}-{decision.game}-{decision.record}-{decision.kind.replace(' ', '-')}"
    return (
        f'<article class="card" id="{anchor}"><h3>{file}{escaped(text.where(one))}</h3>'
        f'<p class="soft">{escaped(text.score(one))}</p>{board(decision.state)}'
        f"<p>{escaped(one.did)} {text.worth(one.equity, one.mwc)} "
        f'<span class="loss">{escape(text.lost(one))}</span></p>'
        f"<p>{best}</p>{lines}<p>"
        f"{_link(f'<code>{escape(gnubg_id(decision.state))}</code>', report, one, base)}</p></article>"
    )


def _link(words: str, report: MatchReport, one: Judgement, base: str) -> str:
    """Words that lead to the position on a page of `bgfmt serve`, where its address is known."""
    if not base:
        return words
    asked = f"?p={quote(replace(one.decision.state, doubled=False).xgid, safe=':=')}"
    asked += f"&met={quote(report.met.name)}" if report.met else ""
    return f'<a href="{escape(base + asked)}">{words}</a>'


def _match(report: MatchReport, cards: set[int], base: str, *, named: bool) -> Iterator[str]:
    """A match: its sums where there are several, the boards of the errors not shown yet, and all its decisions."""
    if named:
        yield f"<h2>{escaped(report.file)}: {escaped(text.title(report))}</h2>"
        yield f'<p class="soft">{escaped(text.coverage(report))}.</p>'
        yield _table(report.totals) if report.judgements else ""
    rest = [one for one in report.judgements if one.error and id(one) not in cards]
    if rest:
        yield f"<details><summary>{many(len(rest), 'more error' if cards else 'error')}, with boards</summary>"
        yield from _cards([(report, one) for one in rest], base, named=False)
        yield "</details>"
    if report.judgements:
        yield f"<details><summary>All {many(len(report.judgements), 'decision')}</summary>"
        yield '<div class="scroll"><table><tbody>'
        yield from (_row(report, one, base) for one in report.judgements)
        yield "</tbody></table></div></details>"
    if report.problems:
        yield f"<details><summary>{many(len(report.problems), 'problem')} in the record</summary>"
        yield from (f"<p>{escaped(problem, 400)}</p>" for problem in report.problems)
        yield "</details>"


def _row(report: MatchReport, one: Judgement, base: str) -> str:
    where = _link(escaped(text.where(one)), report, one, base)
    return (
        f'<tr class="{one.verdict}"><td class="l">{where}</td><td class="l v">{one.verdict}</td>'
        f'<td class="w">{escaped(text.line(one), 400)}</td></tr>'
    )
