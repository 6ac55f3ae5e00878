"""Cube actions and plays against what GNU Backgammon itself says where it uses the same 6x6 table."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest

from bgfmt.analysis import twosided_from_onesided
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from tests.support.analysis_tables import one_sided, stored_two_sided
from tests.support.single import judge_cube, rank_plays

MANY = 200
SETTINGS = """set player 0 human
set player 1 human
set automatic roll off
set automatic game off
set automatic bearoff off
set automatic move off
set output digits 6
set jacoby off
new session
set turn 1
"""


def position_id(position: Position) -> str:
    """Written out here, so that nothing of bgfmt's own identifiers is used to test with."""
    bits = []
    for side in (position.them, position.us):
        for chequers in (*side.counts, *[0] * (25 - len(side.counts))):
            bits += [1] * chequers + [0]
    bits += [0] * (80 - len(bits))
    raw = bytes(sum(bits[8 * i + k] << k for k in range(8)) for i in range(10))
    return base64.b64encode(raw).decode()[:14]


def told(program: str, script: str) -> str:
    """What gnubg prints when it is told these commands."""
    done = subprocess.run(
        [program, "-t", "-q"],
        input=script + "quit\nyes\n",
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    return done.stdout


@pytest.fixture(scope="module")
def answers(oracle):
    program = oracle("gnubg")
    rng = np.random.default_rng(11)
    asked = []
    script = SETTINGS
    for _ in range(MANY):
        us, them = (Side.from_number(int(k), 6) for k in rng.integers(1, board.count(6, 6), 2))
        position, roll = Position(us, them), tuple(int(d) for d in rng.integers(1, 7, 2))
        asked.append((position, roll))
        script += (
            f"set board {position_id(position)}\nset cube center\nset turn 1\nhint\nset cube owner 1\nhint\n"
        )
        script += f"set cube center\nset turn 1\nset dice {roll[0]} {roll[1]}\nhint\n"
    done = subprocess.run(
        [program, "-t", "-q"],
        input=script + "quit\nyes\n",
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    return asked, done.stdout


@pytest.mark.slow
def test_cube_actions_are_gnubgs(answers):
    asked, text = answers
    analyses = text.split("Cube analysis")[1:]
    assert len(analyses) == 2 * MANY
    for k, said in enumerate(analyses):
        cube = ("centered", "owned")[k % 2]
        ours = judge_cube(stored_two_sided(), cube, position=asked[k // 2][0])
        numbers = {
            name: float(value)
            for name, value in re.findall(
                r"\d\. ((?:No )?[Dd]ouble(?:, \w+)?) +([-+][\d.]+)", said.split("Proper")[0]
            )
        }
        assert numbers["No double"] == pytest.approx(ours.no_double, abs=2e-6)
        assert numbers["Double, take"] == pytest.approx(ours.double_take, abs=2e-6)
        assert numbers["Double, pass"] == 1
        verdict = re.search(r"Proper cube action: (.*?)(?: \(|\n)", said)
        assert verdict is not None
        assert verdict[1].replace("Optional d", "D").replace("Optional r", "R") == ours.action


def after(position: Position, play: str) -> Position:
    """The position after a play in gnubg's notation."""
    counts = list(position.us.padded(6))
    for part in play.split():
        move, _, times = part.rstrip(")").partition("(")
        start, *_, end = move.split("/")
        counts[int(start) - 1] -= int(times or 1)
        if end != "off":
            counts[int(end) - 1] += int(times or 1)
    return Position(Side(*counts), position.them)


def test_plays_are_gnubgs(answers):
    asked, text = answers
    hints = text.split("The dice have been set to")[1:]
    assert len(hints) == MANY
    for (position, roll), said in zip(asked, hints, strict=True):
        said = said.split("Cube analysis")[0]  # noqa: PLW2901
        listed = re.findall(r"\d+\. Cubeful \d-ply +(\S.*?) +Eq\.: +([-+][\d.]+)", said)
        plays = rank_plays(stored_two_sided(), position, roll)
        ours = {play.result: play.value for play in plays}
        assert listed
        assert float(listed[0][1]) == pytest.approx(plays[0].value, abs=2e-6)
        for name, value in listed:
            assert ours[after(position, name)] == pytest.approx(float(value), abs=2e-6), (
                str(position),
                roll,
                name,
            )


def estimates(program: str) -> Iterator[tuple[Position, list[float]]]:
    """Positions, and gnubg's own estimate of each: chances, cubeless and cubeful equity."""
    rng = np.random.default_rng(12)
    asked = []
    script = (
        SETTINGS
        + "set evaluation chequerplay evaluation plies 0\nset evaluation cubedecision evaluation plies 0\n"
    )
    low, high = board.count(6, 6), board.count(6, 15)
    for k in range(MANY):
        first = board.count(6, 14) if k % 2 else low  # every other one with a side that can lose a gammon
        us, them = (
            Side.from_number(int(rng.integers(first, high)), 6),
            Side.from_number(int(rng.integers(1, high)), 6),
        )
        if k % 4 > 1:
            us, them = them, us
        asked.append(Position(us, them))
        script += f"set board {position_id(asked[-1])}\nset cube center\nset turn 1\neval\n"
    lines = re.findall(r"^static: +([-+\d. ]+)$", told(program, script), re.MULTILINE)
    assert len(lines) == MANY
    for position, line in zip(asked, lines, strict=True):
        yield position, [float(x) for x in line.split()]


def test_estimates_from_one_sided_tables_are_gnubgs(oracle):
    for position, (win, won, _, lost, _, cubeless, _) in estimates(oracle("gnubg")):
        ours = twosided_from_onesided(one_sided(), position)
        assert (ours.win, ours.win_gammon, ours.lose_gammon) == pytest.approx((win, won, lost), abs=2e-6)
        assert ours.cubeless == pytest.approx(cubeless, abs=3e-6)
