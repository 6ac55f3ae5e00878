"""Rolls and legal plays against known cases, plain laws and the real gnubg."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import BAR, ROLLS, Move, Play, legal_plays, notation, race_plays

START = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)


def names(us: Side, them: Side, die: int, other: int) -> set[str]:
    return {str(play) for play in legal_plays(Position(us, them), die, other)}


def test_the_21_rolls() -> None:
    assert [(r.high, r.low) for r in ROLLS[:6]] == [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    assert len(set(ROLLS)) == 21
    assert sum(r.weight for r in ROLLS) == 36


@pytest.mark.parametrize(
    ("dice", "plays"), [((3, 1), 16), ((6, 5), 7), ((5, 5), 4), ((1, 1), 42), ((4, 2), 18), ((6, 4), 14)]
)
def test_opening_plays(dice: tuple[int, int], plays: int) -> None:
    assert len(legal_plays(Position(START, START), *dice)) == plays


def test_hits_and_joined_moves() -> None:
    assert names(Side(*[0] * 12, 1), Side(*[0] * 17, 1), 6, 1) == {"13/7*/6", "13/6"}
    assert notation((Move(24, 18, True), Move(18, 13))) == "24/18*/13"
    assert notation((Move(8, 5), Move(6, 3), Move(8, 5), Move(6, 3))) == "8/5(2) 6/3(2)"
    assert notation((Move(BAR, 20), Move(6, 0))) == "bar/20 6/off"
    assert notation(()) == "no play"


def test_bar_comes_first_and_dancing_gives_no_play() -> None:
    closed = Side(2, 2, 2, 2, 2, 2)
    assert legal_plays(Position(Side(0, 0, 0, 0, 0, 2, bar=1), closed), 6, 6) == []
    assert names(Side(0, 0, 0, 0, 0, 2, bar=1), Side(0, 2, 2, 2, 2, 2), 6, 1) == {"bar/18"}
    assert names(Side(bar=2), Side(0, 2, 2, 2, 2, 2), 6, 1) == {"bar/24"}


def test_both_dice_where_possible_else_the_larger() -> None:
    # one chequer, blocked after either die: the larger must be played
    blocked = Side(*[0] * 12, 2)  # holds point 12 of the player on roll
    assert names(Side(*[0] * 18, 1), blocked, 6, 1) == {"19/13"}
    # the smaller alone must be played when it lets the larger follow
    assert names(Side(*[0] * 11, 1), Side(*[0] * 18, 2), 6, 1) == {"12/5"}


def test_bearing_off_by_a_larger_die_only_from_the_highest_point() -> None:
    assert names(Side(0, 0, 0, 1, 0, 1), Side(1), 5, 2) == {"6/1 4/2", "6/off"}
    assert {p.result.us for p in legal_plays(Position(Side(0, 0, 0, 1, 0, 1), Side(1)), 5, 2)} == {
        Side(1, 1),
        Side(0, 0, 0, 1),
    }
    # a game-ending die is one die played: where two can be played, they must be
    plays = legal_plays(Position(Side(0, 0, 0, 0, 0, 1), Side(*[0] * 19, 1)), 6, 1)
    assert [str(p) for p in plays] == ["6/5*/off"]


def test_refusals() -> None:
    with pytest.raises(PositionError, match="dice must be from 1 to 6"):
        legal_plays(Position(START, START), 0, 7)
    with pytest.raises(PositionError, match="both sides"):
        legal_plays(Position(Side(1), Side(*[0] * 23, 1)), 1, 2)


def test_race_plays_in_gnubgs_order() -> None:
    assert race_plays((0, 0, 0, 1, 0, 1), 5, 2) == [(1, 1, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)]
    assert race_plays((1, 0, 0), 6, 5) == [(0, 0, 0)]
    assert race_plays((2, 0, 0), 1, 1) == [(0, 0, 0)]


sides = st.lists(st.integers(0, 4), min_size=1, max_size=9).filter(lambda c: 0 < sum(c) <= 15)


@settings(max_examples=150, deadline=None)
@given(sides, st.integers(1, 6), st.integers(1, 6))
def test_race_plays_are_the_legal_plays_without_contact(counts: list[int], die: int, other: int) -> None:
    us, high, low = tuple(counts), max(die, other), min(die, other)
    plays = legal_plays(Position(Side(*us), Side(1)), die, other)
    assert {play.result.us for play in plays} == {Side(*after) for after in race_plays(us, high, low)}
    assert all(play.result.them == Side(1) for play in plays)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=24, max_size=24), st.integers(0, 2), st.data())
def test_plays_keep_chequers_and_use_the_dice(cells: list[int], bar: int, data: st.DataObject) -> None:
    mine = [c if i % 3 else 0 for i, c in enumerate(cells)]
    theirs = [c if (23 - i) % 3 == 0 else 0 for i, c in enumerate(cells)]
    if sum(mine) + bar > 15 or sum(theirs) > 14 or not sum(theirs):
        return
    position = Position(Side(*mine, bar=bar), Side(*theirs))
    die, other = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    plays = legal_plays(position, die, other)
    assert len({(p.result.us, p.result.them) for p in plays}) == len(plays)
    assert len({len(p.moves) for p in plays}) <= 1
    for play in plays:
        hits = sum(m.hit for m in play.moves)
        assert play.result.them.bar == hits
        assert sum(play.result.them.counts) + hits == sum(theirs)
        off = sum(m.end == 0 for m in play.moves)
        assert sum(play.result.us.counts) + play.result.us.bar + off == sum(mine) + bar
        assert play.result.check()


# -- the real gnubg --------------------------------------------------------------------------------------


def cells(side: Side) -> tuple[int, ...]:
    return side.counts + (0,) * (24 - len(side.counts)) + (side.bar,)


def replay(us: tuple[int, ...], them: tuple[int, ...], pairs: tuple[int, ...]) -> tuple[Side, Side]:
    mine, theirs = list(us), list(them)
    for start, end in zip(pairs[::2], pairs[1::2], strict=True):
        mine[start - 1] -= 1
        mine[end - 1] += 1
        if theirs[24 - end]:
            theirs[24 - end] = 0
            theirs[24] += 1
    return Side(*mine[:24], bar=mine[24]), Side(*theirs[:24], bar=theirs[24])


def scattered(rng: random.Random) -> Position:
    """Two sides thrown on the board anyhow, never on one point together."""
    mine, theirs = [0] * 25, [0] * 25
    reach = rng.choice([6, 12, 24, 25])
    for _ in range(rng.randint(1, 15)):
        mine[rng.randrange(reach)] += 1
    for _ in range(rng.randint(1, 15)):
        free = [i for i in range(25) if i == 24 or not mine[23 - i]]
        theirs[rng.choice(free)] += 1
    return Position(Side(*mine[:24], bar=mine[24]), Side(*theirs[:24], bar=theirs[24]))


def played(rng: random.Random) -> Position:
    """A position from a game of random plays."""
    position = Position(START, START)
    for _ in range(rng.randint(0, 80)):
        plays: list[Play] = legal_plays(position, rng.randint(1, 6), rng.randint(1, 6))
        after = rng.choice(plays).result if plays else position
        if not after.us.counts and not after.us.bar:
            break
        position = after.swapped()
    return position


@pytest.mark.slow
def test_legal_plays_are_those_of_gnubg(oracle: Callable[[str], str]) -> None:
    oracle("py:gnubg")
    gnubg = importlib.import_module("gnubg")
    cube, context = gnubg.cubeinfo(1, -1, 0, 0, (0, 0), 0), gnubg.evalcontext(0, 0, 1, 0, 0.0)
    rng = random.Random(20021124)
    for k in range(1500):
        position = played(rng) if k % 10 == 0 else scattered(rng)
        die, other = rng.randint(1, 6), rng.randint(1, 6)
        us, them = cells(position.us), cells(position.them)
        found = gnubg.find_best_moves((them, us), cube, context, (die, other))
        found = [m["move"] for m in found]
        plays = legal_plays(position, die, other)
        # a tuple that bears a chequer off ends there, at an odd length: those can only be counted
        whole = {replay(us, them, m) for m in found if len(m) % 2 == 0}
        plain = {(p.result.us, p.result.them) for p in plays if all(m.end for m in p.moves)}
        assert whole == plain, (position, die, other)
        assert len(found) == len(plays), (position, die, other)
