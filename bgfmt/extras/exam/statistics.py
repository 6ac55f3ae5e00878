"""Means, standard errors and tests of answers that are grouped by position.

A set asks about one position several times: at several scores, with several rolls, as a double and as a take. An
engine that misjudges a position errs in all of these questions, so that the position is the independent unit. The
standard error is the cluster-robust one; the test of two engines flips the signs of whole positions, which holds its
level for skewed losses of which few differ from 0. Both are simulated in tests/extras/exam/test_statistics.py.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bgfmt.extras.exam.sets import Array

EXACT_LIMIT = 13  # most positions that differ of which all 2^n signs are tried
DRAWS = 9_999  # random signs tried of more
DRAWN_LIMIT = 4_096  # most positions whose signs are drawn one by one; the others add up to a normal deviate
CHUNK = 256  # draws at a time
TIE = 1e-9  # relative difference of two sums that are equal


def weighted_mean(values: Array, weight: Array, clusters: Array) -> tuple[float, float | None]:
    """Return the weighted mean of (M,) values, 0 of none, and its cluster-robust standard error.

    clusters : (M,) integers from 0, equal for values that are not independent. The standard error is None with less
    than two clusters.
    """
    if not len(values):
        return 0.0, None
    whole = float(weight.sum())
    mean = float(np.average(values, weights=weight))
    sums = np.bincount(clusters, weight * (values - mean))
    count = len(np.unique(clusters))
    if count == 1:
        return mean, None
    return mean, sqrt(float((sums**2).sum()) * count / (count - 1)) / whole


def sign_flip_p(differences: Array, clusters: Array) -> float:
    """Return the two-sided mid-p value that (M,) differences are symmetric about 0, by flipping signs of clusters.

    Up to `EXACT_LIMIT` clusters with a sum other than 0 every choice of signs is tried, of more `DRAWS` random ones,
    the same in each call, so that no p is below 0.5 / (DRAWS + 1).
    """
    sums = np.bincount(clusters, differences) if len(differences) else np.zeros(0)
    sums = sums[np.abs(sums) > TIE * np.abs(differences).sum()] if len(sums) else sums
    if not len(sums):
        return 1.0
    found = abs(float(sums.sum()))
    slack = TIE * float(np.abs(sums).sum())
    exact = len(sums) <= EXACT_LIMIT
    others = _all_sums(sums) if exact else _random_sums(sums)
    above = int((others > found + slack).sum())
    equal = int((np.abs(others - found) <= slack).sum())
    if exact:
        return (above + equal / 2) / len(others)
    return (above + (1 + equal) / 2) / (len(others) + 1)


def _all_sums(sums: Array) -> Array:
    """Return (2^n,) absolute sums of n numbers with every choice of signs."""
    choices = (np.arange(1 << len(sums))[:, None] >> np.arange(len(sums))) & 1
    totals: Array = (1 - 2 * choices) @ sums
    return np.abs(totals)


def _random_sums(sums: Array) -> Array:
    """Return (DRAWS,) absolute sums with random signs.

    Of more than `DRAWN_LIMIT` numbers the smallest are added as a normal deviate of their variance.
    """
    rng = np.random.default_rng(0)
    order = np.argsort(-np.abs(sums), kind="stable")
    large = sums[order[:DRAWN_LIMIT]]
    spread = sqrt(float((sums[order[DRAWN_LIMIT:]] ** 2).sum()))
    out = rng.normal(0.0, spread, DRAWS)
    width = -(-len(large) // 8)  # bytes of a draw
    for start in range(0, DRAWS, CHUNK):
        part = out[start : start + CHUNK]
        flips = np.unpackbits(rng.integers(0, 256, (len(part), width), np.uint8), axis=1, count=len(large))
        part += large.sum() - 2 * (flips.astype(np.float64) @ large)
    return np.abs(out)
