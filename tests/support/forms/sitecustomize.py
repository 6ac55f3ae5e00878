"""Python started with this folder on PYTHONPATH writes the kernels that it calls, and the forms of their arguments,
into the file FORMS. `python -m tests.support.forms` makes `bgfmt/jit/forms.txt` of what the test suite calls."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from typing import Any


def _record(jit: Any) -> None:
    from bgfmt.jit.compiled import form

    call, known = jit.Kernel.__call__, set()

    def recorded(kernel: Any, *args: Any) -> Any:
        forms = ",".join(map(form, args))
        line = f"{kernel.__module__}:{kernel.__qualname__} {forms}"
        if line not in known:
            known.add(line)
            with open(os.environ["FORMS"], "a") as file:
                file.write(f"{line}\n")
        return call(kernel, *args)

    jit.Kernel.__call__ = recorded


class Finder:
    """Finds `bgfmt.jit` as Python does, and has it record."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name != "bgfmt.jit":
            return None
        spec: Any = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _record(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
