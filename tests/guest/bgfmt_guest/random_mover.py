"""An engine of a guest: any legal play, no doubling, every take."""

from __future__ import annotations

import random
from collections.abc import Mapping

from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState


class RandomMover:
    name = "random"

    def __init__(self, options: Mapping[str, str]) -> None:
        self.rng = random.Random(options.get("seed"))

    def play(self, state: GameState) -> Play:
        return self.rng.choice(legal_plays(state.position, *state.dice))

    def double(self, state: GameState) -> bool:
        return False

    def take(self, state: GameState) -> bool:
        return True

    def resign(self, state: GameState) -> int:
        return 0

    def accept(self, state: GameState) -> bool:
        return True
