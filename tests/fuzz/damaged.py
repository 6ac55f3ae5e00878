"""Damaged copies of every kind of small table: `python -m tests.fuzz.damaged [COUNT] [SEED] [NAME...]`.

A name is of a seed that is left out. A seed that takes half a second to prove has every fourth turn.

None may be called good without a note of what differs, end in anything but a report or a BgfmtError of one line, take
more than five seconds (of the processor, so that other work does not count) or hold more than 400 MB. Prints how
often each status came; a copy that breaks the rule is left as `broken-*.bin`, and the exit code is 1.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt import solver
from bgfmt.files.gnubg_2001 import gnubg_2001_tables
from bgfmt.files.solve import solve_table
from bgfmt.tables import flat
from tests.support import damage, packing

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden"
SECONDS, MEGABYTES = 20.0, 250.0  # for one copy; what was held before it is not held against it
ESCAPE = "ESCAPE"
UNCHANGED = "no other file"
NOTED = "good, with a note of bytes that hold nothing"
ANOTHER_SIZE = "another size"
ANOTHER_RECIPE = "another recipe"
ANOTHER_PROGRAM = "a column by another program"
RESEALED = "bits, with the checksums made anew"
#: recipes of one kind of table each; none but this kind follows them
OWN_RECIPES = ("match", "bkg", "points")
#: golden files of gnubg's programs
FILES = (
    "os_p01.bd", "os_p02.bd", "os_p02_cg.bd", "os_p03.bd", "os_p03_c.bd", "os_p03_g.bd", "os_p03_H.bd",
    "os_p03_nd.bd", "os_p04.bd", "ts_03x03.bd", "ts_03x03_cubeless.bd", "ts_05x04.bd", "ts_06x03.bd", "ts_12x02.bd",
    "hyper1.bd",
    "hyper1_t1.bd", "concat_os_p02_ts_03x03.bd",
)  # fmt: skip
#: tables of other programs: what, points, chequers, recipe
MADE = {
    "points": ("expected-points", 3, 3, None),
    "bkg": ("bkg", 6, 8, None),
    "bkg-exact": ("bkg", 6, 8, "exact"),
    "hyper-exact": ("hypergammon", 25, 1, "exact"),
    "gammons": ("two-sided-gammons", 1, 15, None),
    "jacoby": ("two-sided-jacoby", 1, 15, None),
}


@dataclass(frozen=True)
class Seed:
    """A sound file: its name, bytes, tables (none where none can be written) and the format it is written in.

    within : of a folder, which is damaged in one file; the name of that file.
    proved : whether there is a rule that such tables are proved by.
    """

    name: str
    data: bytes
    tables: tuple[Any, ...]
    format: str
    within: str | None = None
    proved: bool = True


def seeds(folder: Path) -> Iterator[Seed]:
    """A sound file of every kind of table in every format that holds it."""
    for name in FILES:
        path = GOLDEN / "gnubg" / name
        with bgfmt.open(path) as db:
            yield Seed(name, path.read_bytes(), (bgfmt.load(path),), db.format.name)
    tables = {
        "os": bgfmt.load(GOLDEN / "gnubg" / "os_p03.bd"),
        "nd": bgfmt.load(GOLDEN / "gnubg" / "os_p03_nd.bd"),
        "ts": bgfmt.load(GOLDEN / "gnubg" / "ts_05x03.bd"),
        "tc": bgfmt.load(GOLDEN / "gnubg" / "ts_04x04_cubeless.bd"),
        "hyper": bgfmt.load(GOLDEN / "gnubg" / "hyper1.bd"),
        "means": solver.mean_rolls(3),
        "exact-os": solver.one_sided(2, recipe="exact"),
        "exact-ts": solver.two_sided(4, 2, recipe="exact"),
        "match": bgfmt.load(GOLDEN.parent / "match" / "score_3x2.bgm"),
    }
    tables["os-bgsage"] = solver.one_sided(3, recipe="bgsage")
    for name, (what, points, chequers, recipe) in MADE.items():
        bgfmt.solve(what, points, chequers, folder / f"{name}.npz", recipe=recipe)
        tables[name] = bgfmt.load(folder / f"{name}.npz")
    yield from stored(folder / "store")
    yield written(folder, "2001", list(gnubg_2001_tables()), "gnubg-2001")
    yield written(folder, "six points", solver.one_sided(6, recipe="bgsage"), "bgsage")
    for kind, table in tables.items():
        for format in bgfmt.formats.all_formats():
            if format.startswith("gnubg-"):
                continue  # golden files
            with contextlib.suppress(bgfmt.BgfmtError):
                yield written(folder, f"{kind}-{format}", table, format)


def stored(store: Path) -> Iterator[Seed]:
    """A store of chunks, once for each of its files."""
    solve_table("two-sided", 3, 3, store=store)
    for path in sorted(path for path in store.rglob("*") if path.is_file()):
        yield Seed(store.name, path.read_bytes(), (), "zarr", str(path.relative_to(store)))


def written(folder: Path, name: str, made: Any, format: str) -> Seed:
    """A file of a table, or of several; CapabilityError where the format does not hold them."""
    bgfmt.save(made, folder / name, format=format)
    path = folder / name
    within = None
    if path.is_dir():
        within = next(inside.name for inside in path.iterdir())
        path /= within
    held = tuple(made) if isinstance(made, list) else (bgfmt.load(folder / name),)
    return Seed(name, path.read_bytes(), held, format, within)


def judge(path: Path, notes: Collection[str] | None = None) -> str:
    """The status of a file, or the kind of error that says why there is none; a warning that is told is a fault.

    notes : of the sound file, if they are known. One more says that bytes differ which no number depends on; such a
    file may be good.
    """
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", RuntimeWarning)  # as the command does
            report = bgfmt.verify(path)
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error), error
        return type(error).__name__
    took = time.process_time() - begin
    noted = report.exit_code == 0 and notes is not None and not set(report.notes) <= set(notes)
    assert noted or report.exit_code in (1, 2), f"called good: {report.verdict}"
    assert "\n" not in report.verdict
    assert took < SECONDS, f"took {took:.1f} s"
    return NOTED if noted else report.status


def put(sound: Seed, data: bytes, folder: Path) -> Path:
    """The path of a file, or of a folder, with these bytes."""
    path = folder / "damaged"
    if sound.within is None:
        path.write_bytes(data)
        return path
    whole = folder / sound.name
    (whole / sound.within).write_bytes(data)
    return whole


def run(
    count: int,
    seed: int = 0,
    without: Container[str] = (),
    folder: Path | None = None,
    corpus: list[Seed] | None = None,
) -> Counter[str]:
    """Verify `count` damaged copies, or until interrupted; how often each status came.

    corpus : the seeds, where `seeds(folder)` was called already.
    """
    outcomes: Counter[str] = Counter()
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=shared) as made:
        where = folder or Path(made)
        corpus = [sound for sound in corpus or seeds(where) if sound.name not in without]
        slow = {
            sound.name for sound in corpus if sound.format == "gnubg-2001" or sound.name.startswith("bkg")
        }
        notes: dict[str, list[str]] = {}
        for sound in corpus:
            if sound.proved and sound.name not in slow:
                report = bgfmt.verify(put(sound, sound.data, where))
                assert report.exit_code == 0, sound.name
                notes[sound.name] = report.notes
        with contextlib.suppress(KeyboardInterrupt):
            for number, sound in zip(range(count), turns(corpus, slow), strict=False):
                rng = random.Random(f"{seed}-{number}")
                other = corpus[rng.randrange(len(corpus))].data
                kind = kind_of(sound, rng)
                path = copy(sound, kind, number + 100_000 * seed, other, where)
                if path is None:
                    outcomes[UNCHANGED] += 1
                    continue
                before = peak()
                try:
                    outcomes[judge(path, notes.get(sound.name))] += 1
                    assert peak() - before < MEGABYTES, f"took {peak() - before:.0f} MB"
                except Exception as error:
                    kept = f"broken-{sound.name}-{number}"
                    (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
                    print(f"copy {number} of {sound.name}, {kind}, seed {seed}: {kept}: {error!r:.300}",
                          file=sys.stderr, flush=True)  # fmt: skip
                    outcomes[ESCAPE] += 1
                finally:
                    if sound.within is not None:
                        put(sound, sound.data, where)
    return outcomes


def turns(corpus: list[Seed], slow: Container[str]) -> Iterator[Seed]:
    """Seeds in turn without end, those whose proof takes seconds in every fourth round."""
    for round_ in itertools.count():
        yield from (
            sound for k, sound in enumerate(corpus) if sound.name not in slow or (k + round_) % 4 == 0
        )


def kind_of(sound: Seed, rng: random.Random) -> str:
    """A kind of damage that the seed allows."""
    if sound.format in ("parquet", "sqlite") and rng.random() < 0.1:
        return ANOTHER_PROGRAM
    if sound.format == packing.NAME and rng.random() < 0.5:
        return RESEALED
    if sound.tables and rng.random() < 0.5:
        return rng.choice([*sorted(damage.VALUES), ANOTHER_SIZE, ANOTHER_RECIPE])
    if len(sound.data) <= 2 * damage.HEADER:
        return rng.choice(("bit", "bits", "front", "back", "cut", "short", "pad", "twice"))
    return rng.choice(sorted(damage.KINDS))


def copy(sound: Seed, kind: str, number: int, other: bytes, folder: Path) -> Path | None:
    """The path of a damaged copy; None where this damage changes nothing, or no such file can be written."""
    if kind in damage.KINDS:
        return put(sound, damage.damaged(sound.data, kind, number, other), folder)
    if kind == RESEALED:
        again = packing.resealed(sound.data, damage.damaged(sound.data, "bits", number, other))
        return put(sound, again, folder) if again != sound.data else None
    if kind == ANOTHER_PROGRAM:
        return by_another_program(put(sound, sound.data, folder), sound, random.Random(number))
    tables = list(sound.tables)
    at = number % len(tables)
    if kind == ANOTHER_SIZE:
        tables[at] = damage.another_size(tables[at], number)
    elif kind == ANOTHER_RECIPE:
        said = [name for name in OWN_RECIPES if name != tables[at].recipe]
        tables[at] = replace(tables[at], recipe=said[number % len(said)])
    else:
        tables[at] = damage.damaged_table(tables[at], kind, number)
    if tables[at] is None:
        return None
    path = folder / ("damaged" if sound.within is None else "damaged folder")
    try:
        with warnings.catch_warnings(action="ignore"):  # of numbers that are none
            bgfmt.save(tables if len(tables) > 1 else tables[0], path, format=sound.format, force=True)
    except bgfmt.BgfmtError:  # numbers that no such file holds
        return None
    if kind == ANOTHER_RECIPE and bgfmt.load(path).recipe != tables[at].recipe:  # nor any word of a recipe
        return None
    inside = path / sound.within if sound.within and (path / sound.within).exists() else path
    return path if inside.is_dir() or inside.read_bytes() != sound.data else None


def by_another_program(path: Path, sound: Seed, rng: random.Random) -> Path | None:
    """A table of rows in which another program changed one number or text that is not read back."""
    shown = [column for column in flat.columns(sound.tables[0]) if column.role not in ("number", "stored")]
    column, row = rng.choice(shown), rng.randrange(sound.tables[0].entries)
    if sound.format == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as db:
            change = "'x'" if column.role == "id" else f'"{column.name}" + 1'
            db.execute(f'UPDATE positions SET "{column.name}" = {change} WHERE position_number = ?', (row,))
            db.commit()
        data = bytearray(path.read_bytes())
        data[96:100] = (3_000_000 + rng.randrange(50) * 1000).to_bytes(4, "big")  # the version of SQLite
        path.write_bytes(data)
        return path if data != sound.data else None
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    values = table[column.name].to_pylist()
    values[row] = "x" if column.role == "id" else -1.5 if column.dtype.kind == "f" else values[row] + 1
    at = table.column_names.index(column.name)
    pq.write_table(table.set_column(at, column.name, pa.array(values, table[column.name].type)), path)
    return path


def peak() -> float:
    """Megabytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    start = time.monotonic()
    found = run(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:])
    print(
        f"{found.total() - found[UNCHANGED]:,} damaged copies in {time.monotonic() - start:.0f} s: {dict(found)}"
    )
    sys.exit(1 if found[ESCAPE] else 0)
