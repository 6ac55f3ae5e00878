"""gnubg's external player protocol: questions read, answers chosen and written, without gnubg."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import Database, Position, Side
from bgfmt.analysis import Advisor
from bgfmt.errors import PositionError
from bgfmt.extras.engines import EngineDecider
from bgfmt.extras.hosts import external
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.game.identifiers import fibs, from_fibs
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState

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


def player_of(databases: object, *, resign: bool = False) -> Player:
    return Player(Advisor(databases, outside="rule"), resign=resign)  # type: ignore[arg-type]


@pytest.fixture
def player(databases: list[Database]) -> Player:
    return player_of(databases)


def test_a_captured_question() -> None:
    state = from_fibs(CAPTURED)
    assert (state.kind, state.turn) == ("play", 0)
    assert state.position == Position(Side(1, 1, 0, 1), Side(2, 0, 1, 0, 0, 1))
    assert state.dice == (5, 2)
    assert state.names == ("gnubg", "root")
    assert fibs(state) == CAPTURED.rstrip("\n\0")


def test_a_take_question_names_the_doubler_first() -> None:
    state = from_fibs(TAKE)
    assert (state.kind, state.turn) == ("take", 1)
    assert (state.names, state.scores, state.away) == (("gnubg", "root"), (3, 1), (4, 2))
    assert state.position.us == Side(1, 1, 0, 1)
    assert fibs(state) == TAKE


# -- resignations ----------------------------------------------------------------------------------------


class Resigner:
    """An engine that moves at random and offers a resignation of some points whenever it is asked."""

    name = "resigner"

    def __init__(self, rng: random.Random, offers: Sequence[int]) -> None:
        self.rng, self.offers = rng, offers

    def play(self, state: GameState) -> Play:
        return self.rng.choice(legal_plays(state.position, *(state.dice or (0, 0))))

    def double(self, state: GameState) -> bool:
        return self.rng.random() < 0.2

    def take(self, state: GameState) -> bool:
        return self.rng.random() < 0.8

    def resign(self, state: GameState) -> int:
        return self.rng.choice(self.offers)

    def accept(self, state: GameState) -> bool:
        return False


class Host:
    """gnubg's side of the protocol; it ends its play where an offer of the same turn comes again, as gnubg does."""

    def __init__(self, session: Session, rng: random.Random, accepts: float) -> None:
        self.session, self.rng, self.accepts = session, rng, accepts
        self.answers: Counter[tuple[str, int, str]] = (
            Counter()
        )  # kind of question, points offered, what became of it
        self.declined = 0

    def match(self, length: int) -> None:
        scores = [0, 0]
        while max(scores) < length:
            winner, points = self.game((scores[0], scores[1]), length)
            scores[winner] += points

    def ask(self, state: GameState) -> str:
        """The answer to a question, "resigned" where an offer was accepted."""
        while (text := self.session.reply(fibs(state))).startswith("resign "):
            points = external.RESIGNATIONS.index(text.split()[1]) + 1
            assert points > self.declined, "gnubg: has already declined your offer"
            if self.rng.random() < self.accepts:
                self.answers[state.kind, points, "accepted"] += 1
                self.declined = points
                return "resigned"
            self.answers[state.kind, points, "declined"] += 1
            self.declined = points
        assert not text.startswith("Error"), text
        return text

    def game(self, scores: tuple[int, int], length: int) -> tuple[int, int]:
        """The winner and the points of a game from a bearoff position."""
        rng = self.rng
        sides = tuple(Side(*(rng.randint(0, 2) for _ in range(5)), 1) for _ in range(2))
        state = GameState((sides[0], sides[1]), turn=rng.randint(0, 1), scores=scores, length=length)
        while True:
            self.declined = 0
            state = replace(state, dice=None)
            if state.may_double and (state.turn == 0 or rng.random() < 0.2):
                word = self.ask(state) if state.turn == 0 else "double"
                if word == "resigned":
                    return 1, self.declined * state.cube_value
                if word == "double":
                    taken = rng.random() < 0.8
                    if state.turn == 1:
                        taken = self.ask(replace(state, doubled=True)) == "take"
                    if not taken:
                        return state.turn, state.cube_value
                    state = replace(state, cube_value=2 * state.cube_value, cube_owner=1 - state.turn)
            dice = (rng.randint(1, 6), rng.randint(1, 6))
            plays = legal_plays(state.position, *dice)
            play = rng.choice(plays) if plays else None
            if state.turn == 0:
                text = self.ask(state.rolled(dice))
                if text == "resigned":
                    return 1, self.declined * state.cube_value
                play = next((play for play in plays if external.format_play(play.moves) == text), None)
                assert play is not None or not plays, text
            board = play.result if play else state.position
            pair = (board.us, board.them)
            if not board.us.chequers:
                return state.turn, state.cube_value
            state = replace(state, sides=pair if state.turn == 0 else pair[::-1], turn=1 - state.turn)


@pytest.mark.slow
@pytest.mark.parametrize("offers", [(1,), (2,), (3,), (0, 1), (1, 2, 3), (3, 2, 1, 0)], ids=str)
def test_after_a_declined_resignation_the_game_goes_on(offers: tuple[int, ...]) -> None:
    """Hundreds of unattended matches: every kind of answer to every kind of offer, before the roll and after it."""
    seen: Counter[tuple[str, int, str]] = Counter()
    for seed, accepts in enumerate([0.0, 0.05, 0.5, 1.0] * 40):
        rng = random.Random(seed)
        session = Session(Player(EngineDecider(Resigner(rng, offers)), resign=True))
        host = Host(session, rng, accepts)
        for _ in range(2):
            host.match(rng.choice((1, 1, 5)))
        assert session.mistakes == 0
        seen += host.answers
    for points in set(offers) - {0}:
        assert all(
            seen[kind, points, end] for kind in ("cube", "play") for end in ("accepted", "declined")
        ), seen


# -- lines -----------------------------------------------------------------------------------------------


def test_short_lines_and_tails() -> None:
    """gnubg's own server reads lines that end after the dice, and words after them."""
    short = ":".join(CAPTURED.strip("\n\0").split(":")[:37])
    state = from_fibs(short + " jacobyrule on beavers off resignation 2")
    assert (state.jacoby, state.beavers, state.resigned, state.cube_value) == (True, False, 2, 1)
    assert from_fibs(short).position == from_fibs(CAPTURED).position
    for tail in ("jacobyrule", "resignation 4", "fish on"):
        with pytest.raises(PositionError, match="after the board"):
            from_fibs(f"{short} {tail}")


def test_hypergammon_and_no_cube_are_seen() -> None:
    state = GameState((Side(0, 1), Side(2)), chequers=3, cube_in_use=False)
    read = from_fibs(fibs(state))
    assert read.chequers == 3
    assert not read.cube_in_use
    assert from_fibs(CAPTURED).chequers == 15


@given(
    st.text(max_size=300)
    | st.lists(st.integers(-20, 20), max_size=60).map(lambda x: "board:" + ":".join(map(str, x)))
)
@settings(max_examples=300, deadline=None)
def test_any_line_is_a_question_or_refused(line: str) -> None:
    try:
        from_fibs(line)
    except PositionError as error:
        assert "\n" not in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_mutated_line_gets_one_line(databases: list[Database], seed: int) -> None:
    rng = random.Random(seed)
    session = Session(player_of(databases))
    for _ in range(200):
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
    player: Player, us: Side, them: Side, dice: tuple[int, int] | None = None, **more: object
) -> tuple[str, str]:
    decision = player.answer(GameState.of(Position(us, them), dice, **more))  # type: ignore[arg-type]
    return decision.text, decision.source


@pytest.mark.slow
def test_plays_inside_and_outside(player: Player) -> None:
    assert ask(player, Side(1, 1, 0, 1), Side(0, 0, 2), (5, 2)) == ("4/off 2/off", "two-sided")
    assert ask(player, Side(0, 2, 2, 2, 0, 4), Side(0, 2, 2, 2, 0, 4), (6, 1))[1] == "estimate"
    assert ask(player, Side(1), Side(1), (3, 3)) == ("1/off", "two-sided")
    assert ask(player, Side(0, 0, 0, 0, 0, 3, 0, 0, 2), Side(0, 5), (6, 1))[1] == "calculation"
    assert ask(player, Side(0, 0, 0, 0, 0, 9, 0, 0, 4), Side(0, 15), (6, 1))[1] == "estimate"
    assert ask(player, Side(0, 0, 0, 0, 0, 9, bar=1), Side(0, 0, 0, 0, 0, 15), (5, 1))[1] == "rule"


def test_no_chequer_can_move(player: Player) -> None:
    closed = Side(2, 2, 2, 2, 2, 2)
    assert ask(player, Side(1, bar=1), closed, (3, 4)) == ("", "forced")


def test_on_the_bar(player: Player) -> None:
    text, _ = ask(player, Side(0, 0, 0, 0, 0, 2, bar=1), Side(0, 0, 0, 0, 0, 2), (4, 1))
    assert text.startswith("bar/")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_always_legal(player: Player, seed: int) -> None:
    rng = random.Random(seed)
    start = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, *(0,) * 10, 2)
    position = Position(start, start)
    for _ in range(150):
        dice = rng.randint(1, 6), rng.randint(1, 6)
        plays = {external.format_play(p.moves): p for p in legal_plays(position, *dice)}
        text, _ = ask(player, position.us, position.them, dice)
        assert text in (plays or {"": None})
        result = plays[text].result if plays else position
        position = result.swapped() if result.us.chequers else Position(start, start)


def test_cube_by_the_table(player: Player, databases: list[Database]) -> None:
    doubles = takes = 0
    for number in range(1, 200):
        position = Position(Side.from_number(number, 6), Side.from_number(210 - number, 6))
        equities = databases[1].lookup(position)
        assert isinstance(equities, bgfmt.tables.Equities)
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
    assert ask(player, Side(2), Side(0, 0, 0, 0, 0, 4), cube="opponent") == ("roll", "rule")


def test_eight_nine_twelve() -> None:
    player = Player(Advisor([], outside="rule", calculate="nothing"))
    far = Side(0, 0, 0, 0, 0, 0, 0, 0, 0, 10)  # 100 pips
    behind = {lead: Side(*(0,) * (lead - 1), 1, *(0,) * (9 - lead), 10) for lead in (7, 8, 9)}
    assert [ask(player, far, behind[lead])[0] for lead in (7, 8, 9)] == ["roll", "double", "double"]
    assert ask(player, far, behind[8], cube="owned")[0] == "roll"
    assert ask(player, far, Side(*far.counts, 0, 0, 1), doubled=True)[0] == "drop"  # 13 pips behind
    assert ask(player, far, Side(*far.counts, 0, 1), doubled=True)[0] == "take"


@pytest.mark.slow
def test_resignations(databases: list[Database]) -> None:
    lost = Side(0, 0, 0, 0, 0, 4), Side(1)
    plain, resigning = player_of(databases), player_of(databases, resign=True)
    question = GameState.of(Position(*lost))
    assert resigning.answer(question).text == "roll"  # 6-6 still wins
    question = GameState.of(Position(*lost), (2, 1))
    assert plain.answer(question).source == "two-sided"
    assert resigning.answer(question).text == "resign normal"
    offered = GameState.of(Position(*lost), resigned=1)
    assert plain.answer(offered).text == "accept"
    assert plain.answer(GameState.of(Position(Side(15), Side(15)), resigned=1)).text in ("accept", "reject")


def test_a_table_answers_plays_that_lead_into_it(player: Player) -> None:
    """Five chequers are beyond the 6x4 table, but what is left after the play is not."""
    assert ask(player, Side(2, 2, 1), Side(1, 1), (4, 1))[1] == "two-sided"


@pytest.mark.slow
def test_no_cube_is_noticed(player: Player) -> None:
    session = Session(player)
    first = GameState.of(Position(Side(2, 2, 0, 0, 1, 1), Side(2, 2, 1, 1)), (2, 1))
    text = session.reply(fibs(first))
    plays = {external.format_play(p.moves): p for p in legal_plays(first.position, 2, 1)}
    assert session.cube_in_use
    after = GameState.of(Position(plays[text].result.us, Side(2, 1)), (3, 1))
    session.reply(fibs(after))
    assert not session.cube_in_use
    session.reply(fibs(after.before_roll()))
    assert session.cube_in_use


# -- matches ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_match_cube(player: Player) -> None:
    """The score decides: what is nothing for money is free for a trailer after the Crawford game, and the reverse."""
    level = Side(1, 1, 0, 1), Side(0, 0, 2)
    ahead = Side(2), Side(0, 0, 0, 0, 0, 2)
    assert ask(player, *level, away=(4, 1))[0] == "double"
    assert ask(player, *ahead, away=(1, 3)) == ("roll", "calculation")
    assert ask(player, *ahead, away=(7, 7)) == ("double", "calculation")
    assert ask(player, *ahead, away=(7, 7), doubled=True)[0] == "drop"
    assert ask(player, *ahead, away=(7, 1), crawford=True) == ("roll", "rule")
    assert ask(player, *level, (6, 1), away=(2, 2))[1] == "calculation"


@pytest.mark.slow
def test_a_match_beyond_the_limit_is_estimated(databases: list[Database]) -> None:
    player = Player(Advisor(databases, outside="rule", calculate="nothing"))
    far = Side(0, 0, 0, 2, 4, 9), Side(0, 0, 1, 2, 3, 9)
    assert ask(player, *far, away=(7, 7))[1] == "estimate"
    assert ask(player, *far, (6, 1), away=(7, 7))[1] == "estimate"
    outside = Side(0, 0, 0, 2, 4, 8, 1), Side(0, 0, 1, 2, 3, 9)
    assert ask(player, *outside, away=(7, 7))[1] == "rule"  # no table covers it, and nothing is calculated
    assert ask(player, *outside, (6, 1), away=(7, 7))[1] == "rule"
