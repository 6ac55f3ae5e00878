"""A recorded match, walked from the records alone: every decision with the board, cube and dice it was made at.

Nothing in a file is believed beyond what was rolled, moved and said: boards, scores of the cube and whose turn it
is are worked out here, and what does not fit is named in `Game.problems`.

Player 0 is the first player of a .mat file and White of a .sgf file, as in GNU Backgammon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import MatchState
from bgfmt.game.identifiers.state import full, side_of
from bgfmt.game.moves import BAR, OFF, Play, legal_plays

START = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)
BARE_START = (START, START)
LARGEST_CUBE = 15  # log2


@dataclass(frozen=True)
class Record:
    """One entry of a game.

    kind : "roll" (dice and moves), "double", "take", "drop", "beaver", "resign" or "set".
    moves : (from, to) pairs as the player counts points, 25 the bar, 0 off; a pair may stand for several dice.
    node : where the record came from, for the reader's own use.
    """

    kind: str
    player: int
    dice: tuple[int, int] = (0, 0)
    moves: tuple[tuple[int, int], ...] = ()
    hits: int | None = None
    node: int = -1
    setup: tuple[tuple[str, object], ...] = ()


@dataclass
class Game:
    """The records of one game, the score before it, and what in them does not fit."""

    records: list[Record]
    scores: tuple[int, int] = (0, 0)
    crawford: bool = False
    jacoby: bool | None = None
    problems: list[str] = field(default_factory=list)


@dataclass
class Match:
    """Games in order; `length` is 0 for money."""

    games: list[Game]
    names: tuple[str, str] = ("player 0", "player 1")
    length: int = 0


@dataclass(frozen=True)
class Decision:
    """One decision as it was met.

    kind : "play", "no double", "double", "take", "pass", "beaver".
    player : who decided; state : the match then, the side on roll first in `state.position`.
    played : the play found among the legal ones (None where it is not legal), legal : all of them.
    result : the side of the player after the play.
    record : index of the record in its game; for "no double" that of the roll.
    """

    game: int
    record: int
    kind: str
    player: int
    state: MatchState
    played: Play | None = None
    legal: int = 0

    @property
    def cube(self) -> str:
        """Where the cube lies for the player on roll: centered, owned or opponent."""
        owner = self.state.owner
        return "centered" if owner is None else "owned" if owner == self.state.turn else "opponent"


def walk(match: Match) -> Iterator[Decision]:
    """All decisions of a match in order; fills in each game's problems."""
    for number, game in enumerate(match.games):
        yield from _Walker(match, number, game).decisions()


class _Walker:
    def __init__(self, match: Match, number: int, game: Game) -> None:
        self.number, self.game = number, game
        self.state = MatchState(
            BARE_START,
            length=match.length,
            scores=game.scores,
            crawford=game.crawford,
            jacoby=game.jacoby,
            names=match.names,
        )
        self.turn: int | None = None  # None: whoever comes next
        self.offered: list[int] = []  # who has turned the cube, while no one has answered
        self.over = False
        self.rolled = False  # whether the first roll, before which nobody may double, has been seen

    def decisions(self) -> Iterator[Decision]:
        self.game.problems.clear()
        for at, record in enumerate(self.game.records):
            try:
                yield from self._step(at, record)
            except PositionError as error:
                self._note(at, f"{error}; the rest of the game is left out")
                return

    def _note(self, at: int, text: str) -> None:
        self.game.problems.append(f"game {self.number + 1}, record {at + 1}: {text}")

    def _step(self, at: int, record: Record) -> Iterator[Decision]:
        kind = record.kind
        if kind == "set":
            self._set(record)
        elif self.over:
            self._note(at, f"{kind} after the end of the game, left out")
        elif kind == "roll":
            yield from self._roll(at, record)
        elif (kind == "double" and self.offered) or kind == "beaver":
            yield from self._beaver(at, record)
        elif kind == "double":
            yield from self._double(at, record)
        elif kind in ("take", "drop"):
            yield from self._answer(at, record)
        elif kind == "resign":
            self.over = True

    def _set(self, record: Record) -> None:
        for name, value in record.setup:
            if name == "sides":
                assert isinstance(value, tuple)
                self.state = replace(self.state, sides=value)
                self.over, self.offered, self.rolled = False, [], True
            elif name == "turn":
                assert isinstance(value, int)
                self.turn = value
            elif name == "cube":
                assert isinstance(value, int)
                self.state = replace(self.state, cube=value)
            elif name == "owner":
                assert value is None or isinstance(value, int)
                self.state = replace(self.state, owner=value)

    def _on_roll(self, at: int, record: Record) -> None:
        if self.turn is not None and record.player != self.turn:
            self._note(at, f"it is {self.state.names[self.turn]}'s turn")
        self.turn = record.player
        self.state = replace(self.state, turn=record.player, dice=None, doubled=False)

    def _roll(self, at: int, record: Record) -> Iterator[Decision]:
        if self.offered:
            self._note(at, "a roll while a double is not answered; the double is taken back")
            self.offered = []
            doubled = True
        else:
            doubled = bool(at and self.game.records[at - 1].kind in ("take", "double"))
        self._on_roll(at, record)
        state = self.state
        Position(*state.sides).check()
        if self.rolled and not doubled and self._may_double(record.player):
            yield Decision(self.number, at, "no double", record.player, state)
        self.rolled = True
        state = replace(state, dice=(max(record.dice), min(record.dice)))
        plays = legal_plays(state.position, *record.dice)
        mine, theirs, ends_hit = moved(state.position, record.moves)
        if not plays and not record.moves:
            self.turn = 1 - record.player
            return
        played = _find(plays, mine, record.hits if record.hits is not None else ends_hit)
        yield Decision(self.number, at, "play", record.player, state, played, len(plays))
        if played is None:
            what = (
                "no play although there is one" if not record.moves else "a play that the rules do not allow"
            )
            self._note(at, what)
        else:
            mine, theirs = played.result.us, played.result.them
        sides = (mine, theirs) if record.player == 0 else (theirs, mine)
        self.state = replace(self.state, sides=sides)
        self.over = not mine.chequers
        self.turn = 1 - record.player

    def _may_double(self, player: int) -> bool:
        """Whether a double is allowed and can gain: none in the Crawford game, none for more than is needed."""
        state = self.state
        if state.owner not in (None, player) or state.crawford:
            return False
        return not state.length or state.length - state.scores[player] > 1 << state.cube

    def _double(self, at: int, record: Record) -> Iterator[Decision]:
        self._on_roll(at, record)
        if self.state.crawford or self.state.owner not in (None, record.player):
            self._note(at, "a double that the rules do not allow")
        if not self.rolled:
            self._note(at, "a double before the first roll")
        yield Decision(self.number, at, "double", record.player, self.state)
        self.offered = [record.player]
        self.state = replace(self.state, doubled=True)

    def _beaver(self, at: int, record: Record) -> Iterator[Decision]:
        if not self.offered or self.offered[-1] == record.player:
            self._note(at, "a cube turned again where nobody has doubled")
            return
        if len(self.offered) == 1:
            yield Decision(self.number, at, "beaver", record.player, self.state)
        self.offered.append(record.player)

    def _answer(self, at: int, record: Record) -> Iterator[Decision]:
        if not self.offered or self.offered[-1] == record.player:
            self._note(at, f"a {record.kind} where nobody has doubled")
            return
        if len(self.offered) == 1:
            kind = "take" if record.kind == "take" else "pass"
            yield Decision(self.number, at, kind, record.player, self.state)
        if record.kind == "drop":
            self.over = True
        else:
            self.turn = self.offered[0]
            if self.state.cube + len(self.offered) > LARGEST_CUBE:
                raise PositionError(f"a cube beyond 2^{LARGEST_CUBE}")
            owner = 1 - self.offered[0]
            self.state = replace(
                self.state, cube=self.state.cube + len(self.offered), owner=owner, doubled=False
            )
        self.offered = []


def moved(position: Position, moves: tuple[tuple[int, int], ...]) -> tuple[Side, Side, int]:
    """The two sides after chequers were moved, and how many were hit where a move ended; no rule is looked at.

    Raises
    ------
    PositionError where no chequer stands to be moved.
    """
    mine, theirs = [0, *full(position.us)], [0, *full(position.them)]
    hits = 0
    left = list(moves)
    while left:  # writers sort moves by point, so one may come before the move that brings its chequer
        now = next((move for move in left if 1 <= move[0] <= BAR and mine[move[0]]), left[0])
        left.remove(now)
        start, end = now
        if not 1 <= start <= BAR or not mine[start] or not OFF <= end < start:
            raise PositionError(f"no chequer can be moved from {start} to {end}")
        mine[start] -= 1
        if end != OFF:
            mine[end] += 1
            if theirs[BAR - end] == 1:
                theirs[BAR - end] = 0
                theirs[BAR] += 1
                hits += 1
    return side_of(mine[1:]), side_of(theirs[1:]), hits


def _find(plays: list[Play], mine: Side, hits: int) -> Play | None:
    """The legal play that leads to this side; of several, which differ by hits on the way, the nearest."""
    fitting = [play for play in plays if play.result.us == mine]
    return min(fitting, key=lambda p: abs(sum(m.hit for m in p.moves) - hits), default=None)
