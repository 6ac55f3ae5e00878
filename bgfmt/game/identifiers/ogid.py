"""OpenGammon's OGID. White is player 1 here; the colour field names the player who reached the position."""

from __future__ import annotations

import re

from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.game.state import GameState, as_state, sides_of, signed

PLACES = "0123456789abcdefghijklmnop"
PATTERN = re.compile(r"(?<![\w:])[0-9a-p]*:[0-9a-p]*:[BWND?]\d[OTPN]:\d{0,2}:[WB](?::[\w:]*)?")


def ogid(position: GameState | Position) -> str:
    """The OGID of a state; a pending double has none."""
    state = as_state(position)
    if state.doubled:
        raise PositionError("an OGID is made of positions without a pending double")
    counts = list(zip(PLACES, reversed(signed(state)), strict=True))
    white, black = ("".join(place * (sign * count) for place, count in counts) for sign in (1, -1))
    owner = {None: "N", 1: "W", 0: "B"}[state.cube_owner]
    dice = "".join(map(str, sorted(state.dice))) if state.dice else ""
    colour = "B" if state.turn == 1 else "W"
    length = f"{state.length}{'C' if state.crawford else 'L' if state.post_crawford else ''}"
    scores = f"{state.scores[1]}:{state.scores[0]}"
    return f"{white}:{black}:{owner}{state.cube_power}N:{dice}:{colour}::{scores}:{length}:0"


def from_ogid(text: str) -> GameState:
    """The state of an OGID."""
    if not PATTERN.fullmatch(text):
        raise PositionError(f"{text[:40]!r}: not an OGID")
    fields = text.split(":") + [""] * 5
    if set(fields[0]) & set(fields[1]):
        raise PositionError("OGID: both sides stand on one point")
    counts = [fields[0].count(place) - fields[1].count(place) for place in reversed(PLACES)]
    dice = tuple(int(die) for die in fields[3])
    if len(dice) not in (0, 2) or not all(1 <= die <= 6 for die in dice):
        raise PositionError(f"OGID: {fields[3]!r} are no dice")
    length = re.fullmatch(r"(\d*)([CL]?|G\d*)", fields[8])
    if length is None or (not fields[8] and any(map(_number, fields[6:8]))):
        raise PositionError(f"OGID: {fields[8]!r} is no length of a match")
    return GameState(
        sides_of(counts, "OGID"),
        turn=1 if fields[4] == "B" else 0,
        cube_value=1 << int(fields[2][1]),
        cube_owner={"W": 1, "B": 0}.get(fields[2][0]),
        dice=(dice[1], dice[0]) if len(dice) == 2 else None,
        scores=(_number(fields[7]), _number(fields[6])),
        length=_number(length.group(1)),
        crawford=length.group(2) == "C",
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
