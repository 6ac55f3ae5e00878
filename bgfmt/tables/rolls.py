"""Rolls needed to bear off, EPC and wastage; tables of their means, deviations and distributions.

Distributions are gnubg's one-sided databases, bgsage's, J's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import bounds
from bgfmt.tables.base import ArrayRule, Breach, Coarser, Column, OfOneSide
from bgfmt.tables.rows import Array, LazyRows, Rows

__all__ = [
    "CHANCE_WHOLE",
    "DEVIATION",
    "GAMMON",
    "MAX_ROLLS",
    "OF_ROLLS",
    "PIPS_PER_ROLL",
    "Estimate",
    "MeanRolls",
    "NormalOneSided",
    "OfMeans",
    "OfRolls",
    "OneSideAnswer",
    "OneSided",
    "Race",
    "Rolls",
    "Which",
    "means_of",
    "moments",
    "rolls_of",
    "rolls_values",
    "to_probabilities",
]


Which = int | NDArray[np.int64]
PIPS_PER_ROLL = 49 / 6
"""Pips of an average roll; an effective pip count (EPC) is mean rolls times this."""
CHANCE_WHOLE = 65535
MAX_ROLLS = 256


def to_probabilities(rows: Any) -> Array:
    """Convert stored probabilities to floats: uint16 / 65535 in float32; float64 is returned unchanged."""
    values = np.asarray(rows)
    return values if values.dtype == np.float64 else values.astype(np.float32) / np.float32(CHANCE_WHOLE)


def moments(distribution: Array) -> tuple[Array, Array]:
    """Compute means and standard deviations of distributions along the last axis, in the float type of the input.

    distribution : (..., rolls) probabilities of needing exactly i rolls. Terms are added in order of i, as gnubg and
    other programs do, so that rounding is the same.
    """
    width = distribution.dtype.type
    mean = np.zeros(distribution.shape[:-1], width)
    square = np.zeros_like(mean)
    for roll in range(1, distribution.shape[-1]):
        part = width(roll) * distribution[..., roll]
        mean += part
        square += width(roll) * part
    return mean, np.sqrt(np.maximum(square - mean * mean, width(0)))


def means_of(distributions: Array) -> NDArray[np.float64]:
    """Return the mean rolls, (n,) float64, of stored distributions (n, rolls).

    Integers are 65535ths: their weighted sum is exact and divided by 65535 once. Float64 rows are probabilities.
    """
    if distributions.dtype == np.float64:
        return moments(distributions)[0]
    return np.asarray((distributions.astype(np.int64) @ np.arange(distributions.shape[1])) / CHANCE_WHOLE)


class Rolls(NamedTuple):
    """Number of rolls that sides need: mean and deviation (...,), and probabilities (..., rolls) of exactly i rolls.

    None for what a table does not hold.
    """

    mean: Array
    deviation: Array | None = None
    chances: Array | None = None


class OfRolls(OfOneSide):
    """Base class of tables of the number of rolls that one side needs."""

    @abstractmethod
    def rolls(self, which: Which) -> Rolls:
        """Return the mean number of rolls to bear off the last chequer, with deviation and distribution if known.

        which : one position number or an array of them.
        """

    def first_rolls(self, which: Which) -> Rolls | None:
        """Return the same as `rolls` for the first chequer (to save the gammon); None if the table has no such data.

        which : one position number or an array of them.
        """
        return None

    @abstractmethod
    def to_mean_rolls(self) -> MeanRolls:
        """Convert to a table of the mean number of rolls of each position, float64."""

    @property
    def rolls_error(self) -> float:
        """Maximum error of the mean rolls, in rolls, from the rounding of a file's integers; 1e-12 if unrounded."""
        return 1e-12 if self.exact else bounds.mean_error(self.points)

    def errors(self) -> dict[str, float]:
        return {"mean_rolls": self.rolls_error}


def rolls_of(rows: Array) -> Rolls:
    """Return mean, standard deviation and probabilities, in float64, of stored distributions (..., rolls).

    Integers are 65535ths: their weighted sums are exact and divided once.
    """
    scale = 1.0 if rows.dtype == np.float64 else float(CHANCE_WHOLE)
    rolls = np.arange(rows.shape[-1], dtype=np.float64)
    chances = rows.astype(np.float64) / scale
    mean = rows @ rolls / scale
    square = rows @ (rolls * rolls) / scale
    return Rolls(mean, np.sqrt(np.maximum(square - mean * mean, 0.0)), chances)


class OneSideAnswer:
    """Base class of answers about one side: pip count, EPC and wastage from its mean rolls."""

    side: Side
    number: int
    mean_rolls: Any  # float: a field or a property of the answer

    @property
    def pips(self) -> int:
        """Pip count."""
        return self.side.pips

    @property
    def epc(self) -> float:
        """Effective pip count (EPC): mean rolls times 49/6."""
        return float(self.mean_rolls * PIPS_PER_ROLL)

    @property
    def wastage(self) -> float:
        """EPC minus pip count.

        In pips.
        """
        return self.epc - self.pips

    def title(self, who: str) -> str:
        """Return the first line of the text about a side: its counts and position number; `who` names the player."""
        return f"{self.side}  (number {self.number}{', ' + who if who else ''})"

    def heading(self) -> dict[str, Any]:
        """Return the fields that every answer about one side begins with, as plain values by name.

        They are side, position_number, pips, mean_rolls, epc and wastage.
        """
        rolls = {name: getattr(self, name) for name in ("pips", "mean_rolls", "epc", "wastage")}
        return {"side": str(self.side), "position_number": self.number} | rolls


@dataclass(frozen=True)
class Estimate(OneSideAnswer):
    """The entry of a table of means (and perhaps deviations) for one side; unknown fields are None."""

    side: Side
    number: int
    mean_rolls: float
    std_rolls: float | None = None
    gammon_mean_rolls: float | None = None
    gammon_std_rolls: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values, under the names of `bgfmt lookup --json`."""
        more = {name: getattr(self, name) for name in ("std_rolls", "gammon_mean_rolls", "gammon_std_rolls")}
        return self.heading() | {name: value for name, value in more.items() if value is not None}

    def describe(self, who: str = "") -> str:
        """Return lines of text, as `bgfmt lookup` prints them; `who` names the player in the first line."""
        lines = [self.title(who), f"{'Mean':<10}{self.mean_rolls:10.6g}"]
        if self.std_rolls is not None:
            lines.append(f"{'Std dev':<10}{self.std_rolls:10.3f}")
        if self.gammon_mean_rolls is not None:
            deviation = f"(std dev {self.gammon_std_rolls:.3f})"
            lines.append(f"{'Saving gammon':<14}{self.gammon_mean_rolls:7.3f} {deviation}")
        lines += [f"{'EPC':<10}{self.epc:10.3f}", f"{'Wastage':<10}{self.wastage:10.3f}"]
        return "\n".join(lines) + "\n"


#: what every table about rolls gives
OF_ROLLS = (
    Column("pips", "pips", "  pips %3d", whole=True),
    Column("mean_rolls", "rolls", "  mean %7.3f"),
    Column("epc", "pips", "  EPC %7.3f"),
    Column("wastage", "pips", "  wastage %7.3f"),
)
DEVIATION = Column("std_rolls", "rolls", "  sd %7.3f")
GAMMON = (
    Column("gammon_mean_rolls", "rolls", "  gammon mean %7.3f"),
    Column("gammon_std_rolls", "rolls", " sd %7.3f"),
)


def rolls_values(table: OfOneSide, numbers: NDArray[np.int64], mean: Array) -> NDArray[np.float64]:
    """Compute pips, mean rolls, EPC and wastage of sides, float64 of shape (m, 4).

    table : gives the number of points. numbers : position numbers. mean : their mean rolls.
    """
    counts = board.unrank_array(numbers, table.points)
    pips = counts.astype(np.int64) @ np.arange(1, table.points + 1)
    epc = np.asarray(mean, np.float64) * PIPS_PER_ROLL
    return np.stack([pips, mean, epc, epc - pips], axis=1).astype(np.float64)


class OfMeans(OfRolls):
    """Base class of tables of means, and perhaps of deviations."""

    unit: ClassVar[str] = "rolls"

    def lookup(self, asked: Side | Position) -> Estimate:
        number = self.number(asked)
        assert isinstance(asked, Side)
        return Estimate(asked, number, *map(float, np.atleast_1d(self._first[number])))


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRolls(OfMeans):
    """Expected rolls to bear off if every play minimises that mean, as in Peelle's table.

    means : (n,) float64, in order of position number.
    """

    kind: ClassVar[str] = "mean-rolls"
    names = ("mean_rolls",)
    columns = OF_ROLLS
    means: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("means", ((board.count(points, chequers),),), ("f8",)),)

    def rolls(self, which: Which) -> Rolls:
        return Rolls(np.asarray(self.means[which]))

    def to_mean_rolls(self) -> MeanRolls:
        return self

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return rolls_values(self, numbers, np.asarray(self.means[numbers]))

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        means = block["means"]
        good = np.isfinite(means) & (means >= 0)
        yield Breach("finite", ~good, "a mean is negative or not a number")


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalOneSided(OfMeans):
    """The tables of makebearoff -n: (n, 4) float32.

    Mean and standard deviation of the rolls to bear off all chequers, then of those to bear off the first one.
    """

    kind: ClassVar[str] = "normal-distribution"
    names = ("mean_rolls", "std_rolls", "gammon_mean_rolls", "gammon_std_rolls")
    columns = (*OF_ROLLS, DEVIATION, *GAMMON)
    moments: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return (ArrayRule("moments", ((board.count(points, chequers), 4),), ("f4",)),)

    @property
    def rolls_error(self) -> float:
        return bounds.mean_error(self.points, normal=True)

    def rolls(self, which: Which) -> Rolls:
        rows = np.asarray(self.moments[which])
        return Rolls(rows[..., 0], rows[..., 1])

    def first_rolls(self, which: Which) -> Rolls:
        rows = np.asarray(self.moments[which])
        return Rolls(rows[..., 2], rows[..., 3])

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = np.asarray(self.moments[numbers], np.float64)
        return np.concatenate([rolls_values(self, numbers, rows[:, 0]), rows[:, 1:]], axis=1)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        moments = block["moments"]
        good = np.isfinite(moments).all(axis=1) & (moments >= 0).all(axis=1)
        yield Breach("finite", np.asarray(~good), "a mean or deviation is negative or not a number")

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "only the mean rolls are stored, not the deviations or gammons"
        return (Coarser(MeanRolls, self.to_mean_rolls, lost),)

    def to_mean_rolls(self) -> MeanRolls:
        """Convert to a table of the mean number of rolls of each position, float64."""
        means = LazyRows((self.positions,), "f8", lambda a, b: np.asarray(self.moments[a:b, 0], np.float64))
        return self.as_kind(MeanRolls, means=means)


# -- distributions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Race(OneSideAnswer):
    """The entry of a one-sided table for one side.

    stored, stored_gammon : the table's own rows, (rolls,) uint16 or float64: rolls to bear off the last
    chequer, and the first, or None if the table has no gammon data.
    """

    side: Side
    number: int
    stored: Array
    stored_gammon: Array | None

    @property
    def bearoff(self) -> Array:
        """Probabilities (rolls,) of bearing the last chequer off in exactly 0, 1, 2, ... rolls.

        Float32 for a file's integers, as gnubg computes them; float64 for an unrounded table.
        """
        return to_probabilities(self.stored)

    @property
    def gammon(self) -> Array | None:
        """Probabilities (rolls,) of bearing the first chequer off in exactly 0, 1, 2, ... rolls.

        None if the table has no gammon data.
        """
        return None if self.stored_gammon is None else to_probabilities(self.stored_gammon)

    @cached_property
    def _moments(self) -> dict[str, float]:
        """Means and standard deviations by name, in the host program's float width."""
        out: dict[str, float] = {}
        for prefix, row in zip(("", "gammon_"), (self.bearoff, self.gammon), strict=True):
            if row is not None:
                mean, deviation = moments(row)
                out |= {f"{prefix}mean_rolls": float(mean), f"{prefix}std_rolls": float(deviation)}
        return out

    @property
    def mean_rolls(self) -> float:
        """Expected rolls to bear off all chequers."""
        return self._moments["mean_rolls"]

    @property
    def std_rolls(self) -> float:
        """Standard deviation of the rolls to bear off all chequers."""
        return self._moments["std_rolls"]

    @property
    def gammon_mean_rolls(self) -> float | None:
        """Expected rolls to bear off the first chequer; None if the table has no gammon data."""
        return self._moments.get("gammon_mean_rolls")

    @property
    def gammon_std_rolls(self) -> float | None:
        """Standard deviation of the rolls to bear off the first chequer; None if the table has no gammon data."""
        return self._moments.get("gammon_std_rolls")

    def off_within(self, rolls: int) -> float:
        """Return the probability of having borne off all chequers after at most `rolls` rolls."""
        return float(self.bearoff[: rolls + 1].sum(dtype=np.float64))

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as plain values, under the names of `bgfmt lookup --json`."""
        out = self.heading() | {"std_rolls": self.std_rolls, "bearoff": [float(x) for x in self.bearoff]}
        if self.gammon is not None:
            out |= {"gammon_mean_rolls": self.gammon_mean_rolls, "gammon_std_rolls": self.gammon_std_rolls}
            out["gammon"] = [float(x) for x in self.gammon]
        return out

    def describe(self, who: str = "") -> str:
        """Return lines of text, as `bgfmt lookup` prints them; `who` names the player in the first line."""
        both = [self.bearoff] if self.gammon is None else [self.bearoff, self.gammon]
        rolls = [i for i in range(len(self.bearoff)) if any(c[i] > 0 for c in both)]
        lines = [self.title(who), "Rolls   bearing off" + ("  at least one off" if len(both) > 1 else "")]
        for i in range(min(rolls), max(rolls) + 1):
            second = f"  {100 * both[1][i]:14.3f} %" if len(both) > 1 else ""
            lines.append(f"{i:5d}   {100 * both[0][i]:9.3f} %{second}")
        means = ("Mean", self.mean_rolls, self.gammon_mean_rolls)
        deviations = ("Std dev", self.std_rolls, self.gammon_std_rolls)
        for name, last, first in (means, deviations):
            second = "" if first is None else f"    {first:14.3f}"
            lines.append(f"{name:<7} {last:9.3f}{second}")
        lines.append(f"EPC     {self.epc:9.3f}")
        lines.append(f"Wastage {self.wastage:9.3f}   (pips {self.pips})")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class OneSided(OfRolls):
    """Distributions of the number of rolls that one side needs.

    bearoff : (n, 32) uint16, parts of 65535 (or float64 probabilities), rolls to bear off all chequers.

    gammon : the same for the first chequer (saving the gammon), or None.

    gammon_policy : "race" if the gammon part follows the plays that are best for the race, "" if those that
    save the gammon.
    """

    kind: ClassVar[str] = "one-sided"
    unit: ClassVar[str] = "chance"
    bearoff: Rows
    gammon: Rows | None = None
    gammon_policy: str = ""

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        shapes = ((board.count(points, chequers), None),)
        return (
            ArrayRule("bearoff", shapes, ("u2", "f8")),
            ArrayRule("gammon", shapes, ("u2", "f8"), optional=True),
        )

    def check(self) -> str | None:
        rows = [r for r in (self.bearoff, self.gammon) if r is not None]
        if any(len(r.shape) == 2 and not 1 <= r.shape[1] <= MAX_ROLLS for r in rows):
            return f"distributions must have 1 to {MAX_ROLLS} rolls, not {rows[0].shape[1]}"
        return super().check()

    def facts(self) -> dict[str, Any]:
        return {"gammon": self.gammon is not None}

    def lookup(self, asked: Side | Position) -> Race:
        number = self.number(asked)
        assert isinstance(asked, Side)
        gammon = None if self.gammon is None else np.asarray(self.gammon[number])
        return Race(asked, number, np.asarray(self.bearoff[number]), gammon)

    def lookup_many(self, us: Any, them: Any = None, *, column: str | None = None) -> Array:
        """Look up the distributions of many sides: (N, rolls) probabilities of exactly 0, 1, 2, ... rolls.

        us : sides as `numbers` takes them; `them` must be None. column : "bearoff" (the default) or "gammon"; or any
        of `columns`, which returns (N,).
        """
        rows = self.arrays().get("bearoff" if column is None else column)
        if rows is None:
            return super().lookup_many(us, them, column=column)
        return to_probabilities(rows[self.entry_numbers(us, them)[0]])

    def rolls(self, which: Which) -> Rolls:
        return rolls_of(np.asarray(self.bearoff[which]))

    def first_rolls(self, which: Which) -> Rolls | None:
        return None if self.gammon is None else rolls_of(np.asarray(self.gammon[which]))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.arrays())

    def answers(self, column: str | None = None) -> list[str]:
        rows = self.arrays().get("bearoff" if column is None else column)
        return super().answers(column) if rows is None else [str(k) for k in range(rows.shape[1])]

    @property
    def columns(self) -> tuple[Column, ...]:
        out = [*OF_ROLLS, DEVIATION, *_distribution("bearoff", "  off", self.bearoff.shape[1])]
        if self.gammon is not None:
            out += [*GAMMON, *_distribution("gammon", "  first off", self.gammon.shape[1])]
        return tuple(out)

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        rows = slice(int(numbers[0]), int(numbers[-1]) + 1)
        pick = numbers - numbers[0]
        off = to_probabilities(np.asarray(self.bearoff[rows])[pick])
        mean, std = moments(off)
        parts: list[Any] = [rolls_values(self, numbers, mean), std[:, None], off]
        if self.gammon is not None:
            first = to_probabilities(np.asarray(self.gammon[rows])[pick])
            parts += [np.stack(moments(first), axis=1), first]
        return np.concatenate([np.asarray(part, np.float64) for part in parts], axis=1)

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else stored / CHANCE_WHOLE, np.float64)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        whole = 1.0 if self.exact else CHANCE_WHOLE
        for name, rows in block.items():
            off = np.abs(rows.sum(axis=1, dtype=np.float64) - whole)
            wrong = ~(off <= 1e-9 * whole)
            yield Breach(f"sum of {name}", wrong, f"its {name} numbers do not add up to {whole:,}")
            if rows.dtype == np.float64:
                bad = np.asarray(~((rows >= 0) & (rows <= 1)).all(axis=1))
                yield Breach(f"bounds of {name}", bad, f"a {name} number is no chance")
        early = np.asarray(block["bearoff"][:, 0] != 0)
        if start == 0:
            early[0] = False
        yield Breach("off at once", early, "chequers on the board cannot be off after 0 rolls")

    def coarser(self) -> tuple[Coarser, ...]:
        lost = "the distributions are replaced by their means and standard deviations"
        return (
            Coarser(NormalOneSided, self.to_normal, lost),
            Coarser(MeanRolls, self.to_mean_rolls, "only the mean rolls of each distribution are kept"),
        )

    def to_normal(self) -> NormalOneSided:
        """Convert to a table of the mean and standard deviation, float32, of each distribution.

        Computed from the finished distributions; makebearoff's -n files carry means and deviations through the
        recursion instead, and differ from these by up to some hundredths of a roll.
        """

        def fetch(start: int, stop: int) -> Array:
            out = np.zeros((stop - start, 4), np.float32)
            for k, rows in enumerate(self.arrays().values()):
                found = moments(self.read("bearoff", np.asarray(rows[start:stop])))
                out[:, 2 * k], out[:, 2 * k + 1] = found
            return out

        return self.as_kind(NormalOneSided, moments=LazyRows((self.positions, 4), "f4", fetch))

    def to_mean_rolls(self) -> MeanRolls:
        """Convert to a table of the mean number of rolls of each position, float64."""
        means = LazyRows((self.positions,), "f8", lambda a, b: means_of(self.bearoff[a:b]))
        return self.as_kind(MeanRolls, means=means)


def _distribution(name: str, label: str, rolls: int) -> list[Column]:
    return [
        Column(f"{name}_{i}", "chance", f"{label if i == 0 else ''} %7.3f", percent=True, group=name)
        for i in range(rolls)
    ]
