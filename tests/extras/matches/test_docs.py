"""The page about match files shows what happens."""

from __future__ import annotations

import doctest

import bgfmt.extras.matches.plays
import bgfmt.game.drawing
from tests.conftest import ROOT


def test_the_page() -> None:
    done = doctest.testfile(str(ROOT / "docs/formats/match-files.md"), module_relative=False)
    assert done.attempted > 8
    assert done.failed == 0


def test_docstrings() -> None:
    for module in (bgfmt.extras.matches.plays, bgfmt.game.drawing):
        done = doctest.testmod(module)
        assert done.attempted > 0
        assert done.failed == 0
