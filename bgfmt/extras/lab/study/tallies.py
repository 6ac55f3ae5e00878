"""What wrong decisions are counted by: how many there are, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.study.rules import Decisions

Floats = NDArray[np.float64]


class Worths(NamedTuple):
    """What N positions are worth to the side on roll, for a cube now at 1, a double passed being worth 1.

    centered, owned : rolling on with a centered, an own cube. taken, retaken : a double, a redouble
    that is taken. owned and retaken are None where there is no redouble at the score.
    """

    centered: Floats
    owned: Floats | None
    taken: Floats
    retaken: Floats | None


@dataclass
class Tally:
    """The decisions of one kind that a rule took; for doubles "yes" is to double, for answers it is to take.

    pairs : positions asked about. yes : the rule's. should, against : positions in which yes, in which no is strictly
    better. wrong_yes, wrong_no : positions in which the rule's yes, its no is strictly worse. cost, squares : sums of
    what they cost, in units of the cube before the double, and of its square. worst : the greatest of them, at row
    `at` of what was asked.
    """

    pairs: int = 0
    yes: int = 0
    should: int = 0
    against: int = 0
    wrong_yes: int = 0
    wrong_no: int = 0
    cost: float = 0.0
    squares: float = 0.0
    worst: float = 0.0
    at: int | None = None

    def add(self, yes_rows: Any, gain: Floats, tie: float, rows: Any = None, first: int = 0) -> None:
        """Count decisions where saying yes gains `gain` over no; within `tie` neither is wrong.

        rows : bool, which of the positions are asked about, all where None. first : number of the first position.
        """
        if rows is not None:
            yes_rows, gain = yes_rows[rows], gain[rows]
        better, worse = gain > tie, gain < -tie
        wrong_yes, wrong_no = yes_rows & worse, better & ~yes_rows
        cost = np.abs(gain) * (wrong_yes | wrong_no)
        self.pairs += len(gain)
        self.yes += int(np.count_nonzero(yes_rows))
        self.should += int(np.count_nonzero(better))
        self.against += int(np.count_nonzero(worse))
        self.wrong_yes += int(np.count_nonzero(wrong_yes))
        self.wrong_no += int(np.count_nonzero(wrong_no))
        self.cost += float(cost.sum())
        self.squares += float(
            np.square(cost).sum()
        )  # a product of vectors keeps every processor busy for nothing
        most = int(cost.argmax()) if len(cost) else 0
        if len(cost) and cost[most] > self.worst:
            self.worst = float(cost[most])
            self.at = first + (most if rows is None else int(np.flatnonzero(rows)[most]))

    @property
    def wrong(self) -> int:
        """Wrong decisions."""
        return self.wrong_yes + self.wrong_no

    @property
    def share(self) -> float:
        """Wrong decisions, as a share of all."""
        return self.wrong / self.pairs if self.pairs else 0.0

    @property
    def mean(self) -> float:
        """What a decision costs on average, right ones included."""
        return self.cost / self.pairs if self.pairs else 0.0

    @property
    def error(self) -> float:
        """Standard error of `mean`, where the pairs are a sample."""
        return (
            sqrt(max(0.0, self.squares / self.pairs - self.mean**2) / (self.pairs - 1))
            if self.pairs > 1
            else inf
        )

    @property
    def mean_wrong(self) -> float:
        """What a wrong decision costs on average."""
        return self.cost / self.wrong if self.wrong else 0.0


@dataclass
class Tallies:
    """A rule's tallies: doubles, redoubles (None where there are none), answers to every double, and answers where
    doubling with a centered cube is strictly right."""

    double: Tally = field(default_factory=Tally)
    redouble: Tally | None = field(default_factory=Tally)
    take: Tally = field(default_factory=Tally)
    answer: Tally = field(default_factory=Tally)

    def add(self, decisions: Decisions, worths: Worths, tie: tuple[float, float], first: int) -> None:
        """Count what a rule says of some positions; `tie` is that of doubles and that of answers."""
        gain = np.minimum(worths.taken, 1.0) - worths.centered
        self.double.add(decisions.double, gain, tie[0], first=first)
        if worths.owned is None or worths.retaken is None:
            self.redouble = None
        else:
            assert self.redouble is not None
            regain = np.minimum(worths.retaken, 1.0) - worths.owned
            self.redouble.add(decisions.redouble, regain, tie[0], first=first)
        spare = 1.0 - worths.taken  # what taking gains the other side over passing
        self.take.add(decisions.take, spare, tie[1], first=first)
        self.answer.add(decisions.take, spare, tie[1], gain > tie[0], first)


def places(tallies: Sequence[Tally], errors: Sequence[float], blur: float) -> list[tuple[int, int]]:
    """The first and the last place that each may have by its mean loss, 1 for the least.

    Two change places where their losses differ by no more than twice the error of the difference and `blur`.
    """

    def above(a: int, b: int) -> bool:
        """Whether b surely loses more than a."""
        return tallies[b].mean - tallies[a].mean > 2 * hypot(errors[a], errors[b]) + blur

    every = range(len(tallies))
    return [
        (1 + sum(above(b, a) for b in every), len(tallies) - sum(above(a, b) for b in every)) for a in every
    ]
