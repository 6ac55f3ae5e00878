"""Cube decisions as they come up in races: played on from recorded matches, with the cube turned rightly.

A race begins where contact ended, the cube at 1 and centered. Both sides play for the fewest rolls and double, take
and pass rightly, for money, until a double is passed, a redouble taken or the game over. Gammons are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis.bulk import results_of
from bgfmt.analysis.chains import FAR, QUICK, Estimator, rows
from bgfmt.errors import NotCoveredError
from bgfmt.extras import matches
from bgfmt.extras.lab.study.counts import HOME, pips
from bgfmt.extras.lab.study.judges import TIE, by_equities, may_double
from bgfmt.extras.lab.study.rules import Pairs
from bgfmt.extras.lab.study.tallies import Worths
from bgfmt.extras.matches.decisions import state
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver import columns
from bgfmt.tables import TwoSided
from bgfmt.tables.rolls import CHANCE_WHOLE

Array = NDArray[Any]
Progress = Callable[[int, int], None]
POINTS = 24
LONG = 50  # pips; in a longer race that is not all home
CLEAR = (0.03, 0.2)  # below such a lead nobody doubles, above it every double is passed; that is not looked at


@dataclass(frozen=True, eq=False)
class Sample:
    """N decisions of `games` games: of the side on roll whether to double, and of the other whether to take.

    us, them : (N, points) chequers. owned : (N,) bool, whether it is about a redouble. race : (N,) the recorded race
    that the game goes on from. held : (N,) bool, whether it is kept for judging. worths : for money.
    """

    us: Array
    them: Array
    owned: Array
    race: Array
    held: Array
    games: tuple[int, int]
    worths: Worths


def starts(names: Iterable[str]) -> list[list[Position]]:
    """The first positions without contact of the games of each recorded match.

    A match that stands in several files, told by the first of them, counts once.
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


def sample(
    recorded: list[list[Position]], again: int, seed: int, table: TwoSided | None, progress: Progress | None = None
) -> Sample:
    """The decisions of races played on `again` times from each start; half of the matches, by `seed`, are held out.

    table : of money equities, used where it covers both sides. NotCoveredError for races of one match only.
    """
    if len(recorded) < 2:
        raise NotCoveredError("races of at least two matches are needed: one to search by, one to judge by")
    rng = np.random.default_rng(seed)
    matches_held = np.isin(np.arange(len(recorded)), rng.permutation(len(recorded))[::2])
    held = np.repeat(matches_held, [len(races) for races in recorded])
    both = [[side.padded(POINTS) for side in (p.us, p.them)] for races in recorded for p in races]
    us, them = np.repeat(np.array(both, np.int8).reshape(-1, 2, POINTS), again, axis=0).swapaxes(0, 1)
    race = np.repeat(np.arange(len(held)), again)
    owner = np.zeros(len(race), np.int8)  # 1 the side on roll, -1 the other
    found, worths, whole = [], [], len(race)
    while len(us):
        ours, theirs = pips(us), pips(them)
        home = ~(us[:, HOME:] | them[:, HOME:]).any(axis=1)
        lead = theirs - ours
        clear = ~home & (ours > LONG) & ((lead < CLEAR[0] * ours) | (lead > CLEAR[1] * ours))
        asked = np.flatnonzero((owner >= 0) & ~clear)
        worth = judged(us[asked], them[asked], None, table)
        owned = owner[asked] > 0
        found.append((us[asked], them[asked], owned, race[asked]))
        worths.append(worth)
        double, take = right(worth, owned)
        ended = clear & (owner >= 0) & (lead > 0)
        ended[asked] = double & (~take | owned)
        owner[asked] = np.where(double, -1, owner[asked])
        us = _rolled(us, rng)
        on = us.any(axis=1) & ~ended
        us, them, race, owner = them[on], us[on], race[on], -owner[on]
        if progress is not None:
            progress(whole - len(us), whole)
    us, them, owned, race = (np.concatenate(part) for part in zip(*found, strict=True))
    games = again * int((~held).sum()), again * int(held.sum())
    money = Worths(*(np.concatenate(part) for part in zip(*worths, strict=True)))
    return Sample(us, them, owned, race, held[race], games, money)


def _rolled(sides: Array, rng: Any) -> Array:
    """Sides after a roll each, played for the fewest rolls; a chequer beyond ten points is pips, 49/6 a roll."""
    lengths, results = results_of(sides, rng.integers(1, 7, (len(sides), 2)))
    boards = board.unrank_array(results, POINTS)
    near = boards[:, :FAR].astype(np.int64)
    near[:, -1] += boards[:, FAR:].sum(axis=1)
    distributions = rows(FAR)[0]
    means = distributions @ np.arange(distributions.shape[1]) / CHANCE_WHOLE
    rolls = means[board.rank_array(near)] + boards[:, FAR:] @ np.arange(1, POINTS - FAR + 1) * 6 / 49
    order = np.lexsort((rolls, np.repeat(np.arange(len(sides)), lengths)))
    return np.asarray(boards[order[np.cumsum(lengths) - lengths]], np.int8)


def right(worths: Worths, owned: Array) -> tuple[Array, Array]:
    """Whether to double, to redouble where `owned`, and whether to take, bool (N,)."""
    gain, spare = gains(worths, owned)
    return gain > TIE, spare > -TIE


def gains(worths: Worths, owned: Array) -> tuple[Array, Array]:
    """What doubling gains, redoubling where `owned`, and what taking gains the other side, (N,)."""
    rolling, taken = worths.centered, worths.taken
    if worths.owned is not None and worths.retaken is not None:
        rolling, taken = np.where(owned, worths.owned, rolling), np.where(owned, worths.retaken, taken)
    return np.minimum(taken, 1.0) - rolling, 1.0 - taken


def judged(
    us: Array, them: Array, score: Score | None, table: TwoSided | None, progress: Progress | None = None
) -> Worths:
    """What positions are worth without gammons: by the table, for money, where it covers both, else by estimate."""
    covered = np.zeros(len(us), np.bool_)
    if table is not None and score is None:
        for side in (us, them):
            covered |= side[:, table.points :].any(axis=1) | (side.sum(axis=1) > table.chequers)
        covered = ~covered
    cubes = columns.for_match(score, gammons=False) if score else columns.for_money(gammons=False)
    values, estimator = np.empty((len(us), len(cubes))), Estimator(QUICK, 1 << 16)
    for done, n in enumerate(np.flatnonzero(~covered)):
        values[n] = estimator.values(Position(*(Side(*map(int, side[n])) for side in (us, them))), cubes)
        if progress is not None:
            progress(done + 1, len(us))
    if score is None:
        middle, own, other = values[:, 1], values[:, 2], 2 * values[:, 3]
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
        add, times = (0.0, 1.0) if cube in cubes.states else columns.dead(score, 0, cube)
        lose, win = (columns.worth_of(score, 0, points) for points in (-at, at))
        return np.asarray((2 * (add + times * values[:, cubes.place(cube)]) - win - lose) / (win - lose))

    middle, taken = worth(CubeState(1, NOBODY), 1), worth(CubeState(2, 1), 1)
    if not score.may_double(0, CubeState(2, 0)):
        return Worths(middle, None, taken, None)
    return Worths(middle, worth(CubeState(2, 0), 2), taken, worth(CubeState(4, 1), 2))
