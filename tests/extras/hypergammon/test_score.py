"""Hypergammon at match scores: fractions and the plays of bgfmt.game, money tables, symmetry, a run that goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bgfmt import met as tables
from bgfmt.cli import run
from bgfmt.errors import ScratchError, SolverError
from bgfmt.extras.checkpoints import seal
from bgfmt.extras.hypergammon.met import hypergammon_met
from bgfmt.extras.hypergammon.score import Scores
from bgfmt.extras.hypergammon.solver import hypergammon
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.met import Met, load
from bgfmt.met.score import Score
from bgfmt.solver import columns


@pytest.fixture(scope="module")
def one() -> Iterator[Scores]:
    with Scores(1, 2) as scores:
        yield scores


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Met:
    return hypergammon_met(tmp_path_factory.mktemp("met") / "one.xml", 25, 1, length=5, exact=True, threads=2)


@pytest.mark.parametrize("away", [(2, 3), (4, 1)])
def test_each_number_follows_from_the_others_in_fractions(
    away: tuple[int, int], one: Scores, met: Met
) -> None:
    """By the plays of bgfmt.game; a game of one chequer lasts some ten rolls, so that the error is 1e-11 at most."""
    kept = columns.match_columns(Score(away, met), gammons=True)
    worth = one.solve_values(kept)
    table = hypergammon(1, recipe="exact").table
    sides = [table.side(number) for number in range(one.n)]
    rng, looked = np.random.default_rng(26), 0
    for us, them in rng.integers(1, one.n, (150, 2)).tolist():
        if one.kinds[us, them] < 2:
            continue
        looked += 1
        for side in (0, 1):
            total = [Fraction(0)] * len(kept)
            for high in range(1, 7):
                for low in range(1, high + 1):
                    after = [play.result for play in legal_plays(Position(sides[us], sides[them]), high, low)]
                    after = after or [Position(sides[us], sides[them])]
                    at = [(table.side_number(p.us), table.side_number(p.them)) for p in after]
                    for c in range(len(kept)):
                        best = max(Fraction(float(worth[side, u, t, c])) for u, t in at)
                        total[c] += (1 + (high != low)) * best
            for c, mean in enumerate(value / 36 for value in total):
                may, passed, source, add, times = (array[side, c] for array in kept.doubling)
                taken = Fraction(float(add)) + Fraction(float(times)) * total[int(source)] / 36
                right = max(mean, min(taken, Fraction(float(passed)))) if may else mean
                assert abs(right + Fraction(float(worth[1 - side, them, us, c]))) < 1e-12
    assert looked > 100


def test_scores_mirror_each_other_whatever_the_threads(one: Scores, met: Met) -> None:
    assert one.solve(Score((3, 3), met)) == pytest.approx(0.5, abs=1e-12)
    there, back = one.solve(Score((2, 4), met)), one.solve(Score((4, 2), met))
    assert there + back == pytest.approx(1, abs=1e-12)
    assert met.pre[1][3] == there
    with Scores(1, 1) as alone:
        alone.solve(Score((2, 2), met))
        assert alone.solve(Score((2, 4), met)) == pytest.approx(there, abs=1e-13)


def test_a_first_score_that_a_gammon_levels(one: Scores) -> None:
    """A gammon won at 4-away, 2-away leaves 2-away each: worth 0, by which nothing is divided."""
    table = load()
    with Scores(1, 1) as alone, np.errstate(all="raise"):
        for away in ((4, 2), (2, 3)):
            expected = one.solve(Score(away, table))
            assert alone.solve(Score(away, table)) == pytest.approx(expected, abs=1e-11)


def test_for_the_match_a_race_is_won_as_often_as_in_the_cubeless_game(one: Scores, met: Met) -> None:
    worth = one.solve_values(columns.match_columns(Score((1, 1), met), gammons=True))
    table = hypergammon(1, recipe="exact").table
    home = [table.side_number(Side(*(0,) * point, 1)) for point in range(6)]
    for us in home:
        for them in home:
            win = (1 - worth[1, them, us, 0]) / 2
            assert win == pytest.approx(table.float64[us, them, 0], abs=1e-11)


def test_gammons_win_matches(met: Met) -> None:
    """With one chequer every loss is a gammon, so that 2-away is as good as 1-away wherever a game is 2 points."""
    assert met.pre[0][:2] == pytest.approx((0.5, 0.5), abs=1e-12)
    assert met.post[0][:2] == pytest.approx((0.5, 0.5), abs=1e-12)
    assert met.even
    assert all(a < b for a, b in zip(met.pre[0][1:], met.pre[0][2:], strict=False))


def test_a_run_that_ended_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, path, kept = tmp_path / "whole.xml", tmp_path / "parts.xml", tmp_path / "parts.xml.scores"
    asked = {"length": 3, "exact": True, "threads": 1}
    hypergammon_met(whole, 25, 1, **asked)
    names: list[str] = []

    def ends(name: str) -> None:
        names.append(name)
        if len(names) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hypergammon_met(path, 25, 1, solving=ends, **asked)
    assert not path.exists()
    with pytest.raises(ScratchError, match="expected rows of 'bgfmt hypergammon-met 2'"):
        hypergammon_met(path, 25, 2, resume=True, **asked)
    head, first, second = kept.read_text().splitlines()
    digit = first.index("0x") + 6
    changed = first[:digit] + "0123456789abcdef"[int(first[digit], 16) ^ 1] + first[digit + 1 :]
    for line in (changed, seal(first[:-9].replace("0x", "0y"))):
        kept.write_text("\n".join([head, line, second, ""]))
        with pytest.raises(ScratchError, match=r"differs from what was written|not a solved score") as caught:
            hypergammon_met(path, 25, 1, resume=True, **asked)
        assert caught.value.state == "damaged"
    kept.write_text("\n".join([head, first, second[:-3]]))  # as a kill may leave it
    assert run(["solve", "hypergammon-met", "3", "--exact", "--chequers", "1", "-o", str(path)]) == 2
    assert "(--resume continues it, --force starts again)" in capsys.readouterr().err
    words = ["--exact", "--chequers", "1", "--resume", "--quiet", "-o", str(path)]
    with monkeypatch.context() as patch:
        patch.setattr(Scores, "solve", lambda *_: signal.raise_signal(signal.SIGINT))
        assert run(["solve", "hypergammon-met", "3", *words]) == 130
    assert "the same command with --resume continues" in capsys.readouterr().err
    assert run(["solve", "hypergammon-met", "3", *words]) == 0
    assert not kept.exists()
    assert tables.load(path).pre == tables.load(whole).pre
    assert tables.load(path).post == tables.load(whole).post
    kept.write_text("\n".join([head, changed, second, ""]))
    words = [
        "solve",
        "hypergammon-met",
        "3",
        "--exact",
        "--chequers",
        "1",
        "--force",
        "--quiet",
        "-o",
        str(path),
    ]
    assert run(words) == 0
    assert not kept.exists()
    assert tables.load(path).pre == tables.load(whole).pre
    for wrong in ({"exact": True, "live": 0.5}, {"resume": True}):
        with pytest.raises(SolverError):
            hypergammon_met(tmp_path / "no.xml", 25, 1, length=3, **wrong)  # type: ignore[arg-type]
