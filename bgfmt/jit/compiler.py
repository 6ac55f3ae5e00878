"""The parts of numba's compiler that intrinsics are written with, imported when first asked for something."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Part:
    """A module of numba's."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


types, cgutils = Part("numba.types"), Part("numba.core.cgutils")
