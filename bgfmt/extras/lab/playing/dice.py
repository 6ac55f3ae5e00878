"""Sources of rolls: a seed, a file, or a person who throws dice."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.foreign import open_text
from bgfmt.extras.lab.engine.bkg.kernels import series
from bgfmt.game.state import pair_of_dice

Roll = tuple[int, int]
MASK = (1 << 64) - 1


class Dice(ABC):
    """A source of rolls for one game after another."""

    def begin(self, game: int) -> None:  # noqa: B027 - optional for subclasses
        """Prepare the dice for game number `game` (from 0); nothing to do by default."""

    @abstractmethod
    def roll(self) -> Roll:
        """Return the next roll; of an opening roll the first die is player 0's and the second player 1's."""


class Seeded(Dice):
    """Rolls from a seed with a stream of its own for each game: game 7 has the same dice in any order of games.

    >>> dice = Seeded(1977)
    >>> dice.begin(0)
    >>> [dice.roll() for _ in range(3)]
    [(4, 6), (4, 5), (4, 2)]
    """

    def __init__(self, seed: int) -> None:
        self.seed = np.uint64(seed & MASK)
        self._state = np.zeros(1, np.uint64)
        self.begin(0)

    def begin(self, game: int) -> None:
        """Start the stream of random rolls that belongs to game number `game` (from 0)."""
        series.begin(self._state, self.seed, game)

    def roll(self) -> Roll:
        """Return the next roll of the stream."""
        return series.die_of(self._state), series.die_of(self._state)


class Listed(Dice):
    """Rolls of a list, one after another through all games; FormatError when none is left."""

    def __init__(self, rolls: Iterable[Roll], name: str) -> None:
        self.name = name
        self.used = 0
        self._rolls: Iterator[Roll] = iter(rolls)

    @classmethod
    def of_file(cls, path: Path | str) -> Listed:
        """Read rolls from a text file.

        Each roll is written ``61``, ``6-1`` or ``6,1``; spaces or line ends separate them, and # starts a comment.
        FormatError for anything else.
        """
        rolls: list[Roll] = []
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                for word in line.partition("#")[0].split():
                    if not re.fullmatch(r"[1-6][-,]?[1-6]", word):
                        expected = "expected a roll such as 61 or 6-1"
                        raise FormatError(f"{path}, line {number}: {expected}, found {word!r:.40}")
                    rolls.append((int(word[0]), int(word[-1])))
        return cls(rolls, str(path))

    def roll(self) -> Roll:
        """Return the next roll of the list; FormatError when none is left."""
        roll = next(self._rolls, None)
        if roll is None:
            raise FormatError(f"{self.name}: the game needs another roll after {self.used}")
        self.used += 1
        return roll


class Thrown(Dice):
    """Rolls that a person types in.

    ask : called with a prompt, returns a line of text. say : called with error messages.
    """

    def __init__(self, ask: Callable[[str], str], say: Callable[[str], None]) -> None:
        self._ask = ask
        self._say = say

    def roll(self) -> Roll:
        """Ask the person for a roll until the answer is a valid one, and return it."""
        while True:
            try:
                return pair_of_dice(self._ask("dice? "))
            except PositionError as error:
                self._say(str(error))
