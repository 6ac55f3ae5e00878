"""Where bytes come from and go: sources, sinks, and files that appear whole or not at all."""

from bgfmt.storage.publish import check_output, create, create_folder
from bgfmt.storage.sink import ComparingSink, MemorySink, Sink
from bgfmt.storage.source import (
    REMOTE_OPTIONS,
    FolderSource,
    MappedSource,
    MemorySource,
    RangeSource,
    Source,
    is_url,
    open_source,
)
from bgfmt.storage.system import PathLike

__all__ = [
    "REMOTE_OPTIONS",
    "ComparingSink",
    "FolderSource",
    "MappedSource",
    "MemorySink",
    "MemorySource",
    "PathLike",
    "RangeSource",
    "Sink",
    "Source",
    "check_output",
    "create",
    "create_folder",
    "is_url",
    "open_source",
]
