"""Cube and plays at a match score: by a table of the score, calculated, or estimated where that is too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgfmt.analysis import rule
from bgfmt.analysis.answers import RankedPlay, RankedPlays, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.sources import Sources
from bgfmt.game.board import MAX_CHEQUERS
from bgfmt.game.moves import Play
from bgfmt.game.state import GameState
from bgfmt.tables import MatchScore, of_kind

if TYPE_CHECKING:
    from bgfmt.analysis.match import MatchCube, MatchPlay
    from bgfmt.met.score import Score


@dataclass(frozen=True)
class _Exact:
    """A position at a score, by a table of it or calculated: the decision, and the plays of a roll."""

    cube: MatchCube
    plays: Callable[[int, int], list[MatchPlay]]
    source: Source
    table: str | None


def _exact(sources: Sources, state: GameState, score: Score) -> _Exact | None:
    """Exact numbers of a state, None where no table has them and calculating them is too much."""
    from bgfmt.analysis import match_table

    position = state.position
    for table in of_kind(sources.tables, MatchScore):
        if match_table.refusal(table, position, score) is None:
            decided = match_table.judge_from(table, position, score)

            def ranked(high: int, low: int, table: MatchScore = table) -> list[MatchPlay]:
                return match_table.rank_from(table, position, high, low, score)

            return _Exact(decided, ranked, "match-score", sources.library.name(table))
    solved = sources.match(position, score)
    return None if solved is None else _Exact(solved.cube, solved.plays, "calculation", None)


def cube(sources: Sources, state: GameState, score: Score) -> CubeAction:
    """The cube action of a match state."""
    found = _exact(sources, state, score)
    if found is not None:
        return CubeAction.at_score(found.cube, state, found.source, found.table, approximate=False)
    from bgfmt.analysis import match, match_estimate

    position, equities = state.position, sources.equities(state.position)
    win = (equities.cubeless + 1) / 2 if equities.win is None else equities.win
    rolling, taken = match_estimate.chances(win, score, match_estimate.life_of(equities))
    gammons = equities.gammons != "none"
    decided = match.decide(position, score, rolling, taken, gammons=gammons, error=0.0, cubeless_win=win)
    return CubeAction.at_score(decided, state, equities.source, equities.table, approximate=True)


def plays(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """The plays of a match state's roll, exact or else estimated; None where nothing has all, or there are none."""
    if not legal or state.dice is None or state.position.contact:
        return None
    found = _exact(sources, state, score)
    if found is None:
        return _estimated(sources, state, score, legal)
    worth = {play.result: play for play in found.plays(*state.dice)}
    tidy = {play.result.us: [-x for x in rule.race_score(play.result.us)] for play in legal}
    order = sorted(legal, key=lambda p: (-round(worth[p.result.us].mwc, 11), tidy[p.result.us]))
    ranked = tuple(_ranked(play, worth[play.result.us]) for play in order)
    error = found.cube.error
    known = {"mwc": error, "value": found.cube.emg_loss(error)}
    return _all(state, score, ranked, found.source, found.table, known)


def _estimated(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """Plays by their cubeless chances: exact but for the table's rounding where the cube is dead, else estimated."""
    from bgfmt.analysis import match_estimate

    position = state.position
    assert state.dice is not None
    worths = sources.worths(position, state.dice, [p.result for p in legal], "cubeless", jacoby=False)
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
        values = [1 - match_estimate.turn(1 - min(1.0, chance), other) for chance in chances]
    scale = 2 / (win - lose) if win != lose else 0.0
    error = worths.error if sure else None
    tidy = [[-x for x in rule.race_score(play.result.us)] for play in legal]
    order = sorted(range(len(legal)), key=lambda k: (-values[k], -chances[k], tidy[k]))
    ranked = []
    for k in order:
        loss = values[order[0]] - values[k]
        ranked.append(
            RankedPlay(
                str(legal[k]),
                legal[k].result,
                scale * (values[k] - lose) - 1,
                scale * loss,
                legal[k].moves,
                "match",
                approximate=error is None,
                close=error is not None and scale * loss <= 2 * error,
                mwc=values[k],
                loss_mwc=loss,
            )
        )
    known = None if error is None else {"mwc": error / scale if scale else 0.0, "value": error}
    return _all(state, score, tuple(ranked), worths.source, worths.table, known)


def _all(
    state: GameState,
    score: Score,
    plays: tuple[RankedPlay, ...],
    source: Source,
    table: str | None,
    error: dict[str, float] | None,
) -> RankedPlays:
    assert state.dice is not None
    return RankedPlays(
        source=source,
        table=table,
        max_error=error,
        asked=state.position,
        dice=state.dice,
        measure="match",
        cube=state.owner,
        plays=plays,
        met=score.met.name,
        met_digest=score.met.digest,
    )


def _ranked(play: Play, worth: MatchPlay) -> RankedPlay:
    return RankedPlay(
        str(play),
        play.result,
        worth.emg,
        worth.loss_emg,
        play.moves,
        "match",
        close=worth.close,
        mwc=worth.mwc,
        loss_mwc=worth.loss_mwc,
    )
