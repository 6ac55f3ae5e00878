"""Compiled: what the factors of a tile predict, as exact sums of products. See docs/formats/bgfmt-ts.md for the rule.

Predictions of whole tiles are products of matrices. Factors are laid out for them first: those of 16 bits as doubles,
which hold the sums exactly, the others as pairs of 16-bit integers in 32 bits, so that one instruction of the
processor multiplies and adds both. Plain loops take 2.5 times as long, since compilers keep the sums in memory;
so the innermost step asks LLVM for vectors. Predictions of single records are plain loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.compressed.layout import BEFORE, NARROW, PAIRS, SHIFTS, SHORT, WIDE
from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, ir, types

ROWS, LANES = 4, 32  # of a block of products
HALF = LANES // 2
U = np.uint64
_NONE = U(0)
I16, I32, I64, F64 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _shuffled(builder: Any, value: Any, order: Any) -> Any:
    mask = ir.Constant(ir.VectorType(I32, len(order)), list(order))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


def _pairs_step(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """total + products of 16-bit integers, added two by two, which x86 does in one instruction."""
    small = ir.VectorType(I16, 2 * total.type.count)
    wide = ir.VectorType(I32, small.count)
    product = builder.mul(*(builder.sext(builder.bitcast(value, small), wide) for value in (a, b)))
    halves = (_shuffled(builder, product, range(odd, small.count, 2)) for odd in (0, 1))
    return builder.add(total, builder.add(*halves))


def _double_step(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=("contract",)), flags=("contract",))


def _block(number: Any, lanes: int, panel: int, step: Any) -> Any:
    """The intrinsic for a block of products of `number`s, by vectors of `lanes`; called as the two below are."""
    kind, align, many = ir.VectorType(number, lanes), 8 if number is F64 else 4, panel // lanes

    @intrinsic
    def block(
        typing: Any, left: Any, at: Any, stride: Any, right: Any, begin: Any, steps: Any, out: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            _, at, stride, _, begin, steps, _ = values
            a, b, to = (
                cgutils.create_struct_proxy(signature.args[k])(context, builder, values[k]).data
                for k in (0, 3, 6)
            )

            def place(array: Any, at: Any) -> Any:
                return builder.bitcast(builder.gep(array, [at]), kind.as_pointer())

            zero = ir.Constant(kind, None)
            totals = [cgutils.alloca_once_value(builder, zero) for _ in range(ROWS * many)]
            with cgutils.for_range(builder, steps) as loop:
                first = builder.add(begin, builder.mul(loop.index, I64(panel)))
                parts = [
                    builder.load(place(b, builder.add(first, I64(v * lanes))), align=align)
                    for v in range(many)
                ]
                for k, total in enumerate(totals):
                    row = builder.add(at, builder.mul(stride, I64(k // many)))
                    one = builder.load(builder.gep(a, [builder.add(row, loop.index)]))
                    one = builder.insert_element(ir.Constant(kind, ir.Undefined), one, I32(0))
                    one = _shuffled(builder, one, [0] * lanes)
                    builder.store(step(builder, builder.load(total), one, parts[k % many]), total)
            for k, total in enumerate(totals):
                builder.store(builder.load(total), place(to, I64(k * lanes)), align=align)
            return context.get_dummy_value()

        args = left, types.int64, types.int64, right, types.int64, types.int64, out
        return types.void(*args), codegen

    return block


#: (left int32, at, stride, right int32, begin, steps, out int32 (128,)): four rows of `left`, from `at` on, times a
#: panel of 32 columns of `right`, from `begin` on; each int32 is a pair of int16 numbers, of which both count
_pairs_block = _block(I32, 16, LANES, _pairs_step)
#: the same of doubles, and 16 columns: out (64,)
_double_block = _block(F64, 8, HALF, _double_step)


@njit()
def lay_out(
    rows: Any, counts: Any, raised: Any, scales: Any, panel: int, wide_panel: int, wide: Any, small: Any
) -> None:
    """Factors (m, bytes) uint8 of rows or of columns, laid out for `products`.

    counts : K, M, S. raised : (M + S,) by how many bits each small factor is raised here. scales : (K,) float64 by
    what each factor of 16 bits is multiplied. wide float64 and small int32, both flat, take panels of `wide_panel`
    and `panel` rows, factor by factor, those of a panel side by side.
    """
    many, narrow, pairs = counts
    data = rows.view(np.int8)
    steps = (narrow + 1) // 2 + pairs
    for first in range(0, len(rows), wide_panel):
        last = min(len(rows), first + wide_panel)
        for k in range(many):
            to = first * many + wide_panel * k - first
            for i in range(first, last):
                value = np.int32(data[i, k]) << 8 | (np.int32(data[i, many + k]) & 255)
                wide[to + i] = np.float64(value) * scales[k]
    for first in range(0, len(rows), panel):
        last = min(len(rows), first + panel)
        for k in range(0, narrow, 2):
            to = first * steps + panel * (k // 2) - first
            other = min(k + 1, narrow - 1)
            by, also = raised[k], raised[other] if other > k else 16  # one left over has 0 beside it
            for i in range(first, last):
                one, two = np.int32(data[i, 2 * many + k]), np.int32(data[i, 2 * many + other])
                small[to + i] = np.int32((one << by & 65535) | two << also << 16)
        for k in range(pairs):
            to, by = first * steps + panel * ((narrow + 1) // 2 + k) - first, raised[narrow + k]
            for i in range(first, last):
                both = np.int32(data[i, 2 * many + narrow + k])
                one, two = ((both & 15) ^ 8) - 8, both >> 4
                small[to + i] = np.int32((one << by & 65535) | two << by << 16)


@njit()
def products(
    left_wide: Any, left_small: Any, right_wide: Any, right_small: Any, parts: Any, scale: Any, out: Any
) -> None:
    """Predictions of one column of the table from factors that are laid out: out (m, w) uint16.

    The left ones are in panels of one row, padded to four rows; the right ones in panels of 16 and of 32 columns.
    parts : (p + 1,) where sums of pairs must begin anew to stay within 32 bits, and the end. scale : what the sums
    are multiplied by.
    """
    m, w = out.shape
    padded, steps = (m + ROWS - 1) // ROWS * ROWS, parts[-1]
    many = len(left_wide) // padded
    wide, small = np.empty((2, ROWS * HALF), np.float64), np.empty(ROWS * LANES, np.int32)
    total = np.empty((ROWS, LANES), np.float64)
    for first in range(0, w, LANES):
        for row in range(0, m, ROWS):
            for h in range(2):
                begin = (first + h * HALF) * many
                _double_block(left_wide, row * many, many, right_wide, begin, many, wide[h])
            for r in range(ROWS):
                for h in range(2):
                    for i in range(HALF):
                        total[r, h * HALF + i] = np.floor(wide[h, r * HALF + i] * (1.0 / 1024.0))
            for p in range(len(parts) - 1):
                low, high = parts[p], parts[p + 1]
                begin = first * steps + low * LANES
                _pairs_block(left_small, row * steps + low, steps, right_small, begin, high - low, small)
                for r in range(ROWS):
                    for i in range(LANES):
                        total[r, i] += scale * np.float64(small[r * LANES + i])
            for r in range(min(ROWS, m - row)):
                for i in range(min(LANES, w - first)):
                    value = np.floor((total[r, i] + 8192.0) * (1.0 / 16384.0)) + 32768.0
                    out[row + r, first + i] = np.int32(min(max(value, 0.0), 65535.0))


@intrinsic
def _fetch_line(typing: Any, data: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0]).data
        place = builder.bitcast(builder.gep(array, [values[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, I32, I32, I32])
        prefetch: Any = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(prefetch, [place, I32(0), I32(3), I32(1)])
        return context.get_dummy_value()

    return types.void(data, types.int64), codegen


@njit()
def fetch(data: Any, start: Any, stop: Any) -> None:
    """Have the memory bring data[start:stop] (uint8), which will soon be needed: batches are a fifth faster."""
    for at in range(start, stop, 64):
        _fetch_line(data, at)


@njit()
def raise_row(data: Any, at: Any, parts: Any, shifts: Any, out: Any) -> None:
    """The factors of a row, from data[at] (int8) on, shifted for `add_prediction`: out int32.

    parts : as `TileModel.parts` has them. shifts : uint8, those of all tiles.
    """
    to = _NONE
    for c in range(len(parts)):
        wide, narrow, pairs = U(parts[c, WIDE]), U(parts[c, NARROW]), U(parts[c, PAIRS])
        a, s = U(at + parts[c, BEFORE]), U(parts[c, SHIFTS])
        for k in range(wide):
            value = np.int32(data[a + k]) << 8 | (np.int32(data[a + wide + k]) & 255)
            out[to + k] = np.int32(value) << np.int32(shifts[s + k])
        a, s, to = a + wide + wide, s + wide, to + wide
        for k in range(narrow):
            out[to + k] = np.int32(data[a + k]) << np.int32(shifts[s + k])
        a, s, to = a + narrow, s + narrow, to + narrow
        for k in range(pairs):
            both, by = np.int32(data[a + k]), np.int32(shifts[s + k])
            out[to + k] = ((both & 15) ^ 8) - 8 << by
            out[to + pairs + k] = both >> 4 << by
        to += pairs + pairs


@njit()
def add_prediction(row: Any, data: Any, at: Any, parts: Any, out: Any) -> None:
    """Add what the factors predict of a record to out (columns,) uint16: `row` as `raise_row` has it, the column's
    factors from data[at] (int8) on."""
    to = _NONE
    for c in range(len(parts)):
        wide, narrow, pairs = U(parts[c, WIDE]), U(parts[c, NARROW]), U(parts[c, PAIRS])
        a = U(at + parts[c, BEFORE])
        total: Any = np.int64(0)
        for k in range(wide):
            value = np.int32(data[a + k]) << 8 | (np.int32(data[a + wide + k]) & 255)
            total += np.int64(row[to + k]) * np.int64(np.int32(value))
        total >>= 10
        a, to = a + wide + wide, to + wide
        if parts[c, SHORT]:
            short: Any = np.int32(0)
            for k in range(narrow):
                short = np.int32(short + row[to + k] * np.int32(data[a + k]))
            a, to = a + narrow, to + narrow
            for k in range(pairs):
                both = np.int32(data[a + k])
                one, two = row[to + k] * (((both & 15) ^ 8) - 8), row[to + pairs + k] * (both >> 4)
                short = np.int32(short + np.int32(one) + np.int32(two))
            total += short
        else:
            for k in range(narrow):
                total += np.int64(row[to + k]) * np.int64(data[a + k])
            a, to = a + narrow, to + narrow
            for k in range(pairs):
                long = np.int64(data[a + k])
                total += row[to + k] * (((long & 15) ^ 8) - 8) + row[to + pairs + k] * (long >> 4)
        to += pairs + pairs
        out[c] += min(max((total + 8192 >> 14) + 32768, 0), 65535)
