"""The UBGI adapter: handshake, best play, cube action, refusals, and whatever else comes in."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.extras.hosts.ubgi import MAX_COMMAND_BYTES, Engine
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import gnubg_id, xgid
from bgfmt.game.state import GameState
from tests.support.single import judge_cube, rank_plays
from tests.support.ubgi_controller import play_games


@pytest.fixture(scope="module")
def table() -> object:
    return bgfmt.solver.two_sided(3, 10)


@pytest.fixture
def engine(table: object) -> Engine:
    return Engine(Advisor([table]))  # type: ignore[list-item]


def sides(position: Position, turn: int = 1) -> tuple[Side, Side]:
    return (position.them, position.us) if turn else (position.us, position.them)


@pytest.mark.slow
def test_handshake(engine: Engine) -> None:
    said = engine.reply("ubgi")
    assert said[0] == "id name bgfmt"
    assert said[-1] == "ubgiok"
    assert engine.reply("isready") == ["readyok"]
    assert engine.reply("newgame") == []
    assert engine.reply("") == []
    assert engine.reply("go role chequer") == ["error no_position set the position first"]
    assert engine.reply("foo bar") == ["error unknown_command foo"]
    engine.reply("quit")
    assert engine.over


def test_scenario(engine: Engine) -> None:
    assert engine.reply("position gnubgid tw8AANg7AAAAAA:cAkAAAAAAAAA") == []
    assert engine.reply("go role cube") == ["bestcube double"]
    assert engine.reply("go role turn") == ["bestturn double"]
    assert engine.reply("go role chequer") == ["error no_dice set the dice first"]
    assert engine.reply("dice 2 1") == []
    assert engine.reply("go role chequer") == ["bestmove 2/off 1/off"]
    assert engine.reply("dice 7 1")[0].startswith("error bad_dice")
    assert engine.reply("go role chequer") == ["bestmove 2/off 1/off"]
    assert engine.reply("go role fish") == ["error unsupported_feature go_role_fish"]


def test_the_best_of_random_positions(engine: Engine, table: object) -> None:
    source = random.Random(5)
    for _ in range(60):
        one, two = (Side(*(source.randint(0, 3) for _ in range(3))) for _ in range(2))
        if not one.chequers or not two.chequers:
            continue
        position, turn = Position(one, two), source.randrange(2)
        owner = source.choice([None, turn])
        state = GameState(sides(position, turn), turn=turn, cube_value=2, cube_owner=owner)
        text = f"gnubgid {gnubg_id(state)}" if source.random() < 0.5 else f"xgid {xgid(state)}"
        assert engine.reply(f"position {text}") == []
        cube = "centered" if owner is None else "owned"
        action = judge_cube([table], cube, position=position)  # type: ignore[list-item]
        assert engine.reply("go role cube") == [f"bestcube {'double' if action.doubles else 'nodouble'}"]
        dice = (source.randint(1, 6), source.randint(1, 6))
        engine.reply(f"dice {dice[0]} {dice[1]}")
        said = engine.reply("go role chequer")[0].split()
        assert said[0] == "bestmove"
        counts = [0, *one.padded(24)]
        for move in said[1:]:
            start, end = move.split("/")
            counts[int(start)] -= 1
            if end != "off":
                counts[int(end)] += 1
        ranked = rank_plays([table], position, dice, cube=cube)  # type: ignore[list-item]
        played = next(r for r in ranked if r.result == Position(Side(*counts[1:]), two))
        assert played.loss == 0


def test_answer_to_a_double(engine: Engine, table: object) -> None:
    for position in (
        Position(Side(6), Side(2, 1)),
        Position(Side(2), Side(2)),
        Position(Side(4, 2), Side(5, 1)),
    ):
        state = GameState(sides(position), doubled=True)
        engine.reply(f"position gnubgid {gnubg_id(state)}")
        action = judge_cube([table], position=position)  # type: ignore[list-item]
        assert engine.reply("go role cube") == [f"bestcube {'take' if action.takes else 'drop'}"]


@pytest.mark.slow
def test_refusals(engine: Engine, table: object) -> None:
    engine.reply("position gnubgid 4HPwATDgc/ABMA")
    engine.reply("dice 3 1")
    assert engine.reply("go role chequer") == [
        "error not_covered contact: the sides have not passed each other"
    ]
    assert engine.reply("setoption name Outside value rule") == []
    assert engine.reply("go role chequer")[0].startswith("bestmove ")
    engine.reply("setoption name Outside value refuse")
    far = gnubg_id(GameState(sides(Position(Side(0, 0, 0, 0, 6, 8), Side(7, 3, 3)))))
    tables_only = Engine(Advisor([table], calculate="nothing"))  # type: ignore[list-item]
    tables_only.reply(f"position gnubgid {far}")
    assert tables_only.reply("go role cube") == ["error not_covered no table covers it"]
    engine.reply(f"position gnubgid {far}")
    assert engine.reply("go role cube") == ["bestcube nodouble"]  # estimated
    assert engine.reply("position gnubgid ????")[0].startswith("error bad_position")
    assert engine.reply("go role cube") == ["error no_position set the position first"]
    assert engine.reply("position")[0].startswith("error bad_argument")
    assert engine.reply("cube \u00b2 owned")[0].startswith("error bad_argument")
    assert engine.reply("setoption name Threads value 4")[0].startswith("error bad_argument")


@pytest.mark.slow
def test_extensions(engine: Engine) -> None:
    race = "position gnubgid tw8AANg7AAAAAA"
    for line in ("newsession length 5", "score 3 1", race):
        assert engine.reply(line) == []
    assert engine.reply("go role cube")[0] in ("bestcube double", "bestcube nodouble")
    word, mwc, value, equity, emg = engine.reply("eval")[0].split()
    assert (word, mwc, equity) == ("eval", "mwc", "equity")
    assert 0.5 < float(value) < 1
    assert -1 < float(emg) < 1.5
    assert engine.reply("cube 2 opponent") == []
    assert engine.reply("go role cube") == ["bestcube nodouble"]
    for line in ("newsession length 5", "score 4 1", "crawford on", race):
        assert engine.reply(line) == []
    assert engine.reply("go role cube") == ["bestcube nodouble"]
    assert engine.reply("score 5 1")[0].startswith("error bad_argument")
    assert engine.reply("newsession") == engine.reply(race) == []
    said = engine.reply("eval")[0].split()
    assert said[1::2] == ["win", "cubeless", "equity"]
    assert engine.reply("turn") == []
    assert engine.reply("go role cube")[0].startswith("bestcube ")
    assert engine.reply("setoption name Info value on") == engine.reply("dice 2 1") == []
    *info, best = engine.reply("go role chequer")
    assert info
    assert all(line.startswith("info multipv ") for line in info)
    assert best.startswith("bestmove ")


def test_older_draft(engine: Engine) -> None:
    state = GameState(sides(Position(Side(1, 1), Side(3, 2))), dice=(2, 1))
    assert engine.reply(xgid(state)) == ["2/off 1/off"]


@pytest.mark.slow
def test_as_a_program(table: object, tmp_path: Path) -> None:
    path = tmp_path / "t.bd"
    bgfmt.save(table, path, format="gnubg-ts")
    source = random.Random(1)
    junk = b"".join(source.randbytes(60).replace(b"\n", b"") + b"\n" for _ in range(50))
    asked = b"ubgi\n" + junk + b"x" * (3 * MAX_COMMAND_BYTES) + b"\nisready\r\nquit\nisready\n"
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", "ubgi", str(path)],
        input=asked,
        capture_output=True,
        timeout=800,
        check=True,
    )
    said = done.stdout.decode().splitlines()
    assert said[6] == "ubgiok"
    assert said[-2:] == ["error bad_argument line too long", "readyok"]
    assert not done.stderr


@pytest.mark.slow
def test_with_a_match_equity_table(table: object, tmp_path: Path) -> None:
    """Trice's position of 1999: a double where 1-away against 2-away is 70 %, none with Kazaross-XG2."""
    path, met = tmp_path / "t.bd", tmp_path / "trice.met"
    bgfmt.save(table, path, format="gnubg-ts")
    met.write_text("[PreCrawford]\nSize=2\n1=0.5 0.7\n2=0.3 0.5\n[PostCrawford]\nSize=2\nData=0.5 0.5\n")
    state = GameState.of(Position(Side(0, 0, 0, 1, 0, 1), Side(0, 0, 0, 0, 0, 1)), away=(2, 2))
    asked = f"position gnubgid {state.gnubg_id}\ngo role cube\n"
    said = []
    for more in ([], ["--met", str(met)], ["--met", str(met), "--no-settle"], ["--met", "no such"]):
        words = [sys.executable, "-m", "bgfmt", "ubgi", str(path), *more]
        done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=800, check=False)
        said.append((done.returncode, done.stdout or done.stderr))
    assert said[0] == (0, "bestcube nodouble\n")
    assert said[1] == (0, "bestcube double\n")
    assert said[2][0] == 0
    assert said[3][0] == 2
    assert "no match equity table 'no such'" in said[3][1]


# -- version 0.2 ------------------------------------------------------------------------------------------


@pytest.fixture
def engine_02(table: object) -> Engine:
    return Engine(Advisor([table]), version="0.2", fixed=True)  # type: ignore[list-item]


def test_scenario_of_02(engine_02: Engine) -> None:
    greeting = engine_02.reply("ubgi")
    assert greeting[0].startswith("id name ")
    assert "proto 0.2" in greeting
    assert greeting[-1] == "ubgiok"
    assert not [line for line in greeting if line.startswith("option")]
    assert engine_02.reply("go") == ["error bad_state set the position first"]
    assert engine_02.reply("position gnubgid tw8AANg7AAAAAA:cAkAAAAAAAAA") == []
    assert engine_02.reply("go cube") == ["bestcube double"]
    assert engine_02.reply("go turn") == ["error bad_state set the dice first"]
    assert engine_02.reply("dice 2 1") == []
    assert engine_02.reply("go") == ["bestmove 2/off 1/off"]
    assert engine_02.reply("go chequer") == ["bestmove 2/off 1/off"]
    assert engine_02.reply("go turn") == ["bestturn cube=double move=2/off 1/off"]
    assert engine_02.reply("dice 7 1")[0].startswith("error bad_value ")
    assert engine_02.reply("dice 7")[0].startswith("error bad_command ")
    assert engine_02.reply("GO")[0].startswith("error bad_command ")
    assert engine_02.reply("go fish")[0].startswith("error bad_command ")
    assert engine_02.reply("position gnubgid ????")[0].startswith("error bad_value ")
    doubled = GameState(sides(Position(Side(6), Side(2, 1))), doubled=True)
    assert engine_02.reply(f"position gnubgid {gnubg_id(doubled)}") == []
    assert engine_02.reply("go cube")[0].startswith("error unsupported ")


def test_keys(engine_02: Engine) -> None:
    assert [line.split()[1] for line in engine_02.reply("keys")] == [
        "game.variant",
        "engine.outside",
        "engine.info",
    ]
    assert engine_02.reply("get engine.outside") == ["value engine.outside refuse"]
    assert engine_02.reply("set engine.outside rule") == []
    assert engine_02.reply("get engine.outside") == ["value engine.outside rule"]
    assert engine_02.reply("set engine.info true") == []
    assert engine_02.reply("set engine.outside maybe")[0].startswith("error bad_value ")
    assert engine_02.reply("set engine.ply 2")[0].startswith("error bad_value ")
    assert engine_02.reply("set")[0].startswith("error bad_command ")
    engine_02.reply("position gnubgid 4HPwATDgc/ABMA")
    engine_02.reply("dice 3 1")
    assert engine_02.reply("go")[-1].startswith("bestmove ")


def test_the_version_follows_the_controller(engine: Engine) -> None:
    assert "proto 0.2" in engine.reply("ubgi")
    assert engine.reply("go") == ["error no_position set the position first"]
    assert engine.reply("get game.variant") == ["value game.variant backgammon"]
    assert engine.reply("go") == ["error bad_state set the position first"]
    assert engine.reply("go role cube") == ["error no_position set the position first"]
    assert engine.reply("go cube") == ["error bad_state set the position first"]


@pytest.mark.slow
def test_a_controller_of_02_plays_games(table: object, tmp_path: Path) -> None:
    path = tmp_path / "t.bd"
    bgfmt.save(table, path, format="gnubg-ts")  # type: ignore[arg-type]
    command = f"{sys.executable} -m bgfmt ubgi {path}"
    start = Position(Side(3, 3, 4), Side(3, 3, 4))
    results = play_games(100, [command, f"{command} --protocol 0.2"], start, 7)
    assert len(results) == 100
    assert 0 < sum(one.winner for one in results) < 100
    assert sum(one.doubles for one in results) > 0
