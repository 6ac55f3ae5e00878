"""Doubling, redoubling and taking by the winning chance W of the side on roll (BKG, section VII).

The paper doubles at 65 per cent, passes above 79 per cent, and has unpublished tables for 51 to 65 per cent, which
depend on the rolls left, on who has the cube and on W. `Z1` completes those: a threshold for each number of rolls,
fitted on a grid of 0.005 to the exact table of six points and six chequers. `Z0` does not double there; `always`
does.
"""

from __future__ import annotations

from typing import Literal

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


def doubles(win: ArrayLike, rolls: ArrayLike, *, owned: bool = False, zone: Zone = "Z1") -> NDArray[np.bool_]:
    """Whether the side on roll doubles (`owned`: redoubles), bool of shape (...,).

    win : its winning chance W. rolls : the rolls it expects to need, ENR, rounded up here.

    >>> bool(doubles(0.60, 2.5)), bool(doubles(0.60, 2.5, owned=True))
    (True, False)
    """
    if zone not in LIMITS:
        raise PositionError(f"the zone between 51 and 65 per cent is {', '.join(LIMITS)}, not {zone!r}")
    row = np.ceil(np.asarray(rolls, np.float64) - ROUNDING).astype(np.int64).clip(1, 5) - 1
    return np.asarray(np.asarray(win, np.float64) >= LIMITS[zone][int(owned)][row])


def takes(win: ArrayLike, *, limit: float = PASS) -> NDArray[np.bool_]:
    """Whether a side that was doubled takes: unless the doubler's W is above the limit. bool of shape (...,).

    >>> takes([0.79, 0.7901]).tolist()
    [True, False]
    """
    return np.asarray(np.asarray(win, np.float64) <= limit)
