"""The one loop that is written in LLVM's vector types: adding up the greatest of several rows of int16 numbers.

A two-sided table is made, and checked, by this loop. Numba compiles the plain loop to code that keeps the maxima in
memory and takes five times as long. The loop knows nothing of backgammon; `add_best_plainly` says what it does, and
`tests/jit/test_lanes.py` holds the two against each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import ir, types

Array = Any
LANES = 64  # int16 numbers in a row: two cache lines
LEAST = -32768


@njit()
def add_best_plainly(
    rows: Array, at: Array, results: Array, first: int, last: int, total: Array, double: int
) -> None:
    """total[k] += the greatest rows[at[results[q]], k] over q = first..last-1, shifted left by `double`.

    rows : (n, LANES) int16; at, results : int32; total : (LANES,) int32. The greatest of nothing is LEAST.
    """
    for k in range(LANES):
        best = np.int32(LEAST)
        for q in range(first, last):
            best = max(best, np.int32(rows[at[results[q]], k]))
        total[k] += best << double


def _add_best(
    typing_context: Any,
    rows: Any,
    stride: Any,
    at: Any,
    results: Any,
    start: Any,
    stop: Any,
    total: Any,
    double: Any,
) -> Any:
    """The code of `add_best`; what it does is `add_best_plainly`."""
    signature = types.void(*[types.int64] * 8)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        i16, i32, i64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
        short, wide = ir.VectorType(i16, LANES), ir.VectorType(i32, LANES)
        rows, stride, at, results, begin, end, total, shift = args
        places, numbers = (builder.inttoptr(array, i32.as_pointer()) for array in (at, results))
        sums = builder.inttoptr(total, wide.as_pointer())
        before = builder.block
        loop, after = builder.append_basic_block("rows"), builder.append_basic_block("sum")
        least = ir.Constant(short, [LEAST] * LANES)
        builder.cbranch(builder.icmp_signed("<", begin, end), loop, after)
        builder.position_at_end(loop)
        q, best = builder.phi(i64), builder.phi(short)
        number = builder.sext(builder.load(builder.gep(numbers, [q])), i64)
        place = builder.sext(builder.load(builder.gep(places, [number])), i64)
        row = builder.inttoptr(builder.add(rows, builder.mul(place, stride)), short.as_pointer())
        value = builder.load(row, align=2)
        better = builder.select(builder.icmp_signed(">", value, best), value, best)
        following = builder.add(q, ir.Constant(i64, 1))
        q.add_incoming(begin, before)
        q.add_incoming(following, loop)
        best.add_incoming(least, before)
        best.add_incoming(better, loop)
        builder.cbranch(builder.icmp_signed("<", following, end), loop, after)
        builder.position_at_end(after)
        greatest = builder.phi(short)
        greatest.add_incoming(least, before)
        greatest.add_incoming(better, loop)
        one = builder.insert_element(
            ir.Constant(wide, ir.Undefined), builder.trunc(shift, i32), ir.Constant(i32, 0)
        )
        amount = builder.shuffle_vector(one, one, ir.Constant(wide, [0] * LANES))
        weighted = builder.shl(builder.sext(greatest, wide), amount)
        builder.store(builder.add(builder.load(sums, align=4), weighted), sums, align=4)
        return context.get_dummy_value()

    return signature, generate


#: add_best(rows, stride, at, results, first, last, total, double), arrays as addresses, stride in bytes; see
#: `add_best_plainly`
add_best: Any = intrinsic(_add_best)
