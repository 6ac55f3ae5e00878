"""Exact play on demand: against brute force, the facts of match play, and what was printed elsewhere."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt import met
from bgfmt.analysis import solving
from bgfmt.analysis.cube import TIE, MatchCube
from bgfmt.analysis.ondemand import plan_match, scores_grid, solve_match, solve_money
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.met import Met
from bgfmt.met.score import CubeState, Score
from bgfmt.solver import columns
from tests.support.match_brute import Board, Brute
from tests.support.single import exact_equities

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "match"
XG2 = met.load()
UNEVEN = met.load(FIXTURES / "uneven7.xml")
OWNER = {"centered": None, "owned": 0, "opponent": 1}


def boards(points: int, chequers: int) -> list[Board]:
    """All boards of 1 to `chequers` chequers."""
    found = []
    for many in range(1, chequers + 1):
        for at in itertools.combinations_with_replacement(range(points), many):
            found.append(tuple(at.count(p) for p in range(points)))
    return found


def check(brute: Brute, score: Score, us: Board, them: Board) -> None:
    answer = solve_match(Position(Side(*us), Side(*them)), score)
    owner = OWNER[score.owner]
    rolling = brute.roll(0, us, them, score.cube, owner)
    numbers = answer.cube.mwc
    assert abs(numbers.no_double - rolling) < 1e-14
    assert answer.cube.may_double == brute.may(0, score.cube, owner)
    if brute.may(0, score.cube, owner):
        taken, passed = brute.roll(0, us, them, 2 * score.cube, 1), brute.worth(0, score.cube)
        assert numbers.double_take is not None
        assert numbers.double_pass is not None
        assert abs(numbers.double_take - taken) < 1e-14
        assert abs(numbers.double_pass - passed) < 1e-14
        assert abs(numbers.best - max(rolling, min(taken, passed))) < 1e-14
    for high, low in ((2, 1), (6, 5), (1, 1), (3, 3)):
        for side, mwc in answer.plays(high, low).items():
            assert abs(mwc - brute.after(0, side.padded(len(us)), them, score.cube, owner)) < 1e-14


SMALL = [
    (XG2, (2, 2), False, 1, "centered", 0),
    (XG2, (3, 4), False, 1, "centered", 0),
    (XG2, (4, 4), False, 2, "owned", 0),
    (XG2, (5, 1), False, 1, "centered", 0),
    (XG2, (1, 4), False, 2, "opponent", 0),
    (XG2, (4, 1), True, 1, "centered", 0),
    (XG2, (9, 5), False, 2, "opponent", 0),
    (UNEVEN, (3, 5), False, 1, "centered", 1),
    (UNEVEN, (1, 3), False, 1, "centered", 1),
    (XG2, (1, 1), False, 1, "centered", 0),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", SMALL, ids=str)
def test_brute_force(case: tuple[Met, tuple[int, int], bool, int, str, int]) -> None:
    """All pairs of one chequer on six points, and a walk through those of two."""
    table, away, crawford, cube, owner, player = case
    brute = Brute(table, away, crawford, player)
    score = Score(away, table, crawford, cube, owner, player)
    ones, twos = boards(6, 1), boards(6, 2)
    pairs = [*itertools.product(ones, ones)][::5] + [*itertools.product(twos, twos)][:: 37 + away[0]]
    for us, them in pairs:
        check(brute, score, us, them)


@pytest.mark.slow
def test_brute_force_outside_home() -> None:
    """Chequers that must be borne in first."""
    for us, them in (
        ((0, 0, 0, 0, 0, 0, 0, 1, 1), (1, 0, 0, 0, 0, 0, 0, 0, 1)),
        ((1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0)),
    ):
        brute, score = Brute(XG2, (3, 5)), Score((3, 5), XG2)
        check(brute, score, us, them)


@pytest.mark.slow
@pytest.mark.parametrize("away", [(2, 2), (4, 2), (3, 7), (1, 4)])
def test_brute_force_gammons(away: tuple[int, int]) -> None:
    """Fifteen chequers on the board of a side, or of both."""
    for us, them in (((1, 0, 1), (14, 0, 1)), ((14, 1, 0), (0, 1, 1)), ((15, 0, 0), (15, 0, 0))):
        check(Brute(XG2, away), Score(away, XG2), us, them)


@pytest.mark.slow
def test_backgammon() -> None:
    """A side with fifteen chequers, one of them still on its points 19 to 24, loses three times the cube."""
    us = (1, 1, *[0] * 22)
    them = (*[0] * 17, 14, 1, *[0] * 5)
    check(Brute(XG2, (7, 7)), Score((7, 7), XG2), us, them)
    answer = solve_money(Position(Side(2), Side(*them)))
    assert answer.equity("cubeless") == 3.0
    assert solve_money(Position(Side(2), Side(*them)), jacoby=True).equity("centered") == 1.0


def sides(chequers: int) -> st.SearchStrategy[list[int]]:
    """Boards of 1 to `chequers` chequers on six points."""
    points = st.lists(st.integers(0, 5), min_size=1, max_size=chequers)
    return points.map(lambda at: [at.count(p) for p in range(6)])


SIDES = sides(5)
AWAY = st.tuples(st.integers(1, 16), st.integers(1, 16))
CUBES = st.sampled_from([(1, "centered"), (2, "owned"), (2, "opponent"), (4, "owned"), (8, "opponent")])


def solved(us: list[int], them: list[int], score: Score) -> MatchCube:
    return solve_match(Position(Side(*us), Side(*them)), score).cube


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SIDES, SIDES, AWAY, CUBES)
def test_facts(us: list[int], them: list[int], away: tuple[int, int], cube: tuple[int, str]) -> None:
    """Facts (a), (b) and (d), and what can never be right or wrong without gammons."""
    score = Score(away, XG2, False, *cube)
    answer = solved(us, them, score)
    win = answer.cubeless_win
    assert win is not None
    numbers = answer.mwc
    if away == (1, 1):
        assert abs(numbers.best - win) < 1e-13
    if not score.live(score.state):
        lose, won = score.ends
        assert abs(numbers.no_double - (lose + (won - lose) * win)) < 1e-13
    assert not answer.too_good
    if answer.may_double:
        assert numbers.double_pass is not None
        assert numbers.no_double <= numbers.double_pass + TIE
        if answer.automatic:
            assert answer.doubling != "no"
    elif answer.barred == "Dead":
        doubled = Score(away, XG2, False, 2 * score.cube, "opponent")
        assert solved(us, them, doubled).mwc.no_double <= numbers.no_double + 1e-13
    if away[0] == away[1]:
        other = Score(away, XG2, False, *cube, player=1)
        assert abs(solved(us, them, other).mwc.best - numbers.best) < 1e-13


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(SIDES, SIDES, AWAY, CUBES)
def test_dead_cubes_need_no_column(
    us: list[int], them: list[int], away: tuple[int, int], cube: tuple[int, str]
) -> None:
    """Fact (b) through the solver: a column of its own for every cube state gives the same."""
    score = Score(away, XG2, False, *cube)
    position = Position(Side(*us), Side(*them))
    few, all_states = (columns.match_columns(score, gammons=gammons) for gammons in (False, True))
    values = solving.solve(solving.plan(position, len(all_states)), all_states).start().on_roll
    expected = solving.solve(solving.plan(position, len(few)), few).start().on_roll
    for state, value in zip(all_states.states, values, strict=True):
        assert state is not None
        add, times = (0.0, 1.0) if state in few.states else columns.dead_cube_scale(score, state)
        assert abs(add + times * expected[few.place(state)] - value) < 1e-13


def test_after_the_crawford_game() -> None:
    """Fact (c)."""
    assert Score((4, 1), XG2).after(0, 2) == 0.48803
    assert Score((4, 1), XG2, crawford=True).after(0, 2) == 0.48803
    assert Score((4, 3), XG2).after(0, 2) == XG2.pre[1][2]
    assert XG2.mwc((2, 1)) == 0.32264


class Endless(Met):
    """Linear in points, and never over."""

    def check(self, *away: int) -> None:
        """Every score will do."""

    def after(self, away: tuple[int, int], points: int, *, player: int = 0) -> float:
        return 0.5 + points * 2.0**-20


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(sides(3), sides(3))
def test_money_is_the_limit(us: list[int], them: list[int]) -> None:
    """Fact (e): with such a table the equity is that of money. No more than ten turns of the cube can happen."""
    endless = Endless("endless", ((0.5,),), ((0.5,), (0.5,)))
    money = solve_money(Position(Side(*us), Side(*them)))
    for cube, owner in ((1, "centered"), (2, "owned")):
        answer = solved(us, them, Score((1 << 12, 1 << 12), endless, False, cube, owner))
        assert abs(answer.emg.no_double - money.equity(owner)) < 1e-8
        assert answer.emg.double_take is not None
        assert abs(answer.emg.double_take - 2 * money.equity("opponent")) < 1e-8


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SIDES, SIDES)
def test_money(us: list[int], them: list[int]) -> None:
    """As the equities that settle rounded tables, which are made by other kernels."""
    position = Position(Side(*us), Side(*them))
    known, money = exact_equities(position), solve_money(position)
    assert known is not None
    for name in ("cubeless", "owned", "centered", "opponent"):
        assert abs(getattr(known, name) - money.equity(name)) < 1e-12


@pytest.mark.slow
def test_literature() -> None:
    """What was printed elsewhere, and the exact numbers beside it (match-play.md, "In print")."""
    trice = Met("Trice", ((0.5, 0.7), (0.3, 0.5)), ((0.5, 0.5), (0.5, 0.5)))
    us, them = [0, 0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 1]
    answer = solved(us, them, Score((2, 2), trice))
    assert answer.action == "Double, take"
    assert round(100 * answer.mwc.no_double, 3) == 38.889
    assert round(100 * (answer.mwc.double_take or 0), 3) == 39.873
    answer = solved(us, them, Score((2, 2), XG2))
    assert answer.action == "No double, take"
    assert round(100 * answer.mwc.no_double, 3) == 40.147
    assert round(100 * (answer.mwc.double_take or 0), 3) == 39.873

    robins = solved([1, 1, 1, 0, 1, 2], [1, 0, 0, 1, 0, 4], Score((3, 6), met.load("g11"), False, 2, "owned"))
    assert robins.action == "Redouble, take"
    assert [round(100 * x, 3) for x in (robins.mwc.no_double, robins.mwc.double_take or 0)] == [
        86.954,
        87.772,
    ]
    assert round(100 * (robins.mwc.double_pass or 0), 3) == 89.025
    woolsey = met.load(FIXTURES / "woolsey.xml")
    frozen = solved([6, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0], Score((2, 5), woolsey))
    assert frozen.action == "Double, pass"
    assert round(100 * (1 - (frozen.cubeless_win or 0)), 3) == 21.219
    assert round(100 * (frozen.mwc.double_take or 0), 3) == 85.147
    assert frozen.mwc.double_pass == 0.85

    taker = solved([1, 1, 2, 2, 0, 3], [1, 1, 2, 2, 2, 2], Score((1, 1), XG2))
    assert round(100 * (1 - taker.mwc.no_double), 3) == 24.965


@pytest.mark.slow
def test_grid_agrees() -> None:
    """A grid gives what each score gives alone, and the words of the cells where there is no cube."""
    position = Position(Side(1, 0, 2, 0, 0, 1), Side(0, 2, 1, 0, 1))
    for cube, owner in ((1, "centered"), (2, "owned")):
        grid = scores_grid(position, 5, met=XG2, cube=cube, owner=owner)
        assert len(grid.cells) == 25 + 8
        for (mine, other, crawford), cell in grid.cells.items():
            now = (1, "centered") if crawford else (cube, owner)
            alone = solve_match(position, Score((mine, other), XG2, crawford, *now)).cube
            assert alone.action == cell.action
            assert abs(alone.mwc.best - cell.mwc.best) < 1e-14
    assert grid[3, 1, True].action == "Crawford"
    assert grid[1, 3, False].action == "Dead"


@pytest.mark.slow
def test_gammon_grid() -> None:
    position = Position(Side(1, 0, 1), Side(0, 0, 5, 0, 0, 10))
    grid = scores_grid(position, 4, met=XG2)
    for (mine, other, crawford), cell in grid.cells.items():
        alone = solve_match(position, Score((mine, other), XG2, crawford)).cube
        assert alone.action == cell.action
        assert abs(alone.mwc.best - cell.mwc.best) < 1e-14
        assert cell.position.gammons


@pytest.mark.slow
def test_refusals() -> None:
    one = Position(Side(1), Side(1))
    with pytest.raises(PositionError, match="cannot be the Crawford game"):
        Score((3, 5), XG2, crawford=True)
    with pytest.raises(PositionError, match="cube cannot be used in the Crawford game"):
        Score((1, 5), XG2, crawford=True, cube=2, owner="owned")
    with pytest.raises(PositionError, match="the cube's value must be"):
        Score((3, 5), XG2, cube=3)
    with pytest.raises(PositionError, match="centered, owned or opponent"):
        Score((3, 5), XG2, owner="us")
    with pytest.raises(PositionError, match="at least 1 point"):
        Score((0, 5), XG2)
    with pytest.raises(NotCoveredError, match="25-away, not 26-away"):
        Score((26, 5), XG2)
    with pytest.raises(PositionError, match="over"):
        solve_match(Position(Side(), Side(1)), Score((3, 5), XG2))
    with pytest.raises(NotCoveredError, match="not passed"):
        solve_match(Position(Side(*[0] * 12, 1), Side(*[0] * 12, 1)), Score((3, 5), XG2))
    with pytest.raises(NotCoveredError, match="not passed"):
        solve_match(Position(Side(1, bar=1), Side(1)), Score((3, 5), XG2))
    with pytest.raises(NotCoveredError, match="more than the limit of 100"):
        solve_match(Position(Side(0, 0, 3), Side(0, 0, 3)), Score((3, 5), XG2), limit=100)
    with pytest.raises(NotCoveredError, match="400,000,000"):
        solve_match(Position(Side(*[0] * 11, 15), Side(*[0] * 11, 15)), Score((3, 5), XG2))
    assert solve_match(one, Score((26, 5), met.load(extend=True))).cube.notes[-1].startswith("The score lies")


@pytest.mark.slow
def test_progress_and_plan() -> None:
    position = Position(Side(0, 0, 0, 0, 3), Side(0, 0, 0, 0, 3))
    score = Score((5, 9), XG2)
    seen: list[tuple[int, int]] = []
    solve_match(position, score, progress=lambda done, total: seen.append((done, total)))
    work = plan_match(position, score)
    assert seen[-1] == (work.pairs, work.pairs)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert work.columns == 7
    assert CubeState(1, 2) in score.cubes


@pytest.mark.slow
def test_error_bound_holds() -> None:
    us, them = (0, 0, 1, 1), (0, 1, 0, 1)
    answer = solve_match(Position(Side(*us), Side(*them)), Score((5, 7), XG2))
    truth = Brute(XG2, (5, 7)).roll(0, us, them, 1, None)
    assert abs(Fraction(answer.cube.mwc.no_double) - truth) <= Fraction(answer.cube.mwc_error)
    assert answer.cube.mwc_error < 1e-12
