"""Conversions between layouts that hold the same table, both ways, against `cp` of the larger of the two files.

    python -m benchmarks.convert [FOLDER]

`cp` returns before anything is on the disk, a conversion afterwards: it reads back and checks what it has written,
has the disk keep it (fsync) and gives it its name only then. So the times are also held against a copy that is
kept as well (`cp` and `sync` of the copy). Also Parquet, SQLite and CSV: bytes of input a second. Each figure is the
best of three.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bgfmt

PAIRS: tuple[tuple[str, tuple[str, int, int], dict[str, Any], str, tuple[str, ...]], ...] = (
    ("two-sided 6x8", ("two-sided", 6, 8), {}, "gnubg-ts", ("npz",)),
    ("one-sided 8", ("one-sided", 8, 15), {"compressed": False}, "gnubg-os", ("npz", "jfile")),
    ("one-sided 6, race", ("one-sided", 6, 15), {"recipe": "bgsage"}, "bgsage", ("npz", "jfile", "gnubg-os")),
)
FRAMES = (
    ("two-sided 6x8", "parquet"),
    ("two-sided 6x6", "parquet"),
    ("two-sided 6x6", "sqlite"),
    ("two-sided 6x6", "csv"),
)


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of three."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def size_of(path: Path) -> int:
    """Bytes of a file or of a folder's files."""
    return sum(p.stat().st_size for p in path.iterdir()) if path.is_dir() else path.stat().st_size


def copied(path: Path, to: Path, kept: bool = False) -> float:
    """Seconds of `cp`, also until the disk has the copy."""
    command = f'cp -r "{path}" "{to}"' + (f' && sync "{to}"' if kept else "")
    return best(lambda: subprocess.run(["sh", "-c", command], check=True))


def convert(source: Path, to: Path, form: str) -> float:
    """Seconds to write a file in another format."""
    return best(lambda: bgfmt.convert(source, to, to=form, force=True, lossy=True))


def main(folder: Path) -> None:
    made: dict[str, Path] = {}
    print(
        f"{'table':<20} {'to':<14} {'MB':>6} {'there':>8} {'back':>8} {'cp':>8} {'kept':>8}   times cp, kept"
    )
    for name, what, options, own, others in PAIRS:
        source = made[name] = folder / f"{name.replace(' ', '-')}.bd"
        if not source.exists():
            bgfmt.solve(*what, source, format=own, **options)
        for form in others:
            there, back = folder / f"there.{form}", folder / "back"
            times = convert(source, there, form), convert(there, back, own)
            larger = there if size_of(there) > size_of(source) else source
            copies = copied(larger, folder / "cp"), copied(larger, folder / "cp", kept=True)
            ratios = "   ".join("  ".join(f"{t / copy:.1f}" for t in times) for copy in copies)
            print(f"{name:<20} {form:<14} {size_of(larger) / 1e6:6.0f} ", end="")
            print(" ".join(f"{t:7.3f}s" for t in (*times, *copies)), f"  {ratios}", flush=True)
    small = made["two-sided 6x6"] = folder / "ts_06x06.bd"
    if not small.exists():
        bgfmt.solve("two-sided", 6, 6, small)
    for name, form in FRAMES:
        source, there = made[name], folder / f"there.{form}"
        seconds = convert(source, there, form)
        print(f"{name:<20} {form:<14} {seconds:7.2f} s, {size_of(source) / seconds / 1e6:6.0f} MB/s of input")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made_folder:
            main(Path(made_folder))
