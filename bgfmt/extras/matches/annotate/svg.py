"""A position as SVG, for a page with its style: the side on roll at the bottom, its home board on the right.

`DEFINITIONS` holds the empty board and has to stand once in the page, before the boards; `STYLE` colours them (by
classes alone: what is used from definitions has no ancestors).
"""

from __future__ import annotations

from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState

POINT, RADIUS, SHOWN = 28, 12, 5
LEFT, RIGHT = 10, 206  # where the halves begin
TOP, BOTTOM, LONG = 18, 288, 112
WIDTH, HEIGHT = 420, 306
MIDDLE = (TOP + BOTTOM) // 2
BAR_AT, TRAY_AT = 192, 382

STYLE = """
.board{display:block;width:100%;max-width:26rem;height:auto}
.felt{fill:var(--felt);stroke:var(--edge);stroke-width:2}.bar{fill:var(--edge)}
.dark{fill:var(--point-a)}.light{fill:var(--point-b)}
.label{font:10px system-ui,sans-serif;text-anchor:middle;fill:var(--text)}
.x{fill:var(--x);stroke:var(--x-edge);stroke-width:1.5}.o{fill:var(--o);stroke:var(--o-edge);stroke-width:1.5}
.nx,.no{font:700 10px system-ui,sans-serif;text-anchor:middle;fill:var(--x-text)}.no{fill:var(--o-text)}
.die{fill:var(--die);stroke:var(--edge)}
.number{font:700 13px system-ui,sans-serif;text-anchor:middle;fill:var(--die-text)}
"""


def _x(point: int) -> float:
    """Middle of a point of the side on roll."""
    place = 12 - point if point <= 12 else point - 13
    return (LEFT if place < 6 else RIGHT) + (place % 6 + 0.5) * POINT


def _definitions() -> str:
    out = [
        f'<rect class="felt" x="{LEFT}" y="{TOP}" width="{RIGHT + 6 * POINT - LEFT}" height="{BOTTOM - TOP}"/>'
    ]
    out.append(
        f'<rect class="bar" x="{LEFT + 6 * POINT}" y="{TOP}" width="{POINT}" height="{BOTTOM - TOP}"/>'
    )
    out.append(
        f'<rect class="felt" x="{RIGHT + 6 * POINT}" y="{TOP}" width="{POINT + 8}" height="{BOTTOM - TOP}"/>'
    )
    for point in range(1, 25):
        x, down = _x(point), point > 12
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
    """The board of a state, with its cube and dice."""
    position = state.position
    out = [
        f'<svg class="board" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_said(position)}">',
        '<use href="#empty"/>',
    ]
    for kind, side in (("o", position.them), ("x", position.us)):
        for own, count in enumerate(side.counts, 1):
            point = own if kind == "x" else 25 - own
            out.append(_stack(kind, _x(point), count, up=point <= 12))
        out += [_stack(kind, BAR_AT, side.bar, up=kind == "o", middle=True), _off(kind, 15 - side.chequers)]
    out.append(_cube(state))
    if state.dice:
        out += [
            _square(RIGHT + 3 * POINT + 17 * sign, MIDDLE, die)
            for sign, die in zip((-1, 1), state.dice, strict=True)
        ]
    return "".join([*out, "</svg>"])


def _said(position: Position) -> str:
    def of(side: Side) -> str:
        return ", ".join(f"{count} on {point}" for point, count in enumerate(side.counts, 1) if count)

    return f"On roll: {of(position.us)}. Other side: {of(position.them)}."


def _stack(kind: str, x: float, count: int, *, up: bool, middle: bool = False) -> str:
    """Chequers one upon another from the edge, or on the bar from its middle; more than five are counted."""
    if not count:
        return ""
    first = MIDDLE + (-30 if up else 30) if middle else BOTTOM - RADIUS - 1 if up else TOP + RADIUS + 1
    step = -2 * RADIUS if up else 2 * RADIUS
    places = [first + k * step for k in range(min(count, SHOWN))]
    out = [f'<circle class="{kind}" cx="{x:g}" cy="{y}" r="{RADIUS - 0.75:g}"/>' for y in places]
    if count > SHOWN:
        out.append(f'<text class="n{kind}" x="{x:g}" y="{places[-1] + 3.5:g}">{count}</text>')
    return "".join(out)


def _off(kind: str, count: int) -> str:
    """Chequers borne off, on their edges."""
    if not count:
        return ""
    places = [BOTTOM - 7 * (k + 1) - 1 if kind == "x" else TOP + 7 * k + 2 for k in range(count)]
    out = [
        f'<rect class="{kind}" x="{TRAY_AT - 2}" y="{y}" width="{POINT - 4}" height="5.5"/>' for y in places
    ]
    y = BOTTOM + 13 if kind == "x" else TOP - 6
    return "".join([*out, f'<text class="label" x="{TRAY_AT + 10}" y="{y}">{count} off</text>'])


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
