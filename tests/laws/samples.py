"""Tables and files for the laws: of every kind of table and every format in the registries, guests' too.

Where a golden file is at hand it is taken; for other kinds a table is made of what the kind declares: arrays of the
shapes and dtypes it allows, filled with random numbers. A wheel has no golden files: small tables are solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import formats
from bgfmt.errors import CapabilityError
from bgfmt.formats import Format
from bgfmt.solver.registry import solver_of
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import KINDS, OneSided, Table, TwoSided

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden"
FILES = {
    "one-sided": ("gnubg/os_p02.bd", "gnubg/os_p02_g.bd", "gnubg/os_p02_cg.bd", "gnubg/os_p06.bd"),
    "normal-distribution": ("gnubg/os_p02_nd.bd",),
    "two-sided": ("gnubg/ts_03x03.bd", "gnubg/ts_03x03_cubeless.bd"),
    "hypergammon": ("gnubg/hyper1.bd",),
    "components": ("jfile/types.ijf",),
}
SIZES = ((2, 3), (25, 1), (6, 15))
ROLLS = 32
from_checkout = pytest.mark.skipif(not GOLDEN.is_dir(), reason="a wheel has not all samples")
#: formats of a row an entry, in which large tables would take the laws minutes
ROWWISE = ("parquet", "sqlite")
#: a table -> a smaller one, which formats that hold it are tried with instead
SMALLER = {"one-sided race": "one-sided race of two points", "one-sided os_p06.bd": "one-sided os_p02_g.bd"}


@cache
def tables() -> dict[str, Table]:
    """Tables by name, at least one of every kind there is."""
    rng = np.random.default_rng(1)
    found = golden_tables(rng) if GOLDEN.is_dir() else solved_tables()
    for name, kind in KINDS.items():
        guest = not kind.__module__.startswith("bgfmt.")
        if (guest or GOLDEN.is_dir()) and not any(table.kind == name for table in found.values()):
            found[f"{name} of random numbers"] = random_table(kind, rng)
    return found


def solved_tables() -> dict[str, Table]:
    """Small tables, made at once."""
    sizes = (("one-sided", 2, 15), ("two-sided", 3, 3), ("normal-distribution", 2, 15), ("mean-rolls", 3, 4))
    found: dict[str, Table] = {f"{kind} {p}x{c}": solver_of(kind, p, c).solve() for kind, p, c in sizes}
    two: Any = found["two-sided 3x3"]
    return found | {"two-sided cubeless": two.cubeless()}


def golden_tables(rng: np.random.Generator) -> dict[str, Table]:
    """Tables of the golden files, and of their numbers."""
    found: dict[str, Table] = {}
    for kind, names in FILES.items():
        for name in names:
            found[f"{kind} {name.partition('/')[2]}"] = bgfmt.load(GOLDEN / name)
    with bgfmt.open(GOLDEN / "jfile/bgns.ijf") as db:
        means: Any = db.table.cut(3, 4)
        found["mean-rolls 3x4"] = made(type(means), 3, 4, {"means": np.asarray(means.means)})
    one, two = found["one-sided os_p02.bd"], found["two-sided ts_03x03.bd"]
    assert isinstance(one, OneSided)
    assert isinstance(two, TwoSided)
    chances = np.asarray(one.bearoff) / 65535
    found["one-sided exact"] = made(OneSided, 2, 15, {"bearoff": chances, "gammon": chances}, recipe="exact")
    equities = rng.uniform(-1, 1, two.equities.shape)
    found["two-sided exact"] = made(TwoSided, 3, 3, {"equities": equities}, recipe="exact")
    os6 = found["one-sided os_p06.bd"]
    assert isinstance(os6, OneSided)
    arrays = {"bearoff": os6.bearoff, "gammon": os6.gammon}
    found["one-sided race"] = made(OneSided, 6, 15, arrays, gammon_policy="race")
    small = {"bearoff": one.bearoff, "gammon": one.gammon}
    found[SMALLER["one-sided race"]] = made(OneSided, 2, 15, small, gammon_policy="race")
    found["match-score 3x2"] = bgfmt.load(GOLDEN.parent / "match" / "score_3x2.bgm")
    if "bkg" in KINDS:
        found["bkg of random numbers"] = random_table(KINDS["bkg"], rng)
        found["bkg exact"] = made(KINDS["bkg"], 6, 15, {"rows": rng.random((4853, 9))}, recipe="exact")
    return found


def made(kind: type[Table], points: int, chequers: int, arrays: dict[str, Any], **fields: Any) -> Any:
    """A table of these arrays."""
    return kind(points=points, chequers=chequers, **fields, **arrays)


def random_table(kind: type[Table], rng: np.random.Generator) -> Table:
    """A table with the arrays its kind declares, of the first size it allows, filled with random numbers."""
    for points, chequers in SIZES:
        arrays = {}
        for rule in kind.rules(points, chequers):
            shape = tuple(ROLLS if axis is None else axis for axis in rule.shapes[0])
            dtype = np.dtype(rule.dtypes[0])
            if dtype.kind == "f":
                arrays[rule.name] = rng.random(shape).astype(dtype)
            else:
                limit = min(int(np.iinfo(dtype).max), 65535)
                arrays[rule.name] = rng.integers(0, limit, prod(shape)).astype(dtype).reshape(shape)
        table = made(kind, points, chequers, arrays)
        if table.check() is None:
            return table  # type: ignore[no-any-return]
    raise AssertionError(f"no size fits {kind.kind}")


@dataclass(frozen=True)
class Sample:
    """A file of a format: the table in it, its bytes, and what a reader must be told where it has no header."""

    format: Format
    table: Table
    options: dict[str, Any]

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        store = MemorySink()
        self.format.write(self.table, store, **self.options)  # type: ignore[arg-type]
        return bytes(store.data)

    @cached_property
    def described(self) -> dict[str, Any]:
        """What a missing header would have said, as the format itself finds it by size and content."""
        source = self.source()
        if self.format.recognise(formats.head_of(source)):
            return {}
        size = {"points": self.table.points, "chequers": self.table.chequers}
        return next(g for g in self.format.guess(source) if all(g.get(k, v) == v for k, v in size.items()))

    def source(self, data: bytes | None = None) -> Source:
        """Its bytes, or others, as a source."""
        return Source.from_bytes(self.data if data is None else data, "sample")

    def read(self, data: bytes | None = None) -> formats.Reading:
        """What its format reads in it."""
        return self.format.read(self.source(data), **self.described)


@cache
def samples() -> dict[str, Sample]:
    """For every format one file of each table and layout it can hold; a test that asks for its bytes writes it."""
    found: dict[str, Sample] = {}
    for form in (form for form in formats.all_formats().values() if form.reads):
        for name, table in tables().items():
            if form.name in ROWWISE and table.positions > 5000:
                continue
            for options in layouts(form):
                if form.concatenation_refusal([table]) is not None:
                    continue
                sample = Sample(form, table, options)
                if name in SMALLER and form.refusal(tables()[SMALLER[name]], options) is None:
                    continue
                try:
                    form.check(table, options)  # type: ignore[arg-type]
                    if not table.arrays():  # whether nouns fit is found by writing them
                        assert sample.data
                except CapabilityError:
                    continue
                label = " ".join([form.name, name, *(f"{k}={v}" for k, v in options.items())])
                found[label] = sample
    return found


def layouts(form: Format) -> list[dict[str, Any]]:
    """What to write a format's files with: nothing, and each truth value it offers turned off."""
    off = [{o.name: False} for o in form.options if o.kind is bool]
    words = [{"word": 4}, {"order": "big"}] if any(o.name == "word" for o in form.options) else []
    return [{}, *off, *words]
