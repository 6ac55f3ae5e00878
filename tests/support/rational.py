"""Equities and expected rolls in whole numbers over one power of 36, in which nothing is rounded.

Every roll divides by 36 once and takes a pip or more, so with M pips left every value is a multiple of 36 ** -M.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, pips, plays


def list_plays(points: int, chequers: int) -> list[list[tuple[int, Array]]]:
    """Return for each position number its 21 rolls as (weight 1 or 2, array of the distinct positions after it)."""
    starts, results = plays(points, chequers)
    after = np.split(results, starts[1:-1])
    weights = WEIGHTS.tolist()
    return [list(zip(weights, after[x : x + ROLLS], strict=True)) for x in range(0, len(after), ROLLS)]


def rational_equities(points: int, chequers: int) -> tuple[Any, int]:
    """Compute the exact equities of all pairs as Python integers; return (values, scale).

    values[us, them] / scale are the equities of `us`, on roll: cubeless, owned, centered and opponent's cube.
    """
    ways = list_plays(points, chequers)
    scale = 36 ** (2 * points * chequers)
    n = len(ways)
    depth = pips(points, chequers)
    values = np.full((n, n, 4), -scale, object)
    values[0] = scale
    turned = -values
    us, them = np.divmod(np.arange(n * n), n)
    for number in np.argsort(depth[us] + depth[them], kind="stable").tolist():
        u, t = divmod(number, n)
        if u and t:
            total = sum(weight * turned[t, after].max(axis=0) for weight, after in ways[u])
            e0, e1, e2, e3 = values[u, t] = total // 36
            double = min(scale, 2 * e3)
            turned[u, t] = -e0, -e3, -max(e2, double), -max(e1, double)
    return values, scale


def rational_means(points: int, chequers: int) -> list[Fraction]:
    """Return the exact least expected number of rolls to bear off, by position number."""
    ways = list_plays(points, chequers)
    scale = 36 ** (1 + points * chequers)
    means = np.zeros(len(ways), object)
    for x in range(1, len(ways)):
        means[x] = scale + sum(weight * means[after].min() for weight, after in ways[x]) // 36
    return [Fraction(mean, scale) for mean in means]
