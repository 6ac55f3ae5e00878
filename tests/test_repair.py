"""Repair gives the genuine bytes back, or refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import OutputExistsError, VerificationError
from tests import damage

FILES = (
    "os_p02.bd", "os_p03.bd", "os_p03_c.bd", "os_p03_g.bd", "os_p03_cg.bd", "os_p03_nd.bd", "ts_03x03.bd",
    "ts_03x03_cubeless.bd", "ts_06x02.bd", "ts_05x04.bd", "ts_12x02.bd", "hyper1.bd",
)  # fmt: skip
REPAIRABLE = ("bit", "bits", "unit", "swap", "header", "pad")


@pytest.mark.parametrize("kind", REPAIRABLE)
@pytest.mark.parametrize("name", FILES)
def test_the_genuine_bytes_come_back(golden: Path, tmp_path: Path, name: str, kind: str) -> None:
    original = (golden / "gnubg" / name).read_bytes()
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    for seed in range(3):
        path.write_bytes(damage.damaged(original, kind, seed, b""))
        report = bgfmt.repair(path, fixed, force=True)
        assert fixed.read_bytes() == original, (name, kind, seed)
        assert report.exit_code == 0
        assert "recomputed" in report.notes[0]


@pytest.mark.parametrize("kind", ["shift", "swapped_bytes", "cut"])
def test_what_is_repaired_is_genuine(golden: Path, tmp_path: Path, kind: str) -> None:
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    for name in ("os_p03.bd", "ts_05x04.bd", "os_p03_nd.bd"):
        original = (golden / "gnubg" / name).read_bytes()
        for seed in range(3):
            path.write_bytes(damage.damaged(original, kind, seed, b""))
            try:
                bgfmt.repair(path, fixed, force=True)
            except VerificationError as error:
                assert "not repairable" in str(error)
            else:
                assert fixed.read_bytes() == original


def test_what_is_no_table_is_refused(golden: Path, tmp_path: Path) -> None:
    original = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    for data in (original[:40], original[:40] + bytes(len(original) - 40), b"something else" * 100, b""):
        path.write_bytes(data)
        assert run(["repair", str(path), "-o", str(fixed)]) in (1, 2)
        assert not fixed.exists()


def test_a_sound_file_is_copied(golden: Path, tmp_path: Path) -> None:
    source, fixed = golden / "gnubg" / "os_p03.bd", tmp_path / "fixed.bd"
    assert run(["repair", str(source), "-o", str(fixed)]) == 0
    assert fixed.read_bytes() == source.read_bytes()
    with pytest.raises(OutputExistsError):
        bgfmt.repair(source, fixed)


def test_too_little_that_is_right_is_said_so(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.bd"
    path.write_bytes((golden / "gnubg/ts_05x04.bd").read_bytes()[:40000])
    with pytest.raises(VerificationError, match=r"at best \d+% of it is right, and \d+% must be"):
        bgfmt.repair(path, tmp_path / "out.bd")
