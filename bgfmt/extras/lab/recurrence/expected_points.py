"""Expected points from the rules alone: the cubeless equities of both sides, in float64."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from bgfmt.verifier.recurrence.two_sided import remade_in_floats

Array = NDArray[Any]


def worth_of(points: int, chequers: int) -> Array:
    """(n, n) float64 expected points of every pair of sides that both have chequers left, n = C(N + M, M) - 1."""
    return remade_in_floats(points, chequers, 1, "f8")[1:, 1:, 0]
