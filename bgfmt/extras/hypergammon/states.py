"""The state of the hypergammon iteration that a file is, or is nearest to.

Finished games have fixed numbers, and races look at races alone: they settle to the last bit in less than ten sweeps,
which cost next to nothing. So they tell after how many sweeps a file was left, if after few, by which recipe, and how
long after a restart (`tell`); or that no iteration leads to it. Only the courses that races allow are run (`Search`),
until what is left to change is far less than what lies between the file and the iteration.
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

#: sweeps after a restart that are told apart: races are then settled anew
AFTER = 4
RESTARTED = 2  # chequers up to which restarts are looked for
LEAST_FEW = 20  # wrong records of a class that are few in any case
CERTAIN = 1000  # one wrong race in this number, and no other course need be looked at
PART = 4  # of a class: one in this number may be wrong, and the file still be one that was damaged
SWEEPS = {1: 60, 2: 60, 3: 150}
SWEEPS_EXACT = 150
#: the change at which the iteration stays where it is, by chequers; in float64 that at which it stops
SETTLED = {1: 0.0, 2: 3e-7, 3: 6e-7}
SETTLED_EXACT = 1e-12
GLANCED = 5000  # records that are compared after every sweep
LOOKS_LIKE = 0.5  # part of them that may differ before all are compared
#: a file is farther away than any later state by these units and times the change of a sweep; measured is 4 times
ROUNDED = 2.0
REACH = 20.0
#: units by which nine in ten records differ at most from the state without a restart (measured: 1), and the restarts
#: that are tried
RESTART_UNITS = 4.0
TRIED = 6
PASSED = 3  # sweeps that have to lead away from a file before it lies behind
#: part of the records in contact that a restart still leaves different after LATE sweeps (measured), and how many
#: of these a sweep leaves; LATE have to differ, by a few units at most, for a restart to be looked for
LATE = 5
LEFT = 0.28
FADING = 0.71
MOST = 0.9  # of a file's records, where a few more may be damaged
LATE_LEAST = {1: 1, 2: 10, 3: 10}
LATE_UNITS = 8.0
LATE_TRIED = {1: 60, 2: 7, 3: 0}
UNIT_EXACT = 1e15  # of float64 numbers in one


@dataclass(frozen=True)
class Course:
    """Sweeps that may have led to a file: `sweeps` in the end, after a restart where `before` were made first.

    unsettled : the first of these two numbers is exact; otherwise races were settled by then, and it is the least.
    divide : sums divided by 36.
    """

    sweeps: int
    before: int = 0
    unsettled: bool = True
    divide: bool = False


@dataclass(frozen=True)
class Told:
    """What a file's finished games, impossible records and races tell.

    courses : those that agree best with them. fixed : how many records differ that are the same in every table.
    where, right : numbers of all that differ, and their values. known : how many were compared. hopeless : too many
    differ for a sweep to tell more.
    """

    courses: tuple[Course, ...]
    fixed: int
    where: Array
    right: Array
    known: int
    hopeless: bool


def tell(iteration: recurrence.CheckedIteration, stored: Array) -> Told:
    """Hold what is known beforehand against a file's records, as `Iteration.differ` takes them."""
    where = []
    rights = []
    hopeless = False
    known = 0
    fixed = 0
    for kind in (ILLEGAL, OVER):
        some = np.flatnonzero(iteration.kinds == kind)
        values = iteration.values[some]
        wrong = (iteration.written(values) != stored[some]).any(axis=1)
        where.append(some[wrong])
        rights.append(values[wrong])
        known += len(some)
        fixed += int(wrong.sum())
        hopeless = hopeless or many(int(wrong.sum()), len(some))
    races = stored[iteration.races]
    courses: list[Course] = []
    least = len(races) + 1
    best = np.zeros((0, 10))
    differ = np.zeros(0, np.int64)
    nearest = np.inf
    for course, values in _courses(iteration):
        made = iteration.written(values)
        wrong = np.flatnonzero((made != races).any(axis=1))
        if len(wrong) > least:
            continue
        distance = float(recurrence.off(made, races).mean())
        if len(wrong) < least:
            least = len(wrong)
            nearest = np.inf
            courses = []
        if distance < nearest:
            nearest = distance
            best = values[wrong]
            differ = wrong
        courses.append(course)
        if not course.unsettled and least * CERTAIN <= len(races):
            break
    where.append(iteration.races[differ])
    rights.append(best)
    numbers = np.concatenate(where)
    order = np.argsort(numbers)
    return Told(
        tuple(courses), fixed, numbers[order], np.concatenate(rights)[order], known + len(races),
        hopeless or many(least, len(races)),
    )  # fmt: skip


def many(wrong: int, of: int) -> bool:
    """Whether more of a class of records are wrong than one goes on from."""
    return wrong > max(LEAST_FEW, of // PART)


def _courses(iteration: recurrence.CheckedIteration) -> Iterator[tuple[Course, Array]]:
    """Every course that races tell from others, and the values of all races at its end."""
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
    if iteration.exact or iteration.chequers > RESTARTED:
        return
    iteration.begin_again(divide=False)
    for course, values in first:
        whole = iteration.values.copy()
        whole[iteration.races] = values
        iteration.restart(recurrence.encode(whole))
        for sweeps in range(1, AFTER + 1):
            iteration.sweep(races=True)
            yield Course(sweeps, course.sweeps, course.unsettled), iteration.values[iteration.races]


@dataclass
class Search:
    """Runs courses and keeps the state nearest to a file.

    differ, right : numbers of the records in which the file differs from it, and their values; None at first.
    """

    iteration: recurrence.CheckedIteration
    stored: Array
    progress: Progress | None = None
    differ: Array | None = None
    right: Array = field(default_factory=lambda: np.zeros((0, 10)))
    course: Course | None = None

    def __post_init__(self) -> None:
        contact = np.flatnonzero(self.iteration.kinds == CONTACT)
        self._some = contact[:: max(1, len(contact) // GLANCED)]
        self._glance = self.stored[self._some]
        self._numbers = self._units_stored()

    def run(self, course: Course) -> Course | None:
        """The course, completed, whose state the file is; None where it is none."""
        if course.before and not course.unsettled:
            return self._restarted(course)
        return self._state(course) if course.unsettled else self._on(course)

    def few(self) -> bool:
        """Whether the file is a damaged copy of the nearest state."""
        return self.differ is not None and not many(len(self.differ), len(self.stored))

    def _state(self, course: Course) -> Course | None:
        """The state at the end of a course whose sweeps are known."""
        iteration = self.iteration
        iteration.begin_again(divide=course.divide)
        for sweep in range(course.before + course.sweeps):
            if 0 < sweep == course.before:
                iteration.restart(recurrence.encode(iteration.values))
            iteration.sweep()
        return self._compare(course)

    def _on(self, course: Course) -> Course | None:
        """The state after a number of sweeps or more."""
        best = len(self.stored) + 1
        found = 0
        for sweeps, apart, beyond in self._sweeps(course):
            if sweeps < course.sweeps:
                continue
            if apart <= LOOKS_LIKE:
                equal = self._compare(Course(sweeps, 0, False, course.divide))
                if equal is not None:
                    return equal
                if self.differ is not None and len(self.differ) < best:
                    best = len(self.differ)
                    found = sweeps
            if beyond > ROUNDED or (self.few() and 0 < found <= sweeps - PASSED):  # it lies behind
                break
        late = self.faded() or (self.iteration.chequers == 1 and self.few())  # where all may be tried
        return self._long_after(course) if late and not course.divide and not self.iteration.exact else None

    def faded(self) -> bool:
        """Whether the file differs from the nearest state as long after a restart: little, and in contact alone."""
        if self.iteration.exact or self.differ is None or not self.few():
            return False
        if len(self.differ) < LATE_LEAST[self.iteration.chequers]:
            return False
        there = recurrence.numbers_of(self.stored[self.differ])
        off = np.abs(there - recurrence.numbers_of(recurrence.encode(self.right)))
        in_contact = self.iteration.kinds[self.differ] == CONTACT
        return bool(in_contact.mean() >= MOST and np.quantile(off.max(axis=1), MOST) <= LATE_UNITS)

    def _long_after(self, course: Course) -> Course | None:
        """The state after a restart so long ago that races do not tell; how long is guessed from what differs."""
        assert self.differ is not None
        assert self.course is not None
        contact = int((self.iteration.kinds == CONTACT).sum())
        guess = LATE + np.log(LEFT * contact / len(self.differ)) / -np.log(FADING)
        last = self.course.sweeps
        first = len(self.differ)
        tried = sorted(range(1, last), key=lambda sweeps: abs(sweeps - guess))
        for sweeps in tried[: LATE_TRIED[self.iteration.chequers]]:
            equal = self._state(Course(sweeps, last - sweeps, False))
            if equal is not None or len(self.differ) <= LEAST_FEW < first:
                return equal
        return None

    def _restarted(self, course: Course) -> Course | None:
        """The state some sweeps after a restart, from states that the file is near to, the nearest first."""
        near: list[tuple[float, int]] = []
        for sweeps, apart, beyond in self._sweeps(course):
            near.append((self._distance() + apart, sweeps))
            if beyond > RESTART_UNITS or (min(near)[1] + PASSED < sweeps and min(near)[0] < RESTART_UNITS):
                break
        for _, sweeps in sorted(near)[:TRIED] if min(near)[0] < RESTART_UNITS else ():
            if sweeps > course.sweeps:
                equal = self._state(Course(course.sweeps, sweeps - course.sweeps, False))
                if equal is not None or self.few():
                    return equal
        return None

    def _sweeps(self, course: Course) -> Any:
        """(sweeps made, part of the records glanced at that differ, units that no later sweep can make up)."""
        iteration = self.iteration
        most = SWEEPS_EXACT if iteration.exact else SWEEPS[iteration.chequers]
        iteration.begin_again(divide=course.divide)
        settled = SETTLED_EXACT if iteration.exact else SETTLED[iteration.chequers]
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
                (iteration.written(iteration.values[self._some]) != self._glance).any(axis=1).mean()
            )
            yield sweeps, apart, self._distance() - REACH * changed
            if change <= settled:
                return

    def _compare(self, course: Course) -> Course | None:
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
            return values * UNIT_EXACT
        return np.hstack([values[:, :5], values[:, 6:] / 6 + 0.5]) * recurrence.WHOLE

    def _units_stored(self) -> Array:
        if self.iteration.exact:
            return np.nan_to_num(self._glance.view(np.float64) * UNIT_EXACT, nan=np.inf)
        return recurrence.numbers_of(self._glance) + 0.5  # they are cut off

    def _distance(self) -> float:
        return float(np.quantile(np.abs(self._units() - self._numbers).max(axis=1), 0.9))
