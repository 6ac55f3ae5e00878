"""bgfmt: read, write, convert, verify and regenerate backgammon bearoff databases.

    import bgfmt
    from bgfmt import Position, Side

    with bgfmt.open("gnubg_os0.bd") as db:
        race = db.lookup(Side(0, 2, 2, 2, 0, 4))
        race.mean_rolls, race.epc, race.wastage

This page holds names and does no work: every module behind a name is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bgfmt import analysis, formats, identifiers, orders, solver
    from bgfmt.board import Position, Side
    from bgfmt.database import Database, convert, load, save
    from bgfmt.database import open_database as open
    from bgfmt.errors import BgfmtError
    from bgfmt.identifiers import parse_position, parse_side
    from bgfmt.verifier import diff, repair, verify

__version__ = "0.1.0"

_HOME = {
    "Position": "bgfmt.board",
    "Side": "bgfmt.board",
    "Database": "bgfmt.database",
    "convert": "bgfmt.database",
    "load": "bgfmt.database",
    "save": "bgfmt.database",
    "open": "bgfmt.database:open_database",
    "BgfmtError": "bgfmt.errors",
    "parse_position": "bgfmt.identifiers",
    "parse_side": "bgfmt.identifiers",
    "verify": "bgfmt.verifier",
    "repair": "bgfmt.verifier",
    "diff": "bgfmt.verifier",
    "analysis": "",
    "formats": "",
    "identifiers": "",
    "orders": "",
    "solver": "",
}

__all__ = [
    "BgfmtError",
    "Database",
    "Position",
    "Side",
    "analysis",
    "convert",
    "diff",
    "formats",
    "identifiers",
    "load",
    "open",
    "orders",
    "parse_position",
    "parse_side",
    "repair",
    "save",
    "solver",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bgfmt' has no attribute {name!r}")
    home, _, other = _HOME[name].partition(":")
    value = import_module(f"bgfmt.{name}") if not home else getattr(import_module(home), other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
