"""A user's program over the whole public API; `mypy --strict` accepts it, and it runs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np

import bgfmt
from bgfmt import Advisor, BgfmtError, Database, GameState, Position, Side
from bgfmt.analysis import (
    CubeAction,
    CubeActions,
    Databases,
    Decision,
    Library,
    PlayOuts,
    PositionEquities,
    Races,
    RankedMany,
    RankedPlay,
    RankedPlays,
    Resignation,
    SideRace,
    TwoSidedEstimate,
    cube_actions,
    equities_many,
    estimate_many,
    judge_many,
    play_out,
    race_many,
    rank_many,
    twosided_from_onesided,
    twosided_many,
    win_chances,
)

MATCH = b" 3 point match\n\n Game 1\n Ann : 0           Bob : 0\n  1) 31: 8/5 6/5     64: 24/14\n"


def files(folder: Path, golden: Path) -> tuple[Path, Path]:
    """Solve, save, convert, verify, repair, compare."""
    two, one = folder / "ts.bd", folder / "os.bd"
    assert_type(bgfmt.solve("two-sided", 6, 4, two), Path)
    table = bgfmt.load(golden / "os_p06.bd")
    bgfmt.save(table, one, format="gnubg-os")
    print(bgfmt.arrow(table).num_rows)
    lost = bgfmt.convert(two, folder / "ts.npz")
    assert_type(lost, list[str])
    report = bgfmt.verify(folder / "ts.npz", threads=1)
    report.raise_for_findings()
    print(report.verdict, report.exit_code, [finding.rule for finding in report.findings])
    data = bytearray(two.read_bytes())
    data[4000] ^= 1
    (folder / "bad.bd").write_bytes(data)
    bgfmt.repair(folder / "bad.bd", folder / "mended.bd")
    difference = bgfmt.diff(two, folder / "mended.bd")
    assert difference.same
    print(difference.compared, sorted(bgfmt.formats.all_formats()), sorted(bgfmt.tables.KINDS))
    bgfmt.storage.check_output(folder / "new.bd")
    return two, one


def lookups(db: Database, position: Position) -> None:
    """What a database says."""
    print(db, db.name, db.info()["points"], db.table.kind, db.covers(position), db.get(position))
    answer = db.lookup(position)
    print(answer.number, answer.as_dict()["win"], answer.describe())
    table = db.table
    if isinstance(table, bgfmt.tables.TwoSided):
        found = table.lookup(position)
        assert_type(found, bgfmt.tables.Equities)
        win: float = found.win
        print(win, [column.unit for column in table.columns])
    print(db.lookup_many([position.us], [position.them]).shape, bgfmt.arrow(table).num_rows)


def answers(databases: list[Database], position: Position) -> None:
    """What the adviser says, and the functions for one and for many."""
    with Advisor(databases) as advisor:
        state = GameState.of(position, cube="owned", cube_value=2)
        action = advisor.cube(state)
        plays = advisor.plays(state.rolled((2, 1)))
        side = advisor.race(position.us)
        assert_type(side, SideRace)
        mean: float = side.mean_rolls
        best_play = plays.best
        assert best_play is not None
        print(action.action, action.error, best_play.notation, mean)
        assert_type(advisor.decide(state), Decision)
        assert_type(advisor.library, Library)
        assert_type(play_out(position, error=0.01), PlayOuts)
        offer: Resignation = advisor.resignation(state)
        print(offer)
        value = advisor.equities(state)
        assert_type(value, PositionEquities)
    assert_type(plays, RankedPlays)
    asked: Databases = databases
    plain = Advisor(asked, calculate="nothing")
    one = plain.cube(GameState.of(position))
    assert_type(one, CubeAction)
    print(one.action, one.double_margin, one.sure, one.as_dict())
    best: RankedPlay = plain.plays(GameState.of(position, (2, 1))).plays[0]
    print(best.notation, best.value, best.loss)
    estimate = twosided_from_onesided(databases, position)
    assert_type(estimate, TwoSidedEstimate)
    chance: float = estimate.win
    us, them = np.array([[0, 1, 0, 0, 1, 0]]), np.array([[0, 1, 1, 0, 0, 0]])
    many = judge_many(databases, us, them)
    assert_type(many, CubeActions)
    print(chance, many.label, cube_actions(equities_many(databases, us, them)).take)
    races: Races = race_many(databases, us)
    many_plays: RankedMany = rank_many(databases, us, them, [(2, 1)])
    print(races.mean_rolls, many_plays.values)
    print(twosided_many(databases, us, them), estimate_many(us, them))
    print(plain.equities(GameState.of(position)), win_chances([0, 1.0], [0, 1.0]))


def names(position: Position) -> None:
    """Identifiers, states, moves and orders."""
    assert Position.parse(position.id) == position
    assert GameState.parse(GameState.of(position).xgid).position == position
    assert bgfmt.parse_side("0 1 0 0 1") == Side.parse("0 1 0 0 1") == position.us
    assert bgfmt.parse_position(str(position)) == bgfmt.identifiers.parse(position.xgid).position
    print(bgfmt.moves.legal_plays(position, 6, 1)[0].result, len(bgfmt.moves.ROLLS), bgfmt.errors.__name__)
    print(bgfmt.solver.RECIPES["gnubg"].summary, bgfmt.solver.plan("two-sided", 6, 6).seconds)
    met: bgfmt.met.Met = bgfmt.met.load()
    print(met.mwc((3, 5)), [game.scores for match in bgfmt.matches.read(MATCH, "m") for game in match.games])
    with bgfmt.annotate.Judge([], met=met) as judge:
        judged = [bgfmt.annotate.judge_match(match, judge) for match in bgfmt.matches.read(MATCH, "m")]
    report = bgfmt.annotate.Report(judged)
    print([(total.name, total.errors, total.error_rate) for total in report.totals], report.worst(1))
    try:
        Side(99)
    except bgfmt.errors.PositionError as error:
        told: BgfmtError = error
        print(told)


def main(golden: Path) -> None:
    """Everything, in a folder of its own."""
    position = Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1))
    with tempfile.TemporaryDirectory() as folder:
        two, one = files(Path(folder), golden)
        with bgfmt.open(two) as first, bgfmt.open(one) as second:
            lookups(first, position)
            answers([first, second], position)
    names(position)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
