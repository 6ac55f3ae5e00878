"""Cube and plays at a match score: by a table of the score, calculated, or estimated where that is too much."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bgfmt.analysis import rule
from bgfmt.analysis.answers import PositionEquities, RankedPlay, RankedPlays, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.match import MatchCube, MatchPlay, decide, rank
from bgfmt.analysis.sources import Sources
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import Play, race_plays
from bgfmt.game.state import GameState
from bgfmt.met.score import NOBODY, Score
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import MatchScore, of_kind
from bgfmt.tables.match_score import A, B

#: a position at a score: the decision, the plays of a roll, what answered, and the name of the table
Exact = tuple[MatchCube, Callable[[int, int], list[MatchPlay]], Source, str | None]


def _exact(sources: Sources, state: GameState, score: Score) -> Exact | None:
    """Exact numbers of a state, None where no table has them and calculating them is too much."""
    position = state.position
    for table in of_kind(sources.tables, MatchScore):
        if refusal(table, position, score) is None:

            def ranked(high: int, low: int, table: MatchScore = table) -> list[MatchPlay]:
                return rank_from(table, position, high, low, score)

            return judge_from(table, position, score), ranked, "match-score", sources.library.name(table)
    solved = sources.match(position, score)
    return None if solved is None else (solved.cube, solved.plays, "calculation", None)


def cube(sources: Sources, state: GameState, score: Score) -> CubeAction:
    """The cube action of a state of a match."""
    exact = _exact(sources, state, score)
    if exact is not None:
        decision, _, source, table = exact
        return CubeAction.at_score(decision, state, source, table, approximate=False)
    position, equities = state.position, sources.equities(state)
    win = (equities.cubeless + 1) / 2 if equities.win is None else equities.win
    rolling, taken = chances(win, score, life_of(equities))
    gammons = equities.gammons != "none"
    decision = decide(position, score, rolling, taken, gammons=gammons, error=0.0, cubeless_win=win)
    return CubeAction.at_score(decision, state, equities.source, equities.table, approximate=True)


def plays(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """The plays of a match's roll, exact or else estimated; None where nothing has all, or there are none."""
    if not legal or state.dice is None or state.position.contact:
        return None
    exact = _exact(sources, state, score)
    if exact is None:
        ranked = _estimated(sources, state, score, legal)
    else:
        decision, worths, source, table = exact
        worth = {play.result: play for play in worths(*state.dice)}
        error = decision.emg_loss(decision.error)
        one = [
            RankedPlay.of(p, w.emg, w.loss_emg, "match", error, mwc=w.mwc, loss_mwc=w.loss_mwc)
            for p, w in ((play, worth[play.result.us]) for play in legal)
        ]
        one.sort(key=lambda play: (-round(play.mwc or 0.0, 11), rule.untidiness(play.result)))
        ranked = one, source, table, {"mwc": decision.error, "value": error}
    if ranked is None:
        return None
    best, source, table, errors = ranked
    return RankedPlays(
        source=source,
        table=table,
        max_error=errors,
        asked=state.position,
        dice=state.dice,
        measure="match",
        cube=state.owner,
        plays=tuple(best),
        met=score.met.name,
        met_digest=score.met.digest,
    )


def _estimated(
    sources: Sources, state: GameState, score: Score, legal: list[Play]
) -> tuple[list[RankedPlay], Source, str | None, dict[str, float] | None] | None:
    """Plays by their cubeless chances: exact but for the table's rounding where the cube is dead, else estimated."""
    position = state.position
    assert state.dice is not None
    worths = sources.worths(state, [p.result for p in legal], "cubeless")
    if worths is None:
        return None
    lose, win = score.after(0, -score.cube), score.after(0, score.cube)
    gammons = MAX_CHEQUERS in (position.us.chequers, position.them.chequers)
    sure = worths.error is not None and not score.live(score.state) and not gammons
    chances = [(1 + worth) / 2 for worth in worths.values.tolist()]
    if sure:
        values = [lose + (win - lose) * chance for chance in chances]
    else:
        other = score.turned()
        values = [1 - turn(1 - min(1.0, chance), other) for chance in chances]
    scale, best = 2 / (win - lose) if win != lose else 0.0, max(values)
    error = worths.error if sure else None
    order = sorted(
        range(len(legal)), key=lambda k: (-values[k], -chances[k], rule.untidiness(legal[k].result))
    )
    ranked = [
        RankedPlay.of(
            legal[k],
            scale * (values[k] - lose) - 1,
            scale * (best - values[k]),
            "match",
            error,
            mwc=values[k],
            loss_mwc=best - values[k],
        )
        for k in order
    ]
    known = None if error is None else {"mwc": error / scale if scale else 0.0, "value": error}
    return ranked, worths.source, worths.table, known


# -- estimated -----------------------------------------------------------------------------------------
#
# The cube in a match, from the chance to win the game: approximate, for what is too much to calculate.
#
# Match winning chances between a dead and a fully live cube, the way R. Janowski ("Take-points in money games", 1993)
# mixes them in money, at the score's own four outcomes. How live the cube is (0 dead, 1 fully live) is read from
# money equities where they are exact or stored, so that in a position decided by the next roll the cube is dead.


USUAL_LIFE = 2 / 3


def life_of(equities: PositionEquities) -> float:
    """How live the cube is for its next owner, from money equities."""
    if equities.approximate or equities.win is None:
        return USUAL_LIFE
    live = float(np.clip(2.5 * (equities.win - 0.2) - 1, -1, 1))
    if abs(live - equities.cubeless) < 1e-3:
        return USUAL_LIFE
    return float(np.clip((equities.opponent - equities.cubeless) / (live - equities.cubeless), 0, 1))


def turn(win: float, score: Score, life: float = USUAL_LIFE) -> float:
    """Match winning chance of the player on roll before it doubles or rolls, from its chance to win the game."""
    rolling, taken = chances(win, score, life)
    if not score.may_double(0):
        return rolling
    return max(rolling, min(taken, score.after(0, score.cube)))


def chances(win: float, score: Score, life: float = USUAL_LIFE) -> tuple[float, float]:
    """Match winning chances of rolling on and of a double taken.

    win : cubeless chance of the player on roll to win the game; gammons are not looked at. score : with the cube as
    it lies. life : 0 dead cube to 1 fully live.
    """
    cube = score.cube
    passed, lost = score.after(0, cube), score.after(0, -cube)
    rolling = win * passed + (1 - win) * lost
    if score.owner != "opponent" and score.may_double(0):
        high = _cash_point(score, 0, life)
        low = 1 - _cash_point(score, 1, life) if score.owner == "centered" else 0.0
        if high > low:
            # between our opponent's doubling us out and our doubling him out
            t = float(np.clip((win - low) / (high - low), 0, 1))
            live = lost + t * (passed - lost)
            if score.owner == "owned":
                live = max(live, rolling)
            rolling = (1 - life) * rolling + life * live
    elif score.owner == "opponent" and score.away[1] > cube:
        rolling = _other_owns(win, score, 0, cube, life)
    return float(rolling), float(_other_owns(win, score, 0, 2 * cube, life))


def _other_owns(win: Any, score: Score, side: int, cube: int, life: float) -> Any:
    """A side's match chance with the cube at `cube` on the other side, not turned again before that pays.

    `win` may be an array.
    """
    won, lost = score.after(side, cube), score.after(side, -cube)
    dead = win * won + (1 - win) * lost
    if score.away[1 - side] <= cube:  # a redouble would gain the other side nothing
        return dead
    low = _take_point(score, side, cube)
    live = lost + np.clip((win - low) / (1 - low), 0, 1) * (won - lost)
    return (1 - life) * dead + life * live


def _take_point(score: Score, side: int, cube: int) -> float:
    """A side's winning chance at which a (dead) redouble of a cube now at `cube` may just be taken."""
    drop = score.after(side, -cube)
    won, lost = score.after(side, 2 * cube), score.after(side, -2 * cube)
    return float(np.clip((drop - lost) / max(won - lost, 1e-12), 0.0, 0.99))


@lru_cache(maxsize=1024)
def _cash_point(score: Score, side: int, life: float) -> float:
    """A side's winning chance from which its double is passed."""
    passed = score.after(side, score.cube)
    grid = np.linspace(0, 1, 101)
    return float(np.interp(passed, _other_owns(grid, score, side, 2 * score.cube, life), grid))


# -- from a table of the score -------------------------------------------------------------------------


def roller_at(table: MatchScore, score: Score) -> int | None:
    """Which player of the table, a (0) or b (1), is on roll at a score; None when the table is of another one.

    The match equity table must be the same by the digest of its values, and for one of unequal players the numbers
    of the players too. A table of a score with a player at 1-away answers for the Crawford game as well.
    """
    held = table.score
    if score.met.digest != held.digest or (score.beyond and not score.met.extended):
        return None
    for roller in (A, B):
        away = held.away if roller == A else held.away[::-1]
        if score.away == away and (score.met.even or score.player == held.player ^ roller):
            return roller
    return None


def refusal(table: MatchScore, position: Position, score: Score) -> str | None:
    """Why the table does not answer, or None when it does."""
    roller = roller_at(table, score)
    if roller is None:
        mine, other = table.score.away
        return f"the table is of {mine}-away, {other}-away with {table.score.met} ({table.score.digest[:12]})"
    held = not score.without_cube and table.score.found_in(roller, _cube(score, roller)) is not None
    if not held and table.score.gammons and not score.live(score.state):
        return "a table with fifteen chequers does not answer for the Crawford game, or another without a live cube"
    if not held and score.live(score.state):
        return f"the table holds no cube at {score.cube}, {score.owner}"
    return table.covers(position)


def judge_from(table: MatchScore, position: Position, score: Score) -> MatchCube:
    """The cube decision from a table; NotCoveredError says why it does not answer."""
    roller = _roller(table, position, score)
    rolling = _chance(table, position, score, roller, _cube(score, roller))
    taken = None
    if score.may_double(0):
        taken = _chance(table, position, score, roller, Cube(2 * score.cube, 1 - roller))
    win = None if table.score.gammons else _cubeless(table, position)
    counted = MAX_CHEQUERS in (position.us.chequers, position.them.chequers)
    error = table.max_error or 0.0
    return decide(position, score, rolling, taken, gammons=counted, error=error, cubeless_win=win)


def rank_from(table: MatchScore, position: Position, high: int, low: int, score: Score) -> list[MatchPlay]:
    """All plays of a roll, best first, chosen for this score and cube; NotCoveredError as `judge_from`."""
    roller = _roller(table, position, score)
    other, cube = 1 - roller, _cube(score, roller)
    plays = []
    for counts in race_plays(position.us.padded(table.points), max(high, low), min(high, low)):
        side = Side(*counts)
        after = Position(position.them, side)
        if not side.chequers:
            gain = 2 if position.them.chequers == MAX_CHEQUERS else 1
            plays.append((side, score.after(0, gain * cube.value)))
            continue
        chance = _chance(table, after, score, other, cube)
        if score.live(score.state) and table.score.may_double(other, cube):
            taken = _chance(table, after, score, other, Cube(2 * cube.value, roller))
            chance = max(chance, min(taken, score.after(1, cube.value)))
        plays.append((side, 1 - chance))
    return rank(judge_from(table, position, score), plays)


def _roller(table: MatchScore, position: Position, score: Score) -> int:
    reason, roller = refusal(table, position, score), roller_at(table, score)
    if reason is not None or roller is None:
        raise NotCoveredError(reason or "")
    return roller


def _cube(score: Score, roller: int) -> Cube:
    """The cube as the table's players see it."""
    owner = score.state.owner
    return Cube(score.cube, owner if owner == NOBODY else roller if owner == 0 else 1 - roller)


def _cubeless(table: MatchScore, position: Position) -> float:
    """The chance of the side on roll to win the game."""
    us, them = divmod(table.number(position), table.positions)
    return (1 + float(table.balance[us, them, 0])) / 2


def _chance(table: MatchScore, position: Position, score: Score, roller: int, cube: Cube) -> float:
    """Match winning chance of the side on roll of `position`, player `roller` of the table, not doubling."""
    if not score.without_cube and table.score.found_in(roller, cube) is not None:
        return table.mwc(position, roller, cube)
    side = 0 if roller == roller_at(table, score) else 1
    lose, win = score.after(side, -cube.value), score.after(side, cube.value)
    return lose + (win - lose) * _cubeless(table, position)
