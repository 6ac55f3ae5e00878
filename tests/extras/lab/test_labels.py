"""`bgfmt label`: labels in three forms, those of one seed the same, and going on after an interruption."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from bgfmt.analysis.advisor import Advisor
from bgfmt.cli import run
from bgfmt.errors import FormatError
from bgfmt.extras.lab import labels
from bgfmt.extras.races.rollouts import Oracle

RACES = ("1 1 1 / 2 1", "0 1 2 2 1 2 / 1 1 2 2 1 1", "nothing")
OPTIONS = ("--error", "0.01", "--limit", "10000", "--threads", "2", "--quiet")


@pytest.fixture
def races(tmp_path: Path) -> Path:
    path = tmp_path / "races.txt"
    path.write_text("\n".join(RACES) + "\n\n")
    return path


def _label(races: Path, name: str, *more: str) -> Path:
    out = races.with_name(name)
    assert run(["label", str(races), "-o", str(out), *OPTIONS, *more]) == 1  # a line is no position
    return out


@pytest.mark.slow
def test_labels_are_the_same_in_every_form(races: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    lines = [json.loads(line) for line in _label(races, "a.jsonl").read_text().splitlines()]
    assert [line["position"] for line in lines] == list(RACES)
    assert lines[0]["source"] == "calculation"
    assert lines[0]["centered_error"] == 0
    assert lines[1]["source"] == "rollout"
    assert 0 < lines[1]["centered_error"] <= 0.01
    assert "no position" in lines[2]["error"]
    with open(_label(races, "a.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == labels.COLUMNS
    assert [row["centered"] for row in rows] == [str(line.get("centered", "")) for line in lines]
    table = parquet.read_table(_label(races, "a.parquet")).to_pylist()
    assert [row["owned"] for row in table] == [line.get("owned") for line in lines]


@pytest.mark.slow
def test_an_interrupted_command_goes_on(races: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _label(races, "whole.jsonl").read_bytes()
    out, made, stopping, one = races.with_name("out.jsonl"), [], [True], labels.label

    def interrupted(
        text: str, place: int, oracle: Oracle, advisor: Advisor, settings: labels.Settings
    ) -> labels.Label:
        made.append(place)
        if stopping and place:
            raise KeyboardInterrupt
        return one(text, place, oracle, advisor, settings)

    command = ["label", str(races), "-o", str(out), *OPTIONS[:-3], "--threads", "1", "--quiet"]
    monkeypatch.setattr(labels, "label", interrupted)
    assert run(command) == 130
    assert not out.exists()
    part = races.with_name("out.jsonl.part")
    part.write_bytes(part.read_bytes() + b'[1, {"posi')  # what a kill leaves
    assert run([*command, "--seed", "2"]) == 2
    assert made[:2] == [0, 1]
    made.clear()
    stopping.clear()
    assert run(command) == 1
    assert made == [1, 2]
    assert out.read_bytes() == whole
    assert not part.exists()


def test_positions_of_a_column() -> None:
    lines = ["name,position", 'first,"1 1 / 2"', "second,1 / 1"]
    assert labels.read_positions(lines, separated=True) == ["1 1 / 2", "1 / 1"]
    assert labels.read_positions(["1 1 / 2,x"], separated=True) == ["1 1 / 2"]
    assert labels.read_positions([], separated=True) == []
    with pytest.raises(FormatError, match="no column `position`; the columns are pos, comment"):
        labels.read_positions(["pos,comment", "1 1 / 2,x"], separated=True)


@pytest.mark.slow
def test_what_fails_is_said(
    races: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many positions have no label; that pyarrow is missing before the work."""
    _label(races, "a.jsonl")
    assert "a.jsonl: 1 of 3 positions have no label" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(labels, "label", lambda *_: pytest.fail("worked"))
    assert run(["label", str(races), "-o", str(races.with_name("a.parquet")), *OPTIONS]) == 2
    assert "Arrow needs pyarrow" in capsys.readouterr().err
