"""What bgfmt puts into a J component file, as nouns, and how it finds it there again.

component  article's table (mean rolls)      whole one-sided table
0          ncodes, integers, ascending       the same
1          ns, floats: expected rolls        mean rolls of the distributions, floats
2                                            bearoff, n by 32 integers (floats when exact)
3                                            gammon, the same; 0 by 32 when there is none
4                                            literal: "bgfmt one-sided" and lines of name and value

All rows in ascending ncode (Peelle's order), so that his look-up `N` reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bgfmt import formats
from bgfmt.errors import CorruptError
from bgfmt.formats import records
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j import order as jo
from bgfmt.formats.j.container import Container
from bgfmt.formats.j.noun import JType, Noun
from bgfmt.formats.records import Fact, Record
from bgfmt.tables import Components, LazyRows, MeanRolls, OneSided, Rows, Table

TITLE = "bgfmt one-sided"
ROLLS = 32
BLOCK = 1 << 18
SCATTERED = 256  # rows gathered together, so that they stay in the processor's cache
LET_GO = 32  # times that this is done before the pages of a mapped file are let go
SAMPLED, MOSTLY = 100, 0.9
EAGER = (
    1 << 17
)  # positions up to which every code is compared at once and mean rolls are put in order at once


@dataclass(frozen=True)
class JLayout(Record):
    """The directory and the form of nouns of the component file a table was read from."""

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
        if found.container not in ("v64b", "v64l", "v32l", "v32b", "fj01"):
            raise ValueError(f"j_container: found {found.container!r}")
        if found.word not in (4, 8) or found.order not in ("<", ">"):
            raise ValueError(f"j_word and j_order: found {found.word!r} and {found.order!r}")
        return found


# -- writing -----------------------------------------------------------------------------------------------


def nouns_of(table: Table) -> Sequence[Noun]:
    """The components that hold a table."""
    nouns: Sequence[Noun] = NOUNS[table.kind](table)
    return nouns


def _rows_of(table: Table, order: jo.Order) -> Callable[..., LazyRows]:
    """Arrays made in J's order of positions: of this shape and dtype, by a function of position numbers."""

    def rows(shape: tuple[int, ...], dtype: str, make: Callable[[NDArray[np.int64]], Any]) -> LazyRows:
        def fetch(start: int, stop: int) -> NDArray[Any]:
            numbers = order.span(start, stop, to_rows=False)
            return _gathered(
                lambda part: make(numbers[part]), stop - start, shape, np.dtype(dtype), table.release
            )

        return LazyRows((order.count, *shape), np.dtype(dtype), fetch)

    return rows


def _codes(order: jo.Order) -> Noun:
    return jn.integers(LazyRows((order.count,), np.dtype("i8"), lambda a, b: order.codes(np.arange(a, b))))


def _of_means(table: MeanRolls) -> Sequence[Noun]:
    order = jo.order(table.points, table.chequers)
    return [_codes(order), jn.floats(_rows_of(table, order)((), "f8", lambda k: table.means[k]))]


def _of_distributions(table: OneSided) -> Sequence[Noun]:
    order = jo.order(table.points, table.chequers)
    rows = _rows_of(table, order)
    bearoff, gammon = table.bearoff, table.gammon
    plain = jn.floats if table.exact else jn.integers
    width = bearoff.shape[1:]
    second = plain(np.zeros((0, *width), "f8" if table.exact else "i8"))
    if gammon is not None:
        second = plain(rows(width, "f8", lambda k: gammon[k]))
    return [
        _codes(order),
        jn.floats(rows((), "f8", lambda k: means(np.asarray(bearoff[k])))),
        plain(rows(width, "f8", lambda k: bearoff[k])),
        second,
        jn.text(_describe(table)),
    ]


#: how the components of each kind of table are made
NOUNS: dict[str, Callable[[Any], Sequence[Noun]]] = {
    MeanRolls.kind: _of_means,
    OneSided.kind: _of_distributions,
    Components.kind: lambda table: table.nouns,
}


def _gathered(
    make: Callable[[slice], Any],
    count: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    release: Callable[[], None] | None,
) -> NDArray[Any]:
    """`count` rows made some hundred at a time: rows lie far apart in the other order, and each maps its pages."""
    out = np.empty((count, *shape), dtype)
    for start in range(0, count, SCATTERED):
        part = slice(start, min(start + SCATTERED, count))
        out[part] = make(part)
        if release is not None and (start // SCATTERED + 1) % LET_GO == 0:
            release()
    return out


def means(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Mean rolls, float64, of distributions: parts of 65535, or chances when they are floats (added in order)."""
    if rows.dtype.kind == "f":
        total = np.zeros(rows.shape[:-1])
        for roll in range(rows.shape[-1]):
            total += roll * rows[..., roll]
        return total
    return np.asarray((rows.astype(np.int64) @ np.arange(rows.shape[1])) / 65535)


def _describe(table: OneSided) -> str:
    """The last component: what the numbers are, and what the table's file said besides."""
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


def size_of(file: Container) -> tuple[int, int] | None:
    """(points, chequers) when components 0 and 1 are ncodes and a float for each; None for any other file.

    Some hundred of the ncodes are looked at, and nearly all of them must be those of the table.
    """
    if len(file) < 2:
        return None
    codes, values = file.noun(0), file.noun(1)
    if (codes.type, values.type) != (JType.INTEGER, JType.FLOAT) or len(codes.shape) != 1 or codes.count < 2:
        return None
    if codes.shape != values.shape:
        return None
    rows = np.arange(0, codes.count, max(1, codes.count // SAMPLED))
    rows[-1] = codes.count - 1
    for size in jo.sizes_of(codes.count):
        agree = float((jo.order(*size).codes(rows) == codes.data[rows]).mean())
        if agree == 1.0 or (agree > MOSTLY and len(rows) >= SAMPLED // 2):
            return size  # a wrong ncode among many right ones is damage, which `Codes` names
    return None


def description(file: Container) -> dict[str, str] | None:
    """The lines of component 4 of a whole one-sided table; None when there is none."""
    if len(file) < 5:
        return None
    noun = file.noun(4)
    if noun.type is not JType.LITERAL or len(noun.shape) != 1 or noun.count > 1 << 16:
        return None
    first, _, rest = noun.data.tobytes().decode("utf-8", "replace").partition("\n")
    if first != TITLE:
        return None
    return dict(line.partition(" ")[::2] for line in rest.splitlines())


def mean_rolls(file: Container, size: tuple[int, int], **more: Any) -> MeanRolls:
    """The article's table."""
    codes = Codes(file, size, more.get("release"))
    rows: Rows = _ordered(file, codes, file.noun(1), np.dtype("f8"))
    if len(rows) <= EAGER:
        rows = np.asarray(rows)
    return MeanRolls(points=size[0], chequers=size[1], means=rows, **more)


def one_sided(file: Container, size: tuple[int, int], said: Mapping[str, str], **more: Any) -> OneSided:
    """The whole table; CorruptError when components and description do not belong together."""
    n, at = file.noun(0).count, int(file.entries[4, 0])
    wanted = {
        "points": size[0],
        "chequers": size[1],
        "scale": 1 if file.noun(2).type is JType.FLOAT else 65535,
    }
    for name, value in wanted.items():
        if said.get(name) != str(value):
            raise CorruptError(file.name, at, f"{name} {value} in the description", said.get(name, "nothing"))
    codes = Codes(file, size, more.get("release"))
    columns: list[Rows | None] = []
    for k, name in ((2, "bearoff"), (3, "gammon")):
        noun = file.noun(k)
        width = noun.shape[-1] if wanted["scale"] == 1 and noun.shape else ROLLS
        shapes = [(n, width)] + [(0, width)] * (k == 3 and said.get("gammon") == "no")
        if (
            noun.type not in (JType.INTEGER, JType.FLOAT)
            or noun.shape not in shapes
            or noun.type != file.noun(2).type
        ):
            expected = f"{name} distributions, {n:,} by {width} numbers"
            raise CorruptError(file.name, int(file.entries[k, 0]), expected, str(noun))
        dtype = np.dtype("f8" if noun.type is JType.FLOAT else "u2")
        columns.append(_ordered(file, codes, noun, dtype) if noun.shape[0] else None)
    bearoff, gammon = columns
    assert bearoff is not None
    facts: dict[str, Any] = {name: "" if value == "none" else value for name, value in said.items()}
    policy = said.get("gammon", "own")
    facts["gammon_policy"] = policy
    if policy in ("no", "own"):
        del facts["gammon_policy"]
    try:
        fields, carried = records.stated(facts, OneSided), formats.carried(facts)
    except ValueError as error:
        raise CorruptError(file.name, at, "a description as bgfmt writes it", error) from None
    more["carried"] = (*more.pop("carried", ()), *carried)
    return OneSided(points=size[0], chequers=size[1], bearoff=bearoff, gammon=gammon, **fields, **more)


class Codes:
    """The ncodes of a file, compared with what they must be: all of a small table when it is opened.

    Of a large table a thousand are compared when it is opened, then those that are looked up, and all of them
    once when it is walked.
    """

    def __init__(self, file: Container, size: tuple[int, int], release: Callable[[], None] | None) -> None:
        self.file, self.order, self.noun, self.release = file, jo.order(*size), file.noun(0), release
        self.whole = self.order.count <= EAGER
        self.check(np.arange(0, self.order.count, 1 if self.whole else self.order.count // 1000))

    def check(self, rows: NDArray[np.int64]) -> None:
        """Compare the codes of some rows."""
        expected, found = self.order.codes(rows), self.noun.data[rows]
        if not np.array_equal(expected, found):
            k = int((expected != found).argmax())
            at = self.noun.at + int(rows[k]) * self.noun.data.dtype.itemsize
            number = int(self.order.numbers(rows[k : k + 1])[0])
            raise CorruptError(self.file.name, at, f"ncode {expected[k]}", int(found[k]), number)

    def check_all(self) -> None:
        """Compare all codes, once."""
        if self.whole:
            return
        for start in range(0, self.order.count, BLOCK):
            self.check(np.arange(start, min(start + BLOCK, self.order.count)))
            if self.release is not None:
                self.release()
        self.whole = True


def _ordered(file: Container, codes: Codes, noun: Noun, dtype: np.dtype[Any]) -> LazyRows:
    """The rows of a component in order of position number; the ncodes are compared on the way."""
    order, data, release = codes.order, noun.data, codes.release
    shape = data.shape[1:]
    per_row = data.dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    def pick(numbers: NDArray[np.int64]) -> NDArray[Any]:
        rows = order.rows(numbers)
        if not codes.whole:
            codes.check(rows)
        return _gathered(lambda part: take(rows[part]), len(rows), shape, dtype, release)

    def fetch(start: int, stop: int) -> NDArray[Any]:
        if stop - start < jo.FEW:
            return pick(np.arange(start, stop))
        codes.check_all()
        rows = order.span(start, stop, to_rows=True)
        return _gathered(lambda part: take(rows[part]), stop - start, shape, dtype, release)

    def take(rows: NDArray[np.int64]) -> NDArray[Any]:
        values = data[rows]
        if dtype == np.uint16 and values.size and (values.min() < 0 or values.max() > 65535):
            wrong = (values < 0) | (values > 65535)
            k = int(wrong.any(axis=1).argmax())
            where = noun.at + int(rows[k]) * per_row
            number = int(order.numbers(rows[k : k + 1])[0])
            raise CorruptError(file.name, where, "parts of 65535", int(values[k][wrong[k]][0]), number)
        return np.asarray(values)

    return LazyRows((order.count, *shape), dtype, fetch, pick)
