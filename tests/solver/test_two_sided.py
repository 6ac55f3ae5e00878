"""The two-sided solver against makebearoff's files, published sums, its slow twins, and a murderer."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run as command
from bgfmt.errors import SolverError
from bgfmt.formats.gnubg import HeaderFacts
from bgfmt.game.board import count, rank, unrank
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.solver.layers import layer_cuts, pip_order
from bgfmt.solver.workers import ThreadWorkers, Workers
from tests.conftest import GOLDEN

B = TypeVar("B")
# SHA-256 of whole files of makebearoff 1.07; the MD5 sums of 6x6 to 6x8 are those printed in gnubg's manual
SUMS = {
    (6, 5): "8081f37ce8cc72d4a8f9cec5ed864ec9eef86593359e13cdf71385eeb7cdd875",
    (6, 6): "9eac8a2c697dae8a09f2e5653022084b9e725df6c32950cb5299b273fc64500f",
    (6, 7): "41b0190886f7b2c983283a4dd8f0a7edb1f43bd59ed7f15c23ffe8576acdc8a6",
    (6, 8): "d678215895a6f5aa49ea68cbd7c32dae636e49b4d2f5f088f34fa96e39b18cc3",
}
FILES = sorted(f for f in (GOLDEN / "gnubg").glob("ts_*[0-9].bd") if f.name < "ts_13")  # solved: 12 points


def file_bytes(points: int, chequers: int, **options: object) -> bytes:
    table = solver.two_sided(points, chequers, **options)  # type: ignore[arg-type]
    cubeful = table.equities.shape[2] == 4
    header = HeaderFacts("TS", points, chequers, cubeful=cubeful).canonical
    return header + np.asarray(table.equities).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden_files(path: Path) -> None:
    points, chequers = (int(k) for k in path.stem[3:].split("x"))
    assert file_bytes(points, chequers) == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["01x01", "02x03", "03x03", "04x04", "06x04", "07x02"])
def test_golden_cubeless_files(name: str) -> None:
    points, chequers = (int(k) for k in name.split("x"))
    assert (
        file_bytes(points, chequers, cubeful=False) == (GOLDEN / f"gnubg/ts_{name}_cubeless.bd").read_bytes()
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", SUMS, ids=str)
def test_published_sums(size: tuple[int, int]) -> None:
    assert hashlib.sha256(file_bytes(*size)).hexdigest() == SUMS[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["5x2", "8x2", "9x2", "10x1", "3x6", "2x9", "12x1", "11x2"])
def test_makebearoff_itself(size: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    made = tmp_path / "made.bd"
    points, chequers = (int(k) for k in size.split("x"))
    shape = f"{points:02d}x{chequers:02d}"
    subprocess.run([oracle("makebearoff"), "-t", shape, "-f", str(made)], check=True, capture_output=True)
    assert file_bytes(points, chequers) == made.read_bytes()


# -- slow twins: plain Python from the rules of moves.py -----------------------------------------------


@cache
def successors(points: int, number: int) -> list[set[int]]:
    counts = unrank(number, points)
    return [{rank(play) for play in race_plays(counts, roll.high, roll.low)} for roll in ROLLS]


def slow_integers(points: int, chequers: int) -> np.ndarray:  # type: ignore[type-arg]
    """makebearoff's rule, pair by pair, in Python's integers."""
    n = count(points, chequers)
    pips = [sum(i * c for i, c in enumerate(unrank(k, points), 1)) for k in range(n)]
    e = np.zeros((n, n, 4), int)

    def best(nd: int, dt: int) -> int:
        return (32767 if dt >= 16383 else 2 * dt) if dt >= int(nd / 2) else nd

    for us, them in sorted(
        ((u, t) for u in range(n) for t in range(n)), key=lambda p: pips[p[0]] + pips[p[1]]
    ):
        if us == 0 or them == 0:
            e[us, them] = 32767 if us == 0 else -32768
            continue
        total = [0] * 4
        for roll, results in zip(ROLLS, successors(points, us), strict=True):
            turned = []
            for j in results:
                e0, e1, e2, e3 = (int(x) for x in e[them, j])
                turned.append((~e0, ~e3, ~best(e2, e3), ~best(e1, e3)))
            for k in range(4):
                total[k] += roll.weight * max(t[k] for t in turned)
        e[us, them] = [int(abs(x) // 36) * (1 if x >= 0 else -1) for x in total]
    return e + 32768


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 4), (2, 3), (3, 2), (7, 1)], ids=str)
def test_slow_twin(size: tuple[int, int]) -> None:
    assert np.array_equal(np.asarray(solver.two_sided(*size).equities), slow_integers(*size))


@pytest.mark.slow
def test_exact_recipe_is_exact_arithmetic() -> None:
    """Equities as fractions, by recursion from the rules, against float64."""

    @cache
    def value(us: int, them: int) -> tuple[Fraction, ...]:
        if us == 0 or them == 0:
            return (Fraction(1 if us == 0 else -1),) * 4
        total = [Fraction(0)] * 4
        for roll, results in zip(ROLLS, successors(3, us), strict=True):
            wants = []
            for j in results:
                e = value(them, j)
                doubled = min(Fraction(1), 2 * e[3])
                wants.append((-e[0], -e[3], -max(e[2], doubled), -max(e[1], doubled)))
            for k in range(4):
                total[k] += roll.weight * max(w[k] for w in wants)
        return tuple(x / 36 for x in total)

    table = solver.two_sided(3, 3, recipe="exact")
    assert table.equities.dtype == np.float64
    for us in range(20):
        for them in range(20):
            assert table.equities[us, them].tolist() == pytest.approx(
                [float(x) for x in value(us, them)], abs=1e-14
            )


@pytest.mark.slow
def test_how_far_the_stored_integers_are_from_the_truth() -> None:
    """The bounds and means printed for all 851,929 pairs of 6x6."""
    stored = np.asarray(solver.two_sided(6, 6).equities)[1:, 1:] / 32767.5 - 1
    error = stored - np.asarray(solver.two_sided(6, 6, recipe="exact").equities)[1:, 1:]
    assert np.abs(error).max(axis=(0, 1)) == pytest.approx([0.000113, 0.000106, 0.000128, 0.000125], abs=5e-7)
    assert error.mean(axis=(0, 1)) == pytest.approx([-1.78e-5, -1.13e-5, -1.07e-5, -1.71e-5], abs=6e-8)


@pytest.mark.slow
def test_the_four_planes_add_up_as_printed() -> None:
    sums = np.asarray(solver.two_sided(6, 6).equities).sum(axis=(0, 1), dtype=np.int64)
    assert sums.tolist() == [35_905_949_384, 38_997_979_103, 36_603_956_657, 33_512_145_365]


@pytest.mark.slow
def test_threads_do_not_change_a_byte() -> None:
    assert len({file_bytes(6, 5, threads=k) for k in (1, 2, 3)}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 1), (3, 3), (6, 4), (12, 2)], ids=str)
def test_layers(size: tuple[int, int]) -> None:
    order = pip_order(*size)
    assert np.array_equal(order.cuts, layer_cuts(*size))
    assert sorted(order.numbers) == list(range(count(*size)))
    for place in range(1, order.n, max(1, order.n // 40)):
        number = int(order.numbers[place])
        wanted = [
            {rank(play) for play in race_plays(unrank(number, size[0]), roll.high, roll.low)}
            for roll in ROLLS
        ]
        found = [
            {
                int(order.numbers[j])
                for j in order.results[order.ends[21 * place + r] : order.ends[21 * place + r + 1]]
            }
            for r in range(21)
        ]
        assert found == wanted


class Backwards(Workers):
    """Does the tasks of a step last first."""

    workers = 3
    threads = True

    def run(self, function: Callable[[B], Any], keys: Sequence[B], after: Any = None) -> Iterator[Any]:
        yield from map(function, reversed(keys))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 4), (6, 4), (9, 2)], ids=str)
def test_blocks_are_made_in_any_order(size: tuple[int, int], tmp_path: Path) -> None:
    wanted = solver.two_sided(*size).equities
    assert np.array_equal(solver.two_sided(*size, workers=Backwards()).equities, wanted)
    made = bgfmt.solve("two-sided", *size, tmp_path / "o.bd", workers=Backwards(), scratch=tmp_path / "s")
    assert np.array_equal(bgfmt.load(made).equities, wanted)


@pytest.mark.slow
def test_workers_given_stay_open() -> None:
    with ThreadWorkers(2) as threads:
        for _ in range(2):
            solver.two_sided(3, 3, workers=threads)
            solver.one_sided(2, workers=threads)


# -- long work is safe (see test_stores.py as well) ----------------------------------------------------


@pytest.mark.slow
def test_exact_tables_fill_an_array_that_is_given() -> None:
    out = np.zeros((6, 6, 4))
    assert solver.two_sided(2, 2, recipe="exact", out=out).equities is out
    assert np.array_equal(out, solver.two_sided(2, 2, recipe="exact").equities)
    with pytest.raises(SolverError, match="out must be"):
        solver.two_sided(2, 2, recipe="exact", out=np.zeros((6, 6, 4), np.uint16))


@pytest.mark.slow
def test_killed_and_resumed_on_the_command_line(tmp_path: Path) -> None:
    """SIGKILL in the middle: no output, nothing but the store; then the same bytes as ever."""
    out = tmp_path / "t.bd"
    arguments = ["solve", "two-sided", "6x9", "--resume", "-o", str(out)]
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, "-m", "bgfmt", *arguments], stderr=subprocess.DEVNULL
        ) as process:
            while not (tmp_path / "t.bd.store").exists() and process.poll() is None:
                time.sleep(0.02)
            time.sleep(0.6)
            process.send_signal(signal.SIGKILL)
        assert os.listdir(tmp_path) in (["t.bd.store"], ["t.bd"])
    assert out.exists() or command(arguments) == 0
    assert os.listdir(tmp_path) == ["t.bd"]
    inner = tmp_path / "inner.bd"
    bgfmt.convert(out, inner, chequers=8)
    assert hashlib.sha256(inner.read_bytes()).hexdigest() == SUMS[6, 8]


def test_refusals_and_plans(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for wrong in [(13, 2), (0, 3), (6, 16)]:
        with pytest.raises(SolverError, match="1 to 12 points"):
            solver.two_sided(*wrong)
    with pytest.raises(SolverError, match="recipe"):
        solver.two_sided(3, 3, recipe="guess")
    monkeypatch.setattr("bgfmt.solver.machine.available_memory", lambda: 1000)
    with pytest.raises(SolverError, match="GB of memory"):
        solver.two_sided(6, 6)
    made = solver.plan("two-sided", 6, 15)
    assert (made.output, made.positions) == (23_556_653_608, 2_944_581_696)
    assert 8e9 < made.memory < 14e9
    assert made.output + made.scratch < 50e9
    assert command(["solve", "two-sided", "6x15", "--plan"]) == 0
    assert "23.6 GB" in capsys.readouterr().out
    for arguments in (["6-6", "-o", "x"], ["6x6"], ["13x2", "-o", "x"], ["6x16", "-o", "x"]):
        assert command(["solve", "two-sided", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "there").touch()
    assert command(["solve", "two-sided", "6x15", "-o", str(tmp_path / "there")]) == 2
    assert "--force" in capsys.readouterr().err
