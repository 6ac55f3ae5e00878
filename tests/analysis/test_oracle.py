"""Play-outs against exact values: for money and at a score, the same whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from bgfmt import analysis, met
from bgfmt.analysis import ondemand
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.met.score import Score


def _positions(many: int, chequers: int) -> list[Position]:
    rng = np.random.default_rng(22)
    numbers = rng.integers(1, board.count(6, chequers), (many, 2)).tolist()
    return [Position(Side.from_number(a, 6), Side.from_number(b, 6)) for a, b in numbers]


def test_exact_equities_lie_within_the_bounds() -> None:
    for seed, position in enumerate(_positions(6, 7)):
        exact = ondemand.solve_money(position)
        played = analysis.play_out(position, error=0.002, seed=seed)
        for name in ("cubeless", "owned", "centered", "opponent"):
            value = getattr(played, name)
            assert value.low <= exact.equity(name) <= value.high, (position, name)
            assert value.standard_error <= 0.002


def test_exact_chances_at_a_score_lie_within_the_bounds() -> None:
    position = Position.parse("0 1 2 2 1 1 / 1 1 2 2 0 1")
    score = Score((3, 5), met.load(met.DEFAULT))
    exact = ondemand.solve_match(position, score).cube.mwc
    played = analysis.play_out(GameState.of(position, away=(3, 5)), error=0.001)
    assert played.owned is None
    assert played.no_double is not None
    assert played.double_take is not None
    assert played.no_double.low <= exact.no_double <= played.no_double.high
    assert exact.double_take is not None
    assert played.double_take.low <= exact.double_take <= played.double_take.high


def test_threads_change_nothing_and_seeds_do() -> None:
    position = Position.parse("1 2 2 3 2 3 / 1 3 3 3 1 2")
    first, second, other = (
        analysis.play_out(position, error=0.005, seed=seed, threads=threads)
        for seed, threads in ((7, 1), (7, 2), (8, 2))
    )
    assert first == second
    assert first.as_dict()["seed"] == 7
    assert first.centered != other.centered


def test_contact_and_games_that_are_over_are_refused() -> None:
    with pytest.raises(NotCoveredError):
        analysis.play_out(GameState())
    with pytest.raises(PositionError):
        analysis.play_out(Position(Side(1), Side()))
