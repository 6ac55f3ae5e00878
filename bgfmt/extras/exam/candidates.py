"""Who sits an exam: engines of any kind by one name each, their answers read, and asked one by one.

NAME[:OPTIONS]       an engine (`bgfmt.engines`) or an adapter (`bgfmt.candidates`): `bkg`, `gnubg:plies=2`
ubgi:COMMAND         a program that speaks UBGI; lines:COMMAND one that reads questions and writes answers
module:name          a Python callable or class, also FILE.py:name
FILE                 answers, a line for each question
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from bgfmt.analysis import engines
from bgfmt.errors import BgfmtError, CapabilityError, FormatError, NotCoveredError
from bgfmt.extras.exam.sets import Array, Question
from bgfmt.extras.matches.plays import chequers_after, read_play
from bgfmt.game.board import Side
from bgfmt.game.drawing import printable
from bgfmt.storage.foreign import load_json, open_text
from bgfmt.tables.registry import entry_points

STATUS = ("answered", "illegal", "late", "died", "not answered")
ANSWERED, ILLEGAL, LATE, DIED, REFUSED = range(5)
KEPT = 5  # failures of which the words are kept
PATIENCE = 3  # timeouts after which a late answer is waited for no more
WORDS = {
    "double": {"double": 1, "redouble": 1, "roll": 0, "nodouble": 0, "no double": 0, "no": 0, "yes": 1},
    "take": {"take": 1, "pass": 0, "drop": 0, "beaver": 2, "yes": 1, "no": 0},
}


class Failure(Exception):
    """No answer that counts. status : place in `STATUS`."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Candidate:
    """An engine that sits an exam, made of a callable that answers one question.

    name : as `maker` was asked for it. threads : whether several may be made and asked at once.
    most : the greatest number of a question that it knows an answer to, where it knows no others.
    """

    threads = False
    name = ""
    most = 0

    def __init__(self, answer: Callable[[Question], object]) -> None:
        self.reply = answer

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        """For each question what was said, or the Failure, and after how many seconds."""
        asks, replies = self._begun()
        try:
            for question in questions:
                asks.put(question)
                try:
                    said, took = replies.get(timeout=PATIENCE * timeout)
                except Empty:  # the call goes on in a thread that nobody hears any more
                    asks.put(None)
                    asks, replies = self._begun()
                    said = None
                    took = PATIENCE * timeout
                if isinstance(said, BaseException) and not isinstance(said, Failure):
                    raise said
                yield (Failure(LATE, f"after {took:.1f} s") if took > timeout else said), took
        finally:
            asks.put(None)

    def _begun(self) -> tuple[SimpleQueue[Question | None], SimpleQueue[tuple[object, float]]]:
        """A thread that answers the questions put into the first queue, until None, in the second one."""
        asks: SimpleQueue[Question | None] = SimpleQueue()
        replies: SimpleQueue[tuple[object, float]] = SimpleQueue()
        Thread(target=self._answer, args=(asks, replies), daemon=True).start()
        return asks, replies

    def _answer(self, asks: Any, replies: Any) -> None:
        clock = time.perf_counter
        said = None
        for question in iter(asks.get, None):
            begin = clock()
            try:
                said = self.reply(question)
            except Failure as failure:
                said = failure
            except (NotCoveredError, NotImplementedError) as error:
                said = Failure(REFUSED, str(error))
            except (Exception, SystemExit) as error:
                said = Failure(DIED, f"{type(error).__name__}: {error}")
            except BaseException as error:  # an interruption is raised where the answer is waited for
                said = error
            replies.put((said, clock() - begin))

    def close(self) -> None:
        """Give back what is held."""


# -- by name ------------------------------------------------------------------------------------------------------


def maker(spec: str) -> Callable[[], Candidate]:
    """What makes the candidate of a name; CapabilityError where there is none of it."""
    name, _, rest = spec.partition(":")

    def made(guest: Callable[..., Any], *words: Any, states: bool = False) -> Callable[[], Candidate]:
        how = f"{spec} cannot be made"
        return lambda: _sound(how, lambda: candidate(spec, guest(*words), states=states))

    if os.path.isfile(spec):
        if spec.endswith(".py"):
            raise CapabilityError(f"{spec}: a Python file needs the name of what answers: {spec}:NAME")
        return made(from_file, spec)
    if point := entry_points("bgfmt.candidates").get(name):
        return made(_sound(f"{name} cannot be loaded", point.load), spec if "//" in rest else rest)
    if name in engines.names():
        return made(lambda: engines.create(name, given(rest)), states=True)
    if not rest:
        there = ", ".join(sorted({*entry_points("bgfmt.candidates"), *engines.names()}))
        raise CapabilityError(
            f"no engine is called {name!r} (there are: {there}; module:name, FILE.py:name, FILE)"
        )
    found = _sound(f"{spec} cannot be loaded", _python, name, rest)
    if not isinstance(found, type):
        return lambda: candidate(spec, found)
    options: list[dict[str, str]] = [{}] if inspect.signature(found).parameters else []
    return made(found, *options, states=bool(options))


def given(options: str, *known: str) -> dict[str, str]:
    """Options `KEY=VALUE` with commas between; CapabilityError for one that is not known, if any is."""
    found = engines.parse_options(options.split(","))
    for key in found:
        if known and key not in known:
            raise CapabilityError(f"no option is called {key!r} (there are: {', '.join(known)})")
    return found


def _sound(what: str, make: Callable[..., Any], *words: Any) -> Any:
    """What a guest makes; CapabilityError where it raises anything but a BgfmtError."""
    try:
        return make(*words)
    except BgfmtError:
        raise
    except Exception as error:
        raise CapabilityError(f"{what}: {type(error).__name__}: {error}") from None


def candidate(name: str, guest: Any, *, states: bool = False) -> Candidate:
    """A candidate, a callable that answers, or an object with methods `play`, `double`, ..., as a candidate.

    states : whether methods take a `GameState`, as those of `bgfmt.engines` do, in place of a question.
    """

    def asked(question: Question) -> object:
        ask = getattr(guest, question.kind, None)
        if ask is None:
            raise NotImplementedError(f"no method {question.kind}")
        return ask(question.state if states else question)

    made = guest if isinstance(guest, Candidate) else Candidate(guest if callable(guest) else asked)
    if not (made is guest or callable(guest) or hasattr(guest, "play") or hasattr(guest, "double")):
        raise CapabilityError(f"{name}: neither a callable nor an engine, but {type(guest).__name__}")
    made.name = name
    return made


def _python(place: str, name: str) -> Any:
    """What `module:name` or `FILE.py:name` says."""
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location("bgfmt_candidate", place)
        if spec is None or spec.loader is None:
            raise ImportError("no module")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    return getattr(module, name)


def from_file(path: str) -> Candidate:
    """Return the answers of a file, line k that of question k; of JSON lines `answer`, and `number` if given."""
    with open_text(path) as file:
        lines = file.read().splitlines()
    held = {}
    try:
        for k, line in enumerate(lines):
            row = load_json(line) if line.startswith("{") else {"answer": line.strip()}
            held[int(row.get("number", k))] = row["answer"]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise FormatError(f"{path}: no file of answers ({type(error).__name__}: {error})") from None
    made = Candidate(lambda question: held.get(question.number))
    made.most = max(held, default=0)
    return made


# -- what was said ---------------------------------------------------------------------------------------------------


def read(question: Question, said: object) -> tuple[int, float, float]:
    """The choice of an answer (-1 of an equity), and an equity and the chance to win; Failure where it is none."""
    if isinstance(said, Failure):
        raise said
    if said is None or said == "":
        raise Failure(REFUSED, "no answer")
    if isinstance(said, Mapping) and question.kind != "equity" and "answer" in said:
        said = said["answer"]
    if question.kind == "equity":
        return -1, *_numbers(said)
    if question.kind == "play":
        return _play(question, said), np.nan, np.nan
    word = str(said).strip().lower()
    choice = int(said) if isinstance(said, (bool, np.bool_)) else WORDS[question.kind].get(word, -1)
    if choice < 0 or (choice == 2 and not question.beavers):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no answer to a {question.kind}")
    return choice, np.nan, np.nan


def _numbers(said: Any) -> tuple[float, float]:
    if isinstance(said, Mapping):
        known = [said[key] for key in ("equity", "mwc", "cubeful", "cubeless") if key in said]
        said = [*known[:1], said.get("win", np.nan)] if known else [np.nan]
    elif isinstance(said, str):
        said = said.split()
    try:
        equity, win = map(float, [*(said if isinstance(said, (list, tuple)) else [said]), np.nan][:2])
    except (TypeError, ValueError, OverflowError):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no number") from None
    if not np.isfinite(equity):
        raise Failure(ILLEGAL, f"{equity} is no equity")
    return equity, win


def _play(question: Question, said: Any) -> int:
    """The number of the play meant: a number, moves as text, the side or its chequers after it, a `Play`."""
    plays = question.plays
    if isinstance(said, (int, np.integer)) and not isinstance(said, bool):
        if 0 <= said < len(plays):
            return int(said)
        raise Failure(ILLEGAL, f"play {said} of {len(plays)}")
    side = getattr(getattr(said, "result", said), "us", getattr(said, "result", said))
    try:
        counts = _after(question, side) if isinstance(side, str) else [*getattr(side, "counts", side)]
        wide = len(plays[0])
        if any(counts[wide:]):
            raise ValueError
        return plays.index((*counts[:wide], *(0,) * (wide - len(counts))))
    except (ValueError, IndexError):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no play of {question}") from None


def _after(question: Question, text: str) -> list[int]:
    """The chequers of the side on roll after moves such as `6/off 5/3(2)`, in a race."""
    hops, _, rest = read_play(text)
    counts = chequers_after(Side(*question.us), hops) if hops and not rest else None
    if counts is None:
        raise ValueError
    return counts


class Answers:
    """The answers to the N questions of a set, none yet.

    status (N,) place in `STATUS`, 255 not asked yet; choice (N,): of plays their number, of a double 1 or 0, of a
    take 1, of a pass 0, of a beaver 2. numbers (N, 2): equity and chance to win. seconds (N,). words : of the first
    failures of each kind of question, by question.
    """

    def __init__(self, kind: Array) -> None:
        count = len(kind)
        self.kind = kind
        self.status = np.full(count, 255, np.uint8)
        self.choice = np.full(count, -1)
        self.numbers = np.full((count, 2), np.nan)
        self.seconds = np.zeros(count)
        self.words: dict[int, str] = {}

    def put(self, question: Question, said: object, seconds: float) -> tuple[Any, ...]:
        """Keep what was said; returns it as a line of a part file has it."""
        status = ANSWERED
        row = (-1, np.nan, np.nan)
        words = ""
        try:
            row = read(question, said)
        except Failure as failure:
            status = failure.status
            words = str(failure)
        except Exception as error:  # of an object that is read
            status = ILLEGAL
            words = f"{type(error).__name__}: {error}"
        line = question.number, status, *row, seconds, printable(" ".join(words.split()))
        self.set(*line)
        return line

    def set(
        self, number: int, status: int, choice: int, equity: float, win: float, seconds: float, words: str
    ) -> None:
        self.status[number] = status
        self.choice[number] = choice
        self.seconds[number] = seconds
        self.numbers[number] = equity, win
        alike = [k for k in self.words if self.status[k] == status and self.kind[k] == self.kind[number]]
        if words and len(alike) < KEPT:
            self.words[number] = words

    @property
    def missing(self) -> Array:
        """Numbers of the questions that were not asked yet."""
        return np.flatnonzero(self.status == 255)
