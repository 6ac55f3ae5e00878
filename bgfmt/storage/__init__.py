"""Sources and sinks of bytes, and atomic creation of files."""

# `__all__` is made of what is imported here, which mypy and ruff do not see
# mypy: implicit-reexport
# ruff: noqa: F401, PLE0604
from bgfmt.storage.publish import check_output, create
from bgfmt.storage.sink import ComparingSink, MemorySink, Sink
from bgfmt.storage.source import (
    MappedSource,
    MemorySource,
    RangeSource,
    Scheme,
    Source,
    is_address,
    is_url,
    open_source,
    source_options,
)
from bgfmt.storage.system import PathLike

_FUNCTIONS = ("check_output", "create", "is_address", "is_url", "open_source", "source_options")
__all__ = [*(name for name in dir() if name[0].isupper()), *_FUNCTIONS]
