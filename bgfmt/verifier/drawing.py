"""A position as a board in text, for findings."""

from __future__ import annotations

from bgfmt.game.board import Position, Side
from bgfmt.game.drawing import draw, draw_side


def board_of(us: Side, them: Side | None = None) -> str:
    """The chequers of one or two sides; `X` is on roll."""
    return draw_side(us) if them is None else draw(Position(us, them))
