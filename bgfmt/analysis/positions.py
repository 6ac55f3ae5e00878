"""Parse text that gives one side or both."""

from __future__ import annotations

import re

from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse, parse_side
from bgfmt.game.state import GameState

__all__ = ["COUNTS", "one_or_two", "side_or_state"]


COUNTS = re.compile(r"[\d,/]+|bar")  # a part of counts written without quotes


def one_or_two(text: str) -> Side | Position:
    """Parse one list of counts as a side, and any other text (two lists, or an identifier) as a position.

    A position whose other side is empty is returned as a `Side` too. ValueError for text that is neither.
    """
    found = side_or_state(text)
    return found if isinstance(found, Side) else found.position


def side_or_state(text: str) -> Side | GameState:
    """Parse text as `one_or_two` does, but return the game state of both sides with all that an identifier holds."""
    if "/" not in text and COUNTS.fullmatch(text.replace(" ", "")):
        return parse_side(text)
    try:
        state = parse(text)
    except ValueError:
        try:
            return parse_side(text)
        except ValueError:
            pass
        raise
    return state if state.position.them.chequers else state.position.us
