"""Compiled: what a play is worth in 32 records at once, one vector for each of the five equities.

Written as loops over lanes the same takes several times as long; so vectors are asked for as such, by LLVM's vector
types. `told` and `best` hold the equities of a tile, 32 lanes each, as `State.told` has them.
"""

from __future__ import annotations

from typing import Any

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, ir, types

LANES, EQUITIES = 32, 5
LEAST = -8.0  # less than any equity
WORD = ir.IntType(32)
TOGETHER = 8  # numbers of one record
PLACES_TOGETHER = ir.VectorType(WORD, TOGETHER)
BITS, PLACES = ir.VectorType(ir.IntType(1), LANES), ir.VectorType(WORD, LANES)


@intrinsic
def _play(
    typing: Any, told: Any, at: Any, column: Any, tile: Any, side: Any, apart: Any, places: Any, turn: Any,
    best: Any, chosen: Any, hits: Any, barred: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number = context.get_value_type(told.dtype)
        reals, align = ir.VectorType(number, LANES), int(told.dtype.bitwidth) // 8

        def vectors(k: int, kind: Any, at: Any = None) -> Any:
            data = cgutils.create_struct_proxy(signature.args[k])(context, builder, values[k]).data
            return builder.bitcast(builder.gep(data, [at]) if at else data, kind.as_pointer())

        def item(pointer: Any, k: int, size: int = align) -> Any:
            return builder.load(builder.gep(pointer, [WORD(k)]), align=size)

        index = ir.IntType(64)
        news, olds = vectors(0, reals, values[1]), vectors(8, reals)
        others = vectors(5, reals, builder.mul(values[7], index(EQUITIES * LANES)))
        others_at = vectors(6, PLACES, builder.mul(values[7], index(LANES)))
        columns, olds_at = vectors(2, PLACES, values[3]), vectors(9, PLACES)
        lone, off = (builder.bitcast(values[k], BITS) for k in (10, 11))
        least = ir.Constant(reals, [LEAST] * LANES)
        for k in range(EQUITIES):
            x = builder.select(off, least, builder.select(lone, item(others, k), item(news, k)))
            was = item(olds, k)
            taken = builder.fcmp_ordered(">" if k else ">=", x, was)
            builder.store(builder.select(taken, x, was), builder.gep(olds, [WORD(k)]), align=align)
            if k == 0:  # it decides whose chances are taken
                there = builder.insert_element(ir.Constant(PLACES, ir.Undefined), values[4], WORD(0))
                there = builder.shuffle_vector(there, there, ir.Constant(PLACES, [0] * LANES))
                there = builder.add(there, item(columns, 0, 4))
                there = builder.select(lone, item(others_at, 0, 4), there)
                builder.store(builder.select(taken, there, item(olds_at, 0, 4)), olds_at, align=4)
        return context.get_dummy_value()

    word, index = types.uint32, types.uint64
    return types.void(
        told, index, column, index, word, apart, places, index, best, chosen, word, word
    ), codegen


@njit()
def play(
    told: Any, at: Any, column: Any, tile: Any, side: Any, apart: Any, places: Any, turn: Any, best: Any,
    chosen: Any, hits: Any, barred: Any,
) -> None:  # fmt: skip
    """`best` = itself or, lane by lane, what a play leads to if that is more; `chosen` : its place in `State.apart`.

    The equities are told[at], at `side` + column[tile]; in the lanes of `hits` those of apart at places, of this
    `turn` of two. Lanes of `barred` have no such play. `chosen` goes by the last of equal cubeless equities.
    """
    _play(told, at, column, tile, side, apart, places, turn, best, chosen, hits, barred)


@intrinsic
def _add_some(typing: Any, total: Any, at: Any, numbers: Any, begin: Any, weight: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number, align = context.get_value_type(total.dtype), int(total.dtype.bitwidth) // 8
        kind = ir.VectorType(number, TOGETHER)
        into, what = (
            builder.bitcast(
                builder.gep(
                    cgutils.create_struct_proxy(signature.args[k])(context, builder, values[k]).data,
                    [values[k + 1]],
                ),
                kind.as_pointer(),
            )
            for k in (0, 2)
        )
        times = builder.insert_element(ir.Constant(kind, ir.Undefined), values[4], WORD(0))
        times = builder.shuffle_vector(times, times, ir.Constant(PLACES_TOGETHER, [0] * TOGETHER))
        more = builder.fmul(times, builder.load(what, align=align))
        builder.store(builder.fadd(builder.load(into, align=align), more), into, align=align)
        return context.get_dummy_value()

    return types.void(total, types.uint64, numbers, types.uint64, total.dtype), codegen


@njit()
def add_some(total: Any, at: Any, numbers: Any, begin: Any, weight: Any) -> None:
    """total[at:at + 8] += weight * numbers[begin:begin + 8], each product and sum rounded."""
    _add_some(total, at, numbers, begin, weight)


@intrinsic
def _trailing(typing: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.uint32(types.uint32), codegen


@njit()
def lowest(word: Any) -> Any:
    """The place of the lowest bit of a word that is not 0."""
    return _trailing(word)  # type: ignore[call-arg]
