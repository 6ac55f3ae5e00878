"""Compile kernels, in one way for the whole package: with the wheel, or by numba's own `njit` and cache.

Only kernel modules use `njit`, and only functions that need a kernel import a kernel module. A kernel declares
the types that Python calls it with, and accepts no others: a wheel has code for exactly these
(`bgfmt.jit.compiled`), and a checkout refuses other calls too. A kernel without signatures is compiled into
those that call it; called from Python it runs uncompiled.

Without compiled code, numba is imported and its dispatcher made when a kernel is first called; without numba
that call says what to install.

Numba keeps compiled code in a folder for each declared signature, and for read-only and writable arrays, beside the
kernel's module or, where that is not writable, in the user's cache folder; NUMBA_CACHE_DIR names another. Numba
numbers the files of a folder, and two processes that compile different types in one folder could take the same
number; with one set of types a folder, both write the same code. Kernels that are only called by others are part of
those and not cached. The folder's name changes with the sources of the kernel and of all kernels it may call, which
numba itself does not check. If numba cannot read or write its cache, the process compiles for itself, and the
folders of all kernels that it imported are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from bgfmt.errors import require
from bgfmt.jit import compiled
from bgfmt.jit.compiled import find_function, form, key_of, writability

__all__ = ["Kernel", "import_numba", "kernels", "modules", "njit", "notify_watcher", "watching"]


F = TypeVar("F", bound=Callable[..., Any])
_watchers: list[Callable[[], None]] = []
_lock = threading.RLock()
_modules: dict[str, dict[str, Any]] = {}  # the file of a kernel module -> its names
kernels: list[Kernel] = []  # of all modules that were imported


def njit(*signatures: str) -> Callable[[F], F]:
    """Return a decorator that compiles a kernel with numba, cached on disk.

    Without fast-math, since bytes depend on rounding, and without the GIL.

    signatures : the types of arguments that Python may call it with, each as "i8, f8.2C, (b1.1C, u2.3C)":
    numbers; arrays with their dimensions and order; tuples in brackets, preceded by module and class of named
    tuples. See `bgfmt.jit.compiled.form`. Without any, only other kernels can call it compiled.
    """

    def decorate(function: F) -> F:
        return cast(F, Kernel(function, signatures))

    return decorate


class Kernel:
    """A compiled function: that of the wheel's library, or numba's dispatcher, which is made at the first call.

    signatures : argument types that Python may call it with, without blanks.
    """

    keeping = True  # False from the first file on that numba cannot read or write

    def __init__(self, function: Callable[..., Any], signatures: tuple[str, ...] = ()) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.signatures = tuple("".join(signature.split()) for signature in signatures)
        self.name = f"{self.__module__}:{function.__qualname__}"
        self._functions: dict[Any, Callable[..., Any]] = {}  # by the types of the arguments
        self._opened: set[Path] = set()  # folders of compiled code that this process uses
        self._file = Path(str(function.__globals__.get("__file__"))).absolute()
        _modules[str(self._file)] = function.__globals__
        kernels.append(self)

    def __call__(self, *args: Any) -> Any:
        function = self.function_for(*args)
        try:
            return function(*args)
        except (OSError, EOFError, pickle.UnpicklingError):  # kernels raise none of them
            with _lock:
                Kernel.keeping = False
                for kernel in kernels:
                    kernel._functions.clear()
                    for folder in {*kernel._opened, *map(kernel._folder, kernel.signatures)} - {None}:
                        shutil.rmtree(str(folder), ignore_errors=True)
            return self.dispatcher(*args)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def function_for(self, *args: Any) -> Callable[..., Any]:
        """Return the compiled function for arguments of these types, so that repeated calls skip the choice by type.

        TypeError for types that no signature declares.
        """
        key = tuple(map(key_of, args))
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = self._find(args)
        return function

    def _find(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        if not self.signatures:
            return self.py_func
        forms = ",".join(map(form, args))
        if forms not in self.signatures:
            declared = " or ".join(f"({signature})" for signature in self.signatures)
            raise TypeError(f"kernel {self.name} is called with ({forms}) but declares {declared}")
        return find_function(self.name, args) or self.kept_dispatcher(forms, "".join(map(writability, args)))

    def _folder(self, signature: str, arrays: str = "") -> Path | None:
        """Return the cache folder for the code of a signature; None if none is writable.

        arrays : see `bgfmt.jit.compiled.writability`; "" if all are writable.
        """
        chosen = (self._file, signature, arrays if "r" in arrays else "")
        kernel = f"{self._file.stem}.{self.py_func.__qualname__}-{_digest(chosen)}-"
        for parent in _cache_parents(self._file):
            with contextlib.suppress(OSError):
                folder = parent / f"{kernel}{_digest(_sources(str(self._file)))}"
                if not folder.is_dir():
                    folder.mkdir(parents=True, exist_ok=True)
                    for older in set(parent.glob(f"{kernel}*")) - {folder}:
                        shutil.rmtree(older, ignore_errors=True)
                if os.access(folder, os.W_OK):
                    return folder
        return None

    def kept_dispatcher(self, signature: str, arrays: str = "") -> Any:
        """Return a numba dispatcher that compiles the kernel for one declared signature, and caches the code on disk.

        signature : as passed to `njit`. arrays : which arrays are read-only, see `bgfmt.jit.compiled.writability`.
        """
        with _lock:
            numba = import_numba()
            folder = self._folder(signature, arrays) if Kernel.keeping else None
            if folder is None or not any(folder.rglob("*.nbc")):
                notify_watcher()
            if folder is None:
                return self.dispatcher
            self._opened.add(folder)
            chosen = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            dispatcher = numba.njit(nogil=True, cache=True)(self.py_func)
            numba.config.CACHE_DIR = chosen
            return dispatcher

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the function, for other kernels that call it; its code is not cached on disk."""
        return import_numba().njit(nogil=True)(self.py_func)


def modules() -> tuple[tuple[str, str], ...]:
    """Return the modules without which kernels cannot run, as pairs (module, extra) for `bgfmt.errors.require`.

    Empty if the kernels are compiled already, as in a wheel.
    """
    return () if compiled.exists() else (("numba", "numba"),)


@cache
def import_numba() -> Any:
    """Import numba; MissingExtraError if it is not installed."""
    require("this computation", ("numba", "numba"))
    import numba
    from numba.extending import typeof_impl

    @typeof_impl.register(Kernel)
    def _(kernel: Kernel, context: Any) -> Any:
        """Return the numba type of a kernel that another kernel calls."""
        typeof: Any = numba.typeof
        return typeof(kernel.dispatcher)

    import_module("bgfmt.jit.vectors")
    return numba


def _cache_parents(file: Path) -> list[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    user = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return [file.parent / "__pycache__", Path(os.path.expanduser(user), "bgfmt")]


def _sources(file: str) -> list[tuple[str, int, int]]:
    """Return name, time and size of a kernel module and, recursively, of the kernel modules that it uses.

    Their code becomes part of its own.
    """
    reached = [file, str(Path(__file__).with_name("vectors.py"))]
    for name in reached:  # grows on the way
        for value in list(_modules.get(name, {}).values()):
            module = (
                value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", ""))
            )
            used = str(getattr(module, "__file__", ""))
            if used in _modules and used not in reached:
                reached.append(used)
    status = [(name, os.stat(name)) for name in sorted(reached)]
    return [(os.path.basename(name), found.st_mtime_ns, found.st_size) for name, found in status]


def _digest(value: object) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=8).hexdigest()


# ---- notification of compilation


@contextlib.contextmanager
def watching(compiling: Callable[[], None]) -> Iterator[None]:
    """Call `compiling()` whenever a kernel without cached code is compiled while the block runs.

    It is called before, from the thread that compiles. Of several nested watchers only the innermost is called.
    """
    _watchers.append(compiling)
    try:
        yield
    finally:
        _watchers.remove(compiling)


def notify_watcher() -> None:
    """Call the innermost function set by `watching`, if there is one: a kernel is about to be compiled."""
    for watcher in _watchers[-1:]:
        watcher()
