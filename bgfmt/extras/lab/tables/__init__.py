"""The lab's kinds of tables, and what they share: numbers as millionths, sides of any width as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import NotCoveredError
from bgfmt.tables import Table

MILLION = 1_000_000


class Millionths(Table):
    """A table of float64 numbers, or of whole millionths as text files have them."""

    @property
    def max_error(self) -> float | None:
        return 1e-12 if self.exact else 0.5 / MILLION

    def read(self, name: str, stored: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else stored / MILLION, np.float64)


def millionths(numbers: ArrayLike) -> NDArray[np.int32]:
    """Numbers of six decimals, halves rounded up in magnitude."""
    values = np.asarray(numbers, np.float64)
    return np.copysign(np.floor(np.abs(values) * MILLION + 0.5), values).astype(np.int32)


def counts_on(points: int, given: NDArray[Any]) -> NDArray[Any]:
    """Counts (N, points) of sides given as counts of any width; NotCoveredError for a chequer beyond."""
    beyond = given[:, points:].any(axis=1)
    if beyond.any():
        raise NotCoveredError(f"row {int(beyond.argmax())} has a chequer beyond point {points}")
    return np.pad(given[:, :points], ((0, 0), (0, max(0, points - given.shape[1]))))
