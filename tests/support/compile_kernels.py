"""Compile all kernels before the tests: `python -m tests.support.compile_kernels`.

The workers of the tests would each compile the kernels that they meet first. Modules are shared out among processes,
the longest first; a process starts numba once. Numba keeps what it compiles beside each module.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

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


def main() -> None:
    """Compile all kernels with a process for each processor, which takes one module after another."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        list(pool.map(compile_module, modules()))


if __name__ == "__main__":
    main()
