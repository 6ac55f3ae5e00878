"""The classes of residuals that bgfmt writes: a ladder of scales, each with its 64 symbol frequencies.

A file holds its own table of them, so that no reader needs these formulas. The residuals of a block are close to a
generalised Gaussian of exponent 1.75 (measured on 6x10: 0.02 per cent longer than with the blocks' own frequencies).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SYMBOLS, MIDDLE, ESCAPE = 64, 31, 63
WHOLE = 4096
SHAPE = 1.75
#: mean absolute residual that classes 1 to 15 are made for, and the low bits that are kept apart
MEANS = (0.012, 0.035, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.2, 3.5, 5.5, 10.0, 24.0, 100.0)
SHIFTS = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4)


class Classes(NamedTuple):
    """Shift (16,) and frequency (16, 64) of every class, int64; class 0 is all zeros and has none."""

    shifts: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each symbol's slots begin, (16, 64)."""
        return np.cumsum(self.frequencies, axis=1) - self.frequencies

    @property
    def slots(self) -> NDArray[np.uint32]:
        """(16, 4096): distance in the symbol's slots, frequency << 12, symbol << 25, low bits << 31.

        Those of class 0 leave a stream as it is and say "residual 0".
        """
        out = np.empty((16, WHOLE), np.uint32)
        out[0] = np.arange(WHOLE) | WHOLE << 12 | MIDDLE << 25
        for kind in range(1, 16):
            many, begins = self.frequencies[kind], self.begins[kind]
            symbols = np.repeat(np.arange(SYMBOLS), many)
            low = (symbols == ESCAPE) | (self.shifts[kind] > 0)
            out[kind] = low << 31 | symbols << 25 | many[symbols] << 12 | np.arange(WHOLE) - begins[symbols]
        return out

    def sound(self) -> bool:
        """Whether a coder can work with them."""
        whole = (self.frequencies[1:].sum(axis=1) == WHOLE).all()
        return bool(whole and (self.shifts <= 15).all() and (self.frequencies[0] == 0).all())


@cache
def ladder() -> Classes:
    """The classes that bgfmt writes."""
    rows = [np.zeros(SYMBOLS, np.int64)]
    rows += [_frequencies(mean, shift) for mean, shift in zip(MEANS, SHIFTS[1:], strict=True)]
    return Classes(np.array(SHIFTS, np.int64), np.array(rows))


@cache
def edges() -> NDArray[np.float64]:
    """(15,) the mean absolute residuals at which one class gives way to the next; the first is 0."""
    means = np.array(MEANS)
    return np.concatenate([[0.0], np.sqrt(means[1:] * means[:-1])])


def bits(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """About how many bits a residual of a block takes whose mean absolute residual is `mean`."""
    at = (0, 0.012, 0.037, 0.096, 0.156, 0.239, 0.388, 0.636, 0.938, 1.395, 2.188, 3.41, 5.263, 8.875)
    takes = (0, 0.0985, 0.266, 0.55, 0.782, 1.041, 1.404, 1.904, 2.375, 2.905, 3.536, 4.172, 4.799, 5.564)
    beyond = np.log2(np.maximum(mean, 1e-9)) + 2.42
    return np.where(mean < at[-1], np.interp(mean, at, takes), np.minimum(beyond, 16.0))


def _frequencies(mean: float, shift: int) -> NDArray[np.int64]:
    most = 40 + int(12 * mean)
    values = np.arange(-most, most + 1)
    inside = (np.arange(20) + 0.5) / 20 - 0.5
    low, high = 1e-3, 4000.0
    for _ in range(40):
        scale = np.sqrt(low * high)
        chances = np.exp(-((np.abs(values[:, None] + inside) / scale) ** SHAPE)).mean(axis=1)
        chances /= chances.sum()
        low, high = (scale, high) if (chances * np.abs(values)).sum() < mean else (low, scale)
    symbols = (values >> shift) + MIDDLE
    within = (symbols >= 0) & (symbols < ESCAPE)
    wanted = np.bincount(symbols[within], chances[within], SYMBOLS) * WHOLE
    found = np.where(wanted < 0.4, 0, np.maximum(1, np.rint(wanted))).astype(np.int64)
    found[ESCAPE] = max(1, round(WHOLE - float(wanted[found > 0].sum())))
    found[MIDDLE] += WHOLE - int(found.sum())
    return found
