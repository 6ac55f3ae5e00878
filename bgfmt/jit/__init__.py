"""How kernels are compiled, decided once for the whole package.

Only kernel modules use `njit`, and only functions that need a kernel import a kernel module. Compiled code is kept on
disk beside the package, or in the user's cache folder where that is not writable, so that only the first run on a
machine compiles. It is kept twice: as numba keeps it (`keeping`), and as an image (`images`) that a later run calls
without importing numba, which takes longer than everything else together. Kept code carries a checksum; what is
damaged, or was made from other sources, is compiled anew, and where nothing can be kept we do without.

What has no image goes by numba: arguments that images do not know (keywords, defaults, None, objects), kernels that
need more of numba's library than memory for arrays of their own, and any process whose environment sets NUMBA_
variables that change what numba makes.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar, cast

from bgfmt.jit.sources import enter

F = TypeVar("F", bound=Callable[..., Any])
_QUICK = 1e-4  # seconds: a call for which numba's dispatcher, some microseconds faster, makes a difference
_PATIENCE = 5000  # quick calls until importing numba pays
_LITTLE_PATIENCE = 100  # and where it is imported already
_watchers: list[Callable[[], None]] = []
_lock = threading.RLock()


def njit(*, images: bool = True) -> Callable[[F], F]:
    """Compile a kernel: kept, without fast-math (bytes depend on rounding), without the interpreter lock.

    images : False for what takes a microsecond and is called one by one, where numba's dispatcher is the quicker; its
    module then imports numba.
    """

    def decorate(function: F) -> F:
        if images:
            return cast(F, Kernel(function))
        enter(function)
        return cast(F, _dispatcher(function))

    return decorate


def intrinsic(function: Callable[..., Any]) -> Any:
    """What `numba.extending.intrinsic` makes of a function, made when a kernel that calls it is compiled."""
    return Intrinsic(function)


class Kernel:
    """A compiled function: its images as long as they serve, numba's dispatcher (`compiled`) for everything else."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._compiled: Any = None
        self._images: dict[Any, Any] = {}  # an image, or None, for each kind of arguments met
        self._quick = 0
        enter(function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        image, slots = (None, b"") if named or self._quick > _PATIENCE else self._image(args)
        if image is None:
            return self.compiled(*args, **named)
        began = perf_counter()
        result = image(slots, args)
        if perf_counter() - began < _QUICK:
            self._quick += 1 if "numba" not in sys.modules else _PATIENCE // _LITTLE_PATIENCE
        return result

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @property
    def _numba_type_(self) -> Any:
        """How a kernel that calls this one sees it."""
        return self.compiled._numba_type_

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher of the function."""
        if self._compiled is None:
            with _lock:
                self._compiled = self._compiled or _dispatcher(self.py_func)
        return self._compiled

    def _image(self, args: tuple[Any, ...]) -> tuple[Any, bytes]:
        """The image for such arguments, if there is one, and what it is called with."""
        from bgfmt.jit import images

        kinds, values = images.flattened(args)
        if kinds not in self._images:
            with _lock:
                self._images.setdefault(kinds, images.loaded(self.py_func, kinds))
        image = self._images[kinds]
        slots = image.packed(values) if image else None
        return (None, b"") if slots is None else (image, slots)


class Intrinsic:
    """A function that writes LLVM's code; only kernels call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        enter(function)

    @cached_property
    def _numba_type_(self) -> Any:
        extending: Any = import_module("numba.extending")
        registry: Any = import_module("numba.core.registry")
        made = extending.intrinsic(self.py_func)
        typing = registry.cpu_target.typing_context
        typing.refresh()
        return typing.resolve_value_type(made)


def _dispatcher(function: Callable[..., Any]) -> Any:
    import numba

    from bgfmt.jit.keeping import Keeper

    _tell_watchers()
    made = numba.njit(nogil=True)(function)
    with contextlib.suppress(Exception):  # no folder to keep code in, or a numba that keeps it otherwise
        vars(made)["_cache"] = Keeper(function)
    return made


@contextlib.contextmanager
def watching(compiling: Callable[[], None]) -> Iterator[None]:
    """Inside, `compiling()` is called whenever a kernel has to be compiled, from the thread that compiles it.

    Of several, one inside another, the innermost alone is called.
    """
    _watchers.append(compiling)
    try:
        yield
    finally:
        _watchers.remove(compiling)


def tell() -> None:
    """Call the innermost watcher, if there is one."""
    for watcher in _watchers[-1:]:
        watcher()


@cache
def _tell_watchers() -> None:
    event: Any = import_module("numba.core.event")

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            tell()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
