"""BKG as an engine: one decision at a time, by the compiled program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.engine.bkg.boards import array_of, home_of_table
from bgfmt.extras.lab.engine.bkg.completion import Completion
from bgfmt.extras.lab.thumb.doubling import Zone
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState

if TYPE_CHECKING:
    from bgfmt.extras.lab.engine.bkg.kernels.choosing import Cube
    from bgfmt.extras.lab.engine.bkg.kernels.moves import Room
    from bgfmt.extras.lab.engine.bkg.kernels.running import Home

Array = NDArray[Any]
PARTS = ("engaged", "running", "bear-off")
TERMS = ("GENERAL", "NEARDIS", "NOTNEARDIS", "DEFENSE", "hold", "BLOT DANGER", "last")


class Bkg:
    """BKG with a completion of the paper: `Bkg()` is C1, ``Bkg({"scale": "1"})`` one of its rivals."""

    name: ClassVar[str] = "bkg"

    def __init__(
        self, options: Mapping[str, str] | None = None, *, completion: Completion | None = None
    ) -> None:
        self.completion = completion or Completion.of(dict(options or {}))

    @cached_property
    def home(self) -> Home:
        """Gillogly's table as the kernels have it."""
        return home_of_table()

    @cached_property
    def cube(self) -> Cube:
        """How it doubles, as the kernels have it."""
        from bgfmt.extras.lab.engine.bkg.kernels.choosing import Cube

        completion = self.completion
        return Cube(
            get_args(Zone).index(completion.zone), completion.rounding == "nearest", completion.bearoff == "w"
        )

    @cached_property
    def room(self) -> Room:
        """Scratch; an engine is asked by one thread at a time."""
        from bgfmt.extras.lab.engine.bkg.kernels import moves

        return moves.room()

    # -- the five questions ------------------------------------------------------------------------------

    def play(self, state: GameState) -> Play:
        """The play that BKG makes."""
        return self.ranked(state)[0].play

    def double(self, state: GameState) -> bool:
        """Whether BKG doubles: never while the sides are engaged."""
        from bgfmt.extras.lab.engine.bkg.kernels import choosing

        owned = state.owner == "owned"
        return bool(choosing.doubles(self.home, self.cube, array_of(state.position), owned))

    def take(self, state: GameState) -> bool:
        """Whether BKG takes: always while the sides are engaged."""
        from bgfmt.extras.lab.engine.bkg.kernels import choosing

        return bool(choosing.takes(self.home, self.cube, array_of(state.position)))

    def resign(self, state: GameState) -> int:
        """Games that BKG gives up: what the sides' least and greatest numbers of rolls leave no hope for."""
        from bgfmt.extras.lab.engine.bkg.measures import games_lost

        return games_lost(self.home, state.position)

    def accept(self, state: GameState) -> bool:
        """Whether BKG accepts a resignation: when it could win no more."""
        from bgfmt.extras.lab.engine.bkg.measures import most_to_win

        return state.resigned >= most_to_win(self.home, state.position.swapped())

    # -- what it goes by ---------------------------------------------------------------------------------

    def ranked(self, state: GameState) -> list[Rated]:
        """All legal plays of the state's dice, best first; empty where no chequer can move."""
        from bgfmt.extras.lab.engine.bkg.kernels import choosing, moves

        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        if not plays:
            return []
        start, many = array_of(state.position), len(plays)
        assert moves.plays(self.room, start, *state.dice) == many
        points, terms = np.zeros((many, 2)), np.zeros((many, len(TERMS)))
        kernel, by_w = self.completion.kernel, self.cube.by_w
        part = choosing.rate(kernel, self.home, by_w, start, self.room, points, terms)
        first = choosing.best(self.home, part, self.room, points)
        order = sorted(range(many), key=lambda k: (k != first, -points[k, 0], -points[k, 1]))
        return [Rated(plays[k], PARTS[part], float(points[k, 0]), tuple(terms[k].tolist())) for k in order]


class Rated(NamedTuple):
    """A play and what BKG ranks it by.

    part : "engaged" (heuristic points), "running" (its points) or "bear-off" (less the expected rolls, or a chance).
    terms : of engaged positions the parts of the points, by TERMS. points is -inf for plays out of the question.
    """

    play: Play
    part: str
    points: float
    terms: tuple[float, ...]

    def parts(self) -> dict[str, float]:
        """The terms that count, by name."""
        return {name: value for name, value in zip(TERMS, self.terms, strict=True) if value}
