"""Compiled loops of the search for counts: losses by limit, and branch and bound over integer weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.jit import njit

Array = NDArray[Any]
MAX_LEAD = 15  # limits are between -MAX_LEAD and MAX_LEAD
WIDTH = 2 * MAX_LEAD + 3  # classes of leads: below all limits, -MAX_LEAD to MAX_LEAD, above
ZERO = MAX_LEAD + 1
MAX_NUMBERS = 6  # that a rule may take to remember


@njit()
def _curves(out: Array, low: Array, high: Array, wrong: Array, base: Array) -> None:
    """Compute a lower bound of the loss for each limit: out (3, WIDTH), for double, redouble and pass from a lead on.

    low, high : (N,) index (0 to WIDTH - 1) of the least and the greatest lead that a position may have.
    wrong : (N, 3, 2) loss of a no and of a yes. base : (3,) loss of other positions, independent of the limits.
    """
    yes = np.zeros((3, WIDTH + 1))
    no = np.zeros((3, WIDTH + 1))
    for i in range(low.size):
        for k in range(3):
            no[k, high[i] + 1] += wrong[i, k, 0]
            yes[k, low[i]] += wrong[i, k, 1]
    for k in range(3):
        total = base[k]
        for x in range(WIDTH - 1, -1, -1):
            total += yes[k, x]
            out[k, x] = total
        total = 0.0
        for x in range(WIDTH):
            total += no[k, x]
            out[k, x] += total


@njit()
def _limits(out: Array, places: Array, losses: Array) -> None:
    """Find the best limits that take 0, 1, 2, 3 numbers to remember.

    A limit of 0 takes no number, and equal limits take one together. The limit of takes is the greatest lead with
    which to take, one less than that of passes.

    Parameters
    ----------
    out : (4,), filled with the least losses.
    places : (4, 3), filled with the limits.
    losses : (3, WIDTH), from `_curves`.
    """
    out[:] = np.inf
    at = np.empty(3, np.int64)
    joined = np.empty(3, np.int64)
    for code in range(64):  # each limit is 0 (mark 0) or has the number of its mark
        for k in range(3):
            joined[k] = code // 4**k % 4
        used = 0
        total = 0.0
        for mark in range(4):
            best = 0.0
            best_x = 0
            if (joined == mark).any():
                used += int(mark > 0)
                best = np.inf
                for x in range(1, WIDTH - 1) if mark else range(ZERO, ZERO + 1):
                    value = 0.0
                    for k in range(3):
                        if joined[k] == mark:
                            value += losses[k, x + int(k == 2)]
                    if value < best:
                        best = value
                        best_x = x
                at[joined == mark] = best_x
            total += best
        if total < out[used]:
            out[used] = total
            for k in range(3):  # assigning the array would compile a list for its error message
                places[used, k] = at[k]


@njit("f8.1C, i8.2C, i8.2C, i8.1C, i8.2C, i8, f8.3C, f8.1C, i8")
def search_box(
    best: Array, found: Array, box: Array, constant: Array, terms: Array, part: int, wrong: Array, base: Array,
    numbers: int,
) -> None:  # fmt: skip
    """Find better weights in a box, by branch and bound.

    Parameters
    ----------
    best : (MAX_NUMBERS + 1,) the least loss by numbers to remember, improved in place.
    found : (MAX_NUMBERS + 1, terms + 3) weights and limits of these rules.
    box : (terms, 2) least and greatest weight of each term.
    constant, terms : (N,), (N, terms) int64, the lead without terms and the change by each weight, in 1 / `part`.
    part : unit of the lead.
    wrong, base : see `_curves`.
    numbers : how many the rule takes to remember, besides its limits.
    """
    many = box.shape[0]
    stack = np.empty((64 * (many + 1), many, 2), np.int64)
    for j in range(many):
        stack[0, j, 0] = box[j, 0]
        stack[0, j, 1] = box[j, 1]
    held = 1
    low = np.empty(constant.size, np.int64)
    high = np.empty(constant.size, np.int64)
    losses = np.empty((3, WIDTH))
    out = np.empty(4)
    places = np.zeros((4, 3), np.int64)
    while held:
        held -= 1
        node = stack[held].copy()
        for i in range(constant.size):
            least = most = constant[i]
            for j in range(many):
                one = node[j, 0] * terms[i, j]
                other = node[j, 1] * terms[i, j]
                least += min(one, other)
                most += max(one, other)
            low[i] = min(max(-(-least // part) + ZERO, 0), WIDTH - 1)
            high[i] = min(max(-(-most // part) + ZERO, 0), WIDTH - 1)
        _curves(losses, low, high, wrong, base)
        _limits(out, places, losses)
        widest = 0
        for j in range(many):
            if node[j, 1] - node[j, 0] > node[widest, 1] - node[widest, 0]:
                widest = j
        leaf = many == 0 or node[widest, 0] == node[widest, 1]
        better = False
        for used in range(4):
            total = numbers + used
            if total > MAX_NUMBERS or out[used] >= best[total] - 1e-12:
                continue
            better = True
            if leaf:
                for k in range(total, MAX_NUMBERS + 1):
                    if out[used] < best[k]:
                        best[k] = out[used]
                        for j in range(many):
                            found[k, j] = node[j, 0]
                        for j in range(3):
                            found[k, many + j] = places[used, j] - ZERO
        if better and not leaf:
            middle = (node[widest, 0] + node[widest, 1]) // 2
            for j in range(many):
                stack[held + 1, j, 0] = node[j, 0]
                stack[held + 1, j, 1] = node[j, 1]
            stack[held, widest, 0] = middle + 1
            stack[held + 1, widest, 1] = middle
            held += 2
