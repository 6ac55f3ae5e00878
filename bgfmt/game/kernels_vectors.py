"""Compiled: records of a two-sided table as vectors, 32 int16 at a time, running maxima in the processor's registers.

Written as loops over slices the same takes several times as long: compilers keep the maxima in memory. So vectors are
asked for as such, by LLVM's vector types; what a processor has not got LLVM makes of what it has.

Lanes are the numbers of a block of sides t as they lie in their records: lane x * columns + k is number k of side x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, ir, types

WIDE = 32  # int16 in a vector: 64 bytes, a cache line
I32, I64 = ir.IntType(32), ir.IntType(64)
VECTOR, SUM = ir.VectorType(ir.IntType(16), WIDE), ir.VectorType(I32, WIDE)
PICK = ir.VectorType(I32, WIDE)


class Rolls(NamedTuple):
    """Results j of every roll of a position u: results[ends[21 u + r] : ends[21 u + r + 1]]; weights 1 or 2."""

    ends: Any
    results: Any
    weights: Any


@njit()
def cube(nd: Any, dt: Any) -> Any:
    """Value to its roller of doubling or not, whichever is better: nd rolling on, dt the doubled cube's half."""
    half = (nd + np.int32(nd < 0)) >> 1
    twice = np.int32(32767) if dt >= 16383 else dt + dt
    return twice if dt >= half else nd


@njit()
def turned(stored: Any, columns: int, out: Any) -> None:
    """out = turned values of stored records, both (places * columns,), uint16 and int16."""
    if columns == 1:
        for i in range(stored.size):
            out[i] = np.int16(~(np.int32(stored[i]) - 32768))
        return
    for j in range(stored.size // 4):
        e0 = np.int32(stored[4 * j]) - 32768
        e1 = np.int32(stored[4 * j + 1]) - 32768
        e2 = np.int32(stored[4 * j + 2]) - 32768
        e3 = np.int32(stored[4 * j + 3]) - 32768
        out[4 * j] = np.int16(~e0)
        out[4 * j + 1] = np.int16(~e3)
        out[4 * j + 2] = np.int16(~cube(e2, e3))
        out[4 * j + 3] = np.int16(~cube(e1, e3))


def _record(vectors: int, columns: int) -> Any:
    """The intrinsic for blocks of so many vectors, of records of so many numbers; called as `record` is."""

    @intrinsic
    def made(
        typing: Any, stored: Any, turned: Any, lines: Any, at: Any, window: Any, plays: Any, first: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            def data(kind: Any, value: Any) -> Any:
                return cgutils.create_struct_proxy(kind)(context, builder, value).data

            def field(k: int) -> Any:
                return data(plays.types[k], builder.extract_value(values[5], k))

            arrays = [data(signature.args[k], values[k]) for k in range(4)]
            sums = _sums(builder, vectors, arrays[2:], values[4], [field(k) for k in range(3)], values[6])
            for g in range(vectors):
                value = builder.trunc(builder.sdiv(sums[g], _all(SUM, 36)), VECTOR)  # towards zero
                back = _turned(builder, value) if columns == 4 else builder.not_(value)
                for array, vector in (
                    (arrays[0], builder.xor(value, _all(VECTOR, -32768))),
                    (arrays[1], back),
                ):
                    builder.store(vector, _vector(builder, array, I64(g)), align=2)
            return context.get_dummy_value()

        return types.void(stored, turned, lines, at, types.int64, plays, types.int64), codegen

    return made


def _all(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * WIDE)


def _vector(builder: Any, array: Any, number: Any) -> Any:
    return builder.gep(builder.bitcast(array, VECTOR.as_pointer()), [number])


def _sums(builder: Any, vectors: int, table: Any, window: Any, plays: Any, first: Any) -> list[Any]:
    """Vectors of the weighted sums over the 21 rolls of the greatest lines among the results of each."""
    (lines, at), (ends, results, weights), one = table, plays, I64(1)

    def line(i: Any) -> list[Any]:
        """The vectors of a result."""
        place = builder.sub(builder.sext(builder.load(builder.gep(results, [i])), I64), window)
        begin = builder.mul(builder.sext(builder.load(builder.gep(at, [place])), I64), I64(vectors))
        return [
            builder.load(_vector(builder, lines, builder.add(begin, I64(g))), align=2) for g in range(vectors)
        ]

    def phis(kind: Any, values: list[Any], block: Any) -> list[Any]:
        found = [builder.phi(kind) for _ in values]
        for phi, value in zip(found, values, strict=True):
            phi.add_incoming(value, block)
        return found

    def also(found: list[Any], values: list[Any], block: Any) -> None:
        for phi, value in zip(found, values, strict=True):
            phi.add_incoming(value, block)

    before = builder.block
    roll, more, rolled, done = (builder.function.append_basic_block() for _ in range(4))
    builder.branch(roll)
    builder.position_at_end(roll)
    (r,) = phis(I64, [I64(0)], before)
    sums = phis(SUM, [_all(SUM, 0)] * vectors, before)
    begin, past = (builder.load(builder.gep(ends, [builder.add(first, k)])) for k in (r, builder.add(r, one)))
    start, second = line(begin), builder.add(begin, one)
    builder.cbranch(builder.icmp_signed("<", second, past), more, rolled)
    builder.position_at_end(more)
    (i,) = phis(I64, [second], roll)
    best = phis(VECTOR, start, roll)
    better = [
        builder.select(builder.icmp_signed(">", a, b), a, b) for a, b in zip(best, line(i), strict=True)
    ]
    following = builder.add(i, one)
    also([i, *best], [following, *better], more)
    builder.cbranch(builder.icmp_signed("<", following, past), more, rolled)
    builder.position_at_end(rolled)
    greatest = phis(VECTOR, start, roll)
    also(greatest, better, more)
    weight = builder.insert_element(
        ir.Constant(SUM, ir.Undefined), builder.load(builder.gep(weights, [r])), I32(0)
    )
    weight = builder.shuffle_vector(weight, weight, _all(PICK, 0))
    added = [
        builder.add(total, builder.mul(builder.sext(value, SUM), weight))
        for total, value in zip(sums, greatest, strict=True)
    ]
    after = builder.add(r, one)
    also([r, *sums], [after, *added], rolled)
    builder.cbranch(builder.icmp_signed("<", after, I64(21)), roll, done)
    builder.position_at_end(done)
    return added


def _turned(builder: Any, value: Any) -> Any:
    """Turned values of eight records of four numbers, as `turned` has them."""

    def picked(order: tuple[int, ...]) -> Any:
        lanes = [lane // 4 * 4 + order[lane % 4] for lane in range(WIDE)]
        return builder.shuffle_vector(value, value, ir.Constant(PICK, lanes))

    rolling, doubled = picked((0, 3, 2, 1)), picked((3, 3, 3, 3))
    negative = builder.zext(builder.icmp_signed("<", rolling, _all(VECTOR, 0)), VECTOR)
    half = builder.ashr(builder.add(rolling, negative), _all(VECTOR, 1))
    passes = builder.icmp_signed(">=", doubled, _all(VECTOR, 16383))
    twice = builder.select(passes, _all(VECTOR, 32767), builder.add(doubled, doubled))
    cubed = builder.select(builder.icmp_signed(">=", doubled, half), twice, rolling)
    may = ir.Constant(ir.VectorType(ir.IntType(1), WIDE), [lane % 4 > 1 for lane in range(WIDE)])
    return builder.not_(builder.select(may, cubed, rolling))


_two, _four, _two_cubeless, _four_cubeless = _record(2, 4), _record(4, 4), _record(2, 1), _record(4, 1)


@njit()
def record(
    stored: Any, turned: Any, lines: Any, at: Any, window: int, rolls: Any, u: int, columns: int
) -> None:
    """Records of u against a block of sides t: stored (lanes,) uint16, and turned (lanes,) int16; 64 or 128 lanes.

    lines (m, lanes) int16 : line at[j - window] holds the turned values of all t against u's result j. rolls :
    `Rolls`.
    """
    if stored.size == 4 * WIDE:
        if columns == 4:
            _four(stored, turned, lines, at, window, rolls, 21 * u)
        else:
            _four_cubeless(stored, turned, lines, at, window, rolls, 21 * u)
    elif columns == 4:
        _two(stored, turned, lines, at, window, rolls, 21 * u)
    else:
        _two_cubeless(stored, turned, lines, at, window, rolls, 21 * u)
