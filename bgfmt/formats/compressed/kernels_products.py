"""Compiled: sums of products, tiles of a product of matrices and single ones, by vectors of the processor.

LLVM's vector types are asked for as such (see `bgfmt.solver.kernels.vectors`); what a processor has not got LLVM
makes of what it has. All sums here are exact: integers, or doubles that hold integers below 2**53.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS, LANES = 4, 32  # of a tile
I16, I32, I64, F64 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()
PROXY: Any = cgutils.create_struct_proxy


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
            a, b, to = (PROXY(signature.args[k])(context, builder, values[k]).data for k in (0, 3, 6))
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
