"""What a written play does to the board, and whether a roll allows it.

A board is two lists, of who moves and of the other: chequers by point as their owner counts, 25 the bar, entry 0
unused. A hop is (from, to) as written and may stand for several dice.

The play is the legal one that gives both sides' chequers after the hops as written, a chequer hit wherever a hop ends
on it; only where there is none, because a merged hop hit on its way, do the marks of hits decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from bgfmt.game.board import Position, Side
from bgfmt.game.moves import BAR, OFF, Move, Play, legal_plays

Board = list[int]
Hop = tuple[int, int]
MOST_HOPS = 30  # more than any roll and any slip of the pen


@dataclass(frozen=True)
class Found:
    """A play and the board after it."""

    moves: tuple[Move, ...]
    mine: Board
    theirs: Board
    legal: bool


def side(board: Board) -> Side:
    """The side of a list of 26."""
    return Side(*board[1:BAR], bar=board[BAR])


def position(mine: Board, theirs: Board) -> Position:
    """The position of a board, who moves first."""
    return Position(side(mine), side(theirs))


def board(side: Side) -> Board:
    """A side as a list of 26."""
    return [0, *side.counts, *(0,) * (24 - len(side.counts)), side.bar]


def can_move(mine: Board, theirs: Board, dice: tuple[int, int]) -> bool:
    """Whether a roll allows any move."""
    starts = _starts(mine)
    return any(_step(mine, theirs, start, die) is not None for die in set(dice) for start in starts)


def find(mine: Board, theirs: Board, dice: tuple[int, int], hops: list[Hop], marks: int) -> Found | str:
    """The play of these hops, legal or not, or why they cannot be done.

    marks : points at which hits are marked.
    """
    result = _written(mine, theirs, hops)
    if isinstance(result, str):
        return result
    moves, after, others = result
    path = _path(list(mine), list(theirs), dice, after, others)
    if path is not None:
        return Found(path, after, others, True)
    play = _among(legal_plays(position(mine, theirs), *dice), position(after, others), marks)
    if play is not None:
        return Found(play.moves, board(play.result.us), board(play.result.them), True)
    return Found(moves, after, others, False)


def hops_between(mine: Board, theirs: Board, after: Board, others: Board) -> list[Hop] | None:
    """Hops that turn one board into another, None where plain moves cannot."""
    starts = [p for p in range(BAR, 0, -1) for _ in range(mine[p] - after[p])]
    ends = [p for p in range(BAR, 0, -1) for _ in range(after[p] - mine[p])]
    if len(ends) > len(starts) or len(starts) > MOST_HOPS:
        return None
    hops = list(zip(starts, ends + [OFF] * (len(starts) - len(ends)), strict=True))
    result = _written(mine, theirs, hops)
    return None if isinstance(result, str) or result[1:] != (after, others) else hops


def _written(mine: Board, theirs: Board, hops: list[Hop]) -> tuple[tuple[Move, ...], Board, Board] | str:
    """The hops and the board after them; no rule of the dice is looked at."""
    if len(hops) > MOST_HOPS:
        return f"a play of {len(hops)} moves"
    mine, theirs = list(mine), list(theirs)
    moves = []
    left = list(hops)
    while left:  # words may come in any order, so one may stand before the word that brings its chequer
        now = next((hop for hop in left if 1 <= hop[0] <= BAR and mine[hop[0]]), None)
        if now is None:
            return f"no chequer stands on {_name(left[0][0])} to be moved to {_name(left[0][1])}"
        left.remove(now)
        start, end = now
        if not OFF <= end < BAR:
            return f"a chequer cannot be moved to {_name(end)}"
        mine[start] -= 1
        hit = False
        if end != OFF:
            other = BAR - end
            if theirs[other] > 1:
                return f"{_name(start)}/{end} puts both sides on one point"
            hit = theirs[other] == 1
            if hit:
                theirs[other] = 0
                theirs[BAR] += 1
            mine[end] += 1
        moves.append(Move(start, end, hit))
    return tuple(moves), mine, theirs


def _name(point: int) -> str:
    return "the bar" if point == BAR else "off" if point == OFF else str(point)


def _starts(mine: Board) -> list[int]:
    return [BAR] if mine[BAR] else [p for p in range(24, 0, -1) if mine[p]]


def _step(mine: Board, theirs: Board, start: int, die: int) -> int | None:
    """Where a chequer comes by one die, None where the rules forbid it."""
    end = start - die
    if end > OFF:
        return end if theirs[BAR - end] < 2 else None
    if any(mine[7:]) or (end < OFF and any(mine[start + 1 : 7])):
        return None
    return OFF


def _path(
    mine: Board, theirs: Board, dice: tuple[int, int], after: Board, others: Board
) -> tuple[Move, ...] | None:
    """A way to a board that uses all the dice; such a play is legal, and no others need be looked at."""
    orders = [(dice[0],) * 4] if dice[0] == dice[1] else [(max(dice), min(dice)), (min(dice), max(dice))]
    for order in orders:
        way: list[Move] = []
        if _search(mine, theirs, order, after, others, way):
            return tuple(reversed(way))
    return None


def _search(
    mine: Board, theirs: Board, dice: tuple[int, ...], after: Board, others: Board, way: list[Move]
) -> bool:
    """Depth first; boards are changed in place and put back. `way` is filled from the end."""
    if not dice:
        return mine == after and theirs == others
    surplus = sum(a - b for a, b in zip(mine, after, strict=True) if a > b)
    if surplus > len(dice) or theirs[BAR] > others[BAR]:
        return False
    die, rest = dice[0], dice[1:]
    for start in _starts(mine):
        end = _step(mine, theirs, start, die)
        if end is None:
            continue
        hit = end != OFF and theirs[BAR - end] == 1
        mine[start] -= 1
        if end != OFF:
            mine[end] += 1
        if hit:
            theirs[BAR - end] = 0
            theirs[BAR] += 1
        success = _search(mine, theirs, rest, after, others, way)
        mine[start] += 1
        if end != OFF:
            mine[end] -= 1
        if hit:
            theirs[BAR - end] = 1
            theirs[BAR] -= 1
        if success:
            way.append(Move(start, end, hit))
            return True
    return False


def _among(plays: list[Play], target: Position, marks: int) -> Play | None:
    fitting = [play for play in plays if play.result.us == target.us]
    exact = [play for play in fitting if play.result.them == target.them]
    if exact:
        return exact[0]
    return min(fitting, key=lambda p: abs(sum(m.hit for m in p.moves) - marks), default=None)


# -- plays as players write them ----------------------------------------------------------------------


_WORD = re.compile(
    r"(?<![\w/])(bar|\d{1,2})((?:/(?:off|bar|\d{1,2})\*?+)++)(?:\((\d)\)(\*)?+)?+(?![\w/])", re.I
)


def read_play(text: str) -> tuple[list[tuple[int, int]], int, str]:
    """(from, to) hops of a play as players write it, at how many points hits are marked, and what else is there.

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


def _point(text: str) -> int:
    word = text.lower()
    return BAR if word == "bar" else OFF if word == "off" else int(word)


__all__ = [
    "Board",
    "Found",
    "Hop",
    "board",
    "can_move",
    "find",
    "hops_between",
    "position",
    "read_play",
    "side",
]
