"""Ask a candidate (an engine under test) all questions of a set, compute its losses, and find systematic faults.

Findings are faults of an engine as a whole: the same answer to all questions, failures and slow answers.
`report.groups` shows in which groups of questions it loses.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from bgfmt.errors import CapabilityError
from bgfmt.extras.checkpoints import RowFile
from bgfmt.extras.exam.candidates import ANSWERED, DIED, LATE, STATUS, Answers, Candidate, Failure
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, KINDS, PLAY, TAKE, Array, Exam, Question
from bgfmt.extras.foreign import load_json_rows

MIN_LOSS = 1e-7  # losses up to this are rounding errors
CHUNK_QUESTIONS = 256  # questions that one worker takes at a time
MAX_FAILURES = 10  # consecutive failures at the start of a kind after which its other questions are skipped
MIN_ANSWERS = 20  # fewer answers give no finding
SLOW_SECONDS = 0.001  # mean time of an answer
STALL_SECONDS = 0.008  # time of one answer, also at least 20 times the median
CONSTANT_SHARE = 0.995  # share of equal answers above which an engine gives a constant answer
#: by kind of question the name of the finding if (nearly) all answers are 0, or 1
ALWAYS = {DOUBLE: ("never doubles", "always doubles"), TAKE: ("always passes", "always takes")}
Progress = Callable[[int, int], None]


def collect_answers(
    make: Callable[[], Candidate], exam: Exam, *, timeout: float = 10.0, threads: int = 1, part: str = "",
    force: bool = False, resume: bool = False, progress: Progress | None = None,
) -> Answers:  # fmt: skip
    """Ask a candidate (engine under test) all questions of a set and return its answers.

    Parameters
    ----------
    make : creates the candidate; called once, or once for each thread if the candidate allows several.
    timeout : seconds after which an answer is late.
    threads : how many candidates may answer at the same time.
    part : file in which answers are stored as they come, so that an interrupted run with the same set and candidate
        can continue; "" for none.
    force, resume : with `force` and without `resume` the part file is overwritten.
    progress : called with the number of questions answered and the number of all.

    Raises
    ------
    ScratchError : if the part file belongs to another set or candidate.
    CapabilityError : if the candidate has answers to more questions than the set has.
    """
    answers = Answers(exam.kind)
    with ExitStack() as stack:
        first = stack.enter_context(closing(make()))
        if first.last_number >= len(exam):
            there = f"it answers question {first.last_number + 1:,}, but the set has {len(exam):,}"
            raise CapabilityError(f"{first.name}: {there}: the file has answers to other questions")
        out = None
        if part:
            head = json.dumps([first.name, exam.digest])
            out = stack.enter_context(RowFile(part, head, anew=force and not resume))
            for row in load_json_rows(out.rows):
                if is_kept_answer(row, exam) and row[1] not in (LATE, DIED):  # these are asked again
                    answers.record_row(*row)
        left = answers.missing
        replies = _ask(make, first, exam, left, threads, timeout)
        for done, reply in enumerate(replies, len(exam) - len(left) + 1):
            row = answers.record_answer(*reply)
            if out is not None:
                out.add(json.dumps(row))
            if progress is not None:
                progress(done, len(exam))
    return answers


def is_kept_answer(row: Any, exam: Exam) -> bool:
    """Check that a row of a file of saved answers can have been written by `Answers.record_answer` for this set.

    A row is [number, status, choice, equity, win, seconds, words]; anything else, or a value out of range, gives
    False.
    """
    if not isinstance(row, list) or len(row) != 7:
        return False
    number, status, choice, equity, win, seconds, words = row
    if not all(type(value) is int for value in (number, status, choice)) or not isinstance(words, str):
        return False
    if not all(isinstance(value, (int, float)) for value in (equity, win, seconds)):
        return False
    if not (0 <= number < len(exam) and 0 <= status < len(STATUS)) or not 0 <= seconds < float("inf"):
        return False
    if status != ANSWERED:
        return True
    kind = int(exam.kind[number])
    if kind == EQUITY:
        return bool(choice == -1 and abs(equity) < float("inf") and abs(win) != float("inf"))
    if kind == TAKE and choice == 2:
        return bool(exam.beavers[number])
    choices = len(exam.of(number)) if kind == PLAY else 2
    return bool(0 <= choice < choices)


Reply = tuple[Question, object, float]


def _ask(
    make: Callable[[], Candidate], first: Candidate, exam: Exam, numbers: Array, threads: int, timeout: float
) -> Iterator[Reply]:
    """Yield (question, answer, seconds) for the questions of these numbers.

    If the candidate allows it, several candidates made by `make` answer chunks of questions in threads.
    """
    failed = Counter[str]()
    if threads == 1 or not first.threads:
        yield from _replies(first, exam.questions(numbers), timeout, failed)
        return
    free: SimpleQueue[Candidate] = SimpleQueue()

    def work(start: int) -> list[Reply]:
        candidate = free.get()
        try:
            return list(
                _replies(candidate, exam.questions(numbers[start : start + CHUNK_QUESTIONS]), timeout, failed)
            )
        finally:
            free.put(candidate)

    with ExitStack() as stack:
        free.put(first)
        for _ in range(threads - 1):
            free.put(stack.enter_context(closing(make())))
        pool = ThreadPoolExecutor(threads)
        stack.callback(pool.shutdown, cancel_futures=True)
        for rows in pool.map(work, range(0, len(numbers), CHUNK_QUESTIONS)):
            yield from rows


def _replies(
    candidate: Candidate, questions: list[Question], timeout: float, failed: Counter[str]
) -> Iterator[Reply]:
    """Yield (question, answer, seconds) of one candidate, all questions of one kind after another.

    failed : for each kind the number of questions that died or were late, -1 once one was neither. At
    `MAX_FAILURES` the remaining questions of that kind are not asked and count as died.
    """
    for kind in dict.fromkeys(question.kind for question in questions):
        part = [question for question in questions if question.kind == kind]
        replies = candidate.answers(part, timeout)
        for question in part:
            if failed[kind] >= MAX_FAILURES:
                yield question, Failure(DIED, "given up"), 0.0
                continue
            said, seconds = next(replies, (Failure(DIED, "the answers ended early"), 0.0))
            bad = isinstance(said, Failure) and said.status in (LATE, DIED)
            failed[kind] = failed[kind] + 1 if bad and failed[kind] >= 0 else -1
            yield question, said, seconds


@dataclass(frozen=True, eq=False)
class Judged:
    """The answers of a candidate with what each loses against the best answer.

    loss : (N,) float64, in points of a cube at 1, at a score in probability to win the match (MWC); NaN for questions
        without a decision (equities, failures).
    least : losses up to this are not counted as wrong.
    """

    exam: Exam
    answers: Answers
    name: str
    loss: Array
    least: float = MIN_LOSS

    @cached_property
    def decided(self) -> Array:
        """Whether the engine made a decision of which the loss is known, (N,) bool: a play or cube action."""
        return ~np.isnan(self.loss)

    @cached_property
    def match(self) -> Array:
        """Whether each question is at a match score, (N,) bool; False for money play."""
        return self.exam.away[:, 0] > 0

    def as_equities(self, differences: Array) -> Array:
        """Convert differences of values, such as losses, to differences of equities.

        differences : (N,). At a score they are in MWC and are scaled so that the range between losing and winning the
        question's cube is 2; for money they are returned as they are.
        """
        low, high = self.exam.ends.T
        return np.where(self.match, 2 * differences / np.where(high > low, high - low, 1), differences)

    @cached_property
    def equity(self) -> Array:
        """Loss of each answer as equity of a cube at 1 (EMG at a score), (N,); NaN where no decision was made."""
        return self.as_equities(self.loss)

    @cached_property
    def points(self) -> Array:
        """Loss of each answer in points at the cube value of the question, (N,); NaN at a score."""
        return np.where(self.match, np.nan, self.loss * self.exam.cube)

    @cached_property
    def is_wrong(self) -> Array:
        """Whether the loss exceeds both `least` and the error bound of the set's own values, (N,) bool."""
        return np.nan_to_num(self.loss, nan=0.0) > np.maximum(self.least, self.exam.error)

    def count(self, status: str) -> int:
        """Return how many answers have a status, one of `STATUS` such as "illegal" or "late"."""
        return int((self.answers.status == STATUS.index(status)).sum())

    @cached_property
    def exact_numbers(self) -> Array:
        """Exact equities and win probabilities of the questions for equities, (N, 2); NaN for other questions."""
        return self.exam.worths_of(EQUITY)

    @cached_property
    def number_errors(self) -> Array:
        """Errors (answer minus exact) of equities and win probabilities, (2, N); NaN without an answer."""
        return (self.answers.numbers - self.exact_numbers).T


def judge(exam: Exam, answers: Answers, name: str, least: float = MIN_LOSS) -> Judged:
    """Compute the loss of each answer of an engine against the best answer.

    name : of the engine. least : losses up to this, in the unit of `Judged.loss`, are not counted as wrong.
    """
    loss = np.full(len(exam), np.nan)
    kind = exam.kind
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


# -- findings -----------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """One systematic fault of a candidate: its name, a line of description, the number of questions."""

    name: str
    words: str
    questions: int


def findings(judged: Judged) -> list[Finding]:
    """Return the systematic faults of an engine: failures, constant cube answers, slow answers."""
    return [*_find_failures(judged), *_find_constant_answers(judged), *_find_slow_answers(judged)]


def _find_failures(judged: Judged) -> Iterator[Finding]:
    """Yield a finding for each status but "answered": counts, and a message for each kind of question."""
    count = len(judged.exam)
    answers = judged.answers
    for status, name in enumerate(STATUS):
        of = judged.exam.kind[answers.status == status]
        if status == ANSWERED or not len(of):
            continue
        kinds = ", ".join(f"{n} of {KINDS[k]}" for k, n in enumerate(np.bincount(of, minlength=4)) if n)
        first: dict[int, str] = {}  # of each kind
        for k, said in sorted(answers.words.items()):
            if answers.status[k] == status:
                first.setdefault(answers.kind[k], said)
        words = f"{len(of):,} of {count:,} {name}, 1 in {round(count / len(of)):,} ({kinds})"
        words += ": " * bool(first) + "; ".join(dict.fromkeys(first[k] for k in sorted(first)))
        yield Finding(name, words, len(of))


def _find_constant_answers(judged: Judged) -> Iterator[Finding]:
    """Yield a finding if nearly all cube decisions of one kind got the same answer and some are wrong."""
    for kind, names in ALWAYS.items():
        rows = (judged.exam.kind == kind) & judged.decided
        for always, name in enumerate(names):
            same = judged.answers.choice[rows] == always
            wrong = judged.is_wrong[rows].sum()
            if len(same) >= MIN_ANSWERS and same.mean() >= CONSTANT_SHARE and wrong >= 3:
                words = f"{name}: this answer to {same.sum():,} of {len(same):,}, wrong in {wrong:,}"
                yield Finding(name, words, len(same))


def _find_slow_answers(judged: Judged) -> Iterator[Finding]:
    """Yield a finding where answers are slow on average, or a few of them take far longer than most."""
    seconds = judged.answers.seconds[judged.answers.status <= ANSWERED + 2]
    if not len(seconds):
        return
    mean = float(seconds.mean())
    middle = float(np.median(seconds))
    stalls = int((seconds > max(STALL_SECONDS, 20 * middle)).sum())
    if mean >= SLOW_SECONDS:
        worst = 1000 * float(np.quantile(seconds, 0.99))
        words = f"{1000 * mean:.3g} ms an answer, 1 % over {worst:.3g} ms, {seconds.sum():.3g} s in all"
        yield Finding("slow", f"slow: {words}", len(seconds))
    elif stalls >= 5 + len(seconds) / 1000:
        words = f"{stalls:,} answers take up to {seconds.max():.3g} s, most {1000 * middle:.2g} ms"
        yield Finding("slow", f"slow at times: {words}", stalls)
