"""Solves on a cluster whose processes are killed at random: the same bytes as one machine's threads in memory.

python -m tests.support.cluster_kills ROUNDS SEED [--sizes] [--of 6x9] [--ways workers,all_of_it,scheduler,half]

A round is one solve each of

* ``--cluster local:2``, a worker killed now and then, at least once;
* ``--cluster local:2``, the command killed, in which the scheduler lives, with all that it started; resumed;
* ``--cluster tcp://``, a scheduler of its own killed; resumed with a new one;
* ``--cluster local:2``, all killed at any time, and every command that reads tables tried on what is there: each
  refuses it in one line, unless it is whole; resumed.

With --sizes every size up to 6x9 is made first, by two workers, and compared.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt.extras.cluster.dask_workers import DaskWorkers
from bgfmt.files.solve import solve_table

BGFMT = [sys.executable, "-m", "bgfmt"]
LONG = 600  # seconds that nothing takes
#: commands that read a table; the last does not end where it reads one
READING = (
    "info s",
    "lookup s #0",
    "dump s --count 3",
    "convert s c.bd",
    "diff s s",
    "verify s",
    "serve s --port 0",
)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Killing:
    """A folder with the bytes that are wanted of a size, and solves of it."""

    def __init__(self, size: str, folder: Path, seed: int) -> None:
        self.size, self.folder, self.rng = size, folder, random.Random(seed)
        points, chequers = map(int, size.split("x"))
        self.wanted = digest(bgfmt.solve("two-sided", points, chequers, folder / "wanted.bd"))
        self.killed = 0

    def begin(self, cluster: str, *more: str) -> subprocess.Popen[str]:
        """The command, started."""
        command = [
            *BGFMT,
            "solve",
            "two-sided",
            self.size,
            "--cluster",
            cluster,
            "--store",
            "s",
            "-o",
            "o.bd",
        ]
        return subprocess.Popen(
            [*command, "--quiet", *more], cwd=self.folder, stderr=subprocess.PIPE, text=True
        )

    def end(self, begun: subprocess.Popen[str]) -> None:
        """Wait for a command that must end well, compare, and clear up."""
        _, said = begun.communicate(timeout=LONG)
        assert begun.returncode == 0, said
        assert digest(self.folder / "o.bd") == self.wanted, "other bytes"
        (self.folder / "o.bd").unlink()
        shutil.rmtree(self.folder / "s")

    def chunks(self) -> int:
        """Chunks that are there."""
        return len(list(self.folder.glob("s/equities/c.*0")))

    def until(self, chunks: int, begun: subprocess.Popen[str]) -> None:
        """Wait for `chunks` chunks, or the end."""
        while begun.poll() is None and self.chunks() < chunks:
            time.sleep(0.01)

    def workers(self) -> None:
        """Workers killed at random, while the run lasts."""
        begun = self.begin("local:2")
        killed = 0
        self.until(1, begun)
        while begun.poll() is None:
            time.sleep(self.rng.uniform(0, 0.5 if not killed else 3.0))
            pids = spawned(begun.pid)
            if pids and killed < 8:
                killed += kill(self.rng.choice(pids))
        assert killed
        self.killed += killed
        self.end(begun)

    def all_of_it(self) -> None:
        """The command killed, and all that it started; resumed."""
        begun = self.begin("local:2")
        self.until(self.rng.randint(1, 100), begun)
        for pid in [begun.pid, *spawned(begun.pid)]:
            self.killed += kill(pid)
        begun.communicate()
        assert not (self.folder / "o.bd").exists()
        self.end(self.begin("local:2", "--resume"))

    def scheduler(self) -> None:
        """A scheduler of its own killed; the command says so in one line, and another goes on."""
        with scheduled() as (address, process):
            begun = self.begin(address)
            self.until(self.rng.randint(1, 100), begun)
            self.killed += kill(process.pid)
            _, said = begun.communicate(timeout=LONG)
            assert begun.returncode == 2, (begun.returncode, said)
            assert said.count("\n") == 1, said
            assert "Traceback" not in said
        with scheduled() as (address, _):
            self.end(self.begin(address, "--resume"))

    def half(self) -> None:
        """All killed at any time, even before the store or after its last chunk; what is half is read by none."""
        begun = self.begin("local:2")
        n = bgfmt.game.board.count(*map(int, self.size.split("x")))
        chunks = (-(-n // 256)) ** 2
        self.until(self.rng.randint(1, chunks), begun)
        time.sleep(self.rng.choice([0, 0, 0.2, 1.0]))
        for pid in [begun.pid, *spawned(begun.pid)]:
            self.killed += kill(pid)
        begun.communicate()
        store = self.folder / "s"
        text = (store / "zarr.json").read_text() if (store / "zarr.json").exists() else ""
        whole = '"whole"' in text
        for words in map(str.split, READING[: -1 if whole else None]):
            done = subprocess.run(
                [*BGFMT, *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=LONG
            )
            said = (words, done.returncode, done.stdout[:200], done.stderr)
            assert "Traceback" not in done.stderr, said
            if whole:
                assert done.returncode == 0, said
            elif words[0] == "verify" and store.exists():
                assert done.returncode == 1, said
                assert done.stdout.startswith("damaged: "), said
            else:
                assert done.returncode == 2, said
                assert done.stderr.count("\n") == 1, said
                assert not (self.folder / "c.bd").exists(), said
            (self.folder / "c.bd").unlink(missing_ok=True)
        if (self.folder / "o.bd").exists():
            assert digest(self.folder / "o.bd") == self.wanted
            (self.folder / "o.bd").unlink()
        print(f"  {'whole' if whole else 'half'}: {self.chunks()} chunks of {chunks}", flush=True)
        self.end(self.begin("local:2", "--resume"))


def spawned(pid: int) -> list[int]:
    """Processes of workers below one."""
    psutil: Any = import_module("psutil")

    with contextlib.suppress(psutil.Error):
        below = psutil.Process(pid).children(recursive=True)
        return [p.pid for p in below if "resource_tracker" not in " ".join(p.cmdline())]
    return []


def kill(pid: int) -> bool:
    """Kill a process; whether it was there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


@contextlib.contextmanager
def scheduled(workers: int = 2) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler and workers as processes of Dask's own commands: address, and the scheduler."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with tempfile.TemporaryDirectory() as folder:
        begun = [subprocess.Popen([*dask, "scheduler", *place], cwd=folder, **quiet)]
        each = ["--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        for _ in range(workers):
            begun.append(subprocess.Popen([*dask, "worker", address, *each], cwd=folder, **quiet))
        try:
            yield address, begun[0]
        finally:
            for process in reversed(begun):
                process.terminate()
            for process in begun:
                try:
                    process.wait(120)
                except subprocess.TimeoutExpired:
                    for pid in [*spawned(process.pid), process.pid]:
                        kill(pid)
                    process.wait()


def sizes(folder: Path) -> int:
    """Every size up to 6x9 by two workers; how many."""
    count = 0
    with DaskWorkers("local:2") as workers:
        address = str(workers._client.scheduler.address)
        for points in range(1, 7):
            for chequers in range(1, 10):
                here = bgfmt.solve("two-sided", points, chequers, folder / "here.bd", force=True)
                there = folder / "there.bd"
                solve_table("two-sided", points, chequers, there, workers=address, force=True)
                assert digest(here) == digest(there), f"{points}x{chequers}: other bytes"
                count += 1
    return count


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--of", default="6x9")
    parser.add_argument("--ways", default="workers,all_of_it,scheduler")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        if asked.sizes:
            print(f"{sizes(folder)} sizes by two workers: the same bytes", flush=True)
        killing = Killing(asked.of, folder, asked.seed)
        for k in range(asked.rounds):
            for name in asked.ways.split(","):
                way = getattr(killing, name)
                began = time.monotonic()
                way()
                print(
                    f"round {k + 1}, {name}: the same bytes, {time.monotonic() - began:.0f} s, "
                    f"{killing.killed} killed so far", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
