"""Exact play at match scores against the vectors of fixtures/match (their making: fixtures/match/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bgfmt import met
from bgfmt.analysis.ondemand import solve_match
from bgfmt.game.board import Position, Side
from bgfmt.met.score import Score

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "match"
VECTORS = json.loads((FOLDER / "vectors.json").read_text())["vectors"]
OWNERS = {"centre": "centered", "roller": "owned", "opponent": "opponent"}
NEAR = 1e-9


def score_of(vector: dict[str, Any]) -> Score:
    local = FOLDER / vector["met"]
    table = met.load(local if local.exists() else vector["met"])
    mine, other = vector["away"]
    owner = OWNERS[vector["owner"]]
    return Score((mine, other), table, vector["crawford"], vector["cube"], owner, vector["player"])


def close(found: float | None, wanted: float | None) -> bool:
    return found is None if wanted is None else found is not None and abs(found - wanted) <= NEAR


@pytest.mark.slow
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_vector(vector: dict[str, Any]) -> None:
    score = score_of(vector)
    assert score.post_crawford == vector["post_crawford"]
    position = Position(Side(*vector["on_roll"]), Side(*vector["opponent"]))
    answer = solve_match(position, score)
    cube = answer.cube
    assert close(score.ends[0], vector["mwc_lose_cube"])
    assert close(score.ends[1], vector["mwc_win_cube"])
    for name, wanted in vector["mwc"].items():
        assert close(cube.mwc.as_dict()[name], wanted), name
    for name, wanted in vector["emg"].items():
        assert close(cube.emg.as_dict()[name], wanted), name
    if "cubeless_win" in vector:
        assert close(cube.cubeless_win, vector["cubeless_win"])
    else:
        assert position.gammons
        assert cube.cubeless_win is None
    margins = [] if not cube.may_double else cube.margins
    if all(abs(margin) > NEAR for margin in margins):
        assert cube.doubling == vector["double"]
        assert cube.response == vector["response"]
        assert cube.action.lower() == vector["action"].replace("double", _word(score))
    for loss in ("loss_mwc", "loss_emg"):
        if vector[loss] is None:
            assert cube.losses is None
            continue
        assert cube.losses is not None
        for name, wanted in vector[loss].items():
            value = cube.losses.as_dict()[name]
            assert close(value if loss == "loss_mwc" else score.emg_loss(value), wanted), (loss, name)
    for roll in vector["rolls"]:
        plays = answer.plays(*roll["dice"])
        assert len(plays) == roll["legal"]
        best = sorted(plays.values(), reverse=True)
        for wanted, mwc in zip(roll["plays"], best, strict=False):
            found = plays[Side(*wanted["to"])]
            assert close(found, wanted["mwc"]), (roll["dice"], wanted)
            assert close(mwc, wanted["mwc"])
            assert close(best[0] - found, wanted["loss_mwc"])
            assert close(score.emg_loss(best[0] - found), wanted["loss_emg"])


def _word(score: Score) -> str:
    return "redouble" if score.owner == "owned" else "double"
