"""Hypergammon records: outcome probabilities and money equities of a game of one to three chequers a side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CapabilityError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach, Column, OfBothSides
from bgfmt.tables.rows import Array, Rows

__all__ = [
    "HYPER_EQUITIES",
    "MAX_CHEQUERS",
    "OUTCOMES",
    "POINTS",
    "RECORD",
    "SLACK",
    "UNITS",
    "HyperOutcome",
    "HyperSides",
    "Hypergammon",
    "hyper_numbers",
    "hyper_records",
    "hyper_values",
]


OUTCOMES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")
HYPER_EQUITIES = ("owned", "centered", "centered_jacoby", "opponent")
POINTS = 25
MAX_CHEQUERS = 3
RECORD = 28
UNITS = 16777215
SLACK = 1e-9


def hyper_numbers(records: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the nine 24-bit integers of hypergammon records: (..., 28) bytes become (..., 9) uint32."""
    fields = np.asarray(records)[..., :27].reshape(*records.shape[:-1], 9, 3).astype(np.uint32)
    return np.asarray(fields[..., 0] | fields[..., 1] << 8 | fields[..., 2] << 16)


def hyper_records(numbers: Array) -> NDArray[np.uint8]:
    """Return hypergammon records from their nine 24-bit integers: (..., 9) become (..., 28) uint8."""
    records = np.zeros((*numbers.shape[:-1], RECORD), np.uint8)
    for k in range(3):
        records[..., k : RECORD - 1 : 3] = numbers >> 8 * k & 255
    return records


def hyper_values(records: NDArray[np.uint8]) -> tuple[Array, Array]:
    """Decode (..., 28) hypergammon records into outcome probabilities (..., 5) and equities (..., 4), float32.

    Win, win gammon, win backgammon, lose gammon, lose backgammon; equities owned, centered, centered with Jacoby's
    rule, opponent.
    """
    parts = hyper_numbers(records).astype(np.float32) * np.uint32(0x33800001).view(np.float32)
    return parts[..., :5], (parts[..., 5:] - np.float32(0.5)) * np.float32(6)


@dataclass(frozen=True)
class HyperOutcome:
    """The entry of a hypergammon table: outcome probabilities and money equities of the side on roll."""

    position: Position
    number: int
    outcomes: dict[str, float]
    equities: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, under the names of `bgfmt lookup --json`."""
        here = {"position": str(self.position), "position_number": self.number}
        return here | {"outcomes": self.outcomes, "equities": self.equities}

    def describe(self, who: str = "") -> str:
        """Return lines of text, as `bgfmt lookup` prints them; `who` names the player in the first line."""
        lines = [f"{self.position}  (number {self.number}{', ' + who if who else ''})"]
        lines += [f"{name.replace('_', ' '):<30}: {value:7.4f}" for name, value in self.outcomes.items()]
        for name, value in self.equities.items():
            lines.append(f"{'equity ' + name.replace('_', ' '):<30}: {value:+7.4f}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class HyperSides(OfBothSides):
    """Base class of hypergammon tables: up to three chequers a side on 24 points and the bar, in contact or not."""

    money: ClassVar[tuple[str, ...]]  # names of the equities, in order, behind the five chances
    printed: ClassVar[tuple[str, str]]  # chances and equities

    def check(self) -> str | None:
        if self.points != POINTS or not 1 <= self.chequers <= MAX_CHEQUERS:
            wanted = f"{POINTS} points and 1 to {MAX_CHEQUERS} chequers"
            return f"hypergammon must have {wanted}, not {self.points} and {self.chequers}"
        return super().check()

    def covers_side(self, side: Side) -> str | None:
        if side.chequers > self.chequers:
            return f"{side} has {side.chequers} chequers, the table covers {self.chequers}"
        return None

    def lookup(self, asked: Side | Position) -> HyperOutcome:
        number = self.number(asked)
        assert isinstance(asked, Position)
        row = [float(x) for x in self.decode(self._first[divmod(number, self.positions)])]
        values = dict(zip((*OUTCOMES, *self.money), row, strict=True))
        chances = {name: values.pop(name) for name in OUTCOMES}
        return HyperOutcome(asked, number, chances, values)

    @property
    def columns(self) -> tuple[Column, ...]:
        chance, money = self.printed
        outcomes = {name: "  " * (name == "win") + f" {chance}" for name in OUTCOMES}
        return (
            *(Column(name, "chance", text, group="outcomes", key=name) for name, text in outcomes.items()),
            *(Column(f"equity_{m}", "equity", f" {money}", group="equities", key=m) for m in self.money),
        )

    @property
    def cost(self) -> float:
        return {1: 1.0, 2: 9.0}.get(self.chequers, 260.0)

    def _corner(self, p: int, c: int) -> Self:
        raise CapabilityError(f"a {self.kind} table cannot be reduced: fewer chequers are another game")


@dataclass(frozen=True, eq=False, kw_only=True)
class Hypergammon(HyperSides):
    """Hypergammon records: (n, n, 28) uint8, nine 24-bit numbers and a zero byte, indexed [us, them].

    Points are 25: the 24 points and the bar. Numbers: win, win gammon, win backgammon, lose gammon, lose
    backgammon (parts of 16777215), then equities owned, centered, centered with Jacoby, opponent.
    """

    kind: ClassVar[str] = "hypergammon"
    unit: ClassVar[str] = "units"
    money: ClassVar[tuple[str, ...]] = HYPER_EQUITIES
    printed: ClassVar[tuple[str, str]] = ("%7.4f", "%+7.4f")
    records: Rows

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        n = board.count(points, chequers)
        return (ArrayRule("records", ((n, n, RECORD),), ("u1",)),)

    def decode(self, stored: Array) -> Array:
        return np.concatenate(hyper_values(np.asarray(stored)), axis=-1)

    def unpack(self, name: str, rows: Array) -> Array:
        return hyper_numbers(rows)

    @property
    def cost(self) -> float:
        return {1: 1.0, 2: 4.0}.get(self.chequers, 700.0)  # of the iteration run again

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        bad = block["records"][..., RECORD - 1].any(axis=1)
        yield Breach("zero byte", np.asarray(bad), "the last byte of a record is not zero")
