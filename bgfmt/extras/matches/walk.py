"""Replays a game as a reader meets its records: boards, cube and turn are computed here, whatever the file states.

A reader makes a `GameWalk` for each game, calls a method for each event in order, and takes the finished game. A
contradiction becomes a problem message; where the file has another position or cube, the walk goes on from that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from bgfmt.extras.matches import model, plays
from bgfmt.extras.matches.model import Cube, Dice
from bgfmt.extras.matches.plays import Hop, WrittenPlay
from bgfmt.game.board import Position
from bgfmt.game.identifiers import position_id
from bgfmt.game.moves import notation

MAX_PROBLEMS = 100  # of a game; a file of nothing else would fill the memory
NO_PLAY = "no play, although one is legal"
LOST = "the play is lost; nothing is judged until the file has a board"


@dataclass
class GameWalk:
    """State of one game while its records are read; `turn`, `offers` and `over` are valid at any time.

    match : the match's headers, before its games are known.
    turn : the player on roll, None before the first roll.
    offers : players whose doubles are pending, oldest first.
    sure : False after a play that is lost.
    at : place in the file (line, byte or record number) that is being read, for records and messages.
    opinion : the file's analysis of the records that come next.
    """

    match: model.Match
    _: KW_ONLY
    number: int = 1
    scores: tuple[int, int] = (0, 0)
    crawford: bool = False
    turn: int | None = None
    offers: list[int] = field(default_factory=list)
    cube: int = 1
    owner: int | None = None
    over: bool = False
    stopped: bool = False
    sure: bool = True
    at: int = 0
    opinion: model.Opinion | None = None
    records: list[model.Record] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    result: model.Result | None = None

    def __post_init__(self) -> None:
        side = model.STARTS[self.match.rules.variation]
        self.begin(Position(side, side))

    # -- what happened -----------------------------------------------------------------------------------

    def roll(
        self, player: int, dice: Dice, hops: list[Hop], marks: int = 0, board: Position | None = None
    ) -> None:
        """Add a roll and the play made with it to the game.

        Parameters
        ----------
        player : who rolled, 0 or 1.
        dice : the roll.
        hops : (from, to) of each chequer, 25 the bar and 0 off. Without any, the roll is a dance or, at the end of a
            game, was not played.
        marks : the number of points at which the file marks a hit, 0 if it marks none.
        board : the file's board after the play; where it differs, a problem is added and the game goes on from it.
        """
        last = self.records[-1] if self.records else None
        if not hops and last is not None and (last.kind, last.player, last.dice) == ("dance", player, dice):
            self.problem("a roll that is recorded twice")  # gnubg does so where a game ends by a dance
            return
        if not self._on_roll(player, dice):
            return
        before = self.position(player)
        if not hops and not plays.can_move(before, dice):
            self._add("dance", player, dice=dice)
            self.turn = 1 - player
            return
        play = plays.find(before, dice, hops, marks) if hops else WrittenPlay((), before, False)
        if board is not None and (isinstance(play, str) or play.result != board):
            what = f"the file has the board {position_id(board)} after the play, not the result of its moves"
            self.problem(what)
            play = plays.find_between(before, dice, board)
        if isinstance(play, str):
            self.stop(play)
            return
        self._add_play(player, dice, play)
        hits = sum(move.hit for move in play.moves)
        if play.legal and marks and marks != hits:
            self.problem(f"{marks} hits are marked where {hits} are made")

    def add_board(self, player: int, dice: Dice, board: Position) -> None:
        """Add a roll and the board after its play (the player who moved first), whether that is legal or not."""
        if self._on_roll(player, dice):
            self._add_play(player, dice, plays.find_between(self.position(player), dice, board))
            self.sure = True

    def add_unknown_play(self, player: int, dice: Dice, why: str) -> None:
        """Add a roll whose play is not known; the game goes on from the board before it, marked as uncertain.

        why : text of the problem that is added.
        """
        if self._on_roll(player, dice):
            self.problem(why)
            self._add_play(player, dice, WrittenPlay((), self.position(player), False))
            self.mark_uncertain()

    def mark_uncertain(self) -> None:
        """Mark the game as uncertain until the file gives a board, if the last roll's play is missing."""
        last = self.records[-1] if self.records else None
        if self.sure and last is not None and _moved_nothing(last):
            self.sure = False
            self.problem(LOST)

    def add_unplayed(self, player: int, dice: Dice | None) -> None:
        """Add a roll, or a turn without dice (None), after which the game ended without a play."""
        if self._on_roll(player, dice):
            self._add("unplayed", player, dice=dice)
            self.turn = 1 - player

    def double(self, player: int, value: int | None = None) -> None:
        """Add a double, or a beaver or raccoon if a double is pending.

        value : what the file states for the cube after it; another one than expected is a problem.
        """
        if not self._open("a double"):
            return
        if self.offers:
            if self.offers[-1] == player:
                self.problem(f"{self.name(player)} turns the cube twice")
                return
        else:
            self._turn_to(player)
            if self.crawford or self.owner not in (None, player):
                self.problem(f"{self.name(player)} doubles, which the rules do not allow")
            elif not any(r.kind in ("play", "dance", "set") for r in self.records):
                self.problem("a double before the first roll")
        expected = self.cube << (len(self.offers) + 1)
        if value is not None and value != expected:
            self.problem(f"the cube is turned to {value}, not to {expected}")
            before = value >> (len(self.offers) + 1)
            if before >= 1 and model.is_cube(value):
                self.cube = before
                expected = value
        if expected > model.LARGEST_CUBE:
            self.stop(f"a cube beyond {model.LARGEST_CUBE}")
            return
        kind: model.Kind = "raccoon" if len(self.offers) % 2 == 0 else "beaver"  # they follow each other
        self._add(kind if self.offers else "double", player)
        self.offers.append(player)

    def take(self, player: int) -> None:
        """Add the take of the pending double, beaver or raccoon; without one, a problem is added.

        player : who takes.
        """
        if self._answers("a take", player):
            self._take(player)

    def drop(self, player: int) -> None:
        """Add a pass of the pending double, which ends the game; without one, a problem is added.

        player : who passes.
        """
        if self._answers("a drop", player):
            self._add("drop", player)
            self.over = True

    def resign(self, player: int, points: int = 0) -> None:
        """Add a resignation, which ends the game; one after its end is ignored.

        player : who resigns.
        points : what is conceded, 0 if the file does not say.
        """
        if self.stopped or self.over:
            return  # files say so after a lost game, too
        self._last_was_not_played()
        self._add("resign", player, points=points)
        self.over = True

    # -- what the file says about it -------------------------------------------------------------------------

    def see(self, board: Position, cube: Cube) -> None:
        """Compare the file's board (player 0 first) and cube with the computed ones; the file's replace them.

        cube : its value and owner (0, 1, None for centered).
        """
        if self.stopped:
            return
        ours = self.position(0)
        if board != ours:
            self.problem(f"the file has the board {position_id(board)}, not {position_id(ours)}")
            self._set_board(0, board)
        self.sure = True
        before = self.cube, self.owner
        if not self.offers and cube != before:
            self.problem(f"the file has the cube at {_cube(*cube)}, not at {_cube(*before)}")
            self.cube, self.owner = cube

    def setup(
        self, *, turn: int | None = None, board: Position | None = None, cube: Cube | None = None
    ) -> None:
        """Set a board (player 0 first), a turn or a cube that the file sets by hand, and add a "set" record.

        cube : its value and owner (0, 1, None for centered). None leaves a thing as it is.
        """
        if turn is not None:
            self.turn = turn
        if board is not None:
            self._set_board(0, board)
            self.over = False
            self.stopped = False
            self.sure = True
            self.offers = []
        if cube is not None:
            self.cube, self.owner = cube
        if not self.stopped:
            self._add("set", self.turn or 0)

    def begin(self, board: Position) -> None:
        """Set the board from which the game starts, player 0 first."""
        self.start = board
        self.sides = [board.us, board.them]

    def problem(self, text: str) -> None:
        """Add a message about a contradiction at a place in the file, up to `MAX_PROBLEMS` of them."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append((self.at, text))
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append((self.at, "further inconsistencies are not listed"))

    def stop(self, why: str) -> None:
        """Stop reading the game: the rest of it is ignored, and a problem says where and why."""
        self.problem(f"{why}; the rest of the game is skipped")
        self.stopped = True

    def name(self, player: int) -> str:
        """Return a player's name, or "player 1" or "player 2" where the file has none."""
        return self.match.players[player] or f"player {player + 1}"

    def finish(self) -> model.Game:
        """Return the game with all records and problems."""
        if not self.over:
            self._last_was_not_played()
        problems = tuple(f"game {self.number}, {self.match.unit} {at}: {text}" for at, text in self.problems)
        records = tuple(self.records)
        return model.Game(records, self.scores, self.crawford, self.start, self.result, self.number, problems)

    # -- inside --------------------------------------------------------------------------------------------

    def position(self, turn: int) -> Position:
        """Return the current board with player `turn` (0 or 1) first."""
        return Position(self.sides[turn], self.sides[1 - turn])

    def _set_board(self, turn: int, board: Position) -> None:
        self.sides[turn] = board.us
        self.sides[1 - turn] = board.them

    def _add(self, kind: model.Kind, player: int, **more: Any) -> None:
        """Append a record with the current board, cube and turn; `more` are other fields of it."""
        turn = self.offers[0] if self.offers else player if self.turn is None else self.turn
        more |= {"at": self.at, "sure": self.sure, "opinion": self.opinion}
        self.records.append(
            model.Record(kind, player, turn, self.position(turn), self.cube, self.owner, **more)
        )

    def _add_play(self, player: int, dice: Dice, play: WrittenPlay) -> None:
        before = self.position(player)
        after = play.result
        self._add("play", player, dice=dice, moves=play.moves, after=after, legal=play.legal)
        self._set_board(player, after)
        if not play.legal:
            if after == before:
                self.problem(NO_PLAY)
            else:
                played = notation(play.moves) if play.moves else f"the board {position_id(after)}"
                what = f"{self.name(player)} plays {dice[0]}{dice[1]}: {played}"
                self.problem(f"{what}, which the rules do not allow")
        self.over = not after.us.chequers
        self.turn = 1 - player

    def _open(self, what: str) -> bool:
        if self.over and not self.stopped:
            self.problem(f"{what} after the end of the game")
        return not (self.over or self.stopped)

    def _on_roll(self, player: int, dice: Dice | None) -> bool:
        if dice is not None and not all(1 <= die <= 6 for die in dice):
            if not (self.over or self.stopped):
                self.stop(f"dice of {dice[0]} and {dice[1]}")
            return False
        if not self._open("a roll"):
            return False
        if self.offers:  # writers leave out the take after a beaver
            if len(self.offers) == 1:
                self.problem("a roll before a double was answered; the double counts as taken")
            self._take(1 - self.offers[-1], implied=True)
        self._turn_to(player)
        return True

    def _turn_to(self, player: int) -> None:
        if self.turn is not None and player != self.turn:
            self.problem(f"it is the turn of {self.name(self.turn)}")
        self.turn = player

    def _answers(self, what: str, player: int) -> bool:
        if not self._open(what):
            return False
        if not self.offers or self.offers[-1] == player:
            self.problem(f"{what} where nobody has doubled")
            return False
        return True

    def _take(self, player: int, *, implied: bool = False) -> None:
        self._add("take", player, implied=implied)
        self.cube <<= len(self.offers)
        self.owner = 1 - self.offers[0]  # the player who beavers keeps the cube
        self.turn = self.offers[0]
        self.offers = []

    def _last_was_not_played(self) -> None:
        """Turn a last roll without a play, though one was legal, into an "unplayed" record."""
        last = self.records[-1] if self.records else None
        if last is not None and _moved_nothing(last):
            self.records[-1] = replace(last, kind="unplayed", after=None, legal=True)
            self.problems = [one for one in self.problems if one not in ((last.at, NO_PLAY), (last.at, LOST))]


def finish_match(match: model.Match, walks: Iterable[GameWalk]) -> model.Match:
    """Return the match with the games that have been read by these walks."""
    return replace(match, games=tuple(walk.finish() for walk in walks))


def _moved_nothing(record: model.Record) -> bool:
    """Return whether this is a roll with which nothing was moved."""
    return record.kind == "play" and not record.moves and record.after == record.position


def _cube(value: int, owner: int | None) -> str:
    return f"{value} (centered)" if owner is None else f"{value} (player {owner + 1}'s)"
