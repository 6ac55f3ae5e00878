"""Find the state of the hypergammon iteration that a file is, or is nearest to.

Finished games have fixed numbers, and races depend only on races: they settle to the last bit in less than ten sweeps
and cost next to nothing. So they are swept first. They tell after how many sweeps a file was written, if few, and by
which recipe, or that the file is damaged throughout. Then whole sweeps are run from the start, and the file is
compared after each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.kernels_recurrence import CONTACT, OVER
from bgfmt.verifier.recurrence.plays import Array
from bgfmt.verifier.spread import Progress

ALWAYS_FEW = 20  # so many wrong records are always few
WRONG_ONE_IN = 4  # of a damaged copy, at most one record in this number is wrong
MAX_SWEEPS = 150
#: by chequers, the change below which the iteration no longer moves; in float64 the change at which it stops
SETTLED_CHANGE = {1: 0.0, 2: 3e-7, 3: 6e-7}
SETTLED_CHANGE_EXACT = 1e-12
SAMPLED_RECORDS = 5000  # records by which distances are measured
#: no later state equals the file if their distance is more than ROUNDING_UNITS and this multiple of the change of a
#: sweep; the changes of all further sweeps add up to 4 times the last (measured)
REMAINING_CHANGE_FACTOR = 20.0
ROUNDING_UNITS = 2.0
UNIT = 6 / recurrence.WHOLE  # of an equity in a file
UNIT_EXACT = 1e-15
MAX_SAMPLE_SHARE = 0.5  # all records are compared if no larger share of the sample differs
PASSED_SWEEPS = 3  # the search stops so many sweeps after the state that a damaged copy is of


@dataclass(frozen=True)
class State:
    """A state of the iteration, compared with a file.

    Attributes
    ----------
    sweeps, before : number of sweeps, and of those before a restart, 0 without one.
    divide : sums are divided by 36 instead of multiplied by the reciprocal.
    settled : races do not change after so many sweeps.
    compared : number of records compared.
    differ : numbers of the records in which the file differs.
    right : (len(differ), 10) their values in this state; none if all records were compared and many differ.
    distance : greatest difference of a number, of some records in contact.
    """

    sweeps: int
    before: int = 0
    divide: bool = False
    settled: bool = True
    compared: int = 0
    differ: Array = field(default_factory=lambda: np.empty(0, np.int64))
    right: Array = field(default_factory=lambda: np.empty((0, 10)))
    distance: float = 0.0

    @property
    def is_near(self) -> bool:
        """Whether the file may be this state or a damaged copy of it: a few records differ, or a quarter at most."""
        return len(self.differ) <= max(ALWAYS_FEW, self.compared // WRONG_ONE_IN)


def nearest_state(
    iteration: recurrence.CheckedIteration, stored: Array, progress: Progress | None = None
) -> State:
    """Return the state of the iteration that a file equals, or the one from which it differs in the fewest records.

    A state is the numbers after some sweep. If finished games or races differ too much, only these are compared.

    Parameters
    ----------
    iteration : its values are changed.
    stored : the file's records in the form of `CheckedIteration.encode_records`.
    progress : called with (sweeps, most sweeps).
    """
    fixed = np.flatnonzero(iteration.kinds <= OVER)
    iteration.begin_again(divide=False)
    resting = compare(iteration, stored, State(0), fixed)
    races = sorted(_race_states(iteration, stored), key=lambda found: (len(found[1].differ), found[0]))
    courses = [state for _, state in races]
    first = courses[0]
    found: list[State] = []
    for course in courses:
        if resting.is_near and first.is_near and len(course.differ) == len(first.differ):
            found.append(_run_course(iteration, stored, course, progress))
            if not len(found[-1].differ):
                return found[-1]
    if iteration.chequers == 1 and not iteration.exact:
        found += _restarted_states(iteration, stored)
    nearest = min(found, key=lambda state: len(state.differ), default=None)
    if nearest is not None and (nearest.is_near or (resting.is_near and first.is_near)):
        return nearest
    differ = np.concatenate([resting.differ, first.differ])
    right = np.concatenate([resting.right, first.right])
    order = np.argsort(differ)
    compared = resting.compared + first.compared
    return replace(first, compared=compared, differ=differ[order], right=right[order])


def compare(
    iteration: recurrence.CheckedIteration, stored: Array, state: State, which: Array | None = None
) -> State:
    """Compare records of a file with the current numbers of the iteration; return `state` with the result filled in.

    Parameters
    ----------
    stored : the file's records in the form of `CheckedIteration.encode_records`.
    state : describes how the current numbers were reached.
    which : numbers of the records to compare; all if None.
    """
    differ = iteration.differ(stored, which)
    state = replace(state, compared=len(stored) if which is None else len(which), differ=differ)
    some = differ if state.is_near or which is not None else differ[:0]
    return replace(state, right=iteration.values[some])


def _race_states(iteration: recurrence.CheckedIteration, stored: Array) -> Iterator[tuple[float, State]]:
    """Yield (mean difference from the file, state) of races after each sweep, by each recipe, until they settle."""
    races = stored[iteration.races]
    for divide in (False,) if iteration.exact else (False, True):
        iteration.begin_again(divide=divide)
        states: list[tuple[float, State]] = []
        while iteration.sweep(races=True) > 0 or not states:
            made = iteration.encode_records(iteration.values[iteration.races])
            mean = float(recurrence.greatest_differences(made, races).mean())
            state = State(len(states) + 1, divide=divide, settled=False)
            states.append((mean, compare(iteration, stored, state, iteration.races)))
        mean, last = states.pop()
        yield from states
        yield mean, replace(last, settled=True)
        if any(not len(state.differ) for _, state in (*states, (mean, last))):
            return


def _run_course(
    iteration: recurrence.CheckedIteration, stored: Array, course: State, progress: Progress | None
) -> State:
    """Return the nearest of the states after `course.sweeps` sweeps or, if races have settled by then, after more."""
    contact = np.flatnonzero(iteration.kinds == CONTACT)
    some = contact[:: max(1, len(contact) // SAMPLED_RECORDS)]
    sample = stored[some]
    target = iteration.decode_values(sample)
    settled = SETTLED_CHANGE_EXACT if iteration.exact else SETTLED_CHANGE[iteration.chequers]
    unit = UNIT_EXACT if iteration.exact else UNIT
    iteration.begin_again(divide=course.divide)
    nearest: State | None = None
    now = iteration.values[some]
    for sweeps in range(1, MAX_SWEEPS + 1):
        change = iteration.sweep()
        if progress is not None:
            progress(sweeps, MAX_SWEEPS)
        before = now
        now = iteration.values[some]
        if sweeps < course.sweeps:
            continue
        last = not course.settled or change <= settled or sweeps == MAX_SWEEPS
        distance = _typical_difference(now, target)
        remaining = REMAINING_CHANGE_FACTOR * _typical_difference(now, before) + ROUNDING_UNITS * unit
        if nearest is not None and nearest.is_near and sweeps >= nearest.sweeps + PASSED_SWEEPS:
            break
        if last or distance > remaining or _share_of_differing(iteration, now, sample) <= MAX_SAMPLE_SHARE:
            state = replace(course, sweeps=sweeps, distance=float(np.abs(now - target).max()))
            state = compare(iteration, stored, state)
            if nearest is None or len(state.differ) < len(nearest.differ):
                nearest = state
        if last or distance > remaining or (nearest is not None and not len(nearest.differ)):
            break
        iteration.leave_races()
    assert nearest is not None
    return nearest


def _share_of_differing(iteration: recurrence.CheckedIteration, values: Array, stored: Array) -> float:
    """Return the share of records of a file that differ from values."""
    return float((iteration.encode_records(values) != stored).any(axis=1).mean())


def _typical_difference(one: Array, other: Array) -> float:
    """Return the difference of a number that nine in ten records do not exceed."""
    return float(np.quantile(np.abs(one - other).max(axis=1), 0.9))


def _restarted_states(iteration: recurrence.CheckedIteration, stored: Array) -> Iterator[State]:
    """Yield the states of one chequer after each restart (`makehyper -r`), up to the one that the file equals."""
    iteration.begin_again(divide=False)
    change = 1.0
    before = 0
    while change > 0:
        change = iteration.sweep()
        before += 1
        values = iteration.values.copy()
        iteration.restart(recurrence.encode(values))
        later = 1.0
        sweeps = 0
        while later > 0 and sweeps < MAX_SWEEPS:
            later = iteration.sweep()
            sweeps += 1
            state = compare(iteration, stored, State(sweeps, before))
            yield state
            if not len(state.differ):
                return
        iteration.load_values(values)
