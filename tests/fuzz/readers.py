"""Every reader of strangers' bytes, by name: `python -m tests.fuzz.readers [SECONDS] [SEED] [NAME...]`.

Each is given mutated copies of what it should be given, for its share of the time. Anything but a result or an error
of one line, more than two seconds or 300 MB is an escape: its input is kept as `broken-*.bin`. Prints the executions
of each reader, and how they ended; the exit code is 1 where one escaped.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt import met
from bgfmt.errors import BgfmtError
from bgfmt.game import identifiers
from bgfmt.hosts import asking
from bgfmt.hosts.external import Player, Session
from bgfmt.hosts.gnubg import record
from bgfmt.hosts.ubgi import Engine
from bgfmt.service import files, parameters
from bgfmt.service.refusals import Refusal
from tests.fuzz import mutations
from tests.matches import mutate as matches

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SECONDS, MEGABYTES = 2.0, 300
ESCAPE = "ESCAPE"
BATCH = 0.5  # seconds of one reader before the next has its turn


@dataclass(frozen=True)
class Reader:
    """What takes strangers' bytes.

    seeds : sound bytes. mutate : how they are damaged. read : the function, which says how it ended. share : of the
    time, in parts.
    """

    seeds: Callable[[], list[bytes]]
    mutate: Callable[[bytes, random.Random], bytes]
    read: Callable[[bytes], str]
    share: float = 1.0


def either(data: bytes, rng: random.Random) -> bytes:
    """Damage by one of the two mutators."""
    return (mutations.mutate if rng.random() < 0.5 else matches.damaged)(data, rng)


def of_text(read: Callable[[str], Any]) -> Callable[[bytes], str]:
    """A reader of text as a reader of bytes."""

    def one(data: bytes) -> str:
        return ended(lambda: read(data.decode("utf-8", "replace")))

    return one


def ended(read: Callable[[], Any]) -> str:
    """How a reader ends: in a result, or in the kind of its error, which must say it in one line."""
    try:
        read()
    except Refusal as error:
        body = error.body()["error"]
        assert "\n" not in body["message"]
        return "Refusal"
    except BgfmtError as error:
        assert str(error), "an error without words"
        assert "\n" not in str(error), f"not one line: {str(error)!r}"
        return type(error).__name__
    return "read"


def databases() -> list[bytes]:
    return [data for _, data in mutations.seeds()]


def recorded() -> list[bytes]:
    names = ["*.mat", "*.sgf", "*.gam", "*.ogxm", "*.gvab", "*.xg", "*.bgf"]
    found = [path for name in names for path in sorted((FIXTURES / "matches").glob(name))]
    return [path.read_bytes() for path in found if path.stat().st_size < 60_000]


def equity_tables() -> list[bytes]:
    return [
        path.read_bytes() for path in sorted((FIXTURES / "match").glob("*.[xm]*")) if path.suffix != ".md"
    ]


@cache
def states() -> tuple[Any, ...]:
    texts = (
        "dwMAAN4FAAAAAA:cAkAAAAAAAAE",
        "0 0 0 2 3 4 / 3 3 2",
        "XGID=-CBA-----------------abc--:1:1:1:52:3:2:0:5:10",
    )
    return tuple(identifiers.parse(text) for text in texts)


def identifiers_seeds() -> list[bytes]:
    texts = ["0 0 0 2 3 4", "4 3 1 bar 2 / 3,3,2", "cAkAAAAAAAAE", "board:You:Me:0:0:0:0"]
    forms = (identifiers.gnubg_id, identifiers.xgid, identifiers.ogid, identifiers.fibs, identifiers.match_id)
    for state in states():
        for write in forms:
            with contextlib.suppress(BgfmtError):
                texts.append(write(state))
        texts.append(identifiers.key_letters(state.position))
    return [text.encode() for text in texts]


def parse_all(text: str) -> None:
    """An identifier, as every place that takes one reads it."""
    for read in (identifiers.parse_side, asking.one_or_two, asking.parse_away):
        try:
            read(text)
        except BgfmtError as error:
            assert "\n" not in str(error)
    identifiers.parse(text)


@cache
def advisor() -> Any:
    """An adviser with one small table, which calculates nothing."""
    return bgfmt.Advisor(bgfmt.open(FIXTURES / "golden" / "gnubg" / "ts_05x04.bd"), calculate="nothing")


def lines_of_a_player() -> list[bytes]:
    found = [line for line in identifiers_seeds() if line.startswith(b"board:")]
    return [*found, b"version", b"help", b"set x 1", b"board:", b"exit"]


def external(text: str) -> None:
    session = Session(Player(advisor()))
    for line in text.split("\n")[:4]:
        answer = session.reply(line)
        assert "\n" not in answer or answer.startswith("Interface"), answer


def commands() -> list[bytes]:
    ids = [line.decode() for line in identifiers_seeds() if b"XGID" in line or b":" in line]
    more = [
        "ubgi",
        "isready",
        "newgame",
        "dice 3 1",
        "setoption name x value 1",
        "go role turn",
        "go role chequer",
    ]
    return [f"position {one}\n{second}\ngo".encode() for one in ids for second in more]


def engine(text: str) -> None:
    answering = Engine(advisor())
    for line in text.split("\n")[:4]:
        for answer in answering.reply(line):
            assert "\n" not in answer, answer


QUERY = (
    b"position=0+0+0+2+3+4+%2F+3+3+2&roll=31&away=5-9&cube=owned&cube_value=2&limit=10&crawford=true&met=x"
)


def query(data: bytes) -> str:
    return ended(lambda: parameters.question(parameters.from_query(data, parameters._READERS)))


def installed() -> list[bytes]:
    entry = {
        "source": "/x/new.bd",
        "sha256": "0" * 64,
        "size": 5,
        "link": False,
        "kept": "gnubg_ts.bd.before-bgfmt",
    }
    step = asdict(record.Step("gnubg_ts.bd", None, "gnubg_ts.bd.before-bgfmt"))
    journal = {
        "command": "install",
        "before": {},
        "after": {"gnubg_ts.bd": entry},
        "steps": [step],
        "record": "x",
    }
    return [json.dumps(value).encode() for value in ({"gnubg_ts.bd": entry}, journal)]


def journals(data: bytes) -> str:
    """The record and the journal of what is installed."""

    def both() -> None:
        value = record._json(Path("record"), data)
        for read in (record._record, record.read_transaction):
            try:
                read(value, Path("record"))
            except BgfmtError as error:
                assert "\n" not in str(error)

    return ended(both)


def salvaged(data: bytes) -> str:
    mutations.salvage(data)
    return "read"


READERS = {
    "databases": Reader(databases, either, mutations.walk, 8),
    "salvage": Reader(databases, either, salvaged),
    "matches": Reader(recorded, matches.repacked, matches.one, 8),
    "match equity tables": Reader(equity_tables, either, lambda data: ended(lambda: met.read(data))),
    "identifiers": Reader(identifiers_seeds, either, of_text(parse_all)),
    "external player": Reader(lines_of_a_player, either, of_text(external)),
    "UBGI": Reader(commands, either, of_text(engine)),
    "queries": Reader(lambda: [QUERY], either, query),
    "byte ranges": Reader(
        lambda: [b"bytes=0-99", b"bytes=-5", b"bytes = 5-", b"bytes=0-1, 5-9"], either,
        of_text(lambda text: files.byte_range(text, 1000)),
    ),
    "installed": Reader(installed, either, journals),
}  # fmt: skip


def batches(names: list[str], seconds: float) -> Iterator[str]:
    """The reader whose turn it is, until the time is over."""
    end = time.monotonic() + seconds
    while True:
        for name in names:
            yield name
            if time.monotonic() > end:
                return


def run(seconds: float, seed: int = 0, names: list[str] | None = None) -> dict[str, Counter[str]]:
    """Feed the readers for so long, or until interrupted; how each ended, by name."""
    names = names or list(READERS)
    corpora = {name: READERS[name].seeds() for name in names}
    ends: dict[str, Counter[str]] = {name: Counter() for name in names}
    rng = random.Random(seed)
    for name in names:  # what is loaded and compiled when first used is not held against an input
        READERS[name].read(corpora[name][0])
    base = peak_memory()
    with contextlib.suppress(KeyboardInterrupt):
        for name in batches(names, seconds):
            until = time.monotonic() + READERS[name].share * min(BATCH, seconds / len(names) / 8)
            while time.monotonic() < until:
                data = READERS[name].mutate(rng.choice(corpora[name]), rng)
                ends[name][fed(name, data, base)] += 1
    return ends


def fed(name: str, data: bytes, base: float) -> str:
    """How a reader ends; an escape is told and its input kept."""
    begin = time.process_time()
    try:
        end = READERS[name].read(data)
        took = time.process_time() - begin
        assert took < SECONDS, f"took {took:.1f} s"
        assert peak_memory() < base + MEGABYTES, f"held {peak_memory() - base:.0f} MB"
    except Exception as error:
        kept = Path(f"broken-{zlib.crc32(data):08x}.bin")
        kept.write_bytes(data)
        print(f"{name}: {kept} escapes", file=sys.stderr)
        traceback.print_exception(error)
        return ESCAPE
    return end


def peak_memory() -> float:
    """Megabytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    begin = time.monotonic()
    ends = run(seconds, int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:])
    for name, counted in ends.items():
        print(f"{name}: {counted.total():,} executions: {dict(counted)}")
    total, escapes = (
        sum(made) for made in zip(*((c.total(), c[ESCAPE]) for c in ends.values()), strict=True)
    )
    print(f"{total:,} executions in {time.monotonic() - begin:.0f} s, {escapes} escapes")
    sys.exit(1 if escapes else 0)


if __name__ == "__main__":
    main()
