"""What an identifier says is in the state, or among its notes: parsing drops nothing without a word."""

from __future__ import annotations

import pytest

from bgfmt.errors import PositionError
from bgfmt.game import identifiers as ids
from bgfmt.game.state import GameState

BOARD = "mnnnoooo:11122233"
XGID = "XGID=-DCA------------------bcc-:0:0:1:{dice}:0:0:0:0:10"


@pytest.mark.parametrize(("dice", "beavered"), [("D", 0), ("B", 1), ("R", 2)])
def test_an_xgid_keeps_a_double_a_beaver_and_a_raccoon(dice: str, beavered: int) -> None:
    text = XGID.format(dice=dice)
    state = ids.parse(text)
    assert state.doubled
    assert state.beavered == beavered
    assert ids.xgid(state) == text


@pytest.mark.parametrize(("color", "turn"), [("B", 0), ("W", 1)])
@pytest.mark.parametrize("cube", ["N0O", "N0N"])
def test_an_offered_double_is_the_doublers(color: str, turn: int, cube: str) -> None:
    """The colour is the player who reached the position, who has doubled (as gammonview writes it)."""
    state = ids.parse(f"{BOARD}:{cube}::{color}:D:0:0:0:0")
    assert (state.doubled, state.turn, state.kind) == (True, turn, "take")
    assert ids.ogid(state) == f"{BOARD}:N0O::{color}:D:0:0:0:0"


def test_a_double_goes_from_xgid_to_ogid_and_back() -> None:
    state = ids.from_xgid(XGID.format(dice="D"))
    assert ids.from_ogid(ids.ogid(state)).doubled
    assert ids.xgid(ids.from_ogid(ids.ogid(state))) == XGID.format(dice="D")


def test_after_a_take_the_cube_is_turned() -> None:
    """As gammonview writes it: B has just taken, owns the cube at 2, and W rolls."""
    state = ids.parse(f"{BOARD}:B1T::B:A:0:0:0:0")
    assert (state.doubled, state.turn, state.cube_value, state.cube_owner) == (False, 1, 2, 0)
    assert "the double has just been taken" in state.notes


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        (f"{BOARD}:N0P::B:G:1:0:0:0", "passed"),
        (f"{BOARD}:N0P::B:P:1:0:0:0", "passed"),
        (f"{BOARD}:N0N::B:G:1:0:0:0", "over"),
        (f"{BOARD}:N0N::B:RG:1:0:0:0", "resigned"),
        ("dwMAAN4FAAAAAA:cAoAAAAAAAAA", "over"),
        ("4HPwATDgc/ABMA:cEMAACAAAAAA", "resigned"),  # gnubg 1.07 after `resign gammon`, `accept`
        ("dwMAAN4FAAAAAA:cAwAAAAAAAAA", "passed"),
    ],
)
def test_a_game_that_has_ended(text: str, ended: str) -> None:
    state = ids.parse(text)
    assert state.ended == ended
    assert state.over
    if text[14] == ":":
        assert ids.gnubg_id(state) == text
    assert ids.from_ogid(ids.ogid(state)).ended == ended


def test_a_resignation_is_written_as_gnubg_writes_it() -> None:
    """gnubg 1.07 after `resign gammon`: the decision is the other player's."""
    state = ids.parse("4HPwATDgc/ABMA:cEEAAAAAAAAA")
    assert (state.turn, state.resigned, state.kind) == (1, 2, "resignation")
    assert ids.match_id(state) == "cEEAAAAAAAAA"


def test_a_dead_cube_is_not_in_use() -> None:
    state = ids.parse(f"{BOARD}:D0N::B::0:0:0:0")
    assert not state.cube_in_use
    assert ids.ogid(state) == f"{BOARD}:D0N::B::0:0:0:0"


def test_the_number_of_chequers() -> None:
    state = ids.parse("o:1:N0N::B::0:0:0:0:3")
    assert state.chequers == 3
    assert ids.ogid(state) == "o:1:N0N::B::0:0:0:0:3"


def test_the_first_roll_of_a_game_is_whites() -> None:
    """The one case in which the colour is the player on roll (as gammonview reads it)."""
    start = "11ccccchhhjjjjj:66666888dddddoo:N0N"
    assert ids.parse(f"{start}::W:IW:0:0:1:0").turn == 1
    assert ids.parse(f"{start}:31:B:IW:0:0:1:0").turn == 1


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"{BOARD}:N0N:31:B:C:0:0:0:0", "game state C"),
        (f"{BOARD}:N0N:31:B::0:0:0:12", "move 12"),
        (f"{BOARD}:N0N:31:B::0:0:5G15:0", "at most 15 games"),
        (f"{BOARD}:N0N:31:B::0:0:5L:0", "a game after the Crawford game"),
        (f"{BOARD}:?0N:31:B::0:0:0:0", "the owner of the cube is unknown"),
        (f"{BOARD}:N0N", "who is on roll"),
        ("XGID=-DCA------------------bcc-:0:0:1:00:0:0:2:5:10", "rule 2"),
        ("XGID=-DCA------------------bcc-:0:0:1:00:0:0:7:0:10", "rule 7"),
        ("dwMAAN4FAAAAAA:cAgAAAAAAAAE", "no game is being played"),
        ("dwMAAN4FAAAAAA:MAkAAAAAAAAE", "player 1 is to decide"),
        (ids.fibs(GameState.parse("4 3 1 / 3 3 2")) + " crawfordrule off", "the Crawford rule is off"),
        (
            ids.fibs(GameState.parse("4 3 1 / 3 3 2")).replace(":7:7:", ":7:6:"),
            "6 chequers off of player 0, not 7",
        ),
    ],
)
def test_what_no_field_holds_is_a_note(text: str, note: str) -> None:
    assert any(note in one for one in ids.parse(text).notes), ids.parse(text).notes


@pytest.mark.parametrize(
    "text",
    [
        ids.ogid(GameState.parse("4 3 1 / 3 3 2")),
        ids.fibs(GameState.parse("4 3 1 / 3 3 2")),
        "dwMAAN4FAAAAAA:cAkAAAAAAAAE",
        XGID.format(dice="00"),
        "dwMAAN4FAAAAAA",
        "4 3 1 / 3 3 2",
    ],
)
def test_usual_identifiers_have_no_notes(text: str) -> None:
    assert ids.parse(text).notes == ()


@pytest.mark.parametrize("end", ["", ":", ":61", ":61:"])
@pytest.mark.parametrize("before", ["", "OGID=", "look: "])
def test_an_ogid_of_three_or_four_fields(before: str, end: str) -> None:
    """Fields from the fourth on may be missing; White is then on roll."""
    state = ids.parse(f"{before}11jjjjjhhhccccc:ooddddd88866666:N0N{end}")
    assert state.turn == 1
    assert state.dice == ((1, 6) if "6" in end else None) or sorted(state.dice or ()) == [1, 6]
    assert state.position == ids.parse("4HPwATDgc/ABMA").position


@pytest.mark.parametrize(
    "text",
    ["4HPwATDgc_ABMA", "Position ID: 4HPwATDgc_ABMA", "https://example.org/?posid=4HPwATDgc_ABMA",
     "4HPwATDgc_ABMA:cAkAAAAAAAAE", "pos=4HPwATDgc_ABMA&match=cAkAAAAAAAAE"],
)  # fmt: skip
def test_a_url_safe_position_id(text: str) -> None:
    assert ids.parse(text).position == ids.parse("4HPwATDgc/ABMA").position


def test_a_url_safe_minus() -> None:
    """`-` stands for `+`."""
    plain = next(text for text in map(_some_id, range(1, 2000)) if "+" in text and "/" not in text)
    assert ids.parse(plain.replace("+", "-")) == ids.parse(plain)
    assert ids.parse(f"Position ID: {plain.replace('+', '-')}") == ids.parse(plain)
    assert ids.parse(f"{plain.replace('+', '-')}:cAkAAAAAAAAE") == ids.parse(f"{plain}:cAkAAAAAAAAE")


def _some_id(number: int) -> str:
    from bgfmt.game.board import Position, Side

    return ids.position_id(Position(Side.from_number(number, 6), Side.from_number(2000 - number, 6)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mnnnoooo:11122233:N0X:31:B", "a valid cube of an OGID"),
        ("mnnnoooo:11122233:Z0N:31:B", "a valid cube of an OGID"),
        ("mnnnoooo:11122233:N0N:31:X", "a valid colour of an OGID"),
        ("mnnnoooo:11122233:N0N:99:B", "not dice"),
    ],
)
def test_a_refused_ogid_names_its_field(text: str, reason: str) -> None:
    with pytest.raises(PositionError, match=reason):
        ids.parse(text)
