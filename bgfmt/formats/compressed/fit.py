"""Finding the factors of a tile: randomised singular vectors, quantised, in rounds (Halko, Martinsson, Tropp 2011).

Whatever comes out, the file is lossless: what the factors miss is in the residuals. A round's errors of rounding are
themselves of low rank, so that the next round takes them up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.compressed.classes import bits
from bgfmt.formats.compressed.layout import BLOCK, MOST_NARROW, MOST_WIDE, Scales

Matrix = NDArray[np.float32]
WIDE_STEP, NARROW_STEP = 64, 160
WIDE_WORTH = 4.0  # a factor of 16 bits moves the records by this much or more
SAMPLE = 96
SPARE = 16  # singular vectors found beyond those that are used
ENOUGH = 0.7
PRICE = 11.0  # bits that a number of a factor is worth: its own eight, and the time it takes
WIDE, NARROW = (32767, 24), (127, 14)  # greatest factor, fractional bits


class Factors(NamedTuple):
    """Quantised factors of a matrix: (rows, K), (K, columns), shifts (K,)."""

    left: NDArray[Any]
    right: NDArray[Any]
    shifts: NDArray[np.uint8]


def fit(tile: NDArray[np.uint16], seed: int) -> tuple[list[Factors], list[Factors]]:
    """Factors of 16 and of 8 bits of every column of a tile (rows, columns, C)."""
    rng = np.random.default_rng(seed)
    found = [_column(tile[..., c], rng) for c in range(tile.shape[2])]
    return [wide for wide, _ in found], [narrow for _, narrow in found]


def as_bytes(
    wide: list[Factors], narrow: list[Factors]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Scales]:
    """Factors of the rows, of the columns, (m, bytes) uint8, and their shifts, as a file holds them."""
    rows, columns = [], []
    for a, b in zip(wide, narrow, strict=True):
        rows += [_bytes(a.left, "<i2"), _bytes(b.left, "i1")]
        columns += [_bytes(a.right.T, "<i2"), _bytes(b.right.T, "i1")]
    scales = Scales(tuple(f.shifts for f in wide), tuple(f.shifts for f in narrow))
    return np.concatenate(rows, axis=1), np.concatenate(columns, axis=1), scales


def _bytes(factors: NDArray[Any], dtype: str) -> NDArray[np.uint8]:
    return np.ascontiguousarray(factors.astype(dtype)).view(np.uint8)


def _column(stored: NDArray[np.uint16], rng: np.random.Generator) -> tuple[Factors, Factors]:
    rest = stored.astype(np.float32)
    rest -= 32768
    rows, columns = rest.shape
    size = float(np.sqrt(rows * columns))
    wide, narrow = [_none(rows, columns)], [_none(rows, columns)]
    left = MOST_WIDE
    while left:
        u, b, s = _leading(rest, min(WIDE_STEP, left), rng)
        take = int((s > WIDE_WORTH * size).sum())
        if 20 * take * (rows + columns) > 16 * rows * columns:
            take = 0
        if take:
            wide.append(_quantised(rest, u[:, :take], *WIDE))
            left -= take
        if take < len(s):
            break
    left = MOST_NARROW
    while left:
        u, b, s = _leading(rest, min(NARROW_STEP, left), rng)
        take = _worth(rest, u, b, rng)
        if take:
            narrow.append(_quantised(rest, u[:, :take], *NARROW))
            left -= take
        if take < ENOUGH * len(
            s
        ):  # the last ones found are never quite right: they do not say that it is enough
            break
    return _joined(wide), _joined(narrow)


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


def _worth(rest: Matrix, u: Matrix, b: Matrix, rng: np.random.Generator) -> int:
    """How many of the factors pay: bits of the residuals of some rows, against eight for each number of a factor."""
    rows, columns = rest.shape
    sample = np.sort(rng.choice(rows, min(SAMPLE, rows), replace=False))
    some, width = rest[sample].copy(), columns // BLOCK * BLOCK or columns
    steps = sorted({0, *np.linspace(0, u.shape[1], 21).round().astype(int).tolist()})
    costs = []
    for before, k in zip([0, *steps], steps, strict=False):
        some -= u[sample, before:k] @ b[before:k]
        rounded = np.abs(np.rint(some[:, :width])).reshape(len(sample), width // min(BLOCK, width), -1)
        costs.append(float(bits(rounded.mean(axis=2)).mean()) * rows * columns + PRICE * k * (rows + columns))
    return int(steps[int(np.argmin(costs))])


def _quantised(rest: Matrix, u: Matrix, most: int, fraction: int) -> Factors:
    """Factors rounded, the other side fitted to them by least squares and rounded; taken off `rest`."""
    left = np.rint(u * (most / np.maximum(np.abs(u).max(axis=0), 1e-30))).astype(np.float32)
    normal = left.T.astype(np.float64) @ left.astype(np.float64)
    normal[np.diag_indices_from(normal)] += 1e-9 * np.trace(normal) + 1e-9
    fitted = np.linalg.solve(normal, (left.T @ rest).astype(np.float64))
    need = np.ceil(np.log2(np.maximum(np.abs(fitted).max(axis=1), 1e-30) / most)).astype(int) + fraction
    shifts = np.clip(need, 0, 15)
    scale = np.exp2(shifts - float(fraction))
    right = np.clip(np.rint(fitted / scale[:, None]), -most, most).astype(np.float32)
    rest -= (left * scale.astype(np.float32)) @ right
    return Factors(left, right, shifts.astype(np.uint8))
