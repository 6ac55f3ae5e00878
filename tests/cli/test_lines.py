"""Positions on standard input: one a line, or boards as programs put them on the clipboard."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from bgfmt.cli import run
from bgfmt.cli.lines import texts
from tests.game.test_pasted import GNUBG, GNUBG_BOARD, WIDE_BOARD, XG_CLIPBOARD, XGID

ANALYSIS = """
    1. 3-ply       6/2 5/4                      eq:+0.423
      Player:   70.00% (G:0.00% B:0.00%)
      Opponent: 30.00% (G:0.00% B:0.00%)
"""


def test_the_clipboard_of_xg_is_one_question() -> None:
    assert list(texts(XG_CLIPBOARD.splitlines())) == [XGID]
    several = XG_CLIPBOARD + ANALYSIS + XG_CLIPBOARD + "2 3 / 1 2\nhello\n"
    assert list(texts(several.splitlines())) == [XGID, XGID, "2 3 / 1 2", "hello"]


@pytest.mark.parametrize("board", [GNUBG_BOARD, WIDE_BOARD, "> " + GNUBG_BOARD.replace("\n", "\n> ")])
def test_the_board_of_gnubg_is_one_question(board: str) -> None:
    several = list(texts((board + board).splitlines()))
    assert len(several) == 2
    assert all(GNUBG[:14] in text and GNUBG[15:] in text for text in several)


def test_a_line_that_is_no_position_is_a_question_still() -> None:
    assert list(texts(["hello", "", " 1 / 1 ", "hello", XGID, "hello"])) == [
        "hello",
        "1 / 1",
        "hello",
        XGID,
        "hello",
    ]
    assert list(texts(["Position ID: x", "Match ID: y"])) == ["Position ID: x", "Match ID: y"]
    assert list(texts([GNUBG_BOARD.splitlines()[0], "1 / 1"])) == [
        GNUBG_BOARD.splitlines()[0].strip(),
        "1 / 1",
    ]


def test_a_damaged_identifier_below_a_board_is_a_question() -> None:
    damaged = XGID.replace("abbc-", "abbc")
    assert list(texts([*XG_CLIPBOARD.splitlines(), damaged])) == [XGID, damaged]


def test_an_answer_does_not_wait_for_the_next_line() -> None:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in XG_CLIPBOARD.splitlines():
            read += 1
            yield line

    assert next(texts(lines())) == XGID
    assert read == 1


@pytest.mark.extra("hosts")
def test_a_command_answers_a_board_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(XG_CLIPBOARD + GNUBG_BOARD))
    assert run(["id", "-"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["asked"] == XGID
    assert second["forms"]["gnubg-id"]["text"] == GNUBG
