"""bgfmt-ts: size, packing, unpacking, proof and look-ups of one table.

    python -m benchmarks.compressed [CHEQUERS | FILE] [FOLDER]

Packs the 6-point two-sided table of CHEQUERS (default 10: 513 MB, solved first), or a plain FILE, in FOLDER (default:
a temporary one). Look-ups are timed by the processor's time of one thread, the least of several passes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bgfmt
from benchmarks._measure import BGFMT, run
from benchmarks.cold import evict, read_from_disk


def main(asked: str, folder: Path) -> None:
    plain = Path(asked) if not asked.isdigit() else folder / f"ts_6x{asked}.bd"
    small, back = folder / "packed.bgts", folder / "unpacked.bd"
    if not plain.exists():
        run([*BGFMT, "solve", "two-sided", f"6x{asked}", "-o", plain])
    made = run([*BGFMT, "convert", plain, small, "--force"])
    size, whole = small.stat().st_size, plain.stat().st_size
    print(f"{plain.name}: {whole:,} bytes; packed {size:,} bytes, {size / whole:.3f}")
    print(
        f"packed in {made.seconds:.1f} s, {made.megabytes:.0f} MB at most ({whole / 1e6 / made.seconds:.0f} MB/s)"
    )
    taken = run([*BGFMT, "convert", small, back, "--to", "gnubg-ts", "--force"])
    speed = whole / 1e6 / taken.seconds
    print(f"unpacked in {taken.seconds:.1f} s, {taken.megabytes:.0f} MB at most ({speed:.0f} MB/s)")
    print(f"the same file: {same(plain, back)}; {whole / 1e6 / taken.cpu:.0f} MB/s of processor time")
    back.unlink()
    proof = run([*BGFMT, "verify", small])
    print(f"verified in {proof.seconds:.1f} s, {proof.megabytes:.0f} MB at most")
    look_ups(small)
    from_disk(small)


def same(one: Path, two: Path) -> bool:
    """Whether two files hold the same bytes."""
    with one.open("rb") as a, two.open("rb") as b:
        while True:
            x, y = a.read(8 << 20), b.read(8 << 20)
            if x != y:
                return False
            if not x:
                return True


def look_ups(path: Path) -> None:
    """Rows, batches, single records and whole rolls, by the processor's time of one thread."""
    rng = np.random.default_rng(1)
    with bgfmt.open(path) as db:
        table = db.table
        n, equities = table.positions, table.arrays()["equities"]
        many = 200_000
        us, them = rng.integers(0, n, many), rng.integers(0, n, many)
        print(
            f"first batch of {many:,}: {1e6 * least(lambda: table.lookup_many(us, them), 1) / many:.2f} us each"
        )
        print(f"later batches: {1e6 * least(lambda: table.lookup_many(us, them), 5) / many:.2f} us each")
        asked = table.unrank(int(us[0]) * n + int(them[0]))
        print(f"single: {1e6 * least(lambda: [table.lookup(asked) for _ in range(200)], 9) / 200:.1f} us")
        leads = rng.integers(0, n, 21 * 20)
        print(
            f"420 entries of a row (21 rolls): {1e6 * least(lambda: equities[np.full(420, 7), leads], 9):.0f} us"
        )
        rows = np.arange(n // 2, min(n, n // 2 + 512))
        took = least(lambda: equities[rows], 3)
        print(f"rows: {len(rows) * n * equities.shape[2] * 2 / 1e6 / took:.0f} MB/s a core")


def from_disk(path: Path, times: int = 100) -> None:
    """Single look-ups in an open table, the file thrown out of the system's cache before each; time as it passes."""
    rng = np.random.default_rng(2)
    with bgfmt.open(path) as db:
        table = db.table
        n, took, read = table.positions, [], []
        for us, them in rng.integers(0, n, (times, 2)).tolist():
            asked = table.unrank(us * n + them)
            if table.release is not None:
                table.release()
            evict(path)
            before, begin = read_from_disk(), time.perf_counter()
            table.lookup(asked)
            took.append(1e3 * (time.perf_counter() - begin))
            read.append(read_from_disk() - before)
    print(
        f"from the disk: {np.median(took):.2f} ms, at most {max(took):.1f} ms, {np.median(read) / 1e3:.0f} kB read"
    )


def least(work: Callable[[], object], times: int) -> float:
    """The least processor time of some passes, in seconds."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found)


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "10"
    if len(sys.argv) > 2:
        main(wanted, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(wanted, Path(made))
