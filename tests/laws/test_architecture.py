"""Structure of the package, checked on its source: which module may name or import what."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

import pytest

import bgfmt
from bgfmt import formats
from bgfmt.game.board import Position
from bgfmt.tables import KINDS
from tests.conftest import ROOT

CONFIGURED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: names of formats that are names of other things as well, which any module may compare with
SHARED = {
    "bgsage": "a recipe, a program and a package",
    "gnubg-2001": "a recipe",
    "csv": "what `bgfmt dump --format` prints",
    "parquet": "an optional dependency",
}
MOST_QUESTIONS = 15  # places that ask a table for its class


class Module(NamedTuple):
    """One module of the package or of a plugin."""

    path: str  # from the root of the checkout
    name: str  # as it is imported
    lines: int
    tree: ast.Module

    @property
    def room(self) -> str:
        """`tables`, `extras/serve`, ...; empty for a module at the top."""
        folders = self.path.split("/")[1:-1]
        return "/".join(folders[: 2 if folders[:1] == ["extras"] else 1])

    @property
    def core(self) -> bool:
        return self.path.startswith("bgfmt/") and not self.path.startswith("bgfmt/extras/")


@cache
def modules(*folders: str) -> list[Module]:
    """Every module below some folders, parsed once; tests are not among them."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT)
            if {"tests", "node_modules", "__pycache__"} & set(place.parts):
                continue
            text = path.read_text(encoding="utf-8")
            name = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
            found.append(Module(place.as_posix(), name, text.count("\n"), ast.parse(text)))
    return found


def package() -> list[Module]:
    return modules("bgfmt")


def outside(room: str) -> list[Module]:
    """Every module outside one room of bgfmt, plugins included."""
    return [m for m in [*package(), *modules("plugins")] if m.room != room]


def imports(module: Module) -> Iterator[tuple[str, int]]:
    """(module or name that is imported, line), anywhere in a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def words(node: ast.AST) -> set[str]:
    """Names that occur in an expression."""
    return {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(node)
        if isinstance(n, (ast.Name, ast.Attribute))
    }


def nothing(found: Any) -> None:
    """AssertionError that lists everything that was found."""
    lines = (
        [f"{key}: {value}" for key, value in found.items()] if isinstance(found, dict) else map(str, found)
    )
    assert not found, "\n".join(["", *lines])


# -- entry points ---------------------------------------------------------------------------------------


def entry_points() -> list[importlib.metadata.EntryPoint]:
    groups = CONFIGURED["project"]["entry-points"]
    return [
        importlib.metadata.EntryPoint(name, value, group)
        for group, points in groups.items()
        for name, value in points.items()
    ]


def test_every_entry_point_loads() -> None:
    for point in entry_points():
        assert point.load() is not None, f"{point.group} {point.name}"


# -- who may name what -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_core_imports_no_extra() -> None:
    """import-linter sees it too; here also what is imported by `import_module` and lazy names."""
    found = []
    for module in package():
        if not module.core:
            continue
        found += [
            f"{module.path}:{line}" for name, line in imports(module) if name.startswith("bgfmt.extras")
        ]
        found += [
            f"{module.path}:{node.lineno}"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"bgfmt\.extras[\w.:]*", node.value)
        ]
    nothing(found)


@pytest.mark.slow
def test_few_ask_a_table_for_its_class() -> None:
    kinds = {kind.__name__ for kind in KINDS.values()}
    found = [
        f"{module.path}:{node.lineno}"
        for module in outside("tables")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and words(node.func) & {"isinstance", "issubclass"}
        and words(node.args[-1]) & kinds
    ]
    assert len(found) < MOST_QUESTIONS, found


def test_no_type_of_a_table_is_compared() -> None:
    kinds = {kind.__name__ for kind in KINDS.values()}
    found = [
        f"{module.path}:{node.lineno}"
        for module in outside("tables")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare)
        and kinds & {c.id for c in node.comparators if isinstance(c, ast.Name)}
    ]
    nothing(found)


def owners() -> dict[str, set[str]]:
    """The modules or packages that own a name of a kind or a format, and may compare with it."""
    own: dict[str, set[str]] = defaultdict(set)
    for name, kind in KINDS.items():
        own[name].add(kind.__module__)
    for name, form in formats.all_formats().items():
        module = type(form).__module__
        own[name].add(module)
        if module.count(".") > 2:  # a folder of a family
            own[name].add(module.rpartition(".")[0])
    return {name: places for name, places in own.items() if name not in SHARED}


def test_nobody_compares_with_the_name_of_a_kind_or_a_format() -> None:
    own = owners()
    found = []
    for module in [*package(), *modules("plugins")]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Compare):
                parts = [node.left, *node.comparators]
            elif isinstance(node, ast.MatchValue):
                parts = [node.value]
            else:
                continue
            constants = [
                c
                for part in parts
                for c in (part.elts if isinstance(part, (ast.Tuple, ast.Set, ast.List)) else [part])
            ]
            for c in constants:
                named = isinstance(c, ast.Constant) and isinstance(c.value, str) and c.value in own
                if named and not any(f"{module.name}.".startswith(f"{place}.") for place in own[c.value]):
                    found.append(f"{module.path}:{node.lineno} {c.value}")
    nothing(found)


#: the formats of extras, and what says of each format how its files begin
NAMING = (
    "bgfmt/extras/compressed/",
    "bgfmt/extras/frames/",
    "bgfmt/extras/lab/",
    "bgfmt/extras/large/",
    "plugins/descriptions/make.py",
)


def test_formats_are_named_by_formats_only() -> None:
    names = set(formats.all_formats()) - set(SHARED)
    found = [
        f"{module.path}:{node.lineno} {node.value}"
        for module in outside("formats")
        if not module.path.startswith(NAMING)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    ]
    nothing(found)


def test_a_formats_own_modules_are_its_own() -> None:
    """A format's module, and what lies in its folder, is imported by `formats` alone."""
    own = {type(form).__module__ for form in formats.all_formats().values()}
    folders = {name for name in own if (ROOT / name.replace(".", "/")).is_dir()}
    folders |= {name.rpartition(".")[0] for name in own if name.count(".") > 2}
    found = []
    for module in outside("formats"):
        for name, line in imports(module):
            private = name in own - folders or any(name.startswith(f"{folder}.") for folder in folders)
            if private and name.startswith("bgfmt.formats.") and importlib.util.find_spec(name) is not None:
                found.append(f"{module.path}:{line} {name}")
    nothing(found)


def test_numbers_are_told_by_decimal_digits() -> None:
    """`isdigit` is true of a superscript, which `int` refuses."""
    told = [path for path in (ROOT / "bgfmt").rglob("*.py") if ".isdigit()" in path.read_text("utf-8")]
    assert told == []


def test_no_class_name_twice_in_the_core() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for module in package():
        if module.core:
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    where[node.name].append(module.path)
    nothing({name: paths for name, paths in where.items() if len(paths) > 1})


def test_from_bytes_to_an_equity_in_nine_modules() -> None:
    """What runs when a gnubg two-sided file is opened and asked, beside packages that only name their modules."""
    path, position = ROOT / "fixtures/golden/gnubg/ts_06x04.bd", Position.parse("0 1 / 0 1")
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)

    def ask() -> None:
        with bgfmt.open(path) as db:
            assert db.lookup(position).number > 0

    ask()  # imports what is imported late
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    read = {name for name in ran if name.startswith(str(ROOT / "bgfmt"))}
    assert len(read) <= 9, sorted(read)


# -- dependencies ----------------------------------------------------------------------------------------

#: what a distribution is imported as, where that differs
IMPORTED_AS = {"google-crc32c": "google_crc32c", "numba-cuda": "numba.cuda"}
#: dependencies that another one takes where they are installed
TAKEN = {"httptools": "uvicorn, to parse requests"}
#: parts of dependencies that are private though their names are plain
PRIVATE = re.compile(
    r"numba\.core\.(?!types|errors|config)|numba\.np|uvicorn\.protocols|distributed\.(?!client|worker|scheduler)\w+\."
)


def requirements(names: list[str]) -> list[str]:
    return [re.split(r"[<>=~!\[ ]", name)[0] for name in names]


@pytest.mark.slow
def test_every_dependency_is_imported_by_somebody() -> None:
    project = CONFIGURED["project"]
    extras = project["optional-dependencies"]
    needed = requirements(project["dependencies"])
    needed += [
        name
        for key in extras
        if key not in ("test", "lint", "docs", "oracles")
        for name in requirements(extras[key])
    ]
    everything = {name for module in package() for name, _ in imports(module)}
    everything |= {  # by name: `import_module("zarr")`
        node.args[0].value
        for module in package()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }  # fmt: skip
    unused = []
    for name in sorted({*needed} - {*TAKEN}):
        module = IMPORTED_AS.get(name, name.replace("-", "_"))
        if not any(f"{used}.".startswith(f"{module}.") for used in everything):
            unused.append(name)
    nothing(unused)


@pytest.mark.slow
def test_every_import_is_a_dependency() -> None:
    project = CONFIGURED["project"]
    declared = {name for names in project["optional-dependencies"].values() for name in requirements(names)}
    declared |= set(requirements(project["dependencies"]))
    known = {IMPORTED_AS.get(name, name).replace("-", "_").partition(".")[0] for name in declared}
    known |= {"llvmlite", "dask"}  # which numba and distributed bring
    foreign = {(name.partition(".")[0], module.path) for module in package() for name, _ in imports(module)}
    assert {
        pair for pair in foreign if pair[0] not in known | sys.stdlib_module_names | {"bgfmt", "__future__"}
    } == set()


def private_uses(module: Module) -> Iterator[tuple[int, str]]:
    """Where a module takes what a dependency keeps to itself."""
    bound: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            bound |= {(a.asname or a.name).partition(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            bound |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    ours = {"bgfmt", "__future__"} | sys.stdlib_module_names
    foreign = {name: full for name, full in bound.items() if full.partition(".")[0] not in ours}
    for name, line in imports(module):
        if name.partition(".")[0] not in ours:
            hidden = any(part.startswith("_") and not part.endswith("__") for part in name.split("."))
            if hidden or PRIVATE.match(name):
                yield line, name
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("_"):
            root: ast.AST = node.value
            while isinstance(root, (ast.Attribute, ast.Call)):
                root = root.value if isinstance(root, ast.Attribute) else root.func
            if isinstance(root, ast.Name) and root.id in foreign:
                yield node.lineno, f"{root.id}...{node.attr}"
        elif isinstance(node, ast.Call) and words(node.func) & {"getattr", "setattr", "import_module"}:
            for part in node.args:
                if (
                    isinstance(part, ast.Constant)
                    and isinstance(part.value, str)
                    and PRIVATE.match(part.value)
                ):
                    yield node.lineno, part.value
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Call)
            and words(node.value.func) == {"vars"}
            and isinstance(node.slice, ast.Constant)
            and str(node.slice.value).startswith("_")
        ):
            yield node.lineno, f"vars(...)[{node.slice.value!r}]"


@pytest.mark.slow
def test_nobody_uses_what_a_dependency_keeps_to_itself() -> None:
    nothing([f"{m.path}:{line} {what}" for m in package() for line, what in private_uses(m)])


# -- tests -----------------------------------------------------------------------------------------------


def test_mypy_looks_at_plugins_and_benchmarks() -> None:
    mypy = CONFIGURED["tool"]["mypy"]
    assert mypy["strict"] is True
    assert "benchmarks" in mypy["files"]
    plugins = [path for path in (ROOT / "plugins").glob("*/*.py") if re.match(r"bgfmt_\w+\.py", path.name)]
    assert {path.relative_to(ROOT).as_posix() for path in plugins} <= set(mypy["files"])
    assert len(plugins) >= 3
