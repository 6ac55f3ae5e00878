"""Whom hosts ask: the adviser, or an engine in its place."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from bgfmt.analysis.answers import Decision, Resignation
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
