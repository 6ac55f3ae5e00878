"""Tables of a match score, and exact two-sided tables, layer by layer of pips.

As on demand for one position (`bgfmt.analysis.ondemand`), but for all boards: player a's are taken by rising pips,
each against all of b's. Kept is what a pair is worth to a when b is on roll, for a's boards of the last 24 pip
counts; a's value on roll is a running maximum along those rows, and for a block of a's boards side by side that of b
on roll is one over what b's boards lead to. Blocks of one pip count are independent: threads change no number.
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
from bgfmt.solver.machine import INTERPRETER_BYTES, START_SECONDS, Plan, results_a_position, thread_count
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import How, Solver
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers
from bgfmt.tables.match_score import A, B, MatchScore, Results, ScoreFacts

LANES = 256  # boards side by side times columns
SPEED = 4e9  # float32 maxima a second on one core, measured


def facts_of(score: Score, *, gammons: bool) -> ScoreFacts:
    """The score as a table keeps it."""
    points = {state.value * gain for state in score.cubes for gain in ((1, 2, 3) if gammons else (1,))}
    results = {k: Results(score.after(0, k), score.after(0, -k)) for k in sorted(points)}
    alike = score.away[0] == score.away[1] and all(abs(r.win + r.lose - 1) < 1e-12 for r in results.values())
    met = score.met
    return ScoreFacts(score.away, score.player, met.name, met.digest, results, alike, gammons)


class MatchSolver(Solver):
    """The table of a match score: all cube states that can arise from a centered cube at 1."""

    name = "match"
    kind = "match-score"
    recipes = ("match", "exact")
    unit = " pairs"
    most_points = 12
    options = frozenset({"away", "met", "player"})
    fills = True

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
        """1..12 points, 1..15 chequers; recipe ``match`` has float32 numbers, ``exact`` float64 ones that nothing
        was rounded off.

        away : points needed by player a and by player b. Where one needs 1 it is the score after the Crawford game;
            the cubeless column answers for the Crawford game itself.
        met : the match equity table, by default Kazaross-XG2; player : which of its players a is.

        SolverError for sizes out of range; PositionError or NotCoveredError for the score.
        """
        super().__init__(points, chequers, recipe=recipe)
        self.dtype = np.dtype(np.float32 if self.recipe.rounded else np.float64)
        self.score = Score(away, met or load(), player=player)
        self.gammons = chequers == board.MAX_CHEQUERS
        self.facts = facts_of(self.score, gammons=self.gammons)
        self.columns = columns.for_match(self.score, gammons=self.gammons, worth=self.facts.worth)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        stored = len(self.facts.states)
        away = self.score.away
        what = (
            f"match table {self.points}x{self.chequers} at {away[0]}-away, {away[1]}-away, {stored} columns"
        )
        planned = plan_pairs(what, self, len(self.columns), threads)
        return self.in_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers)
        return {"balance": ((n, n, len(self.facts.states)), self.dtype)}

    def table(self, arrays: Mapping[str, Any]) -> MatchScore:
        return MatchScore(
            points=self.points, chequers=self.chequers, score=self.facts, recipe=self.recipe.name,
            provenance="solved by bgfmt", **arrays,
        )  # fmt: skip

    def made(self, workers: Workers, progress: Progress | None, zeros: Any, out: Any) -> dict[str, Any]:
        places = np.full((2, len(self.columns)), -1, np.int64)
        for at, state in enumerate(self.facts.states):
            places[state.roller, self.columns.states.index(state.cube)] = at
        out = zeros(*self.arrays()["balance"]) if out is None else out
        solve_pairs(self, self.columns, places, out, workers, progress, zeros)
        return {"balance": out}


def match_score(
    points: int, chequers: int, away: tuple[int, int], met: Met, *, player: int = 0, dtype: Any = np.float32,
    **how: Unpack[How],
) -> MatchScore:  # fmt: skip
    """Solve the table of a match score; arguments as of `MatchSolver` and `How`, dtype float32 or float64."""
    recipe = "exact" if dtype == np.float64 else "match"
    return MatchSolver(points, chequers, away=away, met=met, player=player, recipe=recipe).solve(**how)  # type: ignore[no-any-return]


def plan_pairs(what: str, solver: Solver, k: int, threads: int | None) -> Plan:
    """What `solve_pairs` takes with `k` columns, for a solver whose one array takes the numbers."""
    ((shape, dtype),) = solver.arrays().values()
    cuts = layer_cuts(solver.points, solver.chequers)
    n = shape[0]
    size = dtype.itemsize
    results = results_a_position(solver.points, solver.chequers)
    threads = min(2, thread_count(threads))
    output = n * n * shape[2] * size
    seconds = START_SECONDS + 2 * n * n * k * results / SPEED / threads * size / 4
    blocks = threads * n * max(1, LANES // k) * k
    memory = output + (_rows(cuts) * n * k + blocks) * size + 12 * n * results
    return Plan(what, n * n, seconds, int(memory) + INTERPRETER_BYTES, output + 4096)


def _rows(cuts: Array) -> int:
    """The most boards whose rows are needed at a time."""
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
    """Fill out, (n, n, stored) float32 or float64, with the values of all pairs.

    places (2, K) : where in a record each of the K columns of player a on roll, and of player b, goes; -1 nowhere.
    progress : called as ``progress(done, total)`` with pairs of boards. zeros : makes the rows that are needed again.
    """
    order = pip_order(solver.points, solver.chequers)
    n = order.n
    cuts = order.cuts
    k = len(kept)
    full = board.unrank_array(order.numbers, solver.points).sum(axis=1) == board.MAX_CHEQUERS
    gains = 1 + full.astype(np.int64)  # no chequer is so far back that a backgammon can be lost
    _terminal(kept, places, gains, order.numbers, out)
    rows = _rows(cuts)
    ring = zeros((rows, n * k), out.dtype)
    ring[0] = kept.won[A][:, gains].T.reshape(-1)
    width = max(1, LANES // k)
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


def _terminal(kept: columns.Columns, places: Array, gains: Array, numbers: Array, out: Array) -> None:
    """Pairs in which a side has no chequers left: on roll it has won, otherwise the other has."""
    for side in (A, B):
        for k in range(len(kept)):
            if places[side, k] >= 0:
                out[numbers, 0, places[side, k]] = 0.0 - kept.won[1 - side, k, gains]  # never minus nought
                out[0, numbers, places[side, k]] = kept.won[side, k, gains]
