"""Compiled hypergammon, for the verifier alone: rules of play, one step of a record, a sweep in makehyper's order.

A record holds ten numbers: win, win gammon, win backgammon, lose gammon, lose backgammon, then the equities
cubeless, owned, centered, centered with Jacoby, opponent. `values` is (n * n, 10) float32 or float64, record
us * n + them.

A sweep uses plays listed beforehand. What a side can play depends on the one landing that the other side blocks
(three chequers block no more), and what a play leaves of the other side on which of its blots it hits. The plays are
found by the full rules, against a side with a blot on every landing that is not blocked: the blots then gone are the
landings of the play.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.jit import njit

Array = Any
BAR = 24
PLACES = 25
POINTS = 24
ROLLS = 21
NUMBERS = 10
ILLEGAL, OVER, CONTACT, RACE = 0, 1, 2, 3
MOST_PLAYS = 4096
SEEN = 1 << 30  # in `landed`: an earlier play of the roll leaves the same side
WIDE = 32  # more chequers than the full side has
TOGETHER = 32  # columns of a row that are made together: near rows look at the same records
LEAST = -1e9  # less than any equity


class Lists(NamedTuple):
    """Plays of side us against one that blocks landing b (24: none): rolls (us * 25 + b) * 21 and up, as ranges.

    starts : where the plays of each roll begin. after : the side left. landed : bit k: one landed on k; SEEN.
    blocked, blots (n,) : the landing a side blocks, and those of its blots as bits. met (n, 3) : the blots one by
    one, 31 where there are fewer. hit (n, 8) : the side when those blots (bit k: met[k]) are on the bar.
    """

    starts: Array
    after: Array
    landed: Array
    blocked: Array
    blots: Array
    met: Array
    hit: Array


@njit()
def number_of(board: Array, terms: Array) -> int:
    """Position number of 25 counts."""
    above = 0
    number = 0
    for k in range(PLACES):
        above += board[PLACES - 1 - k]
        number += terms[k, above]
    return number


@njit()
def class_of(u: Array, t: Array) -> int:
    """Illegal, over, contact or race."""
    for i in range(24):
        if u[23 - i] > 0 and t[i] > 0:
            return ILLEGAL
    high_u = -1
    high_t = -1
    for i in range(PLACES):
        if u[i]:
            high_u = i
        if t[i]:
            high_t = i
    if high_u < 0 or high_t < 0:
        return OVER
    return CONTACT if high_u + high_t > 22 else RACE


@njit()
def can_move(u: Array, t: Array, i: int, die: int) -> bool:
    """Whether the chequer on index i (known to be there) may move; with one on the bar only that may."""
    k = i - die
    if k >= 0:
        return t[23 - k] < 2  # type: ignore[no-any-return]
    highest = 0
    for p in range(PLACES):
        if u[p]:
            highest = p
    return highest <= 5 and (k == -1 or i == highest)


@njit()
def make(u: Array, t: Array, i: int, die: int) -> bool:
    """Move a chequer; returns whether it hit."""
    k = i - die
    u[i] -= 1
    if k < 0:
        return False
    u[k] += 1
    if t[23 - k] > 0:
        t[23 - k] = 0
        t[BAR] += 1
        return True
    return False


@njit()
def unmake(u: Array, t: Array, i: int, die: int, hit: bool) -> None:
    """Take a move back."""
    k = i - die
    u[i] += 1
    if k >= 0:
        u[k] -= 1
        if hit:
            t[23 - k] = 1
            t[BAR] -= 1


@njit()
def record(u: Array, t: Array, used: int, pips: int, terms: Array, state: Array, plays: Array) -> None:
    """Keep a position reached with `used` dice and `pips` pips, if none used more. state: count, dice, pips."""
    if used < state[1] or pips < state[2]:
        return
    if used > state[1] or pips > state[2]:
        state[0] = 0
        state[1] = used
        state[2] = pips
    mine = number_of(u, terms)
    other = number_of(t, terms)
    for k in range(state[0]):
        if plays[k, 0] == mine and plays[k, 1] == other:
            return
    if state[0] < len(plays):
        plays[state[0], 0] = mine
        plays[state[0], 1] = other
        state[0] += 1


@njit()
def pass_of(u: Array, t: Array, dice: Array, many: int, terms: Array, state: Array, plays: Array) -> None:
    """All ways to play the dice in this order, depth first, sources downwards; doubles' sources never rise."""
    source = np.zeros(5, np.int64)
    hits = np.zeros(5, np.bool_)
    moved_any = np.zeros(5, np.bool_)
    pips = np.zeros(5, np.int64)
    start = np.zeros(5, np.int64)
    depth = 0
    source[0] = BAR + 1
    start[0] = 23
    double = many == 4
    while depth >= 0:
        die = dice[depth]
        i = source[depth] - 1
        found = False
        if depth < many:
            if u[BAR] > 0:
                if source[depth] > BAR:
                    i = BAR
                    found = can_move(u, t, BAR, die)
                else:
                    i = -1
            else:
                i = min(i, start[depth])
                while i >= 0:
                    if u[i] > 0 and can_move(u, t, i, die):
                        found = True
                        break
                    i -= 1
        if found:
            source[depth] = i
            moved_any[depth] = True
            hits[depth] = make(u, t, i, die)
            # what is really used: pips travelled, bearing off counts up to the edge
            pips[depth + 1] = pips[depth] + die
            depth += 1
            if depth == many:
                record(u, t, depth, pips[depth], terms, state, plays)
                depth -= 1
                unmake(u, t, source[depth], dice[depth], hits[depth])
            else:
                moved_any[depth] = False
                source[depth] = BAR + 1
                start[depth] = 23 if (i == BAR or not double) else i
        else:
            if depth > 0 and not moved_any[depth]:
                record(u, t, depth, pips[depth], terms, state, plays)
            depth -= 1
            if depth >= 0:
                unmake(u, t, source[depth], dice[depth], hits[depth])


@njit()
def plays_of(u: Array, t: Array, high: int, low: int, terms: Array, plays: Array) -> int:
    """(our number, their number) after every legal play, in order; returns how many."""
    state = np.zeros(3, np.int64)
    dice = np.zeros(5, np.int64)
    if high == low:
        dice[:4] = high
        pass_of(u, t, dice, 4, terms, state, plays)
    else:
        dice[0], dice[1] = high, low
        pass_of(u, t, dice, 2, terms, state, plays)
        dice[0], dice[1] = low, high
        pass_of(u, t, dice, 2, terms, state, plays)
    return state[0]  # type: ignore[no-any-return]


@njit()
def hand(nd: Any, dt: Any, one: Any) -> Any:
    """The side on roll with its best cube action; `one` is 1 in the type of the others."""
    two = dt + dt
    if two >= nd and one >= nd:
        return one if two >= one else two
    return nd


@njit()
def over_values(u: Array, t: Array, chequers: int, out: Array) -> None:
    """The ten numbers of a finished game."""
    out[:] = 0
    mine = u.sum()
    other = t.sum()
    far = 0
    loser = u if other == 0 else t
    for i in range(18, PLACES):
        far += loser[i]
    if other == 0:
        if mine == chequers:
            out[3] = 1
            if far:
                out[4] = 1
    else:
        out[0] = 1
        if other == chequers:
            out[1] = 1
            if far:
                out[2] = 1
    one = out.dtype.type(1)
    equity = (out[0] + out[0]) - one + (out[1] - out[3]) + (out[2] - out[4])
    for k in range(5, NUMBERS):
        out[k] = equity
    out[8] = (out[0] + out[0]) - one


@njit()
def start_values(boards: Array, chequers: int, values: Array, kinds: Array) -> None:
    """Classes (n * n,) of all records, and the values the iteration starts from."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            x = us * n + them
            kind = class_of(boards[us], boards[them])
            kinds[x] = kind
            values[x, :] = 0
            if kind == OVER:
                over_values(boards[us], boards[them], chequers, values[x])
            elif kind != ILLEGAL:
                values[x, 0] = 1
                values[x, 1] = 1
                values[x, 5] = 2


@njit()
def classes(boards: Array, kinds: Array) -> None:
    """kinds[us * n + them] = class of every record."""
    n = len(boards)
    for us in range(n):
        for them in range(n):
            kinds[us * n + them] = class_of(boards[us], boards[them])


@njit()
def set_turned(x: Array, g: Array) -> None:
    """g = what a record x of the opponent's is worth to the side that moved into it; columns as best play asks."""
    one = x.dtype.type(1)
    g[0] = one - x[0]
    g[1] = x[3]
    g[2] = x[4]
    g[3] = x[1]
    g[4] = x[2]
    g[5] = -x[5]
    g[6] = -x[9]
    g[7] = -hand(x[7], x[9], one)
    g[8] = -hand(x[8], x[9], one)
    g[9] = -hand(x[6], x[9], one)


@njit()
def turn_all(n: int, values: Array, turned: Array) -> None:
    """`set_turned` of every record [us, them], to them * n + us."""
    for us in range(n):
        for them in range(n):
            set_turned(values[us * n + them], turned[them * n + us])


@njit()
def add_roll(total: Array, best: Array, double: bool) -> None:
    """One roll's numbers into the sum, twice for a roll of two different dice."""
    for k in range(NUMBERS):
        if double:
            total[k] = total[k] + best[k]
        else:
            total[k] = total[k] + (best[k] + best[k])


@njit()
def no_play(x: Array, best: Array) -> None:
    """The numbers where the side on roll cannot move: the opponent's record as it stands, each number by itself."""
    best[0] = x.dtype.type(1) - x[0]
    best[1] = x[3]
    best[2] = x[4]
    best[3] = x[1]
    best[4] = x[2]
    for k in range(5, NUMBERS):
        best[k] = -x[k]


@njit()
def finish(total: Array, divide: bool) -> None:
    """The mean over 36 rolls: times the reciprocal, as the common build has it, or divided."""
    whole = total.dtype.type(36)
    reciprocal = total.dtype.type(1) / whole
    for k in range(NUMBERS):
        total[k] = total[k] / whole if divide else total[k] * reciprocal


@njit()
def others(boards: Array, terms: Array, blocked: Array, blots: Array, met: Array, hit: Array) -> None:
    """Fill what `Lists` says of a side as the other one."""
    board = np.zeros(PLACES, np.int64)
    for s in range(len(boards)):
        blocked[s] = POINTS
        many = 0
        for i in range(POINTS - 1, -1, -1):
            if boards[s, i] > 1:
                blocked[s] = POINTS - 1 - i
            elif boards[s, i] == 1:
                blots[s] |= np.int64(1) << (POINTS - 1 - i)
                met[s, many] = POINTS - 1 - i
                many += 1
        for k in range(many, 3):
            met[s, k] = 31
        for bits in range(8):
            board[:] = boards[s]
            for k in range(many):
                if bits >> k & 1:
                    board[POINTS - 1 - met[s, k]] = 0
                    board[BAR] += 1
            hit[s, bits] = number_of(board, terms)


@njit()
def landings(number: int, blocked: int, terms: Array) -> int:
    """The blots gone from the full side that `list_side` plays against, from its position number."""
    above = WIDE - 1
    mask = 0
    for k in range(PLACES - 1, -1, -1):
        while terms[k, above] > number:
            above -= 1
        number -= terms[k, above]
        below = above
        if k:
            while terms[k - 1, below] > number:
                below -= 1
        else:
            below = 0
        i = PLACES - 1 - k
        if i < POINTS and POINTS - 1 - i != blocked and above == below:
            mask |= 1 << (POINTS - 1 - i)
        above = below
    return mask


@njit()
def list_sides(boards: Array, first: int, last: int, wide: Array, ends: Array) -> Any:
    """(after, landed) of the sides first..last-1; ends[row - first row] takes where the plays of a roll end.

    wide : terms of position numbers of up to WIDE - 1 chequers.
    """
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    after = np.empty(1 << 16, np.uint16)
    landed = np.empty(1 << 16, np.uint32)
    used = at = 0
    for us in range(first, last):
        for blocked in range(PLACES):
            for high in range(1, 7):
                for low in range(1, high + 1):
                    u[:] = boards[us]
                    t[:] = 1
                    t[BAR] = 0
                    if blocked < POINTS:
                        t[POINTS - 1 - blocked] = 2
                    count = plays_of(u, t, high, low, wide, plays)
                    if used + count > len(after):
                        room = 2 * len(after) + count
                        more, mark = np.empty(room, np.uint16), np.empty(room, np.uint32)
                        more[:used], mark[:used] = after[:used], landed[:used]
                        after, landed = more, mark
                    for p in range(count):
                        seen = 0
                        for q in range(p):
                            if plays[q, 0] == plays[p, 0]:
                                seen = SEEN
                        after[used + p] = plays[p, 0]
                        landed[used + p] = landings(plays[p, 1], blocked, wide) | seen
                    used += count
                    ends[at] = used
                    at += 1
    return after[:used].copy(), landed[:used].copy()


@njit()
def make_record(
    r: int, c: int, lists: Lists, divide: bool, stay: bool, values: Array, turned: Array, best: Array, total: Array
) -> None:  # fmt: skip
    """total = one step for record [r, c] from the numbers as they stand; turned : see `rows`."""
    starts, after, landed, hit = lists.starts, lists.after, lists.landed, lists.hit
    n = len(lists.blocked)
    one, two, three = lists.met[c, 0], lists.met[c, 1], lists.met[c, 2]
    roll = (r * PLACES + lists.blocked[c]) * ROLLS
    total[:] = 0
    for high in range(6):
        for low in range(high + 1):
            begin, end = starts[roll], starts[roll + 1]
            roll += 1
            if begin == end:
                if stay:
                    best[:] = turned[r * n + c]
                else:
                    no_play(values[c * n + r], best)
            else:
                e5 = e6 = e7 = e8 = e9 = values.dtype.type(LEAST)
                chosen = np.int64(0)
                for p in range(begin, end):
                    mask = np.int64(landed[p])
                    again = False
                    if mask & SEEN:
                        for q in range(begin, p):
                            if after[q] == after[p] and (np.int64(landed[q]) ^ mask) & lists.blots[c] == 0:
                                again = True
                    if again:
                        continue
                    bits = (mask >> one & 1) | (mask >> two & 1) << 1 | (mask >> three & 1) << 2
                    at = np.int64(after[p]) * n + hit[c, bits]
                    g = turned[at]
                    if g[5] >= e5:  # among equal ones the last play gives the chances
                        e5, chosen = g[5], at
                    e6, e7, e8, e9 = max(e6, g[6]), max(e7, g[7]), max(e8, g[8]), max(e9, g[9])
                best[:5] = turned[chosen, :5]
                best[5], best[6], best[7], best[8], best[9] = e5, e6, e7, e8, e9
            add_roll(total, best, high == low)
    finish(total, divide)


@njit()
def rows(
    first: int, last: int, beyond: bool, lists: Lists, boards: Array, chequers: int, kinds: Array, divide: bool,
    stay: bool, values: Array, turned: Array,
) -> Any:  # fmt: skip
    """Renew, in place, the records of the rows first..last-1 beyond the diagonal, or those up to it.

    turned (n * n, 10) : record [us, them] at them * n + us as `set_turned` has it, so that those of neighbours lie
    together. kinds : (n * n,), the classes. Returns the greatest change of a number in a record that is iterated.
    """
    n = len(boards)
    best, total = np.zeros(NUMBERS, values.dtype), np.zeros(NUMBERS, values.dtype)
    most = values.dtype.type(0)
    for column in range(0, n, TOGETHER):
        for r in range(first, last):
            end = min(n if beyond else r + 1, column + TOGETHER)
            for c in range(max(column, r + 1 if beyond else 0), end):
                x = r * n + c
                if kinds[x] == ILLEGAL:
                    continue
                if kinds[x] == OVER:
                    over_values(boards[r], boards[c], chequers, total)
                else:
                    make_record(r, c, lists, divide, stay, values, turned, best, total)
                    for k in range(NUMBERS):
                        most = max(most, abs(total[k] - values[x, k]))
                values[x] = total
                set_turned(total, turned[c * n + r])
    return most


@njit()
def rows_in_order(
    first: int, last: int, lists: Lists, boards: Array, chequers: int, kinds: Array, divide: bool, stay: bool,
    values: Array, turned: Array,
) -> Any:  # fmt: skip
    """`rows` up to the diagonal, one row after the other."""
    most = values.dtype.type(0)
    for r in range(first, last):
        change = rows(r, r + 1, False, lists, boards, chequers, kinds, divide, stay, values, turned)
        most = max(most, change)
    return most


@njit()
def step_met(
    x: int,
    n: int,
    values: Array,
    u: Array,
    t: Array,
    terms: Array,
    plays: Array,
    slack: Any,
    stay: bool,
    total: Array,
    best: Array,
    low: Array,
    high: Array,
    divide: bool,
) -> None:
    """total = one step of the iteration for record x, its plays enumerated afresh.

    low, high (5,) : least and greatest chances if any play may be made whose cubeless value is within `slack` of
    the best: which of almost equal plays the program saw as best is not to be had from rounded numbers.
    """
    total[:] = 0
    low[:] = 0
    high[:] = 0
    some_low = np.zeros(NUMBERS, values.dtype)
    some_high = np.zeros(NUMBERS, values.dtype)
    one = np.zeros(NUMBERS, values.dtype)
    whole = values.dtype.type(1)
    for a in range(1, 7):
        for b in range(1, a + 1):
            count = plays_of(u, t, a, b, terms, plays)
            if count == 0 and stay:
                plays[0, 0], plays[0, 1], count = x // n, x % n, 1
            if count == 0:
                no_play(values[(x % n) * n + x // n], best)
                some_low[:] = best
                some_high[:] = best
            else:
                for k in range(5, NUMBERS):
                    best[k] = values.dtype.type(-1e9)
                which = 0
                for p in range(count):
                    e = values[plays[p, 1] * n + plays[p, 0]]
                    if -e[5] >= best[5]:
                        best[5] = -e[5]
                        which = p
                    best[6] = max(best[6], -e[9])
                    best[7] = max(best[7], -hand(e[7], e[9], whole))
                    best[8] = max(best[8], -hand(e[8], e[9], whole))
                    best[9] = max(best[9], -hand(e[6], e[9], whole))
                no_play(values[plays[which, 1] * n + plays[which, 0]], one)
                for k in range(5):
                    best[k] = one[k]
                    some_low[k] = one[k]
                    some_high[k] = one[k]
                for p in range(count):
                    e = values[plays[p, 1] * n + plays[p, 0]]
                    if -e[5] >= best[5] - slack:
                        no_play(e, one)
                        for k in range(5):
                            some_low[k] = min(some_low[k], one[k])
                            some_high[k] = max(some_high[k], one[k])
            add_roll(total, best, a == b)
            add_roll(low, some_low, a == b)
            add_roll(high, some_high, a == b)
    finish(total, divide)
    finish(low, divide)
    finish(high, divide)


@njit()
def residual(
    values: Array,
    kinds: Array,
    boards: Array,
    terms: Array,
    chequers: int,
    which: Array,
    slack: Any,
    stay: bool,
    divide: bool,
    right: Array,
    off: Array,
) -> None:
    """One step of the iteration for the records `which`, from the stored ones.

    right : (m, 10), what the step gives; off : (m,), the greatest difference to what is stored, of
    an equity (the cubeless one too, which follows from the chances) or of a chance from where `step_met` allows it.
    """
    n = len(boards)
    plays = np.zeros((MOST_PLAYS, 2), np.int64)
    total = np.zeros(NUMBERS, values.dtype)
    best = np.zeros(NUMBERS, values.dtype)
    low = np.zeros(NUMBERS, values.dtype)
    high = np.zeros(NUMBERS, values.dtype)
    u = np.zeros(PLACES, np.int64)
    t = np.zeros(PLACES, np.int64)
    for i in range(len(which)):
        x = which[i]
        u[:] = boards[x // n]
        t[:] = boards[x % n]
        if kinds[x] == ILLEGAL:
            total[:] = 0
            low[:] = 0
            high[:] = 0
        elif kinds[x] == OVER:
            over_values(u, t, chequers, total)
            low[:] = total
            high[:] = total
        else:
            step_met(x, n, values, u, t, terms, plays, slack, stay, total, best, low, high, divide)
        most = values.dtype.type(0)
        for k in range(NUMBERS):
            right[i, k] = total[k]
            value = values[x, k]
            gap = abs(total[k] - value)
            if k < 5:
                gap = low[k] - value if not value >= low[k] else value - high[k]
            elif k == 5 and kinds[x] == ILLEGAL:
                gap = values.dtype.type(0)  # its stored chances are all nought, which no equity follows from
            if not gap <= most:  # what is no number is off by more than any number
                most = values.dtype.type(np.inf) if np.isnan(gap) else gap
        off[i] = most
