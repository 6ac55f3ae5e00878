"""Compiled loops of `oracle`: the values of all layers of two chains, and play-outs measured against them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.analysis.kernels import _number, _slot, _unrank
from bgfmt.analysis.kernels_chains import (
    ANY_PLAYS,
    HOME,
    LAYERS,
    MOST_PLAYS,
    SAME,
    STEEPEST,
    _gains,
    _results,
    _table_number,
    _wins,
    distribution,
)
from bgfmt.jit import njit

MOST_RESULTS = 64  # of a roll
RESULTS = 21 * MOST_RESULTS
NEAR = 4  # boards that a board lies between
STIFF = 0.1  # how evenly they share it
BESIDE = 2  # boards on either side that a slope is taken from
LEAN = 1e-4  # squared chance to win that weighs as much as the slope without a cube
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FREE = 1 << 15, 1 << 9, 1 << 17  # room for nodes, expansions and results that a play-out may take


@njit()
def _neighbours(row: Any, gain: int, chain: Any, t: int, near: Any, weights: Any) -> None:
    """Fill near (M,), weights (M,): the boards of layer t nearest to `row`, and the shares in which they make it up.

    Boards are counted from the layer's first, the nearest first; near[0] is -1 in an empty layer.
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
    """The value where the chance to win is `win`: that of each board beside, carried along the mean slope."""
    slope = value = 0.0
    for i in range(near.size):
        slope += weights[i] * steep[near[i]]
    for i in range(near.size):
        x = near[i]
        value += weights[i] * (values[x] + (steep[x] + slope) / 2 * (win - wins[x]))
    return value


@njit()
def layers(layered: Any, chains: Any, ending: Any, few: int, small: Any, doubling: Any, won: Any) -> None:
    """The game of two chains, solved backwards, with the values of every half roll kept.

    chains : `space` of `kernels_chains.chain`, and doubling, won as of `kernels_chains._half`, of the side on roll
    first and of the other; small : numbers of their boards, see `_small`. ending, few : see `play_outs`.

    layered : (values, steep, wins, starts), filled, and the column without a cube, -1 for none. Half roll h = 2 t + s
    has side s on roll after t rolls of it, the other having rolled t + s times; its m x n pairs of boards stand from
    starts[h] on in wins, the chance of the side on roll to win alone, and from K starts[h] on in values, steep
    (K, m, n), the value to the side on roll and its slope in wins.
    """
    values, steep, wins, starts, cubeless = layered
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
        here, still = np.empty(n), np.empty((rolls.size, n))
        for roll in range(rolls.size):
            for b in range(n):
                still[roll, b] = 1.0 - other[3][others[b], roll]
        for x in range(low, high):
            if mine[3][x, 0] < 1.0:
                _neighbours(mine[3][x], mine[7][x], mine, t + 1, near, weights)
                _wins(here, mine[3], x, still)
            for b in range(n):
                y = others[b]
                if mine[3][x, 0] == 1.0:
                    for c in range(k):
                        after[x - low, c, b] = gain[c, other[7][y]]
                    continue
                win = 1.0 - here[b]
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
                    value = _between(
                        win,
                        near,
                        weights,
                        values[at : at + q],
                        steep[at : at + q],
                        wins[begin + b * q : begin + (b + 1) * q],
                    )
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
    """out (n,): how values (n,) rise with the chance to win, by the boards beside each; whole where straight."""
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
def _node(
    number: int, t: int, few: int, terms: Any, tables: Any, chain: Any, store: Any, scratch: Any
) -> int:
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
    _unrank(number, terms, boards[x])
    slots[x] = -1
    gains[x] = _gains(boards[x])
    small[x] = _small(boards[x], few, tables[1], scratch)
    if number == 0:
        rows[x, :] = 1.0
        return x  # type: ignore[no-any-return]
    distribution(rows[x], boards[x], tables, scratch)
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
def _expand(
    x: int, t: int, slack: float, few: int, terms: Any, tables: Any, chain: Any, store: Any, scratch: Any,
    plays: Any,
) -> int:  # fmt: skip
    """The expansion of a node after t rolls: results of roll r are nodes results[ends[e, r] : ends[e, r + 1]]."""
    boards, slots, ends, results, used = store[3], store[7], store[8], store[9], store[2]
    if slots[x] >= 0:
        return slots[x]  # type: ignore[no-any-return]
    numbers, means = plays
    counts = boards[x].astype(np.int64)
    e = used[1]
    slots[x], used[1] = e, e + 1
    n: Any = ends[e, 0]
    roll = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            many = _results(counts, np.array([high, low]), terms, numbers, means, tables, scratch)
            least = np.min(means[:many]) + slack
            first = n
            for y in range(many):
                if means[y] <= least and n < first + MOST_RESULTS:
                    results[n] = _node(numbers[y], t + 1, few, terms, tables, chain, store, scratch)
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
def _look(
    h: int, y: int, few: int, layered: Any, chains: Any, stores: Any, won: Any, expanded: int, rolls: Any,
    seen: Any,
) -> bool:  # fmt: skip
    """Fill seen with what the results of an expansion meet in node y of the other side, which is on roll next.

    seen : (win, exact, curve, slope, chance); win, exact : of each result, the chance of y to win alone, and where
    the values stand in the exact table, -1 nowhere. curve, slope (K, n), chance (n,) : values, slopes and chances of
    y against the n boards that the layers hold after the roll. Returns whether they hold any.
    """
    values, steep, wins, starts, cubeless = layered
    win, exact, curve, slope, chance = seen
    side, t = h % 2, h // 2
    mine, other, chain, theirs = stores[side], stores[1 - side], chains[side], chains[1 - side]
    k = curve.shape[0]
    _exactly(other[4][y], rolls)
    for o in range(mine[8][expanded, 21] - mine[8][expanded, 0]):
        z = mine[9][mine[8][expanded, 0] + o]
        win[o], exact[o] = _win(rolls, mine[4][z]), -1
        if mine[10][z] >= 0 and other[10][y] >= 0:
            exact[o] = ((other[10][y] * few + mine[10][z]) * 2 + 1 - side) * k
    m, n = theirs[2][t + side + 1] - theirs[2][t + side], chain[2][t + 2] - chain[2][t + 1]
    if h + 2 >= starts.size or other[5][y, 0] < 0 or n == 0:
        return False
    begin = starts[h + 1]
    for a in range(n):
        chance[a] = _win(rolls, chain[3][chain[1][chain[2][t + 1] + a]])
        there = wins[begin + a : begin + m * n : n]
        for c in range(k):
            at, end = k * begin + c * m * n + a, k * begin + (c + 1) * m * n
            curve[c, a] = _between(
                chance[a], other[5][y], other[11][y], values[at:end:n], steep[at:end:n], there
            )
    for c in range(k):
        _slopes(curve[c, :n], chance[:n], won[0][c, 1] + won[1][c, 1], c == cubeless, slope[c, :n])
    return True


@njit()
def _ahead(
    c: int, h: int, y: int, expanded: int, rolled: int, held: bool, ending: Any, stores: Any, doubling: Any,
    won: Any, seen: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Column c one roll ahead: the mean of the best results of the rolls; of roll `rolled` the value and the node."""
    win, exact, curve, slope, chance = seen
    side = h % 2
    mine, other, gain, loss = stores[side], stores[1 - side], won[side], won[1 - side]
    may, passed, source, add, times = doubling[1 - side]
    mean = best = 0.0
    result: Any = np.int64(0)
    double, step = 0, 2
    for roll in range(21):
        top = -np.inf
        which = np.int64(0)
        for q in range(mine[8][expanded, roll], mine[8][expanded, roll + 1]):
            z, o = mine[9][q], q - mine[8][expanded, 0]
            value = -gain[c, other[6][y]]
            if mine[4][z, 0] < 1.0:
                taken = 0.0
                for second in range(2 if may[c] else 1):
                    d = source[c] if second else c
                    if exact[o] >= 0:
                        here = ending[exact[o] + d]
                    elif held:
                        here = _between(win[o], mine[5][z], mine[11][z], curve[d], slope[d], chance)
                        here = max(-gain[d, other[6][y]], min(loss[d, mine[6][z]], here))
                    else:
                        here = win[o] * (gain[d, 1] + loss[d, 1]) - gain[d, 1]
                    if second:
                        taken = here
                    else:
                        value = here
                if may[c]:
                    value = max(value, min(add[c] + times[c] * taken, passed[c]))
            if -value > top:
                top, which = -value, z
        weight = 2 / 36
        if roll == double:
            weight = 1 / 36
            double, step = double + step, step + 1
        mean += weight * top
        if roll == rolled:
            best, result = top, which
    return mean, best, result


@njit()
def play_outs(
    out: Any, begin: int, seed: Any, columns: Any, board: Any, layered: Any, ending: Any, few: int, chains: Any,
    stores: Any, doubling: Any, won: Any, terms: Any, tables: Any, slack: float,
) -> None:  # fmt: skip
    """Play out a race; out (N, S): the values of `columns` (S,) to the side on roll, which does not double yet.

    begin : number of the first play-out, which with the seed says the dice. board (points,) int8 : what the roll
    of the side that began has been played to, so that the other is on roll; empty before it. layered : see
    `layers`. ending : exact values, (few, few, 2, K) flat, by the numbers of the board on roll and the other, and by
    which side is on roll. stores : of each side, see `_node`, with the start as board 0.

    Plays and cube actions are those that `layered` holds best. Each value is the start's, one roll ahead, and the
    sum of what the values on the way turn out to be wrong by: the mean of a position over its 21 rolls against the
    value it was reached for. So the luck of the dice is taken away.
    """
    k, s, rows = won[0].shape[0], columns.size, stores[0][4].shape[1]
    scratch, rolls = np.zeros(80, np.int64), np.empty(rows)
    plays = np.empty(ANY_PLAYS, np.int64), np.empty(MOST_PLAYS)
    most = np.int64(1)
    for side in range(2):
        for t in range(chains[side][2].size - 1):
            most = max(most, chains[side][2][t + 1] - chains[side][2][t])
    seen = (
        np.empty(RESULTS), np.empty(RESULTS, np.int64), np.empty((k, most)), np.empty((k, most)), np.empty(most),
    )  # fmt: skip
    best, mean, result, known = np.empty(k), np.empty(k), np.empty(k, np.int64), np.empty(k, np.bool_)
    nodes, column, scale, reached = (
        np.empty((s, 2), np.int64),
        np.empty(s, np.int64),
        np.empty(s),
        np.empty(s),
    )
    first: Any = np.int64(1 if board.size else 0)
    for p in range(out.shape[0]):
        state = _mix(np.uint64(seed) + GOLDEN * np.uint64(begin + p + 1))
        for side in range(2):
            used, ends = stores[side][2], stores[side][8]
            full = used[0] + FREE[0] > stores[side][6].size or used[1] + FREE[1] > len(ends)
            if full or ends[used[1], 0] + FREE[2] > stores[side][9].size:
                _clear(stores[side], few, terms, tables, chains[side], scratch)
        nodes[:] = 0
        if first:
            nodes[:, 0] = _node(_number(board, terms), 1, few, terms, tables, chains[0], stores[0], scratch)
        column[:] = columns
        scale[:] = 1.0
        reached[:] = 0.0
        going = s
        h: Any = first  # of one type from the first, so that `_look` and `_ahead` are compiled once
        while going:
            side, t = h % 2, h // 2
            state += GOLDEN
            dice: Any = np.int64(_mix(state) >> np.uint64(33)) % 36
            high, low = max(dice // 6, dice % 6), min(dice // 6, dice % 6)
            rolled = high * (high + 1) // 2 + low
            mine, other = stores[side], stores[1 - side]
            may, passed, source, add, times = doubling[side]
            x: Any = np.int64(-1)
            y: Any = x
            e: Any = x
            held = False
            for j in range(s):
                if scale[j] == 0.0:
                    continue
                if x != nodes[j, side] or y != nodes[j, 1 - side]:
                    x, y = nodes[j, side], nodes[j, 1 - side]
                    e = _expand(x, t, slack, few, terms, tables, chains[side], mine, scratch, plays)
                    held = _look(h, y, few, layered, chains, stores, won, e, rolls, seen)
                    known[:] = False
                c = column[j]
                for second in range(2 if may[c] and h > first else 1):
                    d = source[c] if second else c
                    if not known[d]:
                        known[d] = True
                        mean[d], best[d], result[d] = _ahead(
                            d, h, y, e, rolled, held, ending, stores, doubling, won, seen
                        )
                worth = mean[c]
                over = False
                if h == first:
                    out[p, j] = worth
                else:
                    factor = 1.0
                    taken = add[c] + times[c] * mean[source[c]] if may[c] else -np.inf
                    if min(taken, passed[c]) > mean[c]:
                        over = passed[c] <= taken
                        worth = min(taken, passed[c])
                        factor, c = times[c], source[c]
                    out[p, j] += scale[j] * (worth - reached[j])
                    scale[j] *= factor
                column[j] = c
                z = result[c]
                nodes[j, side] = z
                scale[j] = -scale[j]
                reached[j] = -best[c]
                if over or mine[4][z, 0] == 1.0 or (mine[10][z] >= 0 and other[10][y] >= 0):
                    scale[j] = 0.0
                    going -= 1
            h += 1


@njit()
def _clear(store: Any, few: int, terms: Any, tables: Any, chain: Any, scratch: Any) -> None:
    """Keep nothing of a store but its start, node 0."""
    keys, used = store[0], store[2]
    keys[:] = 0
    used[:] = 0
    store[8][0, 0] = 0
    _node(_number(store[3][0], terms), used[0], few, terms, tables, chain, store, scratch)
