"""Compare the bytes of a J component file with those that J's library writes.

A file made at once, by `jdup` or by `jcreate` and one `jappend`, is written again and compared byte for byte. In a
file that was changed afterwards, blocks are reused, and their earlier content remains after the new bytes: there only
the nouns of the components are compared, and the bytes around them are carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from bgfmt.errors import CapabilityError, format_bytes
from bgfmt.formats.base import Fault
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import Container, directory_bytes
from bgfmt.formats.j.noun import Form, JType, Noun, Piece
from bgfmt.formats.j.write import BLANKS, HEADER_AREA_BYTES, Writer, compact
from bgfmt.storage import ComparingSink, MemorySink

LARGE_ITEMS = 1 << 16  # of a piece of a noun
SMALLEST_BLOCK = 32  # bytes; `jreplace` of one number twice loses multiples of such blocks


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


def check_container(
    file: Container, length: int, release: Callable[[], None] = lambda: None
) -> Iterator[Fault]:
    """Check the bytes of a component file: all of them if it was made at once, else the nouns of the components.

    length : bytes of the file, without what follows it. release : called after large pieces, to release mapped pages.
    Yields faults.
    """
    yield from check_structure(file, length)
    writer = _written_at_once(file)
    if writer is not None:
        sink = ComparingSink(file.view[:length])
        for size, pieces in _blocks(file, writer):
            end = sink.written + size
            for piece in pieces:
                sink.write(piece)
                if len(piece) > LARGE_ITEMS:
                    release()
            for start in range(sink.written, end, len(BLANKS)):
                sink.write(BLANKS[: end - start])
        yield from _differences(file, sink, 0, "component file")
        return
    for k, at in enumerate(file.entries[:, 0].tolist()):
        form = file.form(k)
        if form.first:
            yield from _compare_noun(file, file.noun(k), form, at, f"component {k}")
            release()
    expected = "a file that `jdup` or one `jappend` makes"
    yield Fault(0, length, "blocks", expected, "one that was changed, or of another program", True)


def check_derived(file: Container, nouns: Sequence[Noun]) -> Iterator[Fault]:
    """Check the components of a one-sided table's file that follow from the others: mean rolls and description.

    nouns : the components as bgfmt builds them from the table. Yields faults.
    """
    for k, rule in ((1, "mean rolls"), (4, "description")):
        yield from _compare_noun(file, nouns[k], file.form(k), int(file.entries[k, 0]), rule)


def _written_at_once(file: Container) -> Writer | None:
    """Return the writer, without bytes, of a file with the same blocks in the same order; None if there is none."""
    head = file.header
    for room in (None, head.directory[1] // 8):
        try:
            writer = compact(file, None, head.version, head.form, room=room)
        except CapabilityError:
            return None
        blocks = [head.directory, head.free, *map(tuple, file.entries.tolist())]
        if writer.calls == head.calls and [writer.directory, writer.list_at, *writer.entries] == blocks:
            same_form = all(file.form(k) == head.form for k in range(len(file)))
            return writer if same_form and not writer.free else None
    return None


def _blocks(file: Container, writer: Writer) -> Iterator[tuple[int, Iterable[Piece]]]:
    """Yield the blocks of a file made at once: size, and the pieces before the blanks."""
    created = MemorySink()
    Writer.create(created, writer.version, writer.form, writer.directory[1] // 8)
    header = writer.encode_header() if writer.calls else b""
    yield HEADER_AREA_BYTES, [header, bytes(created.data[len(header) : HEADER_AREA_BYTES])]
    yield writer.directory[1], [directory_bytes(writer.version, writer.entries)]
    yield writer.list_at[1], writer.free_list_pieces()
    for k, (_, size) in enumerate(writer.entries):
        yield size, jn.pieces(file.noun(k), writer.form)


def _compare_noun(file: Container, noun: Noun, form: Form, at: int, rule: str) -> Iterator[Fault]:
    """Yield the differences of the bytes at offset `at` from a noun's encoding."""
    sink = ComparingSink(file.view[at : at + jn.measure(noun, form)])
    for piece in jn.pieces(noun, form):
        sink.write(piece)
    yield from _differences(file, sink, at, rule)


def _differences(file: Container, sink: ComparingSink, at: int, rule: str) -> Iterator[Fault]:
    """Yield the differences that a sink found in the bytes from offset `at` on.

    A zero word after a literal may be missing, since J 9.8 does not write it.
    """
    runs = list(sink.runs())
    ends = set()
    for k, start in enumerate(file.entries[:, 0].tolist() if runs else []):
        noun = file.noun(k)
        if noun.type is JType.LITERAL and noun.size % file.form(k).word == 0:
            ends.add(start + noun.size)
    for offset, expected, stored in runs:
        if at + offset not in ends or any(expected):
            size = max(len(expected), len(stored))
            yield Fault(at + offset, size, rule, format_bytes(expected), format_bytes(stored))
