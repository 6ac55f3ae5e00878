"""Compiled: the numbers of 32 records as vectors, one vector for each of the ten numbers.

Written as loops over lanes the same takes several times as long; so vectors are asked for as such, by LLVM's vector
types (see `vectors`). `best` and `told` hold the ten numbers of a tile, 32 lanes each, as `State.told` has them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, types

LANES, CHANCES, NUMBERS = 32, 5, 10
LEAST = -8.0  # less than any equity
BITS = ir.VectorType(ir.IntType(1), LANES)


def _vectors(builder: Any, kind: Any, array: Any, at: Any = None) -> list[Any]:
    """Pointers to the ten vectors of a tile, from place `at` of a flat array."""
    data = array if at is None else builder.gep(array, [at])
    first = builder.bitcast(data, kind.as_pointer())
    return [builder.gep(first, [ir.IntType(64)(k)]) for k in range(NUMBERS)]


def _played(first: bool) -> Any:
    """The intrinsic of the first play of a roll, or of a further one; called as `first_play` is."""

    @intrinsic
    def made(
        typing: Any, told: Any, at: Any, apart: Any, begin: Any, best: Any, hits: Any, barred: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = context.get_value_type(told.dtype)
            kind, align = ir.VectorType(number, LANES), int(told.dtype.bitwidth) // 8
            there, hit, here = (
                cgutils.create_struct_proxy(signature.args[k])(context, builder, values[k]).data
                for k in (0, 2, 4)
            )
            news, olds = _vectors(builder, kind, there, values[1]), _vectors(builder, kind, here)
            others = _vectors(builder, kind, hit, values[3])
            lone, off = (builder.bitcast(values[k], BITS) for k in (5, 6))
            least, taken = ir.Constant(kind, [LEAST] * LANES), None
            # the cubeless equity first: it decides whose chances are taken
            for k in (CHANCES, *range(CHANCES), *range(CHANCES + 1, NUMBERS)):
                x = builder.select(
                    lone, builder.load(others[k], align=align), builder.load(news[k], align=align)
                )
                if k >= CHANCES:
                    x = builder.select(off, least, x)
                if not first:
                    was = builder.load(olds[k], align=align)
                    if k == CHANCES:
                        taken = builder.fcmp_ordered(">=", x, was)
                    x = builder.select(taken if k <= CHANCES else builder.fcmp_ordered(">", x, was), x, was)
                builder.store(x, olds[k], align=align)
            return context.get_dummy_value()

        word, index = types.uint32, types.uint64
        return types.void(told, index, apart, index, best, word, word), codegen

    return made


_first, _next = _played(first=True), _played(first=False)


@njit()
def first_play(told: Any, at: Any, apart: Any, begin: Any, best: Any, hits: Any, barred: Any) -> None:
    """`best` = what the first play of a roll leads to: the tile `told[at]`, `apart[begin]` in the lanes of `hits`.

    Lanes of `barred` have no such play.
    """
    _first(told, at, apart, begin, best, hits, barred)


@njit()
def next_play(told: Any, at: Any, apart: Any, begin: Any, best: Any, hits: Any, barred: Any) -> None:
    """`best` = itself or, lane by lane, what a play leads to: the last of equally good ones gives the chances."""
    _next(told, at, apart, begin, best, hits, barred)


@intrinsic
def _trailing(typing: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.uint32(types.uint32), codegen


@njit()
def lowest(word: Any) -> Any:
    """The place of the lowest bit of a word that is not 0."""
    return _trailing(word)  # type: ignore[call-arg]
