"""OpenGammon's OGID.

Fields, separated by colons; those from the fourth on may be missing:

    white:black:cube[:dice[:colour[:state[:white's score[:black's score[:length[:move[:chequers]]]]]]]]

White is player 1 here. A chequer is a character, `0` to `9` and `a` to `p` for 0 to 25 on the absolute board (0 is
White's bar, 25 Black's) and `q` for off. The cube is its owner (`N`, `W`, `B`, `D` dead, `?` unknown), log2 of its
value, and an action: `N` none, `O` offered, `T` taken, `P` passed. The colour is the player who reached the position:
the other one is on roll, and of an offered double the colour is the doubler. The one exception is state `IW` without
dice, the beginning of a game, in which White is on roll.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.state import LARGEST_CUBE, Ended, GameState, as_state, sides_from_signed, signed_counts

PLACES = "0123456789abcdefghijklmnop"
OFF = "q"
PATTERN = re.compile(r"(?<![\w:])[0-9a-q]+:[0-9a-q]+:[BWND?]\d{1,2}[OTPN](?!\w)(?::[\w:]*)?")
#: text that begins like an OGID but is invalid, so that a message can name the field
DAMAGED = re.compile(r"(?<![\w:])(?=[0-9a-q]*[a-q])[0-9a-q]{2,30}:[0-9a-q]{2,30}:\w\d{1,2}[A-Z](?::[\w:]*)?")
MAX_FIELDS = 11
#: game states of an ended game
_ENDED: dict[str, Ended] = {
    "P": "passed", "G": "over", "M": "over", "F": "over", "RG": "resigned", "RM": "resigned", "FF": "resigned",
}  # fmt: skip
_WRITTEN_STATES = {"": "", "passed": "G", "over": "G", "resigned": "RG"}


class _Length(NamedTuple):
    points: int
    letter: str  # C Crawford game, L after it, G a number of games
    games: str


def ogid(position: GameState | Position) -> str:
    """Return OpenGammon's identifier of a state. Jacoby's rule, beavers and a resignation are lost in it."""
    state = as_state(position)
    counts = list(zip(PLACES, reversed(signed_counts(state)), strict=True))
    white = "".join(place * count for place, count in counts)
    black = "".join(place * -count for place, count in counts)
    owner = {None: "N", 1: "W", 0: "B"}[state.cube_owner]
    if not state.cube_in_use and state.cube_owner is None:
        owner = "D"
    action = "O" if state.doubled else "P" if state.ended == "passed" else "N"
    dice = "".join(map(str, sorted(state.dice))) if state.dice else ""
    reached_by = state.turn if state.doubled else 1 - state.turn
    word = "D" if state.doubled else _WRITTEN_STATES[state.ended]
    length = f"{state.length}{'C' if state.crawford else 'L' if state.post_crawford else ''}"
    fields = [
        white, black, f"{owner}{state.cube_power}{action}", dice, "BW"[reached_by], word,
        str(state.scores[1]), str(state.scores[0]), length, "0",
    ]  # fmt: skip
    if state.chequers != GameState.chequers:
        fields.append(str(state.chequers))
    return ":".join(fields)


def from_ogid(text: str) -> GameState:
    """Parse OpenGammon's identifier; PositionError names the field that is wrong."""
    fields = text.removeprefix("OGID=").split(":")
    if len(fields) > MAX_FIELDS:
        raise PositionError(f"an OGID has at most {MAX_FIELDS} fields, not {len(fields)}")
    given = len(fields)
    fields += [""] * (MAX_FIELDS - given)
    sides = _sides(fields[0], fields[1])
    cube = re.fullmatch(r"([BWND?])(\d{1,2})([OTPN])", fields[2])
    if cube is None or 1 << int(cube[2]) > LARGEST_CUBE:
        raise PositionError(
            f"{fields[2][:10]!r} is not a valid cube of an OGID: owner (N, W, B or D), log2 of the value, "
            "action (N, O, T or P)"
        )
    owner = cube[1]
    action = cube[3]
    dice = _dice(fields[3])
    if fields[4] not in ("", "W", "B"):
        raise PositionError(f"{fields[4][:10]!r} is not a valid colour of an OGID; it must be W or B")
    length = _length(fields)
    ended: Ended = "passed" if action == "P" else _ENDED.get(fields[5], "")
    doubled = not ended and (action == "O" or (action == "N" and fields[5] == "D"))
    chequers = _chequers(fields[10], sides)
    state = GameState(
        sides,
        turn=_turn(fields[4], fields[5], dice, doubled=doubled),
        cube_value=1 << int(cube[2]),
        cube_owner={"W": 1, "B": 0}.get(owner),
        dice=None if doubled else dice,
        doubled=doubled,
        scores=(_number(fields[7]), _number(fields[6])),
        length=length.points,
        crawford=length.letter == "C",
        cube_in_use=owner != "D",
        chequers=chequers,
        ended=ended,
    )
    return state.noted(*_notes(fields, state, length, dice))


def _sides(white: str, black: str) -> tuple[Side, Side]:
    if set(white) & set(black) - {OFF}:
        raise PositionError("OGID: both sides have chequers on one point")
    for text in (white, black):
        if strange := set(text) - set(PLACES) - {OFF}:
            raise PositionError(f"OGID: {min(strange)!r} is not a valid point; points are 0 to 9 and a to p")
    return sides_from_signed([white.count(place) - black.count(place) for place in reversed(PLACES)], "OGID")


def _dice(field: str) -> tuple[int, int] | None:
    """Return the dice, the larger first as the field has them sorted."""
    if not field:
        return None
    if not re.fullmatch("[1-6][1-6]", field):
        raise PositionError(f"OGID: {field[:10]!r} are not dice")
    return int(field[1]), int(field[0])


def _length(fields: list[str]) -> _Length:
    found = re.fullmatch(r"(\d{0,6})(?:([CL])|(G)(\d{0,6}))?", fields[8], re.ASCII)
    if found is None or (not fields[8] and any(map(_number, fields[6:8]))):
        raise PositionError(f"OGID: {fields[8][:20]!r} is not a match length")
    return _Length(_number(found[1]), found[2] or found[3] or "", found[4] or "")


def _turn(colour: str, word: str, dice: tuple[int, int] | None, *, doubled: bool) -> int:
    """Return the player on roll, or the doubler while a double is pending."""
    reached_by = 1 if colour == "W" else 0
    if not colour or (word == "IW" and dice is None):
        return 1
    return reached_by if doubled else 1 - reached_by


def _chequers(field: str, sides: tuple[Side, Side]) -> int:
    if not field:
        return GameState.chequers
    number = _number(field)
    most = max(side.chequers for side in sides)
    if not max(1, most) <= number <= GameState.chequers:
        raise PositionError(
            f"OGID: {field[:10]!r} is not a valid number of chequers; a side has at most {most}"
        )
    return number


def _notes(fields: list[str], state: GameState, length: _Length, dice: tuple[int, int] | None) -> list[str]:
    """Return what the fields say beyond the fields of a state."""
    word = fields[5]
    notes = []
    if not fields[4]:
        notes.append("the identifier does not state who is on roll: White, player 1, is assumed")
    if fields[2][0] == "?":
        notes.append("the owner of the cube is unknown: a centered cube is assumed")
    if fields[2][-1] == "T":
        notes.append("the double has just been taken")
    known = {"", "D"} if state.doubled else {"", _WRITTEN_STATES[state.ended]}
    if word not in known:
        notes.append(f"game state {word[:10]}")
    if state.doubled and dice:
        notes.append(f"dice {dice[1]}{dice[0]} with an offered double")
    if length.games:
        notes.append(f"at most {length.games} games")
    if length.letter == "L" and not state.post_crawford:
        notes.append("a game after the Crawford game")
    if fields[9] not in ("", "0"):
        notes.append(f"move {fields[9][:10]}")
    return notes


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else 0
