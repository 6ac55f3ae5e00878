"""Matches with planted errors: every covered decision found and priced, none invented; gnubg reads what we write."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.cli import cli
from bgfmt.errors import BgfmtError
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import position_id
from bgfmt.hosts.annotate import Report, judge_match, read_match
from bgfmt.matches import Match, read

sys.path.insert(0, str(Path(__file__).parent))
from match_making import Maker


@pytest.fixture(scope="module")
def table() -> object:
    return bgfmt.solver.two_sided(6, 6)


@pytest.fixture(scope="module")
def path(table: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("annotate") / "ts_06x06.bd"
    bgfmt.save(table, path, format="gnubg-ts")
    return path


def first(text: str) -> Match:
    return read(text.encode())[0]


def found(report: Report) -> list[tuple[int, int, str, str, float]]:
    out = []
    for j in report.judgements:
        d, facts = j.decision, j.as_dict(report.match.players)
        assert j.loss is not None
        out.append((d.game, d.player, d.kind, facts["position_id"], j.loss))
    return out


def assert_same(report: Report, maker: Maker) -> None:
    got = found(report)
    assert [g[:4] for g in got] == [e[:4] for e in maker.expected]
    for one, other in zip(got, maker.expected, strict=True):
        assert one[4] == pytest.approx(other[4], abs=6e-4)  # near ties at the cube are settled exactly
    assert not report.problems


def gnubg_says(program: str, folder: Path, *commands: str) -> str:
    done = subprocess.run(
        [program, "-t", "-q", "-r"],
        input="\n".join(["set confirm new off", "set confirm save off", *commands, ""]),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("length", [0, 7])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_errors_mat(table: object, seed: int, length: int) -> None:
    maker = Maker(table, seed, length)
    match = first(maker.mat(5))
    assert match.length == length
    assert match.players == ("Ann", "Bob")
    assert_same(judge_match(match, [table]), maker)  # type: ignore[list-item]


def test_through_gnubg(oracle: Callable[[str], str], table: object, path: Path, tmp_path: Path) -> None:
    """gnubg reads our .mat, its .sgf is judged alike, and it opens the comments we put there."""
    program = oracle("gnubg")
    maker = Maker(table, 11, 5)
    (tmp_path / "in.mat").write_text(maker.mat(6))
    gnubg_says(program, tmp_path, "import mat in.mat", "save match in.sgf")
    file = read_match(tmp_path / "in.sgf")
    report = judge_match(file.match, [table])  # type: ignore[list-item]
    assert_same(report, maker)
    assert len(report.judgements) > 5
    done = CliRunner().invoke(
        cli,
        ["annotate", str(tmp_path / "in.sgf"), str(path), "-o", str(tmp_path / "out.sgf")],
        standalone_mode=False,
    )
    assert not done.exception, done.output
    gnubg_says(program, tmp_path, "load match out.sgf", "save match again.sgf", "export match text out.txt")
    again = (tmp_path / "again.sgf").read_bytes()
    lines = [line for j in report.judgements for line in [j.line()]]
    for line in lines:
        assert line.encode() in again
    texts = "".join(p.read_text() for p in sorted(tmp_path.glob("out*.txt")))
    assert texts.count("bgfmt: ") == len(lines)
    # judged once more, our own comments are replaced, not doubled
    second = read_match(tmp_path / "out.sgf")
    assert second.annotated(judge_match(second.match, [table])) == second.data  # type: ignore[list-item]


def test_set_up_position_by_hand(
    oracle: Callable[[str], str], table: object, path: Path, tmp_path: Path
) -> None:
    """A set-up position, a beaver, a wrong take and a wrong play, all made by hand in gnubg."""
    program = oracle("gnubg")
    commands = ["set automatic game off", "set automatic roll off", "set automatic bearoff off"]
    commands += ["set automatic move off", "set player 0 human", "set player 1 human", "set beavers 3"]
    commands += ["set rng mersenne", "set seed 5", "new session", "set turn 1"]
    position = Position(Side(0, 1, 1, 0, 2), Side(0, 2, 1, 1))
    board = position_id(position)
    commands += [f"set board {board}", "double", "take", "set dice 2 1"]
    from bgfmt.analysis import judge_cube, rank_plays

    ranked = rank_plays([table], position, (2, 1), cube="opponent")  # type: ignore[list-item]
    worst = ranked[-1]
    assert worst.loss > 0.01
    commands += [f"move {worst.notation}", "double", "redouble", "take", "save match hand.sgf"]
    gnubg_says(program, tmp_path, *commands)
    report = judge_match(read_match(tmp_path / "hand.sgf").match, [table])  # type: ignore[list-item]
    kinds = [(j.decision.player, j.decision.kind) for j in report.judgements]
    assert kinds == [(1, "double"), (0, "take"), (1, "play"), (0, "double"), (1, "beaver")]
    first = judge_cube([table], "centered", position=position, settle=True)  # type: ignore[list-item]
    assert report.judgements[0].loss == pytest.approx(first.best - first.double)
    assert report.judgements[1].loss == pytest.approx(max(0.0, -first.take_margin))
    assert report.judgements[2].loss == pytest.approx(worst.loss)
    assert report.judgements[2].best == ranked[0].notation
    assert report.judgements[3].decision.cube == "owned"
    assert not report.problems


def test_command(table: object, path: Path, tmp_path: Path) -> None:
    maker = Maker(table, 4, 7)
    mat = tmp_path / "m.mat"
    mat.write_text(maker.mat(5))
    run = CliRunner()
    done = run.invoke(cli, ["annotate", str(mat), str(path), "--json"], standalone_mode=False)
    answer = json.loads(done.output)
    assert len(answer["decisions"]) == answer["decisions_covered"] == len(maker.expected)
    assert "money equities" in answer["note"]
    for player in (0, 1):
        lost = sum(e[4] for e in maker.expected if e[1] == player)
        assert answer["totals"][player]["equity_lost"] == pytest.approx(lost, abs=1e-2)
    out = tmp_path / "report.txt"
    run.invoke(cli, ["annotate", str(mat), str(path), "-o", str(out)], standalone_mode=False)
    assert out.read_text().count("\ngame ") == len(maker.expected)


def test_mat_becomes_sgf(oracle: Callable[[str], str], table: object, path: Path, tmp_path: Path) -> None:
    """A .mat match written as .sgf with comments: gnubg opens it and exports the match we began with."""
    program = oracle("gnubg")
    maker = Maker(table, 6, 7)
    (tmp_path / "m.mat").write_text(maker.mat(6))
    done = CliRunner().invoke(
        cli,
        ["annotate", str(tmp_path / "m.mat"), str(path), "-o", str(tmp_path / "m.sgf")],
        standalone_mode=False,
    )
    assert not done.exception, done.output
    assert_same(judge_match(read_match(tmp_path / "m.sgf").match, [table]), maker)  # type: ignore[list-item]
    gnubg_says(program, tmp_path, "load match m.sgf", "save match again.sgf", "export match mat back.mat")
    again = read_match(tmp_path / "again.sgf")
    assert again.data.count(b"bgfmt: ") == len(maker.expected)
    assert_same(judge_match(again.match, [table]), maker)  # type: ignore[list-item]
    assert_same(judge_match(read_match(tmp_path / "back.mat").match, [table]), maker)  # type: ignore[list-item]


def test_one_sided_tables_answer_approximately(golden: Path, table: object) -> None:
    maker = Maker(table, 1, 0)
    with bgfmt.open(golden / "gnubg" / "os_p06.bd") as one:
        report = judge_match(first(maker.mat(2)), Advisor([one], calculate="nothing"))
        better = judge_match(first(maker.mat(2)), Advisor([one], limit=12_000_000))
    assert report.judgements
    assert all(j.approximate for j in report.judgements)
    assert not any(j.approximate for j in better.judgements)  # few chequers: calculated
    assert all(abs(j.value or 0) <= 2 for j in report.judgements)


def test_any_bytes_are_read_or_refused(table: object, tmp_path: Path) -> None:
    source = random.Random(3)
    mat = Maker(table, 2, 3).mat(2).encode()
    sgf = b"(;FF[4]GM[6]MI[length:3][ws:0][bs:0]PW[a]PB[b]\n;PL[B]AE[a:y]AW[a][b]AB[x][w]\n;CV[2]CP[w]\n;B[21wzxz])"
    target = tmp_path / "x"
    for _ in range(150):
        data = bytearray(source.choice([mat, sgf]))
        for _ in range(source.randint(1, 6)):
            data[source.randrange(len(data))] = source.choice([source.randrange(256), *b"();[]: 0123456789z"])
        target.write_bytes(data[: source.randint(1, len(data))])
        try:
            judge_match(read_match(target).match, [table])  # type: ignore[list-item]
        except BgfmtError as error:
            assert "\n" not in str(error)
