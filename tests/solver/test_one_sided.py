"""The one-sided solver against makebearoff's files, published sums, bgsage's file and its slow twin."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.errors import SolverError
from bgfmt.game import board, results
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.solver import one_sided, plan
from bgfmt.solver.one_sided import ExactMeans
from bgfmt.solver.waves import waves
from bgfmt.tables import NormalOneSided, OneSided

solver_module = importlib.import_module("bgfmt.solver.one_sided")

# sums printed in the GNU Backgammon manual, "Verification of databases", and 9 points from makebearoff 1.07
MANUAL_MD5 = {6: "3dc7b833c4670849cee00479a9e21b49", 7: "67235c8e0ee152df5daf36cbeae5b3c2"}
MANUAL_MD5_SLOW = {8: "a4acbb5c7e9e1f08e561afe0af934e5c"}
# SHA-256 of the two sections of bearoff_1sided.db in bgsage 2.0.20260907: distributions, and gammon survival rows
BGSAGE_BEAROFF = "2636358a91ae5a04051a1041c457d92b1b436ed72a8751e25fbac56e1b4fefe2"
BGSAGE_SURVIVAL = "14baa26ac1dbd3066a29a6e135c24ea39e7e0f573d0d040622ad9027b745de79"


@cache
def solved(points: int, recipe: str = "gnubg") -> OneSided:
    table = one_sided(points, recipe=recipe)
    assert isinstance(table, OneSided)
    return table


def rows(table: OneSided) -> tuple[np.ndarray, np.ndarray]:
    assert table.gammon is not None
    return np.asarray(table.bearoff), np.asarray(table.gammon)


def file_bytes(tmp_path: Path, table: OneSided | NormalOneSided, **options: bool) -> bytes:
    name = "gnubg-nd" if isinstance(table, NormalOneSided) else "gnubg-os"
    path = tmp_path / "solved.bd"
    bgfmt.save(table, path, format=name, force=True, **options)
    return path.read_bytes()


# -- the bytes of makebearoff ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2, 3, 4, 6])
def test_golden_files(points: int, golden: Path, tmp_path: Path) -> None:
    for letters in ("", "c", "g", "cg"):
        path = golden / "gnubg" / f"os_p{points:02}{'_' * bool(letters)}{letters}.bd"
        if not path.exists():
            continue
        table = one_sided(points, gammon="g" not in letters)
        assert file_bytes(tmp_path, table, compressed="c" not in letters) == path.read_bytes(), path.name


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2, 3, 4])
def test_golden_normal_files(points: int, golden: Path, tmp_path: Path) -> None:
    table = one_sided(points, normal=True)
    assert file_bytes(tmp_path, table) == (golden / "gnubg" / f"os_p{points:02}_nd.bd").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "options"), [*((5, one) for one in ("", "-c", "-g", "-c -g", "-n")), (6, "-n")]
)
def test_makebearoff_itself(points: int, options: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    program, theirs = oracle("makebearoff"), tmp_path / "theirs.bd"
    asked = [program, "-o", str(points), *options.split(), "-f", str(theirs)]
    subprocess.run(asked, check=True, capture_output=True)
    table = one_sided(points, gammon="-g" not in options, normal="-n" in options)
    more = {} if "-n" in options else {"compressed": "-c" not in options}
    assert file_bytes(tmp_path, table, **more) == theirs.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "points", [*MANUAL_MD5, *(pytest.param(p, marks=pytest.mark.slow) for p in MANUAL_MD5_SLOW)]
)
def test_sums_printed_in_the_manual(points: int, tmp_path: Path) -> None:
    digest = hashlib.md5(file_bytes(tmp_path, one_sided(points)), usedforsecurity=False).hexdigest()
    assert digest == (MANUAL_MD5 | MANUAL_MD5_SLOW)[points]


# -- the slow twin ---------------------------------------------------------------------------------------


def twin(points: int, chequers: int, *, lexicographic: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Both distributions from `moves.race_plays`, position by position, in plain integers."""
    n = board.count(points, chequers)
    sides = [board.unrank(k, points) for k in range(n)]
    result = np.zeros((2, n, 32), np.int64)
    result[:, 0, 0] = 65535
    for k in range(1, n):
        for part in range(2):
            if part == 1 and sum(sides[k]) < 15:
                result[part, k, 0] = 65535
                continue
            sums = np.zeros(33, np.int64)
            for high, low, weight in ROLLS:
                after = [board.rank(side) for side in race_plays(sides[k], high, low)]
                ranks = result[part, after] @ np.arange(32)
                keys = [
                    (int(r), sides[a] if lexicographic else ()) for r, a in zip(ranks, after, strict=True)
                ]
                sums[1:] += weight * result[part, after[keys.index(min(keys))]]
            values = (sums[:32] + 18) // 36
            values[int((sums if lexicographic else values).argmax())] -= values.sum() - 65535
            result[part, k] = values
    return result[0], result[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "chequers"), [(1, 15), (2, 15), (3, 15), (4, 6), (6, 4), (8, 3), (9, 2), (18, 1)]
)
def test_slow_twin(points: int, chequers: int) -> None:
    bearoff, gammon = rows(one_sided(points, chequers=chequers))  # type: ignore[arg-type]
    expected = twin(points, chequers)
    assert np.array_equal(bearoff, expected[0])
    assert np.array_equal(gammon, expected[1])


@pytest.mark.slow
def test_slow_twin_of_bgsage() -> None:
    assert np.array_equal(rows(solved(3, "bgsage"))[0], twin(3, 15, lexicographic=True)[0])


# -- other recipes ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_bgsage_file_contents() -> None:
    table = solved(6, "bgsage")
    bearoff, gammon = rows(table)
    assert hashlib.sha256(bearoff.astype("<u2").tobytes()).hexdigest() == BGSAGE_BEAROFF
    assert table.gammon_policy == "race"
    first = board.count(6, 14)
    assert (gammon[:first] == np.array([65535] + [0] * 31)).all()
    survival = (65535 - np.cumsum(gammon[first:].astype(np.int64), axis=1)).astype("<u2")
    assert hashlib.sha256(survival.tobytes()).hexdigest() == BGSAGE_SURVIVAL


@pytest.mark.slow
def test_exact_recipe_states_the_error_of_the_stored_integers() -> None:
    exact = solved(6, "exact")
    bearoff, gammon = rows(exact)
    assert bearoff.dtype == np.float64
    assert exact.exact
    assert np.abs(bearoff.sum(axis=1) - 1).max() < 1e-12
    kept = exact.record(ExactMeans)
    assert kept is not None
    means = kept.means
    assert np.abs(bearoff @ np.arange(32) - means).max() < 1e-12
    assert np.abs(gammon.sum(axis=1) - 1).max() < 1e-12
    # the bounds found by others for gnubg's 6-point file: 0.000197 at 0 2 0 0 10 3, low at 35,365, high at 18,893
    error = rows(solved(6))[0] @ np.arange(32) / 65535 - means
    assert round(float(np.abs(error).max()), 6) == 0.000197
    assert board.unrank(int(np.abs(error).argmax()), 6) == (0, 2, 0, 0, 10, 3)
    assert ((error < 0).sum(), (error > 0).sum()) == (35365, 18893)


@pytest.mark.parametrize(
    ("counts", "mean"),
    [((15,), 6.979592), ((0, 0, 0, 3, 5, 7), 10.539055), ((5, 4), 4.410129), ((0, 0, 0, 0, 0, 1), 1.25)],
)
def test_printed_means(counts: tuple[int, ...], mean: float) -> None:
    number = board.rank(counts + (0,) * (6 - len(counts)))
    assert solved(6, "exact").record(ExactMeans).means[number] == pytest.approx(mean, abs=5e-7)


def test_last_roll_chances() -> None:
    for counts, rolls in (((0, 0, 0, 0, 0, 1), 27), ((0, 1, 0, 0, 1, 0), 19), ((1, 0, 0, 1, 0, 0), 29)):
        stored = solved(6).bearoff[board.rank(counts), 1]
        assert stored == round(Fraction(rolls * 65535, 36))


@pytest.mark.slow
def test_plays_that_could_bear_off_and_do_not() -> None:
    """3,825 pairs, one of them of two chequers, as counted by Taper_Mike on bgonline.org in 2013.

    Pairs of a position and a non-double with which a chequer could be borne off, though every play that does needs
    more expected rolls than the best.
    """
    n = board.count(6, 15)
    ends, found = results.build_roll_results(results.build_single_moves(6, np.arange(n), np.arange(n)))
    means, chequers = solver_module.mean_rolls().means, board.unrank_array(np.arange(n), 6).sum(axis=1)
    keeps = chequers[found] == chequers[np.repeat(np.arange(21 * n) // 21, np.diff(ends))]
    kept, off = (
        np.minimum.reduceat(np.where(some, means[found], np.inf), ends[:-1]).reshape(n, 21)
        for some in (keeps, ~keeps)
    )
    rather = np.isfinite(off) & (kept + 1e-9 < off) & (results.WEIGHTS == 2)
    pairs = chequers[1:][np.nonzero(rather[1:])[0]].tolist()
    assert len(pairs) == 3825
    assert pairs.count(2) == 1


# -- sizes, threads, progress, errors --------------------------------------------------------------------


@pytest.mark.slow
def test_fewer_chequers_are_the_first_rows() -> None:
    small = one_sided(5, chequers=9)
    assert isinstance(small, OneSided)
    n = board.count(5, 9)
    assert np.array_equal(rows(small)[0], rows(solved(5))[0][:n])
    assert (rows(small)[1][:, 0] == 65535).all()


@pytest.mark.slow
def test_corner_of_a_wider_table() -> None:
    numbers = board.corner_numbers(4, 15, 5)
    for part in range(2):
        assert np.array_equal(rows(solved(4))[part], rows(solved(5))[part][numbers])


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["gnubg", "bgsage", "exact"])
def test_threads_do_not_change_a_number(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = rows(one_sided(5, recipe=recipe, threads=1))  # type: ignore[arg-type]
    monkeypatch.setattr("bgfmt.solver.waves.MIN_DIVIDED_POSITIONS", 20)
    for threads in (2, 5):
        many = rows(one_sided(5, recipe=recipe, threads=threads))  # type: ignore[arg-type]
        assert all(np.array_equal(a, b) for a, b in zip(alone, many, strict=True))


@pytest.mark.parametrize(
    ("points", "chequers", "depth"), [(1, 15, 3), (2, 7, 3), (5, 6, 2), (6, 4, 0), (7, 3, 9)]
)
def test_waves_cover_every_position_once(points: int, chequers: int, depth: int) -> None:
    seen = [np.arange(a, b) for wave in waves(points, chequers, depth) for a, b in wave]
    expected = np.arange(board.count(points, chequers - 1), board.count(points, chequers))
    assert np.array_equal(np.sort(np.concatenate(seen)), expected)


@pytest.mark.slow
def test_progress_is_told_and_ends_complete() -> None:
    told: list[tuple[int, int]] = []
    one_sided(3, progress=lambda done, total: told.append((done, total)))
    assert [d for d, _ in told] == sorted(d for d, _ in told)
    assert told[-1][0] == told[-1][1] == board.count(3, 15) - 1 + 136


@pytest.mark.slow
def test_interrupting_from_progress_stops_the_solve() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_sided(4, progress=interrupt)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SolverError, match="1 to 18 points"):
        one_sided(19)
    with pytest.raises(SolverError, match="1 to 15 chequers"):
        one_sided(6, chequers=16)
    with pytest.raises(SolverError, match="no recipe 'xg'"):
        one_sided(6, recipe="xg")
    with pytest.raises(
        SolverError, match="normal-distribution tables can only be solved by recipe gnubg, not by exact"
    ):
        one_sided(6, normal=True, recipe="exact")
    monkeypatch.setattr("bgfmt.solver.machine.available_memory", lambda: 1000)
    with pytest.raises(SolverError, match="GB of memory"):
        one_sided(6)


def test_plans_grow_and_read_as_sentences() -> None:
    plans = [plan("one-sided", points) for points in (6, 8, 10, 13)]
    assert [p.positions for p in plans] == [54264, 490314, 3268760, 37442160]
    assert all(a.seconds < b.seconds and a.memory < b.memory for a, b in itertools.pairwise(plans))
    assert "37,442,160 positions" in str(plans[-1])
    assert plans[0].output == pytest.approx(1465788, rel=0.05)
    assert plan("normal-distribution", 6).output == 40 + 16 * 54264
    assert plan("one-sided", 6, recipe="bgsage").output == 4_899_292
    assert plan("one-sided", 5, gammon=False).output == pytest.approx(319402, rel=0.05)
    assert plan("one-sided", 13).memory == pytest.approx(9.27e9, rel=0.05)
    assert plan("one-sided", 6, compressed=False).output == 40 + 128 * 54264
    with pytest.raises(SolverError, match="no solver of"):
        plan("nothing")


def test_importing_the_solver_does_not_wake_numba() -> None:
    code = "import sys, bgfmt.solver; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
