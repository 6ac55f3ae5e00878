"""Compile all kernels before the tests: `python -m tests.support.compile_kernels`.

The workers of the tests would each compile the kernels that they meet first. Modules are shared out among processes,
the longest first; numba keeps what it compiles beside each module.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import hatch_build

#: modules that take longest; the others follow in order of their names
LONGEST = ("bgfmt.extras.races.kernels_game", "bgfmt.extras.races.kernels_chains", "bgfmt.analysis.kernels")


def modules() -> list[str]:
    """Return the names of the modules that declare kernels, the longest first."""
    found = {line.partition(":")[0] for line in hatch_build.declared()}
    return [*(name for name in LONGEST if name in found), *sorted(found - {*LONGEST})]


def compile_module(name: str) -> None:
    """Compile every signature that a module declares."""
    import_module(name)
    for line in hatch_build.declared():
        kernel, _, signature = line.partition(" ")
        module, _, function = kernel.partition(":")
        if module == name:
            dispatcher = getattr(import_module(module), function).kept_dispatcher(signature)
            dispatcher.compile(tuple(map(hatch_build.numba_type, hatch_build.split(signature))))


def main(arguments: Sequence[str]) -> None:
    """Compile one module, or all of them in a process for each processor."""
    if arguments:
        compile_module(arguments[0])
        return

    def run(name: str) -> None:
        subprocess.run([sys.executable, "-m", "tests.support.compile_kernels", name], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, modules()))


if __name__ == "__main__":
    main(sys.argv[1:])
