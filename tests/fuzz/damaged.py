"""Damaged copies of every kind of small table: `python -m tests.fuzz.damaged [COUNT] [SEED]`.

None may be called good, end in anything but a report or a BgfmtError of one line, take more than five seconds (of the
processor, so that other work does not count) or hold more than 400 MB. Prints how often each status came; the first
copy that breaks the rule is left as `broken.bin`, and the exit code is 1.
"""

from __future__ import annotations

import contextlib
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt import met, solver
from bgfmt.solver import gnubg2001
from bgfmt.solver.match import match_score
from tests import damage

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden"
SECONDS, MEGABYTES = 5.0, 400.0
#: golden files of gnubg's programs
FILES = (
    "os_p01.bd", "os_p02.bd", "os_p02_cg.bd", "os_p03.bd", "os_p03_c.bd", "os_p03_g.bd", "os_p03_H.bd",
    "os_p03_nd.bd", "os_p04.bd", "ts_03x03.bd", "ts_03x03_cubeless.bd", "ts_05x04.bd", "ts_06x03.bd", "ts_12x02.bd",
    "hyper1.bd",
    "hyper1_t1.bd", "h1_restart.bd", "concat_os_p02_ts_03x03.bd",
)  # fmt: skip


@dataclass(frozen=True)
class Seed:
    """A sound file: its name, bytes, table and the format it is written in."""

    name: str
    data: bytes
    table: Any
    format: str


def seeds(folder: Path) -> Iterator[Seed]:
    """A sound file of every kind of table in every format that holds it."""
    for name in FILES:
        path = GOLDEN / "gnubg" / name
        with bgfmt.open(path) as db:
            yield Seed(name, path.read_bytes(), bgfmt.load(path), db.format.name)
    tables = {
        "os": bgfmt.load(GOLDEN / "gnubg" / "os_p03.bd"),
        "nd": bgfmt.load(GOLDEN / "gnubg" / "os_p03_nd.bd"),
        "ts": bgfmt.load(GOLDEN / "gnubg" / "ts_05x03.bd"),
        "tc": bgfmt.load(GOLDEN / "gnubg" / "ts_04x04_cubeless.bd"),
        "hyper": bgfmt.load(GOLDEN / "gnubg" / "hyper1.bd"),
        "means": solver.mean_rolls(3),
        "exact-os": solver.one_sided(2, recipe="exact"),
        "exact-ts": solver.two_sided(4, 2, recipe="exact"),
        "match": match_score(3, 2, (3, 5), met.load()),
    }
    tables["os-bgsage"] = solver.one_sided(3, recipe="bgsage")
    yield written(folder, "2001", list(gnubg2001.solve()), "gnubg-2001")
    for kind, table in tables.items():
        for format in bgfmt.formats.known():
            if format.startswith("gnubg-") and format != "gnubg-huge":
                continue  # golden files
            with contextlib.suppress(bgfmt.BgfmtError):
                yield written(folder, f"{kind}-{format}", table, format)


def written(folder: Path, name: str, table: Any, format: str) -> Seed:
    """A file of these tables; CapabilityError where the format does not hold them."""
    bgfmt.save(table, folder / name, format=format)
    return Seed(name, (folder / name).read_bytes(), bgfmt.load(folder / name), format)


def judge(path: Path) -> str:
    """The status of a file, or the kind of error that says why there is none."""
    begin = time.process_time()
    try:
        report = bgfmt.verify(path)
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error), error
        return type(error).__name__
    took = time.process_time() - begin
    assert report.exit_code in (1, 2), f"called good: {report.verdict}"
    assert "\n" not in report.verdict
    assert took < SECONDS, f"took {took:.1f} s"
    return report.status


def run(count: int, seed: int = 0, folder: Path | None = None) -> Counter[str]:
    """Verify `count` damaged copies; how often each status came."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        where = folder or Path(made)
        corpus = list(seeds(where))
        for sound in corpus:  # kernels are compiled before anything is timed
            (where / "sound").write_bytes(sound.data)
            assert bgfmt.verify(where / "sound").exit_code == 0, sound.name
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        path = where / "damaged"
        for number in range(count):
            sound = corpus[number % len(corpus)]
            rng = random.Random(f"{seed}-{number}")
            if rng.random() < 0.5:
                kind = rng.choice(sorted(damage.KINDS))
                other = corpus[(number + 7) % len(corpus)].data
                path.write_bytes(damage.damaged(sound.data, kind, number + 100_000 * seed, other))
            else:
                kind = rng.choice(sorted(damage.VALUES))
                table = damage.damaged_table(sound.table, kind, number + 100_000 * seed)
                if table is None:
                    continue
                try:
                    bgfmt.save(table, path, format=sound.format, force=True)
                except bgfmt.BgfmtError:  # numbers that no such file holds
                    continue
                if path.read_bytes() == sound.data:
                    continue
            try:
                outcomes[judge(path)] += 1
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                assert peak < max(MEGABYTES, base + 100), f"held {peak:.0f} MB"
            except BaseException:
                Path("broken.bin").write_bytes(path.read_bytes())
                print(f"copy {number} of {sound.name}, {kind}, seed {seed}: broken.bin", file=sys.stderr)
                raise
    return outcomes


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    start = time.monotonic()
    found = run(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{found.total():,} damaged copies in {time.monotonic() - start:.0f} s: {dict(found)}")
