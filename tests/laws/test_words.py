"""The vocabulary as a law: words that pages, docstrings, comments, messages and names leave out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.laws.test_house import nothing

VOCABULARY = ROOT / "docs" / "vocabulary.md"
#: phrases that cost a reader a second reading
UNPLAIN = ("whoever", "so many", "what is none", "strangers", "from afar")
#: (file or folder, word): where a word belongs to another program, a law or a quotation
ALLOWED = {
    ("CHANGELOG.md", "*"): "history",
    ("docs/vocabulary.md", "*"): "lists the words",
    ("docs/index.md", "*"): "leads from players' words to ours",
    ("bgfmt/extras/serve/wildbg.py", "probabilities"): "a field of wildbg's answers",
    ("bgfmt/extras/serve", "probabilities"): "the same field",
    ("bgfmt/extras/serve/server.py", "algorithm"): "Nagle's",
    ("bgfmt/extras/lab/articles", "probability"): "a name of an article",
    ("bgfmt/extras/lab/articles", "checker"): "a field of the blog's files",
    ("bgfmt/extras/lab/formats/decimals.py", "checker"): "the same field",
    ("docs/formats/points-text.md", "checker"): "the same field",
    ("bgfmt/extras/hosts/boards.py", "checker"): "a name of bgsage's",
    ("bgfmt/extras/hosts/ubgi.py", "checker"): "a word of UBGI",
    ("bgfmt/extras/exam/programs.py", "checker"): "a name of bgsage's",
    ("bgfmt/extras/exam/programs.py", "probabilities"): "a field of wildbg's answers",
    ("plugins/bgsage", "checker"): "a name of bgsage's",
    ("plugins/pygnubg", "checker"): "the same name",
    ("bgfmt/game/state.py", "centred"): "a spelling that is read",
    ("bgfmt/cli", "checker"): "a spelling of an option that is taken",
    ("bgfmt/formats/stores.py", "codec"): "zarr's word",
    ("bgfmt/formats/zarr.py", "codec"): "zarr's word",
    ("bgfmt/storage/chunks.py", "codec"): "zarr's word",
    ("docs/formats/zarr.md", "codec"): "zarr's word",
}


def forbidden() -> list[str]:
    """The words of the vocabulary's last column, and the phrases above."""
    rows = [line.split("|") for line in VOCABULARY.read_text(encoding="utf-8").splitlines()]
    column = [cells[3] for cells in rows if len(cells) == 5 and not set(cells[1].strip()) <= set("- ")]
    words = [word.strip() for cell in column[1:] for word in cell.split(",")]
    return [*(word for word in words if word), *UNPLAIN]


def pages() -> Iterator[Path]:
    """Everything that is read: pages, modules, the files of the plugins and of the page."""
    yield from ROOT.glob("*.md")
    for folder, suffixes in {
        "bgfmt": "py js html",
        "docs": "md py",
        "plugins": "py md c h js ts ijs",
        "benchmarks": "py",
    }.items():
        for suffix in suffixes.split():
            for path in (ROOT / folder).rglob(f"*.{suffix}"):
                if not {"node_modules", "build", "reference"} & set(path.parts):
                    yield path


def test_words_are_those_of_the_vocabulary() -> None:
    words = forbidden()
    assert {"checker", "probability", "whoever"} <= set(words)
    # a plural too; in names parted by underscores; phrases across the lines of a comment
    spelled = "|".join(re.escape(word).replace(r"\ ", r"\s+(?:[#*]\s+)?") for word in words)
    pattern = re.compile(rf"(?<![a-z])({spelled})s?(?![a-z])", re.IGNORECASE)
    found = []
    for path in pages():
        place = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for match in pattern.finditer(text):
            word = " ".join(match[1].split()).lower()
            if not any(place.startswith(where) and what in ("*", word) for where, what in ALLOWED):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{place}:{line}: {word}")
    nothing(found)


def test_players_words_lead_to_ours() -> None:
    """Where players look for `checker`, `move`, `probability`, the index names our word."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for word in ("checker", "move", "probability"):
        assert re.search(rf"^\| .*`{word}`.* \|", text, re.MULTILINE), word
