"""The one-sided solver: distributions and means of the rolls that a side needs to bear off or save the gammon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.game.results import Array
from bgfmt.solver.kernels import exact as kernels
from bgfmt.solver.kernels.one_sided import Board, Slots
from bgfmt.solver.machine import INTERPRETER_BYTES, START_SECONDS, Plan, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import How, Solver
from bgfmt.solver.waves import Layers, Progress, Sweep
from bgfmt.solver.workers import Workers
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table

ROLLS = 32
LANES = 8
GAMMON_CHEQUERS = 15
HOME = 6  # points of the recipes that are a fixed rule


@dataclass(frozen=True, eq=False)
class ExactMeans:
    """Mean rolls (n,) float64 of an exact table, to the last chequer off and to the first (None without gammon).

    Kept beside the chances, which leave out what happens after roll 31.
    """

    means: Array
    gammon_means: Array | None


def one_sided(
    points: int,
    *,
    chequers: int = 15,
    gammon: bool = True,
    normal: bool = False,
    recipe: str | Recipe = "gnubg",
    **how: Unpack[How],
) -> OneSided | NormalOneSided:
    """Solve a one-sided table.

    points, chequers : 1..18 points, 1..15 chequers.
    gammon : also make the distributions of the rolls to the first chequer off.
    normal : make means and standard deviations only, as ``makebearoff -n`` does (recipe gnubg).
    recipe : one of `bgfmt.solver.recipe`.
    how : see `bgfmt.solver.registry.How`. `progress` counts positions; tables of rounded rows take a `room`.

    Rows are uint16, of 65535 parts (float64 chances for recipe exact, with `ExactMeans` as a record). Rolls beyond 31
    have no column: an exact row lacks them, a rounded one gives them to its likeliest roll.

    SolverError for sizes out of range, an unknown recipe, or too little memory.
    """
    kind = NormalSolver if normal else OneSidedSolver
    return kind(points, chequers, recipe=recipe, gammon=gammon or normal).solve(**how)  # type: ignore[no-any-return]


class OneSidedSolver(Solver):
    """One-sided tables: distributions of rolls."""

    name = kind = "one-sided"
    recipes: ClassVar[tuple[str, ...]] = (
        "gnubg",
        "bgsage",
        "exact",
        "gnubg-heuristic",
        "gnubg-heuristic-2009",
    )
    most_points = 18
    options = frozenset({"gammon"})
    rows = True  # of chances, not their mean and deviation alone

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        recipe: str | Recipe | None = None,
        gammon: bool = True,
        compressed: bool = True,
    ) -> None:
        """compressed : whether `plan` reckons with a compressed file."""
        super().__init__(points, chequers, recipe=recipe)
        if self.recipe.play != "best" and points != HOME:
            raise SolverError(f"recipe {self.recipe.name} makes tables of {HOME} points, not {points}")
        self.maps = self.recipe.rounded and self.rows
        self.gammon = gammon and self.recipe.gammon != "none"
        self.compressed = compressed
        self.positions = board.count(points, chequers)
        #: number of the first position with all chequers on the board where a gammon can be lost, else `positions`
        self.first = board.count(points, chequers - 1) if chequers == GAMMON_CHEQUERS else self.positions

    @property
    def held(self) -> int:
        """Bytes of memory a solve takes at its height, beyond the interpreter's own."""
        n = self.positions
        gammon = self.gammon
        records = Layers(self.points, self.chequers).records
        if not self.recipe.rounded:
            return (264 + 264 * gammon) * n + 228 * records
        lexicographic = self.recipe.tie == "lexicographic"
        race = 84 if gammon and self.recipe.gammon == "race" else 0
        return (64 + 64 * gammon + race + 24 * lexicographic) * n + (320 if lexicographic else 160) * records

    @property
    def output(self) -> int:
        """Bytes of the file, about."""
        n = self.positions
        if self.recipe.gammon == "race":  # means and survival rows
            return 28 + 72 * n + 64 * (n - self.first if self.gammon else 0)
        if self.compressed and self.recipe.rounded:
            return int(40 + n * ((13.8 if self.gammon else 9.6) + 2.2 * self.points))
        return 40 + n * (64 + 64 * self.gammon) * (1 if self.recipe.rounded else 4)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        n = self.positions
        again = self.positions - self.first if self.gammon else 0
        # microseconds a position, measured with 6 to 13 points: more points, more sources and colder caches
        each = max(0.6, 0.165 * self.points - 0.57) * (1.0 if self.recipe.rounded else 2.0)
        seconds = START_SECONDS + each * 1e-6 * (n + again) / thread_count(threads)
        what = f"one-sided, {self.points} points, {self.chequers} chequers, recipe {self.recipe.name}"
        planned = Plan(what, n, seconds, INTERPRETER_BYTES + self.held, self.output)
        return self.in_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        names = ("bearoff", "gammon") if self.gammon else ("bearoff",)
        dtype = np.dtype("<u2" if self.recipe.rounded else "<f8")
        return dict.fromkeys(names, ((self.positions, ROLLS), dtype))

    def table(self, arrays: Mapping[str, Any]) -> Table:
        policy = {"gammon_policy": "race"} if self.recipe.gammon == "race" else {}
        return super().table({**arrays, **policy})

    def made(self, workers: Workers, progress: Progress | None, zeros: Any, out: Any) -> dict[str, Any]:
        if self.recipe.play != "best":
            return {"bearoff": by_fixed_rule(self.chequers, look_ahead=self.recipe.play == "look-ahead")}
        again = self.positions - self.first if self.gammon and self.recipe.gammon == "save" else 0
        sweep = Sweep(workers, self.positions - 1 + again, progress)
        return self._swept(Layers(self.points, self.chequers), sweep, zeros)

    def _swept(self, layers: Layers, sweep: Sweep, zeros: Any) -> dict[str, Any]:
        """The arrays of the table."""
        if not self.recipe.rounded:
            return self._exact(layers, sweep)
        from bgfmt.solver.kernels import one_sided as kernels

        n = self.positions
        first = self.first
        gammon = self.gammon
        recipe = self.recipe
        rows = zeros((n, 1 + gammon, ROLLS), np.uint16)
        rows[0, :, 0] = 65535
        ordered = recipe.tie == "lexicographic"
        labels: Array = lexicographic(self.points, self.chequers) if ordered else np.zeros(0, np.uint32)
        records = records_for(layers, np.int64 if ordered else np.uint32, zeros)
        race = gammon and recipe.gammon == "race" and first < n
        choices = np.zeros((n if race else 0, 21), np.uint32)
        how = recipe.remainder == "sums", recipe.divisor, labels, choices, ROLLS
        _walk(layers, sweep, kernels.distributions, records, rows, 0, *how)
        if race:
            survival = np.zeros((n - first, ROLLS), np.uint16)
            kernels.race_survival(first, choices, survival)
            rows[first:, 1, 0] = 65535 - survival[:, 0]
            rows[first:, 1, 1:] = survival[:, :-1] - survival[:, 1:]
        elif gammon and first < n:
            _walk(layers, sweep, kernels.distributions, records, rows, 1, *how, all_on=True)
        return {"bearoff": rows[:, 0], "gammon": rows[:, 1] if gammon else None}

    def _exact(self, layers: Layers, sweep: Sweep) -> dict[str, Any]:
        chances = np.zeros((self.positions, ROLLS))
        chances[0, 0] = 1
        means = exact_means(layers, sweep, chances)
        second: Array | None = None
        gammon_means: Array | None = None
        if self.gammon:
            second = np.zeros_like(chances)
            gammon_means = np.zeros(self.positions)
            second[: self.first, 0] = 1
            if self.first < self.positions:
                gammon_means = exact_means(layers, sweep, second, gammon=True)
        return {"bearoff": chances, "gammon": second, "carried": (ExactMeans(means, gammon_means),)}


class NormalSolver(OneSidedSolver):
    """Means and standard deviations of one-sided tables."""

    name = kind = "normal-distribution"
    recipes = ("gnubg",)
    rows = False

    @property
    def held(self) -> int:
        return 16 * self.positions + 320 * Layers(self.points, self.chequers).records

    @property
    def output(self) -> int:
        return 40 + 16 * self.positions

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"moments": ((self.positions, 4), np.dtype("<f4"))}

    def _swept(self, layers: Layers, sweep: Sweep, zeros: Any) -> dict[str, Any]:
        from bgfmt.solver.kernels import one_sided as kernels

        moments = np.zeros((self.positions, 4), np.float32)
        bits = moments.view(np.int32)
        records = records_for(layers, np.int64, zeros)
        _walk(layers, sweep, kernels.normal_moments, records, moments, bits, 0)
        if self.first < self.positions:
            _walk(layers, sweep, kernels.normal_moments, records, moments, bits, 2, all_on=True)
        return {"moments": moments}


class MeanRollsSolver(Solver):
    """Mean rolls."""

    name = kind = "mean-rolls"
    most_points = 18

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        n = board.count(self.points, self.chequers)
        seconds = START_SECONDS + 8e-7 * n / thread_count(threads)
        planned = Plan(f"mean rolls, {self.points} points", n, seconds, INTERPRETER_BYTES + 236 * n, 16 * n)
        return self.in_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        return {"means": ((board.count(self.points, self.chequers),), np.dtype("<f8"))}

    def made(self, workers: Workers, progress: Progress | None, zeros: Any, out: Any) -> dict[str, Any]:
        sweep = Sweep(workers, board.count(self.points, self.chequers) - 1, progress)
        return {"means": exact_means(Layers(self.points, self.chequers), sweep, np.zeros((0, 0)))}


def mean_rolls(
    points: int = 6, chequers: int = 15, *, recipe: str | Recipe = "exact", **how: Unpack[How]
) -> MeanRolls:
    """Least expected number of rolls to bear off every position, (n,) float64 in order of position number.

    Of 6 points and 15 chequers they are Peelle's `bgns.ijf`, bit for bit: 1 + (sum over the 36 rolls of the least
    value reachable) / 36 in doubles, added in the order of J 9.7 (eight running sums of four lanes).

    >>> mean_rolls(6, 1).means[6]
    np.float64(1.25)
    """
    return MeanRollsSolver(points, chequers, recipe=recipe).solve(**how)  # type: ignore[no-any-return]


def exact_means(layers: Layers, sweep: Sweep, chances: Array, *, gammon: bool = False) -> Array:
    """Mean rolls (n,) float64 of all positions; fills `chances`, (n, columns) float64, columns may be 0.

    `gammon`: rolls to the first chequer off instead, for positions with all chequers on the board.
    """
    means = np.zeros(board.count(layers.points, layers.chequers))
    ranked = kernels.Ranked(np.zeros((layers.records, 19)), np.zeros((layers.records, 19), np.uint32))
    _walk(layers, sweep, kernels.exact_rolls, ranked, means, chances, all_on=gammon)
    return means


def _walk(
    layers: Layers, sweep: Sweep, kernel: Callable[..., None], *args: Any, all_on: bool = False
) -> None:
    """Run ``kernel(ranges, board, slots, *args)`` over all positions by rising number of chequers, or over those with
    all chequers on the board alone, for which bearing off one chequer ends it."""
    numbering = Board(layers.points, layers.terms, layers.steps)
    for c in range(layers.chequers if all_on else 1, layers.chequers + 1):
        on, off = layers.places(c)
        slots = Slots(on, layers.spare, 0) if all_on else Slots(on, off, 1)
        sweep.run(lambda ranges, slots=slots: kernel(ranges, numbering, slots, *args), layers.waves(c))  # type: ignore[misc]


def records_for(layers: Layers, dtype: type[np.uint32 | np.int64], zeros: Callable[..., Array]) -> Any:
    """`kernels.one_sided.Records` of all positions that the search looks at, with keys of that dtype."""
    from bgfmt.solver.kernels import one_sided as kernels

    signs = np.arange(34, dtype=dtype)
    signs[32] = np.iinfo(dtype).max // 32 * 32
    signs[33] = np.iinfo(dtype).max
    n = layers.records
    keys = zeros((n, 2 * LANES), dtype)
    doubles = zeros((6, n, 4), dtype)
    return kernels.Records(signs, keys, doubles, LANES)


def by_fixed_rule(chequers: int, *, look_ahead: bool) -> Array:
    """Rows (n, 32) uint16 of the table that GNU Backgammon makes in memory where it finds no file.

    docs/theory/one-sided.md has the rule, which was found by evaluations of the program; tests repeat these. Rows are
    rounded, not corrected: they add up to 65532 to 65540.
    """
    n = board.count(HOME, chequers)
    counts = board.unrank_array(np.arange(n), HOME).astype(np.int64)
    rows = np.zeros((n, ROLLS), np.uint16)
    after = []
    for high in range(1, HOME + 1):
        for low in range(1, high + 1):
            sides = counts.copy()
            dice = [high] * 4 if high == low else [high, low]
            for k, die in enumerate(dice):
                _move(sides, die, dice[k + 1 :] if look_ahead else [])
            after.append((1 if high == low else 2, board.rank_array(sides)))
    pips = counts @ np.arange(1, HOME + 1)
    order = np.argsort(pips, kind="stable")
    rows[0, 0] = 65535
    for some in np.split(order, np.flatnonzero(np.diff(pips[order])) + 1)[1:]:
        sums = sum(weight * rows[numbers[some], :-1].astype(np.int64) for weight, numbers in after)
        rows[some, 1:] = (sums + 18) // 36
    return rows


def _move(sides: Array, die: int, later: list[int]) -> None:
    """Play a die on every side (n, 6) that has a chequer left; later : dice that may bear a chequer off with it."""
    highest = np.where(sides > 0, np.arange(HOME), -1).max(axis=1)
    stacks = sides[:, die:]
    landings = sides[:, : HOME - die]
    safe = (stacks >= 2) & (landings == 0)
    ways = [(sides[:, die - 1] > 0, die - 1), (highest < die - 1, highest)]
    ways += [(sides[:, at - 1] > 0, at - 1) for at in die + np.cumsum(later, dtype=int) if at <= HOME]
    if (
        die < HOME
    ):  # the highest stack, of equals the one with the fewest chequers where it lands, then the lowest
        ways += [
            (safe.any(axis=1), die + (stacks * safe).argmax(axis=1)),
            (highest >= die, die + (stacks * 16 - landings * (stacks > 0)).argmax(axis=1)),
        ]
    source = np.select([way[0] for way in ways], [way[1] for way in ways], -1)
    which = np.flatnonzero((source >= 0) & (highest >= 0))
    sides[which, source[which]] -= 1
    inside = which[source[which] >= die]
    sides[inside, source[inside] - die] += 1


def lexicographic(points: int, chequers: int) -> Array:
    """Place of each position number in lexicographic order of (chequers on point 1, on point 2, ...), uint32."""
    counts = board.unrank_array(np.arange(board.count(points, chequers)), points)
    order = np.lexsort(counts.T[::-1])
    labels = np.empty(len(order), np.uint32)
    labels[order] = np.arange(len(order), dtype=np.uint32)
    return labels
