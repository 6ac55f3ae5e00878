"""The plugin inside the real GNU Backgammon."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import position_id
from tests.support.single import judge_cube, rank_plays

PLUGIN = Path(__file__).resolve().parents[1] / "bgfmt_gnubg.py"
POSITION = Position(Side(0, 1, 1, 0, 2), Side(0, 2, 1, 1))
BY_HAND = [
    "set automatic game off",
    "set automatic roll off",
    "set automatic bearoff off",
    "set automatic move off",
    "set confirm new off",
    "set confirm save off",
    "set player 0 human",
    "set player 1 human",
    "set rng mersenne",
    "set seed 5",
    "new session",
    "set turn 1",
    f"set board {position_id(POSITION)}",
]


@pytest.fixture(scope="module")
def gnubg() -> str:
    found = shutil.which("gnubg", path=os.environ.get("PATH", "") + ":/usr/games")
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("the real program 'gnubg' is not installed")
        pytest.skip("the real program 'gnubg' is not installed")
    said = subprocess.run(
        [found, "-t", "-q", "-r"],
        input=">import sys; print('python', sys.version_info[:2])\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    if str(sys.version_info[:2]) not in said.stdout:
        pytest.skip("gnubg's Python is another version than this one, whose packages it would need")
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "ts_06x06.bd"
    bgfmt.save(bgfmt.solver.two_sided(6, 6), path, format="gnubg-ts")
    return path


def ask(gnubg: str, table: Path, folder: Path, *commands: str) -> str:
    paths = [str(Path(bgfmt.__file__).parents[1]), *site.getsitepackages(), *sys.path[1:]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "BGFMT_DB": str(table)}
    done = subprocess.run(
        [gnubg, "-t", "-q", "-r"],
        input="\n".join([f"load python {PLUGIN}", *commands, ""]),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr, done.stdout[-3000:] + done.stderr
    return done.stdout


@pytest.mark.slow
def test_lookup_and_plays(gnubg: str, table: Path, tmp_path: Path) -> None:
    said = ask(gnubg, table, tmp_path, *BY_HAND, ">bearoff_lookup()", "set dice 2 1", ">bearoff_plays()")
    with bgfmt.open(table) as database:
        values = database.lookup(POSITION)
        ranked = rank_plays(database, POSITION, (2, 1))
        action = judge_cube(database, position=POSITION)
    assert f"centered {values.centered:+.5f}" in said
    assert f"  {action.action}\n" in said
    for play in ranked:
        assert f"{play.notation:<24} {play.value:+.5f}" in said


@pytest.mark.slow
def test_one_sided_tables_answer_too(gnubg: str, tmp_path: Path) -> None:
    """A one-sided table gives rolls and an estimate; in a match the answers are those of the score."""
    golden = Path(__file__).resolve().parents[3] / "fixtures" / "golden" / "gnubg" / "os_p06.bd"
    said = ask(gnubg, golden, tmp_path, *BY_HAND, ">bearoff_lookup()", "set dice 2 1", ">bearoff_plays()")
    with bgfmt.open(golden) as database:
        race = Advisor(database).race(POSITION.us)
    assert f"on roll: mean {race.mean_rolls:.4f} rolls, EPC {race.epc:.3f}" in said
    assert "bearoff: " in said
    match = [*BY_HAND[:-3], "new match 5", "set turn 1", BY_HAND[-1]]
    assert "match winning chance" in ask(gnubg, golden, tmp_path, *match, ">bearoff_lookup()")


@pytest.mark.slow
def test_annotations_are_saved(gnubg: str, table: Path, tmp_path: Path) -> None:
    with bgfmt.open(table) as database:
        worst = rank_plays(database, POSITION, (2, 1), cube="opponent")[-1]
    said = ask(
        gnubg, table, tmp_path, *BY_HAND, "double", "take", "set dice 2 1", f"move {worst.notation}",
        ">bearoff_annotate()", "save match out.sgf", "show board",
    )  # fmt: skip
    saved = (tmp_path / "out.sgf").read_text()
    assert saved.count("bgfmt: ") == 3
    assert f"(-{worst.loss:.5f})" in saved
    assert f"(-{worst.loss:.5f})" in said


@pytest.mark.slow
def test_without_a_game_or_a_table_it_says_so(gnubg: str, table: Path, tmp_path: Path) -> None:
    said = ask(
        gnubg, table, tmp_path, ">bearoff_lookup()", '>bearoff_use("nothing.bd")', ">bearoff_annotate()"
    )
    assert "no game is being played" in said
    assert "nothing.bd" in said
    assert "there is no match" in said
