"""A recorded match: its players, rules and games, and of each game every record with the board before it.

Player 0 is the first player of a .mat file, White of .sgf, player 1 of eXtreme Gammon, Green of BGBlitz and White of
OGXM. Points are the player's own, 1 (the ace point) to 24; 25 is the bar and 0 is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from typing import Any, Literal

from bgfmt.analysis.shapes import Plain
from bgfmt.game.board import Position, Side
from bgfmt.game.drawing import printable
from bgfmt.game.identifiers import position_id
from bgfmt.game.moves import Move, notation
from bgfmt.game.state import START

Kind = Literal[
    "play", "dance", "unplayed", "double", "beaver", "raccoon", "take", "drop", "resign", "set"
]  # fmt: skip

OFFERS = ("double", "beaver", "raccoon")  # records that turn the cube
NACKGAMMON = Side(0, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2)
STARTS = {"backgammon": START, "nackgammon": NACKGAMMON}
LARGEST_CUBE = 1 << 15
MAX_RECORDS = 300_000  # of one match: thousands of games, and as much as a reader will hold


def is_cube(value: int) -> bool:
    """Return whether a doubling cube can show this number: a power of two from 1 to `LARGEST_CUBE`."""
    return 1 <= value <= LARGEST_CUBE and value & (value - 1) == 0


def one_point_away(length: int, scores: tuple[int, int]) -> bool:
    """Return whether exactly one player needs one point to win a match to `length`, as in the Crawford game.

    scores : points that the players have won.
    """
    return bool(length) and length - 1 in scores and scores[0] != scores[1]


Hops = tuple[tuple[int, int], ...]  # from and to of each chequer, as the player who moves counts
Dice = tuple[int, int]
Cube = tuple[int, int | None]  # its value, and whose it is: 0, 1 or None for centered


@dataclass(frozen=True)
class Opinion:
    """Analysis stored in the file for a roll and the cube decision before it. Equities are normalised (EMG).

    engine, level, cube_level : the program, and its evaluation level (plies or rollout) for plays and for the cube.
    cube : equities of no double and of double/take for the side on roll; probabilities to win the match if `mwc`.
    plays : plays with their equities, the best first.
    """

    engine: str
    level: str = ""
    cube_level: str = ""
    cube: tuple[float, float] | None = None
    mwc: bool = False
    plays: tuple[tuple[Hops, float], ...] = ()


@dataclass(frozen=True)
class Record(Plain):
    """One event of a game, and the board before it.

    kind : "play"; "dance", a roll without a legal play; "unplayed", a roll after which the game ended; "double",
        "beaver", "raccoon", "take", "drop", "resign"; "set", a board, cube or turn set up by hand.
    player : the player who acted.
    turn : who is on roll; while a double is pending, who doubled first. `position` has this side first.
    position : the board before the event (for "set": the board as set).
    cube, owner : the cube's value without pending doubles; its owner, 0, 1 or None for centered.
    dice : as written, for "play", "dance" and "unplayed".
    moves : the moves of a play: one for each die if it is legal, else as written.
    after : the board after a play, the player who moved first.
    legal : False for a play that the rules do not allow.
    implied : True for a take that is not written in the file but follows from the next roll.
    points : points conceded by a resignation, 0 if the file does not say.
    at : place in the file: a line, a byte or a record number, see `Match.unit`.
    sure : False after a play that the file does not tell, until it gives a board again.
    opinion : the file's own analysis of this event.
    """

    kind: Kind
    player: int
    turn: int
    position: Position
    cube: int = 1
    owner: int | None = None
    dice: Dice | None = None
    moves: tuple[Move, ...] = ()
    after: Position | None = None
    legal: bool = True
    implied: bool = False
    points: int = 0
    at: int = 0
    sure: bool = True
    opinion: Opinion | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the record (an event of a game) as a dictionary for JSON."""
        out: dict[str, Any] = {
            "kind": self.kind,
            "player": self.player,
            "turn": self.turn,
            "position_id": position_id(self.position),
            "cube": self.cube,
            "owner": self.owner,
            "dice": self.dice and list(self.dice),
            "at": self.at,
        }
        if self.after is not None:
            out["play"] = notation(self.moves)
            out["legal"] = self.legal
            out["position_id_after"] = position_id(self.after)
        if self.implied:
            out["implied"] = True
        if self.points:
            out["points"] = self.points
        return out


@dataclass(frozen=True)
class Result(Plain):
    """The end of a game as stated in the file.

    how : "pass", "single", "gammon", "backgammon", "match" (the whole match was resigned), or "" if not stated.
    points : 0 if not stated.
    """

    winner: int
    points: int = 0
    how: str = ""
    resigned: bool = False
    settled: bool = False


@dataclass(frozen=True)
class Rules(Plain):
    """The rules of a match; None where the file does not state one.

    variation : "backgammon" or "nackgammon", which differ in the starting position only.
    cube_limit : the largest value of the cube, 1 for play without a cube.
    """

    crawford: bool = True
    jacoby: bool | None = None
    beavers: bool | None = None
    cube_limit: int | None = None
    automatic_doubles: bool | None = None
    variation: str = "backgammon"


@dataclass(frozen=True)
class Game(Plain):
    """One game. `start` has player 0 first; `problems` are messages about contradictions in the file."""

    FIELDS = "number scores crawford start=start.id result records problems"

    records: tuple[Record, ...]
    scores: tuple[int, int] = (0, 0)
    crawford: bool = False
    start: Position = Position(START, START)  # noqa: RUF009 - frozen
    result: Result | None = None
    number: int = 1
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        plays = sum(record.kind == "play" for record in self.records)
        crawford = ", Crawford" if self.crawford else ""
        text = f"game {self.number}: {self.scores[0]}-{self.scores[1]}{crawford}, {plays} plays"
        if self.result is None:
            return text
        return f"{text}, player {self.result.winner + 1} wins {self.result.points}"


@dataclass(frozen=True)
class Match(Plain):
    """Games in order; `length` is 0 for money.

    headers : other facts about the match, under the file's own keys.
    unit : what `Record.at` counts: "line", "byte" or "record".
    notes : messages about contradictions outside of the games.
    """

    FIELDS = "format players length rules event place date round headers unit games problems"

    players: tuple[str, str]
    length: int = 0
    games: tuple[Game, ...] = ()
    rules: Rules = Rules()
    event: str = ""
    place: str = ""
    date: str = ""
    round: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    format: str = ""
    unit: str = "record"
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Messages about contradictions in the file: those outside of games, then those of each game."""
        return self.notes + tuple(problem for game in self.games for problem in game.problems)

    def __str__(self) -> str:
        """Return one line for the match and one for each game, safe to print to a terminal."""
        kind = f"match to {self.length}" if self.length else "money"
        names = " against ".join(printable(name) or "(no name)" for name in self.players)
        count = f"{len(self.games)} game{'' if len(self.games) == 1 else 's'}"
        return "\n".join([f"{names}, {kind}, {count}", *(f"  {game}" for game in self.games)])

    def records(self) -> Iterator[tuple[Game, Record]]:
        """Return an iterator over (game, record) of all games, in the order of the file."""
        return ((game, record) for game in self.games for record in game.records)


# -- whether results, boards, cubes and scores agree --------------------------------------------------


def outcome(game: Game) -> tuple[int, int] | None:
    """Return who wins a game by its last record, and how many points.

    None if the last record is neither the last chequer borne off nor a pass nor a resignation with its points.
    """
    last = game.records[-1] if game.records else None
    if last is None:
        return None
    if last.kind == "resign":
        return (1 - last.player, last.points) if last.points else None
    if last.kind == "drop":
        offers = list(takewhile(lambda record: record.kind in OFFERS, reversed(game.records[:-1])))
        return 1 - last.player, last.cube << max(0, len(offers) - 1)
    if last.kind == "play" and last.after is not None and not last.after.us.chequers:
        loser = last.after.them
        return last.player, last.cube * (1 if loser.chequers < 15 else 2 if loser.highest <= 18 else 3)
    return None


def ending(game: Game) -> tuple[int, int] | None:
    """Return (winner, points) of a game as the file states it, else from its records; None if neither has an end.

    points : 0 if unknown.
    """
    return outcome(game) if game.result is None else (game.result.winner, game.result.points)


def check_results(match: Match) -> Match:
    """Return the match with a problem added wherever result lines, scores and records contradict each other.

    The last game may count more or fewer points than its board, because the match was over with it.
    """
    games = [
        replace(game, problems=(*game.problems, *_disagreements(match, game, after)))
        for game, after in zip_longest(match.games, match.games[1:])
    ]
    return replace(match, games=tuple(games))


def _disagreements(match: Match, game: Game, following: Game | None) -> list[str]:
    out = []
    claim = game.result
    last = game.records[-1] if game.records else None
    won = outcome(game)
    points = {won[1]} if won else set()  # that it may have been; none if it may be any number
    if won is None and last is not None and last.kind == "resign":
        won = 1 - last.player, 0
    elif last and last.kind == "play" and last.cube == 1 and last.owner is None and points:
        # gnubg writes Jacoby for any money session it imports, so its being named proves nothing
        points |= set() if match.length or match.rules.jacoby is False else {1}
    if won and last and claim:
        winner, full = won
        need = match.length - game.scores[winner] if match.length else 0
        # a last game is written down capped at the length, or in full, or, where Jacoby held, without its gammon
        capped = following is None and (0 < need <= max(full, claim.points) or claim.points == last.cube)
        if claim.winner != winner or (points and claim.points not in {0, *points} and not capped):
            out.append(
                f"game {game.number}: the file says that player {claim.winner + 1} wins {claim.points}, "
                f"its records that player {winner + 1} wins {full or 'the game'}"
            )
    elif claim:
        won = claim.winner, 0  # the points of a forfeit may be any
    if won and following is not None and following.number == game.number + 1:
        winner, full = won
        before = game.scores
        scores = following.scores
        gained, lost = (scores[player] - before[player] for player in (winner, 1 - winner))
        if lost or gained < 1 or (points and gained not in points):
            out.append(
                f"game {game.number}: the score after it is {scores[0]}-{scores[1]}, "
                f"though player {winner + 1} won {full or 'the game'} from {before[0]}-{before[1]}"
            )
    return out
