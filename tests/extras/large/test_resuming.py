"""Solves through a store beside the file: what ends in a file is what was solved, whatever happens meanwhile."""

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
from bgfmt.errors import CapabilityError, CorruptError, OutputExistsError, ScratchError, SolverError
from bgfmt.extras.large import tiles as stored
from bgfmt.extras.large.chunks import ChunkStore
from bgfmt.files.solve import solve_table
from bgfmt.storage import system
from bgfmt.storage.sink import FileSink
from tests.support import crash
from tests.support.store_making import chunk_files, digest

SIX_BY_FIVE = "8081f37ce8cc72d4a8f9cec5ed864ec9eef86593359e13cdf71385eeb7cdd875"  # file of makebearoff 1.07


class StopError(Exception):
    """Ends a solve in the middle."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 32 places, so that small tables have many."""
    monkeypatch.setattr(stored, "MIN_CHUNK_PLACES", 32)


def solved(folder: Path, chequers: int = 5, **options: object) -> str:
    """SHA-256 of the file of a solve through a store."""
    return digest(bgfmt.solve("two-sided", 6, chequers, folder / "t.bd", scratch=folder / "s", **options))


def stopped(folder: Path, after: int = 9, **options: object) -> None:
    """A solve that ends after some layers and leaves its store."""
    calls: list[int] = []

    def progress(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == after:
            raise StopError

    with pytest.raises(StopError):
        solved(folder, progress=progress, **options)
    assert os.listdir(folder) == ["s"]


@pytest.mark.slow
def test_removed_when_the_result_is_safe(tmp_path: Path) -> None:
    assert solved(tmp_path) == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 5), (2, 1), (6, 4), (12, 2), (9, 3)], ids=str)
@pytest.mark.parametrize("cubeful", [True, False])
def test_layers_and_tiles_make_one_store(size: tuple[int, int], cubeful: bool, tmp_path: Path) -> None:
    solve_table("two-sided", *size, store=tmp_path / "tiles", cubeful=cubeful)

    def keep(path: str) -> None:
        os.rename(path, tmp_path / "layers")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bgfmt.extras.large.stores.remove", keep)
        made = bgfmt.solve("two-sided", *size, tmp_path / "o.bd", scratch=tmp_path / "s", cubeful=cubeful)
    one, two = (chunk_files(tmp_path / name) for name in ("tiles", "layers"))
    assert [file.name for file in one] == [file.name for file in two]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(one, two, strict=True))
    plain = solver.two_sided(*size, cubeful=cubeful)
    assert np.array_equal(bgfmt.load(made).equities, plain.equities)


@pytest.mark.slow
def test_an_ended_run_goes_on(tmp_path: Path) -> None:
    stopped(tmp_path)
    stopped(tmp_path, 3, resume=True)
    stopped(tmp_path, 12, resume=True)
    assert solved(tmp_path, resume=True) == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 5, 14, 20, 27, 29])
def test_it_goes_on_from_what_is_there(after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By tiles, whichever began; finished chunks are not written again."""
    stopped(tmp_path, after)
    chunks = {file: file.stat().st_mtime_ns for file in chunk_files(tmp_path / "s")}
    begun: list[int] = []
    layer = stored.Pairs.solve_layer
    monkeypatch.setattr(
        stored.Pairs,
        "solve_layer",
        lambda self, number, workers: (begun.append(number), layer(self, number, workers)),
    )
    how = {"store": tmp_path / "s"} if after % 2 else {"scratch": tmp_path / "s"}
    made = bgfmt.solve("two-sided", 6, 5, tmp_path / "t.bd", resume=True, **how)
    assert digest(made) == SIX_BY_FIVE
    assert not begun
    if after % 2:
        assert all(file.stat().st_mtime_ns == at for file, at in chunks.items())


@pytest.mark.slow
def test_an_unfinished_run_is_not_begun_anew_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(tmp_path)
    before = crash.listing(tmp_path / "s")
    with pytest.raises(ScratchError) as caught:
        solved(tmp_path)
    assert (caught.value.state, caught.value.path) == ("unfinished", str(tmp_path / "s"))
    arguments = ["solve", "two-sided", "6x5", "-o", str(tmp_path / "t.bd"), "--scratch", str(tmp_path / "s")]
    assert command(arguments) == 2
    assert re.search(r"unfinished table of an interrupted run.*\(--resume continues", capsys.readouterr().err)
    assert crash.listing(tmp_path / "s") == before
    assert command([*arguments, "--resume", "--quiet"]) == 0
    assert digest(tmp_path / "t.bd") == SIX_BY_FIVE


@pytest.mark.slow
@pytest.mark.parametrize("left", ["the same", "damaged", "other size", "cubeless"])
def test_an_unfinished_run_is_begun_anew_by_force(left: str, tmp_path: Path) -> None:
    stopped(tmp_path, chequers=4 if left == "other size" else 5, cubeful=left != "cubeless")
    if left == "damaged":
        for file in chunk_files(tmp_path / "s"):
            file.write_bytes(b"\0" * file.stat().st_size)
    arguments = ["solve", "two-sided", "6x5", "-o", str(tmp_path / "t.bd"), "--scratch", str(tmp_path / "s")]
    assert command([*arguments, "--force", "--quiet"]) == 0
    assert digest(tmp_path / "t.bd") == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


FOREIGN = {
    "text": b"my notes\n",
    "empty": b"",
    "json": json.dumps({"other": 1}).encode(),
    "deep": b"[" * 5000,
    "database": b"gnubg-TS-06-05-1" + b"x" * 24 + bytes(10_000),
    "old": b'{"bgfmt scratch": 3, "solve": "two-sided 6x5, recipe gnubg"}'.ljust(4096) + bytes(4096),
}


@pytest.mark.slow
@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", [*FOREIGN, "other size", "cubeless"])
def test_foreign_files_are_never_written_to(name: str, resume: bool, tmp_path: Path) -> None:
    scratch = tmp_path / "s"
    if name in FOREIGN:
        scratch.write_bytes(FOREIGN[name])
    else:
        stopped(tmp_path, chequers=4 if name == "other size" else 5, cubeful=name != "cubeless")
    before = crash.listing(tmp_path)
    with pytest.raises((ScratchError, OutputExistsError)):
        solved(tmp_path, resume=resume)
    assert crash.listing(tmp_path) == before
    assert os.listdir(tmp_path) == ["s"]


def test_what_another_left_of_a_store_without_its_description_is_not_used(tmp_path: Path) -> None:
    """A run removes its store; one that went on with it too is killed after it wrote one chunk more."""
    stopped(tmp_path, chequers=4)
    (tmp_path / "s" / "zarr.json").unlink()
    assert (tmp_path / "s" / "equities" / "c.0.0.0").exists()
    with pytest.raises(OutputExistsError):
        solved(tmp_path, resume=False)
    solved(tmp_path, resume=True)
    assert digest(tmp_path / "t.bd") == SIX_BY_FIVE


def test_only_folders_are_stores(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to("victim")
    (tmp_path / "nowhere").symlink_to("not there")
    os.mkfifo(tmp_path / "fifo")
    names = sorted(os.listdir(tmp_path))
    for name in ("link", "nowhere", "fifo", ".", "no/folder"):
        with pytest.raises((OutputExistsError, OSError)):
            bgfmt.solve("two-sided", 6, 4, tmp_path / "t.bd", scratch=tmp_path / name, resume=True)
    with pytest.raises(CapabilityError, match="the store and the output must be different"):
        bgfmt.solve("two-sided", 6, 4, tmp_path / "t.bd", scratch=tmp_path / "." / "t.bd")
    assert sorted(os.listdir(tmp_path)) == names
    assert (tmp_path / "victim").read_bytes() == b"theirs"


@pytest.mark.slow
def test_damaged_chunks_are_made_again(tmp_path: Path) -> None:
    stopped(tmp_path, 28)
    rng = np.random.default_rng(4)
    for file in rng.choice(np.array(chunk_files(tmp_path / "s"), object), 30, replace=False):
        content = bytearray(file.read_bytes())
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(content[: len(content) - int(rng.integers(2))])
    assert solved(tmp_path, resume=True) == SIX_BY_FIVE
    assert os.listdir(tmp_path) == ["t.bd"]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["store", "table"])
def test_damage_while_solving_is_noticed_before_the_file_has_its_name(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone writes into a chunk after it was stored and before it was merged, or into a row of the table before
    it is read back."""
    put, put_row, write = ChunkStore.write_chunk, FileSink.write_reserved, system.write_at
    rows: list[int] = []

    def put_chunk(self: ChunkStore, array: str, place: tuple[int, ...], values: np.ndarray) -> int:  # type: ignore[type-arg]
        total = put(self, array, place, values)
        if where == "store" and place == (3, 4, 0):
            file = Path(self.name, self.key(array, place))
            content = bytearray(file.read_bytes())
            content[77] ^= 4
            file.write_bytes(content)
        return total

    def write_wrong(fd: int, data: memoryview, at: int) -> None:
        write(fd, data, at)
        os.pwrite(fd, bytes([data[5] ^ 8]), at + 5)

    def put_wrong(self: FileSink, part: np.ndarray, values: np.ndarray) -> bool:  # type: ignore[type-arg]
        rows.append(1)
        with monkeypatch.context() as patch:
            if where == "table" and len(rows) == 99:
                patch.setattr("bgfmt.storage.system.write_at", write_wrong)
            return put_row(self, part, values)

    monkeypatch.setattr(ChunkStore, "write_chunk", put_chunk)
    monkeypatch.setattr(FileSink, "write_reserved", put_wrong)
    with pytest.raises((CorruptError, SolverError, OSError)):
        solved(tmp_path)
    assert os.listdir(tmp_path) == ["s"]


@pytest.mark.slow
def test_no_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", tmp_path]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        with pytest.raises(SolverError, match=r"needs 3\.\d MB of disk"):
            solved(tmp_path)
        monkeypatch.setattr("bgfmt.extras.large.stores.check_disk", lambda *_: None)
        for chequers in (6, 5):  # 6.8 MB of store; 1.8 MB of store and 1.7 MB of table
            with pytest.raises(OSError, match="No space left"):
                solved(tmp_path, chequers)
            assert os.listdir(tmp_path) == ["s"]
            subprocess.run(["rm", "-r", tmp_path / "s"], check=True)
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
            "bgfmt: interrupted; finished work is in s; the same command with --resume continues\n"
        )
    else:
        assert said == "bgfmt: interrupted\n"


SIX_BY_SEVEN = "41b0190886f7b2c983283a4dd8f0a7edb1f43bd59ed7f15c23ffe8576acdc8a6"
EARLY = re.compile(
    r"(?s)((?!/bgfmt/[a-z_]).)*KeyboardInterrupt\n"
)  # in Python's own start, before any line of ours
#: the other solve is done, and its file there or the store gone
LINE = re.compile(r"bgfmt: (t.bd: (exists already|appeared) .*|[^\n]*\bs\b[^\n]*)\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("BGFMT_SCRATCH_ROUNDS", "2"))))
def test_two_at_once_stopped_continued_and_killed(seed: int, tmp_path: Path) -> None:
    """Right bytes or one line, never wrong bytes; what is not ours stays as it is."""
    chance = random.Random(seed)
    (tmp_path / "t.bd.other").write_bytes(b"theirs")
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
                _, said = process.communicate(timeout=800)
                early = process.returncode == 1 and EARLY.fullmatch(said)
                assert early or process.returncode in (0, 2, 130, -signal.SIGKILL, -signal.SIGINT), said
                if process.returncode == 2:
                    assert LINE.fullmatch(said), said
        if (tmp_path / "t.bd").exists():
            break
    with solving(tmp_path, "--force") as process:
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert hashlib.sha256((tmp_path / "t.bd").read_bytes()).hexdigest() == SIX_BY_SEVEN
    assert (tmp_path / "t.bd.other").read_bytes() == b"theirs"
    assert sorted(os.listdir(tmp_path)) == ["t.bd", "t.bd.other"]


@pytest.mark.slow
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
            assert all(name == "out.bd" or name.startswith("s/") for name in left)
        assert command(arguments) == 0
        assert crash.listing(work) == {"out.bd": new}, number
    assert count >= 5


@pytest.mark.slow
def test_a_store_killed_at_every_change_of_it_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept with --store becomes the store of a run that never ended, without a killed writer's halves."""
    monkeypatch.setattr(stored, "MIN_CHUNK_PLACES", 128)  # as in the process that is killed
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    arguments = ["solve", "two-sided", "4x4", "--quiet", "--store", str(tmp_path / "whole")]
    assert command(arguments) == 0
    whole = crash.listing(tmp_path / "whole")
    arguments[-1] = str(work / "s")
    count = 0
    for number, ran in crash.every_kill(start, work, arguments, at_most=30, fault="kill"):
        count += 1
        if ran.code:
            assert command([*arguments, "--resume"]) == 0, number
        assert crash.listing(work / "s") == whole, number
    assert count >= 10


def test_a_folder_that_is_no_store_is_not_said_to_be_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "notes").write_bytes(b"mine")
    for more in ([], ["--force"], ["--resume"]):
        assert command(["solve", "two-sided", "3x2", "--quiet", "--store", str(tmp_path / "s"), *more]) == 2
        assert (
            capsys.readouterr().err
            == f"bgfmt: {tmp_path / 's'}: exists already and is not the store of a solve\n"
        )
    assert (tmp_path / "s" / "notes").read_bytes() == b"mine"
