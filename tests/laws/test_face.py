"""The documents as a site: built, with every link leading somewhere."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

from tests.laws.test_reference import program


def needs_the_extra() -> None:
    """Skip without the extra docs; fail where all that the tests need must be there."""
    if not all(map(importlib.util.find_spec, ("mkdocs", "material", "lunr"))):
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("mkdocs-material or lunr is not installed")
        pytest.skip("the extra docs is not installed")


@pytest.mark.slow
def test_the_site_is_built_without_a_broken_link(tmp_path: Path) -> None:
    needs_the_extra()
    program("make_site").main(tmp_path / "site")
    index = json.loads((tmp_path / "site/search/search_index.json").read_text(encoding="utf-8"))
    assert {"docs/verify.html", "docs/formats/sqlite.html"} <= {page["location"] for page in index["docs"]}


@pytest.mark.slow
def test_a_link_that_leads_nowhere_stops_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_the_extra()
    maker = program("make_site")

    def gather(folder: Path) -> None:
        folder.mkdir()
        (folder / "README.md").write_text("[gone](nowhere.md)\n", encoding="utf-8")

    monkeypatch.setattr(maker, "gather", gather)
    with pytest.raises(SystemExit, match=r"link 'nowhere\.md'"):
        maker.main(tmp_path / "site")
