"""Which files the code of a kernel is made from, and how they can be told from others."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

Stamp = tuple[tuple[str, int, int], ...]
_kernels: dict[str, dict[str, Any]] = {}  # a kernel module's file -> its names


def enter(function: Callable[..., Any]) -> None:
    """Note the module of a kernel."""
    module = function.__globals__
    _kernels[str(module.get("__file__"))] = module


def stamp(function: Callable[..., Any]) -> Stamp:
    """Name, time and size of the file of a kernel and of those of the kernels that it may call, all the way down.

    Their code becomes part of its own. Asked when the kernel is first called: its module is whole then.
    """
    here = str(function.__globals__.get("__file__"))
    reached = {here}
    waiting = [here]
    while waiting:
        for name in _called(_kernels.get(waiting.pop(), {})) - reached:
            reached.add(name)
            waiting.append(name)
    stamps = []
    for name in sorted(reached):
        status = os.stat(name)
        stamps.append((os.path.basename(name), status.st_mtime_ns, status.st_size))
    return tuple(stamps)


def _called(module: dict[str, Any]) -> set[str]:
    """The files of other kernel modules that a module has names from."""
    used: set[str] = set()
    for value in list(module.values()):
        if isinstance(value, ModuleType):
            used.add(str(getattr(value, "__file__", "")))
        elif "py_func" in getattr(value, "__dict__", ()):  # looked up so, it makes nothing import numba
            used.add(value.py_func.__code__.co_filename)
    return used & _kernels.keys()
