"""`bgfmt id`: what is written is read again, and what is lost is said."""

from __future__ import annotations

import csv
import json

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.extras.hosts.identify import FACTS, FORMS
from bgfmt.game.identifiers import parse, parse_position
from tests.conftest import FIXTURES, GOLDEN

with open(FIXTURES / "expected/identifiers.tsv", encoding="utf-8") as _file:
    VECTORS = list(csv.DictReader(_file, delimiter="\t"))


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    assert run(["id", *words, "--json"]) == 0
    forms: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)["forms"]
    return forms


def test_vectors_of_real_programs_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    for vector in VECTORS:
        forms = said(capsys, vector["xgid"])
        for name, key in (("gnubg-id", "gnubgid"), ("xgid", "xgid"), ("ogid", "ogid"), ("fibs", "fibs")):
            if vector[key] != "-":
                assert forms[name]["text"] == vector[key], vector["name"]


def test_what_is_not_lost_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    lost = set()
    for vector in VECTORS:
        state = parse(vector["xgid"])
        for name, form in said(capsys, vector["xgid"]).items():
            assert form["text"] is not None
            if FORMS[name][1]:
                back = parse(str(form["text"]))
                assert {fact for fact, of in FACTS.items() if of(back) != of(state)} == set(form["lost"])  # type: ignore[call-overload]
                lost |= {(name, fact) for fact in form["lost"]}  # type: ignore[attr-defined]
    assert ("position-id", "dice") in lost
    assert ("match-id", "position") in lost
    assert ("gnubg-id", "beavers") in lost
    assert not [one for one in lost if one[0] == "xgid"]


def test_position_numbers_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    forms = said(capsys, "0 1 0 0 1 / 0 1 1", "--table", "6x4")
    number = forms["number"]["text"]
    with bgfmt.open(GOLDEN / "gnubg/ts_06x04.bd") as db:
        assert db.lookup(parse_position("0 1 0 0 1 / 0 1 1")).as_dict()["position_number"] == int(str(number))
    assert said(capsys, f"#{number}", "--table", "6x4")["counts"]["text"] == "0 1 0 0 1 0 / 0 1 1 0 0 0"
    beyond_twelve = said(capsys, "0 1 0 0 1 / 0 1 1", "--table", "13x2")["number"]["text"]
    assert (
        said(capsys, f"#{beyond_twelve}", "--table", "13x2")["counts"]["text"] == "0 1 0 0 1 0 / 0 1 1 0 0 0"
    )
    outside = said(capsys, "0 0 0 0 0 0 1 / 1", "--table", "6x4")["number"]
    assert (outside["text"], outside["reason"]) == (
        None,
        "0 0 0 0 0 0 1 is not in a table of 6 points and 4 chequers",
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["#7"], "--table PxC"),
        (["1 / 1", "--to", "number"], "needs the size of its table"),
        (["#44100", "--table", "6x4"], "#44100: the last position number of 6x4 is #44099"),
        (["1 / 1", "--table", "99x99"], "1 to 24 points"),
        (["XGID=-BCB:0:0:1:00:0:0:0:0:10"], "4 of 26 characters"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], words: list[str], reason: str) -> None:
    assert run(["id", *words]) == 2
    assert reason in capsys.readouterr().err


def test_one_form_and_what_it_loses(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["id", "XGID=-DCA------------------bcc-:1:1:1:65:0:0:0:0:10", "--to", "key"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("HHADAAAANOAFAAAAAAAA\n", "bgfmt: not in it: dice, cube\n")


def test_what_no_form_holds_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    ogid = "mnnnoooo:11122233:N0N:31:B:C:0:0:5G15:12"
    assert run(["id", ogid, "--to", "xgid"]) == 0
    assert capsys.readouterr().err == "bgfmt: not converted: game state C, at most 15 games, move 12\n"
    assert run(["id", ogid, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == ["game state C", "at most 15 games", "move 12"]


def test_a_pending_beaver_is_lost_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    beaver = "XGID=-DCA------------------bcc-:0:0:1:B:0:0:0:0:10"
    forms = said(capsys, beaver)
    assert forms["xgid"] == {"text": beaver, "lost": []}
    assert forms["gnubg-id"]["lost"] == ["beaver"]
    assert forms["ogid"]["lost"] == ["beaver"]


def test_an_ended_game_has_no_decision(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("cube", "play"):
        assert run([command, "mnnnoooo:11122233:N0P:31:B:D:0:0:0:0"]) == 2
        assert "the game is over: the double was passed" in capsys.readouterr().err
