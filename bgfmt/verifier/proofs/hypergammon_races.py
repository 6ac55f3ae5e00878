"""How a hypergammon file may have come about, read off what needs no sweep over positions in contact.

Games that are over have fixed numbers. Races look at races alone, so their numbers after a number of sweeps do not
depend on the rest, and they settle to the last bit in less than ten sweeps, which cost next to nothing. So they
tell after how many sweeps a file was left, if after few, by which recipe, and how long after a restart; or that no
iteration leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.verifier.recurrence import hypergammon as recurrence

Array = NDArray[Any]
#: sweeps after a restart that are told apart: races are then settled anew
AFTER = 4
RESTARTED = 2  # chequers up to which restarts are looked for
LEAST_FEW = 20  # wrong records of a class that are few in any case
CERTAIN = 1000  # one wrong race in this number, and no other course need be looked at
PART = 4  # of a class: one in this number may be wrong, and the file still be one that was damaged


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


def tell(iteration: recurrence.Iteration, stored: Array) -> Told:
    """Hold what is known beforehand against a file's records, as `Iteration.differ` takes them."""
    where, rights, hopeless, known, fixed = [], [], False, 0, 0
    for kind in (recurrence.ILLEGAL, recurrence.OVER):
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
    least, best, differ = len(races) + 1, np.zeros((0, 10)), np.zeros(0, np.int64)
    nearest = np.inf
    for course, values in _courses(iteration):
        made = iteration.written(values)
        wrong = np.flatnonzero((made != races).any(axis=1))
        if len(wrong) > least:
            continue
        distance = float(recurrence.off(made, races).mean())
        if len(wrong) < least:
            least, nearest, courses = len(wrong), np.inf, []
        if distance < nearest:
            nearest, best, differ = distance, values[wrong], wrong
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


def _courses(iteration: recurrence.Iteration) -> Iterator[tuple[Course, Array]]:
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
