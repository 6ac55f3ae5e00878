"""Single queries of databases, each by an adviser of its own that calculates nothing unless told to."""

from __future__ import annotations

from bgfmt.analysis import choose
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import PositionEquities, RankedPlay, SideRace
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.library import Library
from bgfmt.analysis.positions import one_or_two
from bgfmt.analysis.solving import DEFAULT_LIMIT
from bgfmt.analysis.sources import Calculate, Sources
from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, parse_roll
from bgfmt.game.state import GameState, cube_owner
from bgfmt.tables import Equities, bounds

Roll = tuple[int, int]


def race(databases: Databases, side: Side | str) -> SideRace:
    """Return the distribution of rolls, effective pips and wastage of one side; by `Advisor.race`."""
    return Advisor(databases).race(side)


def equities(databases: Databases, position: Position | str) -> PositionEquities:
    """Return win and gammon probabilities and money equities of a position, from tables or an estimate.

    As `Advisor.equities`, but nothing is calculated.
    """
    return Advisor(databases, calculate="nothing").equities(position)


def exact_equities(position: Position, *, limit: int | None = None) -> PositionEquities | None:
    """Calculate the exact money equities of a race from the rules, without tables.

    limit : largest calculation, in pairs of boards times cube states; None is returned beyond it.

    Raises PositionError if the game is over and NotCoveredError for contact.
    """
    choose.check_race(position)
    sources = Sources(Library(), limit=DEFAULT_LIMIT if limit is None else limit)
    return sources.exact_equities(GameState.of(position))


def judge_cube(
    asked: Equities | PositionEquities | Databases,
    cube: str = "centered",
    *,
    position: Position | str | None = None,
    error: float | None = None,
    settle: bool = False,
) -> CubeAction:
    """Judge the cube action of one position, for money.

    Parameters
    ----------
    asked
        Equities of a position, or the databases to query; then `position` is needed.
    cube
        "centered", "owned" (by the side on roll) or "opponent".
    position
        The position to look up in the databases.
    error
        Greatest error of the equities in `asked`; by default that of gnubg's 6x8 table.
    settle
        Calculate exactly where the rounding of the table leaves the action open, so that ties are proved and near
        ties decided.

    Raises
    ------
    NotCoveredError
        No table covers the position.
    """
    owner = cube_owner(cube)
    calculate: Calculate = "close" if settle else "nothing"
    if not isinstance(asked, (Equities, PositionEquities)):
        if position is None:
            raise PositionError("name the position to judge")
        position = Position.parse(position) if isinstance(position, str) else position
        return Advisor(asked, calculate=calculate).cube(GameState.of(position, cube=owner))
    known = max(bounds.stored_error(6, 8)) if error is None else error
    rolling = {"owned": asked.owned, "centered": asked.centered, "opponent": asked.opponent}[owner]
    return CubeAction(asked.position, owner, rolling, 2 * asked.opponent, error=known)


def rank_plays(
    databases: Databases,
    position: Position | Side | str,
    roll: str | Roll,
    *,
    cube: str = "centered",
    measure: str | None = None,
) -> list[RankedPlay]:
    """Rank all plays of a roll, best first, as `Advisor.plays` for two sides and `Advisor.side_plays` for one.

    Parameters
    ----------
    databases
        The databases to query; nothing is calculated.
    position
        Both sides, the side on roll first, or one side.
    roll
        "61", "6-1" or (6, 1).
    cube
        "centered", "owned" or "opponent", seen by the side that plays; used by the measure "money" only.
    measure
        "money" (the default for two sides), "cubeless", "mean" (the default for one side) or "off:n".
    """
    advisor = Advisor(databases, calculate="nothing")
    dice = parse_roll(roll)
    if isinstance(position, str):
        position = one_or_two(position)
    if isinstance(position, Side):
        return list(advisor.side_plays(position, dice, measure or "mean").plays)
    return list(advisor.plays(GameState.of(position, dice, cube=cube), measure=measure).plays)


def rank_all_rolls(
    databases: Databases,
    position: Position | Side | str,
    *,
    cube: str = "centered",
    measure: str | None = None,
) -> dict[Roll, list[RankedPlay]]:
    """Rank the plays of each of the 21 rolls; return the lists of `rank_plays` by dice (larger, smaller)."""
    return {
        (high, low): rank_plays(databases, position, (high, low), cube=cube, measure=measure)
        for high, low, _ in ROLLS
    }
