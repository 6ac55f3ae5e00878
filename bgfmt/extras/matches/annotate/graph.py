"""Draws the equity of a match by move, as the analysis in its file states it, as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html import escape
from typing import NamedTuple

from bgfmt.extras.matches.model import Match
from bgfmt.game.drawing import printable

WIDTH = 480
HEIGHT = 200
LEFT = 34  # room for the numbers of the axis
TOP = 18  # and for those of the games
BOTTOM = HEIGHT - 8
LEAST_SCALE = 1.0  # equity at the ends of the axis, if no move goes beyond


class Point(NamedTuple):
    """The equity of the first player before a move; `game` and `record` are indices."""

    game: int
    record: int
    equity: float


def file_equities(match: Match) -> Iterator[Point]:
    """Yield the equity of the match's first player at each move for which the file has an analysis with plays.

    It is the equity of the best play of that analysis.
    """
    for number, game in enumerate(match.games):
        for at, record in enumerate(game.records):
            if record.opinion is None or not record.opinion.plays:
                continue
            _, equity = record.opinion.plays[0]
            yield Point(number, at, -equity if record.player else equity)


def engine(match: Match) -> str:
    """Return the program of the first analysis of a play in the file; StopIteration without any."""
    records = (record for game in match.games for record in game.records)
    return printable(next(one.opinion.engine for one in records if one.opinion and one.opinion.plays))


def equity_graph(match: Match, errors: Collection[tuple[int, int]]) -> str:
    """Return an SVG graph of the first player's equity by move; "" if the file analyses fewer than two moves.

    errors : (index of the game, index of the record) of the moves to mark.
    """
    points = list(file_equities(match))
    if len(points) < 2:
        return ""
    scale = max(LEAST_SCALE, *(abs(point.equity) for point in points))
    step = (WIDTH - LEFT) / len(points)

    def x_of(place: int) -> float:
        return LEFT + (place + 0.5) * step

    def y_of(equity: float) -> float:
        return (TOP + BOTTOM) / 2 - equity / scale * (BOTTOM - TOP) / 2

    name = escape(printable(match.players[0]) or "the first player")
    label = f"Equity of {name} by move, from {points[0].equity:+.2f} to {points[-1].equity:+.2f}"
    out = [f'<svg class="graph" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for equity in (-scale, 0.0, scale):
        y = y_of(equity)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="end" x="{LEFT - 4}" y="{y + 4:.1f}">{equity:+.1f}</text>')
    starts = [
        place for place, point in enumerate(points) if not place or point.game != points[place - 1].game
    ]
    for first, past in zip(starts, [*starts[1:], len(points)], strict=True):
        x = LEFT + first * step
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BOTTOM}"/>')
        if (past - first) * step > 14:
            number = match.games[points[first].game].number
            out.append(f'<text x="{x + 3:.1f}" y="{TOP - 5}">{number}</text>')
        line = " ".join(f"{x_of(k):.1f},{y_of(points[k].equity):.1f}" for k in range(first, past))
        out.append(f'<polyline points="{line}"/>')
    for place, point in enumerate(points):
        if (point.game, point.record) in errors:
            out.append(f'<circle cx="{x_of(place):.1f}" cy="{y_of(point.equity):.1f}" r="3.5"/>')
    return "".join([*out, "</svg>"])
