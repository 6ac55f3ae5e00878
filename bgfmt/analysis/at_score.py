"""Cube and plays at a match score: calculated, or the cube estimated where that is too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgfmt.analysis import rule
from bgfmt.analysis.answers import RankedPlay, RankedPlays
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.sources import Sources
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
    """The plays of a match state's roll by exact match play, None beyond the limit or where there are none."""
    solved = sources.match(state.position, score) if legal else None
    if solved is None or state.dice is None:
        return None
    found = {play.result: play for play in solved.plays(*state.dice)}
    order = sorted(
        legal, key=lambda p: (-round(found[p.result.us].mwc, 11), [-x for x in rule.race_score(p.result.us)])
    )
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
    return RankedPlays(
        source="calculation",
        max_error={"mwc": solved.cube.error, "value": solved.cube.emg_loss(solved.cube.error)},
        asked=state.position,
        dice=state.dice,
        measure="match",
        cube=state.owner,
        plays=tuple(ranked),
        met=score.met.name,
        met_digest=score.met.digest,
    )
