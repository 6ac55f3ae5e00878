"""Converting: what is lost is said, progress is honest, and nothing is written where it should not be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import CapabilityError, FormatNeededError, LossError
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.write import compact
from bgfmt.storage import MemorySink
from tests.conftest import GOLDEN
from tests.support.j_nouns import container

OS = GOLDEN / "gnubg/os_p06.bd"
CASES = [
    (OS, "a.ijf", {}),
    (OS, "a.npz", {}),
    (OS, "a.bd", {"compressed": False}),
    (OS, "a.bd", {}),
    (GOLDEN / "gnubg/ts_06x04.bd", "a.npz", {}),
    (GOLDEN / "jfile/bgns.ijf", "b.ijf", {"word": 4}),
    (GOLDEN / "jfile/bgns.ijf", "b.npz", {}),
]


@pytest.mark.parametrize(("source", "name", "options"), CASES)
def test_progress_is_of_bytes_written(
    source: Path, name: str, options: dict[str, object], tmp_path: Path
) -> None:
    """At every report the part done is near the part of the file that is written."""
    seen: list[tuple[int, int]] = []
    bgfmt.convert(source, tmp_path / name, progress=lambda *p: seen.append(p), **options)  # type: ignore[arg-type]
    size = (tmp_path / name).stat().st_size
    assert seen[-1][0] == seen[-1][1]
    assert all(done <= total for done, total in seen)
    for done, total in seen[:-1]:
        assert abs(total - size) < 0.1 * size + 5000, (total, size)
        assert done <= size * 1.01 + 5000
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_no_file_called_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CapabilityError, match="- cannot be used as a file name"):
        bgfmt.convert(OS, "-")
    with pytest.raises(CapabilityError, match="- cannot be used as a file name"):
        bgfmt.save(bgfmt.load(GOLDEN / "gnubg/ts_03x03.bd"), "-", format="npz")
    assert run(["convert", str(OS), "-"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "described", ["gnubg-os:points=-1", "gnubg-os:points=0", "gnubg-ts:points=3,chequers=99"]
)
def test_an_impossible_description_is_one_line(
    described: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = GOLDEN / "gnubg/os_p03_H.bd"
    for arguments in (["info"], ["dump"], ["convert"]):
        rest = [str(tmp_path / "x.bd")] if arguments == ["convert"] else []
        assert run([*arguments, str(source), *rest, "--as", described]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_dropping_columns_is_a_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(GOLDEN / "gnubg/ts_03x03.bd")
    assert run(["convert", source, str(tmp_path / "c.bd"), "--cubeless"]) == 2
    assert "--lossy" in capsys.readouterr().err
    assert run(["convert", source, str(tmp_path / "c.bd"), "--cubeless", "--lossy"]) == 0
    assert capsys.readouterr().err.startswith("lost: the cubeful equities are dropped\n")


def test_further_components_of_a_j_file_are_a_loss(tmp_path: Path) -> None:
    file, store = container(GOLDEN / "jfile/bgns.ijf"), MemorySink()
    compact([file.noun(0), file.noun(1), *[jn.text(f"note {k}") for k in range(4)]], store)
    (tmp_path / "more.ijf").write_bytes(bytes(store.data))
    for target in ("a.npz", "b.ijf"):
        size = {"points": 4} if target == "b.ijf" else {}
        with pytest.raises(LossError, match="4 more components") as caught:
            bgfmt.convert(tmp_path / "more.ijf", tmp_path / target, **size)
        assert len(caught.value.lost) == 1
        assert bgfmt.convert(tmp_path / "more.ijf", tmp_path / target, lossy=True, **size)
    assert bgfmt.convert(tmp_path / "more.ijf", tmp_path / "c.ijf", word=4) == []
    with bgfmt.open(tmp_path / "c.ijf") as db:
        assert len(db.info()["components"]) == 6


def test_several_tables_in_one_file(tmp_path: Path) -> None:
    parts = [bgfmt.load(GOLDEN / f"gnubg/{name}.bd") for name in ("os_p02", "ts_03x03")]
    with pytest.raises(CapabilityError, match="holds one table"):
        bgfmt.save(parts, tmp_path / "a.npz", format="npz")
    with pytest.raises(CapabilityError):
        bgfmt.save(parts, tmp_path / "a.bd", format="gnubg-os")
    with pytest.raises(CapabilityError, match="no table"):
        bgfmt.save([], tmp_path / "a.bd", format="gnubg-os")
    bgfmt.save(parts[:1] * 2, tmp_path / "a.bd", format="gnubg-os")
    with bgfmt.open(tmp_path / "a.bd") as db:
        assert db.info()["parts"] == 2


def test_a_format_that_must_be_said(tmp_path: Path) -> None:
    with pytest.raises(FormatNeededError):
        bgfmt.convert(OS, tmp_path / "x.zip")
    table = bgfmt.load(GOLDEN / "gnubg/ts_03x03.bd")
    assert bgfmt.formats.default_format(table).name == "gnubg-ts"
    bgfmt.save(table, tmp_path / "x.bd")
    assert (tmp_path / "x.bd").read_bytes() == (GOLDEN / "gnubg/ts_03x03.bd").read_bytes()


def test_means_of_exact_rows_do_not_depend_on_the_machine() -> None:
    from bgfmt.tables.rolls import means_of

    rows = np.random.default_rng(1).random((50, 17))
    one_by_one = [sum(k * float(v) for k, v in enumerate(row)) for row in rows]
    assert means_of(rows).tolist() == one_by_one
