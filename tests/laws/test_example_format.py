"""The format of docs/add-a-format.md: written, recognised, read, converted back, and its errors."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bgfmt
from bgfmt import formats
from bgfmt.errors import FormatError, HeaderError, LossError, TruncatedError
from bgfmt.files.database import read_source
from bgfmt.storage import Source
from tests.conftest import GOLDEN, ROOT

NAME = "gnubg-huge"


def read_code() -> str:
    """Return the module that the page shows."""
    page = (ROOT / "docs/add-a-format.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return str(code)


@pytest.fixture(autouse=True)
def example() -> Iterator[None]:
    """Register the format of the page for one test."""
    module: dict[str, object] = {"__name__": "gnubg_huge"}
    exec(compile(read_code(), "docs/add-a-format.md", "exec"), module)
    form = module["GnubgHuge"]
    assert isinstance(form, type)
    formats.FORMATS.enter(NAME, form())
    yield
    formats.FORMATS.remove(NAME)


def test_the_example_passes_ruff(oracle: Callable[[str], str]) -> None:
    """Its style is that of the formats of bgfmt."""
    oracle("py:ruff")
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check"], ["format", "--check"]):
        words = [*ruff, *command, "--no-cache", "--stdin-filename", "bgfmt/formats/gnubg_huge.py", "-"]
        done = subprocess.run(words, cwd=ROOT, input=read_code(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("points", [1, 2, 3])
def test_there_and_back(points: int, tmp_path: Path) -> None:
    source = GOLDEN / f"gnubg/os_p0{points}_g.bd"
    bgfmt.convert(source, tmp_path / "huge.bd", to=NAME)
    data = (tmp_path / "huge.bd").read_bytes()
    assert data[:22] == f"{points:02d}{'x' * 19}\n".encode()
    with bgfmt.open(tmp_path / "huge.bd") as db:
        assert (db.format.name, db.table.points) == (NAME, points)
    bgfmt.convert(tmp_path / "huge.bd", tmp_path / "back.bd", to="gnubg-os")
    assert (tmp_path / "back.bd").read_bytes() == source.read_bytes()


def test_errors_name_the_field(tmp_path: Path) -> None:
    bgfmt.convert(GOLDEN / "gnubg/os_p02_g.bd", tmp_path / "huge.bd", to=NAME)
    data = (tmp_path / "huge.bd").read_bytes()
    for digits in (b"19", b"00"):
        with pytest.raises(HeaderError, match="points"):
            read_source(Source.from_bytes(digits + data[2:], "x"), format=NAME)
    with pytest.raises(FormatError):
        read_source(Source.from_bytes(b"1x" + data[2:], "x"), format=NAME)
    with pytest.raises(TruncatedError):
        read_source(Source.from_bytes(data[:-1], "x"))


def test_what_is_lost_is_named(tmp_path: Path) -> None:
    with pytest.raises(LossError, match="gammon"):
        bgfmt.convert(GOLDEN / "gnubg/os_p02.bd", tmp_path / "x.bd", to=NAME)
