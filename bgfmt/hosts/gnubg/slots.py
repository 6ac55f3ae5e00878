"""Where gnubg looks for its bearoff files, and putting ours there so that it can be undone.

Names and folders were traced with gnubg 1.07 (Debian), 1.08 and the PyPI packages; see docs/hosts/gnubg.md. Beside
the files lies `.bgfmt-installed.json`, which says for each what was put there and where the file it replaced is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bgfmt.errors import BgfmtError, VerificationError
from bgfmt.hosts.gnubg import check as gnubg_check
from bgfmt.hosts.gnubg.check import HOST_SLOTS, SLOTS, Examination
from bgfmt.storage import PathLike, create

RECORD = ".bgfmt-installed.json"
KEPT = ".before-bgfmt"
DEBIAN_DATA, DEBIAN_STATE = Path("/usr/share/gnubg"), Path("/var/lib/gnubg")
CHUNK = 8 << 20


class InstallError(BgfmtError, ValueError):
    """A file cannot be put into, or taken out of, a program's slot."""


@dataclass(frozen=True)
class Place:
    """The folders of one program: `data` holds gnubg_os0.bd and the program's other data, `rest` the other files.

    private : made by bgfmt for one user; the program has to be told to look there.
    """

    host: str
    data: Path
    rest: Path
    private: bool = False

    def path(self, slot: str) -> Path:
        """The file of a slot."""
        if slot not in HOST_SLOTS[self.host]:
            known = ", ".join(HOST_SLOTS[self.host])
            raise InstallError(f"{gnubg_check.HOSTS[self.host]} has no slot {slot!r} (it has: {known})")
        return (self.data if slot == "os0" else self.rest) / SLOTS[slot]


def detect() -> str:
    """The program most likely meant: Debian's gnubg, one built from source, a Python package."""
    if DEBIAN_STATE.is_dir():
        return "debian"
    if shutil.which("gnubg"):
        return "upstream"
    for module, host in (("gnubg", "pypi"), ("gnubg_nn", "gnubg-nn")):
        if importlib.util.find_spec(module) is not None:
            return host
    return "debian"


def place(host: str | None = None, folder: PathLike | None = None, *, user: bool = False) -> Place:
    """Where a program looks: its own folders, one folder given, or a private one of this user."""
    host = host or detect()
    if folder is not None:
        folder = Path(folder).absolute()
        own = {path.resolve() for path in _own_folders(host)} if _has(host) else set()
        return Place(host, folder, folder, private=folder.resolve() not in own)
    if user:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        home = Path(base) / "bgfmt" / host
        return Place(host, home, home, private=True)
    data, rest = stock(host)
    return Place(host, data, rest)


def _has(host: str) -> bool:
    """Whether the program is here as far as its folders tell."""
    try:
        return _own_folders(host)[0].is_dir()
    except InstallError:
        return False


def stock(host: str) -> tuple[Path, Path]:
    """The folders a program looks into by itself, its environment variables included."""
    if host == "debian":
        return DEBIAN_DATA, DEBIAN_STATE
    if host == "upstream":
        program = shutil.which("gnubg")
        prefix = Path(program).resolve().parent.parent if program else Path("/usr/local")
        return prefix / "share" / "gnubg", prefix / "share" / "gnubg"
    variable, module = ("GNUBG_DATA_DIR", "gnubg") if host == "pypi" else ("GNUBGHOME", "gnubg_nn")
    if os.environ.get(variable):
        return Path(os.environ[variable]), Path(os.environ[variable])
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise InstallError(
            f"the Python package {host} is not installed here; --dir says which folder {variable} names"
        )
    data = Path(next(iter(found.submodule_search_locations))) / "data"
    return data, data


# -- installing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Installed:
    """What an installation did: the file, its slot, what it replaced, and how to start the program with it."""

    path: Path
    slot: str
    replaced: str | None
    examination: Examination
    start: list[str]

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "slot": self.slot,
            "replaced": self.replaced,
            "start": self.start,
            "check": self.examination.as_dict(),
        }


def install(
    path: PathLike,
    where: Place,
    slot: str | None = None,
    *,
    until: str = "recurrence",
    link: bool = False,
) -> Installed:
    """Verify a file, then put it where `where`'s program looks. Undone by `uninstall`.

    Raises
    ------
    VerificationError
        The file is refused, with every reason; its `report` is the `Examination`.
    InstallError
        The slot does not fit the file, or the folder may not be written.
    """
    examined = gnubg_check.examine(path, until=until)
    if not examined.ok:
        raise VerificationError(f"{examined.file}: not installed: {'; '.join(examined.refusals)}", examined)
    slot = _slot(examined, slot, where.host)
    target = where.path(slot)
    try:
        if where.private:
            prepare(where)
    except PermissionError as error:
        raise InstallError(f"{where.data}: {error.strerror}") from None
    if not target.parent.is_dir():
        raise InstallError(f"{target.parent}: no such folder; is {gnubg_check.HOSTS[where.host]} installed?")
    if target.exists() and os.path.samefile(path, target):
        raise InstallError(f"{target}: is that very file already")
    try:
        replaced = _put(Path(path).resolve(), target, link)
        if where.host == "gnubg-nn" and slot == "os0":  # it reads a second copy under another name
            _put(Path(path).resolve(), target.with_name("gnubg_os.db"), link)
    except PermissionError as error:
        raise InstallError(
            f"{target.parent}: {error.strerror}; that needs root (sudo bgfmt gnubg install ...), or --user for a "
            "private folder without root"
        ) from None
    return Installed(target, slot, replaced, examined, how_to_start(where))


def _slot(examined: Examination, slot: str | None, host: str) -> str:
    verdict = examined.hosts[host]
    if verdict.startswith("no"):
        raise InstallError(f"{examined.file}: {gnubg_check.HOSTS[host]}: {verdict}")
    if slot is None:
        fitting = [s for s in examined.slots if s in HOST_SLOTS[host]]
        if not fitting:
            raise InstallError(f"{examined.file}: {gnubg_check.HOSTS[host]} has no slot for it")
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


def _put(source: Path, target: Path, link: bool) -> str | None:
    """Put a file in place; what was there before is kept beside it, once. Returns the kept file's name."""
    record = read_record(target.parent)
    entry = record.get(target.name)
    kept = entry.get("kept") if entry else None
    ours = entry is not None and _same(target, entry)
    if os.path.lexists(target) and not ours:
        kept = _keep(target)
    digest = _digest(source)
    record[target.name] = {
        "source": str(source),
        "sha256": digest,
        "size": source.stat().st_size,
        "link": link,
        "kept": kept,
    }
    write_record(
        target.parent, record
    )  # first: a record of what is not there yet is harmless, the reverse not
    if link:
        beside = target.with_name(f".{target.name}.{os.getpid()}.part")
        beside.unlink(missing_ok=True)
        beside.symlink_to(source)
        os.replace(beside, target)
    else:
        if target.is_symlink():
            target.unlink()  # writing must replace the link, not the file it leads to
        with source.open("rb") as file, create(target, force=True) as sink:
            while block := file.read(CHUNK):
                sink.write(block)
        target.chmod(0o644)
    return kept


def _keep(target: Path) -> str:
    kept = target.with_name(target.name + KEPT)
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = target.with_name(f"{target.name}{KEPT}-{number}")
    os.rename(target, kept)
    return kept.name


def uninstall(where: Place, slot: str | None = None, *, force: bool = False) -> list[str]:
    """Take out what bgfmt has put in, and put back what was there; a line for each file.

    Raises
    ------
    InstallError
        Nothing was installed there, or the file has been changed since (unless `force`).
    """
    names = {name: key for key, name in SLOTS.items()}
    wanted = None if slot is None else names.get(slot, slot)
    if wanted is not None and wanted not in SLOTS:
        raise InstallError(f"there is no slot {slot!r} (there are: {', '.join(SLOTS)})")
    done = []
    for folder in dict.fromkeys((where.data, where.rest)):
        record = read_record(folder)
        for name in list(record):
            key = "os0" if name == "gnubg_os.db" else names.get(name)
            if wanted in (None, key):
                try:
                    done.append(_take_out(folder, name, record, force))
                except PermissionError as error:
                    raise InstallError(f"{folder}: {error.strerror}; that needs root (sudo)") from None
    if not done:
        what = "nothing" if wanted is None else f"nothing in slot {wanted}"
        raise InstallError(f"{what} was installed by bgfmt in {where.rest}")
    return done


def _take_out(folder: Path, name: str, record: dict[str, Any], force: bool) -> str:
    entry, target = record[name], folder / name
    kept = folder / entry["kept"] if entry.get("kept") else None
    if os.path.lexists(target) and not _same(target, entry) and not force:
        raise InstallError(f"{target}: has been changed since bgfmt installed it (--force takes it out)")
    if kept is not None and os.path.lexists(kept):
        os.replace(kept, target)
        text = f"{target}: the file from before is back"
    else:
        target.unlink(missing_ok=True)
        text = f"{target}: removed"
    del record[name]
    write_record(folder, record)
    return text


def _same(target: Path, entry: dict[str, Any]) -> bool:
    """Whether the file is the one the record tells of."""
    if not target.exists():
        return False
    if entry.get("link"):
        return target.is_symlink() and str(target.resolve()) == entry["source"]
    return bool(target.stat().st_size == entry["size"] and _digest(target) == entry["sha256"])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_record(folder: Path) -> dict[str, Any]:
    """What bgfmt has installed in a folder, by file name."""
    record: Any = {}
    try:
        record = json.loads((folder / RECORD).read_text())
    except FileNotFoundError:
        pass
    except (ValueError, OSError) as error:
        raise InstallError(f"{folder / RECORD}: cannot be read: {error}") from None
    return record if isinstance(record, dict) else {}


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write it back whole, or remove it when nothing is left."""
    path = folder / RECORD
    if not record:
        path.unlink(missing_ok=True)
        return
    with create(path, force=True) as sink:
        sink.write(json.dumps(record, indent=1).encode() + b"\n")


# -- a private folder ------------------------------------------------------------------------------------


def prepare(where: Place) -> None:
    """Fill a private folder with what the program needs beside our files: links to its own data.

    Debian's program gets a copy of its two-sided table: the folder is mounted over the one the table lives in.
    """
    where.data.mkdir(parents=True, exist_ok=True)
    try:
        data, rest = _own_folders(where.host)
    except InstallError:
        return  # not installed here: the folder still takes files
    record = read_record(where.data)
    if data.is_dir() and data.resolve() != where.data.resolve():
        for item in sorted(data.iterdir()):
            here = where.data / item.name
            if not os.path.lexists(here) and not item.name.startswith(".bgfmt") and KEPT not in item.name:
                here.symlink_to(item.resolve())
    table = rest / SLOTS["ts0"]
    here = where.rest / SLOTS["ts0"]
    if rest != data and table.exists() and not os.path.lexists(here) and SLOTS["ts0"] not in record:
        shutil.copyfile(table, here)
    if where.host in ("debian", "upstream"):
        _write_launcher(where)


def _own_folders(host: str) -> tuple[Path, Path]:
    """`stock`, but never a folder that an environment variable names."""
    variable = {"pypi": "GNUBG_DATA_DIR", "gnubg-nn": "GNUBGHOME"}.get(host, "")
    saved = os.environ.pop(variable, None)
    try:
        return stock(host)
    finally:
        if saved is not None:
            os.environ[variable] = saved


def _write_launcher(where: Place) -> None:
    program = shutil.which("gnubg") or "/usr/games/gnubg"
    if where.host == "debian":
        inner = f'mount --bind "$0" {DEBIAN_STATE} && exec {program} -P "$0" "$@"'
        last = f'exec unshare -rm sh -c \'{inner}\' "$folder" "$@"'
    else:
        last = f'exec {program} -P "$folder" "$@"'
    path = where.data / "start-gnubg"
    path.write_text(
        "#!/bin/sh\n# starts gnubg with the bearoff files of this folder\n"
        f'folder=$(cd "$(dirname "$0")" && pwd)\n{last}\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def how_to_start(where: Place) -> list[str]:
    """What to type so that the program uses the folder; empty where it looks there by itself."""
    if not where.private:
        return []
    if where.host in ("debian", "upstream"):
        return [str(where.data / "start-gnubg")]
    variable = "GNUBG_DATA_DIR" if where.host == "pypi" else "GNUBGHOME"
    return [f"{variable}={where.data} python ..."]


# -- what is there now -----------------------------------------------------------------------------------


def installed(
    where: Place, *, until: str | None = "digest"
) -> Iterator[tuple[str, Path, Examination | None, bool]]:
    """(slot, path, examination or None where there is no file, whether bgfmt put it there) of every slot."""
    for slot in HOST_SLOTS[where.host]:
        path = where.path(slot)
        examined = None
        with contextlib.suppress(FileNotFoundError):
            examined = gnubg_check.examine(path, until=until)
        yield slot, path, examined, path.name in read_record(path.parent)
