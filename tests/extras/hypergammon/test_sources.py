"""Hypergammon is asked like every other game: from its tables alone, contact included, with and without Jacoby."""

from __future__ import annotations

import json
import random
import shlex

import pytest

import bgfmt
from bgfmt import Advisor, GameState, Position, Side
from bgfmt.analysis.questions import state_of
from bgfmt.cli import run
from bgfmt.errors import NotCoveredError
from bgfmt.extras.hosts.ubgi import Engine
from bgfmt.extras.hypergammon.solver import hypergammon
from bgfmt.extras.hypergammon.tables import ExactHypergammon
from bgfmt.game.identifiers import fibs, from_fibs
from bgfmt.game.moves import ROLLS
from tests.support.analysis_tables import exact_two_sided, stored_two_sided

RACE = "0 0 0 0 0 0 0 0 0 1 / 0 0 0 0 0 0 0 0 1"
CONTACT = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 / 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"


@pytest.fixture(scope="module")
def table() -> ExactHypergammon:
    found = hypergammon(1, recipe="exact").table
    assert isinstance(found, ExactHypergammon)
    return found


@pytest.fixture
def ask(table, tmp_path, monkeypatch, capsys):
    bgfmt.save(table, tmp_path / "h1.npz", format="npz")
    bgfmt.save(table.rounded(), tmp_path / "h1.bd", format="gnubg-hyper")
    bgfmt.save(stored_two_sided(), tmp_path / "ts.bd", format="gnubg-ts")
    monkeypatch.chdir(tmp_path)

    def go(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        out = capsys.readouterr()
        return code, out.out, out.err

    return go


@pytest.mark.slow
@pytest.mark.parametrize("cube", ["centered", "owned", "opponent"])
@pytest.mark.parametrize("jacoby", [False, True])
def test_plays_and_cubes_follow_from_each_other(table, cube, jacoby):
    """Rolling on is worth the mean of the best plays of all rolls."""
    advisor, rng = Advisor(table), random.Random(1)
    for _ in range(12):
        us, them = rng.randint(1, 25), rng.randint(1, 25)
        if us + them == 25:
            continue
        sides = [Side(bar=1) if at == 25 else Side(*[0] * (at - 1), 1) for at in (us, them)]
        state = GameState.of(Position(*sides), cube=cube, jacoby=jacoby)
        expected = getattr(advisor.equities(state), cube)
        total = 0.0
        for high, low, weight in ROLLS:
            best = advisor.plays(state.rolled((high, low))).best
            if best is None:  # no chequer can move, and the other side is on roll
                turned = {"owned": "opponent", "opponent": "owned"}.get(cube, cube)
                after = GameState.of(state.position.swapped(), cube=turned, jacoby=jacoby)
                total -= weight * advisor.cube(after).best
            else:
                total += weight * best.value
        assert total / 36 == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("beavers", [None, True, False])
def test_by_jacobys_rule_a_double_is_weighed_by_its_beaver(table, beavers):
    """Behind, but with gammons that count once the cube is turned, one may double; and a beaver counts them twice."""
    advisor, seen = Advisor(table.rounded()), set()
    for us, them in ((18, 16), (19, 11), (10, 9), (1, 25), (20, 17), (25, 1)):
        sides = [Side(bar=1) if at == 25 else Side(*[0] * (at - 1), 1) for at in (us, them)]
        action = advisor.cube(GameState.of(Position(*sides), jacoby=True, beavers=beavers))
        taken = action.double_take * (1 if beavers is False or action.double_take > 0 else 2)
        doubles = min(taken, 1) >= action.no_double
        assert action.action.startswith("Double" if doubles else "No double"), (us, them)
        assert action.no_double <= 1
        assert action.double_margin == min(taken, 1) - action.no_double
        seen.add(action.action)
    assert ("Double, beaver" in seen) == (beavers is not False)
    assert "No double, beaver" in seen or beavers is False


def test_chequers_borne_off_are_counted_from_those_of_the_game(ask):
    for line in (f'cube h1.bd "{RACE}"', f'play h1.bd "{RACE}" 21', f'judge h1.bd "{RACE}" --double'):
        code, out, _ = ask(line)
        assert code == 0
        assert out.count("   0 off") == 2
        assert "14 off" not in out


def test_the_game_named_is_the_game_answered(ask):
    for name in ("h1.npz", "h1.bd"):
        code, out, _ = ask(f'cube {name} "{RACE}"')
        assert code == 0
        assert "cubeless +0.8042" in out
        assert "Centered cube: Double, pass" in out
        assert "gammons are possible and counted" in out
        assert "Janowski" not in out
    answer = json.loads(ask(f'cube h1.npz "{RACE}" --jacoby --json')[1])
    assert answer["source"] == "hypergammon"
    assert answer["win_gammon"] == pytest.approx(0.70104589)
    assert answer["centered"] == pytest.approx(0.44045782)
    assert ask(f'cube h1.npz "{CONTACT}"')[0] == 0
    assert "24" not in ask(f'play h1.npz "{CONTACT}" 21')[2]
    assert ask(f'judge h1.npz "{RACE}" --no-double')[1].count("Wrong: double is best")


@pytest.mark.slow
def test_rounding_makes_nobody_too_good_to_double(tmp_path):
    """The equity 1 of a game that is won is 1.0000001 in 24 bits."""
    bgfmt.save(hypergammon(2).table, tmp_path / "h2.bd", format="gnubg-hyper")
    with Advisor([tmp_path / "h2.bd"]) as adviser:
        assert adviser.cube(GameState.parse("1 / 1")).action == "Double, pass"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('cube h1.npz "0 2 / 1"', "0 2 0 0 0 0 has 2 chequers, the table covers 1"),
        ('play h1.npz "0 2 / 1" 21', "has 2 chequers, the table covers 1"),
        (f'cube h1.npz "{RACE}" --away 2-3', "h1.npz has money equities of hypergammon, but this is a match"),
        (
            f'play h1.bd "{RACE}" 61 --away 2-3',
            "h1.bd has money equities of hypergammon, but this is a match",
        ),
        (f'cube h1.npz ts.bd "{CONTACT}"', "a hypergammon table answers only if it is the only one named"),
    ],
)
def test_a_table_named_that_cannot_answer_is_said(ask, line, reason):
    code, out, err = ask(line)
    assert code != 0
    assert not out
    assert reason in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_no_table_is_skipped_in_silence(ask):
    code, out, err = ask('cube h1.npz ts.bd "0 1 / 1"')
    assert (code, err) == (0, "")
    assert "from ts.bd" in out
    assert "h1.npz is skipped: hypergammon is another game" in out
    out = ask('play ts.bd "0 0 0 0 0 0 0 0 0 0 1 / 1" 21')[1]
    assert "ts.bd is skipped: 0 0 0 0 0 0 0 0 0 0 1 has a chequer on point 11" in out
    _, out, err = ask('cube ts.bd "0 0 0 0 0 0 1 / 1" --json')
    assert json.loads(out)["source"] == "calculation"
    assert "ts.bd is skipped" in err


@pytest.mark.slow
def test_a_host_says_how_many_chequers_began(table):
    """gnubg's board line says it by the chequers borne off."""
    state = GameState((Side(0, 0, 1), Side(0, 1)), chequers=1)
    state = from_fibs(fibs(state))
    assert state.chequers == 1
    ordinary = exact_two_sided(3)
    assert Advisor([ordinary, table]).cube(state).source == "hypergammon"
    with pytest.raises(NotCoveredError, match="a game of 1 chequers"):
        Advisor(ordinary).cube(state)
    over = from_fibs(
        fibs(GameState((Side(0, 0, 1), Side(0, 1)), chequers=2))
    )  # nobody can lose a gammon any more
    assert Advisor(ordinary).cube(over).source == "two-sided"


def test_engines_ask_it(table):
    state = state_of(CONTACT)
    assert Advisor(table).decide(state).source == "hypergammon"
    engine = Engine(Advisor(table))
    assert engine.reply(f"position gnubgid {state.gnubg_id}") == []
    assert engine.reply("go role cube")[0].startswith("bestcube ")
    assert engine.reply("dice 2 1") == []
    assert engine.reply("go role chequer")[0].startswith("bestmove ")
