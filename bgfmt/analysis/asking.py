"""Questions in text and answers as plain values: what the command line and the service print alike."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.analysis.advisor import Advisor
    from bgfmt.analysis.answers import PositionEquities, RankedPlays, SideRace
    from bgfmt.analysis.approximate import TwoSidedEstimate
    from bgfmt.analysis.cube import CubeAction

Ranked = dict[tuple[int, int], "RankedPlays"]
COUNTS = re.compile(r"[\d,/]+|bar")  # a part of counts written without quotes


def one_or_two(text: str) -> Side | Position:
    """A side from one list of counts, else a position; one whose other side is empty counts as one side."""
    from bgfmt.game.identifiers import parse_position, parse_side

    if "/" not in text and COUNTS.fullmatch(text.replace(" ", "")):
        return parse_side(text)
    try:
        position = parse_position(text)
    except ValueError:
        try:
            return parse_side(text)
        except ValueError:
            pass
        raise
    return position if position.them.chequers else position.us


def parse_away(text: str) -> tuple[int, int]:
    """The two numbers of "5-9"."""
    found = re.fullmatch(r"(\d{1,4})(?:\s*+[-,:]\s*+|\s++)(\d{1,4})", text.strip())
    if not found:
        raise PositionError(f"a score is the points both need, the side on roll first, as 5-9, not {text!r}")
    return int(found[1]), int(found[2])


def state_of(
    text: str,
    *,
    cube: str | None = None,
    cube_value: int | None = None,
    away: str | None = None,
    crawford: bool = False,
) -> GameState:
    """The state that a text and the options stand for; options replace what the text says."""
    from bgfmt.game.identifiers import parse

    asked = one_or_two(text)
    if isinstance(asked, Side):
        raise PositionError(f"{text!r} is one side; give both, the side on roll first: side / side")
    state = parse(text)
    if cube is not None:
        owner = {"centered": None, "owned": state.turn, "opponent": 1 - state.turn}[cube]
        state = replace(state, cube_owner=owner)
    if cube_value is not None:
        state = replace(state, cube_value=cube_value)
    if away is not None:
        mine, other = parse_away(away)
        if min(mine, other) < 1:
            raise PositionError(f"both sides need at least one point, not {away}")
        length = max(mine, other)
        scores = (length - other, length - mine)
        state = replace(state, length=length, scores=scores if state.turn else scores[::-1], crawford=False)
    if crawford:
        if state.away is None or 1 not in state.away:
            raise PositionError("in the Crawford game one side needs one point; say the score")
        state = replace(state, crawford=True)
    return state


def facts(state: GameState) -> dict[str, Any]:
    """The state beside the position, for JSON."""
    out: dict[str, Any] = {
        "position": str(state.position),
        "cube": state.owner,
        "cube_value": state.cube_value,
    }
    if state.away is not None:
        out |= {"away": list(state.away), "crawford": state.crawford}
    return out


# -- answers as plain values -----------------------------------------------------------------------------


def cube(advisor: Advisor, state: GameState) -> dict[str, Any]:
    """The cube action of a state as plain values."""
    if not state.money:
        action = advisor.cube(state)
        error = None if action.approximate or action.match is None else {"mwc": action.match.error}
        return facts(state) | action.as_dict() | {"max_error": error}
    from bgfmt.analysis.cube import LABELS, label_of

    found, action, both = money(advisor, state)
    label = label_of(both["centered"], both["owned"])
    names = "action doubles takes beavers sure settled certainty"
    out = facts(state) | found.as_dict() | {name: getattr(action, name) for name in names.split()}
    out |= {f"{owner}_cube": one.as_dict() for owner, one in both.items()}
    return out | {"label": label, "label_text": LABELS[label]}


def money(advisor: Advisor, state: GameState) -> tuple[PositionEquities, CubeAction, dict[str, CubeAction]]:
    """Equities, the action with the cube as it lies, and those with a centered and with an owned cube."""
    owners = {"centered": None, "owned": state.turn}
    both = {name: advisor.cube(replace(state, cube_owner=owner)) for name, owner in owners.items()}
    action = both.get(state.owner) or advisor.cube(state)
    return advisor.equities(state), action, both


def race(advisor: Advisor, asked: Side | Position) -> dict[str, Any]:
    """The race of one side or two as plain values."""
    both = {who: one.as_dict() for who, one in sides(advisor, asked).items()}
    if isinstance(asked, Side):
        return both["side"]
    first = both["on_roll"]
    origin = {name: first[name] for name in ("source", "table", "approximate", "max_error")}
    guess = estimate(advisor, asked)
    return {"position": str(asked)} | both | {"two_sided": guess and guess.as_dict()} | origin


def sides(advisor: Advisor, asked: Side | Position) -> dict[str, SideRace]:
    if isinstance(asked, Side):
        return {"side": advisor.race(asked)}
    return {"on_roll": advisor.race(asked.us), "other_side": advisor.race(asked.them)}


def estimate(advisor: Advisor, position: Position) -> TwoSidedEstimate | None:
    try:
        return advisor.chances(position)
    except NotCoveredError:
        return None  # means alone do not give chances


def rolls_of(
    text: str, roll: str | None, around: dict[str, Any]
) -> tuple[Side | GameState, list[tuple[int, int]]]:
    """The side or state asked about, and the rolls to play."""
    from bgfmt.game.moves import ROLLS, parse_roll

    side = one_or_two(text)
    asked: Side | GameState = side if isinstance(side, Side) else state_of(text, **around)
    if roll is not None and roll.lower() == "all":
        return asked, [(high, low) for high, low, _ in ROLLS]
    if roll is not None:
        return asked, [parse_roll(roll)]
    dice = asked.dice if isinstance(asked, GameState) else None
    if dice is None:
        raise PositionError(f"{text!r} says no dice; say the roll to play")
    return asked, [(max(dice), min(dice))]


def ranked(
    advisor: Advisor, asked: Side | GameState, dice: tuple[int, int], measure: str | None
) -> RankedPlays:
    if isinstance(asked, Side):
        return advisor.side_plays(asked, dice, measure or "mean")
    return advisor.plays(asked.rolled(dice), measure=measure)


def plays(asked: Side | GameState, ranked: Ranked) -> dict[str, Any]:
    first = next(iter(ranked.values()))
    around = facts(asked) if isinstance(asked, GameState) else {}
    if first.cube is None:
        around.pop("cube", None)
    out = first.as_dict() | around
    if len(ranked) > 1:
        del out["roll"], out["plays"]
        rolls = [one.as_dict() for one in ranked.values()]
        out["rolls"] = [{"roll": one["roll"], "plays": one["plays"]} for one in rolls]
    return out
