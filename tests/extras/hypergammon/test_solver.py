"""The hypergammon solver: makehyper's bytes after every sweep, and exact numbers that obey the rules of the game."""

from __future__ import annotations

import hashlib
import random
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import bgfmt
from bgfmt import Position
from bgfmt.cli import run
from bgfmt.errors import FormatNeededError, SolverError
from bgfmt.extras.hypergammon.solver import HypergammonSolver, Iteration, hypergammon
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game.moves import legal_plays
from bgfmt.tables import Hypergammon
from tests.support import crash

#: SHA-256 of whole files of makehyper 1.07 (Debian): -c 2 with these -t, the last one with -r of the one before
TWO = {
    1e-5: "463ae5fb24657f0661d573413e97f73bf8bf8ff0686d0968affd161d9e1a3323",
    0.01: "5807a0077920239b781f2716486d3f146c0488d5b0335f016f35f4c0c37e678e",
    0.0005: "be81be44fb3fc46198f9c67178a5f9768a9699d9d13683dec43e75a5e66254a7",
}


def head(chequers: int) -> bytes:
    return f"gnubg-H{chequers}".encode().ljust(39, b"x") + b"\n"


def digest(table: Hypergammon) -> str:
    return hashlib.sha256(head(table.chequers) + np.ascontiguousarray(table.records).tobytes()).hexdigest()


def solved(chequers: int, **how: object) -> Hypergammon:
    table = hypergammon(chequers, **how).table  # type: ignore[arg-type]
    assert isinstance(table, Hypergammon)
    return table


@cache
def exact(chequers: int) -> Iteration:
    """Solved with recipe exact to its end, once for all tests."""
    return hypergammon(chequers, recipe="exact")


@pytest.mark.slow
def test_one_chequer_to_the_byte(golden: Path, tmp_path: Path) -> None:
    folder = golden / "gnubg"
    cases = {"hyper1.bd": None, "hyper1_t1.bd": 1.0, "hyper1_t0.1.bd": 0.1, "hyper1_t0.bd": 0.0}
    for name, threshold in cases.items():
        made = bgfmt.solve("hypergammon", 25, 1, tmp_path / name, threshold=threshold)
        assert made.read_bytes() == (folder / name).read_bytes(), name
    again = bgfmt.solve(
        "hypergammon", 25, 1, tmp_path / "r.bd", threshold=1.0, restart=folder / "hyper1_t0.1.bd"
    )
    assert again.read_bytes() == (folder / "h1_restart.bd").read_bytes()


@pytest.mark.slow
def test_two_chequers_to_the_byte() -> None:
    assert digest(solved(2)) == TWO[1e-5]
    coarse = solved(2, threshold=0.01)
    assert digest(coarse) == TWO[0.01]
    assert digest(solved(2, threshold=0.0005, restart=coarse)) == TWO[0.0005]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["0.5", "0.003"])
def test_as_the_real_makehyper(oracle: Callable[[str], str], tmp_path: Path, threshold: str) -> None:
    command = [oracle("makehyper"), "-c", "1", "-t", threshold, "-f", "h.bd"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    made = bgfmt.solve("hypergammon", 25, 1, tmp_path / "ours.bd", threshold=float(threshold))
    assert made.read_bytes() == (tmp_path / "h.bd").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["gnubg", "exact"])
def test_threads_change_nothing(recipe: str) -> None:
    one, four = (hypergammon(2, recipe=recipe, threshold=0.05, threads=n) for n in (1, 4))  # type: ignore[arg-type]
    assert one.sweeps == four.sweeps
    assert np.array_equal(one.values, four.values)


@pytest.mark.slow
def test_what_ends_one_thread_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error or an interrupt in one of them, while the others still have work."""
    from bgfmt.extras.hypergammon.solver import sweep as kernels

    kernel, calls = kernels.compute_below_diagonal, count()

    def wrong(*args: object) -> None:
        kernel(*args)  # type: ignore[arg-type]
        if next(calls) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "compute_below_diagonal", wrong)
    with pytest.raises(KeyboardInterrupt):
        hypergammon(2, threads=3)


@pytest.mark.slow
def test_every_state_is_makehypers_checkpoint() -> None:
    """makehyper's bytes after each sweep are those of a solve that stops there."""
    for step in HypergammonSolver(25, 1, threshold=0).sweeps():
        stopped = hypergammon(1, threshold=0, most_sweeps=step.sweeps)
        assert np.array_equal(stopped.values, step.values)


# -- exact ---------------------------------------------------------------------------------------------------


def expected(table: ExactHypergammon, position: Position) -> np.ndarray:
    """The ten numbers of a position from those of its successors, by bgfmt's own rules of play."""

    def of(us: object, them: object) -> np.ndarray:
        return np.asarray(table.float64[table.side_number(us), table.side_number(them)])  # type: ignore[arg-type]

    def doubling(no: float, taken: float) -> float:
        return max(no, min(1.0, 2 * taken))

    total = np.zeros(10)
    for high in range(1, 7):
        for low in range(1, high + 1):
            plays = legal_plays(position, high, low)
            left = [(p.result.us, p.result.them) for p in plays] or [(position.us, position.them)]
            theirs = [of(them, us) for us, them in left]
            best = max(theirs, key=lambda x: -x[5])
            row = np.array(
                [
                    1 - best[0], best[3], best[4], best[1], best[2], -best[5],
                    max(-x[9] for x in theirs),
                    max(-doubling(x[7], x[9]) for x in theirs),
                    max(-doubling(x[8], x[9]) for x in theirs),
                    max(-doubling(x[6], x[9]) for x in theirs),
                ]
            )  # fmt: skip
            total += row * (1 if high == low else 2)
    return total / 36


@pytest.mark.slow
@pytest.mark.parametrize(("chequers", "sample"), [(1, 150), (2, 60)])
def test_exact_numbers_follow_from_their_successors(chequers: int, sample: int) -> None:
    solved = exact(chequers)
    assert solved.converged
    table = solved.table
    assert isinstance(table, ExactHypergammon)
    n, rng, seen = table.positions, random.Random(5), 0
    pairs = [divmod(k, n) for k in rng.sample(range(n * n), sample)]
    for us, them in pairs:
        ours, theirs = table.side(us), table.side(them)
        try:
            position = Position(ours, theirs)
        except bgfmt.BgfmtError:
            continue
        if not ours.chequers or not theirs.chequers or not np.any(table.float64[us, them]):
            continue
        found = np.asarray(table.float64[us, them])
        wanted = expected(table, position)
        assert np.abs(found[5:] - wanted[5:]).max() < 1e-11, position
        if not ties(table, position):
            assert np.abs(found[:5] - wanted[:5]).max() < 1e-11, position
        seen += 1
    assert seen > sample // 2


def ties(table: ExactHypergammon, position: Position) -> bool:
    """Whether some roll has plays of equal cubeless equity that win gammons differently."""
    for high in range(1, 7):
        for low in range(1, high + 1):
            rows = [
                np.asarray(table.float64[table.side_number(p.result.them), table.side_number(p.result.us)])
                for p in legal_plays(position, high, low)
            ]
            least = min((row[5] for row in rows), default=0.0)
            equal = [row for row in rows if row[5] - least < 1e-9]
            if equal and np.ptp([row[:5] for row in equal], axis=0).max() > 1e-9:
                return True
    return False


@pytest.mark.slow
def test_exact_is_near_gnubg_where_the_rules_agree() -> None:
    """Cubeless numbers agree; with a cube a side that cannot move is worth something else."""
    gnubg = hypergammon(1, threshold=0)
    assert np.abs(exact(1).values[..., 5] - gnubg.values[..., 5]).max() < 1e-5


@pytest.mark.slow
def test_an_exact_table_is_a_table(tmp_path: Path) -> None:
    path = bgfmt.solve("hypergammon", 25, 1, tmp_path / "h.npz", recipe="exact")
    with bgfmt.open(path) as db:
        assert isinstance(db.table, ExactHypergammon)
        race = Position(bgfmt.Side(0, 1), bgfmt.Side(0, 0, 1))  # off with any roll, and a gammon
        found = db.lookup(race)
        assert (found.outcomes["win"], found.outcomes["win_gammon"], found.outcomes["win_backgammon"]) == (
            pytest.approx(1),
            pytest.approx(1),
            0,
        )
        assert found.equities["cubeless"] == pytest.approx(2)
    lost = bgfmt.convert(path, tmp_path / "h.bd", to="gnubg-hyper", lossy=True)
    assert any("24 bits" in line for line in lost)
    with bgfmt.open(tmp_path / "h.bd") as db, bgfmt.open(path) as whole:
        a = db.table.values(np.arange(676))
        b = whole.table.values(np.arange(676))
        assert np.abs(a[:, :5] - b[:, :5]).max() < 2e-7
        assert np.abs(a[:, 5:] - b[:, 6:]).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("chequers", [1, 2])
def test_guessing_where_sweeps_lead_gives_the_same_numbers_sooner(
    chequers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with three chequers, where the numbers come near their end by one factor a sweep."""
    plain = exact(chequers)
    monkeypatch.setattr("bgfmt.extras.hypergammon.solver.EXTRAPOLATED_CHEQUERS", 1)
    guessed = hypergammon(chequers, recipe="exact")
    assert guessed.converged
    assert guessed.change <= 1e-12
    if chequers == 2:
        assert guessed.sweeps < plain.sweeps
    assert np.abs(guessed.values - plain.values).max() < 1e-11
    if chequers == 1:
        one, four = (hypergammon(1, recipe="exact", threads=n, threshold=1e-3) for n in (1, 4))
        assert np.array_equal(one.values, four.values)


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_anywhere(golden: Path, tmp_path: Path) -> None:
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    (start / "h.bd").write_bytes(b"old")
    asked = ["solve", "hypergammon", "1", "-o", str(work / "h.bd"), "--force", "--quiet"]
    new = (golden / "gnubg/hyper1.bd").read_bytes()
    for number, _ in crash.every_kill(start, work, asked):
        assert (work / "h.bd").read_bytes() in (b"old", new), number
        assert run(asked) == 0
        assert (work / "h.bd").read_bytes() == new


@pytest.mark.slow
def test_refusals(tmp_path: Path, golden: Path) -> None:
    with pytest.raises(SolverError, match="1, 2 or 3 chequers"):
        hypergammon(4)
    with pytest.raises(SolverError, match="not by bgsage"):
        hypergammon(1, recipe="bgsage")  # type: ignore[arg-type]
    for threshold in (-1.0, 2.0, float("nan")):
        with pytest.raises(SolverError, match="threshold"):
            hypergammon(1, threshold=threshold)
    with pytest.raises(SolverError, match="cannot start"):
        hypergammon(2, restart=solved(1))
    with pytest.raises(SolverError, match="a hypergammon table"):
        bgfmt.solve("hypergammon", 25, 1, tmp_path / "x.bd", restart=golden / "gnubg/ts_01x01.bd")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "hyper1.bd"
    done = CliRunner().invoke(bgfmt.cli.cli, ["solve", "hypergammon", "1", "-o", str(path)])  # type: ignore[attr-defined]
    assert done.exit_code == 0, done.output
    assert "sweep 15: largest change" in done.output
    assert path.read_bytes() == (golden / "gnubg/hyper1.bd").read_bytes()
    assert run(["solve", "hypergammon", "4", "-o", str(path)]) == 2
    assert run(["solve", "hypergammon", "1", "-o", str(path)]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["h", "h.bd", "h.parquet", "h.npz"])
@pytest.mark.parametrize("recipe", ["gnubg", "exact"])
def test_the_suffix_says_the_format(name: str, recipe: Any, tmp_path: Path) -> None:
    path, exact = tmp_path / name, recipe == "exact"
    if exact and name == "h.bd":
        with pytest.raises(FormatNeededError, match="cannot hold a hypergammon table of recipe exact"):
            bgfmt.solve("hypergammon", 25, 1, path, recipe=recipe)
        return
    bgfmt.solve("hypergammon", 25, 1, path, recipe=recipe)
    with bgfmt.open(path) as db:
        own = "npz" if exact else "gnubg-hyper"
        assert db.format.name == {".parquet": "parquet", ".npz": "npz"}.get(path.suffix, own)
