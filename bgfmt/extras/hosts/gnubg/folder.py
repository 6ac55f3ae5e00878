"""Record and change the files that bgfmt installs in a folder; a kill or a full disk at any moment loses nothing.

docs/hosts/gnubg.md has the record and the steps of a change ("Kills and full disks"). Every command first calls
`settle`, which completes a change that was interrupted after its record was written, and undoes any other.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from bgfmt import storage
from bgfmt.errors import FormatError
from bgfmt.files.gnubg_folders import SLOTS, InstallError
from bgfmt.storage import system
from bgfmt.storage.source import open_regular

RECORD = ".bgfmt-installed.json"
KEPT = ".before-bgfmt"
SECOND_COPY = "gnubg_os.db"  # gnubg-nn reads its one-sided table a second time under this name
NAMES = (*SLOTS.values(), SECOND_COPY)
MAX_RECORD_BYTES = 1 << 20  # larger files are not records
CHUNK = 8 << 20


class NotAllowedError(InstallError):
    """Raised when this user may not write to the folder."""


class ReplacedError(FormatError):
    """Raised when a file changed between two reads."""


@dataclass(frozen=True)
class Entry:
    """An installed file: its source and content, and the name under which the previous file is kept.

    kept : that name, None if there was no file.
    older : names of files from earlier installations, which stay where they are.
    before : the entry that this one replaces.
    """

    source: str
    sha256: str
    size: int
    link: bool = False
    kept: str | None = None
    older: tuple[str, ...] = ()
    before: Entry | None = None

    def describes(self, path: Path) -> bool:
        """Return True if the file at `path` is the installed one."""
        if self.link:
            return path.is_symlink() and os.readlink(path) == self.source
        with contextlib.suppress(OSError):
            status = path.lstat()
            regular = stat.S_ISREG(status.st_mode) and status.st_size == self.size
            return regular and sha256_of(path) == self.sha256
        return False


Record = dict[str, Entry]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hidden_path(path: Path) -> Path:
    """Return the hidden name under which a new file is written before it takes its place."""
    return path.with_name(f".{path.name.lstrip('.')}.bgfmt-new")


def free_name(path: Path) -> str:
    """Return an unused name under which a file can be kept, or the one under which it is kept already."""
    names = (path.with_name(f"{path.name}{KEPT}{f'-{k}' * (k > 1)}") for k in count(1))
    return next(
        one.name for one in names if not os.path.lexists(one) or os.path.samestat(path.lstat(), one.lstat())
    )


def copy_new(source: Path, target: Path, sha256: str | None = None) -> None:
    """Copy a file to a new name; ReplacedError if the bytes copied do not have the checksum `sha256`."""
    digest = hashlib.sha256()
    with source.open("rb") as file, storage.create(target) as sink:
        while block := file.read(CHUNK):
            digest.update(block)
            sink.write(block)
        if sha256 not in (None, digest.hexdigest()):
            raise ReplacedError(f"{source}: changed while it was being installed; nothing was changed there")
    target.chmod(0o644)  # gnubg may run as another user


def write_small(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a small file in place of an old one, by one rename; a kill leaves at most its hidden name."""
    new = hidden_path(path)
    new.unlink(missing_ok=True)
    with storage.create(new) as sink:
        sink.write(data)
    new.chmod(mode)
    os.replace(new, path)
    system.sync_folder(path.parent)


# -- the record ----------------------------------------------------------------------------------------------


def read_record(folder: Path) -> Record:
    """Return the record of a folder: {file name: entry}.

    InstallError if it is damaged or names a file that bgfmt would not have put into this folder; OSError if it is not
    a regular file.
    """
    path = folder / RECORD
    if not os.path.lexists(path):
        return {}
    with open(open_regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        data = file.read(MAX_RECORD_BYTES + 1)
    return parse_record(data, path)


def parse_record(data: bytes, path: Path) -> Record:
    """Parse the bytes of a record; InstallError if they have anything that bgfmt does not write."""
    if len(data) > MAX_RECORD_BYTES:
        raise InstallError(f"{path}: larger than any record of bgfmt's; nothing was changed")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InstallError(f"{path}: cannot be read: {reason}; nothing was changed") from None
    if not isinstance(value, dict):
        raise _refused(path, "the record", value)
    return {name: _entry(name, entry, path) for name, entry in value.items()}


def _entry(name: str, value: Any, path: Path, *, nested: bool = False) -> Entry:
    """Parse one entry of a record; `nested` is the entry that another one replaces."""
    if name not in NAMES or not isinstance(value, dict):
        raise _refused(path, f"an entry {name[:60]!r}", value)

    def text(value: Any, pattern: str) -> bool:
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None

    names = rf"{re.escape(name + KEPT)}(-[0-9]{{1,6}})?"
    get: Callable[[str], Any] = value.get
    source, sha256, size, kept = map(get, ("source", "sha256", "size", "kept"))
    older = get("older") or []
    before = None if nested else get("before")
    sound = text(source, r"[^\0]*") and text(sha256, "[0-9a-f]{64}") and isinstance(size, int) and size >= 0
    sound = sound and isinstance(older, list) and all(text(one, names) for one in older)
    if not sound or not (kept is None or text(kept, names)):
        raise _refused(path, f"an entry {name!r}", value)
    before = None if before is None else _entry(name, before, path, nested=True)
    return Entry(source, sha256, size, get("link") is True, kept, tuple(older), before)


def _refused(path: Path, what: str, value: Any) -> InstallError:
    """Return the error for a part of a record that bgfmt does not write."""
    return InstallError(f"{path}: {what} that bgfmt does not write: {str(value)[:60]!r}; nothing was changed")


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a folder by one rename; an empty one is removed."""
    if record:
        plain = {name: asdict(entry) for name, entry in record.items()}
        write_small(folder / RECORD, json.dumps(plain, indent=1).encode() + b"\n")
    else:
        (folder / RECORD).unlink(missing_ok=True)
        system.sync_folder(folder)


# -- changing a folder ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[list[str]]:
    """Lock a folder and complete or undo what a killed process left there; yield a line for each such file.

    InstallError if another process is changing the folder, or its record is invalid; NotAllowedError if the folder
    may not be written.
    """
    with contextlib.ExitStack() as stack:
        if os.name != "nt":  # folders cannot be opened on Windows
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            if system.lock(handle) is False:
                raise InstallError(f"{folder}: another process is changing it")
        with translate_errors(folder):
            yield settle(folder)


@contextlib.contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    """Convert a refusal of the system to `NotAllowedError`; add the folder's name to errors without a file name."""
    try:
        yield
    except PermissionError as error:
        raise NotAllowedError(f"{error.filename or folder}: {error.strerror}") from None
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None


def has_unfinished_change(folder: Path) -> bool:
    """Return True if a killed process left a change of this folder half done."""
    return any(os.path.lexists(hidden_path(folder / name)) for name in (*NAMES, RECORD))


def settle(folder: Path) -> list[str]:
    """Make the folder match its record and return a line for each file changed; may be interrupted and repeated."""
    record = read_record(folder)
    lines = []
    staying = {}
    for name in NAMES:
        path = folder / name
        entry = record.get(name)
        new = hidden_path(path)
        if os.path.lexists(new):
            if entry is not None and entry.describes(new):
                _move_into_place(path, entry)
                lines.append(f"{path}: the install that was cut short has been completed")
            else:
                new.unlink()
                lines.append(f"{path}: the install that was cut short has been undone")
        if entry is not None and _has_left(path, entry):
            lines.append(f"{path}: the uninstall that was cut short has been completed")
        elif entry is not None:
            staying[name] = entry
    if staying != record:
        system.sync_folder(folder)
        write_record(folder, staying)
    hidden_path(folder / RECORD).unlink(missing_ok=True)
    return lines


def _has_left(path: Path, entry: Entry) -> bool:
    """Return True if an uninstalled file is gone: the previous file is back, or there is none if there was none."""
    beside = path.with_name(entry.kept or path.name)
    return not os.path.lexists(beside) and not entry.describes(path)


def _move_into_place(path: Path, entry: Entry) -> None:
    """Move the hidden file into place; a file that bgfmt has not installed is kept under another name first."""
    ours = entry.describes(path) or (entry.before is not None and entry.before.describes(path))
    if os.path.lexists(path) and not ours:
        _keep(path)
    os.replace(hidden_path(path), path)


def _keep(path: Path) -> str:
    """Give a file a second name and return it.

    On systems without links the file is moved, and the slot is empty for a moment.
    """
    keep = path.with_name(free_name(path))
    if not os.path.lexists(keep):
        try:
            os.link(path, keep, follow_symlinks=False)
        except (OSError, NotImplementedError):
            os.rename(path, keep)
    return keep.name


def install_files(folder: Path, names: list[str], entry: Entry, make: Callable[[Path], object]) -> str | None:
    """Install a file under each of the names and return the name under which the previous one is kept, if any.

    make : writes the file under the hidden name that it is given.

    Until the record is written, any error leaves the folder as it was.
    """
    record = read_record(folder)
    after = dict(record)
    for name in names:
        old = record.get(name)
        path = folder / name
        kept, older = (None, ()) if old is None else (old.kept, old.older)
        if os.path.lexists(path):
            _need_file(path)
            if old is None or not old.describes(path):
                older = (*older, kept) if kept else older
                kept = free_name(path)
        before = None if old is None else replace(old, before=None)
        after[name] = replace(entry, kept=kept, older=older, before=before)
    try:
        for name in names:
            make(hidden_path(folder / name))
        write_record(folder, after)
    except BaseException:
        if read_record(folder) != after:
            for name in names:
                hidden_path(folder / name).unlink(missing_ok=True)
        raise
    for name in names:
        _move_into_place(folder / name, after[name])
    system.sync_folder(folder)
    return after[names[0]].kept


def uninstall_files(folder: Path, names: list[str], *, force: bool) -> list[str]:
    """Remove installed files and restore the previous ones; return a line for each.

    force : keep files that were changed since under another name, instead of raising InstallError.
    """
    record = read_record(folder)
    lines = []
    paths = [folder / name for name in names]
    changed = [path for path in paths if os.path.lexists(path) and not record[path.name].describes(path)]
    for path in changed:
        if not force:
            raise InstallError(f"{path}: has been changed since bgfmt installed it")
        _need_file(path)
    for path in paths:
        entry = record.pop(path.name)
        beside = [*entry.older, *([_keep(path)] if path in changed else [])]
        back = entry.kept is not None and os.path.lexists(folder / entry.kept)
        if back:
            os.replace(folder / (entry.kept or ""), path)
        else:
            path.unlink(missing_ok=True)
        line = f"{path}: {'the file from before is back' if back else 'removed'}"
        if entry.kept and not back:
            line += f"; the file from before, {entry.kept}, is not there any more"
        lines.append(line + (f"; kept beside it: {', '.join(beside)}" if beside else ""))
    system.sync_folder(folder)
    write_record(folder, record)
    return lines


def _need_file(path: Path) -> None:
    """Check that a path is a file or a link; InstallError if not."""
    if not path.is_symlink() and not path.is_file():
        raise InstallError(f"{path}: is not a file; nothing was changed")
