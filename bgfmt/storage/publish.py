"""Create files, and folders of files, that appear under their names whole or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.storage import system
from bgfmt.storage.sink import FileSink
from bgfmt.storage.source import open_regular, require_regular
from bgfmt.storage.system import PathLike

__all__ = ["OLD", "PARTS", "Draft", "check_output", "create", "exchange", "new_folder", "recover_folder"]


def check_output(path: PathLike, *, force: bool = False) -> None:
    """Raise an error early if a new file cannot be created under this name.

    CapabilityError for ``-``; OutputExistsError for an existing file, unless `force`; OSError for anything else
    that exists there (only regular files are replaced), for a name that is too long and for a folder that is
    missing or not writable.
    """
    name = os.fspath(path)
    if name == "-":
        raise CapabilityError("- is not a file name; this does not write to standard output (./- is a file)")
    if not name:
        raise FileNotFoundError(errno.ENOENT, "an empty name is no file name", name)
    if name.endswith(("/", os.sep)):
        raise IsADirectoryError(errno.EISDIR, "this names a folder, not a file", name)
    try:
        status = os.stat(name)
    except FileNotFoundError:
        taken = os.path.islink(name)
    else:
        require_regular(status, name)
        taken = True
    if taken and not force:
        raise OutputExistsError(f"{name}: exists already")
    folder = Path(name).resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", name)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder is not writable", name)


@contextlib.contextmanager
def create(path: PathLike, *, force: bool = False) -> Iterator[FileSink]:
    """Open a new file for writing; it appears under `path` when the block ends without error, and otherwise never.

    Before publishing, the file is read again and compared with checksums taken while writing
    (`bgfmt.storage.sink`). If the system supports it, the file has no name until then, so that even a killed
    process leaves nothing behind; otherwise the leftovers of a killed process are removed by the next one that
    creates the same file. Without `force` an existing file is refused, at the start and at the end; with it
    only a regular file is replaced.
    """
    check_output(path, force=force)
    name = os.fspath(path)
    target = Path(name).resolve()
    with system.report_errors_as(name):
        draft = Draft(target)
    if force:
        _keep_mode(draft.fd, target)
    sink = FileSink(draft.fd, name)
    try:
        try:
            yield sink
        finally:
            sink.flush()
        with system.report_errors_as(name):
            if os.fstat(draft.fd).st_size != sink.written:
                os.ftruncate(draft.fd, sink.written)
            sink.sums.check(draft.fd, name)
            draft.publish(force=force, name=name)
    finally:
        draft.discard()


def _keep_mode(made: int | Path, replaced: Path) -> None:
    """Copy the permissions of the file or folder that will be replaced, so that a private one stays private."""
    with contextlib.suppress(OSError):  # there is nothing to replace
        mode = stat.S_IMODE(os.stat(replaced).st_mode)
        if isinstance(made, Path) or os.chmod in os.supports_fd:
            os.chmod(made, mode)


class Draft:
    """A locked new file in its target's folder, without a name if the system supports that.

    `publish` gives it its name.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.parent
        self.beside: Path | None = None
        self.fd = -1
        if hasattr(os, "O_TMPFILE") and hasattr(os, "link") and os.path.isdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                self.fd = os.open(self.folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        if self.fd < 0:
            self._sweep()
            self.beside = _hidden(self.target, ".part")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
                flags |= getattr(os, flag, 0)
            self.fd = os.open(self.beside, flags, 0o666)
        system.lock(self.fd)

    def publish(self, *, force: bool, name: str) -> None:
        """Write the file to the disk and give it its target's name.

        OutputExistsError if that exists by now, unless `force`.
        """
        os.fsync(self.fd)
        if force:
            if self.beside is None:
                self._sweep()
                beside = _hidden(self.target, ".part")
                self._link(beside)
                self.beside = beside
            with contextlib.suppress(FileNotFoundError):
                require_regular(os.lstat(self.target), name)
            self._rename()
        else:
            try:
                self._link(self.target)
            except FileExistsError:
                raise _appeared(name) from None
        system.sync_folder(self.folder)

    def discard(self) -> None:
        """Close the draft, and delete it if it was not published."""
        self._close()
        if self.beside is not None:
            self.beside.unlink(missing_ok=True)
            self.beside = None

    def _close(self) -> None:
        if self.fd >= 0:
            fd = self.fd
            self.fd = -1
            os.close(fd)

    def _link(self, to: Path) -> None:
        """Give the file a name, its only one or a further one; FileExistsError if it is taken."""
        if self.beside is None:  # `os.link` follows the link in /proc only with a folder's descriptor
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                nameless = f"/proc/self/fd/{self.fd}"
                os.link(nameless, to.name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=True)
            finally:
                os.close(handle)
            return
        try:
            os.link(self.beside, to)  # unlike rename, refuses a name that appeared meanwhile
        except FileExistsError:
            raise
        except (OSError, AttributeError, NotImplementedError):  # no hard links here
            if os.path.lexists(to):
                raise FileExistsError from None
            self._rename()

    def _rename(self) -> None:
        assert self.beside is not None
        self._close()  # Windows does not rename open files
        os.replace(self.beside, self.target)
        self.beside = None

    def _sweep(self) -> None:
        """Remove drafts of the same target whose process has ended: those that can be locked."""
        for entry in os.scandir(self.folder):
            if not entry.name.startswith(_prefix(self.target)) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                fd = open_regular(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    stale = system.lock(fd)
                finally:
                    os.close(fd)
                if stale:
                    os.unlink(entry.path)


def _appeared(name: str) -> OutputExistsError:
    return OutputExistsError(f"{name}: appeared while it was being written")


def _prefix(target: Path) -> str:
    return f".bgfmt-{zlib.crc32(os.fsencode(target.name)):08x}-"


def _hidden(target: Path, suffix: str) -> Path:
    return target.parent / f"{_prefix(target)}{os.urandom(8).hex()}{suffix}"


# ---- folders

PARTS = ".parts"
OLD = ".old"
# RENAME_EXCHANGE, AT_FDCWD
_EXCHANGE = 2
_HERE = -100


@contextlib.contextmanager
def new_folder(path: PathLike, *, force: bool) -> Iterator[Path]:
    """Make an empty hidden folder, which is renamed to `path` when the block ends without error.

    With `force` it replaces an existing folder. Call `recover_folder` before looking at what exists.
    """
    target = Path(path).resolve()
    hidden = _hidden(target, PARTS)
    locked = -1
    try:
        with system.report_errors_as(path):
            hidden.mkdir()
            locked = _locked(hidden)[0]
            if force:
                _keep_mode(hidden, target)
        yield hidden
        with system.report_errors_as(path):
            _publish(hidden, target, force)
    finally:
        if locked >= 0:
            os.close(locked)
        shutil.rmtree(hidden, ignore_errors=True)


def recover_folder(path: PathLike) -> None:
    """Restore a folder after processes that were killed while they made it.

    The old folder gets its name back if the new one did not get it; hidden leftovers are removed.
    """
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
            raise _appeared(os.fspath(target))
        os.rename(hidden, target)
    except BaseException:
        if replaced:
            os.rename(aside, target)
        raise
    system.sync_folder(target.parent)
    if replaced:
        shutil.rmtree(aside, ignore_errors=True)


def exchange(a: Path, b: Path) -> bool:
    """Exchange the names of two folders atomically; return False if the system or the file system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(a), _HERE, os.fsencode(b), _EXCHANGE) == 0)
