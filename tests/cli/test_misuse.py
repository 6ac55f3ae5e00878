"""Misuse of every command: wrong options, numbers, words and files end with exit code 2 and one line.

The cases are made from the command tree itself: every leaf has a sound call here, and each of its parameters is then
given what it cannot mean.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click
import pytest

from bgfmt.cli import cli, run
from tests.conftest import FIXTURES, GOLDEN, has_extra

TS, OS = str(GOLDEN / "gnubg/ts_02x03.bd"), str(GOLDEN / "gnubg/os_p02.bd")
HYPER = str(GOLDEN / "gnubg/hyper1.bd")
MATCH = str(FIXTURES / "matches/gnubg107-beaver.sgf")
SECONDS = 120  # for a call that should be refused; a server would go on without end

#: a call of every command that is in order but for what a case puts in; OUT is a file in the test's folder
SOUND: dict[str, list[str]] = {
    "info": [TS],
    "lookup": [TS, "1 / 1"],
    "dump": [TS],
    "convert": [TS, "-o", "OUT.npz"],
    "formats": [],
    "solve gnubg-2001": ["-o", "OUT.bd"],
    "solve bkg": ["-o", "OUT.bkg"],
    "solve expected-points": ["2x2", "-o", "OUT.points"],
    "solve hypergammon": ["1", "-o", "OUT.bd"],
    "solve hypergammon-met": ["3", "--table", HYPER, "-o", "OUT.xml"],
    "solve match": ["2x2", "--away", "3-5", "-o", "OUT.bgm"],
    "solve mean-rolls": ["-o", "OUT.ijf"],
    "solve normal-distribution": ["2x15", "-o", "OUT.bd"],
    "solve one-sided": ["2", "-o", "OUT.bd"],
    "solve two-sided": ["2x2", "-o", "OUT.bd"],
    "solve two-sided-gammons": ["2x2", "-o", "OUT.npz"],
    "solve two-sided-jacoby": ["2x2", "-o", "OUT.npz"],
    "verify": [TS],
    "repair": [TS, "OUT.bd"],
    "diff": [TS, TS],
    "checksum": [TS],
    "sums": [TS],
    "race": [OS, "1"],
    "cube": [TS, "1 / 1"],
    "play": [TS, "1 / 1", "31"],
    "id": ["1 / 1"],
    "met": ["g11", "-o", "OUT.met"],
    "mcp": [TS],
    "new-format": ["a-format", "OUT"],
    "study rules": [TS],
    "study counts": ["1 1 / 2"],
    "articles ace": ["2", "3"],
    "articles btree": ["1/6", "2"],
    "articles double-off": ["4"],
    "articles rolls": ["1 1"],
    "articles pwin": ["1 1", "1"],
    "articles hash": ["1 1"],
    "articles layouts": ["3", "2"],
    "gnubg check": [TS],
    "gnubg install": [TS, "--slot", "ts", "--dir", "FOLDER", "--host", "pypi"],
    "gnubg uninstall": ["ts", "--dir", "FOLDER", "--host", "pypi"],
    "gnubg where": ["--dir", "FOLDER", "--host", "pypi"],
    "gnubg-external": [TS, "--port", "0"],
    "matches": [MATCH],
    "annotate": [MATCH, TS, "-o", "OUT.sgf"],
    "label": ["-", "-o", "OUT.jsonl"],
    "judge": [TS, "1 / 1", "--roll", "31", "--played", "1/off"],
    "engine": ["bkg", "explain", "--json"],
    "check-labels": ["LABELS.csv"],
    "exam": ["rule:keith", "--set", "traps", "--kind", "take", "--sample", "9"],
    "ubgi": [TS],
    "serve": [TS, "--port", "0"],
    "site": ["OUT", TS],
}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that is no group, by its words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from leaves(below, (*path, name))
    else:
        yield " ".join(path), command


LEAVES = {name: command for name, command in leaves(cli) if not name.startswith("guest")}
if not has_extra():
    SOUND = {name: words for name, words in SOUND.items() if name in LEAVES}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and a working folder of the test's own, and the files that are none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"))
    for name in ("HOME", "GNUBG_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    (tmp_path / "home").mkdir()
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "empty.bd").touch()
    (tmp_path / "LABELS.csv").write_text("position,win\n1 / 1,1\n")
    (tmp_path / "text.bd").write_text("no table of any kind\n" * 9)
    os.mkfifo(tmp_path / "pipe.bd")


@contextmanager
def in_time() -> Iterator[None]:
    """Ends what is not refused: a server, or a command that waits for a pipe."""

    def end(*_: Any) -> None:
        raise AssertionError(f"not refused within {SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def said(words: list[str]) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with in_time(), redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def fault(words: list[str]) -> str | None:
    """What is not as it should be where this is misuse; None when it is refused in one line."""
    try:
        code, _, err = said(words)
    except BaseException as error:
        return f"{words}: {error!r}"
    lines = err.splitlines()
    if code != 2 or len(lines) != 1 or "Traceback" in err or not lines[0].startswith("bgfmt: "):
        return f"{words}: exit code {code}, {lines[:3]}"
    return None


FILES = ["none.bd", "FOLDER", "pipe.bd", "empty.bd", "text.bd", "x" * 300]
PLACES = ["no/such/folder/x", "FOLDER", "pipe.bd", "text.bd/x", "x" * 300]
NUMBERS = ["nope", "", "1.5", "-9" + "9" * 20]
FLOATS = ["nope", "", "nan", "-1"]
WRITTEN = {"-o", "--report", "--plot", "--blocks", "destination"}  # parameters that name what is written


SERVERS = ("serve", "gnubg-external", "ubgi", "mcp")


def wrong_values(parameter: click.Parameter) -> list[str]:
    """What a parameter of its type cannot mean."""
    name = parameter.opts[0]
    kind = parameter.type
    if name in WRITTEN:
        return PLACES
    if isinstance(kind, click.Path):
        return FILES
    if isinstance(kind, click.types.FloatParamType):
        return FLOATS
    if isinstance(kind, click.types.IntParamType):
        return NUMBERS
    return ["nope", "\x1b[31m\n"]


def calls(name: str) -> Iterator[list[str]]:
    """Every wrong call of a command."""
    begin, sound = name.split(), SOUND[name]
    yield [*begin, *sound, "--nope"]
    for k, word in enumerate(sound):
        outs = PLACES if word.startswith("OUT") else FILES if word in (TS, OS, HYPER, MATCH) else []
        before = sound[k - 1] if k and sound[k - 1].startswith("-") else "FILE"
        for wrong in outs:
            if wrong not in FINE.get((name, before), ()):
                yield [*begin, *sound[:k], wrong, *sound[k + 1 :]]
    for option in (one for one in LEAVES[name].params if isinstance(one, click.Option)):
        word = option.opts[0]
        if option.is_flag:
            yield [*begin, *sound, f"{word}=nope"]
            continue
        yield [*begin, *sound, word]
        for wrong in wrong_values(option):
            if wrong not in FINE.get((name, word), ()):
                yield [*begin, *sound, word, wrong]


#: (command, option or file) -> values that are no misuse, with what they do
FINE: dict[tuple[str, str], tuple[str, ...]] = {
    ("solve two-sided", "--scratch"): ("none.bd", "FOLDER"),  # made; an empty folder takes the store
    ("solve two-sided", "--store"): ("nope", "\x1b[31m\n"),  # made
    ("solve two-sided-gammons", "--scratch"): ("none.bd", "FOLDER"),
    ("solve two-sided-gammons", "--store"): ("nope", "\x1b[31m\n"),
    ("verify", "--seed"): ("-9" + "9" * 20,),  # any whole number
    ("engine", "--seed"): ("-9" + "9" * 20,),
    ("gnubg install", "--dir"): ("none.bd", "FOLDER"),  # made
    ("gnubg where", "--dir"): ("none.bd", "FOLDER"),
    ("convert", "-o"): ("FOLDER",),  # the table is written there under its name
    ("annotate", "-o"): ("FOLDER",),  # one report a match is written there
    ("serve", "--allow-host"): ("nope",),
    ("site", "--title"): ("nope", "\x1b[31m\n"),  # any text, escaped in the page
    # what these two judge, they judge: a verdict on stdout, or the finding that nothing can be made of the file
    ("verify", "FILE"): ("empty.bd", "text.bd"),
    ("gnubg check", "FILE"): ("empty.bd", "text.bd"),
    ("gnubg install", "FILE"): ("empty.bd", "text.bd"),
    ("repair", "FILE"): ("text.bd",),
    ("sums", "FILE"): ("text.bd",),  # any file has sums
    ("checksum", "FILE"): ("text.bd",),
}


def test_every_command_has_a_sound_call() -> None:
    assert set(SOUND) == set(LEAVES)
    options = {(name, o) for name, c in LEAVES.items() for p in c.params for o in p.opts}
    assert {key for key in FINE if key[1] != "FILE" and key[0] in SOUND} <= options


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in SOUND if name not in (*SERVERS, "gnubg uninstall", "engine")]
)
def test_the_sound_call_is_sound(name: str) -> None:
    code, _, err = said([*name.split(), *SOUND[name]])
    assert code in (0, 1), err


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SOUND))
def test_misuse_is_refused_in_one_line(name: str) -> None:
    assert [said for said in map(fault, calls(name)) if said] == []


CONFLICTS = [
    ["convert", TS, "OUT.npz", "--header", "--no-header", "--compress"],
    ["convert", OS, "OUT.bd", "--to", "gnubg-ts"],
    ["convert", OS],
    ["convert", OS, TS, "OUT.npz"],
    ["convert", OS, OS, "-o", "OUT"],
    ["convert", OS, "-", "-o", "OUT"],
    ["convert", OS, "-"],
    ["convert", OS, "-", "--to", "npz", "--json"],
    ["repair", TS],
    ["repair", TS, "OUT.bd", "-o", "OUT.bd"],
    ["verify", TS, "--report", TS, "--force"],
    ["verify", TS, "--report", "NOWHERE/x.html"],
    ["verify", TS, "--as", "gnubg-os:points=-1"],
    ["verify", TS, "--tolerance", "inf"],
    ["verify", TS, "--until", "structure", "--tolerance", "1"],
    ["verify", TS, "--until", "digest", "--sample", "10"],
    ["verify", TS, "--seed", "3"],
    ["cube", TS, "-", "--plot", "OUT.svg"],
    ["exam", "bkg", "--seed", "3"],
    ["exam", "bkg", "--count", "3"],
    ["exam", "--ask", "--against", "bkg"],
    ["exam", "--make", "money", "--score", "3-5", "-o", "OUT.npz"],
    ["exam", "--make", "money", "--kind", "play", "-o", "OUT.npz"],
    ["exam", "--make", MATCH, "--count", "3", "-o", "OUT.npz"],
    ["exam", "--make", TS, "--make", OS, "-o", "OUT.npz"],
    ["solve", "hypergammon-met", "3", "--table", HYPER, "--chequers", "1", "-o", "OUT.xml"],
    ["solve", "hypergammon", "1", "-o", "OUT.bd", "--to", "gnubg-os"],
    ["solve", "hypergammon", "1", "-o", "OUT.foo"],
    ["solve", "hypergammon", "1", "-o", "OUT.csv"],
    ["solve", "hypergammon", "1", "-o", "OUT.bd", "--recipe", "exact"],
    ["solve", "hypergammon", "1", "-o", "OUT.bd", "--restart", TS],
    ["solve", "one-sided", "0", "-o", "OUT.bd"],
    ["solve", "one-sided", "six", "-o", "OUT.bd"],
    ["solve", "one-sided", "6x16", "-o", "OUT.bd"],
    ["solve", "one-sided", "2x15", "--chequers", "10", "-o", "OUT.bd"],
    ["solve", "one-sided", "2", "--normal-dist", "--recipe", "exact", "-o", "OUT.bd"],
    ["solve", "two-sided", "0x0", "-o", "OUT.bd"],
    ["solve", "two-sided", "2x2", "-o", "OUT.bd", "--threads", "9" * 21],
    ["solve", "two-sided", "2x2", "-o", "OUT.bd", "--device", "cuda", "--cluster", "local:1"],
    ["solve", "match", "2x2", "--away", "0-5", "-o", "OUT.bgm"],
    ["study", "rules", "--as", "gnubg-ts"],
    ["study", "rules", TS, "--met", "g11"],
    ["study", "rules", "--chequers", "6-1"],
    ["cube", TS, "1 / 1", "--crawford"],
    ["cube", TS, "XGID=-A----------------------a-:0:0:1:00:3:4:1:7:10"],
    ["judge", TS, "XGID=-A----------------------a-:0:0:1:00:3:4:1:7:10", "--no-double"],
    ["id", "1 1 / 1", "--to", "number", "--table", "1x1"],
    ["play", TS, "1 / 1", "77"],
    ["judge", TS, "1 / 1", "--double", "--no-double"],
    ["label", "labels.jsonl", "-o", "OUT.csv"],
    ["engine", "bkg", "play", "--engine", "x"],
    ["engine", "bkg", "self", "--games", "1", "--json"],
    ["engine", "bkg", "explain", "1 / 1", "61", "-o", "OUT.sgf"],
    ["engine", "bkg", "replay", "--seed", "3"],
    ["articles", "btree", "7/6", "2"],
    ["articles", "btree", "nan", "2"],
    ["engine", "bkg", "self", "--position", "1 / 0", "--games", "1"],
    ["ubgi", TS, "--engine", "bkg"],
    ["gnubg-external", TS, "--engine", "bkg"],
    ["lookup", TS, "#\u00b2"],  # a digit that is no decimal
    ["play", "1 1", "61", "--measure", "off:\u00b2"],
    ["site", "OUT"],
    ["nope"],
    ["solve", "nope"],
    ["--nope"],
]


@pytest.mark.parametrize("words", CONFLICTS, ids=" ".join)
def test_conflicts_are_refused_in_one_line(words: list[str]) -> None:
    assert fault(words) is None
