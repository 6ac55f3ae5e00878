"""Create files that appear under their names whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.storage import system
from bgfmt.storage.sink import FileSink
from bgfmt.storage.source import open_regular, require_regular
from bgfmt.storage.system import PathLike

__all__ = ["appeared_error", "check_output", "create", "hidden_name", "hidden_prefix", "keep_mode"]


def check_output(path: PathLike, *, force: bool = False) -> None:
    """Raise an error early if a new file cannot be created under this name.

    CapabilityError for ``-``; OutputExistsError for an existing file, unless `force`; OSError for anything else
    that exists there (only regular files are replaced), for a name that is too long and for a folder that is
    missing or not writable.
    """
    name = os.fspath(path)
    if name == "-":
        raise CapabilityError("- cannot be used as a file name here; write ./- for a file of this name")
    if not name:
        raise FileNotFoundError(errno.ENOENT, "the file name is empty", name)
    if name.endswith(("/", os.sep)):
        raise IsADirectoryError(errno.EISDIR, "this names a folder, not a file", name)
    try:
        status = os.stat(name)
    except FileNotFoundError:
        taken = os.path.islink(name)
    else:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file in it", name)
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
        keep_mode(draft.fd, target)
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


def keep_mode(made: int | Path, replaced: Path) -> None:
    """Give a new file or folder (`made`, a path or descriptor) the permissions of the one that it will replace.

    So a private one stays private.
    """
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
            self.beside = hidden_name(self.target, ".part")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
                flags |= getattr(os, flag, 0)
            self.fd = os.open(self.beside, flags, 0o666)
        system.lock(self.fd)

    def publish(self, *, force: bool, name: str) -> None:
        """Write the file to the disk and give it its target's name.

        name : what messages call the target. OutputExistsError if a file of that name exists by now, unless `force`.
        """
        os.fsync(self.fd)
        if force:
            if self.beside is None:
                self._sweep()
                beside = hidden_name(self.target, ".part")
                self._link(beside)
                self.beside = beside
            with contextlib.suppress(FileNotFoundError):
                require_regular(os.lstat(self.target), name)
            self._rename()
        else:
            try:
                self._link(self.target)
            except FileExistsError:
                raise appeared_error(name) from None
        system.sync_folder(self.folder)

    def discard(self) -> None:
        """Close the unfinished file, and delete it if it was not published."""
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
            if not entry.name.startswith(hidden_prefix(self.target)) or not entry.is_file(
                follow_symlinks=False
            ):
                continue
            with contextlib.suppress(OSError):
                fd = open_regular(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    stale = system.lock(fd)
                finally:
                    os.close(fd)
                if stale:
                    os.unlink(entry.path)


def appeared_error(name: str) -> OutputExistsError:
    """Return the error for a name that someone else took while its file was being written."""
    return OutputExistsError(f"{name}: was created by another program meanwhile")


def hidden_prefix(target: Path) -> str:
    """Return the beginning of the hidden names that unfinished files for this target have."""
    return f".bgfmt-{zlib.crc32(os.fsencode(target.name)):08x}-"


def hidden_name(target: Path, suffix: str) -> Path:
    """Return a new hidden name in the folder of `target`, for a file that will replace it; it ends with `suffix`."""
    return target.parent / f"{hidden_prefix(target)}{os.urandom(8).hex()}{suffix}"
