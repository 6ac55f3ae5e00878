"""System calls that not every system has, each with a plain fallback.

Linux has all of them; macOS lacks O_TMPFILE, /proc and posix_fallocate; Windows lacks most. Everything else in
bgfmt calls these functions, so that what a system lacks is decided here and nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

__all__ = ["UNITS", "PathLike", "format_size"]


PathLike = str | os.PathLike[str]
_SEEKING = threading.Lock()  # where a read or write has to move the file's position first
_LOCK_AT = 1 << 40  # the byte that Windows locks: beyond any content, since its locks keep readers out


def write_at(fd: int, data: memoryview, offset: int) -> None:
    """Write all of `data` to an open file at an offset, without moving its position if the system can."""
    while len(data):
        if hasattr(os, "pwrite"):
            done = os.pwrite(fd, data[: 1 << 30], offset)
        else:
            with _SEEKING:
                os.lseek(fd, offset, os.SEEK_SET)
                done = os.write(fd, data[: 1 << 30])
        data = data[done:]
        offset = offset + done


def read_at(fd: int, size: int, offset: int) -> bytes:
    """Read up to `size` bytes of an open file from an offset; fewer only at the end of the file."""
    out = bytearray(size)
    return bytes(memoryview(out)[: read_into(fd, memoryview(out), offset)])


def read_into(fd: int, out: memoryview, offset: int) -> int:
    """Fill `out` from an offset, without a copy if the system can.

    Returns the number of bytes read, fewer than asked only at the end of the file.
    """
    done = 0
    while done < len(out):
        rest = out[done : done + (1 << 30)]
        if hasattr(os, "preadv"):
            got = os.preadv(fd, [rest], offset + done)
        else:
            with _SEEKING:
                os.lseek(fd, offset + done, os.SEEK_SET)
                piece = os.read(fd, len(rest))
            got = len(piece)
            rest[:got] = piece
        if got == 0:
            break
        done += got
    return done


def sync_data(fd: int) -> None:
    """Write the file's data to the disk (fdatasync)."""
    getattr(os, "fdatasync", os.fsync)(fd)


def sync_folder(folder: Path) -> None:
    """Write a folder's entries to the disk (fsync), if the system can."""
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder, and Windows cannot open one
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def reserve(fd: int, size: int) -> None:
    """Make the file at least `size` bytes long and allocate the space; OSError (ENOSPC) if the disk is full.

    A mapped write to a file without allocated space would kill the process (SIGBUS).
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
    zeros = memoryview(bytes(1 << 20))
    for at in range(os.fstat(fd).st_size, size, len(zeros)):
        write_at(fd, zeros[: size - at], at)


def drop_pages(mapped: mmap.mmap) -> None:
    """Drop the pages of a map from this process's memory (MADV_DONTNEED), if the system can.

    They stay in the system's cache.
    """
    if hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def will_need(mapped: mmap.mmap, start: int, size: int) -> None:
    """Start to read a part of a mapped file from the disk (MADV_WILLNEED), if the system can."""
    if hasattr(mapped, "madvise") and hasattr(mmap, "MADV_WILLNEED"):
        begin = start // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_WILLNEED, begin, start + size - begin)


def lock(fd: int) -> bool | None:
    """Lock an open file for this process until it is closed, without waiting.

    Returns True, False if another process holds the lock, or None if files cannot be locked there.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_msvcrt(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _lock_msvcrt(fd: int) -> bool | None:
    try:
        import msvcrt
    except ImportError:
        return None
    with _SEEKING:
        os.lseek(fd, _LOCK_AT, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError as error:
            return False if error.errno in (errno.EACCES, errno.EDEADLK) else None
    return True


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def report_errors_as(path: PathLike) -> Iterator[None]:
    """Make system errors inside the block name `path`, which the user knows, instead of a temporary file's name."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == os.fspath(path):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def format_size(number: float) -> str:
    """Format a number of bytes in the unit that gives it one to three digits before the point.

    >>> format_size(1_923_262_512_345), format_size(40)
    ('1.9 TB', '40 bytes')
    """
    return next((f"{number / unit:.1f} {name}" for unit, name in UNITS if number >= unit), f"{number} bytes")
