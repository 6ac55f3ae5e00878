"""The components with which bgfmt stores tables in a J component file, and how it recognises them.

component  article's table (mean rolls)      whole one-sided table
0          ncodes, integers, ascending       the same
1          ns, floats: expected rolls        mean rolls of the distributions, floats
2                                            bearoff, n by 32 integers (floats when exact)
3                                            gammon, the same; 0 by 32 if there is none
4                                            literal: "bgfmt one-sided" and lines of name and value

All rows are in ascending ncode (Peelle's order), so that his look-up `N` reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats
from bgfmt.errors import CorruptError, NotCoveredError
from bgfmt.formats import records
from bgfmt.formats.base import ROLLS
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import VERSIONS, Container
from bgfmt.formats.j.noun import JType, Noun
from bgfmt.formats.records import Fact, Record
from bgfmt.game import board
from bgfmt.game.orders import Peelle
from bgfmt.tables import LazyRows, MeanRolls, OneSided, Rows, Table
from bgfmt.tables.base import ArrayRule, Listing
from bgfmt.tables.rolls import means_of

TITLE = "bgfmt one-sided"
BATCH_ROWS = 256  # rows gathered together, to stay in the CPU's cache
RELEASE_BATCHES = 32  # batches after which the pages of a mapped file are released
SAMPLED_CODES = 100
MIN_AGREEMENT = 0.9
#: up to this size all codes are compared and the mean rolls reordered at opening
MAX_EAGER_POSITIONS = 1 << 17


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(Table):
    """Any components of a J file, without positions. `nouns` decodes component k on demand."""

    kind: ClassVar[str] = "components"
    columns = ()
    nouns: Container

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return ()

    @property
    def entries(self) -> int:
        return len(self.nouns)

    @property
    def listing(self) -> Listing:
        return self.nouns

    def covers(self, *_: Any, **__: Any) -> str | None:
        return f"a {self.kind} file holds no positions to look up"

    def number(self, *_: Any, **__: Any) -> Any:
        raise NotCoveredError(f"a {self.kind} file holds no positions to look up")

    covers_side = covers
    unrank = lookup = lookup_many = entry_numbers = number

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros((len(numbers), 0))


@dataclass(frozen=True)
class JLayout(Record):
    """Container version and form of nouns of the component file from which a table was read."""

    container: str
    word: int
    order: str

    def facts(self) -> Mapping[str, Fact]:
        return {"j_container": self.container, "j_word": self.word, "j_order": self.order}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self | None:
        if "j_container" not in facts:
            return None
        found = cls(facts["j_container"], records.number(facts.get("j_word")), facts.get("j_order", ""))
        known = found.container in (*VERSIONS, "fj01")
        if not known or found.word not in (4, 8) or found.order not in ("<", ">"):
            raise ValueError(f"{found} is not that of a component file")
        return found


# -- writing -----------------------------------------------------------------------------------------------


def nouns_of(table: Any) -> Sequence[Noun]:
    """Return the components (J nouns) as which a table is written."""
    arrays = table.arrays()
    if not arrays:  # a `Components` table
        return table.nouns  # type: ignore[no-any-return]
    order = Peelle(table.points, table.chequers)

    def ordered(rows: Rows) -> LazyRows:
        return _reorder(order.numbers, rows.__getitem__, rows.shape, "f8", table.release)

    codes = jn.integers(LazyRows((order.count,), "i8", lambda a, b: order.codes(np.arange(a, b))))
    if "means" in arrays:
        return [codes, jn.floats(ordered(arrays["means"]))]
    rows = arrays["bearoff"]
    gammon = arrays.get("gammon")
    rolls = LazyRows((order.count,), "f8", lambda a, b: means_of(rows[a:b]), lambda k: means_of(rows[k]))
    plain = jn.floats if table.exact else jn.integers
    none = np.zeros((0, *rows.shape[1:]), "f8" if table.exact else "i8")
    second = none if gammon is None else ordered(gammon)
    return [codes, jn.floats(ordered(rolls)), plain(ordered(rows)), plain(second), jn.text(_describe(table))]


def _reorder(
    others: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    make: Callable[[NDArray[np.int64]], Any],
    shape: tuple[int, ...],
    dtype: str,
    release: Callable[[], None] | None,
) -> LazyRows:
    """Return lazy rows in another order.

    Parameters
    ----------
    others : maps row numbers of the result to those in the other order
    make : returns the rows with given numbers in the other order
    shape, dtype : of the result
    release : called now and then, to release mapped pages
    """

    def pick(numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Build rows a few hundred at a time: they are far apart in the file, and each maps its own pages."""
        there = others(numbers)
        out = np.empty((len(numbers), *shape[1:]), dtype)
        for start in range(0, len(numbers), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            out[part] = make(there[part])
            if release is not None and (start // BATCH_ROWS + 1) % RELEASE_BATCHES == 0:
                release()
        return out

    return LazyRows(shape, dtype, lambda a, b: pick(np.arange(a, b)), pick)


def _describe(table: OneSided) -> str:
    """Return the text of the last component: what the numbers are, and facts that the table's file had."""
    facts = records.facts_of(table)
    lines: dict[str, Fact] = {
        "points": table.points,
        "chequers": table.chequers,
        "scale": 1 if table.exact else 65535,
        "gammon": "no" if table.gammon is None else table.gammon_policy or "own",
    }
    own = JLayout("", 0, "").facts()
    lines |= {name: fact for name, fact in facts.items() if name not in own and name != "gammon_policy"}
    return "\n".join([TITLE, *(f"{name} {_text(value)}" for name, value in lines.items())]) + "\n"


def _text(fact: Fact) -> str:
    return "none" if fact == "" else str(int(fact) if isinstance(fact, bool) else fact)


# -- reading -----------------------------------------------------------------------------------------------


def fits_64_bits(points: int, chequers: int) -> bool:
    """Return True if the ncodes of this size (counts as digits of a base-16 number) fit in J's 64-bit integers."""
    return chequers << 4 * (points - 1) < 1 << 63


@lru_cache(maxsize=64)
def sizes_of(count: int) -> tuple[tuple[int, int], ...]:
    """Return every (points, chequers) whose table has `count` rows and ncodes that fit in J's 64-bit integers.

    An ncode is the base-16 number with a position's counts as digits.
    """
    every = ((p, c) for c in range(1, board.MAX_CHEQUERS + 1) for p in range(1, board.MAX_POINTS + 1))
    return tuple((p, c) for p, c in every if board.count(p, c) == count and fits_64_bits(p, c))


def size_of(file: Container) -> tuple[int, int] | None:
    """Return (points, chequers) of the table of mean rolls in a component file; None if it has none.

    Component 0 must be the ncodes (counts as digits of a base-16 number) of such a table, component 1 a float for
    each. About a hundred ncodes are compared, and nearly all of them must be those of the table.
    """
    if len(file) < 2:
        return None
    codes = file.noun(0)
    values = file.noun(1)
    lists = (codes.type, values.type) == (JType.INTEGER, JType.FLOAT) and codes.shape == values.shape
    if not lists or len(codes.shape) != 1 or codes.count < 2:
        return None
    rows = np.arange(0, codes.count, max(1, codes.count // SAMPLED_CODES))
    rows[-1] = codes.count - 1
    for size in sizes_of(codes.count):
        if (Peelle(*size).codes(rows) == codes.data[rows]).mean() > MIN_AGREEMENT:
            return size  # one wrong ncode among many right ones is damage, reported later
    return None


def read_description(file: Container) -> dict[str, str] | None:
    """Parse component 4 of a whole one-sided table into values by name; None if there is no such component."""
    if len(file) < 5:
        return None
    noun = file.noun(4)
    if noun.type is not JType.LITERAL or len(noun.shape) != 1 or noun.count > 1 << 16:
        return None
    first, _, rest = noun.data.tobytes().decode("utf-8", "replace").partition("\n")
    if first != TITLE:
        return None
    return dict(line.partition(" ")[::2] for line in rest.splitlines())


def read_mean_rolls(file: Container, size: tuple[int, int], **more: Any) -> MeanRolls:
    """Build the table of mean rolls of Peelle's article, of size (points, chequers), from components 0 and 1.

    more : further fields of the table.
    """
    rows: Rows = _rows_by_number(file, size, file.noun(1), more.get("release"))
    if len(rows) <= MAX_EAGER_POSITIONS:
        rows = np.asarray(rows)
    return MeanRolls(points=size[0], chequers=size[1], means=rows, **more)


def read_one_sided(file: Container, size: tuple[int, int], words: Mapping[str, str], **more: Any) -> OneSided:
    """Build a whole one-sided table from components 0 to 4.

    size : (points, chequers). words : values of the description by name. more : further fields of the table.
    Raises CorruptError if components and description do not fit together.
    """
    n = file.noun(0).count
    at = int(file.entries[4, 0])
    kind = file.noun(2).type
    scale = 1 if kind is JType.FLOAT else 65535
    expected = {"points": str(size[0]), "chequers": str(size[1]), "scale": str(scale)}
    if not expected.items() <= words.items():
        found = {name: words.get(name) for name in expected}
        raise CorruptError(file.name, at, f"{expected} in the description", found)
    policy = words.get("gammon", "own")
    arrays: dict[str, Any] = {}
    for k, name in ((2, "bearoff"), (3, "gammon")):
        noun = file.noun(k)
        width = noun.shape[-1] if scale == 1 and noun.shape else ROLLS
        shape = (0 if k == 3 and policy == "no" else n, width)
        if noun.type not in (JType.INTEGER, JType.FLOAT) or noun.type != kind or noun.shape != shape:
            what = f"{name} distributions, {shape[0]:,} by {width} numbers"
            raise CorruptError(file.name, int(file.entries[k, 0]), what, str(noun))
        if shape[0]:
            arrays[name] = _rows_by_number(file, size, noun, more.get("release"))
    facts: dict[str, Any] = {name: "" if value == "none" else value for name, value in words.items()}
    if policy not in ("no", "own"):
        facts["gammon_policy"] = policy
    try:
        fields = formats.fields_of(facts, OneSided)
    except ValueError as error:
        raise CorruptError(file.name, at, "a description as bgfmt writes it", error) from None
    fields["carried"] = (*more.pop("carried", ()), *fields["carried"])
    return OneSided(points=size[0], chequers=size[1], **arrays, **fields, **more)


def _check_codes(file: Container, order: Peelle, rows: NDArray[np.int64]) -> None:
    """Compare the ncodes of some rows with those of the table; raises CorruptError."""
    noun = file.noun(0)
    expected = order.codes(rows)
    wrong = np.flatnonzero(expected != noun.data[rows])
    if len(wrong):
        row = int(rows[wrong[0]])
        at = noun.at + row * noun.data.dtype.itemsize
        number = int(order.numbers(rows[wrong[:1]])[0])
        raise CorruptError(file.name, at, f"ncode {expected[wrong[0]]}", int(noun.data[row]), number)


def sample_codes(file: Container, size: tuple[int, int]) -> None:
    """Compare all ncodes of a small table, a thousand of a large one; raises CorruptError.

    size : (points, chequers) of the table.
    """
    order = Peelle(*size)
    step = 1 if order.count <= MAX_EAGER_POSITIONS else order.count // 1000
    _check_codes(file, order, np.arange(0, order.count, step))


def _rows_by_number(
    file: Container, size: tuple[int, int], noun: Noun, release: Callable[[], None] | None
) -> LazyRows:
    """Return the rows of a component in order of position number, lazily: float64, or 65535ths as uint16.

    Their ncodes are compared with those of the table.
    """
    order = Peelle(*size)

    def take(rows: NDArray[np.int64]) -> NDArray[Any]:
        _check_codes(file, order, rows)
        values = noun.data[rows]
        if noun.type is JType.INTEGER and values.size and (values.min() < 0 or values.max() > 65535):
            k = int(((values < 0) | (values > 65535)).any(axis=1).argmax())
            where = noun.at + int(rows[k]) * values[0].nbytes
            raise CorruptError(file.name, where, "parts of 65535", values[k].tolist())
        return np.asarray(values)

    return _reorder(order.rows, take, noun.shape, "f8" if noun.type is JType.FLOAT else "u2", release)
