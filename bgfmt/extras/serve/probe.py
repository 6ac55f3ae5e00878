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

    us: Annotated[list[int], "The counts of the side on roll from the ace point up; a 25th count is the bar."]
    them: Annotated[list[int] | None, "The counts of the other side; null where one side is asked about."]
    counts: Annotated[Side | Position, "The counts as text."]
    position_id: Annotated[str, "gnubg's Position ID."]
    xgid: Annotated[str, "eXtreme Gammon's identifier."]
    pips: Annotated[list[int], "The pip counts of the side on roll and of the other."]
    chequers: Annotated[list[int], "How many chequers the side on roll and the other have."]
    contact: Annotated[bool, "Whether the sides have not passed each other."]


def describe(asked: Side | Position, state: GameState | None = None) -> Described:
    """Describe a position, or one side: counts, identifiers, pips, number of chequers, contact.

    state : if given, the XGID is that of this state; it holds the cube and the score too.
    """
    both = Position(asked, Side()) if isinstance(asked, Side) else asked

    def counts(side: Side) -> list[int]:
        return list(side.padded(25 if side.bar else max(6, side.highest)))

    return Described(
        us=counts(both.us),
        them=None if isinstance(asked, Side) else counts(both.them),
        counts=asked,
        position_id=both.id,
        xgid=both.xgid if state is None else state.xgid,
        pips=[both.us.pips, both.them.pips],
        chequers=[both.us.chequers, both.them.chequers],
        contact=both.contact,
    )


@dataclass(frozen=True, kw_only=True)
class ProbeQuestion(Plain):
    """The query, with what the identifier adds to it."""

    position: Annotated[str, "As sent."]
    roll: Annotated[str | None, "The dice, the larger first, or `all`; null without dice."]
    cube: Annotated[Owner, "The cube's position for the side on roll: `centered`, `owned` or `opponent`."]
    measure: Annotated[str, "What the plays are ranked by: `money`, `match`, `cubeless`, `mean` or `off:N`."]
    table: Annotated[str | None, "The table that was named."]


@dataclass(frozen=True, kw_only=True)
class ProbeAnswer(Plain):
    """Cube, race and plays of one position; a section that has no answer is null."""

    question: Annotated[ProbeQuestion, "The query."]
    position: Annotated[Described, "The position."]
    cube: Annotated[CubeAnswer | MatchCubeAnswer | None, "The cube."]
    race: Annotated[SideRace | TwoRaces | None, "The race of each side."]
    play: Annotated[PlayAnswer | None, "The plays of the roll."]
    not_covered: Annotated[Mapping[str, str], "Why a section has no answer, by its name."]
