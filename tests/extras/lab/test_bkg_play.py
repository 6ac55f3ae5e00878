"""BKG past all contact: bear-off, running game, resigning, the cube; and the paper's state-classes."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from benchmarks.bkg_bearoff import measure_rules
from bgfmt.errors import PositionError
from bgfmt.extras.lab.engine.bkg import Bkg
from bgfmt.extras.lab.engine.bkg.measures import array_of, games_lost, most_to_win, turns_of
from bgfmt.extras.lab.engine.bkg.measures import racing as race_of
from bgfmt.extras.lab.study.counts import acount
from bgfmt.extras.lab.tables import domain_ids
from bgfmt.extras.lab.thumb import doubling, racing
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse
from bgfmt.game.moves import race_plays
from bgfmt.game.state import START, GameState
from tests.support import bkg_classes as classes
from tests.support.bkg_classes import Category, Classes, StateClass

FULL = Side(0, 0, 0, 0, 0, 15)
ENGINE = Bkg()


def gillogly() -> tuple[Any, Any]:
    """Position numbers of the bear-off table, and its rows: expected rolls, chances of 1 to 8 rolls."""
    ids = domain_ids("union")
    kernel = ENGINE.completion.kernel
    return ids, np.column_stack([kernel.enr[ids], kernel.chances[ids]])


def side(text: str) -> Side:
    counts = {int(p): int(n) for p, n in (item.split(":") for item in text.split())}
    return Side(*(counts.get(p, 0) for p in range(1, 25)))


def counts(text: str) -> Side:
    return Side(*map(int, text.split()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "roll", "best", "usual", "play"),
    [
        ("2 0 2 2 0 0", (6, 2), 31943 / 11664, 32051 / 11664, "3 0 1 1"),
        ("0 2 3 1 0 0", (6, 1), 64793 / 23328, 65185 / 23328, "0 3 2"),
    ],
)
def test_figure_3(before: str, roll: tuple[int, int], best: float, usual: float, play: str) -> None:
    position = Position(counts(before), counts(before))
    ranked = ENGINE.ranked(GameState.of(position, roll))
    assert {r.part for r in ranked} == {"bear-off"}
    assert [-r.points for r in ranked[:2]] == pytest.approx([best, usual], abs=1e-12)
    assert ranked[0].play.result.us == counts(play)


@pytest.mark.slow
def test_far_behind_it_plays_for_the_chance() -> None:
    """Montgomery's position: one roll is left; only 1/off 6/4 leaves men that it bears off, by 4-4, 5-5 or 6-6."""
    state = GameState.of(Position(counts("1 0 0 3 0 1"), counts("0 0 0 0 0 1")), (2, 1))
    ranked = ENGINE.ranked(state)
    assert ranked[0].play.result.us == counts("0 0 0 4")
    assert ranked[0].points == pytest.approx(3 / 36)
    enr = [ENGINE.completion.kernel.enr[r.play.result.us.number(6)] for r in ranked]
    assert enr[0] > min(enr)


@pytest.mark.slow
def test_with_a_gammon_in_sight_it_plays_for_the_chance() -> None:
    position = Position(counts("2 2 1 0 0 0"), side("18:1 13:3 8:3 6:5 4:3"))
    ranked = ENGINE.ranked(GameState.of(position, (2, 1)))
    assert ranked[0].part == "bear-off"
    assert 0 < ranked[0].points <= 1  # P(off in at most n rolls), not expected rolls


@pytest.mark.slow
def test_least_w_of_the_opponent() -> None:
    position = Position(counts("1 0 3 0 0 1"), counts("2 0 0 0 1 0"))
    by_enr = ENGINE.ranked(GameState.of(position, (2, 1)))[0].play.result.us
    by_w = Bkg({"bearoff": "w"}).ranked(GameState.of(position, (2, 1)))
    ids, rows = gillogly()
    place = {int(n): k for k, n in enumerate(ids)}
    theirs = rows[place[position.them.number(6)], 1:]
    left = {r.play.result.us: rows[place[r.play.result.us.number(6)], 1:] for r in by_w}
    chances = {us: float(racing.win_chance(theirs, ours)) for us, ours in left.items()}
    assert chances[by_w[0].play.result.us] == min(chances.values())
    assert by_w[0].play.result.us != by_enr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("men", "roll", "best", "points", "following"),
    [
        ("13:2 10:1 9:2 8:3 6:4 5:2 4:1", (5, 3), "13/10 13/8", 44, 41),
        ("13:2 10:1 9:2 8:3 6:4 5:2 4:1", (6, 1), "13/12 13/7", 46, 42),
        ("8:1 7:2 6:5 5:4 4:3", (2, 1), "8/6 7/6", 17, 15),
        ("8:1 7:2 6:5 5:4 4:3", (3, 3), "8/5 7/4 7/1", 180, 179),
    ],
)
def test_the_running_game(men: str, roll: tuple[int, int], best: str, points: int, following: int) -> None:
    ranked = ENGINE.ranked(GameState.of(Position(side(men), FULL), roll))
    assert (str(ranked[0].play), ranked[0].points, ranked[1].points) == (best, points, following)
    assert ranked[0].part == "running"


TURNS = [
    ("1 0 0 0 0 0", 1, 1), ("0 0 0 0 0 1", 1, 2), ("0 0 0 0 0 5", 2, 10), ("2 2 3 0 0 0", 2, 5),
    ("5 2 3 3 2 0", 4, 14), ("15 0 0 0 0 0", 4, 8), ("0 0 0 0 0 15", 4, 30),
]  # fmt: skip


@pytest.mark.parametrize(("men", "least", "most"), TURNS)
def test_least_and_greatest_rolls(men: str, least: int, most: int) -> None:
    assert turns_of(counts(men))[:2] == (least, most)


def test_least_and_greatest_are_those_of_the_table() -> None:
    ids, rows = gillogly()
    for k in range(1, len(ids), 37):
        taken = np.flatnonzero(rows[k, 1:] > 0)
        found = turns_of(Side.from_number(int(ids[k]), 6))
        assert found.least == taken[0] + 1
        if found.most <= 8:
            assert found.most == taken[-1] + 1


def test_the_greatest_number_is_that_of_the_best_plays_of_2_1() -> None:
    """Every home position of up to eight men, from the rules: one roll more than after the best play."""
    most = {(0,) * 6: 0}
    for counts in sorted(
        map(tuple, board.unrank_array(np.arange(board.count(6, 8)), 6).tolist()), key=pips_of
    )[1:]:
        most[counts] = 1 + min(most[after] for after in race_plays(counts, 2, 1))
        assert turns_of(Side(*counts)).most == most[counts]


def pips_of(counts: tuple[int, ...]) -> int:
    return sum(point * many for point, many in enumerate(counts, 1))


def test_resigning() -> None:
    last = parse("3+4GAADbAQAAAA").position  # the end of the paper's game, Black to roll
    assert games_lost(last) == games_lost(last.swapped()) == 0
    assert ENGINE.accept(GameState.of(last.swapped(), resigned=1))
    behind = Position(FULL, counts("1 0 0 0 0 0"))
    assert ENGINE.resign(GameState.of(behind)) == 1  # the next roll may bear a man off: no gammon for certain
    assert ENGINE.resign(GameState.of(Position(side("23:15"), counts("1")))) == 3
    assert ENGINE.resign(GameState.of(Position(START, START))) == 0
    assert most_to_win(Position(START, START)) == 3
    assert not ENGINE.accept(GameState.of(Position(START, START), resigned=1))


@pytest.mark.slow
def test_the_end_of_the_papers_game() -> None:
    position = parse("3+4GAADbAQAAAA").position
    found = race_of(ENGINE.completion, GameState.of(position))
    assert found.win is None
    assert found.acount == (20, 63)
    assert (found.doubles, found.takes) == (True, False)


@pytest.mark.slow
def test_no_cube_while_engaged() -> None:
    """Turn 17 of the paper's game: Black should double and White refuse, but BKG does not before disengagement."""
    state = GameState.of(parse("2J6JACOw5+CDAA").position)
    assert not ENGINE.double(state)
    assert ENGINE.take(GameState.of(state.position.swapped(), doubled=True))


@pytest.mark.slow
def test_the_cube_is_that_of_the_rules_of_thumb() -> None:
    ids, rows = gillogly()
    rng = random.Random(6)
    for _ in range(150):
        a, b = rng.randrange(1, len(ids)), rng.randrange(1, len(ids))
        position = Position(*(Side.from_number(int(ids[k]), 6) for k in (a, b)))
        win = racing.win_chance(rows[a, 1:], rows[b, 1:])
        for owned in (False, True):
            state = GameState.of(position, cube="owned" if owned else "centered")
            assert ENGINE.double(state) == doubling.doubles(win, rows[a, 0], owned=owned)
        assert ENGINE.take(GameState.of(position, doubled=True)) == doubling.takes(win)
    for _ in range(150):
        sides = [Side.from_number(rng.randrange(38760, 54264), 6) for _ in range(2)]
        if min(array_of(Position(*sides))[:, 0]) < 0 or min(s.chequers for s in sides) < 9:
            continue
        if all(s.pips > 25 for s in sides):
            pair = [s.padded(24) for s in sides]
            for owned in (False, True):
                state = GameState.of(Position(*sides), cube="owned" if owned else "centered")
                assert ENGINE.double(state) == (acount(*pair) >= (-30 if owned else -60))
            assert ENGINE.take(GameState.of(Position(*sides), doubled=True)) == (acount(*pair) <= 60)


W = [
    ("0 0 0 0 0 1", "0 0 0 0 0 1", 0.8125), ("1 0 0 0 0 1", "0 1 0 0 1 0", 0.690681680),
    ("0 0 0 1 1 1", "0 0 0 1 1 1", 0.707897082), ("2 0 1 0 0 0", "1 0 0 0 0 1", 0.641203704),
    ("3 0 1 1 0 0", "2 1 2 0 0 0", 0.813556025), ("4 0 1 1 0 0", "0 3 1 1 0 0", 0.651746705),
    ("0 0 0 0 0 6", "0 0 0 0 0 6", 0.651613365), ("2 2 2 1 1 0", "2 2 2 1 1 0", 0.738040569),
    ("2 2 3 0 0 0", "5 2 3 3 2 0", 0.999999393),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs", "right"), W)
def test_w(ours: str, theirs: str, right: float) -> None:
    """Of whole distributions; eight columns are within 0.0071, here far nearer."""
    found = race_of(ENGINE.completion, GameState.of(Position(counts(ours), counts(theirs))))
    assert found.win_full == pytest.approx(right, abs=6e-10)
    if found.win is not None:
        assert found.win == pytest.approx(right, abs=2e-6)


# -- state-classes -------------------------------------------------------------------------------------------


def test_the_worked_example() -> None:
    shown, told = classes.worked_example(), classes.worked_example("text")
    assert shown.run == told.run == Fraction(157, 324)
    assert shown.both == Fraction(5563, 9720)
    assert float(told.both) == pytest.approx(0.582973, abs=5e-7)
    assert f"{36 * float(shown.both):.6f}" == "20.603704"
    assert shown.both > shown.run


def test_expectations() -> None:
    assert classes.expectation(
        Fraction(66, 100), Fraction(2, 100), Fraction(3, 10), Fraction(2, 100)
    ) == Fraction(36, 100)
    assert classes.expectation_in_danger(16, 0, Fraction(1, 2), may_double=True) == Fraction(20, 36)
    with pytest.raises(PositionError, match="35 rolls"):
        classes.weighted_average([(35, 1)])
    with pytest.raises(PositionError, match="do not add up"):
        classes.expectation(0.5, 0.5, 0.5, 0)


def test_categories_are_in_the_papers_order() -> None:
    names = [c.name for c in sorted(Category, reverse=True)]
    assert names == [
        "WON_STABLE", "WON_UNSTABLE", "FAVOURABLE_STABLE", "FAVOURABLE_UNSTABLE", "EVEN", "UNFAVOURABLE_UNSTABLE",
        "UNFAVOURABLE_STABLE", "LOST_UNSTABLE", "LOST_STABLE",
    ]  # fmt: skip


@pytest.mark.slow
def test_classes_in_order() -> None:
    race = StateClass("race", Category.FAVOURABLE_STABLE, lambda p: not p.contact, lambda p: Fraction(1, 2))
    bar = StateClass("bar", Category.LOST_UNSTABLE, lambda p: p.us.bar > 0, lambda p: Fraction(-1, 2))
    rest = StateClass("rest", Category.EVEN, lambda p: True, lambda p: Fraction(0))
    known = Classes([race, bar], rest)
    last = Position(counts("1 1"), side("24:1"))
    assert known.of(Position(START, START)).name == "rest"
    assert known.of(last).name == "rest"
    assert known.before_roll(Position(START, START), known.best_by_class) == 0
    far = Position(counts("0 0 0 0 2"), counts("0 0 0 0 2"))
    assert known.before_roll(far, known.best_by_class) == Fraction(1, 2)
    forward, backward = known.following(far, ENGINE)
    assert (forward, backward) == ({"race"}, set())
    with pytest.raises(PositionError, match="the same name"):
        Classes([rest], rest)


@pytest.mark.slow
def test_positions_outside_the_table_are_estimated() -> None:
    outside = counts("5 2 3 3 2 0")
    assert race_of(ENGINE.completion, GameState.of(Position(outside, outside))).enr == (8.0, 8.0)
    assert board.count(6, 15) == len(ENGINE.completion.kernel.enr)


@pytest.mark.slow
def test_how_good_the_bearoff_is() -> None:
    """Over 851,929 positions and 36 rolls against exact two-sided play."""
    enr, w = measure_rules(("enr", "w"))
    assert (f"{100 * enr.differs:.3f}", f"{enr.cost:.6f}", f"{enr.worst:.5f}") == (
        "2.918",
        "0.000393",
        "0.09806",
    )
    assert (f"{100 * w.differs:.3f}", f"{w.cost:.7f}", f"{w.worst:.5f}") == ("0.420", "0.0000098", "0.01751")
    assert str(enr.worst_at) == "1 0 3 0 0 1 / 2 0 0 0 1 0"
    assert str(w.worst_at) == "1 0 1 1 0 3 / 1 1 1 1 1 0"
    bins = enr.by_chance[[0, 1, 4, 5, 6, 9, 18]]
    assert bins[:, 0].tolist() == [20634, 21592, 25916, 27119, 27531, 31997, 81798]
    assert [f"{c:.6f}" for c in bins[:6, 1]] == [
        "0.000381", "0.001512", "0.001798", "0.001273", "0.000832", "0.000162",
    ]  # fmt: skip
