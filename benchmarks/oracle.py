"""How far rollout values are from exact ones: python benchmarks/oracle.py [TABLE] [POSITIONS] [ERROR].

    python benchmarks/oracle.py cost [POSITIONS]

says instead how near races of fifteen chequers on twelve random points each come in one second on all cores, and how
long each takes to the default standard error.

TABLE : points x chequers of a two-sided table that is solved for it, such as 8x8. Positions with a chequer outside a
home board are drawn evenly among pairs, and played out until no standard error is greater than ERROR.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import bgfmt
from bgfmt import solver
from bgfmt.analysis.answers import COLUMNS
from bgfmt.extras.races.rollouts import WITHIN_99, Oracle, allowance
from bgfmt.game import board
from bgfmt.game.board import Position, Side


def main(size: str = "8x8", many: str = "1000", error: str = "0.0005") -> None:
    points, chequers = map(int, size.split("x"))
    table = solver.two_sided(points, chequers)
    rng, oracle = np.random.default_rng(1), Oracle(2)
    found: list[list[tuple[float, float, float]]] = []
    began = time.perf_counter()
    while len(found) < int(many):
        us, them = (
            Side.from_number(int(n), points) for n in rng.integers(1, board.count(points, chequers), 2)
        )
        if max(us.highest, them.highest) > 6 >= min(points, 6):
            exact = table.lookup_many([us], [them])[0]
            played = oracle.play_out(Position(us, them), error=float(error), seed=len(found))
            values = [getattr(played, name) for name in COLUMNS]
            room = allowance(played.position)
            found.append([(v.value - e, v.standard_error, room) for v, e in zip(values, exact, strict=True)])
    off, errors, more = np.moveaxis(np.array(found), 2, 0)
    print(f"{size}: {many} positions, {(time.perf_counter() - began) / len(found) * 1e3:.0f} ms each")
    for name, o, e, m in zip(COLUMNS, off.T, errors.T, more.T, strict=True):
        beyond = np.sqrt(max(0.0, np.mean(o**2 - e**2)))
        inside = [np.mean(np.abs(o) <= WITHIN_99 * e + a) for a in (m, 0.0)]
        print(
            f"{name:>9}: rms {np.sqrt(np.mean(o**2)):.6f}, standard error {np.sqrt(np.mean(e**2)):.6f}, beyond it "
            f"{beyond:.6f}, mean {o.mean():+.6f}, within 99 % {inside[0]:.2%}, without allowance {inside[1]:.2%}, "
            f"largest {np.abs(o).max():.6f}, needs {np.sort(np.abs(o) - WITHIN_99 * e)[int(0.99 * len(o))]:.6f}"
        )


def cost(many: str = "16") -> None:
    rng, errors, took = np.random.default_rng(12), [], []
    for seed in range(int(many) + 1):
        sides = [np.bincount(rng.integers(0, 12, 15), minlength=12).tolist() for _ in range(2)]
        race = Position(Side(*sides[0]), Side(*sides[1]))
        played = bgfmt.analysis.play_out(race, seconds=1.0, seed=seed)
        began = time.process_time()
        bgfmt.analysis.play_out(race, seed=seed)
        if seed:  # the first one compiles, and reads the tables
            errors.append([getattr(played, name).standard_error for name in COLUMNS])
            took.append(time.process_time() - began)
    for name, found in zip(COLUMNS, np.array(errors).T, strict=True):
        print(f"{name:>9}: standard error after a second {np.median(found):.6f}, at most {found.max():.6f}")
    print(
        f"to 0.0005: {np.median(took):.2f} s of processor time, mean {np.mean(took):.2f}, at most {max(took):.2f}"
    )


if sys.argv[1:2] == ["cost"]:
    cost(*sys.argv[2:])
else:
    main(*sys.argv[1:])
