"""Third parties' sound files, and our own lossy ones, are named as what they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.files.gnubg_2001 import gnubg_2001_tables
from bgfmt.formats import records
from bgfmt.tables import MeanRolls, OneSided, TwoSided
from bgfmt.verifier.proofs import PROOFS
from bgfmt.verifier.recurrence import floats, one_sided

MD5_2001 = "ffbb2108abe1fd1a79c6d9d3eadf56cf"


def proved(path: Path, name: str) -> bgfmt.verifier.Report:  # type: ignore[name-defined]
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code, report.recipe) == ("proved", 0, name), report.verdict
    assert any(note.startswith(f"recipe {name}: ") for note in report.notes) or name in ("gnubg", "bgsage")
    return report


def test_every_recipe_is_one_entry() -> None:
    for proof in PROOFS.values():
        assert len({recipe.name for recipe in proof.recipes}) == len(proof.recipes) > 0
    assert PROOFS["two-sided"]().recipe("gnubg").title == "GNU Backgammon's makebearoff"


@pytest.mark.slow
def test_gnubg_of_2001_is_made_again_to_the_byte() -> None:
    """The rules that the verifier holds such files against give the file whose sum GNU Backgammon published."""
    rows = one_sided.build_table(6, 15, one_sided.RowRule(divisor=2359)).bearoff
    exact = floats.build_table(6, 6, 1)
    data = rows.astype("<u2").tobytes() + ((exact + 1) / 2 * 65535.5).astype("<u2").tobytes()
    assert hashlib.md5(data, usedforsecurity=False).hexdigest() == MD5_2001


@pytest.mark.slow
def test_tables_of_gnubg_of_2001(tmp_path: Path) -> None:
    rows = one_sided.build_table(5, 15, one_sided.RowRule(divisor=2359)).bearoff
    path = tmp_path / "x.bd"
    bgfmt.save(OneSided(points=5, chequers=15, bearoff=rows), path, format="gnubg-os")
    proved(path, "gnubg-2001")
    exact = floats.build_table(6, 4, 1)
    table = TwoSided(points=6, chequers=4, equities=((exact + 1) / 2 * 65535.5).astype(np.uint16))
    bgfmt.save(table, path, format="gnubg-ts", force=True)
    proved(path, "gnubg-2001")


@pytest.mark.slow
def test_bgsages_own_generate(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """bgsage's program writes another file than the one it ships: exact halves fall either way."""
    oracle("py:bgsage")
    import bgsage  # type: ignore[import-untyped]  # noqa: F401 - it finds its library
    import bgbot_cpp  # type: ignore[import-not-found]  # isort: skip

    database = bgbot_cpp.BearoffDB()
    database.generate()
    path = tmp_path / "generated.db"
    assert database.save(str(path)) is not False
    report = proved(path, "bgsage-float")
    assert any("exact halves" in note for note in report.notes)
    rows = bytearray(path.read_bytes())
    at = 28 + 64 * 3000 + 2 * 5
    rows[at] ^= 1
    path.write_bytes(rows)
    assert bgfmt.verify(path).exit_code == 1


def float_build(points: int) -> np.ndarray:  # type: ignore[type-arg]
    """gnubg's rule with each exact half rounded down where its row number is odd, as a float division may do it."""
    from bgfmt.verifier.recurrence.plays import plays

    n = bgfmt.solver.one_sided(points).positions
    starts, results = plays(points, 15)
    rows = np.zeros((n, 32), np.int64)
    rows[0, 0] = 65535
    ranks = np.zeros(n, np.int64)
    weights = [1 if a == b else 2 for a in range(6) for b in range(a + 1)]
    # the order in which results are listed is not that of the plays: only tables without telling ties are made here
    for x in range(1, n):
        sums = np.zeros(33, np.int64)
        for roll, weight in enumerate(weights):
            options = results[starts[21 * x + roll] : starts[21 * x + roll + 1]]
            best = options[ranks[options].argmin()]
            sums[1:] += weight * rows[best]
        sums = sums[:32]
        row = (sums + 18) // 36
        if x % 2:
            row[(sums % 36 == 18) & (row < row.max())] -= 1
        row[row.argmax()] += 65535 - row.sum()
        rows[x] = row
        ranks[x] = row @ np.arange(32)
    return rows.astype(np.uint16)


@pytest.mark.slow
def test_a_float_build_of_makebearoff_is_named_and_not_proved(tmp_path: Path) -> None:
    """Each of its halves may be rounded either way: that proves nothing."""
    path = tmp_path / "x.bd"
    rows = float_build(2)
    assert (rows != np.asarray(solver.one_sided(2, gammon=False).bearoff)).any()
    bgfmt.save(OneSided(points=2, chequers=15, bearoff=rows), path, format="gnubg-os")
    report = bgfmt.verify(path)
    assert (report.status, report.recipe, report.exit_code) == ("differs", "", 1)
    assert "rounding" in report.cause
    assert bgfmt.verify(path, sample=100).exit_code == 1


@pytest.mark.slow
def test_small_tables_of_rivals_that_differ_in_a_few_entries(tmp_path: Path) -> None:
    """Few differences are damage, unless the whole table is another program's."""
    path = tmp_path / "x.bd"
    bgfmt.save(solver.one_sided(3, recipe="bgsage", gammon=False), path, format="gnubg-os")
    proved(path, "bgsage")
    data = bytearray(path.read_bytes())
    at = data.rindex((11434).to_bytes(2, "little"))
    data[at : at + 2] = (11433).to_bytes(2, "little")
    path.write_bytes(data)
    assert bgfmt.verify(path).status == "damaged"


@pytest.mark.slow
def test_our_own_lossy_tables(tmp_path: Path) -> None:
    path, out = tmp_path / "x.bd", tmp_path / "x.npz"
    for solved, name in ((solver.one_sided(5), "gnubg"), (solver.one_sided(5, normal=True), "gnubg-normal")):
        for way in solved.coarser():
            bgfmt.save(way.make(), out, format="npz", force=True)
            wanted = f"{name}-means" if way.kind is MeanRolls else f"{name}-moments"
            proved(out, wanted)
    bgfmt.save(solver.one_sided(6, recipe="bgsage"), path, format="bgsage")
    bgfmt.convert(path, tmp_path / "means.ijf", to="jfile", lossy=True, kind="mean-rolls")
    proved(tmp_path / "means.ijf", "bgsage-means")


@pytest.mark.slow
def test_a_bgsage_file_converted_with_losses(golden: Path, tmp_path: Path) -> None:
    """gnubg's numbers in bgsage's layout, as its plugin's page tells one to make."""
    path = tmp_path / "lossy.db"
    bgfmt.convert(golden / "gnubg" / "os_p06.bd", path, to="bgsage", lossy=True)
    report = bgfmt.verify(path)
    assert (report.status, report.recipe) == ("proved", "gnubg"), report.verdict
    assert any("gnubg's numbers" in note for note in report.notes)


@pytest.mark.slow
def test_tables_that_were_cut_down_are_proved_and_repaired(golden: Path, tmp_path: Path) -> None:
    for name, points, chequers in (
        ("os_p06.bd", 4, 15),
        ("os_p06.bd", 6, 9),
        ("ts_06x04.bd", 5, 3),
        ("os_p04_nd.bd", 3, 15),
    ):
        for suffix in (".npz", ".bd", ".ijf"):
            if suffix == ".ijf" and not name.startswith("os_p06"):
                continue
            out, fixed = tmp_path / f"cut{suffix}", tmp_path / f"fixed{suffix}"
            bgfmt.convert(golden / "gnubg" / name, out, points=points, chequers=chequers, force=True)
            report = bgfmt.verify(out)
            assert (report.status, report.recipe) == ("proved", "gnubg"), (name, suffix, report.verdict)
            assert bgfmt.repair(out, fixed, force=True).exit_code == 0
            assert fixed.read_bytes() == out.read_bytes()


@pytest.mark.slow
def test_exact_tables_are_repaired(tmp_path: Path) -> None:
    path, fixed = tmp_path / "x.npz", tmp_path / "fixed.npz"
    for table in (solver.two_sided(4, 3, recipe="exact"), solver.one_sided(3, recipe="exact")):
        bgfmt.save(table, path, format="npz", force=True)
        good = path.read_bytes()
        arrays = {name: np.array(rows) for name, rows in table.arrays().items()}
        for values in arrays.values():
            values.reshape(-1)[[50, 200]] += 1e-7
        bgfmt.save(replace(table, **arrays), path, format="npz", force=True)
        assert bgfmt.verify(path).exit_code == 1
        bgfmt.repair(path, fixed, force=True)
        assert fixed.read_bytes() == good


def test_moments_agree_with_those_of_the_tables(golden: Path) -> None:
    table = bgfmt.load(golden / "gnubg" / "os_p04.bd")
    made = next(way.make() for way in table.coarser() if way.kind.kind == "normal-distribution")
    rows = one_sided.decode_rows(table)
    assert one_sided.moments_of(rows).tobytes() == np.asarray(made.moments).tobytes()


@pytest.mark.slow
def test_a_file_states_the_recipe_that_its_numbers_follow(tmp_path: Path) -> None:
    """A recipe that is known, but of other numbers, is a finding, whatever the kind of table."""
    path = tmp_path / "x.npz"
    for table, name in (
        (solver.one_sided(4, gammon=False), "gnubg"),
        (solver.one_sided(4, recipe="bgsage"), "bgsage"),
        (solver.one_sided(2, recipe="exact"), "exact"),
        (solver.two_sided(2, 2), "gnubg"),
        (solver.two_sided(2, 2, recipe="exact"), "exact"),
        (solver.mean_rolls(2), "exact"),
    ):
        for said in ("", *records.known_recipes()):
            bgfmt.save(replace(table, recipe=said), path, force=True)
            report = bgfmt.verify(path)
            assert (report.exit_code == 0) == (said in ("", name)), (table.kind, name, said, report.verdict)
            assert report.exit_code == 0 or "recipe" in report.verdict


@pytest.mark.slow
def test_small_tables_are_the_same_by_several_recipes(tmp_path: Path) -> None:
    """One states the program that it is from: that is no finding."""
    path = tmp_path / "x.npz"
    made = gnubg_2001_tables()
    for table in (solver.one_sided(1, gammon=False), *made):
        bgfmt.save(table, tmp_path / "whole.npz", force=True)
        bgfmt.convert(tmp_path / "whole.npz", path, points=1, chequers=1, force=True)
        for said in ("", "gnubg", "gnubg-2001") + ("bgsage",) * (table.kind == "one-sided"):
            bgfmt.save(replace(bgfmt.load(path), recipe=said), tmp_path / "y.npz", force=True)
            assert bgfmt.verify(tmp_path / "y.npz").exit_code == 0, (table.kind, said)


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2])
def test_our_own_lossy_copies_of_small_tables(points: int, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for way in solver.one_sided(points).coarser():
        bgfmt.save(way.make(), path, force=True)
        assert bgfmt.verify(path).recipe in ("gnubg-means", "gnubg-moments")
