"""Distributions of the number of rolls that one side needs: gnubg's one-sided databases, bgsage's, J's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.tables.base import ArrayRule, Breach, Coarser, Column
from bgfmt.tables.rolls import (
    CHANCE_WHOLE,
    DEVIATION,
    GAMMON,
    OF_ROLLS,
    PIPS_PER_ROLL,
    MeanRolls,
    NormalOneSided,
    OfRolls,
    OneSideAnswer,
    Rolls,
    Which,
    chances,
    means_of,
    moments,
    rolls_of,
    rolls_values,
)
from bgfmt.tables.rows import Array, LazyRows, Rows

MOST_ROLLS = 256
UNCORRECTED = 5  # parts of 65535 that rows of a recipe without correction may lack or have too many


@dataclass(frozen=True, eq=False)
class Race(OneSideAnswer):
    """What a one-sided table says of one side.

    stored, stored_gammon : the table's own rows, (rolls,) uint16 or float64: rolls to bear off the last chequer, and
    the first, or None where the table has no gammon data.
    """

    side: Side
    number: int
    stored: Array
    stored_gammon: Array | None

    @property
    def bearoff(self) -> Array:
        """(rolls,) chances of bearing the last chequer off in exactly i rolls, in the width of the host."""
        return chances(self.stored)

    @property
    def gammon(self) -> Array | None:
        """The same for the first chequer, or None."""
        return None if self.stored_gammon is None else chances(self.stored_gammon)

    @cached_property
    def _moments(self) -> dict[str, float]:
        """Means and standard deviations by name, in the width of the host."""
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
        """Expected rolls to bear off the first chequer."""
        return self._moments.get("gammon_mean_rolls")

    @property
    def gammon_std_rolls(self) -> float | None:
        """Standard deviation of the rolls to bear off the first chequer."""
        return self._moments.get("gammon_std_rolls")

    def off_within(self, rolls: int) -> float:
        """Chance to have borne off everything after `rolls` rolls."""
        return float(self.bearoff[: rolls + 1].sum(dtype=np.float64))

    def as_dict(self) -> dict[str, Any]:
        """The race as plain values, under the names of `bgfmt lookup --json`."""
        out = self.heading() | {"std_rolls": self.std_rolls, "bearoff": [float(x) for x in self.bearoff]}
        if self.gammon is not None:
            out |= {"gammon_mean_rolls": self.gammon_mean_rolls, "gammon_std_rolls": self.gammon_std_rolls}
            out["gammon"] = [float(x) for x in self.gammon]
        return out

    def describe(self, who: str = "") -> str:
        """Lines of text, as `bgfmt lookup` prints them; `who` names the side."""
        both = [self.bearoff] if self.gammon is None else [self.bearoff, self.gammon]
        rolls = [i for i in range(len(self.bearoff)) if any(c[i] > 0 for c in both)]
        lines = [self.title(who), "Rolls   bearing off" + ("  at least one off" if len(both) > 1 else "")]
        for i in range(min(rolls), max(rolls) + 1):
            second = f"  {100 * both[1][i]:14.3f} %" if len(both) > 1 else ""
            lines.append(f"{i:5d}   {100 * both[0][i]:9.3f} %{second}")
        printed = [moments(c) for c in both]  # in the width of the host, as bearoffdump adds them up
        for k, name in enumerate(("Mean", "Std dev")):
            second = f"    {printed[1][k]:14.3f}" if len(both) > 1 else ""
            lines.append(f"{name:<7} {printed[0][k]:9.3f}{second}")
        epc = float(printed[0][0]) * PIPS_PER_ROLL
        lines.append(f"EPC     {epc:9.3f}")
        lines.append(f"Wastage {epc - self.pips:9.3f}   (pips {self.pips})")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class OneSided(OfRolls):
    """Distributions of the number of rolls one side needs.

    bearoff : (n, 32) uint16, parts of 65535 (or float64 chances), rolls to bear off all chequers.
    gammon : the same for the first chequer (saving the gammon), or None.
    gammon_policy : "race" where the gammon part follows the race's plays, "" where it follows those that save it.
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
        if any(len(r.shape) == 2 and not 1 <= r.shape[1] <= MOST_ROLLS for r in rows):
            return f"distributions have 1 to {MOST_ROLLS} rolls, not {rows[0].shape[1]}"
        return super().check()

    def facts(self) -> dict[str, Any]:
        return {"gammon": self.gammon is not None}

    def lookup(self, asked: Side | Position) -> Race:
        number = self.number(asked)
        assert isinstance(asked, Side)
        gammon = None if self.gammon is None else np.asarray(self.gammon[number])
        return Race(asked, number, np.asarray(self.bearoff[number]), gammon)

    def lookup_many(self, us: Any, them: Any = None, *, column: str | None = None) -> Array:
        """(N, rolls) chances of many sides: column "bearoff" (the default) or "gammon"; (N,) of any of `columns`."""
        rows = self.arrays().get("bearoff" if column is None else column)
        if rows is None:
            return super().lookup_many(us, them, column=column)
        return chances(rows[self.entry_numbers(us, them)[0]])

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
        off = chances(np.asarray(self.bearoff[rows])[pick])
        mean, std = moments(off)
        parts: list[Any] = [rolls_values(self, numbers, mean), std[:, None], off]
        if self.gammon is not None:
            first = chances(np.asarray(self.gammon[rows])[pick])
            parts += [np.stack(moments(first), axis=1), first]
        return np.concatenate([np.asarray(part, np.float64) for part in parts], axis=1)

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        return np.asarray(stored if stored.dtype == np.float64 else stored / CHANCE_WHOLE, np.float64)

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        whole = 1.0 if self.exact else CHANCE_WHOLE
        for name, rows in block.items():
            off = np.abs(rows.sum(axis=1, dtype=np.float64) - whole)
            slack = UNCORRECTED if self.recipe.startswith("gnubg-heuristic") else 1e-9 * whole
            wrong = ~(off <= slack)
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
        """Mean and standard deviation, float32, of each distribution.

        Taken from the finished distributions; makebearoff's -n files follow means and deviations through the
        recursion instead, and differ from these by up to some hundredths of a roll.
        """

        def fetch(start: int, stop: int) -> Array:
            out = np.zeros((stop - start, 4), np.float32)
            for k, rows in enumerate(self.arrays().values()):
                found = moments(self.read("bearoff", np.asarray(rows[start:stop])))
                out[:, 2 * k], out[:, 2 * k + 1] = found
            return out

        return self.made_into(NormalOneSided, moments=LazyRows((self.positions, 4), "f4", fetch))

    def to_mean_rolls(self) -> MeanRolls:
        """Mean rolls, float64, of each position."""
        means = LazyRows((self.positions,), "f8", lambda a, b: means_of(self.bearoff[a:b]))
        return self.made_into(MeanRolls, means=means)


def _distribution(name: str, label: str, rolls: int) -> list[Column]:
    return [
        Column(f"{name}_{i}", "chance", f"{label if i == 0 else ''} %7.3f", percent=True, group=name)
        for i in range(rolls)
    ]
