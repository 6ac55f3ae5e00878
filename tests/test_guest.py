"""A package of a third party adds a format and a command; `guest/` is one, as it would lie in site-packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import GOLDEN, ROOT

GUEST = Path(__file__).parent / "guest"


def run(*arguments: str, guest: bool = True) -> subprocess.CompletedProcess[str]:
    paths = ([str(GUEST)] if guest else []) + [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "bgfmt", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_guests_format(tmp_path: Path) -> None:
    bgns = str(GOLDEN / "jfile" / "bgns.ijf")
    text, back = str(tmp_path / "a.rolls"), str(tmp_path / "b.ijf")
    done = run("convert", bgns, text, "--to", "rolls-text")
    assert done.returncode == 0, done.stderr
    assert run("convert", text, back, "--to", "jfile").returncode == 0
    assert Path(back).read_bytes() == Path(bgns).read_bytes()
    said = run("lookup", text, "0 0 0 2 3 4")
    assert said.returncode == 0
    assert "6.56681" in said.stdout or "6.5668" in said.stdout
    Path(text).write_text("rolls 3 x\n")
    wrong = run("info", text)
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


def test_a_guests_command() -> None:
    said = run("pips", "dwMAAN4FAAAAAA")
    assert (said.returncode, said.stdout) == (0, "13 15\n")
    assert "pips" in run("--help").stdout
    wrong = run("pips", "nonsense")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


def test_a_broken_guest_is_named_and_harms_nobody() -> None:
    said = run("formats")
    assert said.returncode == 0
    assert "broken-guest" in said.stdout + said.stderr
    assert "rolls-text" in said.stdout


@pytest.mark.parametrize("arguments", [("pips", "dwMAAN4FAAAAAA"), ("info", "x.rolls")])
def test_without_the_guest(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, guest=False).returncode == 2
