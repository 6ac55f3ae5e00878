"""`bgfmt ubgi --check`: our own engine answers the corpus, and faults of another one are named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.extras.hosts import conformance
from bgfmt.game.identifiers import from_xgid
from bgfmt.game.moves import legal_plays

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


@pytest.mark.slow
def test_our_engine_answers_the_corpus(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("START_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(conformance, limit, 300.0)
    assert run(["ubgi", "--check", OWN]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("failed", "refused"))] == [
        line for line in lines if "play of the opening" in line
    ]
    assert sum(line.startswith("UBGI") for line in lines) == 4


def test_faults_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.py"
    path.write_text(OTHER)
    assert run(["ubgi", "--check", f"{sys.executable} {path}"]) == 1
    told = {line[:8].strip() + line[17:] for line in capsys.readouterr().out.splitlines()}
    text = "\n".join(told)
    assert "failed play 1 1 / 1 66: '6/1' is not a legal play" in text
    assert "failed bad position: expected error CODE ... or sorry ..., found 'bestmove 6/1'" in text
    assert "failed unknown command: the program ended with 1: no such word" in text
    assert "refused cube: " in text


#: an engine of both versions that plays legally and has one fault, named in `fault`
SMALL = """
import sys
from bgfmt.game.identifiers import from_gnubg_id, from_xgid
from bgfmt.game.moves import BAR, OFF, legal_plays
fault, version = sys.argv[1:]
new = version == "0.2"
state = None
for line in sys.stdin:
    words = line.split()
    code = "bad_command" if new else "unknown_command"
    if words[0] == "ubgi":
        print("id name small\\nid author nobody" + new * "\\nproto 0.2" + "\\nubgiok")
    elif words[0] == "isready":
        print("readyok")
    elif words[0] in ("newgame", "newsession"):
        state = None
        if fault == "chatty":
            print("session ok")
    elif words[0] == "keys":
        print("key engine.ply int 1..3 1")
    elif words[:2] == ["get", "engine.ply"]:
        print("value engine.ply 1")
    elif words[:2] == ["set", "engine.ply"] and words[2] == "1":
        pass
    elif words[0] == "set":
        print("error bad_value")
    elif words[:2] == ["position", "gnubgid"]:
        before = state if fault == "keeps" else None
        state = from_gnubg_id(words[2]) if len(words[2]) >= 14 else before
        if state is before and new:
            print("error bad_value")
    elif words[:2] == ["position", "xgid"]:
        if fault != "xgid":
            state = from_xgid(words[2])
    elif words[0] == "dice":
        dice = [int(word) if word.isdigit() else 0 for word in words[1:]]
        if len(dice) == 2 and min(dice) >= 1 and max(dice) <= 6:
            state = state.rolled(tuple(dice)) if state else None
        elif fault == "rolls":
            state = state.rolled((2, 1))
        elif new:
            print("error bad_value")
        else:
            state = state and state.before_roll()
    elif words == ["go", "cube"] and state.doubled and fault != "doubled":
        print("error unsupported")
    elif words in (["go", "role", "cube"], ["go", "cube"]):
        print("bestcube", "maybe" if fault == "cube" else "nodouble")
    elif words in (["go"], ["go", "role", "chequer"], ["go", "chequer"]):
        if state is None or state.dice is None:
            print("error bad_state" if new else "error no_dice")
        else:
            plays = legal_plays(state.position, *state.dice)
            names = {BAR: "bar", OFF: "off"}
            pairs = ["pass" if new else "none"]
            if plays:
                pairs = [f"{names.get(a, a)}/{names.get(b, b)}" for a, b, *_ in plays[0].moves]
            if fault == "illegal":
                pairs = pairs[:1]
            print("bestmove", *pairs)
    elif words[0] == "quit":
        break
    elif new or words[0] == "go":
        print("error", code)
    sys.stdout.flush()
"""
#: cases of higher levels that the engine knows nothing of
UNKNOWN = {"take"}
#: fault -> cases that it fails, among others, unless `FAULTS_02` has it
FAULTS = {
    "": [],
    "rolls": [f"bad dice {dice}" for dice in conformance.BAD_DICE],
    "xgid": ["position xgid, bottom on roll", "position xgid, top on roll"],
    "chatty": ["new game"],
    "cube": ["cube"],  # and in 0.1 all cases that ask for a cube action
    "illegal": ["play 0 3 4 3 / 0 3 4 3 21"],
    "keeps": ["bad position"],
    "doubled": [],
}
#: the same for 0.2
FAULTS_02 = {"keeps": ["no position after a bad one"], "doubled": ["pending double"]}


def test_a_malformed_key_line_is_answered_with_its_form() -> None:
    assert conformance.check_keys(["key engine.ply int 1..3 1 !", "key game.variant enum a|b a", ""]) == ""
    assert conformance.check_keys(["keys"]) == (
        "expected a line such as 'key engine.ply int 1..4 1', found 'keys'"
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.1", "0.2"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(fault: str, version: str, tmp_path: Path) -> None:
    """An engine without a fault fails no case; one with a fault fails the cases of that fault."""
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    outcomes = conformance.check(f'{sys.executable} {path} "{fault}" {version}')
    cases = [one.case for one in outcomes]
    assert {case.version for case in cases} == {version}
    faults = FAULTS | FAULTS_02 if version == "0.2" else FAULTS
    expected = set(faults[fault])
    failed = {one.case.name for one in outcomes if one.verdict == "failed"} - UNKNOWN
    if fault == "illegal":
        assert expected <= failed
        assert all(name.startswith(("play ", "go alone", "position xgid")) for name in failed)
    elif fault == "cube":
        assert expected <= failed
        assert all(one.commands.endswith("cube") for one in cases if one.name in failed)
    else:
        assert failed == expected


def test_positions_of_the_corpus_are_sound() -> None:
    """An XGID has 26 characters of board, and a single legal play."""
    for xgid in conformance.XGIDS.values():
        assert len(xgid.removeprefix("XGID=").partition(":")[0]) == 26
        state = from_xgid(xgid)
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        assert len({play.result.us.counts for play in plays}) == 1


@pytest.mark.slow
def test_the_first_play_may_take_longer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may load what it needs, or compile it, when it is first asked for a play."""
    monkeypatch.setattr(conformance, "ANSWER_SECONDS", 0.5)
    path = tmp_path / "slow.py"
    slow = 'if line.startswith("go role chequer"):\n        time.sleep(1.5 * first)\n        first = 0'
    path.write_text(
        "import time\nfirst = 1\n" + OTHER.replace('if line.startswith("go role chequer"):', slow)
    )
    run(["ubgi", "--check", f"{sys.executable} {path}"])
    first = next(case.name for case in conformance.corpus() if "go role chequer" in case.commands)
    line = next(line for line in capsys.readouterr().out.splitlines() if f" {first}" in line)
    assert "is not a legal play" in line or line.startswith("ok")


def test_programs_that_are_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "START_SECONDS", 0.5)
    for command in ("no-such-program", "", "false", "cat"):
        assert run(["ubgi", "--check", command]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert len({case.name for case in conformance.corpus()}) == len(list(conformance.corpus()))


@pytest.mark.slow
def test_programs_sit_an_exam(tmp_path: Path) -> None:
    """UBGI, eval included; question lines; a program that ends at every tenth question, and one that keeps silent."""
    import numpy as np

    from bgfmt.extras.exam import candidates, judging, making

    exam = making.load_named("standard")
    small = (exam.us.sum(axis=1) <= 3) & (exam.them.sum(axis=1) <= 3) & (exam.away[:, 0] <= 3)
    few = exam.part(np.concatenate([np.flatnonzero(small & (exam.kind == kind))[:12] for kind in range(4)]))
    judged = judging.judge(
        few, judging.collect_answers(candidates.maker(f"ubgi:{OWN}"), few, timeout=60), "own"
    )
    assert judged.count("answered") + judged.count("not answered") == len(few)
    assert judged.decided.sum() > 20
    assert not judged.is_wrong.any()
    assert np.nanmax(np.abs(judged.number_errors[0])) < 2e-4
    path = tmp_path / "lines.py"
    path.write_text(
        "import sys, time\n"
        "for k, line in enumerate(sys.stdin, 1):\n"
        "    if k % 10 == 0: break\n"
        "    if k % 10 == 5: time.sleep(2)\n"
        "    print({'play': 'nothing', 'equity': '0'}.get(line.split()[0], 'no'), flush=True)\n"
    )
    answers = judging.collect_answers(
        candidates.maker(f"lines:{sys.executable} {path}"), few.part(np.arange(12)), timeout=0.5
    )
    names = [candidates.STATUS[k] for k in answers.status]
    assert names[4] == "late"
    assert {"answered", "illegal", "late"} >= set(names) - {"died"}
    path.write_text("while True: print('ubgiok')")  # greets, and says line upon line
    answers = judging.collect_answers(
        candidates.maker(f"ubgi:{sys.executable} {path}"), few.part(np.arange(3)), timeout=0.3
    )
    assert {candidates.STATUS[k] for k in answers.status} == {"late"}


def test_an_engine_may_refuse_what_is_not_of_the_core() -> None:
    cases = {case.name: case for case in conformance.corpus()}
    unknown = conformance.judge(cases["take"], ["error unsupported_feature cube"])
    assert unknown.verdict == "refused"
    assert conformance.judge(cases["isready"], ["error unknown_command isready"]).verdict == "failed"


def test_numbers_of_thousands_of_digits_are_faults() -> None:
    digits = "9" * 5000
    cases = {case.name: case for case in conformance.corpus()}
    play = cases["play of the opening"]
    assert conformance.judge(play, [f"bestmove {digits}/1 6/5"]).verdict == "failed"
    lines = [f"key a.b int 1..{digits} 1", f"key a.c int {digits}"]
    assert conformance.check_keys(lines).startswith("expected a line")
    assert not list(conformance.list_key_cases(lines))
