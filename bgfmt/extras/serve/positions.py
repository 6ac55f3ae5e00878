"""Positions as questions write them and as answers tell them."""

from __future__ import annotations

from typing import Any

from bgfmt.analysis import asking
from bgfmt.errors import PositionError
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse_position, parse_side, position_id, xgid
from bgfmt.game.state import GameState


def describe(asked: Side | Position) -> dict[str, Any]:
    """A position as programs need it."""
    us, them = (asked, Side()) if isinstance(asked, Side) else (asked.us, asked.them)
    both = Position(us, them)
    return {
        "us": _counts(us),
        "them": None if isinstance(asked, Side) else _counts(them),
        "counts": str(asked),
        "position_id": position_id(both),
        "xgid": xgid(GameState.of(both)),
        "pips": [us.pips, them.pips],
        "chequers": [us.chequers, them.chequers],
        "contact": both.contact,
    }


def _counts(side: Side) -> list[int]:
    counts = [*side.counts, *(0,) * (6 - len(side.counts))]
    return [*counts, *(0,) * (24 - len(counts)), side.bar] if side.bar else counts


def number_in(text: str) -> int:
    if not (text[1:].isascii() and text[1:].isdigit() and len(text) < 40):
        raise Refusal("bad_position", f"{text[:40]!r} is no position number such as #7407", "position")
    return int(text[1:])


def one_or_two(text: str, *, keep: bool = False) -> Side | Position:
    """A side or a position; with `keep` one whose other side is empty stays a position."""
    one = asking.one_or_two(text)
    if isinstance(one, Position):
        return one
    if keep and ("/" in text or not asking.COUNTS.fullmatch(text.replace(" ", ""))):
        return parse_position(text)
    return one if not keep else parse_side(text)


def said_by(text: str) -> GameState | None:
    """What an identifier of two sides says beside them."""
    from bgfmt.game.identifiers import parse

    try:
        return parse(text)
    except PositionError:
        return None
