"""Formats judgements as one HTML page with SVG boards, light and dark, without any request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from html import escape
from importlib.resources import files
from itertools import repeat
from urllib.parse import quote

from bgfmt import __version__
from bgfmt.extras.matches.annotate import text
from bgfmt.extras.matches.annotate.judging import ERROR, Judgement
from bgfmt.extras.matches.annotate.report import FIGURES, RENDERERS, WORST, MatchReport, Report, Total
from bgfmt.game.display import DEFINITIONS, board
from bgfmt.game.drawing import pluralize, printable
from bgfmt.game.identifiers import gnubg_id
from bgfmt.game.state import GameState

STYLE = files("bgfmt.extras.matches.annotate") / "page.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
FEW_PLAYERS = 3  # who have a column each; more have a row each
#: figures of the summary, by the headings under which they stand
GROUPS = {
    "Decisions": "decisions forced close approximate errors play_errors cube_errors estimated",
    "Losses": "equity_lost mwc_lost points_lost race_pr race_memg luck luck_mwc",
    "Kinds of errors": "missed_doubles wrong_doubles wrong_takes wrong_passes doubtful bad very_bad xg_errors "
    "xg_blunders file_differs",
}
#: what who decides does, in the heading of a card
ACTIONS = {
    "play": "plays",
    "no double": "rolls without a double",
    "double": "doubles",
    "take": "takes",
    "pass": "passes",
    "beaver": "beavers",
}
NOTE = (
    "An error is a decision that loses more than the possible error of its numbers. That holds for estimated numbers "
    "too: they count with the bound that 99.9 % of estimates keep. A smaller loss is close, and no error; where "
    "no bound is known the decision is approximate, and no error either. Equity lost adds up every loss but "
    "those of approximate decisions. MWC is the match winning chance. Race PR and race mEMG are of the race alone: "
    "500 times the equity lost, divided by the decisions that eXtreme Gammon counts; and 1,000 times, divided by "
    "those that gnubg counts. Marks as gnubg gives them: doubtful from 0.04, bad from 0.08, very bad from 0.16. "
    "XG errors lose 0.02 or more; those of 0.08 or more are XG blunders too. The numbers of these marks include "
    "close decisions. Only errors have boards."
)


def document(title: str, body: Iterable[str]) -> str:
    """Return an HTML page without external resources: its title, and the lines of its body."""
    head = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,">
<title>{escaped(title)}</title><style>
{STYLE.read_text()}</style></head><body>
{DEFINITIONS}
<main><h1>{escaped(title)}</h1>"""
    return "\n".join([head, *body, "</main></body></html>", ""])


def page(report: Report, *, most: int = WORST, made: date | None = None) -> str:
    """Return a report as an HTML page.

    Names of players and files are escaped, and shown without invisible characters.

    Parameters
    ----------
    report : the judged matches.
    most : number of errors shown with their boards at the top.
    made : the date on the page, by default today.
    """
    title = pluralize(len(report.matches), "match").replace("matchs", "matches")
    if len(report.matches) == 1:
        title = text.title(report.matches[0])
    return document(title, _body(report, most, made or date.today()))


def escaped(words: str, limit: int = 200) -> str:
    """Return text escaped for HTML, without invisible characters, cut to `limit` characters."""
    return escape(printable(words, limit))


def _body(report: Report, most: int, made: date) -> Iterator[str]:
    several = len(report.matches) != 1
    yield from _summary(report, made, several=several)
    worst = report.worst(most)
    if worst:
        heading = f"The {len(worst)} worst errors" if len(worst) > 1 else "The worst error"
        yield f'<h2>{heading}</h2><p class="soft">By equity lost; the dice have no part in it.</p>'
        yield from _cards(worst, report.page, named=several)
    cards = {id(one) for _, one in worst}
    for match in report.matches:
        yield from _match(match, cards, report.page, named=several)
    if report.unread:
        yield "<h2>Not read</h2>"
        yield from (f"<p>{escaped(name)}: {escaped(why, 400)}</p>" for name, why, _ in report.unread)


# -- the summary -----------------------------------------------------------------------------------------


def _summary(report: Report, made: date, *, several: bool) -> Iterator[str]:
    for basis in dict.fromkeys(map(text.basis, report.matches)):
        judged = basis.replace("judged", f"Judged by bgfmt {__version__} on {made.isoformat()}", 1)
        yield f'<p class="soft">{escaped(judged)}.</p>'
    if not several:
        yield f'<p class="soft">{escaped(text.coverage(report.matches[0]))}.</p>'
    yield _totals(report.totals)
    yield f'<p class="soft">{NOTE}</p>'


def _totals(totals: list[Total]) -> str:
    """Format the players' totals as a table: few players side by side, many below each other."""
    many = len(totals) > FEW_PLAYERS
    by_name = {figure.name: figure for figure in FIGURES}
    tables = []
    for heading, names in GROUPS.items():
        figures = [by_name[name] for name in names.split() if any(getattr(one, name) for one in totals)]
        if figures:
            lines = [["player" if many else heading, *(escaped(one.name) or "(no name)" for one in totals)]]
            lines += [[figure.heading, *map(figure.text, totals)] for figure in figures]
            heads, *rows = map(list, zip(*lines, strict=True)) if many else lines
            tables.append(f"<h3>{heading}</h3>" if many else "")
            tables.append(_table(heads, rows, "wide" if many else "small"))
    return f'<div class="{"players" if many else "figures"}">{"".join(tables)}</div>'


def _table(
    heads: list[str],
    rows: Iterable[Iterable[str]],
    kind: str = "small",
    row_kinds: Iterable[str] = repeat(""),
) -> str:
    """Format a table; the first cell of each row is its head.

    kind : class of the table; a "wide" one shows a row as a block on a phone. row_kinds : class of each row.
    """
    columns = "".join(f"<th>{head}</th>" for head in heads)
    lines = []
    for (first, *rest), row_kind in zip(rows, row_kinds, strict=False):
        cells = "".join(
            f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads[1:], rest, strict=True)
        )
        lines.append(f'<tr class="{row_kind}"><th scope="row">{first}</th>{cells}</tr>')
    return f'<table class="{kind}"><thead><tr>{columns}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


# -- decisions with their boards -------------------------------------------------------------------------


def _cards(judgements: list[tuple[MatchReport, Judgement]], base: str, *, named: bool) -> Iterator[str]:
    yield '<div class="cards">'
    yield from (_card(report, one, base, named=named) for report, one in judgements)
    yield "</div>"


def _link(words: str, report: MatchReport, one: Judgement, base: str) -> str:
    """Return the words as an HTML link to the position on the page of `bgfmt serve` at `base`, plain without one."""
    if not base:
        return words
    asked = f"?p={quote(replace(one.decision.state, doubled=False).xgid, safe=':=')}"
    asked += f"&met={quote(report.met.name)}" if report.met else ""
    return f'<a href="{escape(base + asked)}">{words}</a>'


def _card(report: MatchReport, one: Judgement, base: str, *, named: bool) -> str:
    decision = one.decision
    state = one.decision.state
    file = f"{escaped(report.file)}, " if named else ""
    dice = f" {state.dice[0]}-{state.dice[1]}" if state.dice else ""
    where = f"Game {decision.game_number}, move {decision.move}"
    heading = f"{where}: {_player(state, decision.player)} {ACTIONS[decision.kind]}{dice}"
    certainty = text.certainty(one)
    said = [*text.explanation_lines(one), f"{certainty[:1].upper()}{certainty[1:]}."]
    lines = "".join(f'<p class="soft">{escaped(words)}</p>' for words in said)
    identifier = _link(f"<code>{escape(gnubg_id(state))}</code>", report, one, base)
    return (
        f'<article class="card"><h3>{file}{heading}</h3>'
        f'<p class="soft">{text.score(one)}</p>'
        f"{_side(state, 1 - state.turn, one)}{board(state)}{_side(state, state.turn, one)}"
        f"{_compare(one)}<p>{escaped(text.verdict(one))}</p>{lines}<p>{identifier}</p></article>"
    )


def _player(state: GameState, player: int) -> str:
    return escaped(state.names[player]) or f"player {player + 1}"


def _side(state: GameState, player: int, one: Judgement) -> str:
    """Return the line beside the board: whose chequers these are, their pips, and who decides."""
    on_roll = player == state.turn
    side = state.position.us if on_roll else state.position.them
    colour = ("o", "light") if not on_roll else ("x", "dark")
    facts = (
        [pluralize(side.pips, "pip")] + ["on roll"] * on_roll + ["decides"] * (player == one.decision.player)
    )
    name = f"{_player(state, player)} ({colour[1]})"
    swatch = f'<span class="swatch {colour[0]}" aria-hidden="true"></span>'
    return f'<p class="side">{swatch}{name}: {", ".join(facts)}</p>'


def _compare(one: Judgement) -> str:
    """Return what was done and what was best as a table."""
    match = one.mwc is not None
    heads = ["", "play" if one.play else "action", *(["MWC"] * match), "equity", "loss"]
    lines = []
    for name, action, equity, mwc, loss in (
        ("Played" if one.play else "Done", one.did, one.equity, one.mwc, one.loss),
        ("Best", one.best, one.best_equity, one.best_mwc, None),
    ):
        sign = "~" if text.is_estimated(one, action) else ""
        chance = [] if mwc is None else [f"{sign}{100 * mwc:.2f} %"]
        lost = "" if loss is None else f'<span class="loss">{loss:.4f}</span>'
        lines.append([name, escaped(action), *chance, f"{sign}{equity:+.4f}", lost])
    return _table(heads, lines)


# -- a match ---------------------------------------------------------------------------------------------


def _match(report: MatchReport, cards: set[int], base: str, *, named: bool) -> Iterator[str]:
    """Yield a match: its totals if there are several matches, errors without a card so far, and all its decisions."""
    if named:
        yield f"<h2>{escaped(report.file)}: {escaped(text.title(report))}</h2>"
        yield f'<p class="soft">{escaped(text.coverage(report))}.</p>'
        yield _totals(report.totals) if report.judgements else ""
    rest = [(report, one) for one in report.judgements if one.error and id(one) not in cards]
    if rest:
        yield f"<details><summary>{pluralize(len(rest), 'more error' if cards else 'error')}, with boards</summary>"
        yield from _cards(rest, base, named=False)
        yield "</details>"
    if report.judgements:
        values = ["equity", "equity lost"] if report.met is None else ["MWC, equity", "MWC, equity lost"]
        heads = ["where", "player", "roll", "done", "best", *values, "verdict", "remarks"]
        rows = (_row(report, one, base) for one in report.judgements)
        verdicts = (one.verdict for one in report.judgements)
        yield f"<details><summary>All {pluralize(len(report.judgements), 'decision')}</summary>"
        yield _table(heads, rows, "wide list", verdicts)
        yield "</details>"
    if report.problems:
        yield f"<details><summary>{pluralize(len(report.problems), 'problem')} in the record</summary>"
        yield from (f"<p>{escaped(problem, 400)}</p>" for problem in report.problems)
        yield "</details>"


def _row(report: MatchReport, one: Judgement, base: str) -> list[str]:
    decision = one.decision
    state = one.decision.state
    right = one.loss is not None and one.loss <= ERROR
    return [
        _link(f"{decision.game_number}.{decision.move}", report, one, base),
        _player(state, decision.player),
        f"{state.dice[0]}-{state.dice[1]}" if state.dice else "",
        escaped(one.did),
        "" if right else escaped(one.best),
        text.format_equity(one, one.did),
        text.format_loss(one, sign=""),
        one.verdict,
        escaped("; ".join(text.remarks(one)), 400),
    ]


RENDERERS.append(page)
