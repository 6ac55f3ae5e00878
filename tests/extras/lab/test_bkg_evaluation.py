"""BKG's measuring functions and evaluation: the numbers of its reconstruction, and the paper's own decisions."""

from __future__ import annotations

import hashlib
import random
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bgfmt.errors import PositionError
from bgfmt.extras.lab.engine.bkg import C1, Bkg, Completion
from bgfmt.extras.lab.engine.bkg.completion import escapes_table
from bgfmt.extras.lab.engine.bkg.measures import array_of, measure
from bgfmt.extras.lab.engine.bkg.player import TERMS
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.game.state import START, GameState

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "bkg"
GAME = [line.split("|") for line in (FIXTURES / "sample-game.txt").read_text().splitlines()[1:]]
OPENING = Position(START, START)
RECOMMENDED = {
    "21": ["13/11 6/5"], "31": ["8/5 6/5"], "41": ["13/9 6/5", "24/23 13/9"], "51": ["13/8 6/5", "24/23 13/8"],
    "61": ["13/7 8/7"], "32": ["13/10 13/11", "24/21 13/11"], "42": ["8/4 6/4"], "52": ["13/8 13/11"],
    "62": ["24/18 13/11"], "43": ["13/10 13/9", "24/20 13/10", "24/21 13/9"], "53": ["8/3 6/3"],
    "63": ["24/18 13/10", "24/15"], "54": ["13/8 13/9", "24/20 13/8"], "64": ["24/14", "24/18 13/9", "8/2 6/2"],
    "65": ["24/13"],
}  # fmt: skip


def side(text: str) -> Side:
    counts = {p: int(n) for p, n in (item.split(":") for item in text.split())}
    return Side(*(counts.get(str(p), 0) for p in range(1, 25)), bar=counts.get("bar", 0))


def state_of(turn: int) -> GameState:
    row = GAME[turn - 1]
    a, b = row[2].split("-")
    return GameState.of(parse(row[4]).position, (int(a), int(b)))


def moved(position: Position, text: str) -> Position:
    """The board after a play as written, either side's hits made."""
    us, them = [0, *position.us.padded(25)], [0, *position.them.padded(25)]
    for word in text.replace("*", "").split():
        stops = [25 if s == "bar" else 0 if s == "off" else int(s) for s in word.split("/")]
        for start, end in pairwise(stops):
            us[start] -= 1
            us[end] += 1
            if end and them[25 - end]:
                them[25 - end] = 0
                them[25] += 1
    return Position(Side(*us[1:25], bar=us[25]), Side(*them[1:25], bar=them[25]))


def agreement(completion: Completion) -> tuple[list[int], list[str]]:
    """Turns of the sample game, and opening rolls, in which the completion plays otherwise than BKG."""
    engine, missed, rolls = Bkg(completion=completion), [], []
    for turn in range(2, 49, 2):
        state = state_of(turn)
        if engine.play(state).result != moved(state.position, GAME[turn - 1][3]):
            missed.append(turn)
    for roll, plays in RECOMMENDED.items():
        chosen = engine.play(GameState.of(OPENING, (int(roll[0]), int(roll[1])))).result
        if chosen not in [moved(OPENING, play) for play in plays]:
            rolls.append(roll)
    return missed, rolls


@pytest.mark.slow
def test_c1_plays_as_bkg_did() -> None:
    assert agreement(C1) == ([6, 14], ["41", "62"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "turns", "rolls"),
    [
        ({"scale": "1"}, 20, 9), ({"hold": "gammon"}, 21, 13), ({"hold": "behind"}, 20, 13),
        ({"moment2": "behind"}, 22, 9), ({"moment2": "sum"}, 23, 5), ({"escapes": "full"}, 21, 12),
        ({"escapes": "any"}, 20, 9), ({"contain-low": "16"}, 22, 13),
    ],
)  # fmt: skip
def test_rivals(choice: dict[str, str], turns: int, rolls: int) -> None:
    missed, wrong = agreement(Completion.of(choice))
    assert (24 - len(missed), 15 - len(wrong)) == (turns, rolls)


def test_a_completion_is_checked() -> None:
    with pytest.raises(PositionError, match="hold must be always, behind, gammon"):
        Completion.of({"hold": "never"})
    with pytest.raises(PositionError, match="no option 'speed'"):
        Bkg({"speed": "1"})
    assert Completion.of({"scale": "1", "contain-low": "16"}) == Completion(scale=1, contain_low=16)


TOTALS = [
    ("21", "13/11 6/5", 97.174, 97.046), ("31", "8/5 6/5", 332.852, 94.590), ("43", "13/10 13/9", 93.211, 92.411),
    ("61", "13/7 8/7", 340.834, 92.411), ("65", "24/13", 98.632, 90.102), (2, "", 108.432, 101.250),
    (8, "", 320.549, 122.003), (12, "", 379.723, 370.701), (18, "", 793.920, 790.884), (30, "", 1531.058, -230.157),
    (42, "", 923.020, 904.420), (46, "", 20.936, -216.998), (48, "", 1613.733, 1593.933),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("where", "play", "best", "second"), TOTALS)
def test_totals(where: int | str, play: str, best: float, second: float) -> None:
    if isinstance(where, int):
        state, play = state_of(where), GAME[where - 1][3]
    else:
        state = GameState.of(OPENING, (int(where[0]), int(where[1])))
    ranked = Bkg().ranked(state)
    assert ranked[0].play.result == moved(state.position, play)
    assert [rated.points for rated in ranked[:2]] == pytest.approx([best, second], abs=0.002)


PARTS = [
    ("31", "8/5 6/5", {"GENERAL": 68.685, "NOTNEARDIS": 54.167, "hold": 210}),
    ("43", "13/10 13/9", {"GENERAL": 61.983, "NOTNEARDIS": 34.067, "BLOT DANGER": -2.838}),
    ("65", "24/13", {"GENERAL": 79.565, "NOTNEARDIS": 19.067}),
    (10, "bar/16", {"GENERAL": 92.621, "NEARDIS": 40, "hold": 210, "BLOT DANGER": -12.578, "last": 5.460}),
    (18, "13/11 18/12", {"GENERAL": 104.920, "NEARDIS": 479, "hold": 210}),
    (30, "5/2 8/2", {"GENERAL": 89.500, "NEARDIS": 1189.557, "hold": 252}),
    (30, "7/4 8/2", {"GENERAL": 75.296, "NEARDIS": -510.311, "hold": 252, "BLOT DANGER": -47.141}),
    (46, "5/1 5/off", {"GENERAL": 71.217, "NEARDIS": -241.474, "hold": 219, "BLOT DANGER": -27.807}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("where", "play", "terms"), PARTS)
def test_terms(where: int | str, play: str, terms: dict[str, float]) -> None:
    state = (
        state_of(where) if isinstance(where, int) else GameState.of(OPENING, (int(where[0]), int(where[1])))
    )
    wanted = moved(state.position, play)
    rated = next(r for r in Bkg().ranked(state) if r.play.result == wanted)
    assert {k: v for k, v in rated.parts().items() if abs(v) > 1e-9} == pytest.approx(terms, abs=0.002)
    assert sum(rated.terms) == pytest.approx(rated.points)
    assert set(rated.parts()) <= set(TERMS)


def rows() -> list[list[str]]:
    return [line.split("|") for line in (FIXTURES / "measures.txt").read_text().splitlines()[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_measures(row: list[str]) -> None:
    j, n = side(row[1].replace(" off:3", "")), side(row[2])
    found = SimpleNamespace(**measure(Position(j, n)))
    assert [
        f"{a}, {b}" for a, b in (found.pips, found.escapes, found.contain, found.mobility, found.closeboard)
    ] == [row[k] for k in (3, 7, 8, 11, 13)]
    assert [str(x) for x in (found.p1, found.p2, found.piploss)] == row[4:7]
    held = [f"{a}@{s}" if s else "0" for a, s in zip(found.acontain, found.contsq, strict=True)]
    assert held == row[9:11]
    assert found.moment2 == pytest.approx(float(row[12]), abs=5e-7)
    assert [str(x) for x in (found.homblots, found.histack, found.gap)] == row[14:17]
    assert f"{found.expallin}, {found.exploff}, {found.expturns}" == row[17]
    assert f"{found.next_point}, {found.builders}, {found.slotted}" == row[18]


@pytest.mark.slow
def test_ways_to_hit_one_blot() -> None:
    """A lone hitter far from home, one blot, nothing in between: rolls by distance."""
    right = [11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0]
    for d, rolls in enumerate(right, 1):
        hitter, blot = 24, 24 - d  # N's points; the blot stands on J's 25 - blot
        j = Side(*([0] * (24 - blot) + [1])) if blot else Side()
        n = Side(*[0] * (hitter - 1), 1)
        if blot < 1 or 25 - blot >= 23:  # J's 23 and 24 are no blots while N has few points
            continue
        assert measure(Position(j, n))["p1"] == rolls


@pytest.mark.slow
def test_p1_is_seldom_other_than_the_rolls_that_can_hit() -> None:
    """Against the legal plays of the next roll, over random games: the rules differ from the game in few ways."""
    rng, same, seen = random.Random(4), 0, 0
    position = OPENING
    while seen < 60:
        roll = (rng.randint(1, 6), rng.randint(1, 6))
        plays = legal_plays(position, *roll)
        if plays:
            after = rng.choice(plays).result
            if not after.us.chequers or not after.contact:
                position = OPENING
                continue
            found, seen = measure(after)["p1"], seen + 1
            them = after.swapped()
            truly = sum(
                r.weight
                for r in ROLLS
                if any(any(m.hit for m in play.moves) for play in legal_plays(them, r.high, r.low))
            )
            same += found == truly
            position = them
        else:
            position = position.swapped()
    assert same >= 0.6 * seen


SUMS = {
    "sum": ("536ae0f7f2f24797de381684a4b994aa86ff9677129ceaf1b5366546179f380e", 52224, 48828, 14),
    "full": ("31db2b2f87c48d172e80a1667fc5eaa6fad77d2aad94196a213ffb0e0772c0c9", 49408, 46223, 19),
    "any": ("3c238a22188273f6fcc3913a2ac7b3b5dddb36f9a399dd93105dcc762fa9bd72", 104448, 90816, 7),
    "past": ("6990560d4a9a205efd0f8a5c554f73a4d2f7fb8d4301b7f4dc87ba1ecc73cc44", 48255, 44938, 35),
}


def possible() -> NDArray[np.int64]:
    """The codes of at most seven points, ascending."""
    return np.array([code for code in range(len(escapes_table())) if code.bit_count() <= 7], np.int64)


def packed(table: NDArray[Any]) -> bytes:
    """Six bits an entry, four entries in three bytes, the first in the high bits."""
    bits = np.unpackbits(np.asarray(table, np.uint8)[:, None], axis=1)[:, 2:]
    return np.packbits(bits.reshape(-1)).tobytes()


@pytest.mark.parametrize("reading", list(SUMS))
def test_the_blockade_table(reading: str) -> None:
    table, codes = escapes_table(reading), possible()  # type: ignore[arg-type]
    found = hashlib.sha256(table.tobytes()).hexdigest(), int(table.sum()), int(table[codes].sum())
    assert (*found, int((table[codes] == 0).sum())) == SUMS[reading]
    assert len(codes) == 3302


def test_the_blockade_table_packed() -> None:
    table = escapes_table()
    assert len(packed(table)) == 3072
    assert hashlib.sha256(packed(table)).hexdigest().startswith("b911749e3a04df3e")
    assert hashlib.sha256(table[possible()].tobytes()).hexdigest().startswith("a6533338006ca2c2")
    entries = {
        0b11111: 11,
        0b1111110: 0,
        0b11111100: 1,
        0b111111000000: 15,
        0b10101010101: 9,
        0b101010101010: 18,
    }
    assert {code: int(table[code]) for code in entries} == entries


def position_of(array: NDArray[Any]) -> Position:
    """The position of such an array."""
    us, them = (Side(*row[1:25].tolist(), bar=int(row[25])) for row in array)
    return Position(us, them)


@pytest.mark.slow
def test_plays_are_those_of_the_rules() -> None:
    """The compiled generator and `legal_plays`: the same boards in the same order, over random games."""
    from bgfmt.extras.lab.engine.bkg.kernels import moves

    rng, position = random.Random(9), OPENING
    for _ in range(250):
        roll = (rng.randint(1, 6), rng.randint(1, 6))
        plays, start = legal_plays(position, *roll), array_of(position)
        boards, _ = moves.plays(start, *roll)
        assert [position_of(after) for after in boards] == [play.result for play in plays]
        after = rng.choice(plays).result if plays else position
        position = OPENING if not after.us.chequers else after.swapped()


def test_how_many_plays() -> None:
    counts = [len(legal_plays(OPENING, *roll[:2])) for roll in ROLLS]
    order = [
        ROLLS.index(next(r for r in ROLLS if (r.high, r.low) == (a, b)))
        for a in range(1, 7)
        for b in range(1, a + 1)
    ]
    assert [counts[k] for k in order] == [
        42, 15, 75, 16, 17, 73, 14, 18, 17, 52, 8, 8, 9, 9, 4, 10, 14, 14, 14, 7, 11,
    ]  # fmt: skip
    for row in GAME:
        a, b = map(int, row[2].split("-"))
        assert max(1, len(legal_plays(parse(row[4]).position, a, b))) == int(row[5])
    assert np.sum(counts) == 447


@pytest.mark.slow
def test_two_plies_from_the_start() -> None:
    """202,782 results of two rolls, all pairs of the 21, one count a path."""
    from bgfmt.extras.lab.engine.bkg.kernels import moves

    start, total = array_of(OPENING), 0
    for first in ROLLS:
        for after in moves.plays(start, first.high, first.low)[0]:
            moves.swap_sides(after)
            total += sum(len(moves.plays(after, roll.high, roll.low)[0]) for roll in ROLLS)
    assert total == 202_782


@pytest.mark.slow
def test_passing_is_the_tables_first_roll() -> None:
    """DEFENSE: men of N within six points of J's last man pass it in one roll as the table bears them off."""
    from bgfmt.extras.lab.engine.bkg.kernels import evaluation

    rng, chances = random.Random(2), Bkg().completion.kernel.chances
    for _ in range(200):
        edge, counts, n = rng.randint(7, 24), [0] * 6, np.zeros(26, np.int64)
        for _ in range(rng.randint(1, 4)):
            d = rng.randint(1, 6)
            counts[d - 1] += 1
            n[25 - edge + d] += 1
        men, chance = evaluation.passing(n, edge)
        assert men == sum(counts)
        assert chance == pytest.approx(float(chances[board.rank(counts), 0]), abs=1e-12)
