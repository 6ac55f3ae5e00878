"""The one-sided solver: distributions of the number of rolls a side needs to bear off, and to save the gammon."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.schedule import Array, Layers, Progress, Runner, check_memory, thread_count
from bgfmt.tables import NormalOneSided, OneSided

ROLLS = 32
LANES = 8
GAMMON_CHEQUERS = 15
MAX_POINTS = 18


class Records:
    """What the search remembers of a position: ranks and position numbers after one, two and three more dice.

    `arrays` are those `kernels_one_sided.search` names signs, keys and doubles.
    """

    def __init__(self, layers: Layers, dtype: type[np.uint32 | np.int64]) -> None:
        signs = np.arange(34, dtype=dtype)
        signs[32] = np.iinfo(dtype).max // 32 * 32
        signs[33] = np.iinfo(dtype).max
        n = layers.records
        self.arrays = (
            signs,
            zeros_on_lines((n, 2 * LANES), dtype),
            zeros_on_lines((6, n, 4), dtype),
        )


def check_size(points: int, chequers: int) -> None:
    """SolverError unless 1..18 points and 1..15 chequers."""
    if not 1 <= points <= MAX_POINTS or not 1 <= chequers <= board.MAX_CHEQUERS:
        raise SolverError(
            f"one-sided tables have 1 to {MAX_POINTS} points and 1 to {board.MAX_CHEQUERS} chequers, "
            f"not {points} and {chequers}"
        )


def memory_needed(points: int, chequers: int, *, gammon: bool, normal: bool, recipe: Recipe) -> int:
    """Bytes of memory a solve takes at its height, beyond the interpreter's own."""
    n = board.count(points, chequers)
    records = Layers(points, chequers).records
    if normal:
        return 16 * n + 320 * records
    if not recipe.rounded:
        return (264 + 264 * gammon) * n + 228 * records
    lexicographic = recipe.tie == "lexicographic"
    rows = 64 + 64 * gammon + (84 if gammon and recipe.gammon == "race" else 0) + (24 if lexicographic else 0)
    return rows * n + (320 if lexicographic else 160) * records


def zeros_on_lines(shape: tuple[int, ...], dtype: Any) -> Array:
    """A zeroed array whose rows of whole cache lines begin on cache lines."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    rows: Array = raw[skip : skip + size].view(dtype).reshape(shape)
    return rows


def one_sided(
    points: int,
    *,
    chequers: int = 15,
    gammon: bool = True,
    normal: bool = False,
    recipe: str | Recipe = "gnubg",
    threads: int | None = None,
    progress: Progress | None = None,
) -> OneSided | NormalOneSided:
    """Solve the one-sided table of up to `chequers` chequers on `points` points.

    Parameters
    ----------
    points, chequers : 1..18 points, 1..15 chequers.
    gammon : also make the distributions of the rolls to the first chequer off.
    normal : make means and standard deviations only, as ``makebearoff -n`` does (recipe gnubg).
    recipe : ``gnubg``, ``bgsage`` or ``exact``; see `bgfmt.solver.recipe`.
    threads : how many to use, all cores when None. The numbers do not depend on it.
    progress : called as ``progress(done, total)`` with positions, from the calling thread.

    Returns
    -------
    OneSided with uint16 rows of 65535 parts (float64 chances for recipe exact, whose expected rolls are then in
    ``extra["means"]`` and ``extra["gammon_means"]``, float64), or NormalOneSided. Rolls beyond 31 have no column: an
    exact row then adds up to a little less than 1, a rounded one gives them to its likeliest roll.

    Raises
    ------
    SolverError for sizes out of range, an unknown recipe, or too little memory.
    """
    chosen = find_recipe(recipe)
    check_size(points, chequers)
    if normal and chosen.name != "gnubg":
        raise SolverError(f"normal approximations are made by recipe gnubg only, not by {chosen.name}")
    check_memory(memory_needed(points, chequers, gammon=gammon, normal=normal, recipe=chosen), "this table")
    layers = Layers(points, chequers)
    whole = chequers == GAMMON_CHEQUERS and (gammon or normal) and chosen.gammon == "save"
    total = board.count(points, chequers) - 1 + (layers.exactly(chequers) if whole else 0)
    with Runner(thread_count(threads), total, progress) as runner:
        if normal:
            return _normal(layers, runner)
        if not chosen.rounded:
            return _exact(layers, runner, gammon)
        return _rounded(layers, runner, gammon, chosen)


def _rounded(layers: Layers, runner: Runner, gammon: bool, chosen: Recipe) -> OneSided:
    from bgfmt.solver.kernels import one_sided as kernels

    points, chequers = layers.points, layers.chequers
    n = board.count(points, chequers)
    rows = zeros_on_lines((n, 1 + gammon, ROLLS), np.uint16)
    rows[0, :, 0] = 65535
    labels: Array = np.zeros(0, np.uint32)
    records = Records(layers, np.uint32)
    if chosen.tie == "lexicographic":
        labels = lexicographic(points, chequers)
        records = Records(layers, np.int64)
    race = gammon and chosen.gammon == "race" and chequers == GAMMON_CHEQUERS
    choices = np.zeros((n if race else 0, 21), np.uint32)

    def kernel(ranges: Array) -> None:
        kernels.distributions(
            points, ranges, layers.terms, layers.steps, *records.arrays, on, off, scale, LANES, rows, part,
            chosen.remainder == "sums", labels, choices, ROLLS,
        )  # fmt: skip

    scale, part = 1, 0
    for c in range(1, chequers + 1):
        on, off = layers.places(c)
        layers.run(runner, c, kernel)
    extra: dict[str, Any] = {"recipe": chosen.name}
    if gammon:
        first = layers.first(GAMMON_CHEQUERS) if chequers == GAMMON_CHEQUERS else n
        if race:
            survival = np.zeros((n - first, ROLLS), np.uint16)
            kernels.race_survival(first, choices, survival)
            rows[first:, 1, 0] = 65535 - survival[:, 0]
            rows[first:, 1, 1:] = survival[:, :-1] - survival[:, 1:]
            extra["gammon_policy"] = "race"
        elif first < n:
            on, off = layers.places(chequers)
            off, scale, part = layers.spare, 0, 1
            layers.run(runner, chequers, kernel)
    return OneSided(
        points=points, chequers=chequers, bearoff=rows[:, 0], gammon=rows[:, 1] if gammon else None,
        provenance=f"solved by bgfmt, recipe {chosen.name}", extra=extra,
    )  # fmt: skip


def _normal(layers: Layers, runner: Runner) -> NormalOneSided:
    from bgfmt.solver.kernels import one_sided as kernels

    points, chequers = layers.points, layers.chequers
    moments = np.zeros((board.count(points, chequers), 4), np.float32)
    bits = moments.view(np.int32)
    records = Records(layers, np.int64)

    def kernel(ranges: Array) -> None:
        kernels.normal_moments(
            points,
            ranges,
            layers.terms,
            layers.steps,
            *records.arrays,
            on,
            off,
            scale,
            LANES,
            moments,
            bits,
            column,
        )

    scale, column = 1, 0
    for c in range(1, chequers + 1):
        on, off = layers.places(c)
        layers.run(runner, c, kernel)
    if chequers == GAMMON_CHEQUERS:
        off, scale, column = layers.spare, 0, 2
        layers.run(runner, chequers, kernel)
    return NormalOneSided(
        points=points, chequers=chequers, moments=moments, provenance="solved by bgfmt, recipe gnubg",
        extra={"recipe": "gnubg"},
    )  # fmt: skip


def _exact(layers: Layers, runner: Runner, gammon: bool) -> OneSided:
    points, chequers = layers.points, layers.chequers
    n = board.count(points, chequers)
    chances = np.zeros((n, ROLLS))
    chances[0, 0] = 1
    means = exact_means(layers, runner, chances)
    extra: dict[str, Any] = {"recipe": "exact", "means": means}
    second: Array | None = None
    if gammon:
        second = np.zeros((n, ROLLS))
        first = layers.first(GAMMON_CHEQUERS) if chequers == GAMMON_CHEQUERS else n
        second[:first, 0] = 1
        extra["gammon_means"] = np.zeros(n)
        if first < n:
            extra["gammon_means"] = exact_means(layers, runner, second, gammon=True)
    return OneSided(
        points=points, chequers=chequers, bearoff=chances, gammon=second, provenance="solved by bgfmt, recipe exact",
        extra=extra,
    )  # fmt: skip


def exact_means(
    layers: Layers, runner: Runner, chances: Array, *, gammon: bool = False, choices: Array | None = None
) -> Array:
    """Expected rolls (n,) float64 of all positions; fills `chances`, (n, columns) float64, columns may be 0.

    `gammon`: rolls to the first chequer off instead, for positions with all chequers on the board. `choices`,
    (n, 21) uint32, takes the position number after each roll's play.
    """
    from bgfmt.solver.kernels import exact as kernels

    points, chequers = layers.points, layers.chequers
    means = np.zeros(board.count(points, chequers))
    ranks, labels = np.zeros((layers.records, 19)), np.zeros((layers.records, 19), np.uint32)
    kept = np.zeros((0, 21), np.uint32) if choices is None else choices

    def kernel(ranges: Array) -> None:
        kernels.exact_rolls(
            points, ranges, layers.terms, layers.steps, ranks, labels, on, off, scale, means, chances,
            chances.shape[1], kept,
        )  # fmt: skip

    scale = 0 if gammon else 1
    for c in range(chequers if gammon else 1, chequers + 1):
        on, off = layers.places(c)
        if gammon:
            off = layers.spare
        layers.run(runner, c, kernel)
    return means


def lexicographic(points: int, chequers: int) -> Array:
    """Place of each position number in lexicographic order of (chequers on point 1, on point 2, ...), uint32."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint32)
    labels[order] = np.arange(len(order), dtype=np.uint32)
    return labels
