"""Values of plays in long races of recorded matches, against the positions after the plays, queried by themselves.

    python -m benchmarks.plays [RACES] [FOLDER]

RACES (500) races of 12 to 15 chequers a side with a chequer outside the home board are drawn from the match files
in FOLDER (fixtures/matches), with five rolls each. The best play of a roll has a value in each cube state. It is
compared with the value of the position after the play, estimated by itself. Printed are the number of plays, how many
differ by no more than the error bound (99.9 %) of the race, and the root mean square and maximum of the differences.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from bgfmt.errors import BgfmtError
from bgfmt.extras.matches import read
from bgfmt.extras.matches.decisions import decisions
from bgfmt.extras.races.chains import Estimator
from bgfmt.game.board import Position
from bgfmt.met.score import NOBODY, CubeState
from bgfmt.solver.columns import money_columns

ROLLS = 5  # of the 21, for each race
LEAST_CHEQUERS = 12
HOME = 6


def find_races(folder: Path) -> Iterator[Position]:
    """Yield the long races of the match files in a folder."""
    for path in sorted(folder.iterdir()):
        try:
            matches = read(path)
        except BgfmtError:
            continue
        for match in matches:
            for decision in decisions(match):
                position = decision.state.position
                sides = position.us, position.them
                long = min(side.chequers for side in sides) >= LEAST_CHEQUERS
                if long and not position.contact and max(side.highest for side in sides) > HOME:
                    yield position


def compare(task: tuple[Position, int]) -> list[tuple[float, float]]:
    """Return for the best play of each roll the largest difference over the cube states, and the error bound."""
    position, seed = task
    estimator = Estimator()
    rules = money_columns()
    centered = rules.states.index(CubeState(1, NOBODY))
    solved = estimator.solve(position, rules)
    found = []
    for roll in np.random.default_rng(seed).choice(21, ROLLS, replace=False).tolist():
        places = solved.plays(roll)
        place = places[np.argmax(solved.after[places, centered])]
        after = Position(position.them, solved.ours.side(int(place)))
        alone = rules.choose_cube_action(1, estimator.solve(after, rules.exchange_sides()).on_roll)
        found.append((float(np.abs(solved.after[place] + alone).max()), solved.error))
    return found


def main(most: int, folder: Path) -> None:
    races = list(dict.fromkeys(find_races(folder)))
    chosen = np.random.default_rng(1).permutation(len(races))[:most].tolist()
    with ProcessPoolExecutor() as pool:
        parts = list(pool.map(compare, ((races[k], k) for k in chosen), chunksize=5))
    differences, bounds = np.array([pair for part in parts for pair in part]).T
    within = int((differences <= bounds).sum())
    print(f"{len(chosen):,} of {len(races):,} races, {len(differences):,} plays")
    print(f"within the bound: {within:,}, {100 * within / len(differences):.2f} %")
    for k in np.flatnonzero(differences > bounds).tolist():
        race = races[chosen[k // ROLLS]]
        print(f"beyond it: {race}, difference {differences[k]:.4f}, bound {bounds[k]:.4f}")
    print(f"difference: rms {np.sqrt(np.mean(differences**2)):.4f}, maximum {differences.max():.4f}")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 500, Path(given[1]) if given[1:] else Path("fixtures/matches"))
