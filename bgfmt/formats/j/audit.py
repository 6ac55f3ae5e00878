"""Which bytes of a J component file its library writes, and which it leaves behind.

A file that only grew (`jcreate`, then `jappend`) has a header area, a directory, a free list and data blocks one
behind the other, and every byte beside the nouns is known: blanks, and behind the header the end of the longer one
that `jcreate` wrote. In a file that was changed (`jreplace`, a directory that moved, an upgrade) blocks are used
again, and what stood in them before stays behind the new bytes: it is carried, not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.formats.base import Fault, shown
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import HEAD, VERSIONS, Container
from bgfmt.formats.j.noun import OFFSETS, Form, JType, Noun
from bgfmt.formats.j.write import AREA, FREE, Writer, block_size, compact
from bgfmt.storage import ComparingSink, MemorySink

MOST_COMPARED = 64 << 20
REMAINS = "what a reused block held before"
OLD_FORM = "form of before J 6.01"


def container(file: Container, length: int) -> Iterator[Fault]:
    """Account for header, directory, free list, and what is in the blocks beside the atoms of the nouns.

    length : bytes of the file, without what follows it.
    """
    grown = _grown(file)
    if not grown and _compacted(file, length):
        return
    yield from _header(file, length, grown)
    yield from _directory(file, grown)
    yield from _free_list(file, grown)
    yield from _cover(file, length)
    for k, (at, size) in enumerate(file.entries.tolist()):
        yield from _noun(file, file.noun(k), file.form(k), at, size, grown, f"component {k}")


def derived(file: Container, nouns: Sequence[Noun]) -> Iterator[Fault]:
    """The components of a whole one-sided table that follow from the others: mean rolls and description."""
    for k in (1, 4):
        form, at, stored = file.form(k), int(file.entries[k, 0]), file.noun(k)
        head = len(jn.head_of(stored, form))
        sink = ComparingSink(file.view[at + head : at + head + stored.count * form.size(stored.type)])
        for number, piece in enumerate(jn.pieces(nouns[k], form)):
            if number and len(piece) and not isinstance(piece, bytes):
                sink.write(piece)
        for offset, expected, found in sink.runs():
            rule = "mean rolls" if k == 1 else "description"
            yield Fault(
                at + head + offset, max(len(expected), len(found)), rule, shown(expected), shown(found)
            )


# -- the whole -------------------------------------------------------------------------------------------


def _grown(file: Container) -> bool:
    """Whether the blocks lie as `jcreate` and `jappend` alone leave them."""
    start, size = file.header.directory
    if start != AREA or file.header.free != (AREA + size, FREE):
        return False
    try:
        if file.free_rows:
            return False
    except BgfmtError:
        return False
    at = AREA + size + FREE
    starts, ends = file.entries[:, 0], file.entries.sum(axis=1)
    return bool(np.array_equal(starts, np.concatenate([[at], ends[:-1]])[: len(starts)]))


def _compacted(file: Container, length: int) -> bool:
    """Whether a file is just what `jdup` makes of its components, as it is for many of them."""
    version = VERSIONS.get(file.header.version.name)
    if length > MOST_COMPARED or version is None or not len(file):
        return False
    form, store = file.form(0), MemorySink()
    if not form.first:
        return False
    try:
        compact([file.noun(k) for k in range(len(file))], store, version, form)
    except CapabilityError:
        return False
    return store.data == file.view[:length]


def _cover(file: Container, length: int) -> Iterator[Fault]:
    """Blocks cover the file without gap and without overlap; free blocks may hold anything."""
    try:
        free = file.free_rows
    except BgfmtError:
        free = []
    blocks = file.blocks(free)
    at = int(blocks[0, 0])
    if at not in (256, 512, AREA):
        yield Fault(0, 1, "header area", f"a first block at {AREA}", f"one at {at}")
    for position, size in blocks.tolist():
        if position != at:
            what = "a gap" if position > at else "an overlap"
            yield Fault(min(at, position), max(1, abs(position - at)), "blocks", "blocks side by side", what)
        at = position + size
    if at != length:
        yield Fault(min(at, length), max(1, abs(length - at)), "blocks", f"an end at {length:,}", f"{at:,}")
    for position, size in free:
        yield Fault(position, size, "free block", "nothing", REMAINS, True)


# -- its parts -------------------------------------------------------------------------------------------


def _header(file: Container, length: int, grown: bool) -> Iterator[Fault]:
    """The header noun as the library writes it for what it says, and the area behind it."""
    head = file.header
    if head.length != length:
        yield Fault(0, 1, "header: length", f"{length:,}", f"{head.length:,}")
    if not head.form.first:
        yield Fault(0, HEAD, "header", "a form byte", OLD_FORM, True)
        return
    calls, count = head.calls or 0, len(file)
    if grown and not (calls == count == 0 or 1 <= calls <= count):
        yield Fault(0, 1, "header: calls", f"1 to {count} calls", f"{calls}")
    elif grown and count and calls != _groups(file):
        yield Fault(0, 1, "header: calls", f"{_groups(file)} calls", f"{calls}", True)
    noun = _header_noun(file)
    if noun is None:
        yield Fault(0, HEAD, "header", "7 items", f"{head.items}", True)
        return
    first = int(file.blocks([])[0, 0])
    area = bytes(file.view[:first])
    store = MemorySink()
    Writer.create(store, head.version, head.form)
    behind = bytes(store.data[len(noun) : AREA])[: max(0, first - len(noun))]
    cleared = bytes(max(0, HEAD - len(noun))) + b" " * max(0, first - HEAD)
    rest = area[len(noun) :]
    same = rest == behind or (not grown and rest == cleared)
    yield from _differences(0, noun, area[: len(noun)], "header")
    if not same:
        carried = not grown and first != AREA
        for fault in _differences(len(noun), behind, rest, "header area"):
            yield Fault(fault.offset, fault.size, fault.rule, fault.expected, fault.found, carried)


def _header_noun(file: Container) -> bytes | None:
    """The header noun of these values: of eight items in a file just created, else of seven."""
    head = file.header
    fresh = head.items == 8
    if head.items < 7 or (fresh and (len(file) or head.calls)):
        return None
    no = jn.boolean(False)

    def count(value: int) -> Noun:
        return no if fresh else jn.integers(np.array(value, np.int64))

    pairs = [jn.integers(np.array(row, np.int64)) for row in (head.directory, head.free)]
    numbers = [jn.integers(np.array(v, np.int64)) for v in (head.version.number, head.length)]
    items = [numbers[0], no, count(len(file)), numbers[1], *pairs, count(head.calls or 0)]
    return jn.encode(jn.boxes([*items, no] if fresh else items), head.form)


def _groups(file: Container) -> int:
    """Calls that `jdup` takes for these blocks: groups of up to 1000 nouns and 100,000 bytes."""
    groups = total = members = 0
    for _, size in file.entries.tolist():
        if not members or members >= 1000 or total + size > 100_000:
            groups, total, members = groups + 1, 0, 0
        total, members = total + size, members + 1
    return groups


def _directory(file: Container, grown: bool) -> Iterator[Fault]:
    """What follows the entries; the entries themselves must cover the file."""
    (start, size), entry = file.header.directory, 2 * file.header.version.word
    if size % entry or size & (size - 1):
        yield Fault(start, size, "directory", "a block of a power of two", f"{size:,} bytes", not grown)
    used = start + entry * len(file)
    rest = bytes(file.view[used : start + size])
    cleared = max(0, HEAD - entry * len(file))
    if rest.strip(b" ") and (grown or rest != bytes(cleared) + b" " * (len(rest) - cleared)):
        yield Fault(used, len(rest), "directory", "blanks", REMAINS, not grown)


def _free_list(file: Container, grown: bool) -> Iterator[Fault]:
    start, size = file.header.free
    try:
        rows = file.free_rows
    except BgfmtError as error:
        yield Fault(max(0, start), 1, "free list", "a readable free list", str(error))
        return
    table = jn.integers(np.array(rows, np.int64).reshape(-1, 2))
    stored = bytes(file.view[start : start + size])
    form = Form(stored[0], file.header.form.word, file.header.form.order) if stored else file.header.form
    if not form.first:
        yield Fault(start, size, "free list", "a form byte", OLD_FORM, True)
        return
    wanted = jn.encode(table, file.header.form)
    yield from _differences(start, wanted, stored[: len(wanted)], "free list")
    yield from _behind(file, start + len(wanted), start + size, grown, "free list")


def _noun(
    file: Container, noun: Noun, form: Form, at: int, size: int, grown: bool, what: str
) -> Iterator[Fault]:
    """A component: the words before its atoms, the padding behind them, and the rest of its block."""
    if not form.first:
        yield Fault(at, size, what, "a form byte", OLD_FORM, True)
        return
    if noun.type in OFFSETS:
        wanted = jn.encode(noun, form)
        yield from _differences(at, wanted, bytes(file.view[at : at + len(wanted)]), what)
        end = len(wanted)
    else:
        head = jn.head_of(noun, form)
        yield from _differences(at, head, bytes(file.view[at : at + len(head)]), what)
        data = len(head) + noun.count * form.size(noun.type)
        end = jn.measure(noun, form).size
        padding = bytes(file.view[at + data : min(at + end, at + size)])
        bare = -data % form.word  # to the end of the word; J 9.8 leaves no room for a terminating zero
        if padding != bytes(end - data) and (padding[:bare].strip(b"\0") or padding[bare:].strip(b" ")):
            yield Fault(at + data, max(1, len(padding)), f"{what}: padding", "zeros", shown(padding))
    if block_size(end) != size and not (noun.type is JType.LITERAL and block_size(end - form.word) == size):
        yield Fault(at, size, f"{what}: block", f"{block_size(end):,} bytes", f"{size:,}")
    yield from _behind(file, at + end, at + size, grown, what)


def _behind(file: Container, start: int, end: int, grown: bool, what: str) -> Iterator[Fault]:
    """The rest of a block: blanks, or in a changed file what it held before."""
    if end <= start:
        return
    rest = np.frombuffer(file.view[start:end], np.uint8)
    wrong = np.flatnonzero(rest != 32)
    if len(wrong):
        first, last = int(wrong[0]), int(wrong[-1])
        found = REMAINS if not grown else shown(rest[first : last + 1].tobytes())
        yield Fault(start + first, last - first + 1, f"{what}: rest of the block", "blanks", found, not grown)


def _differences(at: int, wanted: bytes, found: bytes, rule: str) -> Iterator[Fault]:
    sink = ComparingSink(memoryview(found))
    sink.write(wanted)
    for offset, expected, there in sink.runs():
        yield Fault(at + offset, max(len(expected), len(there)), rule, shown(expected), shown(there))
