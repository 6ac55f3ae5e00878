"""The answers of the adviser: frozen dataclasses, each with its source and the error of its numbers.

Equities are points for a cube at 1, seen by the side on roll (for plays: by the side that plays). Probabilities run
from 0 to 1; EPC, wastage and pips are in pips. None means "not known", never 0.

`FIELDS` and the descriptions in the annotations define the JSON, see `bgfmt.analysis.shapes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis.shapes import CHANCE, Chance, Plain
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import Move, Play
from bgfmt.game.state import Owner
from bgfmt.tables.rolls import OneSideAnswer

__all__ = [
    "CALCULATION",
    "COLUMNS",
    "EQUAL",
    "ESTIMATE",
    "ESTIMATED",
    "EXACT",
    "HYPERGAMMON",
    "ORIGIN",
    "ROLLOUT",
    "TABLES_OF_PAIRS",
    "TABLE_OF_PAIRS",
    "Chances",
    "Decision",
    "Floats",
    "Gammons",
    "MetName",
    "OfPairs",
    "OfTables",
    "PositionEquities",
    "RankedPlay",
    "RankedPlays",
    "Resignation",
    "SideRace",
    "Source",
    "SourcedAnswer",
    "cumulate",
    "estimate_words",
    "is_close",
    "within_rolls",
]


OfPairs = Literal["two-sided", "two-sided-gammons", "two-sided-jacoby"]
OfTables = Literal[OfPairs, "one-sided", "hypergammon", "match-score"]
#: the source of an answer: a kind of table, a calculation, an estimate, rollouts, the only legal play, the rule or
#: engine for positions that no table covers
Source = Literal[OfTables, "calculation", "estimate", "rollout", "forced", "rule", "engine"]
TABLE_OF_PAIRS: Source = "two-sided"
TABLES_OF_PAIRS: tuple[Source, ...] = get_args(OfPairs)
CALCULATION: Source = "calculation"
ESTIMATE: Source = "estimate"
ROLLOUT: Source = "rollout"
HYPERGAMMON: Source = "hypergammon"
Gammons = Literal["none", "counted", "ignored"]
Floats = NDArray[np.float64]
Chances = Annotated[Floats, CHANCE]
COLUMNS = ("cubeless", "owned", "centered", "opponent")
EXACT = 1e-12  # greatest error of exact equities: two that differ by no more may be equal
EQUAL = 1e-11  # a smaller loss of a play counts as 0
ORIGIN = " source table approximate max_error"
ESTIMATED = ORIGIN + " usual_error?"  # fields of an answer that may be an estimate


@dataclass(frozen=True, kw_only=True)
class SourcedAnswer(Plain):
    """The source and the errors of an answer."""

    FIELDS = ESTIMATED

    source: Annotated[
        Source, "A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`."
    ]
    table: Annotated[str | None, "Name of the table; null for a calculation."] = None
    max_error: Annotated[
        Mapping[str, float] | None, "Maximum error of each number (99.9 % bound for estimates and rollouts)."
    ] = None
    usual_error: Annotated[
        Mapping[str, float] | None, "For estimates and rollouts: 95 % bound of each error."
    ] = None
    proved: bool = (
        True  # False if `max_error` is not proved for a table of this size, only measured on others
    )

    @property
    def approximate(self) -> bool:
        """Whether no proved error bound is known, as for estimates.

        True for estimates, rollouts, and numbers without `max_error`.
        """
        return self.source in (ESTIMATE, ROLLOUT) or self.max_error is None


@dataclass(frozen=True, kw_only=True, eq=False)
class SideRace(OneSideAnswer, SourcedAnswer):
    """One side's race. What the table does not hold is None, and missing in JSON."""

    FIELDS = (
        "side position_number=number pips mean_rolls std_rolls? epc wastage gammon_mean_rolls? gammon_std_rolls? "
        "bearoff? off_within?=off_chances gammon? gammon_saved_within?=saved_chances"
    ) + ORIGIN

    side: Annotated[Side, "Counts of the side."]
    number: Annotated[int, "Position number in that table."]
    mean_rolls: Annotated[float, "Mean rolls to bear off the last chequer."]
    std_rolls: Annotated[float | None, "Standard deviation of those rolls."] = None
    gammon_mean_rolls: Annotated[float | None, "Mean rolls to bear off the first chequer."] = None
    gammon_std_rolls: Annotated[float | None, "Standard deviation of those rolls."] = None
    bearoff: Annotated[Chances | None, "Probabilities of being off in exactly 0, 1, 2, ... rolls."] = None
    gammon: Annotated[
        Chances | None, "Probabilities of bearing off the first chequer in exactly 0, 1, 2, ... rolls."
    ] = None

    @property
    def off_chances(self) -> Chances | None:
        """Probabilities of being off within 0, 1, 2, ... rolls.

        None if only means are known.
        """
        return None if self.bearoff is None else cumulate(self.bearoff)

    @property
    def saved_chances(self) -> Chances | None:
        """Probabilities of bearing off the first chequer within 0, 1, 2, ... rolls.

        None if the source has no distribution for the first chequer.
        """
        return None if self.gammon is None else cumulate(self.gammon)

    def off_within(self, rolls: int) -> float:
        """Return the probability of being off within `rolls` rolls; NotCoveredError if only means are known."""
        return float(within_rolls(self.bearoff, rolls))

    def gammon_saved_within(self, rolls: int) -> float:
        """Return the probability of bearing off a first chequer within `rolls` rolls; NotCoveredError if unknown."""
        return float(within_rolls(self.gammon, rolls))


def cumulate(chances: Floats) -> Floats:
    """Convert probabilities of exactly 0, 1, 2, ... rolls (last axis) to those of at most as many, limited to 1."""
    out: Floats = np.minimum(np.cumsum(chances, axis=-1), 1.0)
    return out


def within_rolls(chances: Floats | None, rolls: int) -> Floats:
    """Return the probability of at most `rolls` rolls, from distributions (..., n) of exactly 0, 1, 2, ... rolls.

    NotCoveredError if `chances` is None.
    """
    if chances is None:
        raise NotCoveredError("the table has no distribution of this kind")
    return np.minimum(chances[..., : rolls + 1].sum(axis=-1, dtype=np.float64), 1.0)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class PositionEquities(SourcedAnswer):
    """Probabilities and money equities of the side on roll, if it does not double, for a cube at 1."""

    FIELDS = "position win win_gammon lose_gammon cubeless owned centered opponent gammons" + ESTIMATED

    position: Annotated[Position, "Both sides, the side on roll first."]
    win: Annotated[Chance | None, "Win probability without a cube."]
    win_gammon: Annotated[Chance | None, "Probability of winning a gammon."]
    lose_gammon: Annotated[Chance | None, "Probability of losing a gammon."]
    cubeless: Annotated[float, "Equity without a cube."]
    owned: Annotated[float, "Equity of not doubling, owning the cube."]
    centered: Annotated[float, "Equity of not doubling, cube centered."]
    opponent: Annotated[float, "Equity with the opponent owning the cube."]
    gammons: Annotated[Gammons, "`none` (impossible), `counted`, or `ignored` though possible."] = "none"


def format_error(error: float) -> str:
    """Format the bound of an error, rounded up: to three decimals, or below 0.001 to one significant digit.

    For example 0.0055 is "0.006" and 0.000234 is "0.0003".
    """
    if error <= 0:
        return "0"
    digits = max(3, -floor(log10(error)))
    return f"{ceil(error * 10**digits - 1e-9) / 10**digits:.{digits}f}".rstrip("0").rstrip(".")


def estimate_words(source: str, usual_error: float, *, close_within: float | None = None) -> str:
    """Return how certain an estimate or rollout is, such as "estimate, ±0.006 (95 %)".

    A close decision adds ": too close to call, within 0.048 (99.9 %)".

    Parameters
    ----------
    source
        "rollout" or "estimate".
    usual_error
        The error that 95 % of such answers do not exceed.
    close_within
        The 99.9 % bound of the error of the options' difference if they differ by no more than that, else None.
    """
    text = f"{'rollout' if source == ROLLOUT else 'estimate'}, ±{format_error(usual_error)} (95 %)"
    if close_within is None:
        return text
    return f"{text}: too close to call, within {format_error(close_within)} (99.9 %)"


def is_close(loss: float, error: float | None) -> bool:
    """Return whether two values, each with at most this error, differ by no more than their errors together.

    loss : the difference. False if the error is None (not known) or that of exact numbers, in which equal values tie.
    """
    return error is not None and error > EXACT and loss <= 2 * error


@dataclass(frozen=True)
class RankedPlay(Plain):
    """One play of a roll.

    result : the position after it, the side that has played first; the other side is empty in a query of one side.
    value, loss : None where only a rule ranks the plays.
    moves : the moves of single chequers.
    one_sided : whether the query has one side only, so that JSON has one side as result.
    """

    FIELDS = "play=notation result=shown_result value loss close mwc? loss_mwc? loss_emg?"

    notation: Annotated[str, "Play, such as `6/5 6/off`."]
    result: Position
    value: Annotated[
        float | None,
        "Value by the measure: equity (`money`, `match`, `cubeless`), rolls (`mean`) or probability (`off:N`); null "
        "for the only legal play.",
    ]
    loss: Annotated[float | None, "Loss against the best play, never negative."]
    moves: tuple[Move, ...] = ()
    measure: str = "money"
    approximate: bool = False
    close: Annotated[bool, "Whether the loss is within the error."] = False
    mwc: Annotated[Chance | None, "At a score: match winning chance (MWC) after it."] = None
    loss_mwc: Annotated[float | None, "At a score: loss of MWC."] = None
    one_sided: bool = False

    @classmethod
    def forced(cls, play: Play) -> RankedPlay:
        """Build the answer for a play without a value: the only legal one, or one chosen by a rule or an engine."""
        return cls(str(play), play.result, None, None, play.moves, "rule", approximate=True)

    @property
    def shown_result(self) -> Position | Side:
        """Position after it, the side that played first.

        Of a query about one side, that side alone.
        """
        return self.result.us if self.one_sided else self.result

    @property
    def loss_emg(self) -> float | None:
        """At a score: loss in EMG.

        None for money.
        """
        return None if self.mwc is None else self.loss


@dataclass(frozen=True)
class MetName(Plain):
    """A match equity table, by its name and values."""

    name: Annotated[str, "Name."]
    digest: Annotated[str, "SHA-256 of its values."]


@dataclass(frozen=True, kw_only=True)
class RankedPlays(SourcedAnswer):
    """All different results of a roll, best first; empty where no chequer can move.

    met, met_digest : the match equity table, in a match.
    """

    FIELDS = "position=asked measure roll plays cube? met?=met_name" + ESTIMATED

    asked: Annotated[Position | Side, "A side or both, the side on roll first."]
    dice: tuple[int, int]
    measure: Annotated[str, "Ranking: `money`, `match`, `cubeless`, `mean` or `off:N`."]
    cube: Annotated[Owner | None, "Cube as seen by the side on roll: `centered`, `owned` or `opponent`."] = (
        None
    )
    plays: Annotated[tuple[RankedPlay, ...], "Plays, best first."] = field(default=())
    met: str | None = None
    met_digest: str | None = None

    def __iter__(self) -> Iterator[RankedPlay]:
        return iter(self.plays)

    def __getitem__(self, rank: int) -> RankedPlay:
        return self.plays[rank]

    @property
    def roll(self) -> str:
        """Dice, the larger first."""
        return f"{self.dice[0]}{self.dice[1]}"

    @property
    def met_name(self) -> MetName | None:
        """Match equity table.

        None for money.
        """
        return MetName(self.met, self.met_digest or "") if self.met else None

    @property
    def best(self) -> RankedPlay | None:
        """The best play, None where no chequer can move."""
        return self.plays[0] if self.plays else None


@dataclass(frozen=True, kw_only=True)
class Resignation(SourcedAnswer):
    """Whether to resign, or to accept a resignation."""

    FIELDS = "position offer accept worth" + ESTIMATED

    position: Annotated[Position, "Both sides, the side on roll first."]
    offer: Annotated[int, "The points that the player on roll should resign, 0 to play on."] = 0
    accept: Annotated[
        bool | None, "Whether the other side should accept what is offered; null with nothing offered."
    ] = None
    worth: Annotated[float | None, "The equity of playing on for the player who decides."] = None


@dataclass(frozen=True)
class Decision:
    """What to do in a state, as the engine protocols need it.

    act : "play", "roll", "double", "take", "pass", "beaver", "resign", "accept" or "reject".
    source, table : where the decision comes from.
    value : equity of the choice to the player who decides, if known.
    play : the best play, for "play"; None if no chequer can move.
    points : how much is resigned, for "resign".
    """

    act: str
    source: Source
    table: str | None = None
    value: float | None = None
    play: RankedPlay | None = None
    points: int = 0
