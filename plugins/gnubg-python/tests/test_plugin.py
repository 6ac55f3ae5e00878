"""The plugin outside gnubg: a stand-in says what gnubg's module says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bgfmt import GameState, Position
from bgfmt.game.identifiers import match_id

HERE = Path(__file__).resolve()
GOLDEN = HERE.parents[3] / "fixtures" / "golden" / "gnubg"
POSITION = Position.parse("0 1 1 0 2 / 0 2 1 1")


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    gnubg = ModuleType("gnubg")
    state = GameState.of(POSITION, (2, 1))
    gnubg.positionid = lambda: POSITION.id  # type: ignore[attr-defined]
    gnubg.matchid = lambda: match_id(state)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gnubg", gnubg)
    spec = importlib.util.spec_from_file_location("bgfmt_gnubg", HERE.parents[1] / "bgfmt_gnubg.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["os_p06.bd", "ts_06x04.bd", "ts_04x04_cubeless.bd"])
def test_every_kind_of_table_answers(
    plugin: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BGFMT_DB", str(GOLDEN / name))
    action = plugin.bearoff_lookup()
    said = capsys.readouterr().out
    assert action.action in said
    assert "mean " in said
    ranked = plugin.bearoff_plays("61")
    assert ranked.best.notation in capsys.readouterr().out


def test_errors_are_one_line(plugin: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    plugin.bearoff_use("nothing.bd")
    assert "nothing.bd" in capsys.readouterr().out
