"""The C reader against an independent numpy reading of the same files, and against bgfmt's own."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.solver import two_sided
from plugins.c.tests.conftest import (
    CORRUPT,
    GOLDEN,
    HEADER,
    HERE,
    HYPERGAMMON,
    ID,
    KIND,
    NORMAL,
    NOT_COVERED,
    ONE_SIDED,
    POSITION,
    SHORT,
    SIDE,
    TWO_SIDED,
    Answer,
    count,
    identifier,
    opened,
    status_of,
)

LAYOUTS = {  # kind, points, chequers, gammon, compressed, cubeful
    "os_p03_H.bd": (ONE_SIDED, 3, 15, 1, 1, 0),
    "os_p03_cH.bd": (ONE_SIDED, 3, 15, 1, 0, 0),
    "os_p03_cgH.bd": (ONE_SIDED, 3, 15, 0, 0, 0),
    "os_p03_ndH.bd": (NORMAL, 3, 15, 1, 0, 0),
    "ts_03x03_H.bd": (TWO_SIDED, 3, 3, 0, 0, 1),
}
FILES = sorted(path.name for path in GOLDEN.glob("*.bd"))


# -- an independent reading ------------------------------------------------------------------------------


def deviations(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    chances = rows.astype(np.float32) / np.float32(65535)
    mean = np.zeros(len(rows), np.float32)
    square = np.zeros_like(mean)
    for roll in range(1, 32):
        part = np.float32(roll) * chances[:, roll]
        mean += part
        square += np.float32(roll) * part
    return np.stack([mean, np.sqrt(np.maximum(square - mean * mean, np.float32(0)))], 1)


def read(data: bytes, layout: tuple[int, ...], entry: int | None = None) -> np.ndarray[Any, Any]:
    """All answers of the bytes after a header, as tests/dump.c writes them."""
    kind, points, chequers, gammon, compressed, cubeful = layout
    if kind == TWO_SIDED:
        n, width = count(points, chequers), 4 if cubeful else 1
        stored = np.frombuffer(data, "<u2", n * n * width).reshape(-1, width)
        return stored.astype(np.float32) * np.uint32(0x38000080).view(np.float32) - np.float32(1)
    if kind == HYPERGAMMON:
        n = count(25, chequers)
        raw = np.frombuffer(data, np.uint8, n * n * 28).reshape(-1, 28)[:, :27].reshape(-1, 9, 3)
        out = (raw @ np.array([1, 256, 65536])).astype(np.float32) * np.uint32(0x33800001).view(np.float32)
        out[:, 5:] = (out[:, 5:] - np.float32(0.5)) * np.float32(6)
        return out
    n = count(points, chequers)
    sides = np.zeros(n, SIDE)
    if kind == NORMAL:
        sides["moments"] = np.frombuffer(data, "<f4", 4 * n).reshape(n, 4)
        return sides
    if compressed:
        entry = entry or (8 if gammon else 6)
        index = np.frombuffer(data, np.uint8, n * entry).reshape(n, entry)
        for number, line in enumerate(index):
            at = n * entry + 2 * int.from_bytes(line[:4].tobytes(), "little")
            for name, (length, first) in zip(("bearoff", "gammon"), line[4:].reshape(-1, 2), strict=False):
                sides[number][name][first : first + length] = np.frombuffer(data, "<u2", length, at)
                at += 2 * int(length)
    else:
        rows = np.frombuffer(data, "<u2", n * 32 * (1 + gammon)).reshape(n, -1)
        sides["bearoff"] = rows[:, :32]
        if gammon:
            sides["gammon"] = rows[:, 32:]
    sides["moments"][:, :2] = deviations(sides["bearoff"])
    if gammon:
        sides["moments"][:, 2:] = deviations(sides["gammon"])
    return sides


def layout_of(data: bytes) -> tuple[int, ...]:
    """Of a canonical header."""
    text = data[:40].decode()
    if text[6] == "H":
        return HYPERGAMMON, 25, int(text[7]), 0, 0, 0
    points, chequers = int(text[9:11]), int(text[12:14])
    if text[6:8] == "TS":
        return TWO_SIDED, points, chequers, 0, 0, int(text[15])
    return NORMAL if text[19] == "1" else ONE_SIDED, points, chequers, int(text[15]), int(text[17]), 0


# -- the same numbers ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_answer_of_every_golden_file(dump: Callable[..., tuple[bytes, str]], name: str) -> None:
    data = (GOLDEN / name).read_bytes()
    described = LAYOUTS.get(name)
    layout, body = (described, data) if described else (layout_of(data), data[40:])
    answers, error = dump(GOLDEN / name, *(described or ()))
    assert not error
    assert answers == read(body, layout).tobytes()


@pytest.mark.parametrize("name", ["os_p04.bd", "os_p03_g.bd", "os_p03_cg.bd", "os_p04_nd.bd"])
def test_same_as_python_one_sided(dump: Callable[..., tuple[bytes, str]], name: str) -> None:
    sides = np.frombuffer(dump(GOLDEN / name)[0], SIDE)
    with bgfmt.open(GOLDEN / name) as db:
        numbers = np.arange(len(sides))
        if name.endswith("_nd.bd"):
            assert (db.lookup_many(numbers) == sides["moments"]).all()
            return
        for column in ("bearoff", "gammon") if name == "os_p04.bd" else ("bearoff",):
            ours = sides[column].astype(np.float32) / np.float32(65535)
            assert (db.lookup_many(numbers, column=column) == ours).all()
        for number in (0, 1, 77, len(sides) - 1):
            race: Any = db.lookup(bgfmt.Side.from_number(number, db.table.points))
            assert tuple(sides["moments"][number][:2]) == (race.mean_rolls, race.std_rolls)


def test_same_as_python_million_random(lib: ct.CDLL) -> None:
    rng = np.random.default_rng(6)
    for name in ("ts_06x04.bd", "ts_06x04_cubeless.bd", "ts_05x04.bd"):
        db = opened(lib, GOLDEN / name)
        with bgfmt.open(GOLDEN / name) as ours:
            n, width = ours.table.positions, ours.table.equities.shape[2]  # type: ignore[attr-defined]
            us, them = (rng.integers(0, n, 10**6, dtype=np.uint32) for _ in range(2))
            out = np.empty((10**6, width), np.float32)
            args = [a.ctypes.data for a in (us, them, out)]
            assert lib.bgfmt_equities_many(db, 10**6, *args) == 0
            assert (out == ours.lookup_many(us, them)).all()
        us[999_999] = n
        assert lib.bgfmt_equities_many(db, 10**6, *args) == NOT_COVERED
        lib.bgfmt_close(db)


@pytest.mark.slow
def test_same_as_python_million_random_solved(lib: ct.CDLL, tmp_path: Path) -> None:
    """A table that bgfmt itself solved: 6x6, 924 positions a side."""
    file, n, rng = tmp_path / "ts.bd", count(6, 6), np.random.default_rng(66)
    bgfmt.save(two_sided(6, 6), file)
    us, them = (rng.integers(0, n, 10**6, dtype=np.uint32) for _ in range(2))
    out, db = np.empty((10**6, 4), np.float32), opened(lib, file)
    assert lib.bgfmt_equities_many(db, 10**6, *(a.ctypes.data for a in (us, them, out))) == 0
    lib.bgfmt_close(db)
    with bgfmt.open(file) as ours:
        assert (out == ours.lookup_many(us, them)).all()


def test_same_as_python_hypergammon(dump: Callable[..., tuple[bytes, str]]) -> None:
    numbers = np.arange(26)
    with bgfmt.open(GOLDEN / "hyper1.bd") as db:
        expected = db.lookup_many(np.repeat(numbers, 26), np.tile(numbers, 26))
    assert (np.frombuffer(dump(GOLDEN / "hyper1.bd")[0], "<f4").reshape(-1, 9) == expected).all()


def test_position_ids(lib: ct.CDLL) -> None:
    lines = (HERE.parent.parent / "fixtures" / "expected" / "identifiers.tsv").read_text().splitlines()
    read_id = lib.bgfmt_read_id
    seen = 0
    for line in lines:
        for field in line.split("\t"):
            if len(field) == 27 and field[14] == ":":
                us, them = ct.create_string_buffer(25), ct.create_string_buffer(25)
                assert read_id(field.encode(), us, them) == 0
                assert identifier(us.raw, them.raw) == field[:14]
                seen += 1
    assert seen >= 10
    us, them = ct.create_string_buffer(25), ct.create_string_buffer(25)
    bad = {"": ID, "4HPwATDgc/ABM": ID, "4HPwATDgc/ABMAA": ID, "4HPwATDgc/ABMB": ID, "4HPw TDgc/ABMA": ID}
    bad |= {"//////////////": ID, "AAAAAAAAAAAA//": ID, "////////////8A": ID, "AAAAAAAAAAAAgA": ID}
    for text, status in bad.items():
        assert read_id(text.encode(), us, them) == status, text


def test_race_and_two_sided_by_id(lib: ct.CDLL) -> None:
    answer = Answer()
    db = opened(lib, GOLDEN / "os_p06.bd")
    assert lib.bgfmt_lookup_id(db, b"dwMAAN4FAAAAAA:cAkAAAAAAAAE", ct.byref(answer)) == 0
    assert abs(answer.outcomes[0] - 0.78662765) < 1e-4  # the same distributions as in bgsage's vector
    lib.bgfmt_close(db)
    db = opened(lib, GOLDEN / "ts_06x04.bd")
    assert lib.bgfmt_lookup_id(db, b"dwMAAN4FAAAAAA", ct.byref(answer)) == NOT_COVERED  # eight chequers
    assert lib.bgfmt_lookup(db, b"\0\1", 2, b"\1\1\1", 3, ct.byref(answer)) == 0
    with bgfmt.open(GOLDEN / "ts_06x04.bd") as ours:
        said: Any = ours.lookup(bgfmt.Position(bgfmt.Side(0, 1), bgfmt.Side(1, 1, 1)))
    expected = (said.cubeless, said.owned, said.centered, said.opponent)
    assert tuple(answer.equities) == expected
    assert lib.bgfmt_lookup(db, b"\0" * 6 + b"\1", 7, b"\1", 1, ct.byref(answer)) == NOT_COVERED
    assert lib.bgfmt_lookup(db, b"\x10", 1, b"\1", 1, ct.byref(answer)) == POSITION
    assert lib.bgfmt_lookup_numbers(db, 210, 0, ct.byref(answer)) == NOT_COVERED
    assert lib.bgfmt_lookup_side_number(db, 1, ct.create_string_buffer(200)) == KIND
    lib.bgfmt_close(db)


# -- odd but sound files ---------------------------------------------------------------------------------


def test_second_database_in_a_file(dump: Callable[..., tuple[bytes, str]]) -> None:
    path = GOLDEN / "concat_os_p02_ts_03x03.bd"
    second = path.read_bytes().index(b"gnubg-TS")
    assert dump(path, 0, 0, 0, 0, 0, 0, second)[0] == dump(GOLDEN / "ts_03x03.bd")[0]


def test_headers_read_as_atoi_reads_them(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    file = tmp_path / "odd.bd"
    data = (GOLDEN / "os_p03.bd").read_bytes()[40:]
    for head in (b"gnubg-OS- 3-15-1-1-0", b"gnubg OS 3- 15 2 -1x0", b"gnubg?OS 03?15?7?9?-"):
        file.write_bytes(head.ljust(40, b"\xff")[:40] + data)
        assert status_of(dump(file)) == 0
    for head in (
        b"gnubg-OS-00-15-1-1-0",
        b"gnubg-OS-24-15-1-1-0",
        b"gnubg-OS-06-16-1-1-0",
        b"gnubg-OS-06--1-1",
    ):
        file.write_bytes(head.ljust(40, b"x") + data)
        assert status_of(dump(file)) == HEADER


def test_fewer_chequers_and_old_index(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    data = (GOLDEN / "os_p03_cg.bd").read_bytes()
    n, file = count(3, 10), tmp_path / "x.bd"
    file.write_bytes(b"gnubg-OS-03-10-0-0-0".ljust(40, b"x") + data[40 : 40 + 64 * n])
    whole = dump(GOLDEN / "os_p03_cg.bd")[0]
    assert dump(file)[0] == whole[: n * SIDE.itemsize]

    data = (GOLDEN / "os_p03_g.bd").read_bytes()
    n = count(3, 15)
    index = np.frombuffer(data, np.uint8, 6 * n, 40).reshape(n, 6)
    old = np.concatenate([index, np.zeros((n, 2), np.uint8)], 1)
    file.write_bytes(data[:40] + old.tobytes() + data[40 + 6 * n :])
    assert dump(file)[0] == whole


def bgsage_file() -> tuple[bytes, np.ndarray[Any, Any]]:
    """A file in bgsage's layout, with gnubg's distributions, and what should be read from it."""
    sides = read((GOLDEN / "os_p06.bd").read_bytes()[40:], (ONE_SIDED, 6, 15, 1, 1, 0))
    n, full = len(sides), 38760
    where = np.where(np.arange(n) < full, -1, np.arange(n) - full).astype("<i4")
    survival = (65535 - np.cumsum(sides["gammon"][full:].astype(np.int64), 1)).astype("<u2")
    head = np.array([0x42454152, 1, 6, 15, 32, n, n - full], "<u4")
    parts = [head, sides["bearoff"], sides["moments"][:, 0].copy(), where, survival]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts), sides


@pytest.mark.slow
def test_bgsage(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    data, sides = bgsage_file()
    file = tmp_path / "bearoff_1sided.db"
    file.write_bytes(data)
    assert dump(file)[0] == sides.tobytes()
    with bgfmt.open(file) as db:
        ours = sides["gammon"].astype(np.float32) / np.float32(65535)
        assert (db.lookup_many(np.arange(len(sides)), column="gammon") == ours).all()
    file.write_bytes(data[:-1])
    assert status_of(dump(file)) == SHORT
    broken = bytearray(data)
    broken[28 + 68 * 54264 + 4 * 54263 + 2] = 9
    file.write_bytes(broken)
    assert status_of(dump(file)) == CORRUPT


def test_more_than_four_gib(lib: ct.CDLL, tmp_path: Path) -> None:
    """A sparse file of 13 points: its last record begins beyond 2**32."""
    n, file = count(13, 15), tmp_path / "huge.bd"
    row = np.zeros(64, "<u2")
    row[20:22], row[33] = (65000, 535), 65535
    try:
        with file.open("wb") as f:
            f.write(b"gnubg-OS-13-15-1-0-0".ljust(40, b"x"))
            f.seek(40 + 128 * (n - 1))
            f.write(row.tobytes())
    except OSError:
        pytest.skip("no room for a sparse file")
    db, side = opened(lib, file), np.zeros(1, [("n", "<u8"), ("has", "<i4", 2), *SIDE.descr])
    assert lib.bgfmt_lookup_side_number(db, n - 1, side.ctypes.data) == 0
    assert side["bearoff"][0].tolist() == row[:32].tolist()
    assert side["gammon"][0].tolist() == row[32:].tolist()
    lib.bgfmt_close(db)
    file.unlink()
