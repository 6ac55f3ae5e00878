"""A folder made under a hidden name that takes its own name when it is whole, perhaps in place of an older one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from bgfmt.errors import OutputExistsError
from bgfmt.storage import system
from bgfmt.storage.system import PathLike

PARTS, OLD = ".parts", ".old"
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD


@contextlib.contextmanager
def new_folder(path: PathLike, *, force: bool) -> Iterator[Path]:
    """An empty hidden folder beside `path`, which gets this name when the block ends well, and never otherwise.

    With `force` it takes the place of a folder that is there. Call `settle` before looking at what is there.
    """
    target = Path(path).resolve()
    hidden = target.parent / f"{_prefix(target)}{os.urandom(8).hex()}{PARTS}"
    locked = -1
    try:
        with system.said_of(path):
            hidden.mkdir()
            locked = _locked(hidden)[0]
        yield hidden
        with system.said_of(path):
            _publish(hidden, target, force)
    finally:
        if locked >= 0:
            os.close(locked)
        shutil.rmtree(hidden, ignore_errors=True)


def settle(path: PathLike) -> None:
    """Clear up after processes that were killed while they made this folder: the old one has its name again where
    the new one did not get it, and what is hidden is removed."""
    target = Path(path).resolve()
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        names = sorted(entry.name for entry in os.scandir(target.parent) if entry.name.startswith(prefix))
        for name in names:  # those set aside before those never finished
            hidden = target.parent / name
            if hidden.is_symlink() or not hidden.is_dir() or hidden.suffix not in (PARTS, OLD):
                continue
            fd, free = _locked(hidden.with_suffix(PARTS))
            try:
                if not free:
                    continue
                if hidden.suffix == OLD and not os.path.lexists(target):
                    os.rename(hidden, target)
                else:
                    shutil.rmtree(hidden, ignore_errors=True)
            finally:
                if fd >= 0:
                    os.close(fd)


def _prefix(target: Path) -> str:
    return f".bgfmt-{zlib.crc32(os.fsencode(target.name)):08x}-"


def _locked(folder: Path) -> tuple[int, bool]:
    """(descriptor of a folder, or -1; whether nobody else holds its lock)."""
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError:  # it is gone, or the system opens no folders
        return -1, True
    return fd, system.lock(fd) is not False


def _publish(hidden: Path, target: Path, force: bool) -> None:
    """Give the finished folder its name: at one stroke where the system can, else the old one is set aside first."""
    replaced = force and target.is_dir()
    if replaced and exchange(hidden, target):
        system.sync_folder(target.parent)
        return  # what is hidden now is the old one
    aside = hidden.with_suffix(OLD)
    if replaced:
        os.rename(target, aside)
    try:
        if os.path.lexists(target):
            raise OutputExistsError(f"{target}: appeared while it was being written")
        os.rename(hidden, target)
    except BaseException:
        if replaced:
            os.rename(aside, target)
        raise
    system.sync_folder(target.parent)
    if replaced:
        shutil.rmtree(aside, ignore_errors=True)


def exchange(a: Path, b: Path) -> bool:
    """Exchange the names of two folders at one stroke; False where the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(a), _HERE, os.fsencode(b), _EXCHANGE) == 0)
