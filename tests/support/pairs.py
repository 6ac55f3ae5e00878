"""Which formats hold the same table without loss, found by asking: `python -m tests.support.pairs` writes the page.

A pair stands for a table where both formats hold it and neither loses anything of it.
"""

from __future__ import annotations

import contextlib
import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bgfmt
from bgfmt import formats
from bgfmt.errors import CapabilityError
from bgfmt.files.convert import prepare
from bgfmt.formats import Format
from bgfmt.tables import KINDS, MeanRolls, OneSided, Table, TwoSided
from tests.laws.samples import made, random_table

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "fixtures" / "golden"
PAGE = ROOT / "docs" / "formats" / "pairs.md"
BEGIN, END = "<!-- made by python -m tests.support.pairs -->", "<!-- end -->"
#: names on the page, where they differ from those of `tables`
TITLES = {
    "one-sided": "one-sided without gammons",
    "one-sided, 6 points and 15 chequers": "one-sided without gammons, 6 points and 15 chequers",
    "normal distributions": "one-sided, normal distributions",
    "mean rolls": "one-sided, mean rolls",
    "match score": "two-sided, for a match score",
    "expected points": "two-sided, expected points",
    "hypergammon-exact": "hypergammon, exact",
    "two-sided-gammons": "two-sided with gammons",
    "two-sided-jacoby": "two-sided with gammons, Jacoby rule",
}


@cache
def tables() -> dict[str, Table]:
    """A small table of every sort that formats tell apart, by its name on the page."""
    gnubg = GOLDEN / "gnubg"
    os2: Any = bgfmt.load(gnubg / "os_p02.bd")
    os6: Any = bgfmt.load(gnubg / "os_p06.bd")
    ts: Any = bgfmt.load(gnubg / "ts_06x02.bd")
    with bgfmt.open(GOLDEN / "jfile/bgns.ijf") as db:
        means: Any = db.table.cut(3, 4)
    rng = np.random.default_rng(1)
    exact = np.pad(rng.uniform(-1, 1, (27, 27, 4)), ((0, 0), (1, 0), (0, 0)), constant_values=-1)
    exact = np.pad(exact, ((1, 0), (0, 0), (0, 0)), constant_values=1)
    found: dict[str, Table] = {
        "one-sided": bgfmt.load(gnubg / "os_p02_g.bd"),
        "one-sided with gammons": os2,
        "one-sided, 6 points and 15 chequers": made(OneSided, 6, 15, {"bearoff": np.asarray(os6.bearoff)}),
        "one-sided, exact": made(
            OneSided, 2, 15, {"bearoff": np.asarray(os2.bearoff) / 65535}, recipe="exact"
        ),
        "normal distributions": bgfmt.load(gnubg / "os_p02_nd.bd"),
        "mean rolls": made(MeanRolls, 3, 4, {"means": np.asarray(means.means)}),
        "two-sided, 6 points": ts,
        "two-sided, other points": bgfmt.load(gnubg / "ts_03x03.bd"),
        "two-sided, cubeless": bgfmt.load(gnubg / "ts_03x03_cubeless.bd"),
        "two-sided, exact": made(TwoSided, 6, 2, {"equities": exact}, recipe="exact"),
        "hypergammon": bgfmt.load(gnubg / "hyper1.bd"),
        "match score": bgfmt.load(GOLDEN.parent / "match" / "score_3x2.bgm"),
    }
    if "expected-points" in KINDS:
        worth = rng.integers(-(10**6), 10**6, (9, 9), np.int32)
        found["expected points"] = made(KINDS["expected-points"], 2, 3, {"worth": worth})
    if "bkg" in KINDS:
        rows = rng.integers(0, 10**6, (4853, 9), np.uint32)
        found["BKG's table"] = made(KINDS["bkg"], 6, 15, {"rows": rows})
        found["BKG's table, exact"] = made(
            KINDS["bkg"], 6, 15, {"rows": rng.random((4853, 9))}, recipe="exact"
        )
    for name, kind_of in KINDS.items():
        if not any(isinstance(table, kind_of) for table in found.values()) and kind_of.rules(2, 3):
            found[name] = random_table(kind_of, rng)
    return found


def holds(form: Format[Any], table: Table) -> bool:
    """Whether a format holds a table, and nothing of it is lost."""
    if not form.reads:
        return False
    try:
        held, lost = prepare(table, form)
    except CapabilityError:
        return False
    return not lost and form.concatenation_refusal([held]) is None


def holders(table: Table) -> list[str]:
    """The formats that hold a table."""
    return [name for name, form in formats.all_formats().items() if holds(form, table)]


def pairs(table: Table) -> list[tuple[str, str]]:
    """Pairs of formats between which a table goes there and back."""
    return list(itertools.permutations(holders(table), 2))


def lossy(table: Table) -> list[str]:
    """The formats that hold a table once something of it is lost."""
    names = []
    for name, form in formats.all_formats().items():
        with contextlib.suppress(CapabilityError):
            held, lost = prepare(table, form)
            if lost and form.reads and form.concatenation_refusal([held]) is None:
                names.append(name)
    return names


def page() -> str:
    """The table of the page: a line for the sorts of tables that the same formats hold."""
    lines = ["| table | formats that hold it whole | with `--lossy` also |", "| --- | --- | --- |"]
    rows: dict[str, list[str]] = {}
    for name, table in tables().items():
        whole, more = (
            ", ".join(f"[{form}]({form}.md)" for form in names) for names in (holders(table), lossy(table))
        )
        rows.setdefault(f"{whole} | {more} |", []).append(TITLES.get(name, name))
    lines += [f"| {'; '.join(names)} | {cells}" for cells, names in rows.items()]
    return "\n".join(lines)


def shown() -> str:
    """What the page has between its marks."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page()}\n\n{END}{after}", encoding="utf-8")
