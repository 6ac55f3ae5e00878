"""The estimate of races against exact answers: tables, calculation on demand, match scores."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray

from bgfmt import met, solver
from bgfmt.analysis import estimate_many, library
from bgfmt.analysis.ondemand import columns_for, match_answer, solve_match, solve_money
from bgfmt.errors import NotCoveredError, PositionError, SolverError
from bgfmt.extras.races import chains
from bgfmt.extras.races.chains import CAREFUL, Estimator, errors
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver.columns import Columns, money_columns
from bgfmt.tables import TwoSided


@cache
def truth(points: int, chequers: int) -> TwoSided:
    return solver.two_sided(points, chequers)


@cache
def estimator() -> Estimator:
    return Estimator()


def value(position: Position, columns: Columns, by: Estimator | None = None) -> NDArray[np.float64]:
    us, them = (np.array([side.padded(board.BAR)]) for side in (position.us, position.them))
    return (by or estimator()).values(us, them, columns)[0]  # type: ignore[no-any-return]


def some(points: int, chequers: int, many: int, seed: int) -> list[Position]:
    """Random positions, each with a chequer on the last point."""
    rng, last = np.random.default_rng(seed), board.count(points, chequers)
    low = board.count(points - 1, chequers)
    out: list[Position] = []
    while len(out) < many:
        us, them = (Side.from_number(int(k), points) for k in rng.integers(1, last, 2))
        if max(us.highest, them.highest) == points:
            out.append(Position(us, them))
    assert low < last
    return out


def test_kernels_are_compiled_for_one_type_of_table() -> None:
    """Those of six points and those of more, made just now or kept earlier."""
    tables = [library.distributions(far) for far in (False, True)]
    assert {(rows.dtype, rows.flags.c_contiguous, rows.flags.writeable) for rows in tables} == {
        (np.dtype(np.uint16), True, False)
    }


@pytest.mark.slow
@pytest.mark.parametrize(("points", "chequers"), [(7, 5), (10, 4), (6, 8)])
def test_the_estimate_is_near_the_table(points: int, chequers: int) -> None:
    positions = some(points, chequers, 200, seed=points)
    exact = truth(points, chequers).lookup_many([p.us for p in positions], [p.them for p in positions])
    found = np.array([value(p, money_columns())[[0, 2, 1, 3]] for p in positions])
    off = np.abs(found - exact)
    cubeless, _, centered, _ = np.sqrt((off**2).mean(axis=0))
    assert cubeless < 0.0015
    assert centered < 0.003
    assert (off.max(axis=1) <= errors(positions[0])[1]).mean() >= 0.995
    doubles = np.minimum(1, 2 * exact[:, 3]) >= exact[:, 2]
    wrong = doubles != (np.minimum(1, 2 * found[:, 3]) >= found[:, 2] - 1e-12)
    assert np.abs(np.minimum(1, 2 * exact[:, 3]) - exact[:, 2])[wrong].sum() / len(positions) < 2e-5


@pytest.mark.slow
def test_many_at_once_are_near_the_table() -> None:
    positions = some(8, 5, 300, seed=3)
    counts = [[p.us.padded(8) for p in positions], [p.them.padded(8) for p in positions]]
    found = estimate_many(*counts)
    off = found - truth(8, 5).lookup_many([p.us for p in positions], [p.them for p in positions])
    assert np.sqrt((off**2).mean(axis=0)).max() < 0.004
    assert (found == estimate_many(*counts, threads=1)).all()


@pytest.mark.slow
def test_many_of_every_length_are_as_each_alone() -> None:
    """More than are taken at a time, home, within ten points and beyond, with gammons, sides of different widths."""
    rng = np.random.default_rng(11)
    us, them = np.zeros((700, 6), np.int8), np.zeros((700, 18), np.int8)
    for n in range(700):
        us[n, rng.integers(0, 6, 3)] += 1 + 4 * (n % 5 == 0)
        them[n, rng.integers(0, (6, 10, 18)[n % 3], 4)] += 1
    found = estimate_many(us, them)
    for n in (*range(12), 255, 256, 257, 511, 512, 698, 699):
        assert (found[n] == estimate_many(us[n : n + 1], them[n : n + 1], threads=1)[0]).all(), n
    assert estimate_many(us[:0], them[:0]).shape == (0, 4)


def test_a_race_ends_where_all_boards_have_exact_values() -> None:
    """The rest of it changes no number."""
    estimator, rules, shorter = Estimator(), money_columns(), 0
    for position in (*some(6, 6, 8, seed=5), *some(10, 6, 8, seed=6), *some(6, 15, 3, seed=7)):
        found = []
        for whole in (False, True):
            race = estimator.race(position, rules, whole)
            after = np.zeros((int(race.chains[0].layers[2]) - 1, len(rules)))
            found.append((race.starts.size, race.solve(after).tolist(), after.tolist()))
        assert found[0][1:] == found[1][1:]
        shorter += found[0][0] < found[1][0]
    assert shorter > 10


def test_a_race_without_room_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "new_boards", partial(chains.new_boards, room=64))
    small = Estimator()
    with pytest.raises(SolverError, match=r"^4 3 3 2 2 1 / 4 3 3 2 2 1: the race has too many positions"):
        small.solve(Position.parse("4 3 3 2 2 1 / 4 3 3 2 2 1"), money_columns())
    with pytest.raises(SolverError, match=r"\[4, 3, 3, 2, 2, 1\].*: the race has too many positions"):
        value(Position.parse("4 3 3 2 2 1 / 4 3 3 2 2 1"), money_columns(), small)


@pytest.mark.parametrize(
    ("us", "them", "error"),
    [
        ([0, 0, 1], [0] * 23 + [1], NotCoveredError),
        ([0, 0, 0], [1, 0, 0], PositionError),
        ([1, 0, 0], [0, 0, 0], PositionError),
        ([16, 0, 0], [1, 0, 0], PositionError),
        ([3, -1, 0], [1, 0, 0], PositionError),
        ([1, 0, 0], [0] * 24 + [1], PositionError),
    ],
)
def test_what_is_no_race_is_refused(us: list[int], them: list[int], error: type[Exception]) -> None:
    with pytest.raises(error):
        estimate_many([[1, 1, 1] + [0] * (len(us) - 3), us], [[1] + [0] * (len(them) - 1), them])


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "0 0 0 0 0 0 0 0 0 0 0 1 1 / 0 0 1 0 0 0 0 0 0 0 1",
        "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 / 0 0 1 0 0 1",
    ],
)
def test_beyond_the_tables_it_is_near_the_calculation(text: str) -> None:
    position = Position.parse(text)
    exact = solve_money(position)
    solved = estimator().solve(position, money_columns())
    assert np.abs(solved.on_roll - exact.on_roll).max() < errors(position)[1] / 2
    for roll in range(21):
        ours = {solved.ours.side(int(k)): solved.after[k] for k in solved.plays(roll)}
        theirs = {exact.ours.side(int(k)): exact.after[k] for k in exact.plays(roll)}
        assert ours.keys() == theirs.keys()
        assert max(np.abs(ours[side] - theirs[side]).max() for side in ours) < errors(position)[1]


@pytest.mark.slow
def long_races(many: int, seed: int) -> list[Position]:
    """Random races of 12 to 15 chequers a side, most of them at home, with a chequer outside and no contact."""
    rng = np.random.default_rng(seed)
    out: list[Position] = []
    while len(out) < many:
        sides = []
        for _ in range(2):
            outside = int(rng.integers(0, 5))
            home = rng.multinomial(int(rng.integers(12, 16)) - outside, np.array([1, 2, 2, 2, 2, 4]) / 13)
            beyond = np.bincount(rng.integers(0, int(rng.integers(1, 7)), outside), minlength=6)
            sides.append(Side(*home.tolist(), *beyond.tolist()))
        if max(side.highest for side in sides) > 6:
            out.append(Position(*sides))
    return out


#: from recorded matches: fifteen chequers against few boards after a roll that have so many left
FIFTEEN_LEFT = "1 2 3 2 0 5 1 1 / 2 2 2 2 0 5 0 1 0 0 0 1", "0 3 3 0 3 6 / 0 2 1 2 4 5 0 0 1"


@pytest.mark.slow
def test_plays_are_worth_what_the_positions_after_them_are() -> None:
    """The best plays of a roll and, asked afresh, the positions that they lead to."""
    rng = np.random.default_rng(4)
    rules = money_columns()
    centered = rules.states.index(CubeState(1, NOBODY))
    cases = [(Position.parse(text), roll) for text in FIFTEEN_LEFT for roll in (0, 1)]
    cases += [(position, int(rng.integers(21))) for position in long_races(24, seed=6)]
    off = []
    for position, roll in cases:
        solved = estimator().solve(position, rules)
        places = solved.plays(roll)
        for place in places[np.argsort(-solved.after[places, centered])][:3]:
            after = Position(position.them, solved.ours.side(int(place)))
            afresh = rules.choose_cube_action(1, estimator().solve(after, rules.exchange_sides()).on_roll)
            apart = np.abs(solved.after[place] + afresh).max()
            assert apart <= errors(position)[1], (position, roll, after)
            off.append(apart / errors(position)[1])
    assert np.sqrt(np.mean(np.square(off))) < 0.3


LOSES_A_BACKGAMMON = "5 4 3 / 2 1 1 0 1 3 0 0 0 0 0 0 2 0 0 0 0 0 0 0 5"


def test_many_gammons_have_a_larger_error() -> None:
    """No play is looked for that saves a gammon and loses more than a little of the race."""
    stated = [
        estimator().solve(Position.parse(text), money_columns()).error
        for text in ("0 8 0 0 1 0 0 0 0 1 0 1 3 1 / 2 4 2 3 2 1", FIFTEEN_LEFT[0], FIFTEEN_LEFT[1])
    ]
    assert stated == [chains.GAMMON_ERRORS[1], 0.04, 0.016]


@pytest.mark.slow
def test_backgammons_have_the_largest_error() -> None:
    """A race of a recorded match, in which the estimate lets a side lose too many backgammons."""
    rules = money_columns()
    centered = rules.states.index(CubeState(1, NOBODY))
    solved = estimator().solve(Position.parse(LOSES_A_BACKGAMMON), rules)
    assert solved.error == chains.BACKGAMMON_ERRORS[1]
    places = solved.plays(20)
    best = int(places[np.argmax(solved.after[places, centered])])
    after = Position(solved.position.them, solved.ours.side(best))
    afresh = rules.choose_cube_action(1, estimator().solve(after, rules.exchange_sides()).on_roll)
    apart = np.abs(solved.after[best] + afresh).max()
    assert chains.GAMMON_ERRORS[1] < apart <= solved.error


@pytest.mark.parametrize(
    ("text", "centered", "standard_error"),
    [
        ("0 0 2 2 4 5 1 1 / 0 0 1 2 4 8", 0.2687, 0.0009),
        ("0 1 2 2 4 5 0 1 / 0 0 2 2 4 6 0 0 1", 0.6232, 0.0008),
        ("0 0 0 3 2 7 1 2 / 0 0 0 2 5 4 0 0 0 1 1 2", 0.9493, 0.0003),
        ("1 1 2 1 3 4 2 1 / 0 2 1 3 2 5 0 0 0 0 0 1 0 0 0 1", 0.9378, 0.0002),
        ("1 2 3 2 0 5 1 1 / 2 2 2 2 0 5 0 1 0 0 0 1", 0.6409, 0.0005),
    ],
)
def test_long_races_are_near_independent_rollouts(text: str, centered: float, standard_error: float) -> None:
    """Rollouts by another program with its own cube decisions, of races from recorded matches."""
    position = Position.parse(text)
    rules = money_columns()
    found = value(position, rules)[rules.states.index(CubeState(1, NOBODY))]
    assert abs(found - centered) < errors(position)[0] / 2 + 3 * standard_error


@pytest.mark.parametrize("jacoby", [False, True])
def test_gammons_are_counted(jacoby: bool) -> None:
    position = Position(Side(2, 1), Side(10, 5))
    exact = solve_money(position, jacoby=jacoby).on_roll
    assert value(position, money_columns(jacoby=jacoby)) == pytest.approx(exact, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("away", [(2, 4), (5, 3)])
def test_at_a_score_it_is_near_the_calculation(away: tuple[int, int]) -> None:
    score = Score(away, met.load(met.DEFAULT))
    off = []
    for position in some(7, 4, 12, seed=sum(away)):
        exact = solve_match(position, score).cube.mwc
        found = match_answer(estimator().solve(position, columns_for(position, score)), score).cube.mwc
        off.append(found.no_double - exact.no_double)
        assert found.double_pass == exact.double_pass
    assert np.sqrt(np.mean(np.square(off))) < 0.001


@pytest.mark.parametrize("late", [True, False])
def test_a_race_is_over_when_the_shorter_side_is_off(late: bool) -> None:
    """Many plays of fifteen chequers far behind, none of which comes up after the five of the other side are off."""
    behind = Side.parse("0 0 2 2 0 4 0 1 0 0 0 0 1 0 0 0 0 0 0 5")
    pair = (Side(3, 2), behind) if late else (behind, Side(3, 2))
    cubeless = value(Position(*pair), money_columns())[0]
    assert 2.0 <= (cubeless if late else -cubeless) < 3.0  # a gammon for sure, and most often a backgammon


@pytest.mark.slow
def test_the_estimate_does_not_depend_on_what_was_asked_before() -> None:
    positions = some(9, 6, 20, seed=8)
    first = [value(p, money_columns()) for p in positions]
    again = [value(p, money_columns(), Estimator(CAREFUL, 64)) for p in reversed(positions)][::-1]
    assert np.array_equal(first, again)
