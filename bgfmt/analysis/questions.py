"""Single questions as functions of the databases: what `Advisor` answers, in one call.

Each makes an adviser of the databases it is given; who asks often makes one `Advisor` and keeps it.
"""

from __future__ import annotations

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import PositionEquities, RankedPlay, SideRace
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.library import Library
from bgfmt.analysis.sources import Calculate, Sources
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, parse_roll
from bgfmt.game.state import GameState, cube_owner
from bgfmt.tables import Equities, bounds

Roll = tuple[int, int]


def race(databases: Databases, side: Side) -> SideRace:
    """`Advisor.race`: rolls, effective pips and wastage of one side."""
    return Advisor(databases).race(side)


def equities(databases: Databases, position: Position) -> PositionEquities:
    """`Advisor.equities` by tables and estimate alone; nothing is calculated."""
    return Advisor(databases, calculate="nothing").equities(position)


def exact_equities(position: Position, *, limit: int | None = None) -> PositionEquities | None:
    """The exact money equities of a race, from the rules alone; None beyond `limit` (pairs of boards x cube states).

    Raises PositionError when the game is over and NotCoveredError for contact.
    """
    from bgfmt.analysis import choose
    from bgfmt.analysis.ondemand import DEFAULT_LIMIT

    choose.check_race(position)
    return Sources(Library(), limit=DEFAULT_LIMIT if limit is None else limit).calculated(position)


def judge_cube(
    asked: Equities | PositionEquities | Databases,
    cube: str = "centered",
    *,
    position: Position | None = None,
    error: float | None = None,
    settle: bool = False,
) -> CubeAction:
    """The cube action of one position, for money.

    Parameters
    ----------
    asked
        Equities of a position, or the databases to ask (then `position` is needed).
    cube
        "centered", "owned" (by the side on roll) or "opponent".
    error
        Greatest error of bare equities, by default that of a 6x8 table of gnubg's.
    settle
        Where the error could turn the decision, calculate the position exactly, so that ties are proved and near
        ties decided.

    Raises
    ------
    NotCoveredError
        No table covers the position, or bare equities are cubeless only.
    """
    owner = cube_owner(cube)
    calculate: Calculate = "close" if settle else "nothing"
    if not isinstance(asked, (Equities, PositionEquities)):
        if position is None:
            raise PositionError("say which position to judge")
        return Advisor(asked, calculate=calculate).cube(GameState.of(position, cube=owner))
    if asked.owned is None or asked.centered is None or asked.opponent is None:
        raise NotCoveredError(f"{asked.position}: only cubeless equities are known")
    known = max(bounds.stored_error(6, 8)) if error is None else error
    rolling = {"owned": asked.owned, "centered": asked.centered, "opponent": asked.opponent}[owner]
    return CubeAction(asked.position, owner, rolling, 2 * asked.opponent, error=known)


def rank_plays(
    databases: Databases,
    position: Position | Side,
    roll: str | Roll,
    *,
    cube: str = "centered",
    measure: str | None = None,
) -> list[RankedPlay]:
    """All plays of a roll, best first: `Advisor.plays` for two sides, `Advisor.side_plays` for one.

    Parameters
    ----------
    position
        The side on roll first, or one side alone for the measures that look at one side.
    roll
        "61", "6-1" or (6, 1).
    cube
        "centered", "owned" or "opponent", seen by the side that plays; used by "money" only.
    measure
        "money" (the default for two sides), "cubeless", "mean" (the default for one) or "off:n".
    """
    advisor, dice = Advisor(databases, calculate="nothing"), parse_roll(roll)
    if isinstance(position, Side):
        return list(advisor.side_plays(position, dice, measure or "mean").plays)
    return list(advisor.plays(GameState.of(position, dice, cube=cube), measure=measure).plays)


def rank_all_rolls(
    databases: Databases, position: Position | Side, *, cube: str = "centered", measure: str | None = None
) -> dict[Roll, list[RankedPlay]]:
    """`rank_plays` for each of the 21 rolls, keyed (larger, smaller)."""
    return {
        (high, low): rank_plays(databases, position, (high, low), cube=cube, measure=measure)
        for high, low, _ in ROLLS
    }
