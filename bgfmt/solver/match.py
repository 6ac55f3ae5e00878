"""Tables of a match score, layer by layer of pips.

As on demand for one position (`bgfmt.analysis.ondemand`), but for all boards: player a's are taken by rising pips,
each against all of b's. Kept is what a pair is worth to a when b is on roll, for a's boards of the last 24 pip
counts; a's value on roll is a running maximum along those rows, and for a block of a's boards side by side that of b
on roll is one over what b's boards lead to. Blocks of one pip count are independent: threads change no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import SolverError
from bgfmt.game import board
from bgfmt.met.model import Met
from bgfmt.met.score import Score
from bgfmt.solver import columns
from bgfmt.solver.layers import REACH, layer_cuts, pip_order
from bgfmt.solver.machine import check_memory, thread_count
from bgfmt.solver.plan import INTERPRETER_BYTES, START_SECONDS, Plan, results_a_position
from bgfmt.solver.recipe import Recipe
from bgfmt.solver.registry import Solver
from bgfmt.solver.waves import Progress
from bgfmt.solver.workers import Workers, threads_or
from bgfmt.tables.match_score import A, B, Cube, MatchScore, Results, ScoreFacts, State

Array = NDArray[Any]
MAX_POINTS = 12
LANES = 256  # boards side by side times columns
SPEED = 4e9  # float32 maxima a second on one core, measured


def check_size(points: int, chequers: int) -> None:
    """SolverError unless 1..12 points and 1..15 chequers."""
    if not 1 <= points <= MAX_POINTS or not 1 <= chequers <= board.MAX_CHEQUERS:
        raise SolverError(
            f"match tables have 1 to {MAX_POINTS} points and 1 to {board.MAX_CHEQUERS} chequers, "
            f"not {points} and {chequers}"
        )


def facts_of(score: Score, *, gammons: bool) -> ScoreFacts:
    """The score as a table keeps it."""
    points = {state.value * gain for state in score.states for gain in ((1, 2, 3) if gammons else (1,))}
    results = {k: Results(score.after(0, k), score.after(0, -k)) for k in sorted(points)}
    alike = score.away[0] == score.away[1] and all(abs(r.win + r.lose - 1) < 1e-12 for r in results.values())
    met = score.met
    return ScoreFacts(score.away, score.player, met.name, met.digest, results, alike, gammons)


def plan_match_score(
    points: int,
    chequers: int,
    away: tuple[int, int],
    met: Met,
    *,
    player: int = 0,
    threads: int | None = None,
    dtype: Any = np.float32,
) -> Plan:
    """What solving the table of a score will take; errors as `match_score`."""
    check_size(points, chequers)
    score = Score(away, met, player=player)
    gammons = chequers == board.MAX_CHEQUERS
    kept = columns.for_match(score, gammons=gammons)
    stored = len(facts_of(score, gammons=gammons).states)
    cuts, k, size = layer_cuts(points, chequers), len(kept), np.dtype(dtype).itemsize
    n, width = int(cuts[-1]), max(1, LANES // k)
    results = results_a_position(points, chequers)
    threads = min(2, thread_count(threads))
    output = n * n * stored * size
    seconds = START_SECONDS + 2 * n * n * k * results / SPEED / threads * size / 4
    memory = output + _rows(cuts) * n * k * size + threads * n * width * k * size + 12 * n * results
    what = f"match table {points}x{chequers} at {away[0]}-away, {away[1]}-away, {stored} columns"
    return Plan(what, n * n, seconds, int(memory) + INTERPRETER_BYTES, output + 4096)


class MatchSolver(Solver):
    """Tables of a match score."""

    name = "match"
    kind = "match-score"
    unit = " pairs"
    options = frozenset({"away", "met", "player"})
    fills = True

    def __init__(
        self,
        points: int,
        chequers: int,
        *,
        away: tuple[int, int],
        met: Met,
        player: int = 0,
        recipe: str | Recipe | None = None,
    ) -> None:
        """Recipe ``match`` has float32 numbers, ``exact`` float64 ones that nothing was rounded off."""
        super().__init__(points, chequers, recipe=recipe)
        check_size(points, chequers)
        self.away, self.met, self.player = away, met, player
        self.dtype = np.dtype(np.float32 if self.recipe.rounded else np.float64)
        self.facts = facts_of(Score(away, met, player=player), gammons=chequers == board.MAX_CHEQUERS)

    def plan(self, threads: int | None = None, memory: int | None = None) -> Plan:
        planned = plan_match_score(
            self.points,
            self.chequers,
            self.away,
            self.met,
            player=self.player,
            threads=threads,
            dtype=self.dtype,
        )
        return self.in_memory(planned, memory)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        n = board.count(self.points, self.chequers)
        return {"balance": ((n, n, len(self.facts.states)), self.dtype)}

    def table(self, arrays: Mapping[str, Any]) -> MatchScore:
        return MatchScore(
            points=self.points, chequers=self.chequers, score=self.facts, recipe=self.recipe.name, **arrays
        )

    def solve(self, **how: Any) -> MatchScore:
        return match_score(
            self.points, self.chequers, self.away, self.met, player=self.player, dtype=self.dtype, **how
        )


def _rows(cuts: Array) -> int:
    """The most boards whose rows are needed at a time."""
    layers = len(cuts) - 1
    return max(int(cuts[layer + 1] - cuts[max(0, layer - REACH)]) for layer in range(layers))


def match_score(
    points: int,
    chequers: int,
    away: tuple[int, int],
    met: Met,
    *,
    player: int = 0,
    threads: int | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
    out: Array | None = None,
    dtype: Any = np.float32,
) -> MatchScore:
    """Solve the table of a match score, all cube states that can arise from a centered cube at 1.

    Parameters
    ----------
    points, chequers : 1..12 points, 1..15 chequers.
    away : points needed by player a and by player b. Where one needs 1 it is the score after the Crawford game; the
        cubeless column answers for the Crawford game itself.
    met : the match equity table; player : which of its players a is.
    workers : threads to use instead of `threads`, which stay open; see `bgfmt.solver.workers`.
    progress : called as ``progress(done, total)`` with pairs of boards.
    out : (n, n, columns) of `dtype` to fill, such as the body of a mapped file; made when None.
    dtype : float32, or float64 for numbers that nothing was rounded off.

    Raises
    ------
    SolverError for sizes out of range and too little memory; PositionError or NotCoveredError for the score.
    """
    check_size(points, chequers)
    score = Score(away, met, player=player)
    gammons = chequers == board.MAX_CHEQUERS
    facts = facts_of(score, gammons=gammons)
    kept = columns.for_match(score, gammons=gammons, worth=facts.worth)
    stored = facts.states
    n = board.count(points, chequers)
    planned = plan_match_score(points, chequers, away, met, player=player, threads=threads, dtype=dtype)
    check_memory(planned.memory - (planned.output if out is not None else 0), planned.what)
    if out is None:
        out = np.empty((n, n, len(stored)), dtype)
    if out.shape != (n, n, len(stored)) or out.dtype != dtype:
        raise SolverError(
            f"out must be {np.dtype(dtype)} of shape {(n, n, len(stored))}, not {out.dtype} {out.shape}"
        )
    with threads_or(workers, threads) as team:
        _solve(points, chequers, kept, stored, out, team, progress)
    return MatchScore(
        points=points,
        chequers=chequers,
        balance=out,
        score=facts,
        provenance="solved by bgfmt",
        recipe="exact" if out.dtype == np.float64 else "match",
    )


def _solve(
    points: int,
    chequers: int,
    kept: columns.Columns,
    stored: tuple[State, ...],
    out: Array,
    workers: Workers,
    progress: Progress | None,
) -> None:
    from bgfmt.solver.kernels import match as kernels

    order = pip_order(points, chequers)
    n, cuts, k = order.n, order.cuts, len(kept)
    full = board.unrank_array(order.numbers, points).sum(axis=1) == board.MAX_CHEQUERS
    gains = 1 + full.astype(np.int64)  # no chequer is so far back that a backgammon can be lost
    places = np.full((2, k), -1, np.int64)
    cubes = [None if cube is None else Cube(*cube) for cube in kept.states]
    for at, state in enumerate(stored):
        places[state.roller, cubes.index(state.cube)] = at
    _terminal(kept, places, gains, order.numbers, out)
    rows = _rows(cuts)
    ring = np.empty((rows, n * k), out.dtype)
    ring[0] = kept.won[A][:, gains].T.reshape(-1)
    width = max(1, LANES // k)
    spare: SimpleQueue[Array] = SimpleQueue()
    for _ in range(workers.workers):
        spare.put(np.empty((n, width * k), out.dtype))
    a, b = (tuple(np.ascontiguousarray(array[side]) for array in kept.doubling) for side in (A, B))
    ring_results = (order.results % rows).astype(np.int32)
    fixed = (
        ring, order.ends, ring_results, order.results, gains, a, b, np.ascontiguousarray(kept.won[B]), places[A],
        places[B], order.numbers,
    )  # fmt: skip

    def block(part: tuple[int, int]) -> None:
        near = spare.get()
        try:
            kernels.solve_block(*part, *fixed, near, out)
        finally:
            spare.put(near)

    for layer in range(1, order.layers):
        start, end = int(cuts[layer]), int(cuts[layer + 1])
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
