"""Recurrence of hypergammon tables: the iteration of makehyper run again, or one step of it from a file's records.

The positions of hypergammon go round in circles, so no order of proof exists: a file is a state of an iteration, and
the iteration is run again. That an entry follows from the file's own others in one step says less, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Array = NDArray[Any]
Progress = Callable[[int, int], None]
WHOLE = 16777215
DECODE = np.float32(1 / WHOLE)
PLACES = 25  # points and the bar
PART = 4096  # records a thread takes at once
SOME = 64  # rows made at once
SETTLING = 200  # steps after which records settle in any case
APART = 20  # times the limit by which what is wrong in itself differs, where anything does
WHILE = 1 << 17  # records compared at once
#: classes of records
ILLEGAL, OVER, CONTACT, RACE = 0, 1, 2, 3


def encode(values: Array) -> Array:
    """(…, 10) float32 as the 28 bytes of a record."""
    numbers = np.empty((*values.shape[:-1], 9), np.int32)
    numbers[..., :5] = (values[..., :5] * np.float32(WHOLE)).astype(np.int32)
    equities = values[..., 6:] * np.float32(1 / 6) + np.float32(0.5)
    numbers[..., 5:] = (equities * np.float32(WHOLE)).astype(np.int32)
    out = np.zeros((*values.shape[:-1], 28), np.uint8)
    for k in range(3):
        out[..., k:27:3] = (numbers >> (8 * k)) & 255
    return out


def numbers_of(records: Array) -> Array:
    """(…, 9) int32 of the nine 24-bit numbers of records (…, 28)."""
    wide = records[..., :27].astype(np.int32)
    return np.asarray(wide[..., 0::3] | wide[..., 1::3] << 8 | wide[..., 2::3] << 16)


def decode(records: Array) -> Array:
    """(…, 10) float32 of records, the cubeless equity from the chances, as makehyper restarts from a file."""
    numbers = numbers_of(records).astype(np.float32)
    out = np.empty((*records.shape[:-1], 10), np.float32)
    chances = numbers[..., :5] * DECODE
    out[..., :5] = chances
    out[..., 5] = (np.float32(2) * chances[..., 0] - np.float32(1)) + (
        (chances[..., 1] - chances[..., 3]) + (chances[..., 2] - chances[..., 4])
    )
    out[..., 6:] = (numbers[..., 5:] * DECODE - np.float32(0.5)) * np.float32(6)
    return out


def off(one: Array, other: Array) -> Array:
    """(m,) the greatest difference of a chance or an equity between records (m, 28), or (m, 10) int64 of float64."""
    if one.dtype == np.int64:
        gap = np.abs(one.view(np.float64) - other.view(np.float64))
    else:
        gap = np.abs(decode(one) - decode(other))
    return np.asarray(np.nan_to_num(gap, nan=np.inf).max(axis=1, initial=0))


def boards_of(chequers: int) -> Array:
    """(n, 25) int64 counts of every position."""
    return board.unrank_array(np.arange(board.count(PLACES, chequers)), PLACES).astype(np.int64)


def terms_of(most: int = 16) -> Array:
    """Terms of position numbers on 25 places, of fewer than `most` chequers."""
    return np.array([[comb(s + k - 1, k) for s in range(most)] for k in range(1, PLACES + 1)], np.int64)


def lists(boards: Array, threads: int) -> Any:
    """The plays of all sides, as `kernels_hypergammon.Lists`."""
    from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

    n = len(boards)
    wide = terms_of(kernels.WIDE)
    blocked, blots = np.zeros(n, np.int64), np.zeros(n, np.int64)
    met, hit = np.zeros((n, 3), np.int64), np.zeros((n, 8), np.int64)
    kernels.others(boards, wide, blocked, blots, met, hit)
    cuts = np.linspace(0, n, 4 * threads + 1).astype(int).tolist()
    ends = [np.zeros((b - a) * PLACES * kernels.ROLLS, np.int64) for a, b in pairwise(cuts)]
    with ThreadPoolExecutor(threads) as pool:
        plays = list(
            pool.map(lambda a, b, of: kernels.list_sides(boards, a, b, wide, of), cuts, cuts[1:], ends)
        )
    before = np.cumsum([0] + [len(after) for after, _ in plays])
    starts = np.concatenate([[0], *(some + at for some, at in zip(ends, before[:-1], strict=True))])
    after, landed = (np.concatenate(parts) for parts in zip(*plays, strict=True))
    return kernels.Lists(starts, after, landed, blocked, blots, met, hit)


class CheckedIteration:
    """makehyper's iteration in memory: renewal in place, record by record, row by row.

    A record [us, them] looks at rows of `them` or, where blots are hit, of sides of a greater number, and there at
    sides that `us` may become, whose numbers are smaller. So with us < them all it looks at comes after its turn, and
    is as it was; a sweep makes those records first, on all threads. Then it takes the others, one after the other.

    values (n * n, 10) : the numbers. live, races : numbers of the records that are iterated, and of those of them
    in which all contact is over: they look at races alone. divide : sums are divided by 36 instead of multiplied by
    the reciprocal.
    """

    def __init__(self, chequers: int, *, divide: bool = False, exact: bool = False, threads: int = 1) -> None:
        """The state before the first sweep.

        `exact` : in float64, and a side that cannot move leaves everything as it was, which makehyper gets wrong.
        """
        self.chequers, self.divide, self.exact, self.threads = chequers, divide, exact, threads
        self.boards = boards_of(chequers)
        n = len(self.boards)
        width = np.float64 if exact else np.float32
        self.values, self._turned = np.zeros((n * n, 10), width), np.zeros((n * n, 10), width)
        self.kinds = np.zeros(n * n, np.uint8)
        self._lists = lists(self.boards, threads)
        self.begin_again(divide=divide)
        self.live, self.races = np.flatnonzero(self.kinds >= CONTACT), np.flatnonzero(self.kinds == RACE)
        self._without_contact = np.where(self.kinds == CONTACT, ILLEGAL, self.kinds).astype(np.uint8)

    def begin_again(self, *, divide: bool) -> None:
        """Back to the state before the first sweep."""
        from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

        self.divide = divide
        kernels.start_values(self.boards, self.chequers, self.values, self.kinds)
        self._renewed = self.kinds
        kernels.turn_all(len(self.boards), self.values, self._turned)

    def leave_races(self) -> None:
        """Races are settled: sweeps leave them as they are."""
        self._renewed = np.where(self.kinds == RACE, ILLEGAL, self.kinds).astype(np.uint8)

    def restart(self, records: Array) -> None:
        """Go on from the records of a file, as makehyper -r does."""
        from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

        self._renewed = self.kinds
        self.values[:] = decode(records.reshape(-1, 28))
        kernels.turn_all(len(self.boards), self.values, self._turned)

    def sweep(self, *, races: bool = False) -> float:
        """One sweep, of races alone if so asked; the greatest change of a number."""
        from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

        n, kinds = len(self.boards), self._without_contact if races else self._renewed
        known = (self._lists, self.boards, self.chequers, kinds, self.divide, self.exact)
        arrays, starts = (self.values, self._turned), range(0, n, SOME)

        def beyond(first: int) -> float:
            return float(kernels.rows(first, min(n, first + SOME), True, *known, *arrays))

        with ThreadPoolExecutor(self.threads) as pool:
            changes = list(pool.map(beyond, starts))
        for first in starts:
            changes.append(float(kernels.rows_in_order(first, min(n, first + SOME), *known, *arrays)))
        return max(changes)

    def records(self) -> Array:
        """(n, n, 28) uint8, the state as a file holds it."""
        n = len(self.boards)
        out = np.empty((n, n, 28), np.uint8)
        for us in range(n):
            out[us] = encode(self.values[us * n : (us + 1) * n])
        return out

    def differ(self, stored: Array) -> Array:
        """Numbers of the records in which a file differs, given as `written` has it."""
        n, found = len(self.boards), []
        for first in range(0, n * n, WHILE):
            some = slice(first, first + WHILE)
            found.append(
                first + np.flatnonzero((self.written(self.values[some]) != stored[some]).any(axis=1))
            )
        return np.concatenate(found)

    def written(self, values: Array) -> Array:
        """(m, 10) values as a file holds them: (m, 28) uint8, or (m, 10) int64, the bits of float64."""
        return values.view(np.int64) if self.exact else encode(values)


@dataclass(frozen=True)
class Steps:
    """One step from a file's own records: for each record looked at, what it gives and how far that is off."""

    which: Array
    right: Array
    off: Array
    kinds: Array


def steps(
    stored: Array,
    chequers: int,
    which: Array | None = None,
    *,
    slack: float = 0.0,
    divide: bool = False,
    exact: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[Steps]:
    """One step of the iteration for the records `which` (all when None) of (n, n, 28) uint8, some at a time.

    Plays whose cubeless values are within `slack` of each other count as equally good. `exact` : the records are
    (n, n, 10) float64, and the step is that of recipe exact.
    """
    from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

    boards, terms = boards_of(chequers), terms_of()
    n = len(boards)
    width = np.float64 if exact else np.float32
    values = np.empty((n * n, 10), width)
    for start in range(0, n, 64):
        stop = min(n, start + 64)
        rows = np.asarray(stored[start:stop])
        values[start * n : stop * n] = (rows if exact else decode(rows)).reshape(-1, 10)
    kinds = np.zeros(n * n, np.uint8)
    kernels.classes(boards, kinds)
    total = n * n if which is None else len(which)

    def work(start: int) -> Steps:
        stop = min(total, start + PART)
        some = np.arange(start, stop) if which is None else which[start:stop]
        right, off = np.zeros((len(some), 10), width), np.zeros(len(some), width)
        kernels.residual(
            values, kinds, boards, terms, chequers, some, width(slack), exact, divide, right, off
        )
        return Steps(some, right, off, kinds[some])

    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for step in pool.map(work, range(0, total, PART)):
            done += len(step.which)
            if progress is not None:
                progress(done, total)
            yield step


def settled(stored: Array, chequers: int, which: Array, limit: float) -> tuple[Array, Array]:
    """What records of a table of recipe exact are, all others right: (their values, which differ from the stored).

    stored (n * n, 10) float64. The records are iterated among themselves until none changes by more than `limit`.
    """
    from bgfmt.verifier.recurrence import kernels_hypergammon as kernels

    boards, terms = boards_of(chequers), terms_of()
    kinds = np.zeros(len(stored), np.uint8)
    kernels.classes(boards, kinds)
    values = np.nan_to_num(stored, posinf=0, neginf=0)
    right, off = np.zeros((len(which), 10)), np.zeros(len(which))

    def step(some: Array) -> None:
        kernels.residual(values, kinds, boards, terms, chequers, some, 2 * limit, True, False, right, off)

    for _ in range(SETTLING):
        step(which)
        change = np.abs(values[which] - right).max()
        values[which] = right
        if change <= limit / APART:
            break
    made, gap = right.copy(), np.zeros(len(which))
    for k, x in enumerate(which):
        values[x] = stored[x]
        step(which[k : k + 1])
        bits = right[0].view(np.int64) != stored[x].view(np.int64)
        gap[k] = np.inf if kinds[x] <= OVER and bits.any() else off[0]
        values[x] = made[k]
    return made, gap > min(APART * limit, gap.max(initial=0) / 2)
