"""Asking a candidate all questions of a set, and judging what it answered."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import Any

import numpy as np

from bgfmt import storage
from bgfmt.errors import OutputExistsError
from bgfmt.extras.exam.candidates import ANSWERED, DIED, LATE, STATUS, Answers, Candidate, Failure
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, PLAY, TAKE, Array, Exam

LEAST = 1e-7  # a smaller loss is none
CHUNK = 256  # questions that one worker takes at a time
DEATHS = 10  # in a row after which an engine is asked no more
Progress = Callable[[int, int], None]


def sit(
    make: Callable[[], Candidate], exam: Exam, *, timeout: float = 10.0, threads: int = 1, part: str = "",
    force: bool = False, progress: Progress | None = None,
) -> Answers:  # fmt: skip
    """Ask a candidate all questions of a set.

    part : a file in which answers are kept as they come; a call with the same set and candidate goes on from it.
    """
    answers = Answers.empty(len(exam))
    first = make()
    head = json.dumps([first.name, exam.digest])
    file = contextlib.nullcontext() if not part else _resumed(part, head, answers, force)
    numbers, many = answers.missing, threads if first.threads else 1
    chunks = [numbers[k : k + CHUNK] for k in range(0, len(numbers), CHUNK)] if many > 1 else [numbers]
    done, told = len(exam) - len(numbers), time.monotonic()
    with file as out:
        for question, said, seconds in _asked(make, first, exam, chunks, many, timeout):
            row = answers.put(question, said, seconds)
            if out is not None:
                out.write(json.dumps(row) + "\n")
            done += 1
            if time.monotonic() - told > 0.5:
                told = time.monotonic()
                if out is not None:
                    out.flush()
                if progress is not None:
                    progress(done, len(exam))
    return answers


def _asked(
    make: Callable[[], Candidate],
    first: Candidate,
    exam: Exam,
    chunks: list[Array],
    many: int,
    timeout: float,
) -> Iterator[tuple[Any, object, float]]:
    """(question, answer, seconds) as they come, from `many` candidates at once; one that only dies is given up."""

    def one(candidate: Candidate, chunk: Array) -> Iterator[tuple[Any, object, float]]:
        questions, deaths = exam.questions(chunk), 0
        replies = candidate.answers(questions, timeout)
        for k, question in enumerate(questions):
            said, seconds = next(replies, (Failure(DIED, "no more answers came"), 0.0))
            yield question, said, seconds
            deaths = deaths + 1 if isinstance(said, Failure) and said.status == DIED else 0
            if deaths >= DEATHS and deaths == k + 1:  # it has never lived
                rest = ((later, Failure(DIED, "given up"), 0.0) for later in questions[k + 1 :])
                yield from rest
                return

    if many == 1:
        try:
            for chunk in chunks:
                yield from one(first, chunk)
        finally:
            first.close()
        return
    candidates: SimpleQueue[Candidate] = SimpleQueue()
    for candidate in (first, *(make() for _ in range(many - 1))):
        candidates.put(candidate)

    def work(chunk: Array) -> list[Any]:
        candidate = candidates.get()
        try:
            return list(one(candidate, chunk))
        finally:
            candidates.put(candidate)

    pool = ThreadPoolExecutor(many)
    try:
        for rows in pool.map(work, chunks):
            yield from rows
    finally:
        pool.shutdown(cancel_futures=True)
        for _ in range(many):
            candidates.get().close()


def _resumed(part: str, head: str, answers: Answers, force: bool) -> Any:
    """A part file open for more, what it holds put into `answers`; a line that a kill broke is cut off."""
    good = [head]
    with contextlib.suppress(FileNotFoundError), open(part, encoding="utf-8") as file:
        if file.readline().rstrip("\n") == head:
            for line in file:
                with contextlib.suppress(ValueError, IndexError, TypeError):
                    number, status, choice, *rest = json.loads(line)
                    if status not in (LATE, DIED):  # these get another chance
                        answers.set(number, status, choice, *rest)
                        good.append(line.rstrip("\n"))
        elif not force:
            raise OutputExistsError(f"{part}: answers of another engine or set that were not finished")
    with storage.create(part, force=True) as sink:
        sink.write(("\n".join(good) + "\n").encode())
    return open(part, "a", encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Judged:
    """The answers of a candidate, judged.

    loss (N,) : in points of a cube at 1, at a score as a chance to win the match; not a number without a decision.
    """

    exam: Exam
    answers: Answers
    name: str
    loss: Array
    least: float = LEAST

    @cached_property
    def decided(self) -> Array:
        """(N,) bool: answered, and more than one choice."""
        return ~np.isnan(self.loss)

    @cached_property
    def match(self) -> Array:
        """(N,) bool: at a score."""
        return self.exam.away[:, 0] > 0

    @cached_property
    def equity(self) -> Array:
        """(N,) the losses as equities: for money as they are, at a score 2 for what the cube at hand is worth."""
        low, high = self.exam.ends.T
        return np.where(self.match, 2 * self.loss / np.where(high > low, high - low, 1), self.loss)

    @cached_property
    def points(self) -> Array:
        """(N,) the losses in points at the cube of the question, not a number at a score."""
        return np.where(self.match, np.nan, self.loss * self.exam.cube)

    @cached_property
    def wrong(self) -> Array:
        """(N,) bool: costs more than the error of the numbers can make of nothing."""
        return np.nan_to_num(self.loss, nan=0.0) > np.maximum(self.least, self.exam.error)

    def count(self, status: str) -> int:
        """How many answers were "illegal", "late", ...."""
        return int((self.answers.status == STATUS.index(status)).sum())

    @cached_property
    def off(self) -> tuple[Array, Array]:
        """(N,) what the equities and the chances to win err by, not a number where none was given."""
        rows = np.flatnonzero(self.exam.kind == EQUITY)
        out = np.full((2, len(self.exam)), np.nan)
        true = self.exam.worths[self.exam.starts[rows][:, None] + np.arange(2)]
        out[:, rows] = (self.answers.numbers[rows] - true).T
        return out[0], out[1]


def judge(exam: Exam, answers: Answers, name: str, least: float = LEAST) -> Judged:
    """What each answer loses against the best; what loses no more than `least` is not wrong."""
    loss, kind = np.full(len(exam), np.nan), exam.kind
    good = answers.status == ANSWERED
    rows = np.flatnonzero(good & (kind == PLAY))
    if len(rows):
        lengths = np.diff(exam.starts)
        best = np.full(len(exam), np.nan)
        filled = np.flatnonzero(lengths > 0)
        best[filled] = np.maximum.reduceat(exam.worths, exam.starts[filled])
        loss[rows] = best[rows] - exam.worths[exam.starts[rows] + answers.choice[rows]]
    triples = exam.triples()
    rolling, taken, passed, beaver = triples.T
    answer = np.fmin(np.fmin(taken, passed), beaver)
    rows = np.flatnonzero(good & (kind == DOUBLE))
    choice = np.where(answers.choice == 1, answer, rolling)
    loss[rows] = (np.maximum(answer, rolling) - choice)[rows]
    rows = np.flatnonzero(good & (kind == TAKE))
    choice = np.choose(np.clip(answers.choice, 0, 2), [passed, taken, beaver])
    loss[rows] = (choice - answer)[rows]
    return Judged(exam, answers, name, np.maximum(loss, 0), least)
