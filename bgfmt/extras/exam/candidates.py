"""Candidates (engines under test): create them by name, ask them questions in a thread, parse their answers.

NAME[:OPTIONS]       an engine (`bgfmt.engines`) or an adapter (`bgfmt.candidates`): `bkg`, `gnubg:plies=2`
ubgi:COMMAND         a program that speaks UBGI; lines:COMMAND one that reads questions and writes answers
module:name          a Python callable or class, also FILE.py:name
FILE                 answers, a line for each question
"""

from __future__ import annotations

import importlib
import inspect
import os
import runpy
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from bgfmt.errors import BgfmtError, CapabilityError, NotCoveredError, suggest_nearest
from bgfmt.extras import engines
from bgfmt.extras.exam.sets import KINDS, Array, Question
from bgfmt.extras.foreign import open_text
from bgfmt.extras.matches.plays import chequers_after, read_play
from bgfmt.game.board import Side
from bgfmt.game.drawing import printable
from bgfmt.tables.registry import entry_points

STATUS = ("answered", "illegal", "late", "died", "not answered")
ANSWERED, ILLEGAL, LATE, DIED, REFUSED = range(5)
PATIENCE = 3  # timeouts after which a thread without an answer is abandoned
WORDS = {
    "double": {"double": 1, "redouble": 1, "roll": 0, "nodouble": 0, "no double": 0, "no": 0, "yes": 1},
    "take": {"take": 1, "pass": 0, "drop": 0, "beaver": 2, "yes": 1, "no": 0},
}


class Failure(Exception):
    """Raised or returned for a question without a valid answer.

    status : index into `STATUS`.
    """

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Candidate:
    """An engine under test, built from a callable that answers one question.

    name : the specification passed to `maker`.
    threads : True if several instances may be created and asked at the same time.
    last_number : for a file of answers the number of the last question that it answers, else 0.
    """

    threads = False
    name = ""
    last_number = 0

    def __init__(self, answer: Callable[[Question], object]) -> None:
        self.reply = answer

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        """Yield (answer or Failure, seconds taken) for each question, in the order of the questions.

        The callable runs in a thread of its own. An answer after more than `timeout` seconds is late; after
        `PATIENCE` times `timeout` the thread is abandoned and the next question is asked in a new one.
        """
        asks, replies = self._start_thread()
        try:
            for question in questions:
                asks.put(question)
                try:
                    said, took = replies.get(timeout=PATIENCE * timeout)
                except Empty:  # the call goes on in the abandoned thread
                    asks.put(None)
                    asks, replies = self._start_thread()
                    said = None
                    took = PATIENCE * timeout
                if isinstance(said, BaseException) and not isinstance(said, Failure):
                    raise said
                yield (Failure(LATE, f"after {took:.1f} s") if took > timeout else said), took
        finally:
            asks.put(None)

    def _start_thread(self) -> tuple[SimpleQueue[Question | None], SimpleQueue[tuple[object, float]]]:
        """Start a thread that answers the questions of the first queue, until None, in the second queue."""
        asks: SimpleQueue[Question | None] = SimpleQueue()
        replies: SimpleQueue[tuple[object, float]] = SimpleQueue()
        Thread(target=self._answer, args=(asks, replies), daemon=True).start()
        return asks, replies

    def _answer(self, asks: Any, replies: Any) -> None:
        """Answer the questions of a queue; errors become Failures, interruptions are passed on to the caller."""
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
            except TimeoutError as error:
                said = Failure(LATE, str(error) or type(error).__name__)
            except (OSError, EOFError) as error:  # of the connection to a program
                said = Failure(DIED, str(error) or type(error).__name__)
            except (Exception, SystemExit) as error:
                said = Failure(DIED, f"{type(error).__name__}: {error}")
            except BaseException as error:  # an interruption is raised in the waiting thread
                said = error
            replies.put((said, clock() - begin))

    def close(self) -> None:
        """Close what the engine under test has open; nothing by default."""


# -- by name ------------------------------------------------------------------------------------------------------


def maker(spec: str) -> Callable[[], Candidate]:
    """Return a function that creates the candidate (engine under test) with this specification.

    spec : such as "bkg", "gnubg:plies=2", "ubgi:COMMAND", "FILE.py:name" or a file of answers; see the module.
    CapabilityError if nothing matches it or it cannot be loaded.
    """
    create, states = _sound(f"{spec} cannot be loaded", _find, spec)
    return lambda: _sound(f"{spec} cannot be created", lambda: candidate(spec, create(), states=states))


def _find(spec: str) -> tuple[Callable[[], Any], bool]:
    """Return a function that creates the engine of a specification, and whether its methods take a `GameState`."""
    name, _, rest = spec.partition(":")
    if os.path.isfile(spec):
        if spec.endswith(".py"):
            raise CapabilityError(f"{spec}: the callable or engine in the file is missing: {spec}:NAME")
        return partial(from_file, spec), False
    points = entry_points("bgfmt.candidates")
    if name in points:
        return partial(points[name].load(), spec if "//" in rest else rest), False
    if name in engines.names():
        return partial(engines.create, name, parse_options(rest)), True
    if not rest:
        known = sorted({*points, *engines.names()})
        near = suggest_nearest(name, known)
        raise CapabilityError(
            f"no engine {name!r}{near}; known: {', '.join(known)}, module:name, FILE.py:name, FILE"
        )
    found = _python(name, rest)
    if not isinstance(found, type):
        return lambda: found, False
    states = bool(inspect.signature(found).parameters)  # the options of an engine of `bgfmt.engines`
    return partial(found, {}) if states else found, states


def parse_options(options: str, *known: str) -> dict[str, str]:
    """Parse options `KEY=VALUE` separated by commas into a dict.

    known : the allowed keys, all if empty; CapabilityError for any other.
    """
    found = engines.parse_options(options.split(","))
    for key in found:
        if known and key not in known:
            raise CapabilityError(
                f"no option {key!r}{suggest_nearest(key, known)}; known: {', '.join(known)}"
            )
    return found


def _sound(what: str, make: Callable[..., Any], *words: Any) -> Any:
    """Call a plugin's function; exceptions other than BgfmtError become a CapabilityError (message: `what`)."""
    try:
        return make(*words)
    except BgfmtError:
        raise
    except Exception as error:
        raise CapabilityError(f"{what}: {type(error).__name__}: {error}") from None


def candidate(name: str, guest: Any, *, states: bool = False) -> Candidate:
    """Wrap an object as a Candidate, an engine under test.

    guest : a Candidate, a callable that answers a question, or an object with any of the methods `play`, `double`,
        `take` and `equity`.
    states : True if these methods take a `GameState`, as those of `bgfmt.engines`, instead of a `Question`.

    CapabilityError for any other object.
    """

    def answer_by_method(question: Question) -> object:
        """Return the answer of the object's method that is named after the kind of question."""
        ask = getattr(guest, question.kind, None)
        if ask is None:
            raise Failure(REFUSED, f"it has no method {question.kind}")
        return ask(question.state if states else question)

    if isinstance(guest, Candidate):
        made = guest
    elif callable(guest):
        made = Candidate(guest)
    elif any(hasattr(guest, kind) for kind in KINDS):
        made = Candidate(answer_by_method)
    else:
        raise CapabilityError(f"{name}: expected a callable or an engine, found {type(guest).__name__}")
    made.name = name
    return made


def _python(place: str, name: str) -> Any:
    """Import `module:name` or `FILE.py:name` and return the object."""
    if place.endswith(".py"):
        return runpy.run_path(place)[name]
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(place), name)


def from_file(path: str) -> Candidate:
    """Read a file of answers, one for each question a line, and return a candidate that gives them."""
    with open_text(path) as file:
        lines = [line.strip() for line in file.read().splitlines()]
    made = Candidate(lambda question: lines[question.number] if question.number < len(lines) else None)
    made.last_number = max(0, len(lines) - 1)
    return made


# -- answers ---------------------------------------------------------------------------------------------------


def parse_answer(question: Question, said: object) -> tuple[int, float, float]:
    """Parse an engine's answer to a question and return (choice, equity, win).

    choice : number of the play in `question.plays`; 1 for double or take, 0 for no double or pass, 2 for beaver; -1
    for an equity. equity, win : for an equity the number and, if given, the win probability; NaN otherwise.

    said : the answer: a number, text, dict, `Play` or Failure. Raises Failure if it is no valid answer to this
    question.
    """
    if isinstance(said, Failure):
        raise said
    if said is None or said == "":
        raise Failure(REFUSED, "no answer")
    if question.kind == "equity":
        return -1, *_numbers(said)
    if question.kind == "play":
        return _play(question, said), np.nan, np.nan
    word = str(said).strip().lower()
    choice = int(said) if isinstance(said, (bool, np.bool_)) else WORDS[question.kind].get(word, -1)
    if choice < 0 or (choice == 2 and not question.beavers):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is not an answer to a {question.kind}")
    return choice, np.nan, np.nan


def _numbers(said: Any) -> tuple[float, float]:
    """Parse an equity and, if given, the win probability (else NaN); Failure if it is not a finite number."""
    numbers: Sequence[Any] = [said]
    if isinstance(said, Mapping):
        numbers = [said.get("equity"), said.get("win", np.nan)]
    elif isinstance(said, str):
        numbers = said.split()
    elif isinstance(said, (list, tuple)):
        numbers = said
    try:
        equity, win = map(float, [*numbers, np.nan][:2])
    except (TypeError, ValueError, OverflowError):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is not a number") from None
    if not np.isfinite(equity):
        raise Failure(ILLEGAL, f"{equity} is not an equity")
    return equity, win


def _play(question: Question, said: Any) -> int:
    """Return the number of the play in `question.plays`; Failure if it is none of them.

    said : that number, moves as text, the chequers of the side on roll after it, or a `Play`.
    """
    plays = question.plays
    if isinstance(said, (int, np.integer)) and not isinstance(said, bool):
        if 0 <= said < len(plays):
            return int(said)
        raise Failure(ILLEGAL, f"play {said} of {len(plays)}")
    side = said.result.us if hasattr(said, "result") else said
    try:
        counts = _after(question, said) if isinstance(said, str) else [*getattr(side, "counts", side)]
        wide = len(plays[0])
        if any(counts[wide:]):
            raise ValueError
        return plays.index((*counts[:wide], *(0,) * (wide - len(counts))))
    except (TypeError, ValueError, IndexError):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is not a play of {question}") from None


def _after(question: Question, text: str) -> list[int]:
    """Return the side on roll after moves such as `6/off 5/3(2)` in a race; ValueError if impossible."""
    hops, _, rest = read_play(text)
    counts = chequers_after(Side(*question.us), hops) if hops and not rest else None
    if counts is None:
        raise ValueError
    return counts


class Answers:
    """The answers to the N questions of a set, at first none.

    kind : (N,) the kinds of the questions.
    status : (N,) uint8, index into `STATUS`, 255 if not asked yet.
    choice : (N,) number of the play; 1 for double or take, 0 for no double or pass, 2 for beaver.
    numbers : (N, 2) equity and win probability, NaN if not given.
    seconds : (N,) time of each answer.
    words : {question number: message} of the first failure of each status and kind.
    """

    def __init__(self, kind: Array) -> None:
        count = len(kind)
        self.kind = kind
        self.status = np.full(count, 255, np.uint8)
        self.choice = np.full(count, -1)
        self.numbers = np.full((count, 2), np.nan)
        self.seconds = np.zeros(count)
        self.words: dict[int, str] = {}

    def record_answer(self, question: Question, said: object, seconds: float) -> tuple[Any, ...]:
        """Parse and store the answer to a question; return it as a row of the file in which answers are saved.

        said : the answer or a Failure. seconds : time that it took.
        """
        status = ANSWERED
        row = (-1, np.nan, np.nan)
        words = ""
        try:
            row = parse_answer(question, said)
        except Failure as failure:
            status = failure.status
            words = str(failure)
        except Exception as error:  # raised by an object of the candidate
            status = ILLEGAL
            words = f"{type(error).__name__}: {error}"
        line = question.number, status, *row, seconds, printable(" ".join(words.split()))
        self.record_row(*line)
        return line

    def record_row(
        self, number: int, status: int, choice: int, equity: float, win: float, seconds: float, words: str
    ) -> None:
        """Store one answer as it was saved in a file, a row of `record_answer`.

        number : of the question. status : index into `STATUS`. words : message of a failure, "" for none. The others
        are as `parse_answer` returns them.
        """
        self.status[number] = status
        self.choice[number] = choice
        self.seconds[number] = seconds
        self.numbers[number] = equity, win
        kind = self.kind[number]
        known = any(self.status[k] == status and self.kind[k] == kind for k in self.words)
        if words and not known:
            self.words[number] = words

    @property
    def missing(self) -> Array:
        """Return the numbers of the questions that have not been asked yet."""
        return np.flatnonzero(self.status == 255)
