"""Images made from what numba has just compiled; see `bgfmt.jit.images` for what an image is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numba
import numpy as np
from llvmlite import binding
from numba.core import types
from numba.np import numpy_support

from bgfmt.jit import images

TRIED = {
    (0, 68)
}  # versions of numba whose code is known to be as described here; of others no images are made
LLVM_TYPES = {
    "?": "i8", "b": "i8", "B": "i8", "h": "i16", "H": "i16", "i": "i32", "I": "i32", "q": "i64", "Q": "i64",
    "f": "float", "d": "double", "P": "ptr",
}  # fmt: skip
C_LIBRARY = frozenset({
    "malloc", "free", "memcpy", "memmove", "memset", "memcmp", "exp", "exp2", "expf", "log", "log2", "logf", "log1p",
    "pow", "powf", "floor", "ceil", "fmod", "sqrt", "sqrtf", "erf", "erfc", "tanh", "tanhf",
})  # fmt: skip
# What numba's code asks of its library for arrays of its own. Of a block's head, see HEAD, that code itself counts
# the references and reads the address; arrays of the caller have no head, and it leaves them alone.
MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %head = add i64 %wide, 64
  %all = add i64 %size, %head
  %block = call ptr @malloc(i64 %all)
  %nothing = icmp eq ptr %block, null
  br i1 %nothing, label %done, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %after = add i64 %start, %head
  %over = urem i64 %after, %wide
  %address = sub i64 %after, %over
  %data = inttoptr i64 %address to ptr
  store i64 1, ptr %block
  %place = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %place
  br label %done
done:
  ret ptr %block
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %block
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}

define ptr @NRT_Allocate(i64 %size) {
  %space = call ptr @malloc(i64 %size)
  ret ptr %space
}

define void @NRT_Free(ptr %space) {
  call void @free(ptr %space)
  ret void
}
"""
HEAD = ["i64", "i8*", "i8*", "i8*", "i64"]  # references, two for a destructor, address, size
OURS = frozenset({
    "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc", "NRT_MemInfo_call_dtor", "NRT_Allocate", "NRT_Free",
})  # fmt: skip
# Makes Python objects of what an exception is told at run time: the words of errors that numba has for its own
# arrays. Without it an exception of an image is told what was known when it was compiled.
TELLING = "__excinfo_unwrap_args"
TOLD_NOTHING = "define ptr @{}(ptr %0) {{\n  ret ptr null\n}}\n"


def kinds_of(args: Sequence[Any]) -> images.Kinds | None:
    """The kinds of arguments of these types of numba's; None where a type has none."""
    kinds: list[Any] = []
    return tuple(kinds) if _describe(args, kinds) else None


def _describe(args: Sequence[Any], kinds: list[Any]) -> bool:
    for kind in args:
        if isinstance(kind, types.Array):
            dtype = numpy_support.as_dtype(kind.dtype)
            order = {"C": images.C_ORDER, "F": images.FORTRAN_ORDER, "A": 0}[kind.layout]
            flags = order | images.ALIGNED * kind.aligned | images.WRITEABLE * kind.mutable
            if dtype not in images.DTYPES:
                return False
            kinds.append((dtype, kind.ndim, flags))
        elif type(kind) in (types.Integer, types.Float, types.Boolean):
            kinds.append(_number(kind))
        elif type(kind) in (types.Tuple, types.UniTuple, types.NamedTuple, types.NamedUniTuple):
            made = getattr(kind, "instance_class", tuple)
            kinds.append((f"{made.__module__}.{made.__qualname__}", len(kind.types)))
            if not _describe(kind.types, kinds):
                return False
        else:
            return False
    return True


def _number(kind: Any) -> str:
    return images.NUMBERS[np.dtype(numpy_support.as_dtype(kind)).type]


def image(compiled: Any, kinds: images.Kinds, function: Callable[..., Any]) -> bytes:
    """The image of a compile result; empty where there can be none."""
    if numba.version_info.short not in TRIED:
        return b""
    try:
        return _made(compiled, kinds, function)
    except Exception:  # said once and kept, or every process would compile to try again
        return b""


def _made(compiled: Any, kinds: images.Kinds, function: Callable[..., Any]) -> bytes:
    form = _returned(compiled.signature.return_type)
    codegen = compiled.library.codegen
    if form is None or function.__closure__ or codegen.magic_tuple() != images.machine():
        return b""
    name = compiled.fndesc.llvm_func_name
    symbol = images.symbol(function, kinds)
    module = binding.parse_assembly(str(compiled.library._final_module))
    takes = [str(argument.type) for argument in module.get_function(name).arguments]
    if takes != ["ptr", "ptr"] + [LLVM_TYPES[letter] for letter in images.slots(kinds)]:
        return b""
    telling = [
        value for value in module.functions if value.name.startswith(TELLING) and not value.is_declaration
    ]
    for value in telling:
        value.linkage = "available_externally"
    silent = "".join(TOLD_NOTHING.format(value.name) for value in telling)
    module.link_in(binding.parse_assembly(_entry(symbol, name, takes[2:]) + silent))
    _keep_only(symbol, module, codegen._tm)
    if _declared(module) & OURS and _head_is_known():
        module.link_in(binding.parse_assembly(MEMORY))
        _keep_only(symbol, module, codegen._tm)
    if _declared(module) - C_LIBRARY or any("NumbaEnv" in value.name for value in module.global_variables):
        return b""
    code: bytes = codegen._tm.emit_object(module)
    return form.encode() + b"\n" + code


def _returned(kind: Any) -> str | None:
    """The form of a result: a number or an array, a tuple of them after an @, or nothing; None for others."""
    if kind is types.none:
        return ""
    if type(kind) in (types.Integer, types.Float, types.Boolean):
        return _number(kind)
    if type(kind) is types.Array and kind.ndim and numpy_support.as_dtype(kind.dtype) in images.DTYPES:
        return f"{numpy_support.as_dtype(kind.dtype).str}:{kind.ndim}"
    if type(kind) in (types.Tuple, types.UniTuple):
        parts = [_returned(part) for part in kind.types]
        if parts and all(part and "@" not in part for part in parts):
            return " ".join(["@", *map(str, parts)])
    return None


def _entry(symbol: str, name: str, takes: list[str]) -> str:
    """A function that takes its arguments from slots, and gives them to numba's function."""
    given = [f"{kind} %a{k}" for k, kind in enumerate(takes)]
    loads = "".join(
        f"  %p{k} = getelementptr i64, ptr %slots, i64 {k}\n  %a{k} = load {kind}, ptr %p{k}\n"
        for k, kind in enumerate(takes)
    )
    return (
        f'declare i32 @"{name}"({", ".join(["ptr", "ptr", *takes])})\n'
        f"define i32 @{symbol}(ptr %out, ptr %slots) {{\n{loads}"
        f"  %result = getelementptr i8, ptr %out, i64 {images.ERROR}\n"
        f'  %status = call i32 @"{name}"({", ".join(["ptr %result", "ptr %out", *given])})\n'
        f"  ret i32 %status\n}}\n"
    )


def _keep_only(symbol: str, module: Any, machine: Any) -> None:
    """Drop what the function of that name does not reach."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(
        module, binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=0))
    )


def _declared(module: Any) -> set[str]:
    """What a module leaves to be found elsewhere."""
    values = (*module.functions, *module.global_variables)
    return {v.name for v in values if v.is_declaration and not v.name.startswith("llvm.")}


def _head_is_known() -> bool:
    head: Any = import_module("numba.core.runtime.nrtdynmod")._meminfo_struct_type
    return [str(part) for part in head.elements] == HEAD
