"""Apply a play as written in a file to a board, and find the legal play of a roll that it means.

A hop is a pair (from, to) as written and may stand for several dice.

The play is the legal one that leaves both sides' chequers as after the hops, where a hop that ends on a single
chequer hits it. Only where no legal play does, because a merged hop hit on its way, the marks of hits decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bgfmt.game.board import Position, Side
from bgfmt.game.moves import BAR, OFF, Counts, Move, Play, legal_plays
from bgfmt.game.state import counts_with_bar, side_from_counts

Hop = tuple[int, int]
MAX_HOPS = 30  # more than any roll and any slip of the pen


@dataclass(frozen=True)
class WrittenPlay:
    """A play, the board after it (the player who moved first), and whether the rules allow it."""

    moves: tuple[Move, ...]
    result: Position
    legal: bool


def signed_position(counts: Sequence[int]) -> Position:
    """Return the position of 26 signed counts by point: the bar, points 1 to 24, the other bar.

    Positive counts are of the side that comes first in the position, negative ones of the other. Raises PositionError
    if no such board is possible.
    """
    seen = counts[1:], [-n for n in counts[-2::-1]]
    return Position(*(side_from_counts([max(0, n) for n in side]) for side in seen))


def can_move(before: Position, dice: tuple[int, int]) -> bool:
    """Return whether a roll allows any move to the first side of the position."""
    return any(True for die in dice for _ in Counts.of(before).steps(die))


def find(before: Position, dice: tuple[int, int], hops: Sequence[Hop], marks: int = 0) -> WrittenPlay | str:
    """Return the play that the moves written in a file stand for, legal or not.

    Parameters
    ----------
    before : the board, the player who moves first.
    dice : the roll.
    hops : (from, to) of each chequer, 25 the bar and 0 off; one may span several dice.
    marks : the number of points at which the file marks a hit; it decides between plays with the same chequers.

    Returns
    -------
    The play, or a message that says why a hop is impossible.
    """
    board = Counts.of(before)
    written = _apply_hops(board, hops)
    if isinstance(written, str):
        return written
    moves, target = written
    after = target.position()
    high = max(dice)
    low = min(dice)
    for order in [(high,) * 4] if high == low else [(high, low), (low, high)]:
        # a way that uses all the dice is legal, and no other play need be looked at
        way = _find_moves(board, order, target)
        if way is not None:
            return WrittenPlay(way, after, True)

    def misfit(play: Play) -> tuple[bool, int]:
        return play.result.them != after.them, abs(sum(move.hit for move in play.moves) - marks)

    fitting = [play for play in legal_plays(before, high, low) if play.result.us == after.us]
    best = min(fitting, key=misfit, default=None)
    return WrittenPlay(best.moves, best.result, True) if best else WrittenPlay(moves, after, False)


def find_between(before: Position, dice: tuple[int, int], after: Position) -> WrittenPlay:
    """Return the play of a roll that leads from the board `before` to `after`, both with the player who moves first.

    If there is none, the result is an illegal play without moves.
    """
    mine = Counts.of(before).mine
    others = Counts.of(after).mine
    starts = [p for p in range(BAR, 0, -1) for _ in range(mine[p] - others[p])]
    ends = [p for p in range(BAR, 0, -1) for _ in range(others[p] - mine[p])]
    if starts and len(ends) <= len(starts) <= MAX_HOPS:
        hops = list(zip(starts, ends + [OFF] * (len(starts) - len(ends)), strict=True))
        play = find(before, dice, hops)
        if not isinstance(play, str) and play.result == after:
            return play
    return WrittenPlay((), after, False)


def _apply_hops(board: Counts, hops: Sequence[Hop]) -> tuple[tuple[Move, ...], Counts] | str:
    """Return the hops as moves and the board after them, or a message; the dice are not considered."""
    if len(hops) > MAX_HOPS:
        return f"a play of {len(hops)} moves"
    moves = []
    left = list(hops)
    while left:  # words may come in any order, so one may stand before the word that brings its chequer
        hop = next((hop for hop in left if 1 <= hop[0] <= BAR and board.mine[hop[0]]), None)
        if hop is None:
            return f"no chequer stands on {_name(left[0][0])} to be moved to {_name(left[0][1])}"
        left.remove(hop)
        start, end = hop
        if not OFF <= end < BAR:
            return f"a chequer cannot be moved to {_name(end)}"
        if end != OFF and board.theirs[BAR - end] > 1:
            return f"{_name(start)}/{end} puts both sides on one point"
        move, board = board.move_chequer(start, end)
        moves.append(move)
    return tuple(moves), board


def _name(point: int) -> str:
    return "the bar" if point == BAR else "off" if point == OFF else str(point)


def _find_moves(board: Counts, dice: tuple[int, ...], target: Counts) -> tuple[Move, ...] | None:
    """Return moves that reach the target board with all of these dice in this order, None if there are none."""
    if not dice:
        return () if board == target else None
    surplus = sum(a - b for a, b in zip(board.mine, target.mine, strict=True) if a > b)
    if surplus > len(dice) or board.theirs[BAR] > target.theirs[BAR]:
        return None
    for move, after in board.steps(dice[0]):
        rest = _find_moves(after, dice[1:], target)
        if rest is not None:
            return (move, *rest)
    return None


_WORD = re.compile(
    r"(?<![\w/])(bar|\d{1,2})((?:/(?:off|bar|\d{1,2})\*?+)++)(?:\((\d)\)(\*)?+)?+(?![\w/])", re.I
)


def read_play(text: str) -> tuple[list[tuple[int, int]], int, str]:
    """Parse a play in players' notation.

    Returns the (from, to) hops, the number of points at which a hit is marked, and the text that is no play.

    >>> read_play("bar/21* 8/6(2)")
    ([(25, 21), (8, 6), (8, 6)], 1, '')
    """
    hops: list[tuple[int, int]] = []
    hit: set[int] = set()
    for word in _WORD.finditer(text):
        stops = word[2].split("/")[1:]
        points = [_point(word[1]), *(_point(stop.rstrip("*")) for stop in stops)]
        hit.update(point for point, stop in zip(points[1:], stops, strict=True) if stop.endswith("*"))
        if word[4]:
            hit.add(points[-1])
        if len(hops) < 99:
            hops += list(pairwise(points)) * int(word[3] or 1)
    rest = _WORD.sub("", text) if hops else text
    return hops, len(hit), " ".join(rest.split()).strip(" ,;.")


def chequers_after(side: Side, hops: Sequence[Hop]) -> list[int] | None:
    """Return a side's chequers on points 1 to 25 (the bar) after moves without hits.

    hops : (from, to) of each move, 0 for off. None if a move starts at an empty point.
    """
    counts = [0, *counts_with_bar(side)]
    for start, end in hops:
        if not 0 < start <= BAR or not counts[start]:
            return None
        counts[start] -= 1
        counts[end] += 1
    return counts[1:]


def _point(text: str) -> int:
    word = text.lower()
    return BAR if word == "bar" else OFF if word == "off" else int(word)
