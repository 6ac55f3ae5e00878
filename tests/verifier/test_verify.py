"""The verifier on genuine files: each proved, and named for what it is."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.game import board
from bgfmt.game.board import count
from bgfmt.verifier import checks
from bgfmt.verifier.recurrence import two_sided as recurrence
from bgfmt.verifier.recurrence.plays import plays

GENUINE = sorted(
    p.name
    for p in (Path(__file__).resolve().parents[2] / "fixtures" / "golden" / "gnubg").glob("*.bd")
    if p.name not in ("h1_restart.bd", "ts_13x02.bd")  # of the latter's 13 points no rule is known
)


@pytest.mark.slow
@pytest.mark.parametrize("name", GENUINE)
def test_every_file_made_by_gnubg_is_proved(golden: Path, name: str) -> None:
    report = bgfmt.verify(golden / "gnubg" / name)
    assert report.exit_code == 0, report.verdict
    assert "proved: every one of" in report.verdict
    assert report.findings == []
    assert report.rung == "recurrence"


@pytest.mark.slow
def test_a_restarted_hypergammon_file_is_named(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "h1_restart.bd")
    assert (report.status, report.exit_code) == ("differs", 1)
    assert "a restarted run" in report.verdict


@pytest.mark.slow
def test_two_databases_in_one_file(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "concat_os_p02_ts_03x03.bd")
    assert [part.entries for part in report.parts] == [136, 400]
    assert report.verdict.startswith("2 databases; proved")
    seconds = [part.seconds["recurrence"] for part in report.parts]
    assert min(seconds) > 0
    assert report.seconds["recurrence"] == pytest.approx(sum(seconds))


def test_what_is_wrong_with_a_damaged_file_is_said_in_equities(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray((golden / "gnubg" / "ts_06x03.bd").read_bytes())
    path = tmp_path / "damaged.bd"
    at = 40 + 8 * (84 * 5 + 7) + 2  # position 5 against 7, the number with the cube owned
    right = int.from_bytes(data[at : at + 2], "little")
    data[at : at + 2] = (right - 4).to_bytes(2, "little")
    path.write_bytes(data)
    assert run(["verify", str(path)]) == 1
    said = capsys.readouterr().out
    equities = [value / 32767.5 - 1 for value in (right - 4, right)]
    wrong = f"owned stored {right - 4}, right {right} (equities {equities[0]:+.5f} and {equities[1]:+.5f})"
    assert f": {wrong}\n" in said
    assert re.search(r"\n  differ    stored numbers: .*1 by -4.* from what the file's other", said)


def test_published_sums_name_the_file_and_who_published_them(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "os_p06.bd", until="digest")
    assert "GNU Backgammon manual" in report.known_as
    assert "not a proof" in report.verdict
    assert bgfmt.verify(golden / "gnubg" / "os_p06.bd", until="structure").known_as == ""


@pytest.mark.slow
def test_every_level_up_to_the_solver(golden: Path) -> None:
    for name in ("ts_06x03.bd", "os_p03.bd", "os_p03_nd.bd", "ts_03x03_cubeless.bd"):
        report = bgfmt.verify(golden / "gnubg" / name, until="regenerate")
        assert report.rung == "regenerate"
        assert any("the same numbers throughout" in note for note in report.notes)
    for rung in ("structure", "digest", "sense"):
        report = bgfmt.verify(golden / "gnubg" / "ts_06x03.bd", until=rung)
        assert (report.rung, report.exit_code) == (rung, 0)


@pytest.mark.slow
@pytest.mark.parametrize("size", [("5", None), (None, "5x5"), (None, "9x3")])
def test_other_sizes_made_by_makebearoff(
    oracle: Callable[[str], str], tmp_path: Path, size: tuple[str | None, str | None]
) -> None:
    kind = ["-o", size[0]] if size[0] else ["-t", size[1]]
    path = tmp_path / "made.bd"
    subprocess.run([oracle("makebearoff"), *kind, "-f", str(path)], check=True, capture_output=True)  # type: ignore[list-item]
    assert bgfmt.verify(path).status == "proved"


@pytest.mark.slow
def test_bgsage_file_follows_its_own_recipe(tmp_path: Path) -> None:
    path = tmp_path / "sage.db"
    bgfmt.save(solver.one_sided(6, recipe="bgsage"), path, format="bgsage")
    report = bgfmt.verify(path)
    assert report.verdict == "proved: every one of 54,264 entries follows from the rules (recipe bgsage)"
    gnubg = tmp_path / "sage.bd"
    bgfmt.convert(path, gnubg, to="gnubg-os", lossy=True)
    assert bgfmt.verify(gnubg).recipe == "bgsage"


@pytest.mark.slow
def test_peelles_table(tmp_path: Path) -> None:
    path = tmp_path / "means.npz"
    table = solver.mean_rolls(4)
    bgfmt.save(table, path, format="npz")
    assert bgfmt.verify(path).status == "proved"
    table.means[17] += 1e-13  # type: ignore[index]
    bgfmt.save(table, path, format="npz", force=True)
    report = bgfmt.verify(path)
    assert (report.status, report.findings[0].entry) == ("damaged", 17)


@pytest.mark.slow
def test_exact_tables(tmp_path: Path) -> None:
    path = tmp_path / "exact.npz"
    for table in (solver.two_sided(4, 3, recipe="exact"), solver.one_sided(3, recipe="exact")):
        bgfmt.save(table, path, format="npz", force=True)
        report = bgfmt.verify(path)
        assert (report.status, report.recipe) == ("proved", "exact")


@pytest.mark.slow
def test_plays_against_plain_rules() -> None:
    """Every result of every roll, by plain recursion over the rules, on four and on eight points."""
    for points, chequers in ((4, 3), (8, 2)):
        starts, results = plays(points, chequers)
        n = bgfmt.game.board.count(points, chequers) if hasattr(bgfmt, "board") else len(starts) // 21
        for x in range(1, n):
            board = bgfmt.Side.from_number(x, points).padded(points)
            for a in range(1, 7):
                for b in range(1, a + 1):
                    roll = 21 * x + (a - 1) * a // 2 + b - 1
                    found = set(results[starts[roll] : starts[roll + 1]].tolist())
                    dice = [[a] * 4] if a == b else [[a, b], [b, a]]
                    wanted = {number for order in dice for number in _after(board, order)}
                    assert found == wanted, (board, a, b)


def _after(board: tuple[int, ...], dice: list[int]) -> set[int]:
    if not dice or not any(board):
        return {bgfmt.Side(*board).number(len(board))}
    die, out = dice[0], set()
    high = max(i for i, c in enumerate(board) if c)
    for i, c in enumerate(board):
        t = i - die
        if not c or (t < 0 and (high > 5 or (t < -1 and i != high))):
            continue
        moved = list(board)
        moved[i] -= 1
        if t >= 0:
            moved[t] += 1
        out |= _after(tuple(moved), dice[1:])
    return out


@pytest.mark.slow
def test_samples(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "ts_06x04.bd", sample=500, seed=3)
    assert (report.exit_code, report.status) == (0, "unproved")
    assert "sample of" in report.verdict
    assert bgfmt.verify(golden / "gnubg" / "os_p03.bd", sample=50).exit_code == 0


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("ts_03x03.bd", 400),
        ("os_p03.bd", 816),
        pytest.param("hyper1.bd", 676, marks=pytest.mark.extra("hypergammon")),
    ],
)
def test_a_sample_has_as_many_entries_as_requested(golden: Path, name: str, entries: int) -> None:
    for sample, checked in ((entries // 2, entries // 2), (entries - 1, entries - 1), (10**6, entries)):
        assert bgfmt.verify(golden / "gnubg" / name, sample=sample).checked == checked


def test_a_sample_does_not_call_a_number_right_that_is_computed_from_a_wrong_one(
    golden: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.bd"
    data = bytearray((golden / "gnubg" / "ts_06x04.bd").read_bytes())
    data[123_456] ^= 0xFF
    path.write_bytes(data)
    report = bgfmt.verify(path, quick=True)
    assert "do not follow from the others, which may be wrong instead; first: position" in report.verdict
    assert re.search(r"stored \d+, computed \d+", report.verdict)
    assert "right" not in report.verdict
    assert "1 entry wrong in itself; first: position" in bgfmt.verify(path).verdict


def test_the_order_of_findings_is_named_where_it_is_not_that_of_the_file(
    golden: Path, tmp_path: Path
) -> None:
    """The first entry by pips is surely wrong; another may lie before it in the file."""
    path = tmp_path / "a.bd"
    data = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path.write_bytes(data[:20_000] + bytes(len(data) - 20_000))
    assert "; first in order of pips: position" in bgfmt.verify(path).verdict


@pytest.mark.slow
def test_against_another_file(golden: Path) -> None:
    good = bgfmt.verify(golden / "gnubg" / "ts_05x04.bd", against=golden / "gnubg" / "ts_06x04.bd")
    assert good.exit_code == 0
    assert any("the same" in note for note in good.notes)


@pytest.mark.slow
def test_command_line(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(golden / "gnubg" / "ts_06x03.bd")
    assert run(["verify", path]) == 0
    assert capsys.readouterr().out.startswith("proved: every one of 7,056 entries follows from the rules")
    out = tmp_path / "report.json"
    assert run(["verify", path, "--json", "--report", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "proved"
    assert json.loads(out.read_text())[0]["entries"] == 7056
    assert run(["verify", str(tmp_path / "absent.bd")]) == 2
    (tmp_path / "noise.bd").write_bytes(b"no database at all")
    assert run(["verify", str(tmp_path / "noise.bd")]) == 2


@pytest.mark.slow
def test_peelles_j_file(tmp_path: Path) -> None:
    path = tmp_path / "bgns.ijf"
    bgfmt.save(solver.mean_rolls(6), path, format="jfile")
    data = bytearray(path.read_bytes())
    assert bgfmt.verify(path).status == "proved"
    data[-5] ^= 4  # a byte that fills a block
    path.write_bytes(data)
    assert bgfmt.verify(path).exit_code == 1


@pytest.mark.slow
def test_every_width_of_a_tile() -> None:
    """Tables of 1 to more than LANES positions a side: tiles cut short, one lane or four a position."""
    for points, chequers in ((1, 1), (1, 3), (2, 4), (3, 4), (4, 4), (1, 15), (2, 9), (5, 3), (3, 5)):
        for cubeful in (True, False):
            table = solver.two_sided(points, chequers, cubeful=cubeful)
            assert recurrence.check(recurrence.PairRule(table)).failing == 0, (
                points,
                chequers,
                board.count(points, chequers),
            )
            right = np.array(table.equities)
            n = len(right)
            for us, them in ((n - 1, n - 1), (n - 1, 1), (1, n - 1)):
                wrong = right.copy()
                wrong[us, them, -1] ^= 1
                found = recurrence.check(recurrence.PairRule(replace(table, equities=wrong)))
                assert us * n + them in found.numbers


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks which pages of a file are in memory")
def test_few_entries_of_a_large_file_read_little_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file with holes, which no one has read before: look-ups at random, and the sampled sense of it."""
    monkeypatch.setattr("bgfmt.tables.rows.RANDOM_ACCESS_BYTES", 0)
    monkeypatch.setattr("bgfmt.verifier.checks.MAX_SAMPLED_BYTES", 0)
    n = count(6, 9)
    for use in ("look-ups", "sense"):
        path = tmp_path / use
        path.write_bytes(b"gnubg-TS-06-09-1".ljust(39, b"x") + b"\n")
        os.truncate(path, 40 + 8 * n * n)
        with bgfmt.open(path) as db:
            if use == "sense":
                list(checks.check_sense(db.table, sampled=True))
            else:
                us, them = np.random.default_rng(1).integers(0, n, (2, 500))
                db.table.lookup_many(us, them)  # type: ignore[attr-defined]
        assert pages_in_memory(path) < 0.5 * (path.stat().st_size / mmap.PAGESIZE)


def pages_in_memory(path: Path) -> int:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        view = np.frombuffer(mapped, np.uint8)
        pages = np.zeros(-(-len(view) // mmap.PAGESIZE), np.uint8)
        arguments = (ctypes.c_void_p(a.ctypes.data) for a in (view, pages))
        start, out = arguments
        assert ctypes.CDLL(None).mincore(start, ctypes.c_size_t(len(view)), out) == 0
        del view
    return int((pages & 1).sum())


@pytest.mark.slow
def test_narrow_bands_find_the_same(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table: Any = bgfmt.load(golden / "gnubg" / "ts_05x04.bd")
    wrong = np.array(table.equities)
    wrong[[20, 70, 120], [90, 5, 60], 0] ^= 4
    rule = recurrence.PairRule(replace(table, equities=wrong))
    whole = recurrence.check(rule)
    monkeypatch.setattr(recurrence, "BAND_BYTES", 1)
    assert len(rule.bands) > 2
    narrow = recurrence.check(rule, threads=2)
    assert narrow.failing == whole.failing > 0
    assert np.array_equal(narrow.numbers, whole.numbers)
    assert np.array_equal(narrow.histogram, whole.histogram)
