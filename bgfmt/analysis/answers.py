"""What the adviser answers: frozen, typed, each with where it came from and how far its numbers may err.

Equities are points for a cube at 1, seen by the side on roll (of plays: by the side that plays). Chances run from 0
to 1, rolls are rolls, EPC, wastage and pips are pips. None is "not known", never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import Move
from bgfmt.tables.scales import PIPS_PER_ROLL

#: what answered: a kind of table, a calculation on demand, the only legal play, the rule or engine outside the tables
Source = Literal["two-sided", "one-sided", "match-score", "calculation", "forced", "rule", "engine"]
Gammons = Literal["none", "counted", "ignored"]
Floats = NDArray[np.float64]
COLUMNS = ("cubeless", "owned", "centered", "opponent")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What all answers share.

    source : the kind of table, or other thing, that answered; table : its name, None for a calculation.
    max_error : greatest error of the numbers by name, None where none is known (approximate answers).
    """

    source: Source
    table: str | None = None
    max_error: Mapping[str, float] | None = None

    @property
    def approximate(self) -> bool:
        """Whether the numbers come from a formula that is not exact, so that no bound of their error is known."""
        return self.max_error is None

    def origin(self) -> dict[str, Any]:
        """Where the answer comes from, for `as_dict`."""
        error = None if self.max_error is None else dict(self.max_error)
        return {
            "source": self.source,
            "table": self.table,
            "approximate": self.approximate,
            "max_error": error,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class SideRace(Answer):
    """One side's race, from a one-sided table.

    number : its position number in that table. mean_rolls, std_rolls : of the rolls to bear off all;
    gammon_mean_rolls, gammon_std_rolls : to bear off the first. bearoff, gammon : (rolls,) float64, chances to bear
    off the last, the first chequer in exactly i rolls; None where only means are known.
    """

    side: Side
    number: int
    mean_rolls: float
    std_rolls: float | None = None
    gammon_mean_rolls: float | None = None
    gammon_std_rolls: float | None = None
    bearoff: Floats | None = None
    gammon: Floats | None = None

    @property
    def pips(self) -> int:
        """Pip count."""
        return self.side.pips

    @property
    def epc(self) -> float:
        """Effective pip count: mean rolls times 49/6."""
        return self.mean_rolls * PIPS_PER_ROLL

    @property
    def wastage(self) -> float:
        """EPC less pips."""
        return self.epc - self.pips

    def off_within(self, rolls: int) -> float:
        """Chance to be off after `rolls` rolls; NotCoveredError where only means are known."""
        return _within(self.bearoff, rolls)

    def gammon_saved_within(self, rolls: int) -> float:
        """Chance to have borne the first chequer off after `rolls` rolls; NotCoveredError where it is not known."""
        return _within(self.gammon, rolls)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values; what the table does not say is left out."""
        out: dict[str, Any] = {"side": str(self.side), "position_number": self.number}
        names = "pips mean_rolls std_rolls epc wastage gammon_mean_rolls gammon_std_rolls"
        out |= {name: getattr(self, name) for name in names.split() if getattr(self, name) is not None}
        for name, row in (("bearoff", self.bearoff), ("gammon", self.gammon)):
            if row is not None:
                out[name] = row.tolist()
                out[{"bearoff": "off_within", "gammon": "gammon_saved_within"}[name]] = within(row).tolist()
        return out | self.origin()


def within(chances: Floats) -> Floats:
    """Chances to be done within 0, 1, 2, ... rolls, never above 1."""
    out: Floats = np.minimum(np.cumsum(chances, axis=-1), 1.0)
    return out


def _within(chances: Floats | None, rolls: int) -> float:
    if chances is None:
        raise NotCoveredError("the table has no such distribution")
    return min(float(chances[: rolls + 1].sum()), 1.0)


@dataclass(frozen=True, kw_only=True)
class PositionEquities(Answer):
    """Chances and money equities of the side on roll: the values of rolling without doubling, cube at 1.

    owned, centered, opponent : where the cube lies. win, win_gammon, lose_gammon are None where not known.
    gammons : whether gammons are impossible ("none"), "counted" or, though possible, "ignored".
    """

    position: Position
    win: float | None
    win_gammon: float | None
    lose_gammon: float | None
    cubeless: float
    owned: float
    centered: float
    opponent: float
    gammons: Gammons = "none"

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        names = ("position", "win", "win_gammon", "lose_gammon", *COLUMNS, "gammons")
        return (
            {name: getattr(self, name) for name in names} | {"position": str(self.position)} | self.origin()
        )


@dataclass(frozen=True)
class RankedPlay:
    """One play of a roll.

    notation : standard notation, such as "6/off 6/5".
    result : the position after it, seen by the side that played (a Side where one side was asked about).
    value : by the measure asked; equities are the mover's. None where only a rule ranks the plays.
    loss : what it gives up against the best play, 0 for the best, never negative; None as `value`.
    close : whether the loss is no more than the table's rounding can make of two equal plays.
    mwc, loss_mwc : by measure "match", the chance to win the match after it, and what of that it gives up.
    """

    notation: str
    result: Position | Side
    value: float | None
    loss: float | None
    moves: tuple[Move, ...] = ()
    measure: str = "money"
    approximate: bool = False
    close: bool = False
    mwc: float | None = None
    loss_mwc: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The play as plain values."""
        out: dict[str, Any] = {
            "play": self.notation,
            "result": str(self.result),
            "value": self.value,
            "loss": self.loss,
            "close": self.close,
        }
        if self.mwc is not None:
            out |= {"mwc": self.mwc, "loss_mwc": self.loss_mwc, "loss_emg": self.loss}
        return out


@dataclass(frozen=True, kw_only=True)
class RankedPlays(Answer):
    """All different results of a roll, best first; empty where no chequer can move.

    cube : where it lies, for the measures that look at it. met, met_digest : the match equity table, in a match.
    """

    asked: Position | Side
    dice: tuple[int, int]
    measure: str
    cube: str | None = None
    plays: tuple[RankedPlay, ...] = field(default=())
    met: str | None = None
    met_digest: str | None = None

    @property
    def best(self) -> RankedPlay | None:
        """The best play, None where no chequer can move."""
        return self.plays[0] if self.plays else None

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        out: dict[str, Any] = {
            "position": str(self.asked),
            "measure": self.measure,
            "roll": f"{self.dice[0]}{self.dice[1]}",
            "plays": [play.as_dict() for play in self.plays],
        }
        if self.cube:
            out["cube"] = self.cube
        if self.met:
            out["met"] = {"name": self.met, "digest": self.met_digest}
        return out | self.origin()


@dataclass(frozen=True, kw_only=True)
class Resignation(Answer):
    """Whether to resign, or to accept a resignation.

    offer : points that the player on roll should resign, 0 to play on.
    accept : whether the other side should accept what the player on roll has offered, None if nothing is.
    worth : equity of playing on for the one who decides, None where not known.
    """

    position: Position
    offer: int = 0
    accept: bool | None = None
    worth: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        out: dict[str, Any] = {"position": str(self.position), "offer": self.offer, "accept": self.accept}
        return out | {"worth": self.worth} | self.origin()


@dataclass(frozen=True)
class Decision:
    """What to do, as the engine protocols need it.

    act : "play", "roll", "double", "take", "pass", "beaver", "resign", "accept" or "reject".
    play : the play chosen, for "play" (None where no chequer can move). points : resigned, for "resign".
    value : equity of the choice to the player asked, where one is known.
    """

    act: str
    source: Source
    table: str | None = None
    value: float | None = None
    play: RankedPlay | None = None
    points: int = 0
