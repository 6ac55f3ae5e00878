"""Shared fixtures: where the golden files are, and how a test asks for a real program."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
GOLDEN = FIXTURES / "golden"

PROGRAMS = ("gnubg", "makebearoff", "makehyper", "bearoffdump", "jconsole", "cc")


def find_program(name: str) -> str | None:
    """Path of a real program: on PATH, in /usr/games, or beside the running interpreter."""
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games", str(Path(sys.executable).parent)])
    return shutil.which(name, path=search)


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], str]:
    """`oracle(name)`: path of a program, or name of an importable module; without it the test is skipped.

    With BGFMT_REQUIRE_ORACLES=1, as in CI, a missing oracle is a failure and never a silent skip.
    """

    def ask(name: str) -> str:
        if name in PROGRAMS:
            found = find_program(name)
        else:
            found = name if importlib.util.find_spec(name.removeprefix("py:")) else None
        if found is None:
            message = f"the real program {name!r} is not installed"
            if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
                pytest.fail(message)
            pytest.skip(message)
        return found

    return ask


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of files made by the real programs."""
    return GOLDEN
