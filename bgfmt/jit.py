"""How kernels are compiled, decided once for the whole package.

Only kernel modules use `njit`, and only functions that need a kernel import a kernel module: numba takes longer to
import than everything else together. Compiled code is kept on disk beside the package, or in the user's cache
folder where that is not writable, so that only the first run on a machine compiles. Kept code carries a checksum;
what is damaged, or was made from other sources, is compiled anew, and where nothing can be kept we do without.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_SUM = 16  # bytes of checksum at the end of a kept file
_watchers: list[Callable[[], None]] = []
_sources: dict[str, set[str]] = {}  # a kernel module's file -> files of the kernels it calls


def njit(*, parallel: bool = False, nogil: bool = True) -> Callable[[F], F]:
    """Compile a kernel: cached, without fast-math (bytes depend on rounding), without the interpreter lock."""

    def decorate(function: F) -> F:
        import numba

        _tell_watchers()
        kernel = numba.njit(parallel=parallel, nogil=nogil)(function)
        with contextlib.suppress(Exception):  # no folder to keep code in, or a numba that keeps it otherwise
            vars(kernel)["_cache"] = _keeper()(function)
        return cast(F, kernel)

    return decorate


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


@cache
def _keeper() -> Any:
    """Numba's cache of a function, made safe: checksums, all sources in the stamp, no failure that reaches us."""
    caching: Any = import_module("numba.core.caching")

    class Files(caching.IndexDataCacheFile):  # type: ignore[misc]
        def save(self, key: Any, data: Any) -> None:
            super().save(key, (key, data))

        def load(self, key: Any) -> Any:
            kept = super().load(key)
            return kept[1] if kept is not None and kept[0] == key else None

        def _load_index(self) -> dict[Any, Any]:
            try:
                return cast(dict[Any, Any], self._open(self._index_path))
            except OSError:
                return {}

        def _save_index(self, overloads: dict[Any, Any]) -> None:
            self._seal(self._index_path, overloads)

        def _load_data(self, name: str) -> Any:
            return self._open(self._data_path(name))

        def _save_data(self, name: str, data: Any) -> None:
            self._seal(self._data_path(name), data)

        def _sum(self, data: bytes) -> bytes:
            made_from = repr((self._version, self._source_stamp)).encode()
            return hashlib.blake2b(data + made_from, digest_size=_SUM).digest()

        def _seal(self, path: str, value: Any) -> None:
            data = self._dump(value)
            with self._open_for_write(path) as file:
                file.write(data + self._sum(data))

        def _open(self, path: str) -> Any:
            """What a file holds; OSError (to numba: no such file) unless it is whole and made from these sources."""
            with open(path, "rb") as file:
                data = file.read()
            if self._sum(data[:-_SUM]) != data[-_SUM:]:
                raise OSError(f"{path} is damaged or was made from other sources")
            return pickle.loads(data[:-_SUM])

    class Keeper(caching.FunctionCache):  # type: ignore[misc]
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            stamp = self._impl.locator.get_source_stamp(), _stamp_of_callees(function)
            self._cache_file = Files(self._cache_path, self._impl.filename_base, stamp)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # whatever is wrong with what is kept, compiling is right
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(Exception):  # a full or read-only disk
                super().save_overload(sig, data)

    return Keeper


def _stamp_of_callees(function: Callable[..., Any]) -> tuple[tuple[str, int, int], ...]:
    """Files of the kernels that a kernel may call in other modules: their code becomes part of its own."""
    module = function.__globals__
    here = str(module.get("__file__"))
    used: set[str] = set()
    for value in module.values():
        if isinstance(value, ModuleType):
            used.add(str(getattr(value, "__file__", "")))
        elif hasattr(value, "py_func"):
            used.add(value.py_func.__code__.co_filename)
    _sources.setdefault(here, set()).update((used & _sources.keys()) - {here})
    reached: set[str] = set()
    waiting = [here]
    while waiting:
        for name in _sources.get(waiting.pop(), set()) - reached:
            reached.add(name)
            waiting.append(name)
    stamps = []
    for name in sorted(reached):
        status = os.stat(name)
        stamps.append((os.path.basename(name), status.st_mtime_ns, status.st_size))
    return tuple(stamps)
