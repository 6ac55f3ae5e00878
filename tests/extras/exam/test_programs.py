"""Programs and packages that sit an exam: gnubg, its external protocol, HTTP, bgsage, rules, the adviser."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.extras.exam import candidates, judging, making, programs, sets
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from tests.conftest import FIXTURES


@pytest.fixture(scope="module")
def few() -> sets.Exam:
    """Ten questions of each kind on small boards, for money and at scores."""
    exam = making.load_named("standard")
    small = (exam.us.sum(axis=1) <= 4) & (exam.them.sum(axis=1) <= 4) & (exam.stratum < 2)
    money, match = small & (exam.away[:, 0] == 0), small & (exam.away[:, 0] > 0)
    rows = [np.flatnonzero(where & (exam.kind == k))[:8] for k in range(4) for where in (money, match)]
    return exam.part(np.concatenate(rows))


def sat(name: str, exam: sets.Exam, **how: float) -> judging.Judged:
    return judging.judge(exam, judging.collect_answers(candidates.maker(name), exam, **how), name)


@contextmanager
def running(*words: str) -> Iterator[int]:
    """A server of ours, and its port."""
    command = [sys.executable, "-m", "bgfmt", *words, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        found = next(m for line in process.stdout if (m := re.search(r"127\.0\.0\.1:(\d+)", line)))
        yield int(found[1])
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


def test_equities_of_our_own_ubgi_engine_are_numbers(few: sets.Exam) -> None:
    """A question without a cube is a match to one point in UBGI, whose `eval` has match winning chances."""
    exam = making.load_named("standard")
    cubeless = (
        (exam.kind == sets.EQUITY) & (exam.owner == sets.OWNERS.index("none")) & (exam.us.sum(axis=1) <= 6)
    )
    centered = few.part(np.flatnonzero(few.kind == sets.EQUITY))
    equities = sets.join_sets([exam.part(np.flatnonzero(cubeless)[:8]), centered])
    judged = sat(f"ubgi:{sys.executable} -m bgfmt ubgi", equities)
    assert judged.count("illegal") == 0
    found = judged.answers.numbers
    answered = np.isfinite(found[:, 0])
    assert answered.sum() >= 8
    assert np.nanmax(np.abs(found - equities.worths_of(sets.EQUITY))[answered]) < 1e-3


def test_an_eval_that_is_no_number_is_illegal(few: sets.Exam) -> None:
    (question, *_) = few.questions(np.flatnonzero(few.kind == sets.EQUITY))
    said = programs.Ubgi.numbers(replace(question, owner="none"), {"mwc": "abc"})
    with pytest.raises(candidates.Failure) as failure:
        candidates.parse_answer(question, said)
    assert failure.value.status == candidates.ILLEGAL


@pytest.mark.slow
def test_the_external_player_protocol(few: sets.Exam) -> None:
    with running("gnubg-external") as port:
        judged = sat(f"external:127.0.0.1:{port}", few)
        equities = sat(
            f"external:127.0.0.1:{port}", sets.join_sets([few.part(np.flatnonzero(few.kind == 3))] * 3)
        )
    assert (
        equities.count("not answered") == len(equities.exam) > 40
    )  # it hangs up after 20 questions it refuses
    assert judged.count("illegal") == judged.count("late") == 0
    assert judged.decided.sum() >= 24
    assert not judged.is_wrong.any()


def test_a_beaver_that_is_not_played_is_a_take(few: sets.Exam) -> None:
    """As gnubg 1.07 answers, which does not heed `beavers off`."""
    candidate = programs.External("127.0.0.1:9")
    candidate.file = SimpleNamespace(
        write=lambda text: None, flush=lambda: None, readline=lambda: "beaver\n", close=lambda: None
    )
    question = next(one for one in few.questions() if one.kind == "take" and not one.beavers)
    assert candidate.reply(question) == "take"
    assert candidate.reply(replace(question, beavers=True)) == "beaver"


@pytest.mark.slow
def test_http(few: sets.Exam) -> None:
    pytest.importorskip("uvicorn")
    with running("serve") as port:
        judged = sat(f"http://127.0.0.1:{port}", few)
    assert judged.count("answered") >= 8
    assert judged.loss[judged.decided].max() < 0.01  # plays without a cube
    assert judged.count("illegal") == judged.count("died") == 0
    centered = (few.kind == 3) & (few.owner == sets.OWNERS.index("centered")) & ~judged.match
    assert centered.any()
    assert np.abs(judged.number_errors[0][centered]).max() < 2e-4
    assert sat("http://127.0.0.1:9", few).count("died") > 0


def test_gnubg(few: sets.Exam, oracle: Callable[[str], str]) -> None:
    """Exact for money in its own tables; a program that is not there is told in one line."""
    oracle("gnubg")
    judged = sat("gnubg:plies=0", few)
    assert judged.count("answered") == len(few)
    assert not judged.is_wrong[few.away[:, 0] == 0].any()
    assert np.nanmax(np.abs(judged.number_errors[0][few.away[:, 0] == 0])) < 2e-4
    without = sat("gnubg:tables=no", few)
    assert np.nanmax(np.abs(without.number_errors[0][few.away[:, 0] == 0])) > 1e-3
    with pytest.raises(CapabilityError, match="no option 'ply'"):
        candidates.maker("gnubg:ply=2")()
    with pytest.raises(CapabilityError, match="installed"):
        candidates.maker("gnubg:program=no-such")()


def test_bgsage(few: sets.Exam, oracle: Callable[[str], str]) -> None:
    oracle("bgsage")
    judged = sat("bgsage", few.part(np.arange(0, len(few), 5)))
    assert judged.count("illegal") == judged.count("died") == 0
    assert judged.decided.any()


def test_rules_the_formula_and_the_adviser(few: sets.Exam) -> None:
    own, estimate = sat("bgfmt", few), sat("bgfmt:limit=0", few)
    assert not own.is_wrong.any()
    assert estimate.loss[estimate.decided].max() < 0.01
    cubes = np.isin(few.kind, (1, 2))
    assert (sat("rule:keith", few).decided == cubes).all()
    assert (sat("janowski", few).decided == cubes & (few.away[:, 0] == 0)).all()
    for name, words in (
        ("rule:none", "no rule"), ("bgfmt:limits=0", "no option 'limits'"), ("bgfmt:limit", "KEY=VALUE"),
    ):  # fmt: skip
        with pytest.raises(CapabilityError, match=words):
            candidates.maker(name)()


def test_options_of_engines_are_read() -> None:
    with pytest.raises(BgfmtError, match="no option 'plies'"):
        candidates.maker("bkg:plies=2")()


def test_several_at_once(few: sets.Exam, tmp_path: Path) -> None:
    """The same answers from three programs as from one."""
    path = tmp_path / "lines.py"
    path.write_text("import sys\nfor line in sys.stdin: print('roll' if line[0] == 'd' else '0', flush=True)")
    name = f"lines:{sys.executable} {path}"
    exam = sets.join_sets([few] * 12)
    one, three = sat(name, exam), sat(name, exam, threads=3)
    assert (one.answers.status == three.answers.status).all()
    assert one.count("answered") > 300
    assert "illegal" in [found.name for found in judging.findings(one)]


def test_lines_too_many_are_no_answers_to_later_questions(few: sets.Exam, tmp_path: Path) -> None:
    """What a program says beyond its answer moved all later answers by one."""
    cubes = few.part(np.flatnonzero(np.isin(few.kind, (sets.DOUBLE, sets.TAKE))))
    answer = "word = 'roll' if line.startswith('double') else 'take'"
    lines = tmp_path / "lines.py"
    lines.write_text(
        f"import sys\nfor line in sys.stdin:\n    {answer}\n    much = {str(cubes.questions()[2])!r} in line\n"
        "    print(word + '\\n?' * much, flush=True)"
    )
    judged = sat(f"lines:{sys.executable} {lines}", cubes)
    assert judged.count("answered") == len(cubes) - 1
    assert "more than one line" in judged.answers.words[2]
    ubgi = tmp_path / "ubgi.py"
    ubgi.write_text(
        "import sys\nn = 0\nfor line in sys.stdin:\n    word = line.split()[0]\n    n += word == 'position'\n"
        "    answer = {'ubgi': 'ubgiok', 'isready': 'readyok', 'go': 'bestcube nodouble'}.get(word)\n"
        "    if n == 3 and word in ('position', 'go'):\n        answer = 'error bad_position'\n"
        "    if answer:\n        print(answer, flush=True)"
    )
    doubles = few.part(np.flatnonzero(few.kind == sets.DOUBLE))
    judged = sat(f"ubgi:{sys.executable} {ubgi}", doubles)
    assert (judged.count("illegal"), judged.count("answered")) == (1, len(doubles) - 1)


@pytest.mark.slow
def test_gnubg_errs_as_published(oracle: Callable[[str], str]) -> None:
    """The 40 positions at scores of fixtures/match/gnubg-differences.tsv: the losses of gnubg at 0 and 2 plies."""
    oracle("gnubg")
    with open(FIXTURES / "match" / "gnubg-differences.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for plies in ("0", "2"):
        wrong = [row for row in rows if row["ply"] == plies]
        asked = []
        for row in wrong:
            owner = {"centre": "centered", "roller": "owned"}[row["owner"]]
            sides = (Side(*map(int, row[name].split())) for name in ("on_roll", "opponent"))
            state = GameState.of(
                Position(*sides), cube=owner, cube_value=int(row["cube"]), doubled=row["kind"] == "take",
                away=(int(row["away_roller"]), int(row["away_other"])),
            )  # fmt: skip
            asked.append((sets.KINDS.index(row["kind"]), state, "", 1.0))
        judged = sat(f"gnubg:plies={plies}", making.solve_questions(asked))
        assert len(judged.loss) == len(wrong) > 5
        assert judged.loss == pytest.approx([float(row["loss_mwc"]) for row in wrong], abs=2e-6)
