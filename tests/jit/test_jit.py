"""Compiled code that is kept on disk, and what happens where it cannot be read or written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt import jit

KERNELS = """
import sys
from bgfmt import jit
from bgfmt.jit import njit
import callee

@njit("i8, i8", "f8, f8")
def plus(a, b):
    return callee.twice(a) + b

twice = callee.twice

@njit("i8")
def minus(a):
    return twice(a) - 1

compiled = []
if __name__ == "__main__":
    with jit.watching(lambda: compiled.append(1)):
        print(plus(1, 2), plus(1.5, 2.0), minus(3))
    print("compiled" if compiled else "kept")
"""
CALLEE = """
from bgfmt.jit import njit

@njit()
def twice(a):
    return FACTOR * a
"""


class Kernels:
    """A program with kernels in two modules, run in processes of its own with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        (folder / "program.py").write_text(KERNELS)
        self.factor(2)

    def factor(self, number: int) -> None:
        (self.folder / "callee.py").write_text(CALLEE.replace("FACTOR", str(number)))

    def run(self, **environment: str) -> list[str]:
        env = dict(
            os.environ, NUMBA_CACHE_DIR=str(self.cache), HOME=str(self.folder), PYTHONDONTWRITEBYTECODE="1"
        )
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=self.folder, env=env | environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    def files(self, suffix: str) -> list[Path]:
        return sorted(self.cache.rglob(f"*{suffix}"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    kernels = Kernels(tmp_path_factory.mktemp("kernels"))
    assert kernels.run() == ["4", "5.0", "5", "compiled"]
    assert kernels.run() == ["4", "5.0", "5", "kept"]
    return kernels


@pytest.fixture
def kernels(compiled: Kernels, tmp_path: Path) -> Iterator[Kernels]:
    """A program whose code is kept; afterwards the folder is as it was."""
    shutil.copytree(compiled.folder, tmp_path / "before")
    yield compiled
    shutil.rmtree(compiled.folder)
    shutil.copytree(tmp_path / "before", compiled.folder)


@pytest.mark.slow
def test_each_signature_has_a_folder_of_its_own(kernels: Kernels) -> None:
    """Numba numbers the files of a folder, and two processes at once may give two signatures one number."""
    folders = [file.parent for file in kernels.files(".nbc")]
    assert len(folders) == 3  # two signatures of `plus`, one of `minus`; `twice` is part of both
    assert len(set(folders)) == len(folders)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_code_that_cannot_be_read_is_made_again(kernels: Kernels, suffix: str) -> None:
    files = kernels.files(suffix)
    assert len(files) >= 3
    for number, path in enumerate(files):
        path.write_bytes(path.read_bytes()[:-7] if number % 2 else b"")
    for kept in ("compiled", "compiled", "kept"):
        assert kernels.run() == ["4", "5.0", "5", kept]


@pytest.mark.slow
def test_a_kernel_that_calls_changed_code_is_made_again(kernels: Kernels) -> None:
    kernels.factor(3)
    assert kernels.run() == ["5", "6.5", "8", "compiled"]


@pytest.mark.slow
def test_no_place_to_keep_code_in(kernels: Kernels) -> None:
    (kernels.folder / "__pycache__").write_text("a file where numba wants its folder")
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_DIR": "/dev/null/cache"}
    assert kernels.run(**nowhere) == ["4", "5.0", "5", "compiled"]


@pytest.mark.slow
def test_a_full_disk_under_the_cache(tmp_path: Path) -> None:
    kernels = Kernels(tmp_path)
    kernels.cache.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", kernels.cache]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        for _ in range(2):
            assert kernels.run() == ["4", "5.0", "5", "compiled"]
        assert kernels.files(".tmp.*") == []
    finally:
        subprocess.run(["umount", "-l", kernels.cache], check=True)


def add(one: object, other: object) -> object:
    return one + other  # type: ignore[operator]


def test_a_kernel_takes_what_it_declares_alone() -> None:
    """In a checkout as in a wheel: numba would compile for any type."""
    kernel: Any = jit.njit("i8, f8.1C", "i8, (f8, b1)")(add)
    for args in (
        (1.0, np.zeros(2)),
        (1, np.zeros(2, np.float32)),
        (1, np.zeros(4)[::2]),
        (1, (1, True)),
        (1,),
    ):
        with pytest.raises(TypeError, match=r"test_jit:add is called with .* but declares \(i8,f8\.1C\) or "):
            kernel(*args)
    with pytest.raises(TypeError, match="no kernel takes str"):
        kernel(1, "text")


def test_a_kernel_that_declares_nothing_is_run_by_python() -> None:
    kernel: Any = jit.njit()(add)
    assert kernel("a", "b") == "ab"
    assert kernel.function_for(1, 2) is add


def test_importing_it_does_not_import_numba() -> None:
    code = "import sys, bgfmt.jit; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_innermost_watcher_alone_is_told() -> None:
    said: list[str] = []
    with jit.watching(lambda: said.append("outer")):
        with jit.watching(lambda: said.append("inner")):
            jit.notify_watcher()
        jit.notify_watcher()
    jit.notify_watcher()
    assert said == ["inner", "outer"]
