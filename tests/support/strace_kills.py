"""Commands killed by strace as they change a folder: `python -m tests.support.strace_kills [KILLS] [SEED] [NAME...]`.

strace kills the process as it enters the N-th call of one kind, whatever makes it. Each command is run once to count
its calls; with a seed the kills are drawn, else the rarer calls come first. After each kill the output is the old one
or the new one, the same command again makes the new one, and nothing else is left. Exit code 1 where that is not so.
"""

from __future__ import annotations

import collections
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.crash import ROOT, listing

GOLDEN = ROOT / "fixtures" / "golden" / "gnubg"
CALLS = [
    "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "ftruncate", "fallocate",
    "fsync", "fdatasync", "flock", "pwrite64",
]  # fmt: skip
MATCH = """ 1 point match

 Game 1
 Ann : 0                              Bob : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
"""
SAID = re.compile(r"^(?:\d+ +)?(\w+)\(", re.M)


@dataclass(frozen=True)
class Command:
    """A command over a folder: how the folder is made, the command, and the file that it makes or changes."""

    name: str
    arguments: list[str]
    output: str
    before: list[str] | None = None


SLOT = ["--slot", "ts", "--dir", "slots", "--host", "pypi"]
INSTALL = ["gnubg", "install", "db.bd", *SLOT]
SOLVE = ["solve", "two-sided", "-o", "out.bd", "--force", "--threads", "1"]
COMMANDS = [
    Command("solve", [*SOLVE, "3x3"], "out.bd"),
    Command("solve with scratch", [*SOLVE, "4x4", "--scratch", "s", "--resume"], "out.bd"),
    Command("convert", ["convert", "in.bd", "out.npz", "--force"], "out.npz"),
    Command("repair", ["repair", "damaged.bd", "-o", "out.bd", "--force"], "out.bd"),
    Command("annotate", ["annotate", "in.mat", "db.bd", "-o", "out.sgf", "--force"], "out.sgf"),
    Command("install", INSTALL, "slots/gnubg_ts.bd"),
    Command("install a link", [*INSTALL, "--link"], "slots/gnubg_ts.bd"),
    Command("convert to J", ["convert", "in.bd", "out.ijf"], "out.ijf"),
    Command("annotate as a page", ["annotate", "in.mat", "db.bd", "-o", "out.html"], "out.html"),
    Command("uninstall", ["gnubg", "uninstall", "ts", *SLOT[2:]], "slots/gnubg_ts.bd", INSTALL),
]


def begin(folder: Path) -> None:
    """The folder before a command: sound and damaged tables, a match, old outputs, a stranger's file in a slot."""
    (folder / "slots").mkdir(parents=True)
    shutil.copy(GOLDEN / "os_p03.bd", folder / "in.bd")
    shutil.copy(GOLDEN / "ts_06x04.bd", folder / "db.bd")
    damaged = bytearray((GOLDEN / "ts_03x03.bd").read_bytes())
    damaged[1001] ^= 0x40
    (folder / "damaged.bd").write_bytes(damaged)
    (folder / "in.mat").write_text(MATCH)
    for name in ("out.bd", "out.npz", "out.sgf", "slots/gnubg_ts.bd"):
        (folder / name).write_bytes(b"the old one")


def bgfmt(arguments: list[str], folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder, as a process; `before` stands before it."""
    return subprocess.run(
        [*before, sys.executable, "-m", "bgfmt", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=800, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GNUBG_DATA_DIR": ""},
    )  # fmt: skip


def counted(command: Command, folder: Path) -> collections.Counter[str]:
    """How often each call comes in one thread at most."""
    log = folder.parent / "log"
    done = bgfmt(
        command.arguments, folder, "strace", "-f", "-qq", "-o", str(log), "-e", f"trace={','.join(CALLS)}"
    )
    assert done.returncode == 0, done.stderr
    return collections.Counter(SAID.findall(log.read_text()))


def fresh(start: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(start, folder, symlinks=True)


def every_kill(command: Command, work: Path, seed: int | None = None) -> Iterator[str]:
    """Kill at each call in turn; yields the kill and what is wrong after it."""
    start, folder = work / "start", work / "folder"
    shutil.rmtree(start, ignore_errors=True)
    begin(start)
    if command.before:
        assert bgfmt(command.before, start).returncode == 0
    fresh(start, folder)
    counts = counted(command, folder)
    old, new = listing(start).get(command.output), listing(folder)[command.output]
    whole = set(listing(folder))
    assert old != new
    kills = [(call, n) for call in CALLS for n in range(1, counts[call] + 1)]
    kills.sort(key=lambda kill: (kill[1], CALLS.index(kill[0])))
    if seed is not None:
        random.Random(f"{command.name}-{seed}").shuffle(kills)
    for call, n in kills:
        fresh(start, folder)
        log = str(work / "log")
        inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={n}")
        ran = bgfmt(command.arguments, folder, "strace", "-f", "-qq", "-o", log, *inject)
        if ran.returncode not in (-signal.SIGKILL, 128 + signal.SIGKILL):
            continue  # the call came in another thread this time
        yield f"{call} {n}: {wrong(command, folder, old, new, whole)}"


def wrong(command: Command, folder: Path, old: object, new: object, whole: set[str]) -> str:
    """What is not as it should be after a kill."""
    left = listing(folder)
    if left.get(command.output) not in (old, new):
        return "neither the old nor the new file is there"
    finished = left.get(command.output) == new
    again = bgfmt(command.arguments, folder)
    told = len(again.stderr.strip().splitlines())
    after = listing(folder)
    if again.returncode not in ((0, 1, 2) if finished else (0,)) or "Traceback" in again.stderr:
        return f"the same command again: exit code {again.returncode}, {again.stderr.strip()[-200:]}"
    if again.returncode and told > 2:
        return f"more than a line: {again.stderr}"
    if after.get(command.output) != new:
        return f"the same command again did not make the file ({again.stderr.strip()[-200:]})"
    if set(after) != whole:
        return f"left behind: {sorted(set(after) ^ whole)}"
    return ""


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 30
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else None
    chosen = [one for one in COMMANDS if not sys.argv[3:] or one.name in sys.argv[3:]]
    done = bad = 0
    with tempfile.TemporaryDirectory() as made:
        for command in chosen:
            number = 0
            for said in itertools.islice(every_kill(command, Path(made), seed), most // len(chosen)):
                number += 1
                if not said.endswith(": "):
                    bad += 1
                    print(f"{command.name}: {said}")
            done += number
            print(f"{command.name}: {number} kills", flush=True)
    print(f"{done} kills, {bad} with something wrong after them")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
