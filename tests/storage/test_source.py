"""Where bytes come from: one set of laws for files, folders, memory and ranges; what is no file is refused."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.errors import ClosedError, TruncatedError
from bgfmt.storage import MappedSource, MemorySource, RangeSource, Source, open_source, system
from bgfmt.storage.source import open_regular
from bgfmt.tables import same_numbers


def test_sources_refuse_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    with open_source(tmp_path / "a") as source:
        assert source.array("<u4", (2,), 0).tolist() == [0x34333231, 0x38373635]
        with pytest.raises(TruncatedError) as caught:
            source.array("<u4", (1 << 40,), 4)
        assert caught.value.found_size == 8
    with pytest.raises(ClosedError):
        source.bytes(0, 1)
    with pytest.raises(IsADirectoryError):
        open_source(tmp_path)
    with pytest.raises(OSError, match="regular"):
        open_source("/dev/null")
    (tmp_path / "empty").touch()
    with open_source(tmp_path / "empty") as source, pytest.raises(TruncatedError):
        source.bytes(0, 1)


def test_arrays_outlive_their_source(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(16)))
    source = open_source(tmp_path / "a")
    rows = source.array("u1", (16,), 0)
    source.release()
    source.close()
    assert rows.tolist() == list(range(16))


DATA = bytes(range(256)) * 20


def _file(tmp_path: Path) -> Path:
    (tmp_path / "data").write_bytes(DATA)
    return tmp_path / "data"


SOURCES: dict[str, Callable[[Path], Source]] = {
    "mapped": lambda folder: MappedSource(_file(folder)),
    "guarded": lambda folder: open_source(_file(folder), guard=True),
    "memory": lambda folder: MemorySource(DATA),
    "ranges": lambda folder: RangeSource("http", len(DATA), lambda at, size: DATA[at : at + size]),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_keeps_the_laws(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SOURCES[kind](tmp_path) as source:
        assert source.size == len(source.buffer) == len(DATA)
        assert bytes(source.buffer[:]) == DATA
        assert bytes(source.buffer[5:1500]) == DATA[5:1500]
        assert source.bytes(998, 7) == DATA[998:1005]
        whole = np.frombuffer(DATA, "<u2").reshape(-1, 4, 2)
        assert np.array_equal(source.array("<u2", whole.shape, 0), whole)
        monkeypatch.setattr("bgfmt.storage.source.RangeSource.max_eager_bytes", 100)
        rows = source.array("<u2", whole.shape, 0)
        assert rows.shape == whole.shape
        numbers = np.array([300, 2, 2, 319, 0, 17])
        for key in (3, slice(7, 90), slice(0, 0), numbers):
            assert np.array_equal(rows[key], whole[key])
        for pair in ((3, 2), (numbers, 3), (numbers, numbers % 4), (7, slice(1, 3))):
            assert np.array_equal(rows[pair], whole[pair])
        assert np.array_equal(np.asarray(rows), whole)
        assert source.array("<u2", (0, 4), len(DATA)).shape == (0, 4)
        source.release()
        for asked in (lambda: source.need(5121), lambda: source.bytes(5120, 1)):
            with pytest.raises(TruncatedError):
                asked()
        with pytest.raises(TruncatedError):
            source.array("<u4", (1 << 40,), 4)
    with pytest.raises(ClosedError):
        source.bytes(0, 1)
    source.close()


def test_a_guarded_source_survives_a_file_cut_short(tmp_path: Path) -> None:
    with open_source(_file(tmp_path), guard=True) as source:
        os.truncate(tmp_path / "data", 2000)
        assert source.bytes(0, 2000) == DATA[:2000]
        with pytest.raises(TruncatedError, match="cut short at byte 2,000"):
            source.bytes(1000, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ts_06x04.bd", "os_p03.bd", "os_p03_c.bd", "hyper1.bd", "os_p03_nd.bd"])
def test_a_guarded_database_answers_alike(
    name: str, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even of large files, of which nothing is read before it is asked for; until they are cut short."""
    monkeypatch.setattr("bgfmt.storage.source.RangeSource.max_eager_bytes", 1000)
    path = tmp_path / name
    path.write_bytes((golden / "gnubg" / name).read_bytes())
    with bgfmt.open(path) as mapped, bgfmt.open(path, guard=True) as guarded:
        numbers = range(0, mapped.table.entries, max(1, mapped.table.entries // 300))
        asked = [mapped.table.unrank(number) for number in numbers]
        wanted = [mapped.lookup(one).as_dict() for one in asked]
        assert [guarded.lookup(one).as_dict() for one in asked] == wanted
        assert same_numbers(mapped.table, guarded.table)
        last = [mapped.table.unrank(mapped.table.entries - k) for k in range(1, 4)]
        if mapped.table.sides == 2:
            us, them = [one.us for one in asked], [one.them for one in asked]
            assert np.array_equal(guarded.lookup_many(us, them), mapped.lookup_many(us, them))
        os.truncate(path, path.stat().st_size // 2)
        for one in last:
            with pytest.raises(TruncatedError):
                guarded.lookup(one)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        begun = time.monotonic()
        for path, kind in (("fifo", "a FIFO"), ("socket", "a socket"), ("/dev/null", "a device")):
            for guard in (False, True):
                with pytest.raises(OSError, match=f"{kind}, not a regular file"):
                    open_source(tmp_path / path, guard=guard)
        with pytest.raises(IsADirectoryError):
            open_source(tmp_path)
        assert time.monotonic() - begun < 100  # a FIFO is never opened


def test_a_fifo_that_takes_the_place_of_a_file_is_no_trap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is looked at first, so put the FIFO there between that and the opening."""
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.setattr(system.os, "stat", lambda path: os.lstat(_file(tmp_path)))
    with pytest.raises(OSError, match="a FIFO"):
        open_regular(tmp_path / "fifo")


def test_nothing_to_let_pages_go_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(system.mmap, "MADV_DONTNEED")
    with MappedSource(_file(tmp_path)) as source:
        source.release()
        assert bytes(source.buffer[:]) == DATA
