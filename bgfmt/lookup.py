"""Stored numbers read as chances, rolls and equities, one position at a time or many at once.

Integers are read in the float width their host program uses, and sums are taken in its order, so that our
numbers print as gnubg's `bearoffdump` prints them. Tables of exact float64 numbers are read as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables import Hypergammon, MeanRolls, NormalOneSided, OneSided, Table, TwoSided

PIPS_PER_ROLL = 49 / 6
EQUITY_COLUMNS = ("cubeless", "owned", "centered", "opponent")
HYPER_EQUITIES = ("owned", "centered", "centered_jacoby", "opponent")
OUTCOMES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")
CHUNK = 1 << 15  # positions handled together, so that what is in hand stays in the processor's cache

Floats = NDArray[Any]


# -- integers as numbers ---------------------------------------------------------------------------------


def chances(rows: ArrayLike) -> Floats:
    """Stored chances as probabilities: uint16 / 65535 in float32, or float64 as it stands."""
    values = np.asarray(rows)
    return values if values.dtype == np.float64 else values.astype(np.float32) / np.float32(65535)


def equities(rows: ArrayLike) -> Floats:
    """Stored equities as gnubg's build reads them: uint16 times the float32 nearest 1/32767.5, less 1."""
    values = np.asarray(rows)
    if values.dtype == np.float64:
        return values
    out = values.astype(np.float32)
    out *= np.uint32(0x38000080).view(np.float32)
    out -= np.float32(1)
    return out


def moments(distribution: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the last axis, added roll by roll in the width of the chances."""
    width = distribution.dtype.type
    mean = np.zeros(distribution.shape[:-1], width)
    square = np.zeros_like(mean)
    for roll in range(1, distribution.shape[-1]):
        part = width(roll) * distribution[..., roll]
        mean += part
        square += width(roll) * part
    return mean, np.sqrt(np.maximum(square - mean * mean, width(0)))


# -- one answer ------------------------------------------------------------------------------------------


class OneSideAnswer:
    """What follows from the mean rolls of one side."""

    side: Side
    mean_rolls: Any  # float: a field or a property of the answer

    @property
    def pips(self) -> int:
        """Pip count."""
        return self.side.pips

    @property
    def epc(self) -> float:
        """Effective pip count: mean rolls times 49/6."""
        return float(self.mean_rolls * PIPS_PER_ROLL)

    @property
    def wastage(self) -> float:
        """EPC less pips."""
        return self.epc - self.pips


@dataclass(frozen=True, eq=False)
class Race(OneSideAnswer):
    """What a one-sided table says of one side.

    bearoff : (32,) chances of bearing the last chequer off in exactly i rolls.
    gammon : the same for the first chequer, or None where the table has no gammon data.
    """

    side: Side
    number: int
    bearoff: Floats
    gammon: Floats | None

    @property
    def mean_rolls(self) -> float:
        """Expected rolls to bear off all chequers."""
        return float(moments(self.bearoff)[0])

    @property
    def std_rolls(self) -> float:
        """Standard deviation of the rolls to bear off all chequers."""
        return float(moments(self.bearoff)[1])

    @property
    def gammon_mean_rolls(self) -> float | None:
        """Expected rolls to bear off the first chequer."""
        return None if self.gammon is None else float(moments(self.gammon)[0])

    @property
    def gammon_std_rolls(self) -> float | None:
        """Standard deviation of the rolls to bear off the first chequer."""
        return None if self.gammon is None else float(moments(self.gammon)[1])

    def off_within(self, rolls: int) -> float:
        """Chance to have borne off everything after `rolls` rolls."""
        return float(self.bearoff[: rolls + 1].sum(dtype=np.float64))

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "side": str(self.side),
            "position_number": self.number,
            "pips": self.pips,
            "mean_rolls": self.mean_rolls,
            "std_rolls": self.std_rolls,
            "epc": self.epc,
            "wastage": self.wastage,
            "bearoff": [float(x) for x in self.bearoff],
        }
        if self.gammon is not None:
            out |= {"gammon_mean_rolls": self.gammon_mean_rolls, "gammon_std_rolls": self.gammon_std_rolls}
            out["gammon"] = [float(x) for x in self.gammon]
        return out


@dataclass(frozen=True)
class Estimate(OneSideAnswer):
    """What a table of means (and perhaps deviations) says of one side; the rest is None."""

    side: Side
    number: int
    mean_rolls: float
    std_rolls: float | None = None
    gammon_mean_rolls: float | None = None
    gammon_std_rolls: float | None = None

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"side": str(self.side), "position_number": self.number, "pips": self.pips}
        for name in ("mean_rolls", "std_rolls", "epc", "wastage", "gammon_mean_rolls", "gammon_std_rolls"):
            value = getattr(self, name)
            if value is not None:
                out[name] = value
        return out


@dataclass(frozen=True)
class Equities:
    """Money equities of the side on roll, cube at 1, gammons ignored: the values of rolling without doubling."""

    position: Position
    number: int
    cubeless: float
    owned: float | None = None
    centered: float | None = None
    opponent: float | None = None

    @property
    def win(self) -> float:
        """Chance to win, from the cubeless equity."""
        return self.cubeless / 2 + 0.5

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "position": str(self.position),
            "position_number": self.number,
            "win": self.win,
        }
        return out | {c: getattr(self, c) for c in EQUITY_COLUMNS if getattr(self, c) is not None}


@dataclass(frozen=True)
class HyperOutcome:
    """What a hypergammon table says: outcomes (chances) and money equities of the side on roll."""

    position: Position
    number: int
    outcomes: dict[str, float]
    equities: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        here = {"position": str(self.position), "position_number": self.number}
        return here | {"outcomes": self.outcomes, "equities": self.equities}


Answer = Race | Estimate | Equities | HyperOutcome


def covers(table: Table, side: Side) -> str | None:
    """None when the table covers this side, else why not."""
    limit = table.points
    if side.chequers > table.chequers:
        return f"{side} has {side.chequers} chequers, the table covers {table.chequers}"
    if side.bar and not isinstance(table, Hypergammon):
        return f"{side} has a chequer on the bar, the table covers points 1 to {limit}"
    if side.highest > limit:
        return f"{side} has a chequer on point {side.highest}, the table covers points 1 to {limit}"
    return None


def number_of(table: Table, side: Side) -> int:
    """Position number of a side in this table; NotCoveredError when it lies outside."""
    reason = covers(table, side)
    if reason:
        raise NotCoveredError(reason)
    if isinstance(table, Hypergammon):
        return board.rank(
            (*side.padded(24), side.bar) if not side.bar else (*Side(*side).padded(24), side.bar)
        )
    return side.number(table.points)


def look_up(table: Table, asked: Side | Position) -> Answer:
    """What the table says of a side (one-sided kinds) or a position (two-sided kinds)."""
    if isinstance(table, (TwoSided, Hypergammon)):
        if not isinstance(asked, Position):
            raise PositionError(f"a {table.kind} table needs both sides, the one on roll first (side / side)")
        us, them = number_of(table, asked.us), number_of(table, asked.them)
        if not isinstance(table, Hypergammon) and asked.contact:
            raise NotCoveredError(f"{asked}: the sides have not passed each other")
        number = us * table.positions + them
        if isinstance(table, TwoSided):
            values = [float(x) for x in equities(table.equities[us, them])]
            return Equities(asked, number, *values)
        outcomes, money = hyper_numbers(np.asarray(table.records[us, them]))
        named = dict(zip(OUTCOMES, map(float, outcomes), strict=True))
        return HyperOutcome(asked, number, named, dict(zip(HYPER_EQUITIES, map(float, money), strict=True)))
    if not isinstance(asked, Side):
        raise PositionError(f"a {table.kind} table answers for one side at a time")
    number = number_of(table, asked)
    if isinstance(table, OneSided):
        gammon = None if table.gammon is None else chances(table.gammon[number])
        return Race(asked, number, chances(table.bearoff[number]), gammon)
    if isinstance(table, NormalOneSided):
        return Estimate(asked, number, *(float(x) for x in table.moments[number]))
    if isinstance(table, MeanRolls):
        return Estimate(asked, number, float(table.means[number]))
    raise NotCoveredError(f"a {table.kind} file holds no positions to look up")


def hyper_numbers(records: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Outcomes (..., 5) and equities (..., 4), float32, of (..., 28) hypergammon records."""
    fields = records[..., :27].reshape(*records.shape[:-1], 9, 3).astype(np.uint32)
    numbers = fields[..., 0] | fields[..., 1] << 8 | fields[..., 2] << 16
    parts = numbers.astype(np.float32) * np.uint32(0x33800001).view(np.float32)
    return parts[..., :5], (parts[..., 5:] - np.float32(0.5)) * np.float32(6)


# -- many at once ----------------------------------------------------------------------------------------


def numbers_of(table: Table, sides: Any) -> NDArray[np.int64]:
    """Position numbers of many sides: Side objects, counts of shape (N, points), or numbers of shape (N,).

    Raises NotCoveredError naming the first row that lies outside the table.
    """
    if isinstance(sides, (list, tuple)) and sides and isinstance(sides[0], Side):
        return np.array([number_of(table, side) for side in sides], np.int64)
    given = np.asarray(sides)
    if given.ndim == 1 and given.dtype.kind in "iu":
        numbers = given.astype(np.int64, copy=False)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= table.positions):
            bad = int(((numbers < 0) | (numbers >= table.positions)).argmax())
            raise NotCoveredError(
                f"row {bad}: position number {numbers[bad]} is not in 0..{table.positions - 1}"
            )
        return numbers
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise PositionError(
            f"sides need counts of shape (N, points) or numbers of shape (N,), not {given.shape}"
        )
    if given.shape[1] > table.points:
        beyond = given[:, table.points :].any(axis=1)
        if beyond.any():
            raise NotCoveredError(f"row {int(beyond.argmax())} has a chequer beyond point {table.points}")
        given = given[:, : table.points]
    elif given.shape[1] < table.points:
        given = np.pad(given, ((0, 0), (0, table.points - given.shape[1])))
    numbers = np.empty(len(given), np.int64)
    for start in range(0, len(given), CHUNK):
        numbers[start : start + CHUNK] = board.rank_array(given[start : start + CHUNK])
    if numbers.size and numbers.max() >= table.positions:
        bad = int((numbers >= table.positions).argmax())
        raise NotCoveredError(f"row {bad} has {given[bad].sum()} chequers, the table covers {table.chequers}")
    return numbers


def look_up_many(table: Table, us: Any, them: Any = None, column: str | None = None) -> Floats:
    """What the table says of many positions at once.

    Parameters
    ----------
    us, them
        Sides as `numbers_of` takes them; `them` for two-sided kinds only.
    column
        For one-sided tables "bearoff" (default) or "gammon".

    Returns
    -------
    ndarray
        two-sided: (N, 4) or (N, 1) equities; one-sided: (N, 32) chances; normal: (N, 4) moments; mean rolls:
        (N,); hypergammon: (N, 9) outcomes and equities. float32 for stored integers, float64 for exact tables.
    """
    ours = numbers_of(table, us)
    if isinstance(table, (TwoSided, Hypergammon)):
        if them is None:
            raise PositionError(f"a {table.kind} table needs both sides")
        theirs = numbers_of(table, them)
        if len(ours) != len(theirs):
            raise PositionError(f"{len(ours)} sides on roll, but {len(theirs)} others")
        if isinstance(table, Hypergammon):
            return np.concatenate(hyper_numbers(np.asarray(table.records[ours, theirs])), axis=1)
        return _equities_of(table, ours, theirs)
    if them is not None:
        raise PositionError(f"a {table.kind} table answers for one side at a time")
    if isinstance(table, OneSided):
        rows = table.arrays().get(column or "bearoff")
        if rows is None:
            raise NotCoveredError(f"the table has no {column} distributions")
        return chances(rows[ours])
    if isinstance(table, (NormalOneSided, MeanRolls)):
        return np.asarray(next(iter(table.arrays().values()))[ours])
    raise NotCoveredError(f"a {table.kind} file holds no positions to look up")


def _equities_of(table: TwoSided, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Floats:
    n, values = table.positions, table.equities.shape[2]
    stored = table.equities
    if not (isinstance(stored, np.ndarray) and stored.flags.c_contiguous and stored.dtype == np.uint16):
        return equities(np.asarray(stored[ours, theirs]))
    record = np.uint64 if values == 4 else np.uint16  # one load a record instead of one a column
    flat = stored.reshape(-1).view(record)
    out = np.empty((len(ours), values), np.float32)
    for start in range(0, len(ours), CHUNK):
        part = slice(start, start + CHUNK)
        where = ours[part] * n
        where += theirs[part]
        out[part] = equities(flat.take(where, mode="clip").view(np.uint16).reshape(-1, values))
    return out
