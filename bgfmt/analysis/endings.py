"""Games that end soon: a tie of two equities of such a game can be proved by float64 numbers."""

from __future__ import annotations

from functools import lru_cache

from bgfmt.game.board import Position
from bgfmt.game.moves import ROLLS, race_plays

__all__ = ["MAX_PROOF_ROLLS", "ends_soon"]

MAX_PROOF_ROLLS = 7  # a tie is proved if the game is over within this many rolls


def ends_soon(position: Position) -> bool:
    """Return whether the game ends within `MAX_PROOF_ROLLS` rolls of both sides, whatever is rolled.

    Then every money equity is an integer multiple of 36**-7 = 1.3e-11: each roll divides a sum of such values by 36,
    and doubling, passing (1) and taking the better of two keep integer multiples. The rounding of float64, 23
    operations a roll and doubled at most by each turn of the cube, adds up to less than 4e-13. So numbers that differ
    by no more than 1e-12 are equal.
    """
    ours, theirs = (
        _most_rolls(side.counts) if not side.bar else MAX_PROOF_ROLLS + 1
        for side in (position.us, position.them)
    )
    return min(2 * ours - 1, 2 * theirs) <= MAX_PROOF_ROLLS


def _most_rolls(counts: tuple[int, ...]) -> int:
    """Return the most rolls that a side can need, or a larger number than matters."""
    return next((n for n in range(MAX_PROOF_ROLLS // 2 + 2) if _off_within(counts, n)), MAX_PROOF_ROLLS)


@lru_cache(maxsize=1 << 14)
def _off_within(counts: tuple[int, ...], rolls: int) -> bool:
    """Return whether a side is off within this many rolls, whatever is rolled and played."""
    pips = sum(point * n for point, n in enumerate(counts, 1))
    chequers = sum(counts)
    if not chequers or pips > 3 * rolls or chequers > 2 * rolls:
        return not chequers
    return all(
        _off_within(after, rolls - 1) for roll in ROLLS for after in race_plays(counts, roll.high, roll.low)
    )
