"""Files appear whole or not at all; mapped sources say no politely."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bgfmt.errors import ClosedError, OutputExistsError, TruncatedError
from bgfmt.storage import Source, create


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


def test_the_mask_of_the_process_decides_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with create(tmp_path / "a") as sink:
            sink.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), create(tmp_path / "a") as sink:
        sink.write(b"x" * 100_000)
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OutputExistsError, match="--force"), create(tmp_path / "a"):
        pass
    with pytest.raises(RuntimeError), create(tmp_path / "a", force=True) as sink:
        sink.write(b"new")
        raise RuntimeError
    assert (tmp_path / "a").read_bytes() == b"old"
    with create(tmp_path / "a", force=True) as sink:
        sink.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_name_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    with pytest.raises(OutputExistsError, match="appeared"), create(tmp_path / "a") as sink:
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_writer_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys, time\nfrom bgfmt.storage import create\n"
        "with create(sys.argv[1]) as sink:\n"
        "    sink.write(b'x' * 1000000); print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "a")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(number)
        process.wait()
    assert os.listdir(tmp_path) == []


def test_sources_refuse_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    with Source(tmp_path / "a") as source:
        assert source.array("<u4", (2,), 0).tolist() == [0x34333231, 0x38373635]
        with pytest.raises(TruncatedError) as caught:
            source.array("<u4", (1 << 40,), 4)
        assert caught.value.found_size == 8
    with pytest.raises(ClosedError):
        source.bytes(0, 1)
    with pytest.raises(IsADirectoryError):
        Source(tmp_path)
    with pytest.raises(OSError, match="regular"):
        Source("/dev/null")
    (tmp_path / "empty").touch()
    with Source(tmp_path / "empty") as source, pytest.raises(TruncatedError):
        source.bytes(0, 1)


def test_arrays_outlive_their_source(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(16)))
    source = Source(tmp_path / "a")
    rows = source.array("u1", (16,), 0)
    source.release()
    source.close()
    assert rows.tolist() == list(range(16))
