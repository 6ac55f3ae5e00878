"""Kill a bgfmt command at its N-th call that changes a folder, or let that call fail, and look at what is left.

    python -m tests.support.crash --watch FOLDER [--at N] [--fault kill|full] -- gnubg install x.bd --dir FOLDER

Without `--at` the command runs to its end and the number of such calls is the last line of stderr. Calls that change
something in the watched folder are counted: making, renaming, linking, removing, cutting files, opening one to write.
The numbering is the same in every run of a command that works in one thread.

From tests: `changes(...)` counts, `killed(...)` runs up to one call, `every_kill(...)` goes through all of them, each
from a fresh copy of a folder.
"""

from __future__ import annotations

import atexit
import builtins
import errno
import functools
import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
FAULTS = ("kill", "full")
COUNTED = "calls that change the folder: "
#: function of `os` -> which of its positional arguments are paths (or descriptors) that it changes
PATHS = {
    "rename": (0, 1),
    "replace": (0, 1),
    "link": (1,),
    "symlink": (1,),
    "unlink": (0,),
    "remove": (0,),
    "rmdir": (0,),
    "mkdir": (0,),
    "mkfifo": (0,),
    "truncate": (0,),
    "ftruncate": (0,),
    "posix_fallocate": (0,),
}


class Counter:
    """Counts the calls that change a folder; at the chosen one it ends the process, or makes the call fail."""

    def __init__(self, watch: Path, at: int, fault: str) -> None:
        self.watch, self.at, self.fault, self.count = watch.resolve(), at, fault, 0

    def seen(self, *places: Any, within: Any = None) -> None:
        """A call is about to change these places (paths or descriptors, below the folder of descriptor `within`)."""
        if not any(self._watched(place, within) for place in places):
            return
        self.count += 1
        if self.count == self.at:
            if self.fault == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(places[0]))
            os.kill(os.getpid(), signal.SIGKILL)

    def _watched(self, place: Any, within: Any) -> bool:
        if isinstance(place, int):
            try:
                path = os.readlink(f"/proc/self/fd/{place}")
            except OSError:
                return False
        else:
            path = os.fsdecode(place)
            if within is not None and not os.path.isabs(path):
                path = os.path.join(os.readlink(f"/proc/self/fd/{within}"), path)
        path = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
        return Path(path).is_relative_to(self.watch)

    def install(self) -> None:
        """Put a counting function in place of each of the system's."""
        for name, arguments in PATHS.items():
            if hasattr(os, name):
                setattr(os, name, self._counting(getattr(os, name), arguments))
        real_open, real_io_open = os.open, io.open
        writing = os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY

        def counting_open(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & writing:
                self.seen(path, within=named.get("dir_fd"))
            return real_open(path, flags, *more, **named)

        def counting_io_open(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            if not isinstance(file, int) and set(mode) & set("wxa+"):
                self.seen(file)
            return real_io_open(file, mode, *more, **named)

        os.open = counting_open  # type: ignore[assignment]
        io.open = builtins.open = counting_io_open  # type: ignore[assignment]

    def _counting(self, function: Callable[..., Any], arguments: tuple[int, ...]) -> Callable[..., Any]:
        def counting(*given: Any, **named: Any) -> Any:
            self.seen(*(given[k] for k in arguments), within=named.get("dst_dir_fd", named.get("dir_fd")))
            return function(*given, **named)

        return counting


@dataclass(frozen=True)
class Ran:
    """A command that ran: its exit code (-9 when killed), what it said, and how many changes it had made or begun."""

    code: int
    out: str
    err: str
    changes: int


class Forks:
    """A process that has solved a table, and makes a process of its own for every command: starting Python anew and
    loading compiled code takes a second, of which the command is a small part."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.crash", "--forks"],
            cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        atexit.register(self._process.communicate)

    def run(self, options: Sequence[str], environment: dict[str, str]) -> tuple[int, str, str]:
        """(exit code, stdout, stderr) of `main` with these options and this environment."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([list(options), environment]) + "\n")
        self._process.stdin.flush()
        code, out, err = json.loads(self._process.stdout.readline())
        return code, out, err


forks = functools.cache(Forks)


def fork_for_each_line() -> None:
    """The process of `Forks`: what it forks runs `main` and ends as Python ends."""
    from bgfmt.cli import run

    with tempfile.TemporaryDirectory() as folder:  # loads what compiled code needs
        run(["solve", "two-sided", "2x1", "--quiet", "--scratch", f"{folder}/s", "-o", f"{folder}/t.bd"])
    gc.freeze()
    for line in sys.stdin:
        options, environment = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                os.environ.clear()
                os.environ.update(environment)
                main(options)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        print(json.dumps([code, *texts]), flush=True)


def _run(
    arguments: Sequence[str], watch: Path, at: int, fault: str, environment: dict[str, str] | None
) -> Ran:
    options = ["--watch", str(watch), "--at", str(at), "--fault", fault, "--", *arguments]
    code, out, err = forks().run(options, {**os.environ, **(environment or {})})
    text, _, count = err.rpartition(COUNTED)
    return Ran(code, out, text, int(count) if text or count.strip().isdigit() else 0)


def changes(arguments: Sequence[str], watch: Path, environment: dict[str, str] | None = None) -> Ran:
    """Run a command to its end; `changes` of the result is how many calls changed the folder."""
    return _run(arguments, watch, 0, "kill", environment)


def killed(
    arguments: Sequence[str],
    watch: Path,
    at: int,
    fault: str = "kill",
    environment: dict[str, str] | None = None,
) -> Ran:
    """Run a command that is killed right before its `at`-th change of the folder, or whose disk is full there."""
    return _run(arguments, watch, at, fault, environment)


def every_kill(
    start: Path,
    work: Path,
    arguments: Sequence[str],
    *,
    fault: str = "kill",
    at_most: int = 1000,
    environment: dict[str, str] | None = None,
) -> Iterator[tuple[int, Ran]]:
    """Copy the folder `start` to `work`, run the command with its N-th change failing; yields (N, result).

    With more than `at_most` changes an even choice of them is taken, the first and the last among them. `work` holds
    what the command left; it is made anew before each run.
    """

    def fresh() -> None:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(start, work, symlinks=True)

    fresh()
    whole = changes(arguments, work, environment)
    assert whole.code == 0, whole.err
    assert whole.changes > 0
    numbers = range(1, whole.changes + 1)
    step = max(1, -(-len(numbers) // at_most))
    for number in sorted({*numbers[::step], numbers[-1]}):
        fresh()
        ran = killed(arguments, work, number, fault, environment)
        assert ran.code == (-signal.SIGKILL if fault == "kill" else ran.code)
        yield number, ran


def listing(folder: Path) -> dict[str, bytes | str]:
    """Every file below a folder with its bytes, links with where they lead: equal listings are equal states."""
    return {
        str(path.relative_to(folder)): f"-> {os.readlink(path)}" if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def main(words: list[str]) -> NoReturn:
    """The child: count, run, and tell the count."""
    import argparse

    split = words.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--watch", type=Path, required=True)
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--fault", choices=FAULTS, default="kill")
    options = parser.parse_args(words[:split])
    from bgfmt.cli import run

    counter = Counter(options.watch, options.at, options.fault)
    counter.install()
    code = run(words[split + 1 :])
    sys.stdout.flush()
    sys.stderr.write(f"{COUNTED}{counter.count}\n")
    sys.exit(code)


if __name__ == "__main__":
    fork_for_each_line() if sys.argv[1:] == ["--forks"] else main(sys.argv[1:])
