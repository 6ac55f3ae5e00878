"""BKG as an engine, one decision at a time, by the compiled functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from bgfmt.extras.lab.engine.bkg.completion import Completion
from bgfmt.extras.lab.engine.bkg.kernels import choosing, moves
from bgfmt.extras.lab.engine.bkg.measures import array_of, games_lost, most_to_win
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState

PARTS = ("engaged", "running", "bear-off")
TERMS = ("GENERAL", "NEARDIS", "NOTNEARDIS", "DEFENSE", "hold", "BLOT DANGER", "last")


class Bkg:
    """BKG with a completion of the paper: `Bkg()` is C1, ``Bkg({"scale": "1"})`` an alternative."""

    name: ClassVar[str] = "bkg"

    def __init__(
        self, options: Mapping[str, str] | None = None, *, completion: Completion | None = None
    ) -> None:
        self.completion = completion or Completion.of(options or {})

    def play(self, state: GameState) -> Play:
        """Return the legal play that BKG ranks first."""
        return self.ranked(state)[0].play

    def double(self, state: GameState) -> bool:
        """Return True if BKG doubles; never while the sides are engaged."""
        owned = state.owner == "owned"
        return bool(choosing.doubles(self.completion.kernel, array_of(state.position), owned))

    def take(self, state: GameState) -> bool:
        """Return True if BKG takes; always while the sides are engaged."""
        return bool(choosing.takes(self.completion.kernel, array_of(state.position)))

    def resign(self, state: GameState) -> int:
        """Return how many games (0 to 3) BKG resigns on roll: those that it has lost whatever the dice."""
        return games_lost(state.position)

    def accept(self, state: GameState) -> bool:
        """Return True if BKG accepts a resignation, which it does if it could not win more."""
        return state.resigned >= most_to_win(state.position.swapped())

    def ranked(self, state: GameState) -> list[Rated]:
        """Return all legal plays of the state's dice, best first; [] if no chequer can move."""
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        if not plays:
            return []
        kernel = self.completion.kernel
        start = array_of(state.position)
        boards, gains = moves.plays(start, *state.dice)
        assert len(boards) == len(plays)
        part, points, terms = choosing.rate(kernel, start, boards, gains)
        first = choosing.best(kernel, part, boards, points)
        order = sorted(range(len(plays)), key=lambda k: (k != first, -points[k, 0], -points[k, 1]))
        return [Rated(plays[k], PARTS[part], float(points[k, 0]), tuple(terms[k].tolist())) for k in order]


class Rated(NamedTuple):
    """A play and the points by which BKG ranks it.

    part : "engaged" (heuristic points), "running" (its points) or "bear-off" (minus the expected rolls, or a
        probability).
    points : -inf for plays that are excluded.
    terms : of engaged positions the parts of the points, by TERMS.
    """

    play: Play
    part: str
    points: float
    terms: tuple[float, ...]

    def parts(self) -> dict[str, float]:
        """Return the parts of the points of an engaged position by name, without those that are 0."""
        return {name: value for name, value in zip(TERMS, self.terms, strict=True) if value}
