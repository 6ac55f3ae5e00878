"""Compare the bytes of a J component file with those that J's library writes.

A file made at once, by `jdup` or by `jcreate` and one `jappend`, is written again and compared byte for byte. In a
file that was changed afterwards, blocks are reused, and their earlier content remains after the new bytes: there the
nouns of header, free list and components are compared, and other bytes than blanks behind them are carried.
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
    """Check the bytes of a component file: all of them if it was made at once, else those of the nouns.

    length : bytes of the file, without what follows it. release : called after large pieces, to release mapped pages.
    Yields faults.
    """
    faults = list(check_structure(file, length))
    yield from faults
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
        if any(sink.runs()):
            yield from _differences(sink, 0, "component file", _unterminated(file))
        return
    expected = "a file that `jdup` or one `jappend` makes"
    calls = file.header.calls
    found = "another" if calls is None else f"another, of {calls:,} calls"
    yield Fault(0, 1, "blocks", expected, found, carried=calls != 0 or not len(file))
    yield from _compare_header(file)
    for k, at in enumerate(file.entries[:, 0].tolist()):
        form = file.form(k)
        if form.first:
            yield from _compare_noun(file, file.noun(k), form, at, f"component {k}")
            release()
    if all(fault.carried for fault in faults):  # blocks do not overlap
        yield from _carry_rests(file)


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


def _compare_header(file: Container) -> Iterator[Fault]:
    """Compare the nouns of a changed file's header and free list with their encodings."""
    head = file.header
    if header := _header_of(file):
        sink = ComparingSink(file.view[: len(header)])
        sink.write(header)
        yield from _differences(sink, 0, "header")
    start, size = head.free
    form = None if file.free_list[1] else jn.form_at(file.view, start, start + size, file.name)
    if form is not None and form.first:
        noun = jn.decode(file.view, start, start + size, file.name)
        yield from _compare_noun(file, noun, form, start, "free list")


def _header_of(file: Container) -> bytes:
    """Return the encoded header of a changed file; nothing for the oldest files and those without components."""
    head = file.header
    if not (head.form.first and head.items == 7 and head.calls and len(file)):
        return b""
    writer = Writer(None, head.version, head.form, calls=head.calls, length=head.length)
    writer.entries = list(map(tuple, file.entries.tolist()))
    writer.directory, writer.list_at = head.directory, head.free
    return writer.encode_header()


def _carry_rests(file: Container) -> Iterator[Fault]:
    """Yield what a changed file has in free blocks and behind the nouns of others, unless it is blank, as carried."""
    head = file.header
    end = len(_header_of(file))
    created = MemorySink()
    Writer.create(created, head.version, head.form)
    rests = (
        [("header", end, file.area)] if file.view[end : file.area] != created.data[end : file.area] else []
    )
    used = len(directory_bytes(head.version, [(0, 0)] * len(file)))
    rests.append(("directory", head.directory[0] + used, sum(head.directory)))
    rests += [("free block", start, start + size) for start, size in file.free_list[0]]
    blocks = [("free list", *head.free)] * (not file.free_list[1])
    blocks += [(f"component {k}", *block) for k, block in enumerate(file.entries.tolist())]
    for rule, start, size in blocks:
        form = jn.form_at(file.view, start, start + size, file.name)
        noun = jn.decode(file.view, start, start + size, file.name)
        rests.append((rule, _end_of(file, noun, form, start) if form.first else start, start + size))
    for rule, start, end in rests:
        rest = bytes(file.view[start:end])
        first = len(rest) - len(rest.lstrip(BLANKS[:1]))
        if first < len(rest):
            size = len(rest.rstrip(BLANKS[:1])) - first
            yield Fault(start + first, size, f"{rule}: rest of the block", "blanks", "other bytes", True)


def _compare_noun(file: Container, noun: Noun, form: Form, at: int, rule: str) -> Iterator[Fault]:
    """Yield the differences of the bytes at offset `at` from a noun's encoding."""
    end = _end_of(file, noun, form, at)
    sink = ComparingSink(file.view[at:end])
    for piece in jn.pieces(noun, form):
        sink.write(piece)
    yield from _differences(sink, at, rule, [end])


def _end_of(file: Container, noun: Noun, form: Form, at: int) -> int:
    """Return the offset of the end of a noun at offset `at`; J 9.8 writes no zero word after a literal."""
    end = at + jn.measure(noun, form)
    bare = at + form.head_bytes(len(noun.shape)) + noun.count
    short = noun.type is JType.LITERAL and end - bare == form.word and any(file.view[bare:end])
    return bare if short else end


def _unterminated(file: Container) -> list[int]:
    """Return the offsets of the blanks after literals that J 9.8 wrote, which adds no zero word to them."""
    found = []
    for k, start in enumerate(file.entries[:, 0].tolist()):
        noun = file.noun(k)
        end = start + noun.size
        word = file.form(k).word
        if (
            noun.type is JType.LITERAL
            and noun.size % word == 0
            and file.view[end : end + word] == BLANKS[:word]
        ):
            found.append(end)
    return found


def _differences(sink: ComparingSink, at: int, rule: str, without: Sequence[int] = ()) -> Iterator[Fault]:
    """Yield the differences that a sink found in the bytes from offset `at` on, except at offsets `without`."""
    for offset, expected, stored in sink.runs():
        if at + offset not in without or any(expected):
            size = max(len(expected), len(stored))
            yield Fault(at + offset, size, rule, format_bytes(expected), format_bytes(stored))
