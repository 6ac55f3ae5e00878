"""The engines there are, by name: bgfmt's own and those of installed packages (entry points `bgfmt.engines`)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from bgfmt.errors import BgfmtError, CapabilityError, EngineError
from bgfmt.extras.lab.engine.guests import Guest
from bgfmt.extras.lab.engine.protocol import Engine

GROUP = "bgfmt.engines"


def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def names() -> list[str]:
    """Names of all engines."""
    return sorted(_found())


def create(name: str, options: Mapping[str, str] | None = None) -> Engine:
    """A new engine; `options` are its own, by name, as words.

    Raises
    ------
    CapabilityError where there is none of that name, or it cannot be loaded; PositionError for an option that it
    does not have; EngineError where a guest raises another error.
    """
    point = _found().get(name)
    if point is None:
        raise CapabilityError(f"no engine is called {name!r} (there are: {', '.join(names())})")
    try:
        made = point.load()
    except Exception as error:
        raise CapabilityError(f"engine {name} cannot be loaded: {type(error).__name__}: {error}") from None
    if point.value.startswith("bgfmt."):
        engine: Engine = made(dict(options or {}))
        return engine
    try:
        return cast(Engine, Guest(made(dict(options or {}))))  # its name is that of the engine it holds
    except BgfmtError:
        raise
    except Exception as error:
        raise EngineError(name, "being made", error) from error
