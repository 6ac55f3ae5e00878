"""Play-outs against exact values: for money and at a score, the same whatever the number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bgfmt import Advisor, analysis, load, met, solver
from bgfmt.analysis import library, ondemand
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.extras.races import chains, rollouts
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.met.score import Score
from bgfmt.solver.columns import money_columns


def _positions(many: int, chequers: int) -> list[Position]:
    rng = np.random.default_rng(22)
    numbers = rng.integers(1, board.count(6, chequers), (many, 2)).tolist()
    return [Position(Side.from_number(a, 6), Side.from_number(b, 6)) for a, b in numbers]


@pytest.mark.slow
def test_exact_equities_lie_within_the_bounds() -> None:
    for seed, position in enumerate(_positions(6, 7)):
        exact = ondemand.solve_money(position)
        played = analysis.play_out(position, error=0.002, seed=seed)
        for name in ("cubeless", "owned", "centered", "opponent"):
            value = getattr(played, name)
            assert value.low <= exact.equity(name) <= value.high, (position, name)
            assert value.standard_error <= 0.002


@pytest.fixture
def means_of_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The mean rolls that rollouts beyond ten points use, of boards of six chequers; where they are kept."""
    made = solver.mean_rolls
    monkeypatch.setattr(solver, "mean_rolls", lambda points: made(points, 6))
    monkeypatch.setattr(library, "WIDE", (tmp_path / "means.npz", *library.WIDE[1:]))
    for kept in (library.wide_means, chains.tables, rollouts._oracle):
        kept.cache_clear()
    yield tmp_path / "means.npz"
    for kept in (library.wide_means, chains.tables, rollouts._oracle):
        kept.cache_clear()


@pytest.mark.slow
def test_beyond_ten_points_exact_equities_lie_within_the_bounds(
    means_of_few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (
        "1 0 0 0 0 1 0 1 0 1 0 1 / 0 2 0 0 0 0 0 1 0 0 1 1",
        "0 0 0 0 0 1 0 0 0 0 1 1 / 1 0 0 0 0 0 0 0 0 1 0 1",
    ):
        position = Position.parse(text)
        exact = ondemand.solve_money(position)
        played = analysis.play_out(position, error=0.001)
        for name in ("cubeless", "owned", "centered", "opponent"):
            value = getattr(played, name)
            assert value.low <= exact.equity(name) <= value.high, (position, name)
            assert value.high - value.low <= 2 * (2.58 * 0.001 + 0.001)
    assert capsys.readouterr().err.count("solving the mean rolls of 12 points into ") == 1
    assert load(means_of_few).kind == "mean-rolls"
    library.wide_means.cache_clear()
    assert library.wide_means()[12] == pytest.approx(65535 * load(means_of_few).means[12], abs=0.5)
    assert capsys.readouterr().err == ""  # kept


def test_of_two_threads_one_makes_the_means(means_of_few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: library.wide_means(), range(2))
    assert np.array_equal(first, second)
    assert capsys.readouterr().err.count("solving the mean rolls of 12 points into ") == 1


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "centered", "standard_error"),
    [
        ("0 0 2 2 4 5 1 1 / 0 0 1 2 4 8", 0.2687, 0.0009),
        ("0 1 2 2 4 5 0 1 / 0 0 2 2 4 6 0 0 1", 0.6232, 0.0008),
    ],
)
def test_rollouts_of_long_races_agree_with_other_rollouts(
    text: str, centered: float, standard_error: float
) -> None:
    """Those of another program with its own cube decisions, and the estimate."""
    position = Position.parse(text)
    played = analysis.play_out(position, error=0.001)
    assert played.centered is not None
    assert (
        played.centered.low - 2.58 * standard_error
        <= centered
        <= played.centered.high + 2.58 * standard_error
    )
    solved = chains.Estimator().solve(position, money_columns())
    for name in ("cubeless", "owned", "centered", "opponent"):
        rolled_out = getattr(played, name)
        allowed = solved.usual + rolled_out.high - rolled_out.value
        assert abs(rolled_out.value - solved.equity(name)) <= allowed, name


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


#: one by whom every close decision is settled, whatever the machine has else to do
LONG = 60.0


@pytest.mark.slow
def test_a_cube_action_that_an_estimate_leaves_open_is_rolled_out() -> None:
    with Advisor([], limit=0) as plain, Advisor([], limit=0, oracle=LONG) as asked:
        open_ones = [one for one in _positions(60, 7) if not plain.cube(GameState.of(one)).sure]
        position = min(open_ones, key=lambda one: abs(plain.cube(GameState.of(one)).take_margin))
        estimated, played = (advisor.cube(GameState.of(position)) for advisor in (plain, asked))
        again = Advisor([], limit=0, oracle=LONG).cube(GameState.of(position))
        equities = asked.roll_out(GameState.of(position))
    assert (estimated.source, played.source) == ("estimate", "rollout")
    assert played == again
    assert played.sure
    assert played.error is not None
    assert estimated.error is not None
    assert played.error < estimated.error / 4
    assert played.certainty.startswith("rollout, ±")
    assert played.certainty.endswith(" (95 %)")
    with Advisor([], limit=10**8) as calculating:
        exact = calculating.cube(GameState.of(position))
    assert exact.source == "calculation"
    assert abs(played.no_double - exact.no_double) <= played.error
    assert played.action == exact.action
    assert equities is not None
    assert equities.centered == played.no_double
    assert equities.source == "rollout"


@pytest.mark.slow
def test_what_is_certain_is_not_rolled_out() -> None:
    with Advisor([], limit=0, oracle=LONG) as asked:
        sure = next(one for one in _positions(60, 7) if asked.cube(GameState.of(one)).source == "estimate")
        assert asked.cube(GameState.of(sure)).sure


@pytest.mark.slow
def test_plays_that_an_estimate_leaves_open_are_rolled_out() -> None:
    position = Position.parse("0 0 0 2 2 2 1 1 / 0 0 2 2 2 1 1 1")
    state = GameState.of(position, (5, 2))
    with Advisor([], limit=0) as plain, Advisor([], limit=0, oracle=0.5) as asked:
        estimated, played = (advisor.plays(state) for advisor in (plain, asked))
    assert (estimated.source, played.source) == ("estimate", "rollout")
    assert played.approximate
    assert played.max_error is not None
    assert played.usual_error is not None
    assert estimated.max_error is not None
    assert played.usual_error["value"] < played.max_error["value"] < estimated.max_error["value"]
    values = [{play.notation: play.value for play in one.plays} for one in (estimated, played)]
    far = [play.notation for play in estimated.plays if not play.close]
    assert all(values[0][name] == values[1][name] for name in far)
    for play in estimated.plays[:2]:
        value = values[1][play.notation]
        assert value is not None
        assert play.value is not None
        assert abs(value - play.value) <= played.max_error["value"] + estimated.max_error["value"]


@pytest.mark.slow
def test_at_a_score_the_cube_and_the_plays_are_rolled_out() -> None:
    near = GameState.of(Position.parse("3 1 0 0 0 3 / 3 0 0 2 0 2"), away=(3, 5))
    far = GameState.of(Position.parse("0 0 0 2 2 2 1 1 / 0 0 2 2 2 1 1 1"), (5, 2), away=(3, 5))
    with Advisor([], limit=0) as plain, Advisor([], limit=0, oracle=0.5) as asked:
        score = plain.score(near)
        estimated, cube = (advisor.cube(near) for advisor in (plain, asked))
        guessed, plays = (advisor.plays(far) for advisor in (plain, asked))
    assert (estimated.source, cube.source) == (guessed.source, plays.source) == ("estimate", "rollout")
    assert estimated.match is not None
    assert cube.match is not None
    exact = ondemand.solve_match(near.position, score).cube.mwc
    assert abs(cube.match.mwc.no_double - exact.no_double) <= cube.match.error < estimated.match.error / 3
    assert plays.max_error is not None
    assert guessed.max_error is not None
    assert plays.max_error["mwc"] < guessed.max_error["mwc"]
