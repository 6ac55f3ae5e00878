"""Identifiers that users paste: each form read and written, and `parse`, which knows them apart.

Which end is which: counts run from the ace point up, and of two sides the one on roll comes first.
"""

from __future__ import annotations

import re

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers.fibs import fibs, from_fibs
from bgfmt.game.identifiers.gnubg_id import (
    from_gnubg_id,
    from_key_letters,
    from_match_id,
    from_position_id,
    from_position_ids,
    gnubg_id,
    key_letters,
    match_id,
    position_id,
    position_ids,
    position_key,
)
from bgfmt.game.identifiers.ogid import PATTERN as OGID
from bgfmt.game.identifiers.ogid import from_ogid, ogid
from bgfmt.game.identifiers.xgid import from_xgid, xgid
from bgfmt.game.state import GameState

__all__ = [
    "GameState",
    "fibs",
    "from_fibs",
    "from_gnubg_id",
    "from_key_letters",
    "from_match_id",
    "from_ogid",
    "from_position_id",
    "from_position_ids",
    "from_xgid",
    "gnubg_id",
    "key_letters",
    "match_id",
    "ogid",
    "parse",
    "parse_position",
    "parse_side",
    "position_id",
    "position_ids",
    "position_key",
    "xgid",
]


SIDE = r"[\d\s,]*(?:bar[\s,]+\d+[\s,]*)?"


def parse(text: str) -> GameState:
    """The state that any identifier, or the counts of two sides, stand for; PositionError for anything else.

    >>> parse("dwMAAN4FAAAAAA:cAkAAAAAAAAE").position.us
    Side(4, 3, 1)
    """
    text = text.strip("\0\r\n\t ")
    if text.startswith("board:"):
        return from_fibs(text)
    if text.startswith("XGID=") or re.fullmatch(r"[-A-Oa-o]{26}:.*", text):
        return from_xgid(text)
    if re.fullmatch(f"{SIDE}/{SIDE}", text):
        first, _, second = text.partition("/")
        return GameState.of(Position(_counts(first), _counts(second)).check())
    if re.fullmatch(r"[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]*)?", text):
        return from_gnubg_id(text)
    if re.fullmatch(r"[A-Za-z0-9+/]{12}", text):
        return from_match_id(text)
    if re.fullmatch(r"[A-P]{20}", text):
        return GameState.of(from_key_letters(text))
    if OGID.match(text):
        return from_ogid(text)
    raise PositionError(
        f"{text[:80]!r}: neither counts of two sides (such as '4 3 1 / 3 3 2', on roll first) "
        "nor a Position ID, Match ID, GNUbg ID, XGID, FIBS board, OGID or position key"
    )


def parse_position(text: str) -> Position:
    """The position, side on roll first, that any identifier or the counts of two sides stand for."""
    return parse(text).position


def parse_side(text: str) -> Side:
    """One side: counts from the ace point up ("0 0 0 2 3 4", "0 1 bar 2"), or the side on roll of any identifier."""
    if re.fullmatch(SIDE, text) and re.search(r"\d", text):
        return _counts(text)
    return parse_position(text).us


def _counts(text: str) -> Side:
    points, _, bar = text.partition("bar")
    said = re.findall(r"\d+", points), re.findall(r"\d+", bar)
    if any(len(number) > 9 for part in said for number in part):
        raise PositionError(f"{text.strip()[:80]!r}: a point holds at most 15 chequers")
    numbers, on_bar = [int(number) for number in said[0]], int(said[1][0]) if said[1] else 0
    if len(numbers) > 25 or (bar and len(numbers) > 24):
        raise PositionError(f"{len(numbers)} counts: a side has 24 points and, as the 25th, the bar")
    if any(number > 15 for number in (*numbers, on_bar)):
        raise PositionError(f"{text.strip()!r}: a point holds at most 15 chequers")
    return Side(*numbers[:24], bar=numbers[24] if len(numbers) == 25 else on_bar)
