"""An executable specification of gnubg's bearoff databases, in the standard library alone.

    python bearoff.py two-sided 6x6 FILE [--cubeless]
    python bearoff.py one-sided 5 FILE [--uncompressed] [--no-gammon]

The text is meant to be read from top to bottom. It prefers the plain statement of a rule to speed.
A board is a tuple of counts, one count a point, the ace point first. Chequers that are off are not in it.
"""

from __future__ import annotations

import argparse
import struct
from array import array
from itertools import product
from math import comb
from pathlib import Path

Board = tuple[int, ...]
Distribution = tuple[int, ...]

# ---- 1. Positions and their numbers -------------------------------------------------------------------------


def position_number(board: Board) -> int:
    """Return gnubg's number of a board; it does not depend on the greatest number of chequers."""
    number = 0
    chequers = 0
    for k, count in enumerate(reversed(board), start=1):
        chequers += count  # on the k highest points
        number += comb(chequers + k - 1, k)
    return number


def board_of(number: int, points: int) -> Board:
    """Return the board that has this number: the inverse of `position_number`."""
    totals = []
    for k in range(points, 0, -1):
        m = k - 1
        while comb(m + 1, k) <= number:
            m += 1
        number -= comb(m, k)
        totals.append(m - k + 1)  # chequers on the k highest points, the greatest k first
    totals.append(0)
    return tuple(totals[i] - totals[i + 1] for i in range(points))


# ---- 2. Legal plays in the bearoff --------------------------------------------------------------------------

# The 21 rolls, each with the number of 36 throws in which it comes up.
ROLLS = [(1 if i == j else 2, (i, j)) for i in range(1, 7) for j in range(1, i + 1)]


def move_chequer(board: Board, source: int, die: int) -> Board | None:
    """Return the board after a move from an index (point less 1), or None where the move is illegal."""
    if board[source] == 0:
        return None
    target = source - die
    if target < 0:
        too_high_a_die = target < -1 and any(board[source + 1 :])
        if any(board[6:]) or too_high_a_die:
            return None
    after = list(board)
    after[source] -= 1
    if target >= 0:
        after[target] += 1
    return tuple(after)


def _play_dice(board: Board, dice: tuple[int, ...], highest: int, found: dict[Board, None]) -> None:
    """Add to `found` all boards after the dice, of which the first is moved from `highest` or a lower index."""
    if not dice or not any(board):
        found.setdefault(board)
        return
    rest = dice[1:]
    for source in range(highest, -1, -1):
        after = move_chequer(board, source, dice[0])
        if after is not None:
            # The moves of a double are made from back to front; another die may move any chequer.
            next_highest = source if rest and rest[0] == dice[0] else len(board) - 1
            _play_dice(after, rest, next_highest, found)


def legal_plays(board: Board, roll: tuple[int, int]) -> list[Board]:
    """Return the boards that a roll leads to, each once, in gnubg's order (first appearance)."""
    larger, smaller = roll
    found: dict[Board, None] = {}  # a dict keeps the order in which keys were added
    if larger == smaller:
        _play_dice(board, (larger,) * 4, len(board) - 1, found)
    else:
        _play_dice(board, (larger, smaller), len(board) - 1, found)
        _play_dice(board, (smaller, larger), len(board) - 1, found)
    return list(found)


def numbered_plays(number: int, points: int) -> list[tuple[int, list[int]]]:
    """Return, for each roll, its weight and the position numbers that it leads to."""
    board = board_of(number, points)
    return [(times, [position_number(play) for play in legal_plays(board, roll)]) for times, roll in ROLLS]


# ---- 3. One-sided distributions -----------------------------------------------------------------------------

CERTAIN = 65535  # a probability of 1
SLOTS = 32  # rolls 0 to 31; later rolls are not stored
ONE_SIDED_CHEQUERS = 15
AT_ONCE = (CERTAIN,) + (0,) * (SLOTS - 1)


def rank(distribution: Distribution) -> int:
    """Return the average number of rolls, times 65535, of the stored numbers."""
    return sum(roll * probability for roll, probability in enumerate(distribution))


def average(best: list[tuple[int, Distribution]]) -> Distribution:
    """Return the distribution one roll earlier, from a (weight, best distribution) pair for each roll."""
    sums = [0] * SLOTS
    for times, distribution in best:
        for i in range(SLOTS - 1):
            sums[i + 1] += times * distribution[i]
    rounded = [(total + 18) // 36 for total in sums]
    # The most likely roll takes what rounding added or lost; the earliest of equals.
    rounded[rounded.index(max(rounded))] -= sum(rounded) - CERTAIN
    return tuple(rounded)


def one_sided(points: int) -> list[tuple[Distribution, Distribution]]:
    """Return, for every position number, the distributions of the last and of the first chequer off."""
    bearoff = [AT_ONCE]
    gammon = [AT_ONCE]
    bearoff_rank = [0]
    gammon_rank = [0]
    for number in range(1, comb(points + ONE_SIDED_CHEQUERS, points)):  # plays lead to smaller numbers
        best_bearoff = []
        best_gammon = []
        for times, after in numbered_plays(number, points):
            # min() returns the first of equals: the first play generated wins a tie.
            best_bearoff.append((times, bearoff[min(after, key=bearoff_rank.__getitem__)]))
            best_gammon.append((times, gammon[min(after, key=gammon_rank.__getitem__)]))
        bearoff.append(average(best_bearoff))
        gammon.append(
            average(best_gammon) if sum(board_of(number, points)) == ONE_SIDED_CHEQUERS else AT_ONCE
        )
        bearoff_rank.append(rank(bearoff[-1]))
        gammon_rank.append(rank(gammon[-1]))
    return list(zip(bearoff, gammon, strict=True))


# ---- 4. Two-sided equities ----------------------------------------------------------------------------------

WON = 32767  # an equity of +1
LOST = -32768  # an equity of -1
COLUMNS = 4  # cubeless; the side on roll owns the cube; the cube is centred; the opponent owns the cube


def truncate(numerator: int, divisor: int) -> int:
    """Divide and round towards zero."""
    return numerator // divisor if numerator >= 0 else -(-numerator // divisor)


def with_cube_action(no_double: int, double_take: int) -> int:
    """Return the equity of a side that may double; `double_take` is on the scale of the doubled cube."""
    if double_take >= truncate(no_double, 2):
        return WON if double_take >= 16383 else 2 * double_take
    return no_double


def seen_by_other_side(record: list[int]) -> list[int]:
    """Return the record of the side on roll as the equities of the side that has just moved."""
    cubeless, owned, centred, opponent_owns = record
    # ~v is -v - 1, which makes WON and LOST mirror images.
    they_double = with_cube_action(centred, opponent_owns)
    they_redouble = with_cube_action(owned, opponent_owns)
    return [~cubeless, ~opponent_owns, ~they_double, ~they_redouble]


def two_sided(points: int, chequers: int) -> list[array[int]]:
    """Return four arrays, one a column, of which entry us * n + them is an equity as a signed 16-bit number."""
    count = comb(points + chequers, points)
    plays = [numbered_plays(number, points) for number in range(count)]
    equities = [array("h", bytes(2 * count * count)) for _ in range(COLUMNS)]
    # after_move[column][them][j]: the equity to us when we have moved to j and they are on roll.
    after_move = [[array("h", bytes(2 * count)) for _ in range(count)] for _ in range(COLUMNS)]
    for total in range(2 * count - 1):  # a play makes us + them smaller, whoever is on roll
        for us in range(max(0, total - count + 1), min(total, count - 1) + 1):
            them = total - us
            if us == 0 or them == 0:
                record = [WON if us == 0 else LOST] * COLUMNS
            else:
                record = []
                for column in range(COLUMNS):
                    values = after_move[column][them]
                    sum_of_36 = sum(times * max([values[j] for j in after]) for times, after in plays[us])
                    record.append(truncate(sum_of_36, 36))
            turned = seen_by_other_side(record)
            for column in range(COLUMNS):
                equities[column][us * count + them] = record[column]
                after_move[column][us][them] = turned[column]
    return equities


# ---- 5. gnubg's files ---------------------------------------------------------------------------------------


def header(text: str) -> bytes:
    """Return the 40 bytes that begin a file: the text, filled with x, and a line feed."""
    return text.ljust(39, "x").encode("ascii") + b"\n"


def one_sided_file(points: int, gammon: bool = True, compressed: bool = True) -> bytes:
    """Return a one-sided file; all its integers are unsigned and little-endian."""
    begin = header(f"gnubg-OS-{points:02}-{ONE_SIDED_CHEQUERS}-{gammon:d}-{compressed:d}-0")
    index = bytearray()
    data = bytearray()
    for pair in one_sided(points):
        distributions = pair if gammon else pair[:1]
        entry = struct.pack("<I", len(data) // 2)  # where the numbers of this position begin
        for distribution in distributions:
            positive = [roll for roll, probability in enumerate(distribution) if probability]
            kept = positive if compressed else range(SLOTS)  # compression cuts the zeros at both ends
            stored = distribution[kept[0] : kept[-1] + 1]
            entry += struct.pack("<BB", len(stored), kept[0])
            data += struct.pack(f"<{len(stored)}H", *stored)
        if compressed:
            index += entry
    return begin + bytes(index) + bytes(data)


def two_sided_file(points: int, chequers: int, cubeful: bool = True) -> bytes:
    """Return a two-sided file; equities are stored as unsigned 16-bit numbers, 0 for -1 and 65535 for +1."""
    columns = two_sided(points, chequers)[: COLUMNS if cubeful else 1]
    data = bytearray(header(f"gnubg-TS-{points:02}-{chequers:02}-{cubeful:d}"))
    for record in zip(*columns, strict=True):
        data += struct.pack(f"<{len(record)}H", *(equity + 32768 for equity in record))
    return bytes(data)


# ---- 6. Peelle's ncodes and ns ------------------------------------------------------------------------------


def peelle_boards(chequers: int) -> list[Board]:
    """Return all boards of six points with at most so many chequers, in Peelle's order."""
    return [board for board in product(range(chequers + 1), repeat=6) if sum(board) <= chequers]


def ncode(board: Board) -> int:
    """Return the number whose base-16 digits are the counts, the ace point's first."""
    return sum(count * 16 ** (5 - index) for index, count in enumerate(board))


def sum_as_j(numbers: list[float]) -> float:
    """Add 36 numbers in the order in which J 9.7 adds them; only this order gives the same last bits."""
    lanes = []
    for lane in range(4):
        g = numbers[lane::4]
        first_half = ((g[0] + g[8]) + g[4]) + (g[1] + g[5])
        lanes.append(first_half + ((g[2] + g[6]) + (g[3] + g[7])))
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])


def peelle_ns(chequers: int) -> list[float]:
    """Return the least expected number of rolls of every board, in Peelle's order."""
    expected: dict[Board, float] = {(0,) * 6: 0.0}
    # The six doubles, then the others by their smaller die, each of these twice in succession.
    throws = sorted(ROLLS, key=lambda entry: (entry[0], entry[1][1], entry[1][0]))
    for board in sorted(peelle_boards(chequers), key=position_number)[1:]:
        best = []
        for times, roll in throws:
            best += [min(expected[play] for play in legal_plays(board, roll))] * times
        expected[board] = 1 + sum_as_j(best) / 36
    return [expected[board] for board in peelle_boards(chequers)]


# ---- 7. The command -----------------------------------------------------------------------------------------


def main() -> None:
    """Write one file as the command line says."""
    parser = argparse.ArgumentParser(description="Write a bearoff database from the specification.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    pairs = kinds.add_parser("two-sided")
    pairs.add_argument("size", help="points x chequers, such as 6x6")
    pairs.add_argument("--cubeless", action="store_true")
    single = kinds.add_parser("one-sided")
    single.add_argument("points", type=int)
    single.add_argument("--uncompressed", action="store_true")
    single.add_argument("--no-gammon", action="store_true")
    for part in (pairs, single):
        part.add_argument("file", type=Path)
    options = parser.parse_args()
    if options.kind == "two-sided":
        points, chequers = map(int, options.size.split("x"))
        data = two_sided_file(points, chequers, not options.cubeless)
    else:
        data = one_sided_file(options.points, not options.no_gammon, not options.uncompressed)
    options.file.write_bytes(data)


if __name__ == "__main__":
    main()
