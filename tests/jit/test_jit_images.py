"""Images of kernels: called only for what they were compiled for, and with the same answers as numba's own way."""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bgfmt.jit import emitting, images

Pair = namedtuple("Pair", "first second")


class Mixed(NamedTuple):
    numbers: Any
    scale: float


def _array(dtype: str, *shape: int) -> Any:
    return np.arange(np.prod(shape)).astype(dtype).reshape(shape)


READ_ONLY = _array("i8", 4)
READ_ONLY.flags.writeable = False
ARGUMENTS: list[tuple[Any, ...]] = [
    (1, 2.5, True, np.int32(-7), np.uint8(200), np.float32(0.5), np.bool_(False), np.uint64(2**63)),
    (_array("u2", 3, 4, 5), _array("f8", 2), _array("?", 3), _array("i1", 1, 1)),
    (_array("i4", 6, 6)[::2], _array("i4", 6, 6)[:, 1], _array("i4", 6, 6).T, _array("i4", 6)[::-1]),
    (READ_ONLY, _array("i8", 0), _array("i8", 0, 3), np.frombuffer(bytes(12), np.int32)),
    ((1, 2), (1, 2.0), (), ((3, _array("f4", 2)), 4)),
    (Pair(1, 2), Pair(1.0, 2), Mixed(_array("u4", 3), 0.5), (Pair(1, 2),)),
]
UNALIGNED = np.frombuffer(bytes(33), np.uint8)[1:].view(np.int64)  # numba takes it for aligned


@pytest.mark.parametrize("args", ARGUMENTS)
def test_kinds_are_those_of_numbas_types(args: tuple[Any, ...]) -> None:
    import numba

    kinds, values = images.flattened(args)
    assert kinds == emitting.kinds_of([numba.typeof(arg) for arg in args])
    assert kinds is not None
    assert len(values) == len(images.slots(kinds))


def test_images_are_of_aligned_arrays_alone() -> None:
    (kind,) = images.flattened([UNALIGNED])[0] or ()
    assert not kind[2] & images.ALIGNED
    assert images.flattened([READ_ONLY])[0] != (kind,)


def test_kinds_tell_apart_what_numba_tells_apart() -> None:
    import numba

    every = [arg for args in ARGUMENTS for arg in args]
    for one in every:
        for other in every:
            if images.flattened([one])[0] == images.flattened([other])[0]:
                assert numba.typeof(one) == numba.typeof(other)


@pytest.mark.parametrize("arg", [None, "text", b"bytes", 1j, [1], {}, object(), np.complex64(1), (1, None)])
def test_what_has_no_kind(arg: Any) -> None:
    assert images.flattened([1, arg])[0] is None


PROGRAM = '''
import sys
import numpy as np
from bgfmt.jit import njit

@njit()
def weigh(numbers, weights, shift):
    """Strides, a type of its own for each argument, memory of its own, two results."""
    total = np.zeros(numbers.shape[0])
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            total[i] += numbers[i, j] * weights[j]
    largest = total[0]
    for value in total:
        largest = max(largest, value)
    return largest, np.int64(total.sum()) >> shift

@njit()
def divide(a, b):
    return a // b

@njit()
def fill(target, value):
    for i in range(target.size):
        target[i] = value

@njit()
def refuse(a):
    if a > 3:
        raise ValueError("more than three")
    return a > 2

@njit()
def doubled(numbers):
    return numbers * 2

@njit()
def lists(count):
    numbers, rows = np.arange(count), np.zeros((count, 2), np.float32)
    rows[:, 0] = numbers
    return numbers[1:], count, rows, numbers

@njit()
def half(numbers):
    return numbers[::2]

@njit()
def put(target, values):
    target[: values.size] = values

numbers = np.arange(48).reshape(6, 8).astype(np.int16)
weights = np.linspace(0, 1, 8)
target = np.zeros(5, np.float32)
print(weigh(numbers, weights, 2), weigh(numbers[::2, ::-1], weights, np.uint8(1)))
print(weigh(numbers.T[:8], weights[:6], True), weigh(numbers.astype(np.uint8), weights[::-1], 0))
print(divide(7, 2), divide(-7.5, 2), divide(np.int32(7), np.uint8(4)), refuse(3), refuse(1.5))
print(fill(target, 0.25), target)
shared = lists(4)
shared[3][1] = 77
half(shared[0])[1] = 5
print(shared, shared[2].flags.writeable, half(shared[0]))
put(target, np.ones(2, np.float32))
try:
    put(target, np.ones(7, np.float32))
except ValueError:
    print(target)
for call in (lambda: divide(1, 0), lambda: refuse(4)):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)
if "all" in sys.argv:
    print(doubled(numbers)[1, :3], divide(b=3, a=10), fill(target[::2], 1), target)
    for a in (2**64, "text"):
        try:
            divide(a, 1)
        except Exception as error:
            print(type(error).__name__)
print("numba" if "numba" in sys.modules else "images")
'''


class Program:
    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        (folder / "program.py").write_text(PROGRAM)

    def run(self, *words: str, before: str = "", **environment: str) -> tuple[str, str]:
        """What it prints, and which way it went."""
        env = dict(
            os.environ, NUMBA_CACHE_DIR=str(self.cache), HOME=str(self.folder), PYTHONDONTWRITEBYTECODE="1"
        )
        code = f"{before}\nimport sys; sys.argv = {['program.py', *words]!r}; sys.path.insert(0, '')\nimport program"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, env=env | environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        said, _, way = done.stdout.strip().rpartition("\n")
        return said, way

    def files(self) -> list[Path]:
        return sorted(self.cache.rglob("*.image"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("program"))


def test_both_ways_say_the_same(program: Program) -> None:
    first, way = program.run()
    assert way == "numba"
    assert program.run() == (first, "images")
    assert "ZeroDivisionError integer division by zero" in first
    assert "ValueError more than three" in first


def test_what_no_image_takes_goes_by_numba(program: Program) -> None:
    program.run()
    first, _ = program.run("all")
    assert "[16 18 20] 3 None" in first
    assert first.endswith("OverflowError\nTypingError")
    assert program.run("all") == (first, "numba")


def test_an_image_of_another_processor_is_not_called(program: Program) -> None:
    said, _ = program.run()
    before = "from bgfmt.jit import images\nfound = images.machine()\nimages.machine = lambda: ('other', *found[1:])"
    assert program.run(before=before) == (said, "numba")


def test_an_image_of_another_compiler_is_not_called(program: Program) -> None:
    said, _ = program.run()
    before = (
        "from bgfmt.jit import images\nfound = images.tools()\nimages.tools = lambda: ('0.0', *found[1:])"
    )
    assert program.run(before=before) == (said, "numba")


OTHERWISE = {
    "an error": "def fail(*_): raise RuntimeError\nemitting._entry = fail",
    "a version never tried": "emitting.TRIED = set()",
}


@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_code_of_which_no_image_can_be_made_is_compiled_once(tmp_path: Path, otherwise: str) -> None:
    program = Program(tmp_path)
    said, way = program.run(before="from bgfmt.jit import emitting\n" + OTHERWISE[otherwise])
    kept = [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in program.files()]
    assert way == "numba"
    assert {size for _, _, size in kept} == {32}  # checksums of nothing
    assert program.run() == (said, "numba")
    assert [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in program.files()] == kept


def test_a_process_told_how_to_compile_calls_none(program: Program) -> None:
    said, _ = program.run()
    assert program.run(NUMBA_BOUNDSCHECK="0") == (said, "numba")
    assert program.run(NUMBA_NUM_THREADS="1") == (said, "images")


def test_images_of_one_kernel_are_not_taken_for_others(tmp_path: Path) -> None:
    program = Program(tmp_path)
    said, _ = program.run()
    files = program.files()
    contents = [path.read_bytes() for path in files]
    for path, data in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(data)
    assert program.run() == (said, "numba")
    assert program.run() == (said, "images")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    program = Program(tmp_path)
    said, _ = program.run()
    before = [path.read_bytes() for path in program.files()]
    for folder in program.cache.iterdir():
        folder.chmod(0o555)
    assert program.run() == (said, "images")
    assert [path.read_bytes() for path in program.files()] == before


SUMMED = """
import numpy as np
from bgfmt.jit import njit

@njit()
def summed(numbers):
    copied = np.empty(numbers.size, np.int64)
    for i in range(numbers.size):
        copied[i] = numbers[i]
    total = 0
    for number in copied:
        total += number
    return total

if __name__ == "__main__":
    print(summed(np.arange(10)))
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A kernel whose image another process made."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "summing.py"
    file.write_text(SUMMED)
    subprocess.run([sys.executable, file], check=True)
    spec = importlib.util.spec_from_file_location("summing", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.summed


def test_threads_call_one_image_at_once(kernel: Any) -> None:
    rows = np.arange(64 * 500, dtype=np.int64).reshape(64, 500)
    with ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(kernel, [row for row in rows for _ in range(20)]))
    assert sums == [int(row.sum()) for row in rows for _ in range(20)]
    assert next(iter(kernel._images.values())) is not None


def test_memory_of_its_own_is_given_back(kernel: Any) -> None:
    row = np.arange(1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):  # 8 MB each
        assert kernel(row) == 499_999_500_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000


def test_many_quick_calls_go_by_numba(kernel: Any) -> None:
    row = np.arange(10)
    for _ in range(300):
        assert kernel(row) == 45
    assert kernel._quick > 5000


def test_a_kernel_without_images_is_numbas_dispatcher() -> None:
    from bgfmt.formats.compressed import kernels_records

    assert hasattr(
        kernels_records.record, "overloads"
    )  # one look-up in a compressed table: 5 us, 14 by an image


def test_kernels_are_stamped_without_numba() -> None:
    code = (
        "import sys\nfrom bgfmt.jit import sources\n"
        "from bgfmt.solver.kernels import two_sided\n"
        "from bgfmt.verifier.recurrence import kernels_two_sided\n"
        "for kernel in (two_sided.squares, kernels_two_sided.expected_tile):\n"
        "    assert len(sources.stamp(kernel.py_func)) > 1\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
