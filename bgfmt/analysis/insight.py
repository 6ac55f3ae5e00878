"""The reasons of a cube decision: take points, market losers, and the equity of each roll."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import EXACT
from bgfmt.analysis.shapes import Chance, Plain
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position
from bgfmt.game.moves import ROLLS
from bgfmt.game.state import GameState
from bgfmt.met.score import Score

__all__ = ["MONEY_TAKE_POINTS", "Insight", "insight", "take_points"]


MONEY_TAKE_POINTS = (0.25, 0.2)  # for money, with a dead cube and with one that is fully live


@dataclass(frozen=True)
class Insight(Plain):
    """The reasons of a cube decision: take points, market losers, and the best and worst rolls.

    rolls : the 21 rolls and their equities without a double, best first.
    """

    FIELDS = "win take_point live_take_point market_losers losing_rolls best_rolls worst_rolls"

    win: Annotated[Chance, "Cubeless win probability of the side that responds, gammons not counted."]
    take_point: Annotated[Chance, "Its take point with a dead cube."]
    live_take_point: Annotated[Chance, "Its take point with a fully live cube."]
    market_losers: Annotated[
        Chance, "Probability that after both sides' next rolls a double is passed or the game is won."
    ]
    losing_rolls: Annotated[
        Mapping[str, float], "Rolls that can lose the market, with the probability that each does."
    ]
    rolls: tuple[tuple[str, float], ...]

    @property
    def best_rolls(self) -> Mapping[str, float]:
        """Three best rolls, with equities of no double."""
        return dict(self.rolls[:3])

    @property
    def worst_rolls(self) -> Mapping[str, float]:
        """Three worst rolls, with equities of no double."""
        return dict(self.rolls[:-4:-1])

    @property
    def lines(self) -> list[str]:
        """The take point, market losers, and best and worst rolls in words, a line each."""
        live = f", {100 * self.live_take_point:.1f} % with a live cube"
        live *= self.live_take_point != self.take_point
        best, worst = (
            ", ".join(f"{roll} {equity:+.3f}" for roll, equity in part.items())
            for part in (self.best_rolls, self.worst_rolls)
        )
        alike: dict[str, list[str]] = {}
        for roll, chance in sorted(self.losing_rolls.items(), key=lambda one: -one[1]):
            alike.setdefault(f"{100 * chance:.0f} %", []).append(roll)
        named = (
            (", ".join(some) if len(some) < 8 else f"{len(some)} rolls", much) for much, some in alike.items()
        )
        losing = "; ".join(f"{some} ({much})" for some, much in named)
        differ = self.rolls[0][1] - self.rolls[-1][1] > EXACT
        return [
            f"the side that answers wins {100 * self.win:.1f} %, take point {100 * self.take_point:.1f} %{live}",
            f"market losers {100 * self.market_losers:.1f} %" + (f": {losing}" if losing else ""),
            f"best rolls {best}; worst rolls {worst}" if differ else "all rolls are worth the same",
        ]


def take_points(score: Score | None, cube: int, side: int = 1) -> tuple[float, float]:
    """Return the take points (win probabilities) of a doubled side, with a dead and with a fully live cube.

    Parameters
    ----------
    score
        The match score; for money if None.
    cube
        The value of the cube before the double.
    side
        Which side of the score is doubled: 0 the side on roll, 1 the other.
    """
    if score is None:
        return MONEY_TAKE_POINTS
    passed, lost, won = (score.after(side, points) for points in (-cube, -2 * cube, 2 * cube))
    dead = (passed - lost) / (won - lost) if won > lost else 0.0
    if score.away[side] <= 2 * cube:
        return dead, dead
    return dead, dead * (1 - take_points(score, 2 * cube, 1 - side)[1])


def insight(state: GameState, advisor: Advisor, *, met_player: int | None = None) -> Insight | None:
    """Return take points, market losers and the equities of all rolls of a cube decision.

    Parameters
    ----------
    state
        A state before the roll, or with a double pending.
    advisor
        Gives the equities.
    met_player
        Which player of the match equity table, 0 or 1, is on roll; by default as the adviser was created.

    Returns
    -------
    None if the advisor has no answer for a position that can arise within two rolls.
    """
    state = replace(state.before_roll(), doubled=False)
    first = advisor.player_of(state, met_player) ^ state.turn  # number in the table of player 0 of the state
    try:
        return _insight(state, advisor, first)
    except NotCoveredError:
        return None


def _insight(state: GameState, advisor: Advisor, first: int) -> Insight:
    rolls = []
    losing = {}
    losers = 0.0
    # the probability that the next double is passed, by the board after a play
    passed: dict[Position, float] = {}
    for high, low, weight in ROLLS:
        equity, after = _rolled(state, (high, low), advisor, first)
        rolls.append((f"{high}{low}", equity))
        if after.position not in passed:
            passed[after.position] = _passed(after, advisor, first)
        losers += weight / 36 * passed[after.position]
        if passed[after.position]:
            losing[f"{high}{low}"] = passed[after.position]
    player = first ^ state.turn
    score = None if state.money else advisor.score(state, met_player=player)
    win = advisor.equities(state).win
    if win is None:  # gammons are counted: the probability to win a match of one point
        last: dict[str, Any] = dict.fromkeys(("jacoby", "beavers", "cube_owner"))
        one_point = replace(state, length=1, scores=(0, 0), cube_value=1, crawford=False, **last)
        decisive = advisor.cube(one_point, met_player=player).match
        win = None if decisive is None else decisive.mwc.no_double
    if win is None:
        raise NotCoveredError("the win probability is not known")
    dead, live = take_points(score, state.cube_value)
    return Insight(1 - win, dead, live, losers, losing, tuple(sorted(rolls, key=lambda roll: -roll[1])))


def _passed(after: GameState, advisor: Advisor, first: int) -> float:
    """Return the probability that the side that has just played doubles next and is passed, or has won."""
    if not after.position.them.chequers:
        return 1.0
    chance = 0.0
    for high, low, weight in ROLLS:
        answer = _rolled(after, (high, low), advisor, first)[1]
        if answer.position.them.chequers:
            action = advisor.cube(answer, met_player=first ^ answer.turn)
            chance += weight / 36 * (not action.takes)
    return chance


def _rolled(state: GameState, dice: tuple[int, int], advisor: Advisor, first: int) -> tuple[float, GameState]:
    """Return the equity of a roll's best play, and the state after it, the other side on roll."""
    best = advisor.plays(state.rolled(dice), met_player=first ^ state.turn).best
    if best is None or best.value is None:
        raise NotCoveredError("the equities of a roll's plays are not known")
    sides = (best.result.us, best.result.them)
    return best.value, replace(state, sides=sides if state.turn == 0 else sides[::-1], turn=1 - state.turn)
