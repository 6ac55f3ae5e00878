"""The one-sided solver: distributions and means of the rolls that a side needs to bear off or save the gammon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.machine import check_memory, thread_count
from bgfmt.solver.plan import INTERPRETER_BYTES, START_SECONDS, Plan
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.registry import Solver
from bgfmt.solver.waves import Array, Layers, Progress, Sweep
from bgfmt.solver.workers import Workers, threads_or
from bgfmt.storage.mapped import MappedRoom
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table

ROLLS = 32
LANES = 8
GAMMON_CHEQUERS = 15
MAX_POINTS = 18
LEAST_BYTES = 500_000_000  # of memory for a table whose arrays are mapped
PAGED_RATE = (
    0.4e9  # bytes a second that mapped arrays larger than memory come and go with, measured with 14 points
)
HOME = 6  # points of the recipes that are a fixed rule


@dataclass(frozen=True, eq=False)
class ExactMeans:
    """Mean rolls (n,) float64 of an exact table, to the last chequer off and to the first (None without gammon).

    Kept beside the chances, which leave out what happens after roll 31.
    """

    means: Array
    gammon_means: Array | None


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
    workers: Workers | None = None,
    progress: Progress | None = None,
    room: MappedRoom | None = None,
) -> OneSided | NormalOneSided:
    """Solve the one-sided table of up to `chequers` chequers on `points` points.

    Parameters
    ----------
    points, chequers : 1..18 points, 1..15 chequers.
    gammon : also make the distributions of the rolls to the first chequer off.
    normal : make means and standard deviations only, as ``makebearoff -n`` does (recipe gnubg).
    recipe : ``gnubg``, ``bgsage``, ``exact``, ``gnubg-heuristic`` or ``gnubg-heuristic-2009``; see
        `bgfmt.solver.recipe`.
    threads : how many to use, all cores when None. The numbers do not depend on it.
    workers : threads to use instead, which stay open; see `bgfmt.solver.workers`.
    progress : called as ``progress(done, total)`` with positions, from the calling thread.
    room : where the arrays of a table larger than memory lie instead; the table is good as long as it is open.

    Returns
    -------
    OneSided with uint16 rows of 65535 parts (float64 chances for recipe exact, with `ExactMeans` as a record), or
    NormalOneSided. Rolls beyond 31 have no column: an exact row then adds up to a little less than 1, a rounded one
    gives them to its likeliest roll.

    Raises
    ------
    SolverError for sizes out of range, an unknown recipe, or too little memory.
    """
    chosen = find_recipe(recipe, "normal-distribution" if normal else "one-sided")
    check_size(points, chequers)
    if chosen.play != "best":
        from bgfmt.solver.heuristic import heuristic

        check_heuristic(points, chosen)
        return heuristic(chequers, chosen)
    if room is None:
        check_memory(
            memory_needed(points, chequers, gammon=gammon, normal=normal, recipe=chosen), "this table"
        )
    elif normal or not chosen.rounded:
        raise SolverError(f"tables of recipe {chosen.name} without rows of integers are made in memory only")
    layers = Layers(points, chequers)
    whole = chequers == GAMMON_CHEQUERS and (gammon or normal) and chosen.gammon == "save"
    total = board.count(points, chequers) - 1 + (layers.exactly(chequers) if whole else 0)
    with threads_or(workers, threads) as team:
        sweep = Sweep(team, total, progress)
        if normal:
            return _normal(layers, sweep, chosen)
        if not chosen.rounded:
            return _exact(layers, sweep, gammon, chosen)
        return _rounded(layers, sweep, gammon, chosen, room)


def check_heuristic(points: int, recipe: Recipe) -> None:
    """SolverError where a recipe is a fixed rule, which is known for 6 points alone."""
    if recipe.play != "best" and points != HOME:
        raise SolverError(f"recipe {recipe.name} makes tables of {HOME} points, not {points}")


class OneSidedSolver(Solver):
    """One-sided tables: distributions of rolls."""

    name = kind = "one-sided"
    options = frozenset({"gammon"})

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        recipe: str | Recipe | None = None,
        gammon: bool = True,
        normal: bool = False,
        compressed: bool = True,
    ) -> None:
        """normal : means and deviations instead. compressed : whether `plan` reckons with a compressed file."""
        super().__init__(points, chequers, recipe=recipe)
        check_size(points, chequers)
        check_heuristic(points, self.recipe)
        self.gammon, self.normal = gammon and self.recipe.gammon != "none", normal
        self.compressed = compressed

    @property
    def maps(self) -> bool:
        return self.recipe.rounded and not self.normal

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        """With less memory the arrays lie in mapped files: they go out, come in and go out once more."""
        points, chequers = self.points, self.chequers
        n, whole = board.count(points, chequers), 0
        if chequers == GAMMON_CHEQUERS and (
            self.gammon or self.normal
        ):  # a second pass over those on the board
            whole = n - board.count(points, chequers - 1)
        # microseconds a position, measured with 6 to 13 points: more points, more sources and colder caches
        each = max(0.6, 0.165 * points - 0.57) * (1.0 if self.recipe.rounded else 2.0)
        seconds = START_SECONDS + each * 1e-6 * (n + whole) / thread_count(threads)
        if self.normal:
            output = 40 + 16 * n
        elif self.recipe.gammon == "race":  # means and survival rows
            output = 28 + 72 * n + 64 * whole
        elif self.compressed and self.recipe.rounded:
            output = int(40 + n * ((13.8 if self.gammon else 9.6) + 2.2 * points))
        else:
            output = 40 + n * (64 + 64 * self.gammon) * (1 if self.recipe.rounded else 4)
        held = memory_needed(points, chequers, gammon=self.gammon, normal=self.normal, recipe=self.recipe)
        what = f"one-sided, {points} points, {chequers} chequers, recipe {self.recipe.name}"
        planned = Plan(what, n, seconds, INTERPRETER_BYTES + held, output)
        if memory is None or not self.maps:
            return self.in_memory(planned, memory)
        if memory < LEAST_BYTES:
            raise SolverError(
                f"this table needs {LEAST_BYTES / 1e9:.1f} GB of memory at least, not {memory / 1e9:.2f} GB"
            )
        return in_mapped_files(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        shape = board.count(self.points, self.chequers), ROLLS
        names = ("bearoff", "gammon") if self.gammon else ("bearoff",)
        return dict.fromkeys(names, (shape, np.dtype("<u2" if self.recipe.rounded else "<f8")))

    def table(self, arrays: Mapping[str, Any]) -> Table:
        policy = {"gammon_policy": "race"} if self.recipe.gammon == "race" else {}
        return super().table({**arrays, **policy})

    def solve(self, **how: Any) -> OneSided | NormalOneSided:
        return one_sided(self.points, chequers=self.chequers, gammon=self.gammon, recipe=self.recipe, **how)


class NormalSolver(OneSidedSolver):
    """Means and standard deviations of one-sided tables."""

    name = kind = "normal-distribution"

    def __init__(self, points: int, chequers: int, **options: Any) -> None:
        super().__init__(points, chequers, normal=True, **options)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"moments": ((board.count(self.points, self.chequers), 4), np.dtype("<f4"))}

    def solve(self, **how: Any) -> OneSided | NormalOneSided:
        return one_sided(self.points, chequers=self.chequers, normal=True, recipe=self.recipe, **how)


class MeanRollsSolver(Solver):
    """Mean rolls."""

    name = kind = "mean-rolls"

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        check_size(self.points, self.chequers)
        n = board.count(self.points, self.chequers)
        seconds = START_SECONDS + 8e-7 * n / thread_count(threads)
        planned = Plan(f"mean rolls, {self.points} points", n, seconds, INTERPRETER_BYTES + 236 * n, 16 * n)
        return self.in_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"means": ((board.count(self.points, self.chequers),), np.dtype("<f8"))}

    def solve(self, **how: Any) -> MeanRolls:
        return mean_rolls(self.points, self.chequers, recipe=self.recipe, **how)


def in_mapped_files(plan: Plan, memory: int) -> Plan:
    """The plan of a table whose arrays lie in mapped files, so that a process takes `memory` bytes at most."""
    arrays = plan.memory - INTERPRETER_BYTES
    paged = 3 * arrays / PAGED_RATE if plan.memory > memory else 0.0
    return replace(plan, memory=min(memory, plan.memory), scratch=arrays, seconds=plan.seconds + paged)


def mapped_disk(plan: Plan, numbers: int = 64) -> int:
    """Bytes of disk that the plan takes at its height: the arrays of the search are gone when the file is written."""
    rows = 2 * numbers * plan.positions if plan.scratch else 0
    return max(plan.scratch, rows + plan.output)


def _rounded(
    layers: Layers, sweep: Sweep, gammon: bool, chosen: Recipe, room: MappedRoom | None = None
) -> OneSided:
    from bgfmt.solver.kernels import one_sided as kernels

    points, chequers = layers.points, layers.chequers
    n = board.count(points, chequers)
    zeros = zeros_on_lines if room is None else room.zeros
    rows = zeros((n, 1 + gammon, ROLLS), np.uint16)
    rows[0, :, 0] = 65535
    ordered = chosen.tie == "lexicographic"
    labels: Array = lexicographic(points, chequers) if ordered else np.zeros(0, np.uint32)
    records = records_for(layers, np.int64 if ordered else np.uint32, zeros)
    race = gammon and chosen.gammon == "race" and chequers == GAMMON_CHEQUERS
    choices = np.zeros((n if race else 0, 21), np.uint32)
    numbering = kernels.Board(points, layers.terms, layers.steps)

    def kernel(ranges: Array) -> None:
        kernels.distributions(
            ranges, numbering, slots, records, rows, part, chosen.remainder == "sums", labels, choices, ROLLS
        )

    part = 0
    for c in range(1, chequers + 1):
        slots = kernels.Slots(*layers.places(c), 1)
        sweep.run(kernel, layers.waves(c))
    if gammon:
        first = layers.first(GAMMON_CHEQUERS) if chequers == GAMMON_CHEQUERS else n
        if race:
            survival = np.zeros((n - first, ROLLS), np.uint16)
            kernels.race_survival(first, choices, survival)
            rows[first:, 1, 0] = 65535 - survival[:, 0]
            rows[first:, 1, 1:] = survival[:, :-1] - survival[:, 1:]
        elif first < n:
            slots, part = kernels.Slots(layers.places(chequers)[0], layers.spare, 0), 1
            sweep.run(kernel, layers.waves(chequers))
    return OneSided(
        points=points, chequers=chequers, bearoff=rows[:, 0], gammon=rows[:, 1] if gammon else None,
        gammon_policy="race" if chosen.gammon == "race" else "", recipe=chosen.name,
        provenance=f"solved by bgfmt, recipe {chosen.name}", release=None if room is None else room.let_go,
    )  # fmt: skip


def _normal(layers: Layers, sweep: Sweep, chosen: Recipe) -> NormalOneSided:
    from bgfmt.solver.kernels import one_sided as kernels

    points, chequers = layers.points, layers.chequers
    moments = np.zeros((board.count(points, chequers), 4), np.float32)
    bits = moments.view(np.int32)
    records = records_for(layers, np.int64)
    numbering = kernels.Board(points, layers.terms, layers.steps)

    def kernel(ranges: Array) -> None:
        kernels.normal_moments(ranges, numbering, slots, records, moments, bits, column)

    column = 0
    for c in range(1, chequers + 1):
        slots = kernels.Slots(*layers.places(c), 1)
        sweep.run(kernel, layers.waves(c))
    if chequers == GAMMON_CHEQUERS:
        slots, column = kernels.Slots(layers.places(chequers)[0], layers.spare, 0), 2
        sweep.run(kernel, layers.waves(chequers))
    return NormalOneSided(
        points=points, chequers=chequers, moments=moments, recipe=chosen.name,
        provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip


def _exact(layers: Layers, sweep: Sweep, gammon: bool, chosen: Recipe) -> OneSided:
    points, chequers = layers.points, layers.chequers
    n = board.count(points, chequers)
    chances = np.zeros((n, ROLLS))
    chances[0, 0] = 1
    means = exact_means(layers, sweep, chances)
    second: Array | None = None
    gammon_means: Array | None = None
    if gammon:
        second = np.zeros((n, ROLLS))
        first = layers.first(GAMMON_CHEQUERS) if chequers == GAMMON_CHEQUERS else n
        second[:first, 0] = 1
        gammon_means = np.zeros(n)
        if first < n:
            gammon_means = exact_means(layers, sweep, second, gammon=True)
    return OneSided(
        points=points, chequers=chequers, bearoff=chances, gammon=second, recipe=chosen.name,
        carried=(ExactMeans(means, gammon_means),), provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip


def exact_means(
    layers: Layers, sweep: Sweep, chances: Array, *, gammon: bool = False, choices: Array | None = None
) -> Array:
    """Mean rolls (n,) float64 of all positions; fills `chances`, (n, columns) float64, columns may be 0.

    `gammon`: rolls to the first chequer off instead, for positions with all chequers on the board. `choices`,
    (n, 21) uint32, takes the position number after each roll's play.
    """
    from bgfmt.solver.kernels import exact as kernels
    from bgfmt.solver.kernels.one_sided import Board, Slots

    points, chequers = layers.points, layers.chequers
    means = np.zeros(board.count(points, chequers))
    kept = kernels.Ranked(np.zeros((layers.records, 19)), np.zeros((layers.records, 19), np.uint32))
    chosen = np.zeros((0, 21), np.uint32) if choices is None else choices
    numbering = Board(points, layers.terms, layers.steps)

    def kernel(ranges: Array) -> None:
        kernels.exact_rolls(ranges, numbering, slots, kept, means, chances, chosen)

    for c in range(chequers if gammon else 1, chequers + 1):
        on, off = layers.places(c)
        slots = Slots(on, layers.spare, 0) if gammon else Slots(on, off, 1)
        sweep.run(kernel, layers.waves(c))
    return means


def mean_rolls(
    points: int = 6,
    chequers: int = 15,
    *,
    recipe: str | Recipe = "exact",
    threads: int | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> MeanRolls:
    """Least expected number of rolls to bear off every position of up to `chequers` chequers on `points` points.

    The table of Peelle's J database `bgns.ijf`, bit for bit: value = 1 + (sum over the 36 rolls of the least value
    reachable) / 36 in doubles, added in the order of J 9.7 (eight running sums of four lanes). Any other order
    changes last bits.

    Returns
    -------
    MeanRolls with `means` of shape (n,), float64, in order of position number.

    >>> mean_rolls(6, 1).means[6]
    np.float64(1.25)
    """
    chosen = find_recipe(recipe, "mean-rolls")
    check_size(points, chequers)
    n = board.count(points, chequers)
    layers = Layers(points, chequers)
    check_memory(8 * n + 228 * layers.records, "this table")
    with threads_or(workers, threads) as team:
        means = exact_means(layers, Sweep(team, n - 1, progress), np.zeros((0, 0)))
    return MeanRolls(
        points=points, chequers=chequers, means=means, recipe=chosen.name,
        provenance=f"solved by bgfmt, recipe {chosen.name}",
    )  # fmt: skip


def records_for(
    layers: Layers, dtype: type[np.uint32 | np.int64], zeros: Callable[..., Array] = zeros_on_lines
) -> Any:
    """`kernels.one_sided.Records` of all positions that the search looks at, with keys of that dtype."""
    from bgfmt.solver.kernels import one_sided as kernels

    signs = np.arange(34, dtype=dtype)
    signs[32] = np.iinfo(dtype).max // 32 * 32
    signs[33] = np.iinfo(dtype).max
    n = layers.records
    keys, doubles = zeros((n, 2 * LANES), dtype), zeros((6, n, 4), dtype)
    return kernels.Records(signs, keys, doubles, LANES)


def lexicographic(points: int, chequers: int) -> Array:
    """Place of each position number in lexicographic order of (chequers on point 1, on point 2, ...), uint32."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint32)
    labels[order] = np.arange(len(order), dtype=np.uint32)
    return labels
