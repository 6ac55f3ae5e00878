"""Shared by the tests of this plugin: the real gnubg, tables, and a record of everything asked and answered."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import bgfmt

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "fixtures" / "golden" / "gnubg"


@pytest.fixture(scope="session")
def gnubg() -> str:
    """Path of the real gnubg; without it the test is skipped, or fails when oracles are required."""
    found = shutil.which("gnubg", path=os.environ.get("PATH", "") + ":/usr/games")
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("the real program 'gnubg' is not installed")
        pytest.skip("the real program 'gnubg' is not installed")
    return found


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A 6x6 two-sided table made here and the 6-point one-sided one."""
    path = tmp_path_factory.mktemp("tables") / "ts_06x06.bd"
    bgfmt.save(bgfmt.solver.two_sided(6, 6), path, format="gnubg-ts")
    return [path, GOLDEN / "os_p06.bd"]


def play_games(gnubg: str, commands: list[str], folder: Path) -> str:
    """Give gnubg commands on its standard input and return what it printed; it plays by its nets, without search."""
    first = [
        "set automatic game off",
        "set automatic roll on",
        "set automatic bearoff off",
        "set confirm new off",
        "set confirm save off",
        "set rng mersenne",
    ]
    for seat, decision in itertools.product((0, 1), ("chequerplay", "cubedecision")):
        first += [f"set player {seat} gnubg", f"set player {seat} {decision} evaluation plies 0"]
    done = subprocess.run(
        [gnubg, "-t", "-q", "-r"],
        input="\n".join([*first, "set player 1 human", *commands, ""]),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, (
        f"gnubg ended with {done.returncode}: {done.stdout[-2000:]} {done.stderr[-500:]}"
    )
    return done.stdout
