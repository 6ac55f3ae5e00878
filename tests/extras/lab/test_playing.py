"""Games played: dice, referee, series, a person, games played back; `bgfmt engine`, and hosts asking an engine."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bgfmt.cli import run
from bgfmt.errors import CapabilityError, EngineError, FormatError, PositionError
from bgfmt.extras import engines, matches
from bgfmt.extras.engines import EngineDecider
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.extras.hosts.ubgi import Engine as Ubgi
from bgfmt.extras.lab import engine
from bgfmt.extras.lab.engine.bkg import Bkg
from bgfmt.extras.lab.playing import Quit, person, referee, series
from bgfmt.extras.lab.playing.dice import Listed, Seeded, Thrown
from bgfmt.extras.lab.playing.person import Person
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.sgf import write_sgf
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import fibs, from_gnubg_id, parse
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import START, GameState
from tests.guest.bgfmt_guest.random_mover import RandomMover
from tests.laws.test_guest import python
from tests.laws.test_guest import run as guests

BKG = Bkg()
OPENING = GameState()
BEAROFF = Position(Side(2, 2, 2, 1), Side(2, 2, 2, 1))


# -- dice ----------------------------------------------------------------------------------------------------


def test_seeded_dice_are_fair_and_repeatable() -> None:
    dice, again = Seeded(5), Seeded(5)
    again.begin(0)
    rolls = [dice.roll() for _ in range(6000)]
    assert rolls[:50] == [again.roll() for _ in range(50)]
    counts = [sum(roll.count(die) for roll in rolls) for die in range(1, 7)]
    assert sum(counts) == 12000
    assert max(abs(count - 2000) for count in counts) < 200
    again.begin(1)
    assert [again.roll() for _ in range(50)] != rolls[:50]


def test_dice_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "dice.txt"
    path.write_text("31 # opening\n6-5, 2,2\n")
    path.write_text("31 # opening\n6-5 2,2\n")
    dice = Listed.of_file(path)
    assert [dice.roll() for _ in range(3)] == [(3, 1), (6, 5), (2, 2)]
    with pytest.raises(FormatError, match="needs another roll after 3"):
        dice.roll()
    path.write_text("31\n67\n")
    with pytest.raises(FormatError, match="line 2: expected a roll"):
        Listed.of_file(path)


def test_dice_that_are_said() -> None:
    answers, told = iter(["seven", "6-4"]), list[str]()
    assert Thrown(lambda _: next(answers), told.append).roll() == (6, 4)
    assert "a roll must be two dice" in told[0]


def played(players: referee.Players, dice: Seeded, setting: referee.Setting, games: int) -> series.Series:
    """A series by the referee."""
    return series.of_games(referee.play_match(players, dice, setting, games=games).games)


# -- referee and series --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("cube", [False, True])
def test_the_compiled_series_is_the_referees(cube: bool) -> None:
    setting = referee.Setting(cube=cube)
    slow = played((BKG, BKG), Seeded(3), setting, 2)
    fast = series.play_compiled(BKG, setting, 2, 3)
    assert slow.points.tolist() == fast.points.tolist()
    assert slow.as_dict() | {"turns": fast.turns} == fast.as_dict()  # the referee's engines resign earlier
    bearoff = referee.Setting(position=BEAROFF, cube=cube)
    slow, fast = played((BKG, BKG), Seeded(8), bearoff, 10), series.play_compiled(BKG, bearoff, 10, 8)
    assert slow.points.tolist() == fast.points.tolist()


@pytest.mark.slow
def test_a_series_does_not_depend_on_threads_and_has_the_exact_chance() -> None:
    setting = referee.Setting(position=Position(Side(0, 0, 0, 0, 0, 1), Side(0, 0, 0, 0, 0, 1)), cube=False)
    one, two = (series.play_compiled(BKG, setting, 4000, 1, threads=n) for n in (1, 2))
    assert one.points.tolist() == two.points.tolist()
    found = one.as_dict()
    assert abs(found["win"] - 13 / 16) < 4 * found["win_standard_error"]
    assert found["win_standard_error"] == pytest.approx((13 / 16 * 3 / 16 / 4000) ** 0.5, rel=0.1)
    assert found["standard_error"] == pytest.approx(2 * found["win_standard_error"], rel=0.001)
    with pytest.raises(CapabilityError, match="for money"):
        series.play_compiled(BKG, referee.Setting(length=3), 5, 1)


@pytest.mark.slow
@pytest.mark.parametrize("writer", [write_mat, write_sgf])
def test_games_are_written_and_read_again(writer: Any) -> None:
    match = referee.play_match(
        (BKG, RandomMover({"seed": "1"})), Seeded(2), referee.Setting(length=3, names=("BKG", "R"))
    )
    assert max(g.scores[0] for g in match.games) < 3
    data = writer(match)
    (again,) = matches.read(data if isinstance(data, bytes) else data.encode())
    assert again.problems == ()
    assert [len(g.records) for g in again.games] == [len(g.records) for g in match.games]
    winners = [g.result.winner for g in again.games if g.result]
    assert winners == [g.result.winner for g in match.games if g.result]
    crawford = [g.crawford for g in match.games]
    assert sum(crawford) <= 1


@pytest.mark.slow
def test_a_game_from_a_position() -> None:
    match = referee.play_match((BKG, BKG), Seeded(1), referee.Setting(position=BEAROFF))
    first = match.games[0].records[0]
    assert (first.kind, first.turn, first.position) == ("set", 0, BEAROFF)
    assert matches.read(write_sgf(match))[0].problems == ()


def test_an_engine_that_breaks_the_rules_is_stopped() -> None:
    class Cheat(RandomMover):
        name = "cheat"

        def play(self, state: GameState) -> Play:
            return Play((), Position(Side(), START))

    with pytest.raises(PositionError, match="cheat plays no play, which is an illegal play"):
        referee.play_game((Cheat({}), Cheat({})), Seeded(1))
    with pytest.raises(PositionError, match="an illegal play"):
        EngineDecider(Cheat({})).decide(OPENING.rolled((3, 1)))


@pytest.mark.slow
def test_bkg_beats_the_random_mover() -> None:
    found = played((BKG, RandomMover({"seed": "4"})), Seeded(4), referee.Setting(cube=False), 5)
    assert found.as_dict()["wins"] == 5


@pytest.mark.slow
def test_dice_that_end_are_an_error() -> None:
    with pytest.raises(FormatError, match="needs another roll"):
        referee.play_game((BKG, BKG), Listed([(3, 1), (6, 5)], "the dice"))


# -- a person ------------------------------------------------------------------------------------------------


def read_play(text: str, roll: tuple[int, int], position: Position = OPENING.position) -> Play:
    return person.parse_play(text, position, roll, legal_plays(position, *roll))


@pytest.mark.parametrize(
    ("text", "roll", "written"),
    [
        ("8/5 6/5", (3, 1), "8/5 6/5"), ("24/18/13", (6, 5), "24/13"),
        ("13/11(2)  6/4(2)", (2, 2), "13/11(2) 6/4(2)"),
        ("24/14", (6, 4), "24/14"), ("2", (3, 1), str(legal_plays(OPENING.position, 3, 1)[1])),
    ],
)  # fmt: skip
def test_plays_as_typed(text: str, roll: tuple[int, int], written: str) -> None:
    assert str(read_play(text, roll)) == written


@pytest.mark.parametrize(
    ("text", "roll", "why"),
    [
        ("hello", (3, 1), "is not a move"), ("6/7", (3, 1), "6/7 is not a legal play of 3-1"),
        ("7/4", (3, 1), "no chequer stands on 7"),
        ("24/19", (5, 1), "puts both sides on one point"),
        ("13/9 6/5", (3, 1), "not a legal play of 3-1"),
        ("13/10", (3, 1), "not a legal play of 3-1"), ("0", (3, 1), "from 1 to 16"),
        ("6/off", (6, 1), "not a legal play of 6-1"),
    ],
)  # fmt: skip
def test_other_plays_are_refused(text: str, roll: tuple[int, int], why: str) -> None:
    with pytest.raises(PositionError, match=why):
        read_play(text, roll)


def test_plays_refused_on_the_bar_and_in_the_bearoff() -> None:
    bar = Position(Side(0, 0, 0, 0, 0, 5, bar=1), START)
    home = Position(Side(1, 0, 0, 0, 2), Side(1))
    refused = (("6/3 6/5", (3, 1), bar), ("5/off", (3, 1), home), ("1/off 5/4", (2, 3), home))
    for text, roll, position in refused:
        with pytest.raises(PositionError, match="is not a legal play"):
            read_play(text, roll, position)


def talk(lines: list[str], *words: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return run(["engine", *words])


@pytest.mark.slow
def test_a_person_at_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    dice = tmp_path / "dice"
    dice.write_text("65 21 31 11 64")
    code = talk(
        ["list", "24/20", "24/13", "help", "quit"], "bkg", "--dice", str(dice), monkeypatch=monkeypatch
    )
    out = capsys.readouterr().out
    assert code == 0
    assert "+13-14-15-16-17-18-+---+19" in out
    assert "24/18 13/8" in out
    assert "refused: 24/20 is not a legal play of 6-5; see `list`" in out
    assert "bkg        2-1: " in out
    assert "abandoned" in out


def test_two_persons_and_a_referee(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "game.sgf"
    lines = ["no", "5-1", "1", "yes", "no"]
    words = ["bkg", "referee", "--dice", "-", "--doubling", "--position", "1 1 / 1 1", "-o", str(out)]
    assert talk(lines, *words, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "White      5-1: " in said
    assert "White wins" in said or "player" not in said.splitlines()[-1]
    assert matches.read(out)[0].games[0].result is not None


@pytest.mark.slow
def test_what_was_played_is_written_when_a_person_quits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    dice, out = tmp_path / "dice", tmp_path / "game.sgf"
    dice.write_text("65 21 31 11 64 52 61 43")
    words = ["bkg", "--dice", str(dice), "-o", str(out)]
    assert talk(["24/13", "1", "quit"], *words, monkeypatch=monkeypatch) == 0
    assert "abandoned" in capsys.readouterr().out
    (match,) = matches.read(out)
    assert match.games[0].result is None
    assert [record.dice for record in match.games[0].records if record.dice][:3] == [(6, 5), (2, 1), (3, 1)]


@pytest.mark.slow
def test_hint_undo_and_the_flag_of_doubling(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    dice, out = tmp_path / "dice", tmp_path / "game.sgf"
    dice.write_text("65 21 31 11 64 52 61 43")
    lines = [
        "undo",
        "24/18 13/8",
        "hint",
        "undo",
        "hint",
        "24/13",
        "doubling",
        "8/5 6/5",
        "no",
        "doubling",
        "1",
    ]
    words = ["bkg", "--dice", str(dice), "-o", str(out)]
    assert talk(lines, *words, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert said.count("bkg plays ") == 2
    assert said.count("bkg        2-1: ") == 2  # the same roll after the play was taken back
    assert said.count("* you, double to 2? ") == 1
    assert "asked about doubling before each roll" in said
    assert "no longer asked" in said
    records = [r for r in matches.read(out)[0].games[0].records if r.dice]
    assert [r.dice for r in records][:4] == [(6, 5), (2, 1), (3, 1), (1, 1)]
    assert str(records[0].after) == str(read_play("24/13", (6, 5)).result)


def test_another_game_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "games.sgf"
    words = ["bkg", "--position", "1 / 1", "--seed", "1", "-o", str(out)]
    assert talk(["yes", "no"], *words, monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.count("another game? ") == 2
    assert len(matches.read(out)) == 2 or len(matches.read(out)[0].games) == 2
    assert talk([], *words[:-2], "--games", "2", monkeypatch=monkeypatch) == 0
    assert "another game?" not in capsys.readouterr().out


def test_a_person_resigns_and_takes() -> None:
    answers = iter(["resign 2", "8/5 6/5", "maybe", "y", "n"])
    told: list[str] = []
    person = Person(lambda _: next(answers), told.append, doubling=True)
    assert str(person.play(OPENING.rolled((3, 1)))) == "8/5 6/5"
    assert (person.resign(OPENING), person.resign(OPENING)) == (2, 0)
    assert person.take(OPENING)
    assert "yes or no, or quit" in told
    assert not person.double(OPENING)
    with pytest.raises(Quit):
        Person(lambda _: "quit", told.append).accept(GameState(resigned=1))


# -- the command ---------------------------------------------------------------------------------------------


def fine(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["engine", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_series_at_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bkg", "series", "--games", "200", "--seed", "7", "--position", "0 0 0 0 0 1 / 0 0 0 0 0 1"]
    found = json.loads(fine(capsys, *words, "--json"))
    assert (found["games"], found["seed"], found["gammons_won"]) == (200, 7, 0)
    assert found["points_a_game"] == pytest.approx(2 * found["win"] - 1)
    text = fine(capsys, *words)
    assert f"{found['wins']}" in text
    assert "standard error" in text


@pytest.mark.slow
def test_self_play_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "games.mat"
    text = fine(capsys, "bkg", "self", "--games", "2", "--seed", "3", "-o", str(path))
    assert text.count("wins") == 2
    (match,) = matches.read(path)
    assert len(match.games) == 2
    assert match.problems == ()
    assert run(["engine", "bkg", "self", "-o", str(path)]) == 2  # it is there already
    assert run(["engine", "bkg", "self", "-o", str(tmp_path / "x.txt")]) == 2


@pytest.mark.slow
def test_the_papers_game_is_played_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", "bkg", "replay"]) == 0
    out, err = capsys.readouterr()
    assert "the same in 22 of 24 choices of BKG in contact" in out
    assert "bkg now: bar/18" in out
    assert err == ""
    found = json.loads(fine(capsys, "bkg", "replay", "--json"))
    other = [t["turn"] for t in found["turns"] if not t["same"] and t["player"] == "BKG"]
    assert (other, found["same_in_contact"], found["choices_in_contact"]) == ([6, 14], 22, 24)


@pytest.mark.slow
def test_explanations(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(fine(capsys, "bkg", "explain", OPENING.position.id, "31", "--json"))
    assert found["plays"][0]["play"] == "8/5 6/5"
    assert found["plays"][0]["points"] == pytest.approx(332.852, abs=0.002)
    measured = json.loads(fine(capsys, "bkg", "explain", OPENING.position.id, "--json"))["measures"]
    assert (measured["mobility"], measured["histack"]) == ([463, 463], 9)
    race = json.loads(fine(capsys, "bkg", "explain", "2 2 3 / 5 2 3 3 2", "--json"))["race"]
    assert (race["acount"], race["doubles"], race["takes"]) == ([20, 63], True, False)
    assert "GENERAL" in fine(capsys, "bkg", "explain", OPENING.position.id, "31")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "no engine 'nobody'; known: bkg"), (["bkg", "dance"], "the mode must be one of play"),
        (["bkg", "-O", "scale=2", "self"], "scale must be 36, 1"), (["bkg", "-O", "scale", "self"], "KEY=VALUE"),
        (["bkg", "explain"], "a position"), (["bkg", "self", "--position", "xx"], "xx"),
    ],
)  # fmt: skip
def test_misuse_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


# -- hosts and guests ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_engine_behind_ubgi() -> None:
    asked = Ubgi(EngineDecider(BKG), "bkg")
    assert "id name bgfmt bkg" in asked.reply("ubgi")
    assert asked.reply(f"position gnubgid {OPENING.position.id}") == []
    assert asked.reply("dice 3 1") == []
    assert asked.reply("go role chequer") == ["bestmove 8/5 6/5"]
    assert asked.reply("go role cube") == ["bestcube nodouble"]
    assert asked.reply("setoption name Outside value rule")[0].startswith("error bad_argument")


@pytest.mark.slow
def test_an_engine_behind_the_external_player() -> None:
    session = Session(Player(EngineDecider(BKG), resign=True))
    assert session.reply(fibs(OPENING.rolled((3, 1)))) == "8/5 6/5"
    lost = GameState.of(Position(Side(0, 0, 0, 0, 0, 15), Side(1)))
    assert session.reply(fibs(lost)) == "resign normal"
    assert from_gnubg_id(OPENING.gnubg_id).position == OPENING.position


@pytest.mark.slow
def test_a_guests_engine(tmp_path: Path) -> None:
    """A module of 31 lines and an entry point: at the command line, in a series, behind UBGI."""
    own = str(tmp_path / "own.mat")
    assert run(["engine", "bkg", "self", "--seed", "1", "--quiet", "-o", own]) == 0  # compiles for all others
    done = guests("engine", "random", "series", "--games", "3", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 3
    out = tmp_path / "g.mat"
    done = guests("engine", "bkg", "self", "--against", "random", "--seed", "1", "--quiet", "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert matches.read(out)[0].problems == ()
    done = guests("engine", "broken-engine", "self")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot be loaded" in done.stderr
    done = python(
        "-c",
        "from bgfmt.extras.lab import engine; print(engine.names(), engine.create('random', {'seed': '1'}).name)",
    )
    assert done.stdout.strip() == "['bkg', 'broken-engine', 'random'] random"
    assert engine.names() == ["bkg"]


class Failing(RandomMover):
    """An engine with a fault."""

    def play(self, state: GameState) -> Any:
        return None if self.rng.random() < 0.5 else 1 / 0

    def double(self, state: GameState) -> bool:
        raise KeyError("scale")


def test_a_guest_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    point = SimpleNamespace(name="failing", value=f"{__name__}:Failing", load=lambda: Failing)
    monkeypatch.setattr(engines, "entry_points", lambda _: {"failing": point})
    for seed in range(4):
        assert run(["engine", "failing", "series", "--games", "2", "-O", f"seed={seed}"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert re.fullmatch(r"bgfmt: engine .*(: division by zero|an illegal play)\n", said.err)
    with pytest.raises(EngineError, match="failed on a double: KeyError: 'scale'"):
        engine.create("failing", {"seed": "1"}).double(OPENING)
    asked = Ubgi(EngineDecider(engine.create("failing", {"seed": "1"})), "failing")
    asked.reply(f"position gnubgid {OPENING.position.id}")
    assert asked.reply("go role cube")[0].startswith("error ")


def test_the_game_of_the_paper() -> None:
    match = referee.sample_game()
    assert match.problems == ()
    game = match.games[0]
    assert [r.legal for r in game.records if r.kind == "play"] == [True] * 52
    assert (game.result.winner, game.result.points) == (1, 1) if game.result else False
    assert game.records[-1].position == parse("3+4GAADbAQAAAA").position


@pytest.mark.slow
@pytest.mark.oracle("gnubg")
def test_gnubg_plays_bkg(oracle: Callable[[str], str]) -> None:
    program = oracle("gnubg")
    from benchmarks.bkg import against_gnubg

    for seat in (0, 1):
        games = against_gnubg(program, 2, 5 + seat, True, seat)
        assert len(games) == 2
        assert [problem for game in games for problem in game.problems] == []
        assert all(game.result is not None for game in games)
