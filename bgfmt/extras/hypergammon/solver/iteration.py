"""The state of a hypergammon solve between two sweeps, and the table that it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game.results import Array
from bgfmt.tables import Hypergammon
from bgfmt.tables.hypergammon import RECORD, UNITS, hyper_records

PLACES = 25  # points and the bar
#: recipe exact with at least this many chequers: every CYCLE_SWEEPS sweeps, extrapolate (Aitken) if the ratio of
#: successive changes is small
EXTRAPOLATED_CHEQUERS = 3
CYCLE_SWEEPS = 6


@dataclass(frozen=True)
class Iteration:
    """State of a solve.

    Attributes
    ----------
    chequers, recipe : chequers of a side, and the recipe's name.
    values : (n, n, 10) of [us, them], float32 or, under ``exact``, float64: probabilities of win, win gammon, win
        backgammon, lose gammon, lose backgammon; money equities cubeless, cube owned, centered, centered with Jacoby,
        opponent's cube.
    sweeps : number of sweeps done.
    change : greatest change of a number in the last one.
    converged : True if that is within the threshold.
    """

    chequers: int
    recipe: str
    values: Array
    sweeps: int
    change: float
    converged: bool

    @property
    def table(self) -> Hypergammon | ExactHypergammon:
        """The numbers as a table: truncated to 24 bits as by makehyper; under recipe ``exact`` unchanged float64."""
        how: dict[str, Any] = {
            "points": PLACES, "chequers": self.chequers, "recipe": self.recipe,
            "provenance": f"solved by bgfmt, recipe {self.recipe}, {self.sweeps} sweeps",
        }  # fmt: skip
        if self.recipe == "exact":
            return ExactHypergammon(float64=self.values, **how)
        records = np.zeros((*self.values.shape[:2], RECORD), np.uint8)
        one = np.float32(1)
        for record, row in zip(records, self.values, strict=True):
            parts = np.concatenate([row[:, :5], row[:, 6:] * (one / np.float32(6)) + one / 2], axis=1)
            record[:] = hyper_records((parts * np.float32(UNITS)).astype(np.int64))
        return Hypergammon(records=records, **how)


def is_extrapolated(chequers: int, recipe: str) -> bool:
    """Return whether a solve of this size and recipe extrapolates its values every few sweeps."""
    return recipe == "exact" and chequers >= EXTRAPOLATED_CHEQUERS
