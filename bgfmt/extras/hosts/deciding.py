"""Who decides for a host: the adviser or an engine, and the gnubg Python package where no table reaches."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from bgfmt.analysis.answers import Decision, Resignation
from bgfmt.analysis.approximate import janowski
from bgfmt.errors import MissingExtraError
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState


class Decider(Protocol):
    """What to do in a state, and whether to resign or accept; `bgfmt.analysis.advisor.Advisor` has the words."""

    def decide(self, state: GameState) -> Decision:
        """One word or one play."""

    def resignation(self, state: GameState) -> Resignation:
        """Whether to accept what is offered; with nothing offered, whether to resign."""


@runtime_checkable
class Outside(Protocol):
    """A decider that can be told what to do where no table reaches."""

    outside: Any


class GnubgEngine:
    """The gnubg package's neural nets at 0 plies, for what no table covers; from the main thread only.

    The package gives its cubeless evaluation of one position at a time. The plays come from our own rules, so that
    they are legal whatever it says.
    """

    def __init__(self) -> None:
        try:
            self._gnubg: Any = import_module("gnubg")
        except ImportError:
            raise MissingExtraError(
                "the gnubg Python package is not installed (pip install gnubg)", "gnubg"
            ) from None

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after our play, to us who have played."""
        return [-self._equity(result.swapped()) for result in results]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether to double and to take, by Janowski's formula from the cubeless equity."""
        owned, centered, opponent = janowski(self._equity(state.position))
        rolling = owned if state.owner == "owned" else centered
        return bool(min(1.0, 2 * opponent) > rolling), bool(2 * opponent <= 1)

    def _equity(self, position: Position) -> float:
        if not position.us.chequers:
            return 1.0
        if not position.them.chequers:
            return -2.0 if position.us.chequers == 15 else -1.0
        board = (_counts(position.them), _counts(position.us))  # the side on roll comes second
        return float(self._gnubg.evaluate(board)[5])


def _counts(side: Side) -> tuple[int, ...]:
    return (*side.counts, *(0,) * (24 - len(side.counts)), side.bar)
