"""The C reader on damaged files: a status, never a crash."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.c.tests.conftest import CORRUPT, GOLDEN, OPEN, SANITIZE, SHORT, UNKNOWN, status_of


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["os_p03.bd", "os_p03_g.bd", "os_p03_c.bd", "os_p03_nd.bd", "ts_03x03.bd", "hyper1.bd"]
)
def test_cut_short(dump: Callable[..., tuple[bytes, str]], tmp_path: Path, name: str) -> None:
    data, file = (GOLDEN / name).read_bytes(), tmp_path / "cut.bd"
    for size in (len(data) - 1, len(data) // 2, 41, 40, 39, 20):
        file.write_bytes(data[:size])
        assert status_of(dump(file)) == SHORT, size
    for size in (0, 3):
        file.write_bytes(data[:size])
        assert status_of(dump(file)) == UNKNOWN


def test_damaged_index(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    file = tmp_path / "bad.bd"
    for at, value in (
        (40 + 8 * 100 + 3, 0x7F),
        (40 + 8 * 100 + 4, 33),
        (40 + 8 * 100 + 5, 31),
        (40 + 8 * 100 + 7, 255),
    ):
        data = bytearray((GOLDEN / "os_p03.bd").read_bytes())
        data[at] = value
        file.write_bytes(data)
        assert status_of(dump(file)) == CORRUPT


def test_not_a_file(dump: Callable[..., tuple[bytes, str]], tmp_path: Path) -> None:
    assert status_of(dump(tmp_path / "missing.bd")) == OPEN
    assert status_of(dump(tmp_path)) == OPEN
    os.mkfifo(tmp_path / "pipe")
    assert status_of(dump(tmp_path / "pipe")) == OPEN
    (tmp_path / "text").write_text("not a table at all, but long enough to have been one")
    assert status_of(dump(tmp_path / "text")) == UNKNOWN


@pytest.mark.slow
def test_mutants(build: Callable[..., Path]) -> None:
    """BGFMT_C_MUTANTS sets how many; see the Makefile's `fuzz` for hours of them."""
    number = os.environ.get("BGFMT_C_MUTANTS", "3000")
    small = [path for path in sorted(GOLDEN.glob("*.bd")) if path.stat().st_size < 120_000]
    program = build("tests/fuzz.c", *SANITIZE)
    done = subprocess.run([program, number, "1", *small], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    assert f"{number} mutants" in done.stdout
