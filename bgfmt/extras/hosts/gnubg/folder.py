"""Record and change the files that bgfmt installs in a folder.

docs/hosts/gnubg.md has the steps of a change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from bgfmt import storage
from bgfmt.files.gnubg_folders import SLOTS, InstallError
from bgfmt.storage import system
from bgfmt.storage.source import open_regular

RECORD = ".bgfmt-installed.json"
KEPT = ".before-bgfmt"
SECOND_COPY = "gnubg_os.db"  # gnubg-nn reads its one-sided table a second time under this name
NAMES = (*SLOTS.values(), SECOND_COPY)
MAX_RECORD_BYTES = 1 << 20  # larger files are not records
CHUNK = 8 << 20


@dataclass(frozen=True)
class Entry:
    """An installed file.

    installed : fingerprints of what bgfmt puts there, and of what it had put there before.
    kept : name of the file that was there before, empty if there was none.
    """

    installed: tuple[str, ...] = ()
    kept: str = ""

    def describes(self, path: Path) -> bool:
        """Return True if `path` exists and is what bgfmt installed, by its fingerprint."""
        return os.path.lexists(path) and fingerprint(path) in self.installed


Record = dict[str, Entry]


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, or "-> " and a link's target; InstallError for anything else."""
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    if not path.is_file():
        raise InstallError(f"{path}: expected a regular file; nothing was changed")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hidden_path(path: Path) -> Path:
    """Return the hidden name under which a new file is written before it takes its place."""
    return path.with_name(f".{path.name}.bgfmt-new")


def copy_new(source: Path, target: Path, sha256: str | None = None) -> None:
    """Copy a file to a new name; InstallError if the bytes copied do not have the checksum `sha256`."""
    digest = hashlib.sha256()
    with source.open("rb") as file, storage.create(target) as sink:
        while block := file.read(CHUNK):
            digest.update(block)
            sink.write(block)
        if sha256 not in (None, digest.hexdigest()):
            raise InstallError(f"{source}: changed while it was being installed; nothing was changed there")
    target.chmod(0o644)  # gnubg may run as another user


# -- the record ----------------------------------------------------------------------------------------------


def read_record(folder: Path) -> Record:
    """Return bgfmt's record of what it installed in a folder: {file name: entry}; empty if there is none.

    InstallError if it is damaged or names a file that bgfmt would not have put into this folder; OSError if it is not
    a regular file.
    """
    path = folder / RECORD
    if not os.path.lexists(path):
        return {}
    with open(open_regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        return parse_record(file.read(MAX_RECORD_BYTES + 1), path)


def parse_record(data: bytes, path: Path) -> Record:
    """Parse bgfmt's record of what it installed in a folder; InstallError for anything that bgfmt does not write.

    path : for the error.
    """
    try:
        if len(data) > MAX_RECORD_BYTES:
            raise ValueError("the file is larger than any record of bgfmt")
        return {name: _parse_entry(name, **fields) for name, fields in json.loads(data).items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InstallError(f"{path}: the record was not written by bgfmt: {reason}") from None


def _parse_entry(name: str, installed: list[str], kept: str) -> Entry:
    """Check the fields of an entry of a record; ValueError or TypeError for what bgfmt does not write."""
    kept_name = re.fullmatch(rf"({re.escape(name + KEPT)}(-[0-9]{{1,6}})?)?", kept)
    if name not in NAMES or not isinstance(installed, list) or kept_name is None:
        raise ValueError(f"{name[:60]!r} is not a valid entry")
    return Entry(tuple(installed), kept)


def write_record(folder: Path, record: Record) -> None:
    """Write bgfmt's record of what it installed in a folder by one rename; remove the file if the record is empty."""
    if record:
        plain = {name: asdict(entry) for name, entry in record.items()}
        with storage.create(folder / RECORD, force=True) as sink:
            sink.write(json.dumps(plain, indent=1).encode() + b"\n")
        (folder / RECORD).chmod(0o644)
    else:
        (folder / RECORD).unlink(missing_ok=True)
        system.sync_folder(folder)


# -- changing a folder ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Return a context manager that locks a folder, after removing what a killed process has left there.

    InstallError if another process is changing the folder.
    """
    with contextlib.ExitStack() as stack:
        if os.name != "nt":  # folders cannot be opened on Windows
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            if system.lock(handle) is False:
                raise InstallError(f"{folder}: another process is changing it")
        for name in NAMES:
            hidden_path(folder / name).unlink(missing_ok=True)
        yield


def keep_file(path: Path) -> str:
    """Give a file a second name beside it, by a link or a copy, and return that name.

    If a file of such a name is the same already, its name is returned.
    """
    for k in count(1):
        keep = path.with_name(f"{path.name}{KEPT}{f'-{k}' * (k > 1)}")
        if not os.path.lexists(keep):
            break
        if fingerprint(keep) == fingerprint(path):
            return keep.name
    try:
        os.link(path, keep, follow_symlinks=False)
    except (OSError, NotImplementedError):  # a system without links
        copy_new(path, keep)
    return keep.name


def install_file(source: Path, path: Path, *, sha256: str, link: bool) -> str | None:
    """Install a file in a locked folder; return the name under which the previous one is kept, None without one.

    The record is written before the new file takes its place. So a killed process leaves the old file or the new
    one, and a record that describes both.

    Parameters
    ----------
    source, path : the file, and the path under which it is installed.
    sha256 : checksum of the source; InstallError if it was changed since.
    link : install a link instead of a copy.
    """
    record = read_record(path.parent)
    entry = record.get(path.name, Entry())
    kept = entry.kept
    new = hidden_path(path)
    try:
        if link:
            new.symlink_to(source)
        else:
            copy_new(source, new, sha256)
        if os.path.lexists(path) and not entry.describes(path):
            kept = keep_file(path)
        record[path.name] = Entry((*entry.installed[-1:], fingerprint(new)), kept)
        write_record(path.parent, record)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    system.sync_folder(path.parent)
    return kept or None


def uninstall_files(folder: Path, names: list[str], *, force: bool) -> list[str]:
    """Remove installed files and restore those that they replaced; return a line about each file.

    names : the files in the folder, which are in its record. force : if a file was changed since it was installed,
    keep the changed file under another name; without it, InstallError is raised.
    """
    record = read_record(folder)
    changed = [name for name in names if _has_changed(folder / name, record[name])]
    if changed and not force:
        raise InstallError(f"{folder / changed[0]}: the file has been changed since bgfmt installed it")
    lines = []
    for name in names:
        path = folder / name
        if name in changed:
            keep_file(path)
        line = f"{path}: {_restore(path, record.pop(name), changed=name in changed)}"
        beside = sorted(one.name for one in folder.glob(f"{name}{KEPT}*"))
        lines.append(line + (f"; kept next to it: {', '.join(beside)}" if beside else ""))
        system.sync_folder(folder)
        write_record(folder, record)
    return lines


def _has_changed(path: Path, entry: Entry) -> bool:
    """Return True if somebody else has changed an installed file.

    An install that was cut short leaves the file from before, of which there is a second name; an uninstall that was
    cut short leaves it without one.
    """
    if not os.path.lexists(path) or entry.describes(path):
        return False
    kept = path.with_name(entry.kept or KEPT)
    return not entry.kept or (os.path.lexists(kept) and fingerprint(kept) != fingerprint(path))


def _restore(path: Path, entry: Entry, *, changed: bool) -> str:
    """Remove an installed file, put back the one from before and return what was done."""
    kept = path.with_name(entry.kept or KEPT)
    if os.path.lexists(kept):
        os.replace(kept, path)
        kept.unlink(missing_ok=True)  # renaming a second hard link of the same file does nothing
        return "the file from before is back"
    if os.path.lexists(path) and not changed and not entry.describes(path):
        return "the file from before is back already"
    path.unlink(missing_ok=True)
    return "removed"
