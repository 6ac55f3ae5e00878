"""Programs that answer lines, and what a UBGI engine must answer: `bgfmt ubgi --check COMMAND`.

The corpus of a version is a list of cases. A case sends commands and checks the lines that come back. A case of level
0 belongs to the core of the protocol; an engine may refuse cases of higher levels.
"""

from __future__ import annotations

import contextlib
import re
import select
import shlex
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.game.drawing import printable
from bgfmt.game.identifiers import from_gnubg_id, from_xgid, position_id
from bgfmt.game.moves import BAR, OFF, legal_plays
from bgfmt.game.state import GameState

#: versions of the protocol
V01 = "0.1"
V02 = "0.2"
#: time for a program to start and to find its first play
START_SECONDS = 30.0
#: time for each later answer
ANSWER_SECONDS = 10.0
MAX_LINE_BYTES = 1 << 20
#: how much of the end of a program's standard error is kept
MAX_STDERR_BYTES = 400
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


class EngineProcess:
    """A running program that answers lines by lines.

    Parameters
    ----------
    command
        The program and its arguments.
    options
        Further arguments of `subprocess.Popen`.

    Raises
    ------
    CapabilityError
        If the program did not start.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        try:
            self.process: Any = subprocess.Popen(command, bufsize=0, **PIPES, **options)
        except OSError as error:
            raise CapabilityError(f"{command[0]}: did not start ({error.strerror})") from None
        self.unread = b""  # output behind the last line that was read
        self.errors = b""
        self.listener = threading.Thread(target=self._read_errors, daemon=True)
        self.listener.start()

    def _read_errors(self) -> None:
        """Keep the end of what the program writes to standard error."""
        with contextlib.suppress(OSError, ValueError):  # closed
            while more := self.process.stderr.read(1 << 16):
                self.errors = (self.errors + more)[-MAX_STDERR_BYTES:]

    def _make_end_error(self) -> EOFError:
        """Return the error of a program that has ended, with its exit status and its last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.listener.join(1)
        last = self.errors.decode("utf-8", "replace").strip().splitlines()[-1:]
        return EOFError(": ".join([f"the program ended with {self.process.poll()}", *map(printable, last)]))

    def send(self, line: str) -> None:
        """Send one line to the program; EOFError if the program has ended."""
        try:
            self.process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise self._make_end_error() from None

    def discard_output(self) -> None:
        """Discard the output of the program that has already come but was not read."""
        self.unread = b""
        for _ in range(100):  # a program may write without end
            if not select.select([self.process.stdout], [], [], 0)[0] or not self.process.stdout.read(
                1 << 16
            ):
                return

    def read_line(self, until: float) -> str:
        """Return the next line of output.

        Parameters
        ----------
        until
            The time of `time.monotonic` to wait for.

        Raises
        ------
        TimeoutError
            If no line comes by then.
        EOFError
            If the program has ended.
        """
        if time.monotonic() > until:  # a program may write without end
            raise TimeoutError("no answer in time")
        while b"\n" not in self.unread:
            if not select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("no answer in time (a program must flush each line)")
            more = self.process.stdout.read(1 << 16)  # what there is
            if not more or len(self.unread) > MAX_LINE_BYTES:
                raise self._make_end_error()
            self.unread += more
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the program and close its pipes."""
        self.process.kill()
        self.process.wait()
        self.listener.join(1)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()


# -- cases ------------------------------------------------------------------------------------------------------

#: bearoffs and a race, the side on roll first, and their dice
PLAYS = (
    ("0 3 4 3 / 0 3 4 3", (2, 1)), ("0 1 0 0 1 / 0 1 1", (6, 1)), ("0 0 0 2 / 1", (3, 3)), ("2 2 2 / 3 3", (1, 1)),
    ("0 0 0 1 0 1 / 1 1", (5, 2)), ("1 1 / 1", (6, 6)), ("0 0 1 0 0 0 1 / 2 2", (5, 1)),
)  # fmt: skip
OPENING = "4HPwATDgc/ABMA"
RACE = "tw8AANg7AAAAAA"
#: one chequer on the bar before a board of six closed points
CLOSED_OUT = "27YBAAAAACAAAA"
#: positions with their dice in which one play is legal, by who is on roll
XGIDS = {
    "bottom": "XGID=------A-------------aa----:0:0:1:21:0:0:0:0:10",
    "top": "XGID=----AA-------------a------:0:0:-1:21:0:0:0:0:10",
}
#: dice that no engine may accept
BAD_DICE = ("7 1", "0 3", "-1 2", "6", "6 1 1", "x y")
#: error codes by which an engine may refuse a position, by version
REFUSALS = {V01: ("not_covered", "unsupported_feature"), V02: ("unsupported",)}
#: lines that report an error, by version; "sorry" is of an old draft
ERRORS = {V01: r"error \w+.*|sorry.*", V02: r"error (bad_command|bad_value|bad_state|unsupported)\b.*"}
#: a `key` line of 0.2
KEY = re.compile(
    r"key (?P<name>[a-z]\w*(?:\.\w+)+) (?:"
    r"int (?:(?P<low>-?\d{1,18})\.\.(?P<high>-?\d{1,18}) |\* )?(?P<int>-?\d{1,18})"
    r"|bool (?P<bool>true|false|0|1|on|off)"
    r"|enum (?P<values>\S+) (?P<choice>\S+)"
    r"|string \*(?: (?P<text>\S+))?"
    r")(?: !)?(?: .*)?"
)
#: takes the lines of an answer, one empty line where there is none, and returns what is wrong with them ("": nothing)
FindFault = Callable[[list[str]], str]


@dataclass(frozen=True)
class Case:
    """One exchange with an engine.

    Parameters
    ----------
    level
        0 for the core of the protocol, which every engine must have.
    name
        Name of the case in a report.
    commands
        The lines to send, with ";" between them.
    find_fault
        Checks the lines of the answer.
    version
        The version of the protocol that the case belongs to.
    """

    level: int
    name: str
    commands: str
    find_fault: FindFault
    version: str = V01


@dataclass(frozen=True)
class Outcome:
    """How a case went: "ok", "refused" (an error that the engine may give) or "failed", and why."""

    case: Case
    verdict: str
    why: str = ""


# -- checks of answers, each a FindFault or a function that returns one --------------------------------------------


def describe_pattern(pattern: str) -> str:
    """Return a regular expression of an answer as text for a message, such as "error CODE ..." or "readyok"."""
    for mark, text in ((r"\b", ""), (r"\w+", "CODE"), (" ?(.*)", " ..."), (".*", " ..."), ("|", " or ")):
        pattern = pattern.replace(mark, text)
    return pattern.replace("\\", "").removesuffix(" or ")


def expect(*patterns: str) -> FindFault:
    """Return a check of an answer: each of these regular expressions must match one of its lines."""

    def find_fault(answers: list[str]) -> str:
        for pattern in patterns:
            if not any(re.fullmatch(pattern, line) for line in answers):
                return f"expected {describe_pattern(pattern)}, found {answers[-1][:60]!r}"
        return ""

    return find_fault


def expect_play(state: GameState, line: str = "bestmove ?(.*)") -> FindFault:
    """Return a check of an answer: its last line must be a legal play.

    Parameters
    ----------
    state
        The position with the dice.
    line
        Regular expression of the line; its group is the play.
    """

    def find_fault(answers: list[str]) -> str:
        match = re.fullmatch(line, answers[-1])
        if match is None:
            return f"expected {describe_pattern(line)}, found {answers[-1][:60]!r}"
        text = match[1]
        assert state.dice is not None
        legal = [count_changes(play.moves) for play in legal_plays(state.position, *state.dice)]
        if not legal:
            return "" if text == "pass" else f"{text!r} where no chequer can move"
        pairs = re.findall(r"(bar|\d+)/(off|\d+)", text.lower())
        if len(pairs) != len(text.split()):
            return f"{text!r}: moves are from/to pairs, one for each die"
        points = {"bar": BAR, "off": OFF}
        moves = [[int(points.get(word, word)) for word in pair] for pair in pairs]
        return "" if count_changes(moves) in legal else f"{text!r} is not a legal play"

    return find_fault


def count_changes(moves: Iterable[Sequence[int]]) -> Counter[int]:
    """Return by how many chequers each point changes in the moves (start, end, ...) of a play.

    Two ways to write the same play have the same changes.
    """
    points: Counter[int] = Counter()
    for start, end, *_ in moves:
        points.update({start: -1})
        points.update({end: 1})
    return points


def check_silence(answers: list[str]) -> str:
    """Return what is wrong with the answer to commands that must be accepted silently: "" if `readyok` alone came."""
    return "" if answers == ["readyok"] else f"expected no answer, found {answers[0][:60]!r}"


def check_keys(answers: list[str]) -> str:
    """Return what is wrong with the answer to `keys`: "" if its lines are well-formed and list each key once."""
    lines = [line for line in answers if line]
    for line in lines:
        match = KEY.fullmatch(line)
        if match is None:
            return f"expected a line such as 'key engine.ply int 1..4 1', found {line[:60]!r}"
        if match["low"] and not int(match["low"]) <= int(match["int"]) <= int(match["high"]):
            return f"the default is outside the range: {line[:60]!r}"
        if match["values"] and match["choice"] not in match["values"].split("|"):
            return f"the default is not one of the values: {line[:60]!r}"
    names = {line.split()[1] for line in lines}
    return "" if len(names) == len(lines) else "a key is listed twice"


# -- the corpora ---------------------------------------------------------------------------------------------------


def say_position(state: GameState) -> str:
    """Return the UBGI commands, separated by ";", that set a position and its dice."""
    dice = f";dice {state.dice[0]} {state.dice[1]}" if state.dice else ""
    return f"position gnubgid {position_id(state.position)}{dice}"


def corpus(version: str = V01) -> Iterator[Case]:
    """Yield the test cases of a version of UBGI, those of the core of the protocol (level 0) first.

    Cases of the keys that an engine has are not among them; see `list_key_cases`.
    """
    rows = [*list_core(version), *(list_02() if version == V02 else list_01())]
    for level, name, commands, find_fault in sorted(rows, key=itemgetter(0)):
        yield Case(level, name, commands, find_fault, version)


_Row = tuple[int, str, str, FindFault]
_DOUBLED = f"position gnubgid {replace(from_gnubg_id(RACE), doubled=True).gnubg_id}"
_AT_RACE = f"position gnubgid {RACE}"
_DOUBLING = "bestcube (double|nodouble)"


def list_core(version: str) -> Iterator[_Row]:
    """Yield the test cases that both versions have, in the words of one of them."""
    new = version == V02
    go = "go" if new else "go role"
    announced = (f"proto {V02}",) if new else ()
    yield 0, "handshake", "ubgi", expect("id name.*", "id author.*", "ubgiok", *announced)
    yield 0, "isready", "isready", expect("readyok")
    states = {f"play {text} {a}{b}": GameState.parse(text).rolled((a, b)) for text, (a, b) in PLAYS}
    states["play of the opening"] = from_gnubg_id(OPENING).rolled((3, 1))
    for name, state in states.items():
        yield 0, name, f"{say_position(state)};{go} chequer", expect_play(state)
    bad_value = expect("error (bad_command|bad_value)\\b.*" if new else ERRORS[V01])
    # in 0.1 an engine may report an error at the next `go`, and may ignore an unknown command
    at_go = "" if new else f";{go} chequer"
    yield 0, "unknown command", "frobnicate 1 2", expect("error bad_command.*" if new else f"{ERRORS[V01]}|")
    yield 0, "bad position", f"{_AT_RACE};dice 2 1;position gnubgid ????{at_go}", bad_value
    for dice in BAD_DICE:
        yield 0, f"bad dice {dice}", f"{_AT_RACE};dice {dice}{at_go}", bad_value
    yield 0, "goes on after errors", "isready", expect("readyok")
    yield 0, "new game", "newgame;isready", check_silence
    yield 1, "cube", f"{_AT_RACE};{go} cube", expect(_DOUBLING)
    for who, xgid in XGIDS.items():
        commands = f"{_AT_RACE};dice 3 1;position xgid {xgid};{go} chequer"
        yield 1, f"position xgid, {who} on roll", commands, expect_play(from_xgid(xgid))


def list_01() -> Iterator[_Row]:
    """Yield the test cases that only version 0.1 has."""
    yield 0, "no position after newgame", "newgame;dice 3 1;go role chequer", expect(ERRORS[V01])
    yield 1, "take", f"{_DOUBLED};go role cube", expect("bestcube (take|drop)")
    yield 1, "turn before the roll", f"{_AT_RACE};go role turn", expect("bestturn (double|roll)")
    rolled = expect_play(from_gnubg_id(RACE).rolled((2, 1)), "bestturn (.*)")
    yield 1, "turn after the roll", f"{_AT_RACE};dice 2 1;go role turn", rolled
    yield 1, "unknown option", "setoption name Frobnicate value 1", expect(f"{ERRORS[V01]}|")


def list_02() -> Iterator[_Row]:
    """Yield the test cases that only version 0.2 has."""
    closed_out = from_gnubg_id(CLOSED_OUT).rolled((6, 1))
    rolled = from_gnubg_id(RACE).rolled((2, 1))
    error = expect(ERRORS[V02])
    bad_state = expect("error bad_state.*")
    yield 0, "keys", "keys", check_keys
    yield 0, "pass", f"{say_position(closed_out)};go chequer", expect_play(closed_out)
    yield 0, "go alone", f"{_AT_RACE};dice 2 1;go", expect_play(rolled)
    yield 0, "capitals in a keyword", "UBGI", expect("error bad_command.*")
    yield 0, "go with an unknown word", f"{_AT_RACE};dice 2 1;go frobnicate", error
    after_bad = f"{_AT_RACE};dice 2 1;position gnubgid ????;go chequer"
    yield 0, "no position after a bad one", after_bad, bad_state
    yield 0, "go without dice", f"newgame;{_AT_RACE};go chequer", bad_state
    yield 0, "go without a position", "newgame;go chequer", bad_state
    yield 0, "get of an unknown key", "get frobnicate.key", error
    yield 0, "set of an unknown key", "set frobnicate.key 1", error
    yield 1, "pending double", f"newgame;{_DOUBLED};go cube", expect("error unsupported.*")
    turn = expect_play(rolled, "bestturn cube=(?:double|nodouble) move=(.*)")
    yield 1, "turn", f"{_AT_RACE};dice 2 1;go turn", turn


def list_key_cases(lines: Iterable[str]) -> Iterator[Case]:
    """Yield test cases of UBGI 0.2 for the keys of an engine: `get`, and `set` to the default and to a bad value.

    lines : the engine's answer to `keys`.
    """
    for match in filter(None, map(KEY.fullmatch, lines)):
        name = match["name"]
        default = match["int"] or match["bool"] or match["choice"]
        if default is None:
            continue
        yield Case(0, f"get {name}", f"get {name}", expect(re.escape(f"value {name} {default}")), V02)
        yield Case(0, f"set {name}", f"set {name} {default};isready", check_silence, V02)
        bad = "frobnicate" if match["high"] is None else str(int(match["high"]) + 1)
        yield Case(0, f"set {name} to a bad value", f"set {name} {bad}", expect("error bad_value.*"), V02)


# -- running them --------------------------------------------------------------------------------------------------


def find_versions(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the UBGI versions that an answer to `ubgi` announces: 0.2 by `proto 0.2`; else 0.1, also by `option`."""
    lines = list(lines)
    if f"proto {V02}" not in lines:
        return (V01,)
    return (V01, V02) if any(line.startswith("option ") for line in lines) else (V02,)


def check(command: str, versions: Sequence[str] = ()) -> list[Outcome]:
    """Run the conformance tests of some versions of UBGI with an engine, and return how each case went.

    Parameters
    ----------
    command
        The engine and its arguments, as a shell splits them.
    versions
        "0.1", "0.2" or both; empty for those that the engine announces.

    Raises
    ------
    CapabilityError
        If the engine did not start or does not answer `ubgi` and `isready`.
    """
    words = shlex.split(command)
    if not words:
        raise CapabilityError("--check needs a command that starts the engine")
    process = EngineProcess(words)
    try:
        announced = find_versions(exchange(process, "ubgi", START_SECONDS))
    except (TimeoutError, EOFError) as error:
        raise CapabilityError(f"{command}: the engine does not answer ubgi and isready ({error})") from None
    finally:
        process.close()
    return [outcome for version in versions or announced for outcome in check_version(words, version)]


def check_version(words: Sequence[str], version: str) -> list[Outcome]:
    """Run the conformance tests of one version of UBGI, and return how each case went.

    A program that ends or hangs is started again for the next case.

    words : program and arguments.
    """
    outcomes = list[Outcome]()
    cases = list(corpus(version))
    process = EngineProcess(words)
    limit = START_SECONDS
    try:
        while cases:
            case = cases.pop(0)
            try:
                answers = exchange(process, case.commands, limit)
                outcomes.append(judge(case, answers))
                if case.name == "keys":
                    cases = [*list_key_cases(answers), *cases]
            except (TimeoutError, EOFError) as error:
                outcomes.append(Outcome(case, "failed", str(error)))
                process.close()
                process = EngineProcess(words)
                with contextlib.suppress(TimeoutError, EOFError):
                    # `keys` shows which version is spoken
                    exchange(process, "ubgi;keys" if version == V02 else "ubgi", START_SECONDS)
            limit = ANSWER_SECONDS if "go " in case.commands else limit
        process.send("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.process.wait(ANSWER_SECONDS)
        status = process.process.poll()
        case = Case(0, "quit", "quit", expect(), version)
        outcomes.append(
            Outcome(case, "failed", f"exit status {status}") if status != 0 else Outcome(case, "ok")
        )
    finally:
        process.close()
    return outcomes


def judge(case: Case, answers: list[str]) -> Outcome:
    """Return how a case went: ok, failed, or refused if the answer is an error that the protocol allows there.

    answers : the lines of the answer.
    """
    try:
        why = case.find_fault(answers or [""])
    except (BgfmtError, ValueError) as error:  # a number of thousands of digits is no int
        why = str(error)
    if not why:
        return Outcome(case, "ok")
    last = next((line for line in reversed(answers) if line != "readyok"), "")
    allowed = case.level > 0 and re.fullmatch(ERRORS[case.version], last)
    if "go " in case.commands:
        allowed = allowed or re.match(rf"error ({'|'.join(REFUSALS[case.version])})\b", last)
    return Outcome(case, "refused" if allowed else "failed", why)


def exchange(process: EngineProcess, commands: str, limit: float) -> list[str]:
    """Send commands, separated by ";", then `isready`; return the lines that came before its `readyok`.

    TimeoutError if they do not come within `limit` seconds, EOFError if the program has ended.
    """
    answers = list[str]()
    until = time.monotonic() + limit
    lines = [*commands.split(";"), "isready"]
    for line in lines:
        process.send(line)
    wanted = lines.count("isready")
    while wanted:
        answers.append(process.read_line(until))
        wanted -= answers[-1] == "readyok"
    return answers[:-1]
