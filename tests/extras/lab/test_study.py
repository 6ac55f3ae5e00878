"""Rules of thumb and how good they are: the published table, worked examples, gnubg's counts, scores, the command."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt import met, solver
from bgfmt.analysis.at_score import answer_from_table
from bgfmt.analysis.library import Library
from bgfmt.cli import run
from bgfmt.errors import CapabilityError, NotCoveredError, PositionError
from bgfmt.extras.lab.study import counts, judges
from bgfmt.extras.lab.study.measuring import Section, Tally, rule_quality
from bgfmt.extras.lab.study.rules import RULES, Pairs, select_rules
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.met.score import Score
from bgfmt.solver.match import match_score
from bgfmt.tables import TwoSided
from tests.conftest import GOLDEN

A, B = (5, 2, 3, 3, 2, 0), (3, 3, 3, 2, 2, 2)  # 40 and 48 pips


PUBLISHED = ("w-z0", "w-z1", "w-always", "w-best", "acount", "acount-none")


@pytest.fixture(scope="module")
def exact() -> TwoSided:
    found = solver.two_sided(6, 6, recipe="exact")
    assert isinstance(found, TwoSided)
    return found


@pytest.fixture(scope="module")
def money(exact: TwoSided) -> Section:
    (found,) = rule_quality(Library([exact]), names=PUBLISHED)
    return found


def results(section: Section) -> dict[str, Any]:
    return {rule.name: tallies for rule, tallies in section.results.items()}


# -- the table of BKG's rules, every position of one to six chequers a side (851,929) ---------------------
# Counts and averages as the description of BKG prints them: rule, kind, doubles in per cent, wrong doubles, missed,
# wrong in per cent, average cost, cost of an error, worst.

DOUBLES = [
    ("w-z0", "double", 56.47, 1212, 10913, 1.423, 0.000431, 0.0303, 0.2824),
    ("w-z0", "redouble", 56.47, 13514, 2027, 1.824, 0.000545, 0.0299, 0.2824),
    ("w-z1", "double", 57.65, 4130, 3841, 0.936, 0.000145, 0.0155, 0.1737),
    ("w-z1", "redouble", 56.63, 14047, 1270, 1.798, 0.000506, 0.0281, 0.3611),
    ("w-always", "double", 68.51, 92815, 0, 10.895, 0.012481, 0.1146, 0.3547),
    ("w-always", "redouble", 68.51, 114003, 0, 13.382, 0.023370, 0.1746, 0.5999),
    ("acount", "double", 50.43, 661, 61850, 7.338, 0.007332, 0.0999, 0.5000),
    ("acount", "redouble", 46.42, 241, 74364, 8.757, 0.010306, 0.1177, 0.5000),
    ("acount-none", "double", 49.84, 444, 66690, 7.880, 0.008035, 0.1020, 0.5000),
    ("acount-none", "redouble", 45.85, 142, 79173, 9.310, 0.011206, 0.1204, 0.5000),
]
ANSWERS = [  # positions, should pass in per cent, wrong passes, wrong takes, wrong in per cent, average cost, worst
    ("w-z0", "take", 851929, 43.81, 2, 25434, 2.986, 0.001679, 0.1583),
    ("w-z0", "answer", 459579, 74.42, 2, 25434, 5.535, 0.003112, 0.1583),
    ("acount", "answer", 459579, 74.42, 33, 86762, 18.886, 0.040114, 0.9074),
    ("acount-none", "answer", 459579, 74.42, 51, 81717, 17.792, 0.036359, 0.9074),
    ("w-best", "take", 851929, 43.81, 1655, 2914, 0.536, 0.000090, 0.2222),
]


@pytest.mark.slow
@pytest.mark.parametrize("row", DOUBLES, ids=lambda row: f"{row[0]} {row[1]}")
def test_doubles_of_the_published_table(money: Section, row: tuple[Any, ...]) -> None:
    name, kind, doubles, wrong, missed, differs, average, each, worst = row
    tally: Tally = getattr(results(money)[name], kind)
    assert tally.pairs == 851929
    assert 100 * tally.yes / tally.pairs == pytest.approx(doubles, abs=0.0051)
    assert 100 * tally.should / tally.pairs == pytest.approx(53.95 if kind == "double" else 51.46, abs=0.0051)
    assert abs(tally.wrong_yes - wrong) <= 3
    assert abs(tally.wrong_no - missed) <= 3
    assert 100 * tally.share == pytest.approx(differs, abs=0.00051)
    assert tally.mean == pytest.approx(average, abs=2e-6)
    assert tally.mean_wrong == pytest.approx(each, abs=0.000051)
    assert tally.worst == pytest.approx(worst, abs=0.000051)


@pytest.mark.slow
@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: f"{row[0]} {row[1]}")
def test_answers_of_the_published_table(money: Section, row: tuple[Any, ...]) -> None:
    name, kind, pairs, passes, wrong_passes, wrong_takes, differs, average, worst = row
    tally: Tally = getattr(results(money)[name], kind)
    assert tally.pairs == pairs
    assert 100 * tally.against / tally.pairs == pytest.approx(passes, abs=0.0051)
    assert abs(tally.wrong_no - wrong_passes) <= 3
    assert abs(tally.wrong_yes - wrong_takes) <= 3
    assert 100 * tally.share == pytest.approx(differs, abs=0.00051)
    assert tally.mean == pytest.approx(average, abs=2e-6)
    assert tally.worst == pytest.approx(worst, abs=0.000051)


def test_positions_in_which_doubling_costs_nothing(money: Section) -> None:
    tally = results(money)["w-z0"].double
    indifferent = tally.pairs - tally.should - tally.against
    assert 100 * indifferent / tally.pairs == pytest.approx(3.67, abs=0.0051)


def test_the_worst_miss_is_the_published_one(money: Section) -> None:
    tally = results(money)["w-z0"].double
    assert money.sides(tally.at) == Position(Side(2, 0, 1), Side(1, 0, 0, 0, 0, 1))
    assert tally.worst == pytest.approx(0.282407, abs=5e-7)


@pytest.mark.slow
def test_exactly_six_chequers(exact: TwoSided) -> None:
    (found,) = rule_quality(Library([exact]), chequers=(6, 6), names=("w-z0", "acount"))
    assert found.pairs == 213444
    z0, acount = results(found)["w-z0"], results(found)["acount"]
    printed = [
        (z0.double, 1.507, 0.000250), (z0.redouble, 3.571, 0.001057), (z0.take, 4.406, 0.002283),
        (acount.double, 9.409, 0.006251), (acount.redouble, 11.774, 0.010743),
    ]  # fmt: skip
    for tally, differs, average in printed:
        assert 100 * tally.share == pytest.approx(differs, abs=0.00051)
        assert tally.mean == pytest.approx(average, abs=2e-6)


@pytest.mark.slow
def test_the_best_single_limits_and_how_far_the_estimate_errs(exact: TwoSided) -> None:
    sides = board.unrank_array(np.arange(1, 924), 6)
    us, them = np.repeat(sides, 923, axis=0), np.tile(sides, (923, 1))
    rolls: Any = solver.one_sided(6, chequers=6, gammon=False, recipe="exact")
    chances = [rolls.bearoff[rolls.numbers(side)][:, 1:] for side in (us, them)]
    pairs = Pairs(us, them, *chances)
    right = judges.by_equities(exact, None).worths(pairs)
    assert right.owned is not None
    double = np.minimum(right.taken, 1)
    gains = (double - right.centered, double - right.owned, right.taken - 1)
    best = []
    for gain in gains:  # of doubling, of redoubling, of passing, from a limit on
        order = np.argsort(pairs.win)
        before = np.concatenate([[0], np.cumsum(np.maximum(gain[order], 0))])
        after = np.concatenate([[0], np.cumsum(np.maximum(-gain[order], 0))])
        grid = np.arange(200, 400) * 0.0025
        at = np.searchsorted(pairs.win[order], grid, side="left")
        best.append(float(grid[np.argmin(before[at] + after[-1] - after[at])]))
    assert best == pytest.approx([0.6375, 0.6625, 0.7675])
    estimate = judges.estimate_judge(6, 6)
    assert estimate.max_error is not None
    assert estimate.mean_error is not None
    wide = np.abs(estimate.worths(pairs).centered - right.centered)
    exact_win = (exact.lookup_many(pairs.us, pairs.them, column="cubeless") + 1) / 2
    win = np.abs(pairs.win - exact_win)
    for name, found in (("equity", wide), ("win", win)):
        assert float(found.max()) == pytest.approx(estimate.max_error[name], abs=1e-4)
        assert float(found.mean()) == pytest.approx(estimate.mean_error[name], rel=0.01)


# -- the counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "part", "found", "verdict"),
    [
        # 48 - 40 = 8, a fifth of 40
        (counts.percent_ahead, 1, 20, (True, True, False)),
        # 40 + 30 + 5 - 5 = 70, with a tenth 77; 48 + 30 + 3 - 6 = 75
        (counts.thorp, 10, 75 - 77, (True, False, True)),
        # 40 + 2*3 + 1 gap = 47, with a tenth 51.7; 48 + 2*1 + 1 = 51
        (counts.ward, 20, 51 - 51.7, (True, True, True)),
        # 40 + 2*4 + 1 + 1 gap = 50, with a seventh 57 (1/7 dropped); 48 + 2*2 + 2 = 54
        (counts.keith, 7, 54 - 57, (True, True, True)),
        # 47 as Ward's, with a sixth 54 5/6; 51
        (counts.isight, 6, 51 - 54 - 5 / 6, (True, True, True)),
        # (8 + 4)^2 / (88 - 4)
        (counts.kleinman, 1, 144 / 84, (True, True, False)),
        # 40 + 35 / 7 = 45 is the last take
        (counts.trice, 1, 3, (True, True, False)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_worked_examples(count: Any, part: int, found: float, verdict: tuple[bool, ...]) -> None:
    assert int(np.sum(A)) == int(np.sum(B)) == 15
    assert float(count(A, B)) / part == pytest.approx(found)
    name = {"percent_ahead": "8-9-12"}.get(count.__name__, count.__name__)
    row = np.zeros((1, 31))
    pairs = Pairs(np.array([A]), np.array([B]), row, row)
    assert tuple(bool(x[0]) for x in RULES[name].decide(pairs)) == verdict


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "verdict"),
    [  # what lies on a limit: double, redouble, take
        ("8-9-12", 25, 27, (True, False, True)),  # 8 % ahead
        ("8-9-12", 25, 28, (True, True, True)),  # 12 %
        ("8-9-12", 25, 29, (True, True, False)),
        ("trice", 62, 67, (True, False, True)),  # last take 70
        ("trice", 62, 68, (True, True, True)),
        ("trice", 62, 70, (True, True, True)),
        ("trice", 62, 71, (True, True, False)),
        ("trice", 63, 70, (True, True, True)),  # above 62 a tenth and one: last take 70
        ("trice", 63, 71, (True, True, False)),
    ],
)
def test_limits(name: str, ours: int, theirs: int, verdict: tuple[bool, ...]) -> None:
    us, them = (
        np.array([[n, 0, 0, 0, 0, 0]]) for n in (ours, theirs)
    )  # that number of pips; more chequers than there are
    row = np.zeros((1, 31))
    found = RULES[name].decide(Pairs(us, them, row, row))
    assert tuple(bool(x[0]) for x in found) == verdict


def test_small_sums_and_sides_far_behind() -> None:
    assert float(counts.kleinman((3,), (1,))) == 4.0  # S - 4 taken as 1
    assert float(counts.kleinman((0, 0, 0, 0, 0, 5), (1,))) < 0  # behind is not ahead
    assert float(counts.kleinman((1,), (0, 0, 0, 0, 0, 1))) == 27.0
    with pytest.raises(PositionError):
        counts.pips(3)


def test_counts_broadcast() -> None:
    sides = board.unrank_array(np.arange(1, 30), 6)
    for count in (counts.thorp, counts.keith, counts.ward, counts.isight, counts.kleinman, counts.trice):
        grid = count(sides[:, None], sides[None])
        assert grid.shape == (29, 29)
        assert grid[3, 7] == count(sides[3], sides[7])


def test_counts_outside_home() -> None:
    far = (0,) * 6 + (2,)  # two crossovers
    assert int(counts.isight(far, (0, 7))) == 6 * (14 + 5 + 5) - 7 * (14 + 2)
    assert int(counts.ward(far, (0, 7))) == 10 * 2 * (14 + 2 * 5 + 5) - 11 * (2 * 14 + 2)


def test_gnubg_counts_the_same(oracle: Any, tmp_path: Path) -> None:
    """GNU Backgammon's Thorp, Keith, Isight and Kleinman counts and its 8-9-12 rule."""
    gnubg = oracle("gnubg")
    draw = np.random.default_rng(3)
    pairs = []
    while len(pairs) < 40:
        us, them = (board.unrank_array(draw.integers(8000, 54264), 6) for _ in range(2))
        if counts.pips(us) < counts.pips(them):
            pairs.append((us, them))
    lines = ["set player 0 human", "set player 1 human", "new game", "set turn root"]
    for us, them in pairs:
        points = [0, *us.tolist(), *([0] * 12), *(-them[::-1]).tolist(), 0]
        lines += [f"set board simple {' '.join(map(str, points))}", "set turn root"]
        lines += [f"show {what}" for what in ("8912", "thorp", "keith", "isight", "kleinman")]
    script = tmp_path / "ask.txt"
    script.write_text("\n".join(lines) + "\n")
    said = subprocess.run(
        [gnubg, "-t", "-q", "-r"], stdin=script.open(), capture_output=True, text=True, check=False,
        env={"HOME": str(tmp_path), "LANG": "C", "PATH": "/usr/bin:/bin:/usr/games"},
    ).stdout  # fmt: skip

    def numbers(pattern: str) -> Any:
        found = np.array(re.findall(pattern, said), float)
        assert len(found) == len(pairs)
        return found

    us, them = (np.array(side) for side in zip(*pairs, strict=True))
    assert np.abs(numbers(r"Leader is ([\d.]+) percent") - counts.percent_ahead(us, them)).max() < 0.0501
    whole = {"Thorp": counts.thorp(us, them) / 10, "Keith": counts.keith(us, them, down=False) / 7}
    for name, found in whole.items():
        lead, trail = (numbers(rf"{name} Count {w}: +([\d.]+)") for w in (r"Leader\(.*\)\s+L", r"Trailer +T"))
        assert np.abs(trail - lead - found).max() < 0.0501, name
    lead, trail = (numbers(rf"Isight Count {w}: +([\d.]+)") for w in (r"Leader +L", r"Trailer +T"))
    assert np.abs(trail - lead * 7 / 6 - counts.isight(us, them) / 6).max() < 1e-9
    k = numbers(r"K = \(diff\+4\)/\(2 sqrt\(sum-4\)\) = +([\d.]+)")
    assert np.abs(k - np.sqrt(counts.kleinman(us, them)) / 2).max() < 0.00501
    spoken = re.findall(r"Estimated GWC: [^\n]*\n+([^\n(]*)", said)
    row = np.zeros((len(pairs), 31))
    isight = RULES["isight"].decide(Pairs(us, them, row, row))
    for text, double, redouble, take in zip(spoken, *isight, strict=True):
        assert double == (not text.startswith("No")), text
        assert redouble == ("Redouble" in text or "Drop" in text), text
        assert take == ("Drop" not in text), text


# -- at a score, samples, tables -------------------------------------------------------------------------


@pytest.mark.slow
def test_at_a_score_as_the_table_judges_one() -> None:
    score = Score((3, 4), met.load(met.DEFAULT))
    table = match_score(6, 3, (3, 4), score.met, dtype=np.float64)
    judge = judges.at_score(table, None, score)
    numbers = np.random.default_rng(5).integers(1, table.positions, (2, 50))
    sides = [board.unrank_array(k, 6) for k in numbers]
    row = np.zeros((50, 31))
    found = judge.worths(Pairs(*sides, row, row))
    assert found.owned is not None
    assert found.retaken is not None
    turned = Score((3, 4), score.met, cube=2, owner="owned")
    for k, (us, them) in enumerate(numbers.T.tolist()):
        position = Position(Side.from_number(us, 6), Side.from_number(them, 6))
        first, second = (answer_from_table(table, position, s).cube.emg for s in (score, turned))
        assert (found.centered[k], found.taken[k]) == pytest.approx((first.no_double, first.double_take))
        assert (found.owned[k], found.retaken[k]) == pytest.approx((second.no_double, second.double_take))


@pytest.mark.slow
def test_at_a_score_there_may_be_no_redouble_and_no_double() -> None:
    equal = met.load(met.DEFAULT)
    (found,) = rule_quality(score=Score((2, 4), equal), chequers=(1, 2), names=("keith",))
    assert results(found)["keith"].redouble is None
    assert results(found)["keith"].double.pairs == 27**2
    with pytest.raises(PositionError, match="cannot use the cube"):
        rule_quality(score=Score((1, 4), equal))


@pytest.mark.slow
def test_both_seats_of_a_score() -> None:
    """The table of 3-5 judges 5-3 as well, player b on roll."""
    equal = met.load(met.DEFAULT)
    tables = [match_score(6, 2, away, equal, dtype=np.float64) for away in ((3, 5), (5, 3))]
    said = [rule_quality(Library([t]), score=Score((5, 3), equal), names=("keith",))[0] for t in tables]
    one, other = (results(s)["keith"] for s in said)
    assert vars(one.double) == pytest.approx(vars(other.double))
    with pytest.raises(NotCoveredError, match="5-away, 3-away"):
        rule_quality(Library(tables[1:]), score=Score((5, 4), equal))


@pytest.mark.slow
def test_a_sample_is_that_of_its_seed() -> None:
    def sampled(**how: Any) -> Section:
        return rule_quality(chequers=(15, 15), sample=2000, names=("keith", "isight"), **how)[0]

    first, again, other = sampled(), sampled(), sampled(seed=2)
    assert first.pairs == 2000
    assert first.among == 15504**2
    assert first.judge.source == "one-sided"
    assert results(first)["keith"].double == results(again)["keith"].double
    assert results(first)["keith"].double != results(other)["keith"].double
    assert first.sides(7).us.chequers == 15


def test_a_sample_has_an_error_and_the_places_that_it_leaves_open(capsys: pytest.CaptureFixture[str]) -> None:
    """The spread over seeds is what the standard error says, and nothing is ranked beyond it."""
    seeds = [rule_quality(chequers=(15, 15), sample=1000, seed=seed)[0] for seed in range(12)]
    tallies = [results(one)["isight"].double for one in seeds]
    spread = float(np.std([tally.mean for tally in tallies], ddof=1))
    assert 0.5 < spread / float(np.mean([tally.error for tally in tallies])) < 2
    one = seeds[0]
    places = dict(zip(results(one), one.places("double"), strict=True))
    assert places["isight"] != (places["isight"][0],) * 2
    assert places["8-9-12"][0] > places["w-z1"][1]
    assert run(["study", "rules", "--chequers", "15", "--sample", "300", "--json"]) == 0
    (section,) = json.loads(capsys.readouterr().out)["sections"]
    assert all(rule["take"]["standard_error"] > 0 for rule in section["rules"])
    assert run(["study", "rules", "--chequers", "15", "--sample", "300"]) == 0
    said = capsys.readouterr().out
    assert "st. error  place" in said
    assert "within twice the standard error of the sample and 0.0016" in said


def test_every_pair_judged_exactly_has_certain_places(money: Section) -> None:
    places = money.places("double")
    assert sorted(places) == [(k, k) for k in range(1, len(PUBLISHED) + 1)]
    assert {money.error(tallies.double) for tallies in money.results.values()} == {0.0}


@pytest.mark.slow
def test_a_rounded_table_judges_nearly_as_the_exact_one(exact: TwoSided) -> None:
    import bgfmt

    with bgfmt.open(GOLDEN / "gnubg/ts_06x04.bd") as rounded:
        (one,) = rule_quality(Library([rounded]), names=("keith", "w-z0"))
    (other,) = rule_quality(Library([exact]), chequers=(1, 4), names=("keith", "w-z0"))
    assert one.pairs == other.pairs == 209**2
    for name in ("keith", "w-z0"):
        a, b = results(one)[name].double, results(other)[name].double
        assert a.yes == b.yes
        assert 0 <= b.wrong_decisions - a.wrong_decisions <= 10
        assert a.mean == pytest.approx(b.mean, abs=1e-4)


def test_what_cannot_judge() -> None:
    import bgfmt

    with (
        bgfmt.open(GOLDEN / "gnubg/ts_04x04_cubeless.bd") as table,
        pytest.raises(NotCoveredError, match="cubeless"),
    ):
        rule_quality(Library([table]))
    with bgfmt.open(GOLDEN / "gnubg/hyper1.bd") as table, pytest.raises(NotCoveredError, match="judged by"):
        rule_quality(Library([table]))
    with pytest.raises(CapabilityError, match="no rule 'nope'"):
        select_rules(("nope",))
    with pytest.raises(PositionError, match="1 to 15"):
        rule_quality(chequers=(3, 2))


# -- the command -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["study", "rules", "--chequers", "1-3", "--rule", "keith"]
    assert run(line) == 0
    said = capsys.readouterr().out
    assert "every pair (6,889), for money" in said
    assert run([*line, "--json"]) == 0
    (section,) = json.loads(capsys.readouterr().out)["sections"]
    (keith,) = section["rules"]
    assert f"{keith['double']['wrong_doubles']:>7} {keith['double']['missed']:>7}" in said
    assert keith["double"]["wrong"] == keith["double"]["wrong_doubles"] + keith["double"]["missed"]


def test_the_counts_of_a_position(capsys: pytest.CaptureFixture[str]) -> None:
    """The example of docs/theory/thumb-rules.md, by hand."""
    text = "5 2 3 3 2 / 3 3 3 2 2 2"
    assert run(["study", "counts", text, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    rules = {row["rule"]: row for row in answer["rules"]}
    assert answer["pips"] == [40, 48]
    assert rules["keith"]["count"] == -3
    assert rules["keith"]["limits"] == [-4, -3, -2]
    assert {name: rules["keith"][name] for name in ("double", "redouble", "take")} == dict.fromkeys(
        ("double", "redouble", "take"), True
    )
    assert run(["study", "counts", text]) == 0
    assert (
        "keith           -3.00           -4             -3          -2  redouble, take"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("study rules --chequers x", 2, "expected a number of chequers"),
        ("study rules --chequers 16", 2, "1 to 15 chequers"),
        ("study rules --rule nope", 2, "no rule 'nope'"),
        ("study rules --away 1-3", 2, "cannot use the cube"),
        ("study rules none.bd", 2, "none.bd"),
        ("study rules --as gnubg-ts", 2, "name of a database"),
    ],
)
def test_misuse(line: str, code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
