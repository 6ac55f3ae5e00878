"""The adapter against the real gnubg package: the same boards, identifiers and equities."""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.game.identifiers import position_id


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ours = load(Path(__file__).resolve().parents[1] / "bgfmt_pygnubg.py")


@pytest.fixture(scope="module")
def gnubg() -> Any:
    if importlib.util.find_spec("gnubg") is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("the real package 'gnubg' is not installed")
        pytest.skip("the real package 'gnubg' is not installed")
    return importlib.import_module("gnubg")


def positions(count: int) -> list[Position]:
    source = random.Random(3)
    out = []
    while len(out) < count:
        sides = [[0] * 6, [0] * 6]
        for side in sides:
            for _ in range(source.randint(1, 6)):
                side[source.randrange(6)] += 1
        out.append(Position(Side(*sides[0]), Side(*sides[1])))
    return out


def test_boards_there_and_back() -> None:
    for position in [*positions(40), Position(Side(1, bar=2), Side(0, 3, bar=1))]:
        assert ours.position(ours.board(position)) == position


@pytest.mark.slow
def test_the_same_numbers(gnubg: Any) -> None:
    """gnubg's package answers these from its own two-sided table of 6 points and 6 chequers."""
    table = bgfmt.solver.two_sided(6, 6)
    for position in positions(300):
        board = ours.board(position)
        assert gnubg.positionid(board) == position_id(position)
        assert ours.money(table, board).cubeless == pytest.approx(gnubg.evaluate(board)[5], abs=2e-6)


@pytest.mark.slow
def test_plays_and_cube() -> None:
    table = bgfmt.solver.two_sided(3, 10)
    board = ours.board(bgfmt.parse_position("tw8AANg7AAAAAA"))
    assert ours.cube_action(table, board).action == "Double, pass"
    plays = ours.checker_play(table, board, 2, 1)
    assert sum(map(sum, plays[0][0])) == sum(map(sum, board)) - 2
    assert plays[0][1] >= plays[-1][1]
