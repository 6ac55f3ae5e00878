"""How positions and states are written and drawn: functions that the modules which do it register here.

`bgfmt.game.board` and `bgfmt.game.state` look up here what `Position.parse`, `Position.id` and the pictures of
notebooks need, so that they import none of the modules that are built on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def register(**functions: Callable[..., Any]) -> None:
    """Register functions that read, write or draw positions, by the names that boards and states use."""
    _FUNCTIONS.update(functions)


def notation(name: str) -> Callable[..., Any]:
    """Return a registered function by name: `parse`, `position_id`, `gnubg_id`, `xgid`, `picture` and so on."""
    return _FUNCTIONS[name]
