"""What the record and the journal of a folder say, every name in them checked.

Only names that bgfmt itself would have chosen are accepted: nothing outside the folder, nothing beside our own files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bgfmt.extras.hosts.gnubg.content import digest_of, read_small
from bgfmt.files.gnubg_folders import SLOTS, InstallError

RECORD = ".bgfmt-installed.json"
JOURNAL = ".bgfmt-journal.json"
KEPT = ".before-bgfmt"
NAMES = (*SLOTS.values(), "gnubg_os.db")
_KEPT = r"{0}\.before-bgfmt(-[0-9]{{1,6}})?"  # {0}: the file's own name
_HIDDEN = r"\.{0}\.bgfmt-[0-9a-f]{{16}}"
_SHA256 = re.compile(r"[0-9a-f]{64}")


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


def read_transaction(value: Any, path: Path) -> Transaction:
    """A journal's content; InstallError for anything that bgfmt does not write."""
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
    """A name that is not in use, for what is not in place yet."""
    return f".{name.lstrip('.')}.bgfmt-{secrets.token_hex(8)}"
