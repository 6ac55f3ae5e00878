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
from bgfmt.extras.hosts.gnubg import journal
from bgfmt.extras.hosts.gnubg.check import Examination
from bgfmt.extras.hosts.gnubg.content import copy_new, digest_of
from bgfmt.extras.hosts.gnubg.journal import NotAllowedError, unfinished
from bgfmt.extras.hosts.gnubg.private import how_to_start, prepare, withdraw
from bgfmt.extras.hosts.gnubg.record import (
    RECORD,
    Entry,
    Step,
    Transaction,
    free_name,
    hidden_name,
    read_record,
)
from bgfmt.files.gnubg_folders import (
    HOST_SLOTS,
    HOSTS,
    SLOTS,
    InstallError,
    PathLike,
    Place,
    detect,
    place,
    stock,
)

__all__ = [
    "InstallError",
    "Installed",
    "NotAllowedError",
    "Place",
    "detect",
    "finish",
    "how_to_start",
    "install",
    "installed",
    "place",
    "read_record",
    "stock",
    "uninstall",
]
SECOND_COPY = "gnubg_os.db"  # gnubg-nn reads its one-sided table a second time under this name


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
        return {
            "path": str(self.path),
            "slot": self.slot,
            "replaced": self.replaced,
            "start": self.start,
            "finished": self.finished,
            "check": self.examination.as_dict(),
        }


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
    made: list[Path] = []
    try:
        finished, kept = _put(source, sha256, examined, where, slot, link, made)
    except BaseException:
        withdraw(where, made)
        raise
    return Installed(where.path(slot), slot, kept, examined, how_to_start(where), finished)


def _put(
    source: Path, sha256: str, examined: Examination, where: Place, slot: str, link: bool, made: list[Path]
) -> tuple[list[str], str | None]:
    """(lines about what a killed process left, name under which the file from before is kept).

    What is made in a private folder beside the file is added to `made`.
    """
    target = where.path(slot)
    finished: list[str] = []
    if where.private:
        with journal.allowed(where.data):
            if not where.data.is_dir():
                made.append(where.data)
            where.data.mkdir(parents=True, exist_ok=True)
        with journal.changing(where.data) as settled:
            prepare(where, made)
            finished += settled
    if not target.parent.is_dir():
        raise InstallError(f"{target.parent}: no such folder; is {HOSTS[where.host]} installed?")
    names = [target.name]
    if where.host == "gnubg-nn" and slot == "os0":
        names.append(SECOND_COPY)
    with journal.changing(target.parent) as settled:
        finished += settled
        if target.exists() and os.path.samefile(source, target):
            before = read_record(target.parent).get(target.name)
            if link and before is not None and before.link and before.describes(target):
                return finished, before.kept
            raise InstallError(f"{target}: is that very file already")
        entry = Entry(str(source), sha256, examined.size, link)
        transaction = _installing(target.parent, names, entry)

        def stage(step: Step) -> None:
            hidden = target.parent / str(step.new)
            if link:
                hidden.symlink_to(source)
            else:
                copy_new(source, hidden, sha256)

        journal.carry_out(target.parent, transaction, stage)
    return finished, transaction.after[target.name].kept


def _slot(examined: Examination, slot: str | None, host: str) -> str:
    verdict = examined.hosts[host]
    if verdict.startswith("no"):
        raise InstallError(f"{examined.file}: {HOSTS[host]}: {verdict}")
    if slot is None:
        fitting = [s for s in examined.slots if s in HOST_SLOTS[host]]
        if not fitting:
            raise InstallError(f"{examined.file}: {HOSTS[host]} has no slot for it")
        return fitting[0]
    known = {name: key for key, name in SLOTS.items()} | {f"gnubg_{key}": key for key in SLOTS}
    slot = known.get(slot, slot)
    if slot not in SLOTS:
        raise InstallError(f"there is no slot {slot!r} (there are: {', '.join(SLOTS)})")
    if slot not in examined.slots:
        kind = gnubg_check.KINDS[examined.kind]
        raise InstallError(
            f"{examined.file}: not installed: a {kind} file in {SLOTS[slot]} is the wrong type, gnubg would ignore it"
        )
    return slot


def _installing(folder: Path, names: list[str], entry: Entry) -> Transaction:
    """Put one file under each of the names; what bgfmt has not put there itself is kept."""
    before = read_record(folder)
    after, steps, token = dict(before), [], hidden_name(RECORD)
    for name in names:
        old, keep = before.get(name), None
        if os.path.lexists(folder / name):
            _need_file(folder / name)
            if old is None or not old.describes(folder / name):
                keep = free_name(folder, name)
        older = old.older if old else ()
        if old and old.kept and keep:
            older = (*older, old.kept)
        kept = keep or (old.kept if old else None)
        after[name] = Entry(entry.source, entry.sha256, entry.size, entry.link, kept, older, token)
        steps.append(Step(name, hidden_name(name), keep))
    return Transaction("install", before, after, tuple(steps), token)


def _need_file(path: Path) -> None:
    if not path.is_symlink() and not path.is_file():
        raise InstallError(f"{path}: is not a file; nothing was changed")


def uninstall(where: Place, slot: str | None = None, *, force: bool = False) -> list[str]:
    """Take out what bgfmt has put in, and put back what was there; a line for each file.

    Only what bgfmt itself put there is deleted. With `force` a file that has been changed since is set aside under
    another name, and said so.

    Raises
    ------
    InstallError
        Nothing was installed there, or the file has been changed since (unless `force`).
    """
    names = {name: key for key, name in SLOTS.items()}
    wanted = None if slot is None else names.get(slot, slot)
    if wanted is not None and wanted not in SLOTS:
        raise InstallError(f"there is no slot {slot!r} (there are: {', '.join(SLOTS)})")
    done: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and (unfinished(folder) or read_record(folder)):
            with journal.changing(folder) as finished:
                done += finished
                chosen = [
                    name
                    for name in read_record(folder)
                    if wanted in (None, "os0" if name == SECOND_COPY else names.get(name))
                ]
                if chosen:
                    done += _take_out(folder, chosen, force)
    if not done:
        what = "nothing" if wanted is None else f"nothing in slot {wanted}"
        raise InstallError(f"{what} was installed by bgfmt in {where.rest}")
    return done


def _take_out(folder: Path, names: list[str], force: bool) -> list[str]:
    before = read_record(folder)
    after = {name: entry for name, entry in before.items() if name not in names}
    steps, lines = [], []
    for name in names:
        entry, target, keep = before[name], folder / name, None
        if os.path.lexists(target) and not entry.describes(target):
            if not force:
                raise InstallError(f"{target}: has been changed since bgfmt installed it")
            _need_file(target)
            keep = free_name(folder, name)
        back = entry.kept if entry.kept and os.path.lexists(folder / entry.kept) else None
        steps.append(Step(name, back, keep))
        line = f"{target}: {'the file from before is back' if back else 'removed'}"
        if entry.kept and not back:
            line += f"; the file from before, {entry.kept}, is not there any more"
        aside = [*entry.older, *([keep] if keep else [])]
        lines.append(line + (f"; kept beside it: {', '.join(aside)}" if aside else ""))
    journal.carry_out(
        folder,
        Transaction("uninstall", before, after, tuple(steps), hidden_name(RECORD)),
        lambda step: None,
    )
    return lines


def finish(where: Place) -> list[str]:
    """Complete or undo what a killed process left half done in a program's folders; a line for each file."""
    done: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and unfinished(folder):
            with journal.changing(folder) as finished:
                done += finished
    return done


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
