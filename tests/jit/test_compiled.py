"""A library of kernels as a wheel has it, against numba: the same results from the same arguments."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt import jit
from bgfmt.jit import compiled
from tests.conftest import has_extra

sys.path.insert(0, str(Path(__file__).parents[2]))
hook: Any = import_module("hatch_build")
KERNELS = (
    "bgfmt.verifier.recurrence.plays:successors",  # returns arrays
    "bgfmt.extras.lab.engine.bkg.kernels.moves:plays",  # one of them of three dimensions
    "bgfmt.verifier.recurrence.two_sided:values_of",
    "bgfmt.verifier.recurrence.two_sided:expected_tile",  # vector code
    "bgfmt.solver.kernels.maxima:negate_for_opponent",  # four forms
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A library of kernels in use: the one of this run, or one of five kernels for this machine."""
    if compiled.exists():
        yield compiled.FOLDER
        return
    folder = tmp_path_factory.mktemp("library")
    assert hook.build(
        folder, hook.host_levels(), [one for one in KERNELS if ".lab." not in one or has_extra("lab")]
    )
    before = compiled.FOLDER
    compiled.FOLDER = folder
    compiled.library.cache_clear()
    yield folder
    compiled.FOLDER = before
    compiled.library.cache_clear()


def test_every_signature_is_one() -> None:
    """Each names types that numba has, without trying to compile."""
    lines = hook.declared()
    assert len(lines) > (100 if has_extra() else 70)
    for line in lines:
        assert [hook.numba_type(form) for form in hook.split(line.partition(" ")[2])], line


@pytest.mark.slow
def test_a_kernel_that_other_modules_call_declares_a_signature() -> None:
    """By name; those of BKG, which are called one at a time, are run by Python unless they play whole games."""
    hook.declared()  # imports all
    root = Path(compiled.__file__).parents[1]
    called: set[str] = set()
    for path in root.rglob("*.py"):
        text = path.read_text("utf-8")
        if "@njit(" not in text:
            called |= {
                getattr(node, "attr", None) or getattr(node, "id", "") for node in ast.walk(ast.parse(text))
            }
    for kernel in jit.kernels:
        public = kernel.name.startswith("bgfmt.") and not kernel.__name__.startswith("_")
        if public and ".bkg." not in kernel.name and kernel.__name__ in called and not kernel.signatures:
            pytest.fail(f"{kernel.name} declares no signature")


def both(kernel: Any, *args: Any) -> Any:
    """What a kernel returns, by numba and by the library; arrays that it writes to are compared."""
    function = compiled.find_function(f"{kernel.__module__}:{kernel.__qualname__}", args)
    assert function is not None
    copies = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in args)
    by_numba, by_library = kernel.dispatcher(*args), function(*copies)
    for one, other in zip(args, copies, strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
    return by_numba, by_library


@pytest.mark.extra("lab")
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
            both(maxima.negate_for_opponent, out, values, *args)


def test_what_was_not_compiled_is_not_found(made: Path) -> None:
    found = compiled.library()
    assert found is not None
    assert found[2]["bgfmt.solver.kernels.maxima:negate_for_opponent"]
    for kernel in ("negate_for_opponent", "nothing"):
        args = (np.zeros((2, 2), np.int16),) * 7
        assert compiled.find_function(f"bgfmt.solver.kernels.maxima:{kernel}", args) is None
