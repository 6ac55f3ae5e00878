"""The plots of a report's page: axes with ticks, a panel for each kind of number, nothing said twice."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from bgfmt.extras.exam import candidates, judging, making, plots, report, sets


@pytest.fixture(scope="module")
def page() -> str:
    """Return the page of an engine that knows every number, equities for money but for 0.1."""
    exam = making.load_named("standard")
    exam = exam.part(np.flatnonzero(exam.kind == sets.EQUITY)[::7])

    def answer(question: sets.Question) -> object:
        equity, win = question.exam.of(question.number)
        return {"equity": equity + (0.0 if question.away else 0.1), "win": win}

    made = candidates.candidate("made", answer)
    judged = judging.judge(exam, judging.collect_answers(lambda: made, exam), "made")
    return report.Report([judged], 3).page()


def figures(page: str) -> dict[str, str]:
    found = re.findall(r"<figure><figcaption>(.*?)</figcaption>(.*?)</figure>", page)
    return dict(found)


def ticks(svg: str) -> list[float]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [float(text) for text in texts if re.fullmatch(r"-?[0-9.]+", text)]


def test_every_kind_of_number_is_plotted(page: str) -> None:
    assert set(figures(page)) == set(report.CALIBRATIONS.values())


def test_axes_have_ticks_and_names(page: str) -> None:
    for name, svg in figures(page).items():
        numbers = ticks(svg)
        assert max(numbers) in ((1.0, 2.0) if name.startswith("Equity") else (1.0,))
        assert min(numbers) == (-max(numbers) if name.startswith("Equity") else 0.0)
        assert set(Counter(numbers).values()) == {2}
        assert len(numbers) == 10
        assert ">answer</text>" in svg
        assert ">true</text>" in svg


def test_circles_lie_where_their_numbers_are(page: str) -> None:
    for svg in figures(page).values():
        low = min(ticks(svg))
        high = max(ticks(svg))
        circles = re.findall(r'cx="([0-9.]+)" cy="([0-9.]+)"', svg)
        assert len(circles) >= 5
        for cx, cy in circles:
            said = low + (high - low) * (float(cx) - plots.LEFT) / plots.SIDE
            true = low + (high - low) * (plots.TOP + plots.SIDE - float(cy)) / plots.SIDE
            if abs(said) < 0.8:
                assert said - true == pytest.approx(0.1 if low else 0.0, abs=0.01)


def test_no_heading_comes_twice(page: str) -> None:
    headings = re.findall(r"<(?:h1|h2|h3|figcaption)>(.*?)</", page)
    assert len(headings) == len(set(headings))
    assert re.search(r"<h1>made</h1>", page)


def test_an_axis_holds_gammons() -> None:
    assert plots.axis_of("equity, money", [[1.7, 1.9, 3]]) == (-2.0, 2.0)
    assert plots.axis_of("win, money", [[0.7, 0.9, 3]]) == (0.0, 1.0)
    svg = plots.calibration("equity, money", [[9.0, -9.0, 10]])
    (x,) = re.findall(r'cx="([0-9.]+)"', svg)
    assert plots.LEFT + plots.SIDE < float(x) < 320
