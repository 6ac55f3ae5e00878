"""Janowski's formula against GNU Backgammon, which estimates by it outside of its tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bgfmt.analysis import twosided_from_onesided
from bgfmt.extras.lab.thumb.doubling import cubeful_of_chances
from tests.analysis.test_gnubg import estimates
from tests.support.analysis_tables import one_sided


def test_cubeful_estimates_are_gnubgs(oracle: Callable[[str], str]) -> None:
    compared = 0
    for position, numbers in estimates(oracle("gnubg")):
        ours = twosided_from_onesided(one_sided(), position)
        if not ours.win_gammon and not ours.lose_gammon:
            centered = cubeful_of_chances(ours.win)[1]
            assert centered == pytest.approx(numbers[-1], abs=5e-6), str(position)
            compared += 1
    assert compared
