"""Two routes in the shape of wildbg's HTTP service, which bots speak: `/eval` and `/move`.

A position is p0..p25: p1 to p24 from the mover's ace point up, positive the mover's chequers, negative the other
side's, p0 the other side's bar (0 or negative), p25 the mover's; absent means 0, and the rest is off. x_away and
o_away are the points that the mover and the other side need, both 0 for money; a side that needs one is past the
Crawford game.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from bgfmt.analysis import choose
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import ESTIMATE, PositionEquities, RankedPlay, Source
from bgfmt.analysis.questions import MAX_AWAY, MatchCubeAnswer, Question
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import GameState

POINTS = tuple(f"p{k}" for k in range(26))
AWAY = ("x_away", "o_away")
EVAL = (*AWAY, *POINTS)
MOVE = ("die1", "die2", *EVAL)
ONE_POINT = (1, 1)
ASKED = Question()
Chances = dict[str, float]


def evaluate(answers: Answers, given: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
    """Return the answer of `/eval` and whether it is settled.

    `cube` is the action of `/v1/cube` with a centered cube, `probabilities` are the mover's in a game without a cube.
    Of `equity`, `cubeless` is without a cube, `centered` of rolling without doubling as in `/v1/cube`, `best` with
    the right action; at a score these two are equities of a game at this score (EMG).
    """
    state = GameState.of(_position(given), away=_away(given))
    answer, settled = answers.cube(ASKED, state)
    action: Any = answer.action  # type: ignore[attr-defined]
    if state.away == ONE_POINT:
        chances = _named(action.mwc.no_double, 0.0, 0.0)
        equity = dict.fromkeys(("cubeless", "centered", "best"), 2 * chances["win"] - 1)
    elif isinstance(answer, MatchCubeAnswer):
        chances, sure = answers.calculated(
            ASKED, lambda adviser: _chances(adviser, state, adviser.equities(state))
        )
        settled = settled and sure
        cubeless = 2 * chances["win"] - 1 + chances["winG"] - chances["loseG"]
        equity = {"cubeless": cubeless, "centered": action.emg.no_double, "best": action.emg.best}
    else:
        equities: Any = answer.equities  # type: ignore[attr-defined]
        chances, sure = answers.calculated(ASKED, lambda adviser: _chances(adviser, state, equities))
        settled = settled and sure
        equity = {"cubeless": equities.cubeless, "centered": equities.centered, "best": action.best}
    cube = {"double": action.doubles, "accept": action.takes}
    return {"cube": cube, "equity": equity, "probabilities": chances}, settled


def moves(answers: Answers, given: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
    """Return the answer of `/move` and whether it is settled: all plays, with the mover's probabilities after each.

    The best comes first, as `/v1/play` ranks them without a cube, at a score with a centered one.
    """
    dice = _whole(given.get("die1"), "die1", 1, 6), _whole(given.get("die2"), "die2", 1, 6)
    state = GameState.of(_position(given), dice, away=_away(given))

    def answer(adviser: Advisor) -> tuple[list[dict[str, Any]], bool]:
        choose.check_race(state.position)
        ranked = adviser.plays(state, measure="cubeless" if state.money else "match")
        out = []
        for play in ranked.plays:
            steps = [{"from": move.start, "to": move.end} for move in play.moves]
            out.append({"play": steps, "probabilities": _after(adviser, state, play, ranked.source)})
        return out, ranked.approximate

    ranked, settled = answers.calculated(ASKED, answer, lambda one: not one[1], match=not state.money)
    return {"moves": ranked[0]}, settled


def _after(adviser: Advisor, state: GameState, play: RankedPlay, source: Source) -> Chances:
    """Return the probabilities of the side that has played; at one point each win is that of the match."""
    result = play.result
    assert isinstance(result, Position)
    if play.mwc is not None and state.away == ONE_POINT:
        return _named(play.mwc, 0.0, 0.0)
    if not result.us.chequers:
        return _named(1.0, float(result.them.chequers == MAX_CHEQUERS), 0.0)
    after = GameState.of(result.swapped(), away=state.away)
    if source == ESTIMATE and play.value is not None and state.money:
        other = _estimated(adviser, after.position, -play.value)
    else:
        other = _chances(adviser, after, adviser.equities(after))
    return _named(1 - other["win"], other["loseG"], other["winG"])


def _chances(adviser: Advisor, state: GameState, equities: PositionEquities) -> Chances:
    """Chances of the side on roll: the win as the adviser knows it, gammons by each side's rolls or estimated."""
    sides = (state.position.us, state.position.them)
    if all(side.chequers < MAX_CHEQUERS for side in sides) and equities.win is not None:
        return _named(equities.win, 0.0, 0.0)
    if equities.source != ESTIMATE or choose.distributions_for(adviser.library.tables, *sides) is not None:
        with contextlib.suppress(NotCoveredError):
            alone = adviser.sources.chances(state.position)
            if alone.win_gammon is not None and alone.lose_gammon is not None:
                win = alone.win if equities.win is None else equities.win
                return _named(win, alone.win_gammon, alone.lose_gammon)
    return _estimated(adviser, state.position, equities.cubeless)


def _estimated(adviser: Advisor, position: Position, cubeless: float) -> Chances:
    """Chances of the side on roll of this equity without a cube, the gammons estimated."""
    gammons = adviser.sources.estimated_gammons(position) if position.gammons else (0.0, 0.0)
    if gammons is None:
        tables = adviser.library.tables
        wanted = "the chances of gammons"
        raise choose.not_covered(tables, position.us, position.them, wanted=wanted)
    won, lost = gammons
    return _named(min(max((1 + cubeless - won + lost) / 2, 0.0), 1.0), won, lost)


def _named(win: float, win_gammon: float, lose_gammon: float) -> Chances:
    return {"win": win, "winG": win_gammon, "winBg": 0.0, "loseG": lose_gammon, "loseBg": 0.0}


def _position(given: Mapping[str, str]) -> Position:
    counts = [_whole(given.get(name, "0"), name, -15, 15) for name in POINTS]
    if counts[0] > 0 or counts[25] < 0:
        bars = "p0 is the other side's bar (0 or less), p25 the mover's (0 or more)"
        raise Refusal("bad_position", bars, "p0")
    try:
        us = Side(*(max(0, n) for n in counts[1:25]), bar=counts[25])
        them = Side(*(max(0, -n) for n in counts[24:0:-1]), bar=-counts[0])
    except PositionError as error:
        raise Refusal("bad_position", str(error)) from None
    if us.bar:
        raise Refusal("not_covered", f"{us} has a chequer on the bar")
    return Position(us, them)


def _away(given: Mapping[str, str]) -> tuple[int, int] | None:
    """Return what both sides need, None for money."""
    mine, other = (_whole(given.get(name, "0"), name, 0, MAX_AWAY) for name in AWAY)
    if not mine and not other:
        return None
    if not mine or not other:
        raise Refusal("bad_parameter", "x_away and o_away are both 0 (money) or both at least 1", "x_away")
    return mine, other


def _whole(text: str | None, name: str, least: int, most: int) -> int:
    if text is None or not re.fullmatch(r"[-+]?\d{1,3}", text) or not least <= int(text) <= most:
        raise Refusal("bad_parameter", f"{name} is a whole number from {least} to {most}", name)
    return int(text)
