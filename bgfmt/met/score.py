"""A match score with its cube: who may double, match winning chances (MWC) of results, and possible cube states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from bgfmt.errors import PositionError
from bgfmt.game.state import GameState, crawford_error
from bgfmt.met.model import Met

__all__ = ["MAX_CUBE", "NOBODY", "OTHER", "OWNERS", "ROLLER", "CubeRules", "CubeState", "Score", "score_of"]


# who owns the cube: the side on roll, the other, nobody
ROLLER = 0
OTHER = 1
NOBODY = 2
OWNERS = {"owned": ROLLER, "opponent": OTHER, "centered": NOBODY}
MAX_CUBE = 1 << 12


class CubeState(NamedTuple):
    """The cube: its value, and its owner (0 the side on roll in the query, 1 the other side, 2 nobody).

    In tables solved for a match score owner 0 is player a, and 1 player b.
    """

    value: int
    owner: int


class CubeRules:
    """Rules of the cube at a score: who may double, and which cube states can arise.

    away : points that the side on roll and the other side need to win the match.
    """

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
        """Return whether a side (0 or 1), when on roll, may double.

        It must have access to the cube, and need more points than the cube's value, as a dead cube isn't turned.
        `state` is the cube; by default as it is now. False in a game without cube.
        """
        cube = state or self.state
        return not self.without_cube and cube.owner in (side, NOBODY) and self.away[side] > cube.value

    def live(self, state: CubeState) -> bool:
        """Return whether either side may still double with this cube, as of `may_double`."""
        return self.may_double(0, state) or self.may_double(1, state)

    @cached_property
    def cubes(self) -> tuple[CubeState, ...]:
        """The cube as it is now and all values and owners that doubles can lead to, smaller values first."""
        cubes = [self.state]
        for cube in cubes:  # the list grows while it is iterated
            for side in (0, 1):
                doubled = CubeState(2 * cube.value, 1 - side)
                if self.may_double(side, cube) and doubled not in cubes:
                    cubes.append(doubled)
        return tuple(cubes)


@dataclass(frozen=True)
class Score(CubeRules):
    """A match score as the side on roll sees it.

    away : points needed by the side on roll and by the other.
    crawford : this is the Crawford game.
    cube : value, a power of two.
    owner : "centered", "owned" (by the side on roll) or "opponent".
    player : which player of the table, 0 or 1, is on roll; matters only if the two players have different values.
    cube_in_use : False if the game is played without a cube, which then stays as it is.

    PositionError for a score that cannot arise, BeyondMetError for a score beyond the table.
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
            raise PositionError(f"the cube must be centered, owned or opponent, not {self.owner!r}")
        if not 1 <= self.cube <= MAX_CUBE or self.cube & (self.cube - 1):
            raise PositionError(f"the cube's value must be 1, 2, 4, ... {MAX_CUBE}, not {self.cube}")
        if self.player not in (0, 1):
            raise PositionError(f"the player for a match equity table must be 0 or 1, not {self.player}")
        if self.crawford and 1 not in self.away:
            raise PositionError(f"{score}: this cannot be the Crawford game: neither side is 1-away")
        if self.crawford and (self.cube != 1 or self.owner != "centered"):
            raise PositionError(f"{score}: the cube cannot be used in the Crawford game")

    def __str__(self) -> str:
        mine, other = self.away
        text = f"{mine}-away, {other}-away"
        if self.crawford:
            return f"{text}, Crawford game"
        return f"{text}, after the Crawford game" if self.post_crawford else text

    @property
    def post_crawford(self) -> bool:
        """Whether the Crawford game is over: one side needs 1 point, the other more, and this is not that game."""
        return not self.crawford and 1 in self.away and self.away != (1, 1)

    @property
    def is_beyond_table(self) -> bool:
        """Whether a side needs more points than the match equity table has, so that its extension is used."""
        return max(self.away) > self.met.length

    def for_opponent(self) -> Score:
        """Return the same score as the other side sees it: `away`, the cube's owner and `player` are swapped."""
        owner = {"owned": "opponent", "opponent": "owned"}.get(self.owner, self.owner)
        return replace(self, away=self.away[::-1], owner=owner, player=1 - self.player)

    @property
    def state(self) -> CubeState:
        return CubeState(self.cube, OWNERS[self.owner])

    @property
    def without_cube(self) -> bool:
        return self.crawford or not self.cube_in_use

    def after(self, side: int, points: int) -> float:
        """Return a side's match winning chance, 0 to 1, after it wins `points`, or loses them if negative.

        side : 0 the side on roll, 1 the other.
        """
        return _after(self.met, self.away if side == 0 else self.away[::-1], points, self.player ^ side)

    @property
    def ends(self) -> tuple[float, float]:
        """Match winning chances (after losing, after winning) a single game at the present cube value.

        They are those of the side on roll.
        """
        return self.after(0, -self.cube), self.after(0, self.cube)

    def emg(self, mwc: float) -> float:
        """Convert a match winning chance to an equity (EMG, equivalent to money game).

        On this linear scale losing a single game at the present cube value is -1 and winning it +1.
        """
        lose, win = self.ends
        return 2 * (mwc - lose) / (win - lose) - 1 if win != lose else 0.0

    def emg_loss(self, loss: float) -> float:
        """Convert a loss of match winning chance to a loss of equity, on the scale of `emg`."""
        lose, win = self.ends
        return 2 * loss / (win - lose) if win != lose else 0.0


@lru_cache(maxsize=1 << 14)
def _after(met: Met, away: tuple[int, int], points: int, player: int) -> float:
    return met.after(away, points, player=player)


def score_of(state: GameState, met: Met, player: int) -> Score:
    """Return the match score and the cube of a game state.

    Parameters
    ----------
    state
        A position in a match, with its cube.
    met
        The match equity table that values the score.
    player
        Which player of the table, 0 or 1, is on roll.

    Raises
    ------
    PositionError
        Money play, or a match that is over.
    """
    if state.away is None:
        raise PositionError("a money game has no score; give one, such as 3-5")
    if min(state.away) < 1:
        raise PositionError(f"the match to {state.length} is over")
    if state.crawford and 1 not in state.away:
        raise crawford_error(state.away)
    if state.crawford:
        return Score(state.away, met, crawford=True, player=player)
    owner = "centered" if state.doubled and state.owner == "opponent" else state.owner
    return Score(state.away, met, False, state.cube_value, owner, player, state.cube_in_use)
