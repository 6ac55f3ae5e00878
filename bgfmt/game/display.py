"""Notebook display: positions as SVG, answers and tables as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState, as_state

__all__ = [
    "BAR_AT",
    "BOTTOM",
    "DEFINITIONS",
    "HEIGHT",
    "LEFT",
    "LONG",
    "MAX_ROWS",
    "MAX_STACK",
    "MIDDLE",
    "POINT",
    "RADIUS",
    "RIGHT",
    "STYLE",
    "TOP",
    "TRAY_AT",
    "WIDTH",
    "board",
    "html",
    "html_table",
    "picture",
]


MAX_ROWS = 12  # rows of a list that are shown
#: of a board that stands by itself, on light and on dark
STYLE = "".join(
    f".bgfmt-board .{kind}{{{rule}}}"
    for kind, rule in {
        "felt": "fill:#efe6d2;stroke:#7b6a4d;stroke-width:2",
        "bar": "fill:#7b6a4d",
        "dark": "fill:#c9a26b",
        "light": "fill:#e0cfae",
        "x": "fill:#26384f;stroke:#0f1a28;stroke-width:1.5",
        "o": "fill:#fdfdfb;stroke:#6d6a63;stroke-width:1.5",
        "die": "fill:#fff;stroke:#7b6a4d",
        "label": "font:10px sans-serif;text-anchor:middle;fill:#888",
        "nx": "font:700 10px sans-serif;text-anchor:middle;fill:#fff",
        "no": "font:700 10px sans-serif;text-anchor:middle;fill:#1d1d1b",
        "number": "font:700 13px sans-serif;text-anchor:middle;fill:#1d1d1b",
    }.items()
)
POINT = 28
RADIUS = 12
MAX_STACK = 5  # chequers drawn on a point
# where the halves begin
LEFT = 10
RIGHT = 206
TOP = 18
BOTTOM = 288
LONG = 112
WIDTH = 420
HEIGHT = 306
MIDDLE = (TOP + BOTTOM) // 2
BAR_AT = 192
TRAY_AT = 382


def _x(point: int) -> float:
    """Return the x coordinate of the middle of a point of the side on roll."""
    place = 12 - point if point <= 12 else point - 13
    return (LEFT if place < 6 else RIGHT) + (place % 6 + 0.5) * POINT


def _definitions() -> str:
    bar = LEFT + 6 * POINT
    tray = RIGHT + 6 * POINT
    boxes = [("felt", LEFT, tray - LEFT), ("bar", bar, POINT), ("felt", tray, POINT + 8)]
    out = [
        f'<rect class="{kind}" x="{x}" y="{TOP}" width="{width}" height="{BOTTOM - TOP}"/>'
        for kind, x, width in boxes
    ]
    for point in range(1, 25):
        x = _x(point)
        down = point > 12
        base, tip = (TOP, TOP + LONG) if down else (BOTTOM, BOTTOM - LONG)
        half = POINT / 2 - 1
        kind = ("dark", "light")[point % 2]
        out.append(f'<path class="{kind}" d="M{x - half:g} {base}L{x:g} {tip}L{x + half:g} {base}Z"/>')
        out.append(f'<text class="label" x="{x:g}" y="{TOP - 6 if down else BOTTOM + 13}">{point}</text>')
    return "".join(out)


DEFINITIONS = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    f'<g id="empty">{_definitions()}</g></defs></svg>'
)


def board(state: GameState) -> str:
    """Draw the board of a state as an SVG element, with cube and dice; the side on roll plays from the bottom.

    The empty board is drawn by reference to `#empty`, so the page must contain `DEFINITIONS` once.
    """
    position = state.position
    label = f"On roll: {_points(position.us)}. Other side: {_points(position.them)}."
    out = [f'<svg class="board" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    out.append('<use href="#empty"/>')
    for kind, side in (("o", position.them), ("x", position.us)):
        for own, count in enumerate(side.counts, 1):
            point = own if kind == "x" else 25 - own
            out.append(_stack(kind, _x(point), count, up=point <= 12))
        out.append(_stack(kind, BAR_AT, side.bar, up=kind == "o", middle=True))
        out.append(_draw_borne_off(kind, max(0, state.chequers - side.chequers)))
    out.append(_cube(state))
    if state.dice:
        places = (RIGHT + 3 * POINT - 17, RIGHT + 3 * POINT + 17)
        out += [_square(x, MIDDLE, die) for x, die in zip(places, state.dice, strict=True)]
    return "".join([*out, "</svg>"])


def _points(side: Side) -> str:
    return ", ".join(f"{count} on {point}" for point, count in enumerate(side.counts, 1) if count)


def _stack(kind: str, x: float, count: int, *, up: bool, middle: bool = False) -> str:
    """Draw a stack of chequers from the edge, or on the bar from its middle.

    More than five are drawn as five and a count.
    """
    if not count:
        return ""
    first = MIDDLE + (-30 if up else 30) if middle else BOTTOM - RADIUS - 1 if up else TOP + RADIUS + 1
    step = -2 * RADIUS if up else 2 * RADIUS
    places = [first + k * step for k in range(min(count, MAX_STACK))]
    out = [f'<circle class="{kind}" cx="{x:g}" cy="{y}" r="{RADIUS - 0.75:g}"/>' for y in places]
    if count > MAX_STACK:
        out.append(f'<text class="n{kind}" x="{x:g}" y="{places[-1] + 3.5:g}">{count}</text>')
    return "".join(out)


def _draw_borne_off(kind: str, count: int) -> str:
    """Draw chequers borne off, edge-on in the tray."""
    if not count:
        return ""
    places = [BOTTOM - 7 * (k + 1) - 1 if kind == "x" else TOP + 7 * k + 2 for k in range(count)]
    box = f'<rect class="{kind}" x="{TRAY_AT - 2}" y="{{}}" width="{POINT - 4}" height="5.5"/>'
    y = BOTTOM + 13 if kind == "x" else TOP - 6
    return (
        f'{"".join(map(box.format, places))}<text class="label" x="{TRAY_AT + 10}" y="{y}">{count} off</text>'
    )


def _cube(state: GameState) -> str:
    if not state.cube_in_use or state.crawford:
        return ""
    y = {"centered": MIDDLE, "owned": BOTTOM - 18, "opponent": TOP + 18}[state.owner]
    return _square(BAR_AT, y, state.cube_value)


def _square(x: float, y: float, number: int) -> str:
    return (
        f'<rect class="die" x="{x - 11:g}" y="{y - 11:g}" width="22" height="22" rx="4"/>'
        f'<text class="number" x="{x:g}" y="{y + 4.5:g}">{number}</text>'
    )


def picture(position: GameState | Position) -> str:
    """Draw the board as one SVG that depends on nothing else in a page; see `board`."""
    drawn = board(as_state(position))
    drawn = drawn.replace('<svg class="board"', '<svg xmlns="http://www.w3.org/2000/svg" class="bgfmt-board"')
    return drawn.replace('<use href="#empty"/>', f"<style>{STYLE}</style>{_definitions()}")


# -- values as tables ------------------------------------------------------------------------------------


def html_table(rows: Iterable[Sequence[Any]], names: Iterable[str]) -> str:
    """Format rows of plain values (numbers, text, lists, dicts) as an HTML table; `names` are the headings."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{html(one)}</td>' for one in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def html(value: Any) -> str:
    """Format a plain value as HTML: a dict as a table with a row for each key.

    A list of dicts is a table with keys as columns, of at most `MAX_ROWS` rows; other lists are joined by commas.
    """
    if isinstance(value, Mapping):
        fields = (f"<tr><th>{escape(str(name))}</th><td>{html(one)}</td></tr>" for name, one in value.items())
        return f"<table>{''.join(fields)}</table>"
    if isinstance(value, (list, tuple)):
        more = f" ... {len(value)} in all" * (len(value) > MAX_ROWS)
        if value and isinstance(value[0], Mapping):
            return html_table([[*one.values()] for one in value[:MAX_ROWS]], value[0]) + more
        return escape(", ".join(map(_text, value[:MAX_ROWS]))) + more
    return escape(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) >= 1e-3 or not value else f"{value:.2g}"
    return "" if value is None else str(value)
