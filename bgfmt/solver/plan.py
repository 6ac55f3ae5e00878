"""What a solve will take, said before it starts: time, memory, disk. The coefficients are measurements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bgfmt.errors import SolverError
from bgfmt.extras.lab.tables.gillogly import CHEQUERS, POINTS, domain_ids, domain_of
from bgfmt.game import board
from bgfmt.solver import limits
from bgfmt.solver.layers import layer_cuts
from bgfmt.solver.machine import available_memory, thread_count
from bgfmt.solver.one_sided import GAMMON_CHEQUERS, check_size, memory_needed
from bgfmt.solver.pool import Pool
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe

MAX_TWO_SIDED_POINTS = 12
LANES = (
    1.6e10  # int16 maxima a second on one core, measured in tiles of a store and in squares of a whole table
)
SCRATCH_RATE = 0.4e9  # bytes of table a second that checksums, both files and merging take
START_SECONDS = 0.7  # interpreter, numpy, numba and the compiled code from its cache
INTERPRETER_BYTES = 150_000_000
PAGED_RATE = (
    0.4e9  # bytes a second that mapped arrays larger than memory come and go with, measured with 14 points
)


@dataclass(frozen=True)
class Plan:
    """An estimate: `seconds` of an otherwise idle machine; bytes of `memory`, of the `output` file, of `scratch`."""

    what: str
    positions: int
    seconds: float
    memory: int
    output: int
    scratch: int = 0

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.positions:,} positions, about {self.seconds:.1f} s, "
            f"{self.memory / 1e9:.2f} GB of memory, {self.output / 1e9:.3f} GB for the file"
            + (f" and {self.scratch / 1e9:.3f} GB of scratch" if self.scratch else "")
        )

    @property
    def fits(self) -> bool:
        """Whether the memory is there now (True where the system does not say)."""
        available = available_memory()
        return available is None or self.memory <= available


def plan(kind: str, points: int = 6, chequers: int = 15, **options: Any) -> Plan:
    """Estimate a solve of a kind of table (see `bgfmt.solver.recipe.KINDS`), with the solver's own options.

    >>> plan("one-sided", 6).positions
    54264
    """
    if kind == "one-sided":
        return _one_sided(points, chequers, **options)
    if kind == "normal-distribution":
        return _one_sided(points, chequers, normal=True, **options)
    if kind == "two-sided":
        return plan_two_sided(points, chequers, **options)
    chosen = find_recipe(options.get("recipe", "exact"), kind)
    if kind == "bkg":
        return _gillogly(points, chequers, chosen, options.get("threads"))
    if kind == "expected-points":
        return _expected_points(points, chequers, chosen, options.get("threads"))
    check_size(points, chequers)
    n = board.count(points, chequers)
    threads = thread_count(options.get("threads"))
    memory = INTERPRETER_BYTES + 8 * n + 228 * board.count(points, chequers)
    return Plan(f"mean rolls, {points} points", n, START_SECONDS + 8e-7 * n / threads, memory, 16 * n)


def plan_two_sided(
    points: int,
    chequers: int,
    *,
    cubeful: bool = True,
    recipe: str | Recipe = "gnubg",
    threads: int | None = None,
) -> Plan:
    """What solving this table will take, from a model checked on 6x6 to 6x15 and on other points.

    SolverError unless 1..12 points and 1..15 chequers.
    """
    if not 1 <= points <= MAX_TWO_SIDED_POINTS or not 1 <= chequers <= board.MAX_CHEQUERS:
        raise SolverError(
            f"two-sided tables have 1 to {MAX_TWO_SIDED_POINTS} points and 1 to {board.MAX_CHEQUERS} chequers, "
            f"not {points} and {chequers}"
        )
    chosen = find_recipe(recipe, "two-sided")
    cuts = layer_cuts(points, chequers)
    n, columns = int(cuts[-1]), 4 if cubeful else 1
    pairs, results = n * n, results_a_position(points, chequers)
    what = f"two-sided {points}x{chequers}, recipe {chosen.name}"
    lanes, threads = pairs * results * columns, min(2, thread_count(threads))
    if not chosen.rounded:
        seconds = START_SECONDS + lanes / 1e9 / threads
        memory = 2 * pairs * columns * 8 + 4 * n * results + INTERPRETER_BYTES
        return Plan(what, pairs, seconds, memory, pairs * columns * 8)
    body = pairs * columns * 2
    large = pairs > limits.HELD_PAIRS
    seconds = START_SECONDS + lanes / LANES / threads + (body / SCRATCH_RATE if large else 0)
    memory = Pool(cuts, columns).bytes + 4 * n * results + INTERPRETER_BYTES + (0 if large else body)
    return Plan(what, pairs, seconds, int(memory), 40 + body, body if large else 0)


def _gillogly(points: int, chequers: int, chosen: Recipe, threads: int | None) -> Plan:
    if points != POINTS or chequers not in CHEQUERS.values():
        raise SolverError(
            f"BKG's table has 6 points and 15 chequers (union) or 8, not {points} and {chequers}"
        )
    whole = _one_sided(POINTS, 15, gammon=False, recipe="exact", threads=threads)
    n = len(domain_ids(domain_of(chequers)))
    output = 93 * n if chosen.rounded else 40 + 72 * n
    return Plan(f"Gillogly's table, recipe {chosen.name}", n, whole.seconds, whole.memory, output)


def _expected_points(points: int, chequers: int, chosen: Recipe, threads: int | None) -> Plan:
    whole = plan_two_sided(points, chequers, cubeful=False, recipe="exact", threads=threads)
    n = board.count(points, chequers) - 1
    output = 64 + (2 * points + 12) * n * n if chosen.rounded else 8 * n * n
    what = f"expected points {points}x{chequers}, recipe {chosen.name}"
    return Plan(what, n * n, whole.seconds, whole.memory + 12 * n * n, output)


def in_mapped_files(plan: Plan, memory: int) -> Plan:
    """The plan of a one-sided table whose arrays lie in mapped files, so that a process takes `memory` bytes.

    The arrays go out, come in and go out once more.
    """
    arrays = plan.memory - INTERPRETER_BYTES
    paged = 3 * arrays / PAGED_RATE if plan.memory > memory else 0.0
    return replace(plan, memory=min(memory, plan.memory), scratch=arrays, seconds=plan.seconds + paged)


def mapped_disk(plan: Plan, numbers: int = 64) -> int:
    """Bytes of disk that it takes at its height: the arrays of the search are gone when the file is written."""
    rows = 2 * numbers * plan.positions if plan.scratch else 0
    return max(plan.scratch, rows + plan.output)


def results_a_position(points: int, chequers: int) -> int:
    """About how many (roll, result) pairs a position has on average; measured within a tenth."""
    return int(21 + 2.2 * (points - 1) * (chequers - 1)) if chequers > 1 else 21


def _one_sided(
    points: int,
    chequers: int,
    *,
    gammon: bool = True,
    normal: bool = False,
    compressed: bool = True,
    recipe: str | Recipe = "gnubg",
    threads: int | None = None,
) -> Plan:
    check_size(points, chequers)
    chosen = find_recipe(recipe, "normal-distribution" if normal else "one-sided")
    n = board.count(points, chequers)
    passes = n
    if chequers == GAMMON_CHEQUERS and (gammon or normal):  # a second pass over those with all on the board
        passes += n - board.count(points, chequers - 1)
    # microseconds a position, measured with 6 to 13 points: more points, more sources and colder caches
    each = max(0.6, 0.165 * points - 0.57) * (1.0 if chosen.rounded else 2.0)
    seconds = START_SECONDS + each * 1e-6 * passes / thread_count(threads)
    if normal:
        output = 40 + 16 * n
    elif chosen.gammon == "race":  # means and survival rows
        output = 28 + 72 * n + 64 * (passes - n)
    elif compressed and chosen.rounded:
        output = int(40 + n * (13.8 + 2.2 * points if gammon else 9.6 + 2.2 * points))
    else:
        output = 40 + n * (64 + 64 * gammon) * (1 if chosen.rounded else 4)
    memory = INTERPRETER_BYTES + memory_needed(points, chequers, gammon=gammon, normal=normal, recipe=chosen)
    return Plan(
        f"one-sided, {points} points, {chequers} chequers, recipe {chosen.name}", n, seconds, memory, output
    )
