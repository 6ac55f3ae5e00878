"""Who sits an exam: engines of any kind by one name each, their answers read, and asked one by one.

NAME[:OPTIONS]       an engine (`bgfmt.engines`) or an adapter (`bgfmt.candidates`): `bkg`, `gnubg:plies=2`
ubgi:COMMAND         a program that speaks UBGI; lines:COMMAND one that reads questions and writes answers
module:name          a Python callable, also FILE.py:name
FILE                 answers, a line for each question
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from bgfmt.analysis import engines
from bgfmt.errors import BgfmtError, CapabilityError, FormatError, NotCoveredError
from bgfmt.extras.exam.sets import Array, Question
from bgfmt.game.board import Side
from bgfmt.game.drawing import printable
from bgfmt.tables.registry import doors

STATUS = ("answered", "illegal", "late", "died", "not answered")
ANSWERED, ILLEGAL, LATE, DIED, REFUSED = range(5)
KEPT = 5  # failures of which the words are kept
DOUBLES = {"double": 1, "redouble": 1, "roll": 0, "nodouble": 0, "no double": 0, "no": 0, "yes": 1}
TAKES = {"take": 1, "pass": 0, "drop": 0, "beaver": 2, "yes": 1, "no": 0}


class Failure(Exception):
    """No answer that counts. status : place in `STATUS`."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


Answer = Callable[[Question], object]


class Candidate:
    """An engine that sits an exam, made of a callable that answers one question.

    threads : whether several may be made and asked at once.
    """

    threads = False

    def __init__(self, name: str, answer: Answer | None = None) -> None:
        self.name, self.answer = name, answer

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        """For each question what was said, or the Failure, and after how many seconds."""
        clock, answer = time.perf_counter, self.answer or self.reply
        for question in questions:
            begin = clock()
            try:
                said = answer(question)
            except Failure as failure:
                said = failure
            except (NotCoveredError, NotImplementedError) as error:
                said = Failure(REFUSED, str(error))
            except Exception as error:
                said = Failure(DIED, f"{type(error).__name__}: {error}")
            took = clock() - begin
            yield (Failure(LATE, f"after {took:.1f} s") if took > timeout else said), took

    def reply(self, question: Question) -> object:
        """What is answered to one question."""
        raise NotImplementedError(question.kind)

    def close(self) -> None:
        """Give back what is held."""


class Player:
    """An engine with the methods `play`, `double` and `take`, and perhaps `equity`, of states."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __call__(self, question: Question) -> object:
        ask = getattr(self.engine, question.kind, None)
        if ask is None:
            raise NotImplementedError(question.kind)
        return ask(question.state)


# -- by name ------------------------------------------------------------------------------------------------------


def maker(spec: str) -> Callable[[], Candidate]:
    """What makes the candidate of a name; CapabilityError where there is none of it."""
    name, _, rest = spec.partition(":")
    if os.path.isfile(spec):
        return partial(FromFile, spec)
    point = doors("bgfmt.candidates").get(name)
    if point is not None:
        try:
            made = point.load()
        except Exception as error:
            raise CapabilityError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from None
        return lambda: wrapped(spec, _called(spec, made, spec if "//" in rest else rest))
    if name in engines.names():
        options = dict(item.split("=", 1) for item in rest.split(",") if "=" in item)
        return lambda: Candidate(spec, Player(engines.create(name, options)))
    found = python(name, rest)
    if not isinstance(found, type):
        return lambda: wrapped(spec, found)
    # options, as the engines of `bgfmt.engines` take them
    words: list[Any] = [{}] if inspect.signature(found).parameters else []
    return lambda: wrapped(spec, _called(spec, found, *words))


def _called(name: str, make: Callable[..., Any], *words: Any) -> Any:
    try:
        return make(*words)
    except BgfmtError:
        raise
    except Exception as error:
        raise CapabilityError(f"{name} cannot be made: {type(error).__name__}: {error}") from None


def wrapped(name: str, made: Any) -> Candidate:
    """A candidate, an engine with methods, or a callable that answers, as a candidate."""
    if isinstance(made, Candidate):
        return made
    if callable(made):
        return Candidate(name, made)
    if hasattr(made, "play") or hasattr(made, "double"):
        return Candidate(name, Player(made))
    raise CapabilityError(f"{name}: neither a callable nor an engine, but {type(made).__name__}")


def python(place: str, name: str) -> Any:
    """What `module:name` or `FILE.py:name` says."""
    there = ", ".join(sorted({*doors("bgfmt.candidates"), *engines.names()}))
    if not name:
        raise CapabilityError(
            f"no engine is called {place!r} (there are: {there}; module:name, FILE.py:name, FILE)"
        )
    try:
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
    except Exception as error:
        raise CapabilityError(f"{place}:{name} cannot be loaded: {type(error).__name__}: {error}") from None


class FromFile(Candidate):
    """Answers of a file, line k that of question k; of JSON lines `answer`, and `number` where they have it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        try:
            rows = [json.loads(line) if line.startswith("{") else line.strip() for line in lines]
            pairs = [
                (row.get("number", k), row["answer"]) if isinstance(row, dict) else (k, row)
                for k, row in enumerate(rows)
            ]
        except (ValueError, KeyError) as error:
            raise FormatError(f"{path}: no file of answers ({type(error).__name__}: {error})") from None
        self.held = dict(pairs)

    def reply(self, question: Question) -> object:
        return self.held.get(question.number) or None


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
    names = DOUBLES if question.kind == "double" else TAKES
    choice = int(said) if isinstance(said, (bool, np.bool_)) else names.get(str(said).strip().lower(), -1)
    if choice < 0 or (choice == 2 and not question.beavers):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no answer to a {question.kind}")
    return choice, np.nan, np.nan


def _numbers(said: Any) -> tuple[float, float]:
    try:
        if isinstance(said, Mapping):
            known = next(
                (said[key] for key in ("equity", "mwc", "cubeful", "cubeless") if key in said), np.nan
            )
            return float(known), float(said.get("win", np.nan))
        if isinstance(said, str):
            said = said.split()
        first, *rest = said if isinstance(said, (list, tuple)) else [said]
        numbers = float(first), float(rest[0]) if rest else np.nan
    except (TypeError, ValueError):
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no number") from None
    if not np.isfinite(numbers[0]):
        raise Failure(ILLEGAL, f"{numbers[0]} is no equity")
    return numbers


def _play(question: Question, said: Any) -> int:
    """The number of the play meant: a number, moves as text, the side or its chequers after it, a `Play`."""
    plays = question.plays
    if isinstance(said, (int, np.integer)) and not isinstance(said, bool):
        if 0 <= said < len(plays):
            return int(said)
        raise Failure(ILLEGAL, f"play {said} of {len(plays)}")
    side = getattr(getattr(said, "result", said), "us", getattr(said, "result", said))
    if isinstance(side, str):
        counts = after_moves(question.us, side)
    else:
        counts = tuple(side.counts if isinstance(side, Side) else side)
    wide = len(plays[0])
    counts = (*counts[:wide], *(0,) * (wide - len(counts))) if not any(counts[wide:]) else counts
    try:
        return plays.index(counts)
    except ValueError:
        raise Failure(ILLEGAL, f"{printable(said, 60)} is no play of {question}") from None


def after_moves(us: tuple[int, ...], text: str) -> tuple[int, ...]:
    """The side after moves such as `6/off 5/3(2)`, in a race; Failure where it cannot make them."""
    counts = list(us)
    try:
        for word in text.replace("*", "").split():
            move, _, times = word.partition("(")
            stops = move.split("/")
            start, end = int(stops[0]), 0 if stops[-1].lower() in ("off", "0") else int(stops[-1])
            for _ in range(int(times.rstrip(")")) if times else 1):
                counts[start - 1] -= 1
                if end > 0:
                    counts[end - 1] += 1
                if not 0 <= end < start or min(counts) < 0 or len(stops) < 2:
                    raise ValueError
    except (ValueError, IndexError):
        raise Failure(ILLEGAL, f"{printable(text, 60)} cannot be moved") from None
    return tuple(counts)


@dataclass
class Answers:
    """The answers to the N questions of a set.

    status (N,) place in `STATUS`, 255 not asked yet; choice (N,): of plays their number, of a double 1 or 0, of a
    take 1, of a pass 0, of a beaver 2. numbers (N, 2): equity and chance to win. seconds (N,). words : of the first
    failures, by question.
    """

    status: Array
    choice: Array
    numbers: Array
    seconds: Array
    words: dict[int, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, count: int) -> Answers:
        """No answers yet."""
        numbers = np.full((count, 2), np.nan)
        return cls(np.full(count, 255, np.uint8), np.full(count, -1), numbers, np.zeros(count))

    def put(self, question: Question, said: object, seconds: float) -> list[Any]:
        """Keep what was said; returns it as a line of a part file has it."""
        number = question.number
        try:
            status, row, words = ANSWERED, read(question, said), ""
        except Failure as failure:
            status, row, words = failure.status, (-1, np.nan, np.nan), str(failure)
        self.set(number, status, *row, seconds, words)
        return [number, status, *(None if np.isnan(x) else x for x in row), seconds, words]

    def set(
        self, number: int, status: int, choice: int, equity: Any, win: Any, seconds: float, words: str
    ) -> None:
        """Keep one answer."""
        self.status[number], self.choice[number], self.seconds[number] = status, choice, seconds
        self.numbers[number] = [np.nan if x is None else x for x in (equity, win)]
        if words and sum(self.status[k] == status for k in self.words) < KEPT:
            self.words[number] = words

    @property
    def missing(self) -> Array:
        """Numbers of the questions that were not asked yet."""
        return np.flatnonzero(self.status == 255)
