"""A store of chunks wherever a file may stand: `lookup`, `convert`, `diff`, `info`, `serve`; and half a store."""

from __future__ import annotations

import hashlib
import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.files.solve import solve_table
from bgfmt.solver.two_sided import two_sided
from tests.support.serving import Client, served

PLACE = "0 1 1 0 0 / 1 0 0 2 0"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The 5x4 table as a store and as a file."""
    folder = tmp_path_factory.mktemp("both")
    solve_table("two-sided", 5, 4, store=folder / "t.store")
    return folder / "t.store", bgfmt.solve("two-sided", 5, 4, folder / "t.bd")


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    """What a command prints."""
    assert run([str(word) for word in words]) == code
    out, errors = capsys.readouterr()
    assert "Traceback" not in errors
    return out if code == 0 else errors


def asked(base: str, table: str, status: int = 200) -> dict[str, Any]:
    """The answer of a server."""
    found: dict[str, Any] = Client(base).json("/v1/lookup", status, position=PLACE, table=table)
    return found


@pytest.mark.slow
def test_commands_take_a_store_for_a_file(
    both: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, file = both
    answers = [json.loads(said(capsys, "lookup", path, PLACE, "#77", "--json")) for path in both]
    for answer in (*answers[0], *answers[1]):
        assert Path(answer.pop("path")) in both
        assert answer.pop("table") in [path.name for path in both]
    assert answers[0] == answers[1]
    assert json.loads(said(capsys, "info", store, "--json"))["positions"] == 126
    said(capsys, "diff", store, file)
    said(capsys, "convert", store, tmp_path / "a.bd")
    assert (tmp_path / "a.bd").read_bytes() == file.read_bytes()
    for path, name in ((store, "b.bd"), (file, "c.bd")):
        said(capsys, "convert", path, tmp_path / name, "--points", "3", "--chequers", "2")
    assert (tmp_path / "b.bd").read_bytes() == (tmp_path / "c.bd").read_bytes()
    said(capsys, "verify", store, "--against", file)


@pytest.mark.slow
def test_the_corner_of_a_store_is_the_smaller_table(tmp_path: Path) -> None:
    """As the 6x12 corner of 7x12 is, which a bar asks for."""
    solve_table("two-sided", 6, 5, store=tmp_path / "s")
    bgfmt.convert(tmp_path / "s", tmp_path / "corner.bd", points=5)
    made = bgfmt.solve("two-sided", 5, 5, tmp_path / "made.bd")
    assert (
        hashlib.sha256((tmp_path / "corner.bd").read_bytes()).digest()
        == hashlib.sha256(made.read_bytes()).digest()
    )


@pytest.mark.slow
def test_a_store_is_served(both: tuple[Path, Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(both[0], tmp_path / "s"))
    with served(f"s={store}", f"f={both[1]}") as base:
        here, there = asked(base, "s"), asked(base, "f")
        assert here["answers"] == there["answers"]
        assert here["table"] == "s"
        with urllib.request.urlopen(f"{base}v1/tables", timeout=800) as answer:
            listed = {table["name"]: table for table in json.loads(answer.read())["tables"]}
        assert listed["s"]["format"] == "zarr"
        assert listed["s"]["size"] == sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        assert listed["s"]["url"] is None  # no one file to hand out
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{base}tables/s", timeout=800)
        assert refused.value.code == 404


@pytest.mark.slow
def test_a_damaged_chunk_is_an_answer_of_the_server(both: tuple[Path, Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(both[0], tmp_path / "s"))
    for chunk in (store / "equities").glob("c.*"):
        content = bytearray(chunk.read_bytes())
        content[99] ^= 1
        chunk.write_bytes(content)
    with served(f"s={store}") as base:
        assert "CRC-32C of the chunk" in asked(base, "s", 500)["error"]["message"]
        with urllib.request.urlopen(f"{base}v1/tables", timeout=800) as answer:
            assert answer.status == 200


def test_half_a_store_is_refused_by_every_command(
    both: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(4)
    for k in range(4):
        store = Path(shutil.copytree(both[0], tmp_path / f"s{k}"))
        chunks = sorted((store / "equities").glob("c.*"))
        chunk = chunks[int(rng.integers(len(chunks)))]
        if k % 2:
            chunk.unlink()
        else:
            chunk.write_bytes(chunk.read_bytes()[: int(rng.integers(1, 1000))])
        for words in (
            ("lookup", store, PLACE),
            ("convert", store, tmp_path / "o.bd"),
            ("info", store),
            ("serve", store),
        ):
            assert "cut short" in said(capsys, *words, code=2), words
        assert "cut short" in bgfmt.verify(store).verdict
        assert not (tmp_path / "o.bd").exists()


def test_all_rows_of_a_chunk_asked_for_together_come_in_their_own_order(tmp_path: Path) -> None:
    """By position number they lie otherwise than by pips, which is how the chunk has them."""
    bgfmt.solve("two-sided", 2, 15, store=tmp_path / "store", memory=400_000_000)
    with bgfmt.open(tmp_path / "store") as db:
        assert np.array_equal(np.asarray(db.table.arrays()["equities"]), two_sided(2, 15).equities)
