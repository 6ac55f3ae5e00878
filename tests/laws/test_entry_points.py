"""Entry points: what enters by them, and what an extra may know of the core."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import tomllib
from importlib.metadata import distribution, entry_points
from pathlib import Path
from types import ModuleType

import pytest

import bgfmt
from bgfmt.tables import registry
from tests.conftest import ROOT

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


@pytest.mark.parametrize("group", ENTRY_POINTS)
def test_entry_points_of_bgfmt_are_installed_and_load(group: str) -> None:
    installed = {one.name: one.value for one in distribution("bgfmt").entry_points.select(group=group)}
    assert installed == ENTRY_POINTS[group], (
        "pyproject.toml has changed: install bgfmt again (pip install -e .)"
    )
    for entry in entry_points(group=group):
        if entry.value.startswith("bgfmt."):
            entry.load()


@pytest.mark.parametrize("name", ENTRY_POINTS["bgfmt.names"])
def test_names_of_extras_are_attributes_of_the_package(name: str) -> None:
    module, _, attribute = ENTRY_POINTS["bgfmt.names"][name].partition(":")
    place, _, short = name.rpartition(".")
    package = importlib.import_module(f"bgfmt.{place}") if place else bgfmt
    value = importlib.import_module(module)
    assert getattr(package, short) is (getattr(value, attribute) if attribute else value)
    assert short in dir(package)


def test_types_are_declared_for_all_names_of_the_package() -> None:
    """`__init__.pyi` declares each name of `__init__.py`, from the module that it comes from."""
    declared = {}
    for node in ast.parse((ROOT / "bgfmt/__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bgfmt"):
            for alias in node.names:
                declared[alias.asname or alias.name] = f"{node.module}:{alias.name}"
    declared["open"] = declared.pop("open_database")
    names = {name: getattr(bgfmt, name) for name in bgfmt.__all__}
    assert set(declared) == set(names)
    for name, place in declared.items():
        module, _, attribute = place.partition(":")
        assert names[name] is getattr(importlib.import_module(module), attribute), name


@pytest.mark.slow
def test_extras_import_exported_names_of_the_core() -> None:
    """Extras take from a core module only what its `__all__` lists, and modules."""
    hidden = []
    for path in sorted((ROOT / "bgfmt/extras").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("bgfmt"):
                continue
            if str(node.module).startswith("bgfmt.extras"):
                continue
            module = importlib.import_module(str(node.module))
            exported = {"__version__", *getattr(module, "__all__", ()), *dir_of_extras(module)}
            for alias in node.names:
                is_module = (
                    importlib.util.find_spec(f"{node.module}.{alias.name}") if is_package(module) else None
                )
                private = alias.name.startswith("_") and alias.name not in exported
                if private or (alias.name not in {"*", *exported} and is_module is None):
                    hidden.append(f"{path.relative_to(ROOT)}: {node.module}.{alias.name}")
    assert hidden == []


def is_package(module: ModuleType) -> bool:
    """Return whether a module has submodules."""
    return hasattr(module, "__path__")


def dir_of_extras(module: ModuleType) -> set[str]:
    """Return the names that extras add to a package by the entry points `bgfmt.names`."""
    prefix = f"{module.__name__}.".removeprefix("bgfmt.")
    points = ENTRY_POINTS["bgfmt.names"]
    return {name.removeprefix(prefix) for name in points if name.startswith(prefix)}


#: what an extra takes from another, and why
BETWEEN_EXTRAS = {
    ("charts.py", "arrays"): "a chart shows the cube actions of many positions",
    ("exam", "arrays"): "an exam lists the results of many rolls",
    ("races", "arrays"): "estimates list the results of rolls",
    ("lab", "frames"): "labels are written to Parquet files",
    ("lab", "matches"): "games that are played become recorded matches",
    ("lab", "races"): "the search for the best count estimates races",
    ("cluster", "large"): "workers and devices solve tiles",
    ("serve", "large"): "a page is built with a store, which is removed",
    ("hosts", "lab"): "the engine BKG plays in other programs",
    ("exam", "frames"): "labels are read from Parquet files",
    ("exam", "hosts"): "engines under test speak their protocols",
    ("exam", "lab"): "rules of thumb are tested",
    ("exam", "matches"): "questions come from recorded matches",
}


@pytest.mark.slow
def test_extras_do_not_know_each_other() -> None:
    extras = {path.name for path in (ROOT / "bgfmt/extras").iterdir() if (path / "__init__.py").exists()}
    found = set()
    for path in (ROOT / "bgfmt/extras").rglob("*.py"):
        own = path.relative_to(ROOT / "bgfmt/extras").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bgfmt.extras"):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {(own, name.split(".")[2]) for name in names}
    assert {(a, b) for a, b in found if a != b and b in extras} == set(BETWEEN_EXTRAS)


@pytest.mark.parametrize(
    ("value", "stale"),
    [
        ("bgfmt.cli.absent:verb", True),
        ("bgfmt.cli.cube:absent", True),
        ("bgfmt.absent.part:verb", True),
        ("absent_plugin:verb", False),
        ("json:absent", False),
    ],
)
def test_a_stale_entry_point_of_bgfmt_asks_for_installation(value: str, stale: bool) -> None:
    point = registry.EntryPoint("x", value)
    with pytest.raises((ImportError, AttributeError)) as raised:
        point.load()
    assert ("install it again" in point.explain(raised.value)) == stale


def test_entry_points_are_read_as_by_importlib_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is installed; bgfmt's own name stays its own, and an older version farther down does not count."""
    for version, names in (
        ("1.0", "two-sided = guest:Other\nnew = guest:New [extra]\n"),
        ("0.9", "old = guest:Old\n"),
    ):
        folder = tmp_path / version / f"guest-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: guest\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(f"# ours\n[bgfmt.kinds]\n{names}\n[other]\nx = y\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "1.0"), *sys.path, str(tmp_path / "0.9")])
    registry._installed.cache_clear()
    try:
        for group in ENTRY_POINTS:
            expected = {one.name: one.value.partition(" ")[0] for one in reversed(entry_points(group=group))}
            expected |= ENTRY_POINTS[group]
            assert {name: door.value for name, door in registry.entry_points(group).items()} == expected
        assert registry.entry_points("bgfmt.kinds")["new"].value == "guest:New"
        assert "old" not in registry.entry_points("bgfmt.kinds")
    finally:
        registry._installed.cache_clear()
