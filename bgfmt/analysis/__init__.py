"""What a player asks once a table is open: races, cubes, plays, at any score.

`Advisor` answers the questions of a `GameState`; the functions beside it answer single questions, and the `*_many`
ones arrays of positions. Names are imported from their modules when first used, so that asking one thing loads
nothing of the others; `__init__.pyi` declares the same names for type checkers. Extras add names by the entry points
`bgfmt.names` that begin with "analysis.".
"""

from __future__ import annotations

from importlib import import_module

from bgfmt.tables.registry import EntryPoint, entry_points

PREFIX = "analysis."  # of the entry points `bgfmt.names` that add names here

_NAMES = {
    "advisor": "Advisor",
    "answers": "Decision PositionEquities RankedPlay RankedPlays Resignation SideRace",
    "choose": "Databases equities_many",
    "cube": "CubeAction",
    "library": "Library",
    "races": "TwoSidedEstimate twosided_from_onesided twosided_many win_chances",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(import_module(f"bgfmt.analysis.{_HOME[name]}"), name)
    else:
        point = _extra_names().get(name)
        if point is None:
            raise AttributeError(f"module 'bgfmt.analysis' has no attribute {name!r}")
        value = point.load()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_extra_names()])


def _extra_names() -> dict[str, EntryPoint]:
    points = {name: point for name, point in entry_points("bgfmt.names").items() if name.startswith(PREFIX)}
    return {name.removeprefix(PREFIX): point for name, point in points.items() if point.is_installed()}
