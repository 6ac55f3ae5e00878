"""What a file states is held against what bgfmt knows; where it cannot know, the verdict says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bgfmt
from bgfmt import met
from bgfmt.met import Met
from bgfmt.solver.match import match_score
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Results

XG2 = met.load()
UNEVEN = met.load(Path(__file__).resolve().parents[2] / "fixtures" / "match" / "uneven7.xml")
FORMATS = {"bgm": "bgfmt-match", "npz": "npz", "sqlite": "sqlite", "parquet": "parquet"}


def bent(by: float = 1.05) -> Met:
    """A table with other chances, under the name of one that comes with bgfmt."""
    pre = tuple(tuple(0.5 + (m - 0.5) * by for m in row) for row in XG2.pre)
    return replace(XG2, pre=pre)


def score(**facts: Any) -> Callable[[MatchScore], MatchScore]:
    return lambda table: replace(table, score=replace(table.score, **facts))


def results(points: int, win: float = 0.0, lose: float = 0.0) -> Callable[[MatchScore], MatchScore]:
    def change(table: MatchScore) -> MatchScore:
        old = table.score.results[points]
        new = {**table.score.results, points: Results(old.win + win, old.lose + lose)}
        return replace(table, score=replace(table.score, results=new))

    return change


def made(away: tuple[int, int] = (3, 5), table: Met = XG2, chequers: int = 2, player: int = 0) -> MatchScore:
    return match_score(3, chequers, away, table, player=player)


LIES: dict[str, tuple[MatchScore, Callable[[MatchScore], MatchScore]]] = {
    "another table's name": (made(table=met.load("mec26")), score(met=XG2.name)),
    "another table's name and digest": (made(table=met.load("g11")), score(met=XG2.name, digest=XG2.digest)),
    "chances of nobody": (made(table=bent()), score(digest=XG2.digest)),
    "chances of nobody under their own digest": (made(table=bent()), score()),
    "a digest of zeros": (made(), score(digest="0" * 64)),
    "one bit of the digest": (made(), score(digest=f"{int(XG2.digest, 16) ^ 1:064x}")),
    "one letter of the name": (made(), score(met="Kazaross-XG3")),
    "the name in other case": (made(), score(met="kazaross-xg2")),
    "the last bit of a chance": (made(table=bent(1.0)), results(1, win=1e-16)),
    "a chance that nothing reads": (made(), results(1, lose=1e-9)),
    "a chance at equal scores": (made((3, 3)), results(1, lose=1e-9)),
    "columns that are not needed": (match_score(3, 2, (3, 5), UNEVEN), score(gammons=True)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "suffix",
    ["bgm", "npz", *(pytest.param(s, marks=pytest.mark.extra("frames")) for s in ("sqlite", "parquet"))],
)
@pytest.mark.parametrize("lie", LIES)
def test_a_match_table_that_states_what_is_not_so_is_not_proved(
    lie: str, suffix: str, tmp_path: Path
) -> None:
    table, change = LIES[lie]
    path = tmp_path / f"x.{suffix}"
    try:
        bgfmt.save(change(table), path, format=FORMATS[suffix])
    except bgfmt.BgfmtError:
        return  # what makes no table is not written either
    report = bgfmt.verify(path)
    assert report.exit_code == 1, report.verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    "suffix",
    ["bgm", "npz", *(pytest.param(s, marks=pytest.mark.extra("frames")) for s in ("sqlite", "parquet"))],
)
@pytest.mark.parametrize("player", [0, 1])
def test_chances_that_bgfmt_does_not_know_are_named_as_given(
    suffix: str, player: int, tmp_path: Path
) -> None:
    bgfmt.save(made((2, 3), UNEVEN, player=player), tmp_path / f"x.{suffix}", format=FORMATS[suffix])
    report = bgfmt.verify(tmp_path / f"x.{suffix}")
    assert report.exit_code == 0
    assert "given the chances that it states for uneven7" in report.verdict
    assert UNEVEN.digest in report.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", met.names())
@pytest.mark.parametrize("away", [(2, 4), (3, 3), (1, 2)])
def test_tables_that_come_with_bgfmt_are_known(name: str, away: tuple[int, int], tmp_path: Path) -> None:
    bgfmt.save(made(away, met.load(name)), tmp_path / "x.bgm")
    report = bgfmt.verify(tmp_path / "x.bgm")
    assert report.exit_code == 0
    assert (report.notes, "given" in report.verdict) == ([], False)


@pytest.mark.slow
def test_a_player_that_changes_nothing_is_noted(tmp_path: Path) -> None:
    """Where it changes a bit of the chances, these tell it."""
    bgfmt.save(made((1, 1), player=1), tmp_path / "x.bgm")
    report = bgfmt.verify(tmp_path / "x.bgm")
    assert (report.exit_code, len(report.notes)) == (0, 1)
    assert "alike" in report.notes[0]
