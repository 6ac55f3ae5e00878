"""Match questions answered from a table of the score."""

from __future__ import annotations

from bgfmt.analysis.match import MatchCube, MatchPlay, decide, rank
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import race_plays
from bgfmt.met.score import Score
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import NOBODY, A, B, Cube


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
    cube = _cube(score, roller)
    if score.without_cube and table.score.gammons:
        return (
            "a table with fifteen chequers does not answer for the Crawford game, or any other without a cube"
        )
    if not score.without_cube and table.score.found_in(roller, cube) is None:
        return f"the table holds no cube at {score.cube}, {score.owner}"
    return table.covers(position)


def judge_from(table: MatchScore, position: Position, score: Score) -> MatchCube:
    """The cube decision from a table; NotCoveredError says why it does not answer."""
    roller = _roller(table, position, score)
    rolling = _chance(table, position, score, roller, _cube(score, roller))
    taken = None
    if score.may_double(0):
        taken = _chance(table, position, score, roller, Cube(2 * score.cube, 1 - roller))
    win = None
    if not table.score.gammons:
        us, them = divmod(table.number(position), table.positions)
        win = (1 + float(table.balance[us, them, 0])) / 2
    counted = 15 in (position.us.chequers, position.them.chequers)
    return decide(position, score, rolling, taken, gammons=counted, error=_error(table), cubeless_win=win)


def rank_from(table: MatchScore, position: Position, high: int, low: int, score: Score) -> list[MatchPlay]:
    """All plays of a roll, best first, chosen for this score and cube; NotCoveredError as `judge_from`."""
    roller = _roller(table, position, score)
    other, cube = 1 - roller, _cube(score, roller)
    plays = []
    for counts in race_plays(position.us.padded(table.points), max(high, low), min(high, low)):
        side = Side(*counts)
        after = Position(position.them, side)
        if not side.chequers:
            gain = 2 if position.them.chequers == 15 else 1
            plays.append((side, score.after(0, gain * cube.value)))
            continue
        chance = _chance(table, after, score, other, cube)
        if not score.without_cube and table.score.may_double(other, cube):
            taken = _chance(table, after, score, other, Cube(2 * cube.value, roller))
            chance = max(chance, min(taken, score.after(1, cube.value)))
        plays.append((side, 1 - chance))
    return rank(judge_from(table, position, score), plays)


def _error(table: MatchScore) -> float:
    return table.max_error or 0.0


def _roller(table: MatchScore, position: Position, score: Score) -> int:
    reason = refusal(table, position, score)
    if reason is not None:
        raise NotCoveredError(reason)
    roller = roller_at(table, score)
    assert roller is not None
    return roller


def _cube(score: Score, roller: int) -> Cube:
    """The cube as the table's players see it."""
    owner = score.state.owner
    return Cube(score.cube, owner if owner == NOBODY else roller if owner == 0 else 1 - roller)


def _chance(table: MatchScore, position: Position, score: Score, roller: int, cube: Cube) -> float:
    """Match winning chance of the side on roll of `position`, player `roller` of the table, not doubling."""
    if not score.without_cube:
        return table.mwc(position, roller, cube)
    us, them = divmod(table.number(position), table.positions)
    side = 0 if roller == roller_at(table, score) else 1
    lose, win = score.after(side, -cube.value), score.after(side, cube.value)
    return lose + (win - lose) * (1 + float(table.balance[us, them, 0])) / 2
