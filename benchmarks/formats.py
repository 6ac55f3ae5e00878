"""Conversions against `cp` of the result, `bgfmt info` on a huge file, batches of look-ups, start-up time.

    python -m benchmarks.formats [FOLDER]

Makes its own large files in FOLDER (default: a temporary one; 4 GB are needed, and a sparse 23.5 GB file).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._measure import BGFMT, pairs, row, run


def main(folder: Path) -> None:
    packed, plain = folder / "os10.bd", folder / "os10_c.bd"
    if not packed.exists():
        run([*BGFMT, "solve", "one-sided", "10", "-o", packed])
    run([*BGFMT, "convert", packed, plain, "--no-compress", "--force"])
    large = folder / "ts_06x11.bd"
    if not large.exists():
        synthetic_two_sided(large, 11)
    print(f"{'conversion':<46} {'bgfmt':>10} {'peak':>10}   {'cp of the result':>10}")
    cases = [
        ("one-sided 10 points, uncompress (418 MB)", packed, plain, ["--no-compress"], "<= 4"),
        ("one-sided 10 points, compress (117 MB)", plain, packed, ["--compress"], "<= 6"),
        ("two-sided 6x11 to 6x10 (513 MB)", large, None, ["--chequers", "10"], "<= 4"),
        ("two-sided 6x11 to 5x11 (153 MB)", large, None, ["--points", "5"], "<= 4"),
        ("two-sided 6x11 to cubeless (306 MB)", large, None, ["--cubeless", "--lossy"], "<= 4"),
    ]
    out, copy = folder / "out.bd", folder / "copy.bd"
    for what, source, whole, options, bar in cases:
        ours: list[str | Path] = [*BGFMT, "convert", source, out, "--force", *options]
        result = whole or folder / "result.bd"
        if whole is None:
            run(ours)
            out.replace(result)
        print(row(what, *pairs(ours, ["cp", result, copy]), bar), flush=True)
    for path in (out, copy, folder / "result.bd"):
        path.unlink(missing_ok=True)
    huge = folder / "ts_06x15.bd"
    with huge.open("wb") as file:
        file.write(b"gnubg-TS-06-15-1" + b"x" * 23 + b"\n")
        file.truncate(23_556_653_608)
    print(f"info on a 23.5 GB file: {run([*BGFMT, 'info', huge])}  (<= 0.5 s, 100 MB)")
    huge.unlink()
    batches(folder)
    empty = min(run([sys.executable, "-c", "import numpy"]).seconds for _ in range(5))
    ours_alone = min(run([sys.executable, "-c", "import numpy, bgfmt"]).seconds for _ in range(5))
    print(f"import bgfmt beyond numpy: {ours_alone - empty:.3f} s (<= 0.2)")
    print(f"bgfmt --version: {min(run([*BGFMT, '--version']).seconds for _ in range(5)):.3f} s (<= 0.4)")


def synthetic_two_sided(path: Path, chequers: int) -> None:
    """A file of a 6-point table's size and shape; conversions take as long whatever the numbers are."""
    from bgfmt.game.board import count

    n, rng = count(6, chequers), np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(f"gnubg-TS-06-{chequers:02d}-1".encode() + b"x" * 23 + b"\n")
        for _ in range(n):
            file.write(rng.integers(0, 65536, n * 4, np.uint16).data)


def batches(folder: Path) -> None:
    """Random positions a second from a mapped and cached 6x8-sized table, one core."""
    import bgfmt
    from bgfmt.game.board import unrank_array

    path = folder / "ts_06x08.bd"
    if not path.exists():
        synthetic_two_sided(path, 8)
    rng, many = np.random.default_rng(2), 4_000_000
    with bgfmt.open(path) as db:
        n = db.table.positions
        np.asarray(db.table.arrays()["equities"]).sum()
        us, them = rng.integers(0, n, many), rng.integers(0, n, many)
        our_counts, their_counts = unrank_array(us, 6), unrank_array(them, 6)
        for what, a, b, bar in (
            ("numbers", us, them, "10"),
            ("chequer counts", our_counts, their_counts, "5"),
        ):
            best = min(_seconds(lambda a=a, b=b: db.lookup_many(a, b)) for _ in range(3))  # type: ignore[misc]
            print(f"look-ups from {what}: {many / best / 1e6:.1f} million a second (>= {bar})")


def _seconds(work: object) -> float:
    begin = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - begin


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))
