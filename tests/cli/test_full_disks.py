"""Disks that fill at every tenth of the work: one line, exit code 2, nothing left behind.

No file may grow beyond some tenths of the finished output: the system then refuses to write on, as a full disk does.
"""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from bgfmt.cli import run
from tests.conftest import FIXTURES, GOLDEN
from tests.support import crash

MATCH = FIXTURES / "matches/gnubg107-beaver.sgf"
TS = GOLDEN / "gnubg/ts_05x04.bd"
#: command -> its words and the file that it makes
COMMANDS: dict[str, tuple[list[str], str]] = {
    "solve": (["solve", "two-sided", "4x3", "-o", "out.bd", "--quiet"], "out.bd"),
    "solve compressed": (["solve", "two-sided", "4x4", "-o", "out.bgts", "--quiet"], "out.bgts"),
    "convert": (["convert", "in.bd", "out.npz"], "out.npz"),
    "convert to rows": (["convert", "in.bd", "out.sqlite"], "out.sqlite"),
    "repair": (["repair", "damaged.bd", "-o", "out.bd"], "out.bd"),
    "install": (
        ["gnubg", "install", "in.bd", "--slot", "ts", "--dir", "slots", "--host", "pypi"],
        "slots/gnubg_ts.bd",
    ),
    "annotate": (["annotate", "in.sgf", "in.bd", "-o", "out.sgf"], "out.sgf"),
    "annotate as a page": (["annotate", "in.sgf", "in.bd", "-o", "out.html"], "out.html"),
    "verify --report as JSON": (["verify", "damaged.bd", "--report", "out.json"], "out.json"),
    "verify --report as a page": (["verify", "damaged.bd", "--report", "out.html"], "out.html"),
}


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sound table, a damaged one, a match, and an empty folder of slots."""
    data = bytearray(TS.read_bytes())
    (tmp_path / "in.bd").write_bytes(data)
    for at in range(5001, 60_000, 997):
        data[at] ^= 0x40
    (tmp_path / "damaged.bd").write_bytes(data)
    (tmp_path / "in.sgf").write_bytes(MATCH.read_bytes())
    (tmp_path / "slots").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNUBG_DATA_DIR", "")
    return tmp_path


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file grows beyond this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def said(words: list[str], size: int | None = None) -> tuple[int, list[str]]:
    """(exit code, lines of stderr) of a command, with so much room for a file."""
    out, err = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        if size is not None:
            stack.enter_context(room(size))
        code = run(words)
    return code, err.getvalue().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills_at_every_tenth(name: str, begun: Path) -> None:
    words, made = COMMANDS[name]
    before = crash.listing(begun)
    code, _ = said(words)
    assert code in (0, 1)  # verify found the damage
    size = (begun / made).stat().st_size
    whole = crash.listing(begun)
    for path in set(whole) - set(before):
        (begun / path).unlink()
    names = sorted(path.name for path in begun.rglob("*"))
    for tenth in range(10):
        code, lines = said(words, size * tenth // 10)
        assert code == 2, (tenth, lines)
        assert len(lines) == 1, (tenth, lines)
        assert lines[0].startswith("bgfmt: ")
        assert crash.listing(begun) == before, tenth
        assert sorted(path.name for path in begun.rglob("*")) == names
    assert said(words)[0] in (0, 1)  # and once there is room, it is made
    assert set(crash.listing(begun)) == set(whole)
