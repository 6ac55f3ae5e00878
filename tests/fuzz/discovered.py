"""Readers found by entry points and commands, so that a new format, match reader, engine or command is fuzzed.

Formats and match readers are those of `bgfmt.formats` and `bgfmt.matches`, engines under test those of
`bgfmt.candidates`, commands those of the command line. A command is called as in tests/cli/test_misuse.py, with a
file or "-" in the place of each of its words, and of each option that takes a text; where it opens the file, or reads
standard input, there is a reader.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from bgfmt import formats
from bgfmt.cli import run
from bgfmt.errors import UnknownFormatError
from bgfmt.extras import matches
from bgfmt.extras.exam import candidates, judging, making
from bgfmt.files.database import read_source
from bgfmt.storage import Source
from bgfmt.tables.registry import entry_points
from tests.cli.test_misuse import LEAVES, SOUND, WRITTEN
from tests.conftest import FIXTURES
from tests.fuzz import corpus, mutations

#: commands that go on until they are ended, or write a site of many files; readers of their requests are in `readers`
ENDLESS = ("serve", "gnubg-external", "mcp", "site")
SECONDS = 10  # of CPU time for one call
PROBE_SECONDS = (
    4  # of CPU time for a call that shows whether a file is opened; one that needs more is no reader
)
WAIT_SECONDS = 120  # for a call that waits
DASH = "-"
Feed = Callable[[bytes], str]
Found = tuple[Callable[[], list[bytes]], Callable[[bytes, random.Random], bytes], Feed]


class StillRunning(Exception):
    """A call has had its CPU time."""


def readers() -> dict[str, Found]:
    """Return seeds, mutator and reader by name."""
    found: dict[str, Found] = {}
    for name in formats.all_formats():
        found[f"format {name}"] = (partial(_files_of, name), _either, partial(_read_format, name))
    for name in matches.READERS:
        found[f"match {name}"] = (partial(_matches_of, name), _either, partial(_read_match, name))
    for name in entry_points("bgfmt.candidates"):
        if _asks_a_program(name):
            found[f"engine {name}"] = (_engine_answers, _either, partial(_ask_program, name))
    for name in sorted(SOUND):
        for where, words in _calls(name):
            found[f"command {name} {where}"] = (partial(_seeds, words), _behind_suffix, partial(_call, words))
    return found


def _either(data: bytes, rng: random.Random) -> bytes:
    from tests.fuzz.readers import either

    return either(data, rng)


# -- formats, matches, engines -----------------------------------------------------------------------------------


def _files_of(name: str) -> list[bytes]:
    own = [data for form, data in corpus._files() if form == name and len(data) <= corpus.QUICK_ROWS]
    return own or corpus.quick()[:20]


def _read_format(name: str, data: bytes) -> str:
    from tests.fuzz.readers import ended

    return ended(lambda: mutations.through(read_source(Source.from_bytes(data, "fuzzed"), format=name)))


def _matches_of(name: str) -> list[bytes]:
    def is_own(data: bytes) -> bool:
        with contextlib.suppress(UnknownFormatError):
            return matches.reader(data) is matches._READERS.get(name)
        return False

    return [data for data in corpus.short_matches() if is_own(data)] or corpus.short_matches()[:4]


def _read_match(name: str, data: bytes) -> str:
    from tests.fuzz.readers import ended

    reader: Any = matches._READERS.get(name)
    return ended(lambda: list(reader.read(data, "fuzzed")))


@cache
def _questions() -> Any:
    exam = making.load_named("traps")
    kinds = [np.flatnonzero(exam.kind == kind)[:1] for kind in range(4)]
    return exam.part(np.concatenate(kinds))


def _engine_answers() -> list[bytes]:
    """Return what engines say: greetings, plays, cube actions, numbers, JSON."""
    return [
        b"id name x\nid author y\nubgiok\nreadyok\nbestmove 6/1 5/off\nreadyok\nbestcube take\nreadyok\n",
        b"6/off 5/3\nroll\ntake\n0.5 0.75\n",
        b'{"answer": "6/off"}\n{"equity": 0.5, "win": 0.75}\n1e999\n' + b"9" * 400 + b"\n",
    ]


def _program(name: str, data: bytes) -> Any:
    path = corpus.scratch() / "said"
    path.write_bytes(data)
    return candidates.maker(f"{name}:cat {path}")


def _asks_a_program(name: str) -> bool:
    """Return True if a candidate starts the program that its name goes on with."""
    marker = corpus.scratch() / "started"
    marker.unlink(missing_ok=True)
    with contextlib.suppress(Exception):
        judging.collect_answers(candidates.maker(f"{name}:touch {marker}"), _questions(), timeout=2.0)
    return marker.exists()


def _ask_program(name: str, data: bytes) -> str:
    from tests.fuzz.readers import ended

    def ask() -> None:
        answers = judging.collect_answers(_program(name, data), _questions(), timeout=2.0)
        judging.findings(judging.judge(_questions(), answers, name))

    return ended(ask)


# -- commands ----------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    """Return a working folder and home of the commands."""
    folder = corpus.scratch() / "commands"
    for name in ("home", "FOLDER"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "LABELS.csv").write_text("position,win\n1 / 1,1\n")
    return folder


@cache
def _pool() -> list[bytes]:
    """Return one small sound file of each kind, its suffix in a line before it."""
    table = FIXTURES / "golden" / "gnubg" / "ts_02x03.bd"
    match = min((FIXTURES / "matches").glob("*.mat"), key=lambda path: path.stat().st_size)
    equities = min((FIXTURES / "match").glob("*.xml"), key=lambda path: path.stat().st_size)
    exam = _questions()
    exam.save(str(_folder() / "set.npz"), force=True)
    labels = b'{"position": "1 1 / 1", "win": 1.0, "owned": 1.0, "owned_error": 0.001}\n'
    files = [
        (".bd", table.read_bytes()),
        (".mat", match.read_bytes()),
        (".xml", equities.read_bytes()),
        (".npz", (_folder() / "set.npz").read_bytes()),
        (".jsonl", labels),
        (".csv", b"position,win,owned\n1 1 / 1,1.0,1.0\n0 1 / 2,0.75,0.5\n"),
        (".txt", b"1 1 / 1\nXGID=-BBB--------------------bb-:0:0:1:21:0:0:0:0:10\n6/off 5/3\ntake\n"),
    ]
    with contextlib.suppress(ImportError):
        files.insert(1, (".parquet", _labels_as_parquet()))
    return [suffix.encode() + b"\n" + data for suffix, data in files]


def _labels_as_parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({"position": ["1 1 / 1", "0 1 / 2"], "win": [1.0, 0.75]}), sink)
    return bytes(sink.getvalue())


def _seeds(words: tuple[str, ...]) -> list[bytes]:
    """Return sound files for a call: that of its sound call, several times, and one of each kind."""
    place = words[-1]
    own = []
    if os.path.isfile(place) and os.path.getsize(place) < 30_000:
        own = [Path(place).suffix.encode() + b"\n" + Path(place).read_bytes()] * 6
    return [*own, *_pool()]


def _behind_suffix(data: bytes, rng: random.Random) -> bytes:
    suffix, _, content = data.partition(b"\n")
    return suffix + b"\n" + _either(content, rng)


def _calls(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the places of a command where a file or standard input is read, and (words, the word before) of each.

    The words have FILE or "-" where the data go; the last one is no part of the call but the file of the sound call.
    """
    if name in ENDLESS:
        return
    begin = tuple(name.split())
    sound = tuple(SOUND[name])
    options = {option for one in LEAVES[name].params for option in one.opts}
    for k, word in enumerate(sound):
        if word.startswith("OUT") or word in options:
            continue
        where = sound[k - 1] if k and sound[k - 1] in options else f"word {k + 1}"
        for text, kind in (("FILE", where), (DASH, f"{where} -")):
            words = (*begin, *sound[:k], text, *sound[k + 1 :])
            in_a_worker = (
                name == "annotate" and text == "FILE" and os.path.isfile(word)
            )  # where no hook sees it
            if in_a_worker or _reads(words):
                yield kind, (*words, word)
    for option in filter(_takes_text, LEAVES[name].params):
        word = option.opts[0]
        if word in sound:
            continue
        with_call = (*begin, *sound, word, "FILE")
        alone = (*begin, word, "FILE", "-o", "OUT.npz")
        fitting = next(filter(_reads, (with_call, alone)), None)
        if fitting is not None:
            yield word, (*fitting, "")


def _takes_text(parameter: click.Parameter) -> bool:
    if not isinstance(parameter, click.Option) or parameter.is_flag or WRITTEN & set(parameter.opts):
        return False
    return isinstance(parameter.type, (click.Path, click.types.StringParamType))


_watched: list[str] = []  # names of fed files that were opened


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        event == "open"
        and isinstance(arguments[0], str)
        and os.path.basename(arguments[0]).startswith("fed.")
    ):
        _watched.append(arguments[0])


@cache
def _watch() -> None:
    sys.addaudithook(_hook)


class _Input(io.BytesIO):
    """Standard input that knows whether it was read."""

    touched = False

    def read(self, *size: Any) -> bytes:
        self.touched = True
        return super().read(*size)

    def read1(self, *size: Any) -> bytes:
        self.touched = True
        return super().read1(*size)

    def readline(self, *size: Any) -> bytes:
        self.touched = True
        return super().readline(*size)


def _reads(words: tuple[str, ...]) -> bool:
    """Return True if a call opens its file, or reads standard input; False for one that works too long on it."""
    _watch()
    found = False
    for data in _pool()[:: len(_pool()) - 1]:
        source = _Input(data.partition(b"\n")[2])
        _watched.clear()
        try:
            _call((*words, ""), data, source, PROBE_SECONDS)
        except StillRunning:
            return False
        except Exception:
            continue
        found = source.touched if DASH in words else bool(_watched)
        if found:
            break
    return found


def _call(words: tuple[str, ...], data: bytes, source: Any = None, seconds: int = SECONDS) -> str:
    """Call a command with a file, or standard input; returns its exit code."""
    suffix, _, content = data.partition(b"\n")
    folder = _folder()
    path = folder / f"fed{suffix.decode('ascii', 'replace')}"
    path.write_bytes(content)
    for left in folder.glob("OUT*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    line = [str(path) if word == "FILE" else word for word in words[:-1]]
    _watched.clear()
    code, said, told = _run(line, source or io.BytesIO(content), seconds)
    path.unlink(missing_ok=True)
    assert code in (0, 1, 2), f"exit code {code}: {said[:300]}"
    assert "Traceback" not in said, said[-2000:]
    assert code != 2 or said or told, "exit code 2 without a word"
    return f"exit code {code}"


def _run(line: list[str], source: Any, seconds: int) -> tuple[int, str, bytes]:
    """Return the exit code and what was said on standard error and output, in the folder and home of the commands."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.StringIO()
    before = {name: os.environ.get(name) for name in ("HOME", "XDG_DATA_HOME", "GNUBG_DATA_DIR")}
    here = os.getcwd()
    standard = sys.stdin

    def wait_no_more(*_: Any) -> None:
        raise AssertionError(f"not at an end after {WAIT_SECONDS} s")

    def work_no_more(*_: Any) -> None:
        raise StillRunning(f"{seconds} s of CPU time")

    alarm = signal.signal(signal.SIGALRM, wait_no_more)
    profile = signal.signal(signal.SIGPROF, work_no_more)
    signal.alarm(WAIT_SECONDS)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        os.environ.update(dict.fromkeys(before, str(_folder() / "home")))
        os.chdir(_folder())
        sys.stdin = io.TextIOWrapper(source, "utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(line)
            out.flush()
            return code, err.getvalue(), out.buffer.getvalue()  # type: ignore[attr-defined]
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGPROF, profile)
        sys.stdin = standard
        os.chdir(here)
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
