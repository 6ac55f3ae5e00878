"""Plays of many positions: a compiled loop lists the results; NumPy values and sorts them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import values_after_play
from bgfmt.analysis.measures import Floats, parse_measure, side_values
from bgfmt.errors import PositionError
from bgfmt.extras.arrays import kernels
from bgfmt.game import board
from bgfmt.game.state import cube_owner
from bgfmt.tables import Table

MAX_RESULTS = 1 << 20  # results that one call of the compiled loop writes


def results_of(sides: ArrayLike, rolls: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the different results of all plays of a roll, for many sides in a race.

    Parameters
    ----------
    sides
        (N, points) integers, chequers on points 1, 2, ... of the side that plays.
    rolls
        (N, 2) dice, in any order.

    Returns
    -------
    lengths
        (N,) int64, the number of different results of each side.
    results
        Flat int64, the results of all sides one list after another: position numbers in a database of `points`
        points. Each list is in the order in which gnubg generates the plays.
    """
    counts = np.ascontiguousarray(sides, np.int8)
    dice = np.asarray(rolls)
    if counts.ndim != 2 or dice.shape != (len(counts), 2):
        raise PositionError(
            f"sides must have shape (N, points) and rolls (N, 2), not {counts.shape} and {dice.shape}"
        )
    if dice.size and (dice.min() < 1 or dice.max() > 6):
        row = int(((dice < 1) | (dice > 6)).any(axis=1).argmax())
        raise PositionError(f"row {row}: dice must be from 1 to 6, not {dice[row, 0]} and {dice[row, 1]}")
    many, points = counts.shape
    dice = np.stack([dice.max(axis=1), dice.min(axis=1)], axis=1).astype(np.int64)
    width = max(2 * points * points, comb(points + 3, 4)) + 1  # more than the results of any roll
    step = max(1, min(many, MAX_RESULTS // width))
    out = np.empty(step * width, np.int64)
    lengths = np.empty(many, np.int64)
    scratch = np.empty(points, np.int64)
    path = np.empty(4, np.int64)
    parts = []
    for start in range(0, many, step):
        part = slice(start, start + step)
        used = kernels.successors(
            counts[part], dice[part], board.number_terms(points), scratch, path, out, lengths[part]
        )
        parts.append(out[:used].copy())
    return lengths, np.concatenate(parts) if parts else np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class RankedMany:
    """All plays of N (position, roll) pairs, best first within each pair.

    starts : (N + 1,) int64; the plays of pair i are at starts[i] to starts[i + 1] of the flat arrays.
    results : flat int64, position number of the side that played after each play.
    values : flat float, by the measure chosen (equities: greater is better; mean rolls: less is better).
    """

    starts: NDArray[np.int64]
    results: NDArray[np.int64]
    values: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def best(self) -> NDArray[np.int64]:
        """Position number of the side that played after its best play, (N,)."""
        return self.results[self.starts[:-1]]

    @property
    def best_value(self) -> Floats:
        """Value of the best play of each pair, (N,), in the unit of the measure."""
        return self.values[self.starts[:-1]]

    @property
    def losses(self) -> Floats:
        """Loss of each play against the best one of its pair, never negative: a flat array, aligned with `values`."""
        losses: Floats = np.abs(self.values - np.repeat(self.best_value, np.diff(self.starts)))
        return losses

    def plays(self, pair: int) -> tuple[NDArray[np.int64], Floats]:
        """Return position numbers after, and values of, the plays of one (position, roll) pair, best first.

        pair : its index, 0..N - 1.
        """
        part = slice(self.starts[pair], self.starts[pair + 1])
        return self.results[part], self.values[part]


def rank_many(
    databases: Databases,
    us: Any,
    them: Any,
    rolls: ArrayLike,
    *,
    measure: str = "money",
    cube: str = "centered",
) -> RankedMany:
    """Rank all plays of many (position, roll) pairs.

    Parameters
    ----------
    databases
        The first two-sided table answers for "money" and "cubeless", the first one-sided one for other measures.
    us, them
        N sides as `lookup_many` takes them, the side on roll and the other; `them` may be None for the measures of
        one side.
    rolls
        (N, 2) dice.
    measure
        "money" (equity with the cube as `cube` says), "cubeless" (equity without one), "mean" (mean rolls to go
        after the play) or "off:n" (probability of being off within n more rolls).
    cube
        "centered", "owned" (by the side that plays) or "opponent".
    """
    owner = cube_owner(cube)
    alone, within = parse_measure(measure)
    if alone:
        fitting = choose.one_sided_tables(databases)
        if not fitting:
            raise choose.not_covered(databases, wanted="what one side needs")
        one = min(fitting, key=lambda t: not t.exact)
        starts, pair, results = _plays(one, us, rolls)
        values = side_values(one, results, within)
        order = np.lexsort((values if within is None else -values, pair))
        return RankedMany(starts, results[order], values[order])
    both = choose.first_two_sided(databases, cubeful=measure == "money")
    starts, pair, results = _plays(both, us, rolls)
    equities = both.lookup_many(both.numbers(them)[pair], results)
    values = values_after_play(equities, owner if measure == "money" else "cubeless")
    # where the other side cashes whatever is played, the better chance to win comes first
    order = np.lexsort((equities[:, 0], -values, pair))
    return RankedMany(starts, results[order], values[order])


def _plays(table: Table, us: Any, rolls: ArrayLike) -> tuple[NDArray[np.int64], ...]:
    """Return where the plays of each pair begin, (N + 1,), and of each play its pair and its result."""
    ours = table.numbers(us)
    lengths, results = results_of(board.unrank_array(ours, table.points), rolls)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts, np.repeat(np.arange(len(ours)), lengths), results
