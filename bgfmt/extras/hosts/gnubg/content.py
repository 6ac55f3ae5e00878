"""What installing does with files: digests, copies that reach the disk, small files of others read safely."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path

from bgfmt.errors import FormatError

CHUNK = 8 << 20
SMALL = 1 << 20  # bytes beyond which no record of ours grows


class ReplacedError(FormatError):
    """A file changed between two looks at it."""


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same_file(one: Path, other: Path) -> bool:
    """Whether two names are one file, or two with the same content; links are not followed."""
    with contextlib.suppress(OSError):
        first, second = one.lstat(), other.lstat()
        if os.path.samestat(first, second):
            return True
        if stat.S_ISLNK(first.st_mode) and stat.S_ISLNK(second.st_mode):
            return os.readlink(one) == os.readlink(other)
        both = stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode)
        return both and first.st_size == second.st_size and digest_of(one) == digest_of(other)
    return False


def is_regular(path: Path) -> bool:
    """Whether a path leads to a regular file; asking never waits, as opening a pipe would."""
    return stat.S_ISREG(path.stat().st_mode)


def read_small(path: Path) -> bytes | None:
    """All bytes of a small file, None where there is none.

    Raises
    ------
    FormatError
        It is a link, a pipe, a device, or larger than any file of its kind.
    """
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise FormatError(f"{path}: not a regular file; nothing was changed") from None
        raise
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FormatError(f"{path}: not a regular file; nothing was changed")
        data = file.read(SMALL + 1)
    if len(data) > SMALL:
        raise FormatError(
            f"{path}: {len(data):,} bytes and more, which is no record of bgfmt's; nothing was changed"
        )
    return data


def copy_new(source: Path, target: Path, sha256: str | None = None) -> None:
    """Copy a file to a new name, down to the disk; nothing stays when it fails.

    Raises
    ------
    ReplacedError
        The bytes copied do not have the digest `sha256`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    seen = hashlib.sha256()
    with source.open("rb") as file:
        handle = os.open(target, flags, 0o644)
        try:
            with os.fdopen(handle, "wb") as out:
                while block := file.read(CHUNK):
                    seen.update(block)
                    out.write(block)
                out.flush()
                if hasattr(os, "fchmod"):
                    os.fchmod(out.fileno(), 0o644)  # gnubg may run as another user
                os.fsync(out.fileno())
            if sha256 is not None and seen.hexdigest() != sha256:
                raise ReplacedError(
                    f"{source}: changed while it was being installed; nothing was changed there"
                )
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)
            raise


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
