"""The parts of numba's compiler that intrinsics are written with. Importing this module imports numba."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bgfmt.jit import import_numba

types: Any = import_numba().types
ir: Any = import_module("llvmlite.ir")
cgutils: Any = import_module("numba.core.cgutils")
