"""The 21 rolls and the legal plays, in plain Python written for readability: the reference for every kernel.

Points are numbered 1 (the ace point) to 24 as their owner counts them; 25 is the bar and 0 is off.

>>> [str(p) for p in legal_plays(Position(Side(0, 0, 0, 2), Side(1)), 3, 3)]
['4/off(2)']
>>> race_plays((0, 0, 0, 1, 0, 1), 5, 2)
[(1, 1, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side

__all__ = [
    "BAR",
    "OFF",
    "ROLLS",
    "Counts",
    "Move",
    "Play",
    "Roll",
    "legal_plays",
    "notation",
    "parse_roll",
    "race_plays",
    "side_plays",
]


BAR = 25
OFF = 0


class Roll(NamedTuple):
    """Two dice, the larger first, and how many of the 36 equally likely rolls show them."""

    high: int
    low: int
    weight: int


ROLLS = tuple(Roll(high, low, 1 if high == low else 2) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 rolls in the order in which gnubg adds them up: 1-1, 2-1, 2-2, 3-1, ... 6-6."""


def parse_roll(text: str | tuple[int, int]) -> tuple[int, int]:
    """Parse two dice, given as "61", "6-1", "6 1", "6,1" or a pair; return the larger first.

    PositionError for anything else.
    """
    dice = [d for d in text if d not in "-, /"] if isinstance(text, str) else [str(d) for d in text]
    if len(dice) != 2 or any(d not in {"1", "2", "3", "4", "5", "6"} for d in dice):
        raise PositionError(f"a roll must be two dice, such as 61 or 6-1, not {text!r}")
    high, low = sorted(map(int, dice), reverse=True)
    return high, low


# -- one side alone --------------------------------------------------------------------------------------


def race_plays(counts: tuple[int, ...], high: int, low: int) -> list[tuple[int, ...]]:
    """List the counts that a roll can lead to without contact, each once, in gnubg's order of generation.

    counts : chequers on points 1, 2, ... high, low : the dice. The order decides bytes of tables, since the first of
    equally good plays is chosen: the larger die first and then the smaller, then the other way round; each time from
    the highest point down.
    """
    sides: dict[tuple[int, ...], None] = {}
    for dice in [(high,) * 4] if high == low else [(high, low), (low, high)]:
        reached = {tuple(counts): None}
        for die in dice:  # with all chequers off the rest of the roll is void
            reached = dict.fromkeys(after for side in reached for after in _one_die(side, die) or [side])
        sides |= reached
    return list(sides)


def _one_die(counts: tuple[int, ...], die: int) -> list[tuple[int, ...]]:
    """List the sides that one move can lead to, from the highest point down."""
    sides: list[tuple[int, ...]] = []
    points = [point for point in range(len(counts), 0, -1) if counts[point - 1]]
    for point in points:
        if point <= die and (points[0] > 6 or (point < die and point < points[0])):
            continue
        after = list(counts)
        after[point - 1] -= 1
        if point > die:
            after[point - die - 1] += 1
        sides.append(tuple(after))
    return sides


# -- two sides: the whole game ---------------------------------------------------------------------------


class Move(NamedTuple):
    """The move of one chequer by one die: from a point or the bar (25), to a point or off (0)."""

    start: int
    end: int
    hit: bool = False


@dataclass(frozen=True)
class Play:
    """A play of a roll, and the board after it: `result.us` is the player who has moved."""

    moves: tuple[Move, ...]
    result: Position

    def __str__(self) -> str:
        return self.notation

    @property
    def notation(self) -> str:
        """The play in text, such as "6/5 6/off"."""
        return notation(self.moves)


def legal_plays(position: Position, die: int, other: int) -> list[Play]:
    """List all legal plays of two dice, one for each different board after it; empty if no chequer can move.

    Rules of the whole game: points with two or more opposing chequers are blocked, single ones are hit,
    chequers on the bar enter first, a chequer is borne off only if all are at home. Both dice must be played if
    possible (as many of four as possible for a double); if only one of the two can be played, the larger if
    possible.

    PositionError for dice outside 1..6 or a point held by both sides.
    """
    if not (1 <= die <= 6 and 1 <= other <= 6):
        raise PositionError(f"dice must be from 1 to 6, not {die} and {other}")
    position.check()
    high = max(die, other)
    low = min(die, other)
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    most = 0
    plays: dict[Counts, tuple[Move, ...]] = {}
    for dice in orders:
        depth, reached = _reach(Counts.of(position), dice)
        if depth < most or depth == 0:
            continue  # also: only one die is playable and the larger, tried first, is
        if depth > most:
            most = depth
            plays = {}
        elif depth == 1 and len(dice) == 2:
            continue
        for board, moves in reached.items():
            plays.setdefault(board, moves)
    return [Play(moves, board.position()) for board, moves in plays.items()]


def side_plays(side: Side, roll: tuple[int, int]) -> dict[Side, tuple[Move, ...]]:
    """List the sides that a roll can lead to without contact, each with the moves of the first way to reach it."""
    return {play.result.us: play.moves for play in legal_plays(Position(side, Side()), *roll)}


def _reach(board: Counts, dice: tuple[int, ...]) -> tuple[int, dict[Counts, tuple[Move, ...]]]:
    """Find how many of these dice can be played in this order, and the boards after that.

    Each board has the moves of the first way to reach it.
    """
    reached: dict[Counts, tuple[Move, ...]] = {board: ()}
    for played, die in enumerate(dice):
        further: dict[Counts, tuple[Move, ...]] = {}
        for here, moves in reached.items():
            for move, after in here.steps(die):
                further.setdefault(after, (*moves, move))
        if not further:
            return played, reached
        reached = further
    return len(dice), reached


class Counts(NamedTuple):
    """Chequers of the player who moves and of the other, each from its own view, on points 0 (unused) to 25 (bar)."""

    mine: tuple[int, ...]
    theirs: tuple[int, ...]

    @classmethod
    def of(cls, position: Position) -> Counts:
        """Return the counts of a position in which the first side moves."""
        return cls((0, *position.us.padded(BAR)), (0, *position.them.padded(BAR)))

    def position(self) -> Position:
        """Return the `Position` with these counts, the player who moves first."""
        return Position(*(Side._trusted(side[1:BAR], side[BAR]) for side in self))

    def move_chequer(self, start: int, end: int) -> tuple[Move, Counts]:
        """Move a chequer from point `start` (25 the bar) to `end` (0 is off), hitting a single opposing chequer.

        Return the move and the board after it.
        """
        mine = list(self.mine)
        theirs = list(self.theirs)
        mine[start] -= 1
        mine[end] += end != OFF
        hit = end != OFF and theirs[BAR - end] == 1
        theirs[BAR - end] -= hit
        theirs[BAR] += hit
        return Move(start, end, hit), Counts(tuple(mine), tuple(theirs))

    def steps(self, die: int) -> Iterator[tuple[Move, Counts]]:
        """Yield every legal move by one die, highest starting point first, each with the board after it."""
        starts = [BAR] if self.mine[BAR] else [p for p in range(24, 0, -1) if self.mine[p]]
        for start in starts:
            end = max(OFF, start - die)
            highest = starts[0]
            if end == OFF and (highest > 6 or (start < die and start != highest)):
                continue
            if end == OFF or self.theirs[BAR - end] < 2:
                yield self.move_chequer(start, end)


def notation(moves: tuple[Move, ...]) -> str:
    """Format moves as players write them: ``24/18*/13``, ``8/5(2) 6/3(2)``, ``bar/20``, ``6/off``.

    An empty play is ``no play``. Moves of one chequer are joined, intermediate points shown only if they hit;
    highest start first.
    """
    chains: list[list[Move]] = []
    for move in sorted(moves, key=lambda m: -m.start):
        for chain in chains:
            if chain[-1].end == move.start:
                chain.append(move)
                break
        else:
            chains.append([move])
    texts = [_chain_text(chain) for chain in sorted(chains, key=lambda c: (-c[0].start, -c[-1].end))]
    counted = {text: texts.count(text) for text in texts}
    return " ".join(f"{t}({n})" if n > 1 else t for t, n in counted.items()) or "no play"


def _chain_text(chain: list[Move]) -> str:
    stops = [m for m in chain[:-1] if m.hit] + [chain[-1]]
    start = "bar" if chain[0].start == BAR else str(chain[0].start)
    return "/".join([start, *(("off" if m.end == OFF else str(m.end)) + "*" * m.hit for m in stops)])
