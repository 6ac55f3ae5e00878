"""The commands `bgfmt solve bkg` and `bgfmt solve expected-points`."""

from __future__ import annotations

from typing import Any

import click

from bgfmt.cli.solve import common_options, memory_option, parse_size, recipe_option, run_solver


@click.command("bkg")
@click.option("--domain", type=click.Choice(["union", "intersection"]), default="union", show_default=True)
@recipe_option("bkg", "exact")
@common_options
def bkg(domain: str, **common: Any) -> None:
    """Compute Gillogly's table for BKG.

    The table has the expected rolls and P(1) to P(8) of 4,853 home positions, those with up to 8 men or up to 25 pips
    (--domain union), or of the 1,724 that meet both conditions (intersection). Recipe bkg has six decimals and is
    written as text (.bkg), exact has float64 (.bkb, .npz).

    \b
    Example:
      bgfmt solve bkg -o gillogly.bkg
    """
    run_solver("bkg", 6, 15 if domain == "union" else 8, **common)


@click.command("expected-points")
@click.argument("size", metavar="NxM")
@recipe_option("points", "exact")
@memory_option("Memory limit, such as 2G: the table is in mapped temporary files next to OUTPUT.")
@common_options
def expected_points(size: str, **common: Any) -> None:
    """Compute the expected points of the side on roll.

    NxM is N points, 1 to 12, and 1 to M chequers a side, M 1 to 15. This is the database of a blog of 2011: a
    finished game is worth one point, and gammons and the cube do not count. Recipe points has six decimals and is
    written as text (.points), exact has float64 (.npz).

    \b
    Example:
      bgfmt solve expected-points 3x3 -o 3x3.points
    """
    run_solver("expected-points", *parse_size(size), **common)
