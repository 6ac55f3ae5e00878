"""gnubg's files of 2001 and 2002: the published MD5 sum, reading, writing, converting."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import Position, Side, formats
from bgfmt.cli import run
from bgfmt.errors import BgfmtError, CapabilityError, FormatError, LossError, SolverError
from bgfmt.files.database import read_source
from bgfmt.files.gnubg_2001 import gnubg_2001_tables
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import OneSided, TwoSided, same_numbers
from tests.conftest import GOLDEN

MD5 = "ffbb2108abe1fd1a79c6d9d3eadf56cf"


@cache
def parts() -> tuple[OneSided, TwoSided]:
    return gnubg_2001_tables()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    bgfmt.save(parts(), tmp_path / "gnubg.bd", format="gnubg-2001")
    return tmp_path / "gnubg.bd"


@pytest.mark.slow
def test_the_recipe_gives_the_published_sum(file: Path) -> None:
    assert hashlib.md5(file.read_bytes()).hexdigest() == MD5
    assert parts()[0].recipe == parts()[1].recipe == "gnubg-2001"


@pytest.mark.slow
def test_the_command_makes_the_file_of_2001(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, again = tmp_path / "gnubg.bd", tmp_path / "again.bd"
    assert run(["solve", "gnubg-2001", "--quiet", "-o", str(path)]) == 0
    assert capfd.readouterr() == ("", "")
    assert hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() == MD5
    assert run(["solve", "gnubg-2001", "-o", str(path)]) == 2
    assert "exists already" in capfd.readouterr().err
    assert bgfmt.solve("gnubg-2001", 6, 15, again).read_bytes() == path.read_bytes()
    with pytest.raises(SolverError, match="6 points and 15 chequers"):
        bgfmt.solve("gnubg-2001", 5, 15, again, force=True)


def test_both_parts_are_read(file: Path, tmp_path: Path) -> None:
    with bgfmt.open(file) as db:
        assert (db.format.name, db.info()["parts"]) == ("gnubg-2001", 2)
        assert same_numbers(db.table, parts()[0])
        assert db.table.recipe == "gnubg-2001"
        assert db.lookup(Side(0, 0, 0, 0, 0, 1)).mean_rolls == pytest.approx(1.25, abs=1e-4)
        assert list(db.audit()) == []
    with bgfmt.open(file, part=1) as db:
        assert same_numbers(db.table, parts()[1])
        assert db.table.recipe == "gnubg-2001"
        assert db.lookup(Position(Side(0, 0, 0, 0, 0, 1), Side(1))).win == pytest.approx(27 / 36, abs=1e-4)
        assert list(db.audit()) == []
    bgfmt.convert(file, tmp_path / "copy.bd")
    assert (tmp_path / "copy.bd").read_bytes() == file.read_bytes()


def test_the_parts_as_todays_files(file: Path, tmp_path: Path) -> None:
    with pytest.raises(LossError, match="1 more database"):
        bgfmt.convert(file, tmp_path / "os.bd", to="gnubg-os")
    assert bgfmt.convert(file, tmp_path / "os.bd", to="gnubg-os", part=0) == []
    assert bgfmt.convert(file, tmp_path / "ts.bd", to="gnubg-ts", part=1) == []
    one, two = bgfmt.load(tmp_path / "os.bd"), bgfmt.load(tmp_path / "ts.bd")
    assert same_numbers(one, parts()[0])
    assert same_numbers(two, parts()[1])
    with bgfmt.open(GOLDEN / "gnubg/os_p06.bd") as db:
        now = np.asarray(db.table.bearoff)  # type: ignore[attr-defined]
    assert isinstance(one, OneSided)
    assert int((now != np.asarray(one.bearoff)).any(axis=1).sum()) == 28_703
    bgfmt.save([one, two], tmp_path / "again.bd", format="gnubg-2001")
    assert (tmp_path / "again.bd").read_bytes() == file.read_bytes()


def test_half_a_file_is_not_written(file: Path, tmp_path: Path) -> None:
    one, two = parts()
    for given in ([one], [two], [two, one], [one, one], [one, two, two]):
        with pytest.raises(CapabilityError):
            bgfmt.save(given, tmp_path / "x.bd", format="gnubg-2001")
    for part in (0, 1):
        with pytest.raises(CapabilityError, match="a one-sided table and a two-sided one"):
            bgfmt.convert(file, tmp_path / "x.bd", part=part)
    other = bgfmt.load(GOLDEN / "gnubg/ts_06x04_cubeless.bd")
    with pytest.raises(CapabilityError, match="6 chequers"):
        bgfmt.save([one, other], tmp_path / "x.bd", format="gnubg-2001")
    assert not (tmp_path / "x.bd").exists()


@pytest.mark.parametrize(
    "described", ["gnubg-os:points=6", "gnubg-ts:points=6,chequers=6,cubeful=no", "gnubg-ts"]
)
def test_no_wrong_answer_under_another_name(described: str, file: Path) -> None:
    with pytest.raises(BgfmtError):
        bgfmt.open(file, format=described)
    assert run(["info", str(file), "--as", described]) == 2


def test_cut_short_or_changed(file: Path) -> None:
    data = file.read_bytes()
    for size in (0, 1, 100, 3_472_896, len(data) - 1):
        with pytest.raises(FormatError):
            read_source(Source.from_bytes(data[:size], "x"), format="gnubg-2001")
    with pytest.raises(FormatError):
        read_source(Source.from_bytes(data + b"\0", "x"), format="gnubg-2001")
    with pytest.raises(FormatError):
        read_source(Source.from_bytes(data + b"\0", "x"))
    changed = bytearray(data)
    changed[5000] ^= 1
    db = read_source(Source.from_bytes(bytes(changed), "x"))
    assert not same_numbers(db.table, parts()[0])


def test_headerless_files_of_today_keep_their_own_format(tmp_path: Path) -> None:
    """The same one-sided part alone, as makebearoff -H writes it, is no file of 2001."""
    bgfmt.save(parts()[0], tmp_path / "os.bd", format="gnubg-os", header=False, compressed=False)
    with bgfmt.open(tmp_path / "os.bd") as db:
        assert db.format.name == "gnubg-os"


def test_a_new_file_is_never_historic_by_its_suffix(tmp_path: Path) -> None:
    bgfmt.save(bgfmt.load(GOLDEN / "gnubg/os_p02_g.bd"), tmp_path / "a.bd")
    with bgfmt.open(tmp_path / "a.bd") as db:
        assert db.format.name == "gnubg-os"


def test_bodies_in_any_order() -> None:
    form, one = formats.get("gnubg-2001"), parts()[0]
    store = MemorySink()
    with form.body(store, one) as room:  # type: ignore[arg-type]
        room["bearoff"][::-1] = np.asarray(one.bearoff)[::-1]
    store.flush()
    assert bytes(store.data) == np.asarray(one.bearoff).tobytes()
    assert isinstance(parts()[1], TwoSided)
