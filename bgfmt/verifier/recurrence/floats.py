"""Recurrence of two-sided tables of floats: exact equities and match scores, every number to the last bit.

Rows of a few sides `them` are processed together. Seen from the other side they give the value of each position x to
the side that moved there, for every cube; the columns of [us, them] must be the mean over the rolls of the best of
those. The order of operations is that of docs/theory/match-play.md. Nothing is shared with the solver but the table
of scores and cubes.
"""

from __future__ import annotations

import numpy as np

from bgfmt.game import board
from bgfmt.jit import njit
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import GammonTwoSided, MatchScore
from bgfmt.tables.match_score import ScoreFacts
from bgfmt.tables.two_sided import StoredEquities
from bgfmt.verifier.recurrence.plays import ROLLS, WEIGHTS, Array, pip_order, plays
from bgfmt.verifier.recurrence.two_sided import PairRule

__all__ = ["FloatRule"]


class FloatRule(PairRule):
    """The rule of a table of floats.

    Attributes
    ----------
    place : (C,) the column that holds, seen by the other side, the cube of column c.
    doubling : (C, 5) whether that side may double (1 or 0), its value if the double is passed, and column, addend and
        factor of its value if it is taken.
    off : (n, C) value of a mover who has borne off; empty if the table holds it.
    """

    lanes = 16
    band_divisor = 8

    def __init__(self, table: StoredEquities | MatchScore) -> None:
        super().__init__(table)
        self.place, self.doubling = np.arange(self.columns), np.zeros((self.columns, 5))
        if isinstance(table, MatchScore):
            self.lanes, self.ends = 512, self._of_match(table.score)
            self.off = self.ends[0]
            return
        if self.columns == 4:
            self.place = np.array([0, 3, 2, 1])
            self.doubling[2:] = 1, 1, 3, 0, 2
        won = table.win_equities() if isinstance(table, GammonTwoSided) else np.ones((self.n, self.columns))
        self.ends = (won, -won)
        self.off = won[:0]

    def _of_match(self, score: ScoreFacts) -> tuple[Array, Array]:
        """Return the values of finished games; fill `place` and `doubling`."""
        # by the points of a game and a gammon
        won = np.ones((3, self.columns))
        lost = -np.ones((3, self.columns))
        for c, (mover, cube) in enumerate(score.states):
            if cube is None:
                continue
            roller = 1 - mover
            held = score.locate(roller, cube)
            assert held is not None
            self.place[c] = held[0]
            if score.may_double(roller, cube):
                taken = score.locate(roller, Cube(2 * cube.value, mover))
                assert taken is not None
                self.doubling[c] = 1, score.worth(roller, cube.value), *taken
            for gain in (1, 2) if score.gammons else (1,):
                won[gain, c] = score.worth(mover, gain * cube.value)
                lost[gain, c] = score.worth(mover, -gain * cube.value)
        # a gammon against a side with all its chequers; nobody stands far enough back for more
        counts = board.unrank_array(np.arange(self.n), self.points)
        gains = 1 + (counts.sum(axis=1) == board.MAX_CHEQUERS)
        return won[gains], lost[gains]

    def fill(self, rows: Array, them: Array, expected: Array, lane: int) -> None:
        lanes = len(rows) * self.columns
        tile = np.empty((self.n, lanes), self.dtype)
        fill_tile(rows, self.place, self.doubling, tile)
        if len(self.off):
            tile[0] = self.off[them].reshape(-1)
        expected_tile(self.starts, self.results, tile, expected, lane)

    def values(self, rows: Array, at: Array, us: Array, them: Array) -> Array:
        out = np.empty((len(us), self.columns), self.dtype)
        expected_entries(
            rows, at, us, them, self.place, self.doubling, self.off, self.starts, self.results, out
        )
        out[them == 0] = self.ends[1][us[them == 0]]
        out[us == 0] = self.ends[0][them[us == 0]]
        return out


def build_table(points: int, chequers: int, columns: int) -> Array:
    """Compute exact equities (n, n, columns), float64, from the rules of the game alone.

    columns : 4, or 1 for cubeless equities.
    """
    starts, results = plays(points, chequers)
    _, order, pips_at = pip_order(points, chequers)
    n = len(order)
    out = np.zeros((n, n, columns))
    turned = np.zeros((n, n, columns))
    fill(starts, results, order, pips_at, out, turned)
    return out


# -- compiled ----------------------------------------------------------------------------------------------------


@njit("f4.3C, i8.1C, f8.2C, f4.2C", "f8.3C, i8.1C, f8.2C, f8.2C")
def fill_tile(rows: Array, place: Array, doubling: Array, tile: Array) -> None:
    """Set tile[x, C * k + c] to the value, in column c, of entry x of row k to the side that has moved to x.

    rows : (m, n, C) entries of m sides on roll. place, doubling : see `FloatRule`; the side on roll doubles if it
    gains.
    """
    many, n, columns = rows.shape
    for k in range(many):
        for x in range(n):
            record = rows[k, x]
            for c in range(columns):
                value = np.float64(record[place[c]])
                if doubling[c, 0] > 0:
                    taken = doubling[c, 3] + doubling[c, 4] * np.float64(record[int(doubling[c, 2])])
                    value = max(value, min(taken, doubling[c, 1]))
                tile[x, columns * k + c] = -value


@njit()
def _raise(best: Array, other: Array) -> None:
    for i in range(best.size):
        best[i] = max(best[i], other[i])


@njit()
def _weigh(total: Array, best: Array, weight: float) -> None:
    for i in range(total.size):
        total[i] += weight * best[i]


@njit("i8.1C, i4.1C, f4.2C, f4.2C, i8", "i8.1C, i4.1C, f8.2C, f8.2C, i8")
def expected_tile(starts: Array, results: Array, tile: Array, out: Array, lane: int) -> None:
    """Set out[u, lane + k] to the mean over the rolls of the greatest tile[x, k], x the results of u > 0.

    starts, results : as `plays.successors` returns them.
    """
    lanes = tile.shape[1]
    best = np.empty(lanes, tile.dtype)
    total = np.empty(lanes)
    for u in range(1, len(out)):
        total[:] = 0.0
        for roll in range(ROLLS):
            best[:] = -np.inf
            for q in range(starts[ROLLS * u + roll], starts[ROLLS * u + roll + 1]):
                _raise(best, tile[results[q]])
            _weigh(total, best, np.float64(WEIGHTS[roll]))
        for i in range(lanes):
            out[u, lane + i] = total[i] / 36.0


@njit(
    "f4.3C, i8.1C, i8.1C, i8.1C, i8.1C, f8.2C, f8.2C, i8.1C, i4.1C, f4.2C",
    "f8.3C, i8.1C, i8.1C, i8.1C, i8.1C, f8.2C, f8.2C, i8.1C, i4.1C, f8.2C",
)
def expected_entries(
    rows: Array, at: Array, us: Array, them: Array, place: Array, doubling: Array, ends: Array, starts: Array,
    results: Array, out: Array,
) -> None:  # fmt: skip
    """Compute the entries (us[i], them[i]), both with chequers left, from rows[at[i]] into out[i] (C,).

    Parameters
    ----------
    rows, at : rows[at[i]] are the stored entries of them[i] on roll.
    place, doubling, ends : `place`, `doubling` and `off` of a `FloatRule`.
    starts, results : as `plays.successors` returns them.
    """
    columns = out.shape[1]
    best = np.empty(columns, out.dtype)
    one = np.empty((1, columns), out.dtype)
    total = np.empty(columns)
    for i in range(len(us)):
        if us[i] == 0 or them[i] == 0:
            continue
        total[:] = 0.0
        for roll in range(ROLLS):
            best[:] = -np.inf
            for q in range(starts[ROLLS * us[i] + roll], starts[ROLLS * us[i] + roll + 1]):
                x = results[q]
                if x == 0 and len(ends):
                    one[0] = ends[them[i]]
                else:
                    fill_tile(rows[at[i] : at[i] + 1, x : x + 1], place, doubling, one)
                _raise(best, one[0])
            _weigh(total, best, np.float64(WEIGHTS[roll]))
        for c in range(columns):
            out[i, c] = total[c] / 36.0


@njit("i8.1C, i4.1C, i8.1C, i8.1C, f8.3C, f8.3C")
def fill(starts: Array, results: Array, order: Array, pips_at: Array, out: Array, turned: Array) -> None:
    """Compute the equities of all pairs in order of pips into out (n, n, columns).

    Parameters
    ----------
    starts, results : results of the rolls, as `plays.successors` returns them.
    order, pips_at : positions in order of pips, and the index of the first of each pip count.
    turned : the same from the other side's view, working space.
    """
    columns = out.shape[2]
    best = np.zeros(columns)
    total = np.zeros(columns)
    most = len(pips_at) - 2
    for pips in range(2 * most + 1):
        for p in range(max(0, pips - most), min(most, pips) + 1):
            for i in range(pips_at[p], pips_at[p + 1]):
                u = order[i]
                for k in range(pips_at[pips - p], pips_at[pips - p + 1]):
                    t = order[k]
                    e = out[u, t]
                    g = turned[u, t]
                    if u == 0 or t == 0:
                        e[:] = 1.0 if u == 0 else -1.0
                    else:
                        total[:] = 0
                        for roll in range(ROLLS):
                            best[:] = -1.0
                            for q in range(starts[ROLLS * u + roll], starts[ROLLS * u + roll + 1]):
                                _raise(best, turned[t, results[q]])
                            _weigh(total, best, np.float64(WEIGHTS[roll]))
                        for c in range(columns):
                            e[c] = total[c] / 36.0
                    g[0] = -e[0]
                    if columns == 4:
                        doubled = min(1.0, 2.0 * e[3])
                        g[1] = -e[3]
                        g[2] = -max(e[2], doubled)
                        g[3] = -max(e[1], doubled)
