"""The tables that flow through bgfmt: stored numbers, exactly as a file holds them.

A table keeps a file's own integers or floats; reading them as chances or equities is `bgfmt.lookup`'s business.
Its arrays may be an ndarray, a view of a mapped file or a `LazyRows` that makes blocks of rows on demand. All
promise the same: `shape`, `dtype`, `len`, indexing by number or slice along the first axis, `np.asarray`.
`blocks()` is the one way to walk a table of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bgfmt.game import board

Array = NDArray[Any]
BLOCK_BYTES = 8 << 20


class Rows(Protocol):
    """What every array of a table promises: rows along the first axis."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __array__(self) -> Any: ...


class LazyRows:
    """Rows made on demand: `fetch(start, stop)` returns rows start..stop-1 as an ndarray.

    `pick(numbers)`, where given, returns the rows of an int64 array of numbers; without it they are fetched in
    the ranges they span.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any] | str,
        fetch: Callable[[int, int], Array],
        pick: Callable[[NDArray[np.int64]], Array] | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._fetch = fetch
        self._pick = pick

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<LazyRows {self.shape} {self.dtype}>"

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple):
            first, rest = key[0], key[1:]
            rows = self[first]
            return rows[rest] if isinstance(first, (int, np.integer)) else rows[(slice(None), *rest)]
        if isinstance(key, (int, np.integer)):
            number = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= number < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return self._fetch(number, number + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step > 0:
                return self._fetch(start, max(start, stop))[::step]
        numbers = np.arange(len(self))[key]
        flat = numbers.reshape(-1)
        if self._pick is not None:
            rows = self._pick(flat)
        else:
            rows = np.empty((len(flat), *self.shape[1:]), self.dtype)
            for i, number in enumerate(flat):
                rows[i] = self._fetch(int(number), int(number) + 1)[0]
        return rows.reshape(numbers.shape + self.shape[1:])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self._fetch(0, len(self)), dtype)


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """What all tables share.

    `provenance` says in words where the numbers come from; `extra` carries what a file said beyond its numbers
    (header filler, layout, gammon policy), so that a copy can repeat it; `release` lets mapped pages go.
    """

    kind: ClassVar[str]
    points: int
    chequers: int
    provenance: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    release: Callable[[], None] | None = field(default=None, repr=False)

    def arrays(self) -> dict[str, Rows]:
        """The arrays by name, one row a position of the side on roll."""
        raise NotImplementedError

    @property
    def positions(self) -> int:
        """Number of one-sided positions, C(points + chequers, points)."""
        return board.count(self.points, self.chequers)

    @property
    def exact(self) -> bool:
        """Whether the numbers are floats kept unrounded rather than a file's integers."""
        return all(rows.dtype == np.float64 for rows in self.arrays().values())

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Walk the table in blocks of about `size` bytes: (rows, arrays by name), in order of position number.

        Pages of a mapped file are let go after each block, so memory stays bounded whatever the size. A block
        is valid until the next one is asked for.
        """
        arrays = self.arrays()
        if not arrays:
            return
        row = sum(int(np.prod(a.shape[1:], dtype=np.int64)) * a.dtype.itemsize for a in arrays.values())
        step = max(1, size // max(1, row))
        total = len(next(iter(arrays.values())))
        for start in range(0, total, step):
            rows = slice(start, min(total, start + step))
            yield rows, {name: array[rows] for name, array in arrays.items()}
            if self.release is not None:
                self.release()


@dataclass(frozen=True, eq=False, kw_only=True)
class OneSided(Table):
    """Distributions of the number of rolls one side needs.

    bearoff : (n, 32) uint16, parts of 65535 (or float64 probabilities), rolls to bear off all chequers.
    gammon : the same for the first chequer (saving the gammon), or None.
    """

    kind: ClassVar[str] = "one-sided"
    bearoff: Rows
    gammon: Rows | None = None

    def arrays(self) -> dict[str, Rows]:
        return (
            {"bearoff": self.bearoff}
            if self.gammon is None
            else {"bearoff": self.bearoff, "gammon": self.gammon}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalOneSided(Table):
    """Normal approximations: (n, 4) float32, mean and standard deviation of rolls to bear off all, and the first."""

    kind: ClassVar[str] = "normal-distribution"
    moments: Rows

    def arrays(self) -> dict[str, Rows]:
        return {"moments": self.moments}


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRolls(Table):
    """Expected rolls under least-mean play: (n,) float64 in order of position number (Peelle's table)."""

    kind: ClassVar[str] = "mean-rolls"
    means: Rows

    def arrays(self) -> dict[str, Rows]:
        return {"means": self.means}


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoSided(Table):
    """Equities of the side on roll: (n, n, 4) or, cubeless, (n, n, 1), indexed [us, them].

    uint16, equity = value / 32767.5 - 1 (or float64 equities). Columns: cubeless, owned, centered, opponent.
    """

    kind: ClassVar[str] = "two-sided"
    equities: Rows

    def arrays(self) -> dict[str, Rows]:
        return {"equities": self.equities}

    @property
    def cubeful(self) -> bool:
        """Whether all four columns are there."""
        return self.equities.shape[2] == 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Hypergammon(Table):
    """Hypergammon records: (n, n, 28) uint8, nine 24-bit numbers and a zero byte, indexed [us, them].

    Points are 25: the 24 points and the bar. Fields: win, win gammon, win backgammon, lose gammon, lose
    backgammon (parts of 16777215), then equities owned, centered, centered with Jacoby, opponent.
    """

    kind: ClassVar[str] = "hypergammon"
    records: Rows

    def arrays(self) -> dict[str, Rows]:
        return {"records": self.records}


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(Table):
    """The nouns of a J component file that holds no table bgfmt knows: `nouns` decodes component k on demand."""

    kind: ClassVar[str] = "components"
    nouns: Any = None

    def arrays(self) -> dict[str, Rows]:
        return {}


def same_numbers(a: Table, b: Table) -> bool:
    """Whether two tables are of one kind and size and hold equal stored numbers."""
    if type(a) is not type(b) or (a.points, a.chequers) != (b.points, b.chequers):
        return False
    if a.arrays().keys() != b.arrays().keys():
        return False
    pairs = zip(a.blocks(), b.blocks(), strict=True)
    return all(np.array_equal(x[name], y[name]) for (_, x), (_, y) in pairs for name in x)
