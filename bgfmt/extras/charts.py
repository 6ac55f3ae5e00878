"""Charts drawn by matplotlib, which is optional and imported only here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.analysis import choose
from bgfmt.analysis.cube import LABELS
from bgfmt.errors import CapabilityError, NotCoveredError, extra, install_hint
from bgfmt.extras.arrays.cubes import actions_from_equities
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.storage import PathLike

__all__ = ["MAX_SIDES", "cube_chart", "distributions", "score_chart"]

MAX_SIDES = 2000  # boards of a side in one chart
MAX_LABELS = 60  # boards of a side whose names are written at the axis


def _figure(path: PathLike, size: tuple[float, float]) -> tuple[Any, Any]:
    how = "drawing needs matplotlib", install_hint("plot")
    figure = extra("matplotlib.figure", *how).Figure(figsize=size, layout="constrained")
    canvas = extra("matplotlib.backends.backend_agg", *how).FigureCanvasAgg(figure)
    suffix = Path(path).suffix.lstrip(".").lower()
    known = canvas.get_supported_filetypes()
    if suffix not in known:
        other = suffix or "a file without suffix"
        raise CapabilityError(
            f"{os.fspath(path)}: matplotlib can write {', '.join(sorted(known))}, not {other}"
        )
    return figure, figure.add_subplot()


def distributions(path: PathLike, rows: Mapping[str, Any]) -> None:
    """Draw distributions of the number of rolls as bars.

    Parameters
    ----------
    path
        The file to write; its suffix (.png, .svg, .pdf, ...) chooses the format.
    rows
        For each label a distribution: the probability of exactly 0, 1, 2, ... rolls.

    Raises MissingExtraError without matplotlib, CapabilityError for a suffix that it does not write.
    """
    figure, axes = _figure(path, (7, 4))
    width = 0.8 / max(1, len(rows))
    last = 1
    for k, (label, row) in enumerate(rows.items()):
        chances = np.asarray(row, np.float64)
        some = np.flatnonzero(chances > 0)
        mean = float(chances @ np.arange(len(chances)))
        at = np.arange(some[0], some[-1] + 1)
        axes.bar(
            at + (k - (len(rows) - 1) / 2) * width,
            100 * chances[at],
            width,
            label=f"{label}  (mean {mean:.3f})",
        )
        last = max(last, int(some[-1]))
    axes.set_xlabel("rolls to bear off")
    axes.set_ylabel("probability (%)")
    axes.set_xticks(range(last + 1))
    axes.legend()
    figure.savefig(path)


def cube_chart(path: PathLike, databases: Any, position: Position) -> None:
    """Draw the cube actions of all positions with as many chequers on each side as `position`.

    Each row is a board of the side on roll, each column one of the other side, both sorted by their mean cubeless
    equity, so that the five actions (`LABELS`) form bands. `position` is marked.

    Parameters
    ----------
    path
        The file to write, as in `distributions`.
    databases
        One or more databases; a two-sided table with the cube is needed among them.
    position
        The position whose numbers of chequers are drawn.
    """
    table = choose.two_sided_for(databases, position, cubeful=True)
    if table is None:
        raise choose.not_covered(databases, position.us, position.them, wanted="both sides' cubeful equities")
    us, them = (
        np.arange(board.count(table.points, side.chequers - 1), board.count(table.points, side.chequers))
        for side in (position.us, position.them)
    )
    most = max(len(us), len(them))
    if most > MAX_SIDES:
        raise NotCoveredError(f"a chart has at most {MAX_SIDES} positions a side, not {most}")
    pairs = table.lookup_many(np.repeat(us, len(them)), np.tile(them, len(us)))
    cubeless = pairs[:, 0].reshape(len(us), len(them))
    rows = np.argsort(-cubeless.mean(axis=1), kind="stable")
    columns = np.argsort(cubeless.mean(axis=0), kind="stable")
    labels = actions_from_equities(pairs).label.reshape(len(us), len(them))[np.ix_(rows, columns)]

    figure, axes = _figure(path, (9, 7))
    image = axes.imshow(labels, cmap="RdBu", vmin=0, vmax=6, aspect="auto", interpolation="nearest")
    figure.colorbar(image, ticks=list(LABELS)).set_ticklabels(list(LABELS.values()), fontsize=7)
    row = int(np.flatnonzero(us[rows] == position.us.number(table.points))[0])
    column = int(np.flatnonzero(them[columns] == position.them.number(table.points))[0])
    axes.plot(column, row, marker="o", markersize=9, markerfacecolor="none", markeredgecolor="black")
    for axis, names, order in ((axes.yaxis, us, rows), (axes.xaxis, them, columns)):
        sides = names[order].tolist() if len(names) <= MAX_LABELS else []
        labelled = [str(Side.from_number(number, table.points)) for number in sides]
        axis.set_ticks(range(len(sides)), labelled, fontsize=6)
    axes.tick_params(axis="x", rotation=90)
    axes.set_ylabel("side on roll, best first")
    axes.set_xlabel("other side, best first")
    axes.set_title(f"Cube actions; marked: {position}", fontsize=9)
    figure.savefig(path)


def score_chart(path: PathLike, codes: Sequence[Sequence[str]]) -> None:
    """Draw the cube actions of a position at every score as a grid of short codes such as "D/T".

    path : the file to write, as in `distributions`.
    codes : codes[i][j] is for the side on roll needing i + 1 points and the other side j + 1.
    """
    names = sorted({code for row in codes for code in row})
    figure, axes = _figure(path, (1.5 + 0.6 * len(codes), 1 + 0.6 * len(codes)))
    numbers = np.array([[names.index(code) for code in row] for row in codes])
    axes.imshow(
        numbers, cmap="Pastel1", vmin=0, vmax=8, extent=(0.5, len(codes) + 0.5, len(codes) + 0.5, 0.5)
    )
    for mine, row in enumerate(codes, 1):
        for other, code in enumerate(row, 1):
            axes.text(other, mine, code, ha="center", va="center", fontsize=8)
    scores = range(1, len(codes) + 1)
    axes.set_xticks(scores)
    axes.set_yticks(scores)
    axes.set_xlabel("points the other side needs")
    axes.set_ylabel("points the side on roll needs")
    figure.savefig(path)
