"""Cube and plays at a match score: calculated, or estimated where that is too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgfmt.analysis import rule
from bgfmt.analysis.answers import RankedPlay, RankedPlays, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.sources import Sources
from bgfmt.game.board import MAX_CHEQUERS
from bgfmt.game.moves import Play
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.met.score import Score


def cube(sources: Sources, state: GameState, score: Score) -> CubeAction:
    """The cube action of a match state."""
    from bgfmt.analysis import match, match_estimate

    position = state.position
    solved = sources.match(position, score)
    if solved is not None:
        return CubeAction.at_score(solved.cube, state, "calculation", None, approximate=False)
    found = sources.equities(position)
    win = (found.cubeless + 1) / 2 if found.win is None else found.win
    rolling, taken = match_estimate.chances(win, score, match_estimate.life_of(found))
    gammons = found.gammons != "none"
    decided = match.decide(position, score, rolling, taken, gammons=gammons, error=0.0, cubeless_win=win)
    return CubeAction.at_score(decided, state, found.source, found.table, approximate=True)


def plays(sources: Sources, state: GameState, score: Score, legal: list[Play]) -> RankedPlays | None:
    """The plays of a match state's roll: calculated, else estimated; None where nothing has all of them."""
    assert state.dice is not None
    solved = sources.match(state.position, score) if legal else None
    if solved is None:
        return _estimated(sources, state, score, legal) if legal else None
    found = {play.result: play for play in solved.plays(*state.dice)}
    order = sorted(legal, key=lambda p: (-found[p.result.us].mwc, [-x for x in rule.race_score(p.result.us)]))
    ranked = []
    for play in order:
        worth = found[play.result.us]
        ranked.append(
            RankedPlay(
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
        )
    error = {"mwc": solved.cube.error, "value": solved.cube.emg_loss(solved.cube.error)}
    return _ranked(state, score, tuple(ranked), "calculation", None, error)


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
    return _ranked(state, score, tuple(ranked), worths.source, worths.table, known)


def _ranked(
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
