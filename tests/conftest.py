"""Shared fixtures: where the golden files are, and how a test asks for a real program."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bgfmt import jit
from bgfmt.jit import compiled

if TYPE_CHECKING:
    from tests.support.serving import Client

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
GOLDEN = FIXTURES / "golden"

PROGRAMS = (
    "gnubg", "makebearoff", "makehyper", "bearoffdump", "jconsole", "cc", "node", "chromium", "file",
    "update-mime-database", "firefox-esr", "WebKitWebDriver", "xvfb-run",
)  # fmt: skip
#: folders of tests that try the package as a whole, as it is published
OF_THE_WHOLE = (ROOT / "tests" / "fuzz", ROOT / "tests" / "laws")


def has_extra(name: str = "") -> bool:
    """Whether a package of `bgfmt.extras` is there; without a name, whether there are any."""
    try:
        return importlib.util.find_spec(f"bgfmt.extras.{name}".rstrip(".")) is not None
    except ModuleNotFoundError:
        return False


def imported_names(path: Path) -> Iterator[str]:
    """Yield the names that a module imports when it is imported itself."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def needs_extras(path: Path) -> bool:
    """Return whether a module imports `bgfmt.extras`, itself or by modules of the tests that it imports."""
    seen = {path}
    waiting = [path]
    while waiting:
        for name in imported_names(waiting.pop()):
            parts = name.split(".")
            if parts[:2] == ["bgfmt", "extras"]:
                return True
            if parts[0] == "tests":
                files = {
                    ROOT.joinpath(*parts[:end]).with_suffix(".py") for end in (len(parts), len(parts) - 1)
                }
                new = {file for file in files - seen if file.is_file()}
                seen |= new
                waiting += new
    return False


def pytest_report_header() -> list[str]:
    """Name the modules that are left out where bgfmt is installed without its extras."""
    if has_extra():
        return []
    modules = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if needs_extras(path)]
    names = [path.relative_to(ROOT).as_posix() for path in (*OF_THE_WHOLE, *modules)]
    return [f"left out, for lack of bgfmt.extras: {', '.join(names)}"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what imports the extras where bgfmt is installed without them."""
    if has_extra():
        return None
    return (
        collection_path in OF_THE_WHOLE
        or (collection_path.suffix == ".py" and needs_extras(collection_path))
        or None
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of an extra that is not there."""
    for mark in item.iter_markers("extra"):
        for name in mark.args:
            if not has_extra(name):
                pytest.skip(f"bgfmt.extras.{name} is not there")


def pytest_configure(config: pytest.Config) -> None:
    """Have the tables that bgfmt makes and keeps made once for all tests, unless XDG_DATA_HOME names a folder."""
    if getattr(config, "cache", None) is not None:
        os.environ.setdefault("XDG_DATA_HOME", str(config.cache.mkdir("data")))


def find_program(name: str) -> str | None:
    """Path of a real program: on PATH, in /usr/games, or beside the running interpreter."""
    if name == "jconsole":
        return find_j()
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games", str(Path(sys.executable).parent)])
    return shutil.which(name, path=search)


@cache
def find_j() -> str | None:
    """J's console; Java has a program of the same name, so each candidate is asked."""
    folders = [str(Path(sys.executable).parent), *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        found = shutil.which("jconsole", path=folder)
        if found is None or "java" in os.path.realpath(found) or "jvm" in os.path.realpath(found):
            continue
        asked = [found, "-js", "echo 'J',9!:14 ''", "exit 0"]
        try:
            said = subprocess.run(
                asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=800, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if said.stdout.lstrip().startswith("Jj"):
            return found
    return None


def find_package(name: str) -> str | None:
    """Folder of a package that `npm ci` has put into tests/web."""
    folder = ROOT / "tests" / "web" / "node_modules" / name
    return str(folder) if folder.is_dir() else None


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], str]:
    """`oracle(name)`: path of a program, or name of an importable module; without it the test is skipped.

    With BGFMT_REQUIRE_ORACLES=1, as in CI, a missing oracle is a failure and never a silent skip.
    """

    def ask(name: str) -> str:
        if name.startswith("npm:"):
            found = find_package(name.removeprefix("npm:"))
        elif name in PROGRAMS:
            found = find_program(name)
        else:
            found = name if importlib.util.find_spec(name.removeprefix("py:")) else None
        if found is None:
            message = f"the real program {name!r} is not installed"
            if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
                pytest.fail(message)
            pytest.skip(message)
        return found

    return ask


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of files made by the real programs."""
    return GOLDEN


@pytest.fixture(scope="session")
def bkg_rows() -> Callable[[Any], Any]:
    """The proof's numbers of BKG's tables, which depend on no file, each calculated once for a process."""
    import numpy as np

    from bgfmt.extras.lab.proofs import compute_rows

    @cache
    def rows(ids: bytes) -> Any:
        return compute_rows(np.frombuffer(ids, np.int64))

    return lambda ids: rows(ids.tobytes())


@pytest.fixture
def bkg_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of BKG's tables take the right numbers from `bkg_rows`."""
    if not has_extra("lab"):
        return
    bkg_rows = request.getfixturevalue("bkg_rows")
    monkeypatch.setattr("bgfmt.extras.lab.proofs.compute_rows", bkg_rows)


@pytest.fixture
def numba_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let numba compile the kernels, here and in programs that the test starts, also where a library has them."""
    folder = tmp_path / "no library"
    monkeypatch.setenv("BGFMT_KERNELS", str(folder))
    monkeypatch.setattr(compiled, "FOLDER", folder)
    for kernel in jit.kernels:  # what other tests have called in this process
        monkeypatch.setattr(kernel, "_functions", {})
    compiled.library.cache_clear()
    yield
    compiled.library.cache_clear()


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """The address of `bgfmt serve`, for the tests of one module."""
    from tests.support import serving

    with serving.ready() as address:
        yield address


@pytest.fixture
def client(base: str) -> Client:
    """A client of that server."""
    from tests.support import serving

    return serving.Client(base)


@pytest.fixture(scope="module")
def document(base: str) -> Any:
    """What that server says of itself."""
    from tests.support import serving

    return serving.Client(base).json("/openapi.json")
