"""What the commands print on a plain two-sided table and on the same one compressed: byte for byte the same.

    python -m tests.support.same_answers PLAIN PACKED [POSITIONS [SEED]]

Random positions (default 100,000) go through `lookup`, `cube` and `play`, of which every answer is compared, and
a few of them through each command by itself, as a person asks: in this process, and as processes of their own.
"""

from __future__ import annotations

import io
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

import bgfmt
from bgfmt.cli import run
from bgfmt.game import board

ONE_BY_ONE, PROCESSES = 5, 50


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


def typed(arguments: list[str], path: Path) -> str:
    """The same, of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.replace(str(path), "FILE").replace(path.name, "FILE")


def both(command: str, paths: tuple[Path, Path], asked: str) -> list[list[str]]:
    """Lines of a command on either file; side by side where processes can be forked."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return [said([command, str(path), "-"], path, asked).splitlines() for path in paths]
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        waiting = [pool.submit(said, [command, str(path), "-"], path, asked) for path in paths]
        return [each.result().splitlines() for each in waiting]


def differences(plain: Path, packed: Path, many: int, seed: int = 1, processes: int = 0) -> int:
    """How many lines differ; each is printed. `processes` positions of each command go through processes."""
    with bgfmt.open(plain) as db:
        positions = questions(db.table.points, db.table.chequers, many, seed)
    rolls = [f"{1 + k % 6}{1 + k // 6 % 6}" for k in range(many)]
    found = 0
    for command, lines in (
        ("lookup", positions),
        ("cube", positions),
        ("play", [f"{position} {roll}" for position, roll in zip(positions, rolls, strict=True)]),
    ):
        asked = "\n".join(lines) + "\n"
        one, two = both(command, (plain, packed), asked)
        assert len(one) == len(two) == many
        wrong = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
        for k, (position, roll) in enumerate(zip(positions, rolls, strict=True)):
            rest = [position, roll] if command == "play" else [position]
            for ask in [said] * (k < ONE_BY_ONE) + [typed] * (k < processes):
                a, b = (ask([command, str(path), *rest], path) for path in (plain, packed))
                wrong += [(a, b)] if a != b else []
        for pair in wrong:
            print(command, *pair, sep="\n")
        print(f"{command}: {many:,} positions, {len(wrong)} answers differ", flush=True)
        found += len(wrong)
    return found


if __name__ == "__main__":
    asked, chosen = (int(sys.argv[k]) if len(sys.argv) > k else so for k, so in ((3, 100_000), (4, 1)))
    sys.exit(differences(Path(sys.argv[1]), Path(sys.argv[2]), asked, chosen, PROCESSES) > 0)
