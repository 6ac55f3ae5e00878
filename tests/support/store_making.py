"""Stores of chunks for tests, and what is done to them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bgfmt
from bgfmt.extras.large import chunks
from bgfmt.files.solve import solve_table

BGFMT = [sys.executable, "-m", "bgfmt"]


def whole(path: Path) -> Path:
    """A whole store of 5x4."""
    solve_table("two-sided", 5, 4, store=path)
    return path


def files(folder: Path) -> dict[str, Path]:
    """Files of one machine's threads, in memory."""
    return {f"6x{c}": bgfmt.solve("two-sided", 6, c, folder / f"6x{c}.bd") for c in (5, 7)}


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
