"""`bgfmt met`: what is written is read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bgfmt import met
from bgfmt.cli import run
from bgfmt.met import gnubg_xml, ini
from tests.conftest import FIXTURES


@pytest.mark.parametrize("name", met.names())
def test_tables_go_to_xg_and_to_gnubg_and_back(name: str) -> None:
    table = met.load(name)
    assert met.read(ini.write(table)).digest == table.digest
    through = met.read(gnubg_xml.write(met.read(ini.write(table))))
    assert through.title == table.title
    for row, other in zip((*table.pre, *table.post), (*through.pre, *through.post), strict=True):
        assert max(abs(a - b) for a, b in zip(row, other, strict=True)) <= 1e-12


def test_a_table_is_written_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["met", "g11", "-o", "a.met"]) == 0
    assert run(["met", "a.met", "g11"]) == 0
    assert "the same values" in capsys.readouterr().out
    assert run(["met", "a.met", "-o", "a.met"]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert run(["met", "Kazaross-XG2", "a.met", "--json", "--top", "1"]) == 1
    (worst,) = json.loads(capsys.readouterr().out)["differences"]
    mine, other = worst["away"]
    one, two = met.load(), met.load("g11")
    assert worst["difference"] == two.pre[mine - 1][other - 1] - one.pre[mine - 1][other - 1]
    rows = zip(one.pre, two.pre, strict=True)
    largest = max(abs(a - b) for row, rival in rows for a, b in zip(row, rival, strict=True))
    assert abs(worst["difference"]) == pytest.approx(largest)


def test_players_of_unequal_strength(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uneven = str(FIXTURES / "match/uneven7.xml")
    assert run(["met", uneven, "-o", str(tmp_path / "a.met")]) == 2
    assert "this table has two" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert run(["met", uneven, "--upto", "3"]) == 0
    assert "the trailer needs, player 1" in capsys.readouterr().out
