"""The referee: play games and matches between two players by the rules and record them; replay recorded games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from bgfmt.extras import matches
from bgfmt.extras.engines import query_play
from bgfmt.extras.lab.engine import Engine
from bgfmt.extras.lab.playing import Quit, Undo
from bgfmt.extras.lab.playing.dice import Dice, Roll
from bgfmt.extras.lab.playing.person import Person
from bgfmt.extras.matches.decisions import state as state_before
from bgfmt.extras.matches.model import Game, Match, Record, Result, Rules, outcome
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.board import Position
from bgfmt.game.moves import legal_plays, notation
from bgfmt.game.state import GameState

MAX_TURNS = 100_000
Tell = Callable[[Record], None]
Players = tuple[Engine, Engine]


@dataclass(frozen=True)
class Setting:
    """The conditions of a game or a match.

    position : where each game starts, with player 0 on roll; None for the opening position and an opening roll.
    length : points of the match, 0 for money.
    cube : whether the cube is used.
    names : of the players.
    """

    position: Position | None = None
    length: int = 0
    cube: bool = True
    names: tuple[str, str] = ("player 1", "player 2")

    @property
    def rules(self) -> Rules:
        """Rules of play in the form in which a recorded match has them."""
        return Rules(jacoby=False, beavers=False, cube_limit=None if self.cube else 1)


class _Table:
    """A game in progress.

    reported : number of records that have been passed to `tell`.
    rolls, used : all rolls thrown, and how many of them are used; the others are reused after an undo.
    before : for each play of a person the player on roll, the roll, `used` and a copy of the game.
    """

    def __init__(self, players: Players, setting: Setting, walk: GameWalk, dice: Dice, tell: Tell) -> None:
        self.players = players
        self.setting = setting
        self.walk = walk
        self.dice = dice
        self.tell = tell
        self.reported = self.used = 0
        self.rolls: list[Roll] = []  # rolls after `used` are reused after an undo
        self.before: list[tuple[int, Roll, int, GameWalk]] = []

    def roll(self) -> Roll:
        """Return the next roll of the game; after an undo, the rolls thrown before are used again."""
        if self.used == len(self.rolls):
            self.rolls.append(self.dice.roll())
        self.used += 1
        return self.rolls[self.used - 1]

    def state(self, turn: int) -> GameState:
        """Return the state of the game for the player on roll."""
        walk = self.walk
        sides = (walk.sides[0], walk.sides[1])
        return GameState(
            sides, turn, cube_value=walk.cube, cube_owner=walk.owner, scores=walk.scores,
            length=self.setting.length, crawford=walk.crawford, cube_in_use=self.setting.cube, jacoby=False,
             beavers=False, names=self.setting.names,
        )  # fmt: skip

    def say(self) -> bool:
        """Report new records (events of the game) to `tell`; return whether the game is over."""
        for record in self.walk.records[self.reported :]:
            self.tell(record)
        self.reported = len(self.walk.records)
        return self.walk.over

    def ask_for_offers(self, turn: int) -> bool:
        """Ask for a resignation or a double, and for the other player's answer; return whether the game is over."""
        state = self.state(turn)
        other = self.players[1 - turn]
        games = self.players[turn].resign(state)
        if 1 <= games <= 3 and other.accept(replace(state, resigned=games)):
            self.walk.resign(turn, games * self.walk.cube)
        elif state.may_double and state.cube_power < state.limit and self.players[turn].double(state):
            self.walk.double(turn)
            answer = self.walk.take if other.take(replace(state, doubled=True)) else self.walk.drop
            answer(1 - turn)
        else:
            return False
        return self.say()

    def play_roll(self, turn: int, dice: Roll) -> bool:
        """Ask the player on roll for a play with this roll and record it; return whether the game is over."""
        state = self.state(turn).rolled(dice)
        plays = legal_plays(state.position, *dice)
        if isinstance(self.players[turn], Person):
            self.before.append((turn, dice, self.used, deepcopy(self.walk)))
        if len(plays) > 1:
            plays = [query_play(self.players[turn], state, plays)]
        self.walk.roll(turn, dice, [(move.start, move.end) for play in plays for move in play.moves])
        return self.say()

    def undo(self, turn: int) -> tuple[int, Roll]:
        """Restore the game before the previous play of the player `turn`; return who is on roll, and the roll."""
        last = next((one for one in reversed(self.before[:-1]) if one[0] == turn), self.before[-1])
        del self.before[self.before.index(last) :]
        turn, rolled, self.used, self.walk = last
        self.reported = len(self.walk.records)
        return turn, rolled


def play_game(
    players: Players,
    dice: Dice,
    setting: Setting = Setting(),
    *,
    number: int = 1,
    scores: tuple[int, int] = (0, 0),
    crawford: bool = False,
    tell: Tell = lambda record: None,
) -> Game:
    """Play one game and return its record.

    Parameters
    ----------
    players : both players; they and the dice may be engines, persons or files.
    dice : source of the rolls.
    number : of the game, from 1.
    scores, crawford : score of the match before the game, and whether it is the Crawford game.
    tell : called with each record (event of the game) as it is made.

    Raises
    ------
    Quit : from a player or the dice, with the unfinished game.
    PositionError : if an engine breaks the rules.
    FormatError : if the dice end.
    """
    match = Match(setting.names, setting.length, rules=setting.rules)
    walk = GameWalk(match, number=number, scores=scores, crawford=crawford)
    table = _Table(players, setting, walk, dice, tell)
    dice.begin(number - 1)
    turn = 0
    rolled = None
    if setting.position is not None:
        walk.setup(board=setting.position, turn=turn)
    else:
        while rolled is None or rolled[0] == rolled[1]:
            rolled = table.roll()
        turn = 0 if rolled[0] > rolled[1] else 1
    try:
        for _ in range(MAX_TURNS):
            if rolled is None:
                if table.ask_for_offers(turn):
                    break
                rolled = table.roll()
            try:
                if table.play_roll(turn, rolled):
                    break
                turn = 1 - turn
                rolled = None
            except Undo:
                turn, rolled = table.undo(turn)
    except Quit as end:
        end.match = replace(match, games=(table.walk.finish(),))
        raise
    game = table.walk.finish()
    won = outcome(game)
    return replace(game, result=Result(*won, resigned=game.records[-1].kind == "resign")) if won else game


def play_match(
    players: Players,
    dice: Dice,
    setting: Setting = Setting(),
    *,
    games: int = 1,
    tell: Tell = lambda record: None,
    ended: Callable[[Game], bool] = lambda game: True,
) -> Match:
    """Play `games` games for money, or a match of `setting.length` points, and return it.

    Parameters
    ----------
    players, dice, setting : as for `play_game`.
    tell : called with each record (event of a game).
    ended : called after each game; if it returns False, play ends.

    Raises
    ------
    The errors of `play_game`.
    """
    scores = (0, 0)
    played = list[Game]()
    crawford_done = False
    while True:
        crawford = bool(setting.length) and not crawford_done and setting.length - 1 in scores
        crawford_done = crawford_done or crawford
        try:
            game = play_game(
                players, dice, setting, number=len(played) + 1, scores=scores, crawford=crawford, tell=tell
            )
        except Quit as end:
            unfinished = [game for game in end.match.games if game.records]
            end.match = replace(end.match, games=(*played, *unfinished))
            raise
        played.append(game)
        if game.result is not None:
            winner = game.result.winner
            points = game.result.points
            scores = scores[0] + points * (winner == 0), scores[1] + points * (winner == 1)
        over = max(scores) >= setting.length if setting.length else len(played) >= games
        if not ended(game) or over:
            break
    return Match(setting.names, setting.length, tuple(played), setting.rules)


def sample_game() -> Match:
    """Return the game of Berliner against BKG in section IX of the paper."""
    text = (files("bgfmt.extras.lab") / "data" / "bkg-game.mat").read_bytes()
    return matches.read(text, "BKG's sample game")[0]


def replay(engine: Engine, match: Match, game: Game) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield every roll, double and answer of both sides of a game, and for JSON what an engine would have done.

    game : one of the games of `match`.
    """
    number = 0
    for record in game.records:
        state = state_before(match, game, record)
        turn = 0
        legal = 0
        played: str = record.kind
        if record.dice is not None and record.kind in ("play", "dance"):
            number += 1
            turn = number
            plays = legal_plays(record.position, *record.dice)
            legal = max(1, len(plays))
            play = engine.play(state) if plays else None
            played = notation(record.moves)
            choice = played if play is None else str(play)
            same = play is None or play.result == record.after
        elif record.kind in ("double", "take", "drop"):
            if record.kind == "double":
                choice = "double" if engine.double(state) else "roll"
            else:
                choice = "take" if engine.take(state) else "drop"
            same = choice == played
        else:
            continue
        yield (
            record,
            {
                "turn": turn,
                "player": match.players[record.player],
                "roll": None if record.dice is None else list(record.dice),
                "position_id": record.position.id,
                "contact": record.position.contact,
                "legal": legal,
                "played": played,
                "engine": choice,
                "same": same,
            },
        )
