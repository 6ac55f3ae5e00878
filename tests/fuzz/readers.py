"""Every reader of foreign bytes, by name: `python -m tests.fuzz.readers [SECONDS] [SEED] [NAME...]`.

Each is given mutated copies of what it should be given, for its share of the time.
Where the environment names a file in BGFMT_FUZZ_LOG, a line of JSON goes there every minute: the executions since the
last one, by reader and end. Anything but a result or an error
of one line, more than ten seconds or 300 MB is an escape: its input is kept as `broken-*.bin`. Prints the executions
of each reader, and how they ended; the exit code is 1 where one escaped.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt import met
from bgfmt.analysis.positions import one_or_two
from bgfmt.analysis.questions import options
from bgfmt.errors import BgfmtError
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.extras.hosts.gnubg.folder import parse_record
from bgfmt.extras.hosts.ubgi import Engine
from bgfmt.extras.serve import app, parameters
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.files.database import read_source
from bgfmt.game import identifiers
from bgfmt.game.state import parse_away
from bgfmt.storage import Source
from tests.extras.matches import mutate as matches
from tests.fuzz import asking as service
from tests.fuzz import corpus, discovered, mutations
from tests.game import test_pasted as clipboard

FIXTURES = corpus.FIXTURES
SECONDS, MEGABYTES = 10.0, 300
ESCAPE = "ESCAPE"
EVERY = 60.0  # seconds between lines of the log
BATCH = 0.5  # seconds of one reader before the next has its turn


@dataclass(frozen=True)
class Reader:
    """What takes foreign bytes.

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


def pasted() -> list[bytes]:
    """What other programs put on the clipboard, and words around an identifier."""
    around = f"[b]Was it a double?[/b] ({clipboard.XGID}) Thanks, Ann\n> {clipboard.GNUBG}."
    return [text.encode() for text in (clipboard.XG_CLIPBOARD, clipboard.GNUBG_BOARD, around)]


def parse_all(text: str) -> None:
    """An identifier, as every place that takes one reads it."""
    for read in (identifiers.parse_side, one_or_two, parse_away):
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
    return ended(lambda: parameters.question(parameters.from_query(data, options())))


def installed() -> list[bytes]:
    entry = {"installed": ["0" * 64], "kept": ["gnubg_ts.bd.before-bgfmt"]}
    half = {"installed": ["1" * 64, "-> /x/new.bd"], "kept": []}
    return [json.dumps({"gnubg_ts.bd": one}).encode() for one in (entry, half)]


def journals(data: bytes) -> str:
    """The record of what is installed."""
    return ended(lambda: parse_record(data, Path("record")))


def described(data: bytes) -> str:
    """A file without header, as the line before it describes it."""
    said, _, content = data.partition(b"\n")
    return ended(lambda: walked(Source.from_bytes(content, "fuzzed"), said.decode("utf-8", "replace")))


def walked(source: Any, format: str | None = None) -> None:
    mutations.through(read_source(source, format=format))


def opened(data: bytes) -> str:
    """A file that is opened by its path, mapped or, every other time, read by the piece."""
    path = corpus.scratch() / "file"
    path.write_bytes(data)

    def both() -> None:
        with bgfmt.open(path, guard=len(data) % 2 == 0) as db:
            mutations.through(db)

    return ended(both)


def of_folder(data: bytes) -> str:
    """A folder of files, or a store of chunks."""
    folder = corpus.scratch() / "folder"
    corpus.unpacked(data, folder)

    def both() -> None:
        try:
            with bgfmt.open(folder) as db:
                mutations.through(db)
        except IsADirectoryError:
            return

    return ended(both)


def equity_table(data: bytes) -> str:
    return ended(lambda: met.read(data))


READERS = {
    "databases": Reader(corpus.quick, either, mutations.walk, 8),
    "described": Reader(corpus.headerless, either, described),
    "files": Reader(corpus.quick, either, opened),
    "folders": Reader(corpus.folders, either, of_folder),
    "rows": Reader(corpus.rows, either, mutations.walk, 3),
    "large databases": Reader(corpus.large, either, mutations.walk),
    "matches": Reader(lambda: [*corpus.short_matches(), matches.LOST_PLAYS], matches.repacked, matches.one, 6),
    "whole matches": Reader(corpus.matches, matches.repacked, matches.one),
    "match equity tables": Reader(equity_tables, either, equity_table, 2),
    "identifiers": Reader(identifiers_seeds, either, of_text(parse_all), 0.3),
    "pasted text": Reader(pasted, either, of_text(parse_all), 0.3),
    "external player": Reader(lines_of_a_player, either, of_text(external), 0.3),
    "UBGI": Reader(commands, either, of_text(engine), 0.3),
    "queries": Reader(lambda: [QUERY], either, query, 0.3),
    "bodies": Reader(lambda: list(service.BODIES), either, lambda data: ended(lambda: service.body(data)), 0.5),
    "requests": Reader(lambda: list(service.REQUESTS), either, service.request, 0.5),
    "byte ranges": Reader(
        lambda: [b"bytes=0-99", b"bytes=-5", b"bytes = 5-", b"bytes=0-1, 5-9"], either,
        of_text(lambda text: app.byte_range(text, 1000)), 0.1,
    ),
    "installed": Reader(installed, either, journals, 0.3),
}  # fmt: skip


@cache
def all_readers() -> dict[str, Reader]:
    """Return the readers above, and those that entry points and commands have."""
    return READERS | {name: Reader(*one, share=0.3) for name, one in discovered.readers().items()}


def batches(names: list[str], seconds: float) -> Iterator[str]:
    """The reader whose turn it is, until the time is over and each has had as many."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield from names


def run(seconds: float, seed: int = 0, names: list[str] | None = None) -> dict[str, Counter[str]]:
    """Feed the readers for so long, or until interrupted; how each ended, by name."""
    names = names or list(all_readers())
    readers = READERS if set(names) <= READERS.keys() else all_readers()
    corpora = {name: readers[name].seeds() for name in names}
    ends: dict[str, Counter[str]] = {name: Counter() for name in names}
    rng = random.Random(seed)
    for name in names:  # what is loaded and compiled when first used is not held against an input
        for sound in corpora[name]:
            readers[name].read(sound)
    base = peak_memory()
    log = Log(os.environ.get("BGFMT_FUZZ_LOG", ""), ends)
    with contextlib.suppress(KeyboardInterrupt), log:
        for name in batches(names, seconds):
            log.tell()
            until = time.monotonic() + readers[name].share * min(BATCH, seconds / len(names) / 8)
            while True:
                data = readers[name].mutate(rng.choice(corpora[name]), rng)
                ends[name][fed(name, readers[name], data, base)] += 1
                if time.monotonic() > until:
                    break
    return ends


class Log:
    """Adds what was executed since it last did to a file, every minute and at the end; nothing without a name."""

    def __init__(self, path: str, ends: dict[str, Counter[str]]) -> None:
        self.path, self.ends = path, ends
        self.told: dict[str, Counter[str]] = {name: Counter() for name in ends}
        self.due = time.monotonic() + EVERY

    def tell(self, *, last: bool = False) -> None:
        if not self.path or (not last and time.monotonic() < self.due):
            return
        self.due = time.monotonic() + EVERY
        new = {name: counted - self.told[name] for name, counted in self.ends.items()}
        self.told = {name: counted.copy() for name, counted in self.ends.items()}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({name: counted for name, counted in new.items() if counted}) + "\n")

    def __enter__(self) -> None:
        return

    def __exit__(self, *exc: object) -> None:
        self.tell(last=True)


def fed(name: str, reader: Reader, data: bytes, base: float) -> str:
    """How a reader ends; an escape is told and its input kept."""
    begin = time.process_time()
    try:
        end = reader.read(data)
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
