"""Tiles of a two-sided table: the same numbers from what they say they need, within the memory they say."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import solver
from bgfmt.extras.large.chunks import ChunkStore
from bgfmt.extras.large.stores import plan_stored
from bgfmt.extras.large.tiles import TileSolve, grid_of
from bgfmt.solver.registry import solver_of
from bgfmt.solver.workers import ThreadWorkers

BGFMT = [sys.executable, "-m", "bgfmt"]


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    size=st.sampled_from([(1, 5), (2, 1), (3, 3), (6, 4), (5, 3), (12, 2), (9, 3)]),
    columns=st.sampled_from([1, 4]),
    chunk=st.sampled_from([8, 16, 40]),
    chunks_a_side=st.integers(1, 4),
    workers=st.integers(1, 3),
)
def test_any_grid_gives_the_same_numbers(
    size: tuple[int, int],
    columns: int,
    chunk: int,
    chunks_a_side: int,
    workers: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("grid") / "s"
    grid = grid_of(*size, columns=columns, side=chunk * chunks_a_side, chunk=chunk)
    making = TileSolve(str(path), "equities", grid)
    with ThreadWorkers(workers) as threads:
        done = list(threads.run(making.make, grid.tiles(), grid.predecessors))
    assert (sum(t.read for t in done), sum(t.written for t in done)) == grid.bytes_moved
    store = ChunkStore(path)
    found = np.zeros((grid.n, grid.n, columns), np.uint16)
    for a, b in np.ndindex(grid.chunks, grid.chunks):
        part, _ = store.read_chunk("equities", (a, b, 0), "<u2", (chunk, chunk, columns))
        to = found[a * chunk : (a + 1) * chunk, b * chunk : (b + 1) * chunk]
        to[...] = part[: to.shape[0], : to.shape[1]]
    order = solver.layers.pip_order(*size).numbers
    wanted = solver.two_sided(*size, cubeful=columns == 4).equities
    assert np.array_equal(found, np.asarray(wanted)[order][:, order])


@pytest.mark.slow
def test_a_tile_reads_and_writes_what_it_says(tmp_path: Path) -> None:
    """Chunks that a tile does not need are taken away before it is made."""
    grid = grid_of(6, 4, columns=4, side=64, chunk=32)
    making = TileSolve(str(tmp_path / "s"), "equities", grid)
    for tile in grid.tiles():
        made = making.make(tile)
        assert made.read == grid.chunk_bytes * sum(
            len(grid.chunks_of(strip)) for strip in grid.needed_strips(tile)
        )
        assert made.written == grid.chunk_bytes * sum(
            len(grid.chunks_of(strip)) for strip in grid.written_strips(tile)
        )
    for tile in grid.tiles():
        kept = {at for strip in grid.needed_strips(tile) for at in grid.chunks_of(strip)}
        given = {at for strip in grid.written_strips(tile) for at in grid.chunks_of(strip)}
        assert not kept & given
        alone = tmp_path / "alone"
        for at in kept:
            to = alone / f"equities/c.{at[0]}.{at[1]}.0"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tmp_path / f"s/equities/c.{at[0]}.{at[1]}.0", to)
        TileSolve(str(alone), "equities", grid).make(tile)
        for a, b in given:
            name = f"equities/c.{a}.{b}.0"
            assert (alone / name).read_bytes() == (tmp_path / "s" / name).read_bytes()
        shutil.rmtree(alone)


def test_every_tile_stands_behind_what_it_needs() -> None:
    grid = grid_of(6, 8, columns=4, workers=4)
    seen: set[tuple[int, int]] = set()
    given: set[tuple[int, int]] = set()
    for tile in grid.tiles():
        assert seen.issuperset(grid.predecessors(tile))
        assert given.issuperset(at for s in grid.needed_strips(tile) for at in grid.chunks_of(s))
        seen.add(tile)
        given |= {at for s in grid.written_strips(tile) for at in grid.chunks_of(s)}
    assert len(given) == grid.chunks**2


def test_memory_is_bounded_by_what_is_said() -> None:
    made = solver_of("two-sided", 7, 12)
    plan = plan_stored(made, workers=2)
    assert 2 * plan.memory < 4_100_000_000
    assert plan_stored(made, workers=2, memory=1_500_000_000).memory <= 1_500_000_000
    with pytest.raises(
        bgfmt.errors.SolverError, match=r"needs 0\.\d+ GB for each worker, which has 0\.10 GB"
    ):
        plan_stored(made, workers=2, memory=100_000_000)


def test_tasks_may_be_left_behind_when_the_workers_have_gone() -> None:
    """An error that ends a solve closes the workers first and what is left of the tasks later."""

    def wait_a_little(key: int) -> int:
        time.sleep(0.01)
        return key

    with ThreadWorkers(2) as threads:
        tasks: Any = threads.run(wait_a_little, range(50))
        next(tasks)
    ended = threading.Thread(target=tasks.close, daemon=True)
    ended.start()
    ended.join(60)
    assert not ended.is_alive()
