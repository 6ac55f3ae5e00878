"""Text that users paste: what other programs put on the clipboard, and identifiers with words around them."""

from __future__ import annotations

import pytest

from bgfmt.errors import PositionError
from bgfmt.game import identifiers as ids

XGID = "XGID=-BCBB----------------abbc-:0:0:1:00:0:0:0:0:10"
GNUBG = "dwMAAN4FAAAAAA:cAkAAAAAAAAE"

XG_CLIPBOARD = f"""{XGID}

X:Player 1   O:Player 2
Score is X:0 O:0. Unlimited Game
 +13-14-15-16-17-18------19-20-21-22-23-24-+
 |                  |   |    O  O  O  O    |
 |                  |   |       O  O  O    |
 |                  |   |                  |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+
Pip count  X: 27  O: 22 X-O: 0-0
Cube: 1
X on roll, cube action

eXtreme Gammon Version: 2.10
"""

GNUBG_BOARD = """ GNU Backgammon  Position ID: dwMAAN4FAAAAAA
                 Match ID   : cAkAAAAAAAAE
 +13-14-15-16-17-18------19-20-21-22-23-24-+     O: gnubg
 |                  |   |          O  O  O |     0 points
v|                  |BAR|                  |     (Cube: 1)
 |                  |   |          X  X  X |     On roll
 +12-11-10--9--8--7-------6--5--4--3--2--1-+     X: root
"""


@pytest.mark.parametrize(
    "text",
    [
        XG_CLIPBOARD,
        XG_CLIPBOARD.replace("\n", "\r\n"),
        XGID.replace("XGID", "xgid"),
        XGID.removeprefix("XGID="),
        XGID.replace("=", " = "),
        f"What would you play here?\n\n  {XGID}\n\nI doubled, he took.",
        f"[b]Was it a double?[/b] ({XGID}) Thanks, Ann",
        f"> {XGID}.",
        f"see {XGID.removeprefix('XGID=')} for the board",
        f"{XGID}\n{XGID}",
    ],
)
def test_an_xgid_with_words_around_it(text: str) -> None:
    assert ids.parse(text) == ids.from_xgid(XGID)


@pytest.mark.parametrize(
    "text",
    [
        GNUBG_BOARD,
        GNUBG_BOARD.replace("\n", "\r\n"),
        f"GNUBGID {GNUBG}",
        f"GNUbg ID: {GNUBG}",
        f"gnubgid={GNUBG}",
        "Position ID: dwMAAN4FAAAAAA Match ID: cAkAAAAAAAAE",
        "Position-ID: dwMAAN4FAAAAAA   Match-ID: cAkAAAAAAAAE",
        f"this one, {GNUBG}, please",
    ],
)
def test_a_gnubg_id_with_words_around_it(text: str) -> None:
    assert ids.parse(text) == ids.from_gnubg_id(GNUBG)


@pytest.mark.parametrize("name", ["Position ID: ", "position id ", "PositionID="])
def test_a_position_id_with_its_name(name: str) -> None:
    assert ids.parse(f"{name}dwMAAN4FAAAAAA") == ids.from_gnubg_id("dwMAAN4FAAAAAA")


@pytest.mark.parametrize("text", ["Match ID : cAkAAAAAAAAE", "match id: cAkAAAAAAAAE"])
def test_a_match_id_with_its_name(text: str) -> None:
    assert ids.parse(text) == ids.from_match_id("cAkAAAAAAAAE")


def test_a_fibs_line_among_others() -> None:
    line = ids.fibs(ids.from_xgid(XGID))
    assert ids.parse(f"You roll.\n{line}\nbye") == ids.from_fibs(line)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("XGID=-BCBB---------------abbc-:0:0:1:00:0:0:0:0:10", "the board has 25 of 26 characters"),
        (f"What now?\n{XGID.replace('abbc-', 'abbc')}\n" + "x" * 500, "the board has 25 of 26 characters"),
        ("XGID=-BCBB----------------abbc-:0:0:1", "4 of 10 fields"),
        ("Position ID: dwMAAN4FAAAAA", "13 of 14 characters"),
        ("Match ID: cAkAAAAAAAA", "11 of 12 characters"),
        ("GNUBGID dwMAAN4FAAAAA:cAkAAAAAAAAE", "13 of 14 characters"),
        (f"{XGID}\nor\nXGID=-BCB-----------------abbc-:0:0:1:00:0:0:0:0:10", "2 different positions"),
        ("hello " * 200, "no position"),
        ("", "no position"),
    ],
)
def test_a_refusal_is_one_short_line(text: str, reason: str) -> None:
    with pytest.raises(PositionError) as caught:
        ids.parse(text)
    message = str(caught.value)
    assert reason in message
    assert "\n" not in message
    assert len(message) <= 160


def test_a_fibs_line_of_a_match_to_one_point() -> None:
    """As gnubg 1.07 sends it: the only game of a match to one point counts as one after the Crawford game."""
    from bgfmt.game.state import GameState

    assert ids.fibs(GameState(length=1)).endswith(":0:1:1")
    assert ids.fibs(GameState(length=3)).endswith(":0:0:1")
    assert ids.from_fibs(ids.fibs(GameState(length=1))) == GameState(length=1)
