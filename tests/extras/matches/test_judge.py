"""`bgfmt judge`: one decision, for money and at a score, in words and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from bgfmt import met
from bgfmt.analysis import Advisor
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.cli import run
from bgfmt.extras.matches.annotate import Judgement, text
from bgfmt.extras.matches.annotate.judging import judge
from bgfmt.extras.matches.decisions import Decision
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.met.score import Score

XG2 = met.load()
POSITION = "1 0 0 1 1 0 / 0 0 1 1"
SIDES = Position(Side(1, 0, 0, 1, 1), Side(0, 0, 1, 1))


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, golden: Any) -> None:
    monkeypatch.setenv("BGFMT_DB", str(golden / "gnubg" / "os_p06.bd"))


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["judge", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
def test_a_wrong_double(capsys: pytest.CaptureFixture[str]) -> None:
    """The case of docs/theory/match-play.md: a double against an automatic redouble."""
    found = asked(capsys, POSITION, "--away", "2-4", "--double")
    exact = solve_match(SIDES, Score((2, 4), XG2)).cube
    assert exact.losses is not None
    assert found["best"] == "no double"
    assert found["verdict"] == "error"
    assert found["loss_mwc"] == pytest.approx(exact.losses.double, abs=1e-12)
    assert found["loss_emg"] == pytest.approx(exact.score.emg_loss(exact.losses.double), abs=1e-12)
    assert (round(found["mwc"], 4), round(found["best_mwc"], 4)) == (0.5556, 0.7136)
    assert found["met"] == {"name": "Kazaross-XG2", "digest": XG2.digest}
    assert found["certainty"] == "exact"
    assert run(["judge", POSITION, "--away", "2-4", "--double"]) == 0
    out = capsys.readouterr().out
    assert "Wrong: no double is best, double loses 15.809 % of the chance to win the match, 1.471 EMG." in out


@pytest.mark.slow
def test_a_double_that_is_beavered_costs_what_the_beaver_wins(capsys: pytest.CaptureFixture[str]) -> None:
    position = "0 0 0 0 0 4 / 2 2"
    found = solve_money(Position(Side(0, 0, 0, 0, 0, 4), Side(2, 2)))
    rolling = found.equity("centered")
    opponent = found.equity("opponent")
    double = asked(capsys, position, "--double", "--beavers")
    assert double["equity"] == pytest.approx(4 * opponent, abs=1e-9)
    assert double["equity_lost"] == pytest.approx(rolling - 4 * opponent, abs=1e-9)
    assert (
        double["advice"] == "No double, beaver; doubling costs 2.833, taking costs 1.889, passing costs 4.778"
    )
    take = asked(capsys, position, "--take", "--beavers")
    assert take["best"] == "beaver"
    assert take["equity_lost"] == pytest.approx(-2 * opponent, abs=1e-9)
    beaver = asked(capsys, position, "--beaver")
    assert (beaver["best"], beaver["equity_lost"]) == ("beaver", 0)
    plain = asked(capsys, position, "--double", "--no-beavers")
    assert plain["equity_lost"] == pytest.approx(rolling - 2 * opponent, abs=1e-9)
    assert asked(capsys, position, "--take", "--no-beavers")["verdict"] == "right"


@pytest.mark.slow
@pytest.mark.parametrize("away", ["2-4", "5-3", "1-3", "7-7"])
@pytest.mark.parametrize("played", ["5/2 1/off", "5/1", "4/1 1/off", "4/1 5/4", "4/off"])
def test_plays_at_a_score(capsys: pytest.CaptureFixture[str], away: str, played: str) -> None:
    mine, other = map(int, away.split("-"))
    plays = solve_match(SIDES, Score((mine, other), XG2)).plays(3, 1)
    found = asked(capsys, POSITION, "--away", away, "--roll", "13", "--played", played)
    after = {
        "5/2 1/off": Side(0, 1, 0, 1),
        "5/1": Side(2, 0, 0, 1),
        "4/1 1/off": Side(1, 0, 0, 0, 1),
        "4/1 5/4": Side(2, 0, 0, 1),
        "4/off": Side(1, 0, 0, 0, 1),
    }[played]
    best = max(plays.values())
    assert found["loss_mwc"] == pytest.approx(best - plays[after], abs=1e-12)
    assert found["mwc"] == pytest.approx(plays[after], abs=1e-12)
    assert found["best_mwc"] == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
def test_money(capsys: pytest.CaptureFixture[str]) -> None:
    exact = solve_money(SIDES)
    taken, rolling = 2 * exact.equity("opponent"), exact.equity("centered")
    for did, equity, best in (
        ("--double", min(1.0, taken), max(rolling, min(1.0, taken))),
        ("--no-double", rolling, max(rolling, min(1.0, taken))),
        ("--take", -taken, max(-taken, -1.0)),
        ("--pass", -1.0, max(-taken, -1.0)),
    ):
        found = asked(capsys, POSITION, did)
        assert found["equity"] == pytest.approx(equity, abs=1e-12)
        assert found["equity_lost"] == pytest.approx(best - equity, abs=1e-12)
        assert found["mwc"] is None
        assert found["met"] is None
    # an identifier's dice, cube and score
    xgid = "XGID=-A--AA---------------aa---:2:1:1:31:0:0:0:0:10"
    found = asked(capsys, xgid, "--played", "5/1")
    assert found["cube"] == 4
    assert found["cube_owner"] == "owned"
    assert found["dice"] == [3, 1]
    assert found["points_lost"] == pytest.approx(4 * found["equity_lost"])


@pytest.mark.slow
def test_the_only_play(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "1 / 3", "--roll", "21", "--played", "1/off")
    assert found["verdict"] == "forced"
    assert found["text"] == "Forced: 1/off is the only play."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([POSITION], "expected one of --played"),
        ([POSITION, "--double", "--played", "5/1"], "expected one decision"),
        ([POSITION, "--double", "--take"], "expected one decision"),
        ([POSITION, "--played", "5/1"], "no roll given"),
        ([POSITION, "--roll", "31", "--played", "5/2"], "not a legal play"),
        ([POSITION, "--roll", "31", "--played", "6/2"], "no chequer stands on 6"),
        ([POSITION, "--roll", "31", "--played", "nonsense"], "must be written such as"),
        ([POSITION, "--roll", "77", "--played", "5/1"], "roll must be two dice"),
        ([POSITION, "--roll", "31", "--double"], "before the roll"),
        ([POSITION, "--double", "--away", "1-3", "--crawford"], "Crawford"),
        ([POSITION, "--double", "--cube", "opponent"], "the other side owns the cube"),
        ([POSITION, "--beaver", "--away", "3-3"], "no beavers"),
        ([POSITION, "--beaver", "--no-beavers"], "beavers are not in use here"),
        ([POSITION, "--double", "--take"], "not several"),
        ([POSITION, "--double", "--away", "30-3"], "goes to 25"),
    ],
)
def test_misuse_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge", *arguments]) in (1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1


@pytest.mark.slow
def test_beyond_the_table_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, POSITION, "--double", "--away", "30-3", "--extend-met")
    assert found["loss_mwc"] >= 0
    for verb in ("cube", "play"):
        arguments = [verb, POSITION, *(["31"] if verb == "play" else []), "--away", "30-3"]
        assert run(arguments) == 1
        assert run([*arguments, "--extend-met", "--json"]) == 0
    answer = capsys.readouterr().out
    assert "loss_mwc" in answer


@pytest.mark.slow
def test_what_an_estimate_leaves_open_is_rolled_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["3 1 0 0 0 3 / 3 0 0 2 0 2", "--no-double", "--limit", "0"]
    assert (asked(capsys, *words)["method"], asked(capsys, *words)["verdict"]) == ("estimated", "close")
    found = asked(capsys, *words, "--oracle")
    assert (found["method"], found["source"], found["verdict"]) == ("rollout", "rollout", "error")
    assert re.fullmatch(r"rollout, ±0\.\d+ \(95 %\)", found["certainty"])
    assert run(["judge", *words, "--oracle"]) == 0
    assert "; rollout, ±" in capsys.readouterr().out


def test_certainty_in_words() -> None:
    state = GameState.parse("1 0 0 1 / 1 1")
    decision = Decision(0, 0, "double", state.turn, state)
    one = Judgement(decision, "double", "no double", 0.1, 0.2, 0.1, max_error={"equity": 1e-5}, table="ts.bd")
    assert text.certainty(one) == "certain: the margin exceeds the table's maximum error"
    close = "too close to call: the loss lies within the error of 3e-05"
    assert text.certainty(replace(one, open_error=3e-5)) == close
    estimate = replace(
        one, source="estimate", approximate=True, max_error={"equity": 0.012}, usual_error=0.0055
    )
    assert text.certainty(estimate) == "estimate, ±0.006 (95 %)"
    open_words = "estimate, ±0.006 (95 %): too close to call, within 0.036 (99.9 %)"
    unsure = replace(estimate, open_error=0.036)
    assert text.certainty(unsure) == open_words
    assert text.certainty(replace(estimate, source="rollout")) == "rollout, ±0.006 (95 %)"
    assert text.remarks(unsure) == [open_words]
    assert text.line(replace(unsure, loss=0.0)).endswith(f", probably right ({open_words})")


@pytest.mark.parametrize("kind", ["double", "no double", "take", "pass"])
def test_an_exact_tie_at_a_score_is_right(kind: str) -> None:
    """One point wins the match: the cube is dead, every choice is worth the same, and the numbers are exact."""
    state = GameState.of(Position.parse("1 / 1"), away=(1, 2))
    if kind in ("take", "pass"):
        state = replace(state, doubled=True)
    judged = judge(Decision(0, 0, kind, state.turn, state), Advisor([]))
    assert (judged.loss, judged.open_error) == (0, None)
    assert ", right (" in text.line(judged)
