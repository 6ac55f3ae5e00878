"""What the documents claim is shown here: console blocks are run, examples are tested, pages exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from bgfmt import formats
from tests.conftest import ROOT
from tests.support import docblocks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_show_what_happens(path: Path, tmp_path: Path) -> None:
    """Every command and program of a page, in order, does what the page says."""
    ran = docblocks.check(path, tmp_path)
    if path.name == "README.md" and path.parent == ROOT:
        assert ran >= 6


def test_nothing_is_advised_that_does_not_work() -> None:
    """bgfmt is on no package index: `pip install .` installs a checkout; errors name extras as `bgfmt[...]`."""
    pages = [*PAGES, *(ROOT / "plugins").glob("*/README.md"), *(ROOT / "bgfmt").rglob("*.py")]
    for page in pages:
        assert not re.search(r"pip install (-\S+ )*['\"]?bgfmt(?!\[)", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_format_has_a_page_with_its_status() -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| [")]
    for name in formats.all_formats():
        status = re.search(
            r"\*\*(exact|faithful|guessed)\*\*", (ROOT / f"docs/formats/{name}.md").read_text()
        )
        assert status, name
        (row,) = [row for row in rows if f"docs/formats/{name}.md" in row]
        assert row.split("|")[3].split(":")[0].strip() == status[1], name


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "docs/theory").glob("*.md")), ids=lambda p: p.name)
def test_examples_in_theory(path: Path) -> None:
    assert doctest.testfile(str(path), module_relative=False).failed == 0
