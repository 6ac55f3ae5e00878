"""J's component file: header, directory, free list and components, read in place.

offset            content
0                 header noun, a list of boxes: v version, s 0, c components, l length of the file, d directory
                  (position, size), f free list (position, size), q calls that changed the file
d                 c entries (`Version.entry`) of data blocks
f                 noun, integer table of (position, size) of free blocks
an entry's block  one noun; what follows it in the block has no meaning

Byte order and size of the directory's numbers depend on the version alone; each noun has its own form. Module `write`
writes such files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from construct import Struct
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, FormatError, HeaderError, TruncatedError
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.noun import FORMS, OLD_FORMS, Form, JType, Noun
from bgfmt.formats.structures import dtype_of

#: the library reads this much for the header, so no file is shorter
HEADER_BYTES = 512
MAX_NUMBER = 2.0**62  # sizes and offsets are smaller
NUMERIC_TYPES = (JType.BOOLEAN, JType.INTEGER, JType.FLOAT)  # types whose atoms are accepted as integers
HEADER_ITEMS = ("v", "s", "c", "l", "d", "f", "q")


@dataclass(frozen=True)
class Version:
    """Version of a container: its number in the header, and word size and byte order of its directory."""

    name: str
    number: int
    word: int
    order: str

    @cached_property
    def entry(self) -> Struct:
        """Structure of an entry of the directory, which describes a data block."""
        number = jn.integer_of(self.word, self.order)
        return Struct("position" / number * "of a block", "size" / number * "of the block")

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of an entry of the directory."""
        return dtype_of(self.entry)


V64B = Version("v64b", 1718235189, 8, ">")
V64L = Version("v64l", 1718235186, 8, "<")
V32B = Version("v32b", 1718235188, 4, ">")
V32L = Version("v32l", 1718235187, 4, "<")
#: J 5.03 and before: the byte order is the machine's, and the file does not state it
FJ01L = Version("fj01", 1718235185, 4, "<")
FJ01B = Version("fj01", 1718235185, 4, ">")
VERSIONS = {v.name: v for v in (V64B, V64L, V32L, V32B)}
VERSIONS_BY_NUMBER = {v.number: v for v in (*VERSIONS.values(), FJ01L)}


def looks_like(head: bytes) -> bool:
    """Return True if a file's first bytes are those of a J component file, whose header is a list of boxes."""
    if len(head) < 32:
        return False
    for form in (*FORMS.values(), *OLD_FORMS):
        noun = form.read_head(head, 0)
        is_old = form.first == 0 and noun["rank"] == 1 and (form.word == 4 or noun["flag"] == -1)
        if noun["type"] == JType.BOX and (is_old or 0 < form.first == head[0]):
            return True
    return False


@dataclass(frozen=True)
class Header:
    """Content of the header noun; `calls` is None in old files, `items` is the number of boxes.

    length : bytes of the file. directory, free : position and size of the directory and of the free list.
    """

    version: Version
    form: Form
    first: int
    components: int
    length: int
    directory: tuple[int, int]
    free: tuple[int, int]
    calls: int | None
    items: int


@dataclass(eq=False)
class Container(Sequence[Noun]):
    """Component file over its bytes: a sequence of components, decoded and checked on demand.

    view : all bytes of the file.
    name : for error messages.
    entries : (c, 2) int64, position and size of each data block; all are inside the file.
    """

    view: memoryview
    name: str
    header: Header = field(init=False)
    entries: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.header = self._header()
        if self.header.version is FJ01L:
            self._guess_order()
        else:
            self.entries = self._entries(self.header.version)
        self._check()

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, k: Any) -> Any:
        return self.noun(range(len(self))[k])

    def describe(self, k: int) -> str:
        """Describe component k (type, shape and first items) in one line."""
        return jn.describe(self.noun(k))

    def as_json(self, k: int) -> dict[str, Any]:
        """Return component k, a J noun, as values that JSON can hold; see `bgfmt.formats.j.noun.as_json`."""
        return jn.as_json(self[k])

    def noun(self, k: int) -> Noun:
        """Decode component k, which is a J noun (an array of J)."""
        position, size = map(int, self.entries[k])
        return jn.decode(self.view, position, position + size, self.name)

    def form(self, k: int) -> Form:
        """Return the binary form (word size, byte order) in which component k is encoded."""
        position, size = map(int, self.entries[k])
        return jn.form_at(self.view, position, position + size, self.name)

    @cached_property
    def free_list(self) -> tuple[list[tuple[int, int]], str]:
        """The free blocks as (position, size) in bytes, and "" or, if the list is not readable, an error text."""
        start, size = self.header.free
        try:
            if not (start >= 0 and size >= 0 and start + size <= len(self.view)):
                raise CorruptError(self.name, start, "a free list inside the file", f"{size} bytes there")
            noun = jn.decode(self.view, start, start + size, self.name)
            if len(noun.shape) != 2 or noun.shape[1] != 2 or (numbers := _integers_of(noun)) is None:
                raise CorruptError(self.name, start, "a free list, a table of two columns", str(noun))
        except FormatError as error:
            return [], str(error)
        return list(zip(numbers[::2], numbers[1::2], strict=True)), ""

    @property
    def end(self) -> int:
        """Offset at which the component file ends, at most the size of the whole file.

        That is the end of its last block, or the length stated in the header if larger.
        """
        last = int(self.entries.sum(axis=1).max(initial=0))
        blocks = (sum(self.header.directory), sum(self.header.free), self.header.length, last)
        return min(len(self.view), max(blocks))

    @property
    def blocks(self) -> list[list[int]]:
        """[position, size] in bytes of all blocks after the header area, in order of position."""
        rows = [self.header.directory, self.header.free, *self.free_list[0]]
        return sorted([*map(list, rows), *self.entries.tolist()])

    @property
    def area(self) -> int:
        """Size in bytes of the area that the header occupies at the beginning of the file."""
        return next((size for size in (1024, 512, 256) if size <= self.blocks[0][0]), 256)

    def gaps(self, length: int) -> list[tuple[int, int]]:
        """Return (end, next begin) of adjacent blocks that leave a gap or overlap.

        The header area and the end of the file, `length`, count as blocks.
        """
        ends = [self.area, *(position + size for position, size in self.blocks)]
        begins = [*(position for position, _ in self.blocks), length]
        return [(end, begin) for end, begin in zip(ends, begins, strict=True) if end != begin]

    def is_tiled(self) -> bool:
        """Return True if header area, directory, free list and all blocks cover the file without gap or overlap."""
        return not self.free_list[1] and not self.gaps(len(self.view))

    # -- reading the header and directory ---------------------------------------------------------------

    def _header(self) -> Header:
        size = len(self.view)
        if size < HEADER_BYTES:
            raise TruncatedError(self.name, HEADER_BYTES, size, "header of a J component file")
        form = jn.form_at(self.view, 0, HEADER_BYTES, self.name)
        noun = jn.decode(self.view, 0, HEADER_BYTES, self.name)
        if noun.type is not JType.BOX or len(noun.shape) != 1 or not 6 <= noun.count <= 8:
            raise HeaderError(self.name, "header", 0, "a list of 6 to 8 boxes", str(noun))
        values = []
        for k, name in enumerate(HEADER_ITEMS[: noun.count]):
            numbers = _integers_of(noun.data[k])
            if numbers is None or len(numbers) != (2 if name in "df" else 1):
                what = "two whole numbers for d and f, else one"
                raise HeaderError(self.name, name, noun.at, what, str(noun.data[k]))
            values.append(numbers)
        number, first, components, length, directory, free = values[:6]
        version = VERSIONS_BY_NUMBER.get(number[0])
        if version is None:
            names = ", ".join(f"{v.number} ({v.name})" for v in VERSIONS_BY_NUMBER.values())
            raise HeaderError(self.name, "v", noun.at, f"one of {names}", number[0])
        if components[0] < 0 or min(directory) < 0:
            numbers = components + directory
            raise HeaderError(self.name, "c or d", noun.at, "no negative number", numbers)
        calls = values[6][0] if len(values) > 6 else None
        pairs = (directory[0], directory[1]), (free[0], free[1])
        return Header(version, form, first[0], components[0], length[0], *pairs, calls, noun.count)

    def _entries(self, version: Version) -> NDArray[np.int64]:
        (start, size) = self.header.directory
        count = self.header.components
        needed = count * version.dtype.itemsize
        if needed > size:
            raise CorruptError(self.name, start, f"a directory of {count:,} entries", f"{size:,} bytes")
        if start + size > len(self.view):
            raise TruncatedError(self.name, start + size, len(self.view), "directory")
        entries = np.frombuffer(self.view[start : start + needed], version.dtype)
        return np.stack([entries["position"], entries["size"]], axis=1, dtype=np.int64)

    def _guess_order(self) -> None:
        """Set the byte order of the directory: big-endian if all positions are inside and the blocks tile the file.

        The library guesses by the same rule.
        """
        self.entries = self._entries(FJ01B)
        positions = self.entries[:, 0]
        inside = len(self) and positions.min() >= 0 and positions.max() <= self.header.length
        if inside and self.is_tiled():
            self.header = replace(self.header, version=FJ01B)
        else:
            self.entries = self._entries(FJ01L)

    def _check(self) -> None:
        """Check that all blocks are inside the file; a stated length beyond it means that the file is truncated."""
        total = len(self.view)
        if self.header.length > total and not self.is_tiled():
            raise TruncatedError(self.name, self.header.length, total, "component file")
        position = self.entries[:, 0]
        length = self.entries[:, 1]
        wrong = (position < 0) | (length < 0) | (position > total - length)
        if wrong.any():
            k = int(wrong.argmax())
            at = self.header.directory[0] + k * self.header.version.dtype.itemsize
            inside = f"a block inside the file for component {k}"
            raise CorruptError(self.name, at, inside, f"{length[k]} at {position[k]}")


def _integers_of(noun: Noun) -> list[int] | None:
    """Return the integers of a noun, or None if it has other atoms; floats are rounded down, as by the library."""
    values = np.asarray(noun.data).reshape(-1).tolist() if noun.type in NUMERIC_TYPES else [MAX_NUMBER]
    return [int(value // 1) for value in values] if all(abs(value) < MAX_NUMBER for value in values) else None


def directory_bytes(version: Version, entries: list[tuple[int, int]]) -> bytes:
    """Encode the entries of a directory, (position, size) of each block, for a version of the format."""
    return np.array(entries, version.dtype).tobytes()
