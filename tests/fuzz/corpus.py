"""Sound bytes of every kind and format, as small as they come: what the readers are given damaged copies of."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import struct
import tempfile
import zlib
from functools import cache
from pathlib import Path

from bgfmt.files.solve import solve_table
from tests.fuzz import mutations
from tests.laws.samples import ROWWISE, samples

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
QUICK = 9_000  # bytes of a file that is read many thousand times
QUICK_J = 2_600  # of a J file likewise; a larger one holds many nouns
QUICK_ROWS = 21_000  # of one of a row an entry
LARGE = 200_000
QUICK_MATCH = 900  # of a match's text, which then ends early
RECORDS = 12  # of eXtreme Gammon's archive that are kept
FILE = b"\n==> "  # before the name of each file of a folder


@cache
def scratch() -> Path:
    """A folder for the files of this process, in memory where the system has such a place."""
    shared = Path("/dev/shm")
    made = tempfile.mkdtemp(prefix="bgfmt-fuzz-", dir=shared if shared.is_dir() else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


@cache
def _files() -> tuple[tuple[str, bytes], ...]:
    """(name of the format, bytes) of files that say what they are."""
    own = [(one.format.name, one.data) for one in samples().values() if not one.described]
    golden = [
        (name.rpartition(" ")[2] if " as " in name else "jfile" if name.endswith(".ijf") else "gnubg", data)
        for name, data in mutations.seeds()
    ]
    return tuple(dict.fromkeys(own + golden))


def quick() -> list[bytes]:
    """Databases that are read in a fraction of a millisecond."""
    return [
        data
        for name, data in _files()
        if name not in ROWWISE and len(data) <= (QUICK_J if name == "jfile" else QUICK)
    ]


def rows() -> list[bytes]:
    """Databases of a row an entry, which engines of their own read."""
    return [data for name, data in _files() if name in ROWWISE and len(data) <= QUICK_ROWS]


def large() -> list[bytes]:
    """All others, up to a size."""
    few = {*quick(), *rows()}
    return [data for _, data in _files() if data not in few and len(data) <= LARGE]


def headerless() -> list[bytes]:
    """A line that describes a file without header, and the file."""
    found = []
    for one in samples().values():
        if one.described and len(one.data) <= 2 * QUICK:
            said = ",".join(f"{key}={value:d}" for key, value in one.described.items())
            found.append(f"{one.format.name}:{said}\n".encode() + one.data)
    return found


def folders() -> list[bytes]:
    """A store of chunks as `packed` makes bytes of it."""
    store = scratch() / "store"
    if not store.exists():
        solve_table("two-sided", 3, 2, store=store)
    return [packed(store)]


def packed(folder: Path) -> bytes:
    """The files below a folder as bytes."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"".join(
        FILE + str(path.relative_to(folder)).encode() + b"\n" + path.read_bytes() for path in paths
    )


def unpacked(data: bytes, folder: Path) -> None:
    """Make the folder that bytes stand for anew; a name that is none of plain letters is passed over."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for part in data.split(FILE)[1:]:
        name, _, content = part.partition(b"\n")
        text = name.decode("ascii", "replace")
        if len(text) < 60 and text.replace("/", "").replace(".", "").replace("_", "").isalnum():
            path = folder / "/".join(piece for piece in text.split("/") if piece.strip("."))
            with contextlib.suppress(OSError):  # a file and a folder of one name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def matches() -> list[bytes]:
    """Recorded matches of every format."""
    names = ["*.mat", "*.sgf", "*.gam", "*.ogxm", "*.gvab", "*.xg", "*.bgf"]
    found = [path for name in names for path in sorted((FIXTURES / "matches").glob(name))]
    return [path.read_bytes() for path in found if path.stat().st_size < 60_000]


def short_matches() -> list[bytes]:
    """The beginnings of them."""
    return [_beginning(data) for data in matches() if not data.startswith(b"{")]


def _beginning(data: bytes) -> bytes:
    if data.startswith(b"RGMH"):
        size, thumbnail = struct.unpack_from("<I8xI", data, 8)
        begin = size + thumbnail
        inner = zlib.decompressobj().decompress(data[begin:])
        return data[:begin] + zlib.compress(inner[: RECORDS * 2560], 1)
    return data[:QUICK_MATCH]
