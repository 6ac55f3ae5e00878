"""Whole games of BKG against itself, compiled: the simulation facility (the paper, section VIII).

Dice come from SplitMix64 with one stream for each game, so that a series does not depend on how games are
distributed over threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.lab.engine.bkg.completion import Array, Kernel
from bgfmt.extras.lab.engine.bkg.kernels import choosing, measures, moves
from bgfmt.jit import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1, MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
MAX_TURNS = 10_000


@njit("u8")
def mix(state: Any) -> Any:
    """Return the number that the generator SplitMix64 gives for a state, uint64 (S. Vigna, 2015; public domain)."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * MIX1
    z = (z ^ (z >> np.uint64(27))) * MIX2
    return z ^ (z >> np.uint64(31))


@njit("u8.1C, u8, i8")
def begin(state: Array, seed: Any, game: int) -> None:
    """Set the state of the dice, (1,) uint64, to the beginning of game number `game` of a series with a seed."""
    state[0] = mix(np.uint64(seed) + mix(np.uint64(game) + GOLDEN))


@njit("u8.1C")
def die_of(state: Array) -> int:
    """Return the next die (1 to 6) of the stream with this state, and advance the state."""
    state[0] += GOLDEN
    return int(((mix(state[0]) >> np.uint64(32)) * np.uint64(6)) >> np.uint64(32)) + 1


@njit(f"{choosing.COMPLETION}, i8.2C, b1, b1, u8, i8, i8.2C")
def play(
    kernel: Kernel, start: Array, opening: bool, with_cube: bool, seed: Any, first: int, out: Array
) -> None:
    """Play games first, first + 1, ... of a series of BKG against itself; results go to `out`, (games, 4) int64.

    A row has the winner (0 the first side), games won (1..3), the cube, and turns.

    Parameters
    ----------
    kernel : the engine's options and tables.
    start : the board from which each game starts.
    opening : the first roll is an opening roll, whose higher die determines who begins; else the first side rolls.
    with_cube : doubles are allowed.
    """
    state = np.zeros(1, np.uint64)
    board = start.copy()
    for game in range(len(out)):
        begin(state, seed, first + game)
        moves.copy_board(board, start)
        mover = 0
        value = 1
        owner = -1
        passed = False
        turns = 0
        a = b = 0
        if opening:
            while a == b:
                a = die_of(state)
                b = die_of(state)
            if b > a:
                mover = 1
                moves.swap_sides(board)
        while turns < MAX_TURNS:
            if turns > 0 or not opening:
                may = with_cube and owner in (-1, mover) and value < 1024
                if may and choosing.doubles(kernel, board, owner == mover):
                    if not choosing.takes(kernel, board):
                        passed = True
                        break
                    value = 2 * value
                    owner = 1 - mover
                a = die_of(state)
                b = die_of(state)
            turns += 1
            boards, gains = moves.plays(board, a, b)
            if len(boards) == 1:
                moves.copy_board(board, boards[0])
            elif len(boards) > 1:
                part, points, _ = choosing.rate(kernel, board, boards, gains)
                moves.copy_board(board, boards[choosing.best(kernel, part, boards, points)])
            if measures.men(board[0], 1) == 0:
                break
            moves.swap_sides(board)
            mover = 1 - mover
        won = 1
        if not passed and board[1, 0] == 0:
            won = 3 if measures.men(board[1], 19) > 0 else 2
        row = out[game]
        row[0] = mover
        row[1] = won
        row[2] = value
        row[3] = turns
