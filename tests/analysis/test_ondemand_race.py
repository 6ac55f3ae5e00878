"""One side's rolls calculated where no table covers it: what the tables say where they do, to their rounding."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.analysis.solving import solve_side
from bgfmt.cli import cli, run
from bgfmt.errors import NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import ROLLS, legal_plays
from tests.conftest import GOLDEN


@cache
def mean(side: Side) -> Fraction:
    """The least mean rolls of a side, straight from the rules."""
    if not side.chequers:
        return Fraction(0)
    total = Fraction(36)
    for high, low, weight in ROLLS:
        total += weight * min(
            mean(play.result.us) for play in legal_plays(Position(side, Side(1)), high, low)
        )
    return total / 36


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts", [(2,), (0, 1, 0, 1), (0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1)]
)
def test_from_the_rules(counts: tuple[int, ...]) -> None:
    found = solve_side(Side(*counts))
    assert found.first is None
    assert found.last.sum() == pytest.approx(1, abs=1e-14)
    assert found.last @ np.arange(len(found.last)) == pytest.approx(float(mean(Side(*counts))), abs=1e-13)


@pytest.mark.slow
def test_as_a_table_has_it() -> None:
    rng = random.Random(5)
    with bgfmt.open(GOLDEN / "gnubg/os_p06.bd") as table:
        for chequers in (1, 4, 9, 15, 15):
            counts = [0] * 6
            for _ in range(chequers):
                counts[rng.randrange(6)] += 1
            side = Side(*counts)
            race, found = Advisor([table]).race(side), solve_side(side)
            assert race.bearoff is not None
            assert abs(race.bearoff[: len(found.last)] - found.last).max() < 2e-4
            if chequers == 15:
                assert found.first is not None
                assert race.gammon is not None
                assert abs(race.gammon[: len(found.first)] - found.first).max() < 2e-4


def test_what_is_beyond() -> None:
    with pytest.raises(PositionError):
        solve_side(Side())
    with pytest.raises(NotCoveredError, match="bar"):
        solve_side(Side(1, bar=1))
    with pytest.raises(NotCoveredError, match="limit of 400,000 pairs"):
        solve_side(Side(*[0] * 11, 15), limit=400_000)
    with Advisor([], limit=400) as advisor:
        assert advisor.race(Side(*[0] * 11, 15)).approximate
        with pytest.raises(TooMuchWorkError, match="limit of 400 pairs"):
            advisor.race(Side(*[0] * 5, 15))


@pytest.mark.slow
def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    table = str(GOLDEN / "gnubg/os_p06.bd")
    words = ["race", table, "0 0 0 0 0 0 0 0 3 / 0 0 0 0 2", "--json", "--limit", "4000000"]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    found = json.loads(done.stdout)
    assert (found["on_roll"]["source"], found["other_side"]["source"]) == ("calculation", "one-sided")
    assert found["on_roll"]["max_error"] == {"mean_rolls": 1e-12}
    assert found["on_roll"]["table"] is None
    assert 0 < found["two_sided"]["win"] < 0.1
    done = CliRunner().invoke(cli, [*words, "--no-settle"], standalone_mode=False)
    assert isinstance(done.exception, NotCoveredError)
    monkeypatch.setenv("BGFMT_DB", table)
    done = CliRunner().invoke(cli, ["race", *words[2:4]], standalone_mode=False)
    assert json.loads(done.stdout)["on_roll"]["source"] == "calculation"


@pytest.mark.slow
def test_a_side_far_away_is_printed_to_its_last_roll(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first chequer is off sooner for sure than the last one may be."""
    monkeypatch.setenv("BGFMT_DB", str(GOLDEN / "gnubg/ts_03x03.bd"))
    assert run(["race", "0 0 0 0 0 0 15"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[-4:] == ["100.000", "%", "100.000", "%"]
