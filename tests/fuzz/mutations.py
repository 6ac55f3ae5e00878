"""Mutations of headers, indexes and containers: `python -m tests.fuzz.mutations [COUNT] [SEED]`.

Every mutated file must give a table that can be walked, or a BgfmtError of one line, within ten seconds of the
processor and
without holding more than 300 MB. Prints what was tried; exits 1 at the first file that breaks the rule, which it
leaves as `broken.bin`.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from itertools import islice
from pathlib import Path

import bgfmt
from bgfmt import formats
from bgfmt.files.database import read_source
from bgfmt.storage import MemorySink, Source

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden"
SMALL = 70_000
ROWWISE = ("ts_02x03.bd", "os_p01.bd")  # of these also the formats of a row an entry
INTERESTING = [0, 1, 2, 3, 0x10, 0x20, 0x30, 0x31, 0x35, 0x39, 0x7F, 0x80, 0xE0, 0xE1, 0xE2, 0xE3, 0xFE, 0xFF]


def seeds() -> list[tuple[str, bytes]]:
    """Every small golden file, by name."""
    files = sorted(p for p in GOLDEN.rglob("*") if p.suffix in (".bd", ".ijf", ".db", ".npz"))
    found = [(p.name, p.read_bytes()) for p in files if p.stat().st_size <= SMALL]
    made = [(f"{name} as npz", written(data, "npz")) for name, data in found[::4] if name.endswith(".bd")]
    packed = [
        (f"{name} as bgfmt-ts", written(data, "bgfmt-ts"))
        for name, data in found
        if name.startswith("ts_") and not name.endswith("_H.bd")
    ]
    few = [(name, data) for name, data in found if name in ROWWISE]
    rowwise = [(f"{n} as {f}", written(d, f)) for n, d in few for f in ("parquet", "sqlite")]
    return found + made + packed + rowwise


def written(data: bytes, form: str) -> bytes:
    """The table of a file in another format."""
    sink = MemorySink()
    formats.get(form).write(read_source(Source.from_bytes(data)).table, sink)
    sink.flush()
    return bytes(sink.data)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to four changes, mostly near the start, where headers, indexes and containers are."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        if not out:
            break
        near = min(len(out), rng.choice((24, 48, 512, 2048, len(out))))
        at = rng.randrange(near)
        how = rng.random()
        if how < 0.5:
            out[at] = rng.choice(INTERESTING)
        elif how < 0.7:
            out[at] = rng.randrange(256)
        elif how < 0.8:
            out[at : at + 8] = rng.choice((b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 7, b"99999999"))
        elif how < 0.9:
            del out[at : at + rng.choice((1, 8, 64))]
        else:
            out[at:at] = out[at : at + rng.choice((1, 8, 64))]
    return bytes(out)


def walk(data: bytes) -> str:
    """Open and walk the whole of a file in memory; what came of it."""
    try:
        through(read_source(Source.from_bytes(data, "fuzzed")))
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error), error
        return type(error).__name__
    return "table"


def through(db: bgfmt.Database) -> None:
    """Ask for all that an opened file holds."""
    db.info()
    list(islice(db.audit(), 20))
    for _, block in db.table.blocks(1 << 16):
        for rows in block.values():
            len(rows)
    for noun in db.table.nouns if db.table.kind == "components" else ():  # type: ignore[attr-defined]
        repr(noun)[:80]


def run(count: int, seed: int = 0) -> dict[str, int]:
    """Try `count` mutations; how often each outcome came."""
    rng, corpus = random.Random(seed), seeds()
    outcomes: dict[str, int] = {}
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for number in range(count):
        name, data = corpus[number % len(corpus)]
        mutated = mutate(data, rng)
        begin = time.process_time()
        try:
            outcome = walk(mutated)
            assert time.process_time() - begin < 10, "took more than ten seconds"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            assert peak < 300 + base, f"held {peak - base:.0f} MB"
        except BaseException:
            Path("broken.bin").write_bytes(mutated)
            print(f"mutation {number} of {name}, seed {seed}: kept as broken.bin", file=sys.stderr)
            raise
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    start = time.monotonic()
    found = run(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{wanted:,} mutations of {len(seeds())} files in {time.monotonic() - start:.0f} s: {found}")
