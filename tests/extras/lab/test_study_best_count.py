"""The search for counts against every rule there is of a small form, and the decisions that it goes by."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from benchmarks import best_count
from benchmarks.best_count import TERMS, Counted
from bgfmt import met, solver
from bgfmt.errors import NotCoveredError
from bgfmt.extras.lab.study import judges
from bgfmt.extras.lab.study.rules import RULES, Pairs
from bgfmt.game.board import Position, Side
from bgfmt.met.score import Score
from bgfmt.solver.match import match_score
from bgfmt.tables import TwoSided
from tests.conftest import ROOT

MATCHES = [ROOT / f"fixtures/matches/{name}.mat" for name in ("lazybg-match1", "bglab-match10611856")]


def _part(rng: np.random.Generator, many: int) -> best_count.Part:
    us, them = rng.integers(0, 3, (2, many, 6))
    us[:, 0] += 1
    wrong = rng.random((many, 3, 2)) * (rng.random((many, 3, 1)) < 0.7)
    wrong[np.arange(many), :, rng.integers(0, 2, many)] = 0
    return best_count.Part(us, them, wrong, np.arange(many))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_search_finds_the_least_loss_of_all_rules(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {
        "gap": TERMS["gap"]._replace(weights=(-1, 1)),
        "ace>1": TERMS["ace>1"]._replace(weights=(0, 2)),
        "least 3": TERMS["least 3"],
    }
    monkeypatch.setattr(best_count, "TERMS", small)
    monkeypatch.setattr(best_count, "PARTS", (0, 7))
    monkeypatch.setattr(best_count, "MAX_TERMS", 2)
    part = _part(np.random.default_rng(seed), 40)
    found = best_count.best(part, 6)
    least = np.full(7, np.inf)
    for weights in product((-1, 0, 1), (0, 1, 2), (0, 1)):
        kept = tuple((name, w) for name, w in zip(small, weights, strict=True) if w)
        if len(kept) > 2:
            continue
        for divisor in (0, 7):
            bare = Counted(kept, divisor, 0, 0, 0)
            own, other = bare.count(part.us), bare.count(part.them)
            lead = other - own - (own // divisor if divisor else 0)
            limits = range(-15, 16)
            yes, no = part.wrong[:, :, 1], part.wrong[:, :, 0]
            kinds = np.array([
                [np.where((lead > x) if k == 2 else (lead >= x), yes[:, k], no[:, k]).sum() for x in limits]
                for k in range(3)
            ])  # fmt: skip
            total = kinds[0][:, None, None] + kinds[1][:, None] + kinds[2]
            x, y, z = np.meshgrid(limits, limits, limits, indexing="ij")
            numbers = (x != 0).astype(int) + ((y != 0) & (y != x)) + ((z != 0) & (z != x) & (z != y))
            for k in range(4):
                if bare.numbers + k < 7:
                    best = total[numbers == k].min()
                    least[bare.numbers + k :] = np.minimum(least[bare.numbers + k :], best)
    for k, (rule, loss) in enumerate(found):
        assert loss == pytest.approx(least[k])
        assert rule.numbers <= k
        assert part.losses(rule.decide(part)).sum() == pytest.approx(least[k])


def test_terms_and_keiths_count_without_gaps() -> None:
    """Keith's count is of the form but for the 3 point; a chequer beyond one on the ace point is 2 short of 3."""
    side = [5, 2, 3, 3, 2, 0]
    rule = Counted((("least 3>1", 1), ("high gap", 1)), 7, -4, -3, -2)
    assert int(rule.count(side)) == 40 + 8 + 1 + 1
    assert rule.numbers == 7
    names = {name: int(term.of(best_count.of_chequers(side))) for name, term in TERMS.items()}
    assert names == {
        "chequer": 15, "pair": 8, "odd": 1, "ace": 5, "low": 7, "three": 10, "outside": 0, "gap": 1, "high gap": 1,
        "ace>1": 4, "ace>2": 3, "low>2": 5, "stack>3": 2,
        "least 3": 12, "least 3>1": 9, "least 3>2": 6, "least 4": 22,
    }  # fmt: skip


def test_the_best_rule_of_six_numbers_is_among_the_rules_of_thumb() -> None:
    counted = Counted((("pair", 2), ("least 3>2", 1), ("high gap", 1)), 10, -3, -3, 0)
    us, them = np.random.default_rng(4).integers(0, 5, (2, 500, 8))
    none = np.empty((0, 0))
    pairs = Pairs(us, them, none, none)
    for one, other in zip(RULES["best-6"].decide(pairs), counted.decide(pairs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_shares_are_how_often_a_decision_comes_up() -> None:
    """Every race asks at its start; one roll from the end with the cube turned nothing more is asked."""
    starts = [
        [Position(Side(0, 0, 0, 0, 0, 2), Side(*them)) for them in ((0, 4), (9,))],
        [Position(Side(1), Side(0, 2))],
    ]
    sample = best_count.sample(starts, 50, 2)
    for race, size in ((0, 2), (1, 2), (2, 1)):
        shares = sample.share[(sample.race == race) & ~sample.owned]
        assert shares.max() == pytest.approx(1 / size)
    last = sample.race == 2
    assert sample.us[last].sum() == 1
    assert sample.share[last].tolist() == [1.0]
    assert set(sample.held[last].tolist()) != set(sample.held[~last].tolist())


@pytest.fixture(scope="module")
def sample() -> best_count.Sample:
    return best_count.sample(best_count.starts(map(str, MATCHES)), 3, 1)


def test_decisions_of_races(sample: best_count.Sample) -> None:
    starts = best_count.starts(map(str, MATCHES))
    assert best_count.starts([*map(str, MATCHES), str(MATCHES[0])]) == starts  # a copy counts once
    assert len(starts) == 2
    assert (sample.us.sum(axis=1) > 0).all()
    assert (sample.them.sum(axis=1) > 0).all()
    assert not np.isin(sample.race[sample.held], sample.race[~sample.held]).any()
    for one, other in zip(vars(best_count.sample(starts, 3, 1)).values(), vars(sample).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(NotCoveredError, match="at least two matches"):
        best_count.sample(starts[:1], 1, 1)


@pytest.mark.slow
def test_worths_for_money_and_at_a_score() -> None:
    rng = np.random.default_rng(3)
    us, them = rng.integers(0, 2, (2, 60, 24)) * (np.arange(24) < 4)
    us[:, 0], them[:, 1] = 1, 1
    table = solver.two_sided(6, 6, recipe="exact")
    assert isinstance(table, TwoSided)
    none = np.empty((0, 0))
    exact = judges.by_equities(table, None).worths(Pairs(us, them, none, none))
    for one, other in zip(best_count.position_worths(us, them, None, table), exact, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(best_count.position_worths(us, them, None, None), exact, strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)
    for away in ((5, 7), (2, 4)):
        score = Score(away, met.load(met.DEFAULT))
        judge = judges.at_score(match_score(6, 6, away, score.met, dtype=np.float64), None, score)
        by_table = judge.worths(Pairs(us, them, none, none))
        for one, other in zip(best_count.position_worths(us, them, score, None), by_table, strict=True):
            if other is None:
                assert one is None
            else:
                np.testing.assert_allclose(one, other, atol=0.05)


def test_a_gammon_is_a_game() -> None:
    """Won for sure, with a gammon to come: what the game is worth and no more."""
    us, them = np.zeros((2, 1, 24), np.int8)
    us[0, :2], them[0, 20:23] = 2, 5
    for score in (None, Score((5, 7), met.load(met.DEFAULT))):
        worths = best_count.position_worths(us, them, score, None)
        np.testing.assert_allclose(worths.centered, 1, atol=1e-6)


def test_rules_are_judged_by_what_wrong_decisions_cost(sample: best_count.Sample) -> None:
    worths = best_count.position_worths(sample.us, sample.them, None, None)
    part = best_count.build_part(sample, worths, np.ones(len(sample.us), np.bool_))
    losses = part.losses(RULES["isight"].decide(part))  # type: ignore[arg-type]
    decided = RULES["isight"].decide(sample)  # type: ignore[arg-type]
    assert worths.owned is not None
    assert worths.retaken is not None
    for n in range(len(sample.us)):
        rolling, taken = (
            (worths.owned[n], worths.retaken[n]) if sample.owned[n] else (worths.centered[n], worths.taken[n])
        )
        says = decided.redouble[n] if sample.owned[n] else decided.double[n]
        best = max(rolling, min(taken, 1))
        loss = best - (min(taken, 1) if says else rolling)
        if min(taken, 1) - rolling > 1e-9:
            loss += (taken if decided.take[n] else 1) - min(taken, 1)
        assert losses[n].sum() == pytest.approx(loss * sample.share[n], abs=1e-9)


@pytest.mark.slow
def test_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    best_count.main([*map(str, MATCHES), "--numbers", "1", "--again", "4"])
    printed = capsys.readouterr().out
    sample = best_count.sample(best_count.starts(map(str, MATCHES)), 4, 1)
    worths = best_count.position_worths(sample.us, sample.them, None, None)
    rules = {rule["rule"]: rule for rule in best_count.study(sample, worths, 1)}
    best = rules["best of 1"]
    assert best["numbers"] <= 1
    assert best["bound"] <= best["loss"] + 1e-12
    assert f"{1000 * best['loss']:6.2f}" in printed
    assert rules["isight"]["share"] == 1
    assert rules["keith"]["loss"] == pytest.approx(
        sum(rules["keith"][k] for k in ("double", "redouble", "take"))
    )
