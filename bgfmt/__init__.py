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
    from bgfmt import analysis as analysis
    from bgfmt import errors as errors
    from bgfmt import formats as formats
    from bgfmt import met as met
    from bgfmt import solver as solver
    from bgfmt import storage as storage
    from bgfmt import tables as tables
    from bgfmt.analysis.advisor import Advisor as Advisor
    from bgfmt.errors import BgfmtError as BgfmtError
    from bgfmt.extras import matches as matches
    from bgfmt.extras.lab.articles import orders as orders
    from bgfmt.extras.matches import annotate as annotate
    from bgfmt.files.convert import convert as convert
    from bgfmt.files.convert import save as save
    from bgfmt.files.database import Database as Database
    from bgfmt.files.database import load as load
    from bgfmt.files.database import open_database
    from bgfmt.files.diff import diff as diff
    from bgfmt.files.solve import solve as solve
    from bgfmt.game import identifiers as identifiers
    from bgfmt.game import moves as moves
    from bgfmt.game.board import Position as Position
    from bgfmt.game.board import Side as Side
    from bgfmt.game.identifiers import parse_position as parse_position
    from bgfmt.game.identifiers import parse_side as parse_side
    from bgfmt.game.state import GameState as GameState
    from bgfmt.tables.flat import arrow as arrow
    from bgfmt.verifier import verify as verify
    from bgfmt.verifier.repair import repair as repair

    open = open_database

__version__ = "0.3.0.dev0"

#: the names in modules, "name=other" where it is called otherwise there; after "." the name is of a module itself
_NAMES = {
    "bgfmt.": "analysis errors formats met solver storage tables",
    "bgfmt.analysis.advisor": "Advisor",
    "bgfmt.errors": "BgfmtError",
    "bgfmt.extras.": "matches",
    "bgfmt.extras.lab.articles.": "orders",
    "bgfmt.extras.matches.": "annotate",
    "bgfmt.files.convert": "convert save",
    "bgfmt.files.database": "Database load open=open_database",
    "bgfmt.files.diff": "diff",
    "bgfmt.files.solve": "solve",
    "bgfmt.game.": "identifiers moves",
    "bgfmt.game.board": "Position Side",
    "bgfmt.game.identifiers": "parse_position parse_side",
    "bgfmt.game.state": "GameState",
    "bgfmt.tables.flat": "arrow",
    "bgfmt.verifier": "verify",
    "bgfmt.verifier.repair": "repair",
}
_HOME = {
    word.partition("=")[0]: (module, word.partition("=")[2] or word)
    for module, words in _NAMES.items()
    for word in words.split()
}

__all__ = list(_HOME)

#: the other name of a package -> the package; both names give the same modules
_OTHER_NAMES = {
    "bgfmt.analysis.thumb": "bgfmt.extras.lab.thumb",
    "bgfmt.annotate": "bgfmt.extras.matches.annotate",
    "bgfmt.articles": "bgfmt.extras.lab.articles",
    "bgfmt.engine": "bgfmt.extras.lab.engine",
    "bgfmt.files.solve_met": "bgfmt.extras.lab.hypergammon_met",
    "bgfmt.formats.bgsage": "bgfmt.extras.lab.formats.bgsage",
    "bgfmt.formats.j": "bgfmt.extras.lab.formats.j",
    "bgfmt.game.orders": "bgfmt.extras.lab.articles.orders",
    "bgfmt.hosts": "bgfmt.extras.hosts",
    "bgfmt.identifiers": "bgfmt.game.identifiers",
    "bgfmt.matches": "bgfmt.extras.matches",
    "bgfmt.matches.write_mat": "bgfmt.extras.matches.mat",
    "bgfmt.matches.write_sgf": "bgfmt.extras.matches.sgf",
    "bgfmt.met.making": "bgfmt.extras.lab.hypergammon_met",
    "bgfmt.moves": "bgfmt.game.moves",
    "bgfmt.orders": "bgfmt.extras.lab.articles.orders",
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
    module, there = _HOME[name]
    value = import_module(module + name) if module.endswith(".") else getattr(import_module(module), there)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
