"""Estimates of races outside tables, and rollouts: the estimator that bgfmt brings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bgfmt.analysis.ondemand import Terms
from bgfmt.analysis.solving import Solved
from bgfmt.extras.races import rollouts
from bgfmt.extras.races.chains import QUICK, Estimator
from bgfmt.game.board import BAR, Position
from bgfmt.solver.columns import single_game_columns

__all__ = ["ChainEstimator"]


class ChainEstimator(Estimator):
    """Estimates by chains of boards, improved by rollouts; see `bgfmt.analysis.estimators.RaceEstimator`."""

    def gammons(self, position: Position) -> tuple[float, float]:
        """Estimate the probabilities (win gammon, lose gammon) of the side on roll in a race without a cube."""
        columns = single_game_columns((None, None))
        columns.won[:, :, 1:] = 0.0
        columns.won[0, 0, 2:] = columns.won[1, 1, 2:] = 1.0
        us, them = (np.array([side.padded(BAR)]) for side in (position.us, position.them))
        ((won, lost),) = Estimator(QUICK).values(us, them, columns)
        won, lost = (np.clip((won, -lost), 0.0, 1.0) + 0.0).tolist()
        return won, lost

    def settle(self, solved: Solved, terms: Terms, sure: Callable[[Solved], bool], seconds: float) -> Solved:
        """Return an estimate improved by rollouts until `sure` returns True for it, or `seconds` have passed.

        Parameters
        ----------
        solved : the estimate.
        terms : a match score, or for money whether Jacoby's rule is in force.
        sure : returns whether the values decide the cube action in spite of their error.
        """
        return rollouts.settle(solved, terms, sure, seconds)

    def settle_plays(
        self, solved: Solved, terms: Terms, dice: tuple[int, int], column: int, seconds: float
    ) -> Solved:
        """Return an estimate improved by rollouts until only one play can be best within the error, or time is over.

        Parameters
        ----------
        solved : the estimate.
        terms : a match score, or for money whether Jacoby's rule is in force.
        dice : the roll.
        column : index among the columns of `solved` of the cube state by whose value plays are ranked.
        seconds : time limit.
        """
        return rollouts.settle_plays(solved, terms, dice, column, seconds)
