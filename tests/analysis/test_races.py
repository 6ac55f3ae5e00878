"""Races of one side and chances from two distributions."""

from __future__ import annotations

import numpy as np
import pytest

from bgfmt import analysis
from bgfmt.analysis import SideRace, equities_many, twosided_from_onesided, win_chances
from bgfmt.analysis.races import outcome_chances, twosided_many
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import OneSided
from tests.support.analysis_tables import exact_two_sided, means, one_sided, stored_two_sided
from tests.support.single import race

# counts, exact mean, EPC and wastage
RACES = [
    ("2", 1.0, 8.1667, 6.1667),
    ("4", 1.833333, 14.9722, 10.9722),
    ("8", 3.550926, 28.9992, 20.9992),
    ("12", 5.265303, 43.0, 31.0),
    ("15", 6.979592, 57.0, 42.0),
    ("0 0 0 0 0 1", 1.25, 10.2083, 4.2083),
    ("0 0 0 1", 1.055556, 8.6204, 4.6204),
    ("0 0 1", 1.0, 8.1667, 5.1667),
    ("1", 1.0, 8.1667, 7.1667),
    ("0 0 0 3 5 7", 10.539055, 86.0689, 7.0689),
    ("5 4", 4.410129, 36.0161, 23.0161),
]
# counts, rolls out of 36 that bear off everything at once
LAST_ROLL = [
    ("0 0 0 0 0 1", 27),
    ("0 0 0 1", 34),
    ("0 0 0 0 0 2", 4),
    ("0 0 0 0 1 1", 6),
    ("0 0 1 0 0 1", 10),
    ("0 1 0 0 0 1", 13),
    ("0 0 0 0 2", 6),
    ("0 0 1 0 1", 14),
    ("0 1 0 0 1", 19),
    ("1 0 0 0 1", 23),
    ("0 0 0 2", 11),
    ("0 1 0 1", 23),
    ("1 0 0 1", 29),
    ("0 1 1", 25),
    ("1 1", 36),
    ("2", 36),
]

# chance to win of the side on roll, chequers of each on its ace point
PRINTED = [(0.301055, 8, 6), (0.861111, 3, 3), (0.787809, 5, 5), (0.301055, 7, 5), (0.934315, 9, 11)]


def side(text: str) -> Side:
    return Side(*map(int, text.split()))


@pytest.mark.parametrize(("counts", "mean", "epc", "wastage"), RACES)
def test_races_of_the_literature(counts, mean, epc, wastage):
    exact = race(means(), side(counts))
    assert isinstance(exact, SideRace)
    assert exact.mean_rolls == pytest.approx(mean, abs=5.1e-7)
    assert exact.bearoff is None
    assert exact.epc == pytest.approx(epc, abs=5.1e-5)
    assert exact.wastage == pytest.approx(wastage, abs=5.1e-5)
    stored = race([means(), one_sided()], side(counts))
    assert isinstance(stored, SideRace)
    assert stored.mean_rolls == pytest.approx(mean, abs=0.000198)
    assert stored.wastage == pytest.approx(wastage, abs=0.00162)


@pytest.mark.parametrize(("counts", "rolls"), LAST_ROLL)
def test_last_roll(counts, rolls):
    answer = race(one_sided(), side(counts))
    assert isinstance(answer, SideRace)
    assert answer.off_within(1) == pytest.approx(rolls / 36, abs=1e-5)
    assert answer.off_within(31) == pytest.approx(1, abs=1e-6)


@pytest.mark.extra("arrays")
def test_the_least_and_the_most_wasteful_fifteen():
    first, last = board.count(6, 14), board.count(6, 15)
    races = analysis.race_many(means(), np.arange(first, last))
    least, most = (first + int(k) for k in (races.wastage.argmin(), races.wastage.argmax()))
    assert Side.from_number(least, 6) == Side(0, 0, 0, 3, 5, 7)
    assert Side.from_number(most, 6) == Side(15)


@pytest.mark.extra("arrays")
def test_many_as_one():
    rng = np.random.default_rng(1)
    numbers = rng.integers(1, 54264, 300)
    races = analysis.race_many(one_sided(), numbers)
    for k, number in enumerate(numbers):
        one = race(one_sided(), Side.from_number(int(number), 6))
        assert isinstance(one, SideRace)
        assert races.mean_rolls[k] == pytest.approx(one.mean_rolls, abs=1e-14)
        assert races.std_rolls is not None
        assert races.std_rolls[k] == pytest.approx(one.std_rolls, abs=1e-14)
        assert races.epc[k] == pytest.approx(one.epc, rel=1e-14)
        assert races.wastage[k] == pytest.approx(one.wastage, abs=1e-12)
        assert races.pips[k] == one.pips
        assert races.off_within(7)[k] == pytest.approx(one.off_within(7), abs=1e-12)
        assert one.gammon is not None
        assert races.gammon_saved_within(2)[k] == pytest.approx(float(one.gammon[:3].sum()), abs=1e-6)


@pytest.mark.extra("arrays")
def test_saving_the_gammon():
    stack = race(one_sided(), Side(*[0] * 5, 15))
    assert isinstance(stack, SideRace)
    assert stack.gammon is not None
    assert stack.gammon[0] == 0
    # any 6, 5-1, 4-2, 3-3 and 2-2
    assert stack.gammon[1] == pytest.approx(17 / 36, abs=1e-5)
    assert analysis.race_many(one_sided(), [Side(14)]).gammon_saved_within(0)[0] == 1


def test_win_chances_from_one_sided_tables():
    table, exact = one_sided(), exact_two_sided()
    for printed, a, b in PRINTED:
        got = twosided_from_onesided(table, Position(Side(a), Side(b)))
        assert got.win == pytest.approx(printed, abs=3e-5)
    counts = board.unrank_array(np.arange(1, 924), 6)
    worst, total = 0.0, 0.0
    for k in range(0, 923, 13):
        us = np.repeat(counts[k : k + 1], 923, axis=0)
        rough = twosided_many(table, us, counts)
        true = equities_many(exact, us, counts)[:, 0] / 2 + 0.5
        worst = max(worst, float(np.abs(rough[:, 0] - true).max()))
        total += float(np.abs(rough[:, 0] - true).mean())
        assert not rough[:, 1:].any()
    assert worst <= 0.0139
    assert total / 71 == pytest.approx(0.00088, abs=0.0002)
    known = twosided_from_onesided(table, Position(side("0 0 2 2 2"), side("3 2 1")))
    assert known.win == pytest.approx(0.222327, abs=1e-5)
    known = twosided_from_onesided(table, Position(side("0 0 0 3 1 2"), side("3 2 1")))
    assert known.win == pytest.approx(0.126305, abs=1e-5)


@pytest.mark.slow
def test_gammon_chances():
    table = one_sided()
    position = Position(Side(2), Side(*[0] * 5, 15))
    estimate = twosided_from_onesided(table, position)
    assert estimate.win == pytest.approx(1, abs=1e-6)
    assert estimate.win_gammon == pytest.approx(1, abs=1e-6)
    other = twosided_from_onesided(table, position.swapped())
    saved = race(table, position.them)
    assert isinstance(saved, SideRace)
    assert saved.gammon is not None
    assert other.lose_gammon == pytest.approx(1 - float(saved.gammon[1]), abs=1e-6)
    assert other.win_gammon == 0
    assert estimate.cubeless == pytest.approx(2, abs=1e-5)
    many = twosided_many(
        table, [position.us.padded(6), position.them.padded(6)], [position.them.padded(6), (2, 0, 0, 0, 0, 0)]
    )
    assert many[0] == pytest.approx([estimate.win, estimate.win_gammon, 0])
    assert many[1] == pytest.approx([other.win, 0, other.lose_gammon])
    blind = OneSided(points=6, chequers=15, bearoff=table.bearoff)
    assert twosided_from_onesided(blind, position).win_gammon == estimate.win_gammon
    far = OneSided(points=9, chequers=15, bearoff=np.zeros((board.count(9, 15), 32), np.uint16))
    assert twosided_from_onesided(far, position).win_gammon is None
    assert twosided_from_onesided(far, Position(Side(1), Side(3))).win_gammon == 0


def test_formula_against_plain_sums():
    rng = np.random.default_rng(2)
    rows = rng.dirichlet(np.ones(6), 4)
    w_us, w_them, g_us, g_them = rows
    win, won, lost = outcome_chances(w_us, w_them, g_us, g_them)
    span = range(6)
    assert win == pytest.approx(sum(w_us[i] * w_them[j] for i in span for j in span if j >= i))
    assert won == pytest.approx(sum(w_us[i] * g_them[j] for i in span for j in span if j >= i))
    assert lost == pytest.approx(sum(w_them[i] * g_us[j] for i in span for j in span if j >= i + 1))
    assert win_chances(rows[:2], rows[2:]).shape == (2,)
    assert win_chances([0, 1], [0, 0, 1]) == 1


@pytest.mark.extra("arrays")
def test_what_is_refused():
    assert race(one_sided(), Side(0, 0, 0, 0, 0, 0, 1)).source == "calculation"
    assert race(stored_two_sided(), Side(1)).mean_rolls == 1
    with pytest.raises(NotCoveredError):
        twosided_from_onesided(means(), Position(Side(1), Side(1)))
    with pytest.raises(PositionError, match="game is over"):
        twosided_from_onesided(one_sided(), Position(Side(), Side(1)))
    with pytest.raises(NotCoveredError, match="no distribution of this kind"):
        analysis.race_many(means(), [Side(1)]).off_within(1)
