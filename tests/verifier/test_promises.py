"""What docs/verify.md promises of `verify`: what is proved, what is found, what a report says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.verifier.proofs import PROOFS
from tests.conftest import GOLDEN

GNUBG = GOLDEN / "gnubg"
TS, OS, HYPER = GNUBG / "ts_05x04.bd", GNUBG / "os_p03.bd", GNUBG / "hyper1.bd"


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """`verify(file, ...)`: exit code and the first line of the command."""

    def one(*words: object) -> tuple[int, str]:
        code = run(["verify", *map(str, words)])
        return code, (capsys.readouterr().out.splitlines() or [""])[0]

    return one


def changed(path: Path, to: Path, at: int, by: int = 1) -> Path:
    data = bytearray(path.read_bytes())
    data[at] ^= by
    to.write_bytes(data)
    return to


def test_every_entry_must_follow(tmp_path: Path, verify: Any) -> None:
    """Of small tables each single entry, changed by one unit, is a finding; a sound file is proved by name."""
    for name, recipe in (("ts_02x03.bd", "gnubg"), ("os_p02.bd", "gnubg")):
        assert verify(GNUBG / name)[0] == 0
        assert f"(recipe {recipe})" in verify(GNUBG / name)[1]
    table: Any = bgfmt.load(GNUBG / "ts_02x01.bd")
    for entry in np.ndindex(table.equities.shape):
        equities = np.array(table.equities)
        equities[entry] ^= 1
        bgfmt.save(replace(table, equities=equities), tmp_path / "x.bd", force=True)
        assert bgfmt.verify(tmp_path / "x.bd").exit_code == 1, entry
    names = {recipe.name for proof in PROOFS.values() for recipe in proof.recipes}
    assert names >= {"gnubg", "gnubg-2001", "bgsage", "exact"}


@pytest.mark.slow
def test_what_has_no_smaller_entries(tmp_path: Path, verify: Any) -> None:
    code, verdict = verify(HYPER)
    assert code == 0
    assert re.match(
        r"proved: every one of 676 entries is what makehyper's iteration gives after \d+ sweeps", verdict
    )
    assert verify(GNUBG / "os_p02_nd.bd") == (
        0, "proved: every one of 136 entries follows from the rules (recipe gnubg)",
    )  # fmt: skip
    bgfmt.solve("expected-points", 2, 2, tmp_path / "t.points")
    assert verify(tmp_path / "t.points")[0] == 0
    text = bytearray((tmp_path / "t.points").read_bytes())
    at = max(k for k, byte in enumerate(text) if 48 <= byte < 57)
    text[at] += 1
    (tmp_path / "t.points").write_bytes(text)
    assert verify(tmp_path / "t.points")[0] == 1


@pytest.mark.slow
def test_less_is_no_proof_and_says_so(verify: Any) -> None:
    assert verify(TS) == (0, "proved: every one of 15,876 entries follows from the rules (recipe gnubg)")
    for less in (["--quick"], ["--sample", "5"], ["--until", "sense"], ["--until", "structure"]):
        code, verdict = verify(TS, *less)
        assert code == 0
        assert "not a proof" in verdict
        assert "proved" not in verdict


@pytest.mark.slow
def test_wrong_entries_are_named_a_hundred_at_most(tmp_path: Path) -> None:
    table: Any = bgfmt.load(TS)
    for wrong in (3, 250):
        equities = np.array(table.equities)
        rows = np.random.default_rng(2).choice(126 * 126, wrong, replace=False)
        equities.reshape(-1, 4)[rows, 1] ^= 256
        bgfmt.save(replace(table, equities=equities), tmp_path / f"{wrong}.bd")
        report = bgfmt.verify(tmp_path / f"{wrong}.bd")
        named = {one.entry for one in report.findings if one.entry is not None}
        assert report.wrong == wrong
        assert named <= set(rows.tolist())
        assert len(named) == min(wrong, 100)


@pytest.mark.slow
def test_repair_corrects_them_while_most_are_right(tmp_path: Path) -> None:
    table: Any = bgfmt.load(GNUBG / "ts_02x03.bd")
    for wrong, repaired in ((3, True), (95, False)):
        equities = np.array(table.equities)
        equities.reshape(-1, 4)[5 : 5 + wrong] ^= 0x1234
        bgfmt.save(replace(table, equities=equities), tmp_path / "x.bd", force=True)
        code = run(["repair", str(tmp_path / "x.bd"), "-o", str(tmp_path / f"{wrong}.bd")])
        assert (code == 0) == repaired
        assert (tmp_path / f"{wrong}.bd").exists() == repaired
    assert (tmp_path / "3.bd").read_bytes() == (GNUBG / "ts_02x03.bd").read_bytes()


# -- docs/verify.md ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_near_is_not_good(tmp_path: Path, verify: Any) -> None:
    table: Any = bgfmt.load(TS)
    equities = np.array(table.equities)
    equities[5, 7, 2] += 1
    bgfmt.save(replace(table, equities=equities), tmp_path / "x.bd")
    assert verify(tmp_path / "x.bd")[0] == 1
    code, verdict = verify(tmp_path / "x.bd", "--tolerance", "2")
    assert (code, verdict.startswith("within the tolerance of 2 units, not a proof: ")) == (0, True)
    assert verify(tmp_path / "x.bd", "--tolerance", "0.5")[0] == 1


@pytest.mark.slow
def test_bytes_that_no_number_depends_on(tmp_path: Path, verify: Any) -> None:
    assert verify(changed(OS, tmp_path / "filler.bd", 30))[0] == 1
    (tmp_path / "end.bd").write_bytes(OS.read_bytes() + b"\0")
    assert verify(tmp_path / "end.bd")[0] == 1
    assert verify(changed(GNUBG / "os_p03_c.bd", tmp_path / "index.bd", 40 + 8 * 100))[0] in (1, 2)
    bgfmt.convert(TS, tmp_path / "t.npz")
    data = (tmp_path / "t.npz").read_bytes()
    directory = data.index(b"PK\1\2")
    for at in (directory + 12, directory + 16, data.index(b"PK\3\4") + 14):  # a time, a sum in either place
        assert verify(changed(tmp_path / "t.npz", tmp_path / "x.npz", at))[0] in (1, 2)
    (tmp_path / "x.bd").write_bytes(2 * TS.read_bytes())
    assert verify(tmp_path / "x.bd")[0] == 1
    bgfmt.save(replace(bgfmt.load(TS), recipe="bgsage"), tmp_path / "x.npz", force=True)
    assert verify(tmp_path / "x.npz")[0] == 1


@pytest.mark.slow
def test_every_byte_counts(tmp_path: Path) -> None:
    for name in ("os_p01.bd", "ts_02x01.bd"):
        for at in range((GNUBG / name).stat().st_size):
            report = bgfmt.verify(changed(GNUBG / name, tmp_path / "x.bd", at, 4))
            assert report.exit_code != 0, (name, at)


@pytest.mark.slow
def test_a_rivals_numbers_in_a_file(tmp_path: Path) -> None:
    table = solver.one_sided(3, recipe="bgsage")
    bgfmt.save(replace(table, recipe=""), tmp_path / "x.bd", format="gnubg-os")
    report = bgfmt.verify(tmp_path / "x.bd")
    assert (report.exit_code, report.recipe) == (0, "bgsage")
    assert any("bgsage" in note for note in report.notes)


@pytest.mark.slow
def test_where_it_stops() -> None:
    assert bgfmt.verify(TS).rung == "recurrence"
    for rung in ("structure", "digest", "sense", "recurrence", "regenerate"):
        assert bgfmt.verify(TS, until=rung).rung == rung


@pytest.mark.slow
def test_a_quick_look(tmp_path: Path, verify: Any) -> None:
    table: Any = bgfmt.load(GNUBG / "ts_06x04.bd")
    sound = np.array(table.equities)
    order = np.random.default_rng(1).permutation(len(sound))
    for equities in (np.zeros_like(sound), np.full_like(sound, 40000), sound[order]):
        bgfmt.save(replace(table, equities=equities), tmp_path / "x.bd", force=True)
        assert verify(tmp_path / "x.bd", "--quick")[0] == 1


@pytest.mark.slow
def test_options(verify: Any) -> None:
    for seed in (-(10**30), -1, 0, 10**30):
        assert verify(TS, "--sample", 9, "--seed", seed)[0] == 0
    assert verify(TS, "--against", TS)[0] == 0
    assert verify(TS, "--against", GNUBG / "ts_05x04.bd")[0] == 0
    assert verify(TS, "--against", OS)[0] == 2
    assert verify(GNUBG / "os_p03_H.bd", "--as", "gnubg-os:points=3")[0] == 0


@pytest.mark.slow
def test_reports(tmp_path: Path, verify: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = changed(TS, tmp_path / "mine.bd", 5000)
    before = mine.read_bytes()
    assert run(["verify", str(mine), "--json"]) == 1
    everything = json.loads(capsys.readouterr().out)
    report = tmp_path / "r.json"
    assert verify(mine, "--report", report)[0] == 1
    (one,) = everything if isinstance(everything, list) else [everything]
    written = json.loads(report.read_text())
    (same,) = written if isinstance(written, list) else [written]
    assert {key: same[key] for key in ("verdict", "findings")} == {
        key: one[key] for key in ("verdict", "findings")
    }
    assert verify(mine, "--report", report)[0] == 2
    assert verify(mine, "--report", report, "--force")[0] == 1
    assert verify(mine, "--report", tmp_path / "r.html")[0] == 1
    assert "<html" in (tmp_path / "r.html").read_text()[:200]
    assert verify(mine, "--report", mine, "--force")[0] == 2
    assert mine.read_bytes() == before


@pytest.mark.slow
def test_wrong_in_itself_or_inherited(tmp_path: Path) -> None:
    """An early entry wrong in itself, and all made anew from it: the later ones inherit."""
    table: Any = bgfmt.load(TS)
    equities = np.array(table.equities)
    equities[3, 3] = 20000
    bgfmt.save(replace(table, equities=equities), tmp_path / "x.bd")
    report = bgfmt.verify(tmp_path / "x.bd")
    assert (report.wrong, report.inherited) == (
        1,
        0,
    )  # the others are right, though not as the wrong one gives them
    assert report.exit_code == 1


@pytest.mark.slow
def test_repair(tmp_path: Path, verify: Any) -> None:
    bgfmt.convert(GNUBG / "ts_06x04.bd", tmp_path / "t.bgts")
    size = (tmp_path / "t.bgts").stat().st_size
    changed(tmp_path / "t.bgts", tmp_path / "x.bgts", size // 2, 255)
    assert verify(tmp_path / "x.bgts")[0] == 1
    assert run(["repair", str(tmp_path / "x.bgts"), "-o", str(tmp_path / "y.bgts")]) == 0
    assert (tmp_path / "y.bgts").read_bytes() == (tmp_path / "t.bgts").read_bytes()


def test_compare(tmp_path: Path) -> None:
    assert run(["diff", str(GNUBG / "ts_03x03.bd"), str(GNUBG / "ts_03x03_cubeless.bd")]) == 0
    assert run(["diff", str(GNUBG / "ts_03x03.bd"), str(GNUBG / "ts_06x03.bd")]) == 0
    assert (
        run(["diff", str(GNUBG / "ts_03x03.bd"), str(changed(GNUBG / "ts_03x03.bd", tmp_path / "x.bd", 900))])
        == 1
    )
