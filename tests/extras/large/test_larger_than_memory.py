"""Solves whose arrays do not fit into the memory they are given: the same bytes, and the memory measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.errors import SolverError
from bgfmt.storage.mapped import MappedScratch, resident_bytes

MEASURED = r"""
import re, sys
from bgfmt.cli import run
code = run(sys.argv[1:])
# not ru_maxrss, which begins with what the process that started this one takes
peak = re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())
print(int(peak[1]) * 1024, file=sys.stderr)
raise SystemExit(code)
"""


def measured(*arguments: str) -> int:
    """Run the command line; the most memory its process took, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("gammon", "recipe"), [(True, "gnubg"), (False, "gnubg"), (True, "bgsage")])
def test_a_one_sided_table_in_mapped_files(tmp_path: Path, gammon: bool, recipe: str) -> None:
    with MappedScratch(tmp_path, 1) as room:  # always over it: pages go all the time
        made = solver.one_sided(5, gammon=gammon, recipe=recipe, room=room)
        wanted = solver.one_sided(5, gammon=gammon, recipe=recipe)
        for name, rows in wanted.arrays().items():
            assert np.array_equal(rows, made.arrays()[name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not say what is mapped")
def test_mapped_arrays_go_with_their_last_use(tmp_path: Path) -> None:
    """So that the disk holds those of the search no longer when the file is written."""
    mapped = lambda: Path("/proc/self/maps").read_text().count(str(tmp_path))  # noqa: E731
    with MappedScratch(tmp_path, 10**9) as room:
        one, two = room.zeros((9,), np.uint16), room.zeros((9, 2), np.int64)
        assert mapped() == 2
        del one
        assert mapped() == 1
        two[...] = 1
        room.drop_pages()
        assert two.sum() == 18
        table = solver.one_sided(3, chequers=3, room=room)
        assert mapped() == 2
        assert table.check() is None


@pytest.mark.slow
@pytest.mark.skipif(
    resident_bytes() is None, reason="this system does not say how much memory a process takes"
)
def test_a_one_sided_solve_takes_the_memory_it_is_given(tmp_path: Path) -> None:
    """10 points take 0.7 GB of arrays where they are held."""
    size = ["solve", "one-sided", "10", "--no-compress", "--no-gammon", "--quiet"]
    taken = measured(*size, "--memory", "500M", "-o", str(tmp_path / "a.bd"))
    assert taken < 500_000_000
    free = measured(*size, "-o", str(tmp_path / "b.bd"))
    assert free > 500_000_000
    assert (tmp_path / "a.bd").read_bytes() == (tmp_path / "b.bd").read_bytes()


def test_too_little_memory_is_said(tmp_path: Path) -> None:
    with pytest.raises(SolverError, match="at least"):
        bgfmt.solve("one-sided", 6, 15, tmp_path / "o.bd", memory=1_000_000)
    with pytest.raises(bgfmt.errors.CapabilityError):
        bgfmt.solve("mean-rolls", 6, 15, tmp_path / "o.ijf", memory=10**9)


@pytest.mark.slow
@pytest.mark.skipif(
    resident_bytes() is None, reason="this system does not say how much memory a process takes"
)
def test_a_tile_takes_the_memory_that_is_said(tmp_path: Path) -> None:
    from bgfmt.extras.large.stores import plan_stored
    from bgfmt.files.solve import solve_table
    from bgfmt.solver.registry import solver_of

    bound = 400_000_000
    assert plan_stored(solver_of("two-sided", 6, 9), workers=1, memory=bound).memory <= bound
    solve_table("two-sided", 6, 3, store=tmp_path / "compiled")
    size = ["solve", "two-sided", "6x9", "--threads", "1", "--memory", "400M", "--quiet"]
    assert measured(*size, "--store", str(tmp_path / "s")) < bound
