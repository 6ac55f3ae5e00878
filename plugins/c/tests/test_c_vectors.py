"""The reader in C and the test vectors of fixtures/vectors."""

from __future__ import annotations

import csv
import ctypes as ct
from pathlib import Path

import numpy as np

from plugins.c.tests.conftest import GOLDEN, Answer

VECTORS = Path(__file__).resolve().parents[3] / "fixtures" / "vectors"


class Distributions(ct.Structure):
    """`bgfmt_side` of bgfmt.h."""

    _fields_ = [
        ("number", ct.c_uint64),
        ("has", ct.c_int32 * 2),
        ("bearoff", ct.c_uint16 * 32),
        ("gammon", ct.c_uint16 * 32),
        ("moments", ct.c_float * 4),
    ]


def read_rows(name: str) -> list[dict[str, str]]:
    lines = (VECTORS / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines[1:], delimiter="\t"))


def parse_counts(text: str) -> bytes:
    return bytes(int(count) for count in text.split())


def test_position_numbers(lib: ct.CDLL) -> None:
    for row in read_rows("position-numbers.tsv"):
        counts = parse_counts(row["counts"])
        points = int(row["points"])
        number = ct.c_uint64()
        assert lib.bgfmt_number(points, counts, ct.c_size_t(len(counts)), ct.byref(number)) == 0
        assert number.value == int(row["number"])
        back = ct.create_string_buffer(25)
        assert lib.bgfmt_counts(points, number, back) == 0
        assert back.raw[:points] == counts


def test_position_ids(lib: ct.CDLL) -> None:
    for row in read_rows("identifiers.tsv"):
        us = ct.create_string_buffer(25)
        them = ct.create_string_buffer(25)
        assert lib.bgfmt_read_id(row["position_id"].encode(), us, them) == 0
        assert (us.raw, them.raw) == (parse_counts(row["us"]), parse_counts(row["them"]))


def test_distributions(lib: ct.CDLL) -> None:
    database = ct.c_void_p()
    assert lib.bgfmt_open(str(GOLDEN / "os_p04.bd").encode(), ct.byref(database)) == 0
    for row in read_rows("one-sided.tsv"):
        counts = parse_counts(row["counts"])
        number = ct.c_uint64()
        assert lib.bgfmt_number(4, counts, ct.c_size_t(4), ct.byref(number)) == 0
        side = Distributions()
        assert lib.bgfmt_lookup_side_number(database, number, ct.byref(side)) == 0
        assert " ".join(map(str, side.bearoff)) == row["bearoff"]
        assert " ".join(map(str, side.gammon)) == row["gammon"]
    lib.bgfmt_close(database)


def test_equities(lib: ct.CDLL) -> None:
    database = ct.c_void_p()
    assert lib.bgfmt_open(str(GOLDEN / "ts_04x04.bd").encode(), ct.byref(database)) == 0
    for row in read_rows("cube-money.tsv"):
        us, them = (parse_counts(row[name]) for name in ("us", "them"))
        answer = Answer()
        assert lib.bgfmt_lookup(database, us, 4, them, 4, ct.byref(answer)) == 0
        integers = np.rint((np.array(answer.equities[:], np.float64) + 1) * 32767.5) - 32768
        names = ("cubeless", "owned", "centered", "opponent")
        assert integers.tolist() == [int(row[name]) for name in names]
    lib.bgfmt_close(database)
