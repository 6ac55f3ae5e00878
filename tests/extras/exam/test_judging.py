"""`bgfmt exam`: losses beside fractions, faults planted and named, answers of every form, runs cut short."""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bgfmt import met
from bgfmt.cli import run
from bgfmt.errors import CapabilityError, FormatError
from bgfmt.extras.exam import candidates, judging, making, report, sets
from bgfmt.game.board import Side
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.met.score import Score

Counts = tuple[int, ...]


@pytest.fixture(scope="module")
def standard() -> sets.Exam:
    return making.load_named("standard")


def right(question: sets.Question) -> object:
    """The answer that loses nothing."""
    worths = question.exam.of(question.number)
    if question.kind == "play":
        return int(worths.argmax())
    if question.kind == "equity":
        return {"equity": worths[0], "win": worths[1]}
    rolling, taken, passed, beaver = worths
    answer = np.nanmin([taken, passed, beaver])
    if question.kind == "double":
        return bool(answer > rolling)
    return "beaver" if answer == beaver else bool(taken <= passed)


def sat(exam: sets.Exam, answer: object) -> judging.Judged:
    made = candidates.candidate("made", answer)
    return judging.judge(exam, judging.collect_answers(lambda: made, exam), "made")


@pytest.mark.slow
def test_nothing_is_lost_by_who_knows(standard: sets.Exam) -> None:
    judged = sat(standard, right)
    assert judged.count("answered") == len(standard)
    assert not judged.is_wrong.any()
    assert judged.loss[judged.decided].max() == 0
    assert np.nanmax(np.abs(judged.number_errors[0])) == 0
    assert [one.name for one in judging.findings(judged) if "slow" not in one.name] == []


# -- from fractions -------------------------------------------------------------------------------------------


class Fractions:
    """What positions are worth, from the rules alone: memoised recursion over fractions.

    away : points to go of player 0 and 1, None for money. Values are those of the player on roll.
    """

    def __init__(self, away: tuple[int, int] | None) -> None:
        self.away, self.table = away, met.load()
        self.rolling = cache(self._rolling)

    def worth(self, player: int, points: int) -> Fraction:
        if self.away is None:
            return Fraction(points)
        away = self.away[::-1] if player else self.away
        return Fraction(Score(away, self.table, player=player).after(0, points))

    def other(self, value: Fraction) -> Fraction:
        return -value if self.away is None else 1 - value

    def live(self, player: int, cube: int, owner: int | None) -> bool:
        return owner in (None, player) and (self.away is None or self.away[player] > cube)

    def after(self, us: Counts, them: Counts, player: int, cube: int, owner: int | None) -> Fraction:
        """Of who has played to `us`. owner : 2 where there is no cube."""
        if not any(us):
            return self.worth(player, cube * (2 if sum(them) == 15 else 1))
        return self.other(self.turn(them, us, 1 - player, cube, owner))

    def turn(self, us: Counts, them: Counts, player: int, cube: int, owner: int | None) -> Fraction:
        best = self.rolling(us, them, player, cube, owner)
        if self.live(player, cube, owner):
            taken = self.rolling(us, them, player, 2 * cube, 1 - player)
            best = max(best, min(taken, self.worth(player, cube)))
        return best

    def _rolling(self, us: Counts, them: Counts, player: int, cube: int, owner: int | None) -> Fraction:
        total = Fraction(0)
        for roll in ROLLS:
            plays = race_plays(us, roll.high, roll.low)
            total += roll.weight * max(self.after(play, them, player, cube, owner) for play in plays)
        return total / 36


@pytest.mark.slow
def test_losses_follow_from_fractions(standard: sets.Exam) -> None:
    """Of a hundredth of all decisions, those of few chequers: every worth and every loss, at every score."""
    few = (standard.us[:, :6].sum(axis=1, dtype=int) <= 3) & (standard.them.sum(axis=1, dtype=int) <= 2)
    few &= (standard.us @ np.arange(1, standard.points + 1) <= 8) & (standard.them[:, 4:].sum(axis=1) == 0)
    numbers = np.random.default_rng(1).permutation(np.flatnonzero(few))[: len(standard) // 100]
    exam = standard.part(numbers)
    assert len(exam) == len(standard) // 100
    assert {0, 1, 2, 3} == set(exam.kind.tolist())
    judged = sat(
        exam, lambda q: 0 if q.kind == "play" else {"double": "roll", "take": "take"}.get(q.kind, 0.0)
    )
    judges: dict[tuple[int, int] | None, Fractions] = {}
    for k, question in enumerate(exam.questions()):
        judge = judges.setdefault(question.away, Fractions(question.away))
        cube = question.cube if question.away else 1
        owner = {"centered": None, "owned": 0, "opponent": 1, "none": 2}[question.owner]
        us, them = question.us, question.them
        if question.kind == "play":
            worths = [judge.after(play, them, 0, cube, owner) for play in question.plays]
            loss = max(worths) - worths[0]
        elif question.kind == "equity":
            worths, loss = [judge.turn(us, them, 0, cube, owner)], None
        else:
            rolling = judge.rolling(us, them, 0, cube, owner)
            taken, passed = judge.rolling(us, them, 0, 2 * cube, 1), judge.worth(0, cube)
            answers = [
                taken,
                passed,
                *([judge.rolling(us, them, 0, 4 * cube, 0)] if question.beavers else []),
            ]
            worths = [rolling, taken, passed]
            loss = max(min(answers), rolling) - rolling if question.kind == "double" else taken - min(answers)
        held = exam.of(k)[: len(worths)]
        assert held == pytest.approx([float(x) for x in worths], abs=1e-12), question
        if loss is not None:
            assert judged.loss[k] == pytest.approx(float(loss), abs=1e-12), question


# -- faults planted ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_planted_faults_are_named(standard: sets.Exam) -> None:
    """Always takes, sides exchanged at odd scores, wrong with fifteen chequers, slow, illegal once in 500."""

    def answer(question: sets.Question) -> object:
        number, worths = question.number, question.exam.of(question.number)
        odd = question.away is not None and question.away[0] % 2 == 1
        fifteen = 15 in (sum(question.us), sum(question.them))
        if number % 500 == 3:
            return "25/24" if question.kind == "play" else "perhaps"
        time.sleep(0.001)
        if question.kind == "play":
            return int(worths.argmin() if odd or fifteen else worths.argmax())
        if question.kind == "take":
            return True
        exchanged = question.exam.mistaken[number, :3]
        if odd and not np.isnan(exchanged[0]):
            rolling, taken, passed = exchanged
        else:
            rolling, taken, passed, *_ = (*worths, 0, 0)
        if question.kind == "equity":
            return float(rolling)
        return bool((min(taken, passed) > rolling) != fifteen)

    fifteen = (standard.us.sum(axis=1) == 15) | (standard.them.sum(axis=1) == 15)
    numbers = np.unique(
        [*np.random.default_rng(2).permutation(len(standard))[:3000], *np.flatnonzero(fifteen)]
    )
    judged = sat(standard.part(numbers), answer)
    found = {one.name: one for one in judging.findings(judged)}
    assert found["illegal"].questions == np.sum(np.arange(len(numbers)) % 500 == 3)
    assert "1 in " in found["illegal"].words
    assert {"always takes", "slow"} <= set(found)
    made = report.Report([judged], 5)
    by = made.engines[0]["by"]
    assert by["chequers"]["15"]["wrong_share"] > 2 * by["chequers"]["5"]["wrong_share"]
    assert set(by["cube"]) == {"centered", "owned", "opponent", "none"}
    assert all(one["words"] in made.text() for one in made.engines[0]["findings"])
    page = made.page()
    assert page.count("<article") == 5
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")


def test_calibration_tells_how_far_numbers_are_off(standard: sets.Exam) -> None:
    """Of an engine that knows every number, equities for money but for 0.1."""
    exam = standard.part(np.flatnonzero(standard.kind == sets.EQUITY)[::7])

    def answer(question: sets.Question) -> object:
        equity, win = question.exam.of(question.number)
        return {"equity": equity + (0.0 if question.away else 0.1), "win": win}

    made = report.Report([sat(exam, answer)], 3)
    found = made.engines[0]["calibration"]
    assert set(found) == {"equity, money", "equity, score", "win, money", "win, score"}
    for name, one in found.items():
        off = 0.1 if name == "equity, money" else 0.0
        assert one["mean_error"] == pytest.approx(off)
        assert one["greatest_error"] == pytest.approx(off)
        assert sum(count for *_, count in one["bins"]) == one["answers"]
        assert len(one["bins"]) >= 5
        for said, true, _ in one["bins"]:
            assert said - true == pytest.approx(off)
    page = made.page()
    assert "<h1>made</h1>" in page
    assert "equity, money: " in page
    assert "mean error +0.10000" in page


def test_plays_are_read_in_every_form(standard: sets.Exam) -> None:
    from bgfmt.game.moves import legal_plays

    for number in np.flatnonzero((standard.kind == 0) & (standard.cube == 1))[:40].tolist():
        question = standard.questions(np.array([number]))[0]
        assert question.dice is not None
        for play in legal_plays(question.position, *question.dice):
            counts = play.result.us.padded(standard.points)
            forms = [str(play), play, play.result.us, counts, list(play.result.us.counts), Side(*counts)]
            assert {candidates.parse_answer(question, form)[0] for form in forms} == {
                question.plays.index(counts)
            }
        for wrong in ("7/1", "1/2", "x", "6", [0, 0, 0, 0, 0, 0, 0, 9], 99, (15,) * 6):
            with pytest.raises(candidates.Failure):
                candidates.parse_answer(question, wrong)


def test_failures_are_counted(standard: sets.Exam) -> None:
    def answer(question: sets.Question) -> object:
        if question.number == 1:
            raise ValueError("a slip\n\x1b[31m")
        if question.number == 2:
            time.sleep(0.02)
        return None if question.number == 3 else "nonsense" if question.number == 4 else right(question)

    exam = standard.part(np.flatnonzero(standard.kind == 0)[:50])
    answers = judging.collect_answers(lambda: candidates.candidate("x", answer), exam, timeout=0.01)
    names = [candidates.STATUS[k] for k in answers.status]
    assert names[:5] == ["answered", "died", "late", "not answered", "illegal"]
    assert set(names[5:]) == {"answered"}
    assert answers.words[1] == "ValueError: a slip ?[31m"


def test_answers_of_any_kind_are_counted(standard: sets.Exam) -> None:
    """An object of no meaning, numbers beyond any size, a guest that ends the program: never an error of ours."""
    kinds = [np.flatnonzero(standard.kind == kind)[:6] for kind in range(4)]
    exam, said = (
        standard.part(np.concatenate(kinds)),
        [object(), 10**400, 10**30, {"equity": []}, b"x", [[1]]],
    )
    judged = sat(exam, lambda q: said[q.number % 6])
    assert judged.count("illegal") == len(exam) - 1  # 10**30 is an equity, though none that comes up
    assert report.Report([judged], 5).text()
    assert sat(exam, lambda q: sys.exit(3)).count("died") == len(exam)


@pytest.mark.parametrize("kind", [OSError, EOFError, TimeoutError])
def test_an_error_without_a_message_is_named(standard: sets.Exam, kind: type[Exception]) -> None:
    def answer(question: sets.Question) -> object:
        raise kind

    judged = sat(standard.part(np.arange(5)), answer)
    assert set(judged.answers.words.values()) == {kind.__name__}


def test_a_run_cut_short_goes_on(standard: sets.Exam, tmp_path: Path) -> None:
    exam, part = standard.part(np.arange(60)), str(tmp_path / "part")
    asked: list[int] = []

    def answer(question: sets.Question) -> object:
        asked.append(question.number)
        if len(asked) == 31:
            raise KeyboardInterrupt
        return right(question)

    make = lambda: candidates.candidate("x", answer)  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        judging.collect_answers(make, exam, part=part)
    with open(part, "a") as file:
        file.write("[31, 0, ")  # what a kill leaves
    answers = judging.collect_answers(make, exam, part=part)
    assert asked == [*range(31), *range(30, 60)]
    assert not judging.judge(exam, answers, "x").is_wrong.any()
    with pytest.raises(FormatError):
        sets.load(part)


# -- sets --------------------------------------------------------------------------------------------------


def test_sets_are_kept_whole(standard: sets.Exam, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    exam = replace(standard.part(np.arange(0, len(standard), 400)), name="a")
    exam.save(str(path))
    assert sets.load(str(path)).digest == exam.digest
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))
    with pytest.raises(FormatError):
        sets.load(str(path))
    assert (standard.licence, standard.name) == ("CC0-1.0", "standard")


@pytest.mark.slow
def test_shipped_sets_are_made_again() -> None:
    shipped, made = making.load_named("traps"), making.make("traps", 60)
    assert len(shipped) > 1000
    assert set(made.strata) == set(shipped.strata)
    money = making.make("money", 300)
    assert money.digest == making.make("money", 300).digest != making.make("money", 300, 2).digest
    assert making.load_named("matches").weight.max() > 1
    assert 0 < making.load_named("races").error.min() < making.load_named("races").error.max() < 0.02


# -- commands -------------------------------------------------------------------------------------------------


ENGINE = """
class Mover:
    def __init__(self, options):
        self.options = options
    def take(self, state):
        return state.kind == "take"
    def double(self, state):
        return False
class Bare(Mover):
    def __init__(self):
        pass
class Broken(Bare):
    def __init__(self):
        1 / 0
class Worse(Bare):
    @property
    def play(self):
        1 / 0
def loud(question):
    print("thinking")
    return None
print("made")
"""


@pytest.mark.slow
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Path) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(
        "def first(q):\n    return 0 if q.kind == 'play' else q.kind == 'take' if q.kind != 'equity' else 0\n"
    )
    engine.write_text(engine.read_text() + ENGINE)
    for name, code in (("Mover", 0), ("Bare", 0), ("Broken", 2), ("Worse", 2)):
        assert run(["exam", f"{engine}:{name}", "--set", "traps", "--kind", "take"]) == code
    assert "cannot be created: ZeroDivisionError" in capsys.readouterr().err
    assert run(["exam", f"{engine}:loud", "--set", "traps", "--kind", "take", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["engines"][0]["answers"]["answered"] == 0
    mine, few = f"{engine}:first", ["--set", "standard", "--sample", "200"]
    assert run(["exam", mine, *few, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["engines"][0]
    assert told["answers"]["answered"] == 200
    assert run(["exam", mine, *few, "--against", mine, "-o", str(tmp_path / "x.html")]) == 0
    assert "in the first alone 0" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".html", ".part")) == ["x.html"]
    assert run(["exam", "--ask", *few]) == 0
    lines = capsys.readouterr().out.splitlines()
    answers = tmp_path / "answers.txt"
    words = {"play": "0", "double": "roll", "take": "take", "equity": "0"}
    answers.write_text("\n".join(words[line.split()[0]] for line in lines))
    assert run(["exam", str(answers), *few, "--json"]) == 0
    filed = json.loads(capsys.readouterr().out)["engines"][0]
    assert filed["answers"]["illegal"] > 0  # a play is moves or a side, not a number
    table = str(golden / "gnubg" / "ts_06x04.bd")
    assert run(["exam", "--make", table, "--count", "100", "-o", str(tmp_path / "t.npz")]) == 0
    assert run(["exam", mine, "--set", str(tmp_path / "t.npz"), "--score", "money", "--kind", "take"]) == 0
    capsys.readouterr()
    for wrong in (
        ["nobody"],
        ["os:nothing"],
        [str(answers), "--set", "standard", "--sample", "150"],  # answers to other questions
        [mine, "--set", "none"],
        [mine, "--score", "9-9", "--kind", "take", "--set", "traps"],
    ):
        assert run(["exam", *wrong]) == 2
        assert len(capsys.readouterr().err.splitlines()) <= 3
    with pytest.raises(CapabilityError):
        candidates.maker("nobody")


CLASS = """
print("loading weights")
class Toy:
    def play(self, question):
        return question.plays[0]
    def double(self, question):
        return 1 / 0 if question.away else "dunno"
    def take(self, question):
        return "Take!"
"""


def test_a_class_is_asked_questions_and_given_up_kind_by_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it prints goes to standard error; a finding has words of each kind; a file needs a name."""
    engine = tmp_path / "toy.py"
    engine.write_text(CLASS)
    assert run(["exam", f"{engine}:Toy", "--set", "traps", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)["engines"][0]
    counts, said = told["answers"], {one["name"]: one["words"] for one in told["findings"]}
    exam = making.load_named("traps")
    assert counts["answered"] == np.sum(exam.kind == sets.PLAY) > 100
    assert counts["died"] == np.sum((exam.kind == sets.DOUBLE) & (exam.away[:, 0] > 0)) > judging.MAX_FAILURES
    assert "ZeroDivisionError" in said["died"]
    assert said["illegal"].endswith(": dunno is not an answer to a double; Take! is not an answer to a take")
    assert "no method equity" in said["not answered"]
    assert "loading weights" in err
    assert run(["exam", str(engine)]) == 2
    assert f"{engine}:NAME" in capsys.readouterr().err


def test_a_program_that_does_not_flush_is_given_up(standard: sets.Exam, tmp_path: Path) -> None:
    engine = tmp_path / "silent.py"
    engine.write_text("import sys\nout = open(1, 'w')\nfor line in sys.stdin:\n    print('take', file=out)\n")
    exam = standard.part(np.flatnonzero(standard.kind == 0)[:30])
    judged = judging.judge(
        exam,
        judging.collect_answers(candidates.maker(f"lines:{sys.executable} {engine}"), exam, timeout=0.02),
        "x",
    )
    assert (judged.count("late"), judged.count("died")) == (judging.MAX_FAILURES, 20)
    assert "flush" in next(one.words for one in judging.findings(judged) if one.name == "late")


@pytest.mark.slow
def test_an_engine_that_never_returns_is_late(standard: sets.Exam) -> None:
    """A Python engine that did not come back held the exam for ever."""
    stuck = threading.Event()
    exam = standard.part(np.flatnonzero(standard.kind == 0)[:30])

    def engine(question: sets.Question) -> object:
        if question.number % 10 == 3:
            stuck.wait()
        return 0

    made = judging.collect_answers(lambda: candidates.candidate("toy", engine), exam, timeout=0.1)
    stuck.set()
    judged = judging.judge(exam, made, "toy")
    assert (judged.count("late"), judged.count("answered")) == (3, 27)
    assert next(one.words for one in judging.findings(judged) if one.name == "late")


def test_a_candidate_that_never_answers_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["exam", "http://127.0.0.1:1", "--sample", "40", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("bgfmt: http://127.0.0.1:1: the engine answered no question: 13 of 40 died")
    assert err.endswith("Connection refused\n")
