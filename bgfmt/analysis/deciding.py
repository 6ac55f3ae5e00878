"""What to do, in one word or one play: the adviser's answers as the engine protocols need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgfmt.analysis import rule
from bgfmt.analysis.answers import Decision, RankedPlay, Resignation, Source
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.moves import legal_plays
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.analysis.advisor import Advisor

SURE_LOSS = -1.0 + 1e-6  # a stored cubeless equity of 0 reads as -1 exactly


def decide(advisor: Advisor, state: GameState) -> Decision:
    """See `Advisor.decide`."""
    position = state.position.check()
    if state.kind == "resignation":
        answer = advisor.resignation(state)
        return Decision("accept" if answer.accept else "reject", answer.source, answer.table, answer.worth)
    if not position.us.chequers or not position.them.chequers:
        raise PositionError(f"{position}: the game is over, one side has no chequers left")
    if state.kind == "play":
        return _play(advisor, state)
    if state.kind == "cube" and not state.may_double:
        return Decision("roll", "rule")
    try:
        action = advisor.cube(state)
    except NotCoveredError:
        if advisor.outside == "refuse":
            raise
        doubles, takes = (
            advisor.outside.double(state) if isinstance(advisor.outside, rule.Engine) else rule.cube(state)
        )
        word = ("take" if takes else "pass") if state.doubled else ("double" if doubles else "roll")
        return Decision(word, _source(advisor))
    money = state.money
    if not state.doubled:
        word = "double" if action.doubles else "roll"
        return Decision(word, action.source, action.table, action.best if money else None)
    word = "beaver" if state.beavers and action.beavers else "take" if action.takes else "pass"
    value = {
        "take": -action.double_take,
        "pass": -action.double_pass,
        "beaver": -2 * action.double_take,
    }[word]
    return Decision(word, action.source, action.table, value if money else None)


def _play(advisor: Advisor, state: GameState) -> Decision:
    try:
        ranked = advisor.plays(state)
    except NotCoveredError:
        if advisor.outside == "refuse":
            raise
        return _outside_play(advisor, state)
    best = ranked.best
    return Decision("play", ranked.source, ranked.table, best.value if best else None, best)


def _outside_play(advisor: Advisor, state: GameState) -> Decision:
    assert state.dice is not None
    plays = legal_plays(state.position, *state.dice)
    results = [play.result for play in plays]
    chosen = 0
    if len(plays) > 1 and isinstance(advisor.outside, rule.Engine):
        chosen = int(np.argmax(advisor.outside.values(state, results)))
    elif len(plays) > 1:
        chosen = rule.best_play(advisor.library.tables, results)
    play = plays[chosen]
    ranked = RankedPlay(str(play), play.result, None, None, play.moves, "rule", approximate=True)
    return Decision("play", "forced" if len(plays) == 1 else _source(advisor), play=ranked)


def _source(advisor: Advisor) -> Source:
    return "rule" if advisor.outside == "rule" else "engine"


def accepting(advisor: Advisor, state: GameState) -> Resignation:
    """Whether the other side accepts what the player on roll offers to resign."""
    position, points = state.position, state.resigned
    sides = (position.us, position.them)
    most = 3 if position.contact else 2 if any(side.chequers >= state.chequers for side in sides) else 1
    if points >= most:
        return Resignation(source="rule", position=position, accept=True)
    try:
        found = advisor.equities(state)
    except (NotCoveredError, PositionError):
        return Resignation(source="rule", position=position, accept=False)
    worth = -found.cubeless  # of playing on, for the one asked
    return Resignation(
        source=found.source,
        table=found.table,
        max_error=found.max_error,
        position=position,
        accept=points >= worth - 1e-9,
        worth=worth,
    )


def resigning(advisor: Advisor, state: GameState) -> Resignation:
    """How many points the player on roll should resign."""
    position = state.position
    none = Resignation(source="rule", position=position)
    if position.contact or not position.them.chequers or not 0 < position.us.chequers < state.chequers:
        return none
    try:
        if state.kind == "play":  # the roll is known: some play may still win
            played = advisor.plays(state, measure="cubeless")
            source, table = played.source, played.table
            worth = played.best.value if played.best else None
        else:
            found = advisor.equities(state)
            source, table, worth = found.source, found.table, found.cubeless
    except NotCoveredError:
        return none
    if source not in ("two-sided", "calculation") or worth is None or worth > SURE_LOSS:
        return none
    return Resignation(source=source, table=table, position=position, offer=1, worth=-1.0)
