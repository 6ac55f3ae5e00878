"""Compiled loops that choose the boards of a layer that are played on, and interpolate the others from them.

The terms are those of `kernels_chains`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.jit import njit

PIPS = 49 / 6  # mean pips of a roll
HOME = 6  # points of the own home board
FAR_HOME = 18  # points before the other side's home board
NEAR = 4  # number of chosen boards that a board is interpolated from
SAME = np.float32(1e-10)  # boards within this squared distance count as equal
APART = np.float32(4.0)  # a chosen board farther than the nearest by this squared distance is not used
GAMMON = np.float32(25.0)  # distance of two boards for each gammon per game that one of them loses more
STIFF = np.float32(0.1)  # regularisation of the interpolation weights
NONE = np.float32(0.0)
ONE = np.float32(1.0)
INFINITE = np.float32(np.inf)


@njit()
def _at(row: Any, rolls: float) -> Any:
    """Interpolate a row linearly at a fractional number of rolls."""
    low = min(int(rolls), row.size - 2)
    return row[low] + np.float32(min(rolls - low, 1.0)) * (row[low + 1] - row[low])


@njit()
def _risk(t: int, space: Any, finished: Any) -> bool:
    """Fill `risks` of the boards after t rolls; return whether any board has one.

    finished : the row of `Boards.finished` for t. A side loses a gammon if the other is off before it has borne off a
        chequer, which takes about one roll for each 49/6 pips to its home board, and one more. A backgammon likewise.
    """
    gains = space.gains
    boards = space.boards
    risks = space.risks
    found = False
    for x in range(space.layers[t], space.layers[t + 1]):
        risks[x] = NONE
        if gains[x] > 1:
            home = 0
            out = 0
            for k in range(HOME, boards.shape[1]):
                home += boards[x, k] * (k + 1 - HOME)
                out += boards[x, k] * max(k + 1 - FAR_HOME, 0)
            risks[x] = _at(finished, 1 + home / PIPS)
            if gains[x] > 2:
                risks[x] += _at(finished, out / PIPS)
            found |= risks[x] > NONE
    return found


@njit()
def _span(within: Any, x: int, low: int, high: int) -> tuple[int, int]:
    """Extend the range of rolls low..high-1 by those after which it is uncertain whether board x is off."""
    while low > 0 and within[x, low - 1] > NONE:
        low -= 1
    while high < within.shape[1] and within[x, high] < ONE:
        high += 1
    return low, high


@njit()
def _padded(n: int) -> int:
    """Return the next multiple of 32, for vectorised loops."""
    return (n + 31) & ~31


@njit()
def _transpose(space: Any, t: int, chain: Any, chosen: Any) -> tuple[Any, int]:
    """Return `within` of the boards after t rolls transposed, (rolls, boards), and the first number of rolls in it.

    It has only the rolls for which these boards, or the `chosen` ones of `chain`, differ.
    """
    begin = space.layers[t]
    end = space.layers[t + 1]
    numbers = space.numbers
    within = space.within
    theirs = chain.within
    low: Any = within.shape[1]
    high: Any = np.int64(0)
    for x in range(begin, end):
        if numbers[x]:
            low, high = _span(within, x, low, high)
    for x in chosen:
        low, high = _span(theirs, x, low, high)
    columns = np.zeros((max(high - low, 0), _padded(end - begin)), np.float32)
    for x in range(begin, end):
        for k in range(low, high):
            columns[k - low, x - begin] = within[x, k]
    return columns, low


@njit()
def _meet(
    c: int, row: int, within: Any, risk: Any, risks: Any, columns: Any, low: int, distance: Any, least: Any,
    near: Any,
) -> None:  # fmt: skip
    """Add a chosen board to the nearest ones of each board of a layer.

    Parameters
    ----------
    c, row
        The number of the chosen board among the chosen ones, and its row in `within`.
    within
        (boards, rolls) probabilities of being off.
    risk, risks
        The gammon risk of the chosen board, and those of the layer; empty if all are 0.
    columns, low
        `within` of the layer, transposed, see `_transpose`.
    distance
        (n,) filled with the squared distances of the layer's boards to the chosen one.
    least, near
        (NEAR, n) the least distances so far and the numbers of the chosen boards, updated.
    """
    for x in range(distance.size):
        distance[x] = NONE
    for k in range(columns.shape[0]):
        chance = within[row, low + k]
        for x in range(distance.size):
            distance[x] += (columns[k, x] - chance) * (columns[k, x] - chance)
    for x in range(risks.size):
        distance[x] += GAMMON * GAMMON * (risks[x] - risk) * (risks[x] - risk)
    for x in range(distance.size):
        d = distance[x]
        i = np.int32(c)
        for y in range(NEAR):
            e = least[y, x]
            j = near[y, x]
            nearer = d < e
            least[y, x] = d if nearer else e
            near[y, x] = i if nearer else j
            d = e if nearer else d
            i = j if nearer else i


@njit()
def _share(begin: int, n: int, least: Any, near: Any, apart: Any, first: int, shared: Any) -> None:
    """Fill shared[begin : begin + n] with the interpolation weights of the boards of a layer.

    The weights of the nearest chosen boards, summing to 1, minimise the distance of their mix to the board (a
    regularised least-squares problem, solved by elimination for all boards at once, in vectors). Where fewer than
    NEAR are near, the equations of the others are trivial.

    least, near : (NEAR, lanes) squared distances and numbers of the nearest chosen boards.
    apart : squared distances between the chosen boards, from row `first` on.
    """
    lanes = least.shape[1]
    gram = np.zeros((NEAR, NEAR + 1, lanes), np.float32)
    total = np.zeros(lanes, np.float32)
    trace = np.zeros(lanes, np.float32)
    many = np.zeros(lanes, np.float32)
    for i in range(NEAR):
        for x in range(lanes):
            used = near[i, x] >= 0 and least[i, x] < least[0, x] + APART
            gram[i, NEAR, x] = ONE if used else NONE
            trace[x] += least[i, x] if used else NONE
            many[x] += gram[i, NEAR, x]
    for i in range(NEAR):
        for j in range(i):
            for x in range(n):
                if gram[i, NEAR, x] == ONE:
                    squares = apart[first + near[i, x], near[j, x]]
                    gram[i, j, x] = gram[j, i, x] = (least[i, x] + least[j, x] - squares) / np.float32(2)
        for x in range(lanes):
            one = least[i, x] + trace[x] * np.true_divide(STIFF, many[x])
            gram[i, i, x] = one if gram[i, NEAR, x] == ONE else ONE
    for i in range(NEAR):
        for j in range(i + 1, NEAR):
            for x in range(lanes):
                gram[j, i, x] = np.true_divide(gram[j, i, x], gram[i, i, x])
            for k in range(i + 1, NEAR + 1):
                for x in range(lanes):
                    gram[j, k, x] -= gram[j, i, x] * gram[i, k, x]
    for i in range(NEAR - 1, -1, -1):
        for j in range(i + 1, NEAR):
            for x in range(lanes):
                gram[i, NEAR, x] -= gram[i, j, x] * gram[j, NEAR, x]
        for x in range(lanes):
            gram[i, NEAR, x] = np.true_divide(gram[i, NEAR, x], gram[i, i, x])
            total[x] += gram[i, NEAR, x]
    for x in range(n):
        for i in range(NEAR):
            alone = NONE if i else ONE
            shared[begin + x, i] = alone if least[0, x] < SAME else np.true_divide(gram[i, NEAR, x], total[x])


@njit()
def _choose(t: int, most: int, space: Any) -> None:
    """Choose at most `most` boards of the layer after t rolls, and interpolate every other one from these.

    The first is the most frequent one; then always the one with the greatest squared distance times frequency.
    """
    begin = space.layers[t]
    end = space.layers[t + 1]
    first = space.nexts[t]
    n = end - begin
    chosen = space.chosen
    numbers = space.numbers
    means = space.means
    within = space.within
    shares = space.shares
    beside = space.near
    weights = space.weights
    risks = space.risks[begin : end if _risk(t, space, space.finished[t]) else begin]
    columns, low = _transpose(space, t, space, chosen[first:first])
    least = np.full((NEAR, _padded(n)), INFINITE)
    near = np.full((NEAR, _padded(n)), np.int32(-1))
    distance = np.empty(_padded(n), np.float32)
    apart = np.empty((most, most), np.float32)
    together = space.apart
    best = -1
    often = np.zeros(_padded(n), np.float32)
    weighted = np.empty(_padded(n), np.float32)
    bits = weighted.view(np.int32)  # of non-negative floats: they sort like the floats
    for x in range(begin, end):
        if numbers[x]:
            often[x - begin] = shares[x, 0] + np.float32(1e-6)
            if best < 0 or shares[x, 0] > shares[best, 0]:
                best = x
    many: Any = np.int64(0)
    while best >= 0 and many < most:
        chosen[first + many] = best
        _meet(many, best, within, space.risks[best], risks, columns, low, distance, least, near)
        for c in range(many + 1):
            apart[c, many] = apart[many, c] = distance[chosen[first + c] - begin]
        many += 1
        best = -1
        top = np.int32(0)
        for x in range(often.size):
            weighted[x] = least[0, x] * often[x] if least[0, x] > SAME else NONE
            top = max(top, bits[x])
        if top:
            best = begin
            while bits[best - begin] != top:
                best += 1
    space.nexts[t + 1] = first + many
    order = np.argsort(means[chosen[first : first + many]])  # by rising means
    places = np.empty(many, np.int64)
    copy = chosen[first : first + many].copy()
    for c in range(many):
        places[order[c]] = c
        chosen[first + c] = copy[order[c]]
    for i in range(many):
        for j in range(many):
            together[first + places[i], places[j]] = apart[i, j]
    zero: Any = np.int64(0)
    _share(begin, n, least, near, apart, zero, weights)
    for x in range(n):
        if numbers[begin + x]:
            for i in range(NEAR):
                beside[begin + x, i] = places[max(near[i, x], 0)]
            shares[chosen[first + beside[begin + x, 0]], 1] += shares[begin + x, 0]


@njit()
def _between(t: int, chain: Any, space: Any) -> None:
    """Fill `near` and `weights` of the boards of `space` after t rolls, from the chosen boards of `chain`."""
    begin = space.layers[t]
    end = space.layers[t + 1]
    first = chain.nexts[t]
    many = chain.nexts[t + 1] - first
    n = end - begin
    if not many:
        return
    numbers = space.numbers
    beside = space.near
    weights = space.weights
    chosen = chain.chosen
    within = chain.within
    theirs = chain.risks
    apart = chain.apart
    risky = _risk(t, space, chain.finished[t])
    for c in range(many):
        risky |= theirs[chosen[first + c]] > NONE
    risks = space.risks[begin : end if risky else begin]
    columns, low = _transpose(space, t, chain, chain.chosen[first : first + many])
    least = np.full((NEAR, _padded(n)), INFINITE)
    near = np.full((NEAR, _padded(n)), np.int32(-1))
    distance = np.empty(_padded(n), np.float32)
    for c in range(many):
        x = chosen[first + c]
        _meet(c, x, within, theirs[x], risks, columns, low, distance, least, near)
    _share(begin, n, least, near, apart, first, weights)
    for x in range(n):
        if numbers[begin + x]:
            for i in range(NEAR):
                beside[begin + x, i] = max(near[i, x], 0)
