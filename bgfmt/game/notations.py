"""Functions that read, write and draw positions, by name.

`bgfmt.game` registers them when it is imported, so that `board` and `state` import no module that is built on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def register(**functions: Callable[..., Any]) -> None:
    """Register functions that read, write or draw positions, each under its keyword; see `notation`."""
    _FUNCTIONS.update(functions)


def notation(name: str) -> Callable[..., Any]:
    """Return the function registered under a name, such as `parse`, `position_id`, `gnubg_id` or `picture`."""
    return _FUNCTIONS[name]
