"""Recurrence of hypergammon tables: makehyper's iteration run again, or one step of it from a file's records.

Hypergammon positions can repeat, so no order of proof exists: a file is a state of an iteration, and the iteration is
run again. One step from the file's own records proves less, but is quick.
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
from bgfmt.tables.hypergammon import hyper_numbers, hyper_records, hyper_values
from bgfmt.verifier.recurrence.plays import Array, Progress

WHOLE = 16777215
RECORDS_PER_TASK = 4096  # records of one task
ROWS_PER_TASK = 64  # rows of one task
RECORDS_PER_BLOCK = 1 << 17  # records compared at once
NO_BLOT = 31  # stands for a landing that no play reaches


def encode(values: Array) -> Array:
    """Encode values (..., 10) float32, in the order of `decode`, as records of 28 bytes, (..., 28) uint8."""
    numbers = np.empty((*values.shape[:-1], 9), np.int32)
    numbers[..., :5] = (values[..., :5] * np.float32(WHOLE)).astype(np.int32)
    equities = values[..., 6:] * np.float32(1 / 6) + np.float32(0.5)
    numbers[..., 5:] = (equities * np.float32(WHOLE)).astype(np.int32)
    return hyper_records(numbers)


def decode(records: Array) -> Array:
    """Decode records (..., 28) uint8 to values (..., 10) float32, with the rounding of makehyper.

    The values are win, win gammon, win backgammon, lose gammon, lose backgammon, then the equities cubeless (computed
    from the probabilities), owned, centered, centered with Jacoby, opponent's cube.
    """
    out = np.empty((*records.shape[:-1], 10), np.float32)
    out[..., :5], out[..., 6:] = hyper_values(records)
    out[..., 5] = (np.float32(2) * out[..., 0] - np.float32(1)) + (
        (out[..., 1] - out[..., 3]) + (out[..., 2] - out[..., 4])
    )
    return out


def greatest_differences(one: Array, other: Array) -> Array:
    """Return for each of m pairs of records the greatest difference of a probability or equity, (m,).

    one, other : (m, 28) uint8 as in gnubg's files, or (m, 10) int64, the bits of float64.
    """
    if one.dtype == np.int64:
        gap = np.abs(one.view(np.float64) - other.view(np.float64))
    else:
        gap = np.abs(decode(one) - decode(other))
    return np.asarray(np.nan_to_num(gap, nan=np.inf).max(axis=1, initial=0))


def boards_of(chequers: int) -> Array:
    """Return the chequers on points 1 to 24 and the bar in every position of a side, (n, 25) int64."""
    return board.unrank_array(np.arange(board.count(PLACES, chequers)), PLACES).astype(np.int64)


def kinds_of(boards: Array) -> Array:
    """Return the class of every record us * n + them, (n * n,) uint8: OVER, ILLEGAL, RACE or CONTACT.

    OVER: a side has borne off all. ILLEGAL: both sides are on one point. boards : see `boards_of`.
    """
    taken = (boards[:, :24] > 0).astype(np.float32)
    high = np.where(boards > 0, np.arange(PLACES), -1).max(axis=1)
    kinds = np.where(high[:, None] + high > 22, CONTACT, RACE).astype(np.uint8)
    kinds[0] = OVER
    kinds[:, 0] = OVER
    kinds[taken[:, ::-1] @ taken.T > 0] = ILLEGAL
    return kinds.reshape(-1)


def ends_of(boards: Array, chequers: int, width: Any) -> Array:
    """Return the values of finished games, (2, n, 10), by the position of the side that is not off.

    Row [0, x] is for a side on roll that has won against x, row [1, x] for x on roll that has lost. boards : see
    `boards_of`. width : float type of the result.
    """
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


def list_plays(boards: Array, threads: int) -> kernels.Lists:
    """List the plays of all sides, and what a side's blots and blocked points mean for the other side's plays.

    boards : see `boards_of`.
    """
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
    """makehyper's iteration in memory: records are updated in place, one by one, row by row.

    A record [us, them] with us < them depends only on records that are updated after it; a sweep computes those
    records first, on all threads, and then the others, one after the other.

    Attributes
    ----------
    values : (n * n, 10) the records.
    kinds : (n * n,) their classes.
    state : the arguments of the kernels.
    races_settled : True if the last sweep changed no record without contact. These depend only on each other, so
        that further sweeps skip them.
    """

    def __init__(self, chequers: int, *, exact: bool = False, threads: int = 1) -> None:
        """Build the state before the first sweep.

        exact : compute in float64, with a side that cannot move leaving everything as it was, which makehyper gets
        wrong.
        """
        self.chequers = chequers
        self.exact = exact
        self.threads = threads
        boards = boards_of(chequers)
        width = np.float64 if exact else np.float32
        n = self.positions = len(boards)
        self.kinds = kinds_of(boards)
        self.values = np.zeros((n * n, 10), width)
        ends = ends_of(boards, chequers, width)
        turned = np.zeros_like(self.values)
        lists = list_plays(boards, threads)
        self.state = kernels.CheckState(lists, self.values, turned, self.kinds, ends, False, exact)
        self.begin_again(divide=False)

    def begin_again(self, *, divide: bool) -> None:
        """Restore the state before the first sweep.

        divide : divide sums over 36 throws by 36, else multiply by the reciprocal.
        """
        n = self.positions
        self.values[:] = 0
        self.values[self.kinds >= CONTACT] = [1, 1, 0, 0, 0, 2, 0, 0, 0, 0]
        self.values[:n], self.values[::n] = self.state.ends
        self.state = self.state._replace(kinds=self.kinds, divide=divide)
        self.races_settled = False
        kernels.negate_all(n, self.values, self.state.turned)

    def load(self, stored: Array) -> None:
        """Load the records of a file, in the form of `encode_records`."""
        for first in range(0, len(stored), RECORDS_PER_BLOCK):
            some = slice(first, first + RECORDS_PER_BLOCK)
            self.values[some] = stored[some].view(np.float64) if self.exact else decode(stored[some])
        self.state = self.state._replace(kinds=self.kinds)
        kernels.negate_all(self.positions, self.values, self.state.turned)

    def sweep(self, *, races: bool = False) -> float:
        """Update every record once; return the greatest change of a number.

        races : only records without contact.
        """
        n = self.positions
        state = self.state
        if races:
            state = state._replace(kinds=self._without(CONTACT))

        def sweep_above_diagonal(first: int) -> Array:
            return kernels.sweep_rows(first, min(n, first + ROWS_PER_TASK), True, state)

        with ThreadPoolExecutor(self.threads) as pool:
            changes = list(pool.map(sweep_above_diagonal, range(0, n, ROWS_PER_TASK)))
        by_class = np.max([*changes, kernels.sweep_rows(0, n, False, state)], axis=0)
        if by_class[RACE] == 0 and not self.races_settled:
            self.races_settled = True
            self.state = self.state._replace(kinds=self._without(RACE))
        return float(by_class.max())

    def _without(self, kind: int) -> Array:
        """Return the classes with the records of one class as ILLEGAL, which a sweep skips."""
        return np.where(self.kinds == kind, ILLEGAL, self.kinds).astype(np.uint8)

    def compare(self, stored: Array) -> tuple[Array, float]:
        """Compare all records of a file, in the form of `encode_records`, with the current state.

        Returns the numbers of the records that differ, and the greatest difference of a probability or equity.
        """
        parts = []
        greatest = 0.0
        for first in range(0, len(stored), RECORDS_PER_BLOCK):
            some = stored[first : first + RECORDS_PER_BLOCK]
            right = self.encode_records(self.values[first : first + RECORDS_PER_BLOCK])
            differ = np.flatnonzero((right != some).any(axis=1))
            parts.append(first + differ)
            greatest = max(greatest, greatest_differences(right[differ], some[differ]).max(initial=0.0))
        return np.concatenate(parts), float(greatest)

    def differing_share(self, stored: Array, which: Array) -> float:
        """Return the share of the records with the numbers `which` in which a file differs from the current state.

        stored : all records of the file, in the form of `encode_records`.
        """
        return float((self.encode_records(self.values[which]) != stored[which]).any(axis=1).mean())

    def encode_records(self, values: Array) -> Array:
        """Convert values (m, 10) to the file's form: (m, 28) uint8, or the bits of float64, (m, 10) int64."""
        return values.view(np.int64) if self.exact else encode(values)

    def decode_numbers(self, records: Array) -> Array:
        """Return the numbers in records of a file, undecoded: nine integers of 24 bits, or ten float64."""
        return records.view(np.float64) if self.exact else hyper_numbers(records)


def check_steps(
    iteration: CheckedIteration, which: Array | None, slack: float, progress: Progress | None
) -> Iterator[tuple[Array, Array, Array]]:
    """Compute records anew from the current ones, a few records at a time.

    Parameters
    ----------
    which : numbers of the records; all if None.
    slack : plays whose cubeless equities differ by no more count as equally good.
    progress : called with (records done, records in all).

    Yields
    ------
    (numbers of the records, their values (m, 10) after the step, largest difference of each from its current values).
    Probabilities differ from the interval of `bound_chances`; what is no number differs by infinity.
    """
    width = iteration.values.dtype.type
    looked = which if which is not None else np.arange(len(iteration.kinds))

    def work(start: int) -> tuple[Array, Array, Array]:
        some = looked[start : start + RECORDS_PER_TASK]
        right = np.zeros((len(some), 10), width)
        low, high = np.zeros((2, len(some), 5), width)
        kernels.compute_step(some, iteration.state, width(slack), right, low, high)
        values = iteration.values[some]
        gap = np.abs(right - values)
        gap[:, :5] = np.maximum(low - values[:, :5], values[:, :5] - high)
        gap[iteration.kinds[some] == ILLEGAL, 5] = 0  # no equity follows from the zeros stored there
        return some, right, np.nan_to_num(gap, nan=np.inf).max(axis=1)

    with ThreadPoolExecutor(iteration.threads) as pool:
        for k, step in enumerate(pool.map(work, range(0, len(looked), RECORDS_PER_TASK))):
            if progress is not None:
                progress(min(len(looked), (k + 1) * RECORDS_PER_TASK), len(looked))
            yield step
