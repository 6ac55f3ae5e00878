"""Questions and the answers to them, as the command line, the HTTP service and the page put them.

`Question` says once what a question may say: each field has one sentence, a type and a range. The options of the
commands, the parameters of HTTP, the tables of the docs and the types of plugins/js come from it, so that an option
is everywhere or nowhere. `cube`, `race`, `play` and `scores` answer a question by an adviser; what they return
has `as_dict`, which is what `--json` prints and HTTP sends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from bgfmt.analysis.answers import (
    ORIGIN,
    MetName,
    Plain,
    PositionEquities,
    RankedPlay,
    RankedPlays,
    SideRace,
    Source,
    fields_at,
)
from bgfmt.analysis.cube import LABELS, CubeAction, MatchAction, label_of
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.state import OWNERS, GameState, Owner

if TYPE_CHECKING:
    from bgfmt.analysis.advisor import Advisor
    from bgfmt.analysis.approximate import TwoSidedEstimate
    from bgfmt.analysis.match import Cell
    from bgfmt.analysis.ondemand import Grid

Dice = tuple[int, int]
COUNTS = re.compile(r"[\d,/]+|bar")  # a part of counts written without quotes
MOST_TEXT = 400  # characters of a text sent by HTTP
MOST_TOP = 1_000_000
MOST_SCORE = 64
_POINTS = "(?:0?[1-9]|[1-5][0-9]|6[0-4])"


# -- what a question may say -------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuestionOption:
    """One thing that a question may say.

    about : one sentence. kind : str, int or bool. choices : the texts or numbers allowed. pattern : what a text
    matches, and `says` how that is put in words. least, most : the range of a number. switch : how the command
    line spells it, where that is not ``--name``. metavar : what the command line's help calls the value.
    """

    about: str
    kind: type = str
    choices: tuple[Any, ...] = ()
    pattern: str = ""
    says: str = ""
    least: int = 0
    most: int = 0
    switch: str = ""
    metavar: str | None = None

    def read(self, name: str, text: str) -> Any:
        """The value that a text stands for; ValueError in words for a text out of range."""
        if self.kind is bool:
            if text not in ("true", "false"):
                raise ValueError(f"{name} is true or false, not {text[:40]!r}")
            return text == "true"
        if self.kind is int:
            value = int(text) if re.fullmatch(r"\d{1,9}", text) else None
            if value is None or (
                value not in self.choices if self.choices else not self.least <= value <= self.most
            ):
                raise ValueError(f"{name} is {self._range}, not {text[:40]!r}")
            return value
        if self.choices and text not in self.choices:
            raise ValueError(f"the {name} is {', '.join(self.choices)}, not {text[:40]!r}")
        if self.pattern and not re.fullmatch(self.pattern, text):
            raise ValueError(f"{self.says}, not {text[:40]!r}")
        return text

    @property
    def _range(self) -> str:
        if self.choices:
            return f"{', '.join(map(str, self.choices[:3]))}, ... up to {self.choices[-1]}"
        return f"a whole number from {self.least} to {self.most:,}"


@dataclass(frozen=True)
class Question:
    """What is asked; None where nothing is said, so that the identifier or the usual value stands."""

    position: Annotated[
        str,
        QuestionOption(
            "Counts of one or two sides from the ace point up, the side on roll first, or any identifier."
        ),
    ] = ""
    table: Annotated[
        str | None, QuestionOption("Ask this table only; #N as position (a position number) needs it.")
    ] = None
    roll: Annotated[
        str | None,
        QuestionOption(
            "The dice, or all; by default the identifier's.",
            pattern="[1-6][-, /]?[1-6]|[aA][lL][lL]",
            says="a roll is two dice such as 61 or 6-1, or all",
        ),
    ] = None
    cube: Annotated[
        Owner | None,
        QuestionOption(
            "Where the cube lies for the side on roll (default: the identifier's, else centered).",
            choices=OWNERS,
        ),
    ] = None
    cube_value: Annotated[
        int | None,
        QuestionOption(
            "What the cube shows (default: the identifier's, else 1).",
            int,
            tuple(1 << k for k in range(11)),
            metavar="N",
        ),
    ] = None
    away: Annotated[
        str | None,
        QuestionOption(
            "Match score: points that the side on roll and the other still need.",
            pattern=f"{_POINTS}-{_POINTS}",
            says=f"away is what both sides need, such as 3-5, each from 1 to {MOST_SCORE}",
            metavar="A-B",
        ),
    ] = None
    crawford: Annotated[bool | None, QuestionOption("This is the Crawford game.", bool)] = None
    jacoby: Annotated[
        bool | None,
        QuestionOption(
            "Money: whether gammons count only once the cube is turned (default: the identifier's, else not).",
            bool,
        ),
    ] = None
    beavers: Annotated[
        bool | None,
        QuestionOption(
            "Money: whether a double may be beavered (default: the identifier's, else it may).", bool
        ),
    ] = None
    met: Annotated[
        str | None, QuestionOption("Match equity table (default: Kazaross-XG2).", metavar="NAME|FILE")
    ] = None
    met_player: Annotated[
        int | None,
        QuestionOption(
            "Which player of an uneven match equity table is on roll.", int, most=1, metavar="0|1"
        ),
    ] = None
    extend_met: Annotated[
        bool | None,
        QuestionOption(
            "Answer scores beyond the match equity table too, up to 64-away, by a normal approximation.", bool
        ),
    ] = None
    measure: Annotated[
        str | None,
        QuestionOption(
            "What plays are ranked by: money (default for two sides), match (default at a score), cubeless, mean "
            "(default for one side) or off:N (chance off in N more rolls).",
            pattern="money|match|cubeless|mean|off:[0-9]{1,3}",
            says="a measure is money, match, cubeless, mean or off:N",
            metavar="MEASURE",
        ),
    ] = None
    top: Annotated[
        int | None,
        QuestionOption("At most this many plays of each roll.", int, least=1, most=MOST_TOP, metavar="N"),
    ] = None
    scores: Annotated[
        int | None,
        QuestionOption(
            "The cube action at all scores up to N-away.", int, least=1, most=MOST_SCORE, metavar="N"
        ),
    ] = None
    settle: Annotated[
        bool | None,
        QuestionOption("Calculate exactly what no table covers or a table leaves too close.", bool),
    ] = None

    def about(self, position: str) -> Question:
        """The same question of another position."""
        same = dict(self.__dict__, position=position)
        other = object.__new__(Question)
        other.__dict__.update(same)
        return other

    @property
    def around(self) -> dict[str, Any]:
        """What it says of the state beside the position, for `state_of`."""
        return {name: getattr(self, name) for name in STATE}

    def key(self) -> str:
        """The question as one text, for an ETag."""
        return repr(self)


#: the state beside the position, and which match equity table
STATE = ("cube", "cube_value", "away", "crawford", "jacoby", "beavers")
MET = ("met", "met_player", "extend_met")
#: which question takes which of them; the routes of HTTP have these names
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "lookup": ("position", "table"),
    "race": ("position", "table"),
    "cube": ("position", "table", *STATE, *MET, "scores", "settle"),
    "play": ("position", "table", "roll", *STATE, *MET, "measure", "top", "settle"),
    "probe": ("position", "table", "roll", *STATE, *MET, "measure", "top", "settle"),
}


@cache
def options() -> dict[str, QuestionOption]:
    """The options of a question by name."""
    hints = get_type_hints(Question, include_extras=True)
    return {one.name: hints[one.name].__metadata__[0] for one in fields(Question)}


def read(given: Mapping[str, str], base: Question | None = None) -> Question:
    """The question that texts stand for, on top of another; ValueError(name, message) for one out of range."""
    base, known = base or Question(), options()
    changes: dict[str, Any] = {}
    for name, text in given.items():
        if not text.strip():
            raise ValueError(name, f"{name} is empty")
        if len(text) > MOST_TEXT:
            raise ValueError(name, f"{name} has more than {MOST_TEXT} characters")
        try:
            changes[name] = known[name].read(name, text.strip())
        except ValueError as error:
            raise ValueError(name, str(error)) from None
    if changes.keys() == {"position"}:
        return base.about(changes["position"])
    return replace(base, **changes)


# -- text to a side, a position or a state ------------------------------------------------------------------


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
    match = re.fullmatch(r"(\d{1,4})(?:\s*+[-,:]\s*+|\s++)(\d{1,4})", text.strip())
    if not match:
        raise PositionError(f"a score is the points both need, the side on roll first, as 5-9, not {text!r}")
    return int(match[1]), int(match[2])


def state_of(
    text: str,
    *,
    cube: str | None = None,
    cube_value: int | None = None,
    away: str | None = None,
    crawford: bool | None = None,
    jacoby: bool | None = None,
    beavers: bool | None = None,
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
    if crawford is False:
        state = replace(state, crawford=False)
    for name, rule in (("jacoby", jacoby), ("beavers", beavers)):
        if rule and not state.money:
            raise PositionError(f"{name} is a rule of money play, and this is a match")
    return replace(
        state,
        jacoby=state.jacoby if jacoby is None else jacoby,
        beavers=state.beavers if beavers is None else beavers,
    )


def rolls_of(text: str, roll: str | None, around: Mapping[str, Any]) -> tuple[Side | GameState, list[Dice]]:
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


# -- answers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Stated(Plain):
    """An answer about a state: the position, where the cube lies and, in a match, the score."""

    state: GameState

    @property
    def position(self) -> Position:
        """Both sides, the side on roll first."""
        return self.state.position

    @property
    def cube(self) -> Owner:
        """Where the cube lies for the side on roll: `centered`, `owned` or `opponent`."""
        return self.state.owner

    @property
    def cube_value(self) -> int:
        """What the cube shows."""
        return self.state.cube_value

    @property
    def away(self) -> tuple[int, int] | None:
        """The points that the side on roll and the other need."""
        return self.state.away

    @property
    def crawford(self) -> bool | None:
        """Whether this is the Crawford game."""
        return None if self.state.away is None else self.state.crawford


@dataclass(frozen=True, kw_only=True)
class CubeAnswer(Stated):
    """The cube for money."""

    FIELDS = (
        "position cube cube_value"
        + fields_at("equities", PositionEquities.FIELDS, but="position")
        + fields_at("action", "action doubles takes beavers sure settled certainty")
        + " centered_cube owned_cube label label_text"
    )
    TITLE = "Cube"

    equities: PositionEquities
    action: CubeAction
    centered_cube: Annotated[CubeAction, "The action with a centered cube."]
    owned_cube: Annotated[CubeAction, "The action with the side on roll owning the cube."]

    @property
    def label(self) -> int:
        """Koca's label, from 1 to 5."""
        return label_of(self.centered_cube, self.owned_cube)

    @property
    def label_text(self) -> str:
        """What the label means."""
        return LABELS[self.label]


@dataclass(frozen=True, kw_only=True)
class MatchCubeAnswer(Stated, MatchAction):
    """The cube at a score."""

    FIELDS = "position cube cube_value away crawford " + " ".join(
        one for one in MatchAction.FIELDS.split() if not one.startswith("cube=")
    )
    FIELDS += " max_error"
    TITLE = "Match cube"

    @property
    def max_error(self) -> Mapping[str, float] | None:
        """The greatest error of each number, by name; null where none is known."""
        return None if self.error is None else {"mwc": self.error}


@dataclass(frozen=True, kw_only=True)
class ScoresAnswer(Stated):
    """The cube at all scores."""

    FIELDS = "position cube cube_value away? crawford? scores cells met" + ORIGIN
    TITLE = "Scores"

    grid: Grid

    @property
    def scores(self) -> int:
        """How many points away the scores go."""
        return self.grid.upto

    @property
    def cells(self) -> list[Cell]:
        """The decisions, one for each score."""
        from bgfmt.analysis.match import Cell

        return [
            Cell((mine, other), crawford, cell) for (mine, other, crawford), cell in self.grid.cells.items()
        ]

    @property
    def met(self) -> MetName:
        """The match equity table."""
        return MetName(self.grid.met.name, self.grid.met.digest)

    @property
    def source(self) -> Source:
        """The kind of table, or what else, that answered."""
        return "calculation"

    @property
    def table(self) -> str | None:
        """The name of the table; null for a calculation."""
        return None

    @property
    def approximate(self) -> bool:
        """Whether a formula that is not exact was used."""
        return False

    @property
    def max_error(self) -> Mapping[str, float] | None:
        """The greatest error of each number, by name."""
        return {"mwc": max(cell.error for cell in self.grid.cells.values())}


@dataclass(frozen=True, kw_only=True)
class TwoRaces(Plain):
    """The races of both sides."""

    FIELDS = "position on_roll other_side two_sided" + fields_at("on_roll", ORIGIN)
    TITLE = "Race"

    position: Annotated[Position, "Both sides, the side on roll first."]
    on_roll: Annotated[SideRace, "The race of the side on roll."]
    other_side: Annotated[SideRace, "The race of the other side."]
    two_sided: Annotated[TwoSidedEstimate | None, "The chances of both; null where only means are known."]


@dataclass(frozen=True, kw_only=True)
class RankedRoll(Plain):
    """The plays of one roll."""

    FIELDS = "roll count? plays"
    TITLE = "Roll"

    ranked: RankedPlays
    top: int | None = None

    @property
    def roll(self) -> str:
        """The dice, the larger first."""
        return self.ranked.roll

    @property
    def count(self) -> int | None:
        """With `top`: how many plays there are in all."""
        return None if self.top is None else len(self.ranked.plays)

    @property
    def plays(self) -> tuple[RankedPlay, ...]:
        """The plays, best first."""
        return self.ranked.plays[: self.top]


@dataclass(frozen=True, kw_only=True)
class PlayAnswer(Plain):
    """The plays of one roll, or of all rolls.

    asked : the side or state. ranked : the plays of each roll. top : most plays of a roll that are told.
    """

    FIELDS = (
        "position measure roll? count? plays? rolls? cube? cube_value? away? crawford? met?=first.met_name"
        + fields_at("first", ORIGIN)
    )
    TITLE = "Plays"

    asked: Side | GameState
    ranked: Mapping[Dice, RankedPlays]
    top: int | None = None

    @property
    def first(self) -> RankedPlays:
        """The plays of the first roll."""
        return next(iter(self.ranked.values()))

    @property
    def position(self) -> Position | Side:
        """A side or both, the side on roll first."""
        return self.asked.position if isinstance(self.asked, GameState) else self.asked

    @property
    def measure(self) -> str:
        """What the plays are ranked by: `money`, `match`, `cubeless`, `mean` or `off:N`."""
        return self.first.measure

    @property
    def _single(self) -> RankedRoll | None:
        return RankedRoll(ranked=self.first, top=self.top) if len(self.ranked) == 1 else None

    @property
    def roll(self) -> str | None:
        """The dice, the larger first."""
        return self._single.roll if self._single else None

    @property
    def count(self) -> int | None:
        """With `top`: how many plays there are in all."""
        return self._single.count if self._single else None

    @property
    def plays(self) -> tuple[RankedPlay, ...] | None:
        """The plays, best first."""
        return None if self._single is None else self._single.plays

    @property
    def rolls(self) -> list[RankedRoll] | None:
        """With `all` for the roll, in place of `roll` and `plays`: the 21 rolls."""
        if self._single is not None:
            return None
        return [RankedRoll(ranked=one, top=self.top) for one in self.ranked.values()]

    @property
    def cube(self) -> Owner | None:
        """Where the cube lies for the side on roll, for a measure that looks at it."""
        return self.asked.owner if isinstance(self.asked, GameState) and self.first.cube else None

    @property
    def cube_value(self) -> int | None:
        """What the cube shows."""
        return self.asked.cube_value if isinstance(self.asked, GameState) else None

    @property
    def away(self) -> tuple[int, int] | None:
        """The points that the side on roll and the other need."""
        return self.asked.away if isinstance(self.asked, GameState) else None

    @property
    def crawford(self) -> bool | None:
        """Whether this is the Crawford game."""
        return None if not isinstance(self.asked, GameState) or self.asked.money else self.asked.crawford


def cube(advisor: Advisor, state: GameState) -> CubeAnswer | MatchCubeAnswer:
    """The cube action of a state, for money also with a centered cube and with the side on roll owning it."""
    if not state.money:
        return MatchCubeAnswer(state=state, action=advisor.cube(state))
    centered, owned = (advisor.cube(replace(state, cube_owner=owner)) for owner in (None, state.turn))
    both: dict[str, CubeAction] = {"centered": centered, "owned": owned}
    action = both.get(state.owner) or advisor.cube(state)
    equities = advisor.equities(state)
    return CubeAnswer(state=state, equities=equities, action=action, centered_cube=centered, owned_cube=owned)


def scores(advisor: Advisor, state: GameState, upto: int) -> ScoresAnswer:
    """The cube action of a position at all scores up to `upto`-away."""
    return ScoresAnswer(state=state, grid=advisor.scores(state, upto))


def race(advisor: Advisor, asked: Side | Position) -> SideRace | TwoRaces:
    """The race of one side, or of two with their chances."""
    if isinstance(asked, Side):
        return advisor.race(asked)
    on_roll, other_side = advisor.race(asked.us), advisor.race(asked.them)
    try:
        chances = advisor.chances(asked)
    except NotCoveredError:
        chances = None  # means alone do not give chances
    return TwoRaces(position=asked, on_roll=on_roll, other_side=other_side, two_sided=chances)


def play(
    advisor: Advisor,
    asked: Side | GameState,
    rolls: Iterable[Dice],
    measure: str | None = None,
    top: int | None = None,
) -> PlayAnswer:
    """The plays of each roll, best first."""
    ranked = {}
    for dice in rolls:
        if isinstance(asked, Side):
            ranked[dice] = advisor.side_plays(asked, dice, measure or "mean")
        else:
            ranked[dice] = advisor.plays(asked.rolled(dice), measure=measure)
    return PlayAnswer(asked=asked, ranked=ranked, top=top)


# -- all of it for one position -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Described(Plain):
    """A position as programs need it."""

    FIELDS = "us them counts=asked position_id xgid pips chequers contact"
    TITLE = "Position"

    asked: Annotated[Side | Position, "The counts as text."]

    @property
    def both(self) -> Position:
        """The position, with an empty other side where one side is asked about."""
        return Position(self.asked, Side()) if isinstance(self.asked, Side) else self.asked

    @property
    def us(self) -> list[int]:
        """The counts of the side on roll from the ace point up; a 25th count is the bar."""
        return _counts(self.both.us)

    @property
    def them(self) -> list[int] | None:
        """The counts of the other side; null where one side is asked about."""
        return None if isinstance(self.asked, Side) else _counts(self.both.them)

    @property
    def position_id(self) -> str:
        """gnubg's Position ID."""
        from bgfmt.game.identifiers import position_id

        return position_id(self.both)

    @property
    def xgid(self) -> str:
        """eXtreme Gammon's identifier."""
        return GameState.of(self.both).xgid

    @property
    def pips(self) -> list[int]:
        """The pip counts of the side on roll and of the other."""
        return [self.both.us.pips, self.both.them.pips]

    @property
    def chequers(self) -> list[int]:
        """How many chequers the side on roll and the other have."""
        return [self.both.us.chequers, self.both.them.chequers]

    @property
    def contact(self) -> bool:
        """Whether the sides have not passed each other."""
        return self.both.contact


def _counts(side: Side) -> list[int]:
    counts = [*side.counts, *(0,) * (6 - len(side.counts))]
    return [*counts, *(0,) * (24 - len(counts)), side.bar] if side.bar else counts


@dataclass(frozen=True, kw_only=True)
class ProbeQuestion(Plain):
    """What was asked, with what the position says itself."""

    FIELDS = "position roll cube measure table"
    TITLE = "Probe question"

    position: Annotated[str, "As sent."]
    roll: Annotated[str | None, "The dice, the larger first, or `all`; null without dice."]
    cube: Annotated[Owner, "Where the cube lies for the side on roll: `centered`, `owned` or `opponent`."]
    measure: Annotated[str, "What the plays are ranked by: `money`, `match`, `cubeless`, `mean` or `off:N`."]
    table: Annotated[str | None, "The table that was named."]


@dataclass(frozen=True, kw_only=True)
class ProbeAnswer(Plain):
    """All of it for one position; a section that has no answer is null."""

    FIELDS = "question position cube race play not_covered"
    TITLE = "Probe"

    question: Annotated[ProbeQuestion, "What was asked."]
    position: Annotated[Described, "The position."]
    cube: Annotated[CubeAnswer | MatchCubeAnswer | None, "The cube."]
    race: Annotated[SideRace | TwoRaces | None, "The race of each side."]
    play: Annotated[PlayAnswer | None, "The plays of the roll."]
    not_covered: Annotated[Mapping[str, str], "Why a section has no answer, by its name."]
