"""A guest engine: what it raises becomes one error that names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bgfmt.errors import BgfmtError, EngineError
from bgfmt.extras.lab.engine.protocol import Engine
from bgfmt.game.moves import Play
from bgfmt.game.state import GameState

T = TypeVar("T")


class Guest:
    """An engine of another package: its answers, and EngineError where it raises anything but a BgfmtError."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.name = engine, engine.name

    def __getattr__(self, name: str) -> Any:
        if name == "engine":  # not made yet, as when it is unpickled
            raise AttributeError(name)
        return getattr(self.engine, name)

    def play(self, state: GameState) -> Play:
        return self._asked("a play", self.engine.play, state)

    def double(self, state: GameState) -> bool:
        return self._asked("a double", self.engine.double, state)

    def take(self, state: GameState) -> bool:
        return self._asked("a take", self.engine.take, state)

    def resign(self, state: GameState) -> int:
        return self._asked("resigning", self.engine.resign, state)

    def accept(self, state: GameState) -> bool:
        return self._asked("a resignation", self.engine.accept, state)

    def _asked(self, what: str, question: Callable[[GameState], T], state: GameState) -> T:
        try:
            return question(state)
        except BgfmtError:
            raise
        except Exception as error:
            raise EngineError(self.name, what, error) from error
