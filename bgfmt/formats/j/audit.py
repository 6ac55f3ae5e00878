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
from bgfmt.formats.j.noun import Form, JType, Noun
from bgfmt.formats.j.write import FREE_LIST_BYTES, HEADER_AREA_BYTES, Writer, block_size, groups
from bgfmt.storage import ComparingSink, MemorySink

OLD_CONTENT = "what a reused block held before"
SMALLEST_BLOCK = 32  # bytes; `jreplace` of one number twice loses multiples of such blocks
BLANK = ord(" ")


def check_structure(file: Container, length: int) -> Iterator[Fault]:
    """Check that a component file of this length in bytes is one that J's library can change without damage.

    Yields faults; blocks that J's library lost are carried.
    """
    head = file.header
    if head.length != length:
        yield Fault(0, 1, "header: length", f"{length:,} bytes", f"{head.length:,} bytes")
    start, size = head.directory
    if size % head.version.dtype.itemsize:
        yield Fault(start, size, "directory", "a whole number of entries", f"{size:,} bytes")
    if wrong := file.free_list[1]:
        yield Fault(max(0, head.free[0]), 1, "free list", "a readable free list", wrong)
        return
    for end, begin in file.gaps(length):
        lost = begin > end and (begin - end) % SMALLEST_BLOCK == 0
        what = "an overlap" if begin < end else "a lost block" if lost else "a gap"
        start = min(end, begin, length)
        yield Fault(start, max(1, abs(begin - end)), "blocks", "blocks side by side", what, lost)


def check_container(file: Container, length: int) -> Iterator[Fault]:
    """Check every byte of a component file besides numbers: header, directory, free list, heads and rests of blocks.

    length : bytes of the file, without what follows it. Free blocks may contain anything. Yields faults.
    """
    yield from check_structure(file, length)
    free, wrong = file.free_list
    if not wrong:
        yield from _Blocks(file).faults()
    for position, size in free:
        yield Fault(position, size, "free block", "nothing", OLD_CONTENT, True)


def check_derived(file: Container, nouns: Sequence[Noun]) -> Iterator[Fault]:
    """Check the components of a one-sided table's file that follow from the others: mean rolls and description.

    nouns : the components as bgfmt builds them from the table. Yields faults.
    """
    for k, rule in ((1, "mean rolls"), (4, "description")):
        at = int(file.entries[k, 0])
        yield from _compare_noun(file, nouns[k], file.form(k), at, file.noun(k).size, rule)


class _Blocks:
    """Checks of the blocks of one file that hold nouns, and of its directory."""

    def __init__(self, file: Container) -> None:
        self.file = file
        head = file.header
        self.calls = head.calls or 0
        self.jdup_calls = sum(1 for _ in groups(file.entries[:, 1].tolist()))
        # as `jcreate` and `jappend` alone place the blocks
        self.only_grown = (
            self.calls in {min(1, len(file)), self.jdup_calls}
            and file.blocks == [list(head.directory), list(head.free), *file.entries.tolist()]
            and (file.area, head.free[1]) == (HEADER_AREA_BYTES, FREE_LIST_BYTES)
            and not file.gaps(sum(file.blocks[-1]))
        )

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
            rests = [bytes(store.data[end:first]), zeros + b" " * (first - HEADER_BYTES)]
            yield from self._block("header", noun, head.form, 0, first, rests)
        start, size = head.free
        stored = jn.form_at(file.view, start, start + size, file.name)
        form = head.form if stored.first else stored
        table = jn.integers(np.array(file.free_list[0], np.int64).reshape(-1, 2))
        yield from self._block("free list", table, form, start, size)
        start, size = head.directory
        if size & (size - 1):
            odd = f"{size:,} bytes"
            yield Fault(start, size, "directory", "a block of a power of two", odd, not self.only_grown)
        used = head.version.dtype.itemsize * len(file)
        zeros = bytes(max(0, HEADER_BYTES - used))
        yield from self._rest("directory", start + used, start + size, [zeros + b" " * (size - HEADER_BYTES)])
        for k, (at, size) in enumerate(file.entries.tolist()):
            noun = file.noun(k)
            form = file.form(k)
            yield from self._block(f"component {k}", noun, form, at, size)
            full = block_size(jn.measure(noun, form))
            bare = block_size(noun.size) if noun.type is JType.LITERAL else full  # without the zero, as J 9.8
            if form.first and size not in (full, bare):
                yield Fault(at, size, f"component {k}: block", f"{full:,} bytes", f"{size:,}")

    def _header(self) -> Noun:
        """Return the header noun with the file's values; a counter is a boolean as long as it is zero."""
        head = self.file.header
        items = jn.decode(self.file.view, 0, HEADER_BYTES).data
        values = (
            head.version.number,
            0,
            len(self.file),
            head.length,
            head.directory,
            head.free,
            self.calls,
            0,
        )
        nouns = []
        for k, value in enumerate(values[: head.items]):
            fresh = value == 0 and (k in (1, 7) or items[k].type is JType.BOOLEAN)
            nouns.append(jn.boolean(False) if fresh else jn.integers(value))
        return jn.boxes(nouns if not len(self.file) and not self.calls else nouns[:7])

    def _block(
        self, what: str, noun: Noun, form: Form, at: int, size: int, rests: Sequence[bytes] = ()
    ) -> Iterator[Fault]:
        """Check a noun in its block, and what follows it, as in `_rest`."""
        if not form.first:
            yield Fault(at, size, what, "a form byte", "form of before J 6.01", True)
            return
        end = jn.measure(noun, form)
        if noun.type is JType.LITERAL and any(self.file.view[at + noun.size : at + end]):
            end = noun.size + (-noun.size) % form.word  # of J 9.8, which reserves no terminating zero
        yield from _compare_noun(self.file, noun, form, at, end, what)
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


def _compare_noun(file: Container, noun: Noun, form: Form, at: int, size: int, rule: str) -> Iterator[Fault]:
    """Yield the differences of `size` bytes at offset `at` from the first ones of a noun's encoding."""
    sink = ComparingSink(file.view[at : at + size])
    for piece in jn.pieces(noun, form):
        sink.write(piece)
    for offset, expected, stored in sink.runs():
        if offset < size:
            long = max(len(expected), len(stored))
            yield Fault(at + offset, long, rule, format_bytes(expected), format_bytes(stored))
