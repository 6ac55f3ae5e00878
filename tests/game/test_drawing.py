"""Boards in plain text: the examples in the docstrings are exact, and every chequer is on the board."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given

from bgfmt import Position
from bgfmt.game import drawing
from tests.game.test_identifiers import positions


def test_examples() -> None:
    assert doctest.testmod(drawing).failed == 0


@pytest.mark.slow
@given(positions())
def test_every_chequer_is_drawn(position: Position) -> None:
    text = drawing.draw(position)
    body = "\n".join(line[:45] for line in text.splitlines()[1:-1])
    for letter, side in (("X", position.us), ("O", position.them)):
        stacks = [*side.counts, side.bar]
        assert body.count(letter) == sum(count if count <= 5 else 4 for count in stacks)
        assert f"{15 - side.chequers} off" in text
        assert f"{3 - side.chequers} off" in drawing.draw(position, 3) or side.chequers > 3
    assert drawing.draw_side(position.us).count("X") == position.us.chequers - position.us.bar
