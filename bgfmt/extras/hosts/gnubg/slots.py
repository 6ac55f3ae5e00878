"""Putting verified files into GNU Backgammon's slots, so that it can be undone, and telling what lies there.

A private folder has links to the program's own data, our files beside them, and a script that starts the program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bgfmt.errors import UnknownFormatError, VerificationError
from bgfmt.extras.hosts.gnubg import check as gnubg_check
from bgfmt.extras.hosts.gnubg import folder as changes
from bgfmt.extras.hosts.gnubg.check import Examination
from bgfmt.extras.hosts.gnubg.folder import SECOND_COPY, changing, copy_new, read_record
from bgfmt.files import gnubg_folders
from bgfmt.files.gnubg_folders import HOST_SLOTS, HOSTS, SLOTS, InstallError, PathLike, Place
from bgfmt.storage import publish

SLOT_OF = {name: slot for slot, name in SLOTS.items()}
LAUNCHED = ("debian", "upstream")  # hosts that a script starts; the others are told by a variable


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
    finished: list[str]

    def as_dict(self) -> dict[str, Any]:
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

    VerificationError where the file is refused, with every reason and the `Examination` as `report`;
    UnknownFormatError where it is no database at all; InstallError where the slot does not fit the file or the
    folder's record is not bgfmt's; NotAllowedError where the folder may not be written.
    """
    source = Path(path).resolve()
    sha256 = changes.digest_of(source) if source.is_file() else ""
    examined = gnubg_check.examine(path, until=until)
    if not examined.ok:
        reasons = f"{examined.file}: not installed: {'; '.join(examined.refusals)}"
        raise VerificationError(reasons, examined) if examined.readable else UnknownFormatError(reasons)
    slot = _slot(examined, slot, where.host)
    target = where.path(slot)
    folder = target.parent

    def make(new: Path) -> None:
        new.symlink_to(source) if link else copy_new(source, new, sha256)

    with contextlib.ExitStack() as undo:  # what a failed install has put into a private folder leaves again
        if where.private:
            with changes.allowed(folder):
                if not folder.is_dir():
                    undo.callback(_remove_empty, folder)
                folder.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            raise InstallError(f"{folder}: no such folder; is {HOSTS[where.host]} installed?")
        with changing(folder) as finished:
            if where.private:
                _prepare(where, undo)
            if target.exists() and os.path.samefile(source, target):
                before = read_record(folder).get(target.name)
                if not link or before is None or not before.link or not before.describes(target):
                    raise InstallError(f"{target}: is that very file already")
                kept = before.kept
            else:
                names = [target.name, *[SECOND_COPY] * (where.host == "gnubg-nn" and slot == "os0")]
                kept = changes.put_in(
                    folder, names, changes.Entry(str(source), sha256, examined.size, link), make
                )
        undo.pop_all()
    return Installed(target, slot, kept, examined, how_to_start(where), finished)


def _slot(examined: Examination, slot: str | None, host: str) -> str:
    verdict = examined.hosts[host]
    if verdict.startswith("no"):
        raise InstallError(f"{examined.file}: {HOSTS[host]}: {verdict}")
    if slot is None:
        slot = next((one for one in examined.slots if one in HOST_SLOTS[host]), None)
        if slot is None:
            raise InstallError(f"{examined.file}: {HOSTS[host]} has no slot for it")
        return slot
    slot = _known(slot)
    if slot not in examined.slots:
        kind = gnubg_check.KINDS[examined.kind]
        wrong = f"a {kind} file in {SLOTS[slot]} is the wrong type, gnubg would ignore it"
        raise InstallError(f"{examined.file}: not installed: {wrong}")
    return slot


def _known(slot: str) -> str:
    """A slot by its own name or by that of its file."""
    slot = (SLOT_OF | {f"gnubg_{key}": key for key in SLOTS}).get(slot, slot)
    if slot not in SLOTS:
        raise InstallError(f"there is no slot {slot!r} (there are: {', '.join(SLOTS)})")
    return slot


def uninstall(where: Place, slot: str | None = None, *, force: bool = False) -> list[str]:
    """Take out what bgfmt has put in, and put back what was there; a line for each file.

    Only what bgfmt itself put there is deleted. With `force` a file that has been changed since is set aside under
    another name. InstallError where nothing was installed, or, without `force`, the file has been changed since.
    """
    slot = None if slot is None else _known(slot)
    slot_of = SLOT_OF | {SECOND_COPY: "os0"}
    lines: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and (changes.unfinished(folder) or read_record(folder)):
            with changing(folder) as settled:
                lines += settled
                chosen = [name for name in read_record(folder) if slot in (None, slot_of[name])]
                if chosen:
                    lines += changes.take_out(folder, chosen, force=force)
    if not lines:
        what = "nothing" if slot is None else f"nothing in slot {slot}"
        raise InstallError(f"{what} was installed by bgfmt in {where.rest}")
    return lines


def finish(where: Place) -> list[str]:
    """Complete or undo what a killed process left half done in a program's folders; a line for each file."""
    lines: list[str] = []
    for folder in where.folders:
        if folder.is_dir() and changes.unfinished(folder):
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


# -- a private folder ------------------------------------------------------------------------------------


def _prepare(where: Place, undo: contextlib.ExitStack) -> None:
    """Fill a private folder with what the program needs beside our files: links to its own data.

    Debian's program gets a copy of its two-sided table: the folder is mounted over the one the table lives in. The
    folder exists and is locked.
    """
    try:
        data, rest = gnubg_folders.own_folders(where.host)
    except InstallError:
        return  # not installed here: the folder still takes files
    if data.is_dir() and data.resolve() != where.data.resolve():
        for item in sorted(data.iterdir()):
            here = where.data / item.name
            other = item.name.startswith(".bgfmt") or changes.KEPT in item.name
            if not other and not os.path.lexists(here):
                undo.callback(_clear, here)
                _bring(item.resolve(), here)
    table = rest / SLOTS["ts0"]
    here = where.rest / SLOTS["ts0"]
    ours = SLOTS["ts0"] in read_record(where.data)
    if rest != data and table.exists() and not ours and not os.path.lexists(here):
        undo.callback(_clear, here)
        copy_new(table, here)
    if where.host in LAUNCHED:
        launcher, text = _launcher(where)
        if not os.path.lexists(launcher):
            undo.callback(_clear, launcher)
        changes.write_small(launcher, text.encode(), 0o755)


def _bring(item: Path, here: Path) -> None:
    """A link; where the system refuses links (Windows without developer mode) a copy."""
    try:
        here.symlink_to(item, target_is_directory=item.is_dir())
    except (OSError, NotImplementedError):
        if item.is_dir():
            publish.recover_folder(here)
            with publish.new_folder(here, force=False) as made:
                shutil.copytree(item, made, dirs_exist_ok=True)
        else:
            copy_new(item, here)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _clear(path: Path) -> None:
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _launcher(where: Place) -> tuple[Path, str]:
    """The script that starts the program with its private folder, and what stands in it."""
    if os.name == "nt":
        command = gnubg_folders.program() or gnubg_folders.own_folders(where.host)[0] / "gnubg-cli.exe"
        text = f'@rem starts gnubg with the bearoff files of this folder\n@"{command}" -P "%~dp0." %*\n'
        return where.data / "start-gnubg.cmd", text
    command = gnubg_folders.program() or Path("/usr/games/gnubg")
    last = f'exec "{command}" -P "$folder" "$@"'
    if where.host == "debian":
        inner = f'mount --bind "$0" {gnubg_folders.DEBIAN_STATE} && exec {command} -P "$0" "$@"'
        last = f'exec unshare -rm sh -c \'{inner}\' "$folder" "$@"'
    return where.data / "start-gnubg", (
        "#!/bin/sh\n# starts gnubg with the bearoff files of this folder\n"
        f'folder=$(cd "$(dirname "$0")" && pwd)\n{last}\n'
    )


def how_to_start(where: Place) -> list[str]:
    """What to type so that the program uses the folder; empty where it looks there by itself."""
    if not where.private:
        return []
    if where.host in LAUNCHED:
        return [str(_launcher(where)[0])]
    return [f"{gnubg_folders.PACKAGES[where.host][0]}={where.data} python ..."]
