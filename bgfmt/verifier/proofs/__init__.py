"""Holding a table against the rules that its kind may follow: `prove(table, work)` gives the outcome.

One module a kind of table. Each tries the recipes of `bgfmt.verifier.recipes` and says which one every entry follows;
where none does, how many entries do not follow the nearest, and the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import (
    ExactHypergammon,
    ExpectedPoints,
    Gillogly,
    Hypergammon,
    MatchScore,
    MeanRolls,
    NormalOneSided,
    OneSided,
    Table,
    TwoSided,
)
from bgfmt.verifier.findings import Outcome
from bgfmt.verifier.spreading import Spread

Progress = Callable[[int, int], None]
Locate = Callable[..., int | None]
NUMBERS_MOST = 1 << 63
SMALL = 4000  # rows up to which the table of a rival is made even where few rows fail
#: the module that knows the rules of a kind of table, and that of its exact numbers where it is another
WAYS = {
    OneSided.kind: "one_sided",
    TwoSided.kind: "two_sided",
    NormalOneSided.kind: "normal",
    MeanRolls.kind: "means",
    Hypergammon.kind: "hypergammon",
    ExactHypergammon.kind: "exact_hypergammon",
    MatchScore.kind: "match_score",
    Gillogly.kind: "bgfmt.extras.lab.proofs.gillogly",
    ExpectedPoints.kind: "bgfmt.extras.lab.proofs.expected_points",
}
#: the kinds whose rules workers can hold in parts
SPREAD = (TwoSided.kind,)
EXACT = {OneSided.kind: "exact", TwoSided.kind: "exact"}


def nowhere(entry: int, column: str = "", item: int = 0) -> int | None:
    """The byte offset of what lies in no file."""
    return None


@dataclass(frozen=True)
class Work:
    """How to look: on how many threads, whom to tell, where an entry's number lies in the file (byte offset by entry,
    column and item), whether at a sample of `sample` entries by `seed` only, with whose workers, and what difference
    the user lets pass: then every entry is held against it.
    """

    threads: int = 1
    progress: Progress | None = None
    locate: Locate = nowhere
    sample: int | None = None
    seed: int = 0
    spread: Spread | None = None
    tolerance: float | None = None

    def rng(self) -> np.random.Generator:
        """The generator of this sample; any whole number is a seed."""
        return np.random.default_rng(self.seed % NUMBERS_MOST)

    def some(self, count: int) -> NDArray[np.int64] | None:
        """The sampled numbers below `count`, sorted; None where all are looked at."""
        if self.sample is None:
            return None
        if self.sample >= count:
            return np.arange(count)
        return np.unique(self.rng().integers(0, count, self.sample))


def known(table: Table) -> bool:
    """Whether a rule is known of tables of this kind."""
    return table.kind in WAYS


def prove(table: Table, work: Work) -> Outcome | None:
    """Hold a table against its own rule; None for kinds that no rule is known of."""
    found = _prove(table, work)
    if found is None or work.sample is None:
        return found
    return replace(found, facts={**found.facts, "seed": work.seed})


def _prove(table: Table, work: Work) -> Outcome | None:
    ways = {**WAYS, **EXACT} if table.exact else WAYS
    if table.kind not in ways:
        return None
    way = ways[table.kind]
    found: Outcome | None = import_module(way if "." in way else f"bgfmt.verifier.proofs.{way}").prove(
        table, work
    )
    return found
