"""A recorded game played back: what was played at each turn, and what an engine would have played."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bgfmt.extras import matches
from bgfmt.extras.lab.engine import Engine
from bgfmt.extras.matches.model import Game, Match, Record
from bgfmt.game.moves import legal_plays, notation
from bgfmt.game.state import GameState


@dataclass(frozen=True)
class Turn:
    """A roll, or an offer and its answer. number : of the roll from 1, 0 for others. plays : legal results of a roll.

    played, choice : what was done and what the engine does, a play or "double", "roll", "take", "drop".
    """

    number: int
    record: Record
    plays: int
    played: str
    choice: str
    same: bool

    @property
    def open(self) -> bool:
        """Whether there was anything to choose."""
        return self.plays > 1 or not self.number

    def as_dict(self, names: tuple[str, str]) -> dict[str, Any]:
        """For JSON."""
        record = self.record
        return {
            "turn": self.number,
            "player": names[record.player],
            "roll": None if record.dice is None else list(record.dice),
            "position_id": record.position.id,
            "contact": record.position.contact,
            "legal": self.plays,
            "played": self.played,
            "engine": self.choice,
            "same": self.same,
        }


def sample_game() -> Match:
    """Berliner against BKG, from section IX of the paper; the mark of a hit that is missing there is a problem."""
    return matches.read(
        (files("bgfmt.extras.lab") / "data" / "bkg-game.txt").read_bytes(), "BKG's sample game"
    )[0]


def replay(engine: Engine, match: Match, game: Game) -> list[Turn]:
    """Every roll, double and answer of a game with what the engine would have done; both sides."""
    turns, number = [], 0
    for record in game.records:
        state = GameState(
            (record.position.us, record.position.them)[:: 1 if record.turn == 0 else -1],  # type: ignore[arg-type]
            record.turn, record.dice, record.cube, record.owner, record.kind in ("take", "drop"),
            scores=game.scores, length=match.length, crawford=game.crawford, names=match.players,
        )  # fmt: skip
        if record.kind in ("play", "dance"):
            number += 1
            turns.append(_roll(engine, state, record, number))
        elif record.kind in ("double", "take", "drop"):
            if record.kind == "double":
                choice = "double" if engine.double(state) else "roll"
            else:
                choice = "take" if engine.take(state) else "drop"
            turns.append(Turn(0, record, 0, record.kind, choice, choice == record.kind))
    return turns


def _roll(engine: Engine, state: GameState, record: Record, number: int) -> Turn:
    assert record.dice is not None
    plays = legal_plays(record.position, *record.dice)
    choice = engine.play(state) if plays else None
    same = choice is None or choice.result == record.after
    played = notation(record.moves)
    return Turn(number, record, max(1, len(plays)), played, played if choice is None else str(choice), same)
