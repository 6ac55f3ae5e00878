"""The folders of one program, and its files by slot."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bgfmt.files.gnubg_folders import HOSTS, SLOTS, InstallError, detect, own_folders, stock, user_data
from bgfmt.storage import PathLike

#: the slots that each program looks for
HOST_SLOTS = dict.fromkeys(HOSTS, tuple(SLOTS)) | {"gnubg-nn": ("os0", "ts0")}


@dataclass(frozen=True)
class Place:
    """The folders of one program: `data` holds gnubg_os0.bd and the program's other data, `rest` the other files.

    private : made by bgfmt for one user; the program must be configured to look there.
    """

    host: str
    data: Path
    rest: Path
    private: bool = False

    def path(self, slot: str) -> Path:
        """Return the path of a slot, a short name such as "os0" for a file that the program looks for (gnubg_os0.bd).

        slot : os0, ts0, os, ts, hyper1, hyper2 or hyper3 (a key of `SLOTS`). InstallError if the program has no such
        slot.
        """
        if slot not in HOST_SLOTS[self.host]:
            known = ", ".join(HOST_SLOTS[self.host])
            raise InstallError(f"{HOSTS[self.host]} has no slot {slot!r} (it has: {known})")
        return (self.data if slot == "os0" else self.rest) / SLOTS[slot]


def place(host: str | None = None, folder: PathLike | None = None, *, user: bool = False) -> Place:
    """Return the folders in which a program looks for bearoff files.

    Parameters
    ----------
    host : the program, a key of `HOSTS`; by default the one that is most likely installed.
    folder : use this folder instead of the program's own.
    user : use a private folder of this user instead.
    """
    host = host or detect()
    if folder is not None:
        folder = Path(folder).absolute()
        own: tuple[Path, ...] = ()
        with suppress(InstallError):
            own = own_folders(host)
        private = folder.resolve() not in [path.resolve() for path in own if path.is_dir()]
        return Place(host, folder, folder, private)
    if user:
        home = user_data() / "bgfmt" / host
        return Place(host, home, home, private=True)
    return Place(host, *stock(host))
