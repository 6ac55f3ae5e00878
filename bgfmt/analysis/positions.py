"""Text that stands for one side or for both."""

from __future__ import annotations

import re

from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse_position, parse_side

COUNTS = re.compile(r"[\d,/]+|bar")  # a part of counts written without quotes


def one_or_two(text: str) -> Side | Position:
    """A side from one list of counts, else a position; one whose other side is empty counts as one side."""
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
