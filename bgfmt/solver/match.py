"""Solver of match-score tables, and of exact two-sided tables, by pip layers.

The method is that of `bgfmt.analysis.ondemand` for one position, but for all boards: player a's boards are taken by
rising pips, each against all of b's. Values to a with b on roll are kept for a's boards of the last 24 pip counts;
a's value on roll is a running maximum along those rows, and for a block of a's boards side by side, that of b on roll
is one over the boards that b's lead to. Blocks of one pip count are independent, so threads do not change results.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np

from bgfmt.game import board
from bgfmt.met import load
from bgfmt.met.model import Met
from bgfmt.met.score import Score
from bgfmt.solver import columns
from bgfmt.solver.kernels import match as kernels
from bgfmt.solver.layers import REACH, Array, layer_cuts, pip_order
from bgfmt.solver.machine import INTERPRETER_BYTES, START_SECONDS, Plan, results_per_position, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import SolveOptions, Solver
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables.match_score import A, B, MatchScore, Results, ScoreFacts

__all__ = ["match_score", "plan_pairs", "solve_pairs"]


BLOCK_LANES = 256  # numbers computed together: boards side by side times columns
MAXIMA_PER_SECOND = 4e9  # float32 maxima on one core, measured


def facts_of(score: Score, *, gammons: bool) -> ScoreFacts:
    """Return what a table of this match score stores of the score and the match equity table."""
    points = {state.value * gain for state in score.cubes for gain in ((1, 2, 3) if gammons else (1,))}
    results = {k: Results(score.after(0, k), score.after(0, -k)) for k in sorted(points)}
    alike = score.away[0] == score.away[1] and all(abs(r.win + r.lose - 1) < 1e-12 for r in results.values())
    met = score.met
    return ScoreFacts(score.away, score.player, met.name, met.digest, results, alike, gammons)


class MatchSolver(Solver):
    """Solver of the table of a match score, with all cube states that can arise from a centered cube at 1."""

    name = "match"
    kind = "match-score"
    recipes = ("match", "exact")
    unit = " pairs"
    most_points = 12
    options = frozenset({"away", "met", "player"})
    fills_out = True

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        away: tuple[int, int],
        met: Met | None = None,
        player: int = 0,
        recipe: str | Recipe | None = None,
    ) -> None:
        """Set up the solve of a table of 1..12 points and 1..15 chequers.

        Parameters
        ----------
        away : points needed by player a and by player b. If one of them needs 1, it is the score after the Crawford
            game; the cubeless column answers for the Crawford game itself.
        met : the match equity table, by default Kazaross-XG2.
        player : which of its players a is.
        recipe : ``match`` (float32 values) or ``exact`` (float64, nothing rounded).

        Raises SolverError for sizes out of range, PositionError or NotCoveredError for the score.
        """
        super().__init__(points, chequers, recipe=recipe)
        self.dtype = np.dtype(np.float32 if self.recipe.rounded else np.float64)
        self.score = Score(away, met or load(), player=player)
        self.gammons = chequers == board.MAX_CHEQUERS
        self.facts = facts_of(self.score, gammons=self.gammons)
        self.columns = columns.match_columns(self.score, gammons=self.gammons, worth=self.facts.worth)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        stored = len(self.facts.states)
        away = self.score.away
        what = (
            f"match table {self.points}x{self.chequers} at {away[0]}-away, {away[1]}-away, {stored} columns"
        )
        planned = plan_pairs(what, self, len(self.columns), threads)
        return self.limit_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers)
        return {"balance": ((n, n, len(self.facts.states)), self.dtype)}

    def table(self, arrays: Mapping[str, Any]) -> MatchScore:
        return MatchScore(
            points=self.points, chequers=self.chequers, score=self.facts, recipe=self.recipe.name,
            provenance="solved by bgfmt", **arrays,
        )  # fmt: skip

    def build_arrays(
        self, workers: Workers, progress: Progress | None, zeros: Any, out: Any
    ) -> dict[str, Any]:
        places = np.full((2, len(self.columns)), -1, np.int64)
        for at, state in enumerate(self.facts.states):
            places[state.roller, self.columns.states.index(state.cube)] = at
        out = zeros(*self.arrays()["balance"]) if out is None else out
        solve_pairs(self, self.columns, places, out, workers, progress, zeros)
        return {"balance": out}


def match_score(
    points: int, chequers: int, away: tuple[int, int], met: Met, *, player: int = 0, dtype: Any = np.float32,
    **how: Unpack[SolveOptions],
) -> MatchScore:  # fmt: skip
    """Solve the table of a match score: match winning chances of all pairs of sides, for each state of the cube.

    away : points that players a and b need. met : the match equity table. player : which of its players, 0 or 1, a
    is. dtype : float32 or float64. how : see `SolveOptions`.
    """
    recipe = "exact" if dtype == np.float64 else "match"
    return MatchSolver(points, chequers, away=away, met=met, player=player, recipe=recipe).solve(**how)  # type: ignore[no-any-return]


def plan_pairs(what: str, solver: Solver, k: int, threads: int | None) -> Plan:
    """Estimate time and memory of `solve_pairs` with `k` columns (cube states).

    what : description of the table. solver : one whose table is a single array.
    """
    ((shape, dtype),) = solver.arrays().values()
    cuts = layer_cuts(solver.points, solver.chequers)
    n = shape[0]
    size = dtype.itemsize
    results = results_per_position(solver.points, solver.chequers)
    threads = min(2, thread_count(threads))
    output = n * n * shape[2] * size
    seconds = START_SECONDS + 2 * n * n * k * results / MAXIMA_PER_SECOND / threads * size / 4
    blocks = threads * n * max(1, BLOCK_LANES // k) * k
    memory = output + (_max_live_rows(cuts) * n * k + blocks) * size + 12 * n * results
    return Plan(what, n * n, seconds, int(memory) + INTERPRETER_BYTES, output + 4096)


def _max_live_rows(cuts: Array) -> int:
    """Return the greatest number of boards whose rows are needed at the same time."""
    layers = len(cuts) - 1
    return max(int(cuts[layer + 1] - cuts[max(0, layer - REACH)]) for layer in range(layers))


def solve_pairs(
    solver: Solver,
    kept: columns.Columns,
    places: Array,
    out: Array,
    workers: Workers,
    progress: Progress | None,
    zeros: Callable[..., Array] = np.zeros,
) -> None:
    """Fill out, (n, n, stored) float32 or float64, with the values of all pairs of sides.

    Parameters
    ----------
    solver : gives points and chequers.
    kept : the K columns (cube states) to solve.
    places : (2, K) index in a record at which each column is stored, for player a on roll and for player b; -1 if it
        is not stored.
    workers : threads.
    progress : called as ``progress(done, total)`` with pairs of boards.
    zeros : allocates the rows of values that are needed again.
    """
    order = pip_order(solver.points, solver.chequers)
    n = order.n
    cuts = order.cuts
    k = len(kept)
    full = board.unrank_array(order.numbers, solver.points).sum(axis=1) == board.MAX_CHEQUERS
    gains = 1 + full.astype(np.int64)  # no chequer is so far back that a backgammon can be lost
    _fill_finished_games(kept, places, gains, order.numbers, out)
    rows = _max_live_rows(cuts)
    ring = zeros((rows, n * k), out.dtype)
    ring[0] = kept.won[A][:, gains].T.reshape(-1)
    width = max(1, BLOCK_LANES // k)
    own = threading.local()
    a, b = (tuple(np.ascontiguousarray(array[side]) for array in kept.doubling) for side in (A, B))
    ring_results = (order.results % rows).astype(np.int32)
    fixed = (
        ring, order.ends, ring_results, order.results, gains, a, b, np.ascontiguousarray(kept.won[B]), places[A],
        places[B], order.numbers,
    )  # fmt: skip

    def block(part: tuple[int, int]) -> None:
        if not hasattr(own, "near"):
            own.near = np.empty((n, width * k), out.dtype)
        kernels.solve_block(*part, *fixed, own.near, out)

    for layer in range(1, order.layers):
        start = int(cuts[layer])
        end = int(cuts[layer + 1])
        step = max(1, min(width, -(-(end - start) // workers.workers)))
        workers.do(block, [(low, min(low + step, end)) for low in range(start, end, step)])
        if progress is not None:
            progress(end * n, n * n)


def _fill_finished_games(
    kept: columns.Columns, places: Array, gains: Array, numbers: Array, out: Array
) -> None:
    """Fill in the pairs in which a side has no chequers left: on roll it has won, otherwise the other side has."""
    for side in (A, B):
        for k in range(len(kept)):
            if places[side, k] >= 0:
                out[numbers, 0, places[side, k]] = 0.0 - kept.won[1 - side, k, gains]  # never minus nought
                out[0, numbers, places[side, k]] = kept.won[side, k, gains]
