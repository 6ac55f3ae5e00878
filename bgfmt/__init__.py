"""bgfmt: read, write, convert, verify and regenerate backgammon bearoff databases.

    import bgfmt
    from bgfmt import Position, Side

    with bgfmt.open("gnubg_os0.bd") as db:
        race = db.lookup(Side(0, 2, 2, 2, 0, 4))
        race.mean_rolls, race.epc, race.wastage

This page holds names and does no work: every module behind a name is imported when the name is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bgfmt import analysis, errors, formats, met, solver, tables
    from bgfmt.analysis.advisor import Advisor
    from bgfmt.errors import BgfmtError
    from bgfmt.extras import matches
    from bgfmt.extras.matches import annotate
    from bgfmt.files.convert import convert, save
    from bgfmt.files.database import Database, load
    from bgfmt.files.database import open_database as open
    from bgfmt.files.diff import diff
    from bgfmt.files.solve import solve
    from bgfmt.game import identifiers, moves, orders
    from bgfmt.game.board import Position, Side
    from bgfmt.game.identifiers import parse_position, parse_side
    from bgfmt.game.state import GameState
    from bgfmt.tables.arrow import arrow
    from bgfmt.verifier import verify
    from bgfmt.verifier.repair import repair

__version__ = "0.3.0.dev0"

#: name -> module it lives in; ":" and another name where it is called otherwise there, ":" alone for the module
_HOME = {
    "arrow": "bgfmt.tables.arrow",
    "Advisor": "bgfmt.analysis.advisor",
    "GameState": "bgfmt.game.state",
    "Position": "bgfmt.game.board",
    "Side": "bgfmt.game.board",
    "Database": "bgfmt.files.database",
    "convert": "bgfmt.files.convert",
    "load": "bgfmt.files.database",
    "save": "bgfmt.files.convert",
    "open": "bgfmt.files.database:open_database",
    "BgfmtError": "bgfmt.errors",
    "parse_position": "bgfmt.game.identifiers",
    "parse_side": "bgfmt.game.identifiers",
    "verify": "bgfmt.verifier",
    "repair": "bgfmt.verifier.repair",
    "diff": "bgfmt.files.diff",
    "analysis": "bgfmt.analysis:",
    "annotate": "bgfmt.extras.matches.annotate:",
    "errors": "bgfmt.errors:",
    "formats": "bgfmt.formats:",
    "identifiers": "bgfmt.game.identifiers:",
    "matches": "bgfmt.extras.matches:",
    "met": "bgfmt.met:",
    "moves": "bgfmt.game.moves:",
    "orders": "bgfmt.game.orders:",
    "solve": "bgfmt.files.solve",
    "solver": "bgfmt.solver:",
    "tables": "bgfmt.tables:",
}

__all__ = [
    "Advisor",
    "BgfmtError",
    "Database",
    "GameState",
    "Position",
    "Side",
    "analysis",
    "annotate",
    "arrow",
    "convert",
    "diff",
    "errors",
    "formats",
    "identifiers",
    "load",
    "matches",
    "met",
    "moves",
    "open",
    "orders",
    "parse_position",
    "parse_side",
    "repair",
    "save",
    "solve",
    "solver",
    "tables",
    "verify",
]

#: the other name of a package -> the package; both names give the same modules
_OTHER_NAMES = {
    "bgfmt.analysis.thumb": "bgfmt.extras.lab.thumb",
    "bgfmt.annotate": "bgfmt.extras.matches.annotate",
    "bgfmt.articles": "bgfmt.extras.lab.articles",
    "bgfmt.engine": "bgfmt.extras.lab.engine",
    "bgfmt.hosts": "bgfmt.extras.hosts",
    "bgfmt.matches": "bgfmt.extras.matches",
    "bgfmt.matches.write_mat": "bgfmt.extras.matches.mat",
    "bgfmt.matches.write_sgf": "bgfmt.extras.matches.sgf",
    "bgfmt.playing": "bgfmt.extras.lab.playing",
    "bgfmt.study": "bgfmt.extras.lab.study",
}


class _OtherNames:
    """Finds and loads modules by the other names of their packages."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        parts = name.split(".")
        for package in (".".join(parts[:3]), ".".join(parts[:2])):
            if package in _OTHER_NAMES:
                real = _OTHER_NAMES[package] + name.removeprefix(package)
                return ModuleSpec(name, _OtherNames, origin=real)  # type: ignore[arg-type]
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> Any:
        module = import_module(spec.origin or "")
        spec.loader_state = module.__spec__
        return module

    @staticmethod
    def exec_module(module: Any) -> None:
        module.__spec__ = module.__spec__.loader_state  # Python has put the spec of the other name there


sys.meta_path.insert(0, _OtherNames)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bgfmt' has no attribute {name!r}")
    home, colon, other = _HOME[name].partition(":")
    module = import_module(home)
    value = module if colon and not other else getattr(module, other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
