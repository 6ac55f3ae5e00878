"""What comes up later in a game, answered from the calculation of its beginning, is what a fresh one gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt import met
from bgfmt.analysis import solving
from bgfmt.analysis.ondemand import Games, match_answer, solve_match, solve_money
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.met.score import Score

XG2 = met.load()
SIDE = st.lists(st.integers(1, 8), min_size=1, max_size=4).map(
    lambda points: Side(*(points.count(p) for p in range(1, 9)))
)
LIMIT = 10**9


def walk(position: Position, choices: list[int]) -> list[tuple[Position, bool]]:
    """Positions that come up one after another, and whether the side that began is on roll."""
    out, first = [(position, True)], True
    for choice in choices:
        high, low, _ = ROLLS[choice % 21]
        plays = legal_plays(position, high, low)
        position, first = plays[choice % len(plays)].result.swapped(), not first
        if not position.us.chequers or not position.them.chequers:
            break
        out.append((position, first))
    return out


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SIDE, SIDE, st.lists(st.integers(0, 10**6), max_size=5), st.booleans())
def test_money(us: Side, them: Side, choices: list[int], jacoby: bool) -> None:
    kept = Games()
    kept.solve(Position(us, them), jacoby, LIMIT)
    for position, _ in walk(Position(us, them), choices):
        found, fresh = kept.find(position, jacoby), solve_money(position, jacoby=jacoby)
        assert found is not None
        for name in ("cubeless", "centered", "owned", "opponent"):
            assert found.equity(name) == pytest.approx(fresh.equity(name), abs=1e-12)
        for cube in ("centered", "owned", "opponent", "cubeless"):
            ours, theirs = (answer.values(6, 1, answer.column(cube)) for answer in (found, fresh))
            assert ours == pytest.approx(theirs, abs=1e-12)


AWAY = st.tuples(st.integers(1, 9), st.integers(1, 9))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(SIDE, SIDE, st.lists(st.integers(0, 10**6), max_size=5), AWAY, st.booleans(), st.integers(0, 1))
def test_match(
    us: Side, them: Side, choices: list[int], away: tuple[int, int], crawford: bool, player: int
) -> None:
    score = Score(away, XG2, crawford and min(away) == 1, player=player)
    kept = Games()
    kept.solve(Position(us, them), score, LIMIT)
    for position, first in walk(Position(us, them), choices):
        now = score if first else replace(score, away=away[::-1], player=1 - player)
        for state in score.cubes:
            owner = {0: "owned", 1: "opponent", 2: "centered"}[
                state.owner if first or state.owner == 2 else 1 - state.owner
            ]
            asked = replace(now, cube=state.value, owner=owner)
            solved, fresh = kept.find(position, asked), solve_match(position, asked)
            assert solved is not None
            found = match_answer(solved, asked)
            assert found.cube.mwc.as_dict() == pytest.approx(fresh.cube.mwc.as_dict(), abs=1e-12)
            assert found.cube.cubeless_win == pytest.approx(fresh.cube.cubeless_win, abs=1e-12)
            assert found.plays(5, 4) == pytest.approx(fresh.plays(5, 4), abs=1e-12)


@pytest.mark.slow
def test_with_gammons_until_they_are_saved() -> None:
    start = Position(Side(2), Side(6, 5, 4))
    score = Score((4, 3), XG2)
    kept = Games()
    kept.solve(start, score, LIMIT)
    later = Position(Side(5, 5, 3), Side(1))
    assert kept.find(later, replace(score, away=(3, 4), player=1)) is None  # a roll takes both chequers off
    start = Position(Side(5), Side(6, 5, 4))
    kept.solve(start, score, LIMIT)
    for later in (Position(Side(6, 5, 4), Side(3)), Position(Side(5, 5, 3), Side(1))):
        asked = replace(score, away=(3, 4), player=1)
        solved, fresh = kept.find(later, asked), solve_match(later, asked)
        assert solved is not None
        found = match_answer(solved, asked)
        assert found.cube.mwc.as_dict() == pytest.approx(fresh.cube.mwc.as_dict(), abs=1e-12)
        assert found.cube.position.gammons == (later.us.chequers == 15)


@pytest.mark.slow
def test_what_is_not_held() -> None:
    kept = Games()
    position, score = Position(Side(1, 1, 1), Side(2, 1)), Score((5, 4), XG2)
    kept.solve(position, score, LIMIT)
    assert kept.find(position, Score((4, 5), XG2)) is None
    assert kept.find(position, Score((5, 4), met.load("g11"))) is None
    assert kept.find(Position(Side(1, 1, 2), Side(2, 1)), score) is None
    assert (
        kept.find(position, replace(score, cube=64, owner="owned")) is not None
    )  # dead: from the cubeless one
    kept.solve(position, replace(score, cube=2, owner="owned"), LIMIT)
    assert kept.find(position, False) is None


@pytest.mark.slow
def test_a_bound_of_memory() -> None:
    positions = [Position(Side(1, 1, n), Side(2, 1)) for n in (3, 2, 1)]
    large = Position(Side(0, 0, 0, 2, 2, 2), Side(0, 0, 0, 2, 2))
    kept = Games(most=solving.plan(positions[0], 4).memory)
    for position in (*positions, large):
        kept.solve(position, False, LIMIT)
    assert kept.find(positions[0], False) is None  # made room for the others
    assert kept.find(positions[-1], False) is not None
    assert kept.find(large, False) is None  # too large to keep
