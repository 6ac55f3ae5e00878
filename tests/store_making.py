"""Stores of chunks for tests, and what is done to them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.storage import chunks

BGFMT = [sys.executable, "-m", "bgfmt"]


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def chunk_files(store: Path) -> list[Path]:
    """The chunks of a store's table."""
    return sorted(path for path in (store / "equities").glob("c.*"))


def reseal(file: Path, change: Any) -> None:
    """Change the numbers of a chunk and put its checksum right."""
    content = bytearray(file.read_bytes())
    change(content)
    content[-4:] = chunks.crc32c(np.frombuffer(content[:-4], np.uint8)).to_bytes(4, "little")
    file.write_bytes(content)
