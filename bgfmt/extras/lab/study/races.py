"""Cube decisions as they come up in races: played on with other dice from recorded matches.

A race begins where contact ended, the cube at 1 and centered. Both sides play for the fewest rolls and go by Keith's
count until a double is passed, a redouble made or the game over. Gammons are ignored.
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
from bgfmt.extras.lab.study.counts import HOME, keith
from bgfmt.extras.lab.study.judges import by_equities, may_double
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
THINNED = 16.0  # one in 16 positions outside home is kept: they are dear to estimate
DOUBLE, REDOUBLE, TAKE = -4 * 7, -3 * 7, -2 * 7  # by Keith's count


@dataclass(frozen=True, eq=False)
class Sample:
    """N decisions: of the side on roll whether to double, of the other whether to take.

    us, them : (N, points) chequers. owned : (N,) bool, whether it is about a redouble. race : (N,) the recorded race
    that it comes from. held : (N,) bool, whether it is kept for judging. share : (N,) how often it comes in a race.
    """

    us: Array
    them: Array
    owned: Array
    race: Array
    held: Array
    share: Array


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


def sample(recorded: list[list[Position]], again: int, seed: int) -> Sample:
    """The decisions of races played on `again` times from each start; half of the matches, by `seed`, are held out.

    NotCoveredError for races of one match only.
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
        us = _rolled(us, rng)
        on = us.any(axis=1)
        us, them, race, owner = them[on], us[on], race[on], -owner[on]
    us, them, owned, race, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    alike = np.concatenate([us, them, owned[:, None], race[:, None]], axis=1)
    _, rows, of = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    us, them, owned, race = (part[rows] for part in (us, them, owned, race))
    share = np.bincount(of.ravel(), weight) / (again * np.where(held, held.sum(), (~held).sum())[race])
    return Sample(us, them, owned, race, held[race], share)


def _rolled(sides: Array, rng: Any) -> Array:
    """Sides after a roll each, played for the fewest rolls; a chequer beyond ten points is pips, 49/6 a roll."""
    lengths, results = results_of(sides, rng.integers(1, 7, (len(sides), 2)))
    boards = board.unrank_array(results, POINTS)
    near = boards[:, :FAR].astype(np.int64)
    near[:, -1] += boards[:, FAR:].sum(axis=1)
    chances = rows(FAR)[0][board.rank_array(near)] / CHANCE_WHOLE
    rolls = chances @ np.arange(chances.shape[1]) + boards[:, FAR:] @ np.arange(1, POINTS - FAR + 1) * (
        6 / 49
    )
    order = np.lexsort((rolls, np.repeat(np.arange(len(sides)), lengths)))
    return np.asarray(boards[order[np.cumsum(lengths) - lengths]], np.int8)


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
    cubes.won[:, :, 2:] = cubes.won[:, :, 1:2]  # the estimate comes upon gammons
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
