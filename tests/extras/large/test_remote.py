"""Tables on web servers: the same numbers as from a file, few requests, one line for everything that goes wrong."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import (
    CapabilityError,
    ClosedError,
    CorruptError,
    FormatError,
    NetworkError,
    NotCoveredError,
    RangeNotSupportedError,
    SourceChangedError,
    TruncatedError,
)
from bgfmt.extras.compressed import layout
from bgfmt.extras.large import remote
from bgfmt.game import board
from tests.conftest import GOLDEN, ROOT
from tests.support.range_server import Handler, serving

TS, OS = GOLDEN / "gnubg/ts_06x04.bd", GOLDEN / "gnubg/os_p06.bd"
FILES = sorted(p for p in (GOLDEN / "gnubg").glob("*.bd") if not p.stem.endswith("H"))
QUICK: Any = {"retries": 0, "timeout": 3}
LARGE = board.count(6, 15)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file with holes as large as the table of 6 points and 15 chequers, some numbers in it."""
    path = tmp_path / "ts_06x15.bd"
    random = np.random.default_rng(5)
    with open(path, "wb") as file:
        file.write(f"gnubg-TS-06-15-1{'x' * 23}\n".encode())
        for number in random.integers(0, LARGE * LARGE, 50).tolist():
            file.seek(40 + 8 * number)
            file.write(random.bytes(8))
        file.truncate(40 + 8 * LARGE * LARGE)
    return path


def said(database: bgfmt.Database, asked: Any) -> Any:
    """The answer, or why there is none: in tables of 13 points sides may not have passed each other."""
    try:
        return database.lookup(asked).as_dict()
    except NotCoveredError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_golden_file_says_the_same_from_afar(path: Path) -> None:
    random = np.random.default_rng(1)
    with serving(path) as server, bgfmt.open(path) as local, bgfmt.open(server.url, page_bytes=4096) as far:
        table = local.table
        assert far.format is local.format
        assert far.table.entries == table.entries
        for number in random.integers(0, table.entries, 20).tolist():
            asked = table.unrank(number)
            assert said(far, asked) == said(local, asked)
        mine, other = dict(table.arrays()), dict(far.table.arrays())
        assert mine.keys() == other.keys()
        for (_, one), (_, two) in zip(table.blocks(1 << 14), far.table.blocks(1 << 14), strict=True):
            for name in one:
                assert np.array_equal(one[name], two[name]), name


@pytest.mark.slow
def test_requests_of_a_large_table(large: Path) -> None:
    with serving(large) as server, bgfmt.open(large) as local:
        with bgfmt.open(server.url) as far:
            facts = far.info()
            assert server.asked == ["GET bytes=0-65535"]
            assert (facts["size"], facts["requests"], facts["bytes_fetched"]) == (23556653608, 1, 65536)
            number = LARGE * LARGE - 1
            assert (
                far.lookup(far.table.unrank(number)).as_dict()
                == local.lookup(local.table.unrank(number)).as_dict()
            )
            assert len(server.asked) == 2
            numbers = np.random.default_rng(5).integers(0, LARGE, (2, 300))
            assert np.array_equal(far.lookup_many(*numbers), local.lookup_many(*numbers))
        with pytest.raises(ClosedError):
            far.lookup(local.table.unrank(5))


@pytest.mark.slow
def test_many_random_lookups_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "ts_06x10.bd"
    n = board.count(6, 10)
    with open(path, "wb") as file:
        file.write(f"gnubg-TS-06-10-1{'x' * 23}\n".encode())
        file.truncate(40 + 8 * n * n)
    us, them = np.random.default_rng(2).integers(0, n, (2, 4_000))
    with serving(path) as server, bgfmt.open(server.url) as far:
        tracemalloc.start()
        found = far.lookup_many(us, them)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found.shape == (4_000, 4)
    assert (found == -1).all()
    assert most < 120 << 20  # of 260 MB; the server of this test is in the same process


def test_neighbours_are_one_request() -> None:
    with serving(TS) as server, bgfmt.open(server.url, page_bytes=4096) as far:
        at = [page * 512 for page in (10, 12, 15)]  # records of these pages
        us, them = np.divmod(np.array(at), far.table.positions)
        far.lookup_many(us, them)
        assert sorted(server.asked[1:]) == ["GET bytes=40960-53247", "GET bytes=61440-65535"]
        far.lookup_many(us, them)
        assert len(server.asked) == 3


def test_conversion_from_afar_is_a_checked_download(tmp_path: Path) -> None:
    for path, name in ((TS, "a.bd"), (OS, "b.bd"), (OS, "c.npz")):
        with serving(path) as server:
            bgfmt.convert(server.url, tmp_path / f"far_{name}")
        bgfmt.convert(path, tmp_path / f"near_{name}")
        if name.endswith(".bd"):
            assert (tmp_path / f"far_{name}").read_bytes() == path.read_bytes()
        with bgfmt.open(tmp_path / f"far_{name}") as a, bgfmt.open(tmp_path / f"near_{name}") as b:
            assert all(
                np.array_equal(np.asarray(a.table.arrays()[k]), np.asarray(b.table.arrays()[k]))
                for k in b.table.arrays()
            )


@pytest.mark.slow
def test_verifying_fetches_every_byte_once(tmp_path: Path) -> None:
    path = tmp_path / "ts.bd"
    bgfmt.solve("two-sided", 6, 5, path)
    with serving(path) as server:
        assert bgfmt.verify(server.url).verdict == bgfmt.verify(path).verdict
    ranges = [asked.removeprefix("GET bytes=").split("-") for asked in server.asked if "bytes=" in asked]
    fetched = sum(int(last) + 1 - int(first) for first, last in ranges)
    assert path.stat().st_size <= fetched < path.stat().st_size + (256 << 10)


@pytest.mark.slow
def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def said(*words: str) -> Any:
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    with serving(OS) as os_server, serving(TS) as ts_server:
        far, near = [os_server.url, ts_server.url], [str(OS), str(TS)]
        info = said("info", far[1])
        assert (info["requests"], info["bytes_fetched"]) == (1, 65536)
        for words in (
            ["race", "0 2 2 2 0 4"],
            ["cube", "0 1 0 0 1 / 0 1 1"],
            ["play", "0 1 0 0 1 / 0 1 1", "61"],
        ):
            assert said(words[0], *far, *words[1:]) == said(words[0], *near, *words[1:])
        one, two = said("lookup", far[0], "0 2 2 2 0 4")[0], said("lookup", near[0], "0 2 2 2 0 4")[0]
        names = ("table", "path")
        assert {k: v for k, v in one.items() if k not in names} == {
            k: v for k, v in two.items() if k not in names
        }
        assert run(["verify", far[1]]) == 0
        capsys.readouterr()
        out = tmp_path / "copy.bd"
        assert run(["convert", far[0], str(out)]) == 0
        assert out.read_bytes() == OS.read_bytes()


def test_a_server_without_ranges() -> None:
    def whole(handler: Handler, number: int) -> bool:
        del handler.headers["Range"]
        return False

    with serving(TS, whole) as server:
        with bgfmt.open(server.url) as far:
            assert far.lookup(bgfmt.parse_position("0,1,0,0,1/0,1,1")).as_dict()["win"] == pytest.approx(
                0.6711, abs=1e-3
            )
            assert len(server.asked) == 1
        with pytest.raises(RangeNotSupportedError, match=r"352,840 bytes .* 1,000"):
            bgfmt.open(server.url, whole_bytes=1000)


def test_ranges_that_are_wrong() -> None:
    data = TS.read_bytes()

    def shifted(handler: Handler, number: int) -> bool:
        if number:
            handler.say(206, {"Content-Range": f"bytes 0-65535/{len(data)}", "ETag": '"one"'}, data[:65536])
        return bool(number)

    def long(handler: Handler, number: int) -> bool:
        if number:
            said = handler.headers["Range"][6:]
            handler.say(206, {"Content-Range": f"bytes {said}/{len(data)}", "ETag": '"one"'}, bytes(1 << 20))
        return bool(number)

    def odd(handler: Handler, number: int) -> bool:
        handler.say(206, {"Content-Range": "lines 1-2/3"}, b"abc")
        return True

    for how in (shifted, long):
        with serving(TS, how) as server, bgfmt.open(server.url, **QUICK) as far, pytest.raises(NetworkError):
            far.lookup_many([190], [190])
    with serving(TS, odd) as server, pytest.raises(NetworkError):
        bgfmt.open(server.url, **QUICK)


@pytest.mark.slow
def test_cut_connections_and_busy_servers() -> None:
    data, left = TS.read_bytes(), [2]

    def cut(handler: Handler, number: int) -> bool:
        if not number or left[0] <= 0:
            return False
        left[0] -= 1
        first, last = map(int, handler.headers["Range"][6:].split("-"))
        handler.say(
            206,
            {"Content-Range": f"bytes {first}-{last}/{len(data)}", "ETag": '"one"'},
            data[first:][:99],
            last - first + 1,
        )
        handler.close_connection = True
        return True

    with serving(TS, cut) as server, bgfmt.open(TS) as near, bgfmt.open(server.url) as far:
        assert np.array_equal(far.lookup_many([190], [190]), near.lookup_many([190], [190]))
        assert len(server.asked) == 4
        left[0] = 100
        with pytest.raises(NetworkError, match=r"cut|IncompleteRead|closed"):
            far.lookup_many([100], [100])

    def busy(handler: Handler, number: int) -> bool:
        if not number:
            handler.say(503, {"Retry-After": "1"}, b"")
        return not number

    with serving(TS, busy) as server, bgfmt.open(server.url):
        assert len(server.asked) == 2

    def gone(handler: Handler, number: int) -> bool:
        handler.say(404, {}, b"")
        return True

    with serving(TS, gone) as server:
        with pytest.raises(NetworkError, match="404") as failed:
            bgfmt.open(server.url)
        assert failed.value.status == 404
        assert len(server.asked) == 1


def test_the_wait_that_a_server_asks_for_is_for_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("bgfmt.extras.large.remote.time.sleep", waits.append)

    def busy_then_cut(handler: Handler, number: int) -> bool:
        if number == 0:
            handler.say(503, {"Retry-After": "7"}, b"")
        elif number == 1:
            handler.close_connection = True
        return number < 2

    with serving(TS, busy_then_cut) as server, bgfmt.open(server.url):
        assert len(server.asked) == 3
    assert waits == [7, 0.5]


@pytest.mark.parametrize("slow", ["head", "body"])
def test_a_server_that_sends_a_byte_now_and_then_is_given_up(slow: str) -> None:
    """Every byte comes in time, all of them would take an hour."""
    head = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-65535/100000\r\nContent-Length: 65536\r\n\r\n"
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while not ended.is_set():
                    connection, _ = server.accept()
                    with contextlib.suppress(OSError), connection:
                        connection.recv(10_000)
                        if slow == "body":
                            connection.sendall(head)
                        while not ended.wait(0.05):
                            connection.sendall(b"H")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.getsockname()[1]}/t.bd"
            with pytest.raises(NetworkError, match=r"no answer within 0\.5 seconds"):
                bgfmt.open(address, timeout=0.5, retries=5)
        finally:
            ended.set()


def test_a_file_that_is_replaced() -> None:
    with serving(TS) as server, bgfmt.open(server.url, page_bytes=4096) as far:
        far.lookup_many([1], [1])
        server.tag = '"two"'
        with pytest.raises(SourceChangedError):
            far.lookup_many([190], [190])
    with serving(TS) as server, bgfmt.open(server.url) as far:
        server.path = GOLDEN / "gnubg/ts_05x04.bd"
        with pytest.raises(SourceChangedError):
            far.lookup_many([190], [190])


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, data, error in (
        ("short.bd", TS.read_bytes()[:200_000], TruncatedError),
        ("short_os.bd", OS.read_bytes()[:500_000], TruncatedError),
        ("empty.bd", b"", FormatError),
        ("page.html", b"<html>not a table</html>", FormatError),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with serving(path) as server, pytest.raises(error):
            bgfmt.open(server.url)


def test_formats_that_are_not_read_by_range(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    bgfmt.convert(GOLDEN / "gnubg/os_p03.bd", path)
    with serving(path) as server:
        with bgfmt.open(server.url) as far, bgfmt.open(path) as near:
            assert far.lookup(bgfmt.Side(1, 2)).as_dict() == near.lookup(bgfmt.Side(1, 2)).as_dict()
        with pytest.raises(CapabilityError, match="read whole"):
            bgfmt.open(server.url, whole_bytes=100)


def test_a_password_is_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def closed(handler: Handler, number: int) -> bool:
        if handler.headers.get("Authorization") == "Basic bWU6aGlk":
            return False
        handler.say(401, {}, b"")
        return True

    with serving(TS, closed) as server:
        with bgfmt.open(server.url.replace("//", "//me:hid@")) as far:
            assert far.name == server.url
            assert "hid" not in repr(far) + str(far.info())
        assert run(["info", server.url.replace("//", "//me:secret@")]) == 2
        said = capsys.readouterr()
        assert "secret" not in said.out + said.err
        assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/x.bd", "http:///x.bd", "https://[::1/x", "http://127.0.0.1:99999/x"]
)
def test_addresses_that_lead_nowhere(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "RETRIES", 0)
    with pytest.raises(NetworkError):
        bgfmt.open(url, retries=0)
    assert run(["info", url]) == 2
    said = capsys.readouterr().err
    assert said.startswith("bgfmt: ")
    assert said.count("\n") == 1


def test_an_open_file_will_do() -> None:
    with open(OS, "rb") as file, bgfmt.open(file) as db, bgfmt.open(OS) as near:
        assert db.lookup(bgfmt.Side(1, 2)).as_dict() == near.lookup(bgfmt.Side(1, 2)).as_dict()
    with bgfmt.open(io.BytesIO(TS.read_bytes())) as db:
        assert db.table.points == 6
    with pytest.raises(TypeError):
        bgfmt.open(7)  # type: ignore[arg-type]


def test_local_files_need_no_urllib3() -> None:
    code = (
        "import sys, bgfmt\n"
        f"bgfmt.open({str(TS)!r}).lookup(bgfmt.parse_position('1/1'))\n"
        "assert 'urllib3' not in sys.modules and 'starlette' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


# -- compressed tables, and pages on the disk ------------------------------------------------------------


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compressed table of four strips."""
    path = tmp_path_factory.mktemp("packed") / "ts_06x05.bgts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "MAX_GROUP_ROWS", 120)
        bgfmt.save(bgfmt.solver.two_sided(6, 5), path)
    return path


@pytest.mark.slow
def test_a_record_of_a_compressed_table_takes_three_requests(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "GAP_PAGES", 0)  # in a table this small all is near
    monkeypatch.setattr(layout, "STRIP_HEAD_BYTES", 512)
    random = np.random.default_rng(3)
    with bgfmt.open(packed) as here, serving(packed) as server:
        n = here.table.positions
        with bgfmt.open(server.url, page_bytes=4096, cache_pages=8) as far:
            for us, them in random.integers(0, n, (80, 2)).tolist():  # in all strips, also for the first time
                there = len(server.asked)
                assert np.array_equal(far.lookup_many([us], [them]), here.lookup_many([us], [them]))
                assert len(server.asked) - there <= 3
        with bgfmt.open(server.url, page_bytes=4096) as far:
            us, them = random.integers(0, n, (2, 3000))
            assert np.array_equal(far.lookup_many(us, them), here.lookup_many(us, them))
            some = np.full(40, 7)
            assert np.array_equal(far.lookup_many(some, them[:40]), here.lookup_many(some, them[:40]))


def test_an_index_that_points_elsewhere_is_found_without_its_sum(packed: Path, tmp_path: Path) -> None:
    with bgfmt.open(packed) as here:
        ours, us = here.table.equities.reader, 100
        ours._load_index(0)
        (row,) = ours.places[[us]]
        strip = int(ours._group[row])
        ours._load_index(strip)
        entry = int(ours._index[strip] + 8 * (row - ours.edges[strip]) * ours.shape.groups)
        them = int(here.table.equities.reader.directory.order[0])
    good = packed.read_bytes()
    for change in (8, -8, 1, 1 << 40):
        bad = bytearray(good)
        bad[entry : entry + 8] = (int.from_bytes(good[entry : entry + 8], "little") + change).to_bytes(
            8, "little"
        )
        path = tmp_path / "bad.bgts"
        path.write_bytes(bad)
        with (
            serving(path) as server,
            bgfmt.open(server.url, page_bytes=4096) as far,
            pytest.raises(CorruptError),
        ):
            far.lookup_many([us], [them])
