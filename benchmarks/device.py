"""A large two-sided table on a CUDA device, timed in parts and hashed.

python -m benchmarks.device 6x15 FOLDER [--memory 20G] [--against SHA256]

Prints the device, the seconds of the store, of all tiles and of their kernels with transfers, of putting the file in
order, and the SHA-256 of the file. FOLDER needs twice the table (48 GB for 6x15).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from pathlib import Path

from bgfmt.extras.cluster.device import cuda
from bgfmt.extras.large.stores import StoreReport
from bgfmt.files.solve import solve_table

MEGABYTE = 1 << 20


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    seen = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(8 * MEGABYTE):
            seen.update(piece)
    return seen.hexdigest()


def device_name() -> str:
    """What the device calls itself."""
    name = cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def made(size: str, folder: Path, device: str | None, memory: int) -> tuple[StoreReport, list[float]]:
    """Solve into a store and then a file; seconds of both."""
    points, chequers = map(int, size.split("x"))
    store, out = folder / f"{size}.store", folder / f"{size}.bd"
    took = []
    began = time.perf_counter()
    solved = solve_table("two-sided", points, chequers, store=store, device=device, memory=memory)
    assert isinstance(solved, StoreReport)
    took.append(time.perf_counter() - began)
    began = time.perf_counter()
    solve_table(
        "two-sided", points, chequers, out, store=store, device=device, memory=memory, resume=True, force=True
    )
    took.append(time.perf_counter() - began)
    return solved, took


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("size")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", default="20G")
    parser.add_argument("--against", default="")
    parser.add_argument("--threads", action="store_true", help="threads of this machine instead of a device")
    asked = parser.parse_args()
    solved, took = made(
        asked.size,
        asked.folder,
        None if asked.threads else "cuda",
        int(float(asked.memory.rstrip("G")) * 1e9),
    )
    print("device", "threads" if asked.threads else device_name(), "cores", os.cpu_count())
    print(f"tiles {solved.made} of {solved.grid.side} places a side")
    print(
        f"store {took[0]:.1f} s, of all workers {solved.seconds:.1f} s, of these kernels {solved.kernels:.1f} s"
    )
    print(f"read {solved.read / 1e9:.2f} GB, written {solved.written / 1e9:.2f} GB")
    print(f"file {took[1]:.1f} s")
    found = digest(asked.folder / f"{asked.size}.bd")
    print("sha256", found, "" if not asked.against else "same" if found == asked.against else "DIFFERENT")
