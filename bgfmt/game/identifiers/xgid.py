"""eXtreme Gammon's XGID: ten fields; the points are numbered by player 1, also when player 2 is on roll."""

from __future__ import annotations

import re

from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.game.state import GameState, as_state, sides_from_signed, signed_counts

LETTERS = "onmlkjihgfedcba-ABCDEFGHIJKLMNO"  # of -15 to 15 chequers, those of player 1 positive


def xgid(position: GameState | Position) -> str:
    """Return eXtreme Gammon's identifier (XGID) of a state."""
    state = as_state(position)
    letters = "".join(LETTERS[count + 15] for count in signed_counts(state))
    owner = {None: 0, 1: 1, 0: -1}[state.cube_owner]
    dice = "".join(map(str, state.dice)) if state.dice else "00"
    if state.doubled:
        dice = OFFERS[min(state.beavered, 2)]
    rules = int(state.crawford) if state.length else int(bool(state.jacoby)) + 2 * int(bool(state.beavers))
    turn = 1 if state.turn == 1 else -1
    scores = f"{state.scores[1]}:{state.scores[0]}"
    return f"XGID={letters}:{state.cube_power}:{owner}:{turn}:{dice}:{scores}:{rules}:{state.length}:{state.limit}"


#: dice of a pending double, a beaver, a raccoon
OFFERS = "DBR"
#: numeric fields: index -> (name, minimum, maximum)
FIELDS = {
    1: ("cube", 0, 15),
    2: ("owner of the cube", -1, 1),
    3: ("player on roll", -1, 1),
    5: ("score of player 1", 0, 10**6),
    6: ("score of player 2", 0, 10**6),
    7: ("rule", 0, 10**6),
    8: ("length of the match", 0, 10**6),
    9: ("largest cube", 0, 10**6),
}


def from_xgid(text: str) -> GameState:
    """Parse eXtreme Gammon's identifier, with or without `XGID=`.

    XG's player 1, with chequers in capitals, is player 1 of the state, whoever is on roll.

    PositionError names the field that is wrong.
    """
    fields = text.removeprefix("XGID=").split(":")
    board = fields[0]
    if len(board) != 26:
        raise PositionError(f"XGID {board[:30]!r}: the board has {len(board)} of 26 characters")
    if not 8 <= len(fields) <= 10:
        raise PositionError(f"XGID {board!r}: it has {len(fields)} of 10 fields")
    if len(fields) == 8 and fields[5:7] != ["0", "0"]:  # perhaps cut off after its rules: not money play
        raise PositionError(f"XGID {board!r}: it has a score without the length of the match")
    fields += ["0", "10"][len(fields) - 8 :]
    sides = sides_from_signed([_count(letter) for letter in board], f"XGID {board!r}")
    cube, owner, turn, score_one, score_zero, rules, length, limit = (
        _number(fields[k], *about) for k, about in FIELDS.items()
    )
    doubled = fields[4] in tuple(OFFERS)
    dice = None if doubled else _dice(fields[4])
    state = GameState(
        sides,
        turn=1 if turn == 1 else 0,
        cube_value=1 << cube,
        cube_owner={0: None, 1: 1, -1: 0}[owner],
        dice=dice,
        doubled=doubled,
        scores=(score_zero, score_one),
        length=length,
        crawford=bool(length and rules == 1),
        jacoby=bool(rules & 1) if not length else None,
        beavers=bool(rules & 2) if not length else None,
        limit=limit,
        cube_in_use=cube < limit,
        beavered=OFFERS.index(fields[4]) if doubled else 0,
    )
    unknown = rules > (1 if length else 3)
    return state.noted(f"rule {rules}, which is not used here") if unknown else state


def _number(text: str, name: str, least: int, most: int) -> int:
    value = int(text) if re.fullmatch("-?[0-9]{1,7}", text) else most + 1
    if not least <= value <= most or (name == "player on roll" and not value):
        raise PositionError(f"XGID: {text[:20]!r} is not a {name}")
    return value


def _count(letter: str) -> int:
    if letter not in LETTERS:
        raise PositionError(
            f"XGID: {letter!r} is not a valid number of chequers; expected -, A to O or a to o"
        )
    return LETTERS.index(letter) - 15


def _dice(field: str) -> tuple[int, int] | None:
    if field in ("00", "0", ""):
        return None
    if len(field) == 2 and all("1" <= die <= "6" for die in field):
        return int(field[0]), int(field[1])
    raise PositionError(f"XGID: {field[:20]!r} are not dice")
