"""Identifiers that users paste: each form read and written, and `parse`, which knows them apart.

Which end is which: counts run from the ace point up, and of two sides the one on roll comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

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
    "says_cube",
    "xgid",
]


SIDE = r"[\d\s,]*(?:bar[\s,]+\d+[\s,]*)?"
#: how identifiers stand in longer text: with their name before them, or by a form that no other words have
_IS = r"\s*(?:[=:]\s*)?"
_ID = r"[A-Za-z0-9+/]{8,}"
_XGID = re.compile(rf"xgid{_IS}([-A-Z]+(?::[-\w]*)+)|(?<![-\w:])([-A-O]{{20,30}}(?::-?\w+){{7,9}})", re.I)
_POSITION_ID = re.compile(rf"position[- ]?id{_IS}({_ID})(?:\W+match[- ]?id{_IS}({_ID}))?", re.I)
_MATCH_ID = re.compile(rf"match[- ]?id{_IS}({_ID})", re.I)
_GNUBG_ID = re.compile(rf"gnu ?(?:bg)?[- ]?id{_IS}({_ID}(?::[A-Za-z0-9+/]+)?)", re.I)
_BARE_GNUBG_ID = re.compile(r"(?<![\w+/:])([A-Za-z0-9+/]{14}:[A-Za-z0-9+/]{12})(?![\w+/])")
_FIBS_LINE = re.compile(r"^[^\w\r\n]*(board:[^\r\n]*)", re.M)


def parse(text: str) -> GameState:
    """The state that a text stands for: an identifier, the counts of two sides, or text with an identifier in it.

    Text may be what a program puts on the clipboard (eXtreme Gammon, gnubg, BGBlitz) or a message around an XGID, a
    GNUbg ID, a Position ID or Match ID with its name, or a FIBS board line.

    Raises
    ------
    PositionError for text without a position or with several, and for a damaged identifier, which it names.

    >>> parse("dwMAAN4FAAAAAA:cAkAAAAAAAAE").position.us
    Side(4, 3, 1)
    """
    text = text.strip("\0\r\n\t ")
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
    return _inside(text)


def _inside(text: str) -> GameState:
    """The one state whose identifier stands in a longer text."""
    states = list(dict.fromkeys(read(name) for read, name in _named_inside(text)))
    if len(states) > 1:
        raise PositionError(f"the text holds {len(states)} different positions; paste one")
    if not states:
        start = " ".join(text[:40].split())
        raise PositionError(
            f"no position in {start!r}: expected counts of two sides ('4 3 1 / 3 3 2', on roll first), "
            "an XGID, GNUbg ID, OGID or FIBS board"
        )
    return states[0]


def _named_inside(text: str) -> Iterator[tuple[Callable[[str], GameState], str]]:
    """Every identifier in a text, and what reads it; a Position ID and the Match ID after it are one."""
    for match in _FIBS_LINE.finditer(text):
        yield from_fibs, match[1]
    for match in _XGID.finditer(text):
        yield from_xgid, (match[1] or match[2]).rstrip(":")
    for pattern in (_GNUBG_ID, _BARE_GNUBG_ID):
        for match in pattern.finditer(text):
            yield from_gnubg_id, match[1]
    positions = list(_POSITION_ID.finditer(text))
    for match in positions:
        yield from_gnubg_id, f"{match[1]}:{match[2]}" if match[2] else match[1]
    if not positions:
        for match in _MATCH_ID.finditer(text):
            yield from_match_id, match[1]


def says_cube(text: str) -> bool:
    """Whether a text that `parse` reads says where the cube lies: counts and a Position ID alone do not."""
    text = text.strip("\0\r\n\t ")
    if re.fullmatch(rf"{SIDE}/{SIDE}|[A-Za-z0-9+/]{{14}}|[A-P]{{20}}", text):
        return False
    names = list(_named_inside(text))
    return not names or any(read is not from_gnubg_id or ":" in name for read, name in names)


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
    words = re.findall(r"\d+", points), re.findall(r"\d+", bar)
    if any(len(number) > 9 for part in words for number in part):
        raise PositionError(f"{text.strip()[:80]!r}: a point holds at most 15 chequers")
    numbers, on_bar = [int(number) for number in words[0]], int(words[1][0]) if words[1] else 0
    if len(numbers) > 25 or (bar and len(numbers) > 24):
        raise PositionError(f"{len(numbers)} counts: a side has 24 points and, as the 25th, the bar")
    if any(number > 15 for number in (*numbers, on_bar)):
        raise PositionError(f"{text.strip()!r}: a point holds at most 15 chequers")
    return Side(*numbers[:24], bar=numbers[24] if len(numbers) == 25 else on_bar)
