"""The npz format: what hostile and foreign archives end in, and what travels with a table."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.errors import BgfmtError, CorruptError, FormatError, UnknownFormatError
from bgfmt.files.database import read_source
from bgfmt.formats import npz
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import OneSided
from tests.conftest import GOLDEN

TS = GOLDEN / "gnubg/ts_03x03.bd"


def rebuilt(change: Callable[[str, bytes], tuple[str, bytes, dict[str, Any]] | None]) -> bytes:
    """An archive of ts_03x03 with members changed: name, bytes, how zipfile writes them; None leaves one out."""
    store = MemorySink()
    with bgfmt.open(TS) as db:
        bgfmt.formats.get("npz").write(db.table, store)  # type: ignore[arg-type]
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bytes(store.data))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            changed = change(name, old.read(name))
            if changed is not None:
                new.writestr(changed[0], changed[1], **changed[2])
    return out.getvalue()


def with_meta(text: str) -> bytes:
    return rebuilt(lambda n, d: (n, text.encode() if n == "bgfmt.json" else d, {}))


def kept(name: str, data: bytes) -> tuple[str, bytes, dict[str, Any]]:
    return name, data, {}


def opened(data: bytes) -> Any:
    db = read_source(Source.from_bytes(data, "x.npz"))
    for _ in db.table.blocks():
        pass
    return db


def test_an_archive_that_zipfile_or_numpy_repacks_is_read() -> None:
    db = opened(rebuilt(kept))
    with bgfmt.open(TS) as original:
        assert np.array_equal(db.table.equities, original.table.equities)
    assert list(db.audit())  # but not byte for byte what this program writes


META = '{"kind": "two-sided", "points": 3, "chequers": 3, "extra": %s}'


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"a":' * 12_000,
        META % '{"recipe": ' + "[" * 30_000,
        '{"kind": "two-sided", "points": 1e999, "chequers": 3}',
        '{"kind": "two-sided", "points": NaN, "chequers": 3}',
        '{"kind": "two-sided", "points": 3.0, "chequers": 3}',
        '{"kind": "two-sided", "points": true, "chequers": 3}',
        '{"kind": "two-sided", "points": -3, "chequers": 3}',
        '{"kind": "two-sided", "points": 4, "chequers": 3}',
        '{"kind": "one-sided", "points": 3, "chequers": 3}',
        '{"kind": "components", "points": 3, "chequers": 3}',
        '{"kind": ["two-sided"], "points": 3, "chequers": 3}',
        '{"kind": "wizard", "points": 3, "chequers": 3}',
        META % "7",
        META % '{"recipe": 7}',
        META % '{"recipe": "A b\\nc"}',
        META % '{"gnubg_header": "zz"}',
        META % '{"gnubg_header": 5}',
        META % '{"compressed": "perhaps"}',
        META % '{"compressed": true, "entry": 7}',
        META % '{"j_container": "v64b", "j_word": 3, "j_order": "<"}',
        "\\ud800",
        "",
        "null",
        "9" * 5000,
    ],
    ids=lambda t: t[:24],
)
def test_metadata_of_any_kind_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(CorruptError) as caught:
        opened(with_meta(text))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def npy(data: bytes, header: bytes) -> bytes:
    head = header + b" " * (118 - len(header) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '|O', 'fortran_order': False, 'shape': (20, 20, 4), }",
        b"{'descr': '<f1', 'fortran_order': False, 'shape': (20, 20, 8), }",
        b"{'descr': '<u2', 'fortran_order': True, 'shape': (20, 20, 4), }",
        b"{'descr': '<u2', 'fortran_order': False, 'shape': (20, -20, 4), }",
        b"{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999, 2), }",
        b"{'descr': '<u2', 'fortran_order': False, 'shape': (20, 20, 8), }",
        b"{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (20, 20, 4), }",
        b"{'descr': '<u2', 'fortran_order': False, 'shape': (20, 20, 4), 'x': 1}",
        b"(" * 200,
        b"\xff" * 100,
        b"",
    ],
)
def test_a_bad_npy_header(header: bytes) -> None:
    data = rebuilt(lambda n, d: (n, npy(bytes(3200), header) if n != "bgfmt.json" else d, {}))
    with pytest.raises(CorruptError):
        opened(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("member", ["bgfmt.json", "equities.npy"])
def test_compressed_members(method: int, member: str) -> None:
    data = rebuilt(lambda n, d: (n, d, {"compress_type": method if n == member else 0}))
    with pytest.raises(CorruptError, match="stored plain"):
        opened(data)


def test_encrypted_and_bad_members() -> None:
    good = rebuilt(kept)
    local, central = good.index(b"PK\x03\x04"), good.index(b"PK\x01\x02")
    for at, offset in ((local, 6), (central, 8)):  # the flag of encryption, in one header or in both
        data = bytearray(good)
        data[at + offset] |= 1
        with pytest.raises(CorruptError):
            opened(bytes(data))
    both = bytearray(good)
    both[local + 6] |= 1
    both[central + 8] |= 1
    with pytest.raises(CorruptError):
        opened(bytes(both))
    for method in (14, 12, 8, 99):  # lzma, bzip2, deflate and none, over bytes that are none of these
        data = bytearray(good)
        data[local + 8], data[central + 10] = method, method
        with pytest.raises(CorruptError):
            opened(bytes(data))


@pytest.mark.parametrize(
    "change",
    [
        lambda n, d: None if n == "equities.npy" else (n, d, {}),
        lambda n, d: (n.replace("equities", "bearoff"), d, {}),
        lambda n, d: (n.replace("equities.npy", "equities.txt"), d, {}),
    ],
)
def test_members_that_are_not_the_tables(change: Any) -> None:
    with pytest.raises(CorruptError):
        opened(rebuilt(change))


def test_an_archive_of_somebody_else() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = rebuilt(lambda n, d: None if n == "bgfmt.json" else (n, d, {"compress_type": method}))  # noqa: B023
        with pytest.raises(UnknownFormatError, match=r"a zip archive, but no table of bgfmt's"):
            opened(data)


def test_what_stands_beside_the_members() -> None:
    """Bytes before, between or behind the members, a comment, and an archive of very many members."""
    good = rebuilt(kept)
    end = good.index(b"PK\x05\x06")
    commented = good[:-2] + b"\x02\x00hi"
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as out:
        for k in range(3000):
            out.writestr(str(k), b"")
    for data in (good + b"\0", good + b"x" * 100, b"PK\x03\x04" + good, commented, many.getvalue()):
        with pytest.raises(FormatError):
            opened(data)
    with pytest.raises(FormatError):
        opened(good[:end] + b"\0" * 5 + good[end:])


def test_every_flipped_bit_of_a_small_archive_is_found() -> None:
    """Outside the numbers by the reader or the audit; a number by the sum of its member."""
    store = MemorySink()
    with bgfmt.open(GOLDEN / "gnubg/ts_02x01.bd") as db:
        bgfmt.formats.get("npz").write(db.table, store)  # type: ignore[arg-type]
    data = bytes(store.data)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        try:
            found = read_source(Source.from_bytes(bytes(changed), "x"))
            assert list(found.audit()), f"byte {at}"
        except BgfmtError as error:
            assert "\n" not in str(error)


def test_sizes_of_an_archive_are_those_zipfile_gives() -> None:
    for sizes in ([("bgfmt.json", 71, False)], [("bgfmt.json", 5, False), ("a.npy", 999, True)]):
        out = io.BytesIO()
        tail = npz.Tail(MemorySink())
        store = tail._sink
        with zipfile.ZipFile(tail, "w") as zip:  # type: ignore[call-overload]
            for name, size, wide in sizes:
                with zip.open(zipfile.ZipInfo(name), "w", force_zip64=wide) as member:
                    member.write(bytes(size))
        assert npz.archive_size(sizes)[1] == len(store.data)
        out.close()


class Counting:
    """A sink that only counts."""

    written = 0

    def write(self, data: Any) -> None:
        self.written += data.nbytes if isinstance(data, memoryview) else len(data)


@pytest.mark.slow
def test_sizes_beyond_two_gigabytes() -> None:
    """Members and their places then take 64 bits in the directory; 4.3 GB are counted, not kept."""
    sizes = [("bgfmt.json", 5, False), ("a.npy", 2_200_000_000, True), ("b.npy", 2_100_000_000, True)]
    sink = Counting()
    part = bytes(100_000_000)
    with zipfile.ZipFile(npz.Tail(sink), "w") as zip:  # type: ignore[call-overload]
        for name, size, wide in sizes:
            with zip.open(zipfile.ZipInfo(name), "w", force_zip64=wide) as member:
                for start in range(0, size, len(part)):
                    member.write(part[: min(len(part), size - start)])
    assert npz.archive_size(sizes)[1] == sink.written


# -- what travels with a table -------------------------------------------------------------------------------


def facts(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as zip:
        return dict(json.loads(zip.read("bgfmt.json"))["extra"])


@pytest.mark.parametrize("suffix", ["npz", "ijf"])
def test_a_table_cut_down_does_not_carry_the_uncut_header(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"cut.{suffix}"
    bgfmt.convert(GOLDEN / "gnubg/os_p03.bd", path, points=2)
    assert b"gnubg_header" not in path.read_bytes()
    with bgfmt.open(path) as db:
        assert list(db.audit()) == []
    bgfmt.convert(path, tmp_path / "back.bd", to="gnubg-os")
    assert (tmp_path / "back.bd").read_bytes() == (GOLDEN / "gnubg/os_p02.bd").read_bytes()


def test_a_headerless_file_cut_down_stays_headerless(tmp_path: Path) -> None:
    bgfmt.convert(GOLDEN / "gnubg/os_p03_H.bd", tmp_path / "cut.npz", points=2)
    assert facts(tmp_path / "cut.npz")["gnubg_header"] == ""
    bgfmt.convert(tmp_path / "cut.npz", tmp_path / "back.bd", to="gnubg-os")
    assert (tmp_path / "back.bd").read_bytes() == (GOLDEN / "gnubg/os_p02.bd").read_bytes()[40:]


def test_recipe_policy_and_layout_of_other_formats(tmp_path: Path) -> None:
    table = bgfmt.load(GOLDEN / "gnubg/os_p02.bd")
    assert isinstance(table, OneSided)
    own = replace(table, recipe="bgsage", gammon_policy="race")
    bgfmt.save(own, tmp_path / "a.npz")
    again = bgfmt.load(tmp_path / "a.npz")
    assert (again.recipe, again.gammon_policy) == ("bgsage", "race")
    bgfmt.convert(GOLDEN / "jfile/bgns_v32l.ijf", tmp_path / "b.npz")
    bgfmt.convert(tmp_path / "b.npz", tmp_path / "b.ijf")
    assert (tmp_path / "b.ijf").read_bytes() == (GOLDEN / "jfile/bgns_v32l.ijf").read_bytes()
