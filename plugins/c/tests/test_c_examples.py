"""The examples, the benchmark, and how files are mapped and walked through."""

from __future__ import annotations

import ctypes as ct
import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from plugins.c.tests.conftest import GOLDEN, HERE, compiler, count, identifier, opened


@pytest.mark.slow
def test_examples(build: Callable[..., Path]) -> None:
    library, table = build(None), GOLDEN / "ts_06x04.bd"
    with bgfmt.open(table) as db:
        said: Any = db.lookup(bgfmt.Position(bgfmt.Side(0, 1), bgfmt.Side(1, 1)))
    position = identifier(bytes([0, 1]) + bytes(23), bytes([1, 1]) + bytes(23))
    done = subprocess.run(
        [build("examples/example.c"), table, position], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"win {said.win:.4f}, centered cube {said.centered:+.4f}\n"
    done = subprocess.run(
        [sys.executable, HERE / "examples/with_ctypes.py", library, GOLDEN / "os_p06.bd", "1", "3", "4"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    with bgfmt.open(GOLDEN / "os_p06.bd") as db:
        race: Any = db.lookup(bgfmt.Side(1, 3, 4))
    assert f"position {race.number}: {race.mean_rolls:.4f} rolls, EPC {race.epc:.4f}" in done.stdout
    pytest.importorskip("cffi")
    done = subprocess.run(
        [sys.executable, HERE / "examples/with_cffi.py", library, table, position],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"win {said.win:.4f}; equities {said.cubeless:+.4f}, {said.owned:+.4f}")


@pytest.mark.slow
def test_makefile_and_benchmark(tmp_path: Path) -> None:
    compiler()
    if shutil.which("make") is None:
        pytest.skip("no make")
    subprocess.run(["make", "-s", f"BUILD={tmp_path}"], cwd=HERE, check=True)
    bench = [tmp_path / "bench", GOLDEN / "ts_06x04.bd", "3"]
    assert "million a second" in subprocess.run(bench, capture_output=True, text=True, check=True).stdout


def test_mapped_for_random_access(lib: ct.CDLL, tmp_path: Path) -> None:
    """The system is told that look-ups are scattered, so that it does not read 32 pages for each."""
    path = tmp_path / "ts.bd"
    n = count(6, 6)
    path.write_bytes(b"gnubg-TS-06-06-1" + b"x" * 23 + b"\n" + bytes(8 * n * n))
    db = opened(lib, path)
    try:
        parts = Path("/proc/self/smaps").read_text().split("VmFlags:")
    except OSError:
        pytest.skip("no /proc/self/smaps")
    flags = [after.split("\n", 1)[0] for before, after in itertools.pairwise(parts) if str(path) in before]
    assert flags
    assert all(" rr " in f"{line} " for line in flags)
    lib.bgfmt_close(db)


@pytest.mark.parametrize("batch", [1, 63, 64, 65, 1000, 50_000])
def test_a_walk_through_the_file_in_batches(lib: ct.CDLL, tmp_path: Path, batch: int) -> None:
    """Reading ahead changes no answer: forwards, backwards, with jumps, up to the last record."""
    n = count(6, 6)
    stored = np.random.default_rng(1).integers(0, 65536, (n, n, 4), np.uint16)
    path = tmp_path / "ts.bd"
    path.write_bytes(b"gnubg-TS-06-06-1" + b"x" * 23 + b"\n" + stored.tobytes())
    db = opened(lib, path)
    wanted = (stored.astype(np.float32) * np.float32(1 / 32767.5) - np.float32(1)).reshape(-1, 4)
    last = np.arange(n * n - min(n * n, 40 * batch), n * n)
    for entries in (last, last[::-1], np.concatenate([last[:100], last[-100:], last[:100]])):
        for start in range(0, len(entries), batch):
            chosen = entries[start : start + batch]
            us, them = (part.astype(np.uint32) for part in np.divmod(chosen, n))
            out = np.zeros((len(chosen), 4), np.float32)
            assert lib.bgfmt_equities_many(db, len(chosen), *(a.ctypes.data for a in (us, them, out))) == 0
            np.testing.assert_allclose(out, wanted[chosen], atol=2e-7)
    lib.bgfmt_close(db)
