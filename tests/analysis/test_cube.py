"""Cube actions against Koca's printed chart, the literature, exact arithmetic and an independent brute force."""

from __future__ import annotations

import numpy as np
import pytest

from bgfmt import analysis
from bgfmt.analysis import Advisor, CubeAction, PositionEquities
from bgfmt.analysis.answers import format_error
from bgfmt.analysis.cube import label_of
from bgfmt.analysis.endings import ends_soon
from bgfmt.analysis.questions import Question, state_of
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.solver.registry import solver_of
from bgfmt.tables import TwoSided
from tests.support.analysis_tables import exact_two_sided, one_sided, stored_two_sided
from tests.support.single import exact_equities, judge_cube

# Bob Koca, "Curing your short bearoff blues" (2007), as far as it is quoted here: rows on roll, columns waiting,
# chequers by their points, labels of `bgfmt.analysis.cube.LABELS`
COLUMNS = "1.2.3.11.12 4.13 5 14 6 22 23 24.15 25 33 34 16 35 26 44 36 45 46 55 56 66"
ROWS = """
1.2.3.11.12 555555555555555555555
4.13 555555555555555555555
5 555555555555555555555
14 555555555555555555555
6 555555555555555555555
22 444444555555555555555
24.15 444444445555555555555
33 111113344555555555555
34 111113344445555555555
35 111111134444555555555
26 111111134444455555555
44 111111114444445555555
36 111111114444445555555
45 111111114444445555555
55 111111111444444445555
56 111111111223444444555
"""


def side_of(name: str) -> Side:
    counts = [0] * 6
    for point in name:
        counts[int(point) - 1] += 1
    return Side(*counts)


def chart() -> list[tuple[str, str, int]]:
    columns = COLUMNS.split()
    pairs = []
    for line in ROWS.strip().splitlines():
        names, labels = line.split()
        for label, group in zip(labels, columns, strict=True):
            pairs += [(a, b, int(label)) for a in names.split(".") for b in group.split(".")]
    return pairs


TIES = {("6", other) for other in ["1", "2", "3", "11", "12", "4", "13", "5", "14", "6"]}


@pytest.mark.slow
@pytest.mark.parametrize("table", [exact_two_sided, stored_two_sided])
def test_kocas_chart(table):
    table = table()
    for a, b, printed in chart():
        position = Position(side_of(a), side_of(b))
        centered = judge_cube(table, position=position, settle=True)
        owned = judge_cube(table, "owned", position=position, settle=True)
        assert label_of(centered, owned) == printed, (a, b)
        assert centered.tie_take == ((a, b) in TIES)
        assert centered.sure
        assert owned.sure
        if centered.tie_take:
            assert centered.action == "Double, take or pass"
            assert "exactly the same" in centered.certainty


@pytest.mark.extra("arrays")
@pytest.mark.slow
def test_the_stored_integers_alone_call_the_ties_close():
    pairs = chart()
    us, them = ([side_of(x[k]) for x in pairs] for k in (0, 1))
    rough = analysis.judge_many(stored_two_sided(), us, them)
    for pair, label, close in zip(pairs, rough.label, rough.close_take, strict=True):
        if pair[:2] in TIES:
            assert close
        else:
            assert label == pair[2]
    settled = analysis.judge_many(stored_two_sided(), us, them, settle=True)
    assert settled.label.tolist() == [p[2] for p in pairs]
    assert [p[:2] in TIES for p in pairs] == settled.tie_take.tolist()
    assert not settled.close.any()


# id: on roll, other side, exact cubeless, owned, centered, opponent, centered action, owned action
LITERATURE = {
    "manual": (
        "0 1 0 0 1",
        "0 1 1",
        0.3422497,
        0.3441358,
        0.1604938,
        0.1604938,
        "Double, take",
        "No redouble, take",
    ),
    "zare": (
        "0 1 0 0 1",
        "0 0 0 0 1",
        0.1858711,
        0.1867284,
        0.0555556,
        0.0555556,
        "Double, take",
        "No redouble, take",
    ),
    "jacoby-b": (
        "0 1 0 0 1",
        "2",
        0.0555556,
        0.0555556,
        0.0555556,
        0.0555556,
        "Double, take",
        "Redouble, take",
    ),
    "jacoby-6": (
        "0 1 0 0 1",
        "0 0 0 0 0 1",
        *(0.2901235, 0.2916667, 0.0555556, 0.0555556),
        *("Double, take", "No redouble, take"),
    ),
    "2v1": ("4", "2", *[-0.6666667] * 4, "No double, beaver", "No redouble, beaver"),
    "2 rolls": ("4", "4", *[0.7222222] * 4, "Double, pass", "Redouble, pass"),
    "3 rolls": ("6", "6", None, None, None, None, "Double, pass", "Redouble, pass"),
    "4 rolls": ("8", "8", 0.4905264, 0.7929527, 0.7608025, 0.4583762, "Double, take", "Redouble, take"),
    "5 rolls": ("10", "10", None, None, None, None, "Double, take", "No redouble, take"),
    "6 rolls": ("12", "12", 0.3950580, 0.6518899, 0.5795520, 0.2943256, "Double, take", "No redouble, take"),
    "7 rolls": ("14", "14", 0.3646611, 0.5867493, 0.4986669, 0.2532558, "Double, take", "No redouble, take"),
    "robins": (
        "1 1 1 0 1 2",
        "1 0 0 1 0 4",
        0.7554382,
        0.9339768,
        0.9303618,
        0.7441462,
        "Double, pass",
        None,
    ),
    "montgomery": ("0 0 0 0 0 1", "0 0 0 4", *[0.9583333] * 4, "Double, pass", "Redouble, pass"),
    "fails-1": ("0 0 2 2 2", "3 2 1", -0.5274688, -0.5108994, -0.8197981, -0.8351897, None, None),
    "fails-3": ("0 0 0 3 1 2", "3 2 1", -0.7203241, -0.7033701, -0.8988101, -0.9086849, None, None),
    "flips-1": ("0 0 3 2 0 1", "0 0 0 4 2", 0.5339569, 0.8010519, 0.7840234, 0.5000723, "Double, pass", None),
    "flips-3": ("1 1 1 1 0 2", "0 1 5", 0.2854761, 0.5013601, 0.4543277, 0.2271882, "Double, take", None),
    "flips-4": ("0 1 0 4 1", "0 0 2 3 1", 0.3494092, 0.5973404, 0.5621878, 0.2986949, None, "Redouble, take"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LITERATURE)
def test_the_literature_exactly(name):
    us, them, *numbers, centered, owned = LITERATURE[name]
    position = Position(*(Side(*map(int, text.split())) for text in (us, them)))
    values = exact_equities(position)
    assert isinstance(values, PositionEquities)
    for column, number in zip(("cubeless", "owned", "centered", "opponent"), numbers, strict=True):
        if number is not None:
            assert getattr(values, column) == pytest.approx(number, abs=5.1e-8)
    for cube, words in (("centered", centered), ("owned", owned)):
        if words is not None:
            assert judge_cube(values, cube, error=0.0).action == words


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flips-1", "flips-3", "flips-4"])
def test_decisions_that_rounding_turns_are_not_called_sure(name):
    us, them, *_ = LITERATURE[name]
    position = Position(*(Side(*map(int, text.split())) for text in (us, them)))
    cube = "owned" if name == "flips-4" else "centered"
    stored, exact = (
        judge_cube(table(), cube, position=position) for table in (stored_two_sided, exact_two_sided)
    )
    assert not stored.sure
    assert "too close" in stored.certainty
    assert stored.action != exact.action
    settled = judge_cube(stored_two_sided(), cube, position=position, settle=True)
    assert settled.settled
    assert settled.action == exact.action


def test_nothing_is_sure_by_an_error_that_is_not_proved(monkeypatch):
    position = Position(Side(0, 0, 0, 0, 0, 3), Side(0, 0, 0, 0, 0, 3))
    state = GameState.of(position)
    rolled = GameState.of(position, dice=(2, 1))
    advisor = Advisor(stored_two_sided())
    proved = advisor.cube(state)
    assert (proved.sure, proved.certainty) == (True, "certain: the margin exceeds the table's maximum error")
    assert advisor.plays(rolled).proved
    monkeypatch.setattr(TwoSided, "error_is_proved", False)
    advisor = Advisor(stored_two_sided())
    found = advisor.cube(state)
    assert (found.sure, found.sure_double, found.sure_take) == (False, False, False)
    assert (found.decided, found.settled, found.action) == (True, False, proved.action)
    assert found.certainty == (
        "not proved for a table of this size: the margin exceeds the error measured on other tables, 0.00015"
    )
    assert not advisor.plays(rolled).proved
    held = advisor.cube(GameState.of(position, cube="opponent"))
    assert (held.sure, held.certainty) == (True, "no decision to make")


def test_tables_whose_errors_are_proved():
    assert stored_two_sided().error_is_proved
    assert exact_two_sided().error_is_proved
    counting = solver_of("two-sided-gammons", 1, 15).solve()
    assert not counting.error_is_proved
    assert not TwoSided(points=12, chequers=15, equities=np.empty((0, 0, 4), np.uint16)).error_is_proved


@pytest.mark.extra("arrays")
def test_how_far_the_stored_table_is_from_the_truth():
    stored = np.asarray(stored_two_sided().equities)[1:, 1:] / 32767.5 - 1
    exact = np.asarray(exact_two_sided().equities)[1:, 1:]
    worst = np.abs(stored - exact).max(axis=(0, 1))
    assert worst == pytest.approx([0.000113, 0.000106, 0.000128, 0.000125], abs=6e-7)
    actions = analysis.cube_actions(exact.reshape(-1, 4))
    assert actions.double.sum() == 490_816
    assert actions.redouble.sum() == 469_628
    assert (actions.double & actions.take).sum() == pytest.approx(
        117_577, abs=12
    )  # exact ties count as takes
    assert (actions.redouble & actions.take).sum() == pytest.approx(96_389, abs=12)


def brute_force(owned: float, centered: float, opponent: float) -> tuple[bool, bool, bool, bool]:
    """Double, redouble, take, beaver by comparing every line of play for a cube of one."""

    def other_side(doubled: float) -> str:
        lines = {"take": -doubled, "pass": -1.0}
        return max(lines, key=lines.__getitem__)

    answer = other_side(2 * opponent)
    worth = 2 * opponent if answer == "take" else 1.0
    return worth >= centered, worth >= owned, answer == "take", 4 * opponent < 2 * opponent


@pytest.mark.extra("arrays")
def test_ten_thousand_positions_against_brute_force():
    rng = np.random.default_rng(20)
    table = stored_two_sided()
    us, them = rng.integers(1, table.positions, (2, 10_000))
    actions = analysis.judge_many(table, us, them)
    for k in range(10_000):
        raw = table.equities[us[k], them[k]]
        numbers = [float(np.float32(x) * np.float32(1 / 32767.5) - np.float32(1)) for x in raw]
        expected = brute_force(*numbers[1:])
        assert (actions.double[k], actions.redouble[k], actions.take[k], actions.beaver[k]) == expected
        if k % 20 == 0:
            position = Position(Side.from_number(int(us[k]), 6), Side.from_number(int(them[k]), 6))
            one, own = (judge_cube(table, cube, position=position) for cube in ("centered", "owned"))
            assert (one.doubles, own.doubles, one.takes, one.beavers) == expected
            assert one.sure_double != actions.close_double[k]
            assert own.sure_double != actions.close_redouble[k]
            assert one.sure_take != actions.close_take[k]
            assert label_of(one, own) == actions.label[k]


@pytest.mark.extra("arrays")
def test_rounding_turns_no_decision_called_sure():
    exact = np.asarray(exact_two_sided().equities)[1:, 1:].reshape(-1, 4)
    stored = np.asarray(stored_two_sided().equities)[1:, 1:].reshape(-1, 4) / 32767.5 - 1
    true, seen = (
        analysis.cube_actions(exact),
        analysis.cube_actions(stored.astype(np.float32), stored_two_sided()),
    )
    for decision in ("double", "redouble", "take", "beaver"):
        turned = getattr(true, decision) != getattr(seen, decision)
        ties = getattr(true, f"tie_{decision}", np.zeros(len(turned), bool))
        assert not (turned & ~ties & ~getattr(seen, f"close_{decision}")).any()


@pytest.mark.slow
def test_a_beaver_is_a_decision_too():
    """The stored integers call this a take; exactly it is a beaver, by 3.3e-5."""
    position = Position(Side(0, 2, 1, 0, 0, 2), Side(0, 2, 2, 0, 0, 1))
    stored = judge_cube(stored_two_sided(), position=position)
    assert not stored.beavers
    assert not stored.sure
    settled = judge_cube(stored_two_sided(), position=position, settle=True)
    assert settled.double_take == pytest.approx(-3.3e-5, abs=1e-6)
    assert settled.action == "No double, beaver"
    assert settled.sure
    unruly = Advisor(stored_two_sided()).cube(GameState.of(position, beavers=False))
    assert unruly.action == "No double, take"


@pytest.mark.extra("arrays")
@pytest.mark.parametrize("cube", ["centered", "owned"])
@pytest.mark.parametrize("beavers", [None, True, False])
def test_a_double_costs_what_the_best_reply_leaves(cube, beavers):
    table = exact_two_sided()
    numbers = np.random.default_rng(5).integers(1, table.positions, (300, 2))
    many = analysis.judge_many(table, *numbers.T, beavers=beavers is not False)
    margins = many.double_margin if cube == "centered" else many.redouble_margin
    advisor = Advisor(table)
    beavered = 0
    for (us, them), margin in zip(numbers, margins, strict=True):
        _, owned, centered, opponent = table.equities[us, them]
        rolling = owned if cube == "owned" else centered
        replies = [2 * opponent, 1.0] + [4 * opponent] * (beavers is not False)
        position = Position(*(Side.from_number(int(number), 6) for number in (us, them)))
        value = 2 if cube == "owned" else 1
        action = advisor.cube(GameState.of(position, cube=cube, cube_value=value, beavers=beavers))
        assert action.double_margin == pytest.approx(min(replies) - rolling, abs=1e-12)
        assert margin == pytest.approx(min(replies) - rolling, abs=1e-12)
        assert action.double_beaver == (None if beavers is False else pytest.approx(4 * opponent, abs=1e-12))
        beavered += action.beavers
    assert (beavered > 30) == (beavers is not False)


def test_certainty_in_words() -> None:
    assert [format_error(error) for error in (0.0055, 0.012, 0.04, 0.00012, 0.0)] == [
        "0.006", "0.012", "0.04", "0.0002", "0",
    ]  # fmt: skip
    position = Position(Side(0, 0, 0, 0, 0, 3), Side(0, 0, 0, 0, 0, 3))
    far = CubeAction(position, "centered", 0.5, 0.8, error=1e-5)
    assert far.certainty == "certain: the margin exceeds the table's maximum error"
    near = CubeAction(position, "centered", 0.5, 0.50001, error=1e-5)
    assert near.certainty == "too close to call: the double lies within the error of 3e-05"
    about = {"error": 0.012, "usual_error": 0.0055, "approximate": True, "source": "estimate"}
    assert CubeAction(position, "centered", 0.5, 0.8, **about).certainty == "estimate, ±0.006 (95 %)"
    words = "estimate, ±0.006 (95 %): too close to call, within 0.036 (99.9 %)"
    assert CubeAction(position, "centered", 0.5, 0.465, **about).certainty == words
    answer = "estimate, ±0.006 (95 %): too close to call, within 0.024 (99.9 %)"
    assert CubeAction(position, "centered", 0.5, 0.98, **about).certainty == answer


@pytest.mark.extra("arrays")
def test_cube_actions_of_a_database() -> None:
    table = stored_two_sided()
    numbers = np.arange(1, 40)
    by_table = analysis.cube_actions(table, numbers, numbers[::-1])
    by_equities = analysis.cube_actions(table.lookup_many(numbers, numbers[::-1]), table)
    assert by_table.label.tolist() == by_equities.label.tolist()
    assert by_table.close_take.tolist() == by_equities.close_take.tolist()


@pytest.mark.extra("arrays")
def test_rounding_turns_no_double_called_sure_when_beavers_are_played():
    """A beaver errs by twice as much as a take."""
    table = stored_two_sided()
    exact = np.asarray(exact_two_sided().equities)[1:, 1:].reshape(-1, 4)
    stored = np.asarray(table.equities)[1:, 1:].reshape(-1, 4) / 32767.5 - 1
    for beavers in (True, False):
        true = analysis.cube_actions(exact, beavers=beavers)
        seen = analysis.cube_actions(stored.astype(np.float32), table, beavers=beavers)
        turned = (true.double_margin >= 0) != (seen.double_margin >= 0)
        assert not (turned & ~true.tie_double & ~seen.close_double).any()


@pytest.mark.extra("arrays")
def test_ties_are_claimed_only_where_they_are_proved():
    table = exact_two_sided()
    near = 0
    for us, them in (
        (Side(0, 0, 0, 0, 0, 1), Side(0, 0, 1)),
        (Side(4), Side(4)),
        (Side(2, 2, 1), Side(3, 1, 1)),
    ):
        assert ends_soon(Position(us, them))
    assert not ends_soon(Position(Side(0, 0, 0, 0, 1, 2), Side(0, 0, 0, 0, 0, 3)))
    values = np.asarray(table.equities)[1:, 1:].reshape(-1, 4)
    actions = analysis.cube_actions(values)
    for row in np.flatnonzero(actions.tie_take):
        us, them = (Side.from_number(int(n) + 1, 6) for n in divmod(int(row), table.positions - 1))
        action = judge_cube(table, position=Position(us, them))
        near += not action.tie_take
        assert action.tie_take == ends_soon(Position(us, them))
        assert action.sure_take == action.tie_take
    margins = np.abs(actions.take_margin)
    assert margins[~actions.tie_take].min() > 1e-9
    assert near < 20


@pytest.mark.slow
def test_too_good_with_gammons_by_an_estimate():
    position = Position(Side(2), Side(*[0] * 5, 15))
    action = judge_cube(one_sided(), position=position)
    assert (action.approximate, action.source) == (True, "estimate")
    assert action.no_double == 2
    assert action.sure
    assert action.action == "Too good to double, pass"


@pytest.mark.extra("races")
def test_an_estimate_that_counts_gammons_may_be_too_good_or_not():
    """Playing on was estimated to be 0.0032 too good, within 0.04 (99.9 %), and called sure."""
    with Advisor() as advisor:
        action = advisor.cube(state_of("2D2lCgC43p0AAA", Question(away="2-1")))
        equities = advisor.equities(state_of("2D2lCgC43p0AAA", Question()))
    assert equities.win is None
    assert (
        set(equities.max_error) == set(equities.usual_error) == {"cubeless", "owned", "centered", "opponent"}
    )
    assert action.approximate
    assert abs(action.double_margin) < action.error
    assert not action.sure
    assert not any("error" in note for note in action.match.notes)


@pytest.mark.extra("races")
def test_an_estimate_without_gammons_is_never_beyond_the_point():
    for position in ("0 0 0 0 0 0 0 1 1 1 / 0 0 0 0 0 0 0 0 2 4 3 3", "1 1 1 / 0 0 0 0 0 0 0 2 2 3 3 3"):
        equities = Advisor(one_sided()).equities(position)
        assert equities.approximate
        assert max(equities.owned, equities.centered, equities.opponent, equities.cubeless) <= 1


@pytest.mark.extra("arrays")
@pytest.mark.slow
def test_what_is_refused():
    six = stored_two_sided()
    with pytest.raises(PositionError, match="game is over"):
        judge_cube(six, position=Position(Side(1), Side()))
    with pytest.raises(NotCoveredError, match="7 chequers"):
        judge_cube(six, position=Position(Side(7), Side(1)))
    with pytest.raises(NotCoveredError, match="passed"):
        judge_cube(six, position=Position(Side(1), Side(*[0] * 23, 1)))
    cubeless = TwoSided(points=6, chequers=6, equities=np.asarray(six.equities)[:, :, :1])
    assert judge_cube(cubeless, position=Position(Side(1), Side(1))).approximate
    with pytest.raises(PositionError, match="cube must be"):
        judge_cube(six, "elsewhere", position=Position(Side(1), Side(1)))
    with pytest.raises(PositionError, match="shape"):
        analysis.cube_actions(np.zeros((3, 2)))
