"""Compiled hypergammon, for the verifier only: plays, one step of a record, a sweep in makehyper's order.

A record holds ten numbers: win, win gammon, win backgammon, lose gammon, lose backgammon, then the equities
cubeless, owned, centered, centered with Jacoby, opponent. `values` is (n * n, 10) float32 or float64, record
us * n + them.

Plays are listed beforehand. The plays of a side depend on the one landing that the other side blocks (three chequers
block no more), and the other side after a play depends on which of its blots are landed on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit
from bgfmt.verifier.recurrence.plays import Array

BAR = 24
PLACES = 25
OPEN = 24  # the blocked landing of a side that blocks none
ROLLS = 21
NUMBERS = 10
# classes of records
ILLEGAL = 0
OVER = 1
CONTACT = 2
RACE = 3
MAX_PLAYS = 4096
SEEN = 1 << 30  # in `landed`: an earlier play of the roll leaves the same side
COLUMNS_AT_ONCE = 32  # columns computed together: near rows read the same records
LEAST = -1e9  # less than any equity


class Lists(NamedTuple):
    """Plays of side us against one that blocks a landing: rolls (us * 25 + landing) * 21 and up, as ranges.

    Attributes
    ----------
    starts : first play of each roll.
    after : the side after a play.
    landed : bit k: a chequer landed on k; SEEN.
    blocked, blots : (n,) the landing that a side blocks, and those of its blots as bits.
    met : (n, 3) the landings of the blots one by one, then 31.
    hit : (n, 8) the side after those blots (bit k: met[k]) are hit.
    """

    starts: Array
    after: Array
    landed: Array
    blocked: Array
    blots: Array
    met: Array
    hit: Array


class CheckState(NamedTuple):
    """The iteration and its rule.

    Attributes
    ----------
    lists : the plays.
    values : (n * n, 10) the records.
    turned : (n * n, 10) value of record [us, them] to the side that moved into it, at them * n + us, so that those of
        neighbours lie together; see `negate_record`.
    kinds : (n * n,) the classes; a sweep updates those of CONTACT and RACE.
    ends : (2, n, 10) the records [nothing, them] and [us, nothing].
    divide : sums are divided by 36, not multiplied by the reciprocal.
    stay : a side that cannot move leaves all as it is, which makehyper gets wrong.
    """

    lists: Lists
    values: Array
    turned: Array
    kinds: Array
    ends: Array
    divide: bool
    stay: bool


# -- plays -------------------------------------------------------------------------------------------------------

#: forms of tuples that kernels take, see `bgfmt.jit.njit`
LISTS = "bgfmt.extras.hypergammon.kernels_recurrence:Lists(i8.1C, u2.1C, u4.1C, i8.1C, i8.1C, i8.2A, i8.2C)"
CHECK_STATE = (
    f"bgfmt.extras.hypergammon.kernels_recurrence:CheckState({LISTS}, f4.2C, f4.2C, u1.1C, f4.3C, b1, b1)"
)
CHECK_STATE64 = (
    f"bgfmt.extras.hypergammon.kernels_recurrence:CheckState({LISTS}, f8.2C, f8.2C, u1.1C, f8.3C, b1, b1)"
)


@njit("i8.1C, i8.2C, i8.1C")
def list_side(board: Array, terms: Array, ends: Array) -> Any:
    """List the plays of one side for every roll and every point that the other side may block, in makehyper's order.

    Parameters
    ----------
    board : (25,) chequers on points 1 to 24 and the bar.
    terms : table of binomials for position numbers.
    ends : (25 * 21,) int64, receives where the plays of each blocked landing and roll end.

    Returns
    -------
    (after, landed), flat arrays as in `Lists`. Each play of a roll is listed once.
    """
    after = np.empty(1 << 14, np.uint16)
    landed = np.empty(1 << 14, np.uint32)
    used = at = 0
    for blocked in range(PLACES):
        for high in range(1, 7):
            for low in range(1, high + 1):
                if used + MAX_PLAYS > len(after):
                    after = np.concatenate((after, after))
                    landed = np.concatenate((landed, landed))
                state = np.zeros(3, np.int64)
                double = high == low
                for order in range(1 if double else 2):
                    dice = np.full(4 if double else 2, high)
                    dice[1 - order] = low
                    list_order(board, blocked, dice, terms, state, after[used:], landed[used:])
                used += state[0]
                ends[at] = used
                at += 1
    return after[:used].copy(), landed[:used].copy()


@njit()
def list_order(
    board: Array, blocked: int, dice: Array, terms: Array, state: Array, after: Array, landed: Array
) -> None:
    """List all ways to play the dice in this order, depth first, from the highest source down; doubles never rise.

    Parameters
    ----------
    board : (25,) chequers on points 1 to 24 and the bar.
    blocked : the landing that the other side blocks, `OPEN` for none.
    state : number of plays listed, and the most dice and pips that they use; updated.
    after, landed : receive the plays, as in `Lists`.
    """
    u = board.copy()
    many = len(dice)
    source = np.full(many + 1, BAR + 1)
    first = np.full(many + 1, BAR)
    masks = np.zeros(many + 1, np.int64)
    pips = np.zeros(many + 1, np.int64)
    goes_on = np.zeros(many + 1, np.bool_)
    depth = 0
    while True:
        i = -1
        if depth < many:
            i = min(source[depth] - 1, first[depth])
            while i >= 0 and not (u[i] and may_move(u, i, dice[depth], blocked)):
                i -= 1
        if i >= 0:
            k = i - dice[depth]
            source[depth] = i
            goes_on[depth] = True
            u[i] -= 1
            masks[depth + 1] = masks[depth]
            pips[depth + 1] = pips[depth] + dice[depth]
            if k >= 0:
                u[k] += 1
                masks[depth + 1] |= 1 << k
            depth += 1
            source[depth] = BAR + 1
            goes_on[depth] = False
            first[depth] = i if many == 4 and i < BAR else BAR
            continue
        if depth and not goes_on[depth]:
            add_play(u, depth, pips[depth], masks[depth], terms, state, after, landed)
        if depth == 0:
            return
        depth -= 1
        u[source[depth]] += 1
        if source[depth] >= dice[depth]:
            u[source[depth] - dice[depth]] -= 1


@njit()
def may_move(u: Array, i: int, die: int, blocked: int) -> bool:
    """Return True if the chequer on index i of the side u may move `die` pips; with one on the bar only that may.

    blocked : the landing that the other side blocks.
    """
    if u[BAR] and i < BAR:
        return False
    if i >= die:
        return i - die != blocked
    highest = i
    for p in range(i + 1, PLACES):
        if u[p]:
            highest = p
    return highest <= 5 and (i == die - 1 or i == highest)


@njit()
def add_play(
    u: Array, used: int, pips: int, mask: int, terms: Array, state: Array, after: Array, landed: Array
) -> None:
    """Add a play to the list, unless another one uses more dice or pips, or it is listed already.

    Parameters
    ----------
    u : (25,) the side after the play.
    used, pips : dice and pips that the play uses; if they are more than before, the list is begun anew.
    mask : bit k: a chequer landed on index k.
    state, after, landed : the list, see `list_order`.
    """
    if used < state[1] or pips < state[2]:
        return
    if used > state[1] or pips > state[2]:
        state[0] = 0
        state[1] = used
        state[2] = pips
    number = above = seen = 0
    for k in range(PLACES):
        above += u[PLACES - 1 - k]
        number += terms[k, above]
    for p in range(state[0]):
        if after[p] == number:
            seen = SEEN
            if landed[p] & (SEEN - 1) == mask:
                return
    after[state[0]] = number
    landed[state[0]] = mask | seen
    state[0] += 1


# -- one step ----------------------------------------------------------------------------------------------------


@njit()
def best_cube_equity(nd: Any, dt: Any, one: Any) -> Any:
    """Return the equity of the side on roll after its best cube action.

    nd : equity without doubling. dt : equity after a double and a take, in units of the new cube. one : 1 in their
    type.
    """
    two = dt + dt
    if two >= nd and one >= nd:
        return one if two >= one else two
    return nd


@njit()
def negate_record(x: Array, g: Array) -> None:
    """Write to g (10,) the values of a record x to the side that has just moved; in x the other side is on roll.

    Won and lost gammons are exchanged, cube owner and opponent too, and the best cube action is included.
    """
    one = x.dtype.type(1)
    g[0] = one - x[0]
    g[1] = x[3]
    g[2] = x[4]
    g[3] = x[1]
    g[4] = x[2]
    g[5] = -x[5]
    g[6] = -x[9]
    g[7] = -best_cube_equity(x[7], x[9], one)
    g[8] = -best_cube_equity(x[8], x[9], one)
    g[9] = -best_cube_equity(x[6], x[9], one)


@njit("i8, f4.2C, f4.2C", "i8, f8.2C, f8.2C")
def negate_all(n: int, values: Array, turned: Array) -> None:
    """Write the value of every record [us, them] to the side that has just moved (them) to turned[them * n + us].

    values, turned : (n * n, 10).
    """
    for us in range(n):
        for them in range(n):
            negate_record(values[us * n + them], turned[them * n + us])


@njit()
def add_roll(total: Array, best: Array, double: bool) -> None:
    """Add the numbers `best` of one roll to the sums `total`, twice unless the roll is a double."""
    for k in range(len(best)):
        if double:
            total[k] = total[k] + best[k]
        else:
            total[k] = total[k] + (best[k] + best[k])


@njit("f4.1C, b1", "f8.1C, b1")
def take_mean(total: Array, divide: bool) -> None:
    """Divide the sums over 36 throws by 36, in place.

    divide : divide; else multiply by the reciprocal, as the usual build of makehyper does, with other rounding.
    """
    whole = total.dtype.type(36)
    reciprocal = total.dtype.type(1) / whole
    for k in range(len(total)):
        total[k] = total[k] / whole if divide else total[k] * reciprocal


@njit()
def compute_record(r: int, c: int, state: CheckState, total: Array) -> None:
    """Compute the ten numbers (five probabilities, five equities) of record [r, c] from those after each play.

    r, c : position numbers of the side on roll and of the other, both with chequers left. state : the plays and all
    current records. total : (10,), receives the numbers.
    """
    lists = state.lists
    turned = state.turned
    starts = lists.starts
    after = lists.after
    landed = lists.landed
    hit = lists.hit[c]
    n = len(lists.blocked)
    blots = lists.blots[c]
    one = lists.met[c, 0]
    two = lists.met[c, 1]
    three = lists.met[c, 2]
    roll = (r * PLACES + lists.blocked[c]) * ROLLS
    once = turned.dtype.type(1)
    total[:] = 0
    for high in range(6):
        for low in range(high + 1):
            chosen = np.int64(r) * n + c
            e5 = e6 = e7 = e8 = e9 = turned.dtype.type(LEAST)
            for p in range(starts[roll], starts[roll + 1]):
                mask = np.int64(landed[p])
                again = False
                if mask & SEEN:
                    for q in range(starts[roll], p):
                        if after[q] == after[p] and (np.int64(landed[q]) ^ mask) & blots == 0:
                            again = True
                if again:
                    continue
                bits = (mask >> one & 1) | (mask >> two & 1) << 1 | (mask >> three & 1) << 2
                at = np.int64(after[p]) * n + hit[bits]
                if turned[at, 5] >= e5:  # among equal ones the last play gives the chances
                    e5 = turned[at, 5]
                    chosen = at
                e6 = max(e6, turned[at, 6])
                e7 = max(e7, turned[at, 7])
                e8 = max(e8, turned[at, 8])
                e9 = max(e9, turned[at, 9])
            if starts[roll] == starts[roll + 1]:
                e5 = turned[chosen, 5]
                e6 = turned[chosen, 6]
                e7 = turned[chosen, 7]
                e8 = turned[chosen, 8]
                e9 = turned[chosen, 9]
                if not state.stay:  # each equity by itself, as if the cube did not change hands
                    x = state.values[c * n + r]
                    e6 = -x[6]
                    e7 = -x[7]
                    e8 = -x[8]
                    e9 = -x[9]
            weight = once if high == low else once + once
            for k in range(5):
                total[k] += weight * turned[chosen, k]
            total[5] += weight * e5
            total[6] += weight * e6
            total[7] += weight * e7
            total[8] += weight * e8
            total[9] += weight * e9
            roll += 1
    take_mean(total, state.divide)


@njit()
def bound_chances(r: int, c: int, state: CheckState, slack: Any, low: Array, high: Array) -> None:
    """Write bounds of the five probabilities of record [r, c] to low and high (5,), over all plays that may be best.

    These are the plays whose cubeless equity is within `slack` of the best: rounded numbers do not tell which of them
    a program considered best. r, c : position numbers of the side on roll and of the other.
    """
    lists = state.lists
    turned = state.turned
    n = len(lists.blocked)
    met = lists.met[c]
    low[:] = 0
    high[:] = 0
    least = np.empty(5, turned.dtype)
    most = np.empty(5, turned.dtype)
    roll = (r * PLACES + lists.blocked[c]) * ROLLS
    for a in range(6):
        for b in range(a + 1):
            best = turned.dtype.type(LEAST)
            some = 0
            for look in range(2):  # at the best play, then at those near it
                for p in range(lists.starts[roll], lists.starts[roll + 1]):
                    mask = np.int64(lists.landed[p])
                    bits = 0
                    for k in range(3):
                        bits |= (mask >> met[k] & 1) << k
                    g = turned[np.int64(lists.after[p]) * n + lists.hit[c, bits]]
                    if look == 0:
                        best = g[5] if g[5] >= best else best
                    elif g[5] >= best - slack:
                        for k in range(5):
                            least[k] = min(least[k], g[k]) if some else g[k]
                            most[k] = max(most[k], g[k]) if some else g[k]
                        some += 1
            if some == 0:
                for k in range(5):
                    least[k] = most[k] = turned[r * n + c, k]
            add_roll(low, least, a == b)
            add_roll(high, most, a == b)
            roll += 1
    take_mean(low, state.divide)
    take_mean(high, state.divide)


@njit(f"i8, i8, b1, {CHECK_STATE}", f"i8, i8, b1, {CHECK_STATE64}")
def sweep_rows(first: int, last: int, beyond: bool, state: CheckState) -> Array:
    """Update the records of rows first..last-1 in place; return the greatest change of a number by class, (4,).

    A row has the records [us, them] of one side on roll.

    beyond : update those with them > us, in any order; else those with them <= us, one after the other.
    """
    values = state.values
    kinds = state.kinds
    n = len(state.lists.blocked)
    total = np.zeros(NUMBERS, values.dtype)
    changes = np.zeros(4, values.dtype)
    height = last - first if beyond else 1
    for top in range(first, last, height):
        for column in range(0, n, COLUMNS_AT_ONCE):
            for r in range(top, top + height):
                end = min(n if beyond else r + 1, column + COLUMNS_AT_ONCE)
                for c in range(max(column, r + 1 if beyond else 0), end):
                    x = r * n + c
                    kind = kinds[x]
                    if kind < CONTACT:
                        continue
                    compute_record(r, c, state, total)
                    for k in range(NUMBERS):
                        changes[kind] = max(changes[kind], abs(total[k] - values[x, k]))
                    values[x] = total
                    negate_record(total, state.turned[c * n + r])
    return changes


@njit(f"i8.1C, {CHECK_STATE}, f4, f4.2C, f4.2C, f4.2C", f"i8.1C, {CHECK_STATE64}, f8, f8.2C, f8.2C, f8.2C")
def compute_step(which: Array, state: CheckState, slack: Any, right: Array, low: Array, high: Array) -> None:
    """Compute some records anew from the current numbers.

    Parameters
    ----------
    which : numbers us * n + them of the records.
    slack : see `bound_chances`.
    right : (m, 10) zeros, receives the results.
    low, high : (m, 5), receive bounds of the probabilities.
    """
    n = len(state.lists.blocked)
    for i in range(len(which)):
        r = which[i] // n
        c = which[i] % n
        kind = state.kinds[which[i]]
        if kind == OVER:
            right[i] = state.ends[0, c] if r == 0 and c else state.ends[1, r]
        elif kind != ILLEGAL:
            compute_record(r, c, state, right[i])
        if kind >= CONTACT:
            bound_chances(r, c, state, slack, low[i], high[i])
        else:
            low[i] = right[i, :5]
            high[i] = right[i, :5]
