"""Compiled: sums of products, tiles of a product of matrices and single ones, by vectors of the processor.

LLVM's vector types are asked for as such (see `bgfmt.game.kernels_vectors`); what a processor has not got LLVM
makes of what it has. All sums here are exact: integers, or doubles that hold integers below 2**53.
"""

from __future__ import annotations

from typing import Any

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, ir, types

ROWS, LANES = 4, 32  # of a tile
I16, I32, I64, F64 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def vector(kind: Any, lanes: int) -> Any:
    """LLVM's type of so many."""
    return ir.VectorType(kind, lanes)


def all_of(builder: Any, value: Any, lanes: int) -> Any:
    """A vector of one value."""
    kind = vector(value.type, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, I32(0))
    return builder.shuffle_vector(
        one, ir.Constant(kind, ir.Undefined), ir.Constant(vector(I32, lanes), [0] * lanes)
    )


def loaded(builder: Any, data: Any, at: Any, kind: Any, align: int) -> Any:
    """A vector that begins at number `at` of an array."""
    place = builder.bitcast(builder.gep(data, [at]), kind.as_pointer())
    return builder.load(place, align=align)


def added_pairs(context: Any, builder: Any, a: Any, b: Any) -> Any:
    """Products of 16-bit numbers, added up two by two, 32 bits: one instruction of x86, which LLVM does not see."""
    triple, _, features = context.codegen().magic_tuple()
    many = a.type.count
    if triple.startswith("x86_64"):
        has = features.split(",")
        name, most = ("avx512.pmaddw.d.512", 32) if "+avx512bw" in has else ("sse2.pmadd.wd", 8)
        name, most = ("avx2.pmadd.wd", 16) if "+avx2" in has and most == 8 else (name, most)
        kind = vector(I16, min(many, most)), vector(I32, min(many, most) // 2)
        insert: Any = cgutils.get_or_insert_function
        function = insert(builder.module, ir.FunctionType(kind[1], [kind[0]] * 2), f"llvm.x86.{name}")
        parts = [
            builder.call(function, [_picked(builder, value, range(first, first + most)) for value in (a, b)])
            for first in range(0, many, most)
        ]
        while len(parts) > 1:
            parts = [_joined(builder, *parts[k : k + 2]) for k in range(0, len(parts), 2)]
        return parts[0]

    def half(value: Any, odd: int) -> Any:
        return builder.sext(_picked(builder, value, range(odd, many, 2)), vector(I32, many // 2))

    return builder.add(*(builder.mul(half(a, odd), half(b, odd)) for odd in (0, 1)))


def _picked(builder: Any, value: Any, which: range) -> Any:
    mask = ir.Constant(vector(I32, len(which)), list(which))
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)


def _joined(builder: Any, a: Any, b: Any) -> Any:
    many = 2 * a.type.count
    return builder.shuffle_vector(a, b, ir.Constant(vector(I32, many), list(range(many))))


def _tile(number: Any, lanes: int) -> Any:
    """The intrinsic for products of `number`s, vectors of `lanes`; called as the two below are."""
    kind, whole = vector(number, lanes), number is I32

    def step(context: Any, builder: Any, total: Any, a: Any, b: Any) -> Any:
        if whole:
            small = vector(I16, 2 * lanes)
            pairs = added_pairs(context, builder, *(builder.bitcast(v, small) for v in (a, b)))
            return builder.add(total, pairs)
        return builder.fadd(total, builder.fmul(a, b, flags=("contract",)), flags=("contract",))

    @intrinsic
    def made(
        typing: Any, left: Any, at: Any, stride: Any, right: Any, begin: Any, steps: Any, out: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            a, b, to = (
                cgutils.create_struct_proxy(signature.args[k])(context, builder, values[k]).data
                for k in (0, 3, 6)
            )
            many = LANES // lanes if whole else 2
            rows = [builder.add(values[1], builder.mul(values[2], I64(r))) for r in range(ROWS)]
            before = builder.block
            loop, done = (builder.function.append_basic_block() for _ in range(2))
            zero = ir.Constant(kind, None)
            builder.cbranch(builder.icmp_signed(">", values[5], I64(0)), loop, done)
            builder.position_at_end(loop)
            k = builder.phi(I64)
            totals = [builder.phi(kind) for _ in range(ROWS * many)]
            place = builder.add(values[4], builder.mul(k, I64(many * lanes)))
            parts = [
                loaded(builder, b, builder.add(place, I64(v * lanes)), kind, 8 if number is F64 else 4)
                for v in range(many)
            ]
            sums = []
            for r in range(ROWS):
                one = all_of(builder, builder.load(builder.gep(a, [builder.add(rows[r], k)])), lanes)
                sums += [step(context, builder, totals[r * many + v], one, parts[v]) for v in range(many)]
            after = builder.add(k, I64(1))
            k.add_incoming(I64(0), before)
            k.add_incoming(after, loop)
            for phi, value in zip(totals, sums, strict=True):
                phi.add_incoming(zero, before)
                phi.add_incoming(value, loop)
            builder.cbranch(builder.icmp_signed("<", after, values[5]), loop, done)
            builder.position_at_end(done)
            for place, value in enumerate(sums):
                found = builder.phi(kind)
                found.add_incoming(zero, before)
                found.add_incoming(value, loop)
                sums[place] = found
            for place, value in enumerate(sums):
                pointer = builder.bitcast(builder.gep(to, [I64(place * lanes)]), kind.as_pointer())
                builder.store(value, pointer, align=8 if number is F64 else 4)
            return context.get_dummy_value()

        return types.void(left, types.int64, types.int64, right, types.int64, types.int64, out), codegen

    return made


#: (left int32, at, stride, right int32, begin, steps, out int32 (128,)): four rows of `left`, from `at` on, times a
#: panel of 32 columns of `right`, from `begin` on; each int32 is a pair of int16 numbers, of which both count
pairs_tile = _tile(I32, 16)
#: the same of doubles, and 16 columns: out (64,)
wide_tile = _tile(F64, 8)


def _summed(builder: Any, total: Any) -> Any:
    kind = total.type
    insert: Any = cgutils.get_or_insert_function
    name = f"llvm.vector.reduce.add.v{kind.count}i{kind.element.width}"
    return builder.call(insert(builder.module, ir.FunctionType(kind.element, [kind]), name), [total])


def _looped(builder: Any, many: Any, lanes: int, kind: Any, step: Any) -> Any:
    """The sum, 64 bits, of vectors `step(k)` for k = 0, lanes, 2 lanes ... below many."""
    before = builder.block
    loop, done = (builder.function.append_basic_block() for _ in range(2))
    builder.cbranch(builder.icmp_signed(">", many, I64(0)), loop, done)
    builder.position_at_end(loop)
    k, total = builder.phi(I64), builder.phi(kind)
    more = builder.add(total, step(k))
    after = builder.add(k, I64(lanes))
    k.add_incoming(I64(0), before)
    k.add_incoming(after, loop)
    total.add_incoming(ir.Constant(kind, None), before)
    total.add_incoming(more, loop)
    builder.cbranch(builder.icmp_signed("<", after, many), loop, done)
    builder.position_at_end(done)
    found = builder.phi(kind)
    found.add_incoming(ir.Constant(kind, None), before)
    found.add_incoming(more, loop)
    result = _summed(builder, found)
    return result if result.type == I64 else builder.sext(result, I64)


def _single(lanes: int, wide: Any, values: Any) -> Any:
    """The intrinsic for a sum of products of one row and one column, added up in numbers of kind `wide`; called as
    those below are. values : gives parts of the row, and vectors of the column that they are multiplied by."""

    @intrinsic
    def made(typing: Any, left: Any, at: Any, right: Any, begin: Any, many: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            a, b = (
                cgutils.create_struct_proxy(signature.args[k])(context, builder, given[k]).data
                for k in (0, 2)
            )
            kind = vector(wide, lanes)

            def widened(value: Any) -> Any:
                return value if value.type == kind else builder.sext(value, kind)

            def step(k: Any) -> Any:
                total = None
                for part, value in enumerate(values(builder, b, builder.add(given[3], k), given[4])):
                    place = builder.add(
                        given[1], builder.add(k, builder.mul(_whole(builder, given[4], lanes), I64(part)))
                    )
                    one = loaded(builder, a, place, vector(I32, lanes), 4)
                    product = builder.mul(widened(one), widened(value))
                    total = product if total is None else builder.add(total, product)
                return total

            return _looped(builder, given[4], lanes, kind, step)

        return types.int64(left, types.int64, right, types.int64, types.int64), codegen

    return made


def _whole(builder: Any, many: Any, lanes: int) -> Any:
    """A number of factors, made up to whole vectors."""
    return builder.and_(builder.add(many, I64(lanes - 1)), I64(-lanes))


def _bytes(builder: Any, data: Any, at: Any, lanes: int) -> Any:
    return loaded(builder, data, at, vector(ir.IntType(8), lanes), 1)


def _of_16_bits(builder: Any, data: Any, at: Any, many: Any) -> list[Any]:
    kind = vector(I32, 8)
    high, low = _bytes(builder, data, at, 8), _bytes(builder, data, builder.add(at, many), 8)
    high = builder.shl(builder.sext(high, kind), ir.Constant(kind, [8] * 8))
    return [builder.or_(high, builder.zext(low, kind))]


def _of_8_bits(builder: Any, data: Any, at: Any, many: Any) -> list[Any]:
    return [builder.sext(_bytes(builder, data, at, 16), vector(I32, 16))]


def _of_4_bits(builder: Any, data: Any, at: Any, many: Any) -> list[Any]:
    kind = vector(I32, 16)
    both = builder.sext(_bytes(builder, data, at, 16), kind)
    low = builder.shl(both, ir.Constant(kind, [28] * 16))
    return [builder.ashr(low, ir.Constant(kind, [28] * 16)), builder.ashr(both, ir.Constant(kind, [4] * 16))]


def _raised(lanes: int, values: Any) -> Any:
    """The intrinsic that multiplies factors of a row by their weights, zeros behind them; called as those below."""

    @intrinsic
    def made(typing: Any, out: Any, to: Any, data: Any, at: Any, weights: Any, begin: Any, many: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            o, a, w = (
                cgutils.create_struct_proxy(signature.args[k])(context, builder, given[k]).data
                for k in (0, 2, 4)
            )
            with cgutils.for_range(
                builder, builder.udiv(_whole(builder, given[6], lanes), I64(lanes))
            ) as loop:
                k = builder.mul(loop.index, I64(lanes))
                weight = loaded(builder, w, builder.add(given[5], k), vector(I32, lanes), 4)
                for part, value in enumerate(values(builder, a, builder.add(given[3], k), given[6])):
                    by = builder.add(k, builder.mul(_whole(builder, given[6], lanes), I64(part)))
                    place = builder.gep(o, [builder.add(given[1], by)])
                    place = builder.bitcast(place, vector(I32, lanes).as_pointer())
                    builder.store(builder.mul(value, weight), place, align=4)
            return context.get_dummy_value()

        args = out, types.int64, data, types.int64, weights, types.int64, types.int64
        return types.void(*args), codegen

    return made


#: (out int32, to, data int8, at, weights int32, begin, many): factors of a row from data[at] on, times weights[begin]
#: and so on, which are filled up with zeros to 8 or to 16, to out[to] and so on; reads as those below do
wide_raised, narrow_raised, pairs_raised = (
    _raised(8, _of_16_bits),
    _raised(16, _of_8_bits),
    _raised(16, _of_4_bits),
)
#: (left int32, at, right int8, begin, many) -> int64: the factors of a row, raised, from left[at] on, filled up with
#: zeros to 8 or to 16, times those of a column as the file has them, from right[begin] on; what lies up to 15 bytes
#: behind them is read, and does not count. Of pairs of 4 bits the row has all first ones, then all second ones.
wide_sum = _single(8, I64, _of_16_bits)
narrow_sum, pairs_sum = _single(16, I32, _of_8_bits), _single(16, I32, _of_4_bits)
#: the same, where 32 bits do not suffice
long_narrow_sum, long_pairs_sum = _single(16, I64, _of_8_bits), _single(16, I64, _of_4_bits)


def _line(typing: Any, data: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = builder.gep(
            cgutils.create_struct_proxy(signature.args[0])(context, builder, given[0]).data, [given[1]]
        )
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, I32, I32, I32])
        insert: Any = cgutils.get_or_insert_function
        builder.call(insert(builder.module, kind, "llvm.prefetch.p0i8"), [place, I32(0), I32(3), I32(1)])
        return context.get_dummy_value()

    return types.void(data, types.int64), codegen


_fetched: Any = intrinsic(_line)


@njit()
def fetch(data: Any, start: Any, stop: Any) -> None:
    """Has the memory bring data[start:stop] (uint8), which will soon be needed."""
    for at in range(start, stop, 64):
        _fetched(data, at)
