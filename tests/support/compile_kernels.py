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


def signatures_by_module() -> dict[str, list[tuple[str, str]]]:
    """Return the (kernel, signature) pairs that each module declares, the modules that take longest first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in hatch_build.declared():
        kernel, _, signature = line.partition(" ")
        module, _, function = kernel.partition(":")
        found.setdefault(module, []).append((function, signature))
    names = [*(name for name in LONGEST if name in found), *sorted(found.keys() - {*LONGEST})]
    return {name: found[name] for name in names}


def compile_module(name: str, signatures: list[tuple[str, str]]) -> None:
    """Compile kernels of a module; `signatures` are (kernel, signature) pairs."""
    module = import_module(name)
    for function, signature in signatures:
        dispatcher = getattr(module, function).kept_dispatcher(signature)
        dispatcher.compile(tuple(map(hatch_build.numba_type, hatch_build.split(signature))))


def main() -> None:
    """Compile all kernels with a process for each processor, which takes one module after another."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        declared = signatures_by_module()
        list(pool.map(compile_module, declared.keys(), declared.values()))


if __name__ == "__main__":
    main()
