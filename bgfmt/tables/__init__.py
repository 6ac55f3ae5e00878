"""The tables that flow through bgfmt; kinds that are alike share a module.

>>> import bgfmt
>>> from bgfmt.tables import KINDS
>>> sorted(KINDS)[:5]
['bkg', 'components', 'expected-points', 'hypergammon', 'hypergammon-exact']
>>> [column.name for column in bgfmt.load("fixtures/golden/gnubg/ts_06x02.bd").columns]
['win', 'cubeless', 'owned', 'centered', 'opponent']
"""

from __future__ import annotations

# `__all__` is made of what is imported here, which mypy and ruff do not see
# mypy: implicit-reexport
# ruff: noqa: F401, PLE0604
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
from bgfmt.tables.hypergammon import HYPER_EQUITIES, OUTCOMES, Hypergammon, HyperOutcome
from bgfmt.tables.match_score import MatchEntry, MatchScore
from bgfmt.tables.rolls import (
    Estimate,
    MeanRolls,
    NormalOneSided,
    OfRolls,
    OneSideAnswer,
    OneSided,
    Race,
    Rolls,
)
from bgfmt.tables.rows import LazyRows, Rows
from bgfmt.tables.two_sided import EQUITY_COLUMNS, Equities, GammonTwoSided, JacobyTwoSided, TwoSided

__all__ = [*(name for name in dir() if name[0].isupper()), "of_kind", "same_numbers"]
