"""Asking a candidate all questions of a set, and judging what it answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.extras.exam.candidates import ANSWERED, DIED, LATE, STATUS, Answers, Candidate, Failure
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, PLAY, TAKE, Array, Exam, Question
from bgfmt.storage.publish import rows_kept

LEAST = 1e-7  # a smaller loss is none
CHUNK = 256  # questions that one worker takes at a time
DEATHS = 10  # or late answers to the first of a kind, after which no more of that kind are asked
Progress = Callable[[int, int], None]


def sit(
    make: Callable[[], Candidate], exam: Exam, *, timeout: float = 10.0, threads: int = 1, part: str = "",
    force: bool = False, progress: Progress | None = None,
) -> Answers:  # fmt: skip
    """Ask a candidate all questions of a set.

    part : a file in which answers are kept as they come; a call with the same set and candidate goes on from it.
    """
    answers = Answers(exam.kind)
    with ExitStack() as stack:
        first = stack.enter_context(closing(make()))
        if first.most >= len(exam):
            there = f"it answers question {first.most + 1:,}, and the set has {len(exam):,}"
            raise CapabilityError(f"{first.name}: {there}: answers to other questions")
        out = None
        if part:
            head = json.dumps([first.name, exam.digest])
            rows, out = rows_kept(part, head, "answers of another engine or set", force=force)
            stack.enter_context(out)
            for row in rows:
                if row[1] not in (LATE, DIED):  # these get another chance
                    answers.set(*row)
        left = answers.missing
        replies = _asked(make, first, exam, left, threads, timeout)
        for done, reply in enumerate(replies, len(exam) - len(left) + 1):
            row = answers.put(*reply)
            if out is not None:
                print(json.dumps(row), file=out, flush=True)
            if progress is not None:
                progress(done, len(exam))
    return answers


Reply = tuple[Question, object, float]


def _asked(
    make: Callable[[], Candidate], first: Candidate, exam: Exam, numbers: Array, threads: int, timeout: float
) -> Iterator[Reply]:
    """(question, answer, seconds) as they come, from several candidates at once where the first allows it."""
    failed = Counter[str]()
    if threads == 1 or not first.threads:
        yield from _replies(first, exam.questions(numbers), timeout, failed)
        return
    free: SimpleQueue[Candidate] = SimpleQueue()

    def work(start: int) -> list[Reply]:
        candidate = free.get()
        try:
            return list(_replies(candidate, exam.questions(numbers[start : start + CHUNK]), timeout, failed))
        finally:
            free.put(candidate)

    with ExitStack() as stack:
        free.put(first)
        for _ in range(threads - 1):
            free.put(stack.enter_context(closing(make())))
        pool = ThreadPoolExecutor(threads)
        stack.callback(pool.shutdown, cancel_futures=True)
        for rows in pool.map(work, range(0, len(numbers), CHUNK)):
            yield from rows


def _replies(
    candidate: Candidate, questions: list[Question], timeout: float, failed: Counter[str]
) -> Iterator[Reply]:
    """The answers of one candidate, kind by kind.

    failed : how many of each kind have died or come late, -1 once one has not.
    """
    for kind in dict.fromkeys(question.kind for question in questions):
        part = [question for question in questions if question.kind == kind]
        replies = candidate.answers(part, timeout)
        for question in part:
            if failed[kind] >= DEATHS:
                yield question, Failure(DIED, "given up"), 0.0
                continue
            said, seconds = next(replies, (Failure(DIED, "no more answers came"), 0.0))
            bad = isinstance(said, Failure) and said.status in (LATE, DIED)
            failed[kind] = failed[kind] + 1 if bad and failed[kind] >= 0 else -1
            yield question, said, seconds


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

    def as_equities(self, differences: Array) -> Array:
        """(N,) differences of worths as equities: at a score 2 for what the cube at hand is worth."""
        low, high = self.exam.ends.T
        return np.where(self.match, 2 * differences / np.where(high > low, high - low, 1), differences)

    @cached_property
    def equity(self) -> Array:
        """(N,) the losses as equities."""
        return self.as_equities(self.loss)

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
    def true(self) -> Array:
        """(N, 2) the true equities and chances to win, not a number for other kinds of questions."""
        return self.exam.worths_of(EQUITY)

    @cached_property
    def off(self) -> Array:
        """(2, N) what the equities and the chances to win err by, not a number where none was given."""
        return (self.answers.numbers - self.true).T


def judge(exam: Exam, answers: Answers, name: str, least: float = LEAST) -> Judged:
    """What each answer loses against the best; what loses no more than `least` is not wrong."""
    loss, kind = np.full(len(exam), np.nan), exam.kind
    good = answers.status == ANSWERED
    rows = np.flatnonzero(good & (kind == PLAY))
    best = np.maximum.reduceat(exam.worths, exam.starts[:-1])
    loss[rows] = best[rows] - exam.worths[exam.starts[rows] + answers.choice[rows]]
    rolling, taken, passed, beaver = exam.worths_of(DOUBLE, TAKE).T
    answer = np.fmin(np.fmin(taken, passed), beaver)
    rows = np.flatnonzero(good & (kind == DOUBLE))
    choice = np.where(answers.choice == 1, answer, rolling)
    loss[rows] = (np.maximum(answer, rolling) - choice)[rows]
    rows = np.flatnonzero(good & (kind == TAKE))
    choice = np.choose(np.clip(answers.choice, 0, 2), [passed, taken, beaver])
    loss[rows] = (choice - answer)[rows]
    return Judged(exam, answers, name, np.maximum(loss, 0), least)
