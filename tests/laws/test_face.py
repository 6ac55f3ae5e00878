"""What a newcomer sees first: the pictures, the site and its search, and the figures of how bgfmt is tested."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.laws.test_docs import PAGES
from tests.laws.test_reference import program

#: what somebody types into the search -> the page that answers
QUESTIONS = {
    # a player
    "was it a double?": "docs/was-it-a-double",
    "take point": "docs/was-it-a-double",
    "best play of a roll": "docs/ask",
    "effective pip count": "docs/ask",
    "why does gnubg say something else": "docs/theory/other-programs",
    "bearoff database could not be found": "docs/bearoff-not-found",
    "larger table for gnubg": "docs/hosts/gnubg",
    "install windows": "docs/install",
    "PR luck error rate": "docs/hosts/annotate",
    "not covered": "docs/not-covered",
    "too good to double": "docs/was-it-a-double",
    "beaver": "docs/ask",
    "analyse my match": "docs/was-it-a-double",
    "license": "docs/index",
    # somebody with data
    "pandas": "docs/data-frames",
    "convert gnubg to sqlite": "docs/formats/sqlite",
    "millions of positions": "docs/python-tasks",
    # a verifier
    "is my database right": "docs/verify",
    "how is it tested": "docs/tested",
    "repair a damaged file": "docs/verify",
    # a script writer
    "json fields of cube": "docs/json",
    "http server": "docs/web/serve",
    # an engine author
    "ubgi": "docs/hosts/ubgi",
    "read a table from C": "docs/hosts/c",
    "position id xgid": "docs/theory/positions",
    # a contributor
    "add a format": "docs/add-a-format",
}
FIRST = 4  # results that are looked at


def test_pictures_are_what_their_command_draws() -> None:
    """`python docs/make_pictures.py` changes nothing."""
    maker = program("make_pictures")
    drawn = maker.pictures()
    assert {path.name for path in maker.PICTURES.iterdir()} == set(drawn)
    for name, text in drawn.items():
        assert (maker.PICTURES / name).read_text(encoding="utf-8") == text, name


def needs_the_extra() -> None:
    """Skip without the extra docs; fail where all that the tests need must be there."""
    if not all(map(importlib.util.find_spec, ("mkdocs", "material", "lunr"))):
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("mkdocs-material or lunr is not installed")
        pytest.skip("the extra docs is not installed")


def test_the_site_answers_by_its_search(tmp_path: Path) -> None:
    """The site is built, no link of it is broken, and each question finds its page."""
    needs_the_extra()
    from lunr import lunr

    program("make_site").main(tmp_path / "site")
    index = json.loads((tmp_path / "site/search/search_index.json").read_text(encoding="utf-8"))
    fields = [{"field_name": "title", "boost": 10}, {"field_name": "text", "boost": 1}]
    documents = [(page, {"boost": page.get("boost", 1)}) for page in index["docs"]]
    search = lunr(ref="location", fields=fields, documents=documents)
    lost = {}
    for question, page in QUESTIONS.items():
        found = [hit["ref"] for hit in search.search(re.sub(r"\W", " ", question))[:FIRST]]
        if not any(place.partition("#")[0] == f"{page}.html" for place in found):
            lost[question] = found
    assert not lost


def test_a_link_that_leads_nowhere_stops_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_the_extra()
    maker = program("make_site")

    def gather(folder: Path) -> None:
        folder.mkdir()
        (folder / "README.md").write_text("[gone](nowhere.md)\n", encoding="utf-8")

    monkeypatch.setattr(maker, "gather", gather)
    with pytest.raises(SystemExit, match=r"link 'nowhere\.md'"):
        maker.main(tmp_path / "site")


def test_the_figures_of_how_it_is_tested() -> None:
    """docs/tested.md says how many there are: at most as many as there are, and not less than two thirds."""
    text = (ROOT / "docs/tested.md").read_text(encoding="utf-8")
    said = {
        re.split(", | and ", of)[0]: int(number.replace(",", ""))
        for number, of in re.findall(r"^\| ([\d,]+) \| (.*?) \|$", text, re.M)
    }
    modules = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "plugins").rglob("test_*.py")]
    functions = [
        len(re.findall(r"^\s*(?:async )?def test_", m.read_text(encoding="utf-8"), re.M)) for m in modules
    ]
    matches = (ROOT / "fixtures/matches/MANIFEST.tsv").read_text(encoding="utf-8").splitlines()[1:]
    real = {
        "test functions": sum(functions),
        "golden files": sum(path.suffix in (".bd", ".ijf") for path in (ROOT / "fixtures/golden").rglob("*")),
        "recorded matches": len(matches),
        "broken files": len(list((ROOT / "fixtures/broken").iterdir())),
        "pages": len(PAGES),
    }
    assert set(said) == set(real)
    assert {
        name: (said[name], n) for name, n in real.items() if not said[name] <= n <= 1.5 * said[name]
    } == {}
