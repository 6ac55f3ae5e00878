"""How kernels are compiled, decided once for the whole package: with the wheel, or by numba's own `njit` and cache.

A wheel brings compiled kernels (`bgfmt.jit.compiled`); what follows is for checkouts, and for what a wheel lacks.
Only kernel modules use `njit`, and only functions that need a kernel import a kernel module. Numba is imported, and
its dispatcher made, when a kernel is first called; without numba that call says what to install.

Compiled code is kept in a folder of its own for each kernel, beside the kernel's module or, where that is not
writable, in the user's cache folder; NUMBA_CACHE_DIR names another. The folder's name changes with the sources of the
kernel and of all kernels it may call, which numba itself does not look at. A file `seal` holds a checksum of the
others: code without its seal is compiled anew. Where nothing can be kept, every process compiles.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, update_wrapper
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from bgfmt.errors import MissingExtraError
from bgfmt.jit.compiled import Calls

F = TypeVar("F", bound=Callable[..., Any])
SEAL = "seal"
_watchers: list[Callable[[], None]] = []
_lock = threading.RLock()
_modules: dict[str, dict[str, Any]] = {}  # the file of a kernel module -> its names
_kernels: list[Kernel] = []  # those with a dispatcher


def njit() -> Callable[[F], F]:
    """Compile a kernel: kept on disk, without fast-math (bytes depend on rounding), without the interpreter lock."""

    def decorate(function: F) -> F:
        return cast(F, Kernel(function))

    return decorate


class Kernel:
    """A compiled function: calls numba's dispatcher, which is made at the first call."""

    keeping = True  # False from the first failure of the disk on

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._dispatcher: Any = None
        self._calls: Calls | None = None
        self._folder: Path | None = None
        self._signatures = 0  # how many were compiled or loaded when the folder was sealed last
        _modules[str(function.__globals__.get("__file__"))] = function.__globals__

    def __call__(self, *args: Any) -> Any:
        function = self._compiled(args)
        if function is not None:
            return function(*args)
        dispatcher = self._dispatcher or self.dispatcher
        try:
            result = dispatcher(*args)
        except OSError:  # a kernel raises none: the disk is full, or the folder went away
            Kernel.keeping = False
            with _lock:
                while _kernels:
                    _kernels.pop()._dispatcher = None
            return self.dispatcher(*args)
        if len(dispatcher.signatures) != self._signatures:
            _seal_all()
        return result

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def _compiled(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The function of the wheel's library for such arguments, if there is one."""
        if self._calls is None:
            self._calls = Calls(f"{self.__module__}:{self.py_func.__qualname__}")
        return self._calls.find(args) if self._calls.forms else None

    def chosen(self, *args: Any) -> Callable[..., Any]:
        """What a call with such arguments comes to, for callers that count microseconds."""
        return self._compiled(args) or self.dispatcher

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the function."""
        with _lock:
            if self._dispatcher is None:
                numba = import_numba()
                self._folder = _cache_folder(self.py_func) if Kernel.keeping else None
                if self._folder is None or not (self._folder / SEAL).exists():
                    tell()
                self._dispatcher = _compiler(numba, self._folder)(self.py_func)
                _kernels.append(self)
            return self._dispatcher


@cache
def import_numba() -> Any:
    """Numba; MissingExtraError, in one line what to install, where it is missing."""
    try:
        import numba
    except ImportError:
        install = "pip install numba"
        raise MissingExtraError(f"this computation needs numba: {install}", install) from None
    from numba.extending import typeof_impl

    @typeof_impl.register(Kernel)
    def _(kernel: Kernel, context: Any) -> Any:
        """How a kernel that calls this one sees it."""
        typeof: Any = numba.typeof
        return typeof(kernel.dispatcher)

    import_module("bgfmt.jit.vectors")
    return numba


def _compiler(numba: Any, folder: Path | None) -> Any:
    """Numba's decorator, keeping code in a folder, or nowhere."""
    if folder is None:
        return numba.njit(nogil=True)
    chosen = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    compiler = numba.njit(nogil=True, cache=True)

    def compile_function(function: Callable[..., Any]) -> Any:
        try:
            return compiler(function)
        except (OSError, RuntimeError):  # numba finds the folder not writable
            return numba.njit(nogil=True)(function)
        finally:
            numba.config.CACHE_DIR = chosen

    return compile_function


# ---- the folders of kept code


def _cache_folder(function: Callable[..., Any]) -> Path | None:
    """The folder for a kernel's code, sealed or empty; None where none can be written."""
    file = Path(str(function.__globals__.get("__file__"))).absolute()
    kernel = f"{file.stem}.{function.__qualname__}-{_digest(str(file))}-"
    for parent in _cache_parents(file):
        with contextlib.suppress(OSError):
            folder = parent / f"{kernel}{_digest(repr(_sources(str(file))))}"
            if not folder.is_dir():
                folder.mkdir(parents=True)
                for older in parent.glob(f"{kernel}*"):
                    if older != folder:
                        shutil.rmtree(older, ignore_errors=True)
            if not os.access(folder, os.W_OK):
                continue
            if not _is_sealed(folder):
                for path in (folder / SEAL, *_code_files(folder)):
                    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
            return folder
    return None


def _cache_parents(file: Path) -> list[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    user = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return [file.parent / "__pycache__", Path(os.path.expanduser(user), "bgfmt")]


def _sources(file: str) -> tuple[Any, ...]:
    """Numba's version, and name, time and size of a kernel module and of the kernel modules it has names from, all
    the way down: their code becomes part of its own."""
    reached = [file, str(Path(__file__).with_name("vectors.py"))]
    for name in reached:  # grows on the way
        for value in list(_modules.get(name, {}).values()):
            module = (
                value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", ""))
            )
            used = str(getattr(module, "__file__", ""))
            if used in _modules and used not in reached:
                reached.append(used)
    status = [(os.path.basename(name), os.stat(name)) for name in sorted(reached)]
    version = import_numba().__version__, sys.implementation.cache_tag
    return version, *((name, found.st_mtime_ns, found.st_size) for name, found in status)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _code_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*") if not path.name.startswith("."))


def _checksum(folder: Path) -> str:
    total = hashlib.blake2b(digest_size=16)
    for path in _code_files(folder):
        total.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return total.hexdigest()


def _is_sealed(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return (folder / SEAL).read_text("ascii") == _checksum(folder)
    return False


def _seal_all() -> None:
    """Seal the folders of the kernels that were compiled since the last time."""
    with _lock:
        for kernel in _kernels:
            folder, signatures = kernel._folder, len(kernel.dispatcher.signatures)
            if signatures != kernel._signatures and folder is not None:
                with contextlib.suppress(OSError):
                    if not _is_sealed(folder):
                        (folder / SEAL).write_text(_checksum(folder), "ascii")
            kernel._signatures = signatures


# ---- the notice


@contextlib.contextmanager
def watching(compiling: Callable[[], None]) -> Iterator[None]:
    """Inside, `compiling()` is called before a kernel of which no code is kept is compiled, from the thread that
    compiles it. Of several watchers, one inside another, only the innermost is called."""
    _watchers.append(compiling)
    try:
        yield
    finally:
        _watchers.remove(compiling)


def tell() -> None:
    """Call the innermost watcher, if there is one."""
    for watcher in _watchers[-1:]:
        watcher()
