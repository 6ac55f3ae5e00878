"""The tables that flow through bgfmt, one module a kind.

>>> import bgfmt
>>> from bgfmt.tables import KINDS
>>> sorted(KINDS)[:5]
['components', 'hypergammon', 'hypergammon-exact', 'match-score', 'mean-rolls']
>>> [column.name for column in bgfmt.load("fixtures/golden/gnubg/ts_06x02.bd").columns]
['win', 'cubeless', 'owned', 'centered', 'opponent']
"""

from bgfmt.tables.base import (
    BLOCK_BYTES,
    KINDS,
    Answer,
    ArrayRule,
    Breach,
    Coarser,
    Column,
    Listing,
    Table,
    of_kind,
    same_numbers,
)
from bgfmt.tables.components import Components
from bgfmt.tables.exact_hypergammon import ExactHypergammon
from bgfmt.tables.hypergammon import HYPER_EQUITIES, OUTCOMES, Hypergammon, HyperOutcome
from bgfmt.tables.match_score import MatchEntry, MatchScore
from bgfmt.tables.mean_rolls import MeanRolls
from bgfmt.tables.normal import NormalOneSided
from bgfmt.tables.numbering import OfBothSides, OfOneSide
from bgfmt.tables.one_sided import OneSided, Race
from bgfmt.tables.placed import PlacedPairs
from bgfmt.tables.rolls import Estimate, OfRolls, OneSideAnswer, Rolls
from bgfmt.tables.rows import LazyRows, Rows
from bgfmt.tables.two_sided import EQUITY_COLUMNS, Equities, TwoSided

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
