"""Two routes in the form of wildbg's HTTP service, which bots use: `/eval` and `/move`.

A position is p0..p25: p1 to p24 from the mover's ace point up, positive for the mover's chequers, negative for the
other side's, p0 the other side's bar (0 or negative), p25 the mover's; absent means 0, and the rest is off. x_away
and o_away are the points that the mover and the other side need, both 0 for money; a side that needs one is past the
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
from bgfmt.analysis.questions import MAX_AWAY, Question
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
Probabilities = dict[str, float]


def evaluate(answers: Answers, given: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
    """Return the answer to wildbg's query `/eval`, and whether it is final (no calculation is missing).

    `cube` is the action of `/v1/cube` with a centered cube, `probabilities` are the mover's without a cube.
    `equity` has `cubeless`, without a cube; `centered`, of rolling without a double as in `/v1/cube`; and `best`,
    with the right action. At a match score the last two are normalised (EMG).

    answers : computes the answer. given : the parameters as text.
    """
    state = GameState.of(_position(given), away=_away(given))
    answer, settled = answers.cube(ASKED, state)
    action: Any = answer.action  # type: ignore[attr-defined]
    if state.away == ONE_POINT:
        chances = _probabilities(action.mwc.no_double, 0.0, 0.0)
        equity = dict.fromkeys(("cubeless", "centered", "best"), 2 * chances["win"] - 1)
    else:
        equities: PositionEquities | None = getattr(answer, "equities", None)
        chances, sure = answers.answer_or_calculate(
            ASKED, lambda adviser: _find_probabilities(adviser, state, equities or adviser.equities(state))
        )
        settled = settled and sure
        if equities is None:  # at a match score
            cubeless = 2 * chances["win"] - 1 + chances["winG"] - chances["loseG"]
            equity = {"cubeless": cubeless, "centered": action.emg.no_double, "best": action.emg.best}
        else:
            equity = {"cubeless": equities.cubeless, "centered": equities.centered, "best": action.best}
    cube = {"double": action.doubles, "accept": action.takes}
    return {"cube": cube, "equity": equity, "probabilities": chances}, settled


def moves(answers: Answers, given: Mapping[str, str]) -> tuple[dict[str, Any], bool]:
    """Return the answer to wildbg's query `/move`, and whether it is final (no calculation is missing).

    It has all plays with the mover's probabilities after each. The best comes first, ranked as by `/v1/play` without
    a cube, or at a score with a centered one.

    answers : computes the answer. given : the parameters as text.
    """
    dice = _parse_integer(given.get("die1"), "die1", 1, 6), _parse_integer(given.get("die2"), "die2", 1, 6)
    state = GameState.of(_position(given), dice, away=_away(given))

    def answer(adviser: Advisor) -> tuple[list[dict[str, Any]], bool]:
        choose.check_race(state.position)
        ranked = adviser.plays(state, measure="cubeless" if state.money else "match")
        out = []
        for play in ranked.plays:
            steps = [{"from": move.start, "to": move.end} for move in play.moves]
            out.append({"play": steps, "probabilities": _after(adviser, state, play, ranked.source)})
        return out, ranked.approximate

    ranked, settled = answers.answer_or_calculate(
        ASKED, answer, lambda one: not one[1], match=not state.money
    )
    return {"moves": ranked[0]}, settled


def _after(adviser: Advisor, state: GameState, play: RankedPlay, source: Source) -> Probabilities:
    """Return the probabilities of the side that has played; at one point each all wins are single wins."""
    result = play.result
    if play.mwc is not None and state.away == ONE_POINT:
        return _probabilities(play.mwc, 0.0, 0.0)
    if not result.us.chequers:
        return _probabilities(1.0, float(result.them.chequers == MAX_CHEQUERS), 0.0)
    after = GameState.of(result.swapped(), away=state.away)
    if source == ESTIMATE and play.value is not None and state.money:
        other = _estimate_probabilities(adviser, after.position, -play.value)
    else:
        other = _find_probabilities(adviser, after, adviser.equities(after))
    return _probabilities(1 - other["win"], other["loseG"], other["winG"])


def _find_probabilities(adviser: Advisor, state: GameState, equities: PositionEquities) -> Probabilities:
    """Return probabilities of the side on roll: wins by the adviser, gammons from both sides' rolls or estimated."""
    sides = (state.position.us, state.position.them)
    if all(side.chequers < MAX_CHEQUERS for side in sides) and equities.win is not None:
        return _probabilities(equities.win, 0.0, 0.0)
    if equities.source != ESTIMATE or choose.distributions_for(adviser.library.tables, *sides) is not None:
        with contextlib.suppress(NotCoveredError):
            alone = adviser.sources.chances(state.position)
            if alone.win_gammon is not None and alone.lose_gammon is not None:
                win = alone.win if equities.win is None else equities.win
                return _probabilities(win, alone.win_gammon, alone.lose_gammon)
    return _estimate_probabilities(adviser, state.position, equities.cubeless)


def _estimate_probabilities(adviser: Advisor, position: Position, cubeless: float) -> Probabilities:
    """Return probabilities of the side on roll that match this cubeless equity, with estimated gammons."""
    gammons = adviser.sources.estimated_gammons(position) if position.gammons else (0.0, 0.0)
    if gammons is None:
        tables = adviser.library.tables
        wanted = "the chances of gammons"
        raise choose.not_covered(tables, position.us, position.them, wanted=wanted)
    won, lost = gammons
    return _probabilities(min(max((1 + cubeless - won + lost) / 2, 0.0), 1.0), won, lost)


def _probabilities(win: float, win_gammon: float, lose_gammon: float) -> Probabilities:
    return {"win": win, "winG": win_gammon, "winBg": 0.0, "loseG": lose_gammon, "loseBg": 0.0}


def _position(given: Mapping[str, str]) -> Position:
    counts = [_parse_integer(given.get(name, "0"), name, -15, 15) for name in POINTS]
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
    """Return the points that both sides need, None for money."""
    mine, other = (_parse_integer(given.get(name, "0"), name, 0, MAX_AWAY) for name in AWAY)
    if not mine and not other:
        return None
    if not mine or not other:
        raise Refusal(
            "bad_parameter", "x_away and o_away must both be 0 (money) or both be at least 1", "x_away"
        )
    return mine, other


def _parse_integer(text: str | None, name: str, least: int, most: int) -> int:
    if text is None or not re.fullmatch(r"[-+]?\d{1,3}", text) or not least <= int(text) <= most:
        raise Refusal("bad_parameter", f"{name} must be a whole number from {least} to {most}", name)
    return int(text)
