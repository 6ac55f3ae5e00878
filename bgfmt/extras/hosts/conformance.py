"""Programs that answer lines, and what an engine of UBGI must answer: `bgfmt ubgi --check COMMAND`."""

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

# seconds that a program may take to begin and to its first play, and to answer
START = 30.0
ANSWER = 10.0
LONGEST = 1 << 20
REFUSALS = ("not_covered", "unsupported_feature")
TOLD = 400  # bytes of what a program has said on standard error that are kept
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


class Talk:
    """A running program. CapabilityError where it cannot be started."""

    def __init__(self, command: Sequence[str], **how: Any) -> None:
        try:
            self.process: Any = subprocess.Popen(command, bufsize=0, **PIPES, **how)
        except OSError as error:
            raise CapabilityError(f"{command[0]}: cannot be started ({error.strerror})") from None
        self.held = self.errors = b""
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed
            while more := self.process.stderr.read(1 << 16):
                self.errors = (self.errors + more)[-TOLD:]

    def _ended(self) -> EOFError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.listener.join(1)
        last = self.errors.decode("utf-8", "replace").strip().splitlines()[-1:]
        return EOFError(": ".join([f"the program ended with {self.process.poll()}", *map(printable, last)]))

    def say(self, line: str) -> None:
        """One line to the program; EOFError where it has ended."""
        try:
            self.process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise self._ended() from None

    def drop(self) -> None:
        """Forget what it has said unasked, as far as that has come."""
        self.held = b""
        for _ in range(100):  # of a program that says line upon line
            if not select.select([self.process.stdout], [], [], 0)[0] or not self.process.stdout.read(
                1 << 16
            ):
                return

    def hear(self, until: float) -> str:
        """Its next line; TimeoutError where none comes by that time, EOFError where it has ended."""
        if time.monotonic() > until:  # of a program that says line upon line
            raise TimeoutError("no answer in time")
        while b"\n" not in self.held:
            if not select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("no answer in time (a program must flush each line)")
            more = self.process.stdout.read(1 << 16)  # what there is
            if not more or len(self.held) > LONGEST:
                raise self._ended()
            self.held += more
        line, _, self.held = self.held.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listener.join(1)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()


# -- the corpus -------------------------------------------------------------------------------------------------

#: bear-offs and a race without contact, the side on roll first, and their dice
PLAYS = (
    ("0 3 4 3 / 0 3 4 3", (2, 1)), ("0 1 0 0 1 / 0 1 1", (6, 1)), ("0 0 0 2 / 1", (3, 3)), ("2 2 2 / 3 3", (1, 1)),
    ("0 0 0 1 0 1 / 1 1", (5, 2)), ("1 1 / 1", (6, 6)), ("0 0 1 0 0 0 1 / 2 2", (5, 1)),
)  # fmt: skip
OPENING = "4HPwATDgc/ABMA"
RACE = "tw8AANg7AAAAAA"
#: positions with their dice in which one play is legal, by who is on roll
XGIDS = {
    "bottom": "XGID=------A-------------aa----:0:0:1:21:0:0:0:0:10",
    "top": "XGID=----AA-------------a------:0:0:-1:21:0:0:0:0:10",
}
Fault = Callable[[list[str]], str]


@dataclass(frozen=True)
class Case:
    """One conversation: its name, its level, what is said, and what is wrong with the answers ("" nothing).

    fault : takes the lines of the answer, an empty one where there is none.
    """

    level: int
    name: str
    said: str
    fault: Fault


@dataclass(frozen=True)
class Outcome:
    """How a case went: "ok", "refused" (an error that a level lower may give) or "failed", and why."""

    case: Case
    verdict: str
    why: str = ""


def _play(state: GameState, words: str = "bestmove") -> Fault:
    def fault(answers: list[str]) -> str:
        word, _, text = answers[-1].partition(" ")
        if word != words:
            return f"expected {words}, found {answers[-1][:60]!r}"
        assert state.dice is not None
        legal = [_ends(play.moves) for play in legal_plays(state.position, *state.dice)]
        if not legal:
            return "" if text in ("", "none") else f"{text!r} where no chequer can move"
        pairs = re.findall(r"(bar|\d+)/(off|\d+)", text.lower())
        if len(pairs) != len(text.split()):
            return f"{text!r}: moves are from/to pairs, one for each die"
        points = {"bar": BAR, "off": OFF}
        moves = [[points.get(word, word) for word in pair] for pair in pairs]
        ends = _ends((int(start), int(end)) for start, end in moves)
        return "" if ends in legal else f"{text!r} is no legal play"

    return fault


def _ends(moves: Iterable[Sequence[int]]) -> Counter[int]:
    """What moves do to each point."""
    points: Counter[int] = Counter()
    for start, end, *_ in moves:
        points.update({start: -1})
        points.update({end: 1})
    return points


def _words(*wanted: str) -> Fault:
    def fault(answers: list[str]) -> str:
        return "" if answers[-1] in wanted else f"expected {' or '.join(wanted)}, found {answers[-1][:60]!r}"

    return fault


def _silent(answers: list[str]) -> str:
    """Check that commands are accepted: no line but that of the `isready` behind them."""
    return "" if answers == ["readyok"] else f"expected no answer, found {answers[0][:60]!r}"


def _is_error(line: str) -> bool:
    return re.fullmatch(r"error \w+.*|sorry.*", line) is not None


def _ignored(answers: list[str]) -> str:
    """Check a command that an engine does not know: an error or silence."""
    sound = not answers[-1] or _is_error(answers[-1])
    return "" if sound else f"expected an error, found {answers[-1][:60]!r}"


def _error(answers: list[str]) -> str:
    """Check commands that ask for what cannot be: one of the answers is an error."""
    sound = any(map(_is_error, answers))
    return "" if sound else f"expected an error, found {answers[-1][:60]!r}"


def _handshake(answers: list[str]) -> str:
    for name in ("id name", "id author"):
        if not any(line.startswith(name) for line in answers):
            return f"no line {name!r}"
    return "" if "ubgiok" in answers else "no ubgiok"


def _eval(answers: list[str]) -> str:
    words = answers[-1].split()
    if words[:1] != ["eval"] or len(words) % 2 == 0:
        return f"expected eval and pairs of a name and a number, found {answers[-1][:60]!r}"
    try:
        pairs = {name: float(value) for name, value in zip(words[1::2], words[2::2], strict=True)}
    except ValueError:
        return f"no numbers in {answers[-1][:60]!r}"
    if not {"win", "equity", "mwc"} & set(pairs):
        return "neither win, equity nor mwc is told"
    sound = all(0 <= pairs.get(name, 0.5) <= 1 for name in ("win", "mwc"))
    return "" if sound else "a chance is not from 0 to 1"


def _info(answers: list[str]) -> str:
    told = [line for line in answers if line.startswith("info ")]
    return "" if told and answers[-1].startswith("bestmove ") else "no info line before bestmove"


def corpus() -> Iterator[Case]:
    """All cases, level by level; of what is said `;` ends a line."""
    ready = _words("readyok")
    doubling = _words("bestcube double", "bestcube nodouble")
    yield Case(0, "handshake", "ubgi", _handshake)
    yield Case(0, "isready", "isready", ready)
    states = {f"play {text} {a}{b}": GameState.parse(text).rolled((a, b)) for text, (a, b) in PLAYS}
    for name, state in (states | {"play of the opening": from_gnubg_id(OPENING).rolled((3, 1))}).items():
        high, low = state.dice or (0, 0)
        said = f"position gnubgid {position_id(state.position)};dice {high} {low};go role chequer"
        yield Case(0, name, said, _play(state))
    race = f"position gnubgid {RACE}"
    at_score = f"newsession length 5;score 3 1;position gnubgid {RACE}"
    yield Case(0, "unknown command", "frobnicate 1 2", _ignored)
    yield Case(0, "bad position", f"{race};dice 2 1;position gnubgid ????;go role chequer", _error)
    for dice in ("7 1", "0 3", "-1 2", "6", "6 1 1", "x y"):
        yield Case(0, f"bad dice {dice}", f"{race};dice {dice};go role chequer", _error)
    yield Case(0, "goes on after errors", "isready", ready)
    yield Case(0, "no position after newgame", "newgame;dice 3 1;go role chequer", _error)
    yield Case(1, "cube", f"{race};go role cube", doubling)
    doubled = f"position gnubgid {replace(from_gnubg_id(RACE), doubled=True).gnubg_id}"
    yield Case(1, "take", f"{doubled};go role cube", _words("bestcube take", "bestcube drop"))
    yield Case(1, "new session", "newsession length 5;isready", _silent)
    yield Case(1, "cube at a score", f"{at_score};go role cube", doubling)
    none = _words("bestcube nodouble")
    owned = f"{at_score};cube 2 opponent;go role cube"
    yield Case(1, "no double of the other's cube", owned, none)
    crawford = f"newsession length 5;score 4 1;crawford on;{race};go role cube"
    yield Case(1, "no double in the Crawford game", crawford, none)
    for who, xgid in XGIDS.items():
        said = f"{race};dice 3 1;position xgid {xgid};go role chequer"
        yield Case(1, f"position xgid, {who} on roll", said, _play(from_xgid(xgid)))
    turn = _words("bestturn double", "bestturn roll")
    yield Case(2, "turn before the roll", f"{race};go role turn", turn)
    rolled = _play(from_gnubg_id(RACE).rolled((2, 1)), "bestturn")
    yield Case(2, "turn after the roll", f"{race};dice 2 1;go role turn", rolled)
    yield Case(2, "the other side's turn", f"{race};turn;go role cube", doubling)
    yield Case(2, "eval", f"newsession;{race};eval", _eval)
    yield Case(2, "eval at a score", f"{at_score};eval", _eval)
    yield Case(2, "info lines", f"setoption name Info value on;{race};dice 2 1;go role chequer", _info)
    yield Case(2, "unknown option", "setoption name Frobnicate value 1", _ignored)


def check(command: str) -> list[Outcome]:
    """What a program answers to the corpus. CapabilityError where it cannot be started or does not greet."""
    words = shlex.split(command)
    if not words:
        raise CapabilityError("--check: which command?")
    outcomes = list[Outcome]()
    talk = Talk(words)
    limit = START
    try:
        for case in corpus():
            try:
                outcomes.append(_outcome(case, _asked(talk, case, limit)))
            except (TimeoutError, EOFError) as error:
                if not outcomes:
                    raise CapabilityError(f"{command}: does not answer ubgi and isready ({error})") from None
                outcomes.append(Outcome(case, "failed", str(error)))
                talk.close()
                talk = Talk(words)
                with contextlib.suppress(TimeoutError, EOFError):
                    _asked(talk, Case(0, "", "ubgi", _handshake), START)
            limit = ANSWER if "go " in case.said else limit
        talk.say("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            talk.process.wait(ANSWER)
        left = talk.process.poll()
        verdict, why = ("failed", f"exit status {left}") if left != 0 else ("ok", "")
        outcomes.append(Outcome(Case(0, "quit", "quit", _ignored), verdict, why))
    finally:
        talk.close()
    return outcomes


def _outcome(case: Case, answers: list[str]) -> Outcome:
    try:
        why = case.fault(answers or [""])
    except BgfmtError as error:
        why = str(error)
    said = re.match(r"error (\w+)", answers[-1]) if answers else None
    allowed = said and (case.level > 0 or ("go " in case.said and said[1] in REFUSALS))
    return Outcome(case, "refused" if why and allowed else "failed" if why else "ok", why)


def _asked(talk: Talk, case: Case, limit: float) -> list[str]:
    """The answers to a case within `limit` seconds: all lines up to the answer of an `isready` said after it."""
    answers = list[str]()
    until = time.monotonic() + limit
    said = [*case.said.split(";"), "isready"]
    for line in said:
        talk.say(line)
    wanted = said.count("isready")
    while wanted:
        answers.append(talk.hear(until))
        wanted -= answers[-1] == "readyok"
    return answers[:-1]
