"""The tables that flow through bgfmt, one module a kind.

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

from bgfmt.tables.answers import Answer, Listing
from bgfmt.tables.base import BLOCK_BYTES, ArrayRule, Breach, Coarser, Column, Table, of_kind, same_numbers
from bgfmt.tables.rows import LazyRows, Rows

if TYPE_CHECKING:
    from bgfmt.extras.lab.tables.expected_points import ExpectedPoints
    from bgfmt.extras.lab.tables.gillogly import Gillogly
    from bgfmt.tables.base import KINDS
    from bgfmt.tables.components import Components
    from bgfmt.tables.exact_hypergammon import ExactHypergammon
    from bgfmt.tables.fine_two_sided import FineTwoSided
    from bgfmt.tables.hypergammon import HYPER_EQUITIES, OUTCOMES, Hypergammon, HyperOutcome
    from bgfmt.tables.match_score import MatchEntry, MatchScore
    from bgfmt.tables.mean_rolls import MeanRolls
    from bgfmt.tables.normal import NormalOneSided
    from bgfmt.tables.numbering import OfBothSides, OfOneSide, OfRaces
    from bgfmt.tables.one_sided import OneSided, Race
    from bgfmt.tables.placed import PlacedPairs
    from bgfmt.tables.rolls import Estimate, OfRolls, OneSideAnswer, Rolls
    from bgfmt.tables.two_sided import EQUITY_COLUMNS, Equities, TwoSided

#: what lives in a kind's own module, which is imported when first asked for
_HOME = {
    "Components": "components",
    "EQUITY_COLUMNS": "two_sided",
    "Equities": "two_sided",
    "Estimate": "rolls",
    "ExactHypergammon": "exact_hypergammon",
    "ExpectedPoints": "bgfmt.extras.lab.tables.expected_points",
    "FineTwoSided": "fine_two_sided",
    "Gillogly": "bgfmt.extras.lab.tables.gillogly",
    "HYPER_EQUITIES": "hypergammon",
    "HyperOutcome": "hypergammon",
    "Hypergammon": "hypergammon",
    "MatchEntry": "match_score",
    "MatchScore": "match_score",
    "MeanRolls": "mean_rolls",
    "NormalOneSided": "normal",
    "OUTCOMES": "hypergammon",
    "OfBothSides": "numbering",
    "OfOneSide": "numbering",
    "OfRaces": "numbering",
    "OfRolls": "rolls",
    "OneSideAnswer": "rolls",
    "OneSided": "one_sided",
    "PlacedPairs": "placed",
    "Race": "one_sided",
    "Rolls": "rolls",
    "TwoSided": "two_sided",
}

__all__ = [
    "BLOCK_BYTES",
    "EQUITY_COLUMNS",
    "HYPER_EQUITIES",
    "KINDS",
    "OUTCOMES",
    "Answer",
    "ArrayRule",
    "Breach",
    "Coarser",
    "Column",
    "Components",
    "Equities",
    "Estimate",
    "ExactHypergammon",
    "ExpectedPoints",
    "FineTwoSided",
    "Gillogly",
    "HyperOutcome",
    "Hypergammon",
    "LazyRows",
    "Listing",
    "MatchEntry",
    "MatchScore",
    "MeanRolls",
    "NormalOneSided",
    "OfBothSides",
    "OfOneSide",
    "OfRaces",
    "OfRolls",
    "OneSideAnswer",
    "OneSided",
    "PlacedPairs",
    "Race",
    "Rolls",
    "Rows",
    "Table",
    "TwoSided",
    "of_kind",
    "same_numbers",
]


def _module(home: str) -> Any:
    return import_module(home if "." in home else f"bgfmt.tables.{home}")


def __getattr__(name: str) -> Any:
    if name == "KINDS":  # all of them, in order whatever was imported before
        for home in sorted(set(_HOME.values())):
            _module(home)
        value: Any = import_module("bgfmt.tables.base").KINDS
        kinds = sorted(value.items())
        value.clear()
        value.update(kinds)
    elif name in _HOME:
        value = getattr(_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'bgfmt.tables' has no attribute {name!r}")
    globals()[name] = value
    return value
