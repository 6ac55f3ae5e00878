"""Doubling, redoubling and taking by the winning chance W of the side on roll (BKG, section VII).

The paper doubles at 65 per cent, passes above 79 per cent, and has unpublished tables for 51 to 65 per cent, which
depend on the rolls left, on who has the cube and on W. `Z1` completes those: a threshold for each number of rolls,
fitted on a grid of 0.005 to the exact table of six points and six chequers. `Z0` does not double there; `always`
does. R. Janowski's formula of 1993, cubeful equities from win probabilities, is here, too.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Zone = Literal["Z1", "Z0", "always"]
PASS = 0.79
#: by zone the least W to double by at 1, 2, 3, 4 and 5 or more expected rolls: with a centered and with an own cube
LIMITS: dict[Zone, NDArray[np.float64]] = {
    "Z1": np.array([[0.51, 0.54, 0.60, 0.64, 0.65], [0.51, 0.575, 0.635, 0.65, 0.65]]),
    "Z0": np.full((2, 5), 0.65),
    "always": np.full((2, 5), 0.51),
}
ROUNDING = 1e-9  # expected rolls nearer to a whole number than this are that number
#: how live the cube is, between dead (0) and fully live (1): GNU Backgammon's for one-sided bearoffs (measured)
EFFICIENCY = 0.6
#: with a fully live cube the side behind takes from the first on, and the side ahead cashes from the second on
TAKE = 0.2
CASH = 0.8


def doubles(win: ArrayLike, rolls: ArrayLike, *, owned: bool = False, zone: Zone = "Z1") -> NDArray[np.bool_]:
    """Return whether the side on roll doubles by BKG's rule, bool of shape (...,).

    win : its win probability. rolls : its expected number of rolls, rounded up here. owned : it redoubles. zone : the
    rule between 51 and 65 per cent, see the module.

    >>> bool(doubles(0.60, 2.5)), bool(doubles(0.60, 2.5, owned=True))
    (True, False)
    """
    row = np.ceil(np.asarray(rolls, np.float64) - ROUNDING).astype(np.int64).clip(1, 5) - 1
    return np.asarray(np.asarray(win, np.float64) >= LIMITS[zone][int(owned)][row])


def takes(win: ArrayLike) -> NDArray[np.bool_]:
    """Return whether a double is taken, bool of shape (...,): the doubler's win probability `win` is at most `PASS`.

    >>> takes([0.79, 0.7901]).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(win, np.float64) <= PASS)


def cubeful_of_chances(win: Any) -> tuple[Any, Any, Any]:
    """Estimate cubeful money equities by Janowski's formula, without gammons.

    R. Janowski, "Take-points in money games" (1993): interpolate between the equity with a dead cube and that with a
    fully live one, which is piecewise linear between the ends, the take point and the cash point.

    win : win probability, a scalar or an array.

    Returns (owned, centered, opponent), equities by cube owner, float64 of the shape of `win`.
    """
    p = np.asarray(win, np.float64)
    dead = (1 - EFFICIENCY) * (2 * p - 1)
    owned = np.interp(p, [0, CASH, 1], [-1, 1, 1])
    centered = np.interp(p, [0, TAKE, CASH, 1], [-1, -1, 1, 1])
    opponent = np.interp(p, [0, TAKE, 1], [-1, -1, 1])
    return dead + EFFICIENCY * owned, dead + EFFICIENCY * centered, dead + EFFICIENCY * opponent


def janowski(cubeless: Any) -> tuple[Any, Any, Any]:
    """Estimate cubeful equities (owned, centered, opponent) from a cubeless equity alone.

    Without gammon probabilities `cubeful_of_chances` uses the equity clipped to ±1; the rest, which is due to
    gammons, is added to each result.
    """
    dead = np.asarray(cubeless, np.float64)
    alone = np.clip(dead, -1, 1)
    owned, centered, opponent = cubeful_of_chances((alone + 1) / 2)
    return owned + (dead - alone), centered + (dead - alone), opponent + (dead - alone)
