"""The C reader against an independent numpy reading of the same files, against bgfmt's own, and against damage."""

from __future__ import annotations

import base64
import ctypes as ct
import itertools
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.solver import two_sided

HERE = Path(__file__).resolve().parent.parent
GOLDEN = HERE.parent.parent / "fixtures" / "golden" / "gnubg"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SIDE = np.dtype([("bearoff", "<u2", 32), ("gammon", "<u2", 32), ("moments", "<f4", 4)])
OPEN, UNKNOWN, HEADER, SHORT, CORRUPT, POSITION, ID, NOT_COVERED, KIND = 2, 4, 5, 6, 8, 9, 10, 11, 12
ONE_SIDED, NORMAL, TWO_SIDED, HYPERGAMMON = 1, 2, 3, 4
LAYOUTS = {  # kind, points, chequers, gammon, compressed, cubeful
    "os_p03_H.bd": (ONE_SIDED, 3, 15, 1, 1, 0),
    "os_p03_cH.bd": (ONE_SIDED, 3, 15, 1, 0, 0),
    "os_p03_cgH.bd": (ONE_SIDED, 3, 15, 0, 0, 0),
    "os_p03_ndH.bd": (NORMAL, 3, 15, 1, 0, 0),
    "ts_03x03_H.bd": (TWO_SIDED, 3, 3, 0, 0, 1),
}
FILES = sorted(path.name for path in GOLDEN.glob("*.bd"))


def compiler() -> str:
    found = shutil.which(os.environ.get("CC", "cc"))
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("no C compiler")
        pytest.skip("no C compiler")
    return found


def identifier(us: bytes, them: bytes) -> str:
    """gnubg's Position ID of 25 counts a side."""
    bits = "".join("1" * n + "0" for n in them + us).ljust(80, "0")
    return base64.b64encode(int(bits[::-1], 2).to_bytes(10, "little")).decode()[:14]


class Answer(ct.Structure):
    _fields_ = [
        ("us", ct.c_uint64),
        ("them", ct.c_uint64),
        ("kind", ct.c_int32),
        ("n_equities", ct.c_int32),
        ("equities", ct.c_float * 4),
        ("n_outcomes", ct.c_int32),
        ("outcomes", ct.c_float * 5),
    ]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program (or, without `main`, the shared library) strictly; returns its path."""
    cc, folder = compiler(), tmp_path_factory.mktemp("c")

    def compiled(main: str | None, *flags: str) -> Path:
        out = folder / (
            Path(main).stem + "".join(f for f in flags if f[:2] == "-D") if main else "libbgfmt.so"
        )
        if not out.exists():
            sources = [str(HERE / "bgfmt.c")] + ([str(HERE / main)] if main else [])
            how = flags or ("-O2",)
            shared = [] if main else ["-shared", "-fPIC"]
            command = [cc, *STRICT, *how, *shared, "-I", str(HERE), *sources, "-o", str(out), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return out

    return compiled


@pytest.fixture(scope="session")
def lib(build: Callable[..., Path]) -> ct.CDLL:
    library = ct.CDLL(str(build(None)))
    library.bgfmt_strerror.restype = ct.c_char_p
    library.bgfmt_close.argtypes = [ct.c_void_p]
    library.bgfmt_lookup_id.argtypes = [ct.c_void_p, ct.c_char_p, ct.POINTER(Answer)]
    library.bgfmt_lookup_numbers.argtypes = [ct.c_void_p, ct.c_uint64, ct.c_uint64, ct.POINTER(Answer)]
    side = [ct.c_char_p, ct.c_size_t]
    library.bgfmt_lookup.argtypes = [ct.c_void_p, *side, *side, ct.POINTER(Answer)]
    library.bgfmt_lookup_side_number.argtypes = [ct.c_void_p, ct.c_uint64, ct.c_void_p]
    library.bgfmt_equities_many.argtypes = [ct.c_void_p, ct.c_size_t, ct.c_void_p, ct.c_void_p, ct.c_void_p]
    return library


@pytest.fixture(scope="session")
def dump(build: Callable[..., Path]) -> Callable[..., tuple[bytes, str]]:
    """Every answer of a file, from a program that runs under AddressSanitizer and UBSan; else its status."""
    program = build("tests/dump.c", *SANITIZE)

    def run(path: Path, *layout: int) -> tuple[bytes, str]:
        done = subprocess.run([program, path, *map(str, layout)], capture_output=True, check=False)
        assert done.returncode in (0, 2), done.stderr.decode()[:2000]
        return done.stdout, done.stderr.decode().strip()

    return run


def status_of(reply: tuple[bytes, str]) -> int:
    return int(reply[1].split()[0]) if reply[1] else 0


# -- an independent reading ------------------------------------------------------------------------------


def count(points: int, chequers: int) -> int:
    return math.comb(points + chequers, points)


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


def opened(lib: ct.CDLL, path: Path) -> ct.c_void_p:
    db = ct.c_void_p()
    assert lib.bgfmt_open(os.fsencode(path), ct.byref(db)) == 0
    return db


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


# -- broken files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["os_p03.bd", "os_p03_g.bd", "os_p03_c.bd", "os_p03_nd.bd", "ts_03x03.bd", "hyper1.bd"]
)
def test_cut_short(dump: Callable[..., tuple[bytes, str]], tmp_path: Path, name: str) -> None:
    data, file = (GOLDEN / name).read_bytes(), tmp_path / "cut.bd"
    for size in (len(data) - 1, len(data) // 2, 41, 40, 39, 20):
        file.write_bytes(data[:size])
        assert status_of(dump(file)) == SHORT, size
    for size in (0, 3):
        file.write_bytes(data[:size])
        assert status_of(dump(file)) == UNKNOWN


def test_damaged_index(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    file = tmp_path / "bad.bd"
    for at, value in (
        (40 + 8 * 100 + 3, 0x7F),
        (40 + 8 * 100 + 4, 33),
        (40 + 8 * 100 + 5, 31),
        (40 + 8 * 100 + 7, 255),
    ):
        data = bytearray((GOLDEN / "os_p03.bd").read_bytes())
        data[at] = value
        file.write_bytes(data)
        assert status_of(dump(file)) == CORRUPT


def test_not_a_file(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    assert status_of(dump(tmp_path / "missing.bd")) == OPEN
    assert status_of(dump(tmp_path)) == OPEN
    os.mkfifo(tmp_path / "pipe")
    assert status_of(dump(tmp_path / "pipe")) == OPEN
    (tmp_path / "text").write_text("not a table at all, but long enough to have been one")
    assert status_of(dump(tmp_path / "text")) == UNKNOWN


def test_mutants(build: Callable[..., Path]) -> None:
    """BGFMT_C_MUTANTS sets how many; see the Makefile's `fuzz` for hours of them."""
    number = os.environ.get("BGFMT_C_MUTANTS", "3000")
    small = [path for path in sorted(GOLDEN.glob("*.bd")) if path.stat().st_size < 120_000]
    program = build("tests/fuzz.c", *SANITIZE)
    done = subprocess.run([program, number, "1", *small], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    assert f"{number} mutants" in done.stdout


# -- bgfmt-ts, compressed two-sided tables ---------------------------------------------------------------


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Compressed files, and the plain ones they were made of; one has nine tiles."""
    folder, found = tmp_path_factory.mktemp("packed"), {}
    for name in ("ts_01x01.bd", "ts_02x03_cubeless.bd", "ts_03x03.bd", "ts_06x04.bd"):
        path = folder / f"{Path(name).stem}.bgts"
        bgfmt.convert(GOLDEN / name, path)
        found[path] = GOLDEN / name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bgfmt.formats.compressed.layout.MOST_GROUP", 90)
        path = folder / "tiles.bgts"
        bgfmt.convert(GOLDEN / "ts_06x04.bd", path)
        found[path] = GOLDEN / "ts_06x04.bd"
    return found


def test_packed_files_say_what_the_plain_ones_say(
    build: Callable[..., Path], packed: dict[Path, Path]
) -> None:
    dump = build("tests/dump.c", *SANITIZE)
    for path, plain in packed.items():
        said = [
            subprocess.run([dump, file], capture_output=True, check=True).stdout for file in (path, plain)
        ]
        assert said[0] == said[1]
        assert said[0]


def test_a_flipped_bit_is_refused_or_does_not_matter(lib: ct.CDLL, packed: dict[Path, Path]) -> None:
    rng = np.random.default_rng(5)
    path = next(p for p in packed if p.name == "tiles.bgts")
    data, n = path.read_bytes(), 210
    stored = np.fromfile(packed[path], "<u2", offset=40).reshape(n * n, 4)
    wanted = stored.astype(np.float32) * np.uint32(0x38000080).view(np.float32) - np.float32(1)
    answer, refused = Answer(), 0
    lib.bgfmt_open_memory.argtypes = [ct.c_char_p, ct.c_size_t, ct.c_void_p, ct.c_void_p]
    for at in [*range(0, 64, 7), *rng.integers(64, len(data), 120).tolist()]:
        broken = bytearray(data)
        broken[at] ^= 1 << int(rng.integers(8))
        db = ct.c_void_p()
        status = lib.bgfmt_open_memory(bytes(broken), len(broken), None, ct.byref(db))
        if status:
            refused += status in (UNKNOWN, HEADER, CORRUPT)
            continue
        found = set()
        for us in range(n):
            status = lib.bgfmt_lookup_numbers(db, us, (us * 7) % n, ct.byref(answer))
            found.add(status)
            if not status:
                assert list(answer.equities) == wanted[us * n + (us * 7) % n].tolist()
        assert found <= {0, CORRUPT}
        refused += CORRUPT in found
        lib.bgfmt_close(db)
    assert refused > 30  # most flips lie where none of these look-ups goes


def test_packed_mutants(build: Callable[..., Path], packed: dict[Path, Path]) -> None:
    """With the sums as they are, and (what a forger writes) with the sums not looked at."""
    number = os.environ.get("BGFMT_C_MUTANTS", "3000")
    for flags in ((), ("-DBGFMT_IGNORE_SUMS",)):
        program = build("tests/fuzz.c", *SANITIZE, *flags)
        done = subprocess.run([program, number, "2", *packed], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        assert f"{number} mutants" in done.stdout
        assert not flags or int(done.stdout.split()[2]) > int(number) // 8


# -- examples and the benchmark --------------------------------------------------------------------------


def test_examples(build: Callable[..., Path]) -> None:
    library, table = build(None), GOLDEN / "ts_06x04.bd"
    with bgfmt.open(table) as db:
        said: Any = db.lookup(bgfmt.Position(bgfmt.Side(0, 1), bgfmt.Side(1, 1)))
    position = identifier(bytes([0, 1]) + bytes(23), bytes([1, 1]) + bytes(23))
    done = subprocess.run(
        [build("examples/example.c"), table, position], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"win {said.win:.4f}, centered cube {said.centered:+.4f}\n"
    done = subprocess.run(
        [sys.executable, HERE / "examples/with_ctypes.py", library, GOLDEN / "os_p06.bd", "1", "3", "4"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    with bgfmt.open(GOLDEN / "os_p06.bd") as db:
        race: Any = db.lookup(bgfmt.Side(1, 3, 4))
    assert f"position {race.number}: {race.mean_rolls:.4f} rolls, EPC {race.epc:.4f}" in done.stdout
    pytest.importorskip("cffi")
    done = subprocess.run(
        [sys.executable, HERE / "examples/with_cffi.py", library, table, position],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"win {said.win:.4f}; equities {said.cubeless:+.4f}, {said.owned:+.4f}")


def test_makefile_and_benchmark(tmp_path: Path) -> None:
    compiler()
    if shutil.which("make") is None:
        pytest.skip("no make")
    subprocess.run(["make", "-s", f"BUILD={tmp_path}"], cwd=HERE, check=True)
    bench = [tmp_path / "bench", GOLDEN / "ts_06x04.bd", "3"]
    assert "million a second" in subprocess.run(bench, capture_output=True, text=True, check=True).stdout


def test_mapped_for_random_access(lib: ct.CDLL, tmp_path: Path) -> None:
    """The system is told that look-ups are scattered, so that it does not read 32 pages for each."""
    path = tmp_path / "ts.bd"
    n = count(6, 6)
    path.write_bytes(b"gnubg-TS-06-06-1" + b"x" * 23 + b"\n" + bytes(8 * n * n))
    db = opened(lib, path)
    try:
        parts = Path("/proc/self/smaps").read_text().split("VmFlags:")
    except OSError:
        pytest.skip("no /proc/self/smaps")
    flags = [after.split("\n", 1)[0] for before, after in itertools.pairwise(parts) if str(path) in before]
    assert flags
    assert all(" rr " in f"{line} " for line in flags)
    lib.bgfmt_close(db)


@pytest.mark.parametrize("batch", [1, 63, 64, 65, 1000, 50_000])
def test_a_walk_through_the_file_in_batches(lib: ct.CDLL, tmp_path: Path, batch: int) -> None:
    """Reading ahead changes no answer: forwards, backwards, with jumps, up to the last record."""
    n = count(6, 6)
    stored = np.random.default_rng(1).integers(0, 65536, (n, n, 4), np.uint16)
    path = tmp_path / "ts.bd"
    path.write_bytes(b"gnubg-TS-06-06-1" + b"x" * 23 + b"\n" + stored.tobytes())
    db = opened(lib, path)
    wanted = (stored.astype(np.float32) * np.float32(1 / 32767.5) - np.float32(1)).reshape(-1, 4)
    last = np.arange(n * n - min(n * n, 40 * batch), n * n)
    for entries in (last, last[::-1], np.concatenate([last[:100], last[-100:], last[:100]])):
        for start in range(0, len(entries), batch):
            chosen = entries[start : start + batch]
            us, them = (part.astype(np.uint32) for part in np.divmod(chosen, n))
            out = np.zeros((len(chosen), 4), np.float32)
            assert lib.bgfmt_equities_many(db, len(chosen), *(a.ctypes.data for a in (us, them, out))) == 0
            np.testing.assert_allclose(out, wanted[chosen], atol=2e-7)
    lib.bgfmt_close(db)
