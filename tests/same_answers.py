"""What the commands print on a plain two-sided table and on the same one compressed: byte for byte the same.

    python -m tests.same_answers PLAIN PACKED [POSITIONS]

Random positions (default 100,000) go through `lookup`, `cube` and `play`, of which every answer is compared, and
a few of them through each command by itself, as a person asks.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

import bgfmt
from bgfmt.cli import run
from bgfmt.game import board

ONE_BY_ONE = 5


def questions(points: int, chequers: int, many: int, seed: int = 1) -> list[str]:
    """Random positions, both sides with chequers left."""
    rng = np.random.default_rng(seed)
    sides = board.unrank_array(rng.integers(1, board.count(points, chequers), 2 * many), points)
    words = [" ".join(map(str, side)) for side in sides.tolist()]
    return [f"{us} / {them}" for us, them in zip(words[::2], words[1::2], strict=True)]


def said(arguments: list[str], path: Path, asked: str = "") -> str:
    """What a command prints, without the name of the file."""
    out, before = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(asked.encode()))
    try:
        with redirect_stdout(out):
            assert run(arguments) == 0
    finally:
        sys.stdin = before
    return out.getvalue().replace(str(path), "FILE").replace(path.name, "FILE")


def differences(plain: Path, packed: Path, many: int) -> int:
    """How many lines differ; each is printed."""
    with bgfmt.open(plain) as db:
        positions = questions(db.table.points, db.table.chequers, many)
    rolls = [f"{1 + k % 6}{1 + k // 6 % 6}" for k in range(many)]
    found = 0
    for command, lines in (
        ("lookup", positions),
        ("cube", positions),
        ("play", [f"{position} {roll}" for position, roll in zip(positions, rolls, strict=True)]),
    ):
        asked = "\n".join(lines) + "\n"
        one, two = (said([command, str(path), "-"], path, asked).splitlines() for path in (plain, packed))
        assert len(one) == len(two) == many
        wrong = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
        for position, roll in list(zip(positions, rolls, strict=True))[:ONE_BY_ONE]:
            rest = [position, roll] if command == "play" else [position]
            a, b = (said([command, str(path), *rest], path) for path in (plain, packed))
            wrong += [(a, b)] if a != b else []
        for pair in wrong:
            print(command, *pair, sep="\n")
        print(f"{command}: {many:,} positions, {len(wrong)} answers differ", flush=True)
        found += len(wrong)
    return found


if __name__ == "__main__":
    asked = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
    sys.exit(differences(Path(sys.argv[1]), Path(sys.argv[2]), asked) > 0)
