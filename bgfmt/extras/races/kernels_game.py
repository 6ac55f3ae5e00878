"""Compiled loops of `chains` and `rollouts`: solve the game of two chains of boards, and roll out games.

Terms: a line has the values of one board on roll against the n chosen boards of the other side, in K cube states,
with slopes, so that it can be evaluated at any win probability. A half roll is one roll of one side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.extras.races.kernels_chains import (
    ANY_PLAYS,
    BOARDS,
    EXPANDED,
    MOST_PLAYS,
    TABLES,
    _begin,
    _grow,
    _mix,
    _throw,
    race,
)
from bgfmt.extras.races.kernels_choice import NONE, ONE, _between
from bgfmt.jit import njit
from bgfmt.jit.lanes import fetch_line
from bgfmt.solver.kernels.maxima import best_rolls

HALF = np.float32(0.5)
STEEPEST = np.float32(3.0)  # greatest slope, relative to the slope without a cube
BESIDE = 2  # neighbours on either side that a slope is computed from
LEAN = np.float32(
    1e-4
)  # squared difference of win probabilities that weighs as much as the slope without a cube
VALUES, SLOPES, WINS = range(3)  # rows of a line: values, slopes and win probabilities

# A row of lanes has the K columns one after another, each with the boards of a side. Lanes of all columns are
# processed together: loops over the boards of one are too short for vectors.

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
DOUBLING = "(b1.1C, f4.1C, i8.1C, f4.1C, f4.1C)"
GAME = f"(({DOUBLING}, {DOUBLING}), (f4.2C, f4.2C), f4.1C, i8, f4.2C, i8)"


@njit()
def _add(total: Any, values: Any, times: Any) -> None:
    for i in range(total.size):
        total[i] += times * values[i]


@njit()
def _mix_rows(out: Any, rows: Any, near: Any, weights: Any) -> None:
    """Fill `out` with the weighted sum of four rows, or copy one if its weight is 1."""
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
    """Fill `out` with the values of a line at these win probabilities."""
    for i in range(out.size):
        out[i] = values[i] + steep[i] * (chances[i] - HALF * wins[i])


@njit()
def _move(values: Any, steep: Any, wins: Any) -> None:
    for i in range(values.size):
        values[i] -= HALF * steep[i] * wins[i]


@njit()
def _rises(values: Any, wins: Any, by: int, up: Any, along: Any) -> None:
    """Fill `up` and `along` for the neighbour `by` places on: win difference times value difference, and squared."""
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
    """Compute the slopes of a line from its values and win probabilities, boards by rising mean rolls.

    Lines are mixed with interpolation weights. The value at another win probability is then that of each neighbour
    carried along the mean of its own slope and the mixed one; so half of slope times win probability is subtracted
    from VALUES here.

    Parameters
    ----------
    line
        (3, K n): VALUES and WINS are given; SLOPES is filled, VALUES changed.
    wholes
        (K,) difference in value of winning and losing the game: the slope in the column `cubeless`, and the bound of
        the others.
    cubeless
        The column without a cube, -1 for none.
    scratch
        (4, K n)
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
    """Fill `out` (lanes,) with the probabilities that a board on roll is off first, against the boards of `_before`.

    row : (rolls,) probability that the board on roll is off within 0, 1, 2, ... rolls.
    """
    out[:] = ONE
    for j in range(1, row.size):
        here = row[j] - row[j - 1]
        if here != NONE:
            _add(out, before[j], -here)
            if row[j] == ONE:
                break


@njit()
def _before(space: Any, t: int, k: int) -> Any:
    """Return (rolls, K n): row j is the probability that each chosen board of layer t is off within j - 1 rolls."""
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
    """Transpose the lines of the other side, so that they can be mixed for a board that waits.

    Parameters
    ----------
    lines
        (chosen boards of the other side's chain, 3 K n) its lines against the n chosen boards of `mine`.
    mine, t
        The chain of the side that waits, after t rolls.
    other, u
        The boards of the side on roll after u rolls, `many` of them.
    walking
        `other` has boards reached by dice, not those of the chain; their lines are interpolated.
    wholes, cubeless
        See `_line`.

    Returns
    -------
    (n, 3 K many)
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
def _fetch_exact(rests: Any, small: Any, ending: Any, k: int) -> None:
    """Prefetch the exact values of boards with few chequers, well before they are read.

    rests : where the exact values against each of the others begin in `ending`, negative for none. small : numbers of
    the boards among those, negative for others.
    """
    for b in range(rests.size):
        for x in range(small.size if rests[b] >= 0 else 0):
            if small[x] >= 0:
                fetch_line(ending.ctypes.data + (rests[b] + small[x]) * k * ending.itemsize)


@njit()
def _win(chances: Any, within: Any, still: Any) -> None:
    """Set the win probabilities of a board on roll against each of the others.

    within : probabilities of being off within each number of rolls. still : (rolls, others) those that the other side
    is not.
    """
    for b in range(chances.size):
        chances[b] = ONE
    before = NONE
    for j in range(still.shape[0]):
        here = within[j] - before
        if here != NONE:
            before = within[j]
            for b in range(chances.size):
                chances[b] -= here * still[j, b]
            if before == ONE:
                break


@njit()
def _read_exact(values: Any, rests: Any, number: int, ending: Any, k: int) -> None:
    """Set the values of a board against others that are in the table of exact values too.

    number : of the board in that table. rests, ending : see `_fetch_exact`.
    """
    for c in range(k):
        for b in range(rests.size):
            if rests[b] >= 0:
                values[c * rests.size + b] = ending[rests[b] + number, c]


@njit()
def _interpolate(values: Any, wins: Any, faces: Any, near: Any, weights: Any) -> None:
    """Interpolate the values of a board between its four nearest chosen boards.

    They are corrected by the win probabilities of the board itself.

    wins : those win probabilities. faces : see `_faces`. near, weights : of the board, see `kernels_chains.Boards`.
    """
    lanes = values.size
    p = near[0]
    q = near[1]
    r = near[2]
    s = near[3]
    v = weights[0]
    w = weights[1]
    y = weights[2]
    z = weights[3]
    for i in range(lanes):
        j = lanes + i
        m = 2 * lanes + i
        value = v * faces[p, i] + w * faces[q, i] + y * faces[r, i] + z * faces[s, i]
        steep = v * faces[p, j] + w * faces[q, j] + y * faces[r, j] + z * faces[s, j]
        middle = v * faces[p, m] + w * faces[q, m] + y * faces[r, m] + z * faces[s, m]
        values[i] = value + steep * (wins[i] - HALF * middle)


@njit()
def _set_limits(
    low: Any, highs: Any, counts: Any, lone: Any, won: Any, lost: Any, wholes: Any, gains: Any
) -> None:
    """Set what a board can be worth against each of the others, and its values as a function of its win probability.

    Parameters
    ----------
    low, highs
        The least value, and the greatest by what the other side wins against the board (see `kernels_chains.Boards`).
    counts, lone
        The value is counts * probability - lone where the other side has no lines.
    won, lost, wholes
        See `solve`.
    gains
        What this side wins against each of the others.
    """
    many = gains.size
    for c in range(wholes.size):
        one = slice(c * many, c * many + many)
        for b in range(many):
            low[c * many + b] = -won[c, gains[b]]
        for gain in range(4):
            highs[gain, one] = lost[c, gain]
        counts[one] = wholes[c]
        lone[one] = won[c, 1]


@njit()
def _turn(row: Any, values: Any, doubling: Any, many: int) -> None:
    """Set a row to the values of a board to the other side, which may be doubled before.

    row, values : K numbers against each of the others. doubling : of the side on roll, see `solve`. many : how many
    others there are.
    """
    may, passed, source, add, times = doubling
    for i in range(values.size):
        row[i] = -values[i]
    for c in range(may.size):
        if may[c]:
            d = source[c] * many
            plus = add[c]
            factor = times[c]
            most = passed[c]
            for b in range(many):
                doubled = min(plus + factor * values[d + b], most)
                row[c * many + b] = -max(values[c * many + b], doubled)


@njit()
def _half(
    out: Any, rows: Any, lines: Any, chain: Any, mine: Any, t: int, other: Any, u: int, walking: bool, side: int,
    game: Any,
) -> None:  # fmt: skip
    """Compute the values of a side's chosen boards on roll, after t rolls, from the other side's next lines.

    Parameters
    ----------
    out
        (chosen boards of `mine`, K times those of `other`) filled with values to the side on roll.
    rows
        (boards of layer t + 1, same) filled with the values of the results, to this side when the other is on roll.
    lines
        Lines of the other side, on roll next, over the chosen boards of both chains; see `_line`.
    chain
        The chain of this side.
    mine, t, other, u
        The boards that are evaluated and the rolls that each side has had; with `walking` those reached by dice.
    side
        Which side this is, 0 or 1.
    game
        See `solve`.
    """
    doublings, wons, wholes, cubeless, ending, few = game
    k = wholes.size
    others = other.chosen[other.nexts[u] : other.nexts[u + 1]]
    many = others.size
    lanes = k * many
    begin = mine.layers[t + 1]
    end = mine.layers[t + 2]
    small = mine.small
    rests = np.empty(many, np.int64)
    for b in range(many):
        place = other.small[others[b]]
        rests[b] = ((1 - side) * few + place) * few if place >= 0 else -few
    _fetch_exact(rests, small[begin:end], ending, k)
    all_exact = (rests >= 0).all()
    known = lines.shape[0] > 0
    faces = np.empty((0, 0), np.float32)
    if known:
        faces = _faces(lines, chain, t + 1, other, u, walking, wholes, cubeless)
    wide = (many + 15) & ~15  # for vectorised loops
    still = np.zeros((mine.within.shape[1], wide), np.float32)
    for b in range(many):
        for j in range(still.shape[0]):
            still[j, b] = ONE - other.within[others[b], j]
    low = np.empty(lanes, np.float32)
    highs = np.empty((4, lanes), np.float32)
    counts = np.empty(lanes, np.float32)
    lone = np.empty(lanes, np.float32)
    _set_limits(low, highs, counts, lone, wons[side], wons[1 - side], wholes, other.gains[others])
    values = np.empty(lanes, np.float32)
    wins = np.empty(lanes, np.float32)
    chances = np.empty(wide, np.float32)
    for x in range(begin, end):
        if not mine.numbers[x]:
            for i in range(lanes):
                rows[x - begin, i] = -low[i]
            continue
        if small[x] < 0 or not all_exact:
            _win(chances, mine.within[x], still)
            for c in range(k):
                wins[c * many : c * many + many] = chances[:many]
            if known:
                _interpolate(values, wins, faces, mine.near[x], mine.weights[x])
            else:
                for i in range(lanes):
                    values[i] = wins[i] * counts[i] - lone[i]
            gain = mine.gains[x]
            for i in range(lanes):
                values[i] = max(low[i], min(highs[gain, i], values[i]))
        if small[x] >= 0:
            _read_exact(values, rests, small[x], ending, k)
        _turn(rows[x - begin], values, doublings[1 - side], many)
    total = np.empty(lanes)
    best = np.empty(lanes, np.float32)
    zero: Any = np.int64(0)
    for r in range(mine.nexts[t], mine.nexts[t + 1]):
        best_rolls(total, best, rows, mine.ends, mine.results, r, zero, lanes)
        out[r - mine.nexts[t]] = total


@njit()
def _later(lines: Any, starts: Any, h: int, mine: Any, k: int) -> Any:
    """Return the lines of the half roll after h, one row a board."""
    later = lines[starts[h + 1] : starts[h + 2]]
    width = max(3 * k * (mine.nexts[h // 2 + 2] - mine.nexts[h // 2 + 1]), 1)
    return later.reshape(later.size // width, width)


@njit(f"f8.1C, f8.2C, f4.1C, i8.1C, ({BOARDS}, {BOARDS}), {GAME}")
def solve(on_roll: Any, after: Any, lines: Any, starts: Any, chains: Any, game: Any) -> None:
    """Solve the game of two chains (boards kept after each roll of a side) backwards from its end.

    Parameters
    ----------
    on_roll
        (K,) filled with the values of the start to the side on roll.
    after
        (boards after the first roll, K) filled with their values to the side that rolled; may be empty.
    lines, starts
        The values of all half rolls are written to `lines`. In half roll h = 2 t + s side s is on roll after t rolls
        of its own, the other side having had t + s; its values of m x n pairs of boards begin at starts[h].
    chains
        `Boards` of the side on roll and of the other, see `kernels_chains.race`.
    game
        (doubling, won, wholes, cubeless, ending, few).
        doubling : (may, passed, source, add, times) of each side, see `bgfmt.solver.columns`.
        won : (K, 4) of each side, value to it of winning that many points.
        wholes : (K,) difference in value of winning and losing the game.
        cubeless : the column without a cube, -1 for none.
        ending : (2 few few, K) exact values, by the side on roll, the board on roll and the other board.
        few : number of boards in it.
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
    """Estimate the values of many races before the roll.

    Parameters
    ----------
    out
        (N, K) filled with values to the side on roll.
    boards
        (N, 2, points) chequers of the side on roll and of the other.

    The others are those of `kernels_chains.race` and `solve`.

    Returns
    -------
    The number of races evaluated: N, or fewer if memory is short for one.
    """
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


@njit()
def _count_games(counts: Any, at: Any) -> None:
    """Set the number of games at each board. at : the board of each game, negative for none."""
    counts[:] = 0.0
    for j in range(at.size):
        if at[j] >= 0:
            counts[at[j]] += 1.0


@njit()
def _add_values(
    out: Any, worth: Any, reached: Any, at: Any, to: Any, first: int, last: int, spaces: Any, doublings: Any
) -> None:
    """Add the mean values of the games of a rollout to `out`, from the last half roll back to the first.

    Parameters
    ----------
    out
        See `roll_out`.
    worth, reached
        (half rolls, N, K times boards) the values of the boards on roll, and of those that they play to.
    at, to
        (half rolls, N) the board on roll, negative for none, and the one that it plays to.
    first, last
        The half rolls.
    spaces, doublings
        See `roll_out` and `solve`.
    """
    k = out.shape[2]
    many = out.shape[1]
    wrong = np.zeros((many, k, many))
    later_wrong = np.zeros((many, k, many))
    for h in range(last - 1, first - 1, -1):
        side = h % 2
        t = h // 2
        u = t + side
        mine = spaces[side]
        other = spaces[1 - side]
        may, passed, source, add, times = doublings[side]
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


@njit(
    f"f8.3C, u8, i1.1C, f4.1C, i8.1C, ({BOARDS}, {BOARDS}), {GAME}, i8, i8.2C, {TABLES}, ({EXPANDED}, "
    f"{EXPANDED}), ({BOARDS}, {BOARDS})"
)
def roll_out(
    out: Any, seed: Any, board: Any, lines: Any, starts: Any, chains: Any, game: Any, few: int, terms: Any,
    tables: Any, kept: Any, spaces: Any,
) -> None:  # fmt: skip
    """Roll out a race: N sequences of dice for each side, and all N * N games of these.

    A side plays what is best on average against all sequences of the other side, which costs it little accuracy. The
    value of a game is that of the start by a one-roll lookahead, plus the sum of the errors of the values on the way:
    each is the mean over the 21 rolls of the best values after them, minus the value that the position was reached
    for. This removes most of the luck of the dice (variance reduction by control variates).

    Parameters
    ----------
    out
        (2, N, K) the mean values to the side on roll over the games with each sequence of its dice, and with each of
        the other side's, are added to it.
    seed
        The seed of the dice.
    board
        (points,) the board that the side that began has come to by its roll, the other being on roll; empty to begin
        before the roll.
    lines, starts, chains, game
        The solved game, see `solve`.
    few, terms, tables
        See `kernels_chains.race`.
    kept
        Caches of results of each side, see `kernels_chains._expand`.
    spaces
        `Boards` of each side for the boards reached by dice.
    """
    k = out.shape[2]
    many = out.shape[1]
    first = 1 if board.size else 0
    last = starts.size - 2
    room = np.zeros(80, np.int64), np.empty(ANY_PLAYS, np.int64), np.empty(MOST_PLAYS)
    start = np.empty(terms.shape[0], np.int64)
    # for each sequence at each half roll: the board on roll, and the one that it plays to
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
        chain = chains[side]
        _half(held, here, _later(lines, starts, h, chain, k), chain, mine, t, other, u, walking, side, game)
        _count_games(counts, at[h + 1])
        _throw(t, _mix(_mix(seed) + np.uint64(h)), mine, at[h], here, counts[:n], marks, to[h], at[h + 2])
        for i in range(many):
            if at[h, i] >= 0:
                worth[h, i, :lanes] = held[at[h, i]]
                reached[h, i, :lanes] = here[to[h, i]]
        h += 1
    _add_values(out, worth, reached, at, to, first, h, spaces, game[0])
