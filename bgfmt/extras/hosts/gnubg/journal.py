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
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from bgfmt.extras.hosts.gnubg.content import read_small, same_file, sync_folder
from bgfmt.extras.hosts.gnubg.record import (
    JOURNAL,
    RECORD,
    Step,
    Transaction,
    free_name,
    read_record,
    read_transaction,
)
from bgfmt.files.gnubg_folders import InstallError
from bgfmt.storage import system


class NotAllowedError(InstallError):
    """The folder may not be written by this user."""


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
    """Turn the system's refusal into `NotAllowedError`; others without a name get the folder's."""
    try:
        yield
    except PermissionError as error:
        raise NotAllowedError(f"{error.filename or folder}: {error.strerror}") from None
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None


def unfinished(folder: Path) -> str | None:
    """What a killed process left in a folder, in one line; None where nothing."""
    data = read_small(folder / JOURNAL)
    if data is None:
        return None
    with contextlib.suppress(ValueError):
        transaction = read_transaction(json.loads(data), folder / JOURNAL)
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
    transaction = read_transaction(value, path)
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
    if os.name == "nt":  # opens no folder
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        if system.lock(handle) is False:
            raise InstallError(f"{folder}: another process is changing it")
        yield
    finally:
        os.close(handle)
