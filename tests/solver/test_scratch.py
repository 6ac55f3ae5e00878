"""Scratch files: locked, never shared, summed; what ends in a file is what was solved, whatever happens."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run as command
from bgfmt.errors import CapabilityError, ScratchError, SolverError
from bgfmt.solver import Scratch
from bgfmt.storage import system
from bgfmt.storage.publish import Draft
from bgfmt.storage.sink import FileSink, Sink
from tests.support import crash

SIX_BY_FIVE = "8081f37ce8cc72d4a8f9cec5ed864ec9eef86593359e13cdf71385eeb7cdd875"  # file of makebearoff 1.07


class StopError(Exception):
    """Ends a solve in the middle."""


def solved(folder: Path, chequers: int = 5, **options: object) -> str:
    """SHA-256 of the file of a solve through a scratch file."""
    made = bgfmt.solve("two-sided", 6, chequers, folder / "t.bd", scratch=folder / "s", **options)
    return hashlib.sha256(made.read_bytes()).hexdigest()


def stopped(folder: Path, after: int = 9, **options: object) -> None:
    """A solve that ends after so many layers and leaves its scratch file."""
    told: list[int] = []

    def progress(done: int, total: int) -> None:
        told.append(done)
        if len(told) == after:
            raise StopError

    with pytest.raises(StopError):
        solved(folder, progress=progress, **options)
    assert os.listdir(folder) == ["s"]


def test_removed_when_the_result_is_safe(tmp_path: Path) -> None:
    assert solved(tmp_path) == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


def test_an_ended_run_goes_on(tmp_path: Path) -> None:
    stopped(tmp_path)
    stopped(tmp_path, 3, resume=True)
    stopped(tmp_path, 12, resume=True)
    assert solved(tmp_path, resume=True) == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


def test_a_run_that_finished_no_layer_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(SolverError, match="opened for another"), Scratch(tmp_path / "s", 6, 5) as kept:
        solver.two_sided(6, 4, scratch=kept)
    assert os.listdir(tmp_path) == []


def test_an_unfinished_run_is_not_begun_anew_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(tmp_path)
    before = (tmp_path / "s").read_bytes()
    with pytest.raises(ScratchError) as caught:
        solved(tmp_path)
    assert (caught.value.state, caught.value.path) == ("unfinished", str(tmp_path / "s"))
    arguments = ["solve", "two-sided", "6x5", "-o", str(tmp_path / "t.bd"), "--scratch", str(tmp_path / "s")]
    assert command(arguments) == 2
    assert re.search(r"ended run of this solve left it.*\(--resume goes on", capsys.readouterr().err)
    assert (tmp_path / "s").read_bytes() == before
    assert command([*arguments, "--resume", "--quiet"]) == 0
    assert hashlib.sha256((tmp_path / "t.bd").read_bytes()).hexdigest() == SIX_BY_FIVE


FOREIGN = {
    "text": b"my notes\n",
    "empty": b"",
    "json": json.dumps({"other": 1}).encode(),
    "deep": b"[" * 5000,
    "database": b"gnubg-TS-06-05-1" + b"x" * 24 + bytes(10_000),
    "old": b'{"bgfmt scratch": 1, "points": 6, "chequers": 5}'.ljust(4096) + bytes(4096),
}


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", [*FOREIGN, "other size", "cubeless", "cut short", "grown"])
def test_foreign_files_are_never_written_to(name: str, resume: bool, tmp_path: Path) -> None:
    scratch = tmp_path / "s"
    if name in FOREIGN:
        scratch.write_bytes(FOREIGN[name])
    else:
        stopped(tmp_path, chequers=4 if name == "other size" else 5, cubeful=name != "cubeless")
        if name in ("cut short", "grown"):
            os.truncate(scratch, scratch.stat().st_size + (4096 if name == "grown" else -4096))
    before = scratch.read_bytes()
    with pytest.raises(ScratchError, match="move it away, or name another") as caught:
        solved(tmp_path, resume=resume)
    assert caught.value.state == "foreign"
    assert scratch.read_bytes() == before
    assert os.listdir(tmp_path) == ["s"]


def test_only_regular_files_are_scratch_files(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to("victim")
    (tmp_path / "nowhere").symlink_to("not there")
    os.mkfifo(tmp_path / "fifo")
    names = sorted(os.listdir(tmp_path))
    for name in ("link", "nowhere", "fifo", ".", "no/folder"):
        with pytest.raises((ScratchError, OSError)):
            bgfmt.solve("two-sided", 6, 4, tmp_path / "t.bd", scratch=tmp_path / name, resume=True)
    with pytest.raises(CapabilityError, match="cannot be the output itself"):
        bgfmt.solve("two-sided", 6, 4, tmp_path / "t.bd", scratch=tmp_path / "." / "t.bd")
    assert sorted(os.listdir(tmp_path)) == names
    assert (tmp_path / "victim").read_bytes() == b"theirs"


# -- one process at a time -----------------------------------------------------------------------------


@pytest.mark.parametrize("lacking", ["", "O_TMPFILE", "link"])
def test_a_second_solve_is_told_who_is_at_it(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking:
        monkeypatch.delattr(os, lacking)
    with Scratch(tmp_path / "s", 6, 5, output="one.bd"):
        for resume in (False, True):
            with pytest.raises(ScratchError) as caught:
                solved(tmp_path, resume=resume)
            assert caught.value.state == "busy"
            said = rf"in use by process {os.getpid()} on .* since .*, which makes one.bd \(two-sided 6x5, rec"
            assert re.search(said, str(caught.value))
    assert os.listdir(tmp_path) == []


def test_who_is_at_it_is_known_from_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second solve that meets the file in the moment it gets its name."""
    told: list[str] = []
    publish = Draft.publish

    def met(self: Draft, *, force: bool, name: str) -> None:
        publish(self, force=force, name=name)
        with pytest.raises(ScratchError) as caught:
            solved(tmp_path, resume=True)
        told.append(str(caught.value))

    monkeypatch.setattr(Draft, "publish", met)
    with Scratch(tmp_path / "s", 6, 5, output="one.bd"):
        assert re.search(rf"in use by process {os.getpid()} on .*, which makes one.bd", told[0])


def test_without_locks_the_owner_on_record_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "lock", lambda fd: None)
    stopped(tmp_path)
    head = bytearray((tmp_path / "s").read_bytes()[2048:4096])
    owner = json.loads(head)
    assert owner["pid"] == os.getpid()
    for pid, host, free in (
        (1, owner["host"], False),
        (1, "elsewhere", False),
        (2**22 + 5, owner["host"], True),
    ):
        line = json.dumps(owner | {"pid": pid, "host": host}).encode().ljust(2047) + b"\n"
        with open(tmp_path / "s", "r+b") as file:
            file.seek(2048)
            file.write(line)
        if free:
            assert solved(tmp_path, resume=True) == SIX_BY_FIVE
        else:
            with pytest.raises(ScratchError, match=f"in use by process {pid} on {host}"):
                solved(tmp_path, resume=True)


def test_a_file_removed_while_we_waited_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner finishes between our opening it and our locking it: we must make a new one."""
    stopped(tmp_path)
    real, calls = system.lock, []

    def lock(fd: int) -> bool | None:
        if not calls:
            (tmp_path / "s").unlink()
        calls.append(fd)
        return real(fd)

    monkeypatch.setattr(system, "lock", lock)
    assert solved(tmp_path, resume=True) == SIX_BY_FIVE
    assert len(calls) >= 2


# -- sums ----------------------------------------------------------------------------------------------


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    stopped(tmp_path, 28)
    data = (tmp_path / "s").read_bytes()
    rng = np.random.default_rng(4)
    filled = np.flatnonzero(np.frombuffer(data, np.uint8)[4096:]) + 4096
    journal = 4096 + 32 * np.arange(1, 20) + rng.integers(0, 32, 19)
    for place in [*rng.choice(filled[filled > 8192], 30), *journal]:
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "s").write_bytes(broken)
        with pytest.raises(ScratchError, match="damaged in layer") as caught:
            solved(tmp_path, resume=True)
        assert caught.value.state == "damaged"
    assert os.listdir(tmp_path) == ["s"]


@pytest.mark.parametrize("where", ["scratch", "sums", "table"])
def test_damage_while_solving_is_noticed_before_the_file_has_its_name(where: str, tmp_path: Path) -> None:
    """Someone writes into the scratch file after a layer was summed and before it was merged, or into the table."""
    layers: list[int] = []
    real, put = Scratch.close_layer, FileSink.put

    def close_layer(self: Scratch, layer: int, sink: Sink) -> None:
        real(self, layer, sink)
        layers.append(layer)
        if len(layers) == 9:
            self.wait()
            if where == "scratch":
                at = self.place(7, int(self.pool.first[7]), self.order.n - 1) * 2
                byte = os.pread(self.claim.fd, 1, at)[0]
                os.pwrite(self.claim.fd, bytes([byte ^ 4]), at)
            elif where == "sums":
                self.sums[100] += np.uint64(1)  # as if row 100 had come out otherwise

    def put_wrong(self: FileSink, part: np.ndarray, values: np.ndarray) -> None:  # type: ignore[type-arg]
        if where == "table" and len(layers) == 9:
            values = values ^ np.uint16(8)
        put(self, part, values)

    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(SolverError, match=r"damaged in|add up") as caught,
    ):
        patch.setattr(Scratch, "close_layer", close_layer)
        patch.setattr(FileSink, "put", put_wrong)
        solved(tmp_path)
    assert ("damaged in layer 7" in str(caught.value)) == (where == "scratch")
    assert os.listdir(tmp_path) == ["s"]


def test_no_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", tmp_path]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        with pytest.raises(SolverError, match=r"needs 3\.4 MB of disk"):
            solved(tmp_path)
        monkeypatch.setattr("bgfmt.files.solve_table.check_disk", lambda *_: None)
        for chequers, file in ((6, "s"), (5, "t.bd")):  # 6.8 MB of scratch; 1.7 MB each of scratch and table
            with pytest.raises(OSError, match="No space left") as caught:
                solved(tmp_path, chequers)
            assert caught.value.filename == str(tmp_path / file)
            assert os.listdir(tmp_path) == []
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


# -- on the command line: stopped, continued, killed ----------------------------------------------------


@contextlib.contextmanager
def solving(folder: Path, *more: str, size: str = "6x7") -> Iterator[subprocess.Popen[str]]:
    arguments = ["solve", "two-sided", size, "--scratch", "s", "--resume", "--quiet", "-o", "t.bd", *more]
    with subprocess.Popen(
        [sys.executable, "-m", "bgfmt", *arguments], cwd=folder, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()


def test_interrupted_it_says_how_to_go_on(tmp_path: Path) -> None:
    for attempt, pause in enumerate(
        (0.1, 0.03, 0.0, 0.0)
    ):  # a quick machine may be done before it is interrupted
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with solving(folder, size="6x9") as process:
            while not (folder / "s").exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(pause)
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        assert process.returncode == 130 or (process.returncode == 0 and (folder / "t.bd").exists()), said
        if process.returncode:
            break
    assert process.returncode == 130, "each was done before it was interrupted"
    if (folder / "s").exists():
        assert said == (
            "bgfmt: interrupted; the finished layers are kept in s; the same command with --resume goes on\n"
        )
    else:
        assert said == "bgfmt: interrupted\n"


SIX_BY_SEVEN = "41b0190886f7b2c983283a4dd8f0a7edb1f43bd59ed7f15c23ffe8576acdc8a6"
EARLY = re.compile(
    r"(?s)((?!/bgfmt/[a-z_]).)*KeyboardInterrupt\n"
)  # in Python's own start, before any line of ours
LINE = re.compile(r"bgfmt: (s: in use by process \d+ .*|t.bd: (exists already|appeared) .*)\n")


@pytest.mark.parametrize("seed", range(int(os.environ.get("BGFMT_SCRATCH_ROUNDS", "2"))))
def test_two_at_once_stopped_continued_and_killed(seed: int, tmp_path: Path) -> None:
    """Right bytes or one line, never wrong bytes; what is not ours stays as it is."""
    chance = random.Random(seed)
    (tmp_path / "t.bd.scratch").write_bytes(b"theirs")
    for _ in range(20):
        with contextlib.ExitStack() as stack:
            running = [stack.enter_context(solving(tmp_path)) for _ in range(2)]
            for _ in range(chance.randint(1, 6)):
                time.sleep(chance.uniform(0.0, 0.4))
                process = chance.choice(running)
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(
                        chance.choice([signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL, signal.SIGINT])
                    )
            for process in running:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                _, said = process.communicate(timeout=280)
                early = process.returncode == 1 and EARLY.fullmatch(said)
                assert early or process.returncode in (0, 2, 130, -signal.SIGKILL, -signal.SIGINT), said
                if process.returncode == 2:
                    assert LINE.fullmatch(said), said
        if (tmp_path / "t.bd").exists():
            break
    with solving(tmp_path, "--force") as process:
        assert process.wait() == 0
    assert hashlib.sha256((tmp_path / "t.bd").read_bytes()).hexdigest() == SIX_BY_SEVEN
    assert (tmp_path / "t.bd.scratch").read_bytes() == b"theirs"
    assert sorted(os.listdir(tmp_path)) == ["t.bd", "t.bd.scratch"]


@pytest.mark.parametrize("fault", ["kill", "full"])
def test_killed_or_without_room_at_every_change_of_the_folder(
    fault: str, golden: Path, tmp_path: Path
) -> None:
    """The old file or the new one, and the same command makes it and leaves nothing else."""
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    (start / "out.bd").write_bytes(b"old")
    new = (golden / "gnubg/ts_04x04.bd").read_bytes()
    arguments = ["solve", "two-sided", "4x4", "--scratch", str(work / "s"), "--resume", "--force", "--quiet"]
    arguments += ["-o", str(work / "out.bd")]
    count = 0
    for number, ran in crash.every_kill(start, work, arguments, at_most=30, fault=fault):
        count += 1
        left = crash.listing(work)
        assert left["out.bd"] in (b"old", new), number
        if fault == "full" and ran.code:
            assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
            assert set(left) <= {"out.bd", "s"}
        assert command(arguments) == 0
        assert crash.listing(work) == {"out.bd": new}, number
    assert count >= 5
