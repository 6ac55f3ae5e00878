"""Hypergammon, whole processes: `python -m benchmarks.hypergammon [FOLDER]`.

Two chequers by bgfmt and by makehyper in turn, on disk and warm, with the ratio of their wall times; the bytes
must be the same. With FOLDER also three chequers: both recipes solved into it, and each file verified. That takes
half an hour and 5 GB of memory; makehyper would take hours.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks._measure import BGFMT, pairs, row, run

MAKEHYPER = shutil.which("makehyper") or "/usr/games/makehyper"


def two(folder: Path) -> None:
    """Two chequers against makehyper."""
    mine, other = folder / "o.bd", folder / "h.bd"
    ours: list[str | Path] = [*BGFMT, "solve", "hypergammon", "2", "-o", mine, "--force", "--quiet"]
    theirs: list[str | Path] = ["sh", "-c", f"cd {folder} && exec {MAKEHYPER} -c 2 -f {other.name}"]
    mine_run, other_run, ratio = pairs(ours, theirs, 3)
    same = "same bytes" if mine.read_bytes() == other.read_bytes() else "DIFFERENT BYTES"
    print(row("hypergammon, two chequers", mine_run, other_run, 1 / ratio, same))


def three(folder: Path) -> None:
    """Three chequers, solved and verified."""
    for recipe, name in (("gnubg", "hyper3.bd"), ("exact", "hyper3.npz")):
        path = folder / name
        commands: list[list[str | Path]] = [
            ["solve", "hypergammon", "3", "--recipe", recipe, "-o", path, "--force"],
            ["verify", path],
        ]
        for command in commands:
            done = run([*BGFMT, *command])
            print(f"{command[0]:<7} {recipe:<6} {done.seconds:8.1f} s {done.megabytes:7.0f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        two(Path(temporary))
    if len(sys.argv) > 1:
        three(Path(sys.argv[1]))
