"""Compare the bytes of a J component file with those that J's library writes.

A file that only grew (`jcreate`, then `jappend`) has a header area, a directory, a free list and contiguous data
blocks, and every byte besides the nouns is known: blanks, and after the header the end of the longer one that
`jcreate` wrote. In a file that was changed (`jreplace`, a directory that moved, an upgrade) blocks are reused, and
their earlier content remains after the new bytes: such bytes are carried, not known. Any number of calls can have
made a file, so that only the number that `jdup` makes indicates that nothing was changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bgfmt.errors import format_bytes
from bgfmt.formats.base import Fault
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import HEADER_BYTES, Container
from bgfmt.formats.j.noun import OFFSETS, Form, JType, Noun
from bgfmt.formats.j.write import FREE_LIST_BYTES, HEADER_AREA_BYTES, Writer, block_size, groups
from bgfmt.storage import ComparingSink, MemorySink

OLD_CONTENT = "what a reused block held before"
OLD_FORM = "form of before J 6.01"
SMALLEST_BLOCK = 32  # bytes; `jreplace` of one number twice loses multiples of such blocks
BLANK = ord(" ")


def check_container(file: Container, length: int) -> Iterator[Fault]:
    """Check the structure of a component file: header, directory, free list, and blocks apart from numbers.

    length : bytes of the file, without what follows it. Free blocks, and those that J's library lost, may contain
    anything. Yields faults.
    """
    if file.header.length != length:
        yield Fault(0, 1, "header: length", f"{length:,}", f"{file.header.length:,}")
    free, wrong = file.free_list
    if wrong:
        yield Fault(max(0, file.header.free[0]), 1, "free list", "a readable free list", wrong)
    else:
        yield from _Blocks(file, free).faults()
    for end, begin in file.gaps(length):
        lost = begin > end and (begin - end) % SMALLEST_BLOCK == 0
        what = "an overlap" if begin < end else "a lost block" if lost else "a gap"
        start = min(end, begin, length)
        yield Fault(start, max(1, abs(begin - end)), "blocks", "blocks side by side", what, lost)
    for position, size in free:
        yield Fault(position, size, "free block", "nothing", OLD_CONTENT, True)


def check_derived(file: Container, nouns: Sequence[Noun]) -> Iterator[Fault]:
    """Check the components of a one-sided table's file that follow from the others: mean rolls and description.

    nouns : the components as bgfmt builds them from the table. Yields faults.
    """
    for k, rule in ((1, "mean rolls"), (4, "description")):
        form = file.form(k)
        at = int(file.entries[k, 0])
        stored = file.noun(k)
        head = len(jn.head_of(stored, form))
        sink = ComparingSink(file.view[at + head : at + head + stored.count * form.size(stored.type)])
        for number, piece in enumerate(jn.pieces(nouns[k], form)):
            if number and len(piece) and not isinstance(piece, bytes):
                sink.write(piece)
        yield from _differences(at + head, sink, rule)


class _Blocks:
    """Checks of the blocks of one file that hold nouns, and of its directory."""

    def __init__(self, file: Container, free: list[tuple[int, int]]) -> None:
        self.file = file
        self.free = free
        self.sizes = file.entries[:, 1].tolist()
        self.calls = file.header.calls or 0
        self.jdup_calls = sum(1 for _ in groups(self.sizes))
        self.only_grown = self.calls in {min(1, len(file)), self.jdup_calls} and self._is_appended()

    def _is_appended(self) -> bool:
        """Return True if the blocks are placed as `jcreate` and `jappend` alone place them."""
        (start, size) = self.file.header.directory
        starts = self.file.entries[:, 0]
        first = HEADER_AREA_BYTES + size + FREE_LIST_BYTES
        free_list = (HEADER_AREA_BYTES + size, FREE_LIST_BYTES)
        return (
            (start, self.file.header.free, self.free) == (HEADER_AREA_BYTES, free_list, [])
            and starts.tolist() == np.cumsum([first, *self.sizes])[:-1].tolist()
        )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        """Yield the faults of header, free list, directory and components."""
        file = self.file
        head = self.file.header
        first = file.area
        if self.calls != self.jdup_calls:
            yield Fault(0, 1, "header: calls", f"{self.jdup_calls} calls", f"{self.calls}", self.calls > 0)
        if head.items == 6:
            yield Fault(0, HEADER_BYTES, "header", "7 items", "6", True)
        else:
            store = MemorySink()
            Writer.create(store, head.version, head.form)
            noun = self._header()
            end = jn.measure(noun, head.form)
            zeros = bytes(max(0, HEADER_BYTES - end))  # as an upgrade leaves the area
            rests = [
                bytes(store.data[end:HEADER_AREA_BYTES])[: max(0, first - end)],
                zeros + b" " * (first - HEADER_BYTES),
            ]
            yield from self._block("header", noun, head.form, 0, first, rests)
        start, size = head.free
        stored = jn.form_at(file.view, start, start + size, file.name)
        form = head.form if stored.first else stored
        table = jn.integers(np.array(self.free, np.int64).reshape(-1, 2))
        yield from self._block("free list", table, form, start, size)
        (start, size) = head.directory
        entry = head.version.dtype.itemsize
        if size % entry or size & (size - 1):
            odd = f"{size:,} bytes"
            yield Fault(start, size, "directory", "a block of a power of two", odd, not self.only_grown)
        used = entry * len(file)
        zeros = bytes(max(0, HEADER_BYTES - used))
        yield from self._rest("directory", start + used, start + size, [zeros + b" " * (size - HEADER_BYTES)])
        for k, (at, size) in enumerate(file.entries.tolist()):
            noun = file.noun(k)
            form = file.form(k)
            yield from self._block(f"component {k}", noun, form, at, size)
            full = jn.measure(noun, form)
            bare = full - form.word * (noun.type is JType.LITERAL)  # J 9.8 reserves no terminating zero
            if form.first and size not in (block_size(full), block_size(bare)):
                rule = f"component {k}: block"
                yield Fault(at, size, rule, f"{block_size(full):,} bytes", f"{size:,}")

    def _header(self) -> Noun:
        """Return the header noun with the file's values; a counter is a boolean as long as it is zero."""
        head = self.file.header
        items = jn.decode(self.file.view, 0, HEADER_BYTES).data
        no = jn.boolean(False)

        def number(k: int, value: object) -> Noun:
            fresh = value == 0 and items[k].type is JType.BOOLEAN
            return no if fresh else jn.integers(np.array(value, np.int64))

        row = (head.version.number, 0, len(self.file), head.length, head.directory, head.free, self.calls, 0)
        header = [no if k in (1, 7) else number(k, value) for k, value in enumerate(row[: head.items])]
        return jn.boxes(header if not len(self.file) and not self.calls else header[:7])

    def _block(
        self, what: str, noun: Noun, form: Form, at: int, size: int, rests: Sequence[bytes] = ()
    ) -> Iterator[Fault]:
        """Check a noun in its block: every byte except numeric atoms, and what follows it, as in `_rest`."""
        view = self.file.view
        end = jn.measure(noun, form)
        if not form.first:
            yield Fault(at, size, what, "a form byte", OLD_FORM, True)
            return
        if noun.type in OFFSETS or noun.at == 0:  # encoded here from the values, atoms included
            parts = {0: jn.encode(noun, form)}
        else:
            head = jn.head_of(noun, form)
            data = len(head) + noun.count * form.size(noun.type)
            if end - data == form.word and bytes(view[at + data : at + end]).strip(b"\0"):
                end = data  # a literal of J 9.8, which reserves no terminating zero
            parts = {0: head, data: bytes(end - data)}
        for offset, expected in parts.items():
            sink = ComparingSink(view[at + offset : min(at + offset + len(expected), at + size)])
            sink.write(expected)
            yield from _differences(at + offset, sink, what)
        yield from self._rest(f"{what}: rest of the block", at + end, at + size, rests)

    def _rest(self, what: str, start: int, end: int, rests: Sequence[bytes] = ()) -> Iterator[Fault]:
        """Check the bytes after a noun: blanks, one of `rests`, or, in a changed file, old content of the block."""
        rest = np.frombuffer(self.file.view[start : max(start, end)], np.uint8)
        wrong = np.flatnonzero(rest != BLANK)
        if not len(wrong) or rest.tobytes() in rests:
            return
        # leftovers of an older noun begin where the newer ends, unless it is text with a word of blanks there
        first = int(wrong[0])
        last = int(wrong[-1]) + 1
        sound = not self.only_grown or (self.calls > 1 and not rests and first < self.file.header.form.word)
        text = OLD_CONTENT if sound else format_bytes(rest[first:last].tobytes())
        yield Fault(start + first, last - first, what, "blanks", text, sound)


def _differences(at: int, sink: ComparingSink, rule: str) -> Iterator[Fault]:
    """Yield the differences that a sink found, in bytes that begin at offset `at`."""
    for offset, expected, stored in sink.runs():
        yield Fault(
            at + offset, max(len(expected), len(stored)), rule, format_bytes(expected), format_bytes(stored)
        )
