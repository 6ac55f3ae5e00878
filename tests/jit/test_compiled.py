"""A library of kernels as a wheel has it, against numba: the same results from the same arguments."""

from __future__ import annotations

import ast
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.jit import compiled

sys.path.insert(0, str(Path(__file__).parents[2]))
hook: Any = import_module("hatch_build")
KERNELS = (
    "bgfmt.verifier.recurrence.plays:successors",  # returns arrays
    "bgfmt.extras.lab.engine.bkg.kernels.moves:plays",  # one of them of three dimensions
    "bgfmt.verifier.recurrence.two_sided:values_of",
    "bgfmt.verifier.recurrence.two_sided:expected_tile",  # vector code
    "bgfmt.solver.kernels.maxima:turned",  # four forms
)
LINES = [line for line in hook.FORMS.read_text("ascii").splitlines() if line.startswith(KERNELS)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A library of five kernels for this machine, in use."""
    folder = tmp_path_factory.mktemp("library")
    assert hook.build(folder, "\n".join(LINES), hook.host_levels())
    before = compiled.FOLDER
    compiled.FOLDER = folder
    compiled.library.cache_clear()
    yield folder
    compiled.FOLDER = before
    compiled.library.cache_clear()


def test_every_listed_kernel_is_one() -> None:
    from bgfmt.jit import Kernel

    for line in hook.FORMS.read_text("ascii").splitlines():
        name, _, forms = line.partition(" ")
        module, _, function = name.partition(":")
        assert isinstance(getattr(import_module(module), function), Kernel), line
        assert [hook.numba_type(form) for form in hook.split(forms)], line


@pytest.mark.slow
def test_every_kernel_that_is_called_is_listed() -> None:
    """By name: what the rest of the package calls of the functions that `njit` decorates, private ones where they
    are defined or imported."""
    kernels: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    known: dict[str, set[str]] = {}  # where a name is defined as a kernel or imported
    for path in Path(compiled.__file__).parents[1].rglob("*.py"):
        module = ".".join(
            ("bgfmt", *path.relative_to(Path(compiled.__file__).parents[1]).with_suffix("").parts)
        )
        waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
        for node in waiting:  # grows on the way
            if isinstance(node, ast.FunctionDef) and any(
                "njit" in ast.dump(one) for one in node.decorator_list
            ):
                kernels.setdefault(node.name, set()).add(f"{module}:{node.name}")
                known.setdefault(node.name, set()).add(module)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    known.setdefault(alias.name, set()).add(module)
            else:
                if not isinstance(getattr(node, "ctx", None), ast.Store):
                    name = str(getattr(node, "attr", None) or getattr(node, "id", None))
                    called.setdefault(name, set()).add(module)
                waiting += ast.iter_child_nodes(node)
    listed = {line.partition(" ")[0] for line in hook.FORMS.read_text("ascii").splitlines()}
    assert len(listed) > 100
    missing = {
        name
        for name, places in kernels.items()
        if not places & listed
        and (called.get(name, set()) & known[name] or (name[0] != "_" and name in called))
    }
    assert not missing


def both(kernel: Any, *args: Any) -> Any:
    """What a kernel returns, by numba and by the library; arrays that it writes to are compared."""
    function = compiled.Calls(f"{kernel.__module__}:{kernel.__qualname__}").find(args)
    assert function is not None
    copies = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in args)
    by_numba, by_library = kernel.dispatcher(*args), function(*copies)
    for one, other in zip(args, copies, strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
    return by_numba, by_library


@pytest.mark.slow
def test_results_are_those_of_numba(made: Path) -> None:
    from bgfmt.extras.lab.engine.bkg.kernels import moves
    from bgfmt.game import board
    from bgfmt.solver.kernels import maxima
    from bgfmt.verifier.recurrence import plays, two_sided

    count = board.count(3, 3)
    by_numba, by_library = both(plays.successors, plays.numbering(3), count)
    assert isinstance(by_library, tuple)
    for one, other in zip(by_numba, by_library, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    starts, results = by_library
    start = np.zeros((2, 26), np.int64)
    start[:, [1, 3, 6]] = 2
    for one, other in zip(*both(moves.plays, start, 3, 1), strict=True):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)

    random = np.random.default_rng(1)
    table = random.integers(0, 65536, (count, count, 4), dtype=np.uint16)
    us, them = np.divmod(np.arange(1, count * count), count)
    ends = np.ones((count, 4), np.int64)
    assert both(
        two_sided.values_of,
        table,
        them,
        us,
        them,
        starts,
        results,
        False,
        ends,
        ends,
        np.zeros((len(us), 4), np.int64),
    ) == (None, None)
    tile = random.integers(-32768, 32768, (count, 64)).astype(np.int16)
    places, total = np.arange(count, dtype=np.int32), np.zeros(64, np.int32)
    expected = np.zeros((count, 64), np.uint16)
    small = starts.astype(np.int64), results.astype(np.int32)
    both(two_sided.expected_tile, *small, places, tile, total, False, expected, 0, 64)
    assert len(np.unique(expected[1:])) > 100
    for kind in (np.float32, np.float64):
        for order in (slice(None), slice(None, None, -1)):
            out, values = np.zeros((5, 4), kind)[:, order], random.random((5, 4)).astype(kind)
            args = (
                np.array([True, False, True, False]),
                random.random(4),
                np.array([0, 1, 2, 0]),
                random.random(4),
                random.random(4),
            )
            both(maxima.turned, out, values, *args)


@pytest.mark.parametrize(
    "line",
    [
        'cube os.bd "3 1 0 0 0 3 / 3 0 0 2 0 2" --limit 0 --cube centered',
        'cube os.bd "3 1 0 0 0 3 / 3 0 0 2 0 2" --limit 0 --cube centered --oracle',
        'play os.bd "3 1 0 0 0 3 / 3 0 0 2 0 2" 61 --limit 0',
        'cube "0 2 1 / 1 0 2" --away 3-5',
        'cube "0 2 1 / 1 0 2" --scores 3',
        "solve two-sided 3x2 -o new.bd",
        "solve one-sided 2 -o new.bd",
        "solve match 2x1 --away 2-3 -o new.bgm",
        "convert ts.bd new.bgts",
        "solve match 2x1 --away 2-2 --recipe exact -o new.npz",
        "verify os.bd ts.bd",
        "verify exact.npz",  # whose numbers are not aligned
    ],
)
def test_the_forms_that_commands_call_are_listed(
    line: str, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tuple had got one array more: no wheel could be built, and none would have had what answers a race."""
    from bgfmt import jit
    from bgfmt.cli import run

    called, call = set(), jit.Kernel.__call__

    def recorded(kernel: Any, *args: Any) -> Any:
        forms = ",".join(map(compiled.form, args))
        called.add(f"{kernel.__module__}:{kernel.__qualname__} {forms}")
        return call(kernel, *args)

    monkeypatch.chdir(tmp_path)
    bgfmt.solve("one-sided", 3, 15, "exact.npz", recipe="exact")
    for name, source in (("os.bd", "os_p06.bd"), ("ts.bd", "ts_06x03.bd")):
        Path(name).write_bytes((golden / "gnubg" / source).read_bytes())
    monkeypatch.setattr(jit.Kernel, "__call__", recorded)
    assert run(shlex.split(line)) == 0
    assert called
    assert called <= set(hook.FORMS.read_text("ascii").splitlines())


def test_what_was_not_compiled_goes_to_numba(made: Path) -> None:
    calls = compiled.Calls("bgfmt.solver.kernels.maxima:turned")
    assert calls.forms
    assert calls.find((np.zeros((2, 2), np.int16),) * 7) is None
    assert calls.find(("text",) * 7) is None
    assert not compiled.Calls("bgfmt.solver.kernels.maxima:nothing").forms
