"""The innermost step of the hypergammon iteration, 32 records at a time, in LLVM's vector types."""

from __future__ import annotations

from typing import Any

from bgfmt.jit import intrinsic
from bgfmt.jit.compiler import cgutils, ir, types

LANES = 32
EQUITIES = 5
LEAST = -1e9


def _consider_ir(
    typing_context: Any, table: Any, at: Any, met: Any, met_in: Any, column: Any, row: Any, hits: Any, barred: Any,
    best: Any, best_in: Any,
) -> Any:  # fmt: skip
    word = types.uint32
    signature = types.void(table, types.int64, met, met_in, column, word, word, word, best, best_in)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number, align = context.get_value_type(table.dtype), int(table.dtype.bitwidth) // 8
        i1, i32 = ir.IntType(1), ir.IntType(32)
        reals, places = ir.VectorType(number, LANES), ir.VectorType(i32, LANES)

        def data(k: int, kind: Any, begin: Any = None) -> Any:
            pointer = cgutils.create_struct_proxy(sig.args[k])(context, builder, args[k]).data
            return builder.bitcast(builder.gep(pointer, [begin]) if begin else pointer, kind.as_pointer())

        def item(pointer: Any, k: int, size: int = align) -> Any:
            return builder.load(builder.gep(pointer, [i32(k)]), align=size)

        plain, hit, kept = data(0, reals, args[1]), data(2, reals), data(8, reals)
        hit_at, columns, kept_at = data(3, places), data(4, places), data(9, places)
        lanes = ir.VectorType(i1, LANES)
        in_hits, off = builder.bitcast(args[6], lanes), builder.bitcast(args[7], lanes)
        least = ir.Constant(reals, [LEAST] * LANES)
        all_rows = builder.insert_element(ir.Constant(places, ir.Undefined), args[5], i32(0))
        all_rows = builder.shuffle_vector(all_rows, all_rows, ir.Constant(places, [0] * LANES))
        for k in range(EQUITIES):
            x = builder.select(off, least, builder.select(in_hits, item(hit, k), item(plain, k)))
            was = item(kept, k)
            better = builder.fcmp_ordered(">" if k else ">=", x, was)
            builder.store(builder.select(better, x, was), builder.gep(kept, [i32(k)]), align=align)
            if k == 0:  # it says whose chances are taken
                there = builder.add(item(columns, 0, 4), all_rows)
                there = builder.select(in_hits, item(hit_at, 0, 4), there)
                builder.store(builder.select(better, there, item(kept_at, 0, 4)), kept_at, align=4)
        return context.get_dummy_value()

    return signature, generate


def _lowest_ir(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint32(types.uint32), generate


#: consider(table, at, met, met_in, column, row, hits, barred, best, best_in): a play in all lanes. table[at] begins
#: the five equities that it leads to, of 32 lanes each, `met` those of the lanes in which it hits; best = the
#: greatest of each so far. best_in = which record the cubeless one, the last of equal ones, comes from: column + row
#: or, in lanes of `hits`, met_in. Lanes of `barred` have no such play.
consider: Any = intrinsic(_consider_ir)
#: lowest(word): the place of the lowest bit of a word that is not 0
lowest: Any = intrinsic(_lowest_ir)
