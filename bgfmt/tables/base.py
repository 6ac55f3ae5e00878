"""The base classes of tables: the stored numbers exactly as a file holds them, and what they mean.

A table keeps a file's own integers or floats. Its kind, one module of this package, converts them to
probabilities and equities in the float width and the order of summation of its host program, so that they print
as gnubg's `bearoffdump` prints them; exact float64 numbers are returned unchanged. A kind declares its columns,
its numbering, its look-up, the rules its entries must obey, its corners and coarser kinds, and the cost of
proving it. Everything that walks tables (`dump`, `diff`, `lookup`, `info`, the checks of `verify`) is a loop
over these declarations, for kinds of plugins too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import CONTACT, CapabilityError, NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.display import html_table
from bgfmt.tables.registry import Registry
from bgfmt.tables.rows import Array, Rows, corner_of_pairs, corner_of_rows, random_access
from bgfmt.tables.rules import ArrayRule, Breach

__all__ = [
    "BLOCK_BYTES",
    "CHUNK",
    "KINDS",
    "MAX_LISTED_NAMES",
    "NOTEBOOK_ROWS",
    "Answer",
    "ArrayRule",
    "Breach",
    "Coarser",
    "Column",
    "Listing",
    "OfBothSides",
    "OfOneSide",
    "OfRaces",
    "Table",
    "no_column",
    "of_kind",
    "same_numbers",
]


NOTEBOOK_ROWS = 5  # entries shown in a notebook

MAX_LISTED_NAMES = 12  # column names in a message
BLOCK_BYTES = 8 << 20
CHUNK = 1 << 15  # positions processed together, so that they stay in the CPU cache
R = TypeVar("R")
K = TypeVar("K", bound="Table")

KINDS: Registry[type[Table]] = Registry("bgfmt.kinds")
"""The kinds of tables, by name."""

#: modules with `to_pandas`, `to_polars` and `stream`
FRAMES: Registry[Any] = Registry("bgfmt.frames")


class Listing(Protocol):
    """Entries of a table that are not positions, decoded on demand."""

    def __len__(self) -> int: ...
    def describe(self, k: int) -> str:
        """Describe entry number k in one line of text."""

    def as_json(self, k: int) -> dict[str, Any]:
        """Return entry number k as plain values that JSON can hold."""


class Answer(Protocol):
    """The result of looking up one entry."""

    @property
    def number(self) -> int:
        """The position number of the entry."""

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, probabilities as fractions of 1."""

    def describe(self, who: str = "") -> str:
        """Return all fields as text, with the decimals that gnubg's bearoffdump prints; `who` names the player."""


@dataclass(frozen=True)
class Column:
    """A number that a table gives for each entry.

    name : as in CSV. unit : "chance" (a probability), "equity", "rolls" or "pips". text : its printf format in
    a line of text, label included; empty if text omits it. percent : text shows per cent. whole : always an
    integer. group, key : the list (key "") or object that contains it in JSON.
    """

    name: str
    unit: str
    text: str = ""
    percent: bool = False
    whole: bool = False
    group: str = ""
    key: str = ""


class Coarser(NamedTuple):
    """A kind that a table can be converted to.

    kind : the class. make : makes the table. lost : text that says what the conversion loses, "" for nothing.
    spared : checks, in a pass over the data, whether this very table loses nothing; None if `lost` holds for
    every table.
    """

    kind: type[Table]
    make: Callable[[], Table]
    lost: str
    spared: Callable[[], bool] | None = None

    def losses(self) -> list[str]:
        """Return what converting this table loses, as a list of one line, or an empty list if nothing is lost."""
        return [self.lost] if self.lost and not (self.spared and self.spared()) else []


def no_column(kind: str, column: str, offered: list[str]) -> str:
    """Format the message for a column that a table lacks; it lists the columns of the table.

    kind : kind of the table. column : the missing name. offered : its columns; of more than twelve only the closest
    names are listed.
    """
    from difflib import get_close_matches

    has = f": {', '.join(offered)}"
    if len(offered) > MAX_LISTED_NAMES:
        near = get_close_matches(column, offered, 6, 0.4) or offered[:6]
        has = f" {len(offered)}, such as {', '.join(near)}"
    return f"a {kind} table has no column {column!r} (it has{has})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """The base class of all tables.

    points, chequers : the sides covered, up to `chequers` chequers on points 1 to `points`. provenance : text
    that says where the numbers come from. recipe : name of the algorithm that made them, if known. carried :
    what the file held beside the numbers, as objects of the format that read it, so that a copy can repeat it.
    release : frees mapped pages.
    """

    kind: ClassVar[str] = ""
    #: sides that an entry describes: 1, or 2 with the side on roll first
    sides: ClassVar[int] = 1
    #: the unit of differences between its numbers, as `read` returns them
    unit: ClassVar[str] = ""
    points: int
    chequers: int
    provenance: str = ""
    recipe: str = ""
    carried: tuple[object, ...] = field(default=(), repr=False)
    release: Callable[[], None] | None = field(default=None, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in cls.__dict__:  # the dataclass's own would print the arrays
            cls.__repr__ = Table.__repr__  # type: ignore[method-assign]
        if cls.__dict__.get("kind"):
            KINDS.enter(cls.kind, cls)

    def __repr__(self) -> str:
        said = {one.name: repr(getattr(self, one.name)) for one in fields(self) if one.repr}
        said |= {name: f"{rows.dtype} {tuple(rows.shape)}" for name, rows in self.arrays().items()}
        return f"{type(self).__name__}({', '.join(map('='.join, said.items()))})"

    def _repr_html_(self) -> str:
        first = np.arange(min(NOTEBOOK_ROWS, self.entries)) if self.arrays() else np.arange(0)
        rows = [[n, *row] for n, row in enumerate(self.values(first).tolist())] if len(first) else []
        about = f"{self.kind} · {self.points} points · {self.chequers} chequers · {self.entries:,} entries"
        return f"<p>{about}</p>" + html_table(rows, ["", *(one.name for one in self.columns)] if rows else [])

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per entry: the position, its pips, and the numbers of `columns`.

        The stored integers are in `bgfmt.arrow(table).to_pandas()`.
        """
        return _load_frames().to_pandas(self)

    def to_polars(self) -> Any:
        """Return a polars DataFrame with the columns of `to_pandas`."""
        return _load_frames().to_polars(self)

    # -- contents ---------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        """Return the arrays that a table of this size must have, with the shapes and dtypes allowed.

        Each array is an attribute of the table.
        """

    def arrays(self) -> dict[str, Rows]:
        """Return the stored arrays by name, with a row for each position of the side on roll, by position number.

        Optional arrays that the table does not have are omitted.
        """
        found = {rule.name: getattr(self, rule.name) for rule in self.rules(self.points, self.chequers)}
        return {name: rows for name, rows in found.items() if rows is not None}

    def check(self) -> str | None:
        """Check the shapes and dtypes of the arrays. Return the problem as text, or None if there is none."""
        for rule in self.rules(self.points, self.chequers):
            rows = getattr(self, rule.name)
            if rows is None and rule.optional:
                continue
            shape = tuple(rows.shape)
            dtype = np.dtype(rows.dtype).newbyteorder("=")
            fits = any(_matches_shape(shape, allowed) for allowed in rule.shapes)
            if not fits or dtype not in map(np.dtype, rule.dtypes):
                wanted = f"{' or '.join(map(_shape, rule.shapes))} of {' or '.join(rule.dtypes)}"
                return f"{rule.name} needs shape {wanted}, not {_shape(shape)} of {dtype}"
        return None

    @cached_property
    def positions(self) -> int:
        """Number of positions of one side, C(points + chequers, points)."""
        return board.count(self.points, self.chequers)

    @property
    def entries(self) -> int:
        """Number of entries: one for each position of one side, or for each pair of them in a table of both sides."""
        return int(self.positions**self.sides)

    @cached_property
    def exact(self) -> bool:
        """Whether the numbers are unrounded float64 rather than a file's integers."""
        return all(rows.dtype == np.float64 for rows in self.arrays().values())

    @property
    def nbytes(self) -> int:
        """Size of the stored arrays in bytes."""
        return sum(prod(rows.shape) * np.dtype(rows.dtype).itemsize for rows in self.arrays().values())

    @property
    def listing(self) -> Listing | None:
        """The entries of a table that is not indexed by positions; None for all tables that are."""
        return None

    def metadata(self) -> dict[str, str | int | bool]:
        """Return what describes the table beside its arrays and size, as flat values that any format can store.

        Empty for kinds that have nothing of this sort; a match-score table has its score.
        """
        return {}

    @classmethod
    def parse_metadata(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Parse what `metadata` returned into keyword arguments of the class; empty for kinds without metadata.

        Raises ValueError, KeyError or TypeError if the metadata are invalid.
        """
        return {}

    def facts(self) -> dict[str, Any]:
        """Return what `bgfmt info` shows of the table beside its kind and size, by name of the JSON field."""
        return {}

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Iterate over the table in blocks of about `size` bytes, in order of position number.

        Yields (rows, arrays by name). Pages of a mapped file are freed after each block, so memory stays
        bounded for any size. A block is valid until the next one is requested.
        """
        arrays = self.arrays()
        if not arrays:
            return
        total = len(next(iter(arrays.values())))
        step = max(1, size * max(1, total) // max(1, self.nbytes))
        for start in range(0, total, step):
            rows = slice(start, min(total, start + step))
            yield rows, {name: array[rows] for name, array in arrays.items()}
            if self.release is not None:
                self.release()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the stored numbers as an Arrow stream (the Arrow PyCapsule interface); see `bgfmt.arrow`."""
        return _load_frames().stream(self).__arrow_c_stream__(requested_schema)

    def record(self, kind: type[R]) -> R | None:
        """Return the object of class `kind` in `carried`, or None if there is none.

        `carried` has what the file held beside the numbers.
        """
        return next((r for r in self.carried if isinstance(r, kind)), None)

    # -- numbering: gnubg's position numbers, of two sides us * positions + them ----------------------------

    @abstractmethod
    def covers(self, asked: Side | Position) -> str | None:
        """Return None if the table has an entry for this side or position, else the reason as text."""

    @abstractmethod
    def unrank(self, number: int) -> Side | Position:
        """Return the side, or in a table of both sides the position, with this position number.

        NotCoveredError if the number is negative or beyond the last entry.
        """

    def counts(self, numbers: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the chequers on each point, int8 of shape (m, points), of the sides with these position numbers."""
        return board.unrank_array(numbers, self.points)

    def covers_side(self, side: Side) -> str | None:
        """Return None if this side is within the table's points and chequers, else the reason as text."""
        if side.chequers > self.chequers:
            return f"{side} has {side.chequers} chequers, the table covers {self.chequers}"
        if side.bar:
            return f"{side} has a chequer on the bar, the table covers points 1 to {self.points}"
        if side.highest > self.points:
            return f"{side} has a chequer on point {side.highest}, the table covers points 1 to {self.points}"
        return None

    def number(self, asked: Side | Position) -> int:
        """Return the position number of a side or position; of a position it is us * positions + them.

        NotCoveredError if the table does not cover it; PositionError for one side where both are needed, or the
        reverse.
        """
        reason = self.covers(asked)
        if reason is not None:
            expected = Side if self.sides == 1 else Position
            raise (NotCoveredError if isinstance(asked, expected) else PositionError)(reason)
        if isinstance(asked, Side):
            return self.side_number(asked)
        return self.side_number(asked.us) * self.positions + self.side_number(asked.them)

    def side_number(self, side: Side) -> int:
        """Return the position number of one side. That the table covers the side is not checked."""
        return side.number(self.points)

    def side(self, number: int) -> Side:
        """Return the side with this position number (of one side, below `positions`)."""
        return Side.from_number(number, self.points)

    def numbers(self, sides: Any) -> NDArray[np.int64]:
        """Return the position numbers of many sides.

        Parameters
        ----------
        sides
            A list of Side objects, an integer array of counts of shape (N, points), or position numbers of
            shape (N,).

        Raises
        ------
        NotCoveredError
            Names the first row that lies outside the table.
        """
        if isinstance(sides, (list, tuple)) and (not sides or isinstance(sides[0], Side)):
            return np.array([self._number_of(side) for side in sides], np.int64)
        given = np.asarray(sides)
        if given.ndim == 1 and given.dtype.kind in "iu":
            numbers = given.astype(np.int64, copy=False)
            if numbers.size and (numbers.min() < 0 or numbers.max() >= self.positions):
                row = int(((numbers < 0) | (numbers >= self.positions)).argmax())
                last = self.positions - 1
                raise NotCoveredError(f"row {row}: position number {numbers[row]} is not in 0..{last}")
            return numbers
        if given.ndim != 2 or given.dtype.kind not in "iu":
            shapes = "counts of shape (N, points) or numbers of shape (N,)"
            raise PositionError(f"sides must be whole {shapes}, not {given.dtype} of shape {given.shape}")
        return self._rank(given)

    def _rank(self, given: NDArray[Any]) -> NDArray[np.int64]:
        beyond = given[:, self.points :].any(axis=1)
        if beyond.any():
            raise NotCoveredError(f"row {int(beyond.argmax())} has a chequer beyond point {self.points}")
        given = given[:, : self.points]
        if given.shape[1] < self.points:
            given = np.pad(given, ((0, 0), (0, self.points - given.shape[1])))
        numbers = np.empty(len(given), np.int64)
        for start in range(0, len(given), CHUNK):
            numbers[start : start + CHUNK] = board.rank_array(given[start : start + CHUNK], start)
        if numbers.size and numbers.max() >= self.positions:
            row = int((numbers >= self.positions).argmax())
            many = given[row].sum()
            raise NotCoveredError(f"row {row} has {many} chequers, the table covers {self.chequers}")
        return numbers

    def _number_of(self, side: Side) -> int:
        reason = self.covers_side(side)
        if reason:
            raise NotCoveredError(reason)
        return self.side_number(side)

    def _within(self, number: int) -> int:
        if not 0 <= number < self.entries:
            raise NotCoveredError(f"position number {number} is beyond the last, {self.entries - 1}")
        return number

    # -- look-up -----------------------------------------------------------------------------------------

    @abstractmethod
    def lookup(self, asked: Side | Position) -> Answer:
        """Look up a side or position; NotCoveredError if the table does not cover it.

        A table of one side takes a `Side`, others a `Position`, or PositionError is raised.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that `lookup_many` returns for an entry when no column is named, in its order."""
        return tuple(c.name for c in self.columns)

    def answers(self, column: str | None = None) -> list[str]:
        """Return the names of the numbers that `lookup_many` returns for an entry, given this `column`.

        CapabilityError for an unknown column.
        """
        offered = dict.fromkeys((*self.names, *(c.name for c in self.columns)))
        if column is not None and column not in offered:
            raise CapabilityError(no_column(self.kind, column, list(offered)))
        return list(self.names) if column is None else [column]

    @abstractmethod
    def entry_numbers(self, us: Any, them: Any) -> tuple[NDArray[np.int64], ...]:
        """Convert many entries to position numbers, each an int64 array of shape (N,).

        us, them : sides as `numbers` takes them; `them` is None in a table of one side. Returns one array, or
        two for pairs: sides on roll, and their opponents.
        """

    def decode(self, stored: Array) -> Array:
        """Convert records of the table's first array to its numbers in real units, in the order of `names`.

        The numbers are along the last axis of the result.
        """
        return stored

    def read_entries(self, *numbers: NDArray[np.int64]) -> Array:
        """Read the entries with these position numbers (what `entry_numbers` returned), in real units.

        Returns the numbers of `names`, of shape (N, len(names)), or (N,) for a single name.
        """
        index = numbers if self.sides == 2 else numbers[0]
        with random_access(self._first):
            return self.decode(np.asarray(self._first[index]))

    @property
    def _first(self) -> Rows:
        return next(iter(self.arrays().values()))

    def lookup_many(self, us: Any, them: Any = None, *, column: str | None = None) -> NDArray[Any]:
        """Look up many sides, or pairs of sides, given as `numbers` takes them.

        us, them : the sides on roll and the others; `them` is None in a table of one side.

        Returns (N, len(names)) numbers in the order of `names`, float32 if stored as integers, float64 if
        exact; or (N,) of one `column`, which may be any of `columns`. NotCoveredError names the first row outside the
        table.
        """
        self.answers(column)
        numbers = self.entry_numbers(us, them)
        if column is not None and column not in self.names:
            return self._from_columns(numbers, [column])[:, 0]
        rows = self.read_entries(*numbers)
        return rows if column is None or rows.ndim == 1 else rows[:, self.names.index(column)]

    def _from_columns(self, numbers: tuple[NDArray[np.int64], ...], names: list[str]) -> NDArray[np.float64]:
        """Return some of `columns`, float64 of shape (N, len(names))."""
        entries = numbers[0] if len(numbers) == 1 else numbers[0] * self.positions + numbers[1]
        places = [k for k, column in enumerate(self.columns) if column.name in names]
        if not len(entries):
            return np.zeros((0, len(places)))
        ascending, back = np.unique(entries, return_inverse=True)
        return self.values(ascending)[:, places][back]

    # -- columns -----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """The numbers that the table gives of an entry, in the order of exports and look-ups, with name and unit."""

    @abstractmethod
    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute all `columns` of entries, float64 of shape (m, len(columns)).

        numbers : position numbers of the entries, ascending.
        """

    def flat_values(self, numbers: NDArray[np.int64], block: dict[str, Array]) -> Iterator[Array]:
        """Yield the values of each of `columns` in turn, as one (m,) array, for all m entries of a block of rows.

        numbers : position numbers of the entries. block : the stored arrays of these rows by name, as of `blocks`.
        """
        yield from np.ascontiguousarray(self.values(numbers).T)

    @property
    def few_values(self) -> bool:
        """Whether each of `columns` depends on one stored 16-bit number only: then it has at most 65,536 values."""
        return False

    @property
    def max_error(self) -> float | None:
        """Largest known error of any of the table's numbers, in the unit of its columns; None if not known."""
        return 1e-12 if self.exact else None

    def errors(self) -> dict[str, float]:
        """Return the largest known error of each number, by the name of its column; empty if none was measured."""
        return {} if self.max_error is None else dict.fromkeys((c.name for c in self.columns), self.max_error)

    def unpack(self, name: str, rows: Array) -> Array:
        """Convert rows of the array `name` to numbers that can be compared one by one.

        They are the integers of the file, or floats if it has floats. Most kinds return `rows` unchanged; those that
        pack several integers into bytes unpack them.
        """
        return rows

    def read(self, name: str, stored: Array) -> NDArray[np.float64]:
        """Convert numbers of array `name`, as `unpack` returns them, to float64 in real units.

        These are equities, probabilities or rolls, which can be compared with those of a table that stores other
        integers.
        """
        return np.asarray(stored, np.float64)

    # -- rules of theory --------------------------------------------------------------------------------

    def breaches(self, start: int, block: dict[str, Array]) -> Iterator[Breach]:
        """Yield the rules of theory (sums, bounds, order) that rows of a block break by more than rounding explains.

        Each `Breach` marks the rows that break one rule.

        start : number of the first row of the block. block : arrays by name, as `blocks` yields them.
        """
        yield from ()

    @property
    def cost(self) -> float:
        """Estimated CPU seconds for the verifier to check that each entry follows from the others."""
        return 3 + self.entries * 1e-6

    # -- derived tables --------------------------------------------------------------------------------

    def cut(self, points: int | None = None, chequers: int | None = None) -> Self:
        """Return the part of the table with `points` points and `chequers` chequers (None: as many as it has).

        Rows are copied on demand. CapabilityError if the table is smaller.
        """
        p = points or self.points
        c = chequers or self.chequers
        return self if (p, c) == (self.points, self.chequers) else self._corner(p, c)

    def _corner(self, p: int, c: int) -> Self:
        """Return the sub-table of another size."""
        if p < 1 or c < 1 or p > self.points or c > self.chequers:
            own = f"{self.points}x{self.chequers}"
            raise CapabilityError(f"a {own} table has no {p}x{c} corner; solve one of that size instead")
        n = board.count(p, c)
        numbers = None if p == self.points else board.corner_numbers(p, c, self.points)
        corner = corner_of_rows if self.sides == 1 else corner_of_pairs
        arrays: dict[str, Any] = {name: corner(rows, n, numbers) for name, rows in self.arrays().items()}
        return replace(self, points=p, chequers=c, **self.rearranged(), **arrays)

    def coarser(self) -> tuple[Coarser, ...]:
        """Return the kinds with fewer numbers, such as mean rolls, that the table can be converted to.

        Each says what the conversion loses.
        """
        return ()

    def as_kind(self, kind: type[K], **fields: Any) -> K:
        """Return a table of class `kind` with the size and provenance of this one; `fields` are its arrays."""
        common = ("points", "chequers", "provenance", "release")
        return kind(**{name: getattr(self, name) for name in common}, **fields)

    def rearranged(self) -> dict[str, Any]:
        """Return {"carried": ...} for a copy whose entries are rearranged, to pass to `dataclasses.replace`.

        It has those records of the file (see `carried`) that still hold for such a copy.
        """
        records = [getattr(record, "rearranged", lambda: None)() for record in self.carried]
        return {"carried": tuple(record for record in records if record is not None)}


class OfOneSide(Table):
    """Base class of tables whose entries describe one side."""

    sides = 1

    def covers(self, asked: Side | Position) -> str | None:
        if isinstance(asked, Position):
            return f"a {self.kind} table answers for one side at a time"
        if not isinstance(asked, Side):
            return f"expected a side, such as Side(0, 1, 1), not {asked!r}"
        return self.covers_side(asked)

    def unrank(self, number: int) -> Side:
        return self.side(self._within(number))

    def entry_numbers(self, us: Any, them: Any) -> tuple[NDArray[np.int64], ...]:
        if them is not None:
            raise PositionError(f"a {self.kind} table answers for one side at a time")
        return (self.numbers(us),)

    @property
    def cost(self) -> float:
        return 3 + self.positions * 2e-6 * self.points


class OfBothSides(Table):
    """Base class of tables whose entries describe a pair of sides, the one on roll first."""

    sides = 2

    def covers(self, asked: Side | Position) -> str | None:
        if isinstance(asked, Side):
            return f"a {self.kind} table needs both sides, the one on roll first (side / side)"
        if not isinstance(asked, Position):
            return f"expected a position, such as Position(Side(0, 1), Side(0, 1, 1)), not {asked!r}"
        return self.covers_side(asked.us) or self.covers_side(asked.them)

    def unrank(self, number: int) -> Position:
        us, them = divmod(self._within(number), self.positions)
        return Position(self.side(us), self.side(them))

    def entry_numbers(self, us: Any, them: Any) -> tuple[NDArray[np.int64], ...]:
        if them is None:
            raise PositionError(f"a {self.kind} table needs both sides")
        ours = self.numbers(us)
        theirs = self.numbers(them)
        if len(ours) != len(theirs):
            raise PositionError(
                f"{len(ours)} sides on roll but {len(theirs)} other sides; the numbers must be equal"
            )
        return ours, theirs

    def at(self, rows: Rows, numbers: NDArray[np.int64]) -> Array:
        """Return the records of entries with these position numbers, ascending (us * positions + them).

        rows : an array indexed [us, them], of which only the rows needed are read.
        """
        n = self.positions
        first = int(numbers[0])
        last = int(numbers[-1])
        if last - first == len(numbers) - 1 and first % n == 0 and (last + 1) % n == 0:  # whole rows
            whole = np.asarray(rows[first // n : last // n + 1])
            return whole.reshape(-1, *whole.shape[2:])
        us, them = np.divmod(numbers, n)
        if isinstance(rows, np.ndarray):
            with random_access(rows):
                return rows[us, them]
        pieces = [np.asarray(rows[int(u)])[them[us == u]] for u in np.unique(us)]
        return np.concatenate(pieces)

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self.decode(self.at(self._first, numbers)), np.float64)


class OfRaces(OfBothSides):
    """Base class of tables of pairs of sides without contact."""

    def covers(self, asked: Side | Position) -> str | None:
        reason = super().covers(asked)
        if reason is None and isinstance(asked, Position) and asked.contact:
            return f"{asked}: {CONTACT}"
        return reason


def of_kind(tables: Iterable[Table], kind: type[K]) -> list[K]:
    """Return those of the tables that are instances of `kind`, in the order given."""
    return [table for table in tables if isinstance(table, kind)]


def _load_frames() -> Any:
    """Return the module that converts tables to data frames; CapabilityError if none is installed."""
    return FRAMES.first("nothing installed makes data frames")


def _matches_shape(shape: tuple[int, ...], allowed: tuple[int | None, ...]) -> bool:
    return len(shape) == len(allowed) and all(a in (None, b) for a, b in zip(allowed, shape, strict=True))


def _shape(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("any" if axis is None else str(axis) for axis in shape) + ")"


def same_numbers(a: Table, b: Table) -> bool:
    """Return whether two tables have the same kind, size and stored numbers."""
    if type(a) is not type(b) or (a.points, a.chequers) != (b.points, b.chequers):
        return False
    if a.arrays().keys() != b.arrays().keys():
        return False
    pairs = zip(a.blocks(), b.blocks(), strict=True)
    return all(np.array_equal(x[name], y[name]) for (_, x), (_, y) in pairs for name in x)
