"""The measure of the doubling tests itself."""

from __future__ import annotations

import pytest

from tests.support.doubling import assert_linear


def spend(steps: int) -> None:
    total = 0
    for number in range(steps):
        total += number


@pytest.mark.slow
def test_what_is_linear_passes_and_what_is_not_does_not() -> None:
    assert_linear(lambda: spend(100_000), lambda: spend(800_000), 8)
    with pytest.raises(AssertionError, match=r"8\.0 times the work"):
        assert_linear(lambda: spend(500 * 500), lambda: spend(8 * 8 * 500 * 500), 8)
