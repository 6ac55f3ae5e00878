"""Compiled hypergammon: a whole sweep by any number of threads, without a word to the interpreter in between.

A sweep is a row of *tasks*, each a part of a step of a block (see `hypergammon`). Threads take them in order from a
common counter, and wait until the steps that a task builds on are done, which are all in front of it. So one thread
alone comes to the end as well, whatever becomes of the others, and what is made does not depend on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bgfmt.jit import intrinsic, njit
from bgfmt.jit.compiler import cgutils, ir, types
from bgfmt.solver.kernels.hypergammon import make, settle, store
from bgfmt.solver.kernels.hypergammon_plays import Plays, Sides
from bgfmt.solver.kernels.hypergammon_tiles import State, Tiles

Array = Any
# the steps of a block, in order; AHEAD: of the next one
CHANGING, SETTLING, AHEAD, STORING, STEPS = 0, 1, 2, 3, 4
PATIENCE = 1 << 19  # looks at a counter, some 150 microseconds, before a thread leaves its core to others
AT_ONCE = 64  # tasks after which a thread looks for signals
NONE, END = -1, -2  # no task taken yet; none left


class Row(NamedTuple):
    """The tasks of a sweep, and how far they are.

    rows : the rows of a block. parts : the tasks of a step, but of settling. next (1,) : the next task that nobody
    took. done (blocks + 1, 4) : tasks done of each step, of block - 1. changes (blocks, parts, 2) : what `store`
    found. again : what `in_order` found, of all blocks; begins (blocks + 1,) : where that of each begins.
    made (2, rows, tiles, 320) : records of a block, and of the one after it.
    """

    rows: int
    parts: int
    next: Array
    done: Array
    changes: Array
    again: Array
    begins: Array
    made: Array


@intrinsic
def _add(typing: Any, array: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0]).data
        one = ir.IntType(64)(1)
        return builder.atomic_rmw("add", builder.gep(data, [values[1]]), one, "acq_rel")

    return types.int64(array, types.int64), codegen


@intrinsic
def _look(typing: Any, array: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, values[0]).data
        return builder.load_atomic(builder.gep(data, [values[1]]), "acquire", 8)

    return types.int64(array, types.int64), codegen


@njit()
def add(counters: Any, at: Any) -> Any:
    """What a counter of a flat int64 array was, one added: of all threads, each gets another number."""
    return _add(counters, at)


@njit()
def reached(counters: Any, at: Any, goal: Any) -> bool:
    """Whether a counter comes to `goal` soon. What was done before it was counted is then seen by this thread."""
    looks = 0
    while looks < PATIENCE and _look(counters, at) < goal:
        looks += 1
    return looks < PATIENCE


@njit()
def ready(row: Row, block: int, step: int) -> bool:
    """Whether what a step builds on is done, or will be soon; rows of `done` are one further than blocks."""
    before, here = block * STEPS, (block + 1) * STEPS
    if block < 0:
        return True
    if step == STORING:
        return reached(row.done, here + SETTLING, 1)
    if step == SETTLING:
        return reached(row.done, here + CHANGING, row.parts) and reached(row.done, before + AHEAD, row.parts)
    return block == 0 or reached(row.done, before + STORING, row.parts)  # also for the room in `made`


@njit()
def work(state: State, plays: Plays, sides: Sides, tiles: Tiles, row: Row, task: int) -> int:
    """Do tasks of a sweep, first of all `task`; returns one that has to wait, or `END`.

    Of block -1 only the step AHEAD is made: what of block 0 looks at no block.
    """
    n = len(state.values)
    blocks = -(-n // row.rows)
    of_block = 3 * row.parts + 1
    for _ in range(AT_ONCE):
        if task == NONE:
            task = add(row.next, 0)
        if task >= (blocks + 1) * of_block:
            return END
        block, k = task // of_block - 1, task % of_block
        step, part = k // row.parts, k % row.parts
        if k == row.parts:
            step = SETTLING
        elif k > row.parts:
            step, part = AHEAD + (k - 1 - row.parts) // row.parts, (k - 1) % row.parts
        if not ready(row, block, step):
            return task
        of = block + 1 if step == AHEAD else block
        first, last = of * row.rows, min(n, (of + 1) * row.rows)
        made = row.made[of & 1]
        if step == AHEAD:
            if of < blocks:
                make(state, plays, sides, tiles, first, last, True, part, row.parts, made)
        elif block >= 0:
            if step == CHANGING:
                make(state, plays, sides, tiles, first, last, False, part, row.parts, made)
            elif step == SETTLING:
                again = row.again[row.begins[block] : row.begins[block + 1]]
                settle(state, plays, sides, tiles, first, again, made)
            else:
                from_, to = part * n // row.parts, (part + 1) * n // row.parts
                change = store(state, tiles, first, last, from_, to, made)
                row.changes[block, part, 0], row.changes[block, part, 1] = change
        add(row.done, (block + 1) * STEPS + step)
        task = NONE
    return NONE
