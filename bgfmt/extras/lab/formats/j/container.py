"""J's component file: header, directory, free list and components, read in place.

offset            content
0                 header noun, a list of boxes: v version, s 0, c components, l length of the file, d directory
                  (position, size), f free list (position, size), q calls that changed the file
d                 c entries (position, size) of data blocks, numbers as the version says
f                 noun, integer table of (position, size) of free blocks
an entry's block  one noun; what follows it in the block means nothing

Order and size of the directory's numbers depend on the version alone, the nouns each carry their own form. The
writer is `write`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CorruptError, FormatError, HeaderError, TruncatedError
from bgfmt.extras.lab.formats.j import noun as jn
from bgfmt.extras.lab.formats.j.noun import FORMS, OLD_FORMS, Form, JType, Noun

#: the library reads this much to get at the header, so no file is shorter
HEAD = 512
MOST = 2.0**62  # no size or place is as large
PLAIN = (JType.BOOLEAN, JType.INTEGER, JType.FLOAT)  # types whose atoms may stand for whole numbers
ITEMS = ("v", "s", "c", "l", "d", "f", "q")


@dataclass(frozen=True)
class Version:
    """A container version: its number in the header and the numbers of its directory."""

    name: str
    number: int
    word: int
    order: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numbers of the directory as an array sees them."""
        return np.dtype(f"{self.order}i{self.word}")


V64B = Version("v64b", 1718235189, 8, ">")
V64L = Version("v64l", 1718235186, 8, "<")
V32B = Version("v32b", 1718235188, 4, ">")
V32L = Version("v32l", 1718235187, 4, "<")
#: J 5.03 and before: the order is the machine's, and the file does not say which
FJ01L, FJ01B = Version("fj01", 1718235185, 4, "<"), Version("fj01", 1718235185, 4, ">")
VERSIONS = {v.name: v for v in (V64B, V64L, V32L, V32B)}
NUMBERS = {v.number: v for v in (*VERSIONS.values(), FJ01L)}


def looks_like(head: bytes) -> bool:
    """Whether a file's first bytes are those of a component file's header noun, a list of boxes."""
    if len(head) < 32:
        return False
    for form in (*FORMS.values(), *OLD_FORMS):
        first, second, _, rank = form.words(4).unpack_from(head)
        kind, flag = (second, True) if form.first else (first, form.word == 4 or second == -1)
        if kind == JType.BOX and flag and (head[0] == form.first if form.first else rank == 1):
            return True
    return False


@dataclass(frozen=True)
class Header:
    """What the header noun says; `calls` is None in old files, `items` their number."""

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
    """A component file over its bytes: its components, decoded and checked when asked for.

    view : all bytes of the file.
    name : for messages.
    entries : (c, 2) int64, position and size of each data block; all lie inside the file.
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
        self._check(*self.header.directory)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return self.noun(range(len(self))[k], whole=True)

    def describe(self, k: int) -> str:
        """One line on component k."""
        return jn.describe(self.noun(k))

    def as_json(self, k: int) -> dict[str, Any]:
        """All of component k as plain values."""
        return jn.as_json(self[k])

    def noun(self, k: int, whole: bool = False) -> Noun:
        """Component k; with `whole` everything inside it is checked now."""
        position, size = map(int, self.entries[k])
        return jn.decode(self.view, position, position + size, self.name, whole)

    def form(self, k: int) -> Form:
        position, size = map(int, self.entries[k])
        return jn.form_at(self.view, position, position + size, self.name)

    @cached_property
    def free_rows(self) -> list[tuple[int, int]]:
        """The free blocks; CorruptError when there is no readable free list."""
        start, size = self.header.free
        if not (start >= 0 and size >= 0 and start + size <= len(self.view)):
            raise CorruptError(self.name, start, "a free list inside the file", f"{size} bytes there")
        noun = jn.decode(self.view, start, start + size, self.name)
        if noun.type not in PLAIN or len(noun.shape) != 2 or noun.shape[1] != 2:
            raise CorruptError(self.name, start, "a free list, a table of two columns", str(noun))
        if noun.type is JType.FLOAT and not (np.abs(noun.data) < MOST).all():
            raise CorruptError(self.name, start, "a free list of whole numbers", "others")
        return [(int(p), int(s)) for p, s in noun.data.reshape(-1, 2).tolist()]

    @property
    def end(self) -> int:
        """Where the last block ends, or the length the header says if that is more (but never past the file)."""
        last = int(self.entries.sum(axis=1).max(initial=0))
        blocks = (sum(self.header.directory), sum(self.header.free), self.header.length, last)
        return min(len(self.view), max(blocks))

    def problems(self) -> list[str]:
        """Faults that reading survives and that J's library would run into when it changes the file."""
        head, size = self.header, len(self.view)
        faults = []
        if head.length != size:
            said = f"the header says {head.length:,} bytes, the file has {size:,}"
            faults.append(f"{said}: changing it would damage it")
        if head.directory[1] % (2 * head.version.word):
            faults.append(f"the directory's {head.directory[1]} bytes are no whole number of entries")
        try:
            blocks = self.blocks(self.free_rows)
        except FormatError as error:
            return [*faults, f"no readable free list ({error}): it can be read but not changed"]
        over = np.flatnonzero(blocks[1:, 0] < blocks[:-1].sum(axis=1))
        return faults + [f"two blocks overlap at byte {blocks[1 + int(k), 0]}" for k in over[:1]]

    def blocks(self, free: list[tuple[int, int]]) -> NDArray[np.int64]:
        """All blocks behind the header area, (m, 2), sorted by position."""
        rows = [self.header.directory, self.header.free, *free]
        small = [(min(max(p, -1), 1 << 60), min(max(s, 0), 1 << 60)) for p, s in rows]
        every = np.concatenate([np.array(small, np.int64).reshape(-1, 2), self.entries])
        return every[np.lexsort((every[:, 1], every[:, 0]))]

    def tiles(self) -> bool:
        """Whether header area, directory, free list, data and free blocks cover the file without gap or overlap."""
        try:
            blocks = self.blocks(self.free_rows)
        except FormatError:
            return False
        ends = [int(blocks[0, 0]), *blocks.sum(axis=1).tolist()]
        side_by_side = blocks[:, 0].tolist() == ends[:-1]
        return side_by_side and ends[0] in (256, 512, 1024) and ends[-1] == len(self.view)

    # -- reading the header and directory ---------------------------------------------------------------

    def _header(self) -> Header:
        size = len(self.view)
        if size < HEAD:
            raise TruncatedError(self.name, HEAD, size, "header of a J component file")
        form = jn.form_at(self.view, 0, HEAD, self.name)
        noun = jn.decode(self.view, 0, HEAD, self.name)
        if noun.type is not JType.BOX or len(noun.shape) != 1 or not 6 <= noun.count <= 8:
            raise HeaderError(self.name, "header", 0, "a list of 6 to 8 boxes", str(noun))
        values = [self._item(noun, k, name) for k, name in enumerate(ITEMS[: noun.count])]
        number, first, components, length, directory, free = values[:6]
        version = NUMBERS.get(number[0])
        if version is None:
            names = ", ".join(f"{v.number} ({v.name})" for v in NUMBERS.values())
            raise HeaderError(self.name, "v", noun.data.place(0), f"one of {names}", number[0])
        if components[0] < 0 or min(directory) < 0:
            numbers = components + directory
            raise HeaderError(self.name, "c or d", noun.data.place(2), "no negative number", numbers)
        calls = values[6][0] if len(values) > 6 else None
        pairs = (directory[0], directory[1]), (free[0], free[1])
        return Header(version, form, first[0], components[0], length[0], *pairs, calls, noun.count)

    def _item(self, noun: Noun, k: int, name: str) -> list[int]:
        """Item k of the header: one whole number, two for d and f; the library floors floats, so do we."""
        item, count = noun.data[k], 2 if name in "df" else 1
        values = np.asarray(item.data).reshape(-1).tolist() if item.type in PLAIN else []
        if len(values) != count or not all(abs(value) < MOST for value in values):
            what = "two whole numbers" if count == 2 else "a whole number"
            raise HeaderError(self.name, name, noun.data.place(k), what, str(item))
        return [int(value // 1) for value in values]

    def _entries(self, version: Version) -> NDArray[np.int64]:
        (start, size), count = self.header.directory, self.header.components
        needed = count * 2 * version.word
        if needed > size:
            room = f"a directory with room for {count:,} entries"
            raise CorruptError(self.name, start, room, f"{size:,} bytes")
        if start + needed > len(self.view):
            raise TruncatedError(self.name, start + needed, len(self.view), "directory")
        flat = np.frombuffer(self.view[start : start + needed], version.dtype)
        return flat.astype(np.int64).reshape(-1, 2)

    def _guess_order(self) -> None:
        """BE unless a position exceeds the length or the blocks do not tile the file: as the library guesses."""
        self.entries = self._entries(FJ01B)
        positions = self.entries[:, 0]
        inside = len(self) and positions.min() >= 0 and positions.max() <= self.header.length
        if inside and self.tiles():
            self.header = replace(self.header, version=FJ01B)
        else:
            self.entries = self._entries(FJ01L)

    def _check(self, start: int, size: int) -> None:
        """Every block that reading needs lies inside the file, and a length beyond it is no cut-off end."""
        total, entry = len(self.view), 2 * self.header.version.word
        position, length = self.entries[:, 0], self.entries[:, 1]
        wrong = (position < 0) | (length < 0) | (position > total) | (length > total - position)
        if wrong.any():
            k = int(wrong.argmax())
            at, long = int(position[k]), int(length[k])
            if min(at, long) >= 0 and at + long <= self.header.length:
                raise TruncatedError(self.name, at + long, total, f"block of component {k}")
            inside = f"a block inside the file for component {k}"
            raise CorruptError(self.name, start + k * entry, inside, f"{long} at {at}")
        if self.header.length > total and not self.tiles():
            raise TruncatedError(self.name, self.header.length, total, "component file")
        if start + size > total:
            raise TruncatedError(self.name, start + size, total, "directory")


def directory_bytes(version: Version, entries: list[tuple[int, int]]) -> bytes:
    """The entries of a directory as its version writes them."""
    return np.array(entries, version.dtype).tobytes()
