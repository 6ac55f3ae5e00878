"""Verifying hypergammon: which files are states of the iteration, and how soon damage is told from one.

Sweeps take time (minutes with three chequers): they are counted.
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
from bgfmt.extras.hypergammon.proof import Check
from bgfmt.extras.hypergammon.solver import HypergammonSolver, hypergammon
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.tables import Hypergammon
from bgfmt.tables.hypergammon import hyper_numbers, hyper_records
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
    """Grows by an entry for each sweep."""
    made: list[int] = []
    plain = recurrence.CheckedIteration.sweep

    def counted(self: recurrence.CheckedIteration) -> float:
        made.append(len(made) + 1)
        return plain(self)

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
    numbers = hyper_numbers(out[where]).astype(np.int64)
    numbers[:, 5:] = np.clip(numbers[:, 5:] + units, 0, recurrence.WHOLE)
    out[where] = hyper_records(numbers)
    return out.reshape(records.shape)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
def test_a_sweep_is_a_step_of_each_record_in_turn(exact: bool) -> None:
    iteration, slow = (recurrence.CheckedIteration(1, exact=exact, threads=2) for _ in range(2))
    width = slow.values.dtype.type
    n = slow.positions
    for _ in range(4):
        for x in np.flatnonzero(slow.kinds >= recurrence.OVER):
            right, low, high = (np.zeros((1, size), width) for size in (10, 5, 5))
            kernels.compute_step(np.array([x]), slow.state, width(0), right, low, high)
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


@pytest.mark.slow
@pytest.mark.parametrize(("chequers", "first", "then"), [(1, 1e-5, 1e-5), (2, 0.5, 0.1), (2, 1e-4, 1e-6)])
def test_a_restart_is_named_as_no_damage(chequers: int, first: float, then: float) -> None:
    before = hypergammon(chequers, threshold=first)
    after = hypergammon(chequers, threshold=then, restart=before.table)  # type: ignore[arg-type]
    found = outcome(after.table, np.asarray(after.table.arrays()["records"]))  # type: ignore[arg-type]
    assert found.recipe == ""
    assert found.systematic
    assert found.likely is not None
    assert found.likely.cause is Cause.THRESHOLD


@pytest.mark.slow
def test_races_settle_to_the_last_bit() -> None:
    """After which sweeps skip them."""
    iteration = recurrence.CheckedIteration(1)
    while not iteration.races_settled:
        iteration.sweep()
    races = np.flatnonzero(iteration.kinds == kernels.RACE)
    right, low, high = (np.zeros((len(races), size), np.float32) for size in (10, 5, 5))
    state = iteration.state._replace(kinds=iteration.kinds)
    kernels.compute_step(races, state, np.float32(0), right, low, high)
    assert np.array_equal(iteration.values[races], right)
    assert iteration.sweep() > 0


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
    return hyper_records((hyper_numbers(records) * 0.999).astype(np.int32))


@pytest.mark.slow
@pytest.mark.parametrize("damage", [thirds, shuffled, scaled])
def test_damage_everywhere_is_told_without_a_sweep(
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
        assert finding.expected == hyper_numbers(right.reshape(-1, 28)[finding.entry]).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [stuck, zeros, transposed])
def test_damage_to_the_half_of_one_chequer(
    golden: Path, damage: Callable[[Array, np.random.Generator], Array]
) -> None:
    table = bgfmt.load(golden / "gnubg" / "hyper1.bd")
    assert isinstance(table, Hypergammon)
    found = outcome(table, damage(np.asarray(table.records), np.random.default_rng(1)))
    assert found.recipe == ""
    assert found.failing > 50  # the finished games at least
    assert found.findings


@pytest.mark.slow
def test_noise_in_contact_alone_is_damage(two: Hypergammon) -> None:
    rng = np.random.default_rng(2)
    contact = np.flatnonzero(classes(2) == recurrence.CONTACT)
    units = rng.integers(-1_000_000, 1_000_001, (len(contact), 4))
    found = outcome(two, units_added(np.asarray(two.records), contact, units))
    assert found.recipe == ""
    assert found.failing > 1000


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
def test_a_tolerance_holds_for_every_entry(golden: Path, tmp_path: Path) -> None:
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
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    values = np.array(table.float64)
    values[20, 17, 0] = np.nan
    found = Check(replace(table, float64=values), Request()).check_step(None)
    assert found.recipe == ""
    assert (found.failing, found.checked) == (7, 676)  # and those whose values follow from it
    assert 20 * 26 + 17 in [finding.entry for finding in found.findings]


@pytest.mark.slow
def test_one_step_of_an_exact_table_of_three_chequers_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bgfmt.extras.hypergammon.proof.MAX_RERUN_CHEQUERS", 0)
    table = hypergammon(1, recipe="exact").table
    assert isinstance(table, ExactHypergammon)
    right = np.asarray(table.float64)
    assert (outcome(table, right).recipe, outcome(table, right).checked) == ("exact", 676)
    found = outcome(table, right * 0.999)
    assert found.recipe == ""
    assert found.failing > found.checked // 4
    one = right.copy()
    one[20, 17, 7] += 1e-6
    found = outcome(table, one)
    assert (found.failing, found.checked) == (7, 676)
    assert 20 * 26 + 17 in [finding.entry for finding in found.findings]
