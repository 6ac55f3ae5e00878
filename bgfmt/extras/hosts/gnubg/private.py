"""A private folder: links to GNU Backgammon's own data, our files beside them, a script that starts the program."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from bgfmt.extras.hosts.gnubg.installed import KEPT, copy_new, read_record
from bgfmt.files.gnubg_folders import DEBIAN_STATE, PACKAGES, SLOTS, InstallError, Place, own_folders, program

LAUNCHER, WINDOWS_LAUNCHER = "start-gnubg", "start-gnubg.cmd"


def prepare(where: Place, made: list[Path]) -> None:
    """Fill a private folder with what the program needs beside our files: links to its own data.

    Debian's program gets a copy of its two-sided table: the folder is mounted over the one the table lives in. The
    folder exists and is locked. What is new there is added to `made`, for `withdraw`.
    """
    try:
        data, rest = own_folders(where.host)
    except InstallError:
        return  # not installed here: the folder still takes files

    if data.is_dir() and data.resolve() != where.data.resolve():
        for item in sorted(data.iterdir()):
            here = where.data / item.name
            if not os.path.lexists(here) and not item.name.startswith(".bgfmt") and KEPT not in item.name:
                made.append(here)
                _bring(item.resolve(), here)
    table, here = rest / SLOTS["ts0"], where.rest / SLOTS["ts0"]
    if (
        rest != data
        and table.exists()
        and not os.path.lexists(here)
        and SLOTS["ts0"] not in read_record(where.data)
    ):
        made.append(here)
        _whole(here, lambda path: copy_new(table, path))
    if where.host in ("debian", "upstream"):
        launcher = where.data / _launcher(where)[0]
        if not os.path.lexists(launcher):
            made.append(launcher)
        _write_launcher(where)


def withdraw(where: Place, made: list[Path]) -> None:
    """Take out again what was made in a private folder, where nothing came of the installing.

    The folder itself goes only when nothing else is in it.
    """
    for path in reversed(made):
        with contextlib.suppress(OSError):
            where.data.rmdir() if path == where.data else _clear(path)


def _bring(item: Path, here: Path) -> None:
    """A link; where the system refuses links (Windows without developer mode) a copy."""
    try:
        here.symlink_to(item, target_is_directory=item.is_dir())
    except (OSError, NotImplementedError):
        if item.is_dir():
            _whole(here, lambda path: shutil.copytree(item, path))
        else:
            _whole(here, lambda path: copy_new(item, path))


def _whole(here: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write under a hidden name, then give it its own: what has the name is complete.

    The folder is locked; a hidden file that a killed process left is made again.
    """
    beside = here.with_name(f".{here.name}.bgfmt-part")
    _clear(beside)
    try:
        make(beside)
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

    def write(beside: Path) -> None:
        beside.write_text(text)
        beside.chmod(beside.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    _whole(path, write)


def _launcher(where: Place) -> tuple[str, str]:
    if os.name == "nt":
        command = program() or own_folders(where.host)[0] / "gnubg-cli.exe"
        return (
            WINDOWS_LAUNCHER,
            f'@rem starts gnubg with the bearoff files of this folder\n@"{command}" -P "%~dp0." %*\n',
        )
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
