"""The figures that players compare: ratings, counts, classes, luck, sums, and what the file's own analysis says."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bgfmt
from bgfmt.analysis.insight import insight, take_points
from bgfmt.extras.matches import read, sgf
from bgfmt.extras.matches.annotate import Judge, MatchReport, Report, annotate_file, judge_match, text
from bgfmt.extras.matches.annotate.files import content
from bgfmt.extras.matches.decisions import decisions
from bgfmt.game.board import Position
from bgfmt.game.moves import ROLLS
from bgfmt.game.state import GameState
from bgfmt.met.score import Score
from tests.conftest import ROOT
from tests.extras.matches.test_annotate import RICH, RICH_AT_SCORE, gnubg_says
from tests.support.match_making import Maker, MatchPrices, MoneyPrices

MATCHES = "fixtures/matches"


@pytest.fixture(scope="module")
def table() -> Any:
    return bgfmt.solver.two_sided(6, 6)


@pytest.fixture(scope="module")
def judge(table: Any) -> Iterator[Judge]:
    with Judge([table]) as judge:
        yield judge


@pytest.fixture(scope="module", params=["money", "match"])
def report(request: pytest.FixtureRequest, table: Any, judge: Judge) -> MatchReport:
    """A match with planted errors."""
    money = Maker(MoneyPrices(table), RICH), 2
    maker, games = money if request.param == "money" else (Maker(MatchPrices(), RICH_AT_SCORE, 7), 3)
    return judge_match(read(maker.mat(games).encode())[0], judge, file="m.mat", folder="club")


@pytest.mark.slow
def test_luck_is_what_a_roll_gains_over_the_mean_of_all(report: MatchReport, judge: Judge) -> None:
    plays = [one for one in report.judgements if one.decision.kind == "play" and one.method == "exact"]
    assert len(plays) > 5
    for one in plays[::10]:
        state = one.decision.state
        mean = 0.0
        for high, low, weight in ROLLS:
            best = judge.advisor.plays(replace(state, dice=(high, low)), met_player=state.turn).best
            assert best is not None
            mean += weight / 36 * (best.value or 0.0)
        assert one.luck == pytest.approx(one.best_equity - mean, abs=6e-5)
        if one.luck_mwc is not None:
            assert one.ends is not None
            assert one.luck_mwc == pytest.approx(one.luck * (one.ends[1] - one.ends[0]) / 2)


@pytest.mark.slow
def test_sums_are_those_of_the_decisions(report: MatchReport) -> None:
    for total in report.totals:
        every = [one for one in report.judgements if one.decision.player == total.player]
        own = [one for one in every if one.verdict != "approximate"]
        lost = sum(one.loss or 0.0 for one in own)
        assert total.equity_lost == pytest.approx(lost) == pytest.approx(total.play_lost + total.cube_lost)
        plays = [one for one in own if one.decision.kind == "play" and not one.forced]
        cubes = [one for one in own if one.decision.kind != "play"]
        for near, rate, factor in ((0.2, total.race_pr, 500), (0.16, total.race_memg, 1000)):
            close = [
                one
                for one in cubes
                if one.decision.kind != "no double"
                or one.loss
                or (one.cube is not None and one.cube.rolling - one.cube.double < near)
            ]
            assert rate == pytest.approx(factor * lost / (len(plays) + len(close)))
        wrong = {kind: [one for one in own if one.error and one.did == kind] for kind in ("take", "pass")}
        assert total.wrong_takes == len(wrong["take"])
        assert total.wrong_passes == len(wrong["pass"])
        assert total.missed_doubles == sum(one.error and one.did == "no double" for one in own)
        assert total.wrong_doubles == sum(one.error and one.did == "double" for one in own)
        losses = [one.loss or 0.0 for one in own]
        assert total.very_bad == sum(loss >= 0.16 for loss in losses)
        assert total.bad == sum(0.08 <= loss < 0.16 for loss in losses)
        assert total.doubtful == sum(0.04 <= loss < 0.08 for loss in losses)
        assert total.xg_blunders == sum(loss >= 0.08 for loss in losses)
        assert total.xg_errors == sum(loss >= 0.02 for loss in losses)
    by_game = [totals for _, totals in report.games]
    for player, total in enumerate(report.totals):
        assert sum(totals[player].luck for totals in by_game) == pytest.approx(total.luck)
        assert sum(totals[player].decisions for totals in by_game) == total.decisions


@pytest.mark.slow
def test_csv_and_folders(report: MatchReport) -> None:
    everything = Report([report, replace(report, file="other.mat", folder="home")])
    rows = list(csv.DictReader(io.StringIO(content(everything, "csv").decode())))
    assert len(rows) == 2 * len(report.judgements)
    assert [row["did"] for row in rows[: len(report.judgements)]] == [one.did for one in report.judgements]
    sums = list(csv.DictReader(io.StringIO(content(everything, "sums").decode())))
    assert {row["of"] for row in sums} == {"game", "match", "folder", "all"}
    assert [row["folder"] for row in sums if row["of"] == "folder"] == ["club", "club", "home", "home"]
    whole = [float(row["equity_lost"]) for row in sums if row["of"] == "all"]
    assert whole == pytest.approx([2 * total.equity_lost for total in report.totals])
    answer = everything.as_dict()
    assert [one["folder"] for one in answer["by_folder"]] == ["club", "home"]
    match = replace(report.match, players=('=HYPERLINK("x")', "Bob"))
    text = content(Report([replace(report, match=match)]), "sums").decode()
    assert ",=HYPER" not in text
    assert "'=HYPERLINK" in text


def test_moves_are_numbered() -> None:
    (match,) = read(ROOT / MATCHES / "gv-XCu3RJ0UvDg_Tldl.mat")
    for game in range(len(match.games)):
        moves = [one.move for one in decisions(match) if one.game == game]
        assert moves == sorted(moves)
        assert moves[-1] <= sum(r.kind in ("play", "dance", "unplayed") for r in match.games[game].records)


# -- the analysis in the file ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "engine", "level"),
    [("gv-XCu3RJ0UvDg_Tldl.xg", "eXtreme Gammon", "2-ply"), ("gv-XCu3RJ0UvDg_Tldl.bgf", "BGBlitz", "3-ply")],
)
def test_the_analysis_of_a_file(judge: Judge, name: str, engine: str, level: str) -> None:
    """It covers every decision, is on the scale of ours, and near the end of the game nearly the same."""
    (report,) = annotate_file(ROOT / MATCHES / name, judge).reports
    known = [one for one in report.judgements if one.method == "exact"]
    assert known
    for one in known:
        assert one.file is not None
        assert one.file.engine == engine
        assert one.file.equity is not None
        assert one.file.equity == pytest.approx(one.equity, abs=0.06)
        assert one.file.best_equity >= one.file.equity
        assert one.file.cost >= 0
        assert not one.file.differs or one.file.cost > 1e-7
    assert {one.file.level for one in known if one.file and one.decision.kind == "play"} == {level}


@pytest.mark.slow
def test_the_analysis_of_gnubg(oracle: Any, tmp_path: Path, table: Any, judge: Judge) -> None:
    """gnubg's own bearoff database is exact for money, and so is what its analysis says of such races."""
    (tmp_path / "in.mat").write_text(Maker(MoneyPrices(table), RICH).mat(2))
    commands = ["import mat in.mat", "set analysis chequerplay evaluation plies 0"]
    commands += ["set analysis cubedecision evaluation plies 0", "analyse match", "save match in.sgf"]
    gnubg_says(oracle("gnubg"), tmp_path, *commands)
    (report,) = annotate_file(tmp_path / "in.sgf", judge).reports
    with Judge([table], records=True) as recording:
        written = annotate_file(tmp_path / "in.sgf", recording).sgf()  # gnubg's own analysis stays as it is
    assert re.sub(rb"C\[bgfmt: (?:[^\]\\]|\\.)*\]", b"", written) == (tmp_path / "in.sgf").read_bytes()
    both = [one for one in report.judgements if one.source == "two-sided"]
    assert len(both) > 10
    for one in both:
        assert one.file is not None
        assert (one.file.engine, one.file.level) == ("GNU Backgammon", "0-ply")
        assert one.file.equity == pytest.approx(one.equity, abs=3e-4)
        assert one.file.best_equity == pytest.approx(one.best_equity, abs=3e-4)
        assert not one.file.differs or one.file.cost < 3e-4


# -- gnubg's statistics ------------------------------------------------------------------------------------


def statistics(program: str, folder: Path, name: str) -> dict[str, list[list[float]]]:
    """The numbers of gnubg's `show statistics match`, those of each player, by the words before them."""
    commands = ['set matchequitytable "/usr/share/gnubg/met/Kazaross-XG2.xml"', f"load match {name}"]
    out = gnubg_says(program, folder, *commands, "show statistics match")
    rows: dict[str, list[list[float]]] = {}
    for line in out[out.index("Chequerplay statistics") :].splitlines():
        words = re.match(r"(.*?)\s{2,}([-+]?\d.*)$", line)
        if words:
            columns = (line[41:64], line[64:])
            numbers = [[float(x) for x in re.findall(r"[-+]?\d+(?:\.\d+)?", one)] for one in columns]
            rows.setdefault(words[1].strip(), numbers)
            rows[f"last {words[1].strip()}"] = numbers
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "length"), [(RICH, 0), (3, 7)])
def test_gnubg_counts_our_records(oracle: Any, tmp_path: Path, table: Any, seed: int, length: int) -> None:
    """gnubg's statistics of the .sgf that we write are our sums: errors, rates, counts and luck.

    Without beavers: gnubg's statistics count a double that is beavered as one that is taken.
    """
    prices = MatchPrices() if length else MoneyPrices(table, beavers=False)
    (tmp_path / "in.mat").write_text(Maker(prices, seed, length).mat(2))
    with Judge([table], records=True) as judge:
        done = annotate_file(tmp_path / "in.mat", judge)
        (tmp_path / "out.sgf").write_bytes(done.sgf())
        again = annotate_file(tmp_path / "out.sgf", judge)
        if length:  # an .sgf does not say whether beavers are played
            assert again.sgf() == again.data
        assert all(one.file is None for one in again.reports[0].judgements)
    (report,) = done.reports
    rows = statistics(oracle("gnubg"), tmp_path, "out.sgf")
    assert all(one.bounded for one in report.judgements)
    for player, total in enumerate(report.totals):

        def said(name: str, place: int = 0, player: int = player) -> float:
            return rows[name][player][place]

        assert said("Unforced moves") == total.unforced_plays
        assert said("Total cube decisions") == total.cube_decisions
        close = said("Close or actual cube decisions") + said("Unforced moves")
        assert close == total.gnubg_decisions
        for name, count in (("Doubles", total.doubles), ("Takes", total.takes), ("Passes", total.passes)):
            assert said(name) == count
        unit = "MWC" if length else "Points"
        assert said(f"last Error total EMG ({unit})") == pytest.approx(-total.equity_lost, abs=1e-3)
        assert said(f"Error total EMG ({unit})") == pytest.approx(-total.play_lost, abs=1e-3)
        assert said(f"last Error rate mEMG ({unit})") == pytest.approx(-(total.race_memg or 0), abs=0.06)
        assert said(f"Luck total EMG ({unit})") == pytest.approx(total.luck, abs=1e-3)
        if length:
            assert said(f"Luck total EMG ({unit})", 1) == pytest.approx(100 * total.luck_mwc, abs=5e-3)
            lost = said(f"last Error total EMG ({unit})", 1)
            assert lost == pytest.approx(-100 * total.mwc_lost, abs=5e-3)
        missed = [f"Missed doubles {where} CP (EMG ({unit}))" for where in ("below", "above")]
        assert (
            0 <= sum(said(name) for name in missed) - total.missed_doubles <= total.close
        )  # no errors of ours
        wrong = [f"Wrong doubles {where} (EMG ({unit}))" for where in ("below DP", "above TG")]
        assert 0 <= sum(said(name) for name in wrong) - total.wrong_doubles <= total.close
        assert 0 <= said(f"Wrong takes (EMG ({unit}))") - total.wrong_takes <= total.close
        assert 0 <= said(f"Wrong passes (EMG ({unit}))") - total.wrong_passes <= total.close


def exact_alone(path: Path, report: MatchReport) -> bytes:
    """gnubg's .sgf with its analysis of those decisions alone that its own table and ours have."""
    kept = {
        report.match.games[one.decision.game].records[one.decision.record].at
        for one in report.judgements
        if one.source == "two-sided"
    }
    data, spans = path.read_bytes(), []
    for tree in sgf.parse(data):
        spans += [span for node in tree if node.begin not in kept for span in node.analysis]
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + data[end:]
    return re.sub(rb"GS(\[[^]]*\])+", b"", data)


def compare_with_gnubg(program: str, folder: Path, source: Path, judge: Judge) -> list[tuple[float, float]]:
    """(gnubg's, our) errors, error rates and luck of a match, played for money, where both have exact tables."""
    (folder / "in.mat").write_text(re.sub(r"\d+ point match", "0 point match", source.read_text("latin-1")))
    commands = ["import mat in.mat", "set analysis chequerplay evaluation plies 0"]
    commands += ["set analysis cubedecision evaluation plies 0", "set analysis luckanalysis plies 0"]
    gnubg_says(program, folder, *commands, "analyse match", "save match in.sgf")
    (report,) = annotate_file(folder / "in.sgf", judge).reports
    (folder / "exact.sgf").write_bytes(exact_alone(folder / "in.sgf", report))
    report.judgements = [one for one in report.judgements if one.source == "two-sided"]
    rows = statistics(program, folder, "exact.sgf")
    pairs = []
    for player, total in enumerate(report.totals):
        found = [rows[name][player] for name in (f"{k}Error total EMG (Points)" for k in ("", "last "))]
        pairs += [(found[0][0], -total.play_lost), (found[1][0], -total.equity_lost)]
        pairs.append((rows["Luck total EMG (Points)"][player][0], total.luck))
        if total.race_memg is not None:
            rate = rows["last Error rate mEMG (Points)"][player][0]
            pairs.append((rate / 1000, -total.race_memg / 1000))
    return pairs


@pytest.mark.slow
def test_the_figures_are_those_of_gnubg(oracle: Any, tmp_path: Path, judge: Judge) -> None:
    """A real match as if for money: gnubg's own exact table gives the same errors, rates and luck."""
    pairs = compare_with_gnubg(oracle("gnubg"), tmp_path, ROOT / MATCHES / "lazybg-match1.mat", judge)
    assert any(abs(ours) > 0.01 for _, ours in pairs)
    for theirs, ours in pairs:
        assert theirs == pytest.approx(ours, abs=8e-4)


# -- what lies behind a cube decision ----------------------------------------------------------------------


def test_take_points() -> None:
    """For money 25 % and 20 %; at a score those of the match equity table."""
    met = bgfmt.met.load(bgfmt.met.DEFAULT)
    assert take_points(None, 1) == (0.25, 0.2)
    two_away = 0.5 * 2 * met.mwc((2, 1))
    assert take_points(Score((2, 2), met), 1) == pytest.approx((two_away, two_away))  # nobody can redouble
    dead, live = take_points(Score((3, 3), met), 1)
    passed, lost, won = (met.mwc(away) for away in ((3, 2), (3, 1), (1, 3)))
    assert dead == pytest.approx((passed - lost) / (won - lost))
    # the taker's redouble is for the match: the doubler then takes with what a pass leaves
    answer = met.mwc((3, 1)) / 1.0
    assert live == pytest.approx(dead * (1 - answer))


def test_what_lies_behind_a_double(judge: Judge, table: Any) -> None:
    """Best and worst rolls are those of `rank_plays`, and market losers are counted roll by roll."""
    position = Position.parse("0 0 1 1 1 1 / 1 2 1 1")
    state = GameState.of(position)
    behind = insight(state, judge.advisor)
    assert behind is not None
    action = judge.advisor.cube(state)
    worth = {(high, low): weight / 36 for high, low, weight in ROLLS}
    mean = sum(worth[int(roll[0]), int(roll[1])] * equity for roll, equity in behind.rolls)
    assert mean == pytest.approx(action.no_double, abs=1e-4)
    assert [equity for _, equity in behind.rolls] == sorted((e for _, e in behind.rolls), reverse=True)
    losers = 0.0
    for (high, low), weight in worth.items():
        result = judge.advisor.plays(GameState.of(position, (high, low))).plays[0].result
        assert isinstance(result, Position)
        if not result.us.chequers:
            losers += weight
            continue
        for (higher, lower), times in worth.items():
            answer = judge.advisor.plays(GameState.of(result.swapped(), (higher, lower))).plays[0].result
            assert isinstance(answer, Position)
            if answer.us.chequers:
                losers += weight * times * (not judge.advisor.cube(GameState.of(answer.swapped())).takes)
    assert behind.market_losers == pytest.approx(losers)
    lost = sum(worth[int(roll[0]), int(roll[1])] * chance for roll, chance in behind.losing_rolls.items())
    assert lost == pytest.approx(losers)
    assert behind.win == pytest.approx((1 - judge.advisor.equities(state).cubeless) / 2)


@pytest.mark.parametrize("away", [None, (4, 4)])
def test_a_chance_to_win_is_one_where_gammons_count(judge: Judge, away: tuple[int, int] | None) -> None:
    """It was worked out from the equity: -6.9 % against a side with fifteen chequers on."""
    position = Position.parse("1 1 1 / 2 4 3 3 3")
    behind = insight(GameState.of(position, away=away), judge.advisor)
    assert behind is not None
    assert 0 <= behind.win < 1e-6


def test_wrong_cubes_say_what_was_right(report: MatchReport) -> None:
    wrong = [one for one in report.judgements if one.error and one.decision.kind != "play"]
    assert wrong
    for one in wrong:
        assert (one.insight is not None) == (one.method == "exact")
        assert f"costs {one.loss:.3f}" in one.advice
        assert text.explanation_lines(one)[0] == one.advice
    assert all(one.advice == "" for one in report.judgements if one.decision.kind == "play")
