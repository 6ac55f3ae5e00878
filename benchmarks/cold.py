"""Look-ups of the C reader in a table that is not in memory: `python -m benchmarks.cold TABLE [LOOKUPS]`.

Two builds of the same source in turn: as it is, and with the advice to the system (`MADV_RANDOM`) taken out. Before
each run the file's pages are thrown out of the system's cache (`posix_fadvise`), the table should therefore be large:
`bgfmt solve two-sided 6x10 -o TABLE` makes one of 513 MB. Prints look-ups a second and the bytes read from the disk
for each.
"""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).resolve().parents[1] / "plugins" / "c" / "bgfmt.c"
ROUNDS = 3


def evict(path: Path) -> None:
    """Throw a file's pages out of the system's cache."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def read_from_disk() -> int:
    """Bytes that this process has had read from the disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])


def look_up(library: Path, path: Path, positions: int, lookups: int, seed: int) -> tuple[float, int]:
    """(seconds, bytes from the disk) of scattered look-ups by position number."""
    lib = ctypes.CDLL(str(library))
    for name in ("bgfmt_equities", "bgfmt_open", "bgfmt_close"):
        getattr(lib, name).restype = ctypes.c_int
    lib.bgfmt_equities.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
    lib.bgfmt_close.argtypes = [ctypes.c_void_p]
    db, out = ctypes.c_void_p(), (ctypes.c_float * 4)()
    rng = random.Random(seed)
    asked = [(rng.randrange(positions), rng.randrange(positions)) for _ in range(lookups)]
    evict(path)
    before, begin = read_from_disk(), time.perf_counter()
    if lib.bgfmt_open(os.fsencode(path), ctypes.byref(db)):
        raise RuntimeError(f"{path}: cannot be opened")
    for us, them in asked:
        lib.bgfmt_equities(db, us, them, out)
    seconds = time.perf_counter() - begin
    lib.bgfmt_close(db)
    return seconds, read_from_disk() - before


def main() -> None:
    import bgfmt

    path, lookups = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with bgfmt.open(path) as db:
        positions = db.table.positions
    with tempfile.TemporaryDirectory() as made:
        builds, text = {}, SOURCE.read_text()
        for name, advice in (("as it is", "POSIX_MADV_RANDOM"), ("without advice", "POSIX_MADV_NORMAL")):
            source = Path(made) / f"{advice}.c"
            source.write_text(text.replace("POSIX_MADV_RANDOM", advice))
            builds[name] = source.with_suffix(".so")
            command: list[str] = [
                "cc",
                "-O2",
                "-shared",
                "-fPIC",
                "-I",
                str(SOURCE.parent),
                str(source),
                "-lm",
            ]
            subprocess.run([*command, "-o", str(builds[name])], check=True)
        found: dict[str, list[tuple[float, int]]] = {name: [] for name in builds}
        for k in range(ROUNDS):
            for name, library in builds.items():
                found[name].append(look_up(library, path, positions, lookups, k))
    for name, runs in found.items():
        seconds, read = median(s for s, _ in runs), median(size for _, size in runs)
        print(
            f"{name:<15} {lookups / seconds:>9,.0f} a second, {read / lookups:>9,.0f} bytes from the disk for each"
        )


if __name__ == "__main__":
    main()
