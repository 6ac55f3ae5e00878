"""Recurrence of hypergammon tables: the iteration of makehyper run again, or one step of it from a file's records.

The positions of hypergammon go round in circles, so no order of proof exists: a file is a state of an iteration, and
the iteration is run again. That an entry follows from the file's own others in one step says less, at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import numpy as np

from bgfmt.extras.hypergammon import kernels_recurrence as kernels
from bgfmt.extras.hypergammon.kernels_recurrence import CONTACT, ILLEGAL, OVER, PLACES, RACE
from bgfmt.game import board
from bgfmt.verifier.recurrence.plays import Array, Progress

WHOLE = 16777215
DECODE = np.float32(1 / WHOLE)
PART = 4096  # records a thread takes at once
SOME = 64  # rows made at once
SETTLING = 200  # steps after which records settle in any case
APART = 20  # times the limit by which what is wrong in itself differs, where anything does
WHILE = 1 << 17  # records compared at once
NO_BLOT = 31  # a landing that no play reaches


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


def kinds_of(boards: Array) -> Array:
    """(n * n,) uint8 class of every record."""
    taken = (boards[:, :24] > 0).astype(np.float32)
    high = np.where(boards > 0, np.arange(PLACES), -1).max(axis=1)
    kinds = np.where(high[:, None] + high > 22, CONTACT, RACE).astype(np.uint8)
    kinds[0] = OVER
    kinds[:, 0] = OVER
    kinds[taken[:, ::-1] @ taken.T > 0] = ILLEGAL
    return kinds.reshape(-1)


def ends_of(boards: Array, chequers: int, width: Any) -> Array:
    """(2, n, 10): the records [nothing, side], a game won, and [side, nothing], one lost."""
    gammon = boards.sum(axis=1) == chequers
    out = np.zeros((2, len(boards), 10), width)
    out[0, :, 0] = 1
    for game, column in zip(out, (1, 3), strict=True):
        game[:, column], game[:, column + 1] = gammon, gammon & boards[:, 18:].any(axis=1)
    plain = 2 * out[..., 0] - 1
    equity = plain + (out[..., 1] - out[..., 3]) + (out[..., 2] - out[..., 4])
    out[..., 5:] = equity[..., None]
    out[..., 8] = plain
    return out


def lists(boards: Array, threads: int) -> kernels.Lists:
    """The plays of all sides."""
    n = len(boards)
    places = np.arange(24)
    terms = board.number_terms(PLACES)
    landings = boards[:, 23::-1]
    blots = landings == 1
    blocked = np.where((landings > 1).any(axis=1), (landings > 1).argmax(axis=1), kernels.OPEN)
    met = np.sort(np.where(blots, places, NO_BLOT), axis=1)[:, :3]
    hit = np.empty((n, 8), np.int64)
    for bits in range(8):
        after = boards.copy()
        for k in range(3):
            sides = np.flatnonzero((met[:, k] < NO_BLOT) & (bits >> k & 1))
            after[sides, 23 - met[sides, k]] = 0
            after[sides, 24] += 1
        hit[:, bits] = terms[np.arange(PLACES), after[:, ::-1].cumsum(axis=1)].sum(axis=1)
    ends = np.zeros((n, PLACES * kernels.ROLLS), np.int64)
    with ThreadPoolExecutor(threads) as pool:
        plays = list(pool.map(kernels.list_side, boards, repeat(terms), ends))
    before = np.cumsum([0, *(len(after) for after, _ in plays)])
    starts = np.append(0, ends + before[:-1, None])
    after, landed = (np.concatenate(parts) for parts in zip(*plays, strict=True))
    return kernels.Lists(starts, after, landed, blocked, (blots << places).sum(axis=1), met, hit)


class CheckedIteration:
    """makehyper's iteration in memory: renewal in place, record by record, row by row.

    A record [us, them] with us < them looks at records that come after its turn alone, and are as they were; a sweep
    makes those first, on all threads. Then it takes the others, one after the other.

    values (n * n, 10) : the numbers. live, races : numbers of the records that are iterated, and of those of them
    in which all contact is over: they look at races alone. divide : sums are divided by 36 instead of multiplied by
    the reciprocal.
    """

    def __init__(self, chequers: int, *, divide: bool = False, exact: bool = False, threads: int = 1) -> None:
        """The state before the first sweep.

        `exact` : in float64, and a side that cannot move leaves everything as it was, which makehyper gets wrong.
        """
        self.chequers = chequers
        self.exact = exact
        self.threads = threads
        boards = boards_of(chequers)
        width = np.float64 if exact else np.float32
        n = self.positions = len(boards)
        self.kinds = kinds_of(boards)
        self.values = np.zeros((n * n, 10), width)
        self.live, self.races = np.flatnonzero(self.kinds >= CONTACT), np.flatnonzero(self.kinds == RACE)
        self._without_contact = np.where(self.kinds == CONTACT, ILLEGAL, self.kinds).astype(np.uint8)
        ends = ends_of(boards, chequers, width)
        self.state = kernels.Sweeping(
            lists(boards, threads), self.values, np.zeros_like(self.values), self.kinds, ends, divide, exact
        )
        self.begin_again(divide=divide)

    def begin_again(self, *, divide: bool) -> None:
        """Back to the state before the first sweep."""
        n = self.positions
        self.values[:] = 0
        self.values[self.live] = [1, 1, 0, 0, 0, 2, 0, 0, 0, 0]
        self.values[:n], self.values[::n] = self.state.ends
        self._go_on(divide)

    def leave_races(self) -> None:
        """Races are settled: sweeps leave them as they are."""
        kinds = np.where(self.kinds == RACE, ILLEGAL, self.kinds).astype(np.uint8)
        self.state = self.state._replace(kinds=kinds)

    def restart(self, stored: Array) -> None:
        """Go on from the records of a file, as makehyper -r does; given as `written` has them."""
        for first in range(0, len(stored), WHILE):
            some = slice(first, first + WHILE)
            self.values[some] = stored[some].view(np.float64) if self.exact else decode(stored[some])
        self._go_on(self.state.divide)

    def _go_on(self, divide: bool) -> None:
        self.state = self.state._replace(kinds=self.kinds, divide=divide)
        kernels.turn_all(self.positions, self.values, self.state.turned)

    def sweep(self, *, races: bool = False) -> float:
        """One sweep, of races alone if so asked; the greatest change of a number."""
        n = self.positions
        state = self.state._replace(kinds=self._without_contact) if races else self.state

        def beyond(first: int) -> float:
            return float(kernels.sweep_rows(first, min(n, first + SOME), True, state))

        with ThreadPoolExecutor(self.threads) as pool:
            changes = list(pool.map(beyond, range(0, n, SOME)))
        return max(*changes, float(kernels.sweep_rows(0, n, False, state)))

    def differ(self, stored: Array) -> Array:
        """Numbers of the records in which a file differs, given as `written` has it."""
        parts = []
        for first in range(0, len(stored), WHILE):
            some = slice(first, first + WHILE)
            wrong = (self.written(self.values[some]) != stored[some]).any(axis=1)
            parts.append(first + np.flatnonzero(wrong))
        return np.concatenate(parts)

    def written(self, values: Array) -> Array:
        """(m, 10) values as a file holds them: (m, 28) uint8, or (m, 10) int64, the bits of float64."""
        return values.view(np.int64) if self.exact else encode(values)

    def numbers(self, records: Array) -> Array:
        """The numbers of records as a file holds them: the nine of 24 bits, or the ten in float64."""
        return records.view(np.float64) if self.exact else numbers_of(records)


def steps(
    iteration: CheckedIteration, which: Array | None, slack: float, progress: Progress | None
) -> Iterator[tuple[Array, Array, Array]]:
    """One step from the records as they stand for the records `which` (all when None), some at a time: which, what
    the step gives for each, and how far that is off.

    Plays whose cubeless values are within `slack` of each other count as equally good.
    """
    width = iteration.values.dtype.type
    looked = which if which is not None else np.arange(len(iteration.kinds))

    def work(start: int) -> tuple[Array, Array, Array]:
        some = looked[start : start + PART]
        right = np.zeros((len(some), 10), width)
        off = np.zeros(len(some), width)
        kernels.residual(some, iteration.state, width(slack), right, off)
        return some, right, off

    with ThreadPoolExecutor(iteration.threads) as pool:
        for k, step in enumerate(pool.map(work, range(0, len(looked), PART))):
            if progress is not None:
                progress(min(len(looked), (k + 1) * PART), len(looked))
            yield step


def settled(iteration: CheckedIteration, stored: Array, which: Array, limit: float) -> tuple[Array, Array]:
    """What records of a table of recipe exact are, all others right: (their values, which differ from the stored).

    stored (n * n, 10) float64. The records are iterated among themselves until none changes by more than `limit`.
    """
    iteration.restart(np.nan_to_num(stored, posinf=0, neginf=0))
    right = np.zeros((len(which), 10))
    off = np.zeros(len(which))

    def step(some: Array) -> None:
        kernels.residual(some, iteration.state, 2 * limit, right, off)

    for _ in range(SETTLING):
        step(which)
        change = np.abs(iteration.values[which] - right).max()
        kernels.put(which, right, iteration.state)
        if change <= limit / APART:
            break
    made = right.copy()
    gap = np.zeros(len(which))
    for k, x in enumerate(which):
        one = which[k : k + 1]
        kernels.put(one, stored[one], iteration.state)
        step(one)
        bits = right[0].view(np.int64) != stored[x].view(np.int64)
        gap[k] = np.inf if iteration.kinds[x] <= OVER and bits.any() else off[0]
        kernels.put(one, made[k : k + 1], iteration.state)
    return made, gap > min(APART * limit, gap.max(initial=0) / 2)
