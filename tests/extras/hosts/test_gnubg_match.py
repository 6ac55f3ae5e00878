"""gnubg agrees where this roll decides; the whole comparison is `python -m benchmarks.gnubg_match`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.gnubg_match import agreeing, differences, last_rolls


@pytest.mark.slow
def test_last_rolls(oracle: Callable[[str], str]) -> None:
    program = oracle("gnubg")
    cases = last_rolls()
    assert len(cases) == len(set(cases)) == 621
    same, largest = agreeing(program, cases[::9])
    assert same == len(cases[::9])
    assert largest < 1e-4


def test_differences_are_there() -> None:
    assert len(differences()) == 40
