"""Create folders that appear under their names whole or not at all, as `bgfmt.storage.publish` does files."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bgfmt.storage import system
from bgfmt.storage.publish import hidden_name, hidden_prefix, keep_mode
from bgfmt.storage.system import PathLike

__all__ = ["new_folder", "recover_folder"]

PARTS = ".parts"
OLD = ".old"


@contextlib.contextmanager
def new_folder(path: PathLike) -> Iterator[Path]:
    """Return a context manager of an empty hidden folder, which is renamed to `path` if the block ends without error.

    An existing folder is replaced. Call `recover_folder` before looking at what exists.
    """
    target = Path(path).resolve()
    hidden = hidden_name(target, PARTS)
    locked = -1
    try:
        with system.report_errors_as(path):
            hidden.mkdir()
            locked = _locked(hidden)[0]
            keep_mode(hidden, target)
        yield hidden
        with system.report_errors_as(path):
            _publish(hidden, target)
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


def _publish(hidden: Path, target: Path) -> None:
    """Give the finished folder its name; an existing folder is renamed first, and gets its name back on an error."""
    aside = hidden.with_suffix(OLD)
    replaced = target.is_dir()
    if replaced:
        os.rename(target, aside)
    try:
        os.rename(hidden, target)
    except BaseException:
        if replaced:
            os.rename(aside, target)
        raise
    system.sync_folder(target.parent)
    shutil.rmtree(aside, ignore_errors=True)
