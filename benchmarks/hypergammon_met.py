"""How far models of a match equity table are from the exact one of hypergammon.

python -m benchmarks.hypergammon_met EXACT.xml CHEQUERS [TABLE]

EXACT.xml : by `bgfmt solve hypergammon-met LENGTH --exact --chequers CHEQUERS`. TABLE : of hypergammon, else solved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from bgfmt import met
from bgfmt.extras.hypergammon.met import evaluate_opening, make_met
from bgfmt.extras.hypergammon.solver import hypergammon
from bgfmt.files.database import load
from bgfmt.met.model import Met

Chance = Callable[[int, int], float]


def janowski(mine: int, other: int) -> float:
    """Rick Janowski's formula for backgammon: 0.5 + 0.85 * lead / (points of the trailer + 6)."""
    return 0.5 + 0.85 * (other - mine) / (max(mine, other) + 6)


def normal(mine: int, other: int) -> float:
    """The normal distribution after Zadeh, with gnubg's deviations, by which it extends tables."""
    empty = Met("", (), ((), ()), extended=True)
    return empty.mwc((mine, other))


def main(exact: str, chequers: str, *tables: str) -> None:
    known = met.load(exact)
    table = load(tables[0]) if tables else hypergammon(int(chequers), recipe="exact").table
    wins = evaluate_opening(table).wins  # type: ignore[arg-type]
    ours, backgammon = make_met(known.length, wins, name="today"), met.load()
    models: dict[str, Chance] = {
        "today's hypergammon-met (Keith's method, Janowski's cube)": lambda a, b: ours.mwc((a, b)),
        "Kazaross-XG2, of backgammon": lambda a, b: backgammon.mwc((a, b)),
        "Janowski's formula, of backgammon": janowski,
        "normal, after Zadeh, with gnubg's deviations": normal,
    }
    pairs = [(a, b) for a in range(1, known.length + 1) for b in range(a + 1, known.length + 1)]
    print(f"{Path(exact).name}: gammons {wins.gammon:.4f}, backgammons {wins.backgammon:.4f} of wins")
    for name, model in models.items():
        gaps = {pair: model(*pair) - known.mwc(pair) for pair in pairs}
        worst = max(gaps, key=lambda pair: abs(gaps[pair]))
        mean = sum(map(abs, gaps.values())) / len(gaps)
        print(f"| {name} | {100 * mean:.2f} | {100 * gaps[worst]:+.2f} at {worst[0]}-away, {worst[1]}-away |")


if __name__ == "__main__":
    main(*sys.argv[1:])
