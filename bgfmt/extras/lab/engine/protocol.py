"""What an engine answers, and answers put in the adviser's words, so that hosts can ask either."""

from __future__ import annotations

from typing import ClassVar, Protocol

from bgfmt.analysis.answers import Decision, RankedPlay, Resignation
from bgfmt.errors import PositionError
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState


class Engine(Protocol):
    """Plays the whole game. All questions come as a `GameState`, the side on roll being the one that is asked.

    name : as hosts call it. play is asked with dice and at least one legal play, the others before the roll.
    """

    name: ClassVar[str]

    def play(self, state: GameState) -> Play:
        """One of the legal plays of the state's dice."""

    def double(self, state: GameState) -> bool:
        """Whether to double; asked where the rules allow it."""

    def take(self, state: GameState) -> bool:
        """Whether the side that is doubled takes; the state's side on roll is the doubler."""

    def resign(self, state: GameState) -> int:
        """Games (1, 2 or 3, of the cube each) that the side on roll gives up, 0 to go on."""

    def accept(self, state: GameState) -> bool:
        """Whether the other side accepts what the side on roll offers to resign (`state.resigned`)."""


class EngineDecider:
    """An engine asked as the adviser is: `decide` and `resignation`, for the hosts.

    Plays are checked against the rules, and an engine that breaks them gets a PositionError.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def resignation(self, state: GameState) -> Resignation:
        """Whether to accept what is offered; with nothing offered, whether to resign."""
        position = state.position
        if state.resigned:
            return Resignation(source="engine", position=position, accept=self.engine.accept(state))
        return Resignation(source="engine", position=position, offer=self.engine.resign(state))

    def decide(self, state: GameState) -> Decision:
        """What the engine does in a state, one word or one play."""
        position = state.position.check()
        if state.kind == "resignation":
            return Decision("accept" if self.engine.accept(state) else "reject", "engine")
        if not position.us.chequers or not position.them.chequers:
            raise PositionError(f"{position}: the game is over, one side has no chequers left")
        if state.kind == "play":
            return self._play(state)
        if state.kind == "take":
            return Decision("take" if self.engine.take(state) else "pass", "engine")
        doubles = state.may_double and self.engine.double(state)
        return Decision("double" if doubles else "roll", "engine")

    def _play(self, state: GameState) -> Decision:
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        if not plays:
            return Decision("play", "forced")
        chosen = plays[0] if len(plays) == 1 else checked(self.engine, state, plays)
        ranked = RankedPlay(str(chosen), chosen.result, None, None, chosen.moves, "rule", approximate=True)
        return Decision("play", "forced" if len(plays) == 1 else "engine", play=ranked)


def checked(engine: Engine, state: GameState, plays: list[Play]) -> Play:
    """The engine's play; PositionError where it is none of the legal ones."""
    chosen = engine.play(state)
    found = next((play for play in plays if play.result == getattr(chosen, "result", None)), None)
    if found is None:
        raise PositionError(f"engine {engine.name} plays {chosen}, which the rules do not allow")
    return found
