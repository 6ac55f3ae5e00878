"""What keeps the house in order, measured on its source: kinds of tables, names of formats, lengths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bgfmt import formats
from bgfmt.tables import KINDS

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 350
MOST_TESTS = 15
#: names of formats that are names of recipes as well, which any module may say
RECIPES = {"bgsage", "gnubg-2001"}


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """(path below the root, text) of every module that is no test."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not {"tests", "node_modules", ".venv"} & set(path.parts[len(ROOT.parts) :]):
                yield name, path.read_text(encoding="utf-8")


def outside(room: str) -> list[tuple[str, ast.Module]]:
    """Every module outside one room of bgfmt, plugins included, parsed."""
    return [(n, ast.parse(s)) for n, s in sources("bgfmt", "plugins") if not n.startswith(f"bgfmt/{room}/")]


def words(node: ast.AST) -> set[str]:
    """Names that occur in an expression."""
    return {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(node)
        if isinstance(n, (ast.Name, ast.Attribute))
    }


def test_there_is_something_to_measure() -> None:
    assert len(outside("tables")) > 200
    assert len(KINDS) >= 8


def test_few_ask_a_table_what_it_is() -> None:
    kinds = {kind.__name__ for kind in KINDS.values()}
    found = [
        f"{name}:{node.lineno}"
        for name, tree in outside("tables")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and words(node.func) & {"isinstance", "issubclass"}
        and words(node.args[-1]) & kinds
    ]
    assert len(found) < MOST_TESTS, found


def test_no_type_of_a_table_is_compared() -> None:
    kinds = {kind.__name__ for kind in KINDS.values()}
    found = [
        f"{name}:{node.lineno}"
        for name, tree in outside("tables")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and kinds & {c.id for c in node.comparators if isinstance(c, ast.Name)}
    ]
    assert found == []


def test_formats_are_named_by_formats_only() -> None:
    names = set(formats.known()) - RECIPES - {"csv"}  # which `dump` prints too
    found = [
        f"{name}:{node.lineno} {node.value}"
        for name, tree in outside("formats")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    ]
    assert found == []


def test_a_formats_own_modules_are_its_own() -> None:
    private = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for folder in ("gnubg", "j", "compressed")
        for path in (ROOT / "bgfmt" / "formats" / folder).glob("*.py")
        if path.name != "__init__.py"
    } | {f"bgfmt.formats.{name}" for name in ("bgsage", "npz", "match", "archive", "outlets")}
    found = [
        f"{name}:{node.lineno}"
        for name, tree in outside("formats")
        for node in ast.walk(tree)
        if set(imported(node)) & private
    ]
    assert found == []


def imported(node: ast.AST) -> list[str]:
    """Modules that a statement imports, and what it takes from one, as if that were a module too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


@pytest.mark.parametrize("name", [name for name, _ in sources("bgfmt")])
def test_no_module_is_long(name: str) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_mypy_looks_at_plugins_and_benchmarks() -> None:
    import tomllib

    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert said["strict"] is True
    assert "benchmarks" in said["files"]
    modules = [path for path in (ROOT / "plugins").glob("*/*.py") if re.match(r"bgfmt_\w+\.py", path.name)]
    assert {path.relative_to(ROOT).as_posix() for path in modules} <= set(said["files"])
    assert len(modules) >= 3
