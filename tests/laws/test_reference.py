"""docs/reference/ is what docs/make_reference.py writes; names that the prose mentions exist."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import bgfmt
from tests.conftest import ROOT

NAME = re.compile(r"`(bgfmt(?:\.\w+)+)(?:\(|`)")
FILES = (".c", ".h", ".js", ".json", ".mjs", ".wasm")  # files of that name
PROSE = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "plugins").glob("*/README.md")),
    *sorted((ROOT / "bgfmt").rglob("*.py")),
]


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["python.md", "commands.md"])
def test_pages_are_as_made(maker: ModuleType, page: str) -> None:
    made = maker.PAGES[page]()
    assert (ROOT / "docs/reference" / page).read_text(encoding="utf-8") == made, (
        "run: python docs/make_reference.py"
    )


def test_every_public_name_is_there(maker: ModuleType) -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    for name in bgfmt.__all__:
        assert f" bgfmt.{name}\n" in page, name


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


@pytest.mark.parametrize("path", PROSE, ids=lambda p: str(p.relative_to(ROOT)))
def test_names_in_prose_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    missing = sorted({name for name in NAME.findall(text) if not name.endswith(FILES) and not _exists(name)})
    # entry point groups are no modules
    assert set(missing) <= {"bgfmt.formats", "bgfmt.commands", "bgfmt.engines"}, missing
