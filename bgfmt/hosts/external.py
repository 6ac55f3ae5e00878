"""GNU Backgammon's external player: its questions, read, and our answers, written. Pure functions, no sockets.

gnubg sends one line a question, `board:` and 52 fields parted by colons, and takes one line as the answer. Its
dialect of the FIBS board line differs from FIBS's own: the points are always player 1's view (positive numbers are
player 1's chequers), the names and scores stand in the order player 0, player 1, except that a take question swaps
them, and nothing says which money rules are in use. Field numbers below are those of `line.split(":")`.

field     meaning
1 2       names; 4 5 their scores, in the same order
3         match length, 0 money
6..31     player 0's bar, player 1's points 1 to 24, player 1's bar
32        who is on roll: 1 player 1, -1 player 0; in a take question the player who doubled
33 34     dice, 0 0 before the roll (35 36 the same again)
37        value of the cube
38 39     may double: player 1, player 0
40        1: a double has been offered and must be answered
51        1: after the Crawford game; 52: 0 in the Crawford game

Source: experiments with gnubg 1.07; see docs/hosts/external.md. As gnubg's own socket server does, a line may end
early after the dice, and may be followed by `jacobyrule on`, `beavers on`, `crawfordrule on`, `resignation N`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bgfmt.errors import BgfmtError
from bgfmt.game.board import Position, Side

BAR, OFF = 25, 0
ENOUGH = 37  # fields up to the dice; what follows has defaults
LONGEST = 1024  # characters of a question; gnubg's own are below 255

Kind = Literal["play", "cube", "take", "resignation"]


class QuestionError(BgfmtError, ValueError):
    """A line that is no question of gnubg's, or asks about an impossible position."""


@dataclass(frozen=True)
class Question:
    """One question, seen by the player on roll (in a take question: the player who doubled).

    position : that player first.
    dice : (0, 0) before the roll.
    names, scores : of the player on roll, then of the other.
    may_double : whether each of the two may double.
    length : of the match, 0 for money.
    off : chequers borne off by each, (0, 0) where the line does not say.
    """

    position: Position
    dice: tuple[int, int] = (0, 0)
    names: tuple[str, str] = ("", "")
    length: int = 0
    scores: tuple[int, int] = (0, 0)
    cube: int = 1
    may_double: tuple[bool, bool] = (True, True)
    doubled: bool = False
    off: tuple[int, int] = (0, 0)
    crawford: bool = False
    post_crawford: bool = False
    jacoby: bool | None = None
    beavers: bool = False
    resignation: int = 0

    @property
    def kind(self) -> Kind:
        """What is asked: a play, roll or double, take or drop, whether to accept a resignation."""
        if self.resignation:
            return "resignation"
        if self.doubled:
            return "take"
        return "play" if self.dice[0] else "cube"

    @property
    def owner(self) -> str:
        """Where the cube lies for the player on roll: "centered", "owned" or "opponent"."""
        ours, theirs = self.may_double
        return "centered" if ours == theirs else ("owned" if ours else "opponent")

    @property
    def away(self) -> tuple[int, int]:
        """Points each still needs to win the match; (0, 0) in money play."""
        if not self.length:
            return 0, 0
        return self.length - self.scores[0], self.length - self.scores[1]


def parse_question(line: str) -> Question:
    """Read one line; QuestionError names the field that is wrong."""
    text = line.replace("\0", "").strip()
    if len(text) > LONGEST:
        raise QuestionError(f"the line has {len(text)} characters, more than {LONGEST}")
    if not text.startswith("board:"):
        raise QuestionError("expected a line that starts with board:")
    fields = text.split(":")
    fields[-1], _, tail = fields[-1].strip().partition(" ")
    if not ENOUGH <= len(fields) <= 64:
        raise QuestionError(f"expected 52 fields, found {len(fields) - 1}")
    numbers = _numbers(fields)
    turn = numbers[32]
    if turn not in (1, -1):
        raise QuestionError(f"field 32, the player on roll: expected 1 or -1, found {turn}")
    dice = numbers[33], numbers[34]
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise QuestionError(f"fields 33 and 34, the dice: expected 1 to 6, found {dice[0]} and {dice[1]}")
    cube = numbers.get(37, 1)
    if not 1 <= cube <= 1 << 20:
        raise QuestionError(f"field 37, the cube: expected 1 or more, found {cube}")
    doubled = numbers.get(40, 0) == 1
    # by player, 0 and 1: a take question names player 1 first
    first = 1 if doubled else 0
    names = (fields[1], fields[2]) if first == 0 else (fields[2], fields[1])
    scores = (numbers[4], numbers[5]) if first == 0 else (numbers[5], numbers[4])
    may = (numbers.get(39, 1) != 0, numbers.get(38, 1) != 0)
    off = (numbers.get(46, 0), numbers.get(45, 0))
    us = 1 if turn == 1 else 0
    length = numbers[3] if 0 < numbers[3] < 9999 else 0
    for score in scores:
        if length and not 0 <= score < length:
            raise QuestionError(f"fields 4 and 5, the scores: expected 0 to {length - 1}, found {score}")
    more = _rules(tail)
    return Question(
        position=_position(numbers, turn),
        dice=dice,
        names=(names[us], names[1 - us]),
        length=length,
        scores=(scores[us], scores[1 - us]),
        cube=cube,
        may_double=(may[us], may[1 - us]),
        doubled=doubled,
        off=(off[us], off[1 - us]),
        crawford=length > 0 and numbers.get(52, 1) == 0,
        post_crawford=length > 0 and numbers.get(51, 0) == 1,
        jacoby=bool(more["jacobyrule"]) if "jacobyrule" in more else None,
        beavers=more.get("beavers", 0) == 1,
        resignation=more.get("resignation", 0),
    )


def _numbers(fields: list[str]) -> dict[int, int]:
    numbers = {}
    for k in range(3, len(fields)):
        text = fields[k].strip()
        digits = text[1:] if text[:1] in "+-" else text
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise QuestionError(f"field {k}: expected a number, found {text[:20]!r}")
        numbers[k] = int(text)
    return numbers


def _position(numbers: dict[int, int], turn: int) -> Position:
    one = [max(0, numbers[6 + p]) for p in range(1, 25)]
    nought = [max(0, -numbers[6 + 25 - p]) for p in range(1, 25)]
    for counts, who in ((one, 1), (nought, 0)):
        bar = numbers[31] if who else -numbers[6]
        if bar < 0:
            raise QuestionError(f"player {who}'s bar holds {bar} chequers")
        counts.append(bar)
        if sum(counts) > 15:
            raise QuestionError(f"player {who} has {sum(counts)} chequers, more than 15")
    sides = [Side(*nought[:24], bar=nought[24]), Side(*one[:24], bar=one[24])]
    return Position(sides[1], sides[0]) if turn == 1 else Position(sides[0], sides[1])


def _rules(tail: str) -> dict[str, int]:
    words = tail.lower().split()
    out: dict[str, int] = {}
    for name, value in zip(words[::2], words[1::2], strict=False):
        if name in ("jacobyrule", "beavers", "crawfordrule") and value in ("on", "off"):
            out[name] = int(value == "on")
        elif name == "resignation" and value in ("1", "2", "3"):
            out[name] = int(value)
        else:
            raise QuestionError(f"cannot read {name[:20]!r} {value[:20]!r} after the board")
    if len(words) % 2:
        raise QuestionError(f"cannot read {words[-1][:20]!r} after the board")
    return out


def format_question(question: Question, on_roll: int = 1) -> str:
    """The line gnubg sends for a question, the player on roll being player `on_roll`; the inverse of reading it."""
    us, them = question.position.us, question.position.them
    turn = 1 if on_roll == 1 else -1
    points = [0] * 26
    for side, sign in ((us, turn), (them, -turn)):
        for point, chequers in enumerate(side.counts, 1):
            points[point if sign > 0 else 25 - point] += sign * chequers
        points[25 if sign > 0 else 0] += sign * side.bar
    by_player = [0, 1] if on_roll == 0 else [1, 0]  # index into (ours, theirs) for player 0, player 1
    order = by_player[::-1] if question.doubled else by_player
    names = [question.names[k] or f"P{by_player.index(k)}" for k in order]
    scores = [question.scores[k] for k in order]
    may = [int(question.may_double[k]) for k in by_player[::-1]]
    off = [question.off[k] for k in by_player[::-1]]
    fields: list[object] = ["board", *names, question.length, *scores, *points, turn]
    fields += [*question.dice, *question.dice, question.cube, *may, int(question.doubled), 1, -1, 0, 25]
    fields += [*off, 0, 0, 0, 0, int(question.post_crawford), int(not question.crawford)]
    return ":".join(map(str, fields))


def format_play(moves: Iterable[tuple[int, int]]) -> str:
    """A play as gnubg reads it, such as ``bar/21 6/off``, one die at a time; an empty line where there is none."""
    return " ".join(
        f"{'bar' if start == BAR else start}/{'off' if end == OFF else end}" for start, end in moves
    )


def error_line(message: object) -> str:
    """The answer that gnubg shows its user before it stops playing."""
    return f"Error: {' '.join(str(message).split())[:200]}"
