"""What a large solve costs on machines one does not have: time, memory, disk and transfer by a model.

python -m benchmarks.costs

prints the tables of docs/cluster.md.

A core makes MAXIMA_PER_SECOND maxima, reads READ_RATE and writes WRITE_RATE bytes a second; all workers
together move no more than the store's bandwidth; and no solve ends before its longest chain of tiles. So the time is
the greatest of the three, with half of the lesser of work and chain added for workers that wait. Arrays of a
one-sided table that do not fit into memory come and go with PAGED_BYTES_PER_SECOND (`bgfmt.solver.machine`),
whatever the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt import met as mets
from bgfmt.extras.large.tiles import WORKER_BASE_BYTES, TileGrid, grid_of, play_list_bytes
from bgfmt.met.model import Met
from bgfmt.solver import plan
from bgfmt.solver.machine import MAXIMA_PER_SECOND, Plan, plan_mapped, results_per_position

Array = NDArray[Any]
GB = 1e9
READ_RATE = 3.5e9  # bytes a second that a core reads from the system's cache, checks and turns, measured
WRITE_RATE = 0.8e9  # bytes a second that a core puts into chunks and writes, measured
MATCH = "6x15 at 5-away, 7-away"
DISK = 0.66 * GB  # bytes a second of the disk of the machine of `points`, measured


@dataclass(frozen=True)
class Machines:
    """Machines with one store: cores and bytes of memory of each, bytes a second that the store gives and takes in
    all, how many machines, maxima a second of a core (of a quarter of the device, where there is one)."""

    name: str
    cores: int
    memory: float
    bandwidth: float
    machines: int = 1
    lanes: float = MAXIMA_PER_SECOND

    def divided(self) -> Iterator[tuple[int, float]]:
        """Ways to run them: workers in all, memory of each."""
        for share in (1, 2, 4, 8, 16, 32):
            if self.cores >= share:
                yield self.cores // share * self.machines, self.memory / (self.cores // share)


#: as the table of docs/cluster.md has them; the GPU's maxima are assumed, not measured
KNOWN = (
    Machines("2 cores", 2, 32 * GB, 2 * GB),
    Machines("64 cores", 64, 512 * GB, 8 * GB),
    Machines("cluster of 64", 8, 64 * GB, 64 * GB, 64),
    Machines("one GPU", 4, 128 * GB, 4 * GB, 1, 4e11),
)


class TileWork(NamedTuple):
    """Seconds of one core that all tiles take, and those of the longest chain of tiles that wait for each other."""

    total: float
    chain: float

    def seconds(self, workers: int) -> float:
        """Seconds that `workers` workers take at least: their share, and the chain."""
        return max(self.total / workers, self.chain) + 0.5 * min(self.total / workers, self.chain)


def work(grid: TileGrid, results: float, *, lanes: float = MAXIMA_PER_SECOND) -> TileWork:
    """The work of a grid, of positions with `results` (roll, result) pairs, on cores of `lanes` maxima a second."""
    rows, windows = grid.spans
    sides = np.diff(grid.starts).astype(np.float64)
    each = grid.columns * results / lanes
    stored = grid.chunk_bytes

    def seconds(i: Array, j: Array) -> Any:
        """Of tiles (i, j)."""
        once = np.where(i == j, 1, 2)
        read = np.where(i == j, rows[i] * windows[i], rows[j] * windows[i] + rows[i] * windows[j]) * stored
        made = once * rows[i] * rows[j] * stored
        return once * sides[i] * sides[j] * each + read / READ_RATE + made / WRITE_RATE

    last = grid.size - 1
    down = np.arange(grid.size)
    chain = seconds(np.zeros_like(down), down).sum() + seconds(down[1:], np.full(last, last)).sum()
    read, written = grid.bytes_moved
    total = float(grid.n) ** 2 * each + read / READ_RATE + written / WRITE_RATE
    return TileWork(total, float(chain))


@dataclass(frozen=True)
class Cost:
    """Of a table on machines: hours until it is whole, bytes of memory (a worker), of disk, moved."""

    what: str
    where: str
    workers: int
    hours: float
    memory: float
    disk: float
    moved: float


def two_sided(points: int, chequers: int, where: Machines) -> Cost | None:
    """A two-sided table through a store; None where no way to divide the memory among workers does."""
    found = []
    base = WORKER_BASE_BYTES + play_list_bytes(points, chequers)
    for workers, memory in where.divided():
        grid = grid_of(points, chequers, columns=4, workers=workers, memory=int(memory) - base)
        if grid.memory + base <= memory:
            took = work(grid, results_per_position(points, chequers), lanes=where.lanes)
            hours = max(took.seconds(workers), sum(grid.bytes_moved) / where.bandwidth) / 3600
            found.append((hours, workers, grid))
    if not found:
        return None
    hours, workers, grid = min(found, key=lambda way: way[:2])
    what, (_, written) = f"two-sided {points}x{chequers}", grid.bytes_moved
    moved = sum(grid.bytes_moved)
    return Cost(what, where.name, workers, hours, grid.memory + base, written, moved)


def one_sided(points: int, where: Machines) -> Cost | None:
    """A one-sided table, on one machine without a GPU; what does not fit its memory lies in a mapped file."""
    if where.machines > 1 or where.lanes != MAXIMA_PER_SECOND:
        return None
    planned = plan("one-sided", points, threads=where.cores)
    if planned.memory > where.memory:
        planned = plan_mapped(planned, int(where.memory))
    disk = max(planned.scratch, 128 * planned.positions * bool(planned.scratch) + planned.output)
    moved = planned.output + 3.0 * planned.scratch
    hours = max(planned.seconds, moved / where.bandwidth) / 3600
    return Cost(f"one-sided {points} points", where.name, where.cores, hours, planned.memory, disk, moved)


def match_score(where: Machines, met: Met) -> Cost | None:
    """The 6x15 table of 5-away, 7-away, in memory on one machine; None where it does not fit."""
    planned = plan("match", 6, 15, away=(5, 7), met=met, threads=where.cores)
    if where.machines > 1 or where.lanes != MAXIMA_PER_SECOND or planned.memory > where.memory:
        return None
    size = planned.output
    hours = max(planned.seconds * min(2, where.cores) / where.cores, size / where.bandwidth) / 3600
    return Cost(MATCH, where.name, where.cores, hours, planned.memory, size, size)


@dataclass(frozen=True)
class Point:
    """A solve that was run, with 2 cores, 23 GB and `DISK`: seconds and bytes of memory, and both by the model."""

    what: str
    seconds: float
    memory: float
    model: Plan


def points() -> list[Point]:
    """What was measured."""
    mapped = (
        ("13 points, `--memory 6G`", 112, 5.7, plan("one-sided", 13, threads=2)),
        ("14 points, `--memory 6G`", 253, 5.7, plan("one-sided", 14, threads=2)),
        (
            "15 points without gammons, `--memory 6G`",
            440,
            5.7,
            plan("one-sided", 15, gammon=False, threads=2),
        ),
    )
    stored = grid_of(
        7, 12, columns=4, workers=2, memory=int(2.8 * GB) - WORKER_BASE_BYTES - play_list_bytes(7, 12)
    )
    tiles = max(work(stored, results_per_position(7, 12)).seconds(2), sum(stored.bytes_moved) / DISK)
    held = 2 * stored.memory + WORKER_BASE_BYTES + play_list_bytes(7, 12)
    return [
        Point("two-sided 6x10", 2.3, 0.91 * GB, plan("two-sided", 6, 10, threads=2)),
        Point("two-sided 6x15", 121, 10.2 * GB, plan("two-sided", 6, 15, threads=2)),
        Point(
            "two-sided 7x12, `--store` and `--memory 2.8G`", 257, 5.04 * GB,
            replace(plan("two-sided", 7, 12), seconds=tiles, memory=held),
        ),
        *(
            Point(f"one-sided {what}", seconds, memory * GB, plan_mapped(planned, 6 * 10**9))
            for what, seconds, memory, planned in mapped
        ),
    ]  # fmt: skip


def point_lines() -> list[str]:
    """Measured points in Markdown."""
    head = ("on 2 cores", "seconds", "by the model", "memory", "by the model")
    out = [_row(head), _row(["---"] * len(head))]
    for point in points():
        memory = (f"{_two(size / GB)} GB" for size in (point.memory, point.model.memory))
        seconds = (f"{value:.3g}" for value in (point.seconds, point.model.seconds))
        out.append(_row([point.what, *seconds, *memory]))
    return out


def rows(met: Met) -> Iterator[tuple[str, list[Cost | None]]]:
    """The table: what, and its cost on each of `KNOWN`."""
    makers: list[tuple[str, Callable[[Machines], Cost | None]]] = [
        ("two-sided 7x15", lambda m: two_sided(7, 15, m)),
        ("two-sided 8x15", lambda m: two_sided(8, 15, m)),
        (MATCH, lambda m: match_score(m, met)),
        *((f"one-sided {p} points", lambda m, p=p: one_sided(p, m)) for p in (16, 18)),  # type: ignore[misc]
    ]
    for what, maker in makers:
        yield what, [maker(where) for where in KNOWN]


def lines(met: Met) -> list[str]:
    """The table in Markdown, without machines that cannot make a table."""
    head = ("table", "on", "workers", "hours", "GB of memory (a worker)", "of disk", "moved")
    out = [_row(head), _row(["---"] * len(head))]
    for what, costs in rows(met):
        for where, cost in zip(KNOWN, costs, strict=True):
            if cost is None:
                continue
            sizes = (_two(size / GB) for size in (cost.memory, cost.disk, cost.moved))
            out.append(_row([what, where.name, str(cost.workers), _two(cost.hours), *sizes]))
    return out


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _two(value: float) -> str:
    """With two significant figures, and no exponent."""
    text = np.format_float_positional(value, 2, fractional=False, trim="-")
    return f"{float(text):,.0f}" if value >= 10 else text


if __name__ == "__main__":
    print("\n".join([*point_lines(), "", *lines(mets.load())]))
