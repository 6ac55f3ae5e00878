"""Answers as eXtreme Gammon's text: its layout to the letter, and read back by us and by AnkiGammon."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from bgfmt import __version__
from bgfmt.cli import run
from bgfmt.extras.hosts.xg_text import header
from bgfmt.game.state import GameState
from tests.conftest import GOLDEN

PLAYED = ["0 1 1 1 / 0 1 1", "21", "--cube", "owned"]
TS, OS = str(GOLDEN / "gnubg/ts_06x04.bd"), str(GOLDEN / "gnubg/os_p06.bd")
OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:63:0:0:3:0:10"
#: what XG 2.19 puts on the clipboard, from the tests of AnkiGammon 1.19
CAPTURED = f"""{OPENING}

X:Player 1   O:Player 2
Score is X:0 O:0. Unlimited Game, Jacoby Beaver
 +13-14-15-16-17-18------19-20-21-22-23-24-+
 | X           O    |   | O              X |
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 | X                |   | O                |
 |                  |BAR|                  |
 | O                |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X              O |
 | O           X    |   | X              O |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+
Pip count  X: 167  O: 167 X-O: 0-0
Cube: 1
X to play 63"""

CUBE = f"""Analyzed in bgfmt, from ts_06x04.bd; maximum error 9.7e-05
Player Winning Chances:   67.11% (G:0.00% B:0.00%)
Opponent Winning Chances: 32.89% (G:0.00% B:0.00%)

Cubeless Equities: No Double=+0.3422, Double=+0.6845

Cubeful Equities:
       No redouble:     +0.3441
       Redouble/Take:   +0.3210 (-0.0231)
       Redouble/Pass:   +1.0000 (+0.6559)

Best Cube action: No redouble / Take
Percentage of wrong pass needed to make the double decision right: 3.4%

bgfmt Version: {__version__}
"""


def text_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run([*words, "--format", "xg"]) == 0
    return capsys.readouterr().out


def test_the_header_is_what_xg_writes() -> None:
    assert "\n".join(header(GameState.parse(OPENING), "X to play 63")) == CAPTURED


def test_an_owned_cube_stands_beside_its_owner_and_the_roller_is_x() -> None:
    lines = header(GameState.parse("XGID=-----a----a-A---A---A-----:1:1:-1:00:2:1:0:3:10"), "?")
    assert lines[2] == "X:Player 2   O:Player 1"
    assert lines[3] == "Score is X:1 O:2 3 pt.(s) match."
    assert lines[5:8] == [
        " | O     X          |   |    X             | +---+",
        " |                  |   |                  | | 2 |",
        " |                  |   |                  | +---+",
    ]
    assert lines[-3:] == ["Pip count  X: 35  O: 48 X-O: 1-2/3", "Cube: 2, O own cube", "?"]
    lines = header(GameState.parse("XGID=-----a----a-A---A---A-----:0:0:1:00:2:1:1:3:10"), "?")
    assert lines[-3:-1] == ["Pip count  X: 48  O: 35 X-O: 2-1/3 Crawford", "Cube: 1"]


def test_a_cube_action(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "0 1 0 0 1 0 / 0 1 1 0 0 0"
    out = text_of(capsys, "cube", TS, asked, "--cube", "owned", "--cube-value", "2")
    assert out.endswith("Cube: 2, X own cube\nX on roll, cube action\n\n" + CUBE)
    assert GameState.parse(out) == GameState.parse(out.split("\n")[0])
    assert GameState.parse(out).position == GameState.parse(asked).position


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["2 2 / 4"], ["No double:     ", "Double/Take:   ", "Best Cube action: Double / "]),
        (["0 1 0 0 1 / 0 1 1", "--away", "3-5"], ["No Double=+0.3422, Double=", ", MET: Kazaross-XG2"]),
        (["0 1 0 0 1 / 0 1 1", "--cube", "opponent"], ["Cubeful Equities:\n       No double:     "]),
        (["0 0 0 0 0 2 / 0 0 2", "--beavers"], ["Double/Beaver: -0.6749 (-0.5711)", "No double / Beaver"]),
        # eXtreme Gammon 1.21 prints -2.667 for this position
        (
            ["XGID=-D----------------------b-:0:0:1:00:0:0:3:0:10"],
            ["Double/Beaver: -2.666", " (-2.0000)", "make the double decision right: 54.5%"],
        ),
        (
            ["XGID=-D----------------------b-:0:0:1:00:0:0:0:0:10"],
            ["Double/Take:   -1.3333 (-0.6667)", "make the double decision right: 28.6%"],
        ),
        (
            ["XGID=-D----------------------b-:1:1:1:00:0:0:3:0:10"],
            ["Redouble/Beaver: -2.666", "Redouble/Pass:   +1.0000"],
        ),
    ],
)  # fmt: skip
def test_words_of_cube_actions(
    capsys: pytest.CaptureFixture[str], words: list[str], lines: list[str]
) -> None:
    out = text_of(capsys, "cube", TS, *words)
    assert all(line in out for line in lines)
    assert ("Best Cube action" in out) == ("opponent" not in words)


def test_plays(capsys: pytest.CaptureFixture[str]) -> None:
    out = text_of(capsys, "play", TS, *PLAYED, "--top", "2")
    first, second = f"{'    1. Book¹       3/Off':<47}", f"{'    2. Book¹       4/3 2/Off':<47}"
    plays = f"{first} eq:-0.5247\n\n{second} eq:-0.7114 (-0.1867)\n"
    source = f"¹ from ts_06x04.bd; maximum error 9.7e-05\n\nbgfmt Version: {__version__}\n"
    assert out.endswith(f"X to play 21\n\n{plays}\n{source}")
    assert GameState.parse(out).dice == (2, 1)


def test_lines_and_all_rolls_are_one_text_after_another(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert text_of(capsys, "play", TS, "0 0 0 1 / 1", "all", "--top", "1").count("XGID=") == 21
    monkeypatch.setattr("sys.stdin", io.StringIO("1 1 / 1\n0 1 / 2\n"))
    assert text_of(capsys, "cube", TS, "-").count("XGID=") == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["cube", TS, "1 / 1", "--json"], "--json and --format xg exclude each other"),
        (["cube", TS, "1 / 1", "--scores", "2"], "the cube actions at all scores cannot be printed"),
        (["play", "0 2", "21"], "XG text needs equities"),
    ],
)
def test_what_xg_has_no_text_for(capsys: pytest.CaptureFixture[str], words: list[str], reason: str) -> None:
    assert run([*words, "--format", "xg"]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.extra("races")
def test_ankigammon_reads_it(capsys: pytest.CaptureFixture[str], oracle: Callable[[str], str]) -> None:
    oracle("ankigammon")
    from ankigammon.parsers.xg_text_parser import XGTextParser

    def read(*words: str) -> Any:
        (found,) = XGTextParser.parse_string(text_of(capsys, *words))
        return found

    cube = read("cube", TS, "0 1 0 0 1 0 / 0 1 1 0 0 0", "--cube", "owned", "--cube-value", "2")
    best = next(one for one in cube.candidate_moves if one.rank == 1)
    assert (best.notation, best.equity, cube.player_win_pct, cube.cube_value) == (
        "No Redouble/Take",
        0.3441,
        67.11,
        2,
    )
    assert (cube.cubeless_equity, cube.double_cubeless_equity) == (0.3422, 0.6845)
    estimated = [OS, "2 2 2 3 3 3 / 3 3 3 2 2 2", "21", "--no-settle"]
    for words, name in (([TS, *PLAYED], "Book"), (estimated, None)):  # an estimate has no name of XG's
        first, second, *_ = read("play", *words).candidate_moves
        assert (first.error, first.analysis_level) == (0, name)
        assert second.error == pytest.approx(first.equity - second.equity, abs=1e-4)
