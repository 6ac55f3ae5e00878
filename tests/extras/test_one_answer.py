"""One answer by every door to bgfmt, and in many threads at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from bgfmt import GameState, Position, met
from bgfmt.analysis import Advisor
from bgfmt.analysis.insight import insight
from bgfmt.extras.matches.annotate.judging import judge
from bgfmt.extras.matches.decisions import Decision
from tests.conftest import FIXTURES
from tests.support.one_answer import apart, compare, undoored


@pytest.mark.slow
def test_one_answer_by_every_door(oracle: Callable[[str], str]) -> None:
    pytest.importorskip("starlette")
    oracle("node")
    assert compare(20, seed=46) == []
    assert undoored() == set()


@pytest.mark.slow
def test_one_adviser_serves_sixteen_threads_and_never_mixes_the_players_of_an_uneven_table() -> None:
    """Whose turn the table is read for is an argument: what one thread asks does not change the other's answer."""
    uneven = met.load(FIXTURES / "match" / "uneven7.xml")
    boards = [Position.parse(text) for text in ("1 0 0 1 1 / 0 0 1 1", "0 1 0 0 1 / 0 1 1", "2 1/1 0 1")]
    scores = [(2, 4), (4, 2), (3, 3), (5, 2)]
    queries = [
        (GameState.of(position, away=away), player, kind)
        for position in boards
        for away in scores
        for player in (0, 1)
        for kind in ("cube", "plays", "judge", "insight")
    ]

    def answer(advisor: Advisor, state: GameState, player: int | None, kind: str) -> object:
        if kind == "cube":
            return advisor.cube(state, met_player=player).as_dict()
        if kind == "plays":
            return advisor.plays(state.rolled((2, 1)), met_player=player).as_dict()
        if kind == "judge":
            return judge(Decision(0, 0, "double", state.turn, state), advisor, met_player=player).as_dict()
        found = insight(state, advisor, met_player=player)
        return found and found.as_dict()

    alone = [
        answer(Advisor([], met=uneven, met_player=player), state, None, kind)
        for state, player, kind in queries
    ]
    differ = sum(a != b for a, b in zip(alone[:4], alone[4:8], strict=True))
    assert differ == 4, "the table is uneven for every kind of query"
    shared = Advisor([], met=uneven)
    order = list(range(len(queries))) * 2
    random.Random(7).shuffle(order)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda k: answer(shared, *queries[k]), order))
    # what comes up in a game calculated before is answered from it, and may differ in the last bit
    assert [apart(one, alone[k]) for one, k in zip(found, order, strict=True)] == [""] * len(order)
