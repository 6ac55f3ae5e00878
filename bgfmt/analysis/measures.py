"""Measures that rank plays (`money`, `cubeless`, `mean`, `off:n`): parse them, and compute them for one side.

Not to be confused with `bgfmt.verifier.measures`, which measures errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.tables import OfRolls

__all__ = ["Floats", "parse_measure", "side_values"]


Floats = NDArray[Any]


def parse_measure(measure: str) -> tuple[bool, int | None]:
    """Parse what plays are ranked by: "money", "cubeless", "mean" or "off:n"; PositionError for anything else.

    Return whether it looks at one side only ("mean", "off:n"), and the number n of rolls of "off:n" (else None).
    """
    if measure in ("money", "cubeless"):
        return False, None
    if measure == "mean":
        return True, None
    name, _, rolls = measure.partition(":")
    if name == "off" and rolls.isdecimal() and 0 <= int(rolls) < 1000:
        return True, int(rolls)
    raise PositionError(f"a measure must be money, cubeless, mean or off:n (n rolls), not {measure!r}")


def side_values(table: OfRolls, numbers: NDArray[np.int64], within: int | None) -> Floats:
    """Return the values of positions of one side by which plays are ranked.

    Parameters
    ----------
    table
        A one-sided table.
    numbers
        (M,) position numbers of that table.
    within
        None for the mean rolls; n for the probability of being off within n rolls.

    Returns
    -------
    (M,) float

    Raises
    ------
    NotCoveredError
        Probabilities are needed, and the table has means only.
    """
    unique, back = np.unique(numbers, return_inverse=True)
    found = table.rolls(unique)
    if within is None:
        values = found.mean
    elif found.chances is None:
        raise NotCoveredError(f"a {table.kind} table has no probability of being off in {within} rolls")
    else:
        values = found.chances[:, : within + 1].sum(axis=1)
    return np.asarray(values)[back.reshape(-1)]
