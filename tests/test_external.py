"""gnubg's external player protocol: questions read, answers chosen and written, without gnubg."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import Database, Position, Side
from bgfmt.game.moves import legal_plays
from bgfmt.hosts import external, match_play
from bgfmt.hosts.external import Question, QuestionError, format_question, parse_question
from bgfmt.hosts.player import Player
from bgfmt.hosts.server import Session

CAPTURED = (
    "board:gnubg:root:0:0:0:0:2:0:1:0:0:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:0:-1:-1:0:-1:5:2:5:2:1:1:1:0:1:-1:0:25:"
    "11:12:0:0:0:0:0:1\n\0"
)
TAKE = (
    "board:root:gnubg:5:1:3:0:1:1:0:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:0:0:-1:0:-2:0:1:0:0:0:0:1:1:1:1:1:-1:0:25:"
    "12:11:0:0:0:0:0:1"
)


@pytest.fixture(scope="module")
def databases(golden: Path) -> Iterator[list[Database]]:
    with (
        bgfmt.open(golden / "gnubg" / "ts_06x04.bd") as two,
        bgfmt.open(golden / "gnubg" / "os_p06.bd") as one,
    ):
        yield [one, two]


@pytest.fixture
def player(databases: list[Database]) -> Player:
    return Player(databases)


def test_a_captured_question() -> None:
    question = parse_question(CAPTURED)
    assert question.kind == "play"
    assert question.position == Position(Side(1, 1, 0, 1), Side(2, 0, 1, 0, 0, 1))
    assert question.dice == (5, 2)
    assert question.names == ("gnubg", "root")
    assert question.off == (12, 11)
    assert format_question(question, 0) == CAPTURED.rstrip("\n\0")


def test_a_take_question_names_the_doubler_first() -> None:
    question = parse_question(TAKE)
    assert question.kind == "take"
    assert (question.names, question.scores, question.away) == (("root", "gnubg"), (1, 3), (4, 2))
    assert question.position.us == Side(1, 1, 0, 1)
    assert format_question(question, 1) == TAKE


SIDES = (
    st.lists(st.integers(0, 2), min_size=12, max_size=12)
    .filter(lambda c: sum(c) <= 15)
    .map(lambda c: Side(*c))
)


@given(
    SIDES,
    SIDES,
    st.tuples(st.integers(1, 6), st.integers(1, 6)) | st.just((0, 0)),
    st.integers(0, 1),
    st.booleans(),
    st.sampled_from([1, 2, 4, 64]),
    st.tuples(st.booleans(), st.booleans()),
    st.sampled_from([0, 1, 5, 25]),
)
@settings(max_examples=200, deadline=None)
def test_questions_round_trip(
    us: Side,
    them: Side,
    dice: tuple[int, int],
    seat: int,
    doubled: bool,
    cube: int,
    may: tuple[bool, bool],
    length: int,
) -> None:
    question = Question(
        Position(us, them), dice, ("A", "B"), length, (0, 0), cube, may, doubled, (1, 2), False, False
    )
    assert parse_question(format_question(question, seat)) == question


@given(
    st.text(max_size=300)
    | st.lists(st.integers(-20, 20), max_size=60).map(lambda x: "board:" + ":".join(map(str, x)))
)
@settings(max_examples=300, deadline=None)
def test_any_line_is_a_question_or_refused(line: str) -> None:
    try:
        parse_question(line)
    except QuestionError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("seed", range(5))
def test_every_mutated_line_gets_one_line(databases: list[Database], seed: int) -> None:
    rng = random.Random(seed)
    session = Session(Player(databases))
    for _ in range(400):
        fields = CAPTURED.strip("\n\0").split(":")
        for _ in range(rng.randint(1, 4)):
            fields[rng.randrange(1, len(fields))] = rng.choice(
                ["", "0", "1", "-1", "7", "15", "-15", "x", "99999", "١"]
            )
        answer = session.reply(":".join(fields))
        assert "\n" not in answer
        assert "Traceback" not in answer


def test_odd_requests(player: Player) -> None:
    session = Session(player)
    assert session.reply("version").startswith("Interface: 2\n")
    assert session.reply("").startswith("Error: ")
    assert session.reply("board:" + "1:" * 5000).startswith("Error: ")
    assert session.reply("quit") == ""
    assert session.closing


# -- answers ---------------------------------------------------------------------------------------------


def ask(
    player: Player, us: Side, them: Side, dice: tuple[int, int] = (0, 0), **more: object
) -> tuple[str, str]:
    decision = player.answer(Question(Position(us, them), dice, **more))  # type: ignore[arg-type]
    return decision.text, decision.source


def test_plays_inside_and_outside(player: Player) -> None:
    assert ask(player, Side(1, 1, 0, 1), Side(0, 0, 2), (5, 2)) == ("4/off 2/off", "two-sided")
    assert ask(player, Side(0, 2, 2, 2, 0, 4), Side(0, 2, 2, 2, 0, 4), (6, 1))[1] == "one-sided"
    assert ask(player, Side(1), Side(1), (3, 3)) == ("1/off", "forced")
    assert ask(player, Side(0, 0, 0, 0, 0, 3, 0, 0, 2), Side(0, 5), (6, 1))[1] == "rule"


def test_no_chequer_can_move(player: Player) -> None:
    closed = Side(2, 2, 2, 2, 2, 2)
    assert ask(player, Side(1, bar=1), closed, (3, 4)) == ("", "forced")


def test_on_the_bar(player: Player) -> None:
    text, _ = ask(player, Side(0, 0, 0, 0, 0, 2, bar=1), Side(0, 0, 0, 0, 0, 2), (4, 1))
    assert text.startswith("bar/")


@pytest.mark.parametrize("seed", range(3))
def test_always_legal(player: Player, seed: int) -> None:
    rng = random.Random(seed)
    start = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, *(0,) * 10, 2)
    position = Position(start, start)
    for _ in range(150):
        dice = rng.randint(1, 6), rng.randint(1, 6)
        plays = {
            external.format_play((m.start, m.end) for m in p.moves): p for p in legal_plays(position, *dice)
        }
        text, _ = ask(player, position.us, position.them, dice)
        assert text in (plays or {"": None})
        result = plays[text].result if plays else position
        position = result.swapped() if result.us.chequers else Position(start, start)


def test_cube_by_the_table(player: Player, databases: list[Database]) -> None:
    doubles = takes = 0
    for number in range(1, 200):
        position = Position(Side.from_number(number, 6), Side.from_number(210 - number, 6))
        equities = databases[1].lookup(position)
        assert isinstance(equities, bgfmt.lookup.Equities)
        assert equities.centered is not None
        assert equities.opponent is not None
        should = min(1.0, 2 * equities.opponent) >= equities.centered - 1e-9
        text, source = ask(player, position.us, position.them)
        assert (text, source) == ("double" if should else "roll", "two-sided")
        text, _ = ask(player, position.us, position.them, doubled=True)
        assert text == ("take" if 2 * equities.opponent <= 1 + 1e-9 else "drop")
        doubles += should
        takes += text == "take"
    assert 20 < doubles < 180
    assert 20 < takes < 180


def test_the_cube_is_not_ours(player: Player) -> None:
    assert ask(player, Side(2), Side(0, 0, 0, 0, 0, 4), may_double=(False, True)) == ("roll", "rule")


def test_eight_nine_twelve(databases: list[Database]) -> None:
    player = Player([])
    far = Side(0, 0, 0, 0, 0, 0, 0, 0, 0, 10)  # 100 pips
    behind = {lead: Side(*(0,) * (lead - 1), 1, *(0,) * (9 - lead), 10) for lead in (7, 8, 9)}
    assert [ask(player, far, behind[lead])[0] for lead in (7, 8, 9)] == ["roll", "double", "double"]
    assert ask(player, far, behind[8], may_double=(True, False))[0] == "roll"
    assert ask(player, far, Side(*far.counts, 0, 0, 1), doubled=True)[0] == "drop"  # 13 pips behind
    assert ask(player, far, Side(*far.counts, 0, 1), doubled=True)[0] == "take"


def test_resignations(databases: list[Database]) -> None:
    lost = Side(0, 0, 0, 0, 0, 4), Side(1)
    plain, resigning = Player(databases), Player(databases, resign=True)
    question = Question(Position(*lost), off=(11, 14))
    assert resigning.answer(question).text == "roll"  # 6-6 still wins
    question = Question(Position(*lost), (2, 1), off=(11, 14))
    assert plain.answer(question).source == "two-sided"
    assert resigning.answer(question).text == "resign normal"
    offered = Question(Position(*lost), off=(11, 14), resignation=1)
    assert plain.answer(offered).text == "accept"
    assert plain.answer(Question(Position(Side(15), Side(15)), resignation=1)).text in ("accept", "reject")


def test_a_table_answers_plays_that_lead_into_it(player: Player) -> None:
    """Five chequers are beyond the 6x4 table, but what is left after the play is not."""
    assert ask(player, Side(2, 2, 1), Side(1, 1), (4, 1))[1] == "two-sided"


def test_no_cube_is_noticed(player: Player) -> None:
    session = Session(player)
    first = Question(Position(Side(2, 2, 0, 0, 1, 1), Side(2, 2, 1, 1)), (2, 1))
    text = session.reply(format_question(first))
    plays = {
        external.format_play((m.start, m.end) for m in p.moves): p for p in legal_plays(first.position, 2, 1)
    }
    assert session.cube_in_use
    after = Question(Position(plays[text].result.us, Side(2, 1)), (3, 1))
    session.reply(format_question(after))
    assert not session.cube_in_use
    session.reply(format_question(Question(after.position)))
    assert session.cube_in_use


# -- matches ---------------------------------------------------------------------------------------------


def test_match_chances_are_fair() -> None:
    for ours in range(1, 12):
        for theirs in range(1, 12):
            assert match_play.chance(ours, theirs) + match_play.chance(theirs, ours) == pytest.approx(1)
            assert match_play.chance(ours, theirs + 1) >= match_play.chance(ours, theirs)


def test_match_cube() -> None:
    behind = match_play.judge(0.3, (4, 1), 1, "centered", post_crawford=True)
    assert behind.doubles  # nothing to lose
    dead = match_play.judge(0.9, (1, 3), 1, "centered")
    assert not dead.doubles
    money = match_play.judge(0.5, (15, 15), 1, "centered")
    assert not money.doubles
    assert match_play.judge(0.95, (7, 7), 1, "centered").doubles
    assert not match_play.judge(0.95, (7, 7), 1, "centered").takes
