"""The cube action of one position at every score: boards and plays are found once, and scores solved together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bgfmt.analysis.match import MatchCube
from bgfmt.analysis.ondemand import engine, solving
from bgfmt.analysis.ondemand.answers import gammons, judge, match_columns
from bgfmt.analysis.ondemand.engine import Progress
from bgfmt.errors import PositionError
from bgfmt.game.board import Position
from bgfmt.met.model import Met
from bgfmt.met.score import Score
from bgfmt.solver.columns import Columns, joined

TOGETHER = 48  # columns solved at once
MOST_BYTES = 2 << 30

Cell = tuple[int, int, bool]


@dataclass(frozen=True)
class Grid:
    """The decisions of a position at all scores up to `upto`-away.

    cells : by (away of the side on roll, away of the other, whether it is the Crawford game). Where one side needs 1
    there are two cells, before (the Crawford game) and after; 1-away, 1-away is there once, as (1, 1, False).
    """

    position: Position
    upto: int
    met: Met
    cells: Mapping[Cell, MatchCube]

    def __getitem__(self, cell: Cell) -> MatchCube:
        return self.cells[cell]


def scores(upto: int) -> Iterator[Cell]:
    """All cells of a grid, row by row."""
    for mine in range(1, upto + 1):
        for other in range(1, upto + 1):
            if (mine == 1) != (other == 1):
                yield mine, other, True
            yield mine, other, False


def scores_grid(
    position: Position,
    upto: int = 7,
    *,
    met: Met,
    player: int = 0,
    cube: int = 1,
    owner: str = "centered",
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Grid:
    """The cube action at all scores up to `upto`-away each.

    Parameters
    ----------
    cube, owner : the cube in every cell; cells of the Crawford game have none whatever it is.
    limit : most pairs of boards times cube states, of all scores together; `engine.DEFAULT_LIMIT` when None.

    Raises
    ------
    As `solve_match`; PositionError when `upto` is below 1, NotCoveredError when it is beyond the table.
    """
    if upto < 1:
        raise PositionError(f"a grid goes up to 1-away or more, not {upto}")
    asked: list[tuple[Cell, Score, Columns]] = []
    for cell in scores(upto):
        mine, other, crawford = cell
        now = (1, "centered") if crawford else (cube, owner)
        score = Score((mine, other), met, crawford, now[0], now[1], player)
        asked.append((cell, score, match_columns(position, score)))
    shared = 0 if gammons(position) else 1
    total = sum(len(part) - shared for _, _, part in asked) + shared
    work = engine.plan(position, total, limit=limit)
    work.check_size(limit)
    together = max(1, min(TOGETHER, MOST_BYTES * total // max(1, work.memory)))
    cells: dict[Cell, MatchCube] = {}
    done = 0
    while asked:
        taken, used = 0, shared
        while taken < len(asked) and (not taken or used + len(asked[taken][2]) - shared <= together):
            used += len(asked[taken][2]) - shared
            taken += 1
        here, asked = asked[:taken], asked[taken:]
        kept, places = joined([part for _, _, part in here])
        solved = solving.solve(work.of(len(kept)), kept, threads=threads).start()
        for (cell, score, part), place in zip(here, places, strict=True):
            cells[cell] = judge(solved, score, int(place[part.place(score.state)]))
        done += used - shared
        if progress is not None:
            progress(done, total - shared)
    return Grid(position, upto, met, cells)
