"""The decisions of a match, derived from its records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bgfmt.extras.matches.model import LARGEST_CUBE, Game, Match, Opinion, Record
from bgfmt.game.moves import Play
from bgfmt.game.state import GameState

_CUBE = {"double": "double", "beaver": "beaver", "take": "take", "drop": "pass"}


@dataclass(frozen=True)
class Decision:
    """One decision of a player, with the state of the match before it.

    kind : "play", "no double", "double", "take", "pass", "beaver".
    player : who decided. state : the match before the decision, the side on roll first in `state.position`.
    game, record : index of the game, and of the record in it; for "no double" that of the roll.
    played : the play made, None if it was illegal. written : the play as in the file.
    move : number of the roll in the game, counting both players' rolls; for a cube decision that of the next roll.
    opinion : the file's own analysis.
    """

    game: int
    record: int
    kind: str
    player: int
    state: GameState
    played: Play | None = None
    move: int = 1
    opinion: Opinion | None = field(default=None, compare=False, repr=False)
    written: str = ""

    @property
    def cube(self) -> str:
        """Where the cube is for the side on roll: centered, owned or opponent."""
        return self.state.owner

    @property
    def name(self) -> str:
        """Name of the player who decided, as in the file."""
        return self.state.names[self.player]

    @property
    def game_number(self) -> int:
        """Number of the game in the match, from 1."""
        return self.game + 1

    @property
    def record_number(self) -> int:
        """Number of the record in the game, from 1."""
        return self.record + 1


def state(match: Match, game: Game, record: Record) -> GameState:
    """Return the game state before a record (an event of a game) of a match, with cube and score."""
    rules = match.rules
    board = record.position
    return GameState(
        (board.us, board.them) if record.turn == 0 else (board.them, board.us),
        turn=record.turn,
        cube_value=record.cube,
        cube_owner=record.owner,
        dice=record.dice if record.kind in ("play", "dance") else None,
        doubled=record.kind in ("take", "drop", "beaver", "raccoon"),
        scores=game.scores,
        length=match.length,
        crawford=game.crawford,
        jacoby=None if match.length else rules.jacoby,
        beavers=rules.beavers,
        cube_in_use=rules.cube_limit != 1,
        names=match.players,
    )


def decisions(match: Match) -> Iterator[Decision]:
    """Yield all decisions of a match in the order of the games and records.

    Dances, rolls that were not played and resignations are none. A roll is preceded by the decision "no double" where
    a double was allowed and could gain: not before the game's first roll, not in the Crawford game, and not for a
    player who wins the match with the cube as it is.
    """
    limit = match.rules.cube_limit or LARGEST_CUBE + 1
    for number, game in enumerate(match.games):
        rolled = False
        move = 1
        before = ""  # the kind of the record before
        for at, record in enumerate(game.records):
            now = state(match, game, record)
            kind = record.kind
            more: dict[str, Any] = {"move": move, "opinion": record.opinion}
            if kind in ("play", "dance"):
                may = now.may_double and record.cube < limit and (not now.away or now.away[0] > record.cube)
                if rolled and may and before not in ("take", "double"):
                    before_roll = replace(now, dice=None)
                    yield Decision(number, at, "no double", record.player, before_roll, **more)
            if kind == "play":
                assert record.after is not None
                made = Play(record.moves, record.after)
                more |= {"written": "" if record.legal else str(made)}
                played = made if record.legal else None
                yield Decision(number, at, "play", record.player, now, played, **more)
            # an answer to a beaver is a question of the same position, which the double has asked
            elif kind in _CUBE and (kind == "double" or before not in ("beaver", "raccoon")):
                yield Decision(number, at, _CUBE[kind], record.player, now, **more)
            rolled = rolled or kind in ("play", "dance", "set")
            move += kind in ("play", "dance", "unplayed")
            before = kind
