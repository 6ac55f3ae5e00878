"""`bgfmt ubgi --check`: our own engine answers the corpus, and faults of another one are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.extras.hosts import conformance

OWN = f"{sys.executable} -m bgfmt ubgi"
#: an engine that greets, joins the moves of a chequer, ends at an unknown command, and knows no cube
OTHER = """
import sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "ubgi":
        print("id name other\\nid author nobody\\nubgiok")
    elif word == "isready":
        print("readyok")
    elif line.startswith("go role chequer"):
        print("bestmove 6/1")
    elif word == "go":
        print("error unsupported_feature go")
    elif word in ("dice", "position", "newgame"):
        pass
    else:
        raise SystemExit("no such word")
    sys.stdout.flush()
"""


def test_our_engine_answers_the_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ubgi", "--check", OWN]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("failed", "refused"))] == [
        line for line in lines if "play of the opening" in line
    ]
    assert sum(line.startswith("level") for line in lines) == 3


def test_faults_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.py"
    path.write_text(OTHER)
    assert run(["ubgi", "--check", f"{sys.executable} {path}"]) == 1
    told = {line[:8].strip() + line[17:] for line in capsys.readouterr().out.splitlines()}
    text = "\n".join(told)
    assert "failed play 1 1 / 1 66: '6/1' is no legal play" in text
    assert "failed bad position: expected an error, found ''" not in text  # silence is one
    assert "failed unknown command: the program ended with 1: no such word" in text
    assert "refused cube: " in text


def test_the_first_play_may_take_longer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may load what it needs, or compile it, when it is first asked for a play."""
    monkeypatch.setattr(conformance, "ANSWER", 0.5)
    path = tmp_path / "slow.py"
    slow = 'if line.startswith("go role chequer"):\n        time.sleep(1.5 * first)\n        first = 0'
    path.write_text(
        "import time\nfirst = 1\n" + OTHER.replace('if line.startswith("go role chequer"):', slow)
    )
    run(["ubgi", "--check", f"{sys.executable} {path}"])
    first = next(case.name for case in conformance.corpus() if "go role chequer" in case.said)
    line = next(line for line in capsys.readouterr().out.splitlines() if f" {first}" in line)
    assert "is no legal play" in line or line.startswith("ok")


def test_programs_that_are_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "START", 0.5)
    for command in ("no-such-program", "", "false", "cat"):
        assert run(["ubgi", "--check", command]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert len({case.name for case in conformance.corpus()}) == len(list(conformance.corpus()))


@pytest.mark.slow
def test_programs_sit_an_exam(tmp_path: Path) -> None:
    """UBGI, eval included; question lines; a program that ends at every tenth question, and one that keeps silent."""
    import numpy as np

    from bgfmt.extras.exam import candidates, judging, making

    exam = making.named("standard")
    small = (exam.us.sum(axis=1) <= 3) & (exam.them.sum(axis=1) <= 3) & (exam.away[:, 0] <= 3)
    few = exam.part(np.concatenate([np.flatnonzero(small & (exam.kind == kind))[:12] for kind in range(4)]))
    judged = judging.judge(few, judging.sit(candidates.maker(f"ubgi:{OWN}"), few, timeout=60), "own")
    assert judged.count("answered") + judged.count("not answered") == len(few)
    assert judged.decided.sum() > 20
    assert not judged.wrong.any()
    assert np.nanmax(np.abs(judged.off[0])) < 2e-4
    path = tmp_path / "lines.py"
    path.write_text(
        "import sys, time\n"
        "for k, line in enumerate(sys.stdin, 1):\n"
        "    if k % 10 == 0: break\n"
        "    if k % 10 == 5: time.sleep(2)\n"
        "    print({'play': 'nothing', 'equity': '0'}.get(line.split()[0], 'no'), flush=True)\n"
    )
    answers = judging.sit(
        candidates.maker(f"lines:{sys.executable} {path}"), few.part(np.arange(12)), timeout=0.5
    )
    names = [candidates.STATUS[k] for k in answers.status]
    assert names[4] == "late"
    assert {"answered", "illegal", "late"} >= set(names) - {"died"}
    path.write_text("while True: print('ubgiok')")  # greets, and says line upon line
    answers = judging.sit(
        candidates.maker(f"ubgi:{sys.executable} {path}"), few.part(np.arange(3)), timeout=0.3
    )
    assert {candidates.STATUS[k] for k in answers.status} == {"late"}
