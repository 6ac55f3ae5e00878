"""Compiled lists of where each position's rolls lead, and of what leads to each position."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.kernels_plays import double_plays, first_moves, single_plays, survey, unrank

Array = Any


@njit()
def successors(points: int, n: int, terms: Array, steps: Array, room: int) -> Any:
    """Distinct positions after each roll of every position: (starts (21 n + 1,) int64, results int32).

    The results of roll r of position x are results[starts[21 x + r] : starts[21 x + r + 1]].
    """
    above = np.zeros(points + 1, np.int64)
    falls = np.zeros(points + 1, np.int64)
    sources = np.zeros(points, np.int64)
    numbers = np.zeros((6, points), np.int64)
    boards = np.zeros((6, points, points + 1), np.int64)
    board_falls = np.zeros((6, points, points + 1), np.int64)
    board_sources = np.zeros((6, points, points), np.int64)
    board_found = np.zeros((6, points), np.int64)
    out = np.zeros(room, np.int64)
    one, two, three = (
        np.empty(points + 1, np.int64),
        np.empty(points + 1, np.int64),
        np.empty(points + 1, np.int64),
    )
    falls2, falls3 = np.empty(points + 1, np.int64), np.empty(points + 1, np.int64)
    sources2, sources3 = np.empty(points + 1, np.int64), np.empty(points + 1, np.int64)
    seen = np.full(n, -1, np.int32)
    starts = np.zeros(21 * n + 1, np.int64)
    results = np.empty(64 * n + 1024, np.int32)
    used = 0
    starts[1:22] = 0
    for x in range(1, n):
        unrank(x, points, terms, above)
        found = survey(points, above, steps, falls, sources)
        first_moves(
            points, x, above, steps, falls, sources, found, numbers, boards, board_falls, board_sources,
            board_found,
        )  # fmt: skip
        for a in range(6):
            for b in range(a + 1):
                if a == b:
                    count = double_plays(
                        points, a, found, sources, numbers, boards, board_falls, board_sources, board_found, steps,
                        out, one, two, three, falls2, falls3, sources2, sources3,
                    )  # fmt: skip
                else:
                    count = single_plays(
                        points, a, b + 1, found, numbers, board_falls, board_sources, board_found, out, 0
                    )
                    count = single_plays(
                        points, b, a + 1, found, numbers, board_falls, board_sources, board_found, out, count
                    )
                roll = 21 * x + a * (a + 1) // 2 + b
                if used + count > len(results):
                    larger = np.empty(2 * len(results) + count, np.int32)
                    larger[:used] = results[:used]
                    results = larger
                mark = np.int32(roll % 2147483647)
                for q in range(count):
                    if seen[out[q]] != mark:
                        seen[out[q]] = mark
                        results[used] = out[q]
                        used += 1
                starts[roll + 1] = used
    return starts, results[:used].copy()


@njit()
def predecessors(n: int, starts: Array, results: Array) -> Any:
    """For each position, those that can be played to it, each once: (starts (n + 1,) int64, positions int32)."""
    last = np.full(n, -1, np.int32)
    begins = np.zeros(n + 1, np.int64)
    for x in range(1, n):
        for q in range(starts[21 * x], starts[21 * x + 21]):
            j = results[q]
            if last[j] != x:
                last[j] = x
                begins[j + 1] += 1
    for j in range(n):
        begins[j + 1] += begins[j]
    fill = begins[:-1].copy()
    before = np.empty(begins[n], np.int32)
    last[:] = -1
    for x in range(1, n):
        for q in range(starts[21 * x], starts[21 * x + 21]):
            j = results[q]
            if last[j] != x:
                last[j] = x
                before[fill[j]] = x
                fill[j] += 1
    return begins, before
