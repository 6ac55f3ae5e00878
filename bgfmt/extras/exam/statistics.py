"""Means, standard errors and significance tests of answers that are grouped by position.

A set asks about one position several times: at several scores, with several rolls, as a double and as a take. An
engine that misjudges a position errs in all of these questions, so the independent unit is the position. The
standard error is therefore cluster-robust, and the test that compares two engines flips the signs of whole positions
(which holds its level for skewed losses most of which are 0). tests/extras/exam/test_statistics.py simulates both.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bgfmt.extras.exam.sets import Array

EXACT_LIMIT = 13  # up to this many differing positions all 2^n combinations of signs are tried
DRAWS = 9_999  # random combinations of signs for more
DRAWN_LIMIT = 4_096  # positions whose signs are drawn; the sum of the others is a normal deviate
CHUNK = 256  # draws at a time
TIE = 1e-9  # relative difference of two sums that are equal


def weighted_mean(values: Array, weight: Array, clusters: Array) -> tuple[float, float | None]:
    """Return the weighted mean of M values and its cluster-robust standard error.

    Parameters
    ----------
    values, weight : (M,) float64. Without values the mean is 0.
    clusters : (M,) integers from 0; values with the same number are not independent of each other.

    Returns
    -------
    The mean, and the standard error, which is None with fewer than two clusters.
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
    """Return the two-sided mid-p value of the hypothesis that differences are symmetric about 0.

    This is a permutation test that flips the signs of whole clusters. With up to `EXACT_LIMIT` clusters whose sum is
    not 0 it tries every combination of signs; with more it draws `DRAWS` random ones (the same in each call), so that
    no p is below 0.5 / (DRAWS + 1).

    Parameters
    ----------
    differences : (M,) float64.
    clusters : (M,) integers from 0; differences with the same number are dependent and flipped together.
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
    """Return the absolute sums of n numbers under each of the 2^n combinations of signs."""
    choices = (np.arange(1 << len(sums))[:, None] >> np.arange(len(sums))) & 1
    totals: Array = (1 - 2 * choices) @ sums
    return np.abs(totals)


def _random_sums(sums: Array) -> Array:
    """Return the absolute sums of numbers under `DRAWS` random combinations of signs.

    Only the `DRAWN_LIMIT` largest numbers get a sign each; the sum of the others is drawn from a normal distribution
    of the same variance.
    """
    rng = np.random.default_rng(0)
    order = np.argsort(-np.abs(sums), kind="stable")
    large = sums[order[:DRAWN_LIMIT]]
    spread = sqrt(float((sums[order[DRAWN_LIMIT:]] ** 2).sum()))
    out = rng.normal(0.0, spread, DRAWS)
    for start in range(0, DRAWS, CHUNK):
        part = out[start : start + CHUNK]
        flips = rng.integers(0, 2, (len(part), len(large)), np.int8)
        part += large.sum() - 2 * (flips @ large)
    return np.abs(out)
