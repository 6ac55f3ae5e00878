"""Cube and plays at a match score: from a table of the score, by calculation, or by an estimate."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.analysis import choose
from bgfmt.analysis.answers import EQUAL, ESTIMATE, TABLE_OF_PAIRS, RankedPlay, RankedPlays, is_close
from bgfmt.analysis.cube import MatchCube, decide
from bgfmt.analysis.ondemand import MatchAnswer, match_answer
from bgfmt.analysis.outside import untidiness
from bgfmt.analysis.sources import Sources
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import Play, race_plays
from bgfmt.game.state import GameState
from bgfmt.met.score import NOBODY, Score
from bgfmt.met.score import CubeState as Cube
from bgfmt.tables import MatchScore, of_kind
from bgfmt.tables.match_score import A, B

__all__ = ["answer_from_table", "cube", "plays", "refusal", "roller_at"]


def _answer(
    sources: Sources, position: Position, score: Score, dice: tuple[int, int] | None = None
) -> MatchAnswer | None:
    """Answer for a position at a score, from a table, by calculation or by an estimate; None if nothing has it.

    dice : the roll, if its plays are wanted; where an estimate leaves them open they may be rolled out.
    """
    for table in of_kind(sources.tables, MatchScore):
        if refusal(table, position, score) is None:
            return answer_from_table(table, position, score, sources.library.name(table))
    solved = sources.solve(position, score, sources.limits.match)
    if solved is None:
        dead = _with_dead_cube(sources, position, score)
        if dead is not None:
            return dead
        solved = sources.estimate_if_allowed(position, score)
        if solved is not None and dice is not None:
            solved = sources.roll_out_plays(solved, score, dice, solved.columns.place(score.state))
    return None if solved is None else match_answer(solved, score)


def _with_dead_cube(sources: Sources, position: Position, score: Score) -> MatchAnswer | None:
    """Answer by the cubeless equities of a two-sided table, exact except for rounding.

    None if the cube is live, gammons are possible, or no table covers the position.
    """
    table = choose.two_sided_for(sources.tables, position)
    if table is None or score.live(score.state) or position.gammons:
        return None
    low, high = score.ends
    wide = high - low

    def wins(us: list[Side], them: list[Side]) -> list[float]:
        return [float(row[0]) / 2 + 0.5 for row in table.lookup_many(us, them).astype(np.float64)]

    def plays(high: int, low_die: int) -> dict[Side, float]:
        results = [Side(*c) for c in race_plays(position.us.padded(table.points), high, low_die)]
        theirs = wins([position.them] * len(results), results)
        return {side: low + wide * (1 - x) for side, x in zip(results, theirs, strict=True)}

    (win,) = wins([position.us], [position.them])
    error = wide / 2 * float(table.known_errors[0])
    source: dict[str, Any] = {"source": TABLE_OF_PAIRS, "table": sources.library.name(table)}
    source["proved"] = table.error_is_proved
    decision = decide(position, score, low + wide * win, None, error=error, cubeless_win=win, **source)
    return MatchAnswer(decision, plays)


def cube(sources: Sources, state: GameState, score: Score) -> MatchCube:
    """Return the cube action of a state at a match score, from a table, a calculation or an estimate.

    If an estimate leaves the action open, the position is rolled out for at most `sources.oracle` seconds.
    NotCoveredError if no source covers the position.
    """
    answer = _answer(sources, state.position, score)
    if answer is None:
        raise sources.refusal(state.position)
    if answer.cube.source == ESTIMATE:
        rolled_out = sources.roll_out(state, score, lambda one: match_answer(one, score).cube.sure)
        answer = answer if rolled_out is None else match_answer(rolled_out, score)
    return answer.cube


def plays(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """Rank the legal plays of a state's roll by match winning chance.

    legal : the legal plays of the state's dice. None is returned if there are none, if the sides are in contact, or
    if no source covers the position.
    """
    if not legal or state.dice is None or state.position.contact:
        return None
    answer = _answer(sources, state.position, score, state.dice)
    if answer is None:
        return None
    error = answer.cube.mwc_error
    usual = answer.cube.usual
    emg = score.emg_loss
    chances = answer.plays(*state.dice)
    most = max(chances.values())
    ranked = []
    for play in legal:
        mwc = chances[play.result.us]
        lost = most - mwc if most - mwc > EQUAL else 0.0
        ranked.append(
            RankedPlay(
                str(play),
                play.result,
                score.emg(mwc),
                emg(lost),
                play.moves,
                "match",
                approximate=usual is not None,
                close=is_close(lost, error),
                mwc=mwc,
                loss_mwc=lost,
            )
        )
    ranked.sort(key=lambda play: (-round(play.mwc or 0.0, 11), untidiness(play.result)))
    return RankedPlays(
        source=answer.cube.source, table=answer.cube.table, proved=answer.cube.proved,
        max_error={"mwc": error, "value": emg(error)},
        usual_error=None if usual is None else {"mwc": usual, "value": emg(usual)},
        asked=state.position, dice=state.dice, measure="match", cube=state.owner, plays=tuple(ranked),
        met=score.met.name, met_digest=score.met.digest,
    )  # fmt: skip


# -- from a table of the score -------------------------------------------------------------------------


def roller_at(table: MatchScore, score: Score) -> int | None:
    """Return which player of the table, a (0) or b (1), is on roll at a score; None if the table is of another score.

    The score must use the match equity table that the table was solved with, by the SHA-256 of its values, and if
    that differs for its two players, the same one on roll. A table of a score with a player at 1-away answers for the
    Crawford game as well.
    """
    held = table.score
    if score.met.digest != held.digest or (score.is_beyond_table and not score.met.extended):
        return None
    for roller in (A, B):
        away = held.away if roller == A else held.away[::-1]
        if score.away == away and (score.met.even or score.player == held.player ^ roller):
            return roller
    return None


def refusal(table: MatchScore, position: Position, score: Score) -> str | None:
    """Return why a table solved for a match score does not answer for a position at `score`, None if it does."""
    roller = roller_at(table, score)
    if roller is None:
        mine, other = table.score.away
        return f"the table is of {mine}-away, {other}-away with {table.score.met} ({table.score.digest[:12]})"
    for k, (win, lose) in table.score.results.items():
        if max(abs(score.after(roller, k) - win), abs(score.after(roller, -k) - lose)) > 1e-7:
            return f"the table's match winning probabilities differ from those of {score.met.name}"
    held = not score.without_cube and table.score.locate(roller, _cube(score, roller)) is not None
    if not held and table.score.gammons and not score.live(score.state):
        return "a table with fifteen chequers does not answer for the Crawford game, or another without a live cube"
    if not held and score.live(score.state):
        return f"the table holds no cube at {score.cube}, {score.owner}"
    return table.covers(position)


def answer_from_table(
    table: MatchScore, position: Position, score: Score, name: str | None = None
) -> MatchAnswer:
    """Look up a position in a table of a match score.

    Parameters
    ----------
    table
        A table solved for the score.
    position
        Both sides, the side on roll first.
    score
        The score as the side on roll sees it.
    name
        The name of the table, for the answer.

    Returns
    -------
    The cube action, and a function that values the plays of a roll.

    Raises
    ------
    NotCoveredError
        The table does not answer; the message says why.
    """
    reason = refusal(table, position, score)
    roller = roller_at(table, score)
    if reason is not None or roller is None:
        raise NotCoveredError(reason or "")
    facts, other, cube = table.score, 1 - roller, _cube(score, roller)

    def cubeless(asked: Position) -> float:
        us, them = divmod(table.number(asked), table.positions)
        return (1 + float(table.balance[us, them, 0])) / 2

    def chance(asked: Position, player: int, cube: Cube) -> float:
        """Return the match winning chance of the side on roll, a player of the table, if it doesn't double."""
        if not score.without_cube and facts.locate(player, cube) is not None:
            return table.mwc(asked, player, cube)
        side = int(player != roller)
        lose = score.after(side, -cube.value)
        win = score.after(side, cube.value)
        return lose + (win - lose) * cubeless(asked)

    def after(side: Side) -> float:
        if not side.chequers:
            return score.after(0, (2 if position.them.chequers == MAX_CHEQUERS else 1) * cube.value)
        then = Position(position.them, side)
        worth = chance(then, other, cube)
        if score.live(score.state) and facts.may_double(other, cube):
            taken = chance(then, other, Cube(2 * cube.value, roller))
            worth = max(worth, min(taken, score.after(1, cube.value)))
        return 1 - worth

    def plays(high: int, low: int) -> dict[Side, float]:
        results = race_plays(position.us.padded(table.points), max(high, low), min(high, low))
        return {side: after(side) for side in (Side(*counts) for counts in results)}

    taken = chance(position, roller, Cube(2 * score.cube, other)) if score.may_double(0) else None
    decided = decide(
        position, score, chance(position, roller, cube), taken, error=table.max_error or 0.0,
        cubeless_win=None if facts.gammons else cubeless(position), source="match-score", table=name,
        proved=table.exact,
    )  # fmt: skip
    return MatchAnswer(decided, plays)


def _cube(score: Score, roller: int) -> Cube:
    """Return the cube with its owner as a player of the table: a (0), b (1) or nobody (2)."""
    owner = score.state.owner
    return Cube(score.cube, owner if owner == NOBODY else roller if owner == 0 else 1 - roller)
