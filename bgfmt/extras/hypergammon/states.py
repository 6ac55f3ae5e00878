"""Search for the state of the hypergammon iteration that a file is, or is nearest to.

Finished games have fixed numbers, and races depend only on races: they settle to the last bit in less than ten sweeps
and cost next to nothing. So races tell the number of sweeps after which a file was written, if small, by which
recipe, and how long after a restart (`match_races`); or that no iteration leads to it. Only the courses that races
allow are run (`Search`), until the remaining changes are far less than the distance between the file and the
iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.kernels_recurrence import CONTACT, ILLEGAL, OVER
from bgfmt.verifier.recurrence.plays import Array
from bgfmt.verifier.spread import Progress

#: sweeps after a restart that races can tell apart; later they have settled again
MAX_SWEEPS_AFTER_RESTART = 4
MAX_RESTART_CHEQUERS = 2  # with more chequers restarts are not searched for
ALWAYS_FEW = 20  # so many wrong records of a class are always few
CERTAIN_ONE_IN = 1000  # if at most one race in this number is wrong, no other course is tried
WRONG_ONE_IN = 4  # of a damaged copy, at most one record of a class in this number is wrong
MAX_SWEEPS = {1: 60, 2: 60, 3: 150}
MAX_SWEEPS_EXACT = 150
#: by chequers, the change below which the iteration no longer moves; in float64 the change at which it stops
SETTLED_CHANGE = {1: 0.0, 2: 3e-7, 3: 6e-7}
SETTLED_CHANGE_EXACT = 1e-12
GLANCE_RECORDS = 5000  # records that are compared after every sweep
MAX_GLANCE_SHARE = 0.5  # all records are compared if no larger share of these differs
#: a later state cannot equal the file if their distance is more than ROUNDING_UNITS and REMAINING_CHANGE_FACTOR
#: times the change of a sweep (measured: 4 times)
ROUNDING_UNITS = 2.0
REMAINING_CHANGE_FACTOR = 20.0
#: a restart is tried if nine in ten records differ by at most so many units from the state without one (measured: 1)
RESTART_UNITS = 4.0
MAX_RESTARTS_TRIED = 6
PASSED_SWEEPS = 3  # the search stops after so many sweeps away from the file
#: LATE_SWEEPS after a restart the share LATE_SHARE of the records in contact still differs (measured), and each
#: further sweep leaves the share LATE_DECAY of these; at least LATE_MIN_RECORDS have to differ, by LATE_MAX_UNITS
#: at most
LATE_SWEEPS = 5
LATE_SHARE = 0.28
LATE_DECAY = 0.71
MOST_RECORDS_SHARE = 0.9  # of the differing records; a few more may be damaged
LATE_MIN_RECORDS = {1: 1, 2: 10, 3: 10}
LATE_MAX_UNITS = 8.0
LATE_MAX_TRIED = {1: 60, 2: 7, 3: 0}
UNITS_EXACT = 1e15  # units of a float64 number in 1


@dataclass(frozen=True)
class Course:
    """Sweeps that may have led to a file: `sweeps` in the end, after a restart if `before` were done first.

    unsettled : the first of these two numbers is exact; otherwise races were settled by then, and it is the least.
    divide : sums are divided by 36 instead of multiplied by the reciprocal.
    """

    sweeps: int
    before: int = 0
    unsettled: bool = True
    divide: bool = False


@dataclass(frozen=True)
class RaceMatch:
    """Result of comparing a file's finished games, impossible records and races with the iteration.

    Attributes
    ----------
    courses : those that agree best with the races.
    fixed : number of wrong records among those that are the same in every table.
    where, right : numbers of all wrong records, and their right values.
    known : number of records compared.
    hopeless : True if too many are wrong for further sweeps to be worth running.
    """

    courses: tuple[Course, ...]
    fixed: int
    where: Array
    right: Array
    known: int
    hopeless: bool


def match_races(iteration: recurrence.CheckedIteration, stored: Array) -> RaceMatch:
    """Compare a file's finished games, impossible records and races with those of all courses.

    stored : records in the form of `CheckedIteration.encode_records`.
    """
    where = []
    rights = []
    hopeless = False
    known = 0
    fixed = 0
    for kind in (ILLEGAL, OVER):
        some = np.flatnonzero(iteration.kinds == kind)
        values = iteration.values[some]
        wrong = (iteration.encode_records(values) != stored[some]).any(axis=1)
        where.append(some[wrong])
        rights.append(values[wrong])
        known += len(some)
        fixed += int(wrong.sum())
        hopeless = hopeless or too_many_wrong(int(wrong.sum()), len(some))
    races = stored[iteration.races]
    courses: list[Course] = []
    least = len(races) + 1
    best = np.zeros((0, 10))
    differ = np.zeros(0, np.int64)
    nearest = np.inf
    for course, values in _courses(iteration):
        made = iteration.encode_records(values)
        wrong = np.flatnonzero((made != races).any(axis=1))
        if len(wrong) > least:
            continue
        distance = float(recurrence.greatest_differences(made, races).mean())
        if len(wrong) < least:
            least = len(wrong)
            nearest = np.inf
            courses = []
        if distance < nearest:
            nearest = distance
            best = values[wrong]
            differ = wrong
        courses.append(course)
        if not course.unsettled and least * CERTAIN_ONE_IN <= len(races):
            break
    where.append(iteration.races[differ])
    rights.append(best)
    numbers = np.concatenate(where)
    order = np.argsort(numbers)
    return RaceMatch(
        tuple(courses), fixed, numbers[order], np.concatenate(rights)[order], known + len(races),
        hopeless or too_many_wrong(least, len(races)),
    )  # fmt: skip


def too_many_wrong(wrong: int, of: int) -> bool:
    """Return True if so many records of a class are wrong that the search stops."""
    return wrong > max(ALWAYS_FEW, of // WRONG_ONE_IN)


def _courses(iteration: recurrence.CheckedIteration) -> Iterator[tuple[Course, Array]]:
    """Yield every course that races can tell apart, and the values of all races at its end."""
    first: list[tuple[Course, Array]] = []
    for divide in (False,) if iteration.exact else (False, True):
        iteration.begin_again(divide=divide)
        states: list[tuple[Course, Array]] = []
        while iteration.sweep(races=True) > 0:
            states.append((Course(len(states) + 1, divide=divide), iteration.values[iteration.races]))
        sweeps = max(1, len(states))
        states = [*states[:-1], (Course(sweeps, 0, False, divide), iteration.values[iteration.races])]
        yield from states
        first = first or states
    if iteration.exact or iteration.chequers > MAX_RESTART_CHEQUERS:
        return
    iteration.begin_again(divide=False)
    for course, values in first:
        whole = iteration.values.copy()
        whole[iteration.races] = values
        iteration.restart(recurrence.encode(whole))
        for sweeps in range(1, MAX_SWEEPS_AFTER_RESTART + 1):
            iteration.sweep(races=True)
            yield Course(sweeps, course.sweeps, course.unsettled), iteration.values[iteration.races]


@dataclass
class Search:
    """Runs courses and keeps the state nearest to a file.

    Attributes
    ----------
    iteration, stored : the iteration, and the file's records, see `match_races`.
    progress : called with (sweeps, most sweeps).
    differ, right : numbers of the records in which the file differs from the nearest state, and their values there;
        None at first.
    course : the course to the nearest state.
    """

    iteration: recurrence.CheckedIteration
    stored: Array
    progress: Progress | None = None
    differ: Array | None = None
    right: Array = field(default_factory=lambda: np.zeros((0, 10)))
    course: Course | None = None

    def __post_init__(self) -> None:
        contact = np.flatnonzero(self.iteration.kinds == CONTACT)
        self._some = contact[:: max(1, len(contact) // GLANCE_RECORDS)]
        self._glance = self.stored[self._some]
        self._numbers = self._units_stored()

    def run(self, course: Course) -> Course | None:
        """Run a course; return it, completed, if the file is its state, else None."""
        if course.before and not course.unsettled:
            return self._search_restart(course)
        return self._run_course(course) if course.unsettled else self._search_from(course)

    def is_damaged_copy(self) -> bool:
        """Return True if the file differs from the nearest state in so few records that it is a damaged copy."""
        return self.differ is not None and not too_many_wrong(len(self.differ), len(self.stored))

    def _run_course(self, course: Course) -> Course | None:
        """Compare with the state at the end of a course whose sweeps are known."""
        iteration = self.iteration
        iteration.begin_again(divide=course.divide)
        for sweep in range(course.before + course.sweeps):
            if 0 < sweep == course.before:
                iteration.restart(recurrence.encode(iteration.values))
            iteration.sweep()
        return self._compare(course)

    def _search_from(self, course: Course) -> Course | None:
        """Compare with the states after `course.sweeps` sweeps and more."""
        best = len(self.stored) + 1
        found = 0
        for sweeps, apart, beyond in self._sweeps(course):
            if sweeps < course.sweeps:
                continue
            if apart <= MAX_GLANCE_SHARE:
                equal = self._compare(Course(sweeps, 0, False, course.divide))
                if equal is not None:
                    return equal
                if self.differ is not None and len(self.differ) < best:
                    best = len(self.differ)
                    found = sweeps
            if beyond > ROUNDING_UNITS or (
                self.is_damaged_copy() and 0 < found <= sweeps - PASSED_SWEEPS
            ):  # it lies behind
                break
        late = self.may_follow_restart() or (
            self.iteration.chequers == 1 and self.is_damaged_copy()
        )  # where all may be tried
        return (
            self._search_late_restart(course)
            if late and not course.divide and not self.iteration.exact
            else None
        )

    def may_follow_restart(self) -> bool:
        """Return True if the file differs from the nearest state like one written long after a restart.

        Such a file differs by little, and only in records in contact.
        """
        if self.iteration.exact or self.differ is None or not self.is_damaged_copy():
            return False
        if len(self.differ) < LATE_MIN_RECORDS[self.iteration.chequers]:
            return False
        there = recurrence.numbers_of(self.stored[self.differ])
        off = np.abs(there - recurrence.numbers_of(recurrence.encode(self.right)))
        in_contact = self.iteration.kinds[self.differ] == CONTACT
        return bool(
            in_contact.mean() >= MOST_RECORDS_SHARE
            and np.quantile(off.max(axis=1), MOST_RECORDS_SHARE) <= LATE_MAX_UNITS
        )

    def _search_late_restart(self, course: Course) -> Course | None:
        """Search the state after a restart so long ago that races do not tell.

        The differences give a first guess of how long.
        """
        assert self.differ is not None
        assert self.course is not None
        contact = int((self.iteration.kinds == CONTACT).sum())
        guess = LATE_SWEEPS + np.log(LATE_SHARE * contact / len(self.differ)) / -np.log(LATE_DECAY)
        last = self.course.sweeps
        first = len(self.differ)
        tried = sorted(range(1, last), key=lambda sweeps: abs(sweeps - guess))
        for sweeps in tried[: LATE_MAX_TRIED[self.iteration.chequers]]:
            equal = self._run_course(Course(sweeps, last - sweeps, False))
            if equal is not None or len(self.differ) <= ALWAYS_FEW < first:
                return equal
        return None

    def _search_restart(self, course: Course) -> Course | None:
        """Search the state some sweeps after a restart, starting from the states nearest to the file."""
        near: list[tuple[float, int]] = []
        for sweeps, apart, beyond in self._sweeps(course):
            near.append((self._distance() + apart, sweeps))
            if beyond > RESTART_UNITS or (
                min(near)[1] + PASSED_SWEEPS < sweeps and min(near)[0] < RESTART_UNITS
            ):
                break
        for _, sweeps in sorted(near)[:MAX_RESTARTS_TRIED] if min(near)[0] < RESTART_UNITS else ():
            if sweeps > course.sweeps:
                equal = self._run_course(Course(course.sweeps, sweeps - course.sweeps, False))
                if equal is not None or self.is_damaged_copy():
                    return equal
        return None

    def _sweeps(self, course: Course) -> Any:
        """Yield (sweeps done, share of sampled records that differ, units that no later sweep can make up)."""
        iteration = self.iteration
        most = MAX_SWEEPS_EXACT if iteration.exact else MAX_SWEEPS[iteration.chequers]
        iteration.begin_again(divide=course.divide)
        settled = SETTLED_CHANGE_EXACT if iteration.exact else SETTLED_CHANGE[iteration.chequers]
        least = course.before or course.sweeps
        for sweeps in range(1, most + 1):
            before = self._units()
            change = iteration.sweep()
            if sweeps == least + 1:
                iteration.leave_races()
            if self.progress is not None:
                self.progress(sweeps, most)
            now = self._units()
            changed = float(np.quantile(np.abs(now - before).max(axis=1), 0.9))
            apart = float(
                (iteration.encode_records(iteration.values[self._some]) != self._glance).any(axis=1).mean()
            )
            yield sweeps, apart, self._distance() - REMAINING_CHANGE_FACTOR * changed
            if change <= settled:
                return

    def _compare(self, course: Course) -> Course | None:
        """Compare all records with the current state; return the course if they are equal."""
        differ = self.iteration.differ(self.stored)
        if self.differ is None or len(differ) < len(self.differ):
            self.differ = differ
            self.right = self.iteration.values[differ]
            self.course = course
        return None if len(differ) else course

    # -- how far the file is from the iteration, in units of its numbers -------------------------------------------

    def _units(self) -> Array:
        values = self.iteration.values[self._some].astype(np.float64)
        if self.iteration.exact:
            return values * UNITS_EXACT
        return np.hstack([values[:, :5], values[:, 6:] / 6 + 0.5]) * recurrence.WHOLE

    def _units_stored(self) -> Array:
        if self.iteration.exact:
            return np.nan_to_num(self._glance.view(np.float64) * UNITS_EXACT, nan=np.inf)
        return recurrence.numbers_of(self._glance) + 0.5  # they are cut off

    def _distance(self) -> float:
        return float(np.quantile(np.abs(self._units() - self._numbers).max(axis=1), 0.9))
