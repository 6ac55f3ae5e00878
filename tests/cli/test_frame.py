"""The frame of the command line: help, streams, errors as one line and as JSON."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.storage import RangeSource
from tests.conftest import GOLDEN

TS = str(GOLDEN / "gnubg/ts_06x02.bd")


@pytest.mark.parametrize("words", [[], ["solve"], pytest.param(["gnubg"], marks=pytest.mark.extra("hosts"))])
def test_a_bare_group_prints_its_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("Usage: bgfmt")
    assert len(out.splitlines()) > 5


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        "", "solve", pytest.param("articles", marks=pytest.mark.extra("lab")), "--help", "--version", "formats",
        f"info {TS}",
    ],
)  # fmt: skip
def test_a_full_standard_output_is_one_line(words: str) -> None:
    done = _bgfmt(f"{words} >/dev/full")
    assert done.returncode == 2
    assert done.stderr == "bgfmt: No space left on device\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lookup", TS, "0 0 0 0 0 0 1 / 1", "--json"], 1),
        (["info", "no/such/file.bd", "--json"], 2),
        (["lookup", TS, "--json"], 2),
        (["lookup", TS, "1 / 1", "--json", "--nonsense"], 2),
        (["diff", TS, "no/such/file.bd", "--json"], 2),
    ],
)
def test_errors_are_json_too(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == code
    out, err = capsys.readouterr()
    said = json.loads(out)
    error = (said[0] if isinstance(said, list) else said)["error"]
    assert set(error) == {"kind", "message"}
    assert err.count("\n") == 1
    assert err.startswith("bgfmt: ")


def _bgfmt(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m bgfmt {command}"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )


def test_a_table_cut_short_while_questions_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer names the file, and the next question is answered as far as the file goes."""
    path = tmp_path / "cut.bd"
    path.write_bytes(Path(TS).read_bytes())

    class Asking:
        def __iter__(self) -> Iterator[str]:
            yield "#700\n"
            os.truncate(path, 2000)
            yield "#701\n"
            yield "#1\n"

    monkeypatch.setattr(sys, "stdin", Asking())
    monkeypatch.setattr(RangeSource, "max_eager_bytes", 0)  # as of a large table
    assert run(["lookup", str(path), "-"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["position_number"] == 700
    assert rows[1]["error"]["kind"] == "TruncatedError"
    assert rows[1]["error"]["message"].startswith(f"{path}: cut short at byte ")
    assert rows[2]["position_number"] == 1


@pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="no signal of lost pages")
def test_a_mapped_file_cut_short_ends_the_command_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "cut.bd"
    path.write_bytes(Path(TS).read_bytes())
    code = """
import os, sys
import bgfmt, bgfmt.cli

def work(path, **_):
    with bgfmt.open(path) as db:
        os.truncate(path, 0)
        db.lookup(db.table.unrank(700))

bgfmt.verify = work
bgfmt.cli.main(["verify", sys.argv[1]])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == f"bgfmt: {path}: truncated, or its disk failed, while it was read\n"


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="there is no /dev/stdin")
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("given", [f"cat {TS} |", f"< {TS}"], ids=["pipe", "file"])
def test_a_table_from_standard_input(name: str, given: str) -> None:
    command = f"{sys.executable} -m bgfmt info {name} --json --digest"
    command = f"{given} {command}" if given.endswith("|") else f"{command} {given}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert (facts["file"], facts["format"], facts["size"]) == (name, "gnubg-ts", Path(TS).stat().st_size)
    assert facts["sha256"] == hashlib.sha256(Path(TS).read_bytes()).hexdigest()


def test_no_table_from_standard_input_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", "info", "-"], input=b"no table", capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"bgfmt: -: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("interrupt", ["signal.raise_signal(signal.SIGINT)", "type('A', (), {'a': Named()})"])
def test_an_interrupt_while_the_command_is_loaded_is_one_line(interrupt: str) -> None:
    """It comes with one of the modules that the command imports, also where Python 3.11 makes it a RuntimeError."""
    code = """
import signal, sys

class Named:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{}":
            INTERRUPT

signal.signal(signal.SIGINT, signal.default_int_handler)
from bgfmt.__main__ import main
sys.meta_path.insert(0, Interrupt())
sys.argv[:] = ["bgfmt", "cube", "4HPwATDgc/ABMA"]
main()
"""
    for name in ("bgfmt.cli", "click", "numpy", "bgfmt.tables.registry"):
        words = [sys.executable, "-c", code.replace("{}", name).replace("INTERRUPT", interrupt)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stderr) == (130, "bgfmt: interrupted\n"), name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("verfy x.bd", "verify"),
        ("solve two-sidd 6x6 -o x.bd", "two-sided"),
        (f"convert {TS} x.npz --to nppz", "npz"),
        (f"convert {TS} x.bd --cubless", "--cubeless"),
        (f"convert {TS} x.bd -O heder=no", "header"),
        ("met g12", "g11"),
    ],
)
def test_a_misspelt_name_gets_the_nearest(line: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 2
    said = capsys.readouterr().err
    assert re.search(rf"id you mean [^;)?]*(?<![\w-]){re.escape(name)}\b", said), said
    assert said.count("\n") == 1


def test_closed_standard_output() -> None:
    done = _bgfmt(f"info {TS} >&-")
    assert done.returncode == 2
    assert done.stderr == "bgfmt: standard output is closed\n"


def test_text_that_the_terminal_cannot_show() -> None:
    done = _bgfmt("info 'no-such-\xe9.bd'", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_positions_from_standard_input() -> None:
    done = _bgfmt(f"lookup {TS} - <<< $'0 1 / 1\\nnonsense\\n#5'")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [row.get("position_number") for row in rows] == [57, None, 5]
    assert rows[0]["table"] == Path(TS).name
    assert rows[1]["error"]["kind"] == "PositionError"


def test_interrupted_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bgfmt.verify", interrupt)
    assert run(["verify", "x.bd"]) == 130
    assert capsys.readouterr().err == "bgfmt: interrupted\n"


#: what a command is at when it is interrupted, where Python does not let an interrupt out as it is
SWALLOWING = {
    "a finalizer": """
class Ending:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def work(*_, **__):
    Ending()
    time.sleep(600)
""",
    "text that is executed": """
def work(*_, **__):
    exec("signal.raise_signal(signal.SIGINT); time.sleep(600)")
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("where", SWALLOWING)
def test_no_interrupt_is_lost(where: str, tmp_path: Path) -> None:
    code = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import bgfmt, bgfmt.cli
{SWALLOWING[where]}
bgfmt.verify = work
bgfmt.cli.main(["verify", "x.bd"])
"""
    (tmp_path / "command.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "command"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "bgfmt: interrupted\n")
