"""Install verified files into GNU Backgammon's slots, uninstall them, and list what is there.

A private folder has links to the program's own data, our files, and a script that starts the program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bgfmt import storage
from bgfmt.errors import UnknownFormatError, VerificationError
from bgfmt.extras.hosts.gnubg import check as gnubg_check
from bgfmt.extras.hosts.gnubg import folder as changes
from bgfmt.extras.hosts.gnubg.check import Examination
from bgfmt.extras.hosts.gnubg.folder import SECOND_COPY, copy_new, lock_folder, read_record
from bgfmt.extras.hosts.gnubg.places import HOST_SLOTS, Place
from bgfmt.files import gnubg_folders
from bgfmt.files.gnubg_folders import HOSTS, SLOTS, InstallError
from bgfmt.storage import PathLike

LAUNCHED = ("debian", "upstream")  # hosts that a script starts; the others use an environment variable


@dataclass(frozen=True)
class Installed:
    """The result of an installation.

    replaced : the name under which the previous file is kept, None if there was none.
    start : the commands that start the program with the file.
    """

    path: Path
    slot: str
    replaced: str | None
    examination: Examination
    start: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as values for JSON: `path`, `slot`, `replaced`, `start` and `check` (the examination)."""
        facts = {name: getattr(self, name) for name in ("slot", "replaced", "start")}
        return {"path": str(self.path)} | facts | {"check": self.examination.as_dict()}


def install(
    path: PathLike,
    where: Place,
    slot: str | None = None,
    *,
    until: str | None = "recurrence",
    link: bool = False,
) -> Installed:
    """Verify a file and install it where the program of `where` looks for it; `uninstall` undoes it.

    Parameters
    ----------
    slot : name of the slot such as "ts" for gnubg_ts.bd, by default the one that the file fits best.
    until : the verification level to stop at (structure, digest, sense, recurrence, regenerate), None for no
        verification.
    link : install a link instead of a copy.

    Raises
    ------
    VerificationError : if the file is refused, with every reason and the `Examination` as `report`.
    UnknownFormatError : if it is not a database.
    InstallError : if the slot does not fit the file or the folder's record is invalid.
    PermissionError : if the folder may not be written.
    """
    source = Path(path).resolve()
    sha256 = changes.fingerprint(source) if source.is_file() else ""
    examined = gnubg_check.examine(path, until=until)
    if not examined.ok:
        reasons = f"{examined.file}: not installed: {'; '.join(examined.refusals)}"
        raise VerificationError(reasons, examined) if examined.readable else UnknownFormatError(reasons)
    slot = _slot(examined, slot, where.host)
    target = where.path(slot)
    folder = target.parent
    is_new = where.private and not folder.is_dir()
    if is_new:
        folder.mkdir(parents=True)
    if not folder.is_dir():
        raise InstallError(f"{folder}: no such folder; is {HOSTS[where.host]} installed?")
    try:
        with lock_folder(folder):
            if target.exists() and os.path.samefile(source, target) and not (link and target.is_symlink()):
                raise InstallError(f"{target}: this slot has the same file already")
            kept = changes.install_file(source, target, sha256=sha256, link=link)
            if where.host == "gnubg-nn" and slot == "os0":
                changes.install_file(source, folder / SECOND_COPY, sha256=sha256, link=link)
            if where.private:
                _prepare(where)
    except BaseException:
        if is_new:
            # a folder with an installed file stays; repeating the install completes the rest
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return Installed(target, slot, kept, examined, how_to_start(where))


def _slot(examined: Examination, slot: str | None, host: str) -> str:
    """Return the slot for a file; InstallError if it does not fit or the program would not read it rightly."""
    verdict = examined.hosts[host]
    if verdict.startswith("no"):
        raise InstallError(f"{examined.file}: {HOSTS[host]}: {verdict}")
    if slot is None:
        return examined.slots[0]
    slot = _parse_slot(slot)
    if slot not in examined.slots:
        kind = gnubg_check.KINDS[examined.kind]
        wrong = f"a {kind} file in {SLOTS[slot]} is the wrong type, gnubg would ignore it"
        raise InstallError(f"{examined.file}: not installed: {wrong}")
    return slot


def _parse_slot(slot: str) -> str:
    """Return a slot by its own name or by that of its file; InstallError if there is none."""
    short = slot.removeprefix("gnubg_").removesuffix(".bd")
    if short not in SLOTS:
        raise InstallError(f"no slot {slot!r} (known: {', '.join(SLOTS)})")
    return short


def uninstall(where: Place, slot: str | None = None, *, force: bool = False) -> list[str]:
    """Remove what bgfmt installed for a program and restore the files that it replaced; return a line for each file.

    Only files that bgfmt installed are deleted.

    where : the program's folders. slot : name of the slot such as "ts" for gnubg_ts.bd; all slots if None. force : if
    a file was changed since it was installed, keep the changed file under another name.

    InstallError if nothing was installed or, without `force`, if a file was changed since.
    """
    slots = list(SLOTS) if slot is None else [_parse_slot(slot)]
    names = {SLOTS[one] for one in slots} | ({SECOND_COPY} if "os0" in slots else set())
    lines: list[str] = []
    for folder in {where.data, where.rest}:
        if read_record(folder):
            with lock_folder(folder):
                chosen = [name for name in read_record(folder) if name in names]
                lines += changes.uninstall_files(folder, chosen, force=force)
    if not lines:
        raise InstallError(f"nothing was installed by bgfmt in {where.rest} (slots {', '.join(slots)})")
    return lines


def examine_slots(
    where: Place, *, until: str | None = "digest"
) -> Iterator[tuple[str, Path, Examination | None, bool]]:
    """Yield (slot, path, examination, whether bgfmt installed the file) for every slot of a program, such as "ts".

    The examination is None if there is no file. until : the verification level to stop at, None for no verification.
    """
    for slot in HOST_SLOTS[where.host]:
        path = where.path(slot)
        examined = None
        with contextlib.suppress(FileNotFoundError):
            examined = gnubg_check.examine(path, until=until)
        entry = read_record(path.parent).get(path.name)
        yield slot, path, examined, entry is not None and entry.describes(path)


# -- a private folder ------------------------------------------------------------------------------------


def _prepare(where: Place) -> None:
    """Fill a private folder with what the program needs besides our files: links to its own data.

    Debian's program gets a copy of its two-sided table, as the folder is mounted over the one with the table. The
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
                _bring(item.resolve(), here)
    table = rest / SLOTS["ts0"]
    here = where.rest / SLOTS["ts0"]
    ours = SLOTS["ts0"] in read_record(where.data)
    if rest != data and table.exists() and not ours and not os.path.lexists(here):
        copy_new(table, here)
    if where.host in LAUNCHED:
        launcher, text = _launcher(where)
        with storage.create(launcher, force=True) as sink:
            sink.write(text.encode())
        launcher.chmod(0o755)


def _bring(item: Path, here: Path) -> None:
    """Create a link; a copy if the system refuses links (Windows without developer mode)."""
    try:
        here.symlink_to(item, target_is_directory=item.is_dir())
    except (OSError, NotImplementedError):
        if item.is_dir():
            shutil.copytree(item, here)
        else:
            copy_new(item, here)


def _launcher(where: Place) -> tuple[Path, str]:
    """Return the path and the text of the script that starts the program with its private folder."""
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
    """Return the commands that start the program with a private folder; empty for the program's own folder."""
    if not where.private:
        return []
    if where.host in LAUNCHED:
        return [str(_launcher(where)[0])]
    return [f"{gnubg_folders.PACKAGES[where.host][0]}={where.data} python ..."]
