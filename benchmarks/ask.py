"""Timings of the questions: plays and cube actions in bulk, and single decisions.

    python benchmarks/ask.py TWO_SIDED.bd [ONE_SIDED.bd]

A two-sided table of six points and eight chequers is what the figures in docs/ask.md were taken with. Compiled
loops are warmed up first; `NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1` keeps everything on one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bgfmt
from bgfmt import Advisor, GameState
from bgfmt.analysis import cube_actions, race_many, rank_many
from bgfmt.analysis.races import twosided_many
from bgfmt.game.board import Position, Side, unrank_array


def best(what: str, work: Callable[[], Any], times: int = 3) -> Any:
    """Run a few times, print the shortest wall time, return the last answer."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - begin)
    print(f"{what:<58} {min(seconds):8.3f} s")
    return answer


def main(arguments: list[str]) -> None:
    """Time everything."""
    rng = np.random.default_rng(7)
    with bgfmt.open(arguments[0]) as db:
        print(db)
        n = db.table.positions
        us, them = rng.integers(1, n, (2, 100_000))
        rolls = rng.integers(1, 7, (100_000, 2))
        begin = time.perf_counter()
        rank_many(db, us[:10], them[:10], rolls[:10])
        print(f"{'first call (loads or makes the compiled loops)':<58} {time.perf_counter() - begin:8.3f} s")
        ranked = best("rank 100,000 (position, roll) pairs, cubeful", lambda: rank_many(db, us, them, rolls))
        print(f"  {len(ranked.results):,} plays")
        best("the same, cubeless", lambda: rank_many(db, us, them, rolls, measure="cubeless"))
        us, them = rng.integers(1, n, (2, 1_000_000))
        values = best("look up a million positions' equities", lambda: db.lookup_many(us, them))
        best("cube actions of a million positions", lambda: cube_actions(values, db.table))
        positions = [
            Position(*(Side.from_number(int(k), db.table.points) for k in pair))
            for pair in zip(us[:500], them[:500], strict=True)
        ]
        dice = [(int(a), int(b)) for a, b in rolls[:500]]
        advisor = Advisor(db, calculate="nothing")
        best(
            "500 single decisions: all plays ranked",
            lambda: [advisor.plays(GameState.of(p, r)) for p, r in zip(positions, dice, strict=True)],
        )
        best("500 single decisions: cube", lambda: [advisor.cube(GameState.of(p)) for p in positions])
    if len(arguments) > 1:
        with bgfmt.open(arguments[1]) as db:
            print(db)
            numbers = rng.integers(1, db.table.positions, 100_000)
            best("100,000 races", lambda: race_many(db, numbers))
            counts = unrank_array(numbers, db.table.points)
            best("100,000 pairs: win and gammon chances", lambda: twosided_many(db, counts, counts[::-1]))
            best(
                "rank 100,000 (side, roll) by mean",
                lambda: rank_many(db, numbers, None, rolls, measure="mean"),
            )


if __name__ == "__main__":
    main(sys.argv[1:])
