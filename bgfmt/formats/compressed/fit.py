"""Finding the factors of a tile: randomised singular vectors, quantised, in rounds (Halko, Martinsson, Tropp 2011).

Whatever comes out, the file is lossless: what the factors miss is in the residuals. A round's errors of rounding are
themselves of low rank, so that the next round takes them up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.compressed.classes import bits
from bgfmt.formats.compressed.layout import MOST_NARROW, MOST_PAIRS, MOST_WIDE, Scales

Matrix = NDArray[np.float32]
WIDE_STEP, NARROW_STEP, FINE_STEP = 64, 128, 192
WIDE_WORTH = 4.0  # a factor of 16 bits moves the records by this much or more
NARROW_WORTH = (
    0.19  # one of 8 bits by this share of what all of them leave: below, 4 bits lose less than 4 cost
)
SAMPLE = 96
BLOCK = 128  # records whose mean residual says what they cost
SPARE = 16  # singular vectors found beyond those that are used
ENOUGH = 0.7
#: bits that a number of a factor of 8, of 4 bits is worth: its own, and the time it takes; less where size is all
PRICES, LEAST_PRICES = (9.0, 6.0), (8.0, 4.2)
WIDE, NARROW = (32767, 24), (127, 14)  # greatest factor, fractional bits
FINE, FINE_STEPS = (
    7,
    0.335,
)  # greatest factor, and the step in standard deviations (best for a Gaussian's 15 steps)


class Factors(NamedTuple):
    """Quantised factors of a matrix: (rows, K), (K, columns), shifts (K,)."""

    left: NDArray[Any]
    right: NDArray[Any]
    shifts: NDArray[np.uint8]


def fit(
    tile: NDArray[np.uint16], seed: int, prices: tuple[float, float] = PRICES
) -> list[tuple[Factors, Factors, Factors]]:
    """Factors of 16, 8 and 4 bits of every column of a tile (rows, columns, C)."""
    rng = np.random.default_rng(seed)
    return [_column(tile[..., c], prices, rng) for c in range(tile.shape[2])]


def as_bytes(
    found: list[tuple[Factors, Factors, Factors]],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Scales]:
    """Factors of the rows, of the columns, (m, bytes) uint8, and their shifts, as a file holds them."""
    rows = [_bytes(wide.left, narrow.left, fine.left) for wide, narrow, fine in found]
    columns = [_bytes(wide.right.T, narrow.right.T, fine.right.T) for wide, narrow, fine in found]
    shifts = [(wide.shifts, narrow.shifts, fine.shifts[::2]) for wide, narrow, fine in found]
    return np.concatenate(rows, axis=1), np.concatenate(columns, axis=1), Scales(*zip(*shifts, strict=True))


def _bytes(wide: Matrix, narrow: Matrix, fine: Matrix) -> NDArray[np.uint8]:
    whole, small = wide.astype(np.int16), fine.astype(np.int8)
    parts = [whole >> 8, whole & 255, narrow.astype(np.int8), small[:, ::2] & 15 | small[:, 1::2] << 4]
    return np.concatenate([part.astype(np.uint8) for part in parts], axis=1)


def _column(
    stored: NDArray[np.uint16], prices: tuple[float, float], rng: np.random.Generator
) -> tuple[Factors, Factors, Factors]:
    rest = stored.astype(np.float32)
    rest -= 32768
    rows, columns = rest.shape
    size = float(np.sqrt(rows * columns))
    wide, narrow, fine = [_none(rows, columns)], [_none(rows, columns)], [_none(rows, columns)]
    left = MOST_WIDE
    while left:
        u, b, s = _leading(rest, min(WIDE_STEP, left), rng)
        take = int((s > WIDE_WORTH * size).sum())
        take = 0 if 20 * take * (rows + columns) > 16 * rows * columns else min(len(s), _full(take, 8))
        if take:
            wide.append(_quantised(rest, u[:, :take], *WIDE))
            left -= take
        if take < len(s):
            break
    left = MOST_NARROW
    while left:
        u, b, s = _leading(rest, min(NARROW_STEP, left), rng)
        noise = np.sqrt(max(0.0, float(np.vdot(rest, rest)) - float((s**2).sum())))
        take = min(int((s > NARROW_WORTH * noise).sum()), _worth(rest, u, b, prices[0], rng))
        take = min(len(s), _full(take, 16))
        if take:
            narrow.append(_quantised(rest, u[:, :take], *NARROW))
            left -= take
        if take < len(s):
            break
    left = 2 * MOST_PAIRS
    while left:
        u, b, s = _leading(rest, min(FINE_STEP, left), rng)
        take = min(len(s) // 2 * 2, _full(_worth(rest, u, b, prices[1], rng) // 2 * 2, 16))
        if take:
            fine.append(_coarse(rest, u[:, :take], s[:take]))
            left -= take
        if take < ENOUGH * len(
            s
        ):  # the last ones found are never quite right: they do not say that it is enough
            break
    return _joined(wide), _joined(narrow), _joined(fine)


def _full(take: int, lanes: int) -> int:
    """Somewhat more, so that processors multiply them without a rest; as they are where they are few."""
    return -(-take // lanes) * lanes if take > 2 * lanes else take


def _none(rows: int, columns: int) -> Factors:
    return Factors(np.zeros((rows, 0), np.float32), np.zeros((0, columns), np.float32), np.zeros(0, np.uint8))


def _joined(parts: list[Factors]) -> Factors:
    """All of them, in the order of their shifts, so that readers find factors of one shift together."""
    shifts = np.concatenate([p.shifts for p in parts])
    order = np.argsort(shifts, kind="stable")
    left = np.concatenate([p.left for p in parts], axis=1)
    return Factors(left[:, order], np.concatenate([p.right for p in parts])[order], shifts[order])


def _leading(
    matrix: Matrix, many: int, rng: np.random.Generator
) -> tuple[Matrix, Matrix, NDArray[np.float64]]:
    """The leading singular vectors: u (rows, k), s v (k, columns), s (k,); one power iteration."""
    many = min(many, *matrix.shape)
    guess = rng.standard_normal((matrix.shape[1], min(many + SPARE, *matrix.shape)), np.float32)
    basis = _straight(matrix @ guess)
    basis = _straight(matrix.T @ basis)
    basis = _straight(matrix @ basis)
    small = basis.T @ matrix
    values, vectors = np.linalg.eigh(small.astype(np.float64) @ small.T.astype(np.float64))
    order = np.argsort(-values)[:many]
    turn = vectors[:, order].astype(np.float32)
    return basis @ turn, turn.T @ small, np.sqrt(np.maximum(values[order], 0.0))


def _straight(vectors: Matrix) -> Matrix:
    """An orthonormal basis of what the columns span, by their products with one another: quicker than QR."""
    wide = vectors.astype(np.float64)
    values, turn = np.linalg.eigh(wide.T @ wide)
    kept = values > 1e-13 * values[-1]
    out: Matrix = (wide @ (turn[:, kept] / np.sqrt(values[kept]))).astype(np.float32)
    return out


def _worth(rest: Matrix, u: Matrix, b: Matrix, price: float, rng: np.random.Generator) -> int:
    """How many of the factors pay: bits of the residuals of some rows, against the price of a factor's numbers."""
    rows, columns = rest.shape
    sample = np.sort(rng.choice(rows, min(SAMPLE, rows), replace=False))
    some, width = rest[sample].copy(), columns // BLOCK * BLOCK or columns
    steps = sorted({0, *np.linspace(0, u.shape[1], 21).round().astype(int).tolist()})
    costs = []
    for before, k in zip([0, *steps], steps, strict=False):
        some -= u[sample, before:k] @ b[before:k]
        rounded = np.abs(np.rint(some[:, :width])).reshape(len(sample), width // min(BLOCK, width), -1)
        costs.append(float(bits(rounded.mean(axis=2)).mean()) * rows * columns + price * k * (rows + columns))
    return int(steps[int(np.argmin(costs))])


def _quantised(rest: Matrix, u: Matrix, most: int, fraction: int) -> Factors:
    """Factors rounded, the other side fitted to them by least squares and rounded; taken off `rest`."""
    left = np.rint(u * (most / np.maximum(np.abs(u).max(axis=0), 1e-30))).astype(np.float32)
    fitted = _fitted(rest, left)
    need = np.ceil(np.log2(np.maximum(np.abs(fitted).max(axis=1), 1e-30) / most)).astype(int) + fraction
    return _taken(rest, left, fitted, np.clip(need, 0, 15), most, fraction)


def _coarse(rest: Matrix, u: Matrix, s: NDArray[np.float64]) -> Factors:
    """The same for factors of 4 bits: what is far out is cut off, and the factors of a pair have one shift."""
    (rows, columns), fraction = rest.shape, NARROW[1]
    need = np.log2(FINE_STEPS**2 * np.maximum(s, 1e-30) / np.sqrt(rows * columns)) + fraction
    need = np.repeat(need.reshape(-1, 2).mean(axis=1), 2)
    shifts = np.clip(np.rint(need), 0, 15).astype(int)
    step = FINE_STEPS / np.sqrt(rows) * np.exp2((shifts - need) / 2)
    left = np.clip(np.rint(u / step), -FINE, FINE).astype(np.float32)
    return _taken(rest, left, _fitted(rest, left), shifts, FINE, fraction)


def _fitted(rest: Matrix, left: Matrix) -> NDArray[Any]:
    normal = left.T.astype(np.float64) @ left.astype(np.float64)
    normal[np.diag_indices_from(normal)] += 1e-9 * np.trace(normal) + 1e-9
    found: NDArray[Any] = np.linalg.solve(normal, (left.T @ rest).astype(np.float64))
    return found


def _taken(
    rest: Matrix,
    left: Matrix,
    fitted: NDArray[np.float64],
    shifts: NDArray[np.int64],
    most: int,
    fraction: int,
) -> Factors:
    scale = np.exp2(shifts - float(fraction))
    right = np.clip(np.rint(fitted / scale[:, None]), -most, most).astype(np.float32)
    rest -= (left * scale.astype(np.float32)) @ right
    return Factors(left, right, shifts.astype(np.uint8))
