"""A flipped bit of a small file of every kind and format: no verdict is good without a word about it.

The quick run flips every third bit of a file of up to 800 bytes (npz 1,200, bgfmt-ts 2,400) of one table of a kind,
which are two or three of every byte, and some two dozen of others, spread over all of it; BGFMT_EVERY_BIT=1 flips
every one, for hours.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bgfmt
from bgfmt import formats, met, solver
from bgfmt.errors import AmbiguousFormatError, CapabilityError, FormatError, UnknownFormatError
from bgfmt.files.database import read_source
from bgfmt.files.solve import solve_table
from bgfmt.solver.match import match_score
from bgfmt.storage import MemorySink, Source
from bgfmt.tables import Table
from bgfmt.verifier import checks
from bgfmt.verifier.findings import Kind

BITS, FEW = 24, 8  # of a file that are flipped in the quick run; of one that takes long to prove
SMALL = 800  # bytes of a file of which every byte is
STEP = 3  # of these bits, so that all indexes in a byte are among them
SMALL_OF = {"npz": 1200, "bgfmt-ts": 2400}  # in formats whose reader soon finds it
SLOW = ("hypergammon", "bkg")
#: extras that have the proofs of some kinds
EXTRAS = {
    "expected-points": "lab",
    "bkg": "lab",
    "hypergammon": "hypergammon",
    "hypergammon-exact": "hypergammon",
}
EVERY = os.environ.get("BGFMT_EVERY_BIT") == "1"
UNEVEN = Path(__file__).resolve().parents[2] / "fixtures" / "match" / "uneven7.xml"


def made(kind: str, points: int, chequers: int, recipe: str | None = None) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npz"
        bgfmt.solve(kind, points, chequers, path, recipe=recipe)
        return bgfmt.load(path)


#: the smallest tables of every kind that is proved; a name of several words is of a variant
TABLES: dict[str, Callable[[], Table]] = {
    "one-sided": lambda: solver.one_sided(1, chequers=2),
    "one-sided with gammons": lambda: solver.one_sided(1, gammon=True),
    "one-sided exact": lambda: solver.one_sided(1, chequers=2, recipe="exact"),
    "normal-distribution": lambda: solver.one_sided(1, chequers=2, normal=True),
    "mean-rolls": lambda: solver.mean_rolls(2, 2),
    "two-sided": lambda: solver.two_sided(2, 1),
    "two-sided cubeless": lambda: solver.two_sided(2, 1, cubeful=False),
    "two-sided exact": lambda: solver.two_sided(2, 1, recipe="exact"),
    "two-sided-gammons": lambda: made("two-sided-gammons", 1, 15),
    "two-sided-jacoby": lambda: made("two-sided-jacoby", 1, 15),
    "match-score": lambda: match_score(2, 1, (2, 2), met.load("g11")),
    "match-score of two scores": lambda: match_score(2, 1, (2, 3), met.load()),
    "match-score of a table that bgfmt does not know": lambda: match_score(
        2, 1, (2, 3), met.load(UNEVEN), player=1
    ),
    "expected-points": lambda: made("expected-points", 1, 1),
    "bkg": lambda: made("bkg", 6, 8),
    "hypergammon": lambda: made("hypergammon", 25, 1),
    "hypergammon-exact": lambda: made("hypergammon", 25, 1, "exact"),
}


def files(table: Table) -> Iterator[tuple[str, bytes]]:
    """A file of a table in every format that holds it; of one that may lack its header, with it."""
    for form in formats.all_formats().values():
        sink = MemorySink()
        with contextlib.suppress(CapabilityError, NotImplementedError):
            if form.writes and form.name != "csv":
                form.write(table, sink)
                yield form.name, bytes(sink.data)


def flips(size: int, many: int, small: int = SMALL) -> range:
    """Bits of so large a file, all indexes in a byte among them."""
    step = STEP if size <= small else max(1, 8 * size // many) | 1
    return range(0, 8 * size, 1 if EVERY else step)


def structure_tells(data: bytes, name: str) -> bool:
    """Whether reading such a file or its structure finds a fault, which no later level of `verify` takes back."""
    try:
        db = read_source(Source.from_bytes(data, name))
        return any(finding.rule.kind is not Kind.NOTE for finding in checks.check_structure(db))
    except (UnknownFormatError, AmbiguousFormatError):  # `verify` looks for other readings
        return False
    except FormatError as error:
        assert "\n" not in str(error)
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.extra(EXTRAS[name]) if name in EXTRAS else ()) for name in TABLES],
)
@pytest.mark.filterwarnings("ignore")
def test_no_flipped_bit_is_passed_over(name: str, tmp_path: Path, bkg_once: None) -> None:
    count = 0
    slow = name.startswith(SLOW)
    for form, right in files(TABLES[name]()):
        count += 1
        path = tmp_path / form
        path.write_bytes(right)
        sound = bgfmt.verify(path)
        assert sound.exit_code == 0, (form, sound.verdict)
        silent = []
        data = bytearray(right)
        for turn, bit in enumerate(
            flips(len(right), FEW if slow else BITS, 0 if " " in name else SMALL_OF.get(form, SMALL))
        ):
            data[bit // 8] ^= 1 << bit % 8
            told = structure_tells(bytes(data), form)
            if not told or turn % 50 == 0:
                path.write_bytes(data)
                report = bgfmt.verify(path)
                assert report.exit_code or not told
                if report.exit_code == 0 and (report.verdict, report.notes) == (sound.verdict, sound.notes):
                    silent.append(bit)
            data[bit // 8] ^= 1 << bit % 8
        assert not silent, form
    assert count >= 3


@pytest.mark.extra("large")
@pytest.mark.slow
def test_no_flipped_bit_of_a_store_is_passed_over(tmp_path: Path) -> None:
    store = tmp_path / "store"
    solve_table("two-sided", 1, 1, store=store)
    sound = bgfmt.verify(store)
    assert sound.exit_code == 0
    for path in [path for path in store.rglob("*") if path.is_file()]:
        right = path.read_bytes()
        for bit in flips(len(right), BITS, 400):
            data = bytearray(right)
            data[bit // 8] ^= 1 << bit % 8
            path.write_bytes(data)
            report = bgfmt.verify(store)
            assert report.exit_code or report.notes != sound.notes, (path.name, bit)
        path.write_bytes(right)
