"""The parts of numba's compiler that intrinsics are written with. Importing this module imports numba."""

from __future__ import annotations

from bgfmt.jit import import_numba

import_numba()

from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.core import cgutils  # noqa: E402

__all__ = ["cgutils", "ir", "types"]
