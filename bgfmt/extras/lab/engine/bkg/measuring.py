"""BKG's measuring functions of a position, one by one (the paper, section V)."""

from __future__ import annotations

from typing import Any, NamedTuple

from bgfmt.extras.lab.engine.bkg.boards import array_of
from bgfmt.extras.lab.engine.bkg.completion import C1, Completion
from bgfmt.game.board import Position

Pair = tuple[int, int]


class Measures(NamedTuple):
    """What BKG measures of J, who has just moved, and N, who is next; pairs are of J and of N.

    p1, p2 : rolls of 36 that hit J, that hit twice. piploss : pips J loses, summed over rolls. escapes : from
    Mostback. acontain, contsq : how firmly a side is held, and where. moment2, closeboard and what follows: of J,
    closeboard of both. edge, winfactor : of J.
    """

    pips: Pair
    p1: int
    p2: int
    piploss: int
    escapes: Pair
    contain: Pair
    acontain: Pair
    contsq: Pair
    mobility: Pair
    mostback: Pair
    closeboard: Pair
    moment2: float
    homblots: int
    histack: int
    gap: int
    expallin: int
    exploff: int
    expturns: int
    next_point: int
    builders: int
    slotted: int
    edge: int
    winfactor: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in self._asdict().items()}


def measure(position: Position, completion: Completion = C1) -> Measures:
    """The measuring functions; `position.us` is J, who has just moved."""
    from bgfmt.extras.lab.engine.bkg.kernels import hits, measures

    kernel = completion.kernel()
    j, n = array_of(position.check())
    table, low = kernel.table, kernel.low
    risk = hits.danger(j, n)
    held = [measures.held_at(table, low, *pair) for pair in ((j, n), (n, j))]
    back = [int(measures.mostback(side)) for side in (j, n)]
    pips = [int(measures.pipcount(side)) for side in (j, n)]
    point = int(measures.next_point(j, n))

    def both(function: Any) -> Pair:
        return int(function(j, n)), int(function(n, j))

    return Measures(
        pips=(pips[0], pips[1]),
        p1=int(risk.one),
        p2=int(risk.two),
        piploss=int(risk.piploss),
        escapes=both(lambda x, y: measures.escapes(table, y, measures.mostback(x))),
        contain=both(lambda x, y: measures.contain(table, low, y)),
        acontain=(int(held[0][1]), int(held[1][1])),
        contsq=(int(held[0][0]), int(held[1][0])),
        mobility=both(lambda x, y: measures.mobility(table, x, y)),
        mostback=(back[0], back[1]),
        closeboard=both(measures.closeboard),
        moment2=float(measures.moment2(j, kernel.moment)),
        homblots=int(measures.homblots(j)),
        histack=int(measures.histack(j)),
        gap=int(measures.gap(j)),
        expallin=int(measures.expallin(j)),
        exploff=int(measures.exploff(j)),
        expturns=int(measures.expturns(j)),
        next_point=point,
        builders=int(measures.builders(j, point)),
        slotted=int(measures.slotted(j, point)),
        edge=pips[1] - pips[0] - 4,
        winfactor=float((pips[0] + 4 + 2 * held[0][1]) / max(pips[1] + 2 * held[1][1], 1)),
    )
