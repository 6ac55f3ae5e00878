"""Read and write the FIBS board line in gnubg's own dialect, as it sends it to an external player.

`board:` and 52 fields separated by colons. The points are always player 1's view (positive numbers are player 1's
chequers), the names and scores are in the order player 0, player 1, except that a take question swaps them, and
no field tells which money rules are in use. Field numbers below are those of `line.split(":")`.

field     meaning
1 2       names; 4 5 their scores, in the same order
3         match length, 0 money
6..31     player 0's bar, player 1's points 1 to 24, player 1's bar
32        who is on roll: 1 player 1, -1 player 0; in a take question the player who doubled
33 34     dice, 0 0 before the roll (35 36 the same again)
37        value of the cube, in a take question still the old one
38 39     may double: player 1, player 0; a centered cube is 1 1, no cube at all 0 0
40        1: a double has been offered and must be answered
45 46     chequers borne off: player 1, player 0
51        1: after the Crawford game, or a match to one point; 52: 0 in the Crawford game

A line of FIBS itself is read, too: "You" come first in it, your chequers have the sign of field 41, 42 is -1 where
they move down, 35 and 36 are the other side's dice, and 52 counts redoubles, hardly ever 1.

Source: experiments with gnubg 1.07; see docs/hosts/external.md. As gnubg's own socket server does, a line may end
early after the dice, and may be followed by `jacobyrule on`, `beavers on`, `crawfordrule on`, `resignation N`.
"""

from __future__ import annotations

from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.game.state import LARGEST_CUBE, GameState, as_state, sides_from_signed, signed_counts

MIN_FIELDS = 37  # up to the dice; what follows has defaults
MAX_FIELDS = 64
MAX_LINE_CHARACTERS = 1024  # gnubg's own lines are below 255
UNLIMITED = 9999


def fibs(position: GameState | Position) -> str:
    """Format a state as a board line of FIBS (``board:...``), as gnubg sends it to external players."""
    state = as_state(position)
    order = (1, 0) if state.doubled else (0, 1)
    dice = (0, 0) if state.dice is None or state.doubled else state.dice
    may = [int(state.cube_in_use and state.cube_owner != other) for other in (0, 1)]
    off = [state.chequers - state.sides[player].chequers for player in (1, 0)]
    no_more_crawford = state.post_crawford or state.length == 1
    fields: list[object] = [
        "board", *(state.names[k].replace(":", "_") for k in order), state.length, *(state.scores[k] for k in order),
        *signed_counts(state), 1 if state.turn == 1 else -1, *dice, *dice, state.cube_value, *may,
        int(state.doubled), 1, -1, 0, 25, *off, 0, 0, 0, 0, int(no_more_crawford), int(not state.crawford),
    ]  # fmt: skip
    return ":".join(map(str, fields))


def from_fibs(text: str) -> GameState:
    """Parse a board line of FIBS or gnubg; PositionError names the field that is wrong."""
    line = text.replace("\0", "").strip()
    if len(line) > MAX_LINE_CHARACTERS:
        raise PositionError(f"the board line has {len(line)} characters, more than {MAX_LINE_CHARACTERS}")
    fields = line.split(":")
    if fields[0] != "board":
        raise PositionError("expected a line that starts with board:")
    fields[-1], _, tail = fields[-1].strip().partition(" ")
    if not MIN_FIELDS <= len(fields) <= MAX_FIELDS:
        raise PositionError(f"a board line must have 52 fields after the word board, not {len(fields) - 1}")
    numbers = _numbers(fields)
    if (fields[1] == "You" and numbers.get(52) != 1) or (numbers.get(41, 1), numbers.get(42, -1)) != (1, -1):
        _turn_to_gnubg(fields, numbers)
    turn = numbers[32]
    dice = (numbers[33], numbers[34])
    cube = numbers.get(37, 1)
    if turn not in (1, -1):
        raise PositionError(f"field 32, the player on roll: expected 1 or -1, found {turn}")
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise PositionError(f"fields 33 and 34, the dice: expected 1 to 6, found {dice[0]} and {dice[1]}")
    if not 1 <= cube <= LARGEST_CUBE or cube & (cube - 1):
        raise PositionError(f"field 37, the cube: expected 1, 2, 4, ..., found {cube}")
    doubled = numbers.get(40, 0) == 1
    swap = -1 if doubled else 1
    names = (fields[1], fields[2])[::swap]
    scores = (numbers[4], numbers[5])[::swap]
    length = numbers[3] if 0 < numbers[3] < UNLIMITED else 0
    for score in scores:
        if length and not 0 <= score < length:
            raise PositionError(f"fields 4 and 5, the scores: expected 0 to {length - 1}, found {score}")
    sides = sides_from_signed([numbers[k] for k in range(6, 32)], "fields 6 to 31, the board")
    may_one = numbers.get(38, 1) != 0
    may_zero = numbers.get(39, 1) != 0
    # where the line says how many are off, both sides' chequers add up to what the game began with
    began = {numbers.get(46 - player, -1) + sides[player].chequers for player in (0, 1)}
    rules = _rules(tail)
    chequers = next(iter(began)) if len(began) == 1 and began <= {1, 2, 3} else GameState.chequers
    state = GameState(
        sides,
        turn=1 if turn == 1 else 0,
        dice=dice if dice[0] else None,
        cube_value=cube,
        cube_owner=None if may_one == may_zero else 1 if may_one else 0,
        doubled=doubled,
        resigned=rules.get("resignation", 0),
        scores=(scores[0], scores[1]),
        length=length,
        crawford=length - 1 in scores and not numbers.get(51) and numbers.get(52, 1) == 0,
        jacoby=bool(rules["jacobyrule"]) if "jacobyrule" in rules else None,
        beavers=bool(rules["beavers"]) if "beavers" in rules else None,
        cube_in_use=may_one or may_zero,
        chequers=chequers,
        names=(names[0], names[1]),
    )
    return state.noted(*_notes(numbers, state, rules))


def _notes(numbers: dict[int, int], state: GameState, rules: dict[str, int]) -> list[str]:
    """Return what the line says beyond the fields of a state."""
    notes = []
    for player, side in enumerate(state.sides):
        off = state.chequers - side.chequers
        stated = numbers.get(46 - player, off)
        if stated != off:
            notes.append(f"{stated} chequers off of player {player}, not {off}")
    if rules.get("crawfordrule") == 0:
        notes.append("the Crawford rule is off")
    return notes


def _turn_to_gnubg(fields: list[str], numbers: dict[int, int]) -> None:
    """Convert a line of FIBS itself to gnubg's dialect.

    There you are player 1, whose chequers are positive and move down.
    """
    sign = -1 if numbers.get(41) == -1 else 1
    step = -1 if numbers.get(42) == 1 else 1
    numbers |= zip(range(6, 32), [sign * numbers[k] for k in range(6, 32)][::step], strict=True)
    numbers |= {32: sign * numbers[32], 52: 0}
    if numbers[32] == -1:
        numbers |= {33: numbers[35], 34: numbers[36]}
    if not numbers.get(40):  # else gnubg has the same order
        fields[1:3] = fields[2:0:-1]
        numbers |= {4: numbers[5], 5: numbers[4]}


def _numbers(fields: list[str]) -> dict[int, int]:
    numbers = {}
    for k in range(3, len(fields)):
        text = fields[k].strip()
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
            raise PositionError(f"field {k}: expected a number, found {text[:20]!r}")
        numbers[k] = int(text)
    return numbers


def _rules(tail: str) -> dict[str, int]:
    words = tail.lower().split()
    out: dict[str, int] = {}
    for name, value in zip(words[::2], words[1::2], strict=False):
        if name in ("jacobyrule", "beavers", "crawfordrule") and value in ("on", "off"):
            out[name] = int(value == "on")
        elif name == "resignation" and value in ("1", "2", "3"):
            out[name] = int(value)
        else:
            raise PositionError(f"unknown {name[:20]!r} {value[:20]!r} after the board")
    if len(words) % 2:
        raise PositionError(f"cannot read {words[-1][:20]!r} after the board")
    return out
