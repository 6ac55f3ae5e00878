"""SVG plots of a report: decisions by the size of their loss, and answered values against exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10

import numpy as np

STYLE = """.plots{display:flex;flex-wrap:wrap;gap:1rem}.plots figure{flex:0 1 20rem;margin:0}
.plot{display:block;width:100%;max-width:34rem;height:auto}
.plot rect{fill:var(--x)}.plot circle{fill:var(--bad)}
.plot line{stroke:var(--line)}.plot text{font:11px system-ui,sans-serif;fill:var(--text)}.plot .e{text-anchor:end}
.plot .m{text-anchor:middle}"""
SIZE = 320  # width and height of a calibration plot
MARGIN = (52, 12, 40)  # left; right and top; bottom
TICKS = 4  # steps of an axis
BEYOND = 0.03  # share of the axis by which values outside of it are drawn beyond its end


def bars(counts: dict[str, int]) -> str:
    """Return an SVG bar chart of counts by name; bar lengths are logarithmic."""
    most = np.log10(1 + max(counts.values()))
    height = 20 * len(counts) + 4
    out = [f'<svg class="plot" viewBox="0 0 480 {height}" role="img" aria-label="decisions by loss">']
    for k, (name, count) in enumerate(counts.items()):
        y = 20 * k + 2
        width = 300 * np.log10(1 + count) / most
        out.append(f'<text class="e" x="76" y="{y + 13}">{name}</text>')
        out.append(f'<rect x="82" y="{y}" width="{width:.1f}" height="16"/>')
        out.append(f'<text x="{88 + width:.1f}" y="{y + 13}">{count:,}</text>')
    return "".join([*out, "</svg>"])


def axis_of(name: str, bins: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return (low, high), the ends of both axes of a calibration plot.

    Probabilities use 0 and 1. For the name "equity, money" the ends are whole points that enclose the means of all
    bins, at most ±3.

    name, bins : as for `calibration`.
    """
    if name != "equity, money":
        return 0.0, 1.0
    far = max(abs(value) for said, true, _ in bins for value in (said, true))
    end = float(min(3, max(1, ceil(far - 0.05))))
    return -end, end


def calibration(name: str, bins: Sequence[Sequence[float]]) -> str:
    """Return an SVG plot of exact values against answered ones.

    name : a key of the result of `report.calibration`, such as "win, money", which determines the range of the axes.
    bins : (mean answered, mean exact, count) each, drawn as circles whose radius grows with log10(count).
    """
    low, high = axis_of(name, bins)
    left, margin, bottom = MARGIN
    width = SIZE - left - margin
    base = SIZE - bottom

    def across(value: float) -> float:
        """Return the x coordinate in the drawing of a value on the horizontal axis."""
        return left + width * (value - low) / (high - low)

    def up(value: float) -> float:
        """Return the y coordinate in the drawing of a value on the vertical axis."""
        return base - (base - margin) * (value - low) / (high - low)

    def inside(value: float) -> float:
        """Return a value; one beyond an end of the axis is moved to just beyond that end."""
        slack = BEYOND * (high - low)
        return min(max(value, low - slack), high + slack)

    out = [f'<svg class="plot" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="true values by answers">']
    for tick in np.linspace(low, high, TICKS + 1):
        x = across(tick)
        y = up(tick)
        out.append(f'<line x1="{x:.1f}" y1="{base}" x2="{x:.1f}" y2="{margin}"/>')
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{SIZE - margin}" y2="{y:.1f}"/>')
        out.append(f'<text class="m" x="{x:.1f}" y="{base + 14}">{tick:g}</text>')
        out.append(f'<text class="e" x="{left - 5}" y="{y + 4:.1f}">{tick:g}</text>')
    out.append(f'<line x1="{left}" y1="{base}" x2="{SIZE - margin}" y2="{margin}"/>')
    middle = left + width / 2
    out.append(f'<text class="m" x="{middle:.0f}" y="{SIZE - 6}">answer</text>')
    half = (base + margin) / 2
    out.append(f'<text class="m" x="14" y="{half:.0f}" transform="rotate(-90 14 {half:.0f})">true</text>')
    for said, true, many in bins:
        x = across(inside(said))
        y = up(inside(true))
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + log10(many):.1f}"/>')
    return "".join([*out, "</svg>"])
