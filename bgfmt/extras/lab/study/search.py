"""The best count of one to six numbers: branch and bound over whole weights, held against races kept apart.

Found is the least loss of all rules of the form: up to `MOST_TERMS` of the terms with whole weights, a part of `PARTS`,
limits of -15 to 15. It is proved, since a box of weights is left only where its bound is no less: a position whose least
lead is at a limit says yes for all weights of the box, one whose greatest lead is below it says no, and any other is
counted as decided rightly. The same search on the positions held out tells below what no rule of the form can fall there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.study import kernels_search as kernels
from bgfmt.extras.lab.study.counted import TERMS, Counted
from bgfmt.extras.lab.study.counts import of_chequers, pips
from bgfmt.extras.lab.study.judges import TIE
from bgfmt.extras.lab.study.races import Sample
from bgfmt.extras.lab.study.rules import RULES, Decisions
from bgfmt.extras.lab.study.tallies import Worths

Array = NDArray[Any]
Progress = Callable[[int, int], None]
PARTS = (0, 5, 6, 7, 8, 9, 10, 12)
MOST_TERMS = 3
BESIDE = ("isight", "keith", "ward", "thorp", "acount", "trice", "8-9-12")


@dataclass(frozen=True, eq=False)
class Part:
    """N decisions of a sample.

    us, them : (N, points) chequers. wrong : (N, 3, 2) what a no and a yes cost, to doubling, redoubling and passing,
    times how often it comes up in a race. race : (N,) decisions of one depend on each other.
    """

    us: Array
    them: Array
    wrong: Array
    race: Array

    def losses(self, decisions: Decisions) -> Array:
        """(N, 3): what wrong doubles, redoubles and answers cost."""
        yes = np.stack([decisions.double, decisions.redouble, ~decisions.take], axis=1)
        return np.where(yes, self.wrong[:, :, 1], self.wrong[:, :, 0])

    def spread(self, values: Array) -> float:
        """The standard error of a sum over races."""
        return float(np.sqrt(np.square(np.bincount(self.race, values)).sum()))


def part(sample: Sample, worths: Worths, rows: Array) -> Part:
    """The decisions of a sample of these rows, bool (N,). An answer is asked for where doubling is right."""
    double = np.minimum(worths.taken, 1.0) - worths.centered
    redouble, retaken = np.zeros_like(double), worths.taken
    if worths.owned is not None and worths.retaken is not None:
        redouble, retaken = np.minimum(worths.retaken, 1.0) - worths.owned, worths.retaken
    gain, taken = np.where(sample.owned, redouble, double), np.where(sample.owned, retaken, worths.taken)
    kinds = [np.where(sample.owned, 0, gain), np.where(sample.owned, gain, 0), np.where(gain > TIE, taken - 1, 0)]
    gains = np.stack(kinds, axis=1)[rows]
    gains[np.abs(gains) <= TIE] = 0
    wrong = np.stack([np.maximum(gains, 0), np.maximum(-gains, 0)], axis=2) * sample.share[rows, None, None]
    return Part(sample.us[rows], sample.them[rows], wrong, sample.race[rows])


class Found(NamedTuple):
    """The best rules of at most 0, 1, ... numbers, what each loses, and how many families and boxes were looked at."""

    rules: list[Counted]
    losses: list[float]
    families: int
    boxes: int


def best(asked: Part, numbers: int = kernels.MOST, progress: Progress | None = None) -> Found:
    """The best rules of at most 0 to `numbers` numbers for these decisions."""
    open_ = asked.wrong.any(axis=(1, 2))
    wrong = asked.wrong[open_]
    own, other = (of_chequers(side[open_]) for side in (asked.us, asked.them))
    pairs = {name: [np.asarray(term.of(side)) for side in (own, other)] for name, term in TERMS.items()}
    least, boxes = np.full(kernels.MOST + 1, np.inf), 0
    rules = [Counted((), 0, 0, 0, 0)] * len(least)
    families = [
        (names, part, used)
        for many in range(MOST_TERMS + 1)
        for names in combinations(TERMS, many)
        for part in PARTS
        if (used := sum(TERMS[name].numbers for name in names) + (part > 0)) <= numbers
    ]
    for done, (names, part, used) in enumerate(families):
        times, own_times = max(part, 1), part + 1 if part else 1
        constant = times * pips(other) - own_times * pips(own)
        terms = np.empty((len(own), len(names)), np.int64)
        for k, name in enumerate(names):
            terms[:, k] = times * pairs[name][1] - own_times * pairs[name][0]
        box = np.array([TERMS[name].weights for name in names], np.int64).reshape(-1, 2)
        ends = constant + np.sort(box.T[:, None] * terms, axis=0).sum(axis=2)
        above, below = ends[0] > times * kernels.FAR, ends[1] <= times * (-kernels.FAR - 1)
        base = wrong[above, :, 1].sum(axis=0) + wrong[below, :, 0].sum(axis=0)
        near = ~above & ~below  # where the limit or the weights may decide
        found, before = np.zeros((len(least), len(names) + 3), np.int64), least.copy()
        boxes += kernels.bounded(
            least, found, box, constant[near], terms[near], times, wrong[near], base, used
        )
        for k in np.flatnonzero(least < before):
            *weights, double, redouble, take = found[k].tolist()
            kept = tuple((name, w) for name, w in zip(names, weights, strict=True) if w)
            rules[k] = Counted(kept, part, double, redouble, take)
        if progress is not None:
            progress(done + 1, len(families))
    return Found(rules[: numbers + 1], least[: numbers + 1].tolist(), len(families), boxes)


class Judged(NamedTuple):
    """A rule by the races held out, in points a race.

    count, numbers, searched, bound : of a rule that was searched for, in words, its loss where it was searched for,
    and what no rule of as many numbers falls below where it is held out; None for others. loss, error : held out, with
    its standard error; double, redouble, take : of it. share, share_error : the loss as a part of Isight's.
    """

    rule: str
    count: str | None
    numbers: int | None
    searched: float | None
    bound: float | None
    loss: float
    error: float
    double: float
    redouble: float
    take: float
    share: float
    share_error: float


class Study(NamedTuple):
    """What a search came to. searched, held : decisions. families, boxes : looked at, of those searched by."""

    searched: int
    held: int
    families: int
    boxes: int
    rules: list[Judged]


def study(
    sample: Sample, worths: Worths, numbers: int = kernels.MOST, progress: Progress | None = None
) -> Study:
    """The best rules of 1 to `numbers` numbers, and Isight and others beside them, by the races held out."""
    searched, held = (part(sample, worths, rows) for rows in (~sample.held, sample.held))
    found, floor = best(searched, numbers, progress), best(held, numbers, progress)
    isight = held.losses(RULES["isight"].decide(held)).sum(axis=1)  # type: ignore[arg-type]
    whole = float(isight.sum())

    def judged(rule: Any, *facts: Any) -> Judged:
        kinds = held.losses(rule.decide(held))
        losses = kinds.sum(axis=1)
        loss = float(losses.sum())
        share = loss / whole
        errors = held.spread(losses), held.spread(losses - share * isight) / whole
        return Judged(*facts, loss, errors[0], *kinds.sum(axis=0).tolist(), share, errors[1])

    rules = []
    for k in range(1, numbers + 1):
        rule = found.rules[k]
        rules.append(judged(rule, f"best of {k}", str(rule), rule.numbers, found.losses[k], floor.losses[k]))
    rules += [judged(RULES[name], name, None, None, None, None) for name in BESIDE]
    return Study(len(searched.us), len(held.us), found.families, found.boxes, rules)
