"""Judges of rules of thumb: a table of equities, a table of a match score, or an estimate for money.

A judge returns the values of pairs as `Worths`. Its equities ignore gammons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import at_score as match_tables
from bgfmt.analysis.answers import Source
from bgfmt.analysis.races import MEAN_ERROR, WORST_ERROR
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.extras.lab.study.rules import Decisions, Pairs, Rule
from bgfmt.extras.lab.thumb.doubling import cubeful_of_chances
from bgfmt.met.score import NOBODY, Score
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import MatchScore, OneSided, Table, TwoSided, of_kind

TIE = 1e-9  # loss up to which a decision is not wrong by exact values
Floats = NDArray[np.float64]
#: measured maximum error (where the next roll decides) and mean error of the estimated equity of not doubling, over
#: all pairs of six points and six chequers
WORST_EQUITY = 0.3723
MEAN_EQUITY = 0.0347
#: mean loss of the estimate's own decisions over these pairs (greatest for redoubles): it cannot distinguish rules
#: that differ by less
OWN_LOSS = 0.0016


class Worths(NamedTuple):
    """Values of N positions to the side on roll, for a cube now at 1; a double passed is worth 1.

    centered, owned : no double with a centered, an own cube. taken, retaken : a double, a redouble that is taken.
    owned and retaken are None if there is no redouble at the score.
    """

    centered: Floats
    owned: Floats | None
    taken: Floats
    retaken: Floats | None

    @property
    def gains(self) -> tuple[Floats, Floats | None, Floats]:
        """Gains of doubling, of redoubling (None if impossible) and of passing a double over taking it, (N,)."""
        redoubled = None
        if self.owned is not None and self.retaken is not None:
            redoubled = np.minimum(self.retaken, 1.0) - self.owned
        return np.minimum(self.taken, 1.0) - self.centered, redoubled, self.taken - 1


@dataclass(frozen=True, eq=False)
class Judge:
    """A source of values of positions.

    title : in words.
    source, table : as answers state their source.
    points, chequers : of a side, what it covers.
    worths : returns the values of pairs.
    ties : losses of a double and of an answer up to which they are not wrong.
    max_error, mean_error : of its numbers by name. own_loss : mean loss of its own decisions. Those of the estimate
        are measured for money over six points and six chequers.
    rolls : the one-sided table that rules use, None to solve one.
    """

    title: str
    source: Source
    table: str | None
    points: int
    chequers: int
    worths: Callable[[Pairs], Worths]
    ties: tuple[float, float] = (TIE, TIE)
    max_error: dict[str, float] | None = None
    mean_error: dict[str, float] | None = None
    own_loss: float = 0.0
    rolls: OneSided | None = None


def of_table(table: Table, name: str | None, score: Score | None) -> Judge:
    """Return the judge (source of exact or estimated values) that a table makes, for money or at a score.

    name : of the file, for messages. score : None for money. NotCoveredError if the table makes none.
    """
    if score is not None:
        for part in of_kind([table], MatchScore):
            return at_score(part, name, score)
        raise NotCoveredError(
            f"{name or table.kind}: at a score rules can only be judged by a table of match winning probabilities"
        )
    for two in of_kind([table], TwoSided):
        return by_equities(two, name)
    for one in of_kind([table], OneSided):
        return replace(estimate_judge(one.points, one.chequers), table=name, rolls=one)
    raise NotCoveredError(
        f"{name or table.kind}: rules can only be judged by cubeful equities or the distributions of rolls"
    )


def by_equities(table: TwoSided, name: str | None) -> Judge:
    """Return a judge that values positions by a two-sided table of cubeful money equities.

    Losses within the table's error are not wrong. name : of the file. NotCoveredError for a cubeless table.
    """
    if not table.cubeful:
        raise NotCoveredError(f"{name or table.kind}: the table is cubeless, so it cannot judge doubles")

    def worths(pairs: Pairs) -> Worths:
        """Return what positions are worth by the table's equities."""
        entries = table.lookup_many(pairs.us[:, : table.points], pairs.them[:, : table.points])
        _, owned, centered, opponent = np.asarray(entries, np.float64).T
        return Worths(centered, owned, 2 * opponent, 2 * opponent)

    error = float(table.known_errors.max())
    ties = (TIE, TIE) if table.exact else (3 * error, 2 * error)
    words = "exact equities" if table.exact else f"equities that err by {error:.2g} at most"
    return Judge(words, "two-sided", name, table.points, table.chequers, worths, ties, table.errors())


def at_score(table: MatchScore, name: str | None, score: Score) -> Judge:
    """Return a judge that values positions by a table of a match score.

    Its match win probabilities become equities of a game at this score (winning it 1, losing it -1). NotCoveredError
    if the table is of another score, PositionError if the side on roll cannot gain by doubling.
    """
    roller = match_tables.roller_at(table, score)
    if roller is None:
        mine, other = table.score.away
        raise NotCoveredError(f"{name or table.kind}: the table is of {mine}-away, {other}-away")
    may_double(score)
    facts = table.score
    middle = Cube(1, NOBODY)
    owned = Cube(2, roller)
    redoubles = owned in facts.cubes and facts.may_double(roller, owned)

    def worth(stored: Floats, cube: Cube, at: int) -> Floats:
        """Return the equities of positions with this cube; a game won or lost counts `at` points."""
        place = facts.locate(roller, cube)
        assert place is not None
        column, add, times = place
        return of_game(add + times * stored[:, column], facts.worth(roller, -at), facts.worth(roller, at))

    def worths(pairs: Pairs) -> Worths:
        """Return what positions are worth by the table's match win probabilities."""
        ours, theirs = table.entry_numbers(pairs.us[:, : table.points], pairs.them[:, : table.points])
        stored = np.asarray(table.balance[ours, theirs], np.float64)
        centered, taken = (worth(stored, cube, 1) for cube in (middle, Cube(2, 1 - roller)))
        if not redoubles:
            return Worths(centered, None, taken, None)
        return Worths(centered, worth(stored, owned, 2), taken, worth(stored, Cube(4, 1 - roller), 2))

    scale = 2 / min(facts.worth(roller, k) - facts.worth(roller, -k) for k in ((1, 2) if redoubles else (1,)))
    error = 2 * scale * (table.max_error or 0.0)
    ties = (TIE, TIE) if table.exact else (3 * error, 2 * error)
    words = "exact chances to win the match" if table.exact else f"chances that err by {table.max_error:.2g}"
    errors = {"mwc": table.max_error or 0.0}
    return Judge(words, "match-score", name, table.points, table.chequers, worths, ties, errors)


def estimate_judge(points: int, chequers: int) -> Judge:
    """Return a judge that values positions for money by Janowski's formula on W.

    points, chequers : of a side.
    """

    def worths(pairs: Pairs) -> Worths:
        """Return what positions are worth by the formula."""
        owned, centered, opponent = cubeful_of_chances(np.clip(pairs.win, 0, 1))
        return Worths(centered, owned, 2 * opponent, 2 * opponent)

    worst = {"win": WORST_ERROR, "equity": WORST_EQUITY}
    mean = {"win": MEAN_ERROR, "equity": MEAN_EQUITY}
    return Judge(
        "the adviser's estimate from one-sided tables", "one-sided", None, points, chequers, worths,
        max_error=worst, mean_error=mean, own_loss=OWN_LOSS,
    )  # fmt: skip


def of_game(chances: Floats, lose: float, win: float) -> Floats:
    """Convert match win probabilities to equities: `lose`, the one after losing the game, becomes -1, and `win` 1."""
    return np.asarray((2 * chances - win - lose) / (win - lose))


def may_double(score: Score) -> None:
    """Raise PositionError if the side on roll cannot gain by doubling at this score."""
    if not score.may_double(0):
        raise PositionError(f"{score}: the side on roll cannot use the cube; there is nothing to study")


def as_rule(judge: Judge) -> Rule:
    """Return a judge (source of values) as a rule of thumb, so that its own errors can be compared with theirs."""

    def decide(pairs: Pairs) -> Decisions:
        """Return the decisions (double, redouble, take) that the judge's own values imply."""
        double, redouble, passing = judge.worths(pairs).gains
        redoubles = np.zeros(len(double), np.bool_) if redouble is None else redouble >= 0
        return Decisions(double >= 0, redoubles, passing <= 0)

    return Rule("estimate", judge.title, "Janowski's formula on W, docs/ask.md", decide)
