"""Two routes in the shape of wildbg's HTTP service, which bots speak: `/eval` and `/move`.

A position is p0..p25: p1 to p24 from the mover's ace point up, positive the mover's chequers, negative the other
side's, p0 the other side's bar (0 or negative), p25 the mover's; absent means 0, and the rest is off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from bgfmt.analysis import approximate, choose
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.parameters import Question
from bgfmt.extras.serve.refusals import Refusal, refusal_of
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import BAR, legal_plays
from bgfmt.game.state import GameState
from bgfmt.tables import OneSided, Table, of_kind

POINTS = tuple(f"p{k}" for k in range(26))
AWAY = ("x_away", "o_away")
EVAL = (*AWAY, *POINTS)
MOVE = ("die1", "die2", *EVAL)
FULL = 15


def evaluate(answers: Answers, given: Mapping[str, str]) -> dict[str, Any]:
    """`/eval`: the cube by our money action, and the chances of the mover."""
    position, one_point = _position(given), _one_point(given)
    tables = [one.table for one in answers.holdings]
    try:
        choose.check_race(position)
        chances = _chances(tables, position, one_point)
        if one_point:
            return {"cube": {"double": False, "accept": True}, "probabilities": chances}
        action = answers._adviser(Question()).cube(GameState.of(position))
    except BgfmtError as error:
        raise refusal_of(error) from None
    return {"cube": {"double": action.doubles, "accept": action.takes}, "probabilities": chances}


def moves(answers: Answers, given: Mapping[str, str]) -> dict[str, Any]:
    """`/move`: all plays, best first by cubeless equity; the chances are those of the mover after the play."""
    position, one_point = _position(given), _one_point(given)
    dice = tuple(_whole(given.get(name), name, 1, 6) for name in ("die1", "die2"))
    tables = [one.table for one in answers.holdings]
    found: list[dict[str, Any]] = []
    try:
        choose.check_race(position)
        for play in legal_plays(position, *dice):
            after = play.result.swapped()
            if not after.them.chequers:
                won = 1.0 if after.us.chequers == FULL and not one_point else 0.0
                chances = _named(1.0, won, 0.0)
            else:
                other = _chances(tables, after, one_point)
                chances = _named(1 - other["win"], other["loseG"], other["winG"])
            steps = [{"from": move.start, "to": move.end} for move in play.moves]
            found.append({"play": steps, "probabilities": chances})
    except BgfmtError as error:
        raise refusal_of(error) from None
    found.sort(key=lambda one: -_equity(one["probabilities"]))
    return {"moves": found}


def _equity(chances: dict[str, float]) -> float:
    return 2 * chances["win"] - 1 + chances["winG"] - chances["loseG"]


def _named(win: float, win_gammon: float, lose_gammon: float) -> dict[str, float]:
    return {"win": win, "winG": win_gammon, "winBg": 0.0, "loseG": lose_gammon, "loseBg": 0.0}


def _chances(tables: list[Table], position: Position, one_point: bool) -> dict[str, float]:
    """Chances of the side on roll: the win from a two-sided table where there is one, gammons from one-sided data."""
    full = [side.chequers == FULL for side in (position.us, position.them)]
    table = choose.two_sided_for(tables, position)
    win = None if table is None else float(table.lookup_many([position.us], [position.them])[0][0]) / 2 + 0.5
    if win is not None and (one_point or not any(full)):
        return _named(win, 0.0, 0.0)
    one = _distributions(tables, position, any(full) and not one_point)
    ours, theirs = (_row(one.bearoff, one, side) for side in (position.us, position.them))
    won = lost = 0.0
    if not one_point:
        firsts = [
            None if one.gammon is None else _row(one.gammon, one, side)
            for side in (position.us, position.them)
        ]
        _, won, lost = (
            float(x)
            for x in approximate.outcome_chances(
                ours, theirs, firsts[0] if full[0] else None, firsts[1] if full[1] else None
            )
        )
    return _named(float(approximate.win_chances(ours, theirs)) if win is None else win, won, lost)


def _distributions(tables: list[Table], position: Position, gammons: bool) -> OneSided:
    fitting = [t for t in of_kind(tables, OneSided) if not gammons or t.gammon is not None]
    one = choose.distributions_for(fitting, position.us, position.them)
    if one is None:
        wanted = "the chances of gammons" if gammons else "both sides' chances"
        raise choose.not_covered(tables, position.us, position.them, wanted=wanted)
    return one


def _row(rows: Any, table: OneSided, side: Side) -> Any:
    row = np.asarray(rows[side.number(table.points)])
    return row if row.dtype == np.float64 else row / 65535


def _position(given: Mapping[str, str]) -> Position:
    counts = [_whole(given.get(name, "0"), name, -15, 15) for name in POINTS]
    if counts[0] > 0 or counts[25] < 0:
        raise Refusal(
            "bad_position", "p0 is the other side's bar (0 or less), p25 the mover's (0 or more)", "p0"
        )
    try:
        us = Side(*(max(0, n) for n in counts[1:25]), bar=counts[25])
        them = Side(*(max(0, -n) for n in counts[24:0:-1]), bar=-counts[0])
    except PositionError as error:
        raise Refusal("bad_position", str(error)) from None
    position = Position(us, them)
    if us.highest == BAR:
        raise Refusal("not_covered", f"{us} has a chequer on the bar")
    return position


def _one_point(given: Mapping[str, str]) -> bool:
    away = [_whole(given.get(name, "0"), name, 0, 64) for name in AWAY]
    if away not in ([0, 0], [1, 1]):
        raise Refusal("bad_parameter", "x_away and o_away are both 0 (money) or both 1 (one point)", "x_away")
    return away == [1, 1]


def _whole(text: str | None, name: str, least: int, most: int) -> int:
    if text is None or not re.fullmatch(r"[-+]?\d{1,3}", text) or not least <= int(text) <= most:
        raise Refusal("bad_parameter", f"{name} is a whole number from {least} to {most}", name)
    return int(text)


def refused(refusal: Refusal) -> dict[str, Any]:
    """An error as these two routes say it."""
    return {"message": refusal.as_dict()["message"], **refusal.body()}


__all__ = ["EVAL", "MOVE", "NotCoveredError", "evaluate", "moves", "refused"]
