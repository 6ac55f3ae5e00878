"""Compiled loops of `chains` and `oracle`: the game of two chains of boards, and play-outs measured against it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.races.kernels_chains import (
    ANY_PLAYS,
    BOARDS,
    EXPANDED,
    MOST_PLAYS,
    NONE,
    ONE,
    TABLES,
    _begin,
    _between,
    _grow,
    _mix,
    _throw,
    race,
)
from bgfmt.jit import njit
from bgfmt.jit.lanes import fetch_line
from bgfmt.solver.kernels.maxima import best_rolls

HALF = np.float32(0.5)
STEEPEST = np.float32(3.0)  # most that a chance to win the game may count, in worths of a game
BESIDE = 2  # boards on either side that a slope is taken from
LEAN = np.float32(1e-4)  # squared chance to win that weighs as much as the slope without a cube
VALUES, SLOPES, WINS = range(3)  # of a line

# A row of lanes has the K columns one after another, each with the boards of a side. Lanes of all columns are taken
# together: loops over the boards of one are too short for vectors.

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
DOUBLING = "(b1.1C, f4.1C, i8.1C, f4.1C, f4.1C)"
GAME = f"(({DOUBLING}, {DOUBLING}), (f4.2C, f4.2C), f4.1C, i8, f4.2C, i8)"


@njit()
def _add(total: Any, values: Any, times: Any) -> None:
    for i in range(total.size):
        total[i] += times * values[i]


@njit()
def _mix_rows(out: Any, rows: Any, near: Any, weights: Any) -> None:
    """out: the sum of four rows, each with its weight, or the one that has all of it."""
    if weights[0] == ONE:
        out[:] = rows[near[0]]
        return
    a = rows[near[0]]
    b = rows[near[1]]
    c = rows[near[2]]
    d = rows[near[3]]
    for i in range(out.size):
        out[i] = weights[0] * a[i] + weights[1] * b[i] + weights[2] * c[i] + weights[3] * d[i]


@njit()
def _carry(out: Any, values: Any, steep: Any, wins: Any, chances: Any) -> None:
    """out: values of a line at these chances to win."""
    for i in range(out.size):
        out[i] = values[i] + steep[i] * (chances[i] - HALF * wins[i])


@njit()
def _move(values: Any, steep: Any, wins: Any) -> None:
    for i in range(values.size):
        values[i] -= HALF * steep[i] * wins[i]


@njit()
def _rises(values: Any, wins: Any, by: int, up: Any, along: Any) -> None:
    """Products and squares of the differences to the board `by` places on."""
    for i in range(up.size - by):
        apart = wins[i + by] - wins[i]
        up[i] = apart * (values[i + by] - values[i])
        along[i] = apart * apart


@njit()
def _ratio(up: Any, along: Any, least: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = min(STEEPEST * least[i], max(NONE, np.true_divide(up[i], along[i])))


@njit()
def _line(line: Any, wholes: Any, cubeless: int, scratch: Any) -> None:
    """Make a line of the values (K n lanes) and the chances to win of a board on roll against n, by rising means.

    line (3, K n): VALUES, SLOPES, WINS, as they are mixed: at another chance to win a value is that of each board
    beside, carried along the mean of its slope and the common one, so that from VALUES half of what the slope makes
    of the chance is taken away. wholes (K,): what all of the chance to win counts, the slope where it is `cubeless`.
    scratch (4, K n).
    """
    lanes = line.shape[1]
    n = lanes // wholes.size
    up = scratch[0]
    along = scratch[1]
    rise = scratch[2]
    square = scratch[3]
    values = line[VALUES]
    steep = line[SLOPES]
    wins = line[WINS]
    for c in range(wholes.size):
        steep[c * n : c * n + n] = wholes[c]
    for i in range(lanes):
        up[i] = LEAN * steep[i]
    along[:] = LEAN
    for by in range(1, min(BESIDE + 1, n)):
        _rises(values, wins, by, rise, square)
        for c in range(n, lanes + 1, n):
            rise[c - by : c] = square[c - by : c] = NONE
        m = lanes - by
        _add(up, rise, ONE)
        _add(along, square, ONE)
        _add(up[by:], rise[:m], ONE)
        _add(along[by:], square[:m], ONE)
    _ratio(up, along, steep, steep)
    if cubeless >= 0:
        steep[cubeless * n : cubeless * n + n] = wholes[cubeless]
    _move(values, steep, wins)


@njit()
def _chances(out: Any, row: Any, before: Any) -> None:
    """out (lanes,): the chance of a board on roll to be off first. before : see `_before`."""
    out[:] = ONE
    for j in range(1, row.size):
        here = row[j] - row[j - 1]
        if here != NONE:
            _add(out, before[j], -here)
            if row[j] == ONE:
                break


@njit()
def _before(space: Any, t: int, k: int) -> Any:
    """The chances of the boards chosen after t rolls to be off within one roll fewer than 0, 1, ...: (rolls, K n)."""
    chosen = space.chosen[space.nexts[t] : space.nexts[t + 1]]
    within = space.within
    n = chosen.size
    out = np.zeros((within.shape[1], k * n), np.float32)
    for j in range(1, out.shape[0]):
        for a in range(n):
            out[j, a] = within[chosen[a], j - 1]
        for i in range(n, k * n):
            out[j, i] = out[j, i - n]
    return out


@njit()
def _faces(
    lines: Any, mine: Any, t: int, other: Any, u: int, walking: bool, wholes: Any, cubeless: int
) -> Any:  # fmt: skip
    """The lines turned round: for each board chosen in the chain `mine` after t rolls, which waits, those of the
    boards chosen in `other` after u rolls, on roll: (n, 3 K many).

    lines (boards chosen in the chain of the other side, 3 K n); walking : whether `other` is not that chain.
    """
    k = wholes.size
    n = mine.nexts[t + 1] - mine.nexts[t]
    first = other.nexts[u]
    many = other.nexts[u + 1] - first
    if walking:
        here = np.empty((many, 3 * k * n), np.float32)
        before = _before(mine, t, k)
        chances = np.empty(k * n, np.float32)
        scratch = np.empty((4, k * n), np.float32)
        for y in range(many):
            x = other.chosen[first + y]
            parts = here[y].reshape(3, k * n)
            _mix_rows(here[y], lines, other.near[x], other.weights[x])
            _chances(chances, other.within[x], before)
            _carry(parts[VALUES], parts[VALUES], parts[SLOPES], parts[WINS], chances)
            parts[WINS] = chances
            _line(parts, wholes, cubeless, scratch)
        lines = here
    out = np.empty((n, 3 * k * many), np.float32)
    for a in range(n):
        for q in range(3 * k):
            for y in range(many):
                out[a, q * many + y] = lines[y, q * n + a]
    return out


@njit()
def _half(
    out: Any, rows: Any, lines: Any, chain: Any, mine: Any, t: int, other: Any, u: int, walking: bool, side: int,
    game: Any,
) -> None:  # fmt: skip
    """What the boards of a side after roll t are worth to it on roll, out (its chosen, K times the other's chosen).

    lines : of the other side, on roll next, see `_line`, over the boards chosen in both chains. chain : of this side;
    mine, other : the boards that are asked about, with `walking` those that dice came to. rows : filled with what
    each board after roll t + 1, counted from the first, is worth against those of the other side. game : see `solve`.
    """
    doublings, wons, wholes, cubeless, ending, few = game
    may, passed, source, add, times = doublings[1 - side]
    won = wons[side]
    lost = wons[1 - side]
    k = may.size
    others = other.chosen[other.nexts[u] : other.nexts[u + 1]]
    their_within = other.within
    their_gains = other.gains
    their_small = other.small
    many = others.size
    lanes = k * many
    begin = mine.layers[t + 1]
    end = mine.layers[t + 2]
    small = mine.small
    rests = np.empty(many, np.int64)  # where exact values against each of the others begin, if there are any
    for b in range(many):
        rests[b] = ((1 - side) * few + their_small[others[b]]) * few if their_small[others[b]] >= 0 else -few
        for x in range(begin, end if rests[b] >= 0 else begin):
            if small[x] >= 0:  # asked for well before they are read
                fetch_line(ending.ctypes.data + (rests[b] + small[x]) * k * ending.itemsize)
    all_exact = (rests >= 0).all()
    known = lines.shape[0] > 0
    faces = np.empty((0, 0), np.float32)
    if known:
        faces = _faces(lines, chain, t + 1, other, u, walking, wholes, cubeless)
    wide = (many + 15) & ~15  # of loops in vectors
    still = np.zeros((mine.within.shape[1], wide), np.float32)
    low = np.empty(lanes, np.float32)
    highs = np.empty((4, lanes), np.float32)
    counts = np.empty(lanes, np.float32)
    lone = np.empty(lanes, np.float32)
    for b in range(many):
        y = others[b]
        for j in range(still.shape[0]):
            still[j, b] = ONE - their_within[y, j]
        for c in range(k):
            low[c * many + b] = -won[c, their_gains[y]]
    for c in range(k):
        one = slice(c * many, c * many + many)
        for gain in range(4):
            highs[gain, one] = lost[c, gain]
        counts[one] = wholes[c]
        lone[one] = won[c, 1]
    values = np.empty(lanes, np.float32)
    wins = np.empty(lanes, np.float32)
    chances = np.empty(wide, np.float32)
    numbers = mine.numbers
    within = mine.within
    gains = mine.gains
    near = mine.near
    weights = mine.weights
    ends = mine.ends
    results = mine.results
    two = 2 * lanes
    for x in range(begin, end):
        if not numbers[x]:
            for i in range(lanes):
                rows[x - begin, i] = -low[i]
            continue
        if small[x] < 0 or not all_exact:
            for b in range(wide):
                chances[b] = ONE
            before = NONE
            for j in range(still.shape[0]):
                here = within[x, j] - before
                if here != NONE:
                    before = within[x, j]
                    for b in range(wide):
                        chances[b] -= here * still[j, b]
                    if before == ONE:
                        break
            for c in range(k):
                for b in range(many):
                    wins[c * many + b] = chances[b]
            p = near[x, 0]
            q = near[x, 1]
            r = near[x, 2]
            s = near[x, 3]
            v = weights[x, 0]
            w = weights[x, 1]
            y = weights[x, 2]
            z = weights[x, 3]
            gain = gains[x]
            for i in range(lanes):
                if known:
                    value = v * faces[p, i] + w * faces[q, i] + y * faces[r, i] + z * faces[s, i]
                    j = lanes + i
                    m = two + i
                    steep = v * faces[p, j] + w * faces[q, j] + y * faces[r, j] + z * faces[s, j]
                    middle = v * faces[p, m] + w * faces[q, m] + y * faces[r, m] + z * faces[s, m]
                    value += steep * (wins[i] - HALF * middle)
                else:
                    value = wins[i] * counts[i] - lone[i]
                values[i] = max(low[i], min(highs[gain, i], value))
        if small[x] >= 0:
            for c in range(k):
                for b in range(many):
                    if rests[b] >= 0:
                        values[c * many + b] = ending[rests[b] + small[x], c]
        for i in range(lanes):
            rows[x - begin, i] = -values[i]
        for c in range(k):
            if may[c]:
                d = source[c] * many
                plus = add[c]
                factor = times[c]
                most = passed[c]
                for b in range(many):
                    doubled = min(plus + factor * values[d + b], most)
                    rows[x - begin, c * many + b] = -max(values[c * many + b], doubled)
    total = np.empty(lanes)
    best = np.empty(lanes, np.float32)
    zero: Any = np.int64(0)
    for r in range(mine.nexts[t], mine.nexts[t + 1]):
        best_rolls(total, best, rows, ends, results, r, zero, lanes)
        out[r - mine.nexts[t]] = total


@njit()
def _later(lines: Any, starts: Any, h: int, mine: Any, k: int) -> Any:
    """The lines after half roll h, those of a board each."""
    later = lines[starts[h + 1] : starts[h + 2]]
    width = max(3 * k * (mine.nexts[h // 2 + 2] - mine.nexts[h // 2 + 1]), 1)
    return later.reshape(later.size // width, width)


@njit(f"f8.1C, f8.2C, f4.1C, i8.1C, ({BOARDS}, {BOARDS}), {GAME}")
def solve(on_roll: Any, after: Any, lines: Any, starts: Any, chains: Any, game: Any) -> None:
    """The game of two chains, solved backwards: on_roll (K,), the value of the start to the side on roll.

    chains : `Boards` of the side on roll and of the other. after (boards, K): what each board after the first roll,
    counted from the first of them, is worth to the side that rolled; may be empty.
    lines : filled; half roll h = 2 t + s has side s on roll after t rolls of it, the other having rolled t + s times;
    its m x n pairs of boards stand from starts[h] on, see `_line`; after the last one there are none.
    game : (doubling, won, wholes, cubeless, ending, few); doubling of each side (may, passed, source, add, times);
    won of each side (K, 4): value to it of winning; wholes (K,): what winning instead of losing counts; cubeless: the
    column without a cube, -1 for none; ending : exact values, (2 few few, K), by which side is on roll, and by the
    numbers of the board on roll and of the other.
    """
    k = on_roll.size
    wholes = game[2]
    cubeless = game[3]
    walking: Any = np.bool_(False)
    for h in range(starts.size - 3, -1, -1):
        side = h % 2
        t = h // 2
        mine = chains[side]
        other = chains[1 - side]
        u = t + side
        m = mine.nexts[t + 1] - mine.nexts[t]
        n = other.nexts[u + 1] - other.nexts[u]
        if m == 0 or n == 0:
            continue
        out = np.empty((m, k * n), np.float32)
        scratch = np.empty((4, k * n), np.float32)
        rows = np.empty((mine.layers[t + 2] - mine.layers[t + 1], k * n), np.float32)
        later = _later(lines, starts, h, mine, k)
        _half(out, rows, later, mine, mine, t, other, u, walking, side, game)
        if h == 0:
            on_roll[:] = out[0]
            for x in range(after.shape[0]):
                after[x] = rows[x]
        here = lines[starts[h] : starts[h + 1]].reshape(m, 3, k * n)
        before = _before(other, u, k)
        for a in range(m):
            here[a, VALUES] = out[a]
            _chances(here[a, WINS], mine.within[mine.chosen[mine.nexts[t] + a]], before)
            _line(here[a], wholes, cubeless, scratch)


@njit(f"f8.2C, i8.3C, i8, i8, i8, i8.2C, {TABLES}, {EXPANDED}, {EXPANDED}, ({BOARDS}, {BOARDS}), {GAME}")
def estimates(
    out: Any, boards: Any, most: int, most_first: int, few: int, terms: Any, tables: Any, root: Any, kept: Any,
    spaces: Any, game: Any,
) -> int:  # fmt: skip
    """The values of races before the roll, out (N, K), of boards (N, 2, points), the side on roll first; returns of
    how many, up to the first one without room. What else is given: see `kernels_chains.race` and `solve`."""
    lines = np.empty(0, np.float32)
    after = np.empty((0, out.shape[1]))
    no: Any = np.bool_(False)  # `race` is compiled once for any value, and again for a constant
    for n in range(len(boards)):
        starts = race(
            boards[n], 3 * out.shape[1], no, no, most, most_first, few, terms, tables, root, kept, spaces
        )
        if starts.size == 0:
            return n
        if lines.size < starts[-1]:
            lines = np.empty(starts[-1], np.float32)
        solve(out[n], after, lines, starts, spaces, game)
    return len(boards)


@njit(
    f"f8.3C, u8, i1.1C, f4.1C, i8.1C, ({BOARDS}, {BOARDS}), {GAME}, i8, i8.2C, {TABLES}, ({EXPANDED}, "
    f"{EXPANDED}), ({BOARDS}, {BOARDS})"
)
def play_outs(
    out: Any, seed: Any, board: Any, lines: Any, starts: Any, chains: Any, game: Any, few: int, terms: Any,
    tables: Any, kept: Any, spaces: Any,
) -> None:  # fmt: skip
    """Play out a race; out (2, N, K): mean values to the side on roll of the games with each of N throws of its dice,
    and with each of those of the other side.

    Each side throws its dice N times, and every throw of one side meets every one of the other. It plays what is best
    against all of them on the average: what is wrong by that is wrong by little of little.
    board (points,) : what the roll of the side that began has been played to, so that the other is on roll; empty
    before it. lines, starts, chains, game : of `solve`. kept : of each side, see `kernels_chains._expand`; spaces :
    `Boards` of each side.

    The value of a game is that of the start one roll ahead, and the sum of what the values on the way turn out to be
    wrong by: the mean over the 21 rolls of what is best then against the value it was reached for. So the luck of the
    dice is taken away.
    """
    k = out.shape[2]
    many = out.shape[1]
    first = 1 if board.size else 0
    last = starts.size - 2
    room = np.zeros(80, np.int64), np.empty(ANY_PLAYS, np.int64), np.empty(MOST_PLAYS)
    start = np.empty(terms.shape[0], np.int64)
    # of the throws at each half roll: the board on roll, and what it plays to
    at = np.full((last + 2, many), -1)
    to = np.zeros((last, many), np.int64)
    for side in range(2):
        t = 1 if first and side == 0 else 0
        for j in range(start.size):
            start[j] = board[j] if t else chains[side].boards[0, j]
        _begin(t, start, few, terms, tables, spaces[side], room[0])
        if t:
            _between(t, chains[side], spaces[side])
        at[2 * t + side] = 0
    marks = np.empty(spaces[0].numbers.size, np.int64)
    counts = np.empty(many)
    shape = last, many, k * many
    worth = np.empty(shape, np.float32)
    reached = np.empty(shape, np.float32)
    h: Any = np.int64(first)
    walking: Any = np.bool_(True)
    while h < last:
        side = h % 2
        t = h // 2
        u = t + side
        mine = spaces[side]
        other = spaces[1 - side]
        m = mine.nexts[t + 1] - mine.nexts[t]
        n = other.nexts[u + 1] - other.nexts[u]
        if not (m and n and _grow(t, few, terms, tables, kept[side], mine, room)):
            break
        _between(t + 1, chains[side], mine)
        lanes = k * n
        here = np.empty((mine.layers[t + 2] - mine.layers[t + 1], lanes), np.float32)
        held = np.empty((m, lanes), np.float32)
        later = _later(lines, starts, h, chains[side], k)
        _half(held, here, later, chains[side], mine, t, other, u, walking, side, game)
        counts[:] = 0.0
        for j in range(many):
            if at[h + 1, j] >= 0:
                counts[at[h + 1, j]] += 1.0
        _throw(t, _mix(_mix(seed) + np.uint64(h)), mine, at[h], here, counts[:n], marks, to[h], at[h + 2])
        for i in range(many):
            if at[h, i] >= 0:
                worth[h, i, :lanes] = held[at[h, i]]
                reached[h, i, :lanes] = here[to[h, i]]
        h += 1
    last = h
    wrong = np.zeros((many, k, many))
    later_wrong = np.zeros((many, k, many))
    for h in range(last - 1, first - 1, -1):
        side = h % 2
        t = h // 2
        u = t + side
        mine = spaces[side]
        other = spaces[1 - side]
        may, passed, source, add, times = game[0][side]
        n = other.nexts[u + 1] - other.nexts[u]
        now = wrong
        wrong = later_wrong
        for i in range(many):
            if at[h, i] < 0:
                continue
            x = mine.layers[t + 1] + to[h, i]
            for j in range(many):
                b = at[h + 1, j]
                if b < 0:
                    continue
                y = other.chosen[other.nexts[u] + b]
                more = h + 1 < last and mine.numbers[x] and (mine.small[x] < 0 or other.small[y] < 0)
                for c in range(k):
                    off = now[i, c, j] - reached[h, i, c * n + b] if more else 0.0
                    now[i, c, j] = worth[h, i, c * n + b] + off
                for c in range(k):
                    value = now[i, c, j]
                    if may[c]:
                        d = source[c]
                        taken = add[c] + times[c] * worth[h, i, d * n + b]
                        if min(taken, passed[c]) > worth[h, i, c * n + b]:
                            value = passed[c] if passed[c] <= taken else add[c] + times[c] * now[i, d, j]
                    wrong[j, c, i] = -value
        later_wrong = now
        if h == first:
            for i in range(many):
                for c in range(k):
                    for j in range(many):
                        out[side, i, c] += now[i, c, j] / many
                        out[1 - side, j, c] += now[i, c, j] / many
