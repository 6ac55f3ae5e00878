"""Files put into a folder, and taken out again, so that a kill or a full disk at any moment loses nothing.

`.bgfmt-installed.json`, the record, says for each file that bgfmt put into the folder what it is and where the file
it replaced is kept. A change of the folder is one transaction:

1. the journal `.bgfmt-journal.json` says what is going to happen, before anything else is touched;
2. the new files and the new record are written under hidden names, and a file that is going to be replaced gets a
   second name;
3. the new record takes the old one's place, by one rename: this decides;
4. the new files take their places, by one rename each;
5. the journal goes.

`recover`, run by every command first, meets a journal only where a process was killed: before step 3 it undoes the
transaction, from then on it completes it. Whatever needs room on the disk happens before step 3. Every name that is
read from the record or the journal must be one that this module would have chosen; nothing is touched otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bgfmt.folders import SLOTS, InstallError
from bgfmt.hosts.gnubg.content import digest_of, read_small, same_file, sync_folder

RECORD = ".bgfmt-installed.json"
JOURNAL = ".bgfmt-journal.json"
KEPT = ".before-bgfmt"
NAMES = (*SLOTS.values(), "gnubg_os.db")
_KEPT = r"{0}\.before-bgfmt(-[0-9]{{1,6}})?"  # {0}: the file's own name
_HIDDEN = r"\.{0}\.bgfmt-[0-9a-f]{{16}}"
_SHA256 = re.compile(r"[0-9a-f]{64}")


class NotAllowedError(InstallError):
    """The folder may not be written by this user."""


@dataclass(frozen=True)
class Entry:
    """What bgfmt put somewhere: its source and content, and the name under which the file from before is kept.

    older : names of files from still earlier that stay where they are; token : which transaction wrote the entry.
    """

    source: str
    sha256: str
    size: int
    link: bool = False
    kept: str | None = None
    older: tuple[str, ...] = ()
    token: str = ""

    def describes(self, path: Path) -> bool:
        """Whether the file at `path` is the one that was put there."""
        if self.link:
            return path.is_symlink() and os.readlink(path) == self.source
        with contextlib.suppress(OSError):
            status = path.lstat()
            return (
                stat.S_ISREG(status.st_mode)
                and status.st_size == self.size
                and digest_of(path) == self.sha256
            )
        return False


Record = dict[str, Entry]


@dataclass(frozen=True)
class Step:
    """What happens to one file of the folder.

    new : the name from which the new content comes, a hidden one or a kept one; None: the file goes.
    keep : the second name of what is there now; None where there is nothing, or only what bgfmt put there.
    """

    name: str
    new: str | None = None
    keep: str | None = None

    @property
    def hidden(self) -> bool:
        """Whether the new content has to be made first, under a hidden name."""
        return self.new is not None and self.new.startswith(".")


@dataclass(frozen=True)
class Transaction:
    """A change of one folder: the record before and after, and a step for each file."""

    command: str
    before: Record
    after: Record
    steps: tuple[Step, ...]
    record: str

    @property
    def names(self) -> str:
        return ", ".join(step.name for step in self.steps)


# -- reading, with every name checked -----------------------------------------------------------------------


def read_record(folder: Path) -> Record:
    """What bgfmt has installed in a folder, by file name.

    Raises
    ------
    InstallError
        The record is no record, or names anything but a file that bgfmt would have put into this folder.
    """
    path = folder / RECORD
    data = read_small(path)
    return {} if data is None else _record(_json(path, data), path)


def _json(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InstallError(
            f"{path}: cannot be read: {' '.join(str(error).split())[:100]}; nothing was changed"
        ) from None


def _record(value: Any, path: Path) -> Record:
    if not isinstance(value, dict):
        raise _refused(path, "the record", value)
    return {_slot_name(name, path): _entry(name, entry, path) for name, entry in value.items()}


def _entry(name: str, value: Any, path: Path) -> Entry:
    if not isinstance(value, dict):
        raise _refused(path, "an entry", value)
    kept, older = value.get("kept"), value.get("older", [])
    source, sha256, size = value.get("source"), value.get("sha256"), value.get("size")
    if not isinstance(source, str) or "\0" in source:
        raise _refused(path, "a source", source)
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise _refused(path, "a digest", sha256)
    if not isinstance(size, int) or size < 0:
        raise _refused(path, "a size", size)
    if not isinstance(older, list):
        raise _refused(path, "names of files kept", older)
    return Entry(
        source,
        sha256,
        size,
        link=value.get("link") is True,
        kept=None if kept is None else _matching(_KEPT, name, kept, path),
        older=tuple(_matching(_KEPT, name, one, path) for one in older),
        token=str(value.get("token", "")),
    )


def _slot_name(name: Any, path: Path) -> str:
    if name not in NAMES:
        raise _refused(path, "a file name", name)
    return str(name)


def _matching(pattern: str, name: str, value: Any, path: Path) -> str:
    """`value` if it is a name that this module would have made from `name`."""
    if not isinstance(value, str) or not re.fullmatch(pattern.format(re.escape(name.lstrip("."))), value):
        raise _refused(path, f"a name beside {name}", value)
    return value


def _refused(path: Path, what: str, value: Any) -> InstallError:
    return InstallError(f"{path}: {what} that bgfmt does not write: {str(value)[:60]!r}; nothing was changed")


def _transaction(value: Any, path: Path) -> Transaction:
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        raise _refused(path, "a journal", value)
    steps = []
    for step in value["steps"]:
        if not isinstance(step, dict):
            raise _refused(path, "a step", step)
        name, new, keep = _slot_name(step.get("name"), path), step.get("new"), step.get("keep")
        if new is not None:
            _matching(_HIDDEN if str(new).startswith(".") else _KEPT, name, new, path)
        steps.append(Step(name, new, None if keep is None else _matching(_KEPT, name, keep, path)))
    return Transaction(
        "uninstall" if value.get("command") == "uninstall" else "install",
        _record(value.get("before"), path),
        _record(value.get("after"), path),
        tuple(steps),
        _matching(_HIDDEN, RECORD, value.get("record"), path),
    )


# -- choosing names -----------------------------------------------------------------------------------------


def free_name(folder: Path, name: str) -> str:
    """A name under which `name` can be kept."""
    kept, number = name + KEPT, 1
    while os.path.lexists(folder / kept):
        number += 1
        kept = f"{name}{KEPT}-{number}"
    return kept


def hidden_name(name: str) -> str:
    """A name that nobody else uses, for what is not in place yet."""
    return f".{name.lstrip('.')}.bgfmt-{secrets.token_hex(8)}"


# -- doing it -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[list[str]]:
    """Lock a folder, finish what a killed process left there, and say so: a line for each file.

    Raises
    ------
    InstallError
        Another process is changing the folder, or its record or journal names what it must not.
    NotAllowedError
        The folder may not be written.
    """
    with _locked(folder), allowed(folder):
        yield _recover(folder)


@contextlib.contextmanager
def allowed(folder: Path) -> Iterator[None]:
    """Turn the system's refusal into `NotAllowedError`."""
    try:
        yield
    except PermissionError as error:
        raise NotAllowedError(f"{error.filename or folder}: {error.strerror}") from None


def unfinished(folder: Path) -> str | None:
    """What a killed process left in a folder, in one line; None where nothing."""
    data = read_small(folder / JOURNAL)
    if data is None:
        return None
    with contextlib.suppress(ValueError):
        transaction = _transaction(json.loads(data), folder / JOURNAL)
        return f"{folder}: the {transaction.command} of {transaction.names} was cut short"
    return f"{folder}: a change was cut short before it began"


def carry_out(folder: Path, transaction: Transaction, stage: Callable[[Step], None]) -> None:
    """Do a transaction; `stage` makes the hidden file of a step, where it has one.

    Until the moment of decision any error leaves the folder as it was.
    """
    try:
        _write_new(folder / JOURNAL, json.dumps(asdict(transaction)).encode())
    except FileExistsError:
        raise InstallError(f"{folder}: another process is changing it") from None
    try:
        _prepare(folder, transaction, stage)
        _decide(folder, transaction)
    except BaseException:
        (_complete if read_record(folder) == transaction.after else _undo)(folder, transaction)
        raise
    _complete(folder, transaction)


def _prepare(folder: Path, transaction: Transaction, stage: Callable[[Step], None]) -> None:
    sync_folder(folder)
    for step in transaction.steps:
        if step.hidden:
            stage(step)
    if transaction.after:
        plain = {name: asdict(entry) for name, entry in transaction.after.items()}
        _write_new(folder / transaction.record, json.dumps(plain, indent=1).encode() + b"\n")
    for step in transaction.steps:
        if step.keep is not None:
            _second_name(folder / step.name, folder / step.keep)
    sync_folder(folder)


def _second_name(path: Path, keep: Path) -> None:
    """Give a file another name; where the file system knows no links it moves, and the slot is empty for a moment."""
    try:
        os.link(path, keep, follow_symlinks=False)
    except FileExistsError:
        raise InstallError(f"{keep}: appeared while it was to be made; nothing was changed") from None
    except (OSError, NotImplementedError):
        os.rename(path, keep)


def _decide(folder: Path, transaction: Transaction) -> None:
    if transaction.after:
        os.replace(folder / transaction.record, folder / RECORD)
    else:
        os.unlink(folder / RECORD)


def _undo(folder: Path, transaction: Transaction) -> None:
    """Take back what was prepared; may itself be cut short and repeated."""
    _remove(folder / transaction.record)
    for step in transaction.steps:
        path = folder / step.name
        if step.keep is not None and os.path.lexists(folder / step.keep):
            if not os.path.lexists(path):
                os.rename(folder / step.keep, path)
            elif same_file(path, folder / step.keep):
                os.unlink(folder / step.keep)
        if step.hidden:
            _remove(folder / str(step.new))
    sync_folder(folder)
    _remove(folder / JOURNAL)


def _complete(folder: Path, transaction: Transaction) -> None:
    """Put everything in its place; may be cut short and repeated."""
    sync_folder(folder)
    for step in transaction.steps:
        path = folder / step.name
        there = os.path.lexists(path) and _is_ours_to_replace(folder, transaction, step)
        if step.new is None:
            if there:
                os.unlink(path)
        elif os.path.lexists(folder / step.new):
            if os.path.lexists(path) and not there:  # it came after the kill, from somebody else
                _second_name(path, folder / free_name(folder, step.name))
            os.replace(folder / step.new, path)
    sync_folder(folder)
    _remove(folder / JOURNAL)


def _is_ours_to_replace(folder: Path, transaction: Transaction, step: Step) -> bool:
    """Whether what has the file's name is kept elsewhere, or was put there by bgfmt."""
    path = folder / step.name
    if step.keep is not None and same_file(path, folder / step.keep):
        return True
    entry = transaction.before.get(step.name)
    return entry is not None and entry.describes(path)


def _recover(folder: Path) -> list[str]:
    path = folder / JOURNAL
    data = read_small(path)
    if data is None:
        return []
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):  # cut short while it was written, so nothing else had been touched
        _remove(path)
        return [f"{folder}: a change that was cut short before it began was dropped"]
    transaction = _transaction(value, path)
    decided = read_record(folder) == transaction.after
    (_complete if decided else _undo)(folder, transaction)
    done = "completed" if decided else "undone"
    return [
        f"{folder / step.name}: the {transaction.command} that was cut short has been {done}"
        for step in transaction.steps
    ]


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _write_new(path: Path, data: bytes) -> None:
    """Write a new small file; it is on the disk when this returns, and gone when it fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(path)
        raise


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time, where the system can lock a folder; elsewhere the journal's name keeps others out."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InstallError(f"{folder}: another process is changing it") from None
        except OSError:  # some network file systems know no locks
            pass
        yield
    finally:
        os.close(handle)
