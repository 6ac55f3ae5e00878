"""Parquet, SQLite, CSV and Arrow: what the columns say, there and back, and what happens when a part is missing."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import (
    BgfmtError,
    CapabilityError,
    CorruptError,
    FormatError,
    LossError,
    MissingExtraError,
    UnknownFormatError,
)  # fmt: skip
from bgfmt.extras.frames.parquet import COMPRESSIONS
from bgfmt.files.database import read_source
from bgfmt.game.board import Position, Side
from bgfmt.storage import RangeSource, Source
from bgfmt.tables import TwoSided, flat, same_numbers
from tests.conftest import GOLDEN, ROOT

TS = GOLDEN / "gnubg/ts_06x04.bd"
NAMES = (
    "os_p01.bd", "os_p02.bd", "os_p02_g.bd", "os_p03_cg.bd", "os_p03_nd.bd", "ts_03x03.bd", "ts_06x03.bd",
    "ts_06x04_cubeless.bd", "ts_12x02.bd", "hyper1.bd",
)  # fmt: skip
SUFFIXES = (".parquet", ".sqlite")


def arrow_of(path: Path) -> dict[str, list[Any]]:
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pydict()


def rows_of(path: Path) -> dict[str, list[Any]]:
    """A file's columns, as a program that knows nothing of bgfmt reads them."""
    if path.suffix == ".parquet":
        return arrow_of(path)
    if path.suffix == ".csv":
        with open(path, newline="") as file:
            names, *lines = csv.reader(file)
        columns = list(zip(*lines, strict=True))
        return {
            n: list(c) if n == "position_id" else [float(x) for x in c]
            for n, c in zip(names, columns, strict=True)
        }
    db = sqlite3.connect(path)
    found = db.execute("SELECT * FROM positions")
    names = [said[0] for said in found.description]
    columns = list(zip(*found, strict=True))
    db.close()
    return dict(zip(names, map(list, columns), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name: str, suffix: str, tmp_path: Path) -> None:
    source, made, back = GOLDEN / "gnubg" / name, tmp_path / f"a{suffix}", tmp_path / "back.bd"
    with bgfmt.open(source) as db:
        own = db.format.name
    assert bgfmt.convert(source, made) == []
    assert bgfmt.convert(made, back, to=own) == []
    assert back.read_bytes() == source.read_bytes()
    bgfmt.convert(made, tmp_path / f"copy{suffix}")
    assert (tmp_path / f"copy{suffix}").read_bytes() == made.read_bytes()
    with bgfmt.open(made) as db:
        assert list(db.audit()) == []
    if name == "ts_03x03.bd":
        assert run(["verify", str(made)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv"])
@pytest.mark.parametrize("name", ["ts_03x03.bd", "os_p02.bd", "hyper1.bd", "ts_06x03.bd"])
def test_columns_say_what_look_up_says(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    bgfmt.convert(GOLDEN / "gnubg" / name, path)
    found = rows_of(path)
    table: Any = bgfmt.load(GOLDEN / "gnubg" / name)
    assert list(found) == [c.name for c in flat.columns(table)]
    assert found["position_number"] == list(range(table.entries))
    values = table.values(np.arange(table.entries))
    for k, column in enumerate(table.columns):
        assert np.array_equal(np.float32(found[column.name]), values[:, k].astype(np.float32))
    rng = np.random.default_rng(1)
    for number in rng.integers(0, table.entries, 25).tolist():
        asked = table.unrank(number)
        position = asked if isinstance(asked, Position) else Position(asked, Side())
        assert found["position_id"][number] == position.id
        for side, who in zip((position.us, position.them), ("us", "them"), strict=True):
            label = "point" if table.sides == 1 else who
            if table.sides == 2 or who == "us":
                counts = [found[f"{label}_{p}"][number] for p in range(1, table.points + 1)]
                assert counts == list(side.padded(table.points))
    for column in flat.columns(table):
        if column.role == "stored":
            stored = np.asarray(table.arrays()[column.of]).reshape(table.entries, -1)[:, column.place]
            assert np.array_equal(np.asarray(found[column.name], stored.dtype), stored)


@pytest.mark.slow
def test_large_groups_have_dictionaries(tmp_path: Path) -> None:
    """From 262,144 entries on 16-bit numbers are indices of a dictionary of all of them."""
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 65536, (715, 715, 4)).astype(np.uint16)
    table = TwoSided(points=4, chequers=9, equities=numbers)
    bgfmt.save(table, tmp_path / "a.parquet")
    import pyarrow.parquet as pq

    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert file.metadata.row_group(0).column(10).has_dictionary_page
    found = file.read()
    for k, name in enumerate(("cubeless", "owned", "centered", "opponent")):
        assert np.array_equal(found[f"stored_{name}"].to_numpy(), numbers[..., k].reshape(-1))
        assert np.array_equal(
            found[name].to_numpy(), table.values(np.arange(table.entries))[:, k + 1].astype(np.float32)
        )
    back: Any = bgfmt.load(tmp_path / "a.parquet")
    assert np.array_equal(back.equities, numbers)
    for number in (0, 1, 714, 715, 300_000, 715 * 715 - 1):
        assert found["position_id"][number].as_py() == table.unrank(number).id


@pytest.mark.slow
def test_other_readers_and_writers(tmp_path: Path) -> None:
    """DuckDB, polars and pandas read the file; what pyarrow writes again, compressed, is read as a table."""
    duckdb, pl, pd = (pytest.importorskip(name) for name in ("duckdb", "polars", "pandas"))
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    bgfmt.convert(TS, path)
    wanted = np.asarray(bgfmt.load(TS).arrays()["equities"])[..., 1].reshape(-1)
    assert np.array_equal(
        duckdb.sql(f"SELECT stored_owned FROM '{path}'").fetchnumpy()["stored_owned"], wanted
    )
    assert np.array_equal(pl.read_parquet(path)["stored_owned"].to_numpy(), wanted)
    assert np.array_equal(pd.read_parquet(path)["stored_owned"].to_numpy(), wanted)
    again = tmp_path / "again.parquet"
    pq.write_table(pq.read_table(path), again, compression="zstd", row_group_size=10_007)
    bgfmt.convert(again, tmp_path / "back.bd", to="gnubg-ts")
    assert (tmp_path / "back.bd").read_bytes() == TS.read_bytes()
    mixed = pq.read_table(path)
    order = np.random.default_rng(3).permutation(mixed.num_rows)
    pq.write_table(mixed.take(order), again)
    with pytest.raises(CorruptError, match="in order of position_number"):
        bgfmt.load(again)
    pq.write_table(mixed.drop_columns(["stored_owned"]), again)
    with pytest.raises(CorruptError, match="column stored_owned"):
        bgfmt.open(again)
    pq.write_table(mixed.replace_schema_metadata({}), again)
    with pytest.raises(UnknownFormatError, match="metadata"):
        bgfmt.open(again)
    pq.write_table(mixed.slice(0, 100), again)
    with pytest.raises(CorruptError, match="44,100 rows"):
        bgfmt.open(again)


def changed_by_arrow() -> dict[str, Callable[[Any], Any]]:
    """What somebody may do to a file through pyarrow that leaves the numbers that are read back as they were."""
    import pyarrow as pa

    def put(name: str, values: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda t: t.set_column(t.column_names.index(name), name, values(t))

    def one(values: Any, change: Any) -> Any:
        found = values.to_numpy(zero_copy_only=False).copy()
        found[-1] = change
        return pa.array(found)

    return {
        "a number": put("win", lambda t: one(t["win"], np.float32(0.25))),
        "the last bit": put(
            "win", lambda t: one(t["win"], np.nextafter(t["win"][-1].as_py(), np.float32(9)))
        ),
        "a count": put("us_1", lambda t: one(t["us_1"], 7)),
        "an id": put("position_id", lambda t: one(t["position_id"], "AAAAAAAAAAAAAA")),
        "two columns": put("us_1", lambda t: t["us_2"]),
        "another type": put("win", lambda t: t["win"].cast("double")),
        "none": put("win", lambda t: pa.array([None, *t["win"].to_pylist()[1:]], pa.float32())),
        "left out": lambda t: t.drop_columns(["win"]),
        "one more": lambda t: t.append_column("more", t["win"]),
        "twice": lambda t: t.append_column("win", t["win"]),
        "renamed": lambda t: t.rename_columns([n if n != "win" else "loss" for n in t.column_names]),
        "another order": lambda t: t.select(t.column_names[::-1]),
    }


@pytest.mark.slow
def test_another_programs_file_is_read_and_not_proved(tmp_path: Path) -> None:
    """Nothing accounts for its bytes, such as columns that are not read back; a copy in any format can be proved."""
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", path)
    sound = pq.read_table(path)
    for name, change in {"": lambda table: table, **changed_by_arrow()}.items():
        changed = change(sound).replace_schema_metadata(sound.schema.metadata)
        pq.write_table(changed, path)
        report = bgfmt.verify(path)
        assert (report.status, report.exit_code) == ("damaged", 1), name
        assert "expected a file written by bgfmt, found one by 'parquet-cpp" in report.verdict
        assert "otherwise every one of 400 entries follows from the rules" in report.verdict
    bgfmt.convert(path, tmp_path / "copy.parquet")
    assert bgfmt.verify(tmp_path / "copy.parquet").exit_code == 0


CHANGES_OF_ANOTHER_SQLITE = (
    "UPDATE positions SET win = 0.25 WHERE position_number = 9",
    "UPDATE positions SET us_1 = 1 - us_1 WHERE position_number = 9",
    "UPDATE positions SET position_id = 'x' WHERE position_number = 9",
    "UPDATE positions SET cubeless = owned, owned = cubeless",
    "UPDATE bgfmt SET value = value || ' '",
    "INSERT INTO bgfmt VALUES ('more', 'x')",
    "CREATE TABLE more (a)",
    "CREATE INDEX more ON positions (win)",
    "CREATE VIEW more AS SELECT 1",
    "DROP INDEX by_id",
    "PRAGMA user_version = 3",
    "PRAGMA application_id = 3",
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_somebody_else_is_not_damaged(suffix: str, tmp_path: Path) -> None:
    """Made by another program, or a table of bgfmt's that another program saved anew."""
    path = tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        import pandas as pd

        bgfmt.convert(GOLDEN / "gnubg/os_p02.bd", tmp_path / "own.parquet")
        pd.read_parquet(tmp_path / "own.parquet").to_parquet(path)
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE positions (position_number INTEGER)")
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code, report.cause) == ("not readable", 2, "")
    assert "but no table of bgfmt's" in report.verdict
    assert "`bgfmt convert` writes it again" in report.verdict


@pytest.mark.slow
def test_wrong_rows_of_a_database_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    bgfmt.convert(TS, path)
    for column, value, said in (("win", 0.5, "first in row 4,321"), ("stored_owned", 65536, "in row 4,321")):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"UPDATE positions SET {column} = ? WHERE position_number = 4321", [value])
            db.commit()
        verdict = bgfmt.verify(path).verdict
        assert said in verdict
        assert "cut short" not in verdict


@pytest.mark.slow
def test_another_sqlites_file_says_what_its_numbers_mean(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"

    def changed(*texts: str) -> Any:
        bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", path, force=True)
        db = sqlite3.connect(path)
        for text in texts:
            db.execute(text)
            db.commit()
        db.close()
        data = bytearray(path.read_bytes())
        data[96:100] = (3_007_001).to_bytes(4, "big")
        path.write_bytes(data)
        return bgfmt.verify(path)

    for sound in ((), ("VACUUM",), ("PRAGMA page_size = 1024", "VACUUM")):
        report = changed(*sound)
        assert report.exit_code == 0, sound
        assert any("SQLite layout carried along" in note for note in report.notes)
    for change in CHANGES_OF_ANOTHER_SQLITE:
        report = changed(change)
        assert (report.status, report.exit_code) == ("damaged", 1), change
        assert "SQLite contents" in report.verdict, change


def test_sqlite_finds_positions_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    bgfmt.convert(TS, path)
    table: Any = bgfmt.load(TS)
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for number in range(100, 44_000, 4391):
        asked = table.unrank(number).id
        found = db.execute("SELECT position_number FROM positions WHERE position_id = ?", [asked]).fetchall()
        assert found == [(number,)]
    plan = db.execute("EXPLAIN QUERY PLAN SELECT * FROM positions WHERE position_id = 'x'").fetchall()
    assert "by_id" in str(plan)
    db.execute("UPDATE positions SET stored_owned = 70000 WHERE position_number = 5")
    db.commit()
    db.close()
    with pytest.raises(CorruptError, match="fit uint16"):
        bgfmt.load(path)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM positions WHERE position_number = 7",
        "DELETE FROM bgfmt",
        "UPDATE bgfmt SET value = 'x'",
        "UPDATE positions SET stored_owned = 'abc' WHERE position_number = 9",
        "UPDATE positions SET stored_owned = 0.5 WHERE position_number = 9",
        "UPDATE positions SET stored_owned = -1 WHERE position_number = 9",
        "ALTER TABLE positions RENAME TO other",
        "ALTER TABLE positions ADD COLUMN more",
    ],
)
def test_changed_databases_are_refused(change: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", path)
    db = sqlite3.connect(path)
    db.execute(change)
    db.commit()
    db.close()
    with pytest.raises(FormatError) as caught:
        bgfmt.load(path)
    assert "\n" not in str(caught.value)


def test_a_view_that_never_ends_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", path)
    db = sqlite3.connect(path)
    db.execute("ALTER TABLE positions RENAME TO other")
    db.execute(
        "CREATE VIEW positions AS WITH RECURSIVE t(position_number) AS "
        "(SELECT 0 UNION ALL SELECT position_number + 1 FROM t) SELECT * FROM t"
    )
    db.commit()
    db.close()
    begin = time.process_time()
    with pytest.raises(CorruptError):
        bgfmt.load(path)
    assert time.process_time() - begin < 20


@pytest.mark.skipif(os.name == "nt", reason="no process is killed so")
def test_a_killed_conversion_leaves_nothing_among_temporary_files(tmp_path: Path) -> None:
    """The process is killed while the rows are written."""
    code = """
import os, signal, sys
import bgfmt
from bgfmt.extras.frames import sqlite

def stop(table):
    assert os.listdir(os.environ["TMPDIR"]) == []
    os.kill(os.getpid(), signal.SIGKILL)

sqlite._rows = stop
bgfmt.convert(sys.argv[1], sys.argv[2])
"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-c", code, str(GOLDEN / "gnubg/ts_03x03.bd"), str(tmp_path / "t.sqlite")]
    done = subprocess.run(words, env={**os.environ, "TMPDIR": str(temporary)}, check=False, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    assert sorted(os.listdir(tmp_path)) == ["temporary"]
    assert os.listdir(temporary) == []


def test_numbers_that_sqlite_does_not_keep(tmp_path: Path) -> None:
    numbers = np.zeros((10, 10, 1))
    for value in (np.nan, -0.0):
        numbers[3, 4] = value
        table = TwoSided(points=2, chequers=3, equities=numbers)
        with pytest.raises(CapabilityError, match="SQLite keeps"):
            bgfmt.save(table, tmp_path / "a.sqlite")
        assert list(tmp_path.iterdir()) == []
        bgfmt.save(table, tmp_path / "a.parquet", force=True)
        back: Any = bgfmt.load(tmp_path / "a.parquet")
        assert back.equities.tobytes() == numbers.tobytes()
        (tmp_path / "a.parquet").unlink()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_numbers_mean_may_be_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An infinite chance is kept, a deviation that follows from it is not: one line, and no file."""
    table = solver.one_sided(1, recipe="exact")
    numbers = np.array(table.bearoff)
    numbers[5, 2] = np.inf
    bgfmt.save(replace(table, bearoff=numbers), tmp_path / "a.npz")
    assert run(["convert", str(tmp_path / "a.npz"), str(tmp_path / "a.sqlite")]) == 2
    assert "SQLite keeps" in capsys.readouterr().err
    assert not (tmp_path / "a.sqlite").exists()


def test_csv_is_written_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", str(TS), str(tmp_path / "a.csv"), "--plan"]) == 0
    assert "bgfmt cannot read csv files back" in capsys.readouterr().out
    bgfmt.convert(TS, tmp_path / "a.csv")
    for arguments in (["info", str(tmp_path / "a.csv")], ["info", str(tmp_path / "a.csv"), "--as", "csv"]):
        assert run(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(CapabilityError, match="can be written but not read"):
        bgfmt.open(tmp_path / "a.csv", format="csv")


@pytest.mark.slow
def test_without_pyarrow_one_line_says_so(tmp_path: Path) -> None:
    bgfmt.convert(TS, tmp_path / "a.parquet")
    code = "import sys; sys.modules['pyarrow'] = None\nfrom bgfmt.cli import run\nsys.exit(run(sys.argv[1:]))"
    for arguments in (
        ["convert", str(TS), str(tmp_path / "b.parquet")],
        ["info", str(tmp_path / "a.parquet")],
        ["convert", str(tmp_path / "a.parquet"), str(tmp_path / "b.bd"), "--to", "gnubg-ts"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "pip install 'bgfmt[parquet]'" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["a.parquet"]


def test_pyarrow_is_imported_for_parquet_alone() -> None:
    code = f"import sys, bgfmt; bgfmt.load({str(TS)!r}); bgfmt.formats.all_formats(); print('pyarrow' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


def test_arrow_copies_nothing_where_numbers_lie_together() -> None:
    import pyarrow as pa

    db = bgfmt.open(TS)
    table: Any = db.table
    found = bgfmt.arrow(table)
    column = found.column("equities").chunk(0)
    assert column.values.buffers()[1].address == np.asarray(table.equities).ctypes.data
    wanted = np.array(table.equities).reshape(-1, 4)
    db.close()  # the column keeps the map
    assert np.array_equal(np.stack(column.to_numpy(zero_copy_only=False)), wanted)
    for name in ("os_p03_cg.bd", "os_p02_nd.bd", "hyper1.bd", "ts_03x03_cubeless.bd"):
        with bgfmt.open(GOLDEN / "gnubg" / name) as db:
            found = bgfmt.arrow(db.table)
            assert pa.table(db.table).equals(found)
            for label, rows in db.table.arrays().items():
                flat_numbers = np.concatenate([c.values.to_numpy() for c in found.column(label).chunks])
                assert np.array_equal(flat_numbers, np.asarray(rows).reshape(-1))
    with bgfmt.open(GOLDEN / "jfile/bgns.ijf") as db:
        assert np.array_equal(
            bgfmt.arrow(db.table)["means"].to_numpy(), np.asarray(db.table.arrays()["means"])
        )
    with bgfmt.open(GOLDEN / "jfile/types.ijf") as db, pytest.raises(CapabilityError, match="no arrays"):
        bgfmt.arrow(db.table)


def test_arrow_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bgfmt\[parquet\]'"):
        bgfmt.arrow(bgfmt.load(TS))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_end_in_a_table_or_an_error(suffix: str, tmp_path: Path) -> None:
    """Changed bytes, in footers and pages alike: within a second, and never more than a line."""
    bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", tmp_path / f"a{suffix}")
    data = (tmp_path / f"a{suffix}").read_bytes()
    rng = np.random.default_rng(4)
    outcomes = {"table": 0, "error": 0}
    for k in range(300):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 5))):
            near = len(data) if k % 3 else 3000
            at = int(rng.integers(near))
            at = len(data) - 1 - at % len(data) if suffix == ".parquet" else at % len(data)
            changed[at] = int(rng.choice([0, 1, 127, 128, 255, int(rng.integers(256))]))
        begin = time.process_time()
        source = Source.from_bytes(bytes(changed), "changed")
        if k % 2:
            source = RangeSource(
                "changed", len(changed), lambda at, size, d=bytes(changed): d[at : at + size]
            )
        try:
            table = read_source(source).table
            for _ in table.blocks():
                pass
            outcomes["table"] += 1
        except BgfmtError as error:
            assert "\n" not in str(error)
            outcomes["error"] += 1
        assert time.process_time() - begin < 20
    assert min(outcomes.values()) > 10


@pytest.mark.slow
def test_several_threads_ask_one_sqlite_file(tmp_path: Path) -> None:
    """Each waits for its turn; none waits for another for good."""
    table = solver.two_sided(4, 5)
    bgfmt.save(table, tmp_path / "t.sqlite", format="sqlite")
    with bgfmt.open(tmp_path / "t.sqlite") as db, ThreadPoolExecutor(4) as pool:
        rows = db.table.arrays()["equities"]
        found = list(pool.map(lambda k: np.asarray(rows[k % 30 : k % 30 + 60]), range(60)))
    for k, part in enumerate(found):
        assert np.array_equal(part, table.equities[k % 30 : k % 30 + 60])


@pytest.mark.slow
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_parquet_is_compressed_as_asked_and_copied_so(compression: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path, copy = tmp_path / "a.parquet", tmp_path / "b.parquet"
    bgfmt.convert(GOLDEN / "gnubg/ts_06x02.bd", path, compression=compression)
    metadata = pq.ParquetFile(path).metadata
    codecs = {metadata.row_group(0).column(k).compression.lower() for k in range(metadata.num_columns)}
    assert codecs == {"uncompressed" if compression == "none" else compression}
    bgfmt.convert(path, copy)
    assert copy.read_bytes() == path.read_bytes()
    assert bgfmt.verify(path).exit_code == 0
    bgfmt.convert(path, tmp_path / "back.bd", to="gnubg-ts")
    assert (tmp_path / "back.bd").read_bytes() == (GOLDEN / "gnubg/ts_06x02.bd").read_bytes()


def test_parquet_is_compressed_by_zstd_where_nothing_is_said(tmp_path: Path) -> None:
    bgfmt.convert(GOLDEN / "gnubg/ts_06x02.bd", tmp_path / "a.parquet")
    bgfmt.convert(GOLDEN / "gnubg/ts_06x02.bd", tmp_path / "b.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    with pytest.raises(CapabilityError, match="compression must be zstd or none"):
        bgfmt.convert(GOLDEN / "gnubg/ts_06x02.bd", tmp_path / "c.parquet", compression="zip")


def test_parquet_of_some_columns(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    source, path = GOLDEN / "gnubg/os_p02.bd", tmp_path / "a.parquet"
    with pytest.raises(LossError, match="cannot read the file back"):
        bgfmt.convert(source, path, columns="position_id,epc")
    bgfmt.convert(source, path, columns="epc, position_id,bearoff_3,", lossy=True)
    whole = tmp_path / "whole.parquet"
    bgfmt.convert(source, whole)
    read, every = pq.read_table(path), pq.read_table(whole)
    assert read.column_names == ["position_number", "position_id", "epc", "bearoff_3"]
    assert all(read.column(name).equals(every.column(name)) for name in read.column_names)
    with pytest.raises(CorruptError, match="written with some columns alone"):
        bgfmt.open(path)
    with pytest.raises(CapabilityError, match=r"no column 'ecp' \(it has \d+, such as epc\)"):
        bgfmt.convert(source, path, columns="ecp", force=True)


@pytest.mark.slow
def test_parquet_of_stored_columns_is_a_table(tmp_path: Path) -> None:
    source, path = GOLDEN / "gnubg/ts_06x02.bd", tmp_path / "a.parquet"
    names = "stored_cubeless,stored_owned,stored_centered,stored_opponent,win"
    assert bgfmt.convert(source, path, columns=names) == []
    bgfmt.convert(path, tmp_path / "b.parquet")
    assert (tmp_path / "b.parquet").read_bytes() == path.read_bytes()
    assert bgfmt.verify(path).exit_code == 0
    with bgfmt.open(path) as db, bgfmt.open(source) as own:
        assert db.info()["columns"] == 6
        assert same_numbers(db.table, own.table)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "sqlite", "npz"])
def test_repair_leaves_nothing_over_of_files_that_others_wrote(suffix: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path, fixed = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    bgfmt.convert(GOLDEN / "gnubg/ts_03x03.bd", path)
    if suffix == "parquet":
        pq.write_table(pq.read_table(path), path, compression="none", row_group_size=7)
    elif suffix == "sqlite":
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA page_size=65536")
            db.execute("VACUUM")
    else:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(zipfile.ZipInfo(name), data)
    report = bgfmt.repair(path, fixed)
    assert not [note for note in report.notes if "at the end" in note]
    assert bgfmt.verify(fixed).exit_code == 0
