"""What notebooks show of positions, answers, reports and tables: sound SVG and HTML, short reprs, data frames."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import bgfmt
from bgfmt import GameState, Position, Side
from bgfmt.analysis import questions
from bgfmt.game.display import html
from tests.conftest import GOLDEN

HERE = Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1))
STATE = GameState.of(HERE, (2, 1), cube="owned", cube_value=2)


@pytest.fixture(scope="module")
def advisor() -> Any:
    with bgfmt.Advisor([GOLDEN / "gnubg/ts_06x04.bd", GOLDEN / "gnubg/os_p06.bd"]) as found:
        yield found


def drawn(text: str) -> list[ElementTree.Element]:
    """All elements of sound XML."""
    return list(ElementTree.fromstring(f"<all>{text}</all>").iter())


def test_a_position_is_a_board_by_itself() -> None:
    for shown in (HERE, STATE):
        elements = drawn(shown._repr_svg_())
        assert elements[1].tag == "{http://www.w3.org/2000/svg}svg"
        kinds = [one.get("class") for one in elements]
        assert (kinds.count("x") - 13, kinds.count("o") - 13) == (2, 2)  # on the board; the others are off
        assert "#empty" not in shown._repr_svg_()
    text = "".join(one.text or "" for one in drawn(STATE._repr_svg_()))
    assert text.endswith("221")  # the cube and the dice


@pytest.mark.parametrize(
    "name", ["action", "cube", "match", "scores", "plays", "all", "side", "race", "equities"]
)
def test_answers_are_tables_and_their_reprs_one_line(advisor: Any, name: str) -> None:
    state = STATE.before_roll()
    answer = {
        "action": lambda: advisor.cube(state),
        "cube": lambda: questions.cube(advisor, state),
        "match": lambda: questions.cube(advisor, GameState.of(HERE, away=(3, 5))),
        "scores": lambda: questions.cube(advisor, state, scores=2),
        "plays": lambda: advisor.plays(STATE),
        "all": lambda: questions.play(advisor, STATE, [(6, 1), (2, 1)]),
        "side": lambda: advisor.race("0 2 2 2 0 4"),
        "race": lambda: questions.race(advisor, HERE),
        "equities": lambda: advisor.equities(state),
    }[name]()
    elements = drawn(answer._repr_html_())
    names = {one.text for one in elements if one.tag == "th"}
    assert answer.as_dict().keys() <= names
    assert any(one.tag.endswith("svg") for one in elements) == (name != "side")
    assert repr(answer).startswith(f"<{type(answer).__name__} ")
    assert "\n" not in repr(answer)
    assert len(repr(answer)) < 250


def test_a_grid_is_a_table_of_scores(advisor: Any) -> None:
    grid = advisor.scores(GameState.of(HERE), 3)
    cells = [one.text for one in drawn(grid._repr_html_()) if one.tag == "td"]
    assert cells == ["1", "--", "--", "--", "2", "D/P", "D/T", "D/T", "3", "D/T", "D/T", "D/T"]
    assert repr(grid) == "<Grid 0 1 0 0 1 0 / 0 1 1 0 0 0, up to 3-away, Kazaross-XG2>"


def test_reports() -> None:
    report = bgfmt.verify(GOLDEN / "gnubg/ts_02x03.bd", until="sense")
    assert "gnubg-ts" in "".join(one.text or "" for one in drawn(report._repr_html_()))


def test_what_is_written_in_a_value_is_text() -> None:
    shown = html({"<b>": ["<script>", 'a"b'], "n": [{"x": "<i>"}] * 14})
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert shown.endswith(" ... 14 in all</td></tr></table>")
    assert drawn(shown)


@pytest.mark.parametrize("name", ["ts_06x02.bd", "os_p02_g.bd", "hyper1.bd"])
@pytest.mark.extra("frames")
def test_tables_show_their_first_entries_and_become_data_frames(name: str) -> None:
    with bgfmt.open(GOLDEN / "gnubg" / name) as db:
        table = db.table
        cells = [one.text for one in drawn(db._repr_html_()) if one.tag == "td"]
        assert cells[:: 1 + len(table.columns)] == ["0", "1", "2", "3", "4"]
        numbers = np.arange(table.entries)
        values = table.values(numbers)
        pips = {1: ["pips"], 2: ["us_pips", "them_pips"]}[table.sides]
        for frame in (db.to_pandas(), db.to_polars()):
            names = [column.name for column in table.columns]
            assert list(frame.columns) == ["position", *pips, *(name for name in names if name != "pips")]
            for column, expected in zip(names, values.T, strict=True):
                np.testing.assert_allclose(np.asarray(frame[column], np.float64), expected, atol=1e-6)
            for number in numbers[:: 1 + table.entries // 50].tolist():
                if table.sides == 1:
                    assert frame["position"][number] == str(table.unrank(number))
                else:
                    us, them = divmod(number, table.positions)
                    assert frame["position"][number] == f"{table.side(us)} / {table.side(them)}"
                    assert frame["them_pips"][number] == table.side(them).pips
