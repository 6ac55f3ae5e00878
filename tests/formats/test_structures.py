"""Structures declared as constructs: their fields, dtypes, regions, errors and tables of bytes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from construct import Aligned, Array, Bytes, Const, Float32l, Int8ul, Int16ub, Int24ul, Int32ul, Struct, this

import bgfmt
from bgfmt.errors import HeaderError, TruncatedError
from bgfmt.formats import Region, match
from bgfmt.formats.gnubg.family import Digits
from bgfmt.formats.structures import byte_table, dtype_of, fields, offset_of, read_struct, regions_of, size_of
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import same_numbers
from tests.conftest import FIXTURES

ENTRY = Struct("start" / Int32ul * "first value", "count" / Int8ul)
HEAD = Struct("magic" / Const(b"AB"), "version" / Const(2, Int16ub), "entries" / Array(2, ENTRY))
FILE = Struct(
    "head" / HEAD,
    "rows" / Array(this.n, Array(3, Float32l)) * "the numbers",
    "name" / Bytes(this.name),
    "sums" / Aligned(16, Array(this.n + 1, Int24ul)),
    "end" / Int16ub,
)


def test_fields_of_a_file_of_given_counts() -> None:
    parts = fields(FILE, n=2, name=5)
    assert [(name, part.offset, part.size) for name, part in parts.items()] == [
        ("head", 0, 14), ("rows", 14, 24), ("name", 38, 5), ("sums", 43, 16), ("end", 59, 2),
    ]  # fmt: skip
    assert size_of(FILE, n=2, name=5) == 61
    rows = np.arange(6, dtype="<f4").reshape(2, 3)
    source = Source.from_bytes(b"?" + bytes(14) + rows.tobytes())
    assert np.array_equal(parts["rows"].read(source, 1), rows)
    assert (parts["rows"].place(1, 2), parts["rows"].place(1), parts["end"].place()) == (34, 26, 59)
    with pytest.raises(TruncatedError, match="the names"):
        parts["name"].read(source, 1, "names")
    expected = (Region("head", 0, 14), Region("rows", 14, 24, numbers=True))
    assert regions_of(parts, ("rows",))[:2] == expected


def test_dtypes() -> None:
    assert dtype_of(ENTRY) == np.dtype([("start", "<u4"), ("count", "u1")])
    assert dtype_of(HEAD)["entries"] == np.dtype((dtype_of(ENTRY), 2))
    assert dtype_of(HEAD)["version"] == ">u2"
    assert dtype_of(Int24ul) == "V3"


def test_an_error_names_field_and_offset() -> None:
    with pytest.raises(HeaderError, match="version at byte 3: expected 2, found 3"):
        read_struct(HEAD, Source.from_bytes(b"?AB\0\3" + bytes(10)), 1)
    with pytest.raises(TruncatedError):
        read_struct(HEAD, Source.from_bytes(b"AB"))
    inner = Struct("first" / Int16ub, "second" / Struct("a" / Int8ul, "b" / Const(1, Int8ul)))
    with pytest.raises(HeaderError, match="b at byte 3:"):
        read_struct(inner, Source.from_bytes(bytes(4)))
    assert offset_of(HEAD, "entries", "count") == 8


def test_digits_are_read_as_atoi_reads_them_and_written_with_zeros() -> None:
    two = Struct("a" / Digits(2), "b" / Bytes(1))
    assert [two.parse(text).a for text in (b"07-", b" 7-", b"+7-", b"-7-", b"x7-", b"123", b" \t5")] == [
        7, 7, 7, -7, 0, 123, 5,
    ]  # fmt: skip
    assert two.parse(b"07-").b == b"-"
    assert two.build({"a": 7, "b": b"-"}) == b"07-"


def test_the_table_of_bytes() -> None:
    assert byte_table(HEAD).splitlines()[2:] == [
        "| 0 | 2 bytes | `magic` | `AB` |",
        "| 2 | u16 (big-endian) | `version` | 2 |",
        "| 4 | 2 × (u32, u8) | `entries` |  |",
    ]
    assert byte_table(FILE).splitlines()[2:] == [
        "| 0 | 14 bytes | `head` |  |",
        "| 14 | n × 3 × f32 | `rows` | the numbers |",
        "| 14 + 12 * n | name bytes | `name` |  |",
        "| 14 + 12 * n + name | (n + 1) × u24 | `sums` |  |",
        "| ... | u16 (big-endian) | `end` |  |",
    ]
    wider = Struct("a" / Digits(3), "b" / Digits(1) * "how many")
    assert byte_table(wider).splitlines()[3] == "| 3 | 1 digit | `b` | how many |"


def test_reader_writer_page_and_regions_follow_a_changed_width() -> None:
    """The module of bgfmt-match with one field wider: its files are written, read, audited and described."""
    table = bgfmt.load(FIXTURES / "match/score_3x2.bgm")
    text = Path(match.__file__).read_text(encoding="utf-8")
    wider = ModuleType("wider")
    exec(text.replace('"points" / Int8ul,', '"points" / Int32ul,'), vars(wider))
    form = wider.BgfmtMatch()
    assert form.structures["header"].points.sizeof() == 4
    sink = MemorySink()
    form.write(table, sink)
    source = Source.from_bytes(bytes(sink.data))
    reading = form.read(source)
    assert same_numbers(reading.table, table)
    assert list(form.audit(source, reading.table, reading.extent)) == []
    assert form.layout(reading.table).size == source.size
    assert "| 14 | u8 | `chequers` |" in byte_table(form.structures["header"])
