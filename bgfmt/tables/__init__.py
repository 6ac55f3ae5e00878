"""The tables that flow through bgfmt, one module a kind.

>>> import bgfmt
>>> from bgfmt.tables import KINDS
>>> sorted(KINDS)[:5]
['bkg', 'components', 'expected-points', 'hypergammon', 'hypergammon-exact']
>>> [column.name for column in bgfmt.load("fixtures/golden/gnubg/ts_06x02.bd").columns]
['win', 'cubeless', 'owned', 'centered', 'opponent']
"""

from bgfmt.tables.answers import Answer, Listing
from bgfmt.tables.base import (
    BLOCK_BYTES,
    KINDS,
    ArrayRule,
    Breach,
    Coarser,
    Column,
    Table,
    of_kind,
    same_numbers,
)
from bgfmt.tables.components import Components
from bgfmt.tables.exact_hypergammon import ExactHypergammon
from bgfmt.tables.expected_points import ExpectedPoints
from bgfmt.tables.fine_two_sided import FineTwoSided
from bgfmt.tables.gillogly import Gillogly
from bgfmt.tables.hypergammon import HYPER_EQUITIES, OUTCOMES, Hypergammon, HyperOutcome
from bgfmt.tables.match_score import MatchEntry, MatchScore
from bgfmt.tables.mean_rolls import MeanRolls
from bgfmt.tables.normal import NormalOneSided
from bgfmt.tables.numbering import OfBothSides, OfOneSide, OfRaces
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
