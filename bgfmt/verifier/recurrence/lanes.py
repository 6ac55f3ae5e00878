"""The innermost loop of the two-sided recurrence, in LLVM's vector types, and the plain loop it replaces.

A loop over a row of known length that sits inside another loop is not vectorised by the compiler, so this one loop
is written out. `tests/verifier/test_lanes.py` holds the two against each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import ir, types

Array = Any
LANES = 64
LEAST = -32768


@njit()
def add_best_plainly(tile: Array, results: Array, first: int, last: int, total: Array, double: int) -> None:
    """total[k] += the greatest tile[results[q], k] over q = first..last-1, shifted left by `double`.

    tile : (n, LANES) int16; results : int32; total : (LANES,) int32. The greatest of nothing is LEAST.
    """
    for k in range(LANES):
        best = np.int32(LEAST)
        for q in range(first, last):
            best = max(best, np.int32(tile[results[q], k]))
        total[k] += best << double


def _add_best_ir(
    typing_context: Any, tile: Any, results: Any, start: Any, stop: Any, total: Any, double: Any
) -> Any:
    """The code of `add_best`; what it does is `add_best_plainly`."""
    signature = types.void(*[types.int64] * 6)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        i16, i32, i64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
        short, wide = ir.VectorType(i16, LANES), ir.VectorType(i32, LANES)
        tile_at, results_at, begin, end, total_at, shift = args
        rows = builder.inttoptr(tile_at, short.as_pointer())
        which = builder.inttoptr(results_at, i32.as_pointer())
        sums = builder.inttoptr(total_at, wide.as_pointer())
        before = builder.block
        loop = builder.append_basic_block("rows")
        done = builder.append_basic_block("done")
        least = ir.Constant(short, [LEAST] * LANES)
        builder.cbranch(builder.icmp_signed("<", begin, end), loop, done)
        builder.position_at_end(loop)
        q = builder.phi(i64)
        best = builder.phi(short)
        row = builder.zext(builder.load(builder.gep(which, [q])), i64)
        value = builder.load(builder.gep(rows, [row]))
        value.align = 2
        better = builder.select(builder.icmp_signed(">", value, best), value, best)
        following = builder.add(q, ir.Constant(i64, 1))
        q.add_incoming(begin, before)
        q.add_incoming(following, loop)
        best.add_incoming(least, before)
        best.add_incoming(better, loop)
        builder.cbranch(builder.icmp_signed("<", following, end), loop, done)
        builder.position_at_end(done)
        final = builder.phi(short)
        final.add_incoming(least, before)
        final.add_incoming(better, loop)
        unknown = ir.Constant(wide, ir.Undefined)
        amount = builder.insert_element(unknown, builder.trunc(shift, i32), ir.Constant(i32, 0))
        amount = builder.shuffle_vector(amount, unknown, ir.Constant(wide, [0] * LANES))
        weighted = builder.shl(builder.sext(final, wide), amount)
        old = builder.load(sums)
        old.align = 4
        stored = builder.store(builder.add(old, weighted), sums)
        stored.align = 4
        return context.get_dummy_value()

    return signature, generate


#: add_best(tile, results, first, last, total, double), the three arrays as addresses; see `add_best_plainly`
add_best: Any = intrinsic(_add_best_ir)
