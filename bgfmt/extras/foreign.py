"""Read text and JSON of other programs: from regular files only, with one kind of error for anything invalid."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import Any

from bgfmt.storage.source import open_regular
from bgfmt.storage.system import PathLike

__all__ = ["MAX_INTEGER_DIGITS", "load_json", "load_json_rows", "open_text"]


MAX_INTEGER_DIGITS = 18  # longer JSON integers are read as floats


def open_text(path: PathLike, *, encoding: str = "utf-8") -> TextIOWrapper:
    """Open a regular file as text without newline translation; OSError at once for a FIFO, a device or a folder."""
    return open(open_regular(path), encoding=encoding, errors="replace", newline="")


def load_json(text: str | bytes) -> Any:
    """Return the value of JSON text; ValueError for invalid JSON, including the values are nested too deeply.

    Integers of more than 18 digits become floats, possibly infinite, so that every number fits into a float.
    """
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("the values are nested too deeply") from None


def load_json_rows(lines: Iterable[str]) -> Iterator[Any]:
    """Yield the values of lines of JSON; lines that are not JSON are skipped."""
    for line in lines:
        with contextlib.suppress(ValueError):
            yield load_json(line)


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= MAX_INTEGER_DIGITS else float(text)
