"""Files written by released versions are read by this one: docs/stability.md promises it."""

from __future__ import annotations

import csv
import hashlib
import lzma
import runpy
import shutil
from pathlib import Path

import pytest

import bgfmt
from bgfmt import formats
from tests.conftest import FIXTURES

RELEASES = sorted((FIXTURES / "released").iterdir())
#: built-in formats added since the last release; empty again once `fixtures/make_released.py` has run
UNRELEASED: set[str] = set()
compute_checksum = runpy.run_path(str(FIXTURES / "make_released.py"))["compute_checksum"]


def read_contents(release: Path) -> list[dict[str, str]]:
    with (release / "contents.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


ROWS = [(release, row) for release in RELEASES for row in read_contents(release)]
#: the extra that has a format
EXTRAS = {
    "bgfmt-ts": "compressed",
    "bkg-binary": "lab",
    "bkg-text": "lab",
    "parquet": "frames",
    "points-text": "lab",
    "sqlite": "frames",
    "zarr": "large",
}
NAMES = [f"{release.name} {row['file']} {row['part']}" for release, row in ROWS]


def unpack(packed: Path, target: Path) -> Path:
    """Copy a file or folder without the packing by xz that keeps the repository small."""
    if packed.is_dir():
        shutil.copytree(packed, target)
        for path in target.rglob("*.xz"):
            path.with_suffix("").write_bytes(lzma.decompress(path.read_bytes()))
            path.unlink()
    elif packed.exists():
        shutil.copy(packed, target)
    else:
        target.write_bytes(lzma.decompress(packed.with_name(packed.name + ".xz").read_bytes()))
    return target


@pytest.mark.parametrize(
    ("release", "row"),
    [
        pytest.param(
            *pair, marks=pytest.mark.extra(EXTRAS[form]) if (form := pair[1]["format"]) in EXTRAS else ()
        )
        for pair in ROWS
    ],
    ids=NAMES,
)
def test_released_files_are_read(release: Path, row: dict[str, str], tmp_path: Path) -> None:
    path = unpack(release / row["file"], tmp_path / row["file"])
    with bgfmt.open(path, format=row["as"] or None, part=int(row["part"])) as database:
        table = database.table
        found = (database.format.name, table.kind, str(table.points), str(table.chequers))
        assert found == (row["format"], row["kind"], row["points"], row["chequers"])
        assert compute_checksum(table) == row["sha256"]


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_released_files_are_never_changed(release: Path) -> None:
    sums = {}
    for line in (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        checksum, _, name = line.partition("  ")
        sums[name] = checksum
    files = [path for path in release.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    found = {path.relative_to(release).as_posix(): path for path in files}
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()} == sums


@pytest.mark.extra("lab", "large")
def test_every_format_that_is_read_has_a_released_file() -> None:
    released = {row["format"] for _, row in ROWS}
    own = {
        name
        for name, form in formats.all_formats().items()
        if form.reads and type(form).__module__.startswith("bgfmt.")
    }
    assert released | UNRELEASED == own
