"""Queries and their answers, as the command line, the HTTP service and the page have them.

`Question` defines the options of all queries. `cube`, `race` and `play` answer a query by an adviser; what they
return has `as_dict`, which is what `--json` prints and HTTP sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import (
    CALCULATION,
    ESTIMATE,
    ESTIMATED,
    HYPERGAMMON,
    ORIGIN,
    ROLLOUT,
    MetName,
    PositionEquities,
    RankedPlay,
    RankedPlays,
    SideRace,
    SourcedAnswer,
)
from bgfmt.analysis.cube import LABELS, Cell, CubeAction, Grid, MatchCube, label_of
from bgfmt.analysis.insight import Insight
from bgfmt.analysis.insight import insight as insight_of
from bgfmt.analysis.positions import side_or_state
from bgfmt.analysis.races import TwoSidedEstimate
from bgfmt.analysis.shapes import Plain, QuestionOption, fields_at, option
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, parse_roll
from bgfmt.game.state import OWNERS, GameState, Owner

__all__ = [
    "INSIGHT",
    "MAX_AWAY",
    "MET",
    "POINTS",
    "QUESTIONS",
    "STATE",
    "STATE_FIELDS",
    "CubeAnswer",
    "Dice",
    "MatchCubeAnswer",
    "PlayAnswer",
    "Question",
    "RankedRoll",
    "ScoresAnswer",
    "TwoRaces",
    "cube",
    "options",
    "play",
    "race",
    "rolls_of",
    "specific_options",
    "state_of",
]


Dice = tuple[int, int]
MAX_AWAY = 64
POINTS = "(?:0?[1-9]|[1-5][0-9]|6[0-4])"


# -- the options of queries -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """The options of a query; where one is None the value of the identifier or the default holds."""

    position: str = option(
        "Counts of one or two sides from the ace point up, the side on roll first, or any identifier.",
        usual="",
        longest=8000,  # what other programs put on the clipboard
    )
    table: str | None = option("Query this table only; required for a position number (#N).")
    roll: str | None = option(
        "The roll, such as 61, or all (default: the identifier's dice).",
        pattern="[1-6][-, /]?[1-6]|[aA][lL][lL]",
        words="a roll must be two dice, such as 61 or 6-1, or all",
    )
    cube: Owner | None = option(  # noqa: RUF009
        "The cube's position for the side on roll (default: the identifier's, else centered).", choices=OWNERS
    )
    cube_value: int | None = option(
        "The cube's value (default: the identifier's, else 1).",
        choices=tuple(1 << k for k in range(11)),
        metavar="N",
    )
    away: str | None = option(
        "Match score: points that the side on roll and the other still need.",
        pattern=f"{POINTS}-{POINTS}",
        words=f"away must be the points that both sides need, such as 3-5, each from 1 to {MAX_AWAY}",
        metavar="A-B",
    )
    crawford: bool | None = option(
        "Whether this is the Crawford game (default: as in the identifier, else no)."
    )
    jacoby: bool | None = option(
        "Money: the Jacoby rule, by which gammons count only after the cube has been turned (default: as in the "
        "identifier, else off)."
    )
    beavers: bool | None = option(
        "Money: whether a double may be beavered (default: as in the identifier, else yes)."
    )
    met: str | None = option("Match equity table (default: Kazaross-XG2).", metavar="NAME|FILE")
    met_player: int | None = option(
        "Which player is on roll, for a match equity table that differs by player.",
        range=(0, 1),
        metavar="0|1",
    )
    extend_met: bool | None = option(
        "Answer scores beyond the match equity table too, up to 64-away, by a normal approximation."
    )
    measure: str | None = option(
        "What plays are ranked by: money (default for two sides), match (default at a score), cubeless, mean (mean "
        "number of rolls; default for one side) or off:N (probability of being off within N rolls after this one).",
        pattern="money|match|cubeless|mean|off:[0-9]{1,3}",
        words="a measure must be money, match, cubeless, mean or off:N",
        metavar="MEASURE",
    )
    top: int | None = option(
        "At most this many plays of each roll (default: all).", range=(1, 1_000_000), metavar="N"
    )
    scores: int | None = option(
        "Find the cube action at all scores up to N-away.", range=(1, MAX_AWAY), metavar="N"
    )
    insight: bool | None = option(
        "Add the reasons of the cube action: take points, market losers, the best and the worst rolls."
    )
    settle: bool | None = option(
        "Calculate positions exactly if no table covers them or the best two choices differ by less than a table's "
        "error."
    )
    oracle: bool | None = option(
        "Roll out a decision, for about a second, if the best two choices are estimated and differ by less than "
        "the error."
    )

    def specific_values(self, query: str) -> dict[str, Any]:
        """Return the values of the options that only this query has, by name: keyword arguments of its function.

        query : a key of `QUESTIONS`, such as "cube".
        """
        return {name: getattr(self, name) for name in specific_options(query)}


@cache
def options() -> dict[str, QuestionOption]:
    """Return the options of a query, by name: for each field of `Question` its description and allowed values."""
    kinds = {"int": int, "bool": bool}  # the annotation "int | None" is still text
    return {
        one.name: QuestionOption(**one.metadata, kind=kinds.get(str(one.type).split()[0], str))
        for one in fields(Question)
    }


#: options for the state of the game apart from the position
STATE = ("cube", "cube_value", "away", "crawford", "jacoby", "beavers")
#: options that select the match equity table
MET = ("met", "met_player", "extend_met")
#: the options of each query, by the name of the query and of its HTTP route
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "lookup": ("position", "table"),
    "race": ("position", "table", "settle"),
    "cube": ("position", "table", *STATE, *MET, "scores", "insight", "settle", "oracle"),
    "play": ("position", "table", "roll", *STATE, *MET, "measure", "top", "settle", "oracle"),
    "probe": ("position", "table", "roll", *STATE, *MET, "measure", "top", "settle", "oracle"),
}


def specific_options(query: str) -> tuple[str, ...]:
    """Return the names of the options that only this query has: the keyword arguments of its function.

    query : a key of `QUESTIONS`, such as "cube".
    """
    common = ("position", "table", "roll", *STATE, *MET, "settle", "oracle")
    return tuple(name for name in QUESTIONS[query] if name not in common)


# -- text to a side, a position or a state ------------------------------------------------------------------


def state_of(text: str, asked: Question = Question()) -> GameState:
    """Return the game state of an identifier, changed by the options of a query.

    Parameters
    ----------
    text
        A position of both sides in any identifier, such as an XGID.
    asked
        Its options for the cube, the score and the rules replace those of the identifier.

    Raises
    ------
    PositionError
        The text has one side only, or the options contradict each other.
    """
    found = side_or_state(text)
    if isinstance(found, Side):
        raise PositionError(
            f"{text[:40]!r} has the chequers of one side; give both, the side on roll first: side / side"
        )
    return _with_options(found, asked)


def _with_options(state: GameState, asked: Question) -> GameState:
    """Return a state changed by the options of a query."""
    same = {name: getattr(asked, name) for name in ("cube_value", "crawford", "jacoby", "beavers")}
    changes = {name: value for name, value in same.items() if value is not None}
    state = state.with_options(away=asked.away, cube=asked.cube, **changes)
    for name in ("jacoby", "beavers"):
        if same[name] and not state.money:
            raise PositionError(f"{name} is a rule of money play, and this is a match")
    return state


def rolls_of(text: str, roll: str | None, question: Question) -> tuple[Side | GameState, list[Dice]]:
    """Return the side or state of a query about plays, and the rolls to play, the larger die first.

    Parameters
    ----------
    text
        One side, or a position of both in any identifier.
    roll
        Two dice, "all" for the 21 rolls, or None for the dice of the identifier.
    question
        Its options change the state as in `state_of`.
    """
    found = side_or_state(text)
    asked = found if isinstance(found, Side) else _with_options(found, question)
    if roll is not None and roll.lower() == "all":
        return asked, [(high, low) for high, low, _ in ROLLS]
    dice = parse_roll(roll) if roll is not None else asked.dice if isinstance(asked, GameState) else None
    if dice is None:
        raise PositionError(f"{text[:40]!r} has no dice; add the roll to play, such as 61")
    return asked, [(max(dice), min(dice))]


# -- answers ------------------------------------------------------------------------------------------------

INSIGHT = "Reasons, if asked for and the numbers are exact."
STATE_FIELDS = "position=state.position cube=state.owner cube_value=state.cube_value "


@dataclass(frozen=True, kw_only=True)
class CubeAnswer(Plain):
    """The cube for money."""

    FIELDS = (
        STATE_FIELDS
        + fields_at("equities", PositionEquities.FIELDS, but="position")
        + fields_at("action", "action doubles takes beavers sure settled certainty")
        + " centered_cube owned_cube label label_text insight?"
    )

    state: GameState
    equities: PositionEquities
    action: CubeAction
    centered_cube: Annotated[CubeAction, "Action with a centered cube."]
    owned_cube: Annotated[CubeAction, "Action with the side on roll owning the cube."]
    insight: Annotated[Insight | None, INSIGHT] = None

    @property
    def label(self) -> int:
        """Koca's label, from 1 to 5.

        Meanings are in `bgfmt.analysis.cube.LABELS`.
        """
        return label_of(self.centered_cube, self.owned_cube)

    @property
    def label_text(self) -> str:
        """Meaning of the label.

        One of `bgfmt.analysis.cube.LABELS`, such as "no double, take".
        """
        return LABELS[self.label]


@dataclass(frozen=True, kw_only=True)
class MatchCubeAnswer(Plain):
    """The cube at a score."""

    FIELDS = (
        f"{STATE_FIELDS} away=state.away crawford=state.crawford_game "
        + fields_at("action", MatchCube.DECISION, but="error")
        + f" usual_error?=action.usual {fields_at('action', MatchCube.ORIGIN)} max_error insight?"
    )

    state: GameState
    action: MatchCube
    insight: Annotated[Insight | None, INSIGHT] = None

    @property
    def max_error(self) -> Mapping[str, float] | None:
        """Maximum error of each number (99.9 % bound for estimates and rollouts)."""
        return {"mwc": self.action.mwc_error}


@dataclass(frozen=True, kw_only=True)
class ScoresAnswer(SourcedAnswer):
    """The cube at all scores."""

    FIELDS = f"{STATE_FIELDS} away?=state.away crawford?=state.crawford_game scores=grid.upto cells met {ESTIMATED}"

    state: GameState
    grid: Grid

    @property
    def cells(self) -> list[Cell]:
        """Decisions, one a score.

        In the order of `bgfmt.analysis.ondemand.scores`.
        """
        return [Cell((mine, other), last, cube) for (mine, other, last), cube in self.grid.cells.items()]

    @property
    def met(self) -> MetName:
        """Match equity table.

        Its name, and the SHA-256 of its values.
        """
        return MetName(self.grid.met.name, self.grid.met.digest)


@dataclass(frozen=True, kw_only=True)
class TwoRaces(Plain):
    """The races of both sides."""

    FIELDS = "position on_roll other_side two_sided" + fields_at("on_roll", ORIGIN)
    TITLE = "Race"

    position: Annotated[Position, "Both sides, the side on roll first."]
    on_roll: Annotated[SideRace, "Race of the side on roll."]
    other_side: Annotated[SideRace, "Race of the opponent."]
    two_sided: Annotated[TwoSidedEstimate | None, "Win probabilities; null if only means are known."]


@dataclass(frozen=True, kw_only=True)
class RankedRoll(Plain):
    """The plays of one roll."""

    FIELDS = "roll count? plays"

    roll: Annotated[str, "Dice, the larger first."]
    count: Annotated[int | None, "With `top`: number of all plays."]
    plays: Annotated[tuple[RankedPlay, ...], "Plays, best first."]


@dataclass(frozen=True, kw_only=True)
class PlayAnswer(Plain):
    """The plays of one roll, or of all rolls.

    state : None if the query is about one side.
    ranked : the plays of each roll.
    one : the plays of the roll if it is only one.
    """

    FIELDS = (
        "position measure=first.measure roll?=one.roll count?=one.count plays?=one.plays rolls? cube?=first.cube "
        "cube_value?=state.cube_value away?=state.away crawford?=state.crawford_game met?=first.met_name"
    ) + fields_at("first", ESTIMATED)
    TITLE = "Plays"

    position: Annotated[Position | Side, "A side or both, the side on roll first."]
    state: GameState | None
    ranked: Mapping[Dice, RankedPlays]
    one: RankedRoll | None
    rolls: Annotated[
        list[RankedRoll] | None, "With `all` as the roll: the 21 rolls, in place of `roll` and `plays`."
    ]

    @property
    def first(self) -> RankedPlays:
        """The ranked plays of the first of the rolls."""
        return next(iter(self.ranked.values()))


def cube(
    advisor: Advisor,
    state: GameState,
    *,
    scores: int | None = None,
    insight: bool | None = None,
    met_player: int | None = None,
) -> CubeAnswer | MatchCubeAnswer | ScoresAnswer:
    """Answer a query about the cube before the roll.

    Parameters
    ----------
    advisor
        Gives the numbers.
    state
        The position, its cube and score. For money the answer has also the actions with a centered cube and with
        the side on roll owning it.
    scores
        Answer instead with the actions at all scores up to this many points away.
    insight
        Add take points, market losers and the best and worst rolls, where the action is exact.
    met_player
        Which player of the match equity table, 0 or 1, is on roll; by default as the adviser says.
    """
    if scores is not None:
        grid = advisor.scores(state, scores, met_player=met_player)
        return ScoresAnswer(
            state=state,
            grid=grid,
            source=CALCULATION if grid.usual is None else ESTIMATE,
            max_error={"mwc": max(cell.mwc_error for cell in grid.cells.values())},
            usual_error=None if grid.usual is None else {"mwc": grid.usual},
        )

    def find_insight(action: CubeAction) -> Insight | None:
        wanted = insight and not action.approximate
        return insight_of(state, advisor, met_player=met_player) if wanted else None

    if not state.money:
        decided = advisor.cube(state, met_player=met_player).match
        assert decided is not None
        return MatchCubeAnswer(state=state, action=decided, insight=find_insight(decided))
    equities = advisor.equities(state)
    if equities.source == HYPERGAMMON:
        state = advisor.with_chequers(state)
    centered, owned = (
        advisor.cube(replace(state, cube_owner=owner), equities=equities) for owner in (None, state.turn)
    )
    both: dict[str, CubeAction] = {"centered": centered, "owned": owned}
    action = both.get(state.owner) or advisor.cube(state, equities=equities)
    rolled_out = advisor.roll_out(state) if action.source == ROLLOUT else None
    return CubeAnswer(
        state=state,
        equities=rolled_out or equities,
        action=action,
        insight=find_insight(action),
        centered_cube=centered,
        owned_cube=owned,
    )


def race(advisor: Advisor, asked: Side | Position) -> SideRace | TwoRaces:
    """Answer a query about a race: rolls, effective pips and wastage of one side, or of both.

    For both sides the answer has also their win probabilities, each side playing alone.
    """
    if isinstance(asked, Side):
        return advisor.race(asked)
    on_roll = advisor.race(asked.us)
    other_side = advisor.race(asked.them)
    try:
        chances = advisor.chances(asked)
    except NotCoveredError:
        chances = None  # means alone do not give probabilities
    return TwoRaces(position=asked, on_roll=on_roll, other_side=other_side, two_sided=chances)


def play(
    advisor: Advisor,
    asked: Side | GameState,
    rolls: Iterable[Dice],
    measure: str | None = None,
    top: int | None = None,
    met_player: int | None = None,
) -> PlayAnswer:
    """Answer a query about the plays of one or more rolls, best first.

    Parameters
    ----------
    advisor
        Gives the numbers.
    asked
        One side alone, or a state of both.
    rolls
        The dice of each roll.
    measure
        What plays are ranked by: "money", "match", "cubeless", "mean" or "off:N". By default "mean" for one side;
        otherwise the adviser's choice.
    top
        At most this many plays of each roll; all if None.
    met_player
        As in `cube`.
    """
    if isinstance(asked, Side):
        ranked = {dice: advisor.side_plays(asked, dice, measure or "mean") for dice in rolls}
    else:
        ranked = {
            dice: advisor.plays(asked.rolled(dice), measure=measure, met_player=met_player) for dice in rolls
        }
        if any(one.source == HYPERGAMMON for one in ranked.values()):
            asked = advisor.with_chequers(asked)
    several = [
        RankedRoll(roll=one.roll, count=top and len(one.plays), plays=one.plays[:top])
        for one in ranked.values()
    ]
    return PlayAnswer(
        position=asked if isinstance(asked, Side) else asked.position,
        state=None if isinstance(asked, Side) else asked,
        ranked=ranked,
        one=several[0] if len(several) == 1 else None,
        rolls=several if len(several) > 1 else None,
    )
