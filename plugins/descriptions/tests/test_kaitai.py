"""Readers that Kaitai Struct's compiler makes of the descriptions read what bgfmt reads, of every golden file."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import formats
from bgfmt.errors import BgfmtError
from bgfmt.extras.compressed import layout
from bgfmt.extras.lab.tables import CHEQUERS, Gillogly
from bgfmt.formats import bgsage, match
from bgfmt.formats.j.container import Container
from bgfmt.formats.j.noun import JType
from bgfmt.formats.records import as_read
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import OneSided, Table, TwoSided
from tests.conftest import FIXTURES, GOLDEN, ROOT

HERE = ROOT / "plugins/descriptions"
#: files that bgfmt and J refuse, and with what a reader without checks of its own ends
REFUSED = {"dir_wrong_order.ijf", "shorter.ijf", "version_unknown.ijf"}
LANGUAGES = (
    "cpp_stl", "csharp", "go", "java", "javascript", "lua", "nim", "perl", "php", "python", "ruby", "rust",
)  # fmt: skip
CONTAINERS = {"npz", "parquet", "sqlite", "zarr"}
TEXT = {"bkg-text", "csv", "points-text"}
COLUMNS = ("cubeless", "owned", "centered", "opponents")
FILES = [path for path in sorted(GOLDEN.rglob("*")) if path.suffix in (".bd", ".ijf")]


class Readers:
    """The readers by format, made once for all tests of a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        if name not in self.modules:
            spec = importlib.util.spec_from_file_location(name, self.folder / f"{name}.py")
            assert spec is not None
            assert spec.loader is not None
            self.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.modules[name])
        return self.modules[name]

    def reader(self, format: str) -> Any:
        """The class of a format."""
        name = format.replace("-", "_")
        return getattr(self.module(name), name.title().replace("_", ""))

    def read(self, format: str, data: bytes, *parameters: Any) -> Any:
        """What it reads in the bytes of a file."""
        return self.reader(format)(*parameters, stream(data))


def stream(data: bytes) -> Any:
    from kaitaistruct import KaitaiStream

    return KaitaiStream(io.BytesIO(data))


@pytest.fixture(scope="module")
def compiled(oracle: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    """All descriptions, compiled for every language that docs/formats/descriptions.md names; Python's are run."""
    node, compiler = oracle("node"), oracle("npm:kaitai-struct-compiler")
    oracle("py:kaitaistruct")
    oracle("py:yaml")
    import yaml

    specs = {path.stem: yaml.safe_load(path.read_text()) for path in (HERE / "kaitai").glob("*.ksy")}
    command = [node, str(HERE / "tests/compile.cjs"), compiler, *LANGUAGES]
    done = subprocess.run(command, input=json.dumps(specs), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    folder, files = tmp_path_factory.mktemp("kaitai"), json.loads(done.stdout)
    assert all(files[language] for language in LANGUAGES)
    for name, text in files["python"].items():
        (folder / name).write_text(text)
    readers = Readers(folder)
    before = sys.modules.get("positions")
    sys.modules["positions"] = readers.module("positions")  # as the others import it
    yield readers
    del sys.modules["positions"]
    if before is not None:
        sys.modules["positions"] = before


def test_every_binary_format_is_described() -> None:
    names = {path.stem.replace("_", "-") for path in (HERE / "kaitai").glob("*.ksy")}
    assert names == set(formats.signatures()) - CONTAINERS - TEXT | {"positions"}


# ---- golden files


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(GOLDEN)))
def test_golden_files(compiled: Readers, path: Path) -> None:
    """Every table of the file, those of files without header by what bgfmt takes them for."""
    data = path.read_bytes()
    source, at = Source.from_bytes(data, path.name), 0
    if path.name in REFUSED:
        with pytest.raises(BgfmtError):
            formats.recognise(source).read(source)
        return
    while at < len(data):
        described: dict[str, Any] = {}
        try:
            form = formats.recognise(source, at)
        except BgfmtError:
            ((form, described),) = formats.guesses(source)
        reading = form.read(source, at, **described)
        part = data[at : reading.extent.end]
        if form.name == "jfile":
            same_file(compiled.read("jfile", data), as_read(reading.table, Container))
            break
        same_table(compiled, form.name, part, reading.table, described)
        at = reading.extent.end


def same_table(
    compiled: Readers, name: str, data: bytes, table: Any, described: dict[str, Any] | None = None
) -> None:
    """The numbers of one of gnubg's files."""
    if described:
        order = ("points", "chequers", "gammon", "compressed", "cubeful")
        given = {"chequers": table.chequers} | described
        values = [given[key] for key in order if key in given]
        theirs = compiled.reader(name).Table(*values, 0, stream(data))
    else:
        file = compiled.read(name, data)
        theirs = file.table
        assert (getattr(file, "points", 25), file.chequers) == (table.points, table.chequers)
    assert theirs.n == table.positions
    if name == "gnubg-os":
        assert np.array_equal(distributions(theirs, "bearoff"), table.bearoff)
        assert theirs.gammon == (table.gammon is not None)
        if theirs.gammon:
            assert np.array_equal(distributions(theirs, "gammon"), table.gammon)
    elif name == "gnubg-nd":
        rows = [(r.mean, r.deviation, r.gammon_mean, r.gammon_deviation) for r in theirs.rows]
        assert np.array_equal(np.array(rows, "f4"), table.moments)
    elif name == "gnubg-ts":
        assert np.array_equal(equities(theirs, COLUMNS[: 4 if table.cubeful else 1]), table.equities)
    else:
        fields = (
            "win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "owned", "centered",
            "centered_jacoby", "opponents",
        )  # fmt: skip
        numbers = equities(theirs, fields).astype("<u4")
        records = np.asarray(table.records)
        assert np.array_equal(numbers.view("u1").reshape(*numbers.shape, 4)[..., :3].reshape(*records.shape[:2], 27),
                              records[..., :27])  # fmt: skip
        assert not any(record.zero for row in theirs.rows for record in row.records)


def distributions(theirs: Any, name: str) -> Any:
    """(n, 32) of a one-sided table, compressed or not."""
    if not theirs.compressed:
        return np.array([getattr(row, name) for row in theirs.rows])
    out = np.zeros((theirs.n, 32), np.int64)
    for row, entry in zip(out, theirs.index, strict=True):
        first = entry.gammon_first if name == "gammon" else entry.first
        values = getattr(entry, name)
        row[first : first + len(values)] = values
    return out


def equities(theirs: Any, columns: tuple[str, ...]) -> Any:
    """(n, n, columns) of rows of records."""
    return np.array(
        [[[getattr(record, name) for name in columns] for record in row.records] for row in theirs.rows]
    )


# ---- J component files


def same_file(theirs: Any, ours: Container | None) -> None:
    """Header, directory, free list and every noun."""
    assert ours is not None
    head = ours.header
    assert (theirs.version, theirs.length) == (head.version.number, head.length)
    assert (theirs.calls if theirs.header.noun.count > 6 else None) == head.calls
    assert (theirs.directory_at, theirs.free_at) == (head.directory[0], head.free[0])
    assert [[entry.position, entry.size] for entry in theirs.components] == ours.entries.tolist()
    for k, entry in enumerate(theirs.components):
        same_noun(entry.content.noun, ours[k])
    if head.free[1]:
        free = theirs.free_blocks.noun
        assert (free.integers if free.kind == 4 else free.floats) == [
            x for row in ours.free_list[0] for x in row
        ]


def same_noun(theirs: Any, ours: Any) -> None:
    assert (theirs.kind, theirs.shape, theirs.count) == (ours.type, list(ours.shape), ours.count)
    kind = ours.type
    if kind is JType.BOX:
        for inner, noun in zip(theirs.contents, ours.data, strict=True):
            same_noun(inner.noun, noun)
    elif kind in (JType.EXTENDED, JType.RATIONAL):
        assert [whole(inner.noun) for inner in theirs.contents] == list(ours.data)
    else:
        fields = {
            JType.BOOLEAN: "bytes", JType.LITERAL: "bytes", JType.INTEGER: "integers", JType.FLOAT: "floats",
            JType.COMPLEX: "floats", JType.QUAD: "quad_floats", JType.INT2: "integers_2", JType.INT4: "integers_4",
            JType.UNICODE: "unicode_2", JType.UNICODE4: "unicode_4",
        }  # fmt: skip
        flat = np.ascontiguousarray(ours.data).reshape(-1)
        if kind in (JType.COMPLEX, JType.QUAD):
            flat = flat.astype("c16").view("f8")
        assert np.array_equal(np.array(list(getattr(theirs, fields[kind])), flat.dtype), flat, equal_nan=kind in
                              (JType.FLOAT, JType.COMPLEX, JType.QUAD))  # fmt: skip


def whole(theirs: Any) -> int:
    """The number of a block of digits."""
    if theirs.kind == 4:
        return sum(digit * 10000**k for k, digit in enumerate(theirs.integers))
    word, data = 8 if theirs.form & 2 else 4, theirs.bytes
    if not theirs.form & 1:
        data = b"".join(data[k : k + word][::-1] for k in range(0, len(data), word))
    return int.from_bytes(data, "little") * (-1 if theirs.shape[0] < 0 else 1)


# ---- formats of which files are made


def written(name: str, *tables: Table) -> bytes:
    """The bytes of a file of these tables."""
    sink = MemorySink()
    for table in tables:
        formats.get(name).write(table, sink)
    return bytes(sink.data)


def same_fields(theirs: Any, ours: Any) -> None:
    """The fields of a header that construct reads."""
    for name, value in ours.items():
        if not name.startswith("_"):
            found = getattr(theirs, name)
            assert (value if isinstance(value, (int, bytes)) else list(value)) == found, name


@pytest.fixture(scope="module")
def one_sided() -> OneSided:
    with bgfmt.open(GOLDEN / "gnubg/os_p06.bd") as db:
        table = db.table
        assert isinstance(table, OneSided)
        gammon = np.asarray(table.gammon)
        return OneSided(
            points=6, chequers=15, bearoff=np.asarray(table.bearoff), gammon=gammon, gammon_policy="race"
        )


@pytest.mark.slow
def test_bgsage(compiled: Readers, one_sided: OneSided) -> None:
    data = written("bgsage", one_sided)
    theirs = compiled.read("bgsage", data)
    same_fields(theirs, bgsage.HEADER.parse(data))
    table = formats.get("bgsage").read(Source.from_bytes(data, "x")).table
    sections = as_read(table, bgsage.Sections)
    assert sections is not None
    assert np.array_equal([row.values for row in theirs.distributions], table.bearoff)  # type: ignore[attr-defined]
    assert np.array_equal(np.array(theirs.mean_rolls, "f4"), sections.means)
    assert np.array_equal(theirs.gammon_index, sections.where)
    assert np.array_equal([row.values for row in theirs.gammon_rows_part], sections.survival)


@pytest.mark.slow
def test_gnubg_2001(compiled: Readers, one_sided: OneSided) -> None:
    plain = OneSided(points=6, chequers=15, bearoff=one_sided.bearoff)
    chances = np.random.default_rng(1).integers(0, 65536, (924, 924, 1)).astype(np.uint16)
    theirs = compiled.read(
        "gnubg-2001", written("gnubg-2001", plain, TwoSided(points=6, chequers=6, equities=chances))
    )
    assert np.array_equal([row.values for row in theirs.rolls], plain.bearoff)
    assert np.array_equal([[pair.values for pair in row.values] for row in theirs.pairs], chances)


def test_bkg_binary(compiled: Readers) -> None:
    for domain, rows in (("union", 4853), ("intersection", 1724)):
        numbers = np.random.default_rng(1).random((rows, 9))
        table = Gillogly(points=6, chequers=CHEQUERS[domain], rows=numbers, recipe="exact")
        theirs = compiled.read("bkg-binary", written("bkg-binary", table))
        assert np.array_equal([row.values for row in theirs.rows], numbers)


def test_bgfmt_match(compiled: Readers) -> None:
    data = (FIXTURES / "match/score_3x2.bgm").read_bytes()
    theirs, table = (
        compiled.read("bgfmt-match", data),
        formats.get("bgfmt-match").read(Source.from_bytes(data, "x")).table,
    )
    header = match.HEADER.parse(data)
    same_fields(
        theirs, {name: value for name, value in header.items() if name not in ("states", "wins", "crc")}
    )
    assert theirs.crc == header.crc
    assert isinstance(table, bgfmt.tables.MatchScore)
    states = [(state.roller, state.cube) for state in table.score.states]
    assert [(c.roller, None if c.owner == 255 else (c.cube, c.owner)) for c in theirs.states] == states
    assert {r.points: (r.win, r.lose) for r in theirs.wins} == table.score.results
    assert theirs.crc == zlib.crc32(data[: theirs.header_size - 4])
    balance = [[record.values for record in row.values] for row in theirs.numbers]
    assert np.array_equal(np.array(balance, "f4"), table.balance)
    block = np.array(balance, "<f4")[: theirs.block_rows].tobytes()
    assert theirs.checksums_of_the_blocks[0] == zlib.crc32(block)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ts_06x04", "ts_06x04_cubeless"])
def test_bgfmt_ts(compiled: Readers, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part down to the coded blocks, and every sum, of nine tiles."""
    monkeypatch.setattr(layout, "MAX_GROUP_ROWS", 90)
    data = written("bgfmt-ts", bgfmt.load(GOLDEN / f"gnubg/{name}.bd"))
    source, theirs = Source.from_bytes(data, name), compiled.read("bgfmt-ts", data)
    same_fields(theirs, layout.HEADER.parse(data))
    shape = layout.read_shape(source, 0)
    directory = layout.read_directory(source, 0, shape)
    assert [c.shift for c in theirs.classes] == directory.classes.shifts.tolist()
    assert [c.frequencies for c in theirs.classes] == directory.classes.frequencies.tolist()
    assert (theirs.begins, theirs.order) == (directory.strips, directory.order.tolist())
    assert (bytes(theirs.facts), theirs.block_records) == (directory.facts, shape.block)
    assert theirs.directory_crc == zlib.crc32(data[64 : shape.first_strip - 4])
    for strip in theirs.strips:
        tiles, size = layout.read_strip_head(source, strip.start, shape)
        assert strip.head.size == size
        found = [
            (c.shifts[: c.wide], c.shifts[c.wide : c.wide + c.narrow], c.shifts[c.wide + c.narrow :])
            for c in strip.head.models
        ]
        assert found == [tuple(part.tolist() for part in c) for tile in tiles for c in tile.columns]
        assert [tile.factor_bytes for tile in strip.head.tiles] == [tile.factor_bytes for tile in tiles]
        begin = strip.start + size
        end = begin + 8 * len(strip.index.begins)
        assert strip.index.crc == zlib.crc32(data[begin:end])
        assert strip.index.index_size == end + 4 - begin
        for tile in strip.factors:
            assert all(record.crc32 == zlib.crc32(record.factors) for record in tile.records)
        for segment in strip.segments:
            body = segment.body
            assert body._io.pos() == segment.end - segment.start
            assert body.crc32 == zlib.crc32(data[segment.start : segment.end - 4])
        assert strip.segments[-1].end == theirs.begins[strip.g + 1]
    assert theirs.begins[-1] == len(data)
