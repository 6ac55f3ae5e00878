"""Changing J component files exactly as J's own library does: replace components, go on with a file, upgrade it.

bgfmt itself only makes new files; these histories are what its reader and its audit are tested with.

The library's own faults are refused, not repeated: a file whose header misstates its length, a directory of no
whole number of entries, an upgrade that gives back bytes still in use.
"""

from __future__ import annotations

from collections.abc import Sequence

from bgfmt.errors import CapabilityError
from bgfmt.formats.j.container import HEADER_BYTES, V64B, Container, Version, directory_bytes
from bgfmt.formats.j.noun import E3, Form, Noun
from bgfmt.formats.j.write import Store, Writer, block_size


class Changer(Writer):
    """A component file that is changed."""

    @classmethod
    def over(cls, store: Store, file: Container, version: Version = V64B, form: Form = E3) -> Changer:
        """Go on with an existing file, upgraded first when it is of another version, as a 64-bit J would."""
        head = file.header
        if head.length != len(file.view):
            raise CapabilityError(
                f"{file.name}: the header says {head.length:,} bytes, the file has {len(file.view):,}; "
                "changing it would damage it"
            )
        if head.directory[1] % (2 * head.version.word):
            raise CapabilityError(f"{file.name}: the directory's size is no whole number of entries")
        writer = cls(store, head.version, form)
        writer.entries = [(int(p), int(s)) for p, s in file.entries]
        free, wrong = file.free_list
        if wrong:
            raise CapabilityError(wrong)
        writer.free = list(free)
        writer.calls, writer.length = head.calls or 0, head.length
        writer.directory, writer.list_at = head.directory, head.free
        if head.version is not version:
            writer._upgrade(version, file.name)
        return writer

    def replace(self, numbers: Sequence[int], nouns: Sequence[Noun]) -> None:
        """`nouns jreplace numbers`; nouns are repeated or cut to as many as there are numbers."""
        if len(set(numbers)) < len(numbers):
            raise CapabilityError("a component number given twice would lose the blocks of its first value")
        if not all(0 <= k < len(self.entries) for k in numbers):
            raise CapabilityError(f"component numbers lie in 0..{len(self.entries) - 1}")
        self._release_blocks([*(self.entries[k] for k in numbers), self.list_at])
        for i, k in enumerate(numbers):
            self.entries[k] = self._write_noun(nouns[i % len(nouns)])
            row = directory_bytes(self.version, [self.entries[k]])
            self._write_at(self.directory[0] + 2 * self.version.word * k, row)
        self._move_free_list()
        self._write_header()

    def replace_one_twice(self, k: int, nouns: Sequence[Noun]) -> None:
        """`jreplace` of one number twice: the library loses the block of the first value."""
        self._release_blocks([self.entries[k], self.list_at])
        for noun in nouns:
            self.entries[k] = self._write_noun(noun)
        row = directory_bytes(self.version, [self.entries[k]])
        self._write_at(self.directory[0] + 2 * self.version.word * k, row)
        self._move_free_list()
        self._write_header()

    def _upgrade(self, version: Version, name: str) -> None:
        """To another version, as the library does it, unless that would give back bytes in use."""
        if not self.entries:
            raise CapabilityError(
                f"{name}: J's library cannot upgrade a {self.version.name} file without components"
            )
        self.version = version
        self._release_blocks(
            [(max(HEADER_BYTES, self.directory[0]), max(HEADER_BYTES, self.directory[1])), self.list_at]
        )
        for position, size in self.entries:
            for start, length in self.free:
                if position < start + length and start < position + size:
                    raise CapabilityError(f"{name}: its upgrade would destroy the block at byte {position}")
        data = directory_bytes(version, self.entries).ljust(HEADER_BYTES, b"\0")
        self.directory = self._write_block(block_size(len(data)), [data])
        self._move_free_list()
        self._write_header()
        header = self.encode_header()
        self._write_at(0, header + bytes(max(0, HEADER_BYTES - len(header))))
