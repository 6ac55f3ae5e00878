"""The best count of one to six numbers: branch and bound over whole weights, held against positions kept apart.

Found is the least loss on the positions searched by, of all rules of the form: up to `MOST_TERMS` of the terms with
whole weights within `WEIGHTS`, a part of `PARTS`, limits of -15 to 15. It is proved, since a box of weights is left only
where its bound is no less: a position whose least lead is at a limit says yes for all weights of the box, one whose
greatest lead is below it says no, and any other is counted as decided rightly. The same search on the positions held out
tells what no rule of the form can fall below there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.study import kernels_search as kernels
from bgfmt.extras.lab.study.counted import TERMS, Counted
from bgfmt.extras.lab.study.counts import of_chequers, pips
from bgfmt.extras.lab.study.judges import TIE
from bgfmt.extras.lab.study.races import Sample
from bgfmt.extras.lab.study.rules import RULES
from bgfmt.extras.lab.study.tallies import Worths

Array = NDArray[Any]
Progress = Callable[[int, int], None]
PARTS = (0, 5, 6, 7, 8, 9, 10, 12)
WEIGHTS = (-3, 6)
MOST_TERMS = 3
BESIDE = ("isight", "keith", "trice", "ward", "thorp")


@dataclass(frozen=True, eq=False)
class Part:
    """N positions of a sample.

    us, them : (N, points) chequers. wrong : (N, 3, 2) what a no and a yes cost, to doubling, redoubling and passing,
    times the share of each position, so that sums are means; nothing where there is no redouble. share : (N,), 1 in
    all. race : (N,) positions of one depend on each other.
    """

    us: Array
    them: Array
    wrong: Array
    share: Array
    race: Array

    def losses(self, decisions: tuple[Any, ...]) -> Array:
        """(N, 3): what wrong doubles, redoubles and answers cost, times the share of each position."""
        double, redouble, take = decisions
        yes = np.stack([double, redouble, ~take], axis=1)
        return np.where(yes, self.wrong[:, :, 1], self.wrong[:, :, 0])

    def mean(self, losses: Array) -> Mean:
        """The mean of losses (N,)."""
        total = losses.sum()
        return Mean(float(total), self._spread(losses - self.share * total))

    def ratio(self, losses: Array, others: Array) -> Mean:
        """One mean divided by another."""
        whole = float(others.sum())
        if not whole:
            return Mean(0.0, 0.0)
        share = float(losses.sum()) / whole
        return Mean(share, self._spread(losses - share * others) / whole)

    def _spread(self, values: Array) -> float:
        return sqrt(float(np.square(np.bincount(self.race, values)).sum()))


class Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float


def part(sample: Sample, worths: Worths, rows: Array) -> Part:
    """The positions of a sample of these rows, bool (N,)."""
    double = np.minimum(worths.taken, 1.0) - worths.centered
    redouble = np.zeros_like(double)
    if worths.owned is not None and worths.retaken is not None:
        redouble = np.minimum(worths.retaken, 1.0) - worths.owned
    gain = np.stack([double, redouble, worths.taken - 1.0], axis=1)[rows]
    gain[np.abs(gain) <= TIE] = 0
    share = sample.weight[rows] / sample.weight[rows].sum()
    wrong = np.stack([np.maximum(gain, 0), np.maximum(-gain, 0)], axis=2) * share[:, None, None]
    return Part(sample.us[rows], sample.them[rows], wrong, share, sample.race[rows])


def _families(most: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Terms, part, and the numbers both take, few first."""
    for many in range(MOST_TERMS + 1):
        for part in PARTS:
            for names in combinations(TERMS, many):
                numbers = sum(TERMS[name].numbers for name in names) + (part > 0)
                if numbers <= most:
                    yield names, part, numbers


@dataclass(frozen=True)
class Found:
    """The best rule of at most so many numbers, what it loses a position, and how many boxes of weights were looked at
    for all of them."""

    rule: Counted
    loss: float
    boxes: int


def best(asked: Part, numbers: int = kernels.MOST, progress: Progress | None = None) -> list[Found]:
    """The best rules of at most 0, 1, ... numbers for these positions."""
    counts, costs = [of_chequers(side) for side in (asked.us, asked.them)], asked.wrong
    own, other = (
        {name: np.asarray(term.of(side), np.int64) for name, term in TERMS.items()} for side in counts
    )
    own_pips, other_pips = (pips(side) for side in counts)
    least = np.full(kernels.MOST + 1, np.inf)
    rules: list[Counted] = [Counted((), 0, 0, 0, 0)] * (kernels.MOST + 1)
    families, boxes = list(_families(numbers)), 0
    for done, (names, part, used) in enumerate(families):
        times, us_times = max(part, 1), part + 1 if part else 1
        constant = times * other_pips - us_times * own_pips
        terms = np.empty((len(own_pips), len(names)), np.int64)
        for k, name in enumerate(names):
            terms[:, k] = times * other[name] - us_times * own[name]
        ends = np.sort(np.stack([limit * terms for limit in WEIGHTS]), axis=0).sum(axis=2)
        below = constant + ends[1] <= times * (-kernels.FAR - 1)
        above = constant + ends[0] > times * kernels.FAR
        base = costs[above, :, 1].sum(axis=0) + costs[below, :, 0].sum(axis=0)
        open_ = ~above & ~below & costs.any(axis=(1, 2))
        found = np.zeros((kernels.MOST + 1, len(names) + 3), np.int64)
        before, box = least.copy(), np.tile(np.array(WEIGHTS, np.int64), (len(names), 1))
        boxes += kernels.bounded(
            least, found, box, constant[open_], terms[open_], times, costs[open_], base, used
        )
        for k in np.flatnonzero(least < before):
            *weights, double, redouble, take = found[k].tolist()
            terms_used = tuple((n, w) for n, w in zip(names, weights, strict=True) if w)
            rules[k] = Counted(terms_used, part, double, redouble, take)
        if progress is not None:
            progress(done + 1, len(families))
    return [Found(rule, float(loss), boxes) for rule, loss in zip(rules, least, strict=True)]


@dataclass(frozen=True)
class Judged:
    """A rule by the positions held out. searched : its mean loss where it was searched for, None for the others.
    held, recorded : of all held out, and of those as they were recorded. kinds : of doubles, redoubles and takes.
    of_isight : the loss as a part of Isight's. bound : what no rule of as many numbers falls below, None where it was
    not asked."""

    name: str
    rule: Counted | None
    searched: float | None
    held: Mean
    recorded: Mean | None
    kinds: tuple[float, float, float]
    of_isight: Mean
    bound: float | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rule": self.name,
            "count": str(self.rule) if self.rule else None,
            "numbers": self.rule.numbers if self.rule else None,
            "searched": self.searched,
            "held": self.held._asdict(),
            "recorded": self.recorded._asdict() if self.recorded else None,
            **dict(zip(("double", "redouble", "take"), self.kinds, strict=True)),
            "of_isight": self.of_isight._asdict(),
            "bound": self.bound,
        }


@dataclass(frozen=True)
class Study:
    """What a search came to, for a score or money. searched, held : positions. families, boxes : looked at."""

    searched: int
    held: int
    families: int
    boxes: int
    rules: list[Judged]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        numbers = {name: getattr(self, name) for name in ("searched", "held", "families", "boxes")}
        return numbers | {"rules": [rule.as_dict() for rule in self.rules]}


def study(
    sample: Sample, worths: Worths, numbers: int = kernels.MOST, bound: bool = False, progress: Progress | None = None
) -> Study:
    """The best rules of 1 to `numbers` numbers, and Isight and others beside them, by the positions held out."""
    searched, held = part(sample, worths, ~sample.held), part(sample, worths, sample.held)
    found = best(searched, numbers, progress)
    floors = best(held, numbers, progress) if bound else [None] * len(found)
    real = part(sample, worths, sample.held & sample.recorded) if sample.recorded.any() else None
    isight = held.losses(RULES["isight"].decide(held)).sum(axis=1)

    def judged(name: str, decide: Any, one: Found | None = None, floor: Found | None = None) -> Judged:
        kinds = held.losses(decide(held))
        losses = kinds.sum(axis=1)
        return Judged(
            name, one.rule if one else None, one.loss if one else None, held.mean(losses),
            real.mean(real.losses(decide(real)).sum(axis=1)) if real else None,
            tuple(kinds.sum(axis=0).tolist()), held.ratio(losses, isight), floor.loss if floor else None,
        )  # fmt: skip

    rules = [judged(f"{k} numbers", found[k].rule.decide, found[k], floors[k]) for k in range(1, numbers + 1)]
    rules += [judged(name, RULES[name].decide) for name in BESIDE]
    rows = len(searched.us), len(held.us)
    return Study(*rows, sum(1 for _ in _families(numbers)), found[0].boxes, rules)
