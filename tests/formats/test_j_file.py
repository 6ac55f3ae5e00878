"""The jfile format: the article's table, whole one-sided tables, other components; layouts convert without loss."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import Side
from bgfmt.errors import CapabilityError, CorruptError, NotCoveredError
from bgfmt.formats.j import layout
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import Container
from bgfmt.formats.j.layout import Components
from bgfmt.formats.j.noun import E3, as_json
from bgfmt.formats.j.write import compact
from bgfmt.game import board, orders
from bgfmt.storage import MemorySink
from bgfmt.tables import MeanRolls, OneSided, same_numbers
from tests.conftest import GOLDEN
from tests.support.j_changes import Changer
from tests.support.j_nouns import GOOD, JFILES, container, run_j

BGNS, BGNS32 = JFILES / "bgns.ijf", JFILES / "bgns_v32l.ijf"
ONE_SIDED = sorted(p for p in (GOLDEN / "gnubg").glob("os_p0[1-4]*.bd") if "_nd" not in p.name)
LAYOUTS: list[dict[str, Any]] = [
    {"word": 4}, {"order": "big"}, {"word": 8}, {"order": "little"}, {"container": "v64l"}, {"container": "v32b"},
    {"container": "v32l", "word": 8}, {"container": "v64b"},
]  # fmt: skip


def nouns(path: Path) -> list[Any]:
    file = container(path)
    return [as_json(file.noun(k)) for k in range(len(file))]


@pytest.mark.parametrize("path", GOOD, ids=lambda p: p.relative_to(JFILES).as_posix())
def test_plain_copy_is_byte_for_byte(path: Path, tmp_path: Path) -> None:
    bgfmt.convert(path, tmp_path / "copy.ijf")
    assert (tmp_path / "copy.ijf").read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in GOOD if p.name != "longer.ijf"], ids=lambda p: p.stem)
def test_word_size_and_byte_order_change_nothing(path: Path, tmp_path: Path) -> None:
    before, last = nouns(path), path
    for k, options in enumerate(LAYOUTS):
        new = tmp_path / f"{k}.ijf"
        try:
            bgfmt.convert(last, new, **options)
        except CapabilityError as error:
            # integers beyond 32 bits; empty files that the library could not go on with
            if path.name not in ("types.ijf", "00.ijf"):
                raise AssertionError(path.name) from error
            continue
        assert nouns(new) == before
        last = new


# -- the article's table -------------------------------------------------------------------------------------


def test_genuine_file_from_its_own_numbers(tmp_path: Path) -> None:
    table = bgfmt.load(BGNS)
    assert isinstance(table, MeanRolls)
    bgfmt.save(table, tmp_path / "a.ijf")
    assert (tmp_path / "a.ijf").read_bytes() == BGNS.read_bytes()
    bgfmt.save(table, tmp_path / "b.ijf", word=4)
    assert (tmp_path / "b.ijf").read_bytes() == BGNS32.read_bytes()
    bgfmt.convert(BGNS, tmp_path / "c.npz")
    bgfmt.convert(tmp_path / "c.npz", tmp_path / "d.ijf")
    assert (tmp_path / "d.ijf").read_bytes() == BGNS.read_bytes()


def test_a_table_in_memory_keeps_its_layout(tmp_path: Path) -> None:
    bgfmt.save(bgfmt.load(BGNS32), tmp_path / "a.ijf")
    assert (tmp_path / "a.ijf").read_bytes() == BGNS32.read_bytes()


@pytest.mark.parametrize("path", [BGNS, BGNS32], ids=lambda p: p.stem)
def test_values_the_article_prints(path: Path) -> None:
    printed = {
        (0, 0, 0, 0, 0, 1): "1.25", (0, 0, 0, 2, 3, 4): "6.56681", (1, 0, 0, 0, 0, 1): "1.58642",
        (0, 1, 0, 0, 1, 0): "1.47531", (0, 0, 0, 1, 1, 1): "2.48642", (0, 2, 2, 2, 1, 2): "5.30267",
        (1, 1, 2, 2, 0, 3): "5.40427",
    }  # fmt: skip
    with bgfmt.open(path) as db:
        for counts, value in printed.items():
            assert f"{db.lookup(Side(*counts)).mean_rolls:.6g}" == value
        assert db.lookup(Side(0, 0, 0, 0, 0, 15)).mean_rolls == 12.266187171764628
        assert db.lookup(Side()).mean_rolls == 0
        found = db.lookup_many(np.array(list(printed)))
        assert [f"{x:.6g}" for x in found] == list(printed.values())
        with pytest.raises(NotCoveredError):
            db.lookup(Side(0, 0, 0, 0, 0, 0, 1))
        info = db.info()
    assert (info["kind"], info["container"]) == ("mean-rolls", "v64b" if path == BGNS else "v32l")


def test_corner_of_the_article_table(tmp_path: Path) -> None:
    bgfmt.convert(BGNS, tmp_path / "small.ijf", points=4, chequers=7)
    with bgfmt.open(tmp_path / "small.ijf") as db, bgfmt.open(BGNS) as whole:
        assert (db.table.points, db.table.chequers) == (4, 7)
        for counts in ((0, 0, 0, 7), (1, 2, 3, 1), (0, 1)):
            assert db.lookup(Side(*counts)).mean_rolls == whole.lookup(Side(*counts)).mean_rolls


def test_a_changed_table_is_written_as_changed(tmp_path: Path) -> None:
    with bgfmt.open(BGNS) as db:
        means = np.asarray(db.table.means) + 1
        bgfmt.save(replace(db.table, means=means), tmp_path / "a.ijf")
    assert np.array_equal(bgfmt.load(tmp_path / "a.ijf").means, means)


def test_wrong_ncodes_are_named(tmp_path: Path) -> None:
    data = bytearray(BGNS.read_bytes())
    data[0x728 + 8 * 299] ^= 1
    path = tmp_path / "bad.ijf"
    path.write_bytes(data)
    with pytest.raises(
        CorruptError, match=rf"byte {0x728 + 8 * 299:,} \(position 4,982\): expected ncode 564, found 565"
    ):
        bgfmt.open(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", [BGNS, BGNS32], ids=lambda p: p.stem)
def test_a_table_that_j_changed_is_proved(path: Path, tmp_path: Path) -> None:
    """After `jreplace` of the same numbers, and an upgrade where a 32-bit J made the file; a wrong number is none."""
    file, store = container(path), MemorySink(path.read_bytes())
    writer = Changer.over(store, file)
    for change in (lambda: writer.replace([1], [file.noun(1)]), lambda: writer.append([jn.text("a note")])):
        change()
        (tmp_path / "a.ijf").write_bytes(bytes(store.data))
        report = bgfmt.verify(tmp_path / "a.ijf")
        assert (report.status, report.exit_code) == ("proved", 0), report.verdict
    at = container(tmp_path / "a.ijf").noun(1).at + 8 * 5000
    data = bytearray(store.data)
    data[at] ^= 1
    (tmp_path / "a.ijf").write_bytes(bytes(data))
    assert bgfmt.verify(tmp_path / "a.ijf").exit_code == 1


# -- order ---------------------------------------------------------------------------------------------------


def test_peelles_order() -> None:
    order = orders.Peelle(6, 15)
    rows = np.arange(order.count)
    numbers = order.numbers(rows)
    sums = {
        "2b99bdf67a1b0739794f0ce4fc8db9821d37e79b72ac64f20143bc9feeccd5ef": numbers,
        "d7747bb8775a60a3c071885859412dc1831189a50de458b18b5d3342eae7453f": order.rows(rows),
        "44d459dc86eebced51324f38db5b19c87dcb35e7ba43953b122d6f9ebb64a684": order.codes(rows),
    }
    for digest, values in sums.items():
        assert hashlib.sha256(values.astype("<u4").tobytes()).hexdigest() == digest


@pytest.mark.parametrize(("points", "chequers"), [(1, 1), (1, 15), (2, 7), (5, 3), (9, 4), (15, 2), (16, 1)])
def test_order_of_other_sizes(points: int, chequers: int) -> None:
    order = orders.Peelle(points, chequers)
    rows = np.arange(order.count)
    codes = order.codes(rows)
    assert (np.diff(codes) > 0).all()
    assert np.array_equal(order.rows(order.numbers(rows)), rows)
    assert (points, chequers) in layout.sizes_of(order.count)
    assert order.count == board.count(points, chequers)


# -- whole one-sided tables ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", ONE_SIDED, ids=lambda p: p.stem)
@pytest.mark.parametrize("options", [{}, {"word": 4, "order": "big"}], ids=["e3", "e0"])
def test_one_sided_there_and_back(path: Path, options: dict[str, Any], tmp_path: Path) -> None:
    assert bgfmt.convert(path, tmp_path / "a.ijf", **options) == []
    bgfmt.convert(tmp_path / "a.ijf", tmp_path / "b.bd", to="gnubg-os")
    assert (tmp_path / "b.bd").read_bytes() == path.read_bytes()
    with bgfmt.open(path) as db, bgfmt.open(tmp_path / "a.ijf") as j:
        assert same_numbers(db.table, j.table)
        side = Side(1)
        assert j.lookup(side).as_dict() == db.lookup(side).as_dict()


def test_layout_of_a_whole_table(tmp_path: Path) -> None:
    source = GOLDEN / "gnubg" / "os_p03.bd"
    bgfmt.convert(source, tmp_path / "a.ijf")
    file = container(tmp_path / "a.ijf")
    codes, ns, bearoff, gammon, said = (file.noun(k) for k in range(5))
    with bgfmt.open(source) as db:
        row = codes.data.tolist().index(0x213)
        number = Side(2, 1, 3).number(3)
        assert bearoff.data[row].tolist() == db.table.bearoff[number].tolist()
        assert gammon.data[row].tolist() == db.table.gammon[number].tolist()
        assert ns.data[row] == pytest.approx(db.lookup(Side(2, 1, 3)).mean_rolls, rel=1e-6)
    lines = said.data.tobytes().decode().splitlines()
    assert lines[:5] == ["bgfmt one-sided", "points 3", "chequers 15", "scale 65535", "gammon own"]


@pytest.mark.slow
def test_a_whole_table_without_its_title_is_damaged(tmp_path: Path) -> None:
    """Read as the article's table, whose numbers are right; but rows are left that nothing describes."""
    path = tmp_path / "one.ijf"
    bgfmt.convert(GOLDEN / "gnubg/os_p02.bd", path, to="jfile")
    path.write_bytes(path.read_bytes().replace(b"bgfmt one-sided", b"b'fmt one-sided"))
    report = bgfmt.verify(path)
    assert report.exit_code == 1
    assert "component 2, integer 136 by 32" in report.verdict


def test_exact_tables_keep_every_bit(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    n = board.count(2, 5)
    table = OneSided(points=2, chequers=5, bearoff=random.random((n, 17)), gammon=random.random((n, 17)))
    for options in ({}, {"word": 4}, {"order": "big"}):
        bgfmt.save(table, tmp_path / "a.ijf", force=True, **options)
        back = bgfmt.load(tmp_path / "a.ijf")
        assert np.array_equal(back.bearoff, table.bearoff)
        assert np.array_equal(back.gammon, table.gammon)
        assert back.exact


def test_what_loses_something_says_so(tmp_path: Path) -> None:
    source = GOLDEN / "gnubg" / "os_p02.bd"
    with pytest.raises(CapabilityError, match="gammon distributions are dropped"):
        bgfmt.convert(source, tmp_path / "a.ijf", gammon=False)
    with pytest.raises(CapabilityError, match="mean rolls"):
        bgfmt.convert(source, tmp_path / "a.ijf", kind="mean-rolls")
    bgfmt.convert(source, tmp_path / "a.ijf", gammon=False, lossy=True)
    assert bgfmt.load(tmp_path / "a.ijf").gammon is None
    bgfmt.convert(tmp_path / "a.ijf", tmp_path / "b.bd", to="gnubg-os")
    assert bgfmt.load(tmp_path / "b.bd").gammon is None
    bgfmt.convert(source, tmp_path / "c.ijf", kind="mean-rolls", lossy=True)
    assert bgfmt.load(tmp_path / "c.ijf").kind == "mean-rolls"


def test_impossible_tables_and_options(tmp_path: Path) -> None:
    wide = MeanRolls(points=17, chequers=1, means=np.zeros(board.count(17, 1)))
    with pytest.raises(CapabilityError, match="npz"):
        bgfmt.save(wide, tmp_path / "a.ijf")
    eight = MeanRolls(points=9, chequers=8, means=np.zeros(board.count(9, 8)))
    bgfmt.save(eight, tmp_path / "b.ijf")
    with pytest.raises(CapabilityError, match="4-byte"):
        bgfmt.save(eight, tmp_path / "c.ijf", word=4)
    for options in (
        {"word": 5},
        {"order": "middle"},
        {"container": "fj01"},
        {"gammon": True},
        {"kind": "one-sided"},
    ):
        with pytest.raises(CapabilityError):
            bgfmt.save(eight, tmp_path / "c.ijf", **options)
    assert [p.name for p in tmp_path.iterdir()] == ["b.ijf"]


# -- other components ----------------------------------------------------------------------------------------


def test_components_of_other_files() -> None:
    with bgfmt.open(JFILES / "types.ijf") as db:
        assert isinstance(db.table, Components)
        assert len(db.table.nouns) == 68
        assert db.table.nouns[26].data.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert db.info()["components"][26] == "integer 2 by 3: 0 1 2 3 4 5"
        with pytest.raises(NotCoveredError):
            db.lookup(Side(1))
    asked = [
        sys.executable,
        "-m",
        "bgfmt",
        "dump",
        str(JFILES / "types.ijf"),
        "--format",
        "json",
        "--start",
        "58",
    ]
    said = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    assert said[0] == {"component": 58, "type": "extended", "shape": [3], "values": ["1", "-2", "3"]}


def test_further_components_of_a_table_survive_a_change_of_layout(tmp_path: Path) -> None:
    file, store = container(BGNS), MemorySink()
    compact([file.noun(0), file.noun(1), jn.text("a note")], store)
    path = tmp_path / "more.ijf"
    path.write_bytes(bytes(store.data))
    with bgfmt.open(path) as db:
        assert db.table.kind == "mean-rolls"
        assert "1 more component follows the table's own" in db.info()["notes"]
    bgfmt.convert(path, tmp_path / "b.ijf", word=4)
    assert nouns(tmp_path / "b.ijf")[2]["hex"] == b"a note".hex()


def test_large_files_are_not_decoded_when_opened() -> None:
    """A box noun deep inside a large file is not walked until it is asked for."""
    store = MemorySink()
    compact([jn.integers(np.zeros(1 << 20, "i8")), jn.boxes([jn.integers([1])] * 3)], store)
    view = memoryview(bytes(store.data))
    file = Container(view, "x")
    assert np.shares_memory(file.noun(0).data, np.frombuffer(view, np.uint8))


@pytest.mark.slow
def test_many_components_through_a_file(tmp_path: Path) -> None:
    """Directories of many blanks, written behind, do not overtake the entries written over them."""
    store = MemorySink()
    compact([jn.text("x" * (k % 50)) for k in range(18_000)], store)
    first, second, third = (tmp_path / f"{k}.ijf" for k in range(3))
    first.write_bytes(bytes(store.data))
    bgfmt.convert(first, second, order="big")
    bgfmt.convert(second, third, order="little")
    assert third.read_bytes() == first.read_bytes()


# -- the real J ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_articles_lookup_in_j(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """His `N`, in J, over files we wrote: the mean-rolls table and the whole one-sided one."""
    jconsole = oracle("jconsole")
    bgfmt.convert(BGNS, tmp_path / "a.ijf", word=4, container="v64b")
    bgfmt.convert(GOLDEN / "gnubg" / "os_p06.bd", tmp_path / "b.ijf")
    for name, expected in (("a", 6.5668099382649165), ("b", None)):
        path = tmp_path / f"{name}.ijf"
        script = f"""
f =: <'{path}'
'dp ds' =: > 4 {{ 3!:2 (1!:11) f,<0 512
ent =: 2 2 $ _3 (3!:4) , |."1 (4 8) $ (1!:11) f,<dp,32
read =: 3 : '3!:2 (1!:11) f,<y{{ent'
ncodes =: read 0
ns =: read 1
N =: 3 : 'ns {{~ ncodes i. 16 #. 6 {{. y'
answer =: N 0 0 0 2 3 4
"""
        value = float(run_j(jconsole, tmp_path, script).data)
        with bgfmt.open(path) as db:
            found = db.lookup(Side(0, 0, 0, 2, 3, 4)).mean_rolls
        assert value == expected if expected else value == pytest.approx(found, rel=1e-6)


def test_j_adds_a_component_and_we_still_read_the_table(oracle: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "a.ijf"
    path.write_bytes(BGNS.read_bytes())
    script = f"""
f =: <'{path}'
h =: 3!:2 (1!:11) f,<0 512
'c l' =: (>2{{h),>3{{h
d =: 64 {{.!.' ' 3!:1 'a note'
d 1!:3 f
(, |."1 (2 8) $ 3 (3!:4) l,64) 1!:12 f,<1024+16*c
(3!:1 ((>0{{h);0;(c+1);(l+64);(>4{{h);(>5{{h);1+>6{{h)) 1!:12 f,<0
answer =: 1
"""
    run_j(oracle("jconsole"), tmp_path, script)
    with bgfmt.open(path) as db:
        assert db.lookup(Side(0, 1, 0, 0, 1, 0)).mean_rolls == pytest.approx(1.47531, abs=5e-6)
        assert db.info()["components"][2] == "literal 6: 'a note'"
        assert db.info()["calls"] == 3


def test_source_closed_under_a_table(tmp_path: Path) -> None:
    with bgfmt.open(JFILES / "small.ijf") as db:
        table = db.table
    assert isinstance(table, Components)
    assert table.nouns[5].data.tolist() == jn.decode(memoryview(jn.encode(jn.text("abc"), E3))).data.tolist()
    bgfmt.save(table, tmp_path / "a.ijf")
    assert (tmp_path / "a.ijf").read_bytes() == (JFILES / "small.ijf").read_bytes()
