"""The model of a tile: factors whose products predict its records; how a writer finds them, and what they predict.

Factors are found as randomised singular vectors (Halko, Martinsson, Tropp 2011), quantised in rounds: a round's
errors of rounding are themselves of low rank, so that the next round takes them up. Whatever is found, the file is
lossless: what the factors miss is in the residuals.

Predictions are exact integers. A sum of 16-bit products stays below 2**53 (256 factors, shifts to 15), in doubles.
Products of the smaller factors are added up in 32 bits, as far as the shifts allow it; there a sum begins anew.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.formats.compressed import layout
from bgfmt.formats.compressed.layout import Classes, TileModel

Bytes = NDArray[np.uint8]
Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]

ROWS_AT_ONCE = 1024  # so that what is taken off a tile needs no memory of a tile's size
COLUMNS_AT_ONCE = 1024  # so that factors that are laid out stay near the processor
ROOM = (8, 12)  # bits by which a factor of 8 bits, and one of 4, can be raised within 16 bits


def _plan(narrow: Bytes, pairs: Bytes) -> tuple[Numbers, Numbers, Numbers, float]:
    """How the small factors of one column of a tile are multiplied: by how many bits they are raised on the left and
    on the right, (M + S,); where a sum begins anew, and the end; what the sums are multiplied by."""
    shifts = np.concatenate([narrow, pairs]).astype(np.int64)
    if not len(shifts):
        return shifts, shifts, np.zeros(1, np.int64), 1.0
    least = int(shifts.min())
    by = shifts - least
    mine = np.minimum(by, np.repeat(ROOM, [len(narrow), len(pairs)]))
    tops = np.left_shift(np.repeat([1 << 14, 1 << 7], [len(narrow), len(pairs)]), by)
    alone = np.append(tops[: len(narrow)], [0] * (len(narrow) % 2))
    steps = [*alone.reshape(-1, 2).sum(axis=1).tolist(), *tops[len(narrow) :].tolist()]
    parts = [0]
    total = 0
    for k, top in enumerate(steps):
        if total + top >= 1 << 31:
            parts.append(k)
            total = 0
        total += top
    return mine, by - mine, np.array([*parts, len(steps)]), float(1 << least)


def predict(rows: Bytes, columns: Bytes, model: TileModel, out: NDArray[np.uint16]) -> None:
    """Predictions of the records of some rows and columns of a tile, (C, rows, columns) uint16 into `out`.

    rows, columns : (m, bytes) and (w, bytes), their factors as a file has them.
    """
    from bgfmt.formats.compressed import kernels_model as kernels

    m = len(rows)
    w = len(columns)
    at = 0
    for c, (counts, (wide, narrow, pairs)) in enumerate(zip(model.counts, model.columns, strict=True)):
        mine, theirs, parts, scale = _plan(narrow, pairs)
        end = at + int((counts * (2, 1, 1)).sum())
        many = len(wide)
        steps = int(parts[-1])
        padded = m + -m % 4
        left = np.zeros(padded * many), np.zeros(padded * steps, np.int32)
        kernels.lay_out(rows[:, at:end].copy(), counts, mine, np.exp2(wide.astype(float)), 1, 1, *left)
        for start in range(0, w, COLUMNS_AT_ONCE):
            part = columns[start : start + COLUMNS_AT_ONCE, at:end].copy()
            padded = len(part) + -len(part) % 32
            right = np.zeros(padded * many), np.zeros(padded * steps, np.int32)
            kernels.lay_out(part, counts, theirs, np.ones(many), 32, 16, *right)
            kernels.products(*left, *right, parts, scale, start, len(part), out[c])
        at = end


# singular vectors of a round
WIDE_STEP = 64
NARROW_STEP = 128
FINE_STEP = 192
WIDE_WORTH = 4.0  # a factor of 16 bits moves the records by this much or more
NARROW_WORTH = 0.19  # one of 8 bits by this share of what all leave: below, 4 bits lose less than 4 more cost
SAMPLE = 96  # rows whose residuals say what they cost
BLOCK = 128  # records whose mean residual says what they cost
SPARE = 16  # singular vectors found beyond those that are used
ENOUGH = 0.7
PRICES = (9.0, 6.0)  # bits that a number of a factor of 8, of 4 bits is worth: its own, and the time it takes
# greatest factor, fractional bits
WIDE = (32767, 24)
NARROW = (127, 14)
#: greatest factor, the step in standard deviations (best for a Gaussian's 15 steps)
FINE = 7
FINE_STEPS = 0.335


class Factors(NamedTuple):
    """Quantised factors of a matrix: (rows, K), (K, columns), shifts (K,)."""

    left: NDArray[Any]
    right: NDArray[Any]
    shifts: NDArray[np.uint8]


def fit(tile: NDArray[np.uint16], seed: int) -> tuple[Bytes, Bytes, TileModel]:
    """Factors of the rows and of the columns of a tile (rows, columns, C), (m, bytes) each, and their shifts."""
    rng = np.random.default_rng(seed)
    factors = [_column(tile[..., c], rng) for c in range(tile.shape[2])]
    rows = [_as_bytes(wide.left, narrow.left, fine.left) for wide, narrow, fine in factors]
    columns = [_as_bytes(wide.right.T, narrow.right.T, fine.right.T) for wide, narrow, fine in factors]
    shifts = [(wide.shifts, narrow.shifts, fine.shifts[::2]) for wide, narrow, fine in factors]
    return np.concatenate(rows, axis=1), np.concatenate(columns, axis=1), TileModel(shifts)


def without_factors(tile: NDArray[np.uint16]) -> tuple[Bytes, Bytes, TileModel]:
    """As `fit`, but no factors: every prediction is 32768."""
    rows, columns, many = tile.shape
    none = np.zeros(0, np.uint8)
    bare = TileModel([(none, none, none)] * many)
    return np.zeros((rows, 0), np.uint8), np.zeros((columns, 0), np.uint8), bare


def _as_bytes(wide: Matrix, narrow: Matrix, fine: Matrix) -> Bytes:
    whole = wide.astype(np.int16)
    small = fine.astype(np.int8)
    parts = [whole >> 8, whole & 255, narrow.astype(np.int8), small[:, ::2] & 15 | small[:, 1::2] << 4]
    return np.concatenate([part.astype(np.uint8) for part in parts], axis=1)


def _column(stored: NDArray[np.uint16], rng: np.random.Generator) -> tuple[Factors, Factors, Factors]:
    """Factors of 16, 8 and 4 bits of one column of the records of a tile, (rows, columns)."""
    rest = stored.astype(np.float32)
    rest -= 32768
    rows, columns = rest.shape
    size = float(np.sqrt(rows * columns))
    wide = [_none(rows, columns)]
    narrow = [_none(rows, columns)]
    fine = [_none(rows, columns)]
    left = layout.MOST_WIDE
    while left:
        u, b, s = _leading(rest, min(WIDE_STEP, left), rng)
        take = int((s > WIDE_WORTH * size).sum())
        take = 0 if 20 * take * (rows + columns) > 16 * rows * columns else min(len(s), _full(take, 8))
        if take:
            wide.append(_quantised(rest, u[:, :take], *WIDE))
            left -= take
        if take < len(s):
            break
    left = layout.MOST_NARROW
    while left:
        u, b, s = _leading(rest, min(NARROW_STEP, left), rng)
        noise = np.sqrt(max(0.0, float(np.vdot(rest, rest)) - float((s**2).sum())))
        take = min(int((s > NARROW_WORTH * noise).sum()), _worth(rest, u, b, PRICES[0], rng))
        take = min(len(s), _full(take, 16))
        if take:
            narrow.append(_quantised(rest, u[:, :take], *NARROW))
            left -= take
        if take < len(s):
            break
    left = 2 * layout.MOST_PAIRS
    while left:
        u, b, s = _leading(rest, min(FINE_STEP, left), rng)
        take = min(len(s) // 2 * 2, _full(_worth(rest, u, b, PRICES[1], rng) // 2 * 2, 16))
        if take:
            fine.append(_coarse(rest, u[:, :take], s[:take]))
            left -= take
        if take < ENOUGH * len(s):  # the last vectors are never quite right, and do not say that it is enough
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
    large = values > 1e-13 * values[-1]
    out: Matrix = (wide @ (turn[:, large] / np.sqrt(values[large]))).astype(np.float32)
    return out


def _worth(rest: Matrix, u: Matrix, b: Matrix, price: float, rng: np.random.Generator) -> int:
    """How many of the factors pay: bits of the residuals of some rows, against the price of a factor's numbers."""
    rows, columns = rest.shape
    sample = np.sort(rng.choice(rows, min(SAMPLE, rows), replace=False))
    some = rest[sample].copy()
    width = columns // BLOCK * BLOCK or columns
    steps = sorted({0, *np.linspace(0, u.shape[1], 21).round().astype(int).tolist()})
    costs = []
    for before, k in zip([0, *steps], steps, strict=False):
        some -= u[sample, before:k] @ b[before:k]
        rounded = np.abs(np.rint(some[:, :width])).reshape(len(sample), width // min(BLOCK, width), -1)
        bits = float(_bits(rounded.mean(axis=2)).mean())
        costs.append(bits * rows * columns + price * k * (rows + columns))
    return int(steps[int(np.argmin(costs))])


def _quantised(rest: Matrix, u: Matrix, most: int, fraction: int) -> Factors:
    """Factors rounded, the other side fitted to them by least squares and rounded; taken off `rest`."""
    left = np.rint(u * (most / np.maximum(np.abs(u).max(axis=0), 1e-30))).astype(np.float32)
    fitted = _fitted(rest, left)
    need = np.ceil(np.log2(np.maximum(np.abs(fitted).max(axis=1), 1e-30) / most)).astype(int) + fraction
    return _taken(rest, left, fitted, np.clip(need, 0, 15), most, fraction)


def _coarse(rest: Matrix, u: Matrix, s: NDArray[np.float64]) -> Factors:
    """The same for factors of 4 bits: what is far out is cut off, and the factors of a pair have one shift."""
    (rows, columns) = rest.shape
    fraction = NARROW[1]
    need = np.log2(FINE_STEPS**2 * np.maximum(s, 1e-30) / np.sqrt(rows * columns)) + fraction
    need = np.repeat(need.reshape(-1, 2).mean(axis=1), 2)
    shifts = np.clip(np.rint(need), 0, 15).astype(int)
    step = FINE_STEPS / np.sqrt(rows) * np.exp2((shifts - need) / 2)
    left = np.clip(np.rint(u / step), -FINE, FINE).astype(np.float32)
    return _taken(rest, left, _fitted(rest, left), shifts, FINE, fraction)


def _fitted(rest: Matrix, left: Matrix) -> NDArray[Any]:
    """The factors of the other side that leave least of `rest`, by least squares."""
    normal = left.T.astype(np.float64) @ left.astype(np.float64)
    normal[np.diag_indices_from(normal)] += 1e-9 * np.trace(normal) + 1e-9
    solution: NDArray[Any] = np.linalg.solve(normal, (left.T @ rest).astype(np.float64))
    return solution


def _taken(
    rest: Matrix, left: Matrix, fitted: NDArray[np.float64], shifts: Numbers, most: int, fraction: int
) -> Factors:
    """The factors of both sides, once what they predict is taken off `rest`."""
    scale = np.exp2(shifts - float(fraction))
    right = np.clip(np.rint(fitted / scale[:, None]), -most, most).astype(np.float32)
    weights = left * scale.astype(np.float32)
    for start in range(0, len(rest), ROWS_AT_ONCE):
        rest[start : start + ROWS_AT_ONCE] -= weights[start : start + ROWS_AT_ONCE] @ right
    return Factors(left, right, shifts.astype(np.uint8))


# Residuals of a block are close to a generalised Gaussian of exponent SHAPE (measured on 6x10: 0.02 per cent longer
# than with the blocks' own frequencies). A file holds its own table of classes: no reader needs this.
SHAPE = 1.75
#: mean absolute residual that classes 1 to 15 are made for, and the low bits that are kept apart
MEANS = (0.012, 0.035, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.2, 3.5, 5.5, 10.0, 24.0, 100.0)
SHIFTS = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4)


@cache
def ladder() -> Classes:
    """The classes that bgfmt writes."""
    rows = [np.zeros(layout.SYMBOLS, np.int64)]
    rows += [_frequencies(mean, shift) for mean, shift in zip(MEANS, SHIFTS[1:], strict=True)]
    return Classes(np.array(SHIFTS, np.int64), np.array(rows))


@cache
def class_edges() -> NDArray[np.float64]:
    """(15,) the mean absolute residuals at which one class gives way to the next; the first is 0."""
    means = np.array(MEANS)
    return np.concatenate([[0.0], np.sqrt(means[1:] * means[:-1])])


def _bits(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """About how many bits a residual of a block takes whose mean absolute residual is `mean`."""
    at = (0, 0.012, 0.037, 0.096, 0.156, 0.239, 0.388, 0.636, 0.938, 1.395, 2.188, 3.41, 5.263, 8.875)
    takes = (0, 0.0985, 0.266, 0.55, 0.782, 1.041, 1.404, 1.904, 2.375, 2.905, 3.536, 4.172, 4.799, 5.564)
    beyond = np.log2(np.maximum(mean, 1e-9)) + 2.42
    return np.where(mean < at[-1], np.interp(mean, at, takes), np.minimum(beyond, 16.0))


def _frequencies(mean: float, shift: int) -> NDArray[np.int64]:
    most = 40 + int(12 * mean)
    values = np.arange(-most, most + 1)
    inside = (np.arange(20) + 0.5) / 20 - 0.5
    low = 1e-3
    high = 4000.0
    for _ in range(40):
        scale = np.sqrt(low * high)
        chances = np.exp(-((np.abs(values[:, None] + inside) / scale) ** SHAPE)).mean(axis=1)
        chances /= chances.sum()
        low, high = (scale, high) if (chances * np.abs(values)).sum() < mean else (low, scale)
    symbols = (values >> shift) + layout.MIDDLE
    within = (symbols >= 0) & (symbols < layout.ESCAPE)
    shares = np.bincount(symbols[within], chances[within], layout.SYMBOLS) * layout.WHOLE
    out = np.where(shares < 0.4, 0, np.maximum(1, np.rint(shares))).astype(np.int64)
    out[layout.ESCAPE] = max(1, round(layout.WHOLE - float(shares[out > 0].sum())))
    out[layout.MIDDLE] += layout.WHOLE - int(out.sum())
    return out
