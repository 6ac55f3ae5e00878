"""Find the state of the hypergammon iteration that a file is, or is nearest to.

The iteration is run from the start, and the file is compared after each sweep. Two tests come first. Finished games
have fixed numbers: a file in which many of them differ is no state at all. Races depend only on races and settle to
the last bit in less than ten sweeps, which cost next to nothing: they tell the recipe, unless the file was written
after fewer sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bgfmt.extras.hypergammon.kernels_recurrence import CONTACT, OVER, RACE
from bgfmt.extras.hypergammon.recurrence import CheckedIteration
from bgfmt.verifier.recurrence.plays import Array, Progress

MAX_WRONG_SHARE = 0.25  # of the records of a damaged copy
MAX_SWEEPS = 150
#: by chequers, the change below which the iteration no longer moves; in float64 the change at which it stops
SETTLED_CHANGE = {1: 0.0, 2: 3e-7, 3: 6e-7}
SETTLED_CHANGE_EXACT = 1e-12
SAMPLED_RECORDS = 5000  # records that are compared first
MAX_SAMPLE_SHARE = 0.5  # all records are compared if no larger share of the sample differs
PASSED_SWEEPS = 3  # the search stops so many sweeps after the state that a damaged copy is of


@dataclass(frozen=True)
class State:
    """A state of the iteration, compared with a file.

    Attributes
    ----------
    sweeps : number of sweeps.
    divide : sums are divided by 36 instead of multiplied by the reciprocal.
    is_near : the file may be this state or a damaged copy of it.
    differ : numbers of the records in which the file differs.
    right : (len(differ), 10) their values in this state; none if the state is not near.
    distance : greatest difference of a probability or equity.
    """

    sweeps: int
    divide: bool
    is_near: bool
    differ: Array
    right: Array
    distance: float


def nearest_state(
    iteration: CheckedIteration, stored: Array, progress: Progress | None = None
) -> State | None:
    """Return the state of the iteration that a file equals, or the one from which it differs in the fewest records.

    A state is the numbers after some sweep. Returns None if finished games differ too much for any state.

    Parameters
    ----------
    iteration : its values are changed.
    stored : the file's records in the form of `CheckedIteration.encode_records`.
    progress : called with (sweeps, most sweeps).
    """
    kinds = iteration.kinds
    live = _sample(kinds >= CONTACT)
    settled = SETTLED_CHANGE_EXACT if iteration.exact else SETTLED_CHANGE[iteration.chequers]
    nearest: State | None = None
    if iteration.differing_share(stored, _sample(kinds <= OVER)) > MAX_WRONG_SHARE:
        return None
    recipes = _sort_recipes(iteration, stored)
    for divide in recipes:
        iteration.begin_again(divide=divide)
        for sweeps in range(1, MAX_SWEEPS + 1):
            change = iteration.sweep()
            if progress is not None:
                progress(sweeps, MAX_SWEEPS)
            last = change <= settled or sweeps == MAX_SWEEPS
            if divide != recipes[0]:
                last |= iteration.races_settled
            if last or iteration.differing_share(stored, live) <= MAX_SAMPLE_SHARE:
                differ, distance = iteration.compare(stored)
                if nearest is None or len(differ) < len(nearest.differ):
                    is_near = len(differ) <= MAX_WRONG_SHARE * len(stored)
                    right = iteration.values[differ if is_near else differ[:0]]
                    nearest = State(sweeps, divide, is_near, differ, right, distance)
                if not len(nearest.differ):
                    return nearest
            if last or (nearest is not None and nearest.is_near and sweeps >= nearest.sweeps + PASSED_SWEEPS):
                break
    return nearest


def _sort_recipes(iteration: CheckedIteration, stored: Array) -> list[bool]:
    """Return whether to divide sums by 36, both ways, the one first by which fewer settled races of a file differ."""
    if iteration.exact:
        return [False]
    races = _sample(iteration.kinds == RACE)
    shares = {}
    for divide in (False, True):
        iteration.begin_again(divide=divide)
        while iteration.sweep(races=True) > 0:
            pass
        shares[divide] = iteration.differing_share(stored, races)
    return sorted(shares, key=lambda divide: shares[divide])


def _sample(which: Array) -> Array:
    """Return the indices at which `which` (bool) is True, at most about `SAMPLED_RECORDS` of them."""
    numbers = np.flatnonzero(which)
    return numbers[:: max(1, len(numbers) // SAMPLED_RECORDS)]
