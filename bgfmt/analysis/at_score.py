"""Cube and plays at a match score: by a table of the score, calculated, or estimated where that is too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgfmt.analysis import rule
from bgfmt.analysis.answers import RankedPlay, RankedPlays, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.sources import Sources
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
    """The plays of a match state's roll by exact match play, None where `_exact` has nothing or there are none."""
    if not legal or state.dice is None or state.position.contact:
        return None
    found = _exact(sources, state, score)
    if found is None:
        return None
    worth = {play.result: play for play in found.plays(*state.dice)}
    tidy = {play.result.us: [-x for x in rule.race_score(play.result.us)] for play in legal}
    order = sorted(legal, key=lambda p: (-round(worth[p.result.us].mwc, 11), tidy[p.result.us]))
    ranked = [_ranked(play, worth[play.result.us]) for play in order]
    error = found.cube.error
    return RankedPlays(
        source=found.source,
        table=found.table,
        max_error={"mwc": error, "value": found.cube.emg_loss(error)},
        asked=state.position,
        dice=state.dice,
        measure="match",
        cube=state.owner,
        plays=tuple(ranked),
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
