"""What a solve will take, said before it starts: time, memory, disk. The coefficients are measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.solver.one_sided import GAMMON_CHEQUERS, check_size, memory_needed
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.recipe import recipe as find_recipe
from bgfmt.solver.schedule import available_memory, thread_count

START_SECONDS = 0.7  # interpreter, numpy, numba and the compiled code from its cache
INTERPRETER_BYTES = 150_000_000


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
    """Estimate a solve: kind ``one-sided``, ``two-sided`` or ``expected-rolls``, with the solver's own options.

    >>> plan("one-sided", 6).positions
    54264
    """
    if kind == "one-sided":
        return _one_sided(points, chequers, **options)
    if kind == "expected-rolls":
        check_size(points, chequers)
        n = board.count(points, chequers)
        threads = thread_count(options.get("threads"))
        memory = INTERPRETER_BYTES + 8 * n + 228 * board.count(points, chequers)
        return Plan(f"expected rolls, {points} points", n, START_SECONDS + 8e-7 * n / threads, memory, 16 * n)
    if kind == "two-sided":
        from bgfmt.solver.two_sided import plan_two_sided

        found = plan_two_sided(points, chequers, **options)
        assert isinstance(found, Plan)
        return found
    raise SolverError(f"no solver of {kind!r}; there are one-sided, two-sided and expected-rolls")


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
    chosen = find_recipe(recipe)
    n = board.count(points, chequers)
    passes = n
    if chequers == GAMMON_CHEQUERS and (gammon or normal):  # a second pass over those with all on the board
        passes += n - board.count(points, chequers - 1)
    # microseconds a position, measured with 6 to 13 points: more points, more sources and colder caches
    each = max(0.6, 0.165 * points - 0.57) * (1.0 if chosen.rounded else 2.0)
    seconds = START_SECONDS + each * 1e-6 * passes / thread_count(threads)
    if normal:
        output = 40 + 16 * n
    elif chosen.name == "bgsage":
        output = 28 + 72 * n + 64 * (passes - n)
    elif compressed and chosen.rounded:
        output = int(40 + n * (13.8 + 2.2 * points if gammon else 9.6 + 2.2 * points))
    else:
        output = 40 + n * (64 + 64 * gammon) * (1 if chosen.rounded else 4)
    memory = INTERPRETER_BYTES + memory_needed(points, chequers, gammon=gammon, normal=normal, recipe=chosen)
    return Plan(
        f"one-sided, {points} points, {chequers} chequers, recipe {chosen.name}", n, seconds, memory, output
    )
