"""Compiled loops of `oracle`: the values of all layers of two chains, and play-outs that are measured against them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.analysis.kernels import _number, _slot
from bgfmt.analysis.kernels_chains import HOME, MOST_PLAYS, SAME, STEEPEST, _gains, _results, _table_number, distribution
from bgfmt.jit import njit

LAYERS = 1 << 8  # the node of a board after t rolls has key LAYERS * number + t
MOST_RESULTS = 64  # of a roll
RESULTS = 21 * MOST_RESULTS
NEAR = 4  # boards that a board lies between
STIFF = 0.1  # how evenly they share it
BESIDE = 2
LEAN = 1e-4


@njit()
def _neighbours(row: Any, gain: int, chain: Any, t: int, near: Any, weights: Any) -> None:
    """Fill near (M,), weights (M,): boards of layer t, counted from its first, and their shares, that come next to `row`.

    The nearest first. near[0] is -1 in an empty layer.
    """
    chosen, nexts, within, gains = chain[1], chain[2], chain[3], chain[7]
    most = near.size
    least = np.full(most, np.inf)
    near[:] = -1
    weights[:] = 0.0
    for c in range(nexts[t], nexts[t + 1]):
        total = 4.0 * abs(gains[chosen[c]] - gain)
        for k in range(row.size):
            total += (row[k] - within[chosen[c], k]) ** 2
            if total >= least[most - 1]:
                break
        if total < least[most - 1]:
            i = most - 1
            while i > 0 and least[i - 1] > total:
                least[i], near[i] = least[i - 1], near[i - 1]
                i -= 1
            least[i], near[i] = total, c - nexts[t]
    if near[0] < 0:
        return
    weights[0] = 1.0
    many = 1
    while many < most and near[many] >= 0 and least[many] < least[0] + 4.0:
        many += 1
    for i in range(many, most):
        near[i] = near[0]
    if least[0] < SAME or many == 1:
        return
    # shares whose sum of distributions comes nearest, held small
    apart = np.empty((many, row.size))
    for i in range(many):
        for k in range(row.size):
            apart[i, k] = row[k] - within[chosen[nexts[t] + near[i]], k]
    gram = np.empty((many, many))
    trace = 0.0
    for i in range(many):
        for j in range(i + 1):
            total = 0.0
            for k in range(row.size):
                total += apart[i, k] * apart[j, k]
            gram[i, j] = gram[j, i] = total
        trace += gram[i, i]
    for i in range(many):
        gram[i, i] += STIFF * trace / many
        weights[i] = 1.0
    for i in range(many):
        for j in range(i + 1, many):
            factor = gram[j, i] / gram[i, i]
            for k in range(i, many):
                gram[j, k] -= factor * gram[i, k]
            weights[j] -= factor * weights[i]
    total = 0.0
    for i in range(many - 1, -1, -1):
        for j in range(i + 1, many):
            weights[i] -= gram[i, j] * weights[j]
        weights[i] /= gram[i, i]
        total += weights[i]
    for i in range(many):
        weights[i] /= total


@njit()
def _win(rolls: Any, row: Any) -> float:
    """The chance of the side on roll, off in exactly 0, 1, 2, ... rolls, against a side off within as many."""
    total = 0.0
    for k in range(1, row.size):
        total += row[k - 1] * rolls[k]
    return 1.0 - total


@njit()
def _exactly(row: Any, rolls: Any) -> None:
    """rolls: the chances to be off in exactly 0, 1, 2, ... rolls, of those within."""
    before = 0.0
    for k in range(row.size):
        rolls[k] = row[k] - before
        before = row[k]


@njit()
def _between(win: float, near: Any, weights: Any, values: Any, steep: Any, wins: Any) -> float:
    """The value where the chance to win is `win`, from the boards beside: each one's own, carried along the mean slope."""
    slope = value = 0.0
    for i in range(near.size):
        slope += weights[i] * steep[near[i]]
    for i in range(near.size):
        x = near[i]
        value += weights[i] * (values[x] + (steep[x] + slope) / 2 * (win - wins[x]))
    return value


@njit()
def layers(values: Any, steep: Any, wins: Any, starts: Any, chains: Any, ending: Any, few: int, small: Any, doubling: Any, won: Any, cubeless: int) -> None:  # fmt: skip
    """The game of two chains, solved backwards, with the values of every half roll kept.

    chains : `space` of `kernels_chains.chain` of the side on roll first, and of the other; doubling, won : of each
    side, see `kernels_chains._half`. Half roll h = 2 t + s has side s on roll after t rolls of it, the other having
    rolled t + s times; its m x n pairs of boards stand from starts[h] on in wins, the chance of the side on roll to
    win alone, and from K starts[h] on in values, steep (K, m, n), the value to the side on roll and its slope in wins.
    """
    k = won[0].shape[0]
    rolls = np.empty(chains[0][3].shape[1])
    near, weights = np.empty(NEAR, np.int64), np.empty(NEAR)
    seen = np.empty(k)
    for h in range(starts.size - 2, -1, -1):
        side, t = h % 2, h // 2
        mine, other = chains[side], chains[1 - side]
        gain, loss = won[side], won[1 - side]
        may, passed, source, add, times = doubling[1 - side]
        u = t + side
        mines, others = mine[1][mine[2][t] : mine[2][t + 1]], other[1][other[2][u] : other[2][u + 1]]
        m, n, q = mines.size, others.size, mine[2][t + 2] - mine[2][t + 1]
        if m == 0 or n == 0:
            continue
        begin = starts[h + 1]
        known = h + 2 < starts.size and q > 0
        low, high = mine[0][t + 1], mine[0][t + 2]
        after = np.empty((high - low, k, n))
        for x in range(low, high):
            if mine[3][x, 0] < 1.0:
                _neighbours(mine[3][x], mine[7][x], mine, t + 1, near, weights)
            for b in range(n):
                y = others[b]
                if mine[3][x, 0] == 1.0:
                    for c in range(k):
                        after[x - low, c, b] = gain[c, other[7][y]]
                    continue
                _exactly(other[3][y], rolls)
                win = _win(rolls, mine[3][x])
                exact = np.int64(-1)
                if small[side][x] >= 0 and small[1 - side][y] >= 0:
                    exact = ((small[1 - side][y] * few + small[side][x]) * 2 + 1 - side) * k
                for c in range(k):
                    if exact >= 0:
                        seen[c] = ending[exact + c]
                        continue
                    if not known:
                        seen[c] = win * (gain[c, 1] + loss[c, 1]) - gain[c, 1]
                        continue
                    at = k * begin + (c * n + b) * q
                    value = _between(win, near, weights, values[at : at + q], steep[at : at + q], wins[begin + b * q : begin + (b + 1) * q])
                    seen[c] = max(-gain[c, other[7][y]], min(loss[c, mine[7][x]], value))
                for c in range(k):
                    value = seen[c]
                    if may[c]:
                        value = max(value, min(add[c] + times[c] * seen[source[c]], passed[c]))
                    after[x - low, c, b] = -value
        first = starts[h]
        out = values[k * first : k * (first + m * n)].reshape((k, m, n))
        best = np.empty(n)
        for a in range(m):
            place = 21 * (mine[2][t] + a)
            for c in range(k):
                out[c, a] = 0.0
                double, step = 0, 2
                for roll in range(21):
                    weight = 2 / 36
                    if roll == double:
                        weight = 1 / 36
                        double, step = double + step, step + 1
                    e = mine[5][place + roll]
                    best[:] = after[mine[6][e] - low, c]
                    for i in range(e + 1, mine[5][place + roll + 1]):
                        for b in range(n):
                            best[b] = max(best[b], after[mine[6][i] - low, c, b])
                    for b in range(n):
                        out[c, a, b] += weight * best[b]
        chance = wins[first : first + m * n].reshape((m, n))
        for a in range(m):
            _exactly(mine[3][mines[a]], rolls)
            for b in range(n):
                chance[a, b] = _win(rolls, other[3][others[b]])
            for c in range(k):
                at = k * first + (c * m + a) * n
                _slopes(out[c, a], chance[a], won[0][c, 1] + won[1][c, 1], c == cubeless, steep[at : at + n])


@njit()
def _slopes(values: Any, wins: Any, whole: float, straight: bool, out: Any) -> None:
    """out (n,): how values (n,) rise with the chance to win, from the boards beside each; the whole where straight."""
    n = values.size
    for b in range(n):
        up, along = LEAN * whole, LEAN
        for a in range(max(b - BESIDE, 0), min(b + BESIDE + 1, n)):
            if not straight:
                apart = wins[a] - wins[b]
                up += apart * (values[a] - values[b])
                along += apart * apart
        out[b] = min(STEEPEST * whole, max(0.0, up / along))


@njit()
def _node(number: int, t: int, counts: Any, few: int, tables: Any, chain: Any, store: Any, scratch: Any) -> int:
    """The node of a board after t rolls of its side.

    store : (keys, places, used, boards, rows, near, gains, slots, ends, results, small, weights); used : nodes,
    expansions. near, weights : `_neighbours` in its layer. small : its number on six points, -1 from `few` on.
    """
    keys, places, used, boards, rows, near, gains, slots, _, _, small, weights = store
    at = _slot(keys, number * LAYERS + t)
    if keys[at]:
        return places[at]  # type: ignore[no-any-return]
    x = used[0]
    used[0] = x + 1
    keys[at], places[at] = number * LAYERS + t + 1, x
    for k in range(counts.size):
        boards[x, k] = counts[k]
    slots[x] = -1
    gains[x] = _gains(boards[x])
    small[x] = _small(counts, few, tables[1], scratch)
    if number == 0:
        rows[x, :] = 1.0
        return x  # type: ignore[no-any-return]
    distribution(rows[x], boards[x], *tables, scratch)
    _neighbours(rows[x], gains[x], chain, t, near[x], weights[x])
    return x  # type: ignore[no-any-return]


@njit()
def _small(counts: Any, few: int, terms: Any, scratch: Any) -> int:
    """The number of a board on six points, -1 from `few` on."""
    number = _table_number(counts, HOME, terms, scratch)
    return number if number < few and not scratch[HOME] else -1


@njit()
def smalls(boards: Any, few: int, terms: Any, out: Any) -> None:
    """out (n,) int64: the numbers of boards on six points, -1 from `few` on."""
    scratch = np.zeros(80, np.int64)
    for x in range(out.size):
        out[x] = _small(boards[x], few, terms, scratch)


@njit()
def _expand(x: int, t: int, slack: float, few: int, terms: Any, tables: Any, chain: Any, store: Any, scratch: Any, plays: Any) -> int:
    """The expansion of a node after t rolls: results of roll r are nodes results[ends[e, r] : ends[e, r + 1]]."""
    boards, slots, ends, results, used = store[3], store[7], store[8], store[9], store[2]
    if slots[x] >= 0:
        return slots[x]  # type: ignore[no-any-return]
    numbers, means, after = plays
    counts = boards[x].astype(np.int64)
    e = used[1]
    slots[x], used[1] = e, e + 1
    n: Any = ends[e, 0]
    roll = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            many = _results(counts, high, low, terms, scratch[64:], numbers, means, after, tables, scratch)
            least = np.min(means[:many]) + slack
            first = n
            for y in range(many):
                if means[y] <= least and n < first + MOST_RESULTS:
                    results[n] = _node(numbers[y], t + 1, after[y], few, tables, chain, store, scratch)
                    n += 1
            roll += 1
            ends[e, roll] = n
    ends[e + 1, 0] = n
    return e  # type: ignore[no-any-return]


@njit()
def _mix(x: Any) -> Any:
    """A number of 64 bits well mixed (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit()
def play_outs(
    out: Any, begin: int, seed: Any, columns: Any, layered: Any, ending: Any, chains: Any, stores: Any, doubling: Any, won: Any, terms: Any, tables: Any, slack: float, cubeless: int
) -> None:  # fmt: skip
    """Play out a race; out (N, S): the value to the side on roll of each of `columns` (S,), rolling without a double.

    begin : number of the first play-out. layered : (values, steep, wins, starts) of `layers`. stores : of each side,
    with the start as node 0.

    The dice are real, and plays and cube actions those that `layered` holds best. Each value is the start's, one roll
    ahead, and the sum of what the values on the way turn out to be wrong by: the mean of a position over its 21 rolls
    against the value it was reached for. So the dice, whose luck the mean takes away, hardly matter.
    """
    values, steep, wins, starts = layered
    k = won[0].shape[0]
    s = columns.size
    points = stores[0][3].shape[1]
    scratch = np.zeros(80, np.int64)
    plays = np.empty(MOST_PLAYS, np.int64), np.empty(MOST_PLAYS), np.empty((MOST_PLAYS, points), np.int8)
    rows = stores[0][4].shape[1]
    rolls = np.empty(rows)
    best, mean, result = np.empty(k), np.empty(k), np.empty(k, np.int64)
    known = np.empty(k, np.bool_)
    win, exact = np.empty(RESULTS), np.empty(RESULTS, np.int64)
    curve, slope, chance = np.empty((k, 512)), np.empty((k, 512)), np.empty(512)
    few = ending.shape[0]
    ended = ending.reshape(-1)
    nodes = np.empty((s, 2), np.int64)
    column, base, scale, reached = np.empty(s, np.int64), np.empty(s), np.empty(s), np.empty(s)
    for p in range(out.shape[0]):
        state = _mix(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(begin + p + 1))
        for side in range(2):
            store = stores[side]
            if store[2][0] + (1 << 15) > store[6].size or store[2][1] + (1 << 9) > store[8].shape[0] or store[8][store[2][1], 0] + (1 << 17) > store[9].size:
                _clear(store, few, terms, tables, chains[side], scratch)
        nodes[:] = 0
        column[:] = columns
        base[:], scale[:], reached[:] = 0.0, 1.0, 0.0
        out[p] = 0.0
        going = s
        h = 0
        while going:
            side, t = h % 2, h // 2
            state += np.uint64(0x9E3779B97F4A7C15)
            dice = np.int64(_mix(state) >> np.uint64(33)) % 36
            d1, d2 = dice // 6, dice % 6
            high, low = max(d1, d2), min(d1, d2)
            rolled = high * (high + 1) // 2 + low
            mine, other = stores[side], stores[1 - side]
            gain, loss = won[side], won[1 - side]
            may, passed, source, add, times = doubling[side]
            their_may, their_passed, their_source, their_add, their_times = doubling[1 - side]
            last_x = last_y = np.int64(-1)
            layered_here = False
            n = np.int64(0)
            e = np.int64(0)
            for j in range(s):
                if scale[j] == 0.0:
                    continue
                x, y = nodes[j, side], nodes[j, 1 - side]
                if x != last_x or y != last_y:
                    last_x, last_y = x, y
                    known[:] = False
                    e = _expand(x, t, slack, few, terms, tables, chains[side], mine, scratch, plays)
                    _exactly(other[4][y], rolls)
                    u = t + side
                    m, n = chains[1 - side][2][u + 1] - chains[1 - side][2][u], chains[side][2][t + 2] - chains[side][2][t + 1]
                    layered_here = h + 2 < starts.size and other[5][y, 0] >= 0 and n > 0
                    if layered_here:
                        begin_h = starts[h + 1]
                        for a in range(n):
                            board = chains[side][1][chains[side][2][t + 1] + a]
                            chance[a] = _win(rolls, chains[side][3][board])
                            for c in range(k):
                                at = k * begin_h + c * m * n + a
                                curve[c, a] = _between(chance[a], other[5][y], other[11][y], values[at : k * begin_h + (c + 1) * m * n : n], steep[at : k * begin_h + (c + 1) * m * n : n], wins[begin_h + a : begin_h + m * n : n])
                        for c in range(k):
                            _slopes(curve[c, :n], chance[:n], gain[c, 1] + loss[c, 1], c == cubeless, slope[c, :n])
                    for o in range(mine[8][e, 21] - mine[8][e, 0]):
                        z = mine[9][mine[8][e, 0] + o]
                        win[o], exact[o] = _win(rolls, mine[4][z]), -1
                        if mine[10][z] >= 0 and other[10][y] >= 0:
                            exact[o] = ((other[10][y] * few + mine[10][z]) * 2 + 1 - side) * k
                c = column[j]
                for step in range(2):
                    if step:
                        c = source[column[j]]
                        if not may[column[j]]:
                            break
                    if known[c]:
                        continue
                    known[c] = True
                    mean[c] = 0.0
                    double, ahead = 0, 2
                    for roll in range(21):
                        top = -np.inf
                        which = np.int64(0)
                        for q in range(mine[8][e, roll], mine[8][e, roll + 1]):
                            z = mine[9][q]
                            o = q - mine[8][e, 0]
                            if mine[4][z, 0] == 1.0:
                                value = -gain[c, other[6][y]]
                            else:
                                value = taken = 0.0
                                for which_c in range(2 if their_may[c] else 1):
                                    d = their_source[c] if which_c else c
                                    if exact[o] >= 0:
                                        here = ended[exact[o] + d]
                                    elif layered_here:
                                        here = _between(win[o], mine[5][z], mine[11][z], curve[d], slope[d], chance)
                                        here = max(-gain[d, other[6][y]], min(loss[d, mine[6][z]], here))
                                    else:
                                        here = win[o] * (gain[d, 1] + loss[d, 1]) - gain[d, 1]
                                    if which_c:
                                        taken = here
                                    else:
                                        value = here
                                if their_may[c]:
                                    value = max(value, min(their_add[c] + their_times[c] * taken, their_passed[c]))
                            if -value > top:
                                top = -value
                                which = z
                        weight = 2 / 36
                        if roll == double:
                            weight = 1 / 36
                            double, ahead = double + ahead, ahead + 1
                        mean[c] += weight * top
                        if roll == rolled:
                            best[c], result[c] = top, which
                c = column[j]
                worth = mean[c]
                if h:
                    over = False
                    factor = 1.0
                    if may[c]:
                        taken = add[c] + times[c] * mean[source[c]]
                        if min(taken, passed[c]) > mean[c]:
                            if passed[c] <= taken:
                                worth = passed[c]
                                over = True
                            else:
                                worth = taken
                                factor = times[c]
                                c = source[c]
                    out[p, j] += scale[j] * (worth - reached[j])
                    if over:
                        scale[j] = 0.0
                        going -= 1
                        continue
                    scale[j] *= factor
                else:
                    out[p, j] = worth
                column[j] = c
                z = result[c]
                nodes[j, side] = z
                if mine[4][z, 0] == 1.0 or (mine[10][z] >= 0 and other[10][y] >= 0):
                    scale[j] = 0.0
                    going -= 1
                    continue
                scale[j] = -scale[j]
                reached[j] = -best[c]
            h += 1


@njit()
def _clear(store: Any, few: int, terms: Any, tables: Any, chain: Any, scratch: Any) -> None:
    """Keep nothing of a store but its start, node 0."""
    keys, places, used, boards = store[:4]
    counts = boards[0].astype(np.int64)
    keys[:] = 0
    used[:] = 0
    store[8][0, 0] = 0
    _node(_number(counts, terms), 0, counts, few, tables, chain, store, scratch)
