"""Programs that answer lines, and what an engine of UBGI must answer: `bgfmt ubgi --check COMMAND`."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.game.identifiers import from_gnubg_id, position_id
from bgfmt.game.moves import BAR, OFF, Move, legal_plays
from bgfmt.game.state import GameState

START, ANSWER = 30.0, 10.0  # seconds that a program may take to begin, and to answer
LONGEST = 1 << 20
REFUSALS = ("not_covered", "unsupported_feature")


class Talk:
    """A running program. CapabilityError where it cannot be started."""

    def __init__(self, command: Sequence[str], **how: Any) -> None:
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                **how,
            )
        except OSError as error:
            raise CapabilityError(f"{command[0]}: cannot be started ({error.strerror})") from None
        self.waiting, self.held = selectors.DefaultSelector(), b""
        assert self.process.stdout is not None
        self.waiting.register(self.process.stdout, selectors.EVENT_READ)

    def say(self, line: str) -> None:
        """One line to the program; EOFError where it has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{line}\n".encode())
        except OSError:
            raise EOFError(f"the program ended with {self.process.poll()}") from None

    def hear(self, until: float) -> str:
        """Its next line; TimeoutError where none comes by that time, EOFError where it has ended."""
        while b"\n" not in self.held:
            if not self.waiting.select(max(0.0, until - time.monotonic())):
                raise TimeoutError("no answer in time")
            assert self.process.stdout is not None
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more or len(self.held) > LONGEST:
                raise EOFError(f"the program ended with {self.process.poll()}")
            self.held += more
        line, _, self.held = self.held.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End it."""
        self.waiting.close()
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()
        self.process.wait()


# -- the corpus -------------------------------------------------------------------------------------------------

#: bear-offs and a race without contact, the side on roll first, and their dice
PLAYS = (
    ("0 3 4 3 / 0 3 4 3", (2, 1)), ("0 1 0 0 1 / 0 1 1", (6, 1)), ("0 0 0 2 / 1", (3, 3)), ("2 2 2 / 3 3", (1, 1)),
    ("0 0 0 1 0 1 / 1 1", (5, 2)), ("1 1 / 1", (6, 6)), ("0 0 1 0 0 0 1 / 2 2", (5, 1)),
)  # fmt: skip
OPENING = "4HPwATDgc/ABMA"
RACE = "tw8AANg7AAAAAA"


@dataclass(frozen=True)
class Case:
    """One conversation: its name, its level, what is said, and what is wrong with the answers ("" nothing)."""

    name: str
    level: int
    said: tuple[str, ...]
    fault: Callable[[list[str]], str]
    refusable: bool = True


@dataclass(frozen=True)
class Outcome:
    """How a case went: "ok", "refused" (an error that a level lower may give) or "failed", and why."""

    case: Case
    verdict: str
    why: str = ""


def _play(state: GameState) -> Callable[[list[str]], str]:
    def fault(answers: list[str]) -> str:
        (last,) = answers[-1:] or [""]
        word, _, text = last.partition(" ")
        if word != "bestmove":
            return f"expected bestmove, found {last[:60]!r}"
        assert state.dice is not None
        legal = {
            tuple(sorted((m.start, m.end) for m in play.moves))
            for play in legal_plays(state.position, *state.dice)
        }
        results = {play.result for play in legal_plays(state.position, *state.dice)}
        if not legal:
            return "" if text in ("", "none") else f"{text!r} where no chequer can move"
        pairs = re.findall(r"(bar|\d+)/(off|\d+)", text.lower())
        if len(pairs) != len(text.split()):
            return f"{text!r}: moves are from/to pairs, one for each die"
        moves = tuple(
            sorted((BAR if a == "bar" else int(a), OFF if b == "off" else int(b)) for a, b in pairs)
        )
        reached = [
            p.result for p in legal_plays(state.position, *state.dice) if _ends(p.moves) == _ends(moves)
        ]
        return "" if moves in legal or (reached and reached[0] in results) else f"{text!r} is no legal play"

    return fault


def _ends(moves: Sequence[Move] | Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """What a play does to each point."""
    points = [0] * 26
    for start, end, *_ in moves:
        points[start] -= 1
        points[end] += 1
    return tuple(points)


def _words(*wanted: str) -> Callable[[list[str]], str]:
    def fault(answers: list[str]) -> str:
        last = answers[-1] if answers else ""
        return "" if last in wanted else f"expected {' or '.join(wanted)}, found {last[:60]!r}"

    return fault


def _error(answers: list[str]) -> str:
    last = answers[-1] if answers else ""
    return "" if re.fullmatch(r"(error \w+.*|sorry.*|)", last) else f"expected an error, found {last[:60]!r}"


def _handshake(answers: list[str]) -> str:
    missing = [
        name for name in ("id name", "id author") if not any(line.startswith(name) for line in answers)
    ]
    return f"no line {missing[0]!r}" if missing else "" if "ubgiok" in answers else "no ubgiok"


def _eval(answers: list[str]) -> str:
    last = answers[-1] if answers else ""
    words = last.split()
    if words[:1] != ["eval"] or len(words) % 2 == 0:
        return f"expected eval and pairs of a name and a number, found {last[:60]!r}"
    try:
        pairs = {name: float(value) for name, value in zip(words[1::2], words[2::2], strict=True)}
    except ValueError:
        return f"no numbers in {last[:60]!r}"
    if not {"win", "equity", "mwc"} & set(pairs):
        return "neither win, equity nor mwc is told"
    return (
        ""
        if all(0 <= pairs.get(name, 0.5) <= 1 for name in ("win", "mwc"))
        else "a chance is not from 0 to 1"
    )


def _info(answers: list[str]) -> str:
    told = [line for line in answers if line.startswith("info ")]
    return "" if told and answers[-1].startswith("bestmove ") else "no info line before bestmove"


def corpus() -> Iterator[Case]:
    """All cases, level by level."""
    yield Case("handshake", 0, ("ubgi",), _handshake, False)
    yield Case("isready", 0, ("isready",), _words("readyok"), False)
    for text, dice in PLAYS:
        state = GameState.parse(text).rolled(dice)
        said = (
            f"position gnubgid {position_id(state.position)}",
            f"dice {dice[0]} {dice[1]}",
            "go role chequer",
        )
        yield Case(f"play {text} {dice[0]}{dice[1]}", 0, said, _play(state))
    state = from_gnubg_id(OPENING).rolled((3, 1))
    yield Case(
        "play of the opening", 0, (f"position gnubgid {OPENING}", "dice 3 1", "go role chequer"), _play(state)
    )
    yield Case("unknown command", 0, ("frobnicate 1 2",), _error, False)
    yield Case("bad position", 0, ("position gnubgid ????",), _error, False)
    yield Case("bad dice", 0, (f"position gnubgid {RACE}", "dice 7 1"), _error, False)
    yield Case("goes on after errors", 0, ("isready",), _words("readyok"), False)
    yield Case("no position after newgame", 0, ("newgame", "dice 3 1", "go role chequer"), _error, False)
    cube = f"position gnubgid {RACE}"
    yield Case("cube", 1, (cube, "go role cube"), _words("bestcube double", "bestcube nodouble"))
    doubled = replace(from_gnubg_id(RACE), doubled=True)
    yield Case(
        "take",
        1,
        (f"position gnubgid {doubled.gnubg_id}", "go role cube"),
        _words("bestcube take", "bestcube drop"),
    )
    yield Case("new session", 1, ("newsession length 5", "isready"), _words("readyok"))
    at_score = ("newsession length 5", "score 3 1", cube)
    yield Case(
        "cube at a score", 1, (*at_score, "go role cube"), _words("bestcube double", "bestcube nodouble")
    )
    owned = (*at_score, "cube 2 opponent", "go role cube")
    yield Case("no double of the other's cube", 1, owned, _words("bestcube nodouble"))
    crawford = ("newsession length 5", "score 4 1", "crawford on", cube, "go role cube")
    yield Case("no double in the Crawford game", 1, crawford, _words("bestcube nodouble"))
    xgid = "XGID=-BBBBB-----------------bbbA-:0:0:1:00:0:0:0:0:10"
    yield Case("position xgid", 1, (f"position xgid {xgid}", "isready"), _words("readyok"))
    turn = _words("bestturn double", "bestturn roll")
    yield Case("turn before the roll", 2, (cube, "go role turn"), turn)
    rolled = _play(from_gnubg_id(RACE).rolled((2, 1)))
    yield Case("turn after the roll", 2, (cube, "dice 2 1", "go role turn"),
               lambda answers: rolled([line.replace("bestturn", "bestmove") for line in answers]))  # fmt: skip
    yield Case(
        "the other side's turn",
        2,
        (cube, "turn", "go role cube"),
        _words("bestcube double", "bestcube nodouble"),
    )
    yield Case("eval", 2, ("newsession", cube, "eval"), _eval)
    yield Case("eval at a score", 2, (*at_score, "eval"), _eval)
    yield Case("info lines", 2, ("setoption name Info value on", cube, "dice 2 1", "go role chequer"), _info)
    yield Case("unknown option", 2, ("setoption name Frobnicate value 1",), _error, False)


def check(command: str) -> list[Outcome]:
    """What a program answers to the corpus. CapabilityError where it cannot be started or does not greet."""
    words = shlex.split(command)
    if not words:
        raise CapabilityError("--check: which command?")
    outcomes, talk = list[Outcome](), Talk(words)
    try:
        for case in corpus():
            try:
                answers = _asked(talk, case)
            except (TimeoutError, EOFError) as error:
                outcomes.append(Outcome(case, "failed", str(error)))
                talk.close()
                talk = Talk(words)
                with contextlib.suppress(TimeoutError, EOFError):
                    _asked(talk, Case("", 0, ("ubgi",), _handshake))
                continue
            why = _fault(case, answers)
            refused = case.refusable and answers and re.match(r"error (\w+)", answers[-1])
            allowed = refused and (refused[1] in REFUSALS or case.level > 0)
            outcomes.append(Outcome(case, "ok" if not why else "refused" if allowed else "failed", why))
        talk.say("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            talk.process.wait(ANSWER)
        end = Case("quit", 0, ("quit",), _error)
        left = talk.process.poll()
        outcomes.append(
            Outcome(end, "ok" if left == 0 else "failed", "" if left == 0 else f"exit status {left}")
        )
    finally:
        talk.close()
    return outcomes


def _fault(case: Case, answers: list[str]) -> str:
    try:
        return case.fault(answers)
    except BgfmtError as error:
        return str(error)


def _asked(talk: Talk, case: Case) -> list[str]:
    """The answers to a case: all lines up to the answer of an `isready` that is said after it."""
    answers, until = list[str](), time.monotonic() + (START if case.name == "handshake" else ANSWER)
    for line in case.said:
        talk.say(line)
    talk.say("isready")
    wanted = 1 + sum(line == "isready" for line in case.said)
    while wanted:
        answers.append(talk.hear(until))
        wanted -= answers[-1] == "readyok"
    return answers[:-1]
