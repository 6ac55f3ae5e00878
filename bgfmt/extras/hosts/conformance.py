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
CODES_02 = ("bad_command", "bad_value", "bad_state", "unsupported")
#: a `key` line of 0.2
KEY = re.compile(
    r"key (?P<name>[a-z]\w*(?:\.\w+)+) (?:"
    r"int (?P<low>-?\d+)\.\.(?P<high>-?\d+) (?P<default>-?\d+)"
    r"|int (?:\* )?(?P<any>-?\d+)"
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


def expect_play(
    state: GameState, word: str = "bestmove ", nothing: Sequence[str] = ("", "none")
) -> FindFault:
    """Return a check of an answer: its last line must be a legal play.

    A check takes the lines of an answer and returns what is wrong, "" if nothing.

    Parameters
    ----------
    state
        The position with the dice.
    word
        How the line begins, before the play.
    nothing
        The texts that are accepted as a play where no chequer can move.
    """

    def find_fault(answers: list[str]) -> str:
        answer = answers[-1]
        if not f"{answer} ".startswith(word):
            return f"expected {word.strip()}, found {answer[:60]!r}"
        text = answer[len(word) :]
        assert state.dice is not None
        legal = [count_changes(play.moves) for play in legal_plays(state.position, *state.dice)]
        if not legal:
            return "" if text in nothing else f"{text!r} where no chequer can move"
        pairs = re.findall(r"(bar|\d+)/(off|\d+)", text.lower())
        if len(pairs) != len(text.split()):
            return f"{text!r}: moves are from/to pairs, one for each die"
        points = {"bar": BAR, "off": OFF}
        moves = [[points.get(word, word) for word in pair] for pair in pairs]
        changes = count_changes((int(start), int(end)) for start, end in moves)
        return "" if changes in legal else f"{text!r} is not a legal play"

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


def expect_line(*wanted: str) -> FindFault:
    """Return a check of an answer: its last line must be one of those wanted.

    A check takes the lines of an answer and returns what is wrong, "" if nothing.
    """

    def find_fault(answers: list[str]) -> str:
        return "" if answers[-1] in wanted else f"expected {' or '.join(wanted)}, found {answers[-1][:60]!r}"

    return find_fault


def expect_code(*codes: str) -> FindFault:
    """Return a check of an answer: a line must be an error of UBGI 0.2 with one of these codes.

    A check takes the lines of an answer and returns what is wrong, "" if nothing.
    """

    def find_fault(answers: list[str]) -> str:
        errors = [match[1] for match in map(match_error, answers) if match]
        if errors:
            return "" if set(errors) & set(codes) else f"expected {' or '.join(codes)}, found {errors[0]}"
        return f"expected an error, found {answers[-1][:60]!r}"

    return find_fault


def check_last_is_bad_state(answers: list[str]) -> str:
    """Return the fault of an answer of UBGI 0.2 whose last line must be the error `bad_state`, "" if it is."""
    return expect_code("bad_state")(answers[-1:])


def check_silence(answers: list[str]) -> str:
    """Return what is wrong with the answer to commands that must be accepted silently: "" if `readyok` alone came."""
    return "" if answers == ["readyok"] else f"expected no answer, found {answers[0][:60]!r}"


def match_error(line: str) -> re.Match[str] | None:
    """Match a line that reports an error; group 1 is its code, None for the "sorry" of an old draft."""
    return re.fullmatch(r"error (\w+)\b.*|sorry.*", line)


def check_error_or_silence(answers: list[str]) -> str:
    """Return what is wrong with the answer to an unknown command of UBGI 0.1: "" if it is an error or nothing."""
    sound = not answers[-1] or match_error(answers[-1])
    return "" if sound else f"expected an error, found {answers[-1][:60]!r}"


def check_error(answers: list[str]) -> str:
    """Return what is wrong with an answer of which one line must report an error, "" if one does."""
    sound = any(map(match_error, answers))
    return "" if sound else f"expected an error, found {answers[-1][:60]!r}"


def check_handshake(answers: list[str]) -> str:
    """Return what is wrong with the answer to `ubgi`: "" if it has `id name`, `id author` and `ubgiok`."""
    for name in ("id name", "id author"):
        if not any(line.startswith(name) for line in answers):
            return f"no line {name!r}"
    return "" if "ubgiok" in answers else "no ubgiok"


def check_handshake_02(answers: list[str]) -> str:
    """Return what is wrong with the answer to `ubgi` in version 0.2, "" if nothing."""
    if f"proto {V02}" not in answers:
        return f"no line 'proto {V02}'"
    return check_handshake(answers)


def check_eval(answers: list[str]) -> str:
    """Return what is wrong with an answer whose last line must be `eval` and pairs of a name and a number.

    The result is "" if nothing is wrong.
    """
    words = answers[-1].split()
    if words[:1] != ["eval"] or len(words) % 2 == 0:
        return f"expected eval and pairs of a name and a number, found {answers[-1][:60]!r}"
    try:
        pairs = {name: float(value) for name, value in zip(words[1::2], words[2::2], strict=True)}
    except ValueError:
        return f"no numbers in {answers[-1][:60]!r}"
    if not {"win", "equity", "mwc"} & set(pairs):
        return "win, equity and mwc are all missing"
    sound = all(0 <= pairs.get(name, 0.5) <= 1 for name in ("win", "mwc"))
    return "" if sound else "a probability is not between 0 and 1"


def check_info(answers: list[str]) -> str:
    """Return what is wrong with an answer that must have `info` lines before a play, "" if nothing.

    An engine that does not announce the option `Info` need not have them.
    """
    if not any(line.startswith("option name Info ") for line in answers):
        return ""
    lines = [line for line in answers if line.startswith("info ")]
    return "" if lines and answers[-1].startswith("bestmove ") else "no info line before bestmove"


def check_keys(answers: list[str]) -> str:
    """Return what is wrong with the answer to `keys`: "" if its lines are well-formed and list each key once."""
    lines = [line for line in answers if line]
    for line in lines:
        match = KEY.fullmatch(line)
        if match is None:
            return f"expected a line such as 'key engine.ply int 1..4 1', found {line[:60]!r}"
        if match["low"] and not int(match["low"]) <= int(match["default"]) <= int(match["high"]):
            return f"the default is outside the range: {line[:60]!r}"
        if match["values"] and match["choice"] not in match["values"].split("|"):
            return f"the default is not one of the values: {line[:60]!r}"
    names = [line.split()[1] for line in lines]
    return "" if len(names) == len(set(names)) else "a key is listed twice"


def expect_turn(state: GameState) -> FindFault:
    """Return a check of an answer: its last line must be `bestturn cube=ACTION move=PLAY`, as in UBGI 0.2.

    A check takes the lines of an answer and returns what is wrong, "" if nothing. The play must be legal.

    state : the position and the dice of the play.
    """

    def find_fault(answers: list[str]) -> str:
        match = re.match(r"bestturn cube=(double|nodouble) move=", answers[-1])
        if match is None:
            return f"expected bestturn cube=double|nodouble move=..., found {answers[-1][:60]!r}"
        return expect_play(state, match[0], ("pass",))(answers)

    return find_fault


# -- the corpora ---------------------------------------------------------------------------------------------------


def list_plays() -> dict[str, GameState]:
    """Return by name the positions with dice for which an engine's plays are checked."""
    states = {f"play {text} {a}{b}": GameState.parse(text).rolled((a, b)) for text, (a, b) in PLAYS}
    return states | {"play of the opening": from_gnubg_id(OPENING).rolled((3, 1))}


def say_position(state: GameState) -> str:
    """Return the UBGI commands, separated by ";", that set a position and its dice."""
    dice = f";dice {state.dice[0]} {state.dice[1]}" if state.dice else ""
    return f"position gnubgid {position_id(state.position)}{dice}"


def corpus() -> Iterator[Case]:
    """Yield all test cases of UBGI 0.1, those of the core of the protocol (level 0) first."""
    ready = expect_line("readyok")
    doubling = expect_line("bestcube double", "bestcube nodouble")
    yield Case(0, "handshake", "ubgi", check_handshake)
    yield Case(0, "isready", "isready", ready)
    for name, state in list_plays().items():
        yield Case(0, name, f"{say_position(state)};go role chequer", expect_play(state))
    race = f"position gnubgid {RACE}"
    at_score = f"newsession length 5;score 3 1;position gnubgid {RACE}"
    yield Case(0, "unknown command", "frobnicate 1 2", check_error_or_silence)
    bad_position = f"{race};dice 2 1;position gnubgid ????;go role chequer"
    yield Case(0, "bad position", bad_position, check_error)
    for dice in BAD_DICE:
        yield Case(0, f"bad dice {dice}", f"{race};dice {dice};go role chequer", check_error)
    yield Case(0, "goes on after errors", "isready", ready)
    yield Case(0, "no position after newgame", "newgame;dice 3 1;go role chequer", check_error)
    yield Case(1, "cube", f"{race};go role cube", doubling)
    doubled = f"position gnubgid {replace(from_gnubg_id(RACE), doubled=True).gnubg_id}"
    yield Case(1, "take", f"{doubled};go role cube", expect_line("bestcube take", "bestcube drop"))
    yield Case(1, "new session", "newsession length 5;isready", check_silence)
    yield Case(1, "cube at a score", f"{at_score};go role cube", doubling)
    none = expect_line("bestcube nodouble")
    owned = f"{at_score};cube 2 opponent;go role cube"
    yield Case(1, "no double of the other's cube", owned, none)
    crawford = f"newsession length 5;score 4 1;crawford on;{race};go role cube"
    yield Case(1, "no double in the Crawford game", crawford, none)
    for who, xgid in XGIDS.items():
        commands = f"{race};dice 3 1;position xgid {xgid};go role chequer"
        yield Case(1, f"position xgid, {who} on roll", commands, expect_play(from_xgid(xgid)))
    turn = expect_line("bestturn double", "bestturn roll")
    yield Case(2, "turn before the roll", f"{race};go role turn", turn)
    rolled = expect_play(from_gnubg_id(RACE).rolled((2, 1)), "bestturn ")
    yield Case(2, "turn after the roll", f"{race};dice 2 1;go role turn", rolled)
    yield Case(2, "the other side's turn", f"{race};turn;go role cube", doubling)
    yield Case(2, "eval", f"newsession;{race};eval", check_eval)
    yield Case(2, "eval at a score", f"{at_score};eval", check_eval)
    info = f"ubgi;setoption name Info value on;{race};dice 2 1;go role chequer"
    yield Case(2, "info lines", info, check_info)
    yield Case(2, "unknown option", "setoption name Frobnicate value 1", check_error_or_silence)


def corpus_02() -> Iterator[Case]:
    """Yield the test cases of UBGI 0.2, those of the core of the protocol (level 0) first.

    Cases of the keys that an engine has are not among them; see `list_key_cases`.
    """

    def make(level: int, name: str, commands: str, find_fault: FindFault) -> Case:
        return Case(level, name, commands, find_fault, V02)

    ready = expect_line("readyok")
    doubling = expect_line("bestcube double", "bestcube nodouble")
    wrong = expect_code("bad_command", "bad_value")
    yield make(0, "handshake", "ubgi", check_handshake_02)
    yield make(0, "isready", "isready", ready)
    yield make(0, "keys", "keys", check_keys)
    for name, state in list_plays().items():
        commands = f"{say_position(state)};go chequer"
        yield make(0, name, commands, expect_play(state, nothing=("pass",)))
    closed_out = from_gnubg_id(CLOSED_OUT).rolled((6, 1))
    yield make(
        0, "pass", f"{say_position(closed_out)};go chequer", expect_play(closed_out, nothing=("pass",))
    )
    race = f"position gnubgid {RACE}"
    rolled = from_gnubg_id(RACE).rolled((2, 1))
    yield make(0, "go alone", f"{race};dice 2 1;go", expect_play(rolled, nothing=("pass",)))
    yield make(0, "unknown command", "frobnicate 1 2", expect_code("bad_command"))
    yield make(0, "capitals in a keyword", "UBGI", expect_code("bad_command"))
    yield make(0, "go with an unknown word", f"{race};dice 2 1;go frobnicate", expect_code(*CODES_02))
    yield make(0, "bad position", f"{race};dice 2 1;position gnubgid ????", wrong)
    after_bad = f"{race};dice 2 1;position gnubgid ????;go chequer"
    yield make(0, "no position after a bad one", after_bad, check_last_is_bad_state)
    for dice in BAD_DICE:
        yield make(0, f"bad dice {dice}", f"{race};dice {dice}", wrong)
    yield make(0, "goes on after errors", "isready", ready)
    yield make(0, "go without dice", f"newgame;{race};go chequer", expect_code("bad_state"))
    yield make(0, "go without a position", "newgame;go chequer", expect_code("bad_state"))
    yield make(0, "new game", "newgame;isready", check_silence)
    yield make(0, "get of an unknown key", "get frobnicate.key", expect_code(*CODES_02))
    yield make(0, "set of an unknown key", "set frobnicate.key 1", expect_code(*CODES_02))
    yield make(1, "cube", f"{race};go cube", doubling)
    doubled = f"position gnubgid {replace(from_gnubg_id(RACE), doubled=True).gnubg_id}"
    yield make(1, "pending double", f"newgame;{doubled};go cube", expect_code("unsupported"))
    for who, xgid in XGIDS.items():
        commands = f"{race};dice 3 1;position xgid {xgid};go chequer"
        fault = expect_play(from_xgid(xgid), nothing=("pass",))
        yield make(1, f"position xgid, {who} on roll", commands, fault)
    yield make(1, "turn", f"{race};dice 2 1;go turn", expect_turn(rolled))


def list_key_cases(lines: Iterable[str]) -> Iterator[Case]:
    """Yield test cases of UBGI 0.2 for the keys of an engine: `get`, and `set` to the default and to a bad value.

    lines : the engine's answer to `keys`.
    """
    for line in lines:
        match = KEY.fullmatch(line)
        if match is None:
            continue
        name = match["name"]
        default = match["default"] or match["any"] or match["bool"] or match["choice"]
        if default is None:
            continue
        yield Case(0, f"get {name}", f"get {name}", expect_line(f"value {name} {default}"), V02)
        yield Case(0, f"set {name}", f"set {name} {default};isready", check_silence, V02)
        bad = {"low": str(int(match["high"] or 0) + 1), "bool": "perhaps", "values": "frobnicate"}
        for group, value in bad.items():
            if match[group] is not None:
                commands = f"set {name} {value}"
                yield Case(0, f"set {name} to a bad value", commands, expect_code("bad_value"), V02)


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
    outcomes = list[Outcome]()
    for version in versions or find_versions(greet(words, command)):
        outcomes += check_version(words, command, version)
    return outcomes


def greet(words: Sequence[str], command: str) -> list[str]:
    """Start an engine, send `ubgi` and end it; return the lines of its answer.

    words : program and arguments. command : the same as text, for errors. CapabilityError if it does not answer.
    """
    process = EngineProcess(words)
    try:
        return exchange(process, Case(0, "", "ubgi", check_handshake), START_SECONDS)
    except (TimeoutError, EOFError) as error:
        raise CapabilityError(f"{command}: the engine does not answer ubgi and isready ({error})") from None
    finally:
        process.close()


def check_version(words: Sequence[str], command: str, version: str) -> list[Outcome]:
    """Run the conformance tests of one version of UBGI, and return how each case went.

    A program that ends or hangs is started again for the next case.

    words : program and arguments. command : the same as text, for errors.
    """
    outcomes = list[Outcome]()
    cases = list(corpus_02() if version == V02 else corpus())
    process = EngineProcess(words)
    limit = START_SECONDS
    try:
        while cases:
            case = cases.pop(0)
            try:
                answers = exchange(process, case, limit)
                outcomes.append(judge(case, answers))
                if version == V02 and case.name == "keys":
                    cases = [*list_key_cases(answers), *cases]
            except (TimeoutError, EOFError) as error:
                if not outcomes:
                    raise CapabilityError(
                        f"{command}: the engine does not answer ubgi and isready ({error})"
                    ) from None
                outcomes.append(Outcome(case, "failed", str(error)))
                process.close()
                process = EngineProcess(words)
                with contextlib.suppress(TimeoutError, EOFError):
                    # `keys` shows which version is spoken
                    greeting = "ubgi;keys" if version == V02 else "ubgi"
                    exchange(process, Case(0, "", greeting, check_handshake), START_SECONDS)
            limit = ANSWER_SECONDS if "go " in case.commands else limit
        process.send("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.process.wait(ANSWER_SECONDS)
        status = process.process.poll()
        verdict, why = ("failed", f"exit status {status}") if status != 0 else ("ok", "")
        outcomes.append(Outcome(Case(0, "quit", "quit", check_error_or_silence, version), verdict, why))
    finally:
        process.close()
    return outcomes


def judge(case: Case, answers: list[str]) -> Outcome:
    """Return how a case went: ok, failed, or refused if the answer is an error that the protocol allows there.

    answers : the lines of the answer.
    """
    try:
        why = case.find_fault(answers or [""])
    except BgfmtError as error:
        why = str(error)
    said = [line for line in answers if line != "readyok"]
    error_line = re.match(r"error (\w+)", said[-1]) if said else None
    if error_line is None:
        allowed = False
    elif "go " in case.commands and error_line[1] in REFUSALS[case.version]:
        allowed = True
    else:
        allowed = case.level > 0 and (case.version == V01 or error_line[1] in CODES_02)
    return Outcome(case, "refused" if why and allowed else "failed" if why else "ok", why)


def exchange(process: EngineProcess, case: Case, limit: float) -> list[str]:
    """Send the commands of a test case, then `isready`; return the lines that came before its `readyok`.

    TimeoutError if they do not come within `limit` seconds, EOFError if the program has ended.
    """
    answers = list[str]()
    until = time.monotonic() + limit
    commands = [*case.commands.split(";"), "isready"]
    for line in commands:
        process.send(line)
    wanted = commands.count("isready")
    while wanted:
        answers.append(process.read_line(until))
        wanted -= answers[-1] == "readyok"
    return answers[:-1]
