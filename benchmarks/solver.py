"""bgfmt against the real generators, whole processes in turn on the same machine.

    python -m benchmarks.solver [--large] [--six-by-fifteen FOLDER]

Prints wall times, their ratio and peak memory of each; cold start (nothing compiled yet) and warm start. The
results of both programs are compared byte for byte. --large adds sizes for which makebearoff takes minutes.
--six-by-fifteen makes the complete two-sided table in FOLDER (50 GB of disk) and prints its sums.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks._measure import BGFMT, run

PEERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"])
CASES = [("one-sided 6", "-o 6"), ("one-sided 8", "-o 8"), ("two-sided 6x6", "-t 06x06")]
LARGE = [("one-sided 10", "-o 10"), ("two-sided 6x7", "-t 06x07"), ("two-sided 6x8", "-t 06x08")]
ALONE = ["two-sided 6x10", "two-sided 6x11", "one-sided 11", "one-sided 13"]
MANUAL = {
    "one-sided 11": "78ecb4be86dab6af8755ea4063d50fb6",
    "one-sided 13": "cc74b69a62f6e648936f533838a527a8",
    "two-sided 6x10": "12dc70c86f356d06bc96ee38dee40c62",
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--six-by-fifteen", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    makebearoff = shutil.which("makebearoff", path=PEERS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cold_start(folder)
        print(f"{'table':<16} {'bgfmt warm':>22} {'makebearoff':>22} {'ratio':>7}  same bytes")
        for what, peer in CASES + (LARGE if chosen.large else []):
            ours, theirs = folder / "ours.bd", folder / "theirs.bd"
            solve(what, ours)
            mine = min((solve(what, ours) for _ in range(3)), key=lambda r: r.seconds)
            line = f"{what:<16} {mine.seconds:8.2f} s {mine.megabytes:7.0f} MB  "
            if makebearoff:
                other = run([makebearoff, *peer.split(), "-f", theirs])
                same = ours.read_bytes() == theirs.read_bytes()
                ratio = other.seconds / mine.seconds
                line += f"{other.seconds:9.2f} s {other.megabytes:7.0f} MB  {ratio:6.1f}  {same}"
            print(line, flush=True)
        for what in ALONE if chosen.large else []:
            ours = folder / "ours.bd"
            mine = solve(what, ours)
            md5 = digest(ours, "md5")
            verdict = {None: "no printed sum", md5: "the printed sum"}.get(
                MANUAL.get(what), "NOT the printed sum"
            )
            print(
                f"{what:<16} {mine.seconds:8.2f} s {mine.megabytes:7.0f} MB  MD5 {md5}, {verdict}", flush=True
            )
    if chosen.six_by_fifteen:
        target = chosen.six_by_fifteen / "ts_06x15.bd"
        mine = solve("two-sided 6x15", target)
        print(f"two-sided 6x15   {mine.seconds:8.2f} s {mine.megabytes:7.0f} MB (mapped file pages included)")
        print(f"                 SHA-256 {digest(target, 'sha256')}")
        corner = chosen.six_by_fifteen / "corner.bd"
        subprocess.run([*BGFMT, "convert", target, corner, "--chequers", "10", "--force"], check=True)
        print(
            f"                 MD5 of its 6x10 corner {digest(corner, 'md5')}, printed {MANUAL['two-sided 6x10']}"
        )
        corner.unlink()


def solve(what: str, out: Path):  # type: ignore[no-untyped-def]
    """One whole process."""
    return run([*BGFMT, "solve", *what.split(), "--quiet", "--force", "-o", out])


def cold_start(folder: Path) -> None:
    """The first solve on a machine, with an empty cache of compiled code, against the second."""
    cache = folder / "cache"
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    try:
        for what in ("one-sided 3", "two-sided 3x3"):
            first, second = solve(what, folder / "cold.bd"), solve(what, folder / "cold.bd")
            print(f"cold start, {what}: {first.seconds:.1f} s the first time, {second.seconds:.1f} s after")
    finally:
        if before is None:
            del os.environ["NUMBA_CACHE_DIR"]
        else:
            os.environ["NUMBA_CACHE_DIR"] = before


def digest(path: Path, name: str) -> str:
    """Sum of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, name).hexdigest()


if __name__ == "__main__":
    main()
