"""Races from real matches, what their cube decisions are worth, and two halves: one to search by, one to judge by."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import library
from bgfmt.analysis.bulk import results_of
from bgfmt.analysis.chains import FAR, values_many
from bgfmt.errors import NotCoveredError
from bgfmt.extras import matches
from bgfmt.extras.lab.study import judges
from bgfmt.extras.lab.study.tallies import Worths
from bgfmt.extras.matches.decisions import state
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver import columns
from bgfmt.tables import TwoSided
from bgfmt.tables.rolls import CHANCE_WHOLE

Array = NDArray[Any]
POINTS, HOME = 24, 6
THINNED = 8  # of so many positions outside one is kept
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sample:
    """N positions before a roll, each as often as it occurs.

    us, them : (N, points) chequers of the side on roll and of the other. weight : (N,) how often each occurs. race :
    (N,) the game each is from. held : (N,) bool, whether it is kept for judging. recorded : (N,) bool, False where a
    race was played on with other dice.
    """

    us: Array
    them: Array
    weight: Array
    race: Array
    held: Array
    recorded: Array


def recorded(names: Iterable[str]) -> Iterator[list[list[Position]]]:
    """The races of each match of these files: the positions before a roll or a double without contact, a list a game.

    A match that stands in several files, told by its first race, counts once.
    """
    met: set[Position] = set()
    for name in names:
        for match in matches.each(name):
            races = []
            for game in match.games:
                asked = (r for r in game.records if r.kind in ("play", "double"))
                found = [state(match, game, record).position for record in asked]
                race = [p for p in found if not (p.contact or p.us.bar or p.them.bar)]
                # a position in which a double was taken is asked about again before the roll
                races.append([p for k, p in enumerate(race) if k == 0 or p != race[k - 1]])
            races = [race for race in races if race]
            if races and races[0][0] not in met:
                met.add(races[0][0])
                yield races


def of_matches(names: Iterable[str], again: int, seed: int) -> Sample:
    """All races of recorded matches, and `again` positions of the same races played on with other dice.

    Half of the matches, drawn by `seed`, are held out. NotCoveredError where there is no race, or but one match.
    """
    found = list(recorded(names))
    if len(found) < 2:
        raise NotCoveredError("races of at least two matches are needed: one to search by, one to judge by")
    found.sort(key=lambda races: _key(races[0][0]))  # whatever the order of the files
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(found), np.bool_)
    kept[rng.permutation(len(found))[::2]] = True
    races = [race for match in found for race in match]
    held = np.repeat(kept, [len(match) for match in found])
    us, them = _counts([position for race in races for position in race])
    of = np.repeat(np.arange(len(races)), [len(race) for race in races])
    more = _played_on([race[0] for race in races], again, rng)
    us, them, race, weight = (
        np.concatenate(pair) for pair in zip((us, them, of, np.ones(len(us))), more, strict=True)
    )
    return Sample(us, them, weight, race, held[race], np.arange(len(us)) < len(of))


def _key(position: Position) -> int:
    """A number that does not depend on the order of the files."""
    return zlib.crc32(struct.pack("48b", *position.us.padded(POINTS), *position.them.padded(POINTS)))


def _counts(positions: Iterable[Position]) -> tuple[Array, Array]:
    both = [[side.padded(POINTS) for side in (p.us, p.them)] for p in positions]
    sides = np.array(both, np.int8).reshape(-1, 2, POINTS)
    return sides[:, 0], sides[:, 1]


def _played_on(starts: list[Position], wanted: int, rng: Any) -> tuple[Array, ...]:
    """Positions drawn from races that both sides play to the end for few rolls: us, them, race, weight.

    Those outside are thinned, and weigh more: they are dear to estimate, and any count does well there.
    """
    found: list[tuple[Array, Array, Array]] = [(*_counts([]), np.zeros(0, np.int64))]
    rows, many = library.distributions(True), 0
    means = rows @ np.arange(rows.shape[1], dtype=np.float64) / CHANCE_WHOLE
    while many < wanted:
        us, them, of = *_counts(starts), np.arange(len(starts))
        while len(us):
            us = _rolled(us, means, rng)
            on = us.any(axis=1)
            us, them, of = them[on], us[on], of[on]
            found.append((us, them, of))
            many += len(us)
    us, them, of = (np.concatenate(part) for part in zip(*found, strict=True))
    drawn = rng.permutation(many)[:wanted]
    outside = (us[drawn, HOME:] | them[drawn, HOME:]).any(axis=1)
    weight = np.where(outside, THINNED, 1.0)
    drawn, weight = (part[~outside | (rng.random(wanted) * THINNED < 1)] for part in (drawn, weight))
    return us[drawn], them[drawn], of[drawn], weight


def _rolled(sides: Array, means: Array, rng: Any) -> Array:
    """Sides after a roll each, played for the fewest rolls, of which `means` tells those within ten points."""
    lengths, results = results_of(sides, rng.integers(1, 7, (len(sides), 2)))
    boards = board.unrank_array(results, POINTS)
    near = boards[:, :FAR].astype(np.int64)
    near[:, -1] += boards[:, FAR:].sum(axis=1)
    beyond = boards[:, FAR:] @ np.arange(1, POINTS - FAR + 1)  # pips, 49/6 a roll
    rolls = means[board.rank_array(near)] + beyond * 6 / 49
    order = np.lexsort((rolls, np.repeat(np.arange(len(sides)), lengths)))
    best: Array = boards[order[np.cumsum(lengths) - lengths]].astype(np.int8)
    return best


def drawn_evenly(table: TwoSided, wanted: int, seed: int) -> Sample:
    """Pairs of a table, each side drawn evenly among its positions; every other one is held out."""
    numbers = np.random.default_rng(seed).integers(1, table.positions, (2, wanted))
    us, them = (board.unrank_array(side, table.points) for side in numbers)
    held = np.arange(wanted) % 2 == 1
    return Sample(us, them, np.ones(wanted), np.arange(wanted), held, np.zeros(wanted, np.bool_))


def worths(
    sample: Sample, score: Score | None, table: TwoSided | None, progress: Progress | None = None
) -> Worths:
    """What the cube decisions of all positions are worth, gammons ignored: by the table for money where it covers
    both sides, else by the quick estimate of races."""
    us, them = sample.us, sample.them
    if score is not None:
        judges.may_double(score)
    cubes = columns.for_match(score, gammons=False) if score else columns.for_money(gammons=False)
    covered = np.zeros(len(us), np.bool_)
    if table is not None and score is None:
        for side in (us, them):
            covered |= side[:, table.points :].any(axis=1) | (side.sum(axis=1) > table.chequers)
        covered = ~covered
    values = np.empty((len(us), len(cubes)))
    left = np.flatnonzero(~covered)
    sides = [[Side(*map(int, counts)) for counts in part[left]] for part in (us, them)]
    values[left] = values_many([Position(*pair) for pair in zip(*sides, strict=True)], cubes, progress=progress)
    if table is not None and covered.any():
        stored = table.lookup_many(*(part[covered][:, : table.points] for part in (us, them)))
        values[covered] = np.asarray(stored, np.float64)[:, [0, 2, 1, 3]]
    if score is None:
        centered, owned, opponent = values[:, 1], values[:, 2], values[:, 3]
        return Worths(centered, owned, 2 * opponent, 2 * opponent)

    def worth(cube: CubeState, at: int) -> Array:
        add, times = (0.0, 1.0) if cube in cubes.states else columns.dead(score, 0, cube)
        lose, win = (columns.worth_of(score, 0, points) for points in (-at, at))
        result: Array = (2 * (add + times * values[:, cubes.place(cube)]) - win - lose) / (win - lose)
        return result

    middle, own = CubeState(1, NOBODY), CubeState(2, 0)
    centered, taken = worth(middle, 1), worth(CubeState(2, 1), 1)
    if not score.may_double(0, own):
        return Worths(centered, None, taken, None)
    return Worths(centered, worth(own, 2), taken, worth(CubeState(4, 1), 2))
