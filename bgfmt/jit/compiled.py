"""The kernels of a wheel: compiled when it was built, and called without numba.

Beside this module a wheel has one library and its list: for each kernel, for each form of its arguments, a
function for each level of processor. A function takes one block of memory: the return value and the address of
an error come first, then 8 bytes for each number, and for an array numba's structure (0, 0, items, bytes of an
item, address, shape, strides). `hatch_build.py` makes the library from what numba compiles. Without it, as in a
checkout, numba compiles when a kernel is called.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

#: where the library is: beside this module, or for a checkout the folder that BGFMT_KERNELS names, see hatch_build.py
FOLDER = Path(os.environ.get("BGFMT_KERNELS") or Path(__file__).parent)
LIST = "kernels.json"
HEAD = 512  # bytes in front of the arguments; the last 8 for the address of an error
LAYOUT = 0x503  # bits of numpy's flags: C order, Fortran order, alignment, writable
RANKS = {"x86-64-v3": 1, "x86-64-v4": 2}  # levels of processor, others being 0
NUMBERS = {int: "i8", float: "f8", bool: "b1"}
#: how `struct` packs a number into eight bytes
PIECES = {
    "i1": "b7x", "i2": "h6x", "i4": "i4x", "i8": "q", "u1": "B7x", "u2": "H6x", "u4": "I4x", "u8": "Q",
    "f4": "f4x", "f8": "d", "b1": "?7x",
}  # fmt: skip


def exists() -> bool:
    """Return whether this installation has a library of compiled kernels, as a wheel does."""
    return (FOLDER / LIST).is_file()


def form(value: Any) -> str:
    """Return the type of an argument as text: `i8`, `f8`, `b1`, ..., of arrays with dimensions and order (`u2.2C`).

    Tuples are in brackets, preceded by module and class of named tuples. TypeError for values that no kernel
    takes.
    """
    if isinstance(value, np.ndarray):
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{_number(value.dtype)}.{value.ndim}{order}{'' if flags.aligned else 'U'}"
    if isinstance(value, tuple):
        kind = type(value)
        name = "" if kind is tuple else f"{kind.__module__}:{kind.__qualname__}"
        return f"{name}({','.join(map(form, value))})"
    if type(value) in NUMBERS:
        return NUMBERS[type(value)]
    if isinstance(value, np.generic):
        return _number(value.dtype)
    raise TypeError(f"no kernel takes {type(value).__name__}")


def _number(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in "iufb" or not dtype.isnative:
        raise TypeError(f"no kernel takes numbers of {dtype}")
    return f"{dtype.kind}{dtype.itemsize}"


@cache
def library() -> tuple[Any, str, dict[str, dict[str, list[str]]]] | None:
    """Load the library of compiled kernels; return it, the level of this processor, and the list of kernels.

    A level is a set of instructions for which kernels were compiled. The list maps kernel -> types of arguments (see
    `form`) -> symbol and type of the return value. None if there is no library, or none for this processor.
    """
    try:
        listed = json.loads((FOLDER / LIST).read_bytes())
        loaded: Any = ctypes.CDLL(str(FOLDER / listed["library"]))
    except OSError:
        return None
    level = int(loaded.bgfmt_level())
    usable = [name for name in listed["levels"] if RANKS.get(name, 0) <= level]
    return (loaded, usable[-1], listed["kernels"]) if usable else None


def find_function(kernel: str, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the library's function of a kernel for arguments of these types, or None if the library has none."""
    found = library()
    if found is None:
        return None
    loaded, level, kernels = found
    entry = kernels.get(kernel, {}).get(",".join(map(form, args)))
    if entry is None:
        return None
    symbol, returned = entry
    return _caller(loaded, f"{symbol}_{level}", "".join(map(_layout, args)), returned)


def key_of(value: Any) -> Any:
    """Return a hashable key of an argument's type and writability, quicker to compute than `form`."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim, value.flags.num & LAYOUT
    if isinstance(value, tuple):
        return kind, *map(key_of, value)
    return (form(value), value.flags.writeable) if isinstance(value, np.ndarray) else kind


def writability(value: Any) -> str:
    """Return "r" (read-only) or "w" (writable) for each array in an argument, in order; numba has a type for each."""
    if isinstance(value, np.ndarray):
        return "w" if value.flags.writeable else "r"
    return "".join(map(writability, value)) if isinstance(value, tuple) else ""


def _layout(value: Any) -> str:
    """Return the `struct` format of an argument, in pieces of eight bytes."""
    if isinstance(value, np.ndarray):
        return "q" * (5 + 2 * value.ndim)
    if isinstance(value, tuple):
        return "".join(map(_layout, value))
    return PIECES[form(value)]


def _flatten(values: tuple[Any, ...], out: list[Any]) -> None:
    for value in values:
        if isinstance(value, np.ndarray):
            out += (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
        elif isinstance(value, tuple):
            _flatten(value, out)
        else:
            out.append(value)


def _caller(library: Any, symbol: str, layout: str, returned: str) -> Callable[..., Any]:
    """Return a function that calls a symbol of the library with arguments of its forms."""
    function = getattr(library, symbol)
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.c_int32
    pack = struct.Struct(f"={HEAD}x{layout}")
    forms = [one for one in returned.strip("()").split(",") if one]
    result = struct.Struct(
        "@" + "".join(PIECES[one][0] if one in PIECES else "q" * _words(one) for one in forms)
    )
    arrays, many = any("." in one for one in forms), returned.startswith("(")

    def call(*args: Any) -> Any:
        flat: list[Any] = []
        _flatten(args, flat)
        block = ctypes.create_string_buffer(pack.pack(*flat), pack.size)
        if function(block):
            raise RuntimeError("a kernel's arrays do not fit each other")
        values: Any = result.unpack_from(block)
        if arrays:
            values = _with_arrays(library, forms, iter(values))
        return values if many else values[0] if values else None

    return call


def _words(array: str) -> int:
    """Return the number of 8-byte words that numba uses for an array of this form: five, and two per dimension."""
    return 5 + 2 * int(array.partition(".")[2][0])


def _with_arrays(library: Any, forms: list[str], numbers: Iterator[Any]) -> tuple[Any, ...]:
    """Decode what a kernel returned; arrays, in C order, are copied and their memory freed."""
    values = []
    for one in forms:
        if "." in one:
            memory, _, size, item, address, *shape = (next(numbers) for _ in range(_words(one)))
            array = np.frombuffer(ctypes.string_at(address, size * item), one.partition(".")[0]).copy()
            library.bgfmt_release(ctypes.c_void_p(memory))
            values.append(array.reshape(shape[: len(shape) // 2]))
        else:
            values.append(next(numbers))
    return tuple(values)
