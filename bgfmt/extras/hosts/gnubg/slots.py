"""Putting verified files into GNU Backgammon's slots, so that it can be undone, and telling what lies there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bgfmt.errors import UnknownFormatError, VerificationError
from bgfmt.extras.hosts.gnubg import check as gnubg_check
from bgfmt.extras.hosts.gnubg.check import Examination
from bgfmt.extras.hosts.gnubg.folder import (
    SECOND_COPY,
    Entry,
    allowed,
    changing,
    copy_new,
    digest_of,
    put_in,
    read_record,
    take_out,
    unfinished,
)  # fmt: skip
from bgfmt.extras.hosts.gnubg.private import how_to_start, prepare, withdraw
from bgfmt.files.gnubg_folders import HOST_SLOTS, HOSTS, SLOTS, InstallError, PathLike, Place


@dataclass(frozen=True)
class Installed:
    """What an installation did: the file, its slot, what it replaced, and how to start the program with it.

    finished : a line for each change that a killed process had left half done, and that was settled first.
    """

    path: Path
    slot: str
    replaced: str | None
    examination: Examination
    start: list[str]
    finished: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        facts = {name: getattr(self, name) for name in ("slot", "replaced", "start", "finished")}
        return {"path": str(self.path)} | facts | {"check": self.examination.as_dict()}


def install(
    path: PathLike,
    where: Place,
    slot: str | None = None,
    *,
    until: str | None = "recurrence",
    link: bool = False,
) -> Installed:
    """Verify a file, then put it where `where`'s program looks. Undone by `uninstall`.

    Raises
    ------
    VerificationError
        The file is refused, with every reason; its `report` is the `Examination`.
    UnknownFormatError
        The same of a file that is no database at all.
    InstallError
        The slot does not fit the file, or the folder's record is not bgfmt's; NotAllowedError: it may not be written.
    """
    source = Path(path).resolve()
    sha256 = digest_of(source) if source.is_file() else ""
    examined = gnubg_check.examine(path, until=until)
    if not examined.ok:
        reasons = f"{examined.file}: not installed: {'; '.join(examined.refusals)}"
        raise VerificationError(reasons, examined) if examined.readable else UnknownFormatError(reasons)
    slot = _slot(examined, slot, where.host)
    new: list[Path] = []
    try:
        finished, kept = _put(source, sha256, examined, where, slot, link, new)
    except BaseException:
        withdraw(where, new)
        raise
    return Installed(where.path(slot), slot, kept, examined, how_to_start(where), finished)


def _put(
    source: Path, sha256: str, examined: Examination, where: Place, slot: str, link: bool, new: list[Path]
) -> tuple[list[str], str | None]:
    """(lines about what a killed process left, name under which the file from before is kept).

    Every other path that is made in a private folder is added to `new`.
    """
    target = where.path(slot)
    folder = target.parent
    finished: list[str] = []
    if where.private:
        with allowed(where.data):
            if not where.data.is_dir():
                new.append(where.data)
            where.data.mkdir(parents=True, exist_ok=True)
        with changing(where.data) as lines:
            finished += lines
            prepare(where, new)
    if not folder.is_dir():
        raise InstallError(f"{folder}: no such folder; is {HOSTS[where.host]} installed?")
    with changing(folder) as lines:
        finished += lines
        if target.exists() and os.path.samefile(source, target):
            before = read_record(folder).get(target.name)
            if link and before is not None and before.link and before.describes(target):
                return finished, before.kept
            raise InstallError(f"{target}: is that very file already")

        def make(path: Path) -> None:
            path.symlink_to(source) if link else copy_new(source, path, sha256)

        names = [target.name, *([SECOND_COPY] if where.host == "gnubg-nn" and slot == "os0" else [])]
        return finished, put_in(folder, names, Entry(str(source), sha256, examined.size, link), make)


def _slot(examined: Examination, slot: str | None, host: str) -> str:
    verdict = examined.hosts[host]
    if verdict.startswith("no"):
        raise InstallError(f"{examined.file}: {HOSTS[host]}: {verdict}")
    if slot is None:
        fitting = [s for s in examined.slots if s in HOST_SLOTS[host]]
        if not fitting:
            raise InstallError(f"{examined.file}: {HOSTS[host]} has no slot for it")
        return fitting[0]
    slot = _known(slot)
    if slot not in examined.slots:
        kind = gnubg_check.KINDS[examined.kind]
        wrong = f"a {kind} file in {SLOTS[slot]} is the wrong type, gnubg would ignore it"
        raise InstallError(f"{examined.file}: not installed: {wrong}")
    return slot


def _known(slot: str) -> str:
    """A slot by its own name or by that of its file."""
    slot_of = {name: key for key, name in SLOTS.items()} | {f"gnubg_{key}": key for key in SLOTS}
    slot = slot_of.get(slot, slot)
    if slot not in SLOTS:
        raise InstallError(f"there is no slot {slot!r} (there are: {', '.join(SLOTS)})")
    return slot


def uninstall(where: Place, slot: str | None = None, *, force: bool = False) -> list[str]:
    """Take out what bgfmt has put in, and put back what was there; a line for each file.

    Only what bgfmt itself put there is deleted. With `force` a file that has been changed since is set aside under
    another name, and said so.

    Raises
    ------
    InstallError
        Nothing was installed there, or the file has been changed since (unless `force`).
    """
    slot = None if slot is None else _known(slot)
    slot_of = {name: key for key, name in SLOTS.items()} | {SECOND_COPY: "os0"}
    lines: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and (unfinished(folder) or read_record(folder)):
            with changing(folder) as settled:
                lines += settled
                chosen = [name for name in read_record(folder) if slot in (None, slot_of[name])]
                if chosen:
                    lines += take_out(folder, chosen, force=force)
    if not lines:
        what = "nothing" if slot is None else f"nothing in slot {slot}"
        raise InstallError(f"{what} was installed by bgfmt in {where.rest}")
    return lines


def finish(where: Place) -> list[str]:
    """Complete or undo what a killed process left half done in a program's folders; a line for each file."""
    lines: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and unfinished(folder):
            with changing(folder) as settled:
                lines += settled
    return lines


def installed(
    where: Place, *, until: str | None = "digest"
) -> Iterator[tuple[str, Path, Examination | None, bool]]:
    """(slot, path, examination or None where there is no file, whether bgfmt put it there) of every slot."""
    for slot in HOST_SLOTS[where.host]:
        path = where.path(slot)
        examined = None
        with contextlib.suppress(FileNotFoundError):
            examined = gnubg_check.examine(path, until=until)
        entry = read_record(path.parent).get(path.name)
        yield slot, path, examined, entry is not None and entry.describes(path)
