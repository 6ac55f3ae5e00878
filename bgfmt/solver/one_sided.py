"""The one-sided solver: distributions and means of the rolls that a side needs to bear off or to save the gammon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.solver.kernels import exact as exact_kernels
from bgfmt.solver.kernels import one_sided as kernels
from bgfmt.solver.kernels.one_sided import Board, Slots
from bgfmt.solver.machine import INTERPRETER_BYTES, START_SECONDS, Plan, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import SolveOptions, Solver
from bgfmt.solver.waves import Layers, Progress, Sweep
from bgfmt.solver.workers import Workers
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table

__all__ = ["ExactMeans", "MeanRollsSolver", "OneSidedSolver", "mean_rolls", "one_sided"]


ROLLS = 32
LANES = 8
FULL_CHEQUERS = 15


@dataclass(frozen=True, eq=False)
class ExactMeans:
    """Mean rolls (n,) float64 of an exact table, stored with the probabilities, which end at roll 31."""

    means: Array


def one_sided(
    points: int,
    *,
    chequers: int = 15,
    gammon: bool = True,
    normal: bool = False,
    recipe: str | Recipe = "gnubg",
    **how: Unpack[SolveOptions],
) -> OneSided | NormalOneSided:
    """Solve a one-sided table.

    Rows are uint16, of 65535 parts (float64 probabilities for recipe exact, with `ExactMeans` as a record). Rolls
    beyond 31 have no column: an exact row lacks them, a rounded one adds them to its most likely roll.

    Parameters
    ----------
    points, chequers : 1..18 points, 1..15 chequers.
    gammon : also compute the distributions of the rolls to the first chequer off.
    normal : compute means and standard deviations only, as ``makebearoff -n`` does (recipe gnubg).
    recipe : one of `bgfmt.solver.recipe`.
    how : see `bgfmt.solver.registry.SolveOptions`. `progress` counts positions; tables of rounded rows take a `room`.

    Raises SolverError for sizes out of range, an unknown recipe, or too little memory.
    """
    kind = NormalSolver if normal else OneSidedSolver
    return kind(points, chequers, recipe=recipe, gammon=gammon or normal).solve(**how)  # type: ignore[no-any-return]


class OneSidedSolver(Solver):
    """Solver of one-sided tables: distributions of rolls."""

    name = kind = "one-sided"
    recipes: ClassVar[tuple[str, ...]] = ("gnubg", "bgsage", "exact")
    most_points = 18
    options = frozenset({"gammon"})
    rows = True  # tables of probabilities, not only of means and deviations

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        recipe: str | Recipe | None = None,
        gammon: bool = True,
        compressed: bool = True,
    ) -> None:
        """Set up the solve.

        gammon : also solve the distributions to the first chequer off. compressed : `plan` estimates a compressed
        file.
        """
        super().__init__(points, chequers, recipe=recipe)
        self.supports_mapping = self.recipe.rounded and self.rows
        self.gammon = gammon
        self.compressed = compressed
        self.positions = board.count(points, chequers)
        #: number of the first position with all chequers on the board where a gammon can be lost, else `positions`
        self.first_full = board.count(points, chequers - 1) if chequers == FULL_CHEQUERS else self.positions

    @property
    def memory_bytes(self) -> int:
        """Greatest memory of the solve in bytes, in addition to the interpreter's."""
        n = self.positions
        gammon = self.gammon
        records = Layers(self.points, self.chequers).records
        if not self.recipe.rounded:
            return (264 + 264 * gammon) * n + 228 * records
        lexicographic = self.recipe.tie == "lexicographic"
        race = 84 if gammon and self.recipe.gammon == "race" else 0
        return (64 + 64 * gammon + race + 24 * lexicographic) * n + (320 if lexicographic else 160) * records

    @property
    def output_bytes(self) -> int:
        """Approximate size of the file in bytes."""
        n = self.positions
        if self.recipe.gammon == "race":  # means and survival rows
            return 28 + 72 * n + 64 * (n - self.first_full if self.gammon else 0)
        if self.compressed and self.recipe.rounded:
            return int(40 + n * ((13.8 if self.gammon else 9.6) + 2.2 * self.points))
        return 40 + n * (64 + 64 * self.gammon) * (1 if self.recipe.rounded else 4)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        n = self.positions
        again = self.positions - self.first_full if self.gammon else 0
        # microseconds a position, measured with 6 to 13 points: more points, more sources and colder caches
        each = max(0.6, 0.165 * self.points - 0.57) * (1.0 if self.recipe.rounded else 2.0)
        seconds = START_SECONDS + each * 1e-6 * (n + again) / thread_count(threads)
        what = f"one-sided, {self.points} points, {self.chequers} chequers, recipe {self.recipe.name}"
        planned = Plan(what, n, seconds, INTERPRETER_BYTES + self.memory_bytes, self.output_bytes)
        return self.limit_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        names = ("bearoff", "gammon") if self.gammon else ("bearoff",)
        dtype = np.dtype("<u2" if self.recipe.rounded else "<f8")
        return dict.fromkeys(names, ((self.positions, ROLLS), dtype))

    def table(self, arrays: Mapping[str, Any]) -> Table:
        policy = {"gammon_policy": "race"} if self.recipe.gammon == "race" else {}
        return super().table({**arrays, **policy})

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        again = self.positions - self.first_full if self.gammon and self.recipe.gammon == "save" else 0
        sweep = Sweep(workers, self.positions - 1 + again, progress)
        return self._fill_arrays(Layers(self.points, self.chequers), sweep, zeros)

    def _fill_arrays(self, layers: Layers, sweep: Sweep, zeros: Any) -> dict[str, Any]:
        """Compute the arrays of the table, by name."""
        if not self.recipe.rounded:
            return self._fill_exact(layers, sweep)
        n = self.positions
        first = self.first_full
        gammon = self.gammon
        recipe = self.recipe
        rows = zeros((n, 1 + gammon, ROLLS), np.uint16)
        rows[0, :, 0] = 65535
        ordered = recipe.tie == "lexicographic"
        labels: Array = (
            lexicographic_labels(self.points, self.chequers) if ordered else np.zeros(0, np.uint32)
        )
        records = records_for(layers, np.int64 if ordered else np.uint32, zeros)
        race = gammon and recipe.gammon == "race" and first < n
        choices = np.zeros((n if race else 0, 21), np.uint32)
        how = recipe.remainder == "sums", recipe.divisor, labels, choices, ROLLS
        _walk(layers, sweep, kernels.solve_distributions, records, rows, 0, *how)
        if race:
            survival = np.zeros((n - first, ROLLS), np.uint16)
            kernels.solve_race_survival(first, choices, survival)
            rows[first:, 1, 0] = 65535 - survival[:, 0]
            rows[first:, 1, 1:] = survival[:, :-1] - survival[:, 1:]
        elif gammon and first < n:
            _walk(layers, sweep, kernels.solve_distributions, records, rows, 1, *how, all_on=True)
        return {"bearoff": rows[:, 0], "gammon": rows[:, 1] if gammon else None}

    def _fill_exact(self, layers: Layers, sweep: Sweep) -> dict[str, Any]:
        chances = np.zeros((self.positions, ROLLS))
        chances[0, 0] = 1
        means = exact_means(layers, sweep, chances)
        second: Array | None = None
        if self.gammon:
            second = np.zeros_like(chances)
            second[: self.first_full, 0] = 1
            if self.first_full < self.positions:
                exact_means(layers, sweep, second, gammon=True)
        return {"bearoff": chances, "gammon": second, "carried": (ExactMeans(means),)}


class NormalSolver(OneSidedSolver):
    """Compute means and standard deviations of rolls."""

    name = kind = "normal-distribution"
    recipes = ("gnubg",)
    rows = False

    @property
    def memory_bytes(self) -> int:
        return 16 * self.positions + 320 * Layers(self.points, self.chequers).records

    @property
    def output_bytes(self) -> int:
        return 40 + 16 * self.positions

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"moments": ((self.positions, 4), np.dtype("<f4"))}

    def _fill_arrays(self, layers: Layers, sweep: Sweep, zeros: Any) -> dict[str, Any]:
        moments = np.zeros((self.positions, 4), np.float32)
        bits = moments.view(np.int32)
        records = records_for(layers, np.int64, zeros)
        _walk(layers, sweep, kernels.solve_moments, records, moments, bits, 0)
        if self.first_full < self.positions:
            _walk(layers, sweep, kernels.solve_moments, records, moments, bits, 2, all_on=True)
        return {"moments": moments}


class MeanRollsSolver(Solver):
    """Solver of mean rolls."""

    name = kind = "mean-rolls"
    most_points = 18

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        n = board.count(self.points, self.chequers)
        seconds = START_SECONDS + 8e-7 * n / thread_count(threads)
        planned = Plan(f"mean rolls, {self.points} points", n, seconds, INTERPRETER_BYTES + 236 * n, 16 * n)
        return self.limit_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"means": ((board.count(self.points, self.chequers),), np.dtype("<f8"))}

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        sweep = Sweep(workers, board.count(self.points, self.chequers) - 1, progress)
        return {"means": exact_means(Layers(self.points, self.chequers), sweep, np.zeros((0, 0)))}


def mean_rolls(
    points: int = 6, chequers: int = 15, *, recipe: str | Recipe = "exact", **how: Unpack[SolveOptions]
) -> MeanRolls:
    """Compute the least expected number of rolls to bear off each position, (n,) float64 in order of position number.

    For 6 points and 15 chequers these are Peelle's `bgns.ijf`, bit for bit: 1 + (sum over the 36 rolls of the least
    value reachable) / 36 in doubles, added in the order of J 9.7 (eight running sums of four lanes).

    >>> mean_rolls(6, 1).means[6]
    np.float64(1.25)
    """
    return MeanRollsSolver(points, chequers, recipe=recipe).solve(**how)  # type: ignore[no-any-return]


def exact_means(layers: Layers, sweep: Sweep, chances: Array, *, gammon: bool = False) -> Array:
    """Compute the mean rolls (n,) float64 of all positions, and fill `chances`.

    Parameters
    ----------
    layers : the positions by number of chequers.
    sweep : runs kernels over them, on its workers.
    chances : (n, columns) float64, filled with the probabilities of each number of rolls; columns may be 0.
    gammon : rolls to the first chequer off instead, for positions with all chequers on the board.
    """
    means = np.zeros(board.count(layers.points, layers.chequers))
    ranked = exact_kernels.Ranked(np.zeros((layers.records, 19)), np.zeros((layers.records, 19), np.uint32))
    _walk(layers, sweep, exact_kernels.solve_exact, ranked, means, chances, all_on=gammon)
    return means


def _walk(
    layers: Layers, sweep: Sweep, kernel: Callable[..., None], *args: Any, all_on: bool = False
) -> None:
    """Run ``kernel(ranges, board, slots, *args)`` over all positions by rising number of chequers.

    all_on : only over positions with all chequers on the board, for which bearing off one chequer is the end.
    """
    numbering = Board(layers.points, layers.terms, layers.steps)
    for c in range(layers.chequers if all_on else 1, layers.chequers + 1):
        on, off = layers.record_offsets(c)
        slots = Slots(on, layers.spare, 0) if all_on else Slots(on, off, 1)
        sweep.run(lambda ranges, slots=slots: kernel(ranges, numbering, slots, *args), layers.waves(c))  # type: ignore[misc]


def records_for(layers: Layers, dtype: type[np.uint32 | np.int64], zeros: Callable[..., Array]) -> Any:
    """Allocate the working records (`kernels.one_sided.Records`) of the search for best plays.

    dtype : of the keys, a rank with a code for the move. zeros : function that allocates a zeroed array.
    """
    signs = np.arange(34, dtype=dtype)
    signs[32] = np.iinfo(dtype).max // 32 * 32
    signs[33] = np.iinfo(dtype).max
    n = layers.records
    keys = zeros((n, 2 * LANES), dtype)
    doubles = zeros((6, n, 4), dtype)
    return kernels.Records(signs, keys, doubles, LANES)


def lexicographic_labels(points: int, chequers: int) -> Array:
    """Rank all positions by their chequers on point 1, then on point 2, and so on.

    Returns the ranks, uint32, by position number.
    """
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint32)
    labels[order] = np.arange(len(order), dtype=np.uint32)
    return labels
