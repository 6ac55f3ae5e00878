"""What `race`, `cube` and `play` share: telling files from positions, opening, drawing, naming tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from bgfmt.game.board import Position, Side

SUFFIXES = (".bd", ".ijf", ".db", ".npz", ".bin", ".gz")


def split(words: tuple[str, ...], after: int = 0) -> tuple[list[str], str, list[str]]:
    """Database paths, the position's text, and the last `after` words.

    Words from the left that are files are databases; what is left, quoted or not, is the position.
    """
    rest = list(words)
    tail = [rest.pop() for _ in range(after)][::-1] if len(rest) > after else []
    paths = [rest.pop(0)] if rest else []
    while len(rest) > 1 and (os.path.isfile(rest[0]) or rest[0].lower().endswith(SUFFIXES)):
        paths.append(rest.pop(0))
    if not paths or not rest or len(tail) < after:
        raise click.UsageError(
            "say the database files first, then the position" + (" and the roll" * (after > 0))
        )
    return paths, " ".join(rest), tail


@contextmanager
def opened(paths: list[str], described: str | None, part: int | None) -> Iterator[list[Any]]:
    """The databases, closed again at the end."""
    import bgfmt
    from bgfmt.cli import options

    with ExitStack() as stack:
        reading = options.reading(described)
        yield [stack.enter_context(bgfmt.open(path, part=part or 0, **reading)) for path in paths]


def one_or_two(text: str) -> Side | Position:
    """A side from one list of counts, else a position; one whose other side is empty counts as one side."""
    from bgfmt.game.identifiers import parse_position, parse_side

    counts = text.replace(",", " ").split()
    if counts and all(word.isdigit() and len(word) < 3 for word in counts):
        return parse_side(text)
    try:
        position = parse_position(text)
    except ValueError:
        try:
            return parse_side(text)
        except ValueError:
            pass
        raise
    return position if position.them.chequers else position.us


def both(text: str) -> Position:
    """A position of two sides."""
    from bgfmt.errors import PositionError

    asked = one_or_two(text)
    if isinstance(asked, Side):
        raise PositionError(f"{text!r} is one side; give both, the side on roll first: side / side")
    return asked


def board_of(asked: Side | Position) -> str:
    """The drawn board, or one side's home board or points alone."""
    from bgfmt.game.drawing import draw, draw_side

    return draw(asked) if isinstance(asked, Position) else draw_side(asked)


def percent(chance: float) -> str:
    """A chance as per cent to three decimals."""
    return f"{100 * chance:8.3f} %"
