"""Write docs/notebook.ipynb, its cells run and their results in it: `python docs/make_notebook.py`.

A test runs the cells again and compares.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("notebook.ipynb")
RICH = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
#: text and code in turn
CELLS = """
# Exact bearoffs in a notebook

Every answer of bgfmt shows itself: a board, a table. This page runs wherever bgfmt and pandas are installed.
===
import bgfmt
from bgfmt import Position, Side

position = Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1))
position
===
Two sides, the one on roll first, as counts from the ace point up; `bgfmt.GameState.parse` reads any identifier.
A table is loaded, `bgfmt.load("gnubg_ts0.bd")`, or made here:
===
table = bgfmt.solver.two_sided(6, 4)
table
===
An adviser answers questions from tables, and calculates from the rules what none covers.
===
advisor = bgfmt.Advisor(table)
action = advisor.cube(position)
print(action.action)
action
===
The best plays of a roll, as a data frame:
===
import pandas

plays = advisor.plays(bgfmt.GameState.of(position, (2, 1)))
pandas.DataFrame([play.as_dict() for play in plays.plays])
===
The cube action at every score up to 5-away. `D/T` is double, take; `N/T` no double, take; `D/P` double, pass.
===
advisor.scores(bgfmt.GameState.of(position), 5)
===
A whole table for pandas or polars, with a row for each pair of positions:
===
frame = table.to_pandas()
better = (frame.cubeless > 0).mean()
print(f"{len(frame):,} pairs; in {better:.1%} of them the side on roll is the favourite")
frame.head(3)
===
One race, and when its last chequer is off:
===
race = bgfmt.Advisor(bgfmt.solver.one_sided(6)).race("0 2 2 2 0 4")
print(f"{race.pips} pips, EPC {race.epc:.3f}, off within 6 rolls {race.off_within(6):.1%}")
race
""".strip().split("\n===\n")


def cell(number: int, source: str, known: dict[str, Any]) -> dict[str, Any]:
    """A cell as the file has it; code is run in `known`."""
    lines = source.splitlines(keepends=True)
    shared = {"id": f"cell-{number}", "metadata": {}, "source": lines}
    if number % 2 == 0:
        return {"cell_type": "markdown", **shared}
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    outputs: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "notebook", "exec"), known)
        value = eval(compile(ast.Expression(last.value), "notebook", "eval"), known) if last else None
    if said.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": said.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        shown = {kind: getattr(value, name)() for kind, name in RICH.items() if hasattr(value, name)}
        shown["text/plain"] = repr(value)
        data = {
            kind: re.sub(r'id="T_\\w+"', "", text).splitlines(keepends=True) for kind, text in shown.items()
        }
        outputs.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return {"cell_type": "code", "execution_count": None, "outputs": outputs, **shared}


def notebook() -> dict[str, Any]:
    """The whole notebook, run."""
    known: dict[str, Any] = {}
    return {
        "cells": [cell(number, source, known) for number, source in enumerate(CELLS)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
