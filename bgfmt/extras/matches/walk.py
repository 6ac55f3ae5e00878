"""Walks a game as a reader meets it: boards, cube and turn are worked out here, whatever a file says of them.

A reader makes a `GameWalk` for each game, tells it what happened in order, and takes the finished game. What does not
fit is put into words; a position or cube that the file has and that differs is named, and the walk goes on from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bgfmt.extras.matches import model, plays
from bgfmt.extras.matches.model import Cube, Dice
from bgfmt.extras.matches.plays import Hop, WrittenPlay
from bgfmt.game.board import Position
from bgfmt.game.identifiers import position_id

MOST_PROBLEMS = 100  # of a game; a file of nothing else would fill the memory
NO_PLAY = "no play although there is one"
LOST = "the play is lost; nothing is judged until the file gives a board"


class GameWalk:
    """One game of a match being walked; `turn`, `offers` and `over` may be asked at any time.

    match : what is known of it before its games. turn : who is on roll, None before anybody has been.
    offers : who has turned the cube while nobody has answered, in order.
    """

    def __init__(
        self, match: model.Match, *, number: int = 1, scores: tuple[int, int] = (0, 0), crawford: bool = False
    ) -> None:
        self.match = match
        self.number = number
        self.scores = scores
        self.crawford = crawford
        side = model.STARTS[match.rules.variation]
        self.sides = [side, side]
        self.start = Position(side, side)
        self.turn: int | None = None
        self.offers: list[int] = []
        self.cube = 1
        self.owner: int | None = None
        self.over = False
        self.stopped = False
        self.sure = True  # False after a play that is lost
        self.opinion: model.Opinion | None = None  # of the records that come next
        self.records: list[model.Record] = []
        self.problems: list[tuple[int, str]] = []
        self.result: model.Result | None = None

    # -- what happened -----------------------------------------------------------------------------------

    def roll(
        self, player: int, dice: Dice, hops: list[Hop], at: int, marks: int = 0, board: Position | None = None
    ) -> None:
        """Dice and the play made with them. Without hops: a dance, or, as a game's last roll, not played.

        marks : at how many points the writer marks a hit, 0 where he marks none.
        board : what the file has as the board after it; a difference is named, and the file's is gone on from.
        """
        last = self.records[-1] if self.records else None
        if not hops and last is not None and (last.kind, last.player, last.dice) == ("dance", player, dice):
            self.problem(at, "a roll that is written twice")  # gnubg does so where a game ends by a dance
            return
        if not self._on_roll(player, dice, at):
            return
        before = self.position(player)
        if not hops:
            if plays.can_move(before, dice):
                self._played(player, dice, WrittenPlay((), before, False), at)
            else:
                self._add("dance", player, at, dice=dice)
                self.turn = 1 - player
            return
        play = plays.find(before, dice, hops, marks)
        if board is not None and (isinstance(play, str) or play.result != board):
            what = f"the file has the board {position_id(board)} after the play, which its moves do not give"
            self.problem(at, what)
            self._played(player, dice, plays.find_between(before, dice, board), at)
            return
        if isinstance(play, str):
            self.stop(at, play)
            return
        self._played(player, dice, play, at)
        hits = sum(move.hit for move in play.moves)
        if play.legal and marks and marks != hits:
            self.problem(at, f"{marks} hits are marked where {hits} are made")

    def played_to(self, player: int, dice: Dice, board: Position, at: int) -> None:
        """Dice and the board the file gives after the play (the player who moved first), legal or not."""
        if self._on_roll(player, dice, at):
            self._played(player, dice, plays.find_between(self.position(player), dice, board), at)
            self.sure = True

    def lost(self, player: int, dice: Dice, at: int, why: str) -> None:
        """Dice, and a play that is not known: the game goes on from the board before it, which is not the game's."""
        if self._on_roll(player, dice, at):
            self.problem(at, why)
            self._played(player, dice, WrittenPlay((), self.position(player), False), at)
            self.doubt()

    def doubt(self) -> None:
        """Say that the last roll's play is lost if there was one: until the file gives a board, none is known."""
        last = self.records[-1] if self.records else None
        if self.sure and last is not None and _stood(last):
            self.sure = False
            self.problem(last.at, LOST)

    def unplayed(self, player: int, dice: Dice | None, at: int) -> None:
        """Dice, or not even dice, after which the game ended."""
        if self._on_roll(player, dice, at):
            self._add("unplayed", player, at, dice=dice)
            self.turn = 1 - player

    def double(self, player: int, at: int, value: int | None = None) -> None:
        """The cube is turned, or turned once more; `value` is what it would then stand at, where the file says."""
        if not self._open("a double", at):
            return
        if self.offers:
            if self.offers[-1] == player:
                self.problem(at, f"{self.name(player)} turns the cube twice")
                return
        else:
            self._turn_to(player, at)
            if self.crawford or self.owner not in (None, player):
                self.problem(at, "a double that the rules do not allow")
            elif not any(r.kind in ("play", "dance", "set") for r in self.records):
                self.problem(at, "a double before the first roll")
        expected = self.cube << (len(self.offers) + 1)
        if value is not None and value != expected:
            self.problem(at, f"the cube is turned to {value}, not to {expected}")
            before = value >> (len(self.offers) + 1)
            if before >= 1 and model.is_cube(value):
                self.cube = before
                expected = value
        if expected > model.LARGEST_CUBE:
            self.stop(at, f"a cube beyond {model.LARGEST_CUBE}")
            return
        kind: model.Kind = "raccoon" if len(self.offers) % 2 == 0 else "beaver"  # they follow each other
        self._add(kind if self.offers else "double", player, at)
        self.offers.append(player)

    def take(self, player: int, at: int) -> None:
        """The double, beaver or raccoon is taken."""
        if self._answers("a take", player, at):
            self._take(player, at)

    def drop(self, player: int, at: int) -> None:
        """It is not, and the game is over."""
        if self._answers("a drop", player, at):
            self._add("drop", player, at)
            self.over = True

    def resign(self, player: int, at: int, points: int = 0) -> None:
        """The player gives the game up, for `points` where the file says how many."""
        if self.stopped or self.over:
            return  # files say so after a lost game, too
        self._last_was_not_played()
        self._add("resign", player, at, points=points)
        self.over = True

    # -- what the file says about it -------------------------------------------------------------------------

    def see(self, board: Position, at: int, cube: Cube) -> None:
        """The file's own board, player 0 first, and cube: a difference is named and the file's is gone on from."""
        if self.stopped:
            return
        ours = self.position(0)
        if board != ours:
            self.problem(at, f"the file has the board {position_id(board)}, not {position_id(ours)}")
            self._put(0, board)
        self.sure = True
        before = self.cube, self.owner
        if not self.offers and cube != before:
            self.problem(at, f"the file has the cube at {_cube(*cube)}, not at {_cube(*before)}")
            self.cube, self.owner = cube

    def setup(
        self, at: int, *, turn: int | None = None, board: Position | None = None, cube: Cube | None = None
    ) -> None:
        """A board (player 0 first), a turn or a cube put there by hand; the game goes on from it."""
        if turn is not None:
            self.turn = turn
        if board is not None:
            self._put(0, board)
            self.over = False
            self.stopped = False
            self.sure = True
            self.offers = []
        if cube is not None:
            self.cube, self.owner = cube
        if not self.stopped:
            self._add("set", self.turn or 0, at)

    def begin(self, board: Position) -> None:
        """The board the game starts from, player 0 first."""
        self._put(0, board)
        self.start = board

    def problem(self, at: int, text: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append((at, text))
        elif len(self.problems) == MOST_PROBLEMS:
            self.problems.append((at, "more does not fit, which is left out here"))

    def stop(self, at: int, why: str) -> None:
        """Leave out the rest of the game: it cannot be followed."""
        self.problem(at, f"{why}; the rest of the game is left out")
        self.stopped = True

    def name(self, player: int) -> str:
        return self.match.players[player] or f"player {player + 1}"

    def finish(self) -> model.Game:
        """The game as walked."""
        if not self.over:
            self._last_was_not_played()
        problems = tuple(f"game {self.number}, {self.match.unit} {at}: {text}" for at, text in self.problems)
        records = tuple(self.records)
        return model.Game(records, self.scores, self.crawford, self.start, self.result, self.number, problems)

    # -- inside --------------------------------------------------------------------------------------------

    def position(self, turn: int) -> Position:
        """The board now, side `turn` first."""
        return Position(self.sides[turn], self.sides[1 - turn])

    def _put(self, turn: int, board: Position) -> None:
        self.sides[turn] = board.us
        self.sides[1 - turn] = board.them

    def _add(self, kind: model.Kind, player: int, at: int, **more: Any) -> None:
        """Put down a record with the board of now, and with `more` of its fields."""
        turn = self.offers[0] if self.offers else player if self.turn is None else self.turn
        more |= {"at": at, "sure": self.sure, "opinion": self.opinion}
        self.records.append(
            model.Record(kind, player, turn, self.position(turn), self.cube, self.owner, **more)
        )

    def _played(self, player: int, dice: Dice, play: WrittenPlay, at: int) -> None:
        before = self.position(player)
        after = play.result
        self._add("play", player, at, dice=dice, moves=play.moves, after=after, legal=play.legal)
        self._put(player, after)
        if not play.legal:
            self.problem(at, NO_PLAY if after == before else "a play that the rules do not allow")
        self.over = not after.us.chequers
        self.turn = 1 - player

    def _open(self, what: str, at: int) -> bool:
        if self.over and not self.stopped:
            self.problem(at, f"{what} after the end of the game")
        return not (self.over or self.stopped)

    def _on_roll(self, player: int, dice: Dice | None, at: int) -> bool:
        if dice is not None and not all(1 <= die <= 6 for die in dice):
            if not (self.over or self.stopped):
                self.stop(at, f"dice of {dice[0]} and {dice[1]}")
            return False
        if not self._open("a roll", at):
            return False
        if self.offers:  # writers leave out the take after a beaver
            if len(self.offers) == 1:
                self.problem(at, "a roll while a double is not answered, counted as taken")
            self._take(1 - self.offers[-1], at, implied=True)
        self._turn_to(player, at)
        return True

    def _turn_to(self, player: int, at: int) -> None:
        if self.turn is not None and player != self.turn:
            self.problem(at, f"it is the turn of {self.name(self.turn)}")
        self.turn = player

    def _answers(self, what: str, player: int, at: int) -> bool:
        if not self._open(what, at):
            return False
        if not self.offers or self.offers[-1] == player:
            self.problem(at, f"{what} where nobody has doubled")
            return False
        return True

    def _take(self, player: int, at: int, *, implied: bool = False) -> None:
        self._add("take", player, at, implied=implied)
        self.cube <<= len(self.offers)
        self.owner = 1 - self.offers[0]  # the player who beavers keeps the cube
        self.turn = self.offers[0]
        self.offers = []

    def _last_was_not_played(self) -> None:
        """A last roll without a play, though there is one, was never played."""
        last = self.records[-1] if self.records else None
        if last is not None and _stood(last):
            self.records[-1] = replace(last, kind="unplayed", after=None, legal=True)
            self.problems = [one for one in self.problems if one not in ((last.at, NO_PLAY), (last.at, LOST))]


def walked(match: model.Match, walks: Iterable[GameWalk]) -> model.Match:
    """The match with its games."""
    return replace(match, games=tuple(walk.finish() for walk in walks))


def _stood(record: model.Record) -> bool:
    """Whether it is a roll with which nothing was moved."""
    return record.kind == "play" and not record.moves and record.after == record.position


def _cube(value: int, owner: int | None) -> str:
    return f"{value} (centered)" if owner is None else f"{value} (player {owner + 1}'s)"
