"""What a kind of table declares of its arrays and of the rules that their rows obey."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayRule", "Breach"]


class Breach(NamedTuple):
    """Rows of a block that break a rule of theory.

    rule : its name. bad : bool, one for each row of the block. what : text that says what is wrong with such a
    row.
    """

    rule: str
    bad: NDArray[np.bool_]
    what: str


class ArrayRule(NamedTuple):
    """An array that a kind of table has: its name, and the shapes (None: any length) and dtypes allowed."""

    name: str
    shapes: tuple[tuple[int | None, ...], ...]
    dtypes: tuple[str, ...]
    optional: bool = False
