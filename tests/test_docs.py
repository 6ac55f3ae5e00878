"""What the documents claim is shown here: console blocks are run, examples are tested, pages exist."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bgfmt import formats

from .conftest import GOLDEN, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def console_blocks(path: Path) -> list[tuple[str, str]]:
    """(command, expected output) of every console block."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", path.read_text(), re.M | re.S):
        for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = piece.partition("\n")
            found.append((command, output))
    return found


def test_the_readme_shows_what_happens(tmp_path: Path) -> None:
    """Every command of the README, in order, prints what the README says."""
    shutil.copy(GOLDEN / "gnubg/os_p06.bd", tmp_path / "gnubg_os0.bd")
    (tmp_path / "bgfmt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bgfmt "$@"\n')
    (tmp_path / "bgfmt").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    commands = console_blocks(ROOT / "README.md")
    assert len(commands) >= 8
    for command, output in commands:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout == output, (command, run.stderr)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_format_has_a_page_with_its_status() -> None:
    readme = (ROOT / "README.md").read_text()
    for name in formats.known():
        page = (ROOT / f"docs/formats/{name}.md").read_text()
        assert re.search(r"\*\*(exact|faithful|reads|guessed)\*\*", page), name
        assert f"docs/formats/{name}.md" in readme


@pytest.mark.parametrize("path", sorted((ROOT / "docs/theory").glob("*.md")), ids=lambda p: p.name)
def test_examples_in_theory(path: Path) -> None:
    assert doctest.testfile(str(path), module_relative=False).failed == 0
