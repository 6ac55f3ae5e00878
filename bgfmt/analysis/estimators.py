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
        """Return the estimated values of a race in these columns.

        Parameters
        ----------
        unit : what one point of equity is worth in the units of the columns.
        """

    def gammons(self, position: Position) -> tuple[float, float]:
        """Return the probabilities (win gammon, lose gammon) of a race without a cube."""

    def settle(self, solved: Solved, terms: Terms, sure: Callable[[Solved], bool], seconds: float) -> Solved:
        """Return an estimate improved by rollouts until `sure` returns True for it, or the seconds are over."""

    def settle_plays(
        self, solved: Solved, terms: Terms, dice: tuple[int, int], column: int, seconds: float
    ) -> Solved:
        """Return an estimate improved by rollouts until the best play of a roll is certain, or the seconds are over.

        Parameters
        ----------
        dice : the roll.
        column : index of the value by which plays are compared, among the columns of `terms`.
        """


ESTIMATORS: Registry[Callable[[], RaceEstimator]] = Registry("bgfmt.estimators")


def new_estimator() -> RaceEstimator | None:
    """Return a new estimator of the first kind that is installed, None if none is."""
    make = next(iter(ESTIMATORS.values()), None)
    return make() if make is not None else None
