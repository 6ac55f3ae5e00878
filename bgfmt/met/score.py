"""A match score with its cube: who may double, what a result is worth, and which cube states can arise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from bgfmt.errors import PositionError
from bgfmt.game.state import GameState
from bgfmt.met.model import Met

# who owns the cube: the side on roll, the other, nobody
ROLLER = 0
OTHER = 1
NOBODY = 2
OWNERS = {"owned": ROLLER, "opponent": OTHER, "centered": NOBODY}
MOST_CUBE = 1 << 12


class CubeState(NamedTuple):
    """The cube: its value, and who owns it (0 the side on roll in the question, 1 the other, 2 nobody).

    In tables of a score 0 is player a, and 1 player b.
    """

    value: int
    owner: int


class CubeRules:
    """Who may double at a score, `away` points from the match, and what the cube can become."""

    away: tuple[int, int]

    @property
    def state(self) -> CubeState:
        """The cube as it is now."""
        return CubeState(1, NOBODY)

    @property
    def without_cube(self) -> bool:
        """Whether this game has no cube: the Crawford game, or play without one."""
        return False

    def may_double(self, side: int, state: CubeState | None = None) -> bool:
        """Whether a side on roll may double: it has access to the cube, and wins no match with it as it is."""
        cube = state or self.state
        return not self.without_cube and cube.owner in (side, NOBODY) and self.away[side] > cube.value

    def live(self, state: CubeState) -> bool:
        """Whether anybody may still double."""
        return self.may_double(0, state) or self.may_double(1, state)

    @cached_property
    def cubes(self) -> tuple[CubeState, ...]:
        """The cube as it is now and all that it can become, smaller values first."""
        cubes = [self.state]
        for cube in cubes:  # grows while it is walked
            for side in (0, 1):
                doubled = CubeState(2 * cube.value, 1 - side)
                if self.may_double(side, cube) and doubled not in cubes:
                    cubes.append(doubled)
        return tuple(cubes)


@dataclass(frozen=True)
class Score(CubeRules):
    """A match score as the side on roll sees it.

    away : points needed by the side on roll and by the other. crawford : this is the Crawford game.
    cube : value, a power of two; owner : "centered", "owned" (by the side on roll) or "opponent".
    player : which player of the table, 0 or 1, is on roll; it matters for uneven tables only.
    cube_in_use : False where the game is played without a cube, which then stays as it is.

    PositionError for what cannot be, BeyondMetError for a score beyond the table.
    """

    away: tuple[int, int]
    met: Met = field(repr=False)
    crawford: bool = False
    cube: int = 1
    owner: str = "centered"
    player: int = 0
    cube_in_use: bool = True

    def __post_init__(self) -> None:
        self.met.check(*self.away)
        score = f"{self.away[0]}-away, {self.away[1]}-away"
        if self.owner not in OWNERS:
            raise PositionError(f"the cube is centered, owned or opponent, not {self.owner!r}")
        if not 1 <= self.cube <= MOST_CUBE or self.cube & (self.cube - 1):
            raise PositionError(f"a cube shows 1, 2, 4, ... {MOST_CUBE}, not {self.cube}")
        if self.player not in (0, 1):
            raise PositionError(f"the players of a match equity table are 0 and 1, not {self.player}")
        if self.crawford and 1 not in self.away:
            raise PositionError(f"{score}: no Crawford game, nobody needs 1 point")
        if self.crawford and (self.cube != 1 or self.owner != "centered"):
            raise PositionError(f"{score}: there is no cube in the Crawford game")

    def __str__(self) -> str:
        mine, other = self.away
        text = f"{mine}-away, {other}-away"
        if self.crawford:
            return f"{text}, Crawford game"
        return f"{text}, after the Crawford game" if self.post_crawford else text

    @property
    def post_crawford(self) -> bool:
        """Whether the Crawford game is over: one side needs 1, the other more."""
        return not self.crawford and 1 in self.away and self.away != (1, 1)

    @property
    def beyond(self) -> bool:
        """Whether the score lies beyond the table, so that its extension is used."""
        return max(self.away) > self.met.length

    def turned(self) -> Score:
        """The same score as the other side sees it."""
        owner = {"owned": "opponent", "opponent": "owned"}.get(self.owner, self.owner)
        return replace(self, away=self.away[::-1], owner=owner, player=1 - self.player)

    @property
    def state(self) -> CubeState:
        return CubeState(self.cube, OWNERS[self.owner])

    @property
    def without_cube(self) -> bool:
        return self.crawford or not self.cube_in_use

    def after(self, side: int, points: int) -> float:
        """Match winning chance of a side (0 on roll, 1 the other) after it wins points, or loses them if negative."""
        return _after(self.met, self.away if side == 0 else self.away[::-1], points, self.player ^ side)

    @property
    def ends(self) -> tuple[float, float]:
        """Match winning chance after losing, and after winning, a single game at the present cube."""
        return self.after(0, -self.cube), self.after(0, self.cube)

    def emg(self, mwc: float) -> float:
        """The equity that puts losing a single game at the present cube at -1 and winning it at +1."""
        lose, win = self.ends
        return 2 * (mwc - lose) / (win - lose) - 1 if win != lose else 0.0

    def emg_loss(self, loss: float) -> float:
        """A loss of match winning chance as a loss of that equity."""
        lose, win = self.ends
        return 2 * loss / (win - lose) if win != lose else 0.0


@lru_cache(maxsize=1 << 14)
def _after(met: Met, away: tuple[int, int], points: int, player: int) -> float:
    return met.after(away, points, player=player)


def score_of(state: GameState, met: Met, player: int) -> Score:
    """Return the score of a match, with its cube, as a match equity table knows it.

    player : which player of the table, 0 or 1, is on roll. PositionError for money play and a match that is over.
    """
    if state.away is None:
        raise PositionError("there is no score in money play")
    if min(state.away) < 1:
        raise PositionError(f"the match to {state.length} is over")
    if state.crawford and 1 not in state.away:
        raise PositionError("in the Crawford game one side needs one point")
    if state.crawford:
        return Score(state.away, met, crawford=True, player=player)
    owner = "centered" if state.doubled and state.owner == "opponent" else state.owner
    return Score(state.away, met, False, state.cube_value, owner, player, state.cube_in_use)
