"""`python -m benchmarks.best_count MATCH...`: the best count of one to six numbers, by branch and bound over weights.

    python -m benchmarks.best_count [--table DB] [--away A-B] [--met MET] [--numbers 6] [--again 10] [--seed 1]
        MATCH...

The races of recorded matches (any form that `bgfmt matches` reads) are played on with other dice. By half of the
matches the search finds the best rules; by the other half they, Isight and others are judged, and a second search
gives a lower bound for all rules of this form. --table names a cubeful two-sided database, which judges for money
where it covers both sides. Gammons are ignored. docs/theory/best-count.md has the result and what is proved.

A rule has a count for each side: pips and an integer weight for each of up to `MAX_TERMS` terms. The lead is the
other side's count less that of the side on roll, to which its n-th part of `PARTS` is added, rounded down. The side
on roll doubles and redoubles from a lead on, the other side takes up to one; limits are -15 to 15.

A box of weights is discarded only if its bound is no less than the best loss: a position whose least lead is at a
limit says yes for all weights of the box, one whose greatest lead is below it no, any other is counted as decided
rightly.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import bgfmt
from benchmarks import kernels_best_count as kernels
from bgfmt.errors import NotCoveredError
from bgfmt.extras import matches
from bgfmt.extras.arrays.plays import results_of
from bgfmt.extras.lab.study.counts import HOME, keith, of_chequers, pips
from bgfmt.extras.lab.study.judges import TIE, Worths, by_equities, may_double, of_game
from bgfmt.extras.lab.study.rules import RULES, Decisions, Pairs
from bgfmt.extras.matches.decisions import state
from bgfmt.extras.races.chains import FAR, QUICK, Estimator, tables
from bgfmt.game import board
from bgfmt.game.board import Position
from bgfmt.game.state import parse_away
from bgfmt.met import DEFAULT, load
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver import columns
from bgfmt.tables import TwoSided, of_kind
from bgfmt.tables.rolls import CHANCE_WHOLE

Array = NDArray[Any]
POINTS = 24
THINNED = 16.0  # one in 16 positions outside home is kept, as estimates are expensive
# limits by which the races are played on, in sevenths of a pip by Keith's count
DOUBLE = -4 * 7
REDOUBLE = -3 * 7
TAKE = -2 * 7


@dataclass(frozen=True, eq=False)
class Sample:
    """N cube decisions of races: whether the side on roll doubles and whether the other takes.

    us, them : (N, points) chequers.
    owned : (N,) bool, True for redoubles.
    race : (N,) number of the recorded race that it comes from.
    held : (N,) bool, True if it is held out for judging.
    share : (N,) how often it occurs in a race.
    """

    us: Array
    them: Array
    owned: Array
    race: Array
    held: Array
    share: Array


def starts(names: Iterable[str]) -> list[list[Position]]:
    """Return for each recorded match the first positions without contact of its games.

    A match that is in several files (recognised by the first of these positions) counts once.
    """
    found: dict[Position, list[Position]] = {}
    for name in names:
        for match in matches.each(name):
            races = []
            for game in match.games:
                asked = (state(match, game, r).position for r in game.records if r.kind in ("play", "double"))
                races += [p for p in asked if not (p.contact or p.us.bar or p.them.bar)][:1]
            if races:
                found.setdefault(races[0], races)
    return list(found.values())


def sample(recorded: list[list[Position]], again: int, seed: int) -> Sample:
    """Play races on with other dice and return their cube decisions.

    Parameters
    ----------
    recorded : start positions by match, from `starts`.
    again : how often each race is played.
    seed : of the dice, and of the choice of the half of the matches that is held out.

    Raises
    ------
    NotCoveredError : with races of one match only.
    """
    if len(recorded) < 2:
        raise NotCoveredError("races of at least two matches are needed: one to search by, one to judge by")
    rng = np.random.default_rng(seed)
    apart = np.isin(np.arange(len(recorded)), rng.permutation(len(recorded))[::2])
    held = np.repeat(apart, [len(races) for races in recorded])
    both = [[side.padded(POINTS) for side in (p.us, p.them)] for races in recorded for p in races]
    us, them = np.repeat(np.array(both, np.int8), again, axis=0).swapaxes(0, 1)
    race: Array = np.repeat(np.arange(len(held)), again)
    owner: Array = np.zeros(len(race), np.int8)  # 1 the side on roll, -1 the other
    found = []
    while len(us):
        home = ~(us[:, HOME:] | them[:, HOME:]).any(axis=1)
        drawn = (owner >= 0) & (home | (rng.random(len(us)) * THINNED < 1))
        weight = np.where(home, 1.0, THINNED)
        found.append(tuple(part[drawn] for part in (us, them, owner > 0, race, weight)))
        lead = keith(us, them)
        double = (lead >= np.where(owner > 0, REDOUBLE, DOUBLE)) & (owner >= 0)
        goes_on = ~(double & ((lead > TAKE) | (owner > 0)))
        owner = np.where(double, -1, owner)
        us, them, race, owner = (part[goes_on] for part in (us, them, race, owner))
        us = _roll_sides(us, rng)
        on = us.any(axis=1)
        us, them, race, owner = them[on], us[on], race[on], -owner[on]
    us, them, owned, race, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    alike = np.concatenate([us, them, owned[:, None], race[:, None]], axis=1)
    _, rows, of = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    us, them, owned, race = (part[rows] for part in (us, them, owned, race))
    share = np.bincount(of.ravel(), weight) / (again * np.where(held, held.sum(), (~held).sum())[race])
    return Sample(us, them, owned, race, held[race], share)


def _roll_sides(sides: Array, rng: Any) -> Array:
    """Return sides after a random roll each, played for the fewest expected rolls.

    Chequers beyond ten points count as pips, 49/6 a roll.
    """
    lengths, results = results_of(sides, rng.integers(1, 7, (len(sides), 2)))
    boards = board.unrank_array(results, POINTS)
    near = boards[:, :FAR].astype(np.int64)
    near[:, -1] += boards[:, FAR:].sum(axis=1)
    chances = tables(FAR)[0][board.rank_array(near)] / CHANCE_WHOLE
    rolls = chances @ np.arange(chances.shape[1]) + boards[:, FAR:] @ np.arange(1, POINTS - FAR + 1) * (
        6 / 49
    )
    order = np.lexsort((rolls, np.repeat(np.arange(len(sides)), lengths)))
    return np.asarray(boards[order[np.cumsum(lengths) - lengths]], np.int8)


def position_worths(us: Array, them: Array, score: Score | None, table: TwoSided | None) -> Worths:
    """Return the values of positions, gammons ignored.

    They come from the table (for money, where it covers both sides), else from the adviser's estimate.
    """
    covered = np.zeros(len(us), np.bool_)
    if table is not None and score is None:
        for side in (us, them):
            covered |= side[:, table.points :].any(axis=1) | (side.sum(axis=1) > table.chequers)
        covered = ~covered
    cubes = columns.match_columns(score, gammons=False) if score else columns.money_columns(gammons=False)
    cubes.won[:, :, 2:] = cubes.won[:, :, 1:2]  # gammons count as single games
    values, estimator = np.empty((len(us), len(cubes))), Estimator(QUICK, 1 << 16)
    those = np.flatnonzero(~covered)
    for some in np.array_split(those, range(1024, len(those), 1024)):
        values[some] = estimator.values(us[some], them[some], cubes)
    if score is None:
        middle = values[:, 1]
        own = values[:, 2]
        other = 2 * values[:, 3]
        worths = Worths(middle, own, other, other)
        if table is not None and covered.any():
            none = np.empty((0, 0))
            stored = by_equities(table, None).worths(Pairs(us[covered], them[covered], none, none))
            for ours, part in zip(worths, stored, strict=True):
                assert ours is not None
                ours[covered] = part
        return worths
    may_double(score)

    def worth(cube: CubeState, at: int) -> Array:
        """Return the equities of positions with this cube; a game won or lost counts `at` points."""
        add, times = (0.0, 1.0) if cube in cubes.states else columns.dead_cube_scale(score, cube)
        ends = columns.value_of_points(score, 0, -at), columns.value_of_points(score, 0, at)
        return of_game(add + times * values[:, cubes.place(cube)], *ends)

    middle = worth(CubeState(1, NOBODY), 1)
    taken = worth(CubeState(2, 1), 1)
    if not score.may_double(0, CubeState(2, 0)):
        return Worths(middle, None, taken, None)
    return Worths(middle, worth(CubeState(2, 0), 2), taken, worth(CubeState(4, 1), 2))


# -- the search

Integers = NDArray[np.int64]
PARTS = (0, 5, 6, 7, 8, 9, 10, 12)
MAX_TERMS = 3
WEIGHTS = (-3, 6)
BESIDE = ("isight", "keith", "ward", "thorp", "acount", "trice", "8-9-12")


class Term(NamedTuple):
    """A term that a count may add.

    words : its description.
    numbers : how many numbers it takes to remember, with its weight.
    of : returns the term of counts (..., 6 or more).
    weights : least and greatest weight.
    """

    words: str
    numbers: int
    of: Callable[[Integers], Any]
    weights: tuple[int, int] = WEIGHTS


def _excess(points: slice, allowed: int) -> Callable[[Integers], Any]:
    """Return a term: chequers on some points beyond the first `allowed` ones."""
    return lambda counts: np.maximum(counts[..., points].sum(axis=-1) - allowed, 0)


def _short(least: int, allowed: int) -> Callable[[Integers], Any]:
    """Return a term: by how many pips chequers beyond `allowed` on their point fall short of `least` pips."""
    lacking = np.arange(least - 1, 0, -1)
    return lambda counts: np.maximum(counts[..., : least - 1] - allowed, 0) @ lacking


TERMS = {
    "chequer": Term("chequer", 1, _excess(slice(None), 0)),
    "pair": Term("two chequers, and for an odd one", 1, lambda c: -(-c.sum(axis=-1) // 2)),
    "odd": Term("odd chequer", 1, lambda c: c.sum(axis=-1) % 2),
    "ace": Term("chequer on the ace point", 1, _excess(slice(0, 1), 0)),
    "low": Term("chequer on the ace or the 2 point", 1, _excess(slice(0, 2), 0)),
    "three": Term("chequer on the ace, 2 or 3 point", 1, _excess(slice(0, 3), 0)),
    "outside": Term("chequer outside the home board", 1, _excess(slice(HOME, None), 0)),
    "gap": Term("empty point of the home board", 1, lambda c: (c[..., :HOME] == 0).sum(axis=-1)),
    "high gap": Term("of the points 4, 5, 6 that is empty", 1, lambda c: (c[..., 3:HOME] == 0).sum(axis=-1)),
    "ace>1": Term("chequer beyond one on the ace point", 2, _excess(slice(0, 1), 1)),
    "ace>2": Term("chequer beyond two on the ace point", 2, _excess(slice(0, 1), 2)),
    "low>2": Term("chequer beyond two on the ace and the 2 point", 2, _excess(slice(0, 2), 2)),
    "stack>3": Term("chequer beyond three on a point", 2, lambda c: np.maximum(c - 3, 0).sum(axis=-1)),
    "least 3": Term("pip that a chequer is short of 3", 1, _short(3, 0), (1, 1)),
    "least 3>1": Term("pip that a chequer beyond one on its point is short of 3", 2, _short(3, 1), (1, 1)),
    "least 3>2": Term("pip that a chequer beyond two on its point is short of 3", 2, _short(3, 2), (1, 1)),
    "least 4": Term("pip that a chequer is short of 4", 1, _short(4, 0), (1, 1)),
}


@dataclass(frozen=True)
class Counted:
    """A rule by a count.

    weights : (name, weight) of its terms.
    part : the side on roll adds the `part`-th part of its own count, 0 for none.
    double, redouble : least leads. take : the greatest lead.
    """

    weights: tuple[tuple[str, int], ...]
    part: int
    double: int
    redouble: int
    take: int

    @property
    def numbers(self) -> int:
        """Return how many numbers are to be remembered: of terms, the part, and limits that are not 0 and differ."""
        limits = {self.double, self.redouble, self.take} - {0}
        return sum(TERMS[name].numbers for name, _ in self.weights) + (self.part > 0) + len(limits)

    def count(self, side: Any) -> Integers:
        """Return the count of each side: pips plus weighted terms, (N,) int64.

        side : (N, points) chequers.
        """
        counts = of_chequers(side)
        return np.asarray(pips(counts) + sum(w * TERMS[name].of(counts) for name, w in self.weights))

    def decide(self, pairs: Any) -> Decisions:
        """Return the rule's decisions (double, redouble, take) for pairs of sides `us` and `them`."""
        own = self.count(pairs.us)
        lead = self.count(pairs.them) - own - (own // self.part if self.part else 0)
        return Decisions(lead >= self.double, lead >= self.redouble, lead <= self.take)

    def __str__(self) -> str:
        terms = "".join(f", {weight:+} for each {TERMS[name].words}" for name, weight in self.weights)
        part = f"1/{self.part} of the own count added; " if self.part else ""
        doubles = f"double {self.double:+}, redouble {self.redouble:+}"
        return f"pips{terms}; {part}{doubles}, take up to {self.take:+}"


@dataclass(frozen=True, eq=False)
class Part:
    """N decisions of a sample with their losses.

    us, them : (N, points) chequers. wrong : (N, 3, 2) loss of a no and of a yes, for doubling, redoubling and
    passing, times how often it occurs in a race. race : (N,) number of the race; decisions of one race are not
    independent.
    """

    us: Array
    them: Array
    wrong: Array
    race: Array

    def losses(self, decisions: Decisions) -> Array:
        """Return (N, 3) what each decision loses: doubling, redoubling and answering."""
        yes = np.stack([decisions.double, decisions.redouble, ~decisions.take], axis=1)
        return np.where(yes, self.wrong[:, :, 1], self.wrong[:, :, 0])

    def standard_error(self, values: Array) -> float:
        """Return the standard error of a sum over races of (N,) values."""
        return float(np.sqrt(np.square(np.bincount(self.race, values)).sum()))


def build_part(sample: Sample, worths: Worths, rows: Array) -> Part:
    """Return the decisions of the selected rows of a sample, with the loss of each possible error.

    rows : (N,) bool. Answers are judged only where doubling is right.
    """
    owned = sample.owned
    (double, redouble, passing) = worths.gains
    gain = np.where(owned, 0 if redouble is None else redouble, double)
    if worths.retaken is not None:
        passing = np.where(owned, worths.retaken - 1, passing)
    kinds = np.where(owned, 0, gain), np.where(owned, gain, 0), np.where(gain > TIE, passing, 0)
    gains = np.stack(kinds, axis=1)[rows]
    gains[np.abs(gains) <= TIE] = 0
    wrong = np.stack([np.maximum(gains, 0), np.maximum(-gains, 0)], axis=2) * sample.share[rows, None, None]
    return Part(sample.us[rows], sample.them[rows], wrong, sample.race[rows])


def best(asked: Part, numbers: int = kernels.MAX_NUMBERS) -> list[tuple[Counted, float]]:
    """Find the best rules of at most 0, 1, ... `numbers` numbers; return each with its loss a race."""
    open_ = asked.wrong.any(axis=(1, 2))
    wrong = asked.wrong[open_]
    own, other = (of_chequers(side[open_]) for side in (asked.us, asked.them))
    pairs = {name: [np.asarray(term.of(side)) for side in (own, other)] for name, term in TERMS.items()}
    least = np.full(kernels.MAX_NUMBERS + 1, np.inf)
    rules = [Counted((), 0, 0, 0, 0)] * len(least)
    families = [
        (names, part, used)
        for many in range(MAX_TERMS + 1)
        for names in combinations(TERMS, many)
        for part in PARTS
        if (used := sum(TERMS[name].numbers for name in names) + (part > 0)) <= numbers
    ]
    for names, part, used in families:
        times = max(part, 1)
        own_times = part + 1 if part else 1
        constant = times * pips(other) - own_times * pips(own)
        terms = np.empty((len(own), len(names)), np.int64)
        for k, name in enumerate(names):
            terms[:, k] = times * pairs[name][1] - own_times * pairs[name][0]
        box = np.array([TERMS[name].weights for name in names], np.int64).reshape(-1, 2)
        ends = constant + np.sort(box.T[:, None] * terms, axis=0).sum(axis=2)
        above = ends[0] > times * kernels.MAX_LEAD
        below = ends[1] <= times * (-kernels.MAX_LEAD - 1)
        base = wrong[above, :, 1].sum(axis=0) + wrong[below, :, 0].sum(axis=0)
        near = ~above & ~below  # positions whose decision depends on the limits or weights
        found = np.zeros((len(least), len(names) + 3), np.int64)
        before = least.copy()
        kernels.search_box(least, found, box, constant[near], terms[near], times, wrong[near], base, used)
        for k in np.flatnonzero(least < before).tolist():
            *weights, double, redouble, take = found[k].tolist()
            kept = tuple((name, w) for name, w in zip(names, weights, strict=True) if w)
            rules[k] = Counted(kept, part, double, redouble, take)
    return list(zip(rules, least.tolist(), strict=True))[: numbers + 1]


def study(sample: Sample, worths: Worths, numbers: int = kernels.MAX_NUMBERS) -> list[dict[str, Any]]:
    """Find the best rules of 1 to `numbers` numbers; judge them, Isight and others on the races held out.

    Returns
    -------
    A dictionary for each `rule`, losses in points a race: `loss` and its standard `error`; that of its doubles,
    redoubles and takes; `share`, the loss as a part of Isight's, with `share_error`. Of rules that were searched for
    also `words`, `numbers`, `searched` (the loss on the other half) and `bound` (no rule of as many numbers has a
    smaller loss on the races held out).

    Raises
    ------
    NotCoveredError : if Isight loses nothing there.
    """
    searched, held = (build_part(sample, worths, rows) for rows in (~sample.held, sample.held))
    isight = held.losses(RULES["isight"].decide(held)).sum(axis=1)  # type: ignore[arg-type]
    whole = float(isight.sum())
    if not whole:
        raise NotCoveredError("Isight errs nowhere in the races held out: too few decisions to judge by")
    found = best(searched, numbers)
    floor = best(held, numbers)
    rules: dict[str, Any] = {f"best of {k}": found[k][0] for k in range(1, numbers + 1)}
    answers = []
    for k, (name, rule) in enumerate((rules | {name: RULES[name] for name in BESIDE}).items(), 1):
        kinds = held.losses(rule.decide(held))
        losses = kinds.sum(axis=1)
        share = float(losses.sum()) / whole
        row = {"rule": name, "loss": float(losses.sum()), "error": held.standard_error(losses)}
        row |= dict(zip(("double", "redouble", "take"), kinds.sum(axis=0).tolist(), strict=True))
        row |= {"share": share, "share_error": held.standard_error(losses - share * isight) / whole}
        if name in rules:
            row |= {"words": str(rule), "numbers": rule.numbers}
            row |= {"searched": found[k][1], "bound": floor[k][1]}
        answers.append(row)
    return answers


def read_judge(path: str | None) -> TwoSided | None:
    """Read the table that judges for money; None without a path."""
    if path is None:
        return None
    fitting = of_kind([bgfmt.open(path).table], TwoSided)
    if not fitting:
        raise NotCoveredError(f"{path}: rules are judged by both sides' cubeful equities")
    return fitting[0]


def print_rules(rules: list[dict[str, Any]], numbers: int) -> None:
    """Print the results of `study`."""
    print("\nbest of  rule, and what it loses a race where it was searched for, in thousandths of a point")
    for rule in rules[:numbers]:
        print(f"      {rule['rule'][-1]}  {rule['words']}: {1000 * rule['searched']:.2f}")
    print("\nwhat the rules lose in races held out; no rule of as many numbers loses less than the bound")
    print("rule         loss  st. error  double  redouble    take  of isight's  st. error   bound")
    for rule in rules:
        kinds = " ".join(f"{1000 * rule[kind]:8.2f}" for kind in ("double", "redouble", "take"))
        bound = f" {1000 * rule['bound']:7.2f}" if "bound" in rule else ""
        print(
            f"{rule['rule']:<10} {1000 * rule['loss']:6.2f} {1000 * rule['error']:10.2f} {kinds}"
            f" {rule['share']:11.3f} {rule['share_error']:10.3f}{bound}"
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Run the search that the arguments describe and print its results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.best_count")
    parser.add_argument("matches", nargs="+", metavar="MATCH")
    parser.add_argument("--table", metavar="DB")
    parser.add_argument("--away", metavar="A-B")
    parser.add_argument("--met", default=DEFAULT)
    parser.add_argument("--numbers", type=int, choices=range(1, 7), default=6)
    parser.add_argument("--again", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    score = Score(parse_away(asked.away), load(asked.met)) if asked.away else None
    judge = read_judge(asked.table)
    decisions = sample(starts(asked.matches), asked.again, asked.seed)
    held = int(decisions.held.sum())
    about = f"at {score}" if score else "for money"
    print(f"{len(decisions.held) - held:,} decisions to search by, {held:,} held out, {about}", flush=True)
    worths = position_worths(decisions.us, decisions.them, score, judge)
    print_rules(study(decisions, worths, asked.numbers), asked.numbers)


if __name__ == "__main__":
    main()
