"""Text that users paste: what other programs put on the clipboard, and identifiers with words around them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from urllib.parse import quote

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


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("color", [1, -1])
@pytest.mark.parametrize("roller", [1, -1])
def test_a_line_of_fibs_itself(up: bool, color: int, roller: int) -> None:
    """You stand first; your chequers have the sign of the colour; the last field counts redoubles."""
    state = replace(
        ids.from_xgid(XGID), length=5, scores=(1, 3), turn=int(roller == 1), jacoby=None, beavers=None
    )
    dice = [0, 0, 6, 1] if roller == -1 else [0, 0, 0, 0]
    board = [color * int(n) for n in ids.fibs(state).split(":")[6:32]][:: -1 if up else 1]
    ends = (25, 0) if up else (0, 25)
    fields = [
        5,
        3,
        1,
        *board,
        color * roller,
        *dice,
        1,
        1,
        1,
        0,
        color,
        1 if up else -1,
        *ends,
        6,
        7,
        *[0] * 6,
    ]
    found = ids.parse(f"board:You:someone:{':'.join(map(str, fields))}")
    assert found == replace(state, dice=(6, 1) if roller == -1 else None, names=("someone", "You"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("XGID=-BCBB---------------abbc-:0:0:1:00:0:0:0:0:10", "the board has 25 of 26 characters"),
        (f"What now?\n{XGID.replace('abbc-', 'abbc')}\n" + "x" * 500, "the board has 25 of 26 characters"),
        ("XGID=-BCBB----------------abbc-:0:0:1", "4 of 10 fields"),
        ("XGID=-BCBB----------------abbc-:0:0:1:35:2:1:0", "a score without the length of the match"),
        ("Position ID: dwMAAN4FAAAAA", "13 of 14 characters"),
        ("Match ID: cAkAAAAAAAA", "11 of 12 characters"),
        ("GNUBGID dwMAAN4FAAAAA:cAkAAAAAAAAE", "13 of 14 characters"),
        (f"{XGID}\nor\nXGID=-BCB-----------------abbc-:0:0:1:00:0:0:0:0:10", "2 different positions"),
        (
            "Thanks, Ann\n> dwMAAN4FAAAAEA:cAkAAAAAAAAE",
            "bits are set after the second side",
        ),  # joined, no word begins there
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


def test_an_ogid_with_a_digit_that_is_no_decimal() -> None:
    assert ids.parse(f"{OGID.rsplit(':', 4)[0]}:\u00b2:0:5:0").scores == (0, 0)


def test_a_fibs_line_of_a_match_to_one_point() -> None:
    """As gnubg 1.07 sends it: the only game of a match to one point counts as one after the Crawford game."""
    from bgfmt.game.state import GameState

    assert ids.fibs(GameState(length=1)).endswith(":0:1:1")
    assert ids.fibs(GameState(length=3)).endswith(":0:0:1")
    assert ids.from_fibs(ids.fibs(GameState(length=1))) == GameState(length=1)


OTHER = ids.xgid(ids.parse(GNUBG))  # the position of the GNUbg ID
OGID = ids.ogid(ids.from_xgid(XGID))
XG_ROLLOUT = f"""{XGID}
    1. Rollout¹  5/2 3/2                      eq: +0.123
      Player:   55.12% (G:0.00% B:0.00%)
      Opponent: 44.88% (G:0.00% B:0.00%)
¹ 1296 Games rolled with Variance Reduction. Dice Seed: 271828
"""
WIDE_BOARD = """ GNU Backgammon  Position ID: dwMAAN4FAAAAAA
                 Match ID   : cAkAAAAAAAAE
 +12-11-10--9--8--7-------6--5--4--3--2--1-+     O: gnubg (0 points)
 |                  | X |                  |
^|                  |BAR|                  |     7 point match (Cube: 1)
 +13-14-15-16-17-18------19-20-21-22-23-24-+     X: ann (Pips: 13)
Rolled 61
"""


@pytest.mark.parametrize(
    "text",
    [
        XG_ROLLOUT,
        "\ufeff" + XG_CLIPBOARD,
        XG_CLIPBOARD.replace(" ", "\u00a0"),
        XGID.replace("=", ":"),
        XGID.replace("=", " "),
        XGID.replace("=", "=\u200b"),
        XGID.replace("-", "\u2013"),
        XGID.replace("-", "\u2212"),
        XGID.replace(":", "%3A"),
        XGID.replace("-", "&#45;").replace("=", "&#61;"),
        f"_{XGID}_ is the position",
        f"https://example.org/board?{XGID.replace(':', '%3a')}",
        f'<a href="https://example.org/?xgid={quote(XGID)}&theme=2">my position</a>',
        f'<a href="https://example.org/board?{XGID}">what now?</a>',
        f"<img src='https://example.org/board.png?id={XGID}' alt='a board'/> and text",
        f"https://example.org/login?next=%2Fboard%3F{quote(quote(XGID))}",
        f"`{XGID}`",
        f"\u201c{XGID}\u201d",
        f"<b>{XGID}</b><br>",
        f"<tt>Position ID:</tt> <b>{ids.position_id(ids.from_xgid(XGID).position)}</b>",
        f"[xgid]{XGID[5:]}[/xgid]",
        f"[position]{XGID}[/position]",
        f"> > {XGID}\n> > What now?",
        XGID[:30] + "\n" + XGID[30:],
        "> " + XGID[:34] + "\r\n> " + XGID[34:],
        f"{XGID}, and I played 3/2",
        f"{XGID}\nPosition ID: {ids.position_id(ids.from_xgid(XGID).position)}",
        f"{XGID}\nGNUbg ID: {ids.gnubg_id(ids.from_xgid(XGID))}",
        f"OGID={OGID}",
        f"look: {OGID} ok?",
        f"He sent board:{ids.fibs(ids.from_xgid(XGID))[6:]}",
        "2 3 2 2 / 3 2 2 1",
        '"2 3 2 2 / 3 2 2 1"',
        "(2,3,2,2/3,2,2,1)",
        "position: 2 3 2 2 / 3 2 2 1",
        "2 3 2 2\n/\n3 2 2 1\n",
    ],
)
def test_what_mail_forums_and_browsers_make_of_it(text: str) -> None:
    assert ids.parse(text).position == ids.from_xgid(XGID).position


@pytest.mark.parametrize(
    "text",
    [
        WIDE_BOARD,
        WIDE_BOARD.replace("Match ID   :", "Match ID:"),
        "> " + GNUBG_BOARD.replace("\n", "\n> "),
        GNUBG_BOARD.upper().replace(GNUBG[:14].upper(), GNUBG[:14]).replace(GNUBG[15:].upper(), GNUBG[15:]),
        "dwMAAN4FAAAAAA cAkAAAAAAAAE",
        "dwMAAN4FAAAAAA: cAkAAAAAAAAE",
        "dwMAAN4FAAAAAA / cAkAAAAAAAAE",
        "dwMAAN4FAAAAAA\ncAkAAAAAAAAE",
        "dwMAAN4FAAAAAA==:cAkAAAAAAAAE",
        "GnuBG ID: dwMAAN4FAAAAAA : cAkAAAAAAAAE",
        "GNU ID: " + GNUBG,
        "set board dwMAAN4FAAAAAA",
        "set board =dwMAAN4FAAAAAA",
        f"Position ID: dwMAAN4FAAAAAA Match ID: cAkAAAAAAAAE\n{OTHER}",
        f"TachyonID/Position: {GNUBG}",
        "Match ID: cAkAAAAAAAAE\nPosition ID: dwMAAN4FAAAAAA",
        "gnubg-id dwMAAN4FAAAAAA cAkAAAAAAAAE",
        "The position ID is dwMAAN4FAAAAAA and the match ID is cAkAAAAAAAAE",
        '{"position_id": "dwMAAN4FAAAAAA", "match_id": "cAkAAAAAAAAE"}',
        "pos=dwMAAN4FAAAAAA&match=cAkAAAAAAAAE",
        "Position : dwMAAN4FAAAAAA",
        "Position dwMAAN4FAAAAAA",
        "https://example.org/?posid=dwMAAN4FAAAAAA",
        "Stellung: dwMAAN4FAAAAAA, Zug?",
        'he had <a href="https://example.org/?position=dwMAAN4FAAAAAA">this</a>',
    ],
)
def test_the_ids_of_gnubg_in_their_many_shapes(text: str) -> None:
    assert ids.parse(text).position == ids.from_gnubg_id(GNUBG).position


#: what gnubg 1.07 writes above its board in other languages
LANGUAGES = {
    "cs": ("ID pozice", "ID z\u00e1pasu  "),
    "da": ("Positions ID: ", "MatchID  "),
    "es": ("ID de posici\u00f3n", "ID de partida  "),
    "fi": ("Peliaseman ID", "Ottelun ID  "),
    "fr": ("ID de position", "ID de match  "),
    "it": ("ID Posizione", "ID Match  "),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("line", ["\n", "\r\n> ", "\n\t"])
def test_the_board_of_gnubg_in_other_languages(language: str, line: str) -> None:
    """With dice, cube and score; without the position's name it was read as the start of a game, or not at all."""
    position, match = (name.rstrip() for name in LANGUAGES[language])
    known = ids.from_gnubg_id("dTcAANjuAQAAAA:QQnnAEAAEAAE")
    board = GNUBG_BOARD.replace("Position ID", position).replace("Match ID   ", f"{match}   ")
    board = board.replace("dwMAAN4FAAAAAA", "dTcAANjuAQAAAA").replace("cAkAAAAAAAAE", "QQnnAEAAEAAE")
    assert ids.parse(board.replace("\n", line)) == known


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Position ID: dwMAAN4FAAAAAA Match ID: cAkAAA", "the Match ID has 6 of 12 characters"),
        (OGID.replace(":0:0:0:0", ":2:4:x:0"), "'x' is not a match length"),
        (OGID.replace(":0:0:0:0", ":2:4"), "'' is not a match length"),
        (XGID.replace("abbc-", "abbc--"), "27 of 26 characters"),
        (XGID.replace("BCBB", "BCBZ"), "'Z' is not a valid number of chequers"),
        (XGID.replace("-:0:0:1", "-:99:0:1"), "'99' is not a cube"),
        (XGID.replace(":00:", ":77:"), "'77' are not dice"),
        (XGID.replace(":0:0:0:0:10", ":0:x:0:0:10"), "'x' is not a score"),
        ("dwMAAN4FAAAAA", "14 characters and a Match ID 12, not 13"),
        ("GNUBGID dwMAAN4FAAAAAA:cAkAAAAAAAA", "11 of 12 characters"),
        (GNUBG_BOARD.split("\n", 2)[2], "a drawn board only"),
        (XGID.partition(":")[0], "a board of 26 characters and nine fields"),
        ("1/2/3", "one / between"),
        ("4 -3 1 / 2", "whole numbers"),
        ("16 / 1", "at most 15 chequers"),
        (f"{XGID} or XGID=-BCBB----------------abbc-:0:0:1:31:0:0:0:0:10", "2 different positions"),
        (OGID.replace(":N0N:", ":N0N:99:")[:-8], "no"),
    ],
)
def test_a_refusal_names_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(PositionError) as caught:
        ids.parse(text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 120


MATCH = ids.from_xgid(XGID.replace(":0:0:1:00:0:0:0:0:10", ":1:1:1:61:2:1:0:5:10"))


@pytest.mark.parametrize(
    "text", [ids.xgid(MATCH), f"OGID={ids.ogid(MATCH)}", ids.ogid(MATCH), ids.fibs(MATCH)]
)
@pytest.mark.parametrize("end", ["\n", "\r\n> ", "=\n"])
def test_an_identifier_that_a_line_breaks_is_whole_or_refused(text: str, end: str) -> None:
    """Never a part of it, which would say another score, cube or position."""
    read = 0
    for at in range(1, len(text) - 1):  # of the last number, nobody can tell
        with contextlib.suppress(PositionError):
            assert ids.parse(text[:at] + end + text[at:]) == ids.parse(text), (text[:at], text[at:])
            read += 1
    assert read > len(text) / 2
    assert ids.parse(f"On this page\n{text}") == ids.parse(text)


def test_an_ogid_of_fourteen_and_twelve_chequers_is_no_gnubg_id() -> None:
    """Its first fields are as long as a Position ID and a Match ID."""
    ogid = "iiijjllmmmmnno:123344566788:N0N::B::0:0:0:0"
    for text in (ogid, f"BGBlitz: {ogid}", f"> {ogid}\nwhat now?"):
        assert ids.parse(text) == ids.from_ogid(ogid)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "position id ABCDEFGH" + "=" * 60_000,
        "4HPwATDgc/ABMA" + "=" * 60_000,
        "4HPwATDgc/ABMA==== " * 3_000,
        "4HPwATDgc/ABMA" + ". " * 30_000 + "!",
        "gnubg id ABCDEFGH" + " " * 60_000 + "x",
        "xgid A" + ":A" * 30_000 + "?",
        "<a" * 30_000,
        "bar 1 " * 10_000,
        "board:" * 10_000,
    ],
    ids=lambda text: text[:24],
)
def test_searching_long_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    """Some of these took days while a pattern could divide a run of signs in several ways."""
    with contextlib.suppress(PositionError):
        assert ids.parse(text).position == ids.parse("4HPwATDgc/ABMA").position


def test_text_longer_than_any_with_a_position_is_refused_at_once() -> None:
    for text in ("hello world\n" * 30_000, f"{XGID}\n" * 7_000):
        with pytest.raises(
            PositionError, match=r"[\d,]+ characters, and text with a position has at most 65,536"
        ):
            ids.parse(text)
    assert ids.parse(XGID + "\n" * 100_000) == ids.parse(XGID)
