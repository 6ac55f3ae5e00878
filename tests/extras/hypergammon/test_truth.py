"""Verdicts of hypergammon: near is not good."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.solver import hypergammon
from bgfmt.tables.hypergammon import hyper_numbers
from bgfmt.verifier.proofs import Request, prove
from tests.verifier.test_truth import Array, changed, not_good


@pytest.mark.slow
def test_random_equities_of_hypergammon_are_damage(golden: Path, tmp_path: Path) -> None:
    def change(arrays: dict[str, Array]) -> None:
        rng = np.random.default_rng(1)
        records = arrays["records"]
        numbers = hyper_numbers(records)
        live = numbers[..., :5].any(axis=-1) & (numbers[..., 0] != recurrence.WHOLE) & (numbers[..., 0] != 0)
        records[live, 15:27] = rng.integers(0, 256, (int(live.sum()), 12))

    not_good(changed(golden / "gnubg" / "hyper1.bd", tmp_path / "x.bd", change, "gnubg-hyper"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "places"),
    [
        (1, [(57, 6), (300, 0)]),
        (-1, [(480, 8), (611, 3)]),
        (40, [(300, 0), (480, 8)]),
        (5000, [(611, 3), (57, 6)]),
    ],
)
def test_one_unit_in_one_record_of_hypergammon_is_found(
    golden: Path, tmp_path: Path, unit: int, places: list[tuple[int, int]]
) -> None:
    original = (golden / "gnubg" / "hyper1.bd").read_bytes()
    path = tmp_path / "x.bd"
    for record, field in places:
        at = 40 + 28 * record + 3 * field
        value = (int.from_bytes(original[at : at + 3], "little") + unit) % (1 << 24)
        path.write_bytes(original[:at] + value.to_bytes(3, "little") + original[at + 3 :])
        report = not_good(path)
        assert report.wrong == 1
        assert report.findings[0].entry == record


@pytest.mark.slow
def test_the_lowest_bits_of_hypergammon_stuck(golden: Path, tmp_path: Path) -> None:
    def change(arrays: dict[str, Array]) -> None:
        arrays["records"][..., 0:27:3] &= 0xFE

    not_good(changed(golden / "gnubg" / "hyper1.bd", tmp_path / "x.bd", change, "gnubg-hyper"))


@pytest.mark.slow
def test_hypergammon_of_a_build_with_true_division(tmp_path: Path) -> None:
    iteration = recurrence.CheckedIteration(1)
    iteration.begin_again(divide=True)
    while iteration.sweep() > 1e-5:
        pass
    path = tmp_path / "hyper1.bd"
    path.write_bytes(b"gnubg-H1" + b"x" * 31 + b"\n" + recurrence.encode(iteration.values).tobytes())
    report = bgfmt.verify(path)
    assert (report.status, report.recipe) == ("proved", "gnubg-division")


@pytest.mark.slow
def test_a_tolerance_for_hypergammon_is_named_by_the_user(golden: Path, tmp_path: Path) -> None:
    """A converged state that no run of makehyper leaves: near, and good only within a tolerance."""

    def change(arrays: dict[str, Array]) -> None:
        numbers = hyper_numbers(arrays["records"])
        rng = np.random.default_rng(3)
        live = (numbers[..., 0] != recurrence.WHOLE) & (numbers[..., 0] > 0)
        low = arrays["records"][..., 15]
        low[live] = (low[live] & 0xFC) | rng.integers(0, 4, int(live.sum()))

    path = changed(golden / "gnubg" / "hyper1.bd", tmp_path / "x.bd", change, "gnubg-hyper")
    report = not_good(path)
    assert report.status == "differs"
    assert "likely cause" in report.verdict
    assert bgfmt.verify(path, tolerance=1e-4).status == "within tolerance"


@pytest.mark.slow
def test_a_large_table_of_zeros_is_damaged(tmp_path: Path) -> None:
    """300 MB of zeros under the name of a three-chequer table, and all entries of a smaller one."""
    for chequers, quick in ((3, True), (2, False)):
        path = tmp_path / f"hyper{chequers}.bd"
        with open(path, "wb") as file:
            file.write(b"gnubg-H%d" % chequers + b"x" * 31 + b"\n")
            file.truncate(40 + math.comb(25 + chequers, chequers) ** 2 * 28)
        report = bgfmt.verify(path, quick=quick)
        assert report.exit_code == 1, report.verdict


@pytest.mark.slow
def test_the_iteration_of_hypergammon_run_again(golden: Path) -> None:
    for name, said in (("hyper1.bd", "the same numbers throughout"), ("hyper1_t1.bd", "not solved again")):
        report = bgfmt.verify(golden / "gnubg" / name, until="regenerate")
        assert (report.status, report.rung) == ("proved", "regenerate")
        assert any(said in note for note in report.notes)


@pytest.mark.slow
def test_hypergammon_in_float64(tmp_path: Path) -> None:
    table: Any = hypergammon(1, recipe="exact").table
    outcome = prove(table, Request())
    assert outcome is not None
    assert (outcome.recipe, outcome.facts["sweeps"]) == ("exact", 30)
    sampled = prove(table, Request(sample=300))
    assert sampled is not None
    assert sampled.recipe == "exact"
    for where, mask in (((300, 6), 1), ((57, 0), 1 << 63), ((480, 9), 1 << 40)):
        values = np.array(table.arrays()["float64"])
        values.reshape(-1, 10).view(np.int64)[where] ^= (
            np.int64(mask) if mask < 1 << 63 else np.int64(-(1 << 63))
        )
        damaged = prove(replace(table, float64=values), Request())
        assert damaged is not None
        assert (damaged.recipe, damaged.failing) == ("", 1)
        assert damaged.findings[0].entry == where[0]
