"""Model of a tile: factors whose products predict its records. Fits the factors and computes the predictions.

Factors are found as randomised singular vectors (Halko, Martinsson, Tropp 2011), quantised in rounds: the rounding
errors of a round are themselves of low rank, so the next round fits them too. Whatever is found, the file is
lossless: what the factors miss is in the residuals.

Predictions are exact integers. A sum of 16-bit products stays below 2**53 (256 factors, shifts up to 15), in doubles.
Products of the smaller factors are summed in 32 bits as far as the shifts allow; then a new sum begins.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.compressed import kernels_model as kernels
from bgfmt.extras.compressed import layout
from bgfmt.extras.compressed.layout import Classes, TileModel

Bytes = NDArray[np.uint8]
Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]

BATCH_ROWS = 1024  # rows from which predictions are subtracted at a time, to save memory
BATCH_COLUMNS = 1024  # columns whose factors are laid out at a time, to stay in the CPU's cache
SPARE_BITS = (8, 12)  # bits by which an 8-bit and a 4-bit factor can be shifted left within 16 bits


def _plan_sums(narrow: Bytes, pairs: Bytes) -> tuple[Numbers, Numbers, Numbers, float]:
    """Plan how the M + S small factors (8-bit, pairs of 4-bit) of one column of a tile are multiplied.

    Returns by how many bits they are shifted left on the left and on the right side, (M + S,) each; the indices at
    which a new 32-bit sum begins, and the end; and the scale of the sums.
    """
    shifts = np.concatenate([narrow, pairs]).astype(np.int64)
    if not len(shifts):
        return shifts, shifts, np.zeros(1, np.int64), 1.0
    least = int(shifts.min())
    by = shifts - least
    mine = np.minimum(by, np.repeat(SPARE_BITS, [len(narrow), len(pairs)]))
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
    """Compute the predicted records of some rows and columns of a tile.

    Parameters
    ----------
    rows, columns : (m, bytes) and (w, bytes) uint8, their low-rank factors as stored in the file.
    model : how the factors are stored.
    out : (C, m, w) uint16, is filled; C is the number of columns of a record.
    """
    m = len(rows)
    w = len(columns)
    at = 0
    for c, (counts, (wide, narrow, pairs)) in enumerate(zip(model.counts, model.columns, strict=True)):
        mine, theirs, parts, scale = _plan_sums(narrow, pairs)
        end = at + int((counts * (2, 1, 1)).sum())
        many = len(wide)
        steps = int(parts[-1])
        padded = m + -m % 4
        left = np.zeros(padded * many), np.zeros(padded * steps, np.int32)
        kernels.lay_out(rows[:, at:end].copy(), counts, mine, np.exp2(wide.astype(float)), 1, 1, *left)
        for start in range(0, w, BATCH_COLUMNS):
            part = columns[start : start + BATCH_COLUMNS, at:end].copy()
            padded = len(part) + -len(part) % 32
            right = np.zeros(padded * many), np.zeros(padded * steps, np.int32)
            kernels.lay_out(part, counts, theirs, np.ones(many), 32, 16, *right)
            kernels.products(*left, *right, parts, scale, start, len(part), out[c])
        at = end


# number of singular vectors of a round
WIDE_STEP = 64
NARROW_STEP = 128
FINE_STEP = 192
WIDE_MIN_EFFECT = 4.0  # a 16-bit factor must change the records by at least this much
NARROW_MIN_SHARE = 0.19  # an 8-bit one by this share of the remaining noise; below that 4 bits are cheaper
SAMPLED_ROWS = 96  # rows on which the size of residuals is estimated
BLOCK_RECORDS = 128  # records whose mean residual determines their size
EXTRA_VECTORS = 16  # oversampling: singular vectors computed but not used
MIN_TAKEN_SHARE = 0.7  # a round that uses less of its vectors is the last
BITS_PER_FACTOR = (9.0, 6.0)  # cost of a number of an 8-bit and a 4-bit factor, decoding time included
# largest factor, fractional bits
WIDE = (32767, 24)
NARROW = (127, 14)
#: largest 4-bit factor; quantisation step in standard deviations (best for 15 levels of a Gaussian)
FINE_MAX = 7
FINE_STEPS = 0.335


class Factors(NamedTuple):
    """Quantised factors of a matrix: left (rows, K), right (K, columns), shifts (K,)."""

    left: NDArray[Any]
    right: NDArray[Any]
    shifts: NDArray[np.uint8]


def fit(tile: NDArray[np.uint16], seed: int) -> tuple[Bytes, Bytes, TileModel]:
    """Find the low-rank factors that predict a tile of shape (rows, columns, C) by randomised SVD.

    seed : of the random vectors.

    Returns
    -------
    The factors of its rows and of its columns as stored, (rows, bytes) and (columns, bytes) uint8, and the model.
    """
    rng = np.random.default_rng(seed)
    factors = [_fit_column(tile[..., c], rng) for c in range(tile.shape[2])]
    rows = [_pack_factors(wide.left, narrow.left, fine.left) for wide, narrow, fine in factors]
    columns = [_pack_factors(wide.right.T, narrow.right.T, fine.right.T) for wide, narrow, fine in factors]
    shifts = [(wide.shifts, narrow.shifts, fine.shifts[::2]) for wide, narrow, fine in factors]
    return np.concatenate(rows, axis=1), np.concatenate(columns, axis=1), TileModel(shifts)


def without_factors(tile: NDArray[np.uint16]) -> tuple[Bytes, Bytes, TileModel]:
    """Return what `fit` returns, with no factors at all: every prediction is then 32768."""
    rows, columns, many = tile.shape
    none = np.zeros(0, np.uint8)
    bare = TileModel([(none, none, none)] * many)
    return np.zeros((rows, 0), np.uint8), np.zeros((columns, 0), np.uint8), bare


def _pack_factors(wide: Matrix, narrow: Matrix, fine: Matrix) -> Bytes:
    """Return the bytes of factors (m, K), (m, M), (m, 2 S) in the layout of the file, (m, bytes)."""
    whole = wide.astype(np.int16)
    small = fine.astype(np.int8)
    parts = [whole >> 8, whole & 255, narrow.astype(np.int8), small[:, ::2] & 15 | small[:, 1::2] << 4]
    return np.concatenate([part.astype(np.uint8) for part in parts], axis=1)


def _fit_column(stored: NDArray[np.uint16], rng: np.random.Generator) -> tuple[Factors, Factors, Factors]:
    """Find the 16-, 8- and 4-bit factors for one column of a tile's records, (rows, columns)."""
    rest = stored.astype(np.float32)
    rest -= 32768
    rows, columns = rest.shape
    size = float(np.sqrt(rows * columns))
    wide = [_no_factors(rows, columns)]
    narrow = [_no_factors(rows, columns)]
    fine = [_no_factors(rows, columns)]
    left = layout.MAX_WIDE
    while left:
        u, b, s = _leading_vectors(rest, min(WIDE_STEP, left), rng)
        take = int((s > WIDE_MIN_EFFECT * size).sum())
        take = 0 if 20 * take * (rows + columns) > 16 * rows * columns else min(len(s), _round_up(take, 8))
        if take:
            wide.append(_quantise(rest, u[:, :take], *WIDE))
            left -= take
        if take < len(s):
            break
    left = layout.MAX_NARROW
    while left:
        u, b, s = _leading_vectors(rest, min(NARROW_STEP, left), rng)
        noise = np.sqrt(max(0.0, float(np.vdot(rest, rest)) - float((s**2).sum())))
        strong = int((s > NARROW_MIN_SHARE * noise).sum())
        take = min(strong, _count_worthwhile(rest, u, b, BITS_PER_FACTOR[0], rng))
        take = min(len(s), _round_up(take, 16))
        if take:
            narrow.append(_quantise(rest, u[:, :take], *NARROW))
            left -= take
        if take < len(s):
            break
    left = 2 * layout.MAX_PAIRS
    while left:
        u, b, s = _leading_vectors(rest, min(FINE_STEP, left), rng)
        take = _count_worthwhile(rest, u, b, BITS_PER_FACTOR[1], rng)
        take = min(len(s) // 2 * 2, _round_up(take // 2 * 2, 16))
        if take:
            fine.append(_quantise_to_4_bits(rest, u[:, :take], s[:take]))
            left -= take
        if take < MIN_TAKEN_SHARE * len(s):  # the last vectors are inaccurate: not conclusive
            break
    return _join_factors(wide), _join_factors(narrow), _join_factors(fine)


def _round_up(take: int, lanes: int) -> int:
    """Round up to a multiple of the processor's lanes, unless there are few."""
    return -(-take // lanes) * lanes if take > 2 * lanes else take


def _no_factors(rows: int, columns: int) -> Factors:
    """Return an empty set of factors."""
    return Factors(np.zeros((rows, 0), np.float32), np.zeros((0, columns), np.float32), np.zeros(0, np.uint8))


def _join_factors(parts: list[Factors]) -> Factors:
    """Concatenate factors, sorted by shift, so that factors of equal shift are adjacent."""
    shifts = np.concatenate([p.shifts for p in parts])
    order = np.argsort(shifts, kind="stable")
    left = np.concatenate([p.left for p in parts], axis=1)
    return Factors(left[:, order], np.concatenate([p.right for p in parts])[order], shifts[order])


def _leading_vectors(
    matrix: Matrix, many: int, rng: np.random.Generator
) -> tuple[Matrix, Matrix, NDArray[np.float64]]:
    """Return the leading singular vectors u (rows, k), s v (k, columns), s (k,), after one power iteration."""
    many = min(many, *matrix.shape)
    guess = rng.standard_normal((matrix.shape[1], min(many + EXTRA_VECTORS, *matrix.shape)), np.float32)
    basis = _orthonormal_basis(matrix @ guess)
    basis = _orthonormal_basis(matrix.T @ basis)
    basis = _orthonormal_basis(matrix @ basis)
    small = basis.T @ matrix
    values, vectors = np.linalg.eigh(small.astype(np.float64) @ small.T.astype(np.float64))
    order = np.argsort(-values)[:many]
    turn = vectors[:, order].astype(np.float32)
    return basis @ turn, turn.T @ small, np.sqrt(np.maximum(values[order], 0.0))


def _orthonormal_basis(vectors: Matrix) -> Matrix:
    """Return an orthonormal basis of the column space by its Gram matrix, which is faster than QR."""
    wide = vectors.astype(np.float64)
    values, turn = np.linalg.eigh(wide.T @ wide)
    large = values > 1e-13 * values[-1]
    out: Matrix = (wide @ (turn[:, large] / np.sqrt(values[large]))).astype(np.float32)
    return out


def _count_worthwhile(rest: Matrix, u: Matrix, b: Matrix, price: float, rng: np.random.Generator) -> int:
    """Return how many factors reduce the file: bits saved in residuals of sampled rows, less the factors' own bits.

    price : bits that one number of a factor costs.
    """
    rows, columns = rest.shape
    sample = np.sort(rng.choice(rows, min(SAMPLED_ROWS, rows), replace=False))
    some = rest[sample].copy()
    width = columns // BLOCK_RECORDS * BLOCK_RECORDS or columns
    steps = sorted({0, *np.linspace(0, u.shape[1], 21).round().astype(int).tolist()})
    costs = []
    for before, k in zip([0, *steps], steps, strict=False):
        some -= u[sample, before:k] @ b[before:k]
        rounded = np.abs(np.rint(some[:, :width])).reshape(
            len(sample), width // min(BLOCK_RECORDS, width), -1
        )
        bits = float(_bits(rounded.mean(axis=2)).mean())
        costs.append(bits * rows * columns + price * k * (rows + columns))
    return int(steps[int(np.argmin(costs))])


def _quantise(rest: Matrix, u: Matrix, most: int, fraction: int) -> Factors:
    """Round the left factors, fit the right ones by least squares, and subtract their products from `rest`.

    most : largest absolute value of a factor. fraction : fractional bits of a product.
    """
    left = np.rint(u * (most / np.maximum(np.abs(u).max(axis=0), 1e-30))).astype(np.float32)
    fitted = _fit_right(rest, left)
    need = np.ceil(np.log2(np.maximum(np.abs(fitted).max(axis=1), 1e-30) / most)).astype(int) + fraction
    return _subtract(rest, left, fitted, np.clip(need, 0, 15), most, fraction)


def _quantise_to_4_bits(rest: Matrix, u: Matrix, s: NDArray[np.float64]) -> Factors:
    """Quantise factors to 4 bits as `_quantise` does; outliers are clipped, and factors of a pair share a shift."""
    (rows, columns) = rest.shape
    fraction = NARROW[1]
    need = np.log2(FINE_STEPS**2 * np.maximum(s, 1e-30) / np.sqrt(rows * columns)) + fraction
    need = np.repeat(need.reshape(-1, 2).mean(axis=1), 2)
    shifts = np.clip(np.rint(need), 0, 15).astype(int)
    step = FINE_STEPS / np.sqrt(rows) * np.exp2((shifts - need) / 2)
    left = np.clip(np.rint(u / step), -FINE_MAX, FINE_MAX).astype(np.float32)
    return _subtract(rest, left, _fit_right(rest, left), shifts, FINE_MAX, fraction)


def _fit_right(rest: Matrix, left: Matrix) -> NDArray[Any]:
    """Return the right factors that minimise the remainder of `rest`, by least squares."""
    normal = left.T.astype(np.float64) @ left.astype(np.float64)
    normal[np.diag_indices_from(normal)] += 1e-9 * np.trace(normal) + 1e-9
    solution: NDArray[Any] = np.linalg.solve(normal, (left.T @ rest).astype(np.float64))
    return solution


def _subtract(
    rest: Matrix, left: Matrix, fitted: NDArray[np.float64], shifts: Numbers, most: int, fraction: int
) -> Factors:
    """Round the right factors, subtract the products of both sides from `rest`, and return the factors."""
    scale = np.exp2(shifts - float(fraction))
    right = np.clip(np.rint(fitted / scale[:, None]), -most, most).astype(np.float32)
    weights = left * scale.astype(np.float32)
    for start in range(0, len(rest), BATCH_ROWS):
        rest[start : start + BATCH_ROWS] -= weights[start : start + BATCH_ROWS] @ right
    return Factors(left, right, shifts.astype(np.uint8))


# Residuals of a block are close to a generalised Gaussian of this exponent (measured on 6x10: 0.02 % longer than
# with the blocks' own frequencies). A file has its own table of classes: no reader needs this.
GAUSSIAN_EXPONENT = 1.75
#: mean absolute residual for which classes 1 to 15 are made, and the low bits that are stored separately
CLASS_MEANS = (0.012, 0.035, 0.08, 0.15, 0.25, 0.4, 0.6, 0.9, 1.4, 2.2, 3.5, 5.5, 10.0, 24.0, 100.0)
CLASS_SHIFTS = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4)


@cache
def default_classes() -> Classes:
    """Return the 16 classes of the entropy coder (shifts and symbol frequencies) that bgfmt writes."""
    rows = [np.zeros(layout.SYMBOLS, np.int64)]
    rows += [_frequencies(mean, shift) for mean, shift in zip(CLASS_MEANS, CLASS_SHIFTS[1:], strict=True)]
    return Classes(np.array(CLASS_SHIFTS, np.int64), np.array(rows))


@cache
def class_edges() -> NDArray[np.float64]:
    """Return the mean absolute residuals at which a class of the coder gives way to the next, (15,), the first 0."""
    means = np.array(CLASS_MEANS)
    return np.concatenate([[0.0], np.sqrt(means[1:] * means[:-1])])


def _bits(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return about how many bits a residual takes in a block with mean absolute residual `mean`."""
    at = (0, 0.012, 0.037, 0.096, 0.156, 0.239, 0.388, 0.636, 0.938, 1.395, 2.188, 3.41, 5.263, 8.875)
    takes = (0, 0.0985, 0.266, 0.55, 0.782, 1.041, 1.404, 1.904, 2.375, 2.905, 3.536, 4.172, 4.799, 5.564)
    beyond = np.log2(np.maximum(mean, 1e-9)) + 2.42
    return np.where(mean < at[-1], np.interp(mean, at, takes), np.minimum(beyond, 16.0))


def _frequencies(mean: float, shift: int) -> NDArray[np.int64]:
    """Return the symbol frequencies (64,) of a class for a mean absolute residual."""
    most = 40 + int(12 * mean)
    values = np.arange(-most, most + 1)
    inside = (np.arange(20) + 0.5) / 20 - 0.5
    low = 1e-3
    high = 4000.0
    for _ in range(40):
        scale = np.sqrt(low * high)
        chances = np.exp(-((np.abs(values[:, None] + inside) / scale) ** GAUSSIAN_EXPONENT)).mean(axis=1)
        chances /= chances.sum()
        low, high = (scale, high) if (chances * np.abs(values)).sum() < mean else (low, scale)
    symbols = (values >> shift) + layout.MIDDLE
    within = (symbols >= 0) & (symbols < layout.ESCAPE)
    shares = np.bincount(symbols[within], chances[within], layout.SYMBOLS) * layout.FREQUENCY_SUM
    out = np.where(shares < 0.4, 0, np.maximum(1, np.rint(shares))).astype(np.int64)
    out[layout.ESCAPE] = max(1, round(layout.FREQUENCY_SUM - float(shares[out > 0].sum())))
    out[layout.MIDDLE] += layout.FREQUENCY_SUM - int(out.sum())
    return out
