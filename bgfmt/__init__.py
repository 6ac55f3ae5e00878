"""bgfmt: read, write, convert, verify and regenerate backgammon bearoff databases.

    import bgfmt
    from bgfmt import Position, Side

    with bgfmt.open("gnubg_os0.bd") as db:
        race = db.lookup(Side(0, 2, 2, 2, 0, 4))
        race.mean_rolls, race.epc, race.wastage

The module of a name is imported when the name is first used; `__init__.pyi` declares the same names for type
checkers. Extras add names by the entry points `bgfmt.names`.
"""

from __future__ import annotations

__version__ = "0.3.0"

#: public name -> where it is defined, `module` or `module:attribute`
_NAMES = {
    "Advisor": "bgfmt.analysis.advisor:Advisor",
    "BgfmtError": "bgfmt.errors:BgfmtError",
    "Database": "bgfmt.files.database:Database",
    "GameState": "bgfmt.game.state:GameState",
    "Position": "bgfmt.game.board:Position",
    "Side": "bgfmt.game.board:Side",
    "analysis": "bgfmt.analysis",
    "convert": "bgfmt.files.convert:convert",
    "diff": "bgfmt.files.diff:diff",
    "errors": "bgfmt.errors",
    "formats": "bgfmt.formats",
    "identifiers": "bgfmt.game.identifiers",
    "load": "bgfmt.files.database:load",
    "met": "bgfmt.met",
    "moves": "bgfmt.game.moves",
    "open": "bgfmt.files.database:open_database",
    "parse_position": "bgfmt.game.identifiers:parse_position",
    "parse_side": "bgfmt.game.identifiers:parse_side",
    "repair": "bgfmt.verifier.repair:repair",
    "save": "bgfmt.files.convert:save",
    "solve": "bgfmt.files.solve:solve",
    "solver": "bgfmt.solver",
    "storage": "bgfmt.storage",
    "tables": "bgfmt.tables",
    "verify": "bgfmt.verifier:verify",
}

__all__ = list(_NAMES)


def __getattr__(name: str) -> object:
    from importlib import import_module  # here, so that little runs before `bgfmt.__main__` handles Ctrl-C

    place = _NAMES.get(name) or _extra_names().get(name)
    if place is None:
        raise AttributeError(f"module 'bgfmt' has no attribute {name!r}")
    module, _, attribute = place.partition(":")
    value = import_module(module)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_NAMES, *_extra_names(), "__version__"])


def _extra_names() -> dict[str, str]:
    from importlib import import_module

    registry = import_module("bgfmt.tables.registry")
    points = registry.entry_points("bgfmt.names").items()
    return {name: point.value for name, point in points if "." not in name and point.is_installed()}
