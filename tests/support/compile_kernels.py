"""Compile all kernels before the tests: `python -m tests.support.compile_kernels`.

The workers of the tests would each compile the kernels that they meet first. Modules are shared out among processes,
the longest first; a process starts numba once. Numba keeps what it compiles beside each module.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import hatch_build
from bgfmt import Position
from bgfmt.analysis import estimate_many, play_out

#: a race that reaches beyond ten points
RACE = "1 2 3 2 0 5 1 1 / 2 2 2 2 0 5 0 1 0 0 0 1"
#: where the tests keep the tables that bgfmt makes, see `tests/conftest.py`
DATA = Path(__file__).parents[2] / ".pytest_cache" / "d" / "data"
#: modules that take longest; the others follow in order of their names
LONGEST = ("bgfmt.analysis.kernels",)


#: modules whose kernels `run_races` compiles
RACES = ("bgfmt.extras.races.kernels_chains", "bgfmt.extras.races.kernels_game")


def run_races() -> None:
    """Estimate and roll out a race.

    That compiles kernels for the read-only tables that they are given, which declared signatures do not say. In one
    process, as they have most of their code in common.
    """
    position = Position.parse(RACE)
    sides = [[side.padded(12)] for side in (position.us, position.them)]
    estimate_many(*sides, threads=1)
    play_out(RACE, error=1.0, threads=1)


def signatures_by_module() -> dict[str, list[tuple[str, str]]]:
    """Return the (kernel, signature) pairs that each module declares, the modules that take longest first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in hatch_build.declared():
        kernel, _, signature = line.partition(" ")
        module, _, function = kernel.partition(":")
        found.setdefault(module, []).append((function, signature))
    names = [*LONGEST, *sorted(found.keys() - {*LONGEST, *RACES})]
    return {name: found[name] for name in names}


def compile_module(name: str, signatures: list[tuple[str, str]]) -> None:
    """Compile kernels of a module; `signatures` are (kernel, signature) pairs."""
    module = import_module(name)
    for function, signature in signatures:
        dispatcher = getattr(module, function).kept_dispatcher(signature)
        dispatcher.compile(tuple(map(hatch_build.numba_type, hatch_build.split(signature))))


def main() -> None:
    """Compile all kernels with a process for each processor, which takes one module after another."""
    os.environ.setdefault("XDG_DATA_HOME", str(DATA))
    DATA.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        declared = signatures_by_module()
        races = pool.submit(run_races)
        list(pool.map(compile_module, declared.keys(), declared.values()))
        races.result()


if __name__ == "__main__":
    main()
