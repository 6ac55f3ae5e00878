"""A work file that one process uses at a time, mapped, and that says what it is for and which process has it.

offset  content
0       a line of JSON: what the file is for, padded with blanks to 2048 bytes; written once
2048    a line of JSON: the process that has it, padded with blanks to 2048 bytes; written at each claim
4096    the user's own
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bgfmt.errors import OutputExistsError, ScratchError
from bgfmt.storage import system
from bgfmt.storage.publish import Draft
from bgfmt.storage.system import PathLike

HEAD = 4096
HALF = 2048
SIGN = "bgfmt scratch"
FORMAT = 3


class Claim:
    """A claimed work file: `map` is all of it, `fresh` whether it is new. Locked until `close`."""

    def __init__(
        self,
        path: PathLike,
        purpose: Mapping[str, Any],
        size: int,
        *,
        resume: bool,
        owner: Mapping[str, Any],
    ) -> None:
        """Make the file, or with `resume` take over one that an ended run left for the very same purpose.

        ScratchError for a file that another process is at, that is unfinished and not to be resumed, or that is
        anything else. The disk's room for all `size` bytes is taken at once.
        """
        self.path = os.fspath(path)
        self.size = size
        self.purpose = {SIGN: FORMAT, **purpose, "bytes": size}
        me = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M")}
        us = _line({**me, **owner})
        self.fresh = False
        self.fd = -1
        while self.fd < 0:
            try:
                self.fd = self._take_over(resume or self.fresh)
            except FileNotFoundError:
                self.fd = self._make(us)
        try:
            with system.said_of(self.path):
                system.write_at(self.fd, memoryview(us), HALF)
                system.reserve(self.fd, size)
                self.map = mmap.mmap(self.fd, size)
        except BaseException:
            self.close(remove=self.fresh)
            raise

    def close(self, *, remove: bool = False) -> None:
        """Let the file go, or be gone."""
        if self.fd < 0:
            return
        if remove:
            with contextlib.suppress(OSError):  # Windows removes no open file
                os.unlink(self.path)
                remove = False
        system.unlock(self.fd)
        os.close(self.fd)
        self.fd = -1
        if remove:
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def _make(self, us: bytes) -> int:
        """A new locked file that says from the first whose it is; -1 where another process was faster."""
        with system.said_of(self.path):
            draft = Draft(Path(self.path).resolve())
            try:
                system.write_at(draft.fd, memoryview(_line(self.purpose) + us), 0)
                system.reserve(draft.fd, self.size)
                draft.publish(force=False, name=self.path)
                self.fresh = True
                return draft.detach()
            except OutputExistsError:
                return -1
            finally:
                draft.discard()

    def _take_over(self, resume: bool) -> int:
        """An existing file of this purpose, locked; -1 where it went away meanwhile."""
        try:
            fd = system.open_regular(self.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            if os.path.islink(self.path):
                raise self._foreign("a symbolic link to nowhere") from None
            raise
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise self._foreign("a symbolic link") from None
            raise
        try:
            kept = _read(fd, 0)
            if SIGN not in kept:
                raise self._foreign("no scratch file of bgfmt")
            if not self._lock(fd):
                raise ScratchError(self.path, "busy", f"in use by {_said(kept, _read(fd, HALF))}")
            try:
                here = os.stat(self.path)
            except FileNotFoundError:
                here = None
            mine = os.fstat(fd)
            if here is None or (here.st_dev, here.st_ino) != (mine.st_dev, mine.st_ino):
                os.close(fd)
                return -1
            if _read(fd, 0) != self.purpose or mine.st_size != self.size:
                raise self._foreign(f"the scratch file of {_said(kept, {})}")
            if not resume:
                message = (
                    "an ended run of this solve left it; resume that run, or remove the file to start anew"
                )
                raise ScratchError(self.path, "unfinished", message)
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(fd)
            raise
        return fd

    def _lock(self, fd: int) -> bool:
        """Lock it; where the file system has no locks, the owner on record must be gone."""
        got = system.lock(fd)
        if got is not None:
            return got
        owner = _read(fd, HALF)
        here = owner.get("host") == socket.gethostname()
        pid = owner.get("pid")
        return here and isinstance(pid, int) and (pid == os.getpid() or not system.alive(pid))

    def _foreign(self, what: str) -> ScratchError:
        return ScratchError(self.path, "foreign", f"is {what}; move it away, or name another scratch file")


def _line(facts: Mapping[str, Any]) -> bytes:
    data = json.dumps(facts, ensure_ascii=True).encode()
    return data[: HALF - 1].ljust(HALF - 1) + b"\n"


def _read(fd: int, offset: int) -> dict[str, Any]:
    """The facts of a line of the head; none where it is no such line."""
    try:
        facts = json.loads(system.read_at(fd, HALF, offset))
    except (ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _said(kept: Mapping[str, Any], owner: Mapping[str, Any]) -> str:
    """A purpose and its owner in words, whatever the file says."""
    what = _word(kept.get("solve"), "some other solve")
    if not owner:
        return what
    return (
        f"process {_word(owner.get('pid'), '?')} on {_word(owner.get('host'), '?')} since "
        f"{_word(owner.get('since'), '?')}, which makes {_word(owner.get('output'), '?')} ({what})"
    )


def _word(value: object, otherwise: str) -> str:
    text = str(value) if isinstance(value, (str, int)) else otherwise
    return "".join(c if c.isprintable() else "?" for c in text[:300])
