"""The tables that flow through bgfmt; kinds that are alike share a module.

>>> import bgfmt
>>> from bgfmt.tables import KINDS
>>> sorted(KINDS)[:5]
['bkg', 'components', 'expected-points', 'hypergammon', 'hypergammon-exact']
>>> [column.name for column in bgfmt.load("fixtures/golden/gnubg/ts_06x02.bd").columns]
['win', 'cubeless', 'owned', 'centered', 'opponent']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# `__all__` is made of the list below, which mypy and ruff do not see
# mypy: implicit-reexport
# ruff: noqa: F401, PLE0604
if TYPE_CHECKING:
    from bgfmt.tables.base import (
        BLOCK_BYTES,
        KINDS,
        Answer,
        ArrayRule,
        Breach,
        Coarser,
        Column,
        Listing,
        OfBothSides,
        OfOneSide,
        OfRaces,
        Table,
        of_kind,
        same_numbers,
    )
    from bgfmt.tables.hypergammon import HYPER_EQUITIES, OUTCOMES, ExactHypergammon, Hypergammon, HyperOutcome
    from bgfmt.tables.match_score import MatchEntry, MatchScore
    from bgfmt.tables.one_sided import OneSided, Race
    from bgfmt.tables.rolls import Estimate, MeanRolls, NormalOneSided, OfRolls, OneSideAnswer, Rolls
    from bgfmt.tables.rows import LazyRows, PlacedPairs, Rows
    from bgfmt.tables.two_sided import (
        EQUITY_COLUMNS,
        Equities,
        FineTwoSided,
        GammonTwoSided,
        JacobyTwoSided,
        TwoSided,
    )

#: the names in modules that are imported when one of their names is first asked for; the classes of all other kinds
#: come by the entry points of `KINDS`
_NAMES = {
    "base": "BLOCK_BYTES KINDS Answer ArrayRule Breach Coarser Column Listing OfBothSides OfOneSide OfRaces Table "
    "of_kind same_numbers",
    "hypergammon": "HYPER_EQUITIES OUTCOMES ExactHypergammon HyperOutcome Hypergammon",
    "match_score": "MatchEntry MatchScore",
    "one_sided": "OneSided Race",
    "rolls": "Estimate MeanRolls NormalOneSided OfRolls OneSideAnswer Rolls",
    "rows": "LazyRows PlacedPairs Rows",
    "two_sided": "EQUITY_COLUMNS Equities FineTwoSided GammonTwoSided JacobyTwoSided TwoSided",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOME, "Components", "ExpectedPoints", "Gillogly"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"bgfmt.tables.{_HOME[name]}"), name)
    else:
        from bgfmt.tables.base import KINDS

        kinds = [kind for kind, point in KINDS.points.items() if point.value.endswith(f":{name}")]
        if name not in __all__ or not kinds:
            raise AttributeError(f"module 'bgfmt.tables' has no attribute {name!r}")
        value = KINDS[kinds[0]]
    globals()[name] = value
    return value
