"""Expected rolls under least-mean play, in float64: the table of Peelle's J database `bgns.ijf`, bit for bit."""

from __future__ import annotations

import numpy as np

from bgfmt.game import board
from bgfmt.solver.one_sided import check_size, exact_means
from bgfmt.solver.schedule import Layers, Progress, Runner, check_memory, thread_count
from bgfmt.tables import MeanRolls


def expected_rolls(
    points: int = 6, chequers: int = 15, *, threads: int | None = None, progress: Progress | None = None
) -> MeanRolls:
    """Least expected number of rolls to bear off every position of up to `chequers` chequers on `points` points.

    value = 1 + (sum over the 36 rolls of the least value reachable) / 36 in doubles, added in the order of J 9.7
    (eight running sums of four lanes). Any other order changes last bits.

    Returns
    -------
    MeanRolls with `means` of shape (n,), float64, in order of position number.

    >>> expected_rolls(6, 1).means[6]
    np.float64(1.25)
    """
    check_size(points, chequers)
    n = board.count(points, chequers)
    layers = Layers(points, chequers)
    check_memory(8 * n + 228 * layers.records, "this table")
    with Runner(thread_count(threads), n - 1, progress) as runner:
        means = exact_means(layers, runner, np.zeros((0, 0)))
    return MeanRolls(points=points, chequers=chequers, means=means, provenance="solved by bgfmt")
