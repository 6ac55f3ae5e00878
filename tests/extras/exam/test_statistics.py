"""Standard errors and tests that are clustered by position: by hand, and simulated without a real difference.

    BGFMT_NULL=1000 python -m pytest tests/extras/exam/test_statistics.py -k level

simulates every named set, those too that are made when first used.
"""

from __future__ import annotations

import itertools
import os
from functools import cache
from typing import Any

import numpy as np
import pytest

from bgfmt.extras.exam import candidates, judging, making, report, sets
from bgfmt.extras.exam.statistics import sign_flip_p, weighted_mean

SIMULATIONS = int(os.environ.get("BGFMT_NULL", "0"))
SHIPPED = ("standard", "traps", "races", "matches")
SETS = (*making.RECIPES, "races", "matches") if SIMULATIONS else SHIPPED
#: misjudged positions, as a share; few positions of a small set differ by a smaller one
SHARES = {"races": (0.1, 0.3), "matches": (0.1, 0.3)}


def test_independent_values_have_the_usual_standard_error() -> None:
    values = np.array([1.0, 4.0, -2.0, 0.5])
    mean, error = weighted_mean(values, np.ones(4), np.arange(4))
    assert mean == pytest.approx(0.875)
    assert error == pytest.approx(values.std(ddof=1) / 2)


def test_repeated_questions_add_nothing() -> None:
    values = np.array([1.0, 4.0, -2.0, 0.5])
    once = weighted_mean(values, np.array([1.0, 2.0, 1.0, 3.0]), np.arange(4))
    often = weighted_mean(
        np.repeat(values, 53), np.repeat([1.0, 2.0, 1.0, 3.0], 53), np.repeat(np.arange(4), 53)
    )
    assert often == pytest.approx(once)
    assert sign_flip_p(np.repeat(values, 53), np.repeat(np.arange(4), 53)) == sign_flip_p(
        values, np.arange(4)
    )


def test_a_single_position_has_no_standard_error() -> None:
    assert weighted_mean(np.array([1.0, 3.0]), np.ones(2), np.zeros(2, int)) == (2.0, None)
    assert weighted_mean(np.zeros(0), np.zeros(0), np.zeros(0, int)) == (0.0, None)


def test_p_counts_the_signs_of_whole_positions() -> None:
    values = np.array([0.5, 0.25, 1.0, -0.5, 0.75, 0.0])
    clusters = np.array([0, 0, 1, 2, 3, 4])
    sums = [0.75, 1.0, -0.5, 0.75]
    totals = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=4)
    ]
    expected = np.mean([1.0 if total > 2.0 else 0.5 if total == 2.0 else 0.0 for total in totals])
    assert sign_flip_p(values, clusters) == pytest.approx(expected)
    assert sign_flip_p(np.zeros(5), np.arange(5)) == 1.0
    assert sign_flip_p(np.zeros(0), np.zeros(0, int)) == 1.0


def test_random_signs_agree_with_all_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    from bgfmt.extras.exam import statistics

    values = np.random.default_rng(3).exponential(1.0, 13) * np.array([1, 1, -1] * 4 + [1])
    every = sign_flip_p(values, np.arange(13))
    monkeypatch.setattr(statistics, "EXACT_LIMIT", 5)
    assert sign_flip_p(values, np.arange(13)) == pytest.approx(every, abs=0.02)
    many = np.random.default_rng(4).normal(0.02, 1.0, 3000)
    drawn = sign_flip_p(many, np.arange(3000))
    monkeypatch.setattr(statistics, "DRAWN_LIMIT", 300)
    assert sign_flip_p(many, np.arange(3000)) == pytest.approx(drawn, abs=0.02)


# -- simulated --------------------------------------------------------------------------------------------------


@cache
def decisions(name: str) -> tuple[sets.Exam, Any, Any]:
    """Return the decisions of a set, and the right and a wrong answer of each, as choices."""
    exam = making.load_named(name)
    exam = exam.part(np.flatnonzero(exam.kind != sets.EQUITY))
    right = np.zeros(len(exam), int)
    wrong = np.zeros(len(exam), int)
    rng = np.random.default_rng(7)
    for number, kind in enumerate(exam.kind.tolist()):
        worths = exam.of(number)
        if kind == sets.PLAY:
            right[number] = worths.argmax()
            wrong[number] = rng.integers(len(worths))
            continue
        rolling, taken, passed, beaver = worths
        answer = np.nanmin(worths[1:])
        if kind == sets.DOUBLE:
            right[number] = answer > rolling
            wrong[number] = answer <= rolling
        else:
            right[number] = 2 if answer == beaver else int(taken <= passed)
            wrong[number] = passed < taken
    return exam, right, wrong


def misjudge(name: str, share: float, rng: np.random.Generator) -> judging.Judged:
    """Return an engine that answers wrongly whatever is asked about a random share of positions."""
    exam, right, wrong = decisions(name)
    answers = candidates.Answers(exam.kind)
    answers.status[:] = candidates.ANSWERED
    bad = rng.random(exam.clusters.max() + 1) < share
    answers.choice[:] = np.where(bad[exam.clusters], wrong, right)
    return judging.judge(exam, answers, "x")


def rejections(name: str, share: float, count: int, seed: int = 1) -> dict[str, float]:
    """Return the share of comparisons of two equally good engines with p below 0.05."""
    rng = np.random.default_rng(seed)
    told = [
        report.compare_paired(misjudge(name, share, rng), misjudge(name, share, rng)) for _ in range(count)
    ]
    return {key: float(np.mean([one[key] < 0.05 for one in told])) for key in ("p", "p_wrong")}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_level_holds_without_a_difference(name: str) -> None:
    """3 to 7 % of 1,000 comparisons; of the few of an ordinary run, what three standard deviations allow."""
    count = SIMULATIONS or (40 if name == "standard" else 200)
    slack = 0.0 if SIMULATIONS >= 1000 else 3 * np.sqrt(0.05 * 0.95 / count)
    for share in SHARES.get(name, (0.03,) if not SIMULATIONS else (0.03, 0.1)):
        found = rejections(name, share, count)
        print(f"{name} {share}: {found}")
        for key, level in found.items():
            assert 0.03 - slack <= level <= 0.07 + slack, (name, share, key, level)


def test_the_standard_error_is_that_of_repeated_comparisons() -> None:
    """The standard deviation of the mean loss of engines that misjudge random positions, within a tenth."""
    rng = np.random.default_rng(2)
    rows = np.ones(len(decisions("traps")[0]), np.bool_)
    told = [report.figures(misjudge("traps", 0.1, rng), rows) for _ in range(300)]
    spread = np.std([one["equity_lost"] for one in told if one], ddof=1)
    stated = np.sqrt(np.mean([one["standard_error"] ** 2 for one in told if one]))
    assert stated == pytest.approx(spread, rel=0.1)
