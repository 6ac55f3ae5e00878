"""`python -m benchmarks.gnubg_match`: gnubg's cube decisions at match scores against exact ones.

Three parts, each with Kazaross-XG2: the 40 positions of fixtures/match/gnubg-differences.tsv (exact columns, and
gnubg's again), 621 last-roll cases, in which gnubg should agree, and positions drawn at random, asked at 24 scores at
0, 1 and 2 plies. gnubg is asked through `cfevaluate` of its Python, without noise; it is no part of bgfmt.

    python -m benchmarks.gnubg_match [--positions 300] [--seed 1] [--gnubg /usr/games/gnubg]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgfmt import met
from bgfmt.analysis.at_score import answer_from_table
from bgfmt.analysis.cube import MatchCube
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.met.score import Score
from bgfmt.solver.match import match_score

DIFFERENCES = Path(__file__).parent.parent / "fixtures" / "match" / "gnubg-differences.tsv"
OWNERS = {"centre": "centered", "roller": "owned", "opponent": "opponent"}
PLIES = (0, 1, 2)
ROUNDING = 1e-4  # of a 6x6 table's integers and gnubg's float32, as match winning chance
WRONG = 1e-5  # a decision that costs more is wrong
SCORES = (
    (2, 1), (3, 1), (4, 1), (5, 1), (9, 1), (2, 2), (2, 3), (2, 4), (2, 7), (3, 2), (4, 2), (3, 3),
    (3, 5), (3, 6), (4, 4), (4, 9), (5, 3), (5, 5), (5, 9), (6, 4), (7, 7), (9, 4), (9, 9), (11, 11),
)  # fmt: skip
SCRIPT = """
import gnubg, json
gnubg.command('set matchequitytable "%s"')
for line in open(%r):
    us, them, away, cube, owner, crawford, plies = json.loads(line)
    length = max(away)
    info = gnubg.cubeinfo(cube, owner, 1, length, (length - away[1], length - away[0]), crawford, 0)
    board = tuple(tuple(side + [0] * (25 - len(side))) for side in (them, us))
    context = {'cubeful': 1, 'plies': plies, 'deterministic': 1, 'noise': 0.0}
    found = gnubg.cfevaluate(board, info, context)
    print('@', json.dumps([[gnubg.eq2mwc(x, info) for x in found[1:4]], found[5]]))
"""


@dataclass(frozen=True)
class Question:
    """A position at a score; boards are counts on points 1 to 6."""

    us: tuple[int, ...]
    them: tuple[int, ...]
    away: tuple[int, int]
    cube: int = 1
    owner: str = "centered"
    crawford: bool = False

    @property
    def score(self) -> Score:
        return Score(self.away, met.load(), self.crawford, self.cube, self.owner)

    @property
    def position(self) -> Position:
        return Position(Side(*self.us), Side(*self.them))


@dataclass(frozen=True)
class Said:
    """What gnubg says: match winning chances of no double, double and take, double and pass, and its words."""

    no_double: float
    double_take: float
    double_pass: float
    words: str

    @property
    def doubles(self) -> bool:
        return min(self.double_take, self.double_pass) > self.no_double

    @property
    def takes(self) -> bool:
        return self.double_take <= self.double_pass


def ask(program: str, questions: Sequence[Question], plies: int) -> list[Said]:
    """gnubg's answers, in a home of its own, with the table that bgfmt ships."""
    owner = {"centered": -1, "owned": 1, "opponent": 0}
    table = Path(met.__file__).parent.parent / "data" / "met" / "Kazaross-XG2.xml"
    with tempfile.TemporaryDirectory() as home:
        asked, script = Path(home) / "asked", Path(home) / "ask.py"
        with asked.open("w") as out:
            for q in questions:
                row = [q.us, q.them, q.away, q.cube, owner[q.owner], int(q.crawford), plies]
                out.write(json.dumps(row) + "\n")
        script.write_text(SCRIPT % (table, str(asked)))
        done = subprocess.run(
            [program, "-t", "-q", "-p", str(script)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "HOME": home},
        )
    found = [json.loads(line[1:]) for line in done.stdout.splitlines() if line.startswith("@")]
    if len(found) != len(questions):
        raise RuntimeError(f"gnubg answered {len(found)} of {len(questions)} questions: {done.stderr[-300:]}")
    return [Said(rolling, taken, passed, words) for (rolling, taken, passed), words in found]


def last_rolls() -> list[Question]:
    """621 positions in which this roll decides: 27 boards of one or two chequers at 23 scores and cubes."""
    ones = [tuple(int(p == k) for p in range(6)) for k in range(6)]
    twos = [tuple((p == i) + (p == k) for p in range(6)) for k in range(6) for i in range(k + 1)]
    surely_off = [(1,), (2,), (0, 1), (1, 1)]
    situations = [
        ((1, 1), 1, "centered", False), ((1, 3), 1, "centered", True), ((5, 1), 1, "centered", True),
        ((2, 1), 1, "centered", False), ((4, 1), 1, "centered", False), ((2, 2), 1, "centered", False),
        ((3, 2), 1, "centered", False), ((2, 4), 1, "centered", False), ((3, 3), 1, "centered", False),
        ((3, 3), 2, "owned", False), ((3, 3), 2, "opponent", False), ((4, 4), 2, "owned", False),
        ((3, 5), 2, "owned", False), ((5, 3), 4, "owned", False), ((7, 5), 1, "centered", False),
        ((5, 7), 4, "owned", False), ((9, 4), 2, "opponent", False), ((4, 9), 2, "owned", False),
        ((11, 11), 1, "centered", False), ((9, 9), 8, "owned", False), ((15, 6), 4, "owned", False),
        ((13, 15), 8, "opponent", False), ((21, 25), 16, "owned", False),
    ]  # fmt: skip
    return [
        Question(us, surely_off[(i + k) % 4], away, cube, owner, crawford)
        for i, us in enumerate(ones + twos)
        for k, (away, cube, owner, crawford) in enumerate(situations)
    ]


def differences() -> list[tuple[Question, dict[str, str]]]:
    """The positions of the fixture, and their rows."""
    lines = DIFFERENCES.read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    return [
        (
            Question(
                tuple(map(int, row["on_roll"].split())),
                tuple(map(int, row["opponent"].split())),
                (int(row["away_roller"]), int(row["away_other"])),
                int(row["cube"]),
                OWNERS[row["owner"]],
            ),
            row,
        )
        for row in rows
    ]


def boards(count: int, seed: int) -> list[Position]:
    """Positions of one to six chequers a side, drawn at random, that the side on roll wins in 12 to 93 %."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position(*(Side(*_points(rng)) for _ in range(2)))
        if 0.12 <= (1 + solve_money(position).equity("cubeless")) / 2 <= 0.93:
            found.append(position)
    return found


def _points(rng: random.Random) -> tuple[int, ...]:
    points = [rng.randrange(6) for _ in range(rng.randint(1, 6))]
    return tuple(points.count(p) for p in range(6))


def judged(positions: Sequence[Position]) -> list[tuple[Question, MatchCube]]:
    """Every position at every score of `SCORES` and cube that may be turned, with the exact decision."""
    found = []
    for away in SCORES:
        table = match_score(6, 6, away, met.load(), dtype=np.float64)
        for cube, owner in ((1, "centered"), (2, "owned"), (4, "owned")):
            if away[0] <= cube:
                continue
            for position in positions:
                us, them = position.us.padded(6), position.them.padded(6)
                question = Question(us, them, away, cube, owner)
                try:
                    found.append((question, answer_from_table(table, position, question.score).cube))
                except NotCoveredError:
                    found.append((question, solve_match(position, question.score).cube))
    return found


def agreeing(program: str, questions: Sequence[Question], plies: int = 1) -> tuple[int, float]:
    """How many questions gnubg answers as we do, and the greatest difference of any of its numbers."""
    same, largest = 0, 0.0
    for question, said in zip(questions, ask(program, questions, plies), strict=True):
        mwc = solve_match(question.position, question.score).cube.mwc
        gaps = [abs(said.no_double - mwc.no_double)]
        if mwc.double_take is not None:
            gaps.append(abs(said.double_take - mwc.double_take))
        same += max(gaps) <= ROUNDING
        largest = max(largest, *gaps)
    return same, largest


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the three comparisons."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gnubg", default=shutil.which("gnubg") or "/usr/games/gnubg")
    options = parser.parse_args(arguments)

    rows = differences()
    off = {"ours": 0.0, 0: 0.0, 2: 0.0}
    for plies in (0, 2):
        answers = ask(options.gnubg, [question for question, _ in rows], plies)
        for said, (_, row) in zip(answers, rows, strict=True):
            gaps = (
                said.no_double - float(row[f"gnubg{plies}_nd"]),
                said.double_take - float(row[f"gnubg{plies}_dt"]),
            )
            off[plies] = max(off[plies], *map(abs, gaps))
    for question, row in rows:
        mwc = solve_match(question.position, question.score).cube.mwc
        for name, value in (("nd", mwc.no_double), ("dt", mwc.double_take), ("dp", mwc.double_pass)):
            off["ours"] = max(off["ours"], abs((value or 0) - float(row[f"exact_{name}"])))
    print(f"{DIFFERENCES.name}: {len(rows)} positions, greatest difference of a number from the file's:")
    print(f"  exact columns {off['ours']:.1e}, gnubg at 0 plies {off[0]:.1e}, at 2 plies {off[2]:.1e}")

    cases = last_rolls()
    for plies in PLIES:
        same, largest = agreeing(options.gnubg, cases, plies)
        print(
            f"last rolls, {plies}-ply: gnubg agrees in {same} of {len(cases)}, greatest difference {largest:.1e}"
        )

    found = judged(boards(options.positions, options.seed))
    questions, truth = [question for question, _ in found], [cube for _, cube in found]
    print(
        f"{len(questions):,} questions (seed {options.seed}); wrong = costs more than {100 * WRONG:.3f} % MWC"
    )
    print("gnubg    wrong doubles  worst MWC (EMG)    wrong takes or passes  worst MWC (EMG)")
    for plies in PLIES:
        doubles: list[tuple[float, float]] = []
        takes: list[tuple[float, float]] = []
        for said, cube in zip(ask(options.gnubg, questions, plies), truth, strict=True):
            losses = cube.losses
            assert losses is not None
            double = losses.double if said.doubles else losses.no_double
            take = losses.take if said.takes else losses.pass_
            doubles += [(double, cube.score.emg_loss(double))] if double > WRONG else []
            takes += [(take, cube.score.emg_loss(take))] if take > WRONG else []
        (a, b), (c, d) = (max(found, default=(0.0, 0.0)) for found in (doubles, takes))
        print(
            f"{plies}-ply  {len(doubles):14}  {100 * a:6.2f} % ({b:.2f})  {len(takes):21}  {100 * c:6.2f} % ({d:.2f})"
        )


if __name__ == "__main__":
    main()
