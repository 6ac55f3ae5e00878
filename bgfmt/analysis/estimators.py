"""Estimates of races that no table and no calculation covers, from the entry points `bgfmt.estimators`.

An installation without one answers from tables and calculation alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from bgfmt.game.board import Position
from bgfmt.tables.registry import Registry

if TYPE_CHECKING:
    from bgfmt.analysis.ondemand import Terms
    from bgfmt.analysis.solving import Solved
    from bgfmt.solver.columns import Columns


class RaceEstimator(Protocol):
    """The interface of estimators of races; threads may share one."""

    def solve(self, position: Position, columns: Columns, unit: float) -> Solved:
        """Return the estimated values of a race for each of these columns (cube states).

        Parameters
        ----------
        unit : what one point of equity is worth in the values of the columns.
        """

    def gammons(self, position: Position) -> tuple[float, float]:
        """Return the probabilities (win gammon, lose gammon) of the side on roll in a race without a cube."""

    def settle(self, solved: Solved, terms: Terms, sure: Callable[[Solved], bool], seconds: float) -> Solved:
        """Return an estimate improved by rollouts until `sure` returns True for it, or `seconds` are over.

        Parameters
        ----------
        solved : the estimate.
        terms : what is played for: a match score, or for money whether Jacoby's rule is in force.
        sure : called with the improved values after each round of rollouts; returns whether they decide the query.
        """

    def settle_plays(
        self, solved: Solved, terms: Terms, dice: tuple[int, int], column: int, seconds: float
    ) -> Solved:
        """Return an estimate improved by rollouts of the plays of one roll, until the best play is certain.

        It is certain when no other play's value lies within twice the error of the best; else rollouts stop after
        `seconds`.

        Parameters
        ----------
        solved : the estimate.
        terms : what is played for: a match score, or for money whether Jacoby's rule is in force.
        dice : the roll.
        column : index, among the columns (cube states) of `solved`, of the value by which plays are compared.
        """


ESTIMATORS: Registry[Callable[[], RaceEstimator]] = Registry("bgfmt.estimators")


def new_estimator() -> RaceEstimator | None:
    """Return a new estimator of races, of the first entry point of `bgfmt.estimators`; None if none is installed."""
    make = next(iter(ESTIMATORS.values()), None)
    return make() if make is not None else None
