"""The legal plays of a roll, in the order of `bgfmt.game.moves.legal_plays`, the readable twin of this.

Boards are reached die by die; of equal boards the first way is kept, or, past all contact, the one that scores most
by the rule of the running game, whose points depend on the order in which chequers come in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgfmt.extras.lab.engine.bkg.kernels import measures
from bgfmt.jit import njit

Array = NDArray[Any]
RESULTS: Any = np.int64(
    2
)  # the layer of a roll's outcomes; no literal, for which numba would compile once more
MOST = 4096  # boards after a die; the most that a roll can lead to is some hundreds


class Room(NamedTuple):
    """Scratch for one search: two layers of boards with the ways to them, and a third for the outcome.

    boards : (3, MOST, 2, 26) int64. keys : (3, MOST) int64. moves : (3, MOST, 4, 2) int64, start and end, -1 none.
    gain : (3, MOST) float64, points of the running game. many : (3,) int64.
    """

    boards: Array
    keys: Array
    moves: Array
    gain: Array
    many: Array


def room() -> Room:
    """Scratch for `plays`."""
    return Room(
        np.zeros((3, MOST, 2, 26), np.int64),
        np.zeros((3, MOST), np.int64),
        np.zeros((3, MOST, 4, 2), np.int64),
        np.zeros((3, MOST), np.float64),
        np.zeros(3, np.int64),
    )


@njit()
def _key(board: Array) -> int:
    """A number that differs for nearly all boards; equal ones are compared."""
    key: Any = np.int64(1469598103934665603)
    for side in range(2):
        for point in range(26):
            key = (key ^ (board[side, point] + 31 * point)) * np.int64(1099511628211)
    return key  # type: ignore[no-any-return]


@njit()
def _coming_in(board: Array, start: int, end: int) -> float:
    """Points of the running game for a chequer that comes home (the paper, section VI)."""
    if start <= 6 or end > 6 or end < 1:
        return 0.0
    more = 10.0 if end == 6 else (-10.0 * (5 - end) if end < 5 else 0.0)
    return 3.0 - board[0, end] + more  # type: ignore[no-any-return]


@njit()
def copy_board(to: Array, of: Array) -> None:
    """Copy a board; plain loops compile far faster than assignments of arrays."""
    for side in range(2):
        for point in range(26):
            to[side, point] = of[side, point]


@njit()
def swap_sides(board: Array) -> None:
    """The other side is on roll."""
    for point in range(26):
        board[0, point], board[1, point] = board[1, point], board[0, point]


@njit()
def _same(a: Array, b: Array) -> bool:
    for side in range(2):
        for point in range(26):
            if a[side, point] != b[side, point]:
                return False
    return True


@njit()
def _take_over(room: Room, to: int, free: int, layer: int, k: int) -> None:
    """Slot `free` of a layer becomes slot k of another."""
    copy_board(room.boards[to, free], room.boards[layer, k])
    for part in range(4):
        room.moves[to, free, part, 0] = room.moves[layer, k, part, 0]
        room.moves[to, free, part, 1] = room.moves[layer, k, part, 1]
    room.gain[to, free] = room.gain[layer, k]
    room.keys[to, free] = room.keys[layer, k]


@njit()
def _add(room: Room, to: int, key: int) -> None:
    """Keep the board in the free slot of a layer unless it is there; of equal ones the greater gain stays."""
    free, gain = room.many[to], room.gain[to]
    room.keys[to, free] = key
    for k in range(free):
        if room.keys[to, k] == key and _same(room.boards[to, k], room.boards[to, free]):
            if gain[free] > gain[k] + 1e-9:
                _take_over(room, to, k, to, free)
            return
    if free < MOST - 1:
        room.many[to] = free + 1


@njit()
def _step(room: Room, here: int, to: int, die: int, played: int) -> int:
    """All boards one die further; how many."""
    room.many[to] = 0
    for k in range(room.many[here]):
        board = room.boards[here, k]
        highest = measures.mostback(board[0])
        lowest = 25 if board[0, 25] else 1
        for start in range(highest, lowest - 1, -1):
            if board[0, start] == 0:
                continue
            end = start - die
            if end <= 0:
                if highest > 6 or (end < 0 and start != highest):
                    continue
                end = 0
            elif board[1, 25 - end] > 1:
                continue
            free = room.many[to]
            _take_over(room, to, free, here, k)
            after = room.boards[to, free]
            room.gain[to, free] += _coming_in(board, start, end)
            after[0, start] -= 1
            after[0, end] += 1
            if end > 0 and board[1, 25 - end] == 1:
                after[1, 25 - end] = 0
                after[1, 25] += 1
            room.moves[to, free, played, 0] = start
            room.moves[to, free, played, 1] = end
            _add(room, to, _key(after))
    return room.many[to]  # type: ignore[no-any-return]


@njit()
def _reach(room: Room, board: Array, first: int, second: int, dice: int) -> tuple[int, int]:
    """Play `dice` dice, `first` and then `second`, as far as they go: how many, and the layer that holds the end."""
    here: Any = np.int64(0)
    to: Any = np.int64(1)
    room.many[0] = 1
    copy_board(room.boards[0, 0], board)
    room.keys[0, 0] = _key(board)
    room.gain[0, 0] = 0.0
    for part in range(4):
        room.moves[0, 0, part, 0] = room.moves[0, 0, part, 1] = -1
    for played in range(dice):
        die = first if played == 0 or dice == 4 else second
        if _step(room, here, to, die, played) == 0:
            return played, here
        here, to = to, here
    return dice, here


@njit()
def plays(room: Room, board: Array, die: int, other: int) -> int:
    """All legal results of a roll, in layer 2 of the room; how many, 0 when no chequer can move."""
    high, low = max(die, other), min(die, other)
    dice = 4 if high == low else 2
    depth, layer = _reach(room, board, high, low, dice)
    room.many[RESULTS] = 0
    if depth > 0:
        _keep(room, layer)
    if high != low:
        second, layer = _reach(room, board, low, high, dice)
        if second > depth:
            _keep(room, layer)
        elif second == depth == 2:
            for k in range(room.many[layer]):
                _take_over(room, RESULTS, room.many[RESULTS], layer, k)
                _add(room, RESULTS, room.keys[layer, k])
    return room.many[RESULTS]  # type: ignore[no-any-return]


@njit()
def _keep(room: Room, layer: int) -> None:
    many = room.many[layer]
    room.many[RESULTS] = many
    for k in range(many):
        _take_over(room, RESULTS, k, layer, k)
