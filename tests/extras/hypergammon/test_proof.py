"""Verifying hypergammon: which files are states of the iteration, and how soon damage is told from one.

Sweeps over positions in contact are what takes time (minutes with three chequers): they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.extras.hypergammon import kernels_recurrence as kernels
from bgfmt.extras.hypergammon import recurrence
from bgfmt.extras.hypergammon.solver import HypergammonSolver, hypergammon
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.tables import Hypergammon
from bgfmt.verifier.findings import Cause, Outcome
from bgfmt.verifier.proofs import Request, prove

Array = Any


@pytest.fixture(scope="module", autouse=True)
def _lists_made_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        kept: dict[int, Any] = {}
        plain = recurrence.list_plays

        def lists(boards: Array, threads: int) -> Any:
            if len(boards) not in kept:
                kept[len(boards)] = plain(boards, threads)
            return kept[len(boards)]

        patch.setattr(recurrence, "list_plays", lists)
        yield


@pytest.fixture(scope="module")
def two() -> Hypergammon:
    table = hypergammon(2).table
    assert isinstance(table, Hypergammon)
    return table


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by an entry for each sweep over positions in contact."""
    made: list[int] = []
    plain = recurrence.CheckedIteration.sweep

    def counted(self: recurrence.CheckedIteration, *, races: bool = False) -> float:
        if not races:
            made.append(len(made) + 1)
        return plain(self, races=races)

    monkeypatch.setattr(recurrence.CheckedIteration, "sweep", counted)
    return made


def outcome(table: Hypergammon | ExactHypergammon, records: Array, **how: Any) -> Outcome:
    name = "records" if isinstance(table, Hypergammon) else "float64"
    found = prove(replace(table, **{name: records}), Request(2, **how))
    assert found is not None
    return found


def classes(chequers: int) -> Array:
    """The class of every record."""
    return recurrence.kinds_of(recurrence.boards_of(chequers))


def units_added(records: Array, where: Array, units: Array) -> Array:
    """The four equities of the records `where` moved by (len(where), 4) units."""
    out = records.reshape(-1, 28).copy()
    numbers = recurrence.numbers_of(out[where])[:, 5:]
    moved = np.clip(numbers + units, 0, recurrence.WHOLE)
    for k in range(3):
        out[where, 15 + k : 27 : 3] = (moved >> (8 * k)) & 255
    return out.reshape(records.shape)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
def test_a_sweep_is_a_step_of_each_record_in_turn(exact: bool) -> None:
    iteration, slow = (recurrence.CheckedIteration(1, exact=exact, threads=2) for _ in range(2))
    right, off = np.zeros((1, 10), slow.values.dtype), np.zeros(1, slow.values.dtype)
    n = slow.positions
    for _ in range(4):
        for x in np.flatnonzero(slow.kinds >= recurrence.OVER):
            kernels.compute_residuals(np.array([x]), slow.state, slow.values.dtype.type(0), right, off)
            slow.values[x] = right[0]
            kernels.negate_record(right[0], slow.state.turned[x % n * n + x // n])
        iteration.sweep()
        assert np.array_equal(slow.values, iteration.values)


@pytest.mark.slow
def test_plays_are_those_of_the_game() -> None:
    """With points of the other side closed, and its blots hit."""
    boards = recurrence.boards_of(2)
    lists, sides = recurrence.list_plays(boards, 2), [Side(*b[:24], bar=b[24]) for b in boards.tolist()]
    numbers, kinds = {side: k for k, side in enumerate(sides)}, recurrence.kinds_of(boards).reshape(351, 351)
    for us, them in np.random.default_rng(5).integers(1, len(boards), (200, 2)).tolist():
        if kinds[us, them] == recurrence.ILLEGAL:
            continue
        for roll in range(21):
            high, low = next(
                (a, b) for a in range(1, 7) for b in range(1, a + 1) if a * (a - 1) // 2 + b - 1 == roll
            )
            at = (us * 25 + lists.blocked[them]) * 21 + roll
            some = slice(lists.starts[at], lists.starts[at + 1])
            masks = lists.landed[some].tolist()
            hits = [
                sum((mask >> k & 1) << i for i, k in enumerate(lists.met[them].tolist())) for mask in masks
            ]
            listed = set(zip(lists.after[some].tolist(), lists.hit[them][hits].tolist(), strict=True))
            plays = legal_plays(Position(sides[us], sides[them]), high, low)
            assert listed == {(numbers[p.result.us], numbers[p.result.them]) for p in plays}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["gnubg", "exact"])
def test_sweeps_are_those_of_the_solver(recipe: Any) -> None:
    """Of which they share nothing."""
    iteration = recurrence.CheckedIteration(2, exact=recipe == "exact", threads=2)
    for state in HypergammonSolver(25, 2, recipe=recipe).sweeps(most_sweeps=5):
        iteration.sweep()
        assert np.array_equal(state.values.reshape(-1, 10), iteration.values)


# -- sound files -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.9, 0.1])
def test_states_at_other_thresholds_are_proved(threshold: float) -> None:
    made = hypergammon(2, threshold=threshold)
    found = outcome(made.table, np.asarray(made.table.arrays()["records"]))  # type: ignore[arg-type]
    assert (found.recipe, found.facts["sweeps"]) == ("gnubg", made.sweeps)


RESTARTS = [(0.5, 0.4), (0.5, 0.1), (0.1, 0.001), (0.01, 0.0), (1e-5, 1e-5)]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), RESTARTS)
def test_restarts_are_proved_and_what_is_damaged_after_one_is_named(first: float, then: float) -> None:
    before = hypergammon(1, threshold=first)
    after = hypergammon(1, threshold=then, restart=before.table)  # type: ignore[arg-type]
    records = np.asarray(after.table.arrays()["records"])
    found = outcome(after.table, records)  # type: ignore[arg-type]
    assert found.recipe == "gnubg"
    if then < first and then > 0.0:  # others equal a sweep of an iteration that was not restarted
        assert (found.facts["sweeps"], found.facts["restarts"]) == (after.sweeps, before.sweeps)
    damaged = records.copy()
    damaged[-10, 12, 16] ^= 4
    found = outcome(after.table, damaged)  # type: ignore[arg-type]
    assert (found.wrong, found.findings[0].entry) == (1, (len(records) - 10) * len(records) + 12)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [(0.5, 0.1), (1e-4, 1e-6)])
def test_a_restart_with_two_chequers_is_named_as_no_damage(first: float, then: float) -> None:
    before = hypergammon(2, threshold=first)
    after = hypergammon(2, threshold=then, restart=before.table)  # type: ignore[arg-type]
    found = outcome(after.table, np.asarray(after.table.arrays()["records"]))  # type: ignore[arg-type]
    assert found.recipe == ""
    assert found.systematic
    assert found.likely is not None
    assert found.likely.cause is Cause.THRESHOLD


@pytest.mark.slow
def test_races_are_swept_alone_to_the_same_numbers() -> None:
    whole, alone = recurrence.CheckedIteration(1), recurrence.CheckedIteration(1)
    races = whole.kinds == recurrence.RACE
    for _ in range(4):
        whole.sweep()
        alone.sweep(races=True)
        assert np.array_equal(whole.values[races], alone.values[races])
    assert np.any(whole.values[~races] != alone.values[~races])


# -- damage that is everywhere is told at once -----------------------------------------------------------------


def thirds(records: Array, rng: np.random.Generator) -> Array:
    out = records.reshape(-1, 28).copy()
    out[::3, 15] ^= 1
    return out.reshape(records.shape)


def stuck(records: Array, rng: np.random.Generator) -> Array:
    out = records.copy()
    out[..., 0:27:3] &= 0xFE
    return out


def zeros(records: Array, rng: np.random.Generator) -> Array:
    return np.zeros_like(records)


def shuffled(records: Array, rng: np.random.Generator) -> Array:
    return rng.permutation(records.reshape(-1, 28)).reshape(records.shape)


def transposed(records: Array, rng: np.random.Generator) -> Array:
    return records.transpose(1, 0, 2).copy()


def scaled(records: Array, rng: np.random.Generator) -> Array:
    numbers = (recurrence.numbers_of(records) * 0.999).astype(np.int32)
    out = np.zeros_like(records)
    for k in range(3):
        out[..., k:27:3] = (numbers >> (8 * k)) & 255
    return out


@pytest.mark.slow
@pytest.mark.parametrize("damage", [thirds, shuffled, scaled])
def test_damage_everywhere_is_told_without_a_sweep_over_contact(
    two: Hypergammon, sweeps: list[int], damage: Callable[[Array, np.random.Generator], Array]
) -> None:
    right = np.asarray(two.records)
    records = damage(right, np.random.default_rng(1))
    found = outcome(two, records)
    assert found.recipe == ""
    assert sweeps == []
    wrong = np.flatnonzero((records != right).reshape(-1, 28).any(axis=1))
    assert found.failing > 1000
    assert len(found.findings) > 10
    assert {finding.entry for finding in found.findings} <= set(wrong.tolist())  # named are wrong ones
    for finding in found.findings:
        assert finding.expected == recurrence.numbers_of(right.reshape(-1, 28)[finding.entry]).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [stuck, zeros, transposed])
def test_damage_to_the_half_of_one_chequer(
    golden: Path, damage: Callable[[Array, np.random.Generator], Array]
) -> None:
    table = bgfmt.load(golden / "gnubg" / "hyper1.bd")
    assert isinstance(table, Hypergammon)
    found = outcome(table, damage(np.asarray(table.records), np.random.default_rng(1)))
    assert found.recipe == ""
    assert found.failing > 100
    assert found.findings


@pytest.mark.slow
def test_noise_in_contact_alone_stops_the_iteration_early(two: Hypergammon, sweeps: list[int]) -> None:
    rng = np.random.default_rng(2)
    contact = np.flatnonzero(classes(2) == recurrence.CONTACT)
    units = rng.integers(-1_000_000, 1_000_001, (len(contact), 4))
    found = outcome(two, units_added(np.asarray(two.records), contact, units))
    assert found.recipe == ""
    assert found.failing > 1000
    assert 0 < len(sweeps) < 16


@pytest.mark.slow
def test_a_tenth_of_the_entries_are_named(golden: Path) -> None:
    """Many are wrong in themselves, and every one of them is counted."""
    table = bgfmt.load(golden / "gnubg" / "hyper1.bd")
    assert isinstance(table, Hypergammon)
    live = np.flatnonzero(classes(1) >= recurrence.CONTACT)
    where = np.sort(np.random.default_rng(3).choice(live, len(live) // 10, replace=False))
    records = np.asarray(table.records).reshape(-1, 28).copy()
    records[where, 16] ^= 1
    found = outcome(table, records.reshape(table.records.shape))
    assert (found.recipe, found.wrong, found.failing) == ("", len(where), len(where))
    assert [finding.entry for finding in found.findings] == where[: len(found.findings)].tolist()


@pytest.mark.slow
def test_a_tolerance_holds_for_every_entry(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for those alone that a description of the differences takes."""
    monkeypatch.setattr("bgfmt.extras.hypergammon.proof.GLANCE_RECORDS", 100)
    table = bgfmt.load(golden / "gnubg" / "hyper1.bd")
    assert isinstance(table, Hypergammon)
    live = np.flatnonzero(classes(1) >= recurrence.CONTACT)
    rng = np.random.default_rng(4)
    near = units_added(np.asarray(table.records), live, rng.integers(-30, 31, (len(live), 4)))
    path = tmp_path / "x.bd"
    bgfmt.save(replace(table, records=near), path, format="gnubg-hyper")
    assert bgfmt.verify(path, tolerance=1e-3).status == "within tolerance"
    assert bgfmt.verify(path, tolerance=1e-9).exit_code == 1
    for at in (300, 301, 302):
        far = units_added(near, live[at : at + 1], np.full((1, 4), -200_000))
        bgfmt.save(replace(table, records=far), path, format="gnubg-hyper", force=True)
        assert bgfmt.verify(path, tolerance=1e-3).exit_code == 1


# -- float64 ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_damage_to_exact_tables_is_named(sweeps: list[int]) -> None:
    """Damage everywhere without the iteration; of a few entries those that are wrong themselves."""
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    right = np.asarray(table.float64)
    assert outcome(table, right).recipe == "exact"
    sweeps.clear()
    for wrong in (right * 0.999, np.zeros_like(right), np.roll(right, 1, axis=1)):
        found = outcome(table, wrong)
        assert (found.recipe, sweeps) == ("", [])
        assert found.failing > 100
        assert found.findings
    for number in (right[20, 17, 7] + 1e-6, np.nan, np.inf):
        one = right.copy()
        one[20, 17, 7] = number
        found = outcome(table, one)
        assert (found.recipe, found.wrong) == ("", 1)
        assert [finding.entry for finding in found.findings] == [20 * 26 + 17]


@pytest.mark.slow
@pytest.mark.parametrize("part", [1, 3, 40])
def test_last_bits_of_an_exact_table_count(part: int) -> None:
    """However many records are off by the last bit alone, it is no state of the iteration."""
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    right = np.asarray(table.float64)
    near = right.reshape(-1, 10).copy()
    live = np.flatnonzero(classes(1) >= recurrence.CONTACT)[::part]
    near[live, 7] = np.nextafter(near[live, 7], 9)
    found = outcome(table, near.reshape(right.shape))
    assert found.recipe == ""
    assert 0 < found.failing <= len(live)
    assert 0 < found.largest < 1e-15


@pytest.mark.slow
def test_an_exact_table_is_proved_by_a_state_of_the_iteration_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by following from itself in one step."""
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    monkeypatch.setattr("bgfmt.extras.hypergammon.states.MAX_SWEEPS", 6)
    found = outcome(table, np.asarray(table.float64))
    assert found.recipe == ""
    assert found.failing > 0


@pytest.mark.slow
def test_what_is_no_number_in_a_chance_is_found() -> None:
    from bgfmt.extras.hypergammon.proof import ExactCheck

    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    values = np.array(table.float64)
    values[20, 17, 0] = np.nan
    found = ExactCheck(replace(table, float64=values), Request()).one_step(None)
    assert found.recipe == ""
    assert (found.failing, found.checked) == (7, 676)  # and those whose values follow from it
    assert 20 * 26 + 17 in [finding.entry for finding in found.findings]


@pytest.mark.slow
def test_a_sample_of_an_exact_table_of_three_chequers_is_checked_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bgfmt.extras.hypergammon.proof.MAX_RERUN_CHEQUERS", 0)
    monkeypatch.setattr("bgfmt.extras.hypergammon.proof.GLANCE_RECORDS", 200)
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    right = np.asarray(table.float64)
    assert (outcome(table, right).recipe, outcome(table, right).checked) == ("exact", 676)
    found = outcome(table, right * 0.999)
    assert found.recipe == ""
    assert found.checked < 300
    assert found.failing > found.checked // 4
    one = right.copy()
    one[20, 17, 7] += 1e-6
    found = outcome(table, one)
    assert (found.failing, found.checked) == (7, 676)
    assert 20 * 26 + 17 in [finding.entry for finding in found.findings]
