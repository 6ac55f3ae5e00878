"""Compiled hypergammon: a sweep over the records in makehyper's order (docs/theory/hypergammon.md).

* A record with us < them depends on none that is updated before it: these are computed first, by all threads
  (`sweep_above_diagonal`).
* Of the others, those that depend on no record of the same 16 rows are computed together, before these rows are
  stored (`compute_below_diagonal`); the few that do are computed one by one while the rows are stored
  (`store_in_order`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bgfmt.extras.hypergammon.solver.plays import SAME_SIDE, Plays, Sides
from bgfmt.game.results import Array
from bgfmt.jit import njit

NUMBERS = 10
COLUMNS_AT_ONCE = 32  # columns computed together: near rows read the same records
LEAST = -8  # less than any equity
# classes of records: FIXED is not renewed, OVER has its known values
FIXED = 0
OVER = 1
CONTACT = 2
RACE = 3


class SweepState(NamedTuple):
    """The numbers of the iteration, float32 or float64.

    Attributes
    ----------
    values : (n, n, 10) of [us, them]: win, win gammon, win backgammon, lose gammon, lose backgammon; equities
        cubeless, owned, centered, centered with Jacoby, opponent's cube.
    replies : (n, n, 10) of [us, them]: value of record [them, us] to us, who have just moved: the same probabilities,
        then equities cubeless, with our cube, centered, centered with Jacoby, with their cube, after the best cube
        action of the side on roll.
    kinds : (n, n) uint8, the classes.
    lost : (n, 10) the values of [us, nothing left].
    as_is : True if a side that cannot move gets the other's numbers column by column, as in makehyper.
    """

    values: Array
    replies: Array
    kinds: Array
    lost: Array
    as_is: bool


#: forms of tuples that kernels take, see `bgfmt.jit.njit`
PLAYS = "bgfmt.extras.hypergammon.solver.plays:Plays(u4.3C, u4.3C, u2.1C, u4.1C)"
SIDES = "bgfmt.extras.hypergammon.solver.plays:Sides(i8.1C, u4.1C, u4.2C, u2.2C)"
SWEEP_STATE = "bgfmt.extras.hypergammon.solver.sweep:SweepState(f4.3C, f4.3C, u1.2C, f4.2C, b1)"
SWEEP_STATE64 = "bgfmt.extras.hypergammon.solver.sweep:SweepState(f8.3C, f8.3C, u1.2C, f8.2C, b1)"


@njit()
def best_cube_equity(one: Any, centered: Any, doubled: Any) -> Any:
    """Return the equity of a side on roll that may double, after its best cube action and the answer to it.

    one : 1 in the type of the others. centered : equity without doubling. doubled : equity after a double and a take,
    in units of the new cube.
    """
    two = min(one, doubled + doubled)
    return two if two >= centered else centered


@njit(f"{SWEEP_STATE}, i8, i8", f"{SWEEP_STATE64}, i8, i8")
def update_reply(state: SweepState, us: int, them: int) -> None:
    """Compute the reply to record [us, them]: its value to `them`, who have just moved, `us` being on roll."""
    record = state.values[us, them]
    reply = state.replies[them, us]
    one = record.dtype.type(1)
    reply[0] = one - record[0]
    reply[1] = record[3]
    reply[2] = record[4]
    reply[3] = record[1]
    reply[4] = record[2]
    reply[5] = -record[5]
    reply[6] = -record[9]
    reply[7] = -best_cube_equity(one, record[7], record[9])
    reply[8] = -best_cube_equity(one, record[8], record[9])
    reply[9] = -best_cube_equity(one, record[6], record[9])


@njit(f"{SWEEP_STATE}, i8, i8", f"{SWEEP_STATE64}, i8, i8")
def update_all_replies(state: SweepState, first: int, last: int) -> None:
    """Compute the replies to all records of the rows first to last - 1 (sides on roll); see `update_reply`."""
    for us in range(first, last):
        for them in range(len(state.values)):
            update_reply(state, us, them)


@njit()
def compute_record(state: SweepState, plays: Plays, sides: Sides, us: int, them: int, out: Array) -> None:
    """Compute the ten numbers (five probabilities, five equities) of record [us, them] from those after each play.

    us, them : position numbers of the side on roll and of the other. plays, sides : of all sides. out : (10,),
    receives the numbers.
    """
    replies = state.replies
    after = plays.after
    landed = plays.landed
    hit = sides.hit[them]
    first = plays.first[us, sides.blocked[them]]
    last = plays.last[us, sides.blocked[them]]
    blots = sides.blots[them]
    places = sides.places[them]
    place = places[0]
    place_2 = places[1]
    place_3 = places[2]
    one = out.dtype.type(1)
    least = out.dtype.type(LEAST)
    out[:] = 0
    roll = 0
    for high in range(6):
        for low in range(high + 1):
            start = first[roll]
            end = last[roll]
            roll += 1
            b5 = b6 = b7 = b8 = b9 = least
            best = replies[us, them]
            for e in range(start, end):
                mask = landed[e]
                bits = (mask >> place & 1) | (mask >> place_2 & 1) << 1 | (mask >> place_3 & 1) << 2
                reply = replies[after[e], hit[bits]]
                cubeless = reply[5]
                if mask & SAME_SIDE and cubeless == b5:  # a position that comes up again keeps its place
                    for f in range(start, e):
                        if after[f] == after[e] and (landed[f] ^ mask) & blots == 0:
                            cubeless = least
                if cubeless >= b5:  # among equal ones the last play gives the chances
                    b5 = cubeless
                    best = reply
                b6 = max(b6, reply[6])
                b7 = max(b7, reply[7])
                b8 = max(b8, reply[8])
                b9 = max(b9, reply[9])
            if start == end:  # nothing to play: the other side moves next
                b5 = best[5]
                b6 = best[6]
                b7 = best[7]
                b8 = best[8]
                b9 = best[9]
                if state.as_is:
                    same = state.values[them, us]
                    b6 = -same[6]
                    b7 = -same[7]
                    b8 = -same[8]
                    b9 = -same[9]
            weight = one if high == low else one + one
            for k in range(5):
                out[k] += weight * best[k]
            out[5] += weight * b5
            out[6] += weight * b6
            out[7] += weight * b7
            out[8] += weight * b8
            out[9] += weight * b9
    share = one / out.dtype.type(36)
    for k in range(NUMBERS):
        out[k] *= share


@njit(f"{SWEEP_STATE}, i8, i8, f4.1C, f4.1C", f"{SWEEP_STATE64}, i8, i8, f8.1C, f8.1C")
def store_record(state: SweepState, us: int, them: int, numbers: Array, changes: Array) -> None:
    """Store the ten numbers of record [us, them], and update its value to the side that has just moved.

    changes : (4,), greatest change of a number so far by class of records; updated.
    """
    record = state.values[us, them]
    kind = state.kinds[us, them]
    greatest = changes[kind]
    for k in range(NUMBERS):
        greatest = max(greatest, abs(numbers[k] - record[k]))
        record[k] = numbers[k]
    changes[kind] = greatest
    update_reply(state, us, them)


@njit(f"{SWEEP_STATE}, {PLAYS}, {SIDES}, i8, i8", f"{SWEEP_STATE64}, {PLAYS}, {SIDES}, i8, i8")
def sweep_above_diagonal(state: SweepState, plays: Plays, sides: Sides, first: int, last: int) -> Array:
    """Update the records [us, them] of the sides us = first to last - 1 on roll with them > us.

    plays, sides : of all sides. Returns (4,), the greatest change of a number by class of records.
    """
    n = len(state.values)
    changes = np.zeros(4, state.values.dtype)
    out = np.empty(NUMBERS, state.values.dtype)
    for column in range(first + 1, n, COLUMNS_AT_ONCE):
        for us in range(first, last):
            for them in range(max(us + 1, column), min(n, column + COLUMNS_AT_ONCE)):
                if state.kinds[us, them] >= CONTACT:
                    compute_record(state, plays, sides, us, them, out)
                    store_record(state, us, them, out, changes)
    return changes


@njit(
    f"{SWEEP_STATE}, {PLAYS}, {SIDES}, i8, i8, b1.1C, i8, i8, f4.3C",
    f"{SWEEP_STATE64}, {PLAYS}, {SIDES}, i8, i8, b1.1C, i8, i8, f8.3C",
)
def compute_below_diagonal(
    state: SweepState, plays: Plays, sides: Sides, first: int, last: int, inward: Array, part: int, parts: int,
    block: Array,
) -> None:  # fmt: skip
    """Compute the records [us, them] of the rows us = first to last - 1 with them <= us, without storing them.

    Parameters
    ----------
    inward : (n,) whether records against a side may depend on these rows; such records are omitted.
    part, parts : of `parts` threads, this one computes every `parts`-th block of columns, from block `part` on.
    block : (rows, n, 10), receives the numbers.
    """
    for column in range(part * COLUMNS_AT_ONCE, last, parts * COLUMNS_AT_ONCE):
        for us in range(first, last):
            for them in range(column, min(us + 1, column + COLUMNS_AT_ONCE)):
                if state.kinds[us, them] >= CONTACT and not inward[them]:
                    compute_record(state, plays, sides, us, them, block[us - first, them])


@njit(
    f"{SWEEP_STATE}, {PLAYS}, {SIDES}, i8, i8, b1.1C, f4.3C",
    f"{SWEEP_STATE64}, {PLAYS}, {SIDES}, i8, i8, b1.1C, f8.3C",
)
def store_in_order(
    state: SweepState, plays: Plays, sides: Sides, first: int, last: int, inward: Array, block: Array
) -> Array:
    """Store the records [us, them] with them <= us of the rows us = first to last - 1, one after the other.

    Returns (4,), the greatest change of a number by class of records.

    Parameters
    ----------
    inward : (n,) whether records against a side may depend on these rows; such records are computed here.
    block : (rows, n, 10), the results of `compute_below_diagonal` for the others.
    """
    changes = np.zeros(4, state.values.dtype)
    for us in range(first, last):
        for them in range(us + 1):
            kind = state.kinds[us, them]
            if kind >= CONTACT:
                if inward[them]:
                    compute_record(state, plays, sides, us, them, block[us - first, them])
                store_record(state, us, them, block[us - first, them], changes)
            elif kind == OVER:
                store_record(state, us, them, state.lost[us], changes)
    return changes
