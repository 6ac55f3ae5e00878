"""The folders in which GNU Backgammon and its Python packages look for bearoff files, on Linux, macOS and Windows.

gnubg opens its files in one folder, the package data folder; Debian's build looks for all but gnubg_os0.bd in
/var/lib/gnubg whatever its options say. ~/.gnubg and %USERPROFILE%\\.gnubg hold settings only. Linux was traced with
gnubg 1.07 (Debian), 1.08 and the PyPI packages, which look in no folder of the user; see docs/hosts/gnubg.md. Newer
builds have a data folder of the user (`user_folder`), which was not traced: bgfmt only reads tables there. On Windows
the package data folder is the folder of the program itself, on macOS PREFIX/share/gnubg as on other systems built
from source; these two follow the program's documents and were not tested.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from bgfmt.errors import BgfmtError

__all__ = ["HOSTS", "SLOTS", "InstallError", "detect", "own_folders", "stock", "user_data"]


#: slot -> file name; the name carries no meaning beyond the kind it must be
SLOTS = {slot: f"gnubg_{slot}.bd" for slot in ("os0", "ts0", "os", "ts")}
SLOTS |= {slot: f"{slot}.bd" for slot in ("hyper1", "hyper2", "hyper3")}
#: the programs that read these files
HOSTS = {
    "debian": "gnubg 1.07 of Debian and Ubuntu",
    "upstream": "gnubg 1.08 and other builds from source",
    "pypi": "the gnubg package of PyPI",
    "gnubg-nn": "the gnubg-nn package of PyPI",
}
DEBIAN_DATA, DEBIAN_STATE = Path("/usr/share/gnubg"), Path("/var/lib/gnubg")
#: PyPI package -> the environment variable that names its data folder, and its module
PACKAGES = {"pypi": ("GNUBG_DATA_DIR", "gnubg"), "gnubg-nn": ("GNUBGHOME", "gnubg_nn")}
PROGRAMS = ("gnubg", "gnubg-cli", "gnubg-no-python")
#: prefixes under which share/gnubg may lie where the program is not on PATH
PREFIXES = {
    "darwin": ("/opt/homebrew", "/usr/local", "/opt/local", "/sw"),
    "linux": ("/usr/local", "/opt/gnubg"),
}
#: folders that hold an installation on Windows, environment variables in them
WINDOWS = (
    "$ProgramFiles/gnubg", "$ProgramW6432/gnubg", "${ProgramFiles(x86)}/gnubg", "$LOCALAPPDATA/gnubg",
    "$LOCALAPPDATA/Programs/gnubg", "$SystemDrive//gnubg", "C:/Program Files/gnubg",
)  # fmt: skip


class InstallError(BgfmtError, ValueError):
    """A file cannot be installed in, or removed from, a program's slot."""


def detect() -> str:
    """Return the program most likely meant by "gnubg" on this machine, a key of `HOSTS`.

    Debian's package, another gnubg, or a Python package with gnubg's evaluator, whichever is found first.
    """
    if _system() == "linux" and DEBIAN_STATE.is_dir():
        return "debian"
    if program() is not None or any(folder.is_dir() for folder in _candidates()):
        return "upstream"
    for host, (_, module) in PACKAGES.items():
        if importlib.util.find_spec(module) is not None:
            return host
    return "debian" if _system() == "linux" else "upstream"


def stock(host: str) -> tuple[Path, Path]:
    """Return the folders in which a program looks for its database files, from its environment variable if set.

    host : a key of `HOSTS`. The first folder has gnubg_os0.bd and the program's other data, the second the other
    databases; they are the same except on Debian.
    """
    variable, _ = PACKAGES.get(host, ("", ""))
    if os.environ.get(variable):
        return Path(os.environ[variable]), Path(os.environ[variable])
    return own_folders(host)


def own_folders(host: str) -> tuple[Path, Path]:
    """Return (folder of gnubg_os0.bd and other data, folder of other databases) of a program without its variable.

    The environment variable of the program is ignored; `stock` reads it. host : a key of `HOSTS`.

    InstallError if the program is a Python package that is not installed.
    """
    if host == "debian":
        return DEBIAN_DATA, DEBIAN_STATE
    if host == "upstream":
        candidates = list(_candidates())
        data = next((folder for folder in candidates if folder.is_dir()), candidates[0])
        return data, data
    variable, module = PACKAGES[host]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        reason = f"the Python package {module} is not installed here; give its data folder in {variable}"
        raise InstallError(reason)
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    return data, data


def user_data() -> Path:
    """Return this user's folder for programs' data, such as ~/.local/share; it depends on the operating system."""
    home = Path.home()
    if _system() == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if os.environ.get("XDG_DATA_HOME"):
        return Path(os.environ["XDG_DATA_HOME"])
    return home / "Library" / "Application Support" if _system() == "darwin" else home / ".local" / "share"


def user_folder() -> Path:
    """Return gnubg's data folder of this user, such as ~/.local/share/gnubg."""
    return user_data() / "gnubg"


def program() -> Path | None:
    """Return the path of the gnubg program found on PATH, None if there is none."""
    suffix = ".exe" if _system() == "win32" else ""
    paths = (shutil.which(name + suffix) for name in PROGRAMS)
    return next((Path(path) for path in paths if path), None)


def _system() -> str:
    return "linux" if sys.platform.startswith(("linux", "freebsd", "openbsd")) else sys.platform


def _candidates() -> Iterator[Path]:
    """Package data folders of a gnubg that is not Debian's, the likeliest first."""
    installed = program()
    if _system() == "win32":
        if installed is not None:
            yield installed.parent
        yield from (Path(path) for path in map(os.path.expandvars, WINDOWS) if "$" not in path)
        return
    if installed is not None:
        yield installed.resolve().parent.parent / "share" / "gnubg"
    if _system() == "darwin":
        for folder in (Path("/Applications"), Path.home() / "Applications"):
            yield folder / "gnubg.app" / "Contents" / "Resources" / "share" / "gnubg"
    for prefix in PREFIXES.get(_system(), PREFIXES["linux"]):
        yield Path(prefix) / "share" / "gnubg"
