"""Cube and plays at a match score: by a table of the score, calculated, or estimated where that is too much."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bgfmt.analysis import choose, rule
from bgfmt.analysis.answers import TABLE_OF_PAIRS, RankedPlay, RankedPlays, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.match import MatchCube, MatchPlay, decide, rank
from bgfmt.analysis.ondemand import gammons
from bgfmt.analysis.sources import Sources
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import Play, race_plays
from bgfmt.game.state import GameState
from bgfmt.met.score import NOBODY, Score
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import MatchScore, of_kind
from bgfmt.tables.match_score import A, B

#: a position at a score: the decision, the plays of a roll, what answered, the name of the table, and the error in
#: match winning chances that 95 % of estimates keep, None for what is no estimate
Answer = tuple[MatchCube, Callable[[int, int], list[MatchPlay]], Source, str | None, float | None]


def _answer(sources: Sources, state: GameState, score: Score, *, plays: bool) -> Answer | None:
    """The numbers of a state, for its plays or its cube, from a table, calculated or estimated; None without any."""
    position = state.position
    for table in of_kind(sources.tables, MatchScore):
        if refusal(table, position, score) is None:

            def ranked(high: int, low: int, table: MatchScore = table) -> list[MatchPlay]:
                return rank_from(table, position, high, low, score)

            return (
                judge_from(table, position, score),
                ranked,
                "match-score",
                sources.library.name(table),
                None,
            )
    found = sources.match(position, score)
    dead = _with_dead_cube(sources, position, score) if found is None else None
    if dead is not None:
        return dead
    found = found or sources.match_estimate(state, score, plays=plays)
    return None if found is None else (found.cube, found.plays, found.solved.source, None, found.solved.usual)


def _with_dead_cube(sources: Sources, position: Position, score: Score) -> Answer | None:
    """By the cubeless equities of a table, exact but for their rounding; None with a live cube or gammons."""
    table = choose.two_sided_for(sources.tables, position)
    if table is None or score.live(score.state) or gammons(position):
        return None
    low, wide = score.after(0, -score.cube), score.after(0, score.cube) - score.after(0, -score.cube)

    def wins(us: list[Side], them: list[Side]) -> list[float]:
        return [float(row[0]) / 2 + 0.5 for row in table.lookup_many(us, them).astype(np.float64)]

    (win,), error = wins([position.us], [position.them]), wide / 2 * float(table.known_errors[0])
    decision = decide(position, score, low + wide * win, None, gammons=False, error=error, cubeless_win=win)

    def ranked(high: int, low_die: int) -> list[MatchPlay]:
        results = [Side(*c) for c in race_plays(position.us.padded(table.points), high, low_die)]
        theirs = wins([position.them] * len(results), results)
        return rank(decision, [(s, low + wide * (1 - x)) for s, x in zip(results, theirs, strict=True)])

    return decision, ranked, TABLE_OF_PAIRS, sources.library.name(table), None


def cube(sources: Sources, state: GameState, score: Score) -> CubeAction:
    """The cube action of a state of a match; NotCoveredError where nothing answers."""
    answer = _answer(sources, state, score, plays=False)
    if answer is None:
        raise sources.refusal(state.position)
    decision, _, source, table, usual = answer
    return CubeAction.at_score(decision, state, source, table, usual)


def plays(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """The plays of a match's roll; None where nothing has all, or there are none."""
    if not legal or state.dice is None or state.position.contact:
        return None
    answer = _answer(sources, state, score, plays=True)
    if answer is None:
        return None
    decision, worths, source, table, usual = answer
    worth = {play.result: play for play in worths(*state.dice)}
    error, emg = decision.error, decision.emg_loss
    best = [
        RankedPlay.of(
            p, w.emg, w.loss_emg, "match", emg(error), usual is not None, mwc=w.mwc, loss_mwc=w.loss_mwc
        )
        for p, w in ((play, worth[play.result.us]) for play in legal)
    ]
    best.sort(key=lambda play: (-round(play.mwc or 0.0, 11), rule.untidiness(play.result)))
    return RankedPlays(
        source=source,
        table=table,
        max_error={"mwc": error, "value": emg(error)},
        usual_error=None if usual is None else {"mwc": usual, "value": emg(usual)},
        asked=state.position,
        dice=state.dice,
        measure="match",
        cube=state.owner,
        plays=tuple(best),
        met=score.met.name,
        met_digest=score.met.digest,
    )


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
