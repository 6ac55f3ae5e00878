"""Parse text that gives one side or both."""

from __future__ import annotations

import re

from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse_position, parse_side

__all__ = ["COUNTS", "one_or_two"]


COUNTS = re.compile(r"[\d,/]+|bar")  # a part of counts written without quotes


def one_or_two(text: str) -> Side | Position:
    """Parse one list of counts as a side, and any other text (two lists, or an identifier) as a position.

    A position whose other side is empty is returned as a `Side` too. ValueError for text that is neither.
    """
    if "/" not in text and COUNTS.fullmatch(text.replace(" ", "")):
        return parse_side(text)
    try:
        position = parse_position(text)
    except ValueError:
        try:
            return parse_side(text)
        except ValueError:
            pass
        raise
    return position if position.them.chequers else position.us
