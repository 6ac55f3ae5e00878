"""What the commands write to a terminal, byte by byte, at 80 and 120 columns."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from bgfmt.cli import options
from tests.conftest import GOLDEN, ROOT

ONE, TWO, SMALL = (GOLDEN / f"gnubg/{name}.bd" for name in ("os_p06", "ts_06x04", "ts_03x03"))
HERE = "0 1 0 0 1 / 0 1 1"
#: the commands of README and docs, on small files
COMMANDS = (
    f"info {ONE}", f"info --digest {TWO}", f"lookup {ONE} '0 2 2 2 0 4'", f"lookup {TWO} '{HERE}' JgAAkAgAAAAAAA",
    f"dump {TWO} --start 7000 --count 3", "formats", f"race {ONE} '0 2 2 2 0 4 / 15'", f"cube {TWO} '{HERE}'",
    f"cube {TWO} '{HERE}' --away 3-5", "cube '0 0 0 0 2 / 0 0 1 1'", f"play {TWO} '{HERE}' 21", f"verify {TWO}",
    f"verify bad.bd {ONE}", "verify --quick nowhere.bd", f"verify --exact {SMALL}", "repair bad.bd -o mended.bd",
    f"convert {ONE} small.npz --points 4", f"convert {ONE} nd.bd --to gnubg-nd --lossy", f"diff {TWO} bad.bd",
    "solve one-sided 6 -o gnubg_os0.bd", "solve two-sided 6x6 -o gnubg_ts0.bd", "solve hypergammon 1 -o hyper1.bd",
    "solve two-sided 4x3 --store 4x3.store", "solve two-sided 6x15 --plan", "solve match 6x6 --away 5-9 --plan",
    "solve match 3x2 --away 2-3 -o 2-3.bgm", "--help", "verify --help", "verify", "cube --nonsense",
)  # fmt: skip
CHILD = """
import shlex, sys
from bgfmt import cli
from bgfmt.cli import terminal
terminal.SILENT_SECONDS = 0.0
for line in sys.stdin.read().splitlines():
    cli.run(shlex.split(line))
    print("=" * 20, flush=True)
"""
BAR = re.compile(r"\[[#-]+\]")
CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(folder: Path, columns: int, **more: str) -> list[str]:
    """What each command writes to a terminal of so many columns, stdout and stderr together."""
    source = GOLDEN / "gnubg/ts_06x04.bd"
    data = bytearray(source.read_bytes())
    data[4000] ^= 1
    (folder / "bad.bd").write_bytes(data)
    (folder / "commands").write_text("\n".join(COMMANDS))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = os.fork()
    if not child:
        try:
            os.setsid()
            os.dup2(os.open(folder / "commands", os.O_RDONLY), 0)
            for number in (1, 2):
                os.dup2(theirs, number)
            environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")} | more
            os.chdir(folder)
            path = {"PYTHONPATH": str(ROOT), "TERM": "xterm", "HOME": str(folder)}
            os.execve(sys.executable, [sys.executable, "-c", CHILD], environment | path)
        finally:
            os._exit(1)
    os.close(theirs)
    data = bytearray()
    try:
        while piece := os.read(ours, 1 << 16):
            data += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert os.waitpid(child, 0)[1] == 0, data
    parts = data.decode().replace("\r\n", "\n").split("=" * 20 + "\n")
    assert len(parts) == len(COMMANDS) + 1
    return parts[:-1]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each command writes to a terminal of eighty columns."""
    return on_a_terminal(tmp_path_factory.mktemp("narrow"), 80)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each command writes to a terminal of 120 columns, without colour."""
    return on_a_terminal(tmp_path_factory.mktemp("wide"), 120, NO_COLOR="1")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
def test_lines_on_a_terminal(columns: int, narrow: list[str], wide: list[str]) -> None:
    wrong, bars = [], 0
    texts = narrow if columns == 80 else wide
    for command, text in zip(COMMANDS, texts, strict=True):
        assert "Traceback" not in text, command
        assert not text or text.endswith("\n"), command
        for line in text.split("\n"):
            states = [CODES.sub("", state).rstrip() for state in line.split("\r")]
            bars += bool(BAR.search(line))
            # a bar stands alone on its line, from beginning to end
            if BAR.search(line) and not all(BAR.search(state) for state in states if state):
                wrong.append((command, line))
            # what is longer than a line has no blank at which it could have been broken
            wrong += [
                (command, s) for s in states if len(s) > columns and " " in s.strip()[: columns - 20].strip()
            ]
    assert not wrong, "\n".join(f"{a}\n   {b}" for a, b in wrong)
    assert bars


@pytest.mark.slow
def test_colour(narrow: list[str], wide: list[str]) -> None:
    for command, one, two in zip(COMMANDS, wide, narrow, strict=True):
        assert "\x1b[3" not in one, command
        if command.startswith(("verify bad", "verify /")):
            assert "\x1b[3" in two, command


def test_lines_of_json_hold_nothing_that_a_terminal_obeys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("0 1\x9b31m\u202e\n"))
    assert options.answer_each_line(lambda text: {"asked": text}) == 0
    line = capsys.readouterr().out
    assert json.loads(line) == {"asked": "0 1\x9b31m\u202e"}
    assert line.isascii()


def test_a_command_starts_no_threads_for_products(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import atexit, os, sys; from bgfmt.__main__ import main; sys.argv = ['bgfmt', 'race', '1'];"
    code += "atexit.register(lambda: print(len(os.listdir('/proc/self/task')), file=sys.stderr)); main()"
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "1\n"
