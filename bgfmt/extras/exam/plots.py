"""SVG plots of a report: answered values against exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10

import numpy as np

STYLE = """.plots{display:flex;flex-wrap:wrap;gap:1rem}.plots figure{flex:0 1 20rem;margin:0}
.plot{display:block;width:100%;max-width:34rem;height:auto}
.plot circle{fill:var(--bad)}
.plot line{stroke:var(--line)}.plot text{font:11px system-ui,sans-serif;fill:var(--text)}.plot .e{text-anchor:end}
.plot .m{text-anchor:middle}"""
LEFT = 52  # the square of the axes begins here
TOP = 12
SIDE = 256  # its width and height
TICKS = 4  # steps of an axis
BEYOND = 0.03  # share of the axis by which values outside of it are drawn beyond its end


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
    right = LEFT + SIDE
    base = TOP + SIDE

    def scale(value: float) -> float:
        """Return how far along its axis a value is drawn; one beyond an end lies just beyond that end."""
        share = (value - low) / (high - low)
        return SIDE * min(max(share, -BEYOND), 1 + BEYOND)

    out = ['<svg class="plot" viewBox="0 0 320 308" role="img" aria-label="true values by answers">']
    for tick in np.linspace(low, high, TICKS + 1):
        x = LEFT + scale(tick)
        y = base - scale(tick)
        out.append(f'<line x1="{x:.1f}" y1="{base}" x2="{x:.1f}" y2="{TOP}"/>')
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        out.append(f'<text class="m" x="{x:.1f}" y="{base + 14}">{tick:g}</text>')
        out.append(f'<text class="e" x="{LEFT - 5}" y="{y + 4:.1f}">{tick:g}</text>')
    out.append(f'<line x1="{LEFT}" y1="{base}" x2="{right}" y2="{TOP}"/>')
    out.append('<text class="m" x="180" y="302">answer</text>')
    out.append('<text class="m" x="14" y="140" transform="rotate(-90 14 140)">true</text>')
    for said, true, many in bins:
        x = LEFT + scale(said)
        y = base - scale(true)
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + log10(many):.1f}"/>')
    return "".join([*out, "</svg>"])
