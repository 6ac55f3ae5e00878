"""Files appear whole or not at all, whatever the system lacks, and beside other writers."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.storage import create, open_source, system


def test_a_file_appears_whole(tmp_path: Path) -> None:
    with create(tmp_path / "a") as sink:
        sink.write(b"head")
        sink.skip(4)
        sink.write(np.arange(200_000, dtype="<u2"))
        sink.write_at(4, b"late")
        assert os.listdir(tmp_path) == [] or os.listdir(tmp_path)[0].startswith(".")
    data = (tmp_path / "a").read_bytes()
    assert data[:8] == b"headlate"
    assert np.array_equal(np.frombuffer(data, "<u2", offset=8), np.arange(200_000, dtype="<u2"))
    assert os.listdir(tmp_path) == ["a"]


def test_a_name_that_ends_in_a_slash_is_no_file_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), create(f"{tmp_path}/new/"):
        pass
    assert os.listdir(tmp_path) == []


def test_the_mask_of_the_process_decides_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with create(tmp_path / "a") as sink:
            sink.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="no permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "private.bd"
    path.write_bytes(b"old")
    path.chmod(mode)
    with create(path, force=True) as sink:
        sink.write(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == mode


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), create(tmp_path / "a") as sink:
        sink.write(b"x" * 100_000)
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OutputExistsError, match="a: exists already"), create(tmp_path / "a"):
        pass
    with pytest.raises(RuntimeError), create(tmp_path / "a", force=True) as sink:
        sink.write(b"new")
        raise RuntimeError
    assert (tmp_path / "a").read_bytes() == b"old"
    with create(tmp_path / "a", force=True) as sink:
        sink.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_what_was_written_is_read_again_before_it_has_its_name(tmp_path: Path) -> None:
    for offset in (0, 3, 70_000, 199_999):
        with (
            pytest.raises(
                OSError, match=r"a: bytes .* differ from what was written|differ from what was written.*a"
            ),
            create(tmp_path / "a") as sink,
        ):
            sink.write(b"head")
            sink.write(np.arange(25_000, dtype="<u8"))
            sink.flush()
            os.pwrite(sink.fd, b"\xee", offset)
        assert os.listdir(tmp_path) == []
    with create(tmp_path / "a") as sink:  # what is written over counts as it stands
        sink.write(bytes(100_000))
        sink.flush()
        sink.write_at(10, b"later")
        sink.write_at(50, b"later still")
        assert sink.sums.intact_pieces() == []
    assert (tmp_path / "a").read_bytes()[10:15] == b"later"


def test_a_name_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    with pytest.raises(OutputExistsError, match="created by another program"), create(tmp_path / "a") as sink:
        sink.write(b"new")
        (tmp_path / "a").write_bytes(b"theirs")
    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["a"]


def test_a_reserved_array_is_the_file(tmp_path: Path) -> None:
    with create(tmp_path / "a") as sink:
        sink.write(b"12345678")
        body = sink.reserve(16).view("<u4")
        body[:] = [1, 2, 3, 4]
    assert np.frombuffer((tmp_path / "a").read_bytes()[8:], "<u4").tolist() == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_writer_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys, time\nfrom bgfmt.storage import create\n"
        "with create(sys.argv[1]) as sink:\n"
        "    sink.write(b'x' * 1000000); print('ready', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "a")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        process.wait()
    assert os.listdir(tmp_path) == []


# -- what may be replaced, and what is said ------------------------------------------------------------


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/null")
    for force in (True, False):
        for path in (tmp_path / "fifo", Path("/dev/null"), tmp_path / "link"):
            with pytest.raises(OSError, match="not a regular file"), create(path, force=force):
                pass
    assert Path("/dev/null").is_char_device()
    assert (tmp_path / "fifo").is_fifo()


def test_a_symlink_to_a_file_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    with create(tmp_path / "link", force=True) as sink:
        sink.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("nameless", [True, False])
def test_messages_name_what_the_user_named(
    nameless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    for name, reason in (
        ("nowhere/a", "folder does not exist"),
        ("x" * 300, "name too long"),
        ("", "the file name is empty"),
    ):
        path = str(tmp_path / name) if name else ""
        with pytest.raises(OSError, match=reason) as caught, create(path):
            pass
        assert caught.value.filename == path
    with pytest.raises(CapabilityError, match="- cannot be used as a file name"), create("-"):
        pass
    long = tmp_path / ("x" * 255)  # as long as it may be: what is beside it must not be longer
    with create(long) as sink:
        sink.write(b"x")
    assert os.listdir(tmp_path) == [long.name]


def _full(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device", "/hidden/.bgfmt-x.part")


@pytest.mark.parametrize("way", ["small", "large", "reserved", "sync"])
def test_a_full_disk_is_an_error_with_our_name(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"reserved": "posix_fallocate", "sync": "fsync"}.get(way, "pwrite")
    monkeypatch.setattr(system.os, name, _full)
    with pytest.raises(OSError, match="No space left") as caught, create(tmp_path / "a") as sink:
        if way == "reserved":
            sink.reserve(10)
        else:
            sink.write(bytes(1 << 20 if way == "large" else 9) if way != "sync" else b"")
    assert caught.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full") or os.getuid() != 0, reason="mounts a small disk")
def test_a_really_full_disk(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this machine mounts nothing")
    try:
        for forced in (True, False):
            with pytest.raises(OSError, match="No space left") as caught, create(tmp_path / "a") as sink:
                if forced:
                    sink.reserve(4 << 20)[:] = 7
                else:
                    sink.write(bytes(4 << 20))
            assert caught.value.filename == str(tmp_path / "a")
            assert os.listdir(tmp_path) == []
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


# -- systems that lack something -----------------------------------------------------------------------

LACKING = {
    "macos": ["O_TMPFILE", "posix_fallocate", "sched_getaffinity", "fdatasync"],
    "windows": [
        "O_TMPFILE", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "pwrite", "pread", "preadv", "fchmod",
        "posix_fallocate", "sched_getaffinity", "fdatasync", "link",
    ],
}  # fmt: skip


def _lack(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for lacking in LACKING.get(name, [name]):
        monkeypatch.delattr(os, lacking, raising=False)
    if name == "windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)


@pytest.mark.parametrize("name", [*LACKING, *LACKING["windows"]])
def test_files_are_made_and_read_without(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _lack(monkeypatch, name)
    body = np.arange(300_000, dtype="<u2")
    for force in (False, True):
        with create(tmp_path / "a", force=force) as sink:
            sink.write(b"head")
            sink.write(body)
            sink.reserve(4)[:] = 7
            names = os.listdir(tmp_path)
            assert all(n == "a" or n.startswith(".bgfmt-") for n in names)
        assert os.listdir(tmp_path) == ["a"]
        wanted = b"head" + body.tobytes() + b"\7\7\7\7"
        for guard in (False, True):
            with open_source(tmp_path / "a", guard=guard) as source:
                assert source.bytes(0, source.size) == wanted
        with open(tmp_path / "a", "rb") as file:
            room = bytearray(len(wanted) + 5)
            assert system.read_into(file.fileno(), memoryview(room), 2) == len(wanted) - 2
            assert room[: len(wanted) - 2] == wanted[2:]
    with pytest.raises(OutputExistsError), create(tmp_path / "b") as sink:
        (tmp_path / "b").write_bytes(b"theirs")
    with pytest.raises(RuntimeError), create(tmp_path / "c") as sink:
        raise RuntimeError
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert (tmp_path / "b").read_bytes() == b"theirs"
    assert system.cores() >= 1


def test_room_is_taken_without_fallocate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(fd: int, offset: int, size: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "not here")

    monkeypatch.setattr(system.os, "posix_fallocate", refuses)
    with open(tmp_path / "a", "w+b") as file:
        file.write(b"kept")
        file.flush()
        system.reserve(file.fileno(), 3 << 20)
    assert (tmp_path / "a").read_bytes() == b"kept" + bytes((3 << 20) - 4)
    assert (tmp_path / "a").stat().st_blocks * 512 >= 3 << 20


def test_drafts_are_new_and_follow_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    monkeypatch.setattr("bgfmt.storage.publish.os.urandom", bytes)
    (tmp_path / "victim").write_bytes(b"theirs")
    with create(tmp_path / "a") as sink:
        sink.write(b"x")
        (draft,) = (n for n in os.listdir(tmp_path) if n.startswith("."))
    (tmp_path / draft).symlink_to("victim")
    with pytest.raises(FileExistsError) as caught, create(tmp_path / "a", force=True):
        pass
    assert caught.value.filename == str(tmp_path / "a")
    assert (tmp_path / "victim").read_bytes() == b"theirs"


@pytest.mark.slow
@pytest.mark.parametrize("lacking", ["O_TMPFILE", ""])
def test_what_a_killed_process_left_is_swept(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with a hidden name in the folder: without nameless files at any time, with them while replacing."""
    code = (
        "import os, sys, time\nfrom bgfmt.storage import create\n"
        f"if {bool(lacking)}: del os.O_TMPFILE\n"
        "os.replace = lambda a, b: (print('replacing', flush=True), time.sleep(600))\n"
        "with create(sys.argv[1], force=True) as sink:\n"
        "    sink.write(b'x' * 1000000)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "a")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with create(tmp_path / "a") as sink:
            sink.write(b"mine")
        assert len(os.listdir(tmp_path)) == 2  # the other's draft is left alone while it lives
        process.kill()
    assert len(os.listdir(tmp_path)) == 2
    if lacking:
        monkeypatch.delattr(os, lacking)
    with create(tmp_path / "a", force=True) as sink:
        sink.write(b"again")
    assert os.listdir(tmp_path) == ["a"]


def test_locks_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: set[int] = set()

    def locking(fd: int, mode: int, size: int) -> None:
        assert os.lseek(fd, 0, os.SEEK_CUR) > 1 << 30
        inode = os.fstat(fd).st_ino
        if inode in held:
            raise OSError(errno.EACCES, "Permission denied")
        held.add(inode)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with open(tmp_path / "a", "wb") as one, open(tmp_path / "a", "wb") as two:
        assert system.lock(one.fileno()) is True
        assert system.lock(two.fileno()) is False
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with open(tmp_path / "a", "wb") as one:
        assert system.lock(one.fileno()) is None
