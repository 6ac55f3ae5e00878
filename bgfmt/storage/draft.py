"""A new file that appears under its name whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.storage import system
from bgfmt.storage.sink import FileSink
from bgfmt.storage.system import PathLike


def check_output(path: PathLike, *, force: bool = False) -> None:
    """Say before any work, rather than after, why a new file cannot appear under this name.

    CapabilityError for ``-``; OutputExistsError for a file that is there, unless `force`; OSError for anything else
    that is there (only regular files are replaced), for a name that is too long and for a folder that is missing or
    not to be written to.
    """
    name = os.fspath(path)
    if name == "-":
        raise CapabilityError("- is not a file name; this does not write to standard output (./- is a file)")
    if not name:
        raise FileNotFoundError(errno.ENOENT, "an empty name is no file name", name)
    try:
        status = os.stat(name)
    except FileNotFoundError:
        taken = os.path.islink(name)
    else:
        system.require_regular(status, name)
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
    """Open a new file for writing; it appears under `path` when the block ends well, and never otherwise.

    What was written is read again before, and held against sums that were taken on the way (`bgfmt.storage.sums`).
    Where the system can, the file has no name until then, so that even a killed process leaves nothing behind;
    where it cannot, what a killed process left is removed by the next one that makes the same file. Without
    `force` an existing file is refused, at the start and at the end; with it only a regular file is replaced.
    """
    check_output(path, force=force)
    name = os.fspath(path)
    target = Path(name).resolve()
    with system.said_of(name):
        draft = Draft(target)
    sink = FileSink(draft.fd, name)
    try:
        try:
            yield sink
        finally:
            sink.flush()
        with system.said_of(name):
            if os.fstat(draft.fd).st_size != sink.written:
                os.ftruncate(draft.fd, sink.written)
            sink.sums.check(draft.fd, name)
            draft.publish(force=force, name=name)
    finally:
        draft.discard()


class Draft:
    """A locked new file in its target's folder, nameless where the system can; `publish` gives it its name."""

    def __init__(self, target: Path) -> None:
        self.target, self.folder = target, target.parent
        self._prefix = f".bgfmt-{zlib.crc32(os.fsencode(target.name)):08x}-"
        self.beside: Path | None = None
        self.fd = -1
        if hasattr(os, "O_TMPFILE") and hasattr(os, "link") and os.path.isdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                self.fd = os.open(self.folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        if self.fd < 0:
            self._sweep()
            self.beside = self._new_name()
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
                flags |= getattr(os, flag, 0)
            self.fd = os.open(self.beside, flags, 0o666)
        system.lock(self.fd)

    def publish(self, *, force: bool, name: str) -> None:
        """Bring the file to the disk and under its target's name. A name taken meanwhile is kept unless `force`."""
        os.fsync(self.fd)
        if self.beside is None and not force:
            self._link(self.target, name)
        else:
            if self.beside is None:
                self._sweep()
                beside = self._new_name()
                self._link(beside, name)
                self.beside = beside
            self._rename(force, name)
        system.sync_folder(self.folder)

    def detach(self) -> int:
        """The descriptor of a published file, now the caller's; -1 where it had to be closed."""
        fd, self.fd = self.fd, -1
        return fd

    def discard(self) -> None:
        """Close, and remove what has not been published."""
        self._close()
        if self.beside is not None:
            self.beside.unlink(missing_ok=True)
            self.beside = None

    def _close(self) -> None:
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def _new_name(self) -> Path:
        return self.folder / f"{self._prefix}{os.urandom(8).hex()}.part"

    def _link(self, to: Path, name: str) -> None:
        """Name the nameless file. Only with a folder's descriptor does `os.link` follow the link in /proc."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.link(
                f"/proc/self/fd/{self.fd}",
                to.name,
                src_dir_fd=handle,
                dst_dir_fd=handle,
                follow_symlinks=True,
            )
        except FileExistsError:
            raise _appeared(name) from None
        finally:
            os.close(handle)

    def _rename(self, force: bool, name: str) -> None:
        assert self.beside is not None
        if force:
            with contextlib.suppress(FileNotFoundError):
                system.require_regular(os.lstat(self.target), name)
            self._close()  # Windows renames no open file
            os.replace(self.beside, self.target)
            self.beside = None
            return
        try:
            os.link(self.beside, self.target)  # unlike rename, refuses a name that appeared meanwhile
        except FileExistsError:
            raise _appeared(name) from None
        except (OSError, AttributeError, NotImplementedError):  # no hard links here
            if os.path.lexists(self.target):
                raise _appeared(name) from None
            self._close()
            os.rename(self.beside, self.target)
            self.beside = None
        else:
            self.beside.unlink()
            self.beside = None

    def _sweep(self) -> None:
        """Remove drafts of the same target whose process is gone: those whose lock can be had."""
        for entry in os.scandir(self.folder):
            if not entry.name.startswith(self._prefix) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                fd = system.open_regular(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    stale = system.lock(fd)
                finally:
                    os.close(fd)
                if stale:
                    os.unlink(entry.path)


def _appeared(name: str) -> OutputExistsError:
    return OutputExistsError(f"{name}: appeared while it was being written")
