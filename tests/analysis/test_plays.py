"""Ranked plays: every legal play, rightly valued and named, one at a time and in bulk."""

from __future__ import annotations

import numpy as np
import pytest

from bgfmt import analysis, met
from bgfmt.analysis import Advisor
from bgfmt.analysis.questions import Question, state_of
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import parse_roll, side_plays
from bgfmt.game.state import GameState
from bgfmt.tables import TwoSided
from bgfmt.tables.rolls import rolls_of
from tests.support.analysis_tables import exact_two_sided, means, one_sided, stored_two_sided
from tests.support.single import rank_all_rolls, rank_plays


def brute_results(counts: tuple[int, ...], roll: tuple[int, int]) -> set[tuple[int, ...]]:
    """Results of a roll by trying every order of dice and every chequer, written from the rules alone."""
    dice = [roll[0]] * 4 if roll[0] == roll[1] else list(roll)
    found = set()

    def go(now: tuple[int, ...], left: list[int], used: int) -> None:
        nonlocal most
        moved = False
        for die in set(left):
            highest = max((p for p, c in enumerate(now, 1) if c), default=0)
            for point, chequers in enumerate(now, 1):
                if not chequers:
                    continue
                after = list(now)
                after[point - 1] -= 1
                if point > die:
                    after[point - die - 1] += 1
                elif highest > 6 or (point < die and point < highest):
                    continue
                rest = list(left)
                rest.remove(die)
                moved = True
                go(tuple(after), rest, used + 1)
        if not moved:
            if used > most:
                found.clear()
                most = used
            if used == most or not any(now):
                found.add(now)

    most = 0
    go(counts, dice, 0)
    return found


@pytest.mark.slow
@pytest.mark.extra("arrays")
def test_results_against_brute_force():
    from bgfmt.extras.arrays.plays import results_of

    rng = np.random.default_rng(3)
    for points, chequers, many in ((6, 15, 500), (6, 4, 500), (8, 6, 300), (3, 15, 200), (12, 2, 200)):
        numbers = rng.integers(1, board.count(points, chequers), many)
        sides = board.unrank_array(numbers, points)
        rolls = rng.integers(1, 7, (many, 2))
        lengths, flat = results_of(sides, rolls)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        for k in range(many):
            counts, roll = tuple(map(int, sides[k])), (int(rolls[k, 0]), int(rolls[k, 1]))
            expected = brute_results(counts, roll)
            got = flat[starts[k] : starts[k + 1]]
            assert len(set(got)) == len(got)
            assert {board.unrank(int(r), points) for r in got} == expected, (counts, roll)
            assert {s.padded(points) for s in side_plays(Side(*counts), roll)} == expected


def test_results_agree_with_the_moves_of_the_whole_game():
    from bgfmt.game import moves

    rng = np.random.default_rng(4)
    for _ in range(400):
        side = Side.from_number(int(rng.integers(1, board.count(6, 15))), 6)
        roll = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
        whole = {play.result.us for play in moves.legal_plays(Position(side, Side(1)), *roll)}
        assert whole == set(side_plays(side, roll))
        high, low = max(roll), min(roll)
        assert {Side(*r) for r in moves.race_plays(side.padded(6), high, low)} == whole


def reply(table: TwoSided, us: int, them: int, cube: str) -> float:
    """Worth to us of position `us` with the other side, `them`, on roll: its best cube action, then ours turned."""
    raw = np.asarray(table.equities[them, us])
    cubeless, owned, centered, opponent = (
        (float(x) for x in raw) if raw.dtype == np.float64 else (x / 32767.5 - 1 for x in raw.astype(float))
    )
    doubled = min(1.0, 2 * opponent)
    best = {
        "cubeless": cubeless,
        "owned": opponent,
        "centered": max(centered, doubled),
        "opponent": max(owned, doubled),
    }
    return -best[cube]


@pytest.mark.extra("arrays")
@pytest.mark.slow
@pytest.mark.parametrize("table", [stored_two_sided, exact_two_sided])
def test_thousands_of_rankings_against_brute_force(table):
    table = table()
    rng = np.random.default_rng(5)
    many = 3000 if table is stored_two_sided() else 500
    us, them = rng.integers(1, table.positions, (2, many))
    rolls = rng.integers(1, 7, (many, 2))
    for cube in ("cubeless", "owned", "centered", "opponent"):
        measure = "cubeless" if cube == "cubeless" else "money"
        ranked = analysis.rank_many(
            table, us, them, rolls, cube="centered" if cube == "cubeless" else cube, measure=measure
        )
        for k in range(many if cube == "centered" else many // 10):
            side = Side.from_number(int(us[k]), 6)
            roll = (int(rolls[k, 0]), int(rolls[k, 1]))
            results = [board.rank(r) for r in brute_results(side.padded(6), roll)]
            expected = {r: reply(table, r, int(them[k]), cube) for r in results}
            got, values = ranked.plays(k)
            assert sorted(got) == sorted(results)
            assert np.all(np.diff(values) <= 0)
            assert values == pytest.approx([expected[int(r)] for r in got], abs=2e-7)
            if k % 10 == 0:
                position = Position(side, Side.from_number(int(them[k]), 6))
                one = rank_plays(
                    table, position, roll, cube="centered" if cube == "cubeless" else cube, measure=measure
                )
                assert [p.value for p in one] == pytest.approx(values, abs=1e-12)
                assert one[0].loss == 0
                assert all(p.loss == pytest.approx(one[0].value - p.value) for p in one)
                assert all(isinstance(p.result, Position) and p.result.them == position.them for p in one)


@pytest.mark.slow
def test_the_rolls_of_a_position_add_up_to_its_equity():
    table = exact_two_sided()
    for us, them in (
        ((0, 1, 0, 0, 1), (0, 1, 1)),
        ((1, 1, 1, 0, 1, 2), (0, 3, 0, 0, 2)),
        ((0, 0, 2, 2, 2), (3, 2, 1)),
    ):
        position = Position(Side(*us), Side(*them))
        row = table.equities[position.us.number(6), position.them.number(6)]
        for column, cube in enumerate(("cubeless", "owned", "centered", "opponent")):
            measure = "cubeless" if cube == "cubeless" else "money"
            rolls = rank_all_rolls(
                table, position, cube="centered" if cube == "cubeless" else cube, measure=measure
            )
            total = sum((1 if a == b else 2) * plays[0].value for (a, b), plays in rolls.items())
            assert len(rolls) == 21
            assert total / 36 == pytest.approx(row[column], abs=1e-12)


@pytest.mark.slow
def test_the_articles_problem():
    side = Side(0, 2, 2, 2, 0, 4)
    for table, close in ((means(), 5.1e-10), (one_sided(), 2e-4)):
        best, second, *_ = rank_plays(table, side, "6-1")
        assert (best.notation, second.notation) == ("6/5 6/off", "6/off 2/1")
        assert best.result.us == Side(0, 2, 2, 2, 1, 2)
        assert best.value == pytest.approx(5.302669027, abs=close)
        assert second.value == pytest.approx(5.404268973, abs=close)
        assert second.loss == pytest.approx(0.101599946, abs=2 * close)


def test_montgomery():
    """Least expected rolls is not best: 1/off 6/4 alone wins 3 in 144, the other side then winning the rest."""
    position = Position(Side(1, 0, 0, 3, 0, 1), Side(0, 0, 0, 0, 0, 1))
    best, second, *_ = rank_plays([one_sided(), exact_two_sided()], position, "21", measure="cubeless")
    assert best.notation == "6/4 1/off"
    assert best.value == pytest.approx(2 * 3 / 144 - 1, abs=1e-12)
    assert second.value < best.value - 0.01
    assert rank_plays(one_sided(), position.us, "21")[0].notation != best.notation


@pytest.mark.extra("arrays")
def test_measures_of_one_side():
    table = one_sided()
    side = Side(0, 0, 0, 2, 3, 4)
    for measure, within in (("mean", None), ("off:6", 6), ("off:0", 0)):
        plays = rank_plays(table, side, (6, 5), measure=measure)
        for play in plays:
            row = np.asarray(table.bearoff[play.result.us.number(6)]) / 65535
            value = rolls_of(row)[0] if within is None else row[: within + 1].sum()
            assert play.value == pytest.approx(float(value), abs=1e-6)
        values = [p.value for p in plays]
        assert values == sorted(values, reverse=within is not None)
        bulk = analysis.rank_many(table, [side], None, [[5, 6]], measure=measure)
        assert bulk.values == pytest.approx(values)
    two = Position(side, Side(3))
    assert (
        rank_plays(table, two, "65", measure="mean")[0].notation == rank_plays(table, side, "65")[0].notation
    )


def test_the_result_of_a_play_is_a_position() -> None:
    advisor = Advisor(one_sided())
    side = Side(0, 1, 0, 0, 1)
    for dice in ((2, 1), "21"):
        best = advisor.side_plays(side, dice).best
        assert best is not None
        assert best.result.us == Side(1, 0, 1)
        assert best.result.them == Side()
        assert best.as_dict()["result"] == str(best.result.us)


@pytest.mark.slow
def test_approximate_ranking_is_marked_and_near():
    rng = np.random.default_rng(6)
    gaps = []
    for _ in range(60):
        us, them = (Side.from_number(int(k), 6) for k in rng.integers(1, 924, 2))
        roll = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
        rough = rank_plays(one_sided(), Position(us, them), roll, measure="cubeless")
        exact = {
            p.notation: p.value
            for p in rank_plays(exact_two_sided(), Position(us, them), roll, measure="cubeless")
        }
        assert all(p.approximate for p in rough)
        gaps += [abs(p.value - exact[p.notation]) for p in rough]
        assert {p.notation for p in rough} == set(exact)
        assert all(-1 <= p.value <= 1 for p in rank_plays(one_sided(), Position(us, them), roll))
    assert max(gaps) < 0.012
    assert (
        rank_plays([stored_two_sided(), one_sided()], Position(Side(1), Side(1)), "21")[0].approximate
        is False
    )


@pytest.mark.slow
def test_plays_that_rounding_cannot_tell_apart_are_called_close():
    rng = np.random.default_rng(8)
    seen = 0
    for _ in range(300):
        us, them = (Side.from_number(int(k), 6) for k in rng.integers(1, 924, 2))
        roll = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
        for cube in ("centered", "owned"):
            stored = rank_plays(stored_two_sided(), Position(us, them), roll, cube=cube)
            exact = {p.result: p for p in rank_plays(exact_two_sided(), Position(us, them), roll, cube=cube)}
            assert stored[0].close
            for play in stored:
                true = exact[play.result]
                assert not true.close or play.close
                seen += play.close and play.loss > 0
                assert play.close or true.loss > 0
    assert seen > 3


@pytest.mark.extra("arrays")
@pytest.mark.slow
def test_count_of_plays_that_bear_no_chequer_off():
    """3,825 (position, non-double) pairs where a chequer could go off, but fewest rolls keeps all on the board."""
    from bgfmt.extras.arrays.plays import results_of

    table = means()
    n = board.count(6, 15)
    sides = board.unrank_array(np.arange(1, n), 6)
    chequers = sides.sum(axis=1)
    total, with_two, rolls = 0, [], 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            lengths, flat = results_of(sides, np.tile([high, low], (n - 1, 1)))
            rolls += n - 1
            if high == low:
                continue
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            mean = np.asarray(table.means)[flat]
            left = board.unrank_array(flat, 6).sum(axis=1)
            many = np.repeat(chequers, lengths)
            off = left < many
            could = np.maximum.reduceat(off, starts)
            best_off = np.minimum.reduceat(np.where(off, mean, np.inf), starts)
            best_on = np.minimum.reduceat(np.where(off, np.inf, mean), starts)
            found = could & (best_on < best_off - 1e-12)
            total += int(found.sum())
            with_two += [
                (high, low, tuple(map(int, sides[k]))) for k in np.flatnonzero(found & (chequers == 2))
            ]
    assert rolls == 1_139_523
    assert total == 3825
    assert with_two == [(5, 2, (0, 0, 0, 1, 0, 1))]


def test_rolls():
    assert parse_roll("61") == parse_roll("1-6") == parse_roll((1, 6)) == (6, 1)
    for bad in ("", "6", "611", "07", "6x", (0, 7)):
        with pytest.raises(PositionError, match="a roll must be two dice"):
            parse_roll(bad)


@pytest.mark.extra("arrays")
def test_what_is_refused():
    table = stored_two_sided()
    with pytest.raises(PositionError, match="needs both sides"):
        rank_plays(table, Side(1), "21", measure="money")
    with pytest.raises(PositionError, match="a measure must be"):
        rank_plays(table, Position(Side(1), Side(1)), "21", measure="guess")
    with pytest.raises(NotCoveredError):
        rank_plays(table, Position(Side(9), Side(1)), "21")
    with pytest.raises(NotCoveredError):
        rank_plays(table, Side(1), "21")
    with pytest.raises(PositionError, match="nothing to play"):
        rank_plays(one_sided(), Side(), "21")
    with pytest.raises(NotCoveredError, match="passed"):
        rank_plays(table, Position(Side(0, 1), Side(*[0] * 23, 1)), "21")
    with pytest.raises(NotCoveredError, match="cubeful"):
        analysis.rank_many(one_sided(), [Side(1)], [Side(1)], [[2, 1]])


def test_contact_is_named_and_who_answers_it() -> None:
    with Advisor() as advisor, pytest.raises(NotCoveredError) as caught:
        advisor.cube(GameState())
    assert "contact" in str(caught.value)
    assert "GNU Backgammon and eXtreme Gammon" in str(caught.value)


def test_equal_plays_by_exact_numbers_are_a_tie_and_not_close() -> None:
    """What error there is cannot turn a tie that is calculated; that of a table's rounding can."""
    text = "2,1,0,1,1/0,1,1,2,1"
    for away in ("3-5", None, "40-2"):
        state = state_of(text, Question(away=away, extend_met=away == "40-2")).rolled((6, 3))
        advisor = Advisor([], met=met.load(extend=True))
        plays = advisor.plays(state).plays
        assert [play.loss for play in plays[:2]] == [0, 0], away
        assert not any(play.close for play in plays), away
    rounded = Advisor(stored_two_sided(), calculate="nothing").plays(
        state_of("2,1,0,1/0,1,1,2").rolled((6, 3))
    )
    assert rounded.best is not None
    assert rounded.best.close


def test_equal_cube_actions_by_exact_numbers_are_a_tie_and_not_close() -> None:
    """The double is the last turn of this game: it is worth as much as rolling on with a dead cube."""
    tied = [
        action
        for away in ((2, 2), (3, 3), (2, 4), (4, 4))
        for text in ("1/1", "0 0 0 0 0 1/1", "2/1", "4/2", "2 2/2")
        if (action := Advisor([]).cube(GameState.of(Position.parse(text), away=away)).match) is not None
        and (action.doubling == "optional" or action.response == "either")
    ]
    assert tied
    for action in tied:
        assert not action.close
        assert action.sure
        assert "exactly the same" in action.certainty


def test_ranked_plays_are_iterated_best_first() -> None:
    with Advisor([]) as advisor:
        ranked = advisor.plays(state_of("0 1 0 0 1 / 0 1 1").rolled("21"))
    assert list(ranked) == list(ranked.plays)
    assert ranked[0] == ranked.best
    losses = [play.loss or 0.0 for play in ranked]
    assert losses == sorted(losses)
    assert len(losses) > 1
