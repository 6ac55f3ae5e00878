"""Create folders that appear under their names whole or not at all, as `bgfmt.storage.publish` does files."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bgfmt.storage import system
from bgfmt.storage.publish import appeared_error, hidden_name, hidden_prefix, keep_mode
from bgfmt.storage.system import PathLike

__all__ = ["new_folder", "recover_folder"]

PARTS = ".parts"
OLD = ".old"
# RENAME_EXCHANGE, AT_FDCWD
_EXCHANGE = 2
_HERE = -100


@contextlib.contextmanager
def new_folder(path: PathLike, *, force: bool) -> Iterator[Path]:
    """Return a context manager of an empty hidden folder, which is renamed to `path` if the block ends without error.

    force : replace an existing folder. Call `recover_folder` before looking at what exists.
    """
    target = Path(path).resolve()
    hidden = hidden_name(target, PARTS)
    locked = -1
    try:
        with system.report_errors_as(path):
            hidden.mkdir()
            locked = _locked(hidden)[0]
            if force:
                keep_mode(hidden, target)
        yield hidden
        with system.report_errors_as(path):
            _publish(hidden, target, force)
    finally:
        if locked >= 0:
            os.close(locked)
        shutil.rmtree(hidden, ignore_errors=True)


def recover_folder(path: PathLike) -> None:
    """Restore the folder `path` after processes that were killed while they replaced it.

    The old folder gets its name back if the new one did not get it; hidden leftovers are removed.
    """
    target = Path(path).resolve()
    prefix = hidden_prefix(target)
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


def _locked(folder: Path) -> tuple[int, bool]:
    """Lock a folder. Return (descriptor, or -1 if it cannot be opened; whether no other process holds the lock)."""
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError:  # it is gone, or the system opens no folders
        return -1, True
    return fd, system.lock(fd) is not False


def _publish(hidden: Path, target: Path, force: bool) -> None:
    """Give the finished folder its name. If the system cannot exchange two names, the old folder is renamed first."""
    replaced = force and target.is_dir()
    if replaced and exchange(hidden, target):
        system.sync_folder(target.parent)
        return  # what is hidden now is the old one
    aside = hidden.with_suffix(OLD)
    if replaced:
        os.rename(target, aside)
    try:
        if os.path.lexists(target):
            raise appeared_error(os.fspath(target))
        os.rename(hidden, target)
    except BaseException:
        if replaced:
            os.rename(aside, target)
        raise
    system.sync_folder(target.parent)
    if replaced:
        shutil.rmtree(aside, ignore_errors=True)


def exchange(a: Path, b: Path) -> bool:
    """Exchange the names of the folders a and b atomically; return False if the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(a), _HERE, os.fsencode(b), _EXCHANGE) == 0)
