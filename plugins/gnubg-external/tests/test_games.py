"""The real gnubg plays bearoff games against the server, in both seats, with and without a cube."""

from __future__ import annotations

import base64
import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.analysis import Advisor
from bgfmt.analysis.cube import values_after_play
from bgfmt.analysis.ondemand import solve_match
from bgfmt.extras.engines import EngineDecider, create
from bgfmt.extras.hosts.external import RESIGNATIONS, Player, Reply, format_play
from bgfmt.extras.hosts.server import Server
from bgfmt.game.moves import legal_plays
from bgfmt.game.state import GameState
from bgfmt.met import load
from bgfmt.met.score import Score
from tests.support.answering import running

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("external_conftest", HERE / "conftest.py")
assert spec is not None
assert spec.loader is not None
common = importlib.util.module_from_spec(spec)
sys.modules["external_conftest"] = common
spec.loader.exec_module(common)


LIMIT = 300_000  # pairs of boards for one question; all that the two-sided table covers is below it


class Recorder(Player):
    """A player that keeps what it was asked and what it answered."""

    def __init__(self, databases: Any, **more: Any) -> None:
        super().__init__(Advisor(databases, outside="rule", limit=LIMIT), **more)
        self.asked: list[tuple[GameState, Reply]] = []

    def answer(self, state: GameState) -> Reply:
        reply = super().answer(state)
        self.asked.append((state, reply))
        return reply


def position_id(position: Position) -> str:
    """GNU Position ID: the other side first, each point as ones and a zero, the bar last."""
    bits = ""
    for side in (position.them, position.us):
        counts = [*side.counts, *(0,) * (24 - len(side.counts)), side.bar]
        bits += "".join("1" * n + "0" for n in counts)
    number = int(bits[::-1], 2)
    return base64.b64encode(number.to_bytes(10, "little")).decode()[:14]


def race(rng: random.Random, chequers: int, points: int) -> Side:
    counts = [0] * points
    for _ in range(chequers):
        counts[rng.randrange(points)] += 1
    return Side(*counts)


def game(position: Position, port: int, seat: int, seed: int, *, cube: bool, length: int = 0) -> list[str]:
    """Commands for one game from a position with player `seat` on roll."""
    return [
        "set player 0 human",
        "set player 1 human",
        f"set cube use {'on' if cube else 'off'}",
        f"set seed {seed}",
        f"new match {length}" if length else "new session",
        f"set turn {seed % 2}",
        f"set board {position_id(position)}",
        f"set player {1 - seat} gnubg",
        f"set player {seat} external 127.0.0.1:{port}",
        "play",
    ]


def check_answers(recorder: Recorder, two_sided: bgfmt.Database) -> dict[str, int]:
    """Every answer is legal, was taken by gnubg as meant, and is exact where the two-sided table covers it."""
    seen = {"play": 0, "cube": 0, "take": 0, "covered": 0, "followed": 0}
    table = two_sided.table
    for k, (question, decision) in enumerate(recorder.asked):
        seen[question.kind] += 1
        position = question.position
        covered = two_sided.covers(position)
        if question.kind != "play":
            words = ("roll", "double") if question.kind == "cube" else ("take", "drop")
            assert decision.text in words
            if covered and not question.length:
                seen["covered"] += 1
                e = two_sided.lookup(position)
                rolling = e.owned if question.owner == "owned" else e.centered
                if question.kind == "cube":
                    assert (decision.text == "double") == (min(1.0, 2 * e.opponent) >= rolling - 1e-9)
                else:
                    assert (decision.text == "take") == (2 * e.opponent <= 1 + 1e-9)
            continue
        plays = {format_play(p.moves): p for p in legal_plays(position, *(question.dice or (0, 0)))}
        assert decision.text in (plays or {"": None})
        if not plays:
            continue
        after = plays[decision.text].result
        if covered:
            seen["covered"] += 1
            if question.length:
                continue
            cube = question.owner if question.cube_in_use else "cubeless"
            results = [p.result for p in plays.values()]
            theirs = np.full(len(results), position.them.number(6))
            ours = np.array([r.us.number(6) for r in results])
            values = values_after_play(two_sided.lookup_many(theirs, ours), cube)
            assert values[list(plays).index(decision.text)] == values.max()
        if after.us.chequers and k + 1 < len(recorder.asked):
            following = recorder.asked[k + 1][0]
            # the same player's next question in the same game shows the side our play left
            if following.kind in ("cube", "play") and not position.contact and _continues(after, following):
                assert following.position.us == after.us
                seen["followed"] += 1
    assert table is not None
    return seen


def _continues(after: Position, following: GameState) -> bool:
    """Whether the next question is of the same game: the other side has only moved on."""
    return (
        following.position.them.chequers <= after.them.chequers
        and following.position.us.pips == after.us.pips
    )


@pytest.mark.slow
@pytest.mark.parametrize("cube", [True, False])
@pytest.mark.parametrize("seat", [0, 1])
def test_six_games(gnubg: str, tables: list[Path], tmp_path: Path, seat: int, cube: bool) -> None:
    rng = random.Random(10 * seat + cube)
    with bgfmt.open(tables[0]) as two, bgfmt.open(tables[1]) as one:
        recorder = Recorder([one, two])
        with running(Server(recorder)) as port:
            commands = []
            for number in range(6):
                chequers, points = [(6, 6), (6, 6), (10, 6), (15, 6), (15, 11)][number % 5]
                sides = Position(race(rng, chequers, points), race(rng, chequers, points))
                length = 5 if number in (3, 5) else 0
                commands += game(sides, port, seat, number + 1, cube=cube, length=length)
            text = common.play_games(gnubg, commands, tmp_path)
        seen = check_answers(recorder, two)
    assert seen["play"] > (6 if cube else 25)
    assert seen["covered"] > (2 if cube else 6)
    assert seen["followed"] > (2 if cube else 15)
    assert text.count(" wins a ") >= 6
    assert "badly formed" not in text
    assert "llegal" not in text


@pytest.mark.slow
def test_a_whole_game_from_the_start(gnubg: str, tables: list[Path], tmp_path: Path) -> None:
    """Contact and the bar, by the rule outside the tables."""
    with bgfmt.open(tables[0]) as two, bgfmt.open(tables[1]) as one:
        recorder = Recorder([one, two])
        with running(Server(recorder)) as port:
            commands = [
                "set player 1 gnubg",
                f"set player 0 external 127.0.0.1:{port}",
                "set seed 5",
                "new session",
            ]
            text = common.play_games(gnubg, commands, tmp_path)
        check_answers(recorder, two)
    assert " wins a " in text
    assert len(recorder.asked) > 5


def match_game(
    position: Position, port: int, seat: int, seed: int, scores: tuple[int, int], length: int
) -> list[str]:
    """Commands for one game of a match from a position, at a score; the Crawford game where it is due."""
    commands = game(position, port, seat, seed, cube=True, length=length)
    at = commands.index(f"set turn {seed % 2}")
    crawford = ["set crawford on" if seed % 3 else "set postcrawford on"] if length - 1 in scores else []
    return [*commands[:at], f"set score {scores[0]} {scores[1]}", *crawford, *commands[at:]]


@pytest.mark.slow
@pytest.mark.parametrize(("length", "games"), [(3, 13), (5, 13), (7, 14)])
def test_match_games(gnubg: str, tables: list[Path], tmp_path: Path, length: int, games: int) -> None:
    """Every double, take and play of a match inside the two-sided table is the exact one at its score."""
    rng = random.Random(length)
    with bgfmt.open(tables[0]) as two, bgfmt.open(tables[1]) as one:
        recorder = Recorder([one, two])
        with running(Server(recorder)) as port:
            commands = []
            for number in range(games):
                sides = Position(*(race(rng, rng.randint(4, 6), 6) for _ in range(2)))
                scores = rng.randrange(length), rng.randrange(length)
                commands += match_game(sides, port, number % 2, number + 1, scores, length)
            text = common.play_games(gnubg, commands, tmp_path)
    asked = [
        (state, reply)
        for state, reply in recorder.asked
        if state.length == length and state.kind != "resignation"
    ]
    assert asked == [(s, r) for s, r in recorder.asked if s.kind != "resignation"]
    kinds = [exact_at_score(state, reply.text) for state, reply in asked]
    assert text.count(" wins a ") >= games, text[-2000:]
    assert "badly formed" not in text
    assert "llegal" not in text
    assert kinds.count("play") > games / 2
    assert {"cube", "take"} <= set(kinds)


def exact_at_score(state: GameState, answer: str) -> str:
    """Assert that an answer in a match loses nothing; the kind of the question."""
    assert state.away is not None
    score = (
        Score(state.away, load(), state.crawford)
        if state.crawford
        else Score(
            state.away,
            load(),
            cube=state.cube_value,
            owner="centered" if state.doubled and state.owner == "opponent" else state.owner,
        )
    )
    exact = solve_match(state.position, score)
    if state.kind == "play":
        plays = {format_play(p.moves): p for p in legal_plays(state.position, *(state.dice or (0, 0)))}
        worth = exact.plays(*(state.dice or (0, 0)))
        assert max(worth.values()) - worth[plays[answer].result.us] <= 1e-12
    elif state.kind == "cube":
        gain = exact.cube.double_margin
        assert exact.cube.may_double or answer == "roll"
        assert answer == ("double" if gain > 1e-12 else "roll") or abs(gain) <= 1e-12
    else:
        assert answer in ("take", "drop")
        gain = exact.cube.take_margin
        assert answer == ("take" if gain > 0 else "drop") or abs(gain) <= 1e-12
    return state.kind


class Resigner(Recorder):
    """Offers the same resignation whenever it may."""

    def __init__(self, databases: Any, offer: int) -> None:
        super().__init__(databases)
        self.offer = offer

    def answer(self, state: GameState) -> Reply:
        if state.kind in ("play", "cube"):
            reply = Reply(f"resign {RESIGNATIONS[self.offer - 1]}", "rule")
            self.asked.append((state, reply))
            return reply
        return super().answer(state)


#: a gammon is certain, a backgammon is not, and in the other a single game is
GAMMON = Position(Side(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5), Side(2, 2, 2))
SINGLE = Position(Side(0, 0, 0, 0, 4, 4), Side(2, 1))


@pytest.mark.slow
@pytest.mark.parametrize("offer", [1, 2, 3])
def test_gnubg_declines_a_resignation_and_the_game_goes_on(
    gnubg: str, tables: list[Path], tmp_path: Path, offer: int
) -> None:
    with bgfmt.open(tables[0]) as two, bgfmt.open(tables[1]) as one:
        recorder = Resigner([one, two], offer)
        with running(Server(recorder)) as port:
            commands = ["set jacoby off"]
            for number in range(6):
                board, seat = (GAMMON, SINGLE)[number % 2], number // 2 % 2
                at = game(board, port, seat, number + 1, cube=number < 4)
                at[at.index(f"set turn {(number + 1) % 2}")] = f"set turn {seat}"
                commands += at
            text = common.play_games(gnubg, commands, tmp_path)
    assert "already declined" not in text
    assert text.count(" offers to resign ") >= 6
    assert text.count(" wins a ") >= 6, text[-3000:]
    assert (" declines the " in text) == (offer == 1)
    assert " accepts and wins " in text


@pytest.mark.slow
def test_bkg_resigns_in_matches_against_gnubg(gnubg: str, tmp_path: Path) -> None:
    """Whole matches, unattended: they end, whatever gnubg thinks of what bkg offers."""
    player = Player(EngineDecider(create("bkg", {})), resign=True)
    with running(Server(player, threads=0)) as port:
        commands = ["set automatic game on", "set player 1 gnubg", f"set player 0 external 127.0.0.1:{port}"]
        for seed in range(2):
            commands += [f"set seed {seed + 1}", "new match 3"]
        text = common.play_games(gnubg, commands, tmp_path)
    assert "already declined" not in text
    assert text.count(" has won the match") + text.count("wins the match") >= 2, text[-3000:]
