"""All answers about one position, as the route `probe` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from bgfmt.analysis.answers import SideRace
from bgfmt.analysis.questions import CubeAnswer, MatchCubeAnswer, PlayAnswer, TwoRaces
from bgfmt.analysis.shapes import Plain
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState, Owner


@dataclass(frozen=True, kw_only=True)
class Described(Plain):
    """A position as programs need it."""

    TITLE = "Position"

    us: Annotated[list[int], "Counts of the side on roll from the ace point up; a 25th count is the bar."]
    them: Annotated[list[int] | None, "Counts of the opponent; null for a query of one side."]
    counts: Annotated[Side | Position, "Counts as text."]
    position_id: Annotated[str, "gnubg's Position ID."]
    xgid: Annotated[str, "eXtreme Gammon's identifier."]
    pips: Annotated[list[int], "Pip counts of the side on roll and of the opponent."]
    chequers: Annotated[list[int], "Chequers of the side on roll and of the opponent."]
    contact: Annotated[bool, "Whether the sides have not yet passed each other."]


def describe(asked: Side | Position, state: GameState) -> Described:
    """Describe a position, or one side: counts, identifiers, pips, number of chequers, contact.

    state : the position with cube and score, for the XGID.
    """
    both = state.position

    def counts(side: Side) -> list[int]:
        return list(side.padded(25 if side.bar else max(6, side.highest)))

    return Described(
        us=counts(both.us),
        them=None if isinstance(asked, Side) else counts(both.them),
        counts=asked,
        position_id=both.id,
        xgid=state.xgid,
        pips=[both.us.pips, both.them.pips],
        chequers=[both.us.chequers, both.them.chequers],
        contact=both.contact,
    )


@dataclass(frozen=True, kw_only=True)
class ProbeQuestion(Plain):
    """The query, with what the identifier adds to it."""

    position: Annotated[str, "As sent."]
    roll: Annotated[str | None, "Dice, the larger first, or `all`; null without dice."]
    cube: Annotated[Owner, "Cube as seen by the side on roll: `centered`, `owned` or `opponent`."]
    measure: Annotated[str, "Ranking: `money`, `match`, `cubeless`, `mean` or `off:N`."]
    table: Annotated[str | None, "Table named in the query."]


@dataclass(frozen=True, kw_only=True)
class ProbeAnswer(Plain):
    """Cube, race and plays of one position; a section that has no answer is null."""

    question: Annotated[ProbeQuestion, "Query."]
    position: Annotated[Described, "Position."]
    cube: Annotated[CubeAnswer | MatchCubeAnswer | None, "Cube."]
    race: Annotated[SideRace | TwoRaces | None, "Race of each side."]
    play: Annotated[PlayAnswer | None, "Plays of the roll."]
    not_covered: Annotated[Mapping[str, str], "Reason for a section without an answer, by its name."]
