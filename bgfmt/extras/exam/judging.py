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
CONSTANT_SHARE = 0.995  # share of equal answers above which an engine gives a constant answer
#: by kind of question the name of the finding if (nearly) all answers are 0, or 1
ALWAYS = {DOUBLE: ("never doubles", "always doubles"), TAKE: ("always passes", "always takes")}
#: of a saved answer: number, status, choice, equity, win, seconds, words
ROW_TYPES = [int, int, int, float, float, float, str]
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
    if not isinstance(row, list) or [type(value) for value in row] != ROW_TYPES:
        return False
    number, status, choice, equity, win, seconds, _ = row
    if not (0 <= number < len(exam) and 0 <= status < len(STATUS) and 0 <= seconds < np.inf):
        return False
    kind = exam.kind[number]
    if status != ANSWERED:
        return True
    if kind == EQUITY:
        return bool(choice == -1 and np.isfinite(equity) and not np.isinf(win))
    choices = len(exam.of(number)) if kind == PLAY else 2 + (kind == TAKE and exam.beavers[number])
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

    def work(candidate: Candidate, part: Array) -> list[Reply]:
        return list(_replies(candidate, exam.questions(part), timeout, failed))

    with ExitStack() as stack:
        others = [stack.enter_context(closing(make())) for _ in range(threads - 1)]
        pool = stack.enter_context(ThreadPoolExecutor(threads))
        step = threads * CHUNK_QUESTIONS
        for start in range(0, len(numbers), step):
            parts = np.array_split(numbers[start : start + step], threads)
            for rows in pool.map(work, [first, *others], parts):
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

    @cached_property
    def equity(self) -> Array:
        """Loss of each answer as equity of a cube at 1 (EMG at a score), (N,); NaN where no decision was made.

        At a score a loss is scaled so that the range between losing and winning the question's cube is 2.
        """
        low, high = self.exam.ends.T
        return np.where(self.match, 2 * self.loss / np.where(high > low, high - low, 1), self.loss)

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
    def number_errors(self) -> Array:
        """Errors (answer minus exact) of equities and win probabilities, (2, N); NaN without an answer."""
        return (self.answers.numbers - self.exam.worths_of(EQUITY)).T


def cube_values(exam: Exam) -> Array:
    """Return the values of the choices of cube decisions, to the side that decides, (N, 3).

    The columns are the choices by number: no double and double, or pass, take and beaver. Choices that a question
    does not have are NaN.
    """
    rolling, taken, passed, beaver = exam.worths_of(DOUBLE, TAKE).T
    answer = np.fmin(np.fmin(taken, passed), beaver)
    doubles = np.column_stack([rolling, answer, np.full(len(exam), np.nan)])
    takes = -np.column_stack([passed, taken, beaver])
    return np.where((exam.kind == DOUBLE)[:, None], doubles, takes)


def judge(exam: Exam, answers: Answers, name: str, least: float = MIN_LOSS) -> Judged:
    """Compute the loss of each answer of an engine against the best answer.

    name : of the engine. least : losses up to this, in the unit of `Judged.loss`, are not counted as wrong.
    """
    loss = np.full(len(exam), np.nan)
    answered = answers.status == ANSWERED
    plays = np.flatnonzero(answered & (exam.kind == PLAY))
    best = np.maximum.reduceat(exam.worths, exam.starts[:-1])
    loss[plays] = best[plays] - exam.worths[exam.starts[plays] + answers.choice[plays]]
    cubes = np.flatnonzero(answered & np.isin(exam.kind, (DOUBLE, TAKE)))
    values = cube_values(exam)[cubes]
    loss[cubes] = np.fmax.reduce(values, axis=1) - values[np.arange(len(cubes)), answers.choice[cubes]]
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
    """Yield a finding for each status but "answered": counts, and the first message for each kind of question."""
    exam = judged.exam
    answers = judged.answers
    for status, name in enumerate(STATUS):
        rows = answers.status == status
        count = int(rows.sum())
        if status == ANSWERED or not count:
            continue
        by_kind = np.bincount(exam.kind[rows], minlength=len(KINDS))
        kinds = ", ".join(f"{n} of {kind}" for kind, n in zip(KINDS, by_kind, strict=True) if n)
        words = f"{count:,} of {len(exam):,} {name}, 1 in {round(len(exam) / count):,} ({kinds})"
        failures = sorted(answers.words, key=lambda number: exam.kind[number])
        messages = dict.fromkeys(answers.words[number] for number in failures if rows[number])
        yield Finding(name, words + ": " * bool(messages) + "; ".join(messages), count)


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
    """Yield a finding if answers are slow on average."""
    seconds = judged.answers.seconds[judged.answers.status <= LATE]
    if len(seconds) and seconds.mean() >= SLOW_SECONDS:
        worst = 1000 * np.quantile(seconds, 0.99)
        mean = 1000 * seconds.mean()
        words = f"slow: {mean:.3g} ms an answer, 1 % over {worst:.3g} ms, {seconds.sum():.3g} s in all"
        yield Finding("slow", words, len(seconds))
