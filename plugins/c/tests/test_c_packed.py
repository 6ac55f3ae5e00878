"""The C reader on compressed two-sided tables (bgfmt-ts)."""

from __future__ import annotations

import ctypes as ct
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from plugins.c.tests.conftest import CORRUPT, GOLDEN, HEADER, NOT_COVERED, SANITIZE, UNKNOWN, Answer
from tests.support.packing import second_level


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Compressed files, and the plain ones they were made of; one has nine tiles, one is noise without factors."""
    folder, found = tmp_path_factory.mktemp("packed"), {}
    for name in ("ts_01x01.bd", "ts_02x03_cubeless.bd", "ts_03x03.bd", "ts_06x04.bd"):
        path = folder / f"{Path(name).stem}.bgts"
        bgfmt.convert(GOLDEN / name, path)
        found[path] = GOLDEN / name
    noise = np.random.default_rng(7).integers(0, 65536, (70, 70, 4)).astype(np.uint16)
    plain, path = folder / "noise.bd", folder / "noise.bgts"
    bgfmt.save(bgfmt.tables.TwoSided(points=4, chequers=4, equities=noise), plain, format="gnubg-ts")
    bgfmt.convert(plain, path)
    found[path] = plain
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bgfmt.extras.compressed.layout.MAX_GROUP_ROWS", 90)
        path = folder / "tiles.bgts"
        bgfmt.convert(GOLDEN / "ts_06x04.bd", path)
        found[path] = GOLDEN / "ts_06x04.bd"
    return found


@pytest.mark.slow
def test_packed_files_say_what_the_plain_ones_say(
    build: Callable[..., Path], packed: dict[Path, Path]
) -> None:
    """Also as processors with shorter vectors, and without, have it."""
    dumped: dict[Path, bytes] = {}
    for flags in ((), ("-DBGFMT_NO_AVX2",), ("-DBGFMT_NO_AVX2", "-U__SSE2__")):
        dump = build("tests/dump.c", *SANITIZE, *flags)
        for path, plain in packed.items():
            if plain not in dumped:
                dumped[plain] = subprocess.run([dump, plain], capture_output=True, check=True).stdout
            assert subprocess.run([dump, path], capture_output=True, check=True).stdout == dumped[plain]
            assert dumped[plain]


@pytest.mark.slow
def test_many_at_once(lib: ct.CDLL, packed: dict[Path, Path]) -> None:
    rng = np.random.default_rng(3)
    for path, plain in packed.items():
        found = []
        for file in (path, plain):
            db = ct.c_void_p()
            assert lib.bgfmt_open(str(file).encode(), ct.byref(db)) == 0
            with bgfmt.open(file) as ours:
                n = ours.table.positions
            us, them = np.random.default_rng(n).integers(0, n, (2, 20_000), np.uint32)
            for many in (1, 2, 5, 255, 256, 257, 20_000):
                out = np.zeros(4 * many, np.float32)
                assert lib.bgfmt_equities_many(db, many, *(a.ctypes.data for a in (us, them, out))) == 0
                found.append(out)
            them[rng.integers(300)] = n
            assert lib.bgfmt_equities_many(db, 300, *(a.ctypes.data for a in (us, them, out))) == NOT_COVERED
            lib.bgfmt_close(db)
        assert all(np.array_equal(a, b) for a, b in zip(found[:7], found[7:], strict=True))
        assert found[6].any()


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


@pytest.mark.slow
def test_packed_mutants(build: Callable[..., Path], packed: dict[Path, Path]) -> None:
    """With the sums as they are, and (what a forger writes) with the sums not looked at."""
    number = os.environ.get("BGFMT_C_MUTANTS", "3000")
    for flags in ((), ("-DBGFMT_IGNORE_SUMS",)):
        program = build("tests/fuzz.c", *SANITIZE, *flags)
        done = subprocess.run([program, number, "2", *packed], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
        assert f"{number} mutants" in done.stdout
        assert not flags or int(done.stdout.split()[2]) > int(number) // 8


@pytest.mark.slow
def test_the_second_level_is_refused_by_name(lib: ct.CDLL, tmp_path: Path) -> None:
    path, db = tmp_path / "1.bgts", ct.c_void_p()
    bgfmt.convert(GOLDEN / "ts_03x03.bd", path)
    data = second_level(path.read_bytes())
    lib.bgfmt_open_memory.argtypes = [ct.c_char_p, ct.c_size_t, ct.c_void_p, ct.c_void_p]
    status = lib.bgfmt_open_memory(data, len(data), None, ct.byref(db))
    assert "level 2" in lib.bgfmt_strerror(status).decode()
    assert not db.value
