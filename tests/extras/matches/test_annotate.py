"""Matches with planted errors: every covered decision found and priced, none invented; gnubg reads what we write."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.cli import cli, run
from bgfmt.errors import BgfmtError
from bgfmt.extras.matches import Match, read
from bgfmt.extras.matches.annotate import Judge, MatchReport, Report, annotate_file, judge_match, text
from bgfmt.extras.matches.annotate import judge as judge_one
from bgfmt.extras.matches.decisions import Decision, decisions
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import position_id
from bgfmt.game.moves import legal_plays
from bgfmt.game.state import GameState
from tests.conftest import FIXTURES, GOLDEN
from tests.support.match_making import Maker, MatchPrices, MoneyPrices
from tests.support.single import judge_cube, rank_plays

#: seeds of matches that have many priced decisions of all kinds in few games: for money, and at a score
RICH, RICH_AT_SCORE = 58, 6


@pytest.fixture(scope="module")
def table() -> Any:
    return bgfmt.solver.two_sided(6, 6)


@pytest.fixture(scope="module")
def path(table: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("annotate") / "ts_06x06.bd"
    bgfmt.save(table, path, format="gnubg-ts")
    return path


@pytest.fixture(scope="module")
def judge(table: Any) -> Iterator[Judge]:
    with Judge([table]) as judge:
        yield judge


@pytest.fixture(scope="module")
def at_scores() -> MatchPrices:
    return MatchPrices()


def first(words: str) -> Match:
    return read(words.encode())[0]


def assert_same(report: MatchReport, maker: Maker, most: float = 6e-4) -> None:
    """What the maker can price is found at that price; 6e-4, since near ties at the cube are settled exactly."""
    got = [one for one in report.judgements if maker.covered(one.decision.state.position)]
    found = [
        (j.decision.game, j.decision.player, j.decision.kind, position_id(j.decision.state.position))
        for j in got
    ]
    assert found == [expected[:4] for expected in maker.expected]
    for one, expected in zip(got, maker.expected, strict=True):
        assert one.loss == pytest.approx(expected[4], abs=most)
        if one.verdict == "error":
            assert expected[4] > 0
        elif expected[4] > most:
            assert one.approximate
    assert not report.problems


def invoke(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, [str(one) for one in arguments], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.stdout, done.stderr


def gnubg_says(program: str, folder: Path, *commands: str) -> str:
    done = subprocess.run(
        [program, "-t", "-q", "-r"],
        input="\n".join(["set confirm new off", "set confirm save off", *commands, ""]),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- what is found, and its price ------------------------------------------------------------------------


@pytest.mark.slow
def test_planted_errors_for_money(table: Any, judge: Judge) -> None:
    maker = Maker(MoneyPrices(table), RICH)
    match = first(maker.mat(2))
    assert match.players == ("Ann", "Bob")
    report = judge_match(match, judge)
    assert_same(report, maker)
    assert report.met is None
    assert all(one.mwc is None and one.loss_mwc is None for one in report.judgements)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "length"), [(RICH_AT_SCORE, 7), (4, 3), (5, 1)])
def test_planted_errors_at_a_score(judge: Judge, at_scores: MatchPrices, seed: int, length: int) -> None:
    """Exact by another road: whole tables of the scores, whose numbers are rounded to float32."""
    maker = Maker(at_scores, seed, length)
    report = judge_match(first(maker.mat(3)), judge)
    assert_same(report, maker, 2e-5)
    assert report.met is not None
    assert report.met.name == "Kazaross-XG2"
    wrong = [one for one in report.judgements if one.error and not one.approximate]
    assert wrong or length == 1
    for one in wrong:
        assert one.loss_mwc == pytest.approx((one.best_mwc or 0) - (one.mwc or 0), abs=1e-12)
        assert one.source == "calculation"


@pytest.mark.slow
def test_forced_close_and_approximate_are_kept_apart(golden: Path, table: Any) -> None:
    maker = Maker(MoneyPrices(table), RICH)
    match = first(maker.mat(2))
    with Judge(golden / "gnubg" / "os_p06.bd", calculate=False) as alone:
        report = judge_match(match, alone)
    assert report.judgements
    assert all(one.approximate for one in report.judgements)
    assert {one.verdict for one in report.judgements} == {"right", "close", "error", "forced"}
    with Judge([table]) as settled:
        exact = judge_match(match, settled)
    losses = {one.decision: one.loss for one in exact.judgements if not one.approximate}
    assert losses
    for one in report.judgements:
        if one.verdict == "error" and one.decision in losses:
            assert losses[one.decision], "what lies beyond the estimate's error is an error by exact numbers"
    with Judge([table], calculate=False) as unsettled:
        stored = judge_match(match, unsettled)
    near = [one for one in stored.judgements if one.verdict == "close" and not one.approximate]
    assert all(0 < (one.loss or 0) < 6e-4 for one in near)
    assert not [one for one in exact.judgements if one.verdict == "close" and not one.approximate]
    forced = [one for one in exact.judgements if one.verdict == "forced"]
    assert forced
    assert all(one.loss == 0 and one.decision.kind == "play" for one in forced)


@pytest.mark.slow
def test_doubling_a_dead_cube() -> None:
    """Ann needs one point, Bob two, and she doubles after the Crawford game: then Bob plays for the match."""
    state = GameState.of(Position(Side(2, 2), Side(1)), away=(1, 2))
    advisor = Advisor([])
    doubled = judge_one(Decision(1, 5, "double", 1, state), advisor)
    assert doubled.note == "the cube is dead: 1 point wins the match already"
    assert doubled.best == "no double"
    # Bob wins unless Ann rolls a double above 1-1: the match with the cube at 2, without it 1-away each is played
    assert doubled.mwc == pytest.approx(5 / 36)
    assert doubled.best_mwc == pytest.approx(5 / 36 + 31 / 36 * 0.5)
    taken = judge_one(Decision(1, 6, "take", 0, replace(state, doubled=True)), advisor)
    assert taken.loss == 0
    assert taken.mwc == pytest.approx(31 / 36)


def test_a_take_is_described_as_the_player_who_answers_sees_it() -> None:
    state = GameState.of(Position(Side(2, 2), Side(1)), cube="owned", cube_value=2, away=(5, 6), doubled=True)
    taken = judge_one(Decision(0, 6, "take", 0, state), Advisor([]))
    assert text.score(taken) == "6-away 5-away, cube 2 opponent"
    doubled = judge_one(Decision(0, 5, "double", 1, replace(state, doubled=False)), Advisor([]))
    assert text.score(doubled) == "5-away 6-away, cube 2 owned"


@pytest.mark.slow
def test_gammons_are_counted_or_said_to_be_ignored(judge: Judge) -> None:
    state = GameState.of(Position(Side(2), Side(6, 5, 4)), (2, 1), away=(4, 4))
    played = legal_plays(state.position, 2, 1)[0]
    found = judge_one(Decision(0, 0, "play", 1, state, played), judge.advisor)
    assert found.gammons == "counted"
    assert found.mwc == pytest.approx(judge.met.mwc((2, 4)))


@pytest.mark.slow
def test_a_match_without_cube(judge: Judge, at_scores: MatchPrices) -> None:
    """Plays are those of the game without one, as in the Crawford game, and not doubling is no decision."""
    state = GameState.of(Position(Side(0, 1, 2, 2), Side(1, 2, 2)), (6, 1), away=(3, 3))
    bare = replace(state, cube_in_use=False)
    with_cube, without = (judge.advisor.plays(one) for one in (state, bare))
    cubeless = judge.advisor.plays(state, measure="cubeless")
    met = judge.met
    low, high = met.mwc((3, 2)), met.mwc((2, 3))
    for play in without.plays:
        (same,) = (p for p in cubeless.plays if p.result == play.result)
        assert play.mwc == pytest.approx(low + (high - low) * (1 + same.value) / 2, abs=2e-4)
    assert [p.mwc for p in without.plays] != [p.mwc for p in with_cube.plays]
    action = judge.advisor.cube(replace(bare, dice=None))
    assert (action.may_double, action.action) == (False, "No cube")
    assert action.match is not None
    assert action.match.notes[0] == "No cube is in use."
    maker = Maker(at_scores, 3, 5)
    text = maker.mat(4)
    kinds = [{one.kind for one in decisions(first(head + text))} for head in ("", '; [CubeLimit "1"]\n')]
    assert "no double" in kinds[0]
    assert "no double" not in kinds[1]
    assert not any(one.state.cube_in_use for one in decisions(first('; [CubeLimit "1"]\n' + text)))


# -- files -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_through_gnubg(
    oracle: Callable[[str], str], judge: Judge, at_scores: MatchPrices, path: Path, tmp_path: Path
) -> None:
    """gnubg reads our .mat, its .sgf is judged alike, and it opens the comments we put there."""
    program = oracle("gnubg")
    maker = Maker(at_scores, RICH_AT_SCORE, 5)
    (tmp_path / "in.mat").write_text(maker.mat(3))
    gnubg_says(program, tmp_path, "import mat in.mat", "save match in.sgf")
    done = annotate_file(tmp_path / "in.sgf", judge)
    (report,) = done.reports
    assert_same(report, maker, 2e-5)
    assert len(report.judgements) > 5
    invoke("annotate", tmp_path / "in.sgf", path, "-o", tmp_path / "out.sgf")
    gnubg_says(program, tmp_path, "load match out.sgf", "save match again.sgf", "export match text out.txt")
    again = (tmp_path / "again.sgf").read_bytes()
    lines = [text.line(one) for one in report.judgements]
    for line in lines:
        assert line.encode() in again
    texts = "".join(p.read_text() for p in sorted(tmp_path.glob("out*.txt")))
    assert texts.count("bgfmt: ") == len(lines)
    # judged once more, our own comments are replaced, not doubled
    second = annotate_file(tmp_path / "out.sgf", judge)
    assert second.sgf() == second.data


def test_set_up_position_by_hand(
    oracle: Callable[[str], str], table: Any, judge: Judge, tmp_path: Path
) -> None:
    """A set-up position, a beaver, a wrong take and a wrong play, all made by hand in gnubg."""
    program = oracle("gnubg")
    commands = ["set automatic game off", "set automatic roll off", "set automatic bearoff off"]
    commands += ["set automatic move off", "set player 0 human", "set player 1 human", "set beavers 3"]
    commands += ["set rng mersenne", "set seed 5", "new session", "set turn 1"]
    position = Position(Side(0, 1, 1, 0, 2), Side(0, 2, 1, 1))
    commands += [f"set board {position_id(position)}", "double", "take", "set dice 2 1"]
    ranked = rank_plays([table], position, (2, 1), cube="opponent")
    worst = ranked[-1]
    assert worst.loss > 0.01
    commands += [f"move {worst.notation}", "double", "redouble", "take", "save match hand.sgf"]
    gnubg_says(program, tmp_path, *commands)
    (report,) = annotate_file(tmp_path / "hand.sgf", judge).reports
    kinds = [(j.decision.player, j.decision.kind) for j in report.judgements]
    assert kinds == [(1, "double"), (0, "take"), (1, "play"), (0, "double"), (1, "beaver")]
    one = judge_cube([table], "centered", position=position, settle=True)
    assert report.judgements[0].loss == pytest.approx(one.best - one.double)
    assert one.beavers
    assert report.judgements[1].best == "beaver"
    assert report.judgements[1].loss == pytest.approx(-one.double_take)
    assert report.judgements[2].loss == pytest.approx(worst.loss)
    assert report.judgements[2].best == ranked[0].notation
    assert report.judgements[3].decision.cube == "owned"
    assert not report.problems


@pytest.mark.slow
def test_mat_becomes_sgf(
    oracle: Callable[[str], str], table: Any, judge: Judge, path: Path, tmp_path: Path
) -> None:
    """A .mat match written as .sgf with comments: gnubg opens it and exports the match we began with."""
    program = oracle("gnubg")
    maker = Maker(MoneyPrices(table), RICH)
    (tmp_path / "m.mat").write_text(maker.mat(1))
    invoke("annotate", tmp_path / "m.mat", path, "-o", tmp_path / "m.sgf")
    (report,) = annotate_file(tmp_path / "m.sgf", judge).reports
    assert_same(report, maker)
    gnubg_says(program, tmp_path, "load match m.sgf", "save match again.sgf", "export match mat back.mat")
    again = annotate_file(tmp_path / "again.sgf", judge)
    assert again.data.count(b"bgfmt: ") == len(report.judgements)
    assert_same(again.reports[0], maker)
    assert_same(annotate_file(tmp_path / "back.mat", judge).reports[0], maker)


KEYS = {
    "top": "matches decisions_met races decisions_covered decisions totals worst problems unread by_folder",
    "match": "file number players match_length games judged met decisions_met races decisions_covered beyond totals "
    "problems folder date event round place by_game",
    "decision": "file match game record move player name decision kind position_id gnubg_id position dice cube "
    "cube_owner "
    "away crawford did best verdict equity best_equity equity_lost mwc best_mwc loss_mwc loss_emg points_lost "
    "cubeless_equity_lost choices forced error close approximate measure source table max_error gammons note "
    "method millipoints class_gnubg class_xg luck luck_mwc action advice insight file_analysis",
    "total": "player name decisions plays unforced_plays cube_decisions unforced forced right close approximate "
    "illegal errors play_errors cube_errors equity_lost mwc_lost points_lost approximate_lost error_rate play_lost "
    "cube_lost xg_decisions race_pr gnubg_decisions race_memg estimated doubles takes passes missed_doubles "
    "wrong_doubles wrong_takes wrong_passes doubtful bad very_bad xg_errors xg_blunders file_judged file_differs "
    "rolls luck luck_mwc",
}


@pytest.mark.slow
def test_json(table: Any, at_scores: MatchPrices, path: Path, tmp_path: Path) -> None:
    """The keys are those of the docs, and the sums are those of the decisions."""
    money, match = Maker(MoneyPrices(table), RICH), Maker(at_scores, RICH_AT_SCORE, 7)
    (tmp_path / "money.mat").write_text(money.mat(1))
    (tmp_path / "match.mat").write_text(match.mat(3))
    _, out, _ = invoke("annotate", tmp_path / "money.mat", tmp_path / "match.mat", path, "--json")
    answer = json.loads(out)
    assert list(answer) == KEYS["top"].split()
    for one in answer["matches"]:
        assert list(one) == KEYS["match"].split()
    for one in answer["decisions"]:
        assert list(one) == KEYS["decision"].split()
        of_a_match = answer["matches"][one["match"]]["judged"] == "match"
        assert (one["loss_mwc"] is None) != of_a_match
        assert (one["points_lost"] is None) == of_a_match
        assert one["equity_lost"] == pytest.approx(one["best_equity"] - one["equity"], abs=1e-12)
        assert one["error"] == (one["verdict"] == "error")
    assert answer["decisions_covered"] == len(answer["decisions"])
    assert [t["name"] for t in answer["totals"]] == ["Ann", "Bob"]
    for place, total in enumerate(answer["totals"]):
        assert list(total) == KEYS["total"].split()
        own = [d for d in answer["decisions"] if d["player"] == place]
        sure = [d for d in own if d["verdict"] != "approximate"]
        assert total["equity_lost"] == pytest.approx(sum(d["equity_lost"] for d in sure))
        assert total["mwc_lost"] == pytest.approx(sum(d["loss_mwc"] or 0 for d in sure))
        assert total["points_lost"] == pytest.approx(sum(d["points_lost"] or 0 for d in sure))
        assert total["errors"] == sum(d["error"] for d in own) == total["play_errors"] + total["cube_errors"]
    losses = [answer["decisions"][k]["equity_lost"] for k in answer["worst"]]
    assert losses == sorted((d["equity_lost"] for d in answer["decisions"] if d["error"]), reverse=True)[:10]


@pytest.mark.slow
def test_report_in_words(table: Any, path: Path, tmp_path: Path) -> None:
    maker = Maker(MoneyPrices(table), RICH)
    (tmp_path / "m.mat").write_text(maker.mat(1))
    code, out, _ = invoke("annotate", tmp_path / "m.mat", path, "-o", tmp_path / "report.txt")
    assert code == 0
    assert out.count(" judged (") == 2
    report = (tmp_path / "report.txt").read_text()
    _, answer, _ = invoke("annotate", tmp_path / "m.mat", path, "--json")
    assert report.count("\ngame ") == json.loads(answer)["decisions_covered"]
    assert report.count(" on roll\n") == len(json.loads(answer)["worst"])  # a board each
    with pytest.raises(BgfmtError, match="exists"):
        invoke("annotate", tmp_path / "m.mat", path, "-o", tmp_path / "report.txt")


@pytest.mark.slow
def test_several_files_and_folders(
    table: Any, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty files, three of them bad, and what is no match at all."""
    folder, inner = tmp_path / "matches", tmp_path / "matches" / "2026"
    inner.mkdir(parents=True)
    makers = [Maker(MoneyPrices(table), RICH + k) for k in range(3)]
    texts = [maker.mat(1) for maker in makers]
    for k in range(17):
        (folder if k % 2 else inner).joinpath(f"m{k:02d}.mat").write_text(texts[k % 3])
    (folder / "empty.mat").write_bytes(b"")
    (folder / "broken.xg").write_bytes(b"RGMH" + bytes(40))
    (inner / "cut.sgf").write_bytes(b"(;FF[4]GM[6]PW[a")
    (folder / "notes.txt").write_text("nothing of the kind")
    (folder / ".hidden.mat").write_text("no")
    asked = ["annotate", str(folder), str(path), "--no-settle"]  # the table alone: quick
    code = run([*asked, "--json"])
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert code == 2
    assert len(answer["matches"]) == 17
    assert sorted(Path(one["file"]).name for one in answer["unread"]) == ["broken.xg", "cut.sgf", "empty.mat"]
    assert all(set(one["error"]) == {"kind", "message"} for one in answer["unread"])
    assert len(captured.err.splitlines()) == 3
    expected = sum(len(makers[k % 3].expected) for k in range(17))
    assert answer["decisions_covered"] >= expected
    assert len(answer["totals"]) == 2
    code = run([*asked, "-o", str(tmp_path / "judged") + "/"])
    captured = capsys.readouterr()
    assert code == 2
    assert "written: 17 files" in captured.out
    assert len(list((tmp_path / "judged").iterdir())) == 17
    done = read(tmp_path / "judged" / "m01.sgf")[0]
    assert done.players == ("Ann", "Bob")
    assert run([*asked, "-o", str(tmp_path / "all.sgf")]) == 2
    assert "one match" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("to", ["x.bgts", "x.parquet"])
def test_databases_of_every_format_are_told_from_matches(
    table: Any, path: Path, to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match, database = tmp_path / "m.mat", tmp_path / to
    match.write_text(Maker(MoneyPrices(table), 1).mat(1))
    bgfmt.convert(path, database)
    assert run(["annotate", str(match), str(database)]) == 0
    assert capsys.readouterr().err == ""


def test_a_folder_without_a_match(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and no report of nothing is written."""
    folder, output = tmp_path / "notes", tmp_path / "report.html"
    folder.mkdir()
    for _ in range(2):
        assert run(["annotate", str(folder), str(path), "-o", str(output)]) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith(f"bgfmt: {folder}: no match in it")
        assert not output.exists()
        (folder / "notes.txt").write_text("nothing of the kind")


@pytest.mark.slow
def test_all_matches_of_a_file(table: Any, judge: Judge, tmp_path: Path) -> None:
    makers = [Maker(MoneyPrices(table), seed) for seed in (39, RICH)]
    (tmp_path / "two.mat").write_text("\n".join(maker.mat(1) for maker in makers))
    done = annotate_file(tmp_path / "two.mat", judge)
    assert [report.number for report in done.reports] == [1, 2]
    for report, maker in zip(done.reports, makers, strict=True):
        assert_same(report, maker)
    (tmp_path / "two.sgf").write_bytes(done.sgf())
    again = annotate_file(tmp_path / "two.sgf", judge)
    assert sum(len(report.judgements) for report in again.reports) == sum(
        len(report.judgements) for report in done.reports
    )


def test_one_bad_file_is_one_line(tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in (("empty.mat", b""), ("noise.mat", bytes(range(256))), ("gone.mat", None)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        assert run(["annotate", str(tmp_path / name), str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
        assert name in captured.err


@pytest.mark.slow
def test_what_is_written_is_told_by_the_ending(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.mat").write_text(Maker(MoneyPrices(bgfmt.open(path).table), 4).mat(1))
    for name in ("m.pdf", "m.mat2", "m.xg"):
        assert run(["annotate", str(tmp_path / "m.mat"), str(path), "-o", str(tmp_path / name)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "expected the suffix .sgf, .html, .json, .csv or .txt" in said.err
        assert said.err.count("\n") == 1
    words = ["annotate", str(tmp_path / "m.mat"), str(path), "-o", str(tmp_path / "m.words")]
    assert run([*words, "--to", "text"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.mat", "m.words"]


@pytest.mark.parametrize("form", ["csv", "sums", "html", "sgf", "json"])
def test_a_form_without_a_place_is_refused(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It printed the report in words."""
    assert run(["annotate", str(FIXTURES / "matches/gnubg107-beaver.sgf"), "--to", form]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "-o OUT" in err


@pytest.mark.slow
def test_a_score_beyond_the_table(
    at_scores: MatchPrices, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = Maker(at_scores, 1, 9)
    words = maker.mat(1).replace("9 point match", "40 point match")
    with Judge([]) as short, Judge([], met=bgfmt.met.load(extend=True)) as long:
        refused = judge_match(first(words), short)
        extended = judge_match(first(words), long)
    assert not refused.judgements
    assert "goes to 25" in refused.problems[0]
    assert extended.judgements
    assert "extended" in text.basis(extended)
    (tmp_path / "m.mat").write_text(words)
    assert run(["annotate", str(tmp_path / "m.mat"), "--limit", "1"]) == 0
    assert "bgfmt: --extend-met judges scores beyond the match equity table\n" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("away", [None, (13, 11)])
def test_eight_chequers_a_side_at_home_are_exact(away: tuple[int, int] | None) -> None:
    """Of 235 such decisions of 55 real matches five were estimated: they take more than eight million."""
    state = GameState.of(
        Position.parse("0 0 1 0 3 3 / 0 0 0 2 2 4"), away=away, jacoby=None if away else False
    )
    with Judge([]) as usual, Judge([], limit=8_000_000) as told:
        assert usual.advisor.cube(state).source == "calculation"
        assert told.advisor.cube(state).source == "estimate"


@pytest.mark.slow
def test_any_bytes_are_read_or_refused(table: Any, judge: Judge, tmp_path: Path) -> None:
    source = random.Random(3)
    mat = Maker(MoneyPrices(table), RICH, 0).mat(1).encode()
    sgf = b"(;FF[4]GM[6]MI[length:3][ws:0][bs:0]PW[a]PB[b]\n;PL[B]AE[a:y]AW[a][b]AB[x][w]\n;CV[2]CP[w]\n;B[21wzxz])"
    target = tmp_path / "x"
    for _ in range(40):
        data = bytearray(source.choice([mat, sgf]))
        for _ in range(source.randint(1, 6)):
            data[source.randrange(len(data))] = source.choice([source.randrange(256), *b"();[]: 0123456789z"])
        target.write_bytes(data[: source.randint(1, len(data))])
        try:
            done = annotate_file(target, judge)
        except BgfmtError as error:
            assert "\n" not in str(error)
        else:
            text.text(Report(done.reports))


@pytest.mark.slow
def test_processes_share_files_and_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "matches"
    folder.mkdir()
    names = ("gnubg107-beaver.mat", "lazybg-match1.mat", "bglab-match1574521.mat")
    for name in names:
        (folder / name).write_bytes((FIXTURES / "matches" / name).read_bytes())
    (folder / "notes.txt").write_text("nothing of the kind")
    (folder / "broken.xg").write_bytes(b"RGMH")
    reports = []
    for workers in ("1", "2"):
        output = tmp_path / f"{workers}.json"
        words = [str(folder), str(GOLDEN / "gnubg/os_p06.bd"), "-o", str(output), "--workers", workers]
        assert run(["annotate", *words]) == 2
        said = capsys.readouterr().err
        assert "broken.xg" in said
        assert "1 other files are no matches" in said
        reports.append(json.loads(output.read_text()))
    assert reports[0] == reports[1]
    assert [one["file"] for one in reports[0]["matches"]] == sorted(names)
    assert reports[0]["decisions"]
