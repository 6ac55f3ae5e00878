"""A private folder: links to GNU Backgammon's own data, our files beside them, a script that starts the program."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from bgfmt.extras.hosts.gnubg.folder import KEPT, copy_new, read_record, write_small
from bgfmt.files.gnubg_folders import DEBIAN_STATE, PACKAGES, SLOTS, InstallError, Place, own_folders, program

LAUNCHER, WINDOWS_LAUNCHER = "start-gnubg", "start-gnubg.cmd"


def prepare(where: Place, new: list[Path]) -> None:
    """Fill a private folder with what the program needs beside our files: links to its own data.

    Debian's program gets a copy of its two-sided table: the folder is mounted over the one the table lives in. The
    folder exists and is locked. What is new there is added to `new`, for `withdraw`.
    """
    try:
        data, rest = own_folders(where.host)
    except InstallError:
        return  # not installed here: the folder still takes files

    if data.is_dir() and data.resolve() != where.data.resolve():
        for item in sorted(data.iterdir()):
            here = where.data / item.name
            if not os.path.lexists(here) and not item.name.startswith(".bgfmt") and KEPT not in item.name:
                new.append(here)
                _bring(item.resolve(), here)
    table, here = rest / SLOTS["ts0"], where.rest / SLOTS["ts0"]
    ours = SLOTS["ts0"] in read_record(where.data)
    if rest != data and table.exists() and not ours and not os.path.lexists(here):
        new.append(here)
        copy_new(table, here)
    if where.host in ("debian", "upstream"):
        launcher = where.data / _launcher(where)[0]
        if not os.path.lexists(launcher):
            new.append(launcher)
        _write_launcher(where)


def withdraw(where: Place, new: list[Path]) -> None:
    """Remove from a private folder what a failed install has put there, and the folder where it is then empty."""
    for path in reversed(new):
        with contextlib.suppress(OSError):
            where.data.rmdir() if path == where.data else _clear(path)


def _bring(item: Path, here: Path) -> None:
    """A link; where the system refuses links (Windows without developer mode) a copy."""
    try:
        here.symlink_to(item, target_is_directory=item.is_dir())
    except (OSError, NotImplementedError):
        _tree(item, here) if item.is_dir() else copy_new(item, here)


def _tree(source: Path, here: Path) -> None:
    """Copy a folder under a hidden name, then give it its own: what has the name is complete.

    The folder around it is locked; a hidden one that a killed process left is made again.
    """
    beside = here.with_name(f".{here.name}.bgfmt-part")
    _clear(beside)
    try:
        shutil.copytree(source, beside)
        os.replace(beside, here)
    except BaseException:
        _clear(beside)
        raise


def _clear(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _write_launcher(where: Place) -> None:
    name, text = _launcher(where)
    path = where.data / name
    with contextlib.suppress(OSError):
        if path.read_text() == text:
            return

    write_small(path, text.encode(), 0o755)


def _launcher(where: Place) -> tuple[str, str]:
    if os.name == "nt":
        command = program() or own_folders(where.host)[0] / "gnubg-cli.exe"
        text = f'@rem starts gnubg with the bearoff files of this folder\n@"{command}" -P "%~dp0." %*\n'
        return WINDOWS_LAUNCHER, text
    command = program() or Path("/usr/games/gnubg")
    if where.host == "debian":
        inner = f'mount --bind "$0" {DEBIAN_STATE} && exec {command} -P "$0" "$@"'
        last = f'exec unshare -rm sh -c \'{inner}\' "$folder" "$@"'
    else:
        last = f'exec "{command}" -P "$folder" "$@"'
    return LAUNCHER, (
        "#!/bin/sh\n# starts gnubg with the bearoff files of this folder\n"
        f'folder=$(cd "$(dirname "$0")" && pwd)\n{last}\n'
    )


def how_to_start(where: Place) -> list[str]:
    """What to type so that the program uses the folder; empty where it looks there by itself."""
    if not where.private:
        return []
    if where.host in ("debian", "upstream"):
        return [str(where.data / (WINDOWS_LAUNCHER if os.name == "nt" else LAUNCHER))]
    return [f"{PACKAGES[where.host][0]}={where.data} python ..."]
