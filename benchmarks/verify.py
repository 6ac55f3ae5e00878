"""What the verifier costs: whole processes, beside a solve of the same table.

    python -m benchmarks.verify [--large]

`--large` adds two-sided 6x11 (1.2 GB, solved into a temporary folder) and one-sided ten points.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import bgfmt
from benchmarks._measure import BGFMT, run
from bgfmt import solver

SMALL = (
    ("two-sided 6x6", (6, 6)),
    ("two-sided 6x8", (6, 8)),
    ("one-sided 6 points", 6),
    ("one-sided 8 points", 8),
)
LARGE = (("two-sided 6x11", (6, 11)), ("one-sided 10 points", 10))


def main(large: bool) -> None:
    """Solve each table, verify its file whole, and print seconds and memory of each."""
    print(f"{'table':<24} {'bytes':>14} {'solve s':>9} {'verify s':>9} {'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.bd"
        for name, size in SMALL + (LARGE if large else ()):
            if isinstance(size, tuple):
                bgfmt.save(solver.two_sided(*size), path, format="gnubg-ts", force=True)
                command = [*BGFMT, "solve", "two-sided", f"{size[0]}x{size[1]}", "-o", str(path), "--force"]
            else:
                bgfmt.save(solver.one_sided(size), path, format="gnubg-os", force=True)
                command = [*BGFMT, "solve", "one-sided", str(size), "-o", str(path), "--force"]
            solve = run(command)
            verify = run([*BGFMT, "verify", "--until", "recurrence", str(path)])
            print(
                f"{name:<24} {path.stat().st_size:>14,} {solve.seconds:>9.2f} {verify.seconds:>9.2f} "
                f"{verify.megabytes:>6.0f}"
            )


if __name__ == "__main__":
    main("--large" in sys.argv)
