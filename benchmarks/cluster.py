"""What a cluster costs beside threads: seconds, and bytes moved against those that docs/cluster.md reckons.

python -m benchmarks.cluster [6x10] [--times 3]

Two commands in turn make the same file, with the threads of this machine and with ``--cluster local:2``. Then a solve
is watched: what its tiles count, and what the workers' processes really read and wrote (/proc/PID/io, which counts
their programs too).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks._measure import BGFMT, pairs, row
from bgfmt.extras.cluster.dask_workers import DaskWorkers
from bgfmt.extras.large.stores import StoreReport
from bgfmt.files.solve import solve_table

BAR = 1.6
MOVED_BAR = 1.5


def _moved() -> tuple[int, int]:
    """Bytes that this process has read and written so far."""
    said = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(said["rchar"]), int(said["wchar"])


def _seconds(size: str, times: int, folder: str) -> None:
    command = [*BGFMT, "solve", "two-sided", size, "--quiet", "--force", "-o"]
    threads = [*command, f"{folder}/a.bd"]
    cluster = [*command, f"{folder}/b.bd", "--cluster", "local:2"]
    print(row(f"{size}: local:2 beside threads", *pairs(cluster, threads, times), bar=f"(bar {BAR})"))
    same = Path(folder, "a.bd").read_bytes() == Path(folder, "b.bd").read_bytes()
    print("the same bytes" if same else "OTHER BYTES")


def _bytes(size: str, folder: str) -> None:
    points, chequers = map(int, size.split("x"))
    with DaskWorkers("local:2") as workers:
        client = workers._client
        before = client.run(_moved)
        address = str(client.scheduler.address)
        solved = solve_table("two-sided", points, chequers, store=f"{folder}/s", workers=address)
        assert isinstance(solved, StoreReport)
        after = client.run(_moved)
    read, written = (sum(after[w][k] - before[w][k] for w in after) for k in (0, 1))
    for what, reckoned, counted, really in zip(
        ("read", "written"),
        solved.grid.bytes_moved,
        (solved.read, solved.written),
        (read, written),
        strict=True,
    ):
        print(
            f"{what}: reckoned {reckoned / 1e6:,.1f} MB, counted {counted / 1e6:,.1f} MB, "
            f"by the system {really / 1e6:,.1f} MB, ratio {really / reckoned:.3f} (bar {MOVED_BAR})"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("size", nargs="?", default="6x10")
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _bytes(asked.size, folder)
        if asked.times:
            _seconds(asked.size, asked.times, folder)
