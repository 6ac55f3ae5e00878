"""The adapter against the real bgsage: the same boards, the same plays, the same numbers from its own table."""

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

ROOT = Path(__file__).resolve().parents[3]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ours = load(Path(__file__).resolve().parents[1] / "bgfmt_bgsage.py")


@pytest.fixture(scope="module")
def bgsage() -> Any:
    if importlib.util.find_spec("bgsage") is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("the real package 'bgsage' is not installed")
        pytest.skip("the real package 'bgsage' is not installed")
    return importlib.import_module("bgsage")


def positions(count: int, most: int = 8) -> list[Position]:
    source = random.Random(7)
    out = []
    while len(out) < count:
        sides = [[0] * 6, [0] * 6]
        for side in sides:
            for _ in range(source.randint(1, most)):
                side[source.randrange(6)] += 1
        out.append(Position(Side(*sides[0]), Side(*sides[1])))
    return out


def test_boards_there_and_back() -> None:
    start = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    assert ours.position(start).us == ours.position(start).them
    assert ours.board(ours.position(start)) == start
    for position in positions(50):
        assert ours.position(ours.board(position)) == position
    barred = Position(Side(1, bar=2), Side(0, 3, bar=1))
    assert ours.position(ours.board(barred)) == barred


@pytest.mark.slow
def test_start_and_plays(bgsage: Any) -> None:
    table = bgfmt.solver.two_sided(6, 6)
    assert ours.board(ours.position(bgsage.STARTING_BOARD)) == list(bgsage.STARTING_BOARD)
    source = random.Random(2)
    for position in positions(40, 6):
        a, b = source.randint(1, 6), source.randint(1, 6)
        board = ours.board(position)
        plays = ours.checker_play(table, board, a, b)
        assert sorted(p[0] for p in plays) == sorted(map(list, bgsage.possible_moves(board, a, b)))
        assert plays[0][1] >= plays[-1][1]


def test_numbers_of_its_own_table(bgsage: Any, tmp_path: Path) -> None:
    """EPC and win chances from bgsage's file, read by bgsage and by us."""
    native = importlib.import_module("bgbot_cpp")
    path = tmp_path / "bearoff.db"
    bgfmt.convert(ROOT / "fixtures" / "golden" / "gnubg" / "os_p06.bd", path, to="bgsage", lossy=True)
    theirs = native.BearoffDB()
    assert theirs.load(str(path))
    with bgfmt.open(path) as database:
        for position in positions(60):
            board = ours.board(position)
            assert ours.epc(database, board) == pytest.approx(theirs.lookup_epc(board, 0), rel=1e-5)
            assert ours.epc(database, board, 1) == pytest.approx(theirs.lookup_epc(board, 1), rel=1e-5)
            probs = theirs.lookup_probs(board, False)
            win = probs[0] if not hasattr(probs, "win") else probs.win
            assert ours.chances(database, board).win == pytest.approx(win, abs=2e-4)


@pytest.mark.slow
def test_money_and_cube() -> None:
    table = bgfmt.solver.two_sided(3, 10)
    position = bgfmt.parse_position("tw8AANg7AAAAAA")
    board = ours.board(position)
    assert ours.money(table, board).centered == pytest.approx(0.836484, abs=1e-4)
    assert ours.cube_action(table, board).action == "Double, pass"
