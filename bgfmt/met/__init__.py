"""Match equity tables: those that come with bgfmt, GNU Backgammon's XML and eXtreme Gammon's `.met`.

>>> met = load()
>>> met.name, met.length, met.mwc((2, 1), after_crawford=True)
('Kazaross-XG2', 25, 0.48803)
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from bgfmt.errors import CapabilityError, CorruptError, suggest_nearest
from bgfmt.met.model import MAX_AWAY, Met

DEFAULT = "Kazaross-XG2"
#: file names in `data/met` without suffix; `zadeh` is a file of parameters, see `bgfmt.met.parameters`
SHIPPED = ("Kazaross-XG2", "Rockwell-Kazaross", "Kazaross-Shaw", "g11", "mec26", "zadeh")
MAX_FILE_BYTES = 1 << 20

__all__ = ["DEFAULT", "MAX_AWAY", "Met", "load", "names", "read"]


def names() -> tuple[str, ...]:
    """Return the names of the match equity tables that come with bgfmt, the default first."""
    return SHIPPED


def load(name: str | os.PathLike[str] = DEFAULT, *, extend: bool = False) -> Met:
    """Load a match equity table by name or from a file.

    Parameters
    ----------
    name
        One of `names()`, in any case, or the path of an XML or `.met` file.
    extend
        Let the table answer scores beyond its length, up to 64-away, by a normal approximation.

    Raises
    ------
    CapabilityError
        `name` is neither the name of a table nor a file.
    FormatError
        The file holds no match equity table.
    """
    text = os.fspath(name)
    shipped = {table.lower(): table for table in SHIPPED}.get(text.lower().removesuffix(".xml"))
    if shipped is not None and not (text.lower().endswith(".xml") and Path(text).exists()):
        data = Path(__file__).parents[1].joinpath("data", "met", f"{shipped}.xml").read_bytes()
        return read(data, f"{shipped}.xml", shipped, extend=extend)
    path = Path(text)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        near = suggest_nearest(text, SHIPPED)
        raise CapabilityError(
            f"no match equity table {text!r}{near}; expected a file or one of {', '.join(SHIPPED)}"
        ) from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{text}: not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        expected = f"a match equity table of at most {MAX_FILE_BYTES:,} bytes"
        raise CorruptError(text, MAX_FILE_BYTES, expected, f"{status.st_size:,}")
    return read(path.read_bytes(), text, path.stem, extend=extend)


def read(data: bytes, source: str = "<bytes>", name: str = "", *, extend: bool = False) -> Met:
    """Parse a match equity table: gnubg's XML or eXtreme Gammon's INI (`.met`), as the first character shows.

    Parameters
    ----------
    data
        The contents of the file.
    source
        What error messages call the file.
    name
        The short name of the table; `source` if empty.
    extend
        Let the table answer scores beyond its length, up to 64-away, by a normal approximation.

    Raises
    ------
    FormatError
        `data` is neither XML nor INI, or holds no match equity table.
    """
    from bgfmt.met import gnubg_xml, ini

    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    name = name or source
    if start == b"<" or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return gnubg_xml.read(data, source, name, extend=extend)
    if start in (b"[", b";"):
        return ini.read(data, source, name, extend=extend)
    raise CorruptError(source, 0, "a match equity table, XML or INI", data[:16])
