"""`bgfmt check-labels`: kinds of error planted in right labels, each found with its cause; right ones pass."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt import solver
from bgfmt.cli import run
from bgfmt.extras.exam import labels
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState

Row = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def _positions_solved_once() -> Iterator[None]:
    """What is true of a position is kept for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "Truth", cache(labels.Truth))
        yield


@cache
def right() -> tuple[Row, ...]:
    """Labels of 120 positions drawn from an exact table."""
    table, rng = solver.two_sided(6, 6, recipe="exact"), np.random.default_rng(5)
    rows = []
    for us, them in rng.integers(1, board.count(6, 6), (120, 2)).tolist():
        position = Position(Side.from_number(us, 6), Side.from_number(them, 6))
        cubeless, owned, centered, opponent = np.asarray(table.lookup_many([us], [them]))[0].tolist()
        chances = {"win": (1 + cubeless) / 2, "win_gammon": 0.0, "lose_gammon": 0.0}
        equities = {"cubeless": cubeless, "owned": owned, "centered": centered, "opponent": opponent}
        rows.append({"position": str(position)} | chances | equities)
    return tuple(rows)


def checked(rows: list[Row], tmp_path: Path, **how: Any) -> list[labels.Finding]:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return labels.check(str(path), **how).findings


@cache
def after_the_turn(position: str) -> dict[str, float]:
    """Return the equities of the side on roll after it has given the turn away, by where the cube is for it."""
    table = solver.two_sided(6, 6, recipe="exact")
    us, them = (Side.parse(side).number(6) for side in position.split(" / "))
    cubeless, owned, centered, opponent = (-np.asarray(table.lookup_many([them], [us]))[0]).tolist()
    return {"cubeless": cubeless, "owned": opponent, "centered": centered, "opponent": owned}


def swapped(row: Row) -> Row:
    return row | {"position": " / ".join(reversed(row["position"].split(" / ")))}


def renumbered(
    change: Callable[[tuple[int, ...]], tuple[int, ...]], us: bool = True, them: bool = True
) -> Callable[[Row], Row]:
    def planted(row: Row) -> Row:
        sides = [tuple(map(int, side.split())) for side in row["position"].split(" / ")]
        written = (change(side) if here else side for side, here in zip(sides, (us, them), strict=True))
        return row | {"position": " / ".join(" ".join(map(str, side)) for side in written)}

    return planted


shifted = renumbered(lambda counts: (0, *counts))


def changed(name: str, change: Callable[[float], Any]) -> Callable[[Row], Row]:
    return lambda row: row | {name: change(row[name])}


PLANTED: dict[str, tuple[Callable[[Row], Row], str, str]] = {
    "per cent": (changed("win", lambda x: 100 * x), "win is not a probability", "per cent"),
    "sign": (changed("cubeless", lambda x: -x), "cubeless is wrong", ""),
    "sides": (swapped, "centered is wrong", ""),
    "thousandths": (changed("owned", lambda x: 1000 * x), "owned is wrong", ""),
    "cube": (lambda row: row | {"centered": row["cubeless"]}, "centered is wrong", ""),
    "cube columns": (lambda row: row | {"owned": row["opponent"], "opponent": row["owned"]}, "owned is wrong", ""),
    **{
        f"{name} after the turn": (
            lambda row, name=name: row | {name: after_the_turn(row["position"])[name]}, f"{name} is wrong", "",
        )
        for name in ("cubeless", "owned", "centered", "opponent")
    },
    "cube at 2": (changed("opponent", lambda x: 2 * x), "opponent is wrong", ""),
    "bar off by one": (shifted, "owned is wrong", ""),
    "off counted first": (renumbered(lambda c: (6 - sum(c), *c)), "owned is wrong", ""),
    "one side off by one": (renumbered(lambda c: (0, *c), them=False), "centered is wrong", ""),
    "points reversed": (renumbered(lambda c: c[::-1]), "owned is wrong", ""),
    "one side reversed": (renumbered(lambda c: c[::-1], us=False), "win is wrong", ""),
    "two digits": (changed("owned", lambda x: round(x, 2)), "owned is wrong", ""),
    "chance for equity": (lambda row: row | {"cubeless": row["win"]}, "cubeless is wrong", ""),
    "gammons": (changed("lose_gammon", lambda x: 0.01), "lose_gammon without fifteen chequers", "borne off"),
    "sums": (lambda row: row | {"win_gammon": row["win"] + 0.1}, "win_gammon is more", "counted"),
    "no number": (changed("win", lambda x: float("nan")), "win is not a number", "division"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
def test_each_planted_kind_is_found(kind: str, tmp_path: Path) -> None:
    """In a third of the rows."""
    change, name, cause = PLANTED[kind]
    planted = [change(row) if k % 3 == 1 else row for k, row in enumerate(right()[::2])]
    planted = [row for row in planted if abs(row["cubeless"]) > 0.05]
    found = {(one.name, one.cause): one for one in checked(planted, tmp_path)}
    fitting = [
        one
        for (what, why), one in found.items()
        if what.startswith(name) and (cause in why if cause else not why)
    ]
    assert fitting, [str(one) for one in found.values()]
    assert len(fitting[0].rows) >= 0.8 * sum(
        len(one.rows) for (what, _), one in found.items() if what.startswith(name)
    )


@pytest.mark.slow
def test_all_kinds_at_once(tmp_path: Path) -> None:
    rows = []
    for k, row in enumerate(right() * 3):
        change = list(PLANTED.values())[k % 28][0] if k % 28 < len(PLANTED) else lambda row: row
        rows.append(change(row))
    words = [str(one) for one in checked(rows, tmp_path)]
    for _, name, cause in PLANTED.values():
        likely = cause or "; likely"
        fitting = [line for line in words if line.startswith(name) and (likely in line) == bool(cause)]
        assert fitting, (name, cause, words)


def test_labels_moved_by_a_row(tmp_path: Path) -> None:
    rows = [row | {"owned": before["owned"]} for before, row in zip(right(), right()[1:], strict=False)]
    rows = [right()[0], *rows]
    found = {one.name: len(one.rows) for one in checked(rows, tmp_path)}
    assert found["owned is wrong"] > 100
    apart = [row | {"lose": 1.1 - row["win"]} for row in right()]
    assert [one.name for one in checked(apart, tmp_path)] == ["win and lose do not add up to 1"]


def test_duplicates_that_disagree(tmp_path: Path) -> None:
    rows = [*right(), right()[3] | {"owned": right()[3]["owned"] + 0.05}]
    found = {one.name: one for one in checked(rows, tmp_path)}
    assert found["owned differs from an earlier row of the same position"].rows == [len(rows)]


def test_labels_of_play_outs_may_differ_by_their_errors(tmp_path: Path) -> None:
    off = right()[3] | {"owned": right()[3]["owned"] + 0.05, "owned_error": 0.02}
    assert checked([*right(), off, off | {"owned": off["owned"] - 0.1}], tmp_path) == []


def test_jacobys_rule(tmp_path: Path) -> None:
    """Labels that are right by it were called wrong, and others of the same chequers duplicates that disagree."""
    money = GameState.of(Position.parse("1 1 1 1 / 15"))
    by_rule = {"position": replace(money, jacoby=True).xgid, "cubeless": 13 / 12, "centered": 1.0}
    plain = {"position": money.xgid, "cubeless": 13 / 12, "centered": 13 / 12}
    assert checked([by_rule, plain], tmp_path) == []
    (found,) = checked([by_rule | {"centered": 13 / 12}], tmp_path)
    assert found.name == "centered is wrong"


def test_rows_that_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("position;win;cubeless\n1 1 1 / 2 1;0,85;0.71\n1 1 1 / 2 1;85%;0.71\n1 / 0;0.5;0.9\n")
    found = {(one.name, one.cause): one for one in labels.check(str(path)).findings}
    assert found["win is not a number", "a decimal comma"].rows == [1]
    assert found["win is not a number", "in per cent"].rows == [2]
    assert "the game is over" in found["no position", ""].example


def test_a_column_of_errors_hides_no_labels(tmp_path: Path) -> None:
    """`error` may hold standard errors: only a row with a text of an error and no value has no label."""
    rows = [{**row, "error": 0.01} for row in right()]
    assert checked(rows, tmp_path) == []
    wrong = [{**row, "win": float(row["win"]) / 2} for row in rows]
    assert checked(wrong, tmp_path)


def test_right_labels_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    rows = list(right())
    with open(tmp_path / "a.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["xgid", *list(rows[0])[1:]])
        writer.writeheader()
        writer.writerows({"xgid" if k == "position" else k: v for k, v in row.items()} for row in rows)
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text().replace(",", ";"))
    counts = [f"{side}_{point}" for side in ("us", "them") for point in range(1, 7)]
    with open(tmp_path / "c.csv", "w", newline="") as file:
        plain = csv.writer(file)
        plain.writerow([*counts, "win"])
        for row in rows:
            sides = (Side.parse(side) for side in row["position"].split(" / "))
            plain.writerow([*(n for side in sides for n in side.padded(6)), row["win"]])
    for name in ("a.csv", "b.csv", "c.csv", "a.parquet"):
        assert run(["check-labels", str(tmp_path / name)]) == 0
        assert "120 compared with exact numbers" in capsys.readouterr().out
    (tmp_path / "races.txt").write_text("1 1 1 / 2 1\n2 0 1 / 0 0 1 1\n4HPwATDgc/ABMA:cAkAAAAAAAAA\n")
    run(
        [
            "label",
            str(tmp_path / "races.txt"),
            "-o",
            str(tmp_path / "b.jsonl"),
            "--quiet",
            "--limit",
            "1000000",
        ]
    )
    assert run(["check-labels", str(tmp_path / "b.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == 2


def test_at_a_score(tmp_path: Path) -> None:
    from bgfmt.extras.exam.labels import Truth

    state = GameState.of(Position(Side(1, 1, 1), Side(2, 1)), away=(3, 5))
    known = Truth(100_000).lookup(state)
    assert known is not None
    good = {"position": state.xgid, "no_double": known["no_double"], "double_take": known["double_take"]}
    assert checked([good], tmp_path) == []
    (found,) = checked([good | {"no_double": 1 - known["no_double"]}], tmp_path)
    assert found.name == "no_double is wrong"
    passed = Truth(100_000).lookup(replace(state, turn=1 - state.turn))
    (found,) = checked([good | {"no_double": 1 - passed["no_double"]}], tmp_path)
    assert found.name == "no_double is wrong"


def test_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    assert run(["check-labels", str(path)]) == 2
    assert run(["check-labels", str(path), "--column", "position=a", "--column", "win=c"]) == 2
    path.write_text("")
    assert run(["check-labels", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3
    for text, why in (
        ("position,win,win\n1 / 1,1,0\n", "two columns have the same name"),
        ("position,win\n1 / 1,1\n1 / 1,0,5\n", "row 2 has more values than there are columns"),
        ('position,win\n"1 / 1,1\n1 / 1,1\n', "unexpected end of data"),
    ):
        path.write_text(text)
        assert run(["check-labels", str(path)]) == 2
        assert capsys.readouterr().err.endswith(f"is not a file of labels ({why})\n")
    path.write_text("position,win,\n1 / 1,1,\n1 / 1,1,,\n")  # commas at the end say nothing
    assert run(["check-labels", str(path)]) == 0
    path.write_text("position,mwc\n1 / 1,0.5\n")  # no score is said: there is nothing beside it
    assert run(["check-labels", str(path)]) == 0
    assert "1 rows, 0 compared with exact numbers" in capsys.readouterr().out


def test_a_row_that_ends_before_its_position_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("win,position\n0.5,0 1 / 0 1\n0.5\n")
    found = next(one for one in labels.check(str(tmp_path / "x.csv")).findings if one.rows == [2])
    assert (found.name, found.cause, found.rows) == ("no position", "the row has too few values", [2])
