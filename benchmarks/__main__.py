"""`python -m benchmarks`: the comparisons that take minutes, one after the other."""

from __future__ import annotations

import runpy
import sys

for module in ("benchmarks.solver", "benchmarks.formats", "benchmarks.ask"):
    print(f"\n== {module}")
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__")
