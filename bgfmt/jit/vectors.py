"""Generate LLVM's vector code of the loops in `bgfmt.jit.lanes`. Imported only by what imports numba."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from bgfmt.jit import lanes
from bgfmt.jit.lanes import LANES, LEAST, LEAST_WIDE, PANEL, ROWS

ir: Any = import_module("llvmlite.ir")
types: Any = import_module("numba.types")
extending: Any = import_module("numba.extending")
Decorator = Callable[[Callable[..., Any]], Any]
intrinsic: Decorator = extending.intrinsic
overload: Callable[[Any], Decorator] = extending.overload
I16, I32, I64, F64 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector with all elements equal to one number."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count))


def _variable(builder: Any, value: Any) -> Any:
    """Return the address of a variable with this first value; LLVM keeps it in registers."""
    with builder.goto_entry_block():
        address = builder.alloca(value.type)
    builder.store(value, address)
    return address


@contextmanager
def _loop(builder: Any, first: Any, last: Any) -> Iterator[Any]:
    """Generate a loop over what the block generates; yield its index, which runs from `first` to `last` - 1."""
    before = builder.block
    body = builder.append_basic_block("loop")
    after = builder.append_basic_block("after")
    builder.cbranch(builder.icmp_signed("<", first, last), body, after)
    builder.position_at_end(body)
    index = builder.phi(I64)
    yield index
    following = builder.add(index, ir.Constant(I64, 1))
    index.add_incoming(first, before)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, last), body, after)
    builder.position_at_end(after)


def _adder(number: Any, least: int) -> Any:
    """Return the loop that adds up the greatest of rows of LANES `number`s; least : the greatest of no row."""

    def add_best(
        typing: Any,
        rows: Any,
        stride: Any,
        at: Any,
        results: Any,
        first: Any,
        last: Any,
        total: Any,
        double: Any,
    ) -> Any:
        signature = types.void(*[types.int64] * 8)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.VectorType(number, LANES)
            wide = ir.VectorType(I32, LANES)
            rows, stride, at, results, begin, end, total, shift = args
            places, numbers = (builder.inttoptr(array, I32.as_pointer()) for array in (at, results))
            sums = builder.inttoptr(total, wide.as_pointer())
            best = _variable(builder, ir.Constant(kind, [least] * LANES))
            with _loop(builder, begin, end) as q:
                place_of = builder.sext(builder.load(builder.gep(numbers, [q])), I64)
                place = builder.sext(builder.load(builder.gep(places, [place_of])), I64)
                row = builder.inttoptr(builder.add(rows, builder.mul(place, stride)), kind.as_pointer())
                value = builder.load(row, align=number.width // 8)
                before = builder.load(best)
                builder.store(builder.select(builder.icmp_signed(">", value, before), value, before), best)
            greatest = builder.load(best)
            greatest_wide = greatest if number is I32 else builder.sext(greatest, wide)
            weighted = builder.shl(greatest_wide, _splat(builder, builder.trunc(shift, I32), wide))
            builder.store(builder.add(builder.load(sums, align=4), weighted), sums, align=4)
            return context.get_dummy_value()

        return signature, generate

    return intrinsic(add_best)


_add_best: Any = _adder(I16, LEAST)
_add_best_wide: Any = _adder(I32, LEAST_WIDE)


def _double_step(builder: Any, total: Any, a: Any, b: Any) -> Any:
    return builder.fadd(total, builder.fmul(a, b, flags=("contract",)), flags=("contract",))


def _pairs_step(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """Return total + products of 16-bit integers, added in pairs, which x86 does in one instruction."""
    small = ir.VectorType(I16, 2 * total.type.count)
    wide = ir.VectorType(I32, small.count)
    product = builder.mul(*(builder.sext(builder.bitcast(value, small), wide) for value in (a, b)))
    halves = []
    for odd in (0, 1):
        order = ir.Constant(ir.VectorType(I32, total.type.count), list(range(odd, small.count, 2)))
        halves.append(builder.shuffle_vector(product, product, order))
    return builder.add(total, builder.add(*halves))


def _multiply(number: Any, lanes: int, panel: int, step: Callable[..., Any]) -> Any:
    """Return the loop over products of `number`s, by vectors of `lanes`, for panels of this width."""
    kind = ir.VectorType(number, lanes)
    align = 8 if number is F64 else 4
    many = panel // lanes

    def multiply(typing: Any, left: Any, stride: Any, right: Any, steps: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            left, stride, right, steps, out = args
            starts = [builder.add(left, builder.mul(stride, ir.Constant(I64, r))) for r in range(ROWS)]
            rows = [builder.inttoptr(start, number.as_pointer()) for start in starts]
            columns, to = (builder.inttoptr(array, kind.as_pointer()) for array in (right, out))
            zero = ir.Constant(kind, None)
            totals = [_variable(builder, zero) for _ in range(ROWS * many)]
            with _loop(builder, ir.Constant(I64, 0), steps) as k:
                first = builder.mul(k, ir.Constant(I64, many))
                places = [
                    builder.gep(columns, [builder.add(first, ir.Constant(I64, v))]) for v in range(many)
                ]
                parts = [builder.load(place, align=align) for place in places]
                numbers = [builder.load(builder.gep(row, [k]), align=align) for row in rows]
                ones = [_splat(builder, one, kind) for one in numbers]
                for x, total in enumerate(totals):
                    added = step(builder, builder.load(total), ones[x // many], parts[x % many])
                    builder.store(added, total)
            for x, total in enumerate(totals):
                place = builder.gep(to, [ir.Constant(I64, x)])
                builder.store(builder.load(total), place, align=align)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 5), generate

    return intrinsic(multiply)


_products: Any = _multiply(F64, 8, PANEL // 2, _double_step)
_pair_products: Any = _multiply(I32, 16, PANEL, _pairs_step)


@intrinsic
def _fetch_line(typing: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, I32, I32, I32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, *(ir.Constant(I32, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _answer(function: Callable[..., None], code: Any) -> None:
    """Register `code` with numba as the implementation of calls of the function."""

    @overload(function)
    def _(*args: Any) -> Any:
        def call(*args: Any) -> None:
            code(*args)

        return call


_answer(lanes.add_best, _add_best)
_answer(lanes.add_best_wide, _add_best_wide)
_answer(lanes.multiply, _products)
_answer(lanes.multiply_pairs, _pair_products)
_answer(lanes.fetch_line, _fetch_line)
