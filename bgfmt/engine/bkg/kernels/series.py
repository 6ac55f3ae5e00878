"""Whole games of BKG against itself, compiled: the simulation facility (the paper, section VIII).

Dice come from SplitMix64, one stream a game, so that a series does not depend on who plays which game;
`bgfmt.playing.dice` has the same stream in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.engine.bkg.completion import Kernel
from bgfmt.engine.bkg.kernels import choosing, moves, running
from bgfmt.jit import njit

Array = NDArray[Any]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1, MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
MOST_TURNS = 10_000
TERMS = 7


@njit()
def mixed(state: int) -> int:
    """The number that SplitMix64 gives for a state, uint64."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * MIX1
    z = (z ^ (z >> np.uint64(27))) * MIX2
    return z ^ (z >> np.uint64(31))  # type: ignore[no-any-return]


@njit()
def die_of(state: Array) -> int:
    """The next die: the number's high 32 bits, as a part of 6."""
    state[0] += GOLDEN
    return int(((mixed(state[0]) >> np.uint64(32)) * np.uint64(6)) >> np.uint64(32)) + 1


@njit()
def game(
    kernel: Kernel,
    home: running.Home,
    cube: choosing.Cube,
    start: Array,
    opening: bool,
    with_cube: bool,
    state: Array,
    room: moves.Room,
    points: Array,
    terms: Array,
    out: Array,
) -> None:
    """One game; out (5,) int64: winner (0 the first side), games won (1..3), cube, turns, whether it was passed.

    opening : the first roll is an opening roll, whose higher die says who begins; else the first side rolls.
    """
    board, other = start.copy(), start.copy()
    mover, value, owner, passed = 0, 1, -1, False
    turns = 0
    a = b = 0
    if opening:
        while a == b:
            a, b = die_of(state), die_of(state)
        mover = 0 if a > b else 1
        if mover == 1:
            other[0], other[1] = board[1], board[0]
            board[:] = other
    while turns < MOST_TURNS:
        if turns > 0 or not opening:
            may = with_cube and owner in (-1, mover) and value < 1024
            if may and choosing.doubles(home, cube, board, owner == mover):
                if not choosing.takes(home, cube, board):
                    passed = True
                    break
                value, owner = 2 * value, 1 - mover
            a, b = die_of(state), die_of(state)
        turns += 1
        chosen = choosing.choose(kernel, home, cube, board, a, b, room, points, terms)
        if chosen >= 0:
            board[:] = room.boards[2, chosen]
        if board[0, 1:].sum() == 0:
            break
        other[0], other[1] = board[1], board[0]
        board[:] = other
        mover = 1 - mover
    won = 1
    if not passed and board[1, 0] == 0:
        won = 3 if board[1, 19:].sum() > 0 else 2
    out[0], out[1], out[2], out[3], out[4] = mover, won, value, turns, passed


@njit()
def play(
    kernel: Kernel,
    home: running.Home,
    cube: choosing.Cube,
    start: Array,
    opening: bool,
    with_cube: bool,
    seed: int,
    first: int,
    room: moves.Room,
    out: Array,
) -> None:
    """Games first, first + 1, ... of a series into the rows of `out` (games, 5) int64."""
    points, terms = np.zeros((moves.MOST, 2)), np.zeros((moves.MOST, TERMS))
    state = np.zeros(1, np.uint64)
    for k in range(len(out)):
        state[0] = mixed(np.uint64(seed) + mixed(np.uint64(first + k) + GOLDEN))
        game(kernel, home, cube, start, opening, with_cube, state, room, points, terms, out[k])
