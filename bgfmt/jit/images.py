"""Native code that is called without numba: what is kept of a kernel for one kind of arguments.

An *image* is an object file in which nothing is left to be found but functions of the C library. Its one function,
int32 `symbol`(out, slots), takes the arguments as slots of 8 bytes and writes its result, or what it raises, to
`out`. An argument's *kind* is as fine as numba's type of it, and the kinds of a call are part of an image's name and
checksum: an image is never called with arguments of other kinds than those it was compiled for.

    array    dtype, number of dimensions, C- or Fortran-contiguous, aligned, writeable
             -> 0, 0, size, itemsize, address, shape, strides
    number   its format in `struct`: int is q, float is d, bool is ?
    tuple    its class, its length; then what is in it
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.jit import sources

Kinds = tuple[Any, ...]

C_ORDER, FORTRAN_ORDER, ALIGNED, WRITEABLE = 1, 2, 0x100, 0x400  # bits of numpy's flags
DTYPES = frozenset(np.dtype(name) for name in ("?", *"bBhHiIqQ", *"fd"))
NUMBERS: dict[type, str] = {
    bool: "?", int: "q", float: "d", np.bool_: "?", np.int8: "b", np.uint8: "B", np.int16: "h", np.uint16: "H",
    np.int32: "i", np.uint32: "I", np.int64: "q", np.uint64: "Q", np.float32: "f", np.float64: "d",
}  # fmt: skip
SLOTS = {
    "b": "b7x", "B": "B7x", "?": "?7x", "h": "h6x", "H": "H6x", "i": "i4x", "I": "I4x", "f": "f4x", "P": "Q"
}  # fmt: skip
HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}
SOUND = (0, -2)  # what numba's code returns when it raises nothing; -2 for a result of None
ERROR = 8  # bytes before the result: the address of what is raised
_SUM = 32


def flattened(args: Sequence[Any]) -> tuple[Kinds | None, list[Any]]:
    """The kinds of arguments, None where one has none, and the numbers that stand for them."""
    kinds: list[Any] = []
    values: list[Any] = []
    return (tuple(kinds) if _flatten(args, kinds, values) else None), values


def _flatten(args: Sequence[Any], kinds: list[Any], values: list[Any]) -> bool:
    for arg in args:
        kind = type(arg)
        if kind is np.ndarray or kind is np.memmap:
            flags = arg.flags.num
            order = flags & C_ORDER or flags & FORTRAN_ORDER
            kinds.append((arg.dtype, arg.ndim, order | flags & (ALIGNED | WRITEABLE)))
            address = arg.__array_interface__["data"][0]
            values += (0, 0, arg.size, arg.itemsize, address, *arg.shape, *arg.strides)
        elif kind in NUMBERS:
            kinds.append(NUMBERS[kind])
            values.append(arg)
        elif issubclass(kind, tuple):
            kinds.append((f"{kind.__module__}.{kind.__qualname__}", len(arg)))
            if not _flatten(arg, kinds, values):
                return False
        else:
            return False
    return True


def slots(kinds: Kinds) -> str:
    """The format in `struct` of the arguments' slots, a letter a slot."""
    letters = ""
    for kind in kinds:
        if isinstance(kind, str):
            letters += kind
        elif len(kind) == 3:
            letters += "PPqqP" + "q" * (2 * kind[1])
    return letters


def loaded(function: Callable[..., Any], kinds: Kinds | None) -> Image | None:
    """The image of a kernel for arguments of these kinds, if one is kept."""
    if kinds is None or not possible():
        return None
    try:
        found = kept(function, kinds)
        return Image(function, kinds, found) if found else None
    except Exception:  # whatever is wrong with it, numba's way is right
        return None


class Image:
    """An image in memory, for good."""

    def __init__(self, function: Callable[..., Any], kinds: Kinds, found: bytes) -> None:
        form, _, code = found.partition(b"\n")
        parts = form.decode().split()
        self._tuple = parts[:1] == ["@"]
        self._parts = [_part(part) for part in parts[self._tuple :]]
        self._returns = struct.Struct("".join(letters for letters, _ in self._parts))
        self._room = ctypes.c_char * (ERROR + max(8, self._returns.size))
        self._pack = struct.Struct("=" + "".join(SLOTS.get(k, k) for k in slots(kinds))).pack
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)
        self._code = prototype(_engine().address(code, symbol(function, kinds)))

    def packed(self, values: list[Any]) -> bytes | None:
        """The numbers of `flattened` as slots; None where one is too large, which numba may give another type."""
        try:
            return self._pack(*values)
        except struct.error:
            return None

    def __call__(self, slots: bytes, args: Any) -> Any:
        """What the kernel returns or raises; an array it returns may be a view of one of `args`."""
        out = self._room()
        status = self._code(ctypes.addressof(out), slots)
        if status not in SOUND:
            raise _raised(out)
        values = self._returns.unpack_from(out, ERROR)
        if not self._parts:
            return None
        results, at = [], 0
        for letters, dtype in self._parts:
            taken = values[at : at + len(letters)]
            results.append(taken[0] if dtype is None else Block.array(taken, dtype, args))
            at += len(letters)
        return tuple(results) if self._tuple else results[0]


def _part(form: str) -> tuple[str, str | None]:
    """The format in `struct` of a number or an array, and of an array the dtype."""
    dtype, _, dimensions = form.partition(":")
    return (form, None) if not dimensions else ("PPqqP" + "q" * (2 * int(dimensions)), dtype)


@cache
def _free() -> Any:
    """The C library's free."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("free", ctypes.CDLL(None)))


class Block:
    """Memory that a kernel asked for and returned, given back when the last array of it is gone."""

    def __init__(self, address: int, interface: dict[str, Any], args: Any) -> None:
        self.__array_interface__ = interface
        self._address, self._args = address, None if address else args
        self._free = _free()

    @classmethod
    def array(cls, values: tuple[int, ...], dtype: str, args: Any) -> Any:
        """An array, from how numba's code describes it: block, -, size, -, address, shape, strides."""
        half = (len(values) - 5) // 2
        shape, strides = values[5 : 5 + half], values[5 + half :]
        interface = {
            "version": 3,
            "shape": shape,
            "strides": strides,
            "typestr": dtype,
            "data": (values[4], False),
        }
        return np.asarray(cls(values[0], interface, args))

    def __del__(
        self, number: Any = ctypes.c_int64
    ) -> None:  # at the end of a process there is no ctypes to ask
        if self._address:
            references = number.from_address(self._address)
            references.value -= 1
            if references.value == 0:
                self._free(self._address)


def _raised(out: Any) -> BaseException:
    """The exception that numba's code left: address and size of what it pickled, a sum, what is told at run time."""
    (address,) = struct.unpack_from("=Q", out)
    data, size, _, _, told = struct.unpack("@PiPPi", ctypes.string_at(address, 36))
    kind, args, _ = pickle.loads(ctypes.string_at(data, size))
    error: BaseException = kind("arrays in a kernel do not fit") if told else kind(*(args or ()))
    return error


# ---- files


def possible() -> bool:
    """Whether this process may call images at all."""
    told = {name for name in os.environ if name.startswith("NUMBA_")}
    return os.name == "posix" and sys.byteorder == "little" and sys.maxsize >> 32 > 0 and told <= HARMLESS


def symbol(function: Callable[..., Any], kinds: Kinds) -> str:
    """The name of an image's function, of no other image in the process."""
    return f"bgfmt_{_digest(function, kinds)}"


def place(function: Callable[..., Any], kinds: Kinds, folder: str) -> str:
    """The file of an image in a folder of kept code."""
    name = function.__qualname__.replace("<", "").replace(">", "")
    return os.path.join(folder, f"{name}-{_digest(function, kinds)}.{sys.implementation.cache_tag}.image")


def _digest(function: Callable[..., Any], kinds: Kinds) -> str:
    code = function.__code__
    told = repr((code.co_filename, code.co_firstlineno, function.__qualname__, kinds))
    return hashlib.blake2b(told.encode(), digest_size=12).hexdigest()


def sealed(function: Callable[..., Any], kinds: Kinds, found: bytes) -> bytes:
    """The bytes of an image's file: the image and a checksum that covers what it was made from."""
    return found + _sum(function, kinds, found)


def kept(function: Callable[..., Any], kinds: Kinds) -> bytes | None:
    """What is kept for a kernel, empty where it can have no image; None where nothing sound is kept."""
    for folder in _folders(function.__code__.co_filename):
        try:
            data = Path(place(function, kinds, folder)).read_bytes()
        except OSError:
            continue
        if _sum(function, kinds, data[:-_SUM]) == data[-_SUM:]:
            return data[:-_SUM]
    return None


def _sum(function: Callable[..., Any], kinds: Kinds, found: bytes) -> bytes:
    made_from = repr((function.__qualname__, kinds, sources.stamp(function), machine(), tools()))
    return hashlib.blake2b(found + made_from.encode(), digest_size=_SUM).digest()


def _folders(file: str) -> list[str]:
    """Where numba keeps the code of a module; which of them it took it says itself."""
    here = os.path.dirname(os.path.abspath(file))
    part = f"{os.path.basename(here)}_{hashlib.sha1(here.encode(), usedforsecurity=False).hexdigest()}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [os.path.join(chosen, part)]
    cache = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return [os.path.join(here, "__pycache__"), os.path.join(os.path.expanduser(cache), "numba", part)]


# ---- this machine


@cache
def machine() -> tuple[str, str, str]:
    """The system, the processor and its features, as numba's compiler names them."""
    from llvmlite import binding

    return (
        binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    )  # fmt: skip


@cache
def tools() -> tuple[Any, ...]:
    """The compiler's versions, found without importing numba."""
    from llvmlite import __version__, binding

    found = find_spec("numba")
    if found is None or found.origin is None:
        raise OSError("there is no numba")
    return __version__, binding.llvm_version_info, Path(found.origin).with_name("_version.py").read_bytes()


class _Engine:
    """Puts object files into memory."""

    def __init__(self) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        target = binding.Target.from_triple(binding.get_process_triple()).create_target_machine()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
        self._binding = binding

    def address(self, code: bytes, name: str) -> int:
        """The address of a function of an object file."""
        self._engine.add_object_file(self._binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address: int = self._engine.get_function_address(name)
        if not address:
            raise OSError(f"no {name} in an image")
        return address


@cache
def _engine() -> _Engine:
    return _Engine()
