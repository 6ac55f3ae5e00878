"""A flipped bit of a small file of every kind and format: no verdict is good without a word about it.

The quick run flips every third bit of a file of up to 120 bytes, so some of each byte, and some two dozen of a larger
one, spread over all of it; BGFMT_EVERY_BIT=1 flips every one.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bgfmt
from bgfmt import formats, met, solver
from bgfmt.errors import CapabilityError
from bgfmt.solver.hypergammon import hypergammon
from bgfmt.solver.match import match_score
from bgfmt.storage import MemorySink
from bgfmt.tables import Table

BITS, FEW = 24, 8  # of a file that are flipped in the quick run; of one that takes long to prove
TINY = 120  # bytes of a file of which every third bit is
SLOW = ("hypergammon", "bkg")
EVERY = os.environ.get("BGFMT_EVERY_BIT") == "1"
UNEVEN = Path(__file__).resolve().parents[2] / "fixtures" / "match" / "uneven7.xml"


def made(kind: str, points: int, chequers: int) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npz"
        bgfmt.solve(kind, points, chequers, path)
        return bgfmt.load(path)


#: the smallest tables of every kind that is proved
TABLES: dict[str, Callable[[], Table]] = {
    "one-sided": lambda: solver.one_sided(1, chequers=2),
    "one-sided with gammons": lambda: solver.one_sided(1, gammon=True),
    "one-sided exact": lambda: solver.one_sided(1, chequers=2, recipe="exact"),
    "normal-distribution": lambda: solver.one_sided(1, chequers=2, normal=True),
    "mean-rolls": lambda: solver.mean_rolls(2, 2),
    "two-sided": lambda: solver.two_sided(2, 1),
    "two-sided cubeless": lambda: solver.two_sided(2, 1, cubeful=False),
    "two-sided exact": lambda: solver.two_sided(2, 1, recipe="exact"),
    "match-score": lambda: match_score(2, 1, (2, 3), met.load()),
    "match-score of players alike": lambda: match_score(2, 1, (2, 2), met.load("g11")),
    "match-score of a table that bgfmt does not know": lambda: match_score(
        2, 1, (2, 3), met.load(UNEVEN), player=1
    ),
    "expected-points": lambda: made("expected-points", 1, 1),
    "bkg": lambda: made("bkg", 6, 8),
    "hypergammon": lambda: hypergammon(1).table,
    "hypergammon-exact": lambda: hypergammon(1, recipe="exact").table,
}


def files(table: Table) -> Iterator[tuple[str, bytes]]:
    """A file of a table in every format that holds it; of one that may lack its header, with it."""
    for form in formats.known().values():
        sink = MemorySink()
        with contextlib.suppress(CapabilityError, NotImplementedError):
            if form.writes and form.name != "csv":
                form.write(table, sink)
                yield form.name, bytes(sink.data)


def flips(size: int, many: int) -> range:
    """Bits of so large a file, all indexes in a byte among them."""
    return range(0, 8 * size, 1 if EVERY else 3 if size <= TINY else max(1, 8 * size // many) | 1)


@pytest.mark.parametrize("name", TABLES)
def test_no_flipped_bit_is_passed_over(name: str, tmp_path: Path, bkg_once: None) -> None:
    count = 0
    for form, right in files(TABLES[name]()):
        count += 1
        path = tmp_path / form
        path.write_bytes(right)
        sound = bgfmt.verify(path)
        assert sound.exit_code == 0, (form, sound.verdict)
        silent = []
        for bit in flips(len(right), FEW if name.startswith(SLOW) else BITS):
            data = bytearray(right)
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                report = bgfmt.verify(path)
            if report.exit_code == 0 and (report.verdict, report.notes) == (sound.verdict, sound.notes):
                silent.append(bit)
        assert not silent, form
    assert count >= 3
