"""The reference can be built, and names that the prose mentions exist."""

from __future__ import annotations

import importlib
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import bgfmt
from tests.conftest import ROOT

NAME = re.compile(r"`(bgfmt(?:\.\w+)+)(?:\(|`)")
FILES = (".c", ".h", ".js", ".json", ".mjs", ".wasm")  # files of that name
DOORS = {"bgfmt.kinds", "bgfmt.proofs"} | set(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
)


def prose() -> list[Path]:
    """Every page and every module, in which names of the package are mentioned."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    pages += (ROOT / "plugins").glob("*/README.md")
    return [page for page in [*pages, *(ROOT / "bgfmt").rglob("*.py")] if page.exists()]


def program(name: str) -> ModuleType:
    """A program of docs, imported."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return program("make_reference")


@pytest.mark.slow
def test_shapes_are_written_where_they_stand() -> None:
    """`python docs/make_shapes.py` has nothing to write."""
    shapes = program("make_shapes")
    for name in shapes.FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert shapes.filled(text) == text, name


def test_tables_of_bytes_are_current() -> None:
    """`python docs/make_bytes.py` has nothing to write, and every structure of a built-in format is on a page."""
    tables = program("make_bytes")
    seen: list[str] = []
    for page in tables.PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert tables.filled(text) == text, page.name
        seen += tables.shown(text)
    own = {name for name in tables.declared() if (tables.PAGES / f"{name.partition('.')[0]}.md").exists()}
    assert own | {"ogxm.header", "ogxm.chunk", "ogxm.section", "bgf.smile"} <= set(seen)


def test_the_reference_is_built(maker: ModuleType, tmp_path: Path) -> None:
    maker.main(tmp_path / "reference")
    page = (tmp_path / "reference/python.md").read_text(encoding="utf-8")
    assert [name for name in bgfmt.__all__ if f" bgfmt.{name}\n" not in page] == []
    commands = (tmp_path / "reference/commands.md").read_text(encoding="utf-8")
    assert "## bgfmt solve two-sided\n" in commands


def test_a_name_without_docstring_fails(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bgfmt.Side, "pips", property(lambda side: 0))
    with pytest.raises(maker.Undocumented, match=r"Side\.pips"):
        maker.python_page()


def _exists(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            fields = getattr(thing, "__dataclass_fields__", {})
            if not hasattr(thing, part) and part not in fields:
                return False
            thing = getattr(thing, part, None)
        return True
    return False


def test_names_in_prose_exist() -> None:
    where: dict[str, list[str]] = {}
    for page in prose():
        for name in NAME.findall(page.read_text(encoding="utf-8")):
            where.setdefault(name, []).append(page.relative_to(ROOT).as_posix())
    names = [name for name in where if not name.endswith(FILES) and name not in DOORS]
    assert {name: where[name] for name in names if not _exists(name)} == {}
