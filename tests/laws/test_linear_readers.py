"""The time of each format's reader is in proportion to the size of what it reads.

Every format that is read has its doubling tests here: sound files of growing tables, and a sound file that goes on
with more and more bytes of several kinds; containers also with more and more parts.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import formats, met
from bgfmt.files.gnubg_2001 import gnubg_2001_tables
from bgfmt.files.solve import solve_table
from bgfmt.solver.match import match_score
from bgfmt.tables import KINDS
from tests.support.doubling import assert_linear

#: kind of table, a small size and a large one; the same twice where there is one size only
Sizes = tuple[str, tuple[int, int], tuple[int, int]]
#: sizes of a format that is not in `OTHER_SIZES`, those of the first kind that it carries
USUAL_SIZES: tuple[Sizes, ...] = (
    ("two-sided", (6, 4), (6, 6)),
    ("one-sided", (4, 15), (6, 15)),
    ("normal-distribution", (6, 15), (8, 15)),
)
OTHER_SIZES: dict[str, Sizes] = {
    "bgfmt-match": ("match-score", (6, 3), (6, 5)),
    "bgsage": ("one-sided", (6, 15), (6, 15)),
    "bkg-binary": ("bkg exact", (6, 8), (6, 15)),
    "bkg-text": ("bkg", (6, 8), (6, 15)),
    "gnubg-2001": ("both of 2001", (6, 6), (6, 6)),
    "gnubg-hyper": ("hypergammon", (25, 1), (25, 2)),
    "jfile": ("one-sided", (3, 15), (5, 15)),
    "parquet": ("two-sided", (6, 2), (6, 4)),
    "points-text": ("expected-points", (6, 2), (6, 4)),
    "sqlite": ("two-sided", (6, 2), (6, 3)),
    "zarr": ("store", (6, 3), (6, 5)),
}


def find_sizes(form: formats.Format[Any]) -> Sizes:
    """Return the kind and the sizes of a format's tables in these tests."""
    if form.name in OTHER_SIZES:
        return OTHER_SIZES[form.name]
    usual = [sizes for sizes in USUAL_SIZES if issubclass(KINDS[sizes[0]], form.carries)]
    assert usual, f"{form.name}: no kind of USUAL_SIZES; add a row of OTHER_SIZES"
    return usual[0]


SIZES = {
    form.name: find_sizes(form)
    for form in formats.all_formats().values()
    if form.reads and type(form).__module__.startswith("bgfmt.")  # guests have laws of their own
}


def test_other_sizes_are_of_formats_that_are_read() -> None:
    assert OTHER_SIZES.keys() <= SIZES.keys()


#: bytes that go on behind a sound file, or in the place of its second half
ENDLESS: dict[str, Callable[[bytes, int], bytes]] = {
    "zeros": lambda data, n: data + bytes(n),
    "its own bytes again": lambda data, n: data + (data * (1 + n // len(data)))[:n],
    "its beginning again and again": lambda data, n: data[:64] * (n // 64),
    "half of it, then blanks": lambda data, n: data[: len(data) // 2] + b" " * n,
    "half of it, then brackets": lambda data, n: data[: len(data) // 2] + b"[" * n,
    "half of it, then lines": lambda data, n: data[: len(data) // 2] + b"1 0\n" * (n // 4),
    "half of it, then 255": lambda data, n: data[: len(data) // 2] + b"\xff" * n,
}
FEW, MANY = 150_000, 1_200_000  # bytes


@cache
def table(kind: str, points: int, chequers: int) -> Any:
    """A table of this size: random numbers where its format takes any."""
    if kind == "match-score":
        return match_score(points, chequers, (3, 5), met.load())
    if kind == "both of 2001":
        return list(gnubg_2001_tables())
    name, _, recipe = kind.partition(" ")
    cls, rng, arrays = KINDS[name], np.random.default_rng(5), {}
    for rule in cls.rules(points, chequers):
        shape = tuple(32 if axis is None else axis for axis in rule.shapes[0])
        dtype = np.dtype("f8" if recipe else rule.dtypes[0])
        if dtype.kind in "iu":
            drawn: Any = rng.integers(0, min(int(np.iinfo(dtype).max), 65535), shape)
        else:
            drawn = rng.random(shape)
        arrays[rule.name] = drawn.astype(dtype)
    return cls(points=points, chequers=chequers, recipe=recipe, **arrays)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """`files(format, k)`: the small (0) or the large (1) file of a format, or its folder."""
    folder = tmp_path_factory.mktemp("linear")

    def file(form: str, k: int) -> Path:
        kind, *sizes = SIZES[form]
        path = folder / f"{form}-{sizes[k][0]}x{sizes[k][1]}"
        if not path.exists():
            if kind == "store":
                solve_table("two-sided", *sizes[k], store=path)
            else:
                bgfmt.save(table(kind, *sizes[k]), path, format=form)
        return path

    return file


def reading(path: Path, form: str) -> Callable[[], None]:
    """Reading a file, all its numbers, and what is to be said of its bytes; what is refused is refused."""
    known = form if formats.get(form).historic else None

    def work() -> None:
        try:
            with bgfmt.open(path, format=known) as db:
                db.info()
                for _ in db.audit():
                    pass
                for _, block in db.table.blocks(1 << 20):
                    for rows in block.values():
                        np.asarray(rows).sum()
        except bgfmt.BgfmtError as error:
            assert "\n" not in str(error)

    return work


def size_of(path: Path) -> int:
    return sum(one.stat().st_size for one in ([path] if path.is_file() else path.rglob("*")) if one.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("form", [form for form, (_, small, large) in SIZES.items() if small != large])
def test_sound_files(form: str, files: Callable[[str, int], Path]) -> None:
    small, large = files(form, 0), files(form, 1)
    times = size_of(large) / size_of(small)
    assert times > 2.5
    assert_linear(reading(small, form), reading(large, form), times)


@pytest.mark.slow
@pytest.mark.parametrize("form", SIZES)
def test_bytes_without_end(form: str, files: Callable[[str, int], Path], tmp_path: Path) -> None:
    sound = files(form, 0)
    kinds = (
        list(ENDLESS.items())[:2] if form == "gnubg-2001" else ENDLESS.items()
    )  # which has megabytes of its own
    for name, grown in kinds:
        short, long = (copy_with(sound, tmp_path / f"{name} {n}", grown, n) for n in (FEW, MANY))
        own = size_of(sound)
        times = max(2.0, (own + MANY) / (own + FEW))
        try:
            assert_linear(reading(short, form), reading(long, form), times)
        except AssertionError as error:
            raise AssertionError(f"{form}, {name}: {error}") from None


def copy_with(sound: Path, path: Path, grown: Callable[[bytes, int], bytes], n: int) -> Path:
    """A copy of a file or folder that goes on; of a folder the last file, and its description, do."""
    if sound.is_file():
        path.write_bytes(grown(sound.read_bytes(), n))
        return path
    shutil.copytree(sound, path)
    inside = sorted(one for one in path.rglob("*") if one.is_file())
    for one in {inside[-1], *(one for one in inside if one.name == "zarr.json")}:
        one.write_bytes(grown(one.read_bytes(), n))
    return path


# -- containers of more and more parts ------------------------------------------------------------------------


def npz_of_members(path: Path, sound: Path, n: int) -> None:
    shutil.copy(sound, path)
    with zipfile.ZipFile(path, "a") as archive:
        for k in range(n // 10):
            archive.writestr(f"a{k}.npy", b"")


def npz_of_facts(path: Path, sound: Path, n: int) -> None:
    with zipfile.ZipFile(sound) as old, zipfile.ZipFile(path, "w") as archive:
        for name in old.namelist():
            data = old.read(name)
            archive.writestr(name, data if name != "bgfmt.json" else data + b" " * n * 100)


def sqlite_of_tables(path: Path, sound: Path, n: int) -> None:
    shutil.copy(sound, path)
    with sqlite3.connect(path) as db:
        for k in range(n // 160):
            db.execute(f"CREATE TABLE t{k} (x)")
    db.close()


def sqlite_of_facts(path: Path, sound: Path, n: int) -> None:
    shutil.copy(sound, path)
    with sqlite3.connect(path) as db:
        db.executemany("INSERT INTO bgfmt VALUES (?, ?)", ((f"k{k}", "x" * 99) for k in range(n)))
    db.close()


def parquet_of_words(path: Path, sound: Path, n: int) -> None:
    """A footer with a long list of key and value, in Thrift's compact protocol."""
    data = sound.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    more = footer[:-1] + b"\x15\x02" * n + b"\0"
    path.write_bytes(data[: -8 - size] + more + len(more).to_bytes(4, "little") + b"PAR1")


def store_of_files(path: Path, sound: Path, n: int) -> None:
    shutil.copytree(sound, path)
    for k in range(n // 32):
        (path / "equities" / f"c.{k}.{k}.9").touch()


def store_of_words(path: Path, sound: Path, n: int) -> None:
    shutil.copytree(sound, path)
    said = json.loads((path / "zarr.json").read_text())
    said["attributes"]["more"] = {f"k{k}": [k] for k in range(n)}
    (path / "zarr.json").write_text(json.dumps(said))


def nouns(path: Path, sound: Path, n: int) -> None:
    """A J file of many nouns is a gnubg file's size: the sound one's bytes, over and over behind a fitting length."""
    data = sound.read_bytes()
    out = io.BytesIO()
    for _ in range(max(1, n // 400)):
        out.write(data[:4096])
    path.write_bytes(out.getvalue())


PARTS: dict[str, tuple[str, Callable[[Path, Path, int], None]]] = {
    "npz: members": ("npz", npz_of_members),
    "npz: words": ("npz", npz_of_facts),
    "sqlite: tables": ("sqlite", sqlite_of_tables),
    "sqlite: facts": ("sqlite", sqlite_of_facts),
    "parquet: footer": ("parquet", parquet_of_words),
    "zarr: files": ("zarr", store_of_files),
    "zarr: words": ("zarr", store_of_words),
    "jfile: directories": ("jfile", nouns),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_more_and_more_parts(name: str, files: Callable[[str, int], Path], tmp_path: Path) -> None:
    form, make = PARTS[name]
    paths = [tmp_path / "short", tmp_path / "long"]
    for path, n in zip(paths, (2_000, 16_000), strict=True):
        make(path, files(form, 0), n)
    short, long = (reading(path, form) for path in paths)
    assert_linear(short, long, 8)
