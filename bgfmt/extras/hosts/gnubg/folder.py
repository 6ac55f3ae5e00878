"""The files that bgfmt has put into one folder; a kill or a full disk at any moment loses nothing.

docs/hosts/gnubg.md has the record and the steps of a change ("Kills and full disks"). Every command first calls
`settle`, which completes what was cut short after the record had its name, and undoes the rest.
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
SMALL = 1 << 20  # bytes beyond which no record grows
CHUNK = 8 << 20


class NotAllowedError(InstallError):
    """The folder may not be written by this user."""


class ReplacedError(FormatError):
    """A file changed between two looks at it."""


@dataclass(frozen=True)
class Entry:
    """What bgfmt put somewhere: its source and content, and the name under which the file from before is kept.

    older : names of files from still earlier that stay where they are.
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
        """Whether the file at `path` is the one that was put there."""
        if self.link:
            return path.is_symlink() and os.readlink(path) == self.source
        with contextlib.suppress(OSError):
            status = path.lstat()
            regular = stat.S_ISREG(status.st_mode) and status.st_size == self.size
            return regular and digest_of(path) == self.sha256
        return False


Record = dict[str, Entry]


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hidden(path: Path) -> Path:
    """The name of a file that is not in its place yet."""
    return path.with_name(f".{path.name.lstrip('.')}.bgfmt-new")


def free_name(path: Path) -> str:
    """A name under which a file can be kept, or is kept already."""
    names = (path.with_name(f"{path.name}{KEPT}{f'-{k}' * (k > 1)}") for k in count(1))
    return next(
        one.name for one in names if not os.path.lexists(one) or os.path.samestat(path.lstat(), one.lstat())
    )


def copy_new(source: Path, target: Path, sha256: str | None = None) -> None:
    """Copy a file to a new name; ReplacedError where the bytes copied do not have the digest `sha256`."""
    digest = hashlib.sha256()
    with source.open("rb") as file, storage.create(target) as sink:
        while block := file.read(CHUNK):
            digest.update(block)
            sink.write(block)
        if sha256 not in (None, digest.hexdigest()):
            raise ReplacedError(f"{source}: changed while it was being installed; nothing was changed there")
    target.chmod(0o644)  # gnubg may run as another user


def write_small(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a small file in the place of an old one, by one rename; a kill leaves its hidden name at most."""
    new = hidden(path)
    new.unlink(missing_ok=True)
    with storage.create(new) as sink:
        sink.write(data)
    new.chmod(mode)
    os.replace(new, path)
    system.sync_folder(path.parent)


# -- the record ----------------------------------------------------------------------------------------------


def read_record(folder: Path) -> Record:
    """What bgfmt has installed in a folder, by file name.

    InstallError where the record is no record, or names anything but a file that bgfmt would have put into this
    folder; OSError where it is no regular file.
    """
    path = folder / RECORD
    if not os.path.lexists(path):
        return {}
    with open(open_regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        data = file.read(SMALL + 1)
    return parse_record(data, path)


def parse_record(data: bytes, path: Path) -> Record:
    """The record in a file's bytes; InstallError where it says anything that bgfmt does not write."""
    if len(data) > SMALL:
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
    return InstallError(f"{path}: {what} that bgfmt does not write: {str(value)[:60]!r}; nothing was changed")


def write_record(folder: Path, record: Record) -> None:
    """Put a record in the place of the old one, by one rename."""
    if record:
        plain = {name: asdict(entry) for name, entry in record.items()}
        write_small(folder / RECORD, json.dumps(plain, indent=1).encode() + b"\n")
    else:
        (folder / RECORD).unlink(missing_ok=True)
        system.sync_folder(folder)


# -- changing a folder ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[list[str]]:
    """Lock a folder and settle what a killed process left there: a line for each file.

    InstallError where another process is changing the folder, or its record names what it must not;
    NotAllowedError where the folder may not be written.
    """
    with contextlib.ExitStack() as stack:
        if os.name != "nt":  # Windows opens no folder
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            if system.lock(handle) is False:
                raise InstallError(f"{folder}: another process is changing it")
        with allowed(folder):
            yield settle(folder)


@contextlib.contextmanager
def allowed(folder: Path) -> Iterator[None]:
    """Turn the system's refusal into `NotAllowedError`; errors without a file name get the folder's."""
    try:
        yield
    except PermissionError as error:
        raise NotAllowedError(f"{error.filename or folder}: {error.strerror}") from None
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None


def unfinished(folder: Path) -> bool:
    """Whether a killed process left a change of this folder half done."""
    return any(os.path.lexists(hidden(folder / name)) for name in (*NAMES, RECORD))


def settle(folder: Path) -> list[str]:
    """Make the folder what its record says; may be cut short and repeated. A line for each file."""
    record = read_record(folder)
    lines = []
    staying = {}
    for name in NAMES:
        path = folder / name
        entry = record.get(name)
        new = hidden(path)
        if os.path.lexists(new):
            if entry is not None and entry.describes(new):
                _put(path, entry)
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
    hidden(folder / RECORD).unlink(missing_ok=True)
    return lines


def _has_left(path: Path, entry: Entry) -> bool:
    """Whether the file has been taken out: the file from before is back, or, where none was, there is none."""
    beside = path.with_name(entry.kept or path.name)
    return not os.path.lexists(beside) and not entry.describes(path)


def _put(path: Path, entry: Entry) -> None:
    """The hidden file takes its place; what bgfmt has not put there gets another name first."""
    ours = entry.describes(path) or (entry.before is not None and entry.before.describes(path))
    if os.path.lexists(path) and not ours:
        _keep(path)
    os.replace(hidden(path), path)


def _keep(path: Path) -> str:
    """Give a file a second name, and say which; without links it moves, and the slot is empty for a moment."""
    keep = path.with_name(free_name(path))
    if not os.path.lexists(keep):
        try:
            os.link(path, keep, follow_symlinks=False)
        except (OSError, NotImplementedError):
            os.rename(path, keep)
    return keep.name


def put_in(folder: Path, names: list[str], entry: Entry, make: Callable[[Path], object]) -> str | None:
    """Put a new file under each of the names; `make` writes it under the hidden name it is given.

    Gives the name under which the file from before is kept. Until the record decides, any error leaves the folder as
    it was.
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
            make(hidden(folder / name))
        write_record(folder, after)
    except BaseException:
        if read_record(folder) != after:
            for name in names:
                hidden(folder / name).unlink(missing_ok=True)
        raise
    for name in names:
        _put(folder / name, after[name])
    system.sync_folder(folder)
    return after[names[0]].kept


def take_out(folder: Path, names: list[str], *, force: bool) -> list[str]:
    """Take files out and put back what was there; a line for each. `force` sets aside what has been changed since."""
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
    """InstallError where something other than a file or a link is in the way."""
    if not path.is_symlink() and not path.is_file():
        raise InstallError(f"{path}: is not a file; nothing was changed")
