"""Holding a table against the rules that its kind may follow: `prove(table, work)` gives the outcome.

One module a kind of table. Each tries the recipes of `bgfmt.verifier.recipes` and says which one every entry follows;
where none does, how many entries do not follow the nearest, and the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.tables import (
    ExactHypergammon,
    Hypergammon,
    MatchScore,
    MeanRolls,
    NormalOneSided,
    OneSided,
    Table,
    TwoSided,
)
from bgfmt.verifier.findings import Outcome

Progress = Callable[[int, int], None]
Locate = Callable[..., int | None]
NUMBERS_MOST = 1 << 63
#: kinds of table that a rule is known of
KINDS = (OneSided, TwoSided, NormalOneSided, MeanRolls, Hypergammon, ExactHypergammon, MatchScore)


def nowhere(entry: int, column: str = "", item: int = 0) -> int | None:
    """The byte offset of what lies in no file."""
    return None


@dataclass(frozen=True)
class Work:
    """How to look: on how many threads, whom to tell, where an entry's number lies in the file (byte offset by entry,
    column and item), and whether at a sample of `sample` entries by `seed` only.
    """

    threads: int = 1
    progress: Progress | None = None
    locate: Locate = nowhere
    sample: int | None = None
    seed: int = 0

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


def prove(table: Table, work: Work) -> Outcome | None:
    """Hold a table against its own rule; None for kinds that no rule is known of."""
    found = _prove(table, work)
    if found is None or work.sample is None:
        return found
    return replace(found, facts={**found.facts, "seed": work.seed})


def _prove(table: Table, work: Work) -> Outcome | None:
    from bgfmt.verifier.proofs import (
        exact,
        exact_hypergammon,
        hypergammon,
        match_score,
        means,
        normal,
        one_sided,
        two_sided,
    )

    if isinstance(table, (OneSided, TwoSided)) and table.exact:
        return exact.prove(table, work)
    ways: dict[type[Table], Any] = {
        OneSided: one_sided.prove,
        TwoSided: two_sided.prove,
        NormalOneSided: normal.prove,
        MeanRolls: means.prove,
        Hypergammon: hypergammon.prove,
        ExactHypergammon: exact_hypergammon.prove,
        MatchScore: match_score.prove,
    }
    way = ways.get(type(table))
    return None if way is None else way(table, work)
