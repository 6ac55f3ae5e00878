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

from bgfmt.errors import PositionError

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


def doubles(win: ArrayLike, rolls: ArrayLike, *, owned: bool = False, zone: Zone = "Z1") -> NDArray[np.bool_]:
    """Return whether the side on roll doubles by BKG's rule, bool of shape (...,).

    win : its win probability. rolls : its expected number of rolls, rounded up here. owned : it redoubles. zone : the
    rule between 51 and 65 per cent, see the module.

    >>> bool(doubles(0.60, 2.5)), bool(doubles(0.60, 2.5, owned=True))
    (True, False)
    """
    if zone not in LIMITS:
        raise PositionError(f"the zone between 51 and 65 per cent must be {', '.join(LIMITS)}, not {zone!r}")
    row = np.ceil(np.asarray(rolls, np.float64) - ROUNDING).astype(np.int64).clip(1, 5) - 1
    return np.asarray(np.asarray(win, np.float64) >= LIMITS[zone][int(owned)][row])


def takes(win: ArrayLike, *, limit: float = PASS) -> NDArray[np.bool_]:
    """Return whether a double is taken, bool of shape (...,): the doubler's win probability `win` is at most `limit`.

    >>> takes([0.79, 0.7901]).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(win, np.float64) <= limit)


def cubeful_of_chances(
    win: Any, win_gammon: Any = 0.0, lose_gammon: Any = 0.0, efficiency: float = EFFICIENCY
) -> tuple[Any, Any, Any]:
    """Estimate cubeful money equities by Janowski's formula.

    R. Janowski, "Take-points in money games" (1993): interpolate between the equity with a dead cube and that with a
    fully live one, which is piecewise linear between the ends, the take point and the cash point.

    Parameters
    ----------
    win, win_gammon, lose_gammon : probabilities of the game, scalars or arrays of one shape.
    efficiency : weight of the fully live cube, 0 to 1.

    Returns
    -------
    (owned, centered, opponent), equities by cube owner, float64 of the shape of the parameters.
    """
    p = np.asarray(win, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        won = 1 + np.where(p > 0, np.asarray(win_gammon, np.float64) / p, 0.0)
        lost = 1 + np.where(p < 1, np.asarray(lose_gammon, np.float64) / (1 - p), 0.0)
    take = (lost - 0.5) / (won + lost + 0.5)
    cash = (lost + 1) / (won + lost + 0.5)
    dead = p * (won + lost) - lost
    below = p / take
    above = (p - cash) / (1 - cash)
    too_bad = -lost + (lost - 1) * below
    too_good = 1 + (won - 1) * above
    between = -1 + 2 * (p - take) / (cash - take)
    owned = np.where(p < cash, -lost + (lost + 1) * p / cash, too_good)
    opponent = np.where(p < take, too_bad, -1 + (won + 1) * (p - take) / (1 - take))
    centered = np.where(p < take, too_bad, np.where(p < cash, between, too_good))
    mix = [(1 - efficiency) * dead + efficiency * live for live in (owned, centered, opponent)]
    return mix[0], mix[1], mix[2]


def janowski(cubeless: Any, efficiency: float = EFFICIENCY) -> tuple[Any, Any, Any]:
    """Estimate cubeful equities (owned, centered, opponent) from a cubeless equity alone.

    Without gammon probabilities `cubeful_of_chances` uses the equity clipped to ±1; the rest, which is due to
    gammons, is added to each result.

    efficiency : weight of the fully live cube, 0 to 1.
    """
    dead = np.asarray(cubeless, np.float64)
    alone = np.clip(dead, -1, 1)
    owned, centered, opponent = cubeful_of_chances((alone + 1) / 2, efficiency=efficiency)
    return owned + (dead - alone), centered + (dead - alone), opponent + (dead - alone)
