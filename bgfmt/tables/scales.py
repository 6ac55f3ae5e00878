"""Stored numbers read as chances, equities and rolls.

Integers are read in the float width their host program uses, and sums are taken in its order, so that our
numbers print as gnubg's `bearoffdump` prints them. Tables of exact float64 numbers are read as they stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[Any]

PIPS_PER_ROLL = 49 / 6
"""Pips of an average roll: what turns mean rolls into an effective pip count (EPC)."""

CHANCE_WHOLE = 65535
EQUITY_HALF = 32767.5


def chances(rows: ArrayLike) -> Floats:
    """Stored chances as floats: uint16 / 65535 in float32, or float64 as it stands."""
    values = np.asarray(rows)
    return values if values.dtype == np.float64 else values.astype(np.float32) / np.float32(CHANCE_WHOLE)


def equities(rows: ArrayLike) -> Floats:
    """Stored equities as gnubg's build reads them: uint16 times the float32 nearest 1/32767.5, less 1."""
    values = np.asarray(rows)
    if values.dtype == np.float64:
        return values
    out = values.astype(np.float32)
    out *= np.uint32(0x38000080).view(np.float32)
    out -= np.float32(1)
    return out


def moments(distribution: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the last axis, added roll by roll in the width of the chances."""
    width = distribution.dtype.type
    mean = np.zeros(distribution.shape[:-1], width)
    square = np.zeros_like(mean)
    for roll in range(1, distribution.shape[-1]):
        part = width(roll) * distribution[..., roll]
        mean += part
        square += width(roll) * part
    return mean, np.sqrt(np.maximum(square - mean * mean, width(0)))


def hyper_numbers(records: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The nine 24-bit numbers, (..., 9) uint32, of (..., 28) hypergammon records."""
    fields = np.asarray(records)[..., :27].reshape(*records.shape[:-1], 9, 3).astype(np.uint32)
    return np.asarray(fields[..., 0] | fields[..., 1] << 8 | fields[..., 2] << 16)


def hyper_values(records: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Outcomes (..., 5) and equities (..., 4), float32, of (..., 28) hypergammon records."""
    parts = hyper_numbers(records).astype(np.float32) * np.uint32(0x33800001).view(np.float32)
    return parts[..., :5], (parts[..., 5:] - np.float32(0.5)) * np.float32(6)
