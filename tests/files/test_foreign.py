"""Two-sided databases of other programs, known by description: ExactBearoff, and Hugh Sconyers's folder of files."""

from __future__ import annotations

import itertools
import json
import os
import struct
import subprocess
import sys
import time
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.cli import run
from bgfmt.errors import (
    BgfmtError,
    CapabilityError,
    FormatError,
    LossError,
    OutputExistsError,
    TruncatedError,
)
from bgfmt.extras.lab.formats import sconyers
from bgfmt.files.database import read_source
from bgfmt.storage import Source
from bgfmt.tables import TwoSided
from tests.conftest import GOLDEN

TS = GOLDEN / "gnubg/ts_06x03.bd"
ROW = 54_263
STANDARD = [(f"bg15_{k + 1}.dat", 16 * ROW * min(1250, ROW - 1250 * k)) for k in range(44)]


def exact_number(counts: tuple[int, ...], chequers: int) -> int:
    """The description's formula, called with one place more than there are points."""

    def ways(places: int, things: int) -> int:
        return comb(things + places - 1, places - 1)

    def number(places: int, things: int) -> int:
        if places == 1 or things == 0:
            return 0
        here = counts[places - 2]
        return number(places - 1, things - here) + sum(ways(places - 1, things - i) for i in range(here))

    return number(7, chequers)


def sparse(folder: Path) -> Path:
    """A folder of full shape that takes no room: 44 files, 47 GB, all zeros but what a test writes."""
    folder.mkdir()
    for name, size in STANDARD:
        with open(folder / name, "wb") as file:
            file.truncate(size)
    return folder


def put(folder: Path, us: Side, them: Side, values: tuple[float, ...]) -> None:
    """One record where the description says that it is."""
    row, column = us.number(6) - 1, them.number(6) - 1
    with open(folder / f"bg15_{row // 1250 + 1}.dat", "r+b") as file:
        file.seek(16 * (row % 1250 * ROW + column))
        file.write(struct.pack("<4f", *values))


# -- ExactBearoff ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ts_06x01", "ts_06x02", "ts_06x03", "ts_06x04"])
def test_exactbearoff_there_and_back(name: str, tmp_path: Path) -> None:
    source = GOLDEN / f"gnubg/{name}.bd"
    assert bgfmt.convert(source, tmp_path / "exact", to="exactbearoff") == []
    data = (tmp_path / "exact").read_bytes()
    chequers = int(name[-1])
    n = comb(chequers + 6, 6)
    assert data[:16] == struct.pack("<IIii", 73_457_356, 100, chequers, chequers)
    assert len(data) == 16 + 12 * n * n
    assert bgfmt.convert(tmp_path / "exact", tmp_path / "back.bd", to="gnubg-ts") == []
    assert (tmp_path / "back.bd").read_bytes() == source.read_bytes()
    bgfmt.convert(tmp_path / "exact", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data


def test_exactbearoff_records_lie_where_the_formula_says(tmp_path: Path) -> None:
    bgfmt.convert(TS, tmp_path / "exact", to="exactbearoff")
    data = (tmp_path / "exact").read_bytes()
    table: Any = bgfmt.load(TS)
    n = table.positions
    for us, them in itertools.product(range(0, n, 13), range(0, n, 7)):
        numbers = [exact_number(table.side(k).padded(6), 3) for k in (us, them)]
        at = 16 + 12 * (numbers[0] * n + numbers[1])
        fields = [int.from_bytes(data[at + 3 * k : at + 3 * k + 3], "little") for k in range(4)]
        wanted = table.equities[us, them] / 32767.5 - 1
        assert np.abs(np.array(fields) / 4_194_000 - 2 - wanted).max() < 1.3e-7


def test_exactbearoff_headers(tmp_path: Path) -> None:
    bgfmt.convert(TS, tmp_path / "exact", to="exactbearoff")
    data = bytearray((tmp_path / "exact").read_bytes())
    for at, value in ((4, 101), (8, 0), (8, 16), (8, -1), (12, 2)):
        changed = bytearray(data)
        changed[at : at + 4] = struct.pack("<i", value)
        with pytest.raises(FormatError):
            read_source(Source.from_bytes(bytes(changed), "x"))
    with pytest.raises(LossError, match="16 bits"):
        changed = bytearray(data)
        changed[-3] ^= 1
        (tmp_path / "changed").write_bytes(changed)
        bgfmt.convert(tmp_path / "changed", tmp_path / "x.bd", to="gnubg-ts")
    with bgfmt.open(tmp_path / "exact") as db:
        assert any("no genuine file seen" in note for note in db.info()["notes"])


# -- Sconyers --------------------------------------------------------------------------------------------


def test_sconyers_there_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sconyers, "ROWS", 25)  # 83 rows: four files
    folder = tmp_path / "sconyers"
    assert bgfmt.convert(TS, folder, to="sconyers") == []
    assert {p.name: p.stat().st_size for p in folder.iterdir()} == {
        f"bg3_{k}.dat": 16 * 83 * rows for k, rows in ((1, 25), (2, 25), (3, 25), (4, 8))
    }
    table: Any = bgfmt.load(TS)
    for us, them in ((1, 1), (26, 83), (83, 1)):
        file = (folder / f"bg3_{(us - 1) // 25 + 1}.dat").read_bytes()
        at = 16 * ((us - 1) % 25 * 83 + them - 1)
        wanted = (table.equities[us, them] / 32767.5 - 1).astype(np.float32)
        assert struct.unpack("<4f", file[at : at + 16]) == tuple(wanted.tolist())
    assert bgfmt.convert(folder, tmp_path / "back.bd", to="gnubg-ts") == []
    assert (tmp_path / "back.bd").read_bytes() == TS.read_bytes()
    assert bgfmt.convert(folder, tmp_path / "copy", to="sconyers") == []
    assert all((tmp_path / "copy" / p.name).read_bytes() == p.read_bytes() for p in folder.iterdir())
    with bgfmt.open(folder) as db:
        for us, them in itertools.product((0, 1, 83), repeat=2):
            asked = Position(table.side(us), table.side(them))
            assert db.lookup(asked).cubeless == pytest.approx(table.lookup(asked).cubeless, abs=1e-6)


def test_sconyers_full_shape_is_opened_and_looked_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sparse(tmp_path / "bg15")
    pairs = {
        (Side(1), Side(1)): (1.0, 0.5, 0.25, 0.125),
        (Side(0, 0, 0, 0, 0, 15), Side(0, 0, 0, 0, 0, 15)): (0.0625, 0.5, 0.25, -0.5),
        (Side.from_number(1250, 6), Side.from_number(54_263, 6)): (-0.25, 0.0, 0.75, -0.125),
        (Side.from_number(1251, 6), Side(1)): (-0.75, 0.5, 0.5, -0.5),
    }
    for (us, them), values in pairs.items():
        put(folder, us, them, values)
    with bgfmt.open(folder) as db:
        facts = db.info()
        assert (facts["format"], facts["points"], facts["chequers"], facts["files"]) == (
            "sconyers",
            6,
            15,
            44,
        )
        assert facts["size"] == 16 * ROW * ROW
        assert "documented, no genuine file seen" in " ".join(facts["notes"])
        for (us, them), values in pairs.items():
            found: Any = db.lookup(Position(us, them))
            assert (found.cubeless, found.owned, found.centered, found.opponent) == values
        assert db.lookup(Position(Side(), Side(1))).cubeless == 1
        assert db.lookup(Position(Side(1), Side())).cubeless == -1
        sides = list(zip(*pairs, strict=True))
        many = db.lookup_many(list(sides[0]), list(sides[1]))
        assert many.tolist() == [list(values) for values in pairs.values()]
    begin = time.process_time()
    assert run(["lookup", str(folder), "1 / 1", "--json"]) == 0
    assert time.process_time() - begin < 20  # all rows would take minutes
    assert json.loads(capsys.readouterr().out)[0]["centered"] == 0.25
    assert run(["info", str(folder)]) == 0
    assert run(["dump", str(folder), "--start", "2000000000", "--count", "3", "--format", "csv"]) == 0


@pytest.mark.parametrize("name", ["bg15_1.dat", "bg15_17.dat", "bg15_44.dat"])
def test_sconyers_missing_and_cut_files(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sparse(tmp_path / "bg15")
    size = (folder / name).stat().st_size
    for wrong in (0, 1, size - 1, size + 1):
        os.truncate(folder / name, wrong)
        with pytest.raises(FormatError, match=name) as caught:
            bgfmt.open(folder)
        assert isinstance(caught.value, TruncatedError) == (wrong < size)
    (folder / name).unlink()
    with pytest.raises(FormatError, match=f"{name} of bg15_1.dat to bg15_44.dat missing"):
        bgfmt.open(folder)
    for command in ("info", "verify"):
        assert run([command, str(folder)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    (folder / name).mkdir()
    with pytest.raises((BgfmtError, OSError)):
        bgfmt.open(folder)


def test_other_folders_are_no_tables(tmp_path: Path) -> None:
    for name in ("", "a.dat", "bg16_1.dat", "bg15_1.dat.part"):
        if name:
            (tmp_path / name).touch()
        with pytest.raises(OSError, match="folder"):
            bgfmt.open(tmp_path)
    (tmp_path / "bg15_1.dat").touch()
    (tmp_path / "bg14_1.dat").touch()
    with pytest.raises(FormatError, match="14 and 15"):
        bgfmt.open(tmp_path)


def test_sconyers_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    bad: Any = bgfmt.load(TS).coarser()[1].make()
    numbers = np.array(bad.equities)
    numbers[50, 0] = 0
    with pytest.raises(CapabilityError, match="leaves out"):
        bgfmt.save(type(bad)(points=6, chequers=3, equities=numbers), folder, format="sconyers")
    assert list(tmp_path.iterdir()) == []
    bgfmt.convert(TS, folder, to="sconyers")
    with pytest.raises(OutputExistsError):
        bgfmt.convert(TS, folder, to="sconyers")
    (folder / "bg3_1.dat").write_bytes(b"old")
    bgfmt.convert(TS, folder, to="sconyers", force=True)
    assert (folder / "bg3_1.dat").stat().st_size == 16 * 83 * 83
    (folder / "mine.txt").write_text("kept")
    with pytest.raises(OutputExistsError, match=r"mine\.txt"):
        bgfmt.convert(TS, folder, to="sconyers", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    (tmp_path / "file").touch()
    with pytest.raises(OutputExistsError, match="is a file"):
        bgfmt.convert(TS, tmp_path / "file", to="sconyers", force=True)
    with pytest.raises(CapabilityError):
        bgfmt.convert(TS, tmp_path / "small", to="sconyers", points=5)


def test_a_killed_conversion_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, bgfmt.storage as s\n"
        f"with s.create_folder({str(tmp_path / 'out')!r}, [('a', 10), ('b', 10)]) as sink:\n"
        "    sink.write(b'123'); sink.flush(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert not (tmp_path / "out").exists()
    bgfmt.convert(TS, tmp_path / "out", to="sconyers")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_finer_tables_are_compared_with_gnubgs(tmp_path: Path) -> None:
    bgfmt.convert(TS, tmp_path / "exact", to="exactbearoff")
    bgfmt.convert(TS, tmp_path / "sconyers", to="sconyers")
    for other in ("exact", "sconyers"):
        assert run(["diff", str(tmp_path / other), str(TS)]) == 0
    with bgfmt.open(tmp_path / "sconyers") as db:
        way = db.table.coarser()[-1]
        rounded: Any = way.make()
        assert isinstance(rounded, TwoSided)
        assert way.losses() == []
        assert np.array_equal(np.asarray(rounded.equities), np.asarray(bgfmt.load(TS).arrays()["equities"]))


@pytest.mark.parametrize(("form", "numbers"), [("sconyers", "float32"), ("exactbearoff", "24 bits")])
def test_exact_equities_are_rounded_to_finer_numbers(form: str, numbers: str, tmp_path: Path) -> None:
    with bgfmt.open(TS) as db:
        stored = np.asarray(db.table.arrays()["equities"], np.float64)
    exact = TwoSided(
        points=6, chequers=3, equities=stored / 32767.5 - 1 + 1e-6 * (stored % 7 - 3), recipe="exact"
    )
    exact.equities[0], exact.equities[1:, 0] = 1, -1  # type: ignore[index]
    bgfmt.save(exact, tmp_path / "e.npz")
    with pytest.raises(LossError, match=f"rounded to {numbers}"):
        bgfmt.convert(tmp_path / "e.npz", tmp_path / "out", to=form)
    lost = bgfmt.convert(tmp_path / "e.npz", tmp_path / "out", to=form, lossy=True)
    assert lost == [f"the equities are rounded to {numbers}"]
    with bgfmt.open(tmp_path / "out") as db:
        error = np.abs(db.table.values(np.arange(exact.entries)) - exact.values(np.arange(exact.entries)))
    assert 0 < error.max() <= (6.1e-8 if form == "sconyers" else 0.5 / 4_194_000 + 1e-12)
    with pytest.raises(CapabilityError, match="16-bit integers"):
        bgfmt.convert(tmp_path / "e.npz", tmp_path / "t.bd", to="gnubg-ts", lossy=True)
