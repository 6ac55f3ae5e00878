"""The table of a match score: win probabilities of all pairs of sides, for every cube state in which someone may
double.

The two players are a and b; a needs `away[0]` points, b needs `away[1]`. A record holds numbers of the side on
roll, v = 2 * MWC - 1 (its probability of winning the match less that of losing it), so that negating one for
the opponent is exact. With fewer than fifteen chequers the first column is cubeless (the same number for the
game), and gives every state in which nobody may double any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.met.score import NOBODY, CubeRules
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables.base import ArrayRule, Breach, Column, OfRaces
from bgfmt.tables.rows import Array, Rows

__all__ = ["FACTS", "MAX_AWAY", "MatchEntry", "MatchScore", "Results", "ScoreFacts", "State"]


A = 0
B = 1
MAX_AWAY = 64
FACTS = ("away", "player", "met", "met_digest", "alike", "gammons", "results")


class State(NamedTuple):
    """The state of a column: who is on roll (0 a, 1 b), and the cube; None for the game without one."""

    roller: int
    cube: Cube | None


class Results(NamedTuple):
    """Match win probability of player a after winning, and after losing, a number of points."""

    win: float
    lose: float


@dataclass(frozen=True)
class ScoreFacts(CubeRules):
    """The score of a table, and all it needs of a match equity table.

    away : points a and b need. player : which player of the match equity table, 0 or 1, a is. met, digest : its
    name and the SHA-256 of its values. results : its values by points won. alike : the players' probabilities
    are equal at equal scores, so that columns with a on roll serve for both. gammons : a side may have fifteen
    chequers on the board; then every state has columns and none is cubeless.
    """

    away: tuple[int, int]
    player: int
    met: str
    digest: str
    results: Mapping[int, Results]
    alike: bool
    gammons: bool

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The player on roll and the cube of each column of the table, in the order of the columns."""
        kept = [cube for cube in self.cubes if self.gammons or self.live(cube)]
        rollers = (A,) if self.alike else (A, B)
        first = () if self.gammons else (State(A, None),)
        return first + tuple(State(roller, cube) for roller in rollers for cube in kept)

    def worth(self, side: int, points: int) -> float:
        """Return 2 * MWC - 1 of a side (0 for a, 1 for b) that wins `points` points, or loses them if negative.

        KeyError for points that no game at this score can be worth.
        """
        result = self.results[abs(points)]
        won = points > 0
        if self.alike:  # to the last bit
            return 2 * result.win - 1 if won else 1 - 2 * result.win
        mwc = result.win if (side == A) == won else result.lose
        return 2 * mwc - 1 if side == A else 1 - 2 * mwc

    def locate(self, roller: int, cube: Cube) -> tuple[int, float, float] | None:
        """Find the column that gives the value of a side on roll with a cube state.

        roller : the player on roll, 0 for a, 1 for b. Returns (column, add, times): 2 * MWC - 1 is add + times * the
        number stored in that column. None if the table does not hold that state.
        """
        if self.alike and roller == B:
            roller = A
            cube = Cube(cube.value, cube.owner if cube.owner == NOBODY else 1 - cube.owner)
        if State(roller, cube) in self.states:
            return self.states.index(State(roller, cube)), 0.0, 1.0
        if self.gammons or self.live(cube) or cube.value not in self.results:
            return None
        win = self.worth(roller, cube.value)
        lose = self.worth(roller, -cube.value)
        return 0, (win + lose) / 2, (win - lose) / 2

    def name_of(self, state: State) -> str:
        """Return the name of a column: `cubeless`, or player on roll, cube owner and cube value as in `a.owned.2`."""
        if state.cube is None:
            return "cubeless"
        owner = {NOBODY: "centered", state.roller: "owned"}.get(state.cube.owner, "opponent")
        return f"{'' if self.alike else 'ab'[state.roller] + '.'}{owner}.{state.cube.value}"

    def points_needed(self) -> tuple[int, ...]:
        """Return, ascending, the points that a game at this score can be worth: the keys that `results` must have."""
        gains = (1, 2, 3) if self.gammons else (1,)
        return tuple(sorted({cube.value * gain for cube in self.cubes for gain in gains}))

    def find_problem(self) -> str | None:
        """Return which field is invalid, as text that begins with what was expected; None if all are valid."""
        if not all(1 <= away <= MAX_AWAY for away in self.away) or self.player not in (0, 1):
            return f"1 to {MAX_AWAY} points to go and player 0 or 1, found {self.away} and {self.player}"
        if self.alike and self.away[0] != self.away[1]:
            return "players alike at equal scores only"
        if not re.fullmatch(r"[0-9a-f]{64}", self.digest):
            return f"a SHA-256, found {self.digest[:70]!r}"
        if not self.met.isprintable() or not 1 <= len(self.met.encode()) <= 64:
            return f"the name of a match equity table, found {self.met[:70]!r}"
        if tuple(self.results) != self.points_needed():
            return f"results of {', '.join(map(str, self.points_needed()))} points"
        if not all(0 <= mwc <= 1 for result in self.results.values() for mwc in result):
            return "chances from 0 to 1"
        return None


@dataclass(frozen=True)
class MatchEntry:
    """The entry of one position: the match win probability of the side on roll in each column."""

    position: Position
    number: int
    mwc: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return position, position number and the number in each column, as `bgfmt lookup --json` prints them."""
        return {"position": str(self.position), "position_number": self.number, **self.mwc}

    def describe(self, who: str = "") -> str:
        """Return lines of text, as `bgfmt lookup` prints them; `who` names the player in the first line."""
        lines = [f"{self.position}  (number {self.number}{', ' + who if who else ''})"]
        lines += [f"{name:<30}: {100 * chance:8.4f} %" for name, chance in self.mwc.items()]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class MatchScore(OfRaces):
    """Values of the side on roll at a match score.

    balance : (n, n, columns) float32 (or float64), indexed [us, them, column]: v = 2 * MWC - 1 in each column
    (in a cubeless one 2 * P(win the game) - 1).
    """

    kind: ClassVar[str] = "match-score"
    unit: ClassVar[str] = "chance"
    balance: Rows
    score: ScoreFacts

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("balance", ((n, n, None),), ("f4", "f8")),)

    def check(self) -> str | None:
        reason = super().check()
        columns = len(self.score.states)
        if reason is None and self.balance.shape[2] != columns:
            named = f"{columns} columns at this score ({', '.join(self.names)})"
            return f"balance needs {named}, not {self.balance.shape[2]}"
        return reason

    def metadata(self) -> dict[str, str | int | bool]:
        s = self.score
        results = ";".join(f"{k}:{r.win!r}:{r.lose!r}" for k, r in s.results.items())
        values = (f"{s.away[0]}-{s.away[1]}", s.player, s.met, s.digest, s.alike, s.gammons, results)
        return dict(zip(FACTS, values, strict=True))

    @classmethod
    def parse_metadata(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        away, *others, results = (facts[name] for name in FACTS)
        if [type(x) for x in (away, *others, results)] != [str, int, str, str, bool, bool, str]:
            raise ValueError("score: the facts have wrong types")
        if re.fullmatch(r"\d{1,3}-\d{1,3}", away, re.ASCII) is None:
            raise ValueError(f"score: expected points away such as 3-5, found {away!r:.40}")
        mine, other = map(int, away.split("-"))
        player, met, digest, alike, gammons = others
        entries = (entry.split(":") for entry in results.split(";"))
        worth = {int(points): Results(float(win), float(lose)) for points, win, lose in entries}
        score = ScoreFacts((mine, other), player, met, digest, worth, alike, gammons)
        problem = score.find_problem()
        if problem:
            raise ValueError(f"score: expected {problem}")
        return {"score": score}

    @cached_property
    def exact(self) -> bool:
        return bool(np.dtype(self.balance.dtype).itemsize == 8)

    def facts(self) -> dict[str, Any]:
        mine, other = self.score.away
        return {
            "away": f"{mine}-{other}",
            "met": self.score.met,
            "met_digest": self.score.digest,
            "met_player": self.score.player,
        }

    def lookup(self, asked: Side | Position) -> MatchEntry:
        number = self.number(asked)
        assert isinstance(asked, Position)
        us, them = divmod(number, self.positions)
        chances = [(1 + float(v)) / 2 for v in self.balance[us, them]]
        return MatchEntry(asked, number, dict(zip(self.names, chances, strict=True)))

    def mwc(self, position: Position, roller: int, cube: Cube) -> float:
        """Return the match win probability of the side on roll if it rolls without doubling.

        roller : 0 if player a is on roll, 1 if b. Raises NotCoveredError for a position outside the table and
        for a cube state that it does not hold.
        """
        place = self.score.locate(roller, cube)
        if place is None:
            raise NotCoveredError(f"the table has no state with the cube at {cube.value} and that owner")
        column, add, times = place
        us, them = divmod(self.number(position), self.positions)
        return (1 + add + times * float(self.balance[us, them, column])) / 2

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, such as "cubeless" and "a.owned.2" (see `ScoreFacts.name_of`)."""
        return tuple(map(self.score.name_of, self.score.states))

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(
            Column(name, "chance", ("  " if k == 0 else "") + " %8.4f", percent=True)
            for k, name in enumerate(self.names)
        )

    def decode(self, stored: Array) -> Array:
        return self.read("balance", stored)

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray((1 + np.asarray(stored, np.float64)) / 2)

    @property
    def max_error(self) -> float | None:
        return 1e-12 if self.exact else 1e-7

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        stored = block["balance"]
        bad = np.asarray(~(np.abs(stored) <= 1).all(axis=(1, 2)))
        yield Breach("bounds", bad, "a number is not one from -1 to 1")

    @property
    def cost(self) -> float:
        return 4 + self.entries * len(self.score.states) * 3e-8 * (self.points * self.chequers) / 48
