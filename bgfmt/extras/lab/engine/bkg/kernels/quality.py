"""What rules for the play of a bear-off cost against the exact two-sided best play."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from bgfmt.jit import njit

Array = NDArray[Any]
EQUAL = 1e-12
DIFFERS = 1e-9  # points; a play that costs less is a best one


@njit()
def costs(
    values: Array, first: Array, second: Array, starts: Array, results: Array, low: int, high: int, out: Array
) -> None:
    """Sides on roll low..high-1 against all sides of `n`, over the 36 rolls, into out (high - low, n, 3) float64.

    values : (n, n) exact points of the side on roll, [us, them]. first : (n, n), [them, result] what results are
    ranked by, greater first; second : (n,) what then, the lesser number last. starts, results : the results of
    (us, roll), roll 21 us + r. out : cost in points, rolls of 36 that cost anything, the greatest cost.
    """
    n = len(values)
    for us in range(low, high):
        for them in range(1, n):
            total, wrong, worst, roll = 0.0, 0, 0.0, 21 * us
            for a in range(1, 7):
                for b in range(1, a + 1):
                    best, chosen, kept = -2.0, -1, 0.0
                    for k in range(starts[roll], starts[roll + 1]):
                        s = results[k]
                        worth = 1.0 if s == 0 else -values[them, s]
                        best = max(best, worth)
                        if chosen >= 0:
                            gap = first[them, s] - first[them, chosen]
                            if abs(gap) <= EQUAL:
                                gap = second[s] - second[chosen]
                            if gap < -EQUAL or (abs(gap) <= EQUAL and s > chosen):
                                continue
                        chosen, kept = s, worth
                    weight = 1 if a == b else 2
                    cost = best - kept
                    total += weight * cost
                    worst = max(worst, cost)
                    wrong += weight * (cost > DIFFERS)
                    roll += 1
            out[us - low, them, 0], out[us - low, them, 1], out[us - low, them, 2] = total / 36, wrong, worst
