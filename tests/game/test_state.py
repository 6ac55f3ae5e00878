"""The state of a game: made, read, written, seen by the player on roll; and the faults of sides and identifiers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgfmt import Position, Side
from bgfmt.errors import PositionError
from bgfmt.game import board
from bgfmt.game import identifiers as ids
from bgfmt.game.drawing import draw_side
from bgfmt.game.moves import legal_plays
from bgfmt.game.state import GameState

HERE = Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1))


def test_a_state_lists_the_legal_plays_of_its_dice() -> None:
    state = GameState.of(HERE)
    rolled = state.rolled("61")
    assert rolled.legal_plays == legal_plays(HERE, 6, 1)
    assert [play.notation for play in rolled.legal_plays] == [str(play) for play in rolled.legal_plays]
    assert rolled.after(rolled.legal_plays[0]).turn != rolled.turn
    with pytest.raises(PositionError, match="has no dice"):
        _ = state.legal_plays


def test_a_state_is_seen_by_the_player_on_roll() -> None:
    state = GameState.of(HERE, (6, 1), cube="owned", cube_value=4, away=(3, 5))
    assert (state.position, state.owner, state.cube_value, state.away) == (HERE, "owned", 4, (3, 5))
    assert (state.kind, state.money, state.may_double) == ("play", False, True)
    other = GameState(state.sides, turn=0, cube_value=4, cube_owner=1, length=5, scores=(2, 4))
    assert (other.position, other.owner, other.away) == (HERE.swapped(), "opponent", (3, 1))
    assert other.post_crawford
    assert not other.may_double
    assert GameState.of(HERE).away is None
    assert GameState.of(HERE, doubled=True).kind == "take"
    assert GameState.of(HERE, resigned=1).kind == "resignation"
    assert state.before_roll().kind == "cube"
    assert GameState.of(HERE, away=(1, 3), crawford=True).post_crawford is False
    assert GameState.of(HERE, away=(1, 1)).post_crawford is False


@pytest.mark.parametrize(
    "wrong",
    [
        {"cube": "elsewhere"},
        {"cube_value": 3},
        {"cube_value": 0},
        {"away": (0, 2)},
        {"crawford": True},
        {"away": (2, 3), "crawford": True},
        {"dice": (0, 1)},
    ],
)
def test_states_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(PositionError):
        GameState.of(HERE, **wrong)  # type: ignore[arg-type]


@given(
    st.sampled_from(["centered", "owned", "opponent"]),
    st.sampled_from([1, 2, 64]),
    st.none() | st.tuples(st.integers(1, 25), st.integers(1, 25)),
    st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)),
)
def test_identifiers_keep_cube_score_and_dice(
    cube: str, value: int, away: tuple[int, int] | None, dice: tuple[int, int] | None
) -> None:
    state = GameState.of(HERE, dice, cube=cube, cube_value=value, away=away)
    for text in (ids.xgid(state), ids.gnubg_id(state), ids.fibs(state), ids.ogid(state)):
        read = GameState.parse(text)
        assert (read.position, read.owner, read.cube_value, read.away) == (HERE, cube, value, away)
        assert sorted(read.dice or ()) == sorted(dice or ())


def test_a_bar_is_the_25th_point_or_an_error() -> None:
    assert Side(bar=1).number(25) == board.rank((*[0] * 24, 1)) > 0
    assert Side.from_number(Side(2, bar=1).number(25), 25) == Side(2, bar=1)
    for points in (6, 24):
        with pytest.raises(PositionError, match="bar"):
            Side(bar=1).number(points)
    with pytest.raises(PositionError):
        Side(1).number(26)


@pytest.mark.parametrize("wrong", [(0.5,), ("1",), (1, 2.0), (None,)])
def test_counts_are_whole_numbers(wrong: tuple[object, ...]) -> None:
    with pytest.raises(PositionError, match="whole number"):
        Side(*wrong)  # type: ignore[arg-type]
    with pytest.raises(PositionError, match="whole number"):
        Side(bar=wrong[-1])  # type: ignore[arg-type]


def test_numpy_counts_are_whole_numbers() -> None:
    assert Side(*np.array([1, 2], np.int8), bar=np.int64(1)) == Side(1, 2, bar=1)  # type: ignore[arg-type]


def test_identifiers_of_a_position() -> None:
    for write in (ids.xgid, ids.gnubg_id, ids.fibs, ids.ogid):
        assert ids.parse(write(HERE)).position == HERE
    assert ids.parse(HERE.id).position == HERE
    assert ids.parse(HERE.xgid).position == HERE
    assert Position.parse(HERE.xgid) == HERE
    assert Position.parse("0 1 0 0 1 / 0 1 1") == HERE
    assert Side.parse("0 1 0 0 1") == HERE.us


def test_match_ids_alone() -> None:
    state = ids.parse("cInqAEAAGAAE")
    assert (state.length, state.scores, state.dice, state.turn) == (7, (4, 3), (5, 2), 1)
    assert ids.match_id(state) == "cInqAEAAGAAE"
    assert state.position.us == state.position.them
    assert state.position.us.pips == 167


def test_ogid_of_a_match_to_one() -> None:
    for text in ("oo:1:N0N::B::0:0:1:0", "oo:1:N0N::B::0:0:1C:0"):
        state = ids.from_ogid(text)
        assert ids.ogid(state) == text
        assert ids.from_ogid(ids.ogid(state)) == state


@pytest.mark.parametrize("side", [Side(bar=2), Side(0, 1, bar=1), Side(*[0] * 23, 3, bar=12)])
def test_the_printed_form_is_read_back(side: Side) -> None:
    assert Side.parse(str(side)) == side
    position = Position(side, Side(0, 1))
    assert Position.parse(str(position)) == position
    assert Position.parse(str(position.swapped())) == position.swapped()


def test_one_pip() -> None:
    assert "1 chequer, 1 pip, 14 off" in draw_side(Side(1))


@pytest.mark.parametrize("dice", [(2, 1), "21", "2-1", "2 1", "2,1", [2, 1]])
def test_dice_as_text_or_as_a_pair(dice: object) -> None:
    assert GameState.of(HERE).rolled(dice).dice == (2, 1)  # type: ignore[arg-type]
    assert GameState.of(HERE, dice) == GameState.of(HERE, (2, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("dice", ["2", "211", "x1", "", (2,), (2, None), 21, (7, 1), "07", object()])
def test_no_dice(dice: object) -> None:
    with pytest.raises(PositionError, match="dice"):
        GameState.of(HERE).rolled(dice)  # type: ignore[arg-type]


@pytest.mark.parametrize("turn", [0, 1])
def test_after_a_play_the_other_side_is_on_roll(turn: int) -> None:
    sides = (HERE.them, HERE.us) if turn else (HERE.us, HERE.them)
    state = GameState(sides, turn=turn, dice=(2, 1), cube_owner=turn)
    play = legal_plays(HERE, 2, 1)[0]
    after = state.after(play)
    assert after.position == play.result.swapped()
    assert (after.turn, after.dice, after.owner, after.over) == (1 - turn, None, "opponent", False)


def test_parse_with_options() -> None:
    state = GameState.parse("0 1 0 0 1 / 0 1 1", away=(3, 5), cube="owned", dice="21", cube_value=2)
    assert state == GameState.of(HERE, (2, 1), cube="owned", cube_value=2, away=(3, 5))
    assert GameState.parse("0 1 0 0 1 / 0 1 1", away="3-5").away == (3, 5)
    xgid = GameState.of(HERE, (6, 1), cube="opponent", away=(2, 4)).xgid
    assert GameState.parse(xgid) == GameState.parse(xgid, away="2-4", cube="opponent", dice=(6, 1))
    assert GameState.parse(xgid, away=(1, 4), crawford=True, cube="centered").crawford_game
    for wrong in ({"away": "x"}, {"away": (0, 1)}, {"cube": "elsewhere"}, {"dice": "7"}, {"crawford": True}):
        with pytest.raises(PositionError):
            GameState.parse(xgid, **wrong)  # type: ignore[arg-type]


def test_a_won_match_is_over() -> None:
    state = GameState((HERE.us, HERE.them), length=5, scores=(6, 1))
    assert state.over
    assert not GameState((HERE.us, HERE.them), length=7, scores=(6, 1)).over
