"""Proved bounds of error hold for every entry, and say which decisions they leave open."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import CapabilityError, SolverError
from bgfmt.extras.accuracy import error_bound, truth
from bgfmt.extras.accuracy.enclosure import BINS, FINE, ONE, OPEN_ABOVE, OPEN_BELOW, STEP
from bgfmt.solver import machine
from bgfmt.tables import TwoSided
from tests.support.rational import rational_equities

SIZES = [(1, 15), (2, 8), (3, 5), (4, 4), (6, 2), (6, 3), (6, 4), (9, 2), (12, 2)]
CLOSE = 1e-12  # float64 leaves the exact equities wrong by far less


def bounds_of(table: TwoSided, threads: int = 1) -> tuple[error_bound.ErrorBound, Any]:
    """Return the bounds, and (n, n, 4) the bound of each stored equity."""
    kept = np.zeros((table.positions, table.positions, 4), np.int32)
    found = error_bound.bound_errors(table, threads=threads, out=kept)
    return found, kept / ONE


@pytest.mark.parametrize("size", SIZES)
def test_no_stored_equity_is_farther_from_the_exact_one_than_its_bound(size: tuple[int, int]) -> None:
    table = solver.two_sided(*size)
    found, bound = bounds_of(table)
    exact = np.asarray(solver.two_sided(*size, recipe="exact").equities)
    error = np.abs(table.read("equities", np.asarray(table.equities)) - exact)
    assert (error <= bound + CLOSE)[1:, 1:].all()
    greatest = bound[1:, 1:].max(axis=(0, 1))
    assert (greatest <= found.greatest).all()
    assert (found.greatest <= greatest + CLOSE).all()
    assert (found.greatest <= 1.3 * error[1:, 1:].max(axis=(0, 1))).all()


@pytest.mark.parametrize("size", [(3, 3), (4, 2)])
def test_bounds_hold_against_rational_arithmetic(size: tuple[int, int]) -> None:
    """In whole numbers, without any float: both sides are multiplied by the two denominators."""
    values, scale = rational_equities(*size)
    table = solver.two_sided(*size)
    kept = np.zeros((table.positions, table.positions, 4), np.int32)
    error_bound.bound_errors(table, out=kept)
    stored = (2 * np.asarray(table.equities).astype(object) - 65535) * scale
    error = abs(stored - 65535 * values)  # of an equity, times 65535 * scale
    allowed = kept.astype(object) * 2 * scale  # FINE * 65535 / 2 is ONE
    assert (FINE * error[1:, 1:] <= allowed[1:, 1:]).all()


@pytest.mark.slow
def test_decisions_left_open_or_wrong_are_those_of_the_exact_equities() -> None:
    table = solver.two_sided(6, 4)
    found, _ = bounds_of(table)
    measured = truth.measure_equity_errors(table, 1)
    for name, open_, wrong in zip(error_bound.DECISION_NAMES, *found.decisions.T[1:].tolist(), strict=True):
        assert wrong <= measured["decisions_wrong"][name] <= wrong + open_
        right = int(found.decisions[error_bound.DECISION_NAMES.index(name), 0])
        assert right <= measured["decisions"][name] <= right + open_


def test_histogram_counts_every_equity() -> None:
    found, bound = bounds_of(solver.two_sided(4, 4))
    assert found.histogram.sum(axis=1).tolist() == [found.pairs] * 4
    steps = np.ceil(bound[1:, 1:] * ONE / FINE - 1e-9).astype(int)
    for column in range(4):
        wanted = np.bincount(steps[..., column].reshape(-1), minlength=BINS)
        assert found.histogram[column].tolist() == wanted.tolist()


def test_bounds_hold_for_any_integers_and_are_the_same_on_two_threads() -> None:
    """Of damage and of other roundings too, and beyond what a byte holds."""
    rng = np.random.default_rng(1)
    right = solver.two_sided(6, 3)
    exact = np.asarray(solver.two_sided(6, 3, recipe="exact").equities)
    for most in (3, 10, 30, 5000):
        off = rng.integers(-most, most + 1, right.equities.shape)
        stored = np.clip(np.asarray(right.equities).astype(np.int64) + off, 0, 65535).astype(np.uint16)
        table = replace(right, equities=stored)
        found, bound = bounds_of(table)
        error = np.abs(table.read("equities", stored) - exact)
        assert (error <= bound + CLOSE)[1:, 1:].all()
        again, same = bounds_of(table, threads=2)
        assert again.as_dict() == found.as_dict()
        assert np.array_equal(bound, same)


def test_bytes_stand_for_bounds_outside_or_for_the_ends() -> None:
    from bgfmt.extras.accuracy import enclosure

    for value in (-ONE, 0, 5 * FINE, ONE):
        for off in (
            -40 * FINE,
            -17 * FINE,
            -16 * FINE - 1,
            -1000,
            -1,
            0,
            1,
            500,
            15 * FINE,
            16 * FINE,
            33 * FINE,
        ):
            bound = min(max(value + off, -ONE), ONE)
            below = enclosure.lower_bound(value, np.int8(enclosure.steps_below(value, bound)))
            above = enclosure.upper_bound(value, np.int8(enclosure.steps_above(value, bound)))
            assert below <= bound <= above
            if abs(bound - value) < 15 * FINE:
                assert max(bound - below, above - bound) <= STEP
    assert enclosure.lower_bound(FINE, np.int8(OPEN_BELOW)) == -ONE
    assert enclosure.upper_bound(FINE, np.int8(OPEN_ABOVE)) == ONE


def test_tables_without_bounds_say_why() -> None:
    exact = solver.two_sided(2, 2, recipe="exact")
    cubeless = solver.two_sided(2, 2, cubeful=False)
    for table in (exact, cubeless, solver.one_sided(2), solver.two_sided(2, 2).cubeless()):
        note = error_bound.measure(table, 1)["note"]
        assert note
        with pytest.raises(CapabilityError, match=r"error bound|no equities"):
            error_bound.bound_errors(table)  # type: ignore[arg-type]


def test_tables_larger_than_memory_are_bounded_in_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.bd"
    bgfmt.save(solver.two_sided(6, 4), path)
    table = bgfmt.open(path).table
    assert isinstance(table, TwoSided)
    wanted, bound = bounds_of(table)
    without, in_all = error_bound.memory_bytes(6, 4)
    folders = []

    class Scratch(error_bound.MappedScratch):
        def __init__(self, folder: Path, memory: int) -> None:
            folders.append(folder)
            super().__init__(folder, memory)

    monkeypatch.setattr(error_bound, "MappedScratch", Scratch)
    for module in (error_bound, machine):
        monkeypatch.setattr(module, "available_memory", lambda: in_all - 1)
    found, same = bounds_of(table, threads=2)
    assert folders == [tmp_path]
    assert found.as_dict() == wanted.as_dict()
    assert np.array_equal(bound, same)
    assert list(tmp_path.iterdir()) == [path]
    for module in (error_bound, machine):
        monkeypatch.setattr(module, "available_memory", lambda: without - 1)
    with pytest.raises(SolverError, match=r"the error bound of 6x4 needs .* GB of memory"):
        error_bound.bound_errors(table)


@pytest.mark.parametrize("suffix", [".bd", ".npz", ".bgts", ".sqlite"])
def test_verify_reports_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    table = solver.two_sided(4, 3)
    bgfmt.save(table, path)
    assert run(["verify", "--bound", "--json", str(path)]) == 0
    bound = json.loads(capsys.readouterr().out)["bound"]
    assert bound == error_bound.bound_errors(table).as_dict()
    assert run(["verify", "--bound", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"centered  within {bound['greatest']['centered']:.7f} of the exact equity" in said
    assert "takes of 1,156 left open" in said


def test_each_table_of_a_file_has_its_own_bound(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A one-sided table behind a two-sided one has none."""
    path = tmp_path / "two.bd"
    path.write_bytes((golden / "gnubg/ts_03x03.bd").read_bytes() + (golden / "gnubg/os_p02.bd").read_bytes())
    first, second = bgfmt.verify(path, bound=True).parts
    assert "note" not in first.bound
    assert (
        second.bound["note"]
        == "one-sided tables have no equities; --exact compares their numbers with exact ones"
    )
    assert run(["verify", "--bound", str(golden / "gnubg/os_p02.bd")]) == 0
    said = capsys.readouterr().out
    assert "no error bound is proved: one-sided tables" in said
    assert "proved error bounds" not in said


def test_damage_is_reported_with_a_bound_or_measured_errors_asked_for(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.bgts"
    bgfmt.convert(golden / "gnubg/ts_03x03.bd", path)
    content = bytearray(path.read_bytes())
    content[-9] ^= 4
    path.write_bytes(content)
    for how in ({"bound": True}, {"exact": True}):
        assert bgfmt.verify(path, **how).exit_code == 1
