"""The adviser: numbers held fixed, one answer by every door, where databases come from, scores, what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import GameState, Position, Side, met
from bgfmt.analysis import Advisor, Library
from bgfmt.analysis import library as libraries
from bgfmt.analysis.sources import ASKED, Limits
from bgfmt.cli import run
from bgfmt.errors import NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.files import gnubg_folders as folders
from bgfmt.game import board
from bgfmt.game import identifiers as ids
from bgfmt.game.moves import parse_roll
from bgfmt.solver.match import match_score
from bgfmt.tables import OneSided, TwoSided, bounds
from tests.conftest import FIXTURES
from tests.support.analysis_tables import one_sided, stored_two_sided
from tests.support.single import judge_cube, rank_plays

GOLDEN = FIXTURES / "golden" / "gnubg"
HERE = Position.parse("0 1 0 0 1 / 0 1 1")
HERE_WORDS = ["0", "1", "0", "0", "1", "/", "0", "1", "1"]


@pytest.fixture(scope="module")
def advisor() -> Iterator[Advisor]:
    with Advisor([GOLDEN / "os_p06.bd", GOLDEN / "ts_06x04.bd"], calculate="close") as advisor:
        yield advisor


def kept() -> list[dict[str, object]]:
    lines = (FIXTURES / "expected" / "advice.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_the_numbers_of_before(advisor: Advisor) -> None:
    """Equities from stored numbers, as they were before there was an adviser."""
    for case in kept():
        state = GameState.of(Position.parse(str(case["position"])), cube=str(case["owner"]))
        action = advisor.cube(state)
        assert action.no_double == pytest.approx(case["no_double"], abs=2e-6)
        assert action.double_take == pytest.approx(case["double_take"], abs=4e-6)
        assert (action.action, action.approximate) == (case["action"], case["approximate"])
        played = GameState.of(state.position, parse_roll(str(case["dice"])), cube=str(case["cube"]))
        ranked = advisor.plays(played)
        assert [play.value for play in ranked.plays] == pytest.approx(case["values"], abs=4e-6)
        best = ranked.best
        assert best is not None
        assert isinstance(best.result, Position)
        values = [play.value or 0.0 for play in ranked.plays]
        if len(values) == 1 or values[0] - values[1] > 1e-9:
            assert str(best.result.us) in case["best"]  # type: ignore[operator]


def test_a_query_of_many_may_not_take_longer_than_a_single_one() -> None:
    single = asdict(ASKED)
    assert all(limit <= single[name] for name, limit in asdict(Limits()).items())


@pytest.mark.slow
def test_an_answer_says_where_it_comes_from(advisor: Advisor) -> None:
    action = advisor.cube(GameState.of(HERE))
    assert (action.source, action.table) == ("two-sided", "ts_06x04.bd")
    found = advisor.equities(HERE)
    assert found.max_error is not None
    assert found.max_error["centered"] == bounds.stored_error(6, 4)[2]
    assert found.as_dict()["table"] == "ts_06x04.bd"
    race = advisor.race(HERE.us)
    assert (race.table, race.max_error) == ("os_p06.bd", {"mean_rolls": bounds.mean_error(6)})
    with Advisor([GOLDEN / "os_p06.bd"]) as better:
        exact = better.equities(Position.parse("3 2 / 3 2"))
        assert (exact.source, exact.table, exact.approximate) == ("calculation", None, False)
        assert exact.max_error is not None
        assert exact.max_error["win"] < 1e-11


@pytest.mark.extra("races")
def test_an_estimate_says_its_errors(advisor: Advisor) -> None:
    far = advisor.equities(Position.parse("5 5 / 5 5"))
    assert (far.source, far.table, far.approximate) == ("estimate", None, True)
    assert far.usual_error is not None
    assert far.max_error is not None
    assert far.usual_error["centered"] < far.max_error["centered"] < 0.02


@pytest.mark.slow
def test_exact_tables_come_before_rounded_ones() -> None:
    rounded, exact = bgfmt.solver.two_sided(6, 2), bgfmt.solver.two_sided(6, 2, recipe="exact")
    for tables in ([rounded, exact], [exact, rounded]):
        assert Advisor(tables).cube(GameState.of(HERE)).exact
    assert (
        Advisor([bgfmt.solver.two_sided(6, 8), rounded]).equities(HERE).max_error
        == Advisor(rounded).equities(HERE).max_error
    )


def test_races_are_in_float64() -> None:
    row = np.array([[65535, *[0] * 31], [0, 21845, 43690, *[0] * 29]], np.uint16)
    table = OneSided(points=1, chequers=1, bearoff=row)
    race = Advisor(table).race(Side(1))
    assert race.mean_rolls == (21845 + 2 * 43690) / 65535
    assert race.bearoff is not None
    assert race.bearoff.dtype == np.float64


@pytest.mark.slow
def test_a_score_and_the_crawford_game() -> None:
    advisor = Advisor([GOLDEN / "ts_06x04.bd"])
    action = advisor.cube(GameState.of(HERE, away=(3, 5)))
    assert action.match is not None
    assert action.match.mwc.double_take == pytest.approx(0.68039, abs=1e-5)
    assert action.as_dict()["met"]["name"] == "Kazaross-XG2"
    assert not advisor.cube(GameState.of(HERE, away=(1, 3), crawford=True)).may_double
    assert not advisor.cube(GameState.of(HERE, away=(1, 3))).may_double  # a dead cube
    ranked = advisor.plays(GameState.of(HERE, (2, 1), away=(3, 5)))
    assert ranked.measure == "match"
    assert ranked.best is not None
    assert ranked.best.mwc is not None
    with pytest.raises(PositionError, match="expected a GameState, Position or text, not Side"):
        advisor.cube(HERE.us)  # type: ignore[arg-type]
    with pytest.raises(PositionError, match="expected a Side or text, not Position"):
        advisor.race(HERE)  # type: ignore[arg-type]
    with pytest.raises(PositionError, match="over"):
        advisor.cube(GameState((HERE.them, HERE.us), length=3, scores=(3, 0)))
    with pytest.raises(PositionError, match="the Crawford game needs a side that is 1-away, not 5-4"):
        advisor.cube(GameState((HERE.them, HERE.us), length=5, scores=(1, 0), crawford=True))
    estimate = Advisor([GOLDEN / "os_p06.bd"], calculate="nothing").cube(GameState.of(HERE, away=(3, 5)))
    assert estimate.approximate
    assert estimate.match is not None
    assert estimate.match.mwc.no_double == pytest.approx(action.match.mwc.no_double, abs=0.05)


@pytest.mark.slow
def test_the_grid_of_scores(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = ["cube", str(GOLDEN / "ts_06x04.bd"), "0 1 0 0 1 / 0 1 1", "--scores", "4"]
    assert run([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (
        len(said["cells"]) == 4 * 4 + 6
    )  # before and after the Crawford game where one side needs one point
    with Advisor(GOLDEN / "ts_06x04.bd") as advisor:
        for cell in said["cells"]:
            state = GameState.of(HERE, away=tuple(cell["away"]), crawford=cell["crawford"])
            assert advisor.cube(state).action == cell["action"]
    assert run(line) == 0
    text = capsys.readouterr().out.splitlines()
    assert text[-3].startswith("In the Crawford game") or "D/T double, take" in text
    pytest.importorskip("matplotlib")
    assert run([*line, "--plot", str(tmp_path / "grid.png")]) == 0
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_money_rules_are_used() -> None:
    advisor = Advisor([GOLDEN / "ts_06x04.bd"])
    behind = GameState.of(HERE.swapped(), beavers=True)
    assert advisor.cube(GameState.of(Position.parse("0 0 0 0 2 / 1 1"))).action == "No double, beaver"
    assert (
        advisor.decide(GameState.of(Position.parse("0 0 0 0 2 / 1 1"), doubled=True, beavers=True)).act
        == "beaver"
    )
    assert advisor.decide(GameState.of(Position.parse("0 0 0 0 2 / 1 1"), doubled=True)).act == "take"
    assert advisor.cube(GameState.of(behind.position, cube_in_use=False)).action == "No cube is in use"
    gammons = Position(Side(2, 2), Side(*[0] * 5, 15))
    both = [advisor.equities(GameState.of(gammons, jacoby=rule)) for rule in (False, True)]
    assert both[0].gammons == "counted"
    assert both[0].centered > both[1].centered + 0.1  # with Jacoby's rule no gammon counts before a double


# -- where databases come from ---------------------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any database: its user's folder."""
    monkeypatch.delenv("BGFMT_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(folders, "detect", lambda: "upstream")
    monkeypatch.setattr(folders, "stock", lambda host: (tmp_path / "gnubg", tmp_path / "gnubg"))
    return tmp_path


@pytest.mark.slow
def test_without_any_database_the_default_tables_are_made_once(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cube", "0 1 0 0 1 / 0 1 1", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["action"] == "Double, take"
    assert said.err.count("\n") == 1
    assert "default tables" in said.err
    kept = sorted(path.name for path in (machine / "data" / "bgfmt" / "tables").iterdir())
    assert kept == ["gnubg_os0.bd", "gnubg_ts0.bd"]
    for line in (["race", "0 2 2 2 0 4"], ["play", "0 2 2 2 0 4", "61"], ["cube", "0 1 0 0 1 / 0 1 1"]):
        assert run(line) == 0
    assert not capsys.readouterr().err
    with Library.of(None) as library:
        assert [type(t) for t in library.tables] == [OneSided, TwoSided]


@pytest.mark.slow
def test_default_tables_that_cannot_be_kept_serve_once(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine / "data").write_text("a file where a folder should be")
    with libraries.open_default() as library:
        assert len(library) == 2
        assert Advisor(library).cube(GameState.of(HERE)).action == "Double, take"
    assert capsys.readouterr().err.count("solving") == 1


def test_tables_in_gnubgs_folder_of_the_user_are_used(machine: Path) -> None:
    folder = machine / "data" / "gnubg"
    folder.mkdir(parents=True)
    shutil.copy(GOLDEN / "ts_06x03.bd", folder / "gnubg_ts.bd")
    shutil.copy(GOLDEN / "os_p06.bd", folder / "gnubg_os0.bd")
    with Library.of(None) as library:
        assert [type(t) for t in library.tables] == [TwoSided, OneSided]
        assert not library.notes


@pytest.mark.slow
def test_gnubgs_own_are_used_and_completed(machine: Path) -> None:
    (machine / "gnubg").mkdir()
    shutil.copy(GOLDEN / "ts_06x04.bd", machine / "gnubg" / "gnubg_ts0.bd")
    (machine / "gnubg" / "gnubg_ts.bd").write_bytes((GOLDEN / "ts_06x04.bd").read_bytes()[:5000])
    with libraries.open_default() as library:
        assert [(type(t), t.chequers) for t in library.tables] == [(TwoSided, 4), (OneSided, 15)]
        assert len(library.notes) == 1
        assert "gnubg_ts.bd" in library.notes[0]


def test_the_variable_names_files_and_folders(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = machine / "mine"
    folder.mkdir()
    shutil.copy(GOLDEN / "ts_06x04.bd", folder)
    (folder / "notes.txt").write_text("no database")
    (folder / ".hidden.bd").write_bytes(b"gnubg-xx")
    (folder / "broken.bd").write_bytes((GOLDEN / "ts_06x04.bd").read_bytes()[:5000])
    monkeypatch.setenv("BGFMT_DB", f"{folder}{':' if sys.platform != 'win32' else ';'}{GOLDEN / 'os_p04.bd'}")
    with Library.of(None) as library:
        assert [library.name(table) for table in library.tables] == ["ts_06x04.bd", "os_p04.bd"]
        assert len(library.notes) == 1
        assert "broken.bd" in library.notes[0]
    assert run(["cube", "0 1 0 0 1 / 0 1 1"]) == 0
    said = capsys.readouterr()
    assert "from ts_06x04.bd" in said.out
    assert said.err.count("\n") == 1
    (machine / "empty").mkdir()
    assert run(["cube", str(machine / "empty"), "1 / 1"]) == 2
    assert "no database" in capsys.readouterr().err


def test_words_in_any_order(capsys: pytest.CaptureFixture[str]) -> None:
    two = str(GOLDEN / "ts_06x04.bd")
    answers = set()
    for words in ([two, "0 1 0 0 1 / 0 1 1"], ["0 1 0 0 1 / 0 1 1", two], [two, *HERE_WORDS]):
        assert run(["cube", *words]) == 0
        answers.add(capsys.readouterr().out)
    assert len(answers) == 1
    for words in ([two, "0 1 0 0 1 / 0 1 1", "61"], ["0 1 0 0 1 / 0 1 1", "61", two]):
        assert run(["play", *words]) == 0
        answers.add(capsys.readouterr().out)
    assert len(answers) == 2


# -- identifiers, many positions, errors -----------------------------------------------------------------


@pytest.mark.slow
def test_an_identifiers_cube_dice_and_score_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    two = str(GOLDEN / "ts_06x04.bd")
    owned = GameState.of(HERE, cube="owned", cube_value=2)
    assert run(["cube", two, owned.xgid, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["cube"], said["cube_value"]) == ("owned", 2)
    assert said["action"] == said["owned_cube"]["action"] == "No redouble, take"
    rolled = GameState.of(HERE, (2, 1), cube="opponent", away=(3, 5))
    for text in (rolled.xgid, rolled.gnubg_id):
        assert run(["play", two, text, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["roll"], said["cube"], said["away"]) == ("21", "opponent", [3, 5])
        assert said["plays"][0]["mwc"] > 0
    assert run(["cube", two, GameState.of(HERE, (2, 1)).xgid]) == 0
    said = capsys.readouterr()
    assert "dice" in said.out
    assert run(["race", str(GOLDEN / "os_p06.bd"), rolled.xgid]) == 0
    assert "dice and cube and score" in capsys.readouterr().err
    assert run(["cube", two, rolled.xgid, "--away", "5-5", "--cube", "centered", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["away"], said["cube"]) == ([5, 5], "centered")
    assert set(said["mwc"]) == set(said["emg"]) == {"no_double", "double_take", "double_pass", "best"}


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["cube", "race", "play"])
def test_many_positions_from_standard_input(verb: str) -> None:
    contact = "0 0 0 0 0 0 0 0 9 5 / " + "0 " * 20 + "1"
    lines = ["0 1 0 0 1 / 0 1 1", "nonsense", "", contact]
    tail = " 21" if verb == "play" else ""
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", verb, *map(str, (GOLDEN / "ts_06x04.bd", GOLDEN / "os_p06.bd")), "-"],
        input="".join(f"{line}{tail if line else ''}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [a["asked"].removesuffix(tail) for a in answers] == [line for line in lines if line]
    refused = verb != "race"  # which describes each side by itself, in contact too
    assert ["error" in a for a in answers] == [False, True, refused]
    assert answers[0]["table"] in ("ts_06x04.bd", "os_p06.bd")
    if refused:
        assert answers[2]["error"]["kind"] in ("NotCoveredError", "TooMuchWorkError")


@pytest.mark.slow
@pytest.mark.parametrize("score", [{}, {"away": (5, 4)}])
def test_what_takes_too_much_says_so(score: dict[str, Any]) -> None:
    """Whether that is known at once or found out while the boards are counted."""
    for text, limit in (("2,2,2,2,2,2/2,2,2,2,2,2", 1000), ("0,0,0,0,5,5,5/0,1,1", 3_000_000)):
        with Advisor([], limit=limit) as advisor, pytest.MonkeyPatch.context() as patch:
            state = GameState.of(Position.parse(text), **score)
            assert advisor.cube(state).source == "estimate"
            patch.setattr(advisor.sources, "may_estimate", lambda _: False)
            with pytest.raises(TooMuchWorkError, match=f"limit of {limit:,}") as told:
                advisor.cube(state)
        assert told.value.limit == limit
        assert f"limit of {limit:,}" in str(told.value)
        assert (told.value.work or limit + 1) > limit


def test_errors_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cube", str(GOLDEN / "ts_06x04.bd"), "nonsense", "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["kind"] == "PositionError"
    assert said.err.count("\n") == 1


def test_messages_of_the_library_name_no_options() -> None:
    for asked in (
        lambda: Advisor(GOLDEN / "os_p06.bd").cube(
            GameState.of(Position.parse("0 0 0 0 0 0 0 0 9 5 / " + "0 " * 20 + "1"))
        ),
        lambda: Advisor([], calculate="nothing").race(Side(1)),
        lambda: Advisor([]).cube(GameState.of(HERE, away=(30, 5))),
        lambda: Advisor([], calculate="nothing").plays(GameState.of(HERE, (2, 1))),
    ):
        with pytest.raises(NotCoveredError) as raised:
            asked()
        assert "--" not in str(raised.value)


@pytest.mark.slow
def test_bounds_hold_over_whole_tables() -> None:
    """The claimed greatest error against the exact table, all pairs of 6x5 and of a table beyond six points."""
    for points, chequers in ((6, 5), (3, 8), (9, 2)):
        stored, exact = (bgfmt.solver.two_sided(points, chequers, recipe=r) for r in ("gnubg", "exact"))
        n = board.count(points, chequers)
        us, them = np.divmod(np.arange(n * n), n)
        keep = (us > 0) & (them > 0)
        off = np.abs(stored.lookup_many(us[keep], them[keep]) - exact.lookup_many(us[keep], them[keep])).max(
            axis=0
        )
        assert (off <= stored.known_errors).all()


@pytest.mark.slow
def test_decide_refuses_or_goes_by_the_rule() -> None:
    far = GameState.of(Position.parse("0 0 0 0 0 0 0 0 9 5 / " + "0 " * 20 + "1"))
    with pytest.raises(NotCoveredError):
        Advisor([]).decide(far)
    plain = Advisor([], outside="rule")
    assert plain.decide(far).source == "rule"
    assert plain.decide(far.rolled((6, 1))).play is not None
    assert judge_cube(bgfmt.solver.two_sided(3, 2), position=Position.parse("1 / 1")).action == "Double, pass"


def test_text_is_taken_where_a_position_is() -> None:
    advisor, text = Advisor(stored_two_sided()), "0 1 0 0 1 / 0 1 1"
    state = GameState.parse(text)
    assert advisor.cube(text) == advisor.cube(state) == advisor.cube(state.position)
    assert advisor.equities(text) == advisor.equities(state)
    sided = Advisor(one_sided())
    assert advisor.chances(text).win == pytest.approx(sided.chances(text).win, abs=1e-4)
    assert sided.chances(text) == sided.chances(state) == sided.chances(state.position)
    assert advisor.decide(text) == advisor.decide(state)
    assert advisor.plays(ids.xgid(state.rolled((6, 1)))) == advisor.plays(state.rolled((6, 1)))
    assert rank_plays(stored_two_sided(), text, "61") == rank_plays(stored_two_sided(), state.position, "61")
    assert judge_cube(stored_two_sided(), position=text) == judge_cube(
        stored_two_sided(), position=state.position
    )
    with pytest.raises(PositionError):
        advisor.cube("nonsense")


@pytest.mark.slow
def test_a_match_table_answers_for_every_dead_cube() -> None:
    """Cubes that no play from a centered one reaches, too: the cubeless column has the answer."""
    table = match_score(3, 3, (2, 3), met.load())
    position = Position(Side(0, 1, 1), Side(1, 0, 1))
    stored, solved = Advisor(table, calculate="nothing"), Advisor(())
    for value in (4, 8, 16, 64):
        for owner in ("owned", "opponent"):
            state = GameState.of(position, cube=owner, cube_value=value, away=(2, 3))
            one, other = stored.cube(state), solved.cube(state)
            assert one.source == "match-score"
            assert one.match is not None
            assert other.match is not None
            assert one.match.mwc.no_double == pytest.approx(other.match.mwc.no_double, abs=2e-4)
            assert one.action == other.action
            plays = [advisor.plays(state.rolled((2, 1))).plays for advisor in (stored, solved)]
            assert [play.mwc for play in plays[0]] == pytest.approx([play.mwc for play in plays[1]], abs=2e-4)
    rounded = stored.cube(GameState.of(position, away=(2, 3)))
    assert (rounded.source, rounded.may_double) == ("match-score", True)
    assert not rounded.sure  # the error of float32 is measured, not proved
