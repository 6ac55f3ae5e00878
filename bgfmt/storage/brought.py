"""The bytes of a source from afar, brought into a file without a name and mapped."""

from __future__ import annotations

import tempfile

from bgfmt.storage import system
from bgfmt.storage.source import MappedSource, Progress, Source

STEP = 8 << 20


class Brought(MappedSource):
    """A copy of a source on the disk for temporary files, which is gone once this is closed."""

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        with system.said_of(tempfile.gettempdir()), tempfile.TemporaryFile(prefix="bgfmt-") as file:
            system.reserve(file.fileno(), source.size)
            for start in range(0, source.size, STEP):
                end = min(start + STEP, source.size)
                system.write_at(file.fileno(), source.buffer[start:end], start)
                if progress is not None:
                    progress(end, source.size)
            super().__init__(source.name, file.fileno())
        self.path = None
