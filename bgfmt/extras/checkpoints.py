"""Rows of text in a checkpoint file, each with a checksum, from which an interrupted run resumes.

The first line says what the rows are of. Every other line is a row, a space, and the CRC-32 of the row's bytes
in eight hexadecimal digits. An incomplete last line is what a killed process leaves, and is cut off.
"""

from __future__ import annotations

import os
import zlib
from typing import Self, TextIO

from bgfmt.errors import ScratchError
from bgfmt.storage.publish import create
from bgfmt.storage.source import open_regular
from bgfmt.storage.system import PathLike

__all__ = ["SEAL_CHARACTERS", "RowFile", "read_rows", "seal"]


SEAL_CHARACTERS = 9  # a space and a checksum


def seal(row: str) -> str:
    """Return a row of a checkpoint file followed by its CRC-32, as it is written in a line.

    >>> seal("[1, 2]")
    '[1, 2] 61c9e7ff'
    """
    return f"{row} {zlib.crc32(row.encode()):08x}"


def read_rows(path: PathLike, head: str) -> list[str]:
    """Read the rows of a checkpoint file, without their checksums and without an incomplete last line.

    head : the expected first line. ScratchError if the file has another one (reason ``"foreign"``), or if a row
    before the last has a wrong checksum (``"damaged"``); FileNotFoundError if there is no file.
    """
    name = os.fspath(path)
    with open(open_regular(path), encoding="utf-8", errors="replace", newline="\n") as file:
        text = file.read()
    first, *lines = text.split("\n")
    if first != head or not lines:
        raise ScratchError(name, "foreign", f"expected rows of {head!r}, found {first[:80]!r}")
    if lines[-1] == "":
        lines.pop()
    rows = []
    for number, line in enumerate(lines, 2):
        row = line[:-SEAL_CHARACTERS]
        if seal(row) == line:
            rows.append(row)
        elif number <= len(lines):
            raise ScratchError(name, "damaged", f"line {number} differs from what was written: {line[:60]!r}")
    return rows


class RowFile:
    """A checkpoint file of rows, open for appending, and in `rows` those it has. A context manager.

    Parameters
    ----------
    path, head
        The file and its first line.
    anew
        Drop the rows of an interrupted run; otherwise they are read, with the errors of `read_rows`.
    """

    def __init__(self, path: PathLike, head: str, *, anew: bool = False) -> None:
        self.path = os.fspath(path)
        self.rows: list[str] = []
        if not anew and os.path.lexists(self.path):
            self.rows = read_rows(self.path, head)
        with create(self.path, force=True) as sink:
            sink.write("".join(f"{line}\n" for line in [head, *map(seal, self.rows)]).encode())
        self._file: TextIO = open(self.path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115

    def add(self, row: str) -> None:
        """Add a row of text at the end of the checkpoint file and flush it to the system."""
        self.rows.append(row)
        self._file.write(seal(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
