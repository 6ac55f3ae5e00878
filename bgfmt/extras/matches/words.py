"""Plays as players write them: ``24/18*/13``, ``8/5(2) 6/3(2)``, ``bar/20``, ``6/off``."""

from __future__ import annotations

import re
from itertools import pairwise

from bgfmt.game.moves import BAR, OFF

_WORD = re.compile(
    r"(?<![\w/])(bar|\d{1,2})((?:/(?:off|bar|\d{1,2})\*?+)++)(?:\((\d)\)(\*)?+)?+(?![\w/])", re.I
)


def read_play(text: str) -> tuple[list[tuple[int, int]], int, str]:
    """(from, to) hops of a play as players write it, at how many points hits are marked, and what else is there.

    >>> read_play("bar/21* 8/6(2)")
    ([(25, 21), (8, 6), (8, 6)], 1, '')
    """
    hops: list[tuple[int, int]] = []
    hit: set[int] = set()
    for word in _WORD.finditer(text):
        stops = word[2].split("/")[1:]
        points = [_point(word[1]), *(_point(stop.rstrip("*")) for stop in stops)]
        hit.update(point for point, stop in zip(points[1:], stops, strict=True) if stop.endswith("*"))
        if word[4]:
            hit.add(points[-1])
        if len(hops) < 99:
            hops += list(pairwise(points)) * int(word[3] or 1)
    rest = _WORD.sub("", text) if hops else text
    return hops, len(hit), " ".join(rest.split()).strip(" ,;.")


def _point(text: str) -> int:
    word = text.lower()
    return BAR if word == "bar" else OFF if word == "off" else int(word)


__all__ = ["read_play"]
