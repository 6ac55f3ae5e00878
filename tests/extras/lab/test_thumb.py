"""The rules of thumb of BKG's paper: winning chances, doubling by them, the adjusted count, rolls outside of tables.

Expected numbers: calculated with exact rationals from the rules of the game, and the paper's worked line
(both counts 36: 36 x 1.1 - 2 = 38, no double).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from bgfmt.analysis import twosided_from_onesided
from bgfmt.extras.lab.articles.systems import Ace, distribution
from bgfmt.extras.lab.study import counts as counting
from bgfmt.extras.lab.study.rules import RULES, Pairs
from bgfmt.extras.lab.thumb import doubling, racing
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from tests.analysis.test_races import PRINTED
from tests.support.analysis_tables import one_sided

PAIRS = [
    ((0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1), Fraction(13, 16)),
    ((1, 0, 0, 0, 0, 1), (0, 1, 0, 0, 1, 0), Fraction(72505, 104976)),
    ((0, 0, 0, 1, 1, 1), (0, 0, 0, 1, 1, 1), Fraction(124815966919, 176319369216)),
    ((2, 0, 1, 0, 0, 0), (1, 0, 0, 0, 0, 1), Fraction(277, 432)),
    ((3, 0, 1, 1, 0, 0), (2, 1, 2, 0, 0, 0), Fraction(110683399, 136048896)),
    ((4, 0, 1, 1, 0, 0), (0, 3, 1, 1, 0, 0), Fraction(39408631, 60466176)),
]


def by_steps(onmove: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """W and V by the paper's loop, from the chances of each side to need exactly 1, 2, ... rolls."""
    win = lose = 0.0
    left = [1.0, 1.0]  # chance of not being off yet
    for n in range(max(len(onmove), len(other))):
        for side, chances in enumerate((onmove, other)):
            now = chances[n] if n < len(chances) else 0.0
            hazard = now / left[side] if left[side] > 0 else 1.0
            if side == 0:
                win += (1 - win - lose) * hazard
            else:
                lose += (1 - win - lose) * hazard
            left[side] -= now
        if 1 - win - lose < 1e-12:
            break
    return win, lose


def chances_of(counts: tuple[int, ...]) -> list[float]:
    chances = [float(p) for p in distribution(Side(*counts))[1:]]
    return chances + [0.0] * (15 - len(chances))


@pytest.mark.parametrize(("ours", "theirs", "right"), PAIRS)
def test_winning_chances(ours: tuple[int, ...], theirs: tuple[int, ...], right: Fraction) -> None:
    a, b = chances_of(ours), chances_of(theirs)
    assert abs(float(racing.win_chance(a, b)) - right) < 1e-12
    win, lose = by_steps(a, b)
    assert abs(win - right) < 1e-11
    assert abs(win + lose - 1) < 1e-11


def test_the_loop_and_the_sum_are_one() -> None:
    rng = np.random.default_rng(1977)
    for _ in range(300):
        a, b = rng.dirichlet(np.ones(8)), np.zeros(8)
        width = rng.integers(2, 9)
        b[:width] = rng.dirichlet(np.ones(width))
        steps, sums = by_steps(list(a), list(b)), racing.chances(a, b)
        assert max(abs(steps[0] - sums[0]), abs(steps[1] - sums[1])) < 1e-11


def test_many_pairs_are_the_single_ones() -> None:
    rows = np.random.default_rng(3).dirichlet(np.ones(8), 5) * 0.97
    many = racing.win_chance(rows[:, None], rows[None, :])
    assert many.shape == (5, 5)
    for i in range(5):
        for j in range(5):
            assert many[i, j] == pytest.approx(float(racing.win_chance(rows[i], rows[j])), abs=1e-15)
            win, lose = by_steps(list(rows[i]), list(rows[j]))
            assert many[i, j] == pytest.approx(win / (win + lose), abs=1e-12)


def test_what_eight_columns_leave_open_is_shared() -> None:
    win, lose = by_steps([0.5], [0.25])
    assert (win, lose) == (0.5, 0.125)
    assert float(racing.win_chance([0.5], [0.25])) == 0.8


COUNTS = [
    ((0, 0, 0, 0, 0, 6), (0, 0, 0, 0, 0, 6), 36, 36, False, False, True),
    ((3, 2, 2, 3, 1, 0), (3, 2, 2, 3, 1, 0), 36, 36, False, False, True),
    ((2, 2, 3, 0, 0, 0), (5, 2, 3, 3, 2, 0), 20, 63, True, True, False),
    ((5, 2, 3, 3, 2, 0), (3, 3, 3, 2, 2, 2), 49, 54, True, True, True),
    ((0, 0, 0, 1, 1, 1), (0, 0, 0, 1, 1, 1), 15, 15, True, False, True),
]


def verdict(rule: str, us: tuple[int, ...], them: tuple[int, ...]) -> tuple[bool, ...]:
    """Whether a rule doubles, redoubles and takes."""
    row = np.zeros((1, 31))
    return tuple(bool(x[0]) for x in RULES[rule].decide(Pairs(np.array([us]), np.array([them]), row, row)))


@pytest.mark.parametrize(("us", "them", "a", "o", "centre", "owned", "accept"), COUNTS)
def test_adjusted_count(
    us: tuple[int, ...], them: tuple[int, ...], a: int, o: int, centre: bool, owned: bool, accept: bool
) -> None:
    assert counting._thirds(us, them) == 3 * a
    assert counting._thirds(them, us) == 3 * o
    assert verdict("acount", us, them) == (centre, owned, accept)


def test_the_count_without_rounding_asks_for_one_tenth_more() -> None:
    us = them = (0, 0, 0, 1, 1, 1)  # 15 against 16.5 - 2
    assert verdict("acount-none", us, them) == (True, False, True)


def test_counts_36() -> None:
    """273 home positions have an adjusted count of exactly 36 against themselves."""
    counts = board.unrank_array(np.arange(board.count(6, 15)), 6)
    assert int((counting._thirds(counts, counts) == 108).sum()) == 273


def test_the_zone() -> None:
    rolls = [0.9, 1.0, 1.5, 2.5, 3.5, 4.0, 7.0]
    wins = [0.51, 0.51, 0.54, 0.60, 0.64, 0.64, 0.65]
    assert doubling.doubles(wins, rolls).all()
    assert not doubling.doubles(np.array(wins) - 0.001, rolls).any()
    assert doubling.doubles([0.575, 0.635, 0.65], [2, 3, 4], owned=True).all()
    assert not doubling.doubles([0.574, 0.634, 0.649], [2, 3, 4], owned=True).any()
    assert not doubling.doubles([0.6499], [1.0], zone="Z0").any()
    assert doubling.doubles([0.51], [9.0], zone="always").all()


def test_takes() -> None:
    assert doubling.takes([0.5, 0.79, 0.7900001]).tolist() == [True, True, False]


def test_races_of_aces_as_one_sided_tables_have_them() -> None:
    for _, a, b in PRINTED:
        got = twosided_from_onesided(one_sided(), Position(Side(a), Side(b)))
        assert got.win == pytest.approx(Ace(a, b), abs=3e-5)


def test_janowski() -> None:
    owned, centered, opponent = doubling.janowski(np.array([-1.0, 0.0, 1.0]))
    assert owned[0] == centered[0] == opponent[0] == -1
    assert owned[2] == centered[2] == opponent[2] == 1
    assert opponent[1] < centered[1] == pytest.approx(0, abs=1e-12)
    assert owned[1] > 0.1
    for one, other in zip(doubling.janowski(0.3), doubling.cubeful_of_chances(0.65), strict=True):
        assert one == pytest.approx(other)
