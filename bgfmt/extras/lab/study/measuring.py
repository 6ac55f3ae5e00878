"""Measure rules of thumb: judge every pair of a table, or a sample, by exact equities or by an estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis.library import Library
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.extras.lab.study import judges
from bgfmt.extras.lab.study.judges import Floats, Judge, Worths
from bgfmt.extras.lab.study.rules import Decisions, Pairs, Rule, select_rules
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.met.score import Score
from bgfmt.solver import one_sided, two_sided
from bgfmt.solver.match import match_score
from bgfmt.tables import OneSided, Table
from bgfmt.tables.rolls import CHANCE_WHOLE

# size of the table that is solved exactly if no database is named
POINTS = 6
CHEQUERS = 6
MAX_EXHAUSTIVE_PAIRS = 12_000_000  # with more pairs a sample is drawn
SAMPLE = 200_000
SEED = 1
CHUNK = 1 << 16

Progress = Callable[[int, int], None]


# -- tallies of wrong decisions ---------------------------------------------------------------------


@dataclass
class Tally:
    """Counts of the decisions of one kind by one rule; "yes" is to double or, for answers, to take.

    pairs : positions asked about.
    yes : positions in which the rule says yes.
    should, against : positions in which yes, in which no is strictly better.
    wrong_yes, wrong_no : positions in which the rule's yes, its no is strictly worse.
    cost, squares : sums of the losses and of their squares, in units of the cube before the double.
    worst, at : the greatest loss and the number of its position.
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

    def add(self, yes_rows: Any, gain: Floats, tie: float, numbers: NDArray[np.int64]) -> None:
        """Add the decisions of a rule on M positions to the counts.

        yes_rows : (M,) bool, the rule's decisions (to double, or to take).
        gain : (M,) by how much yes is better than no; within `tie` neither is wrong.
        numbers : (M,) of the positions.
        """
        better = gain > tie
        worse = gain < -tie
        wrong_yes = yes_rows & worse
        wrong_no = better & ~yes_rows
        cost = np.abs(gain) * (wrong_yes | wrong_no)
        self.pairs += len(gain)
        self.yes += int(np.count_nonzero(yes_rows))
        self.should += int(np.count_nonzero(better))
        self.against += int(np.count_nonzero(worse))
        self.wrong_yes += int(np.count_nonzero(wrong_yes))
        self.wrong_no += int(np.count_nonzero(wrong_no))
        self.cost += float(cost.sum())
        # a dot product would start BLAS threads
        self.squares += float(np.square(cost).sum())
        if cost.max(initial=0.0) > self.worst:
            self.worst = float(cost.max())
            self.at = int(numbers[cost.argmax()])

    @property
    def wrong_decisions(self) -> int:
        """Number of wrong decisions."""
        return self.wrong_yes + self.wrong_no

    @property
    def share(self) -> float:
        """Wrong decisions as a share of all decisions, 0 to 1."""
        return self.wrong_decisions / self.pairs if self.pairs else 0.0

    @property
    def mean(self) -> float:
        """Mean loss over all decisions, in points of the cube before the double."""
        return self.cost / self.pairs if self.pairs else 0.0

    @property
    def error(self) -> float:
        """Standard error of `mean`, the positions being a random sample."""
        if self.pairs < 2:
            return inf
        return sqrt(max(0.0, self.squares / self.pairs - self.mean**2) / (self.pairs - 1))

    @property
    def mean_wrong(self) -> float:
        """Mean loss over the wrong decisions, in points of the cube before the double."""
        return self.cost / self.wrong_decisions if self.wrong_decisions else 0.0


@dataclass
class Tallies:
    """The tallies of one rule.

    double : doubles. redouble : redoubles, None if there are none. take : answers to a double in every position.
    answer : answers where doubling with a centered cube is strictly right.
    """

    double: Tally = field(default_factory=Tally)
    redouble: Tally | None = field(default_factory=Tally)
    take: Tally = field(default_factory=Tally)
    answer: Tally = field(default_factory=Tally)

    def add(
        self, decisions: Decisions, worths: Worths, tie: tuple[float, float], numbers: NDArray[np.int64]
    ) -> None:
        """Add the decisions of the rule on some positions.

        worths : values of these positions. tie : losses up to this are not wrong, for doubles and for answers.
        numbers : of the positions.
        """
        double, redouble, passing = worths.gains
        self.double.add(decisions.double, double, tie[0], numbers)
        if redouble is None or self.redouble is None:
            self.redouble = None
        else:
            self.redouble.add(decisions.redouble, redouble, tie[0], numbers)
        self.take.add(decisions.take, -passing, tie[1], numbers)
        right = double > tie[0]
        self.answer.add(decisions.take[right], -passing[right], tie[1], numbers[right])


# -- studies ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """The results of all rules on some pairs by one judge.

    score : None for money.
    chequers : the fewest and the most of a side.
    pairs, among : number of pairs judged, and of all.
    seed : of the sample, None if every pair was judged.
    sides : returns the position of a pair's number.
    """

    judge: Judge
    score: Score | None
    chequers: tuple[int, int]
    pairs: int
    among: int
    seed: int | None
    results: dict[Rule, Tallies]
    sides: Callable[[int], Position]

    def error(self, tally: Tally) -> float:
        """Return the standard error of the mean loss in a tally (a rule's decisions); 0 if every pair was judged."""
        return 0.0 if self.seed is None else tally.error

    def worst_at(self, tally: Tally) -> str | None:
        """Return the position of the greatest loss in a tally (a rule's decisions of one kind) as text.

        None if no decision is wrong.
        """
        return None if tally.at is None else str(self.sides(tally.at))

    def tallies(self, kind: str) -> dict[Rule, Tally]:
        """Return the counts of each rule's decisions of one kind; {} if there are no such decisions at the score.

        kind : "double", "redouble", "take" or "answer".
        """
        found = {rule: getattr(one, kind) for rule, one in self.results.items()}
        return {} if None in found.values() else found

    def places(self, kind: str) -> list[tuple[int, int]]:
        """Return the best and the worst place (1 for the least mean loss) that each rule may have.

        The order of two is uncertain if their mean losses differ by at most twice the standard error of the
        difference plus the mean loss of the judge's own decisions.

        kind : "double", "redouble", "take" or "answer".
        """
        tallies = self.tallies(kind).values()
        means = np.array([tally.mean for tally in tallies])
        errors = np.array([self.error(tally) for tally in tallies])
        blur = 2 * np.hypot(errors[:, None], errors) + self.judge.own_loss
        worse = means[:, None] - means > blur  # [a, b]: a certainly loses more than b
        best = 1 + worse.sum(axis=1)
        worst = len(means) - worse.sum(axis=0)
        return list(zip(best.tolist(), worst.tolist(), strict=True))


def rule_quality(
    databases: Library | None = None,
    *,
    score: Score | None = None,
    chequers: tuple[int, int] | None = None,
    sample: int = SAMPLE,
    seed: int = SEED,
    names: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> list[Section]:
    """Judge the cube decisions of rules of thumb.

    Parameters
    ----------
    databases : a section for each: at a score tables of that score, for money cubeful two-sided tables, and one-sided
        tables by an estimate. None: exact equities of all pairs of six points and six chequers, solved here, and for
        money the estimate for up to fifteen chequers.
    score : the score, cube centered at 1; None for money.
    chequers : the fewest and the most chequers of a side; None for all that the table covers.
    sample, seed : number of pairs to draw if there are more than `MAX_EXHAUSTIVE_PAIRS`, each side uniformly among
        its positions, and the seed of the draw.
    names : the rules, all if empty.
    progress : called as ``progress(done, total)`` with pairs.

    Raises
    ------
    NotCoveredError : for a table that cannot judge doubles, or with fewer chequers.
    CapabilityError : for an unknown rule.
    PositionError : for a score at which the side on roll does not double.
    """
    rules = select_rules(names)
    if chequers is not None and not 1 <= chequers[0] <= chequers[1] <= MAX_CHEQUERS:
        raise PositionError(
            f"each side must have 1 to {MAX_CHEQUERS} chequers, found {chequers[0]} to {chequers[1]}"
        )
    sections = []
    for judge in _judges(databases, score, chequers):
        first, last = chequers or (1, judge.chequers)
        if last > judge.chequers:
            raise NotCoveredError(
                f"{judge.table or judge.source}: the table has {judge.chequers} chequers a side"
            )
        judged = rules
        if score is None and judge.source != OneSided.kind and not names:
            judged = (*rules, judges.as_rule(judges.estimate_judge(POINTS, last)))
        rolls: Any = judge.rolls or one_sided(POINTS, chequers=last, gammon=False, recipe="exact")
        points = min(POINTS, judge.points)
        low = board.count(points, first - 1)
        high = board.count(points, last)
        among = (high - low) ** 2
        if among > MAX_EXHAUSTIVE_PAIRS:
            us, them = np.random.default_rng(seed).integers(low, high, (2, sample))
        else:
            us, them = low + np.indices((high - low, high - low)).reshape(2, -1)
        results = {rule: Tallies() for rule in judged}
        for start in range(0, len(us), CHUNK):
            part = np.arange(start, min(start + CHUNK, len(us)))
            counts = (board.unrank_array(k[part], points) for k in (us, them))
            ours, theirs = (np.pad(one, ((0, 0), (0, POINTS - points))) for one in counts)
            pairs = Pairs(ours, theirs, _chances(rolls, ours), _chances(rolls, theirs))
            worths = judge.worths(pairs)
            for rule, tallies in results.items():
                tallies.add(rule.decide(pairs), worths, judge.ties, part)
            if progress is not None:
                progress(start + len(part), len(us))
        drawn = seed if among > MAX_EXHAUSTIVE_PAIRS else None
        sides = partial(_position, points, us, them)
        sections.append(Section(judge, score, (first, last), len(us), among, drawn, results, sides))
    return sections


def _judges(
    databases: Library | None, score: Score | None, chequers: tuple[int, int] | None
) -> Iterator[Judge]:
    """Yield the judges of the databases, or of the tables solved here."""
    if databases is not None:
        for table in databases.tables:
            yield judges.of_table(table, databases.name(table), score)
        return
    if score is not None or chequers is None or chequers[1] <= CHEQUERS:
        yield judges.of_table(_exact(score), None, score)
    if score is None and (chequers is None or chequers[1] > CHEQUERS):
        yield judges.estimate_judge(POINTS, MAX_CHEQUERS)


def _exact(score: Score | None) -> Table:
    """Solve the exact table of six points and six chequers, for money or a score."""
    if score is None:
        return two_sided(POINTS, CHEQUERS, recipe="exact")
    judges.may_double(score)  # before the work, not after it
    return match_score(POINTS, CHEQUERS, score.away, score.met, player=score.player, dtype=np.float64)


def _chances(table: OneSided, counts: NDArray[Any]) -> Floats:
    """Return (N, rolls) probabilities of sides to need exactly 1, 2, ... rolls."""
    stored = np.asarray(table.bearoff[table.numbers(counts)])[:, 1:]
    return stored if stored.dtype == np.float64 else stored / CHANCE_WHOLE


def _position(points: int, us: NDArray[np.int64], them: NDArray[np.int64], row: int) -> Position:
    """Return the position of a pair."""
    return Position(Side.from_number(int(us[row]), points), Side.from_number(int(them[row]), points))
