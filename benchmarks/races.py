"""How far estimates of races err, and how far gnubg and bgsage do, held against exact tables.

    python -m benchmarks.races [--positions 3000] [--tables 8x8 9x7 10x6 12x5] [--scores 8x6 10x4] [--seed 1]
    python -m benchmarks.races --bulk [--positions 6000] [--tables 8x8 9x7 10x6 12x5 7x11]
    python -m benchmarks.races --engines [--positions 200] [--gnubg /usr/games/gnubg]

Positions are drawn at random from each table, with a chequer of either side outside the home board (from one of six
points, any). Without --engines: rms, and the errors that 95 and 99.9 % of estimates keep, of equities and of "double,
take" for money, of match winning chances at scores; then the same for both sides within ten points and beyond, in
worths of a point. Scores share the positions of a table. With --engines bgfmt, gnubg (at 0 to 3 plies, with the
databases of its package) and bgsage (1 to 4 plies by its own count, with its own database) answer the same questions
with a centered cube at 1, without Jacoby's rule and without beavers. A table may also be a file, such as one of six
points and fifteen chequers; of it positions have at most fourteen a side.

A decision is wrong where it costs more than the tables' own rounding. Loss: what a wrong double costs and, where a
double is right, what a wrong take or pass costs. Times are the processor's, of one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bgfmt
from bgfmt import met, solver
from bgfmt.analysis.at_score import answer_from_table
from bgfmt.analysis.ondemand import columns_for, match_answer
from bgfmt.extras.races.chains import CAREFUL, FAR, HOME, QUICK, Effort, Estimator, errors, estimate_many
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.met.score import Score
from bgfmt.solver.columns import money_columns
from bgfmt.solver.match import match_score

Array = NDArray[np.float64]
ROUNDING = 2e-4  # of the tables' integers
SCORES = (2, 4), (3, 3), (5, 3), (7, 7), (9, 4)
NUMBERS = ("cubeless", "owned", "centered", "double, take")
CENTERED = [0, 2, 3]  # of the four
EFFORTS = ("bgfmt", CAREFUL), ("bgfmt, quick", QUICK)
HEADER = """                   rms of          wrong      wrong      mean
               cubeless centered  doubles    takes      loss      a position"""
PLIES, SAGE_PLIES = range(4), range(1, 5)
SCRIPT = """
import gnubg, json, time
gnubg.command("set jacoby off")
gnubg.command("set beavers 0")
info = gnubg.cubeinfo(1, -1, 1, 0, (0, 0), 0, 0)
for line in open({file!r}):
    us, them = json.loads(line)
    board = tuple(tuple(side + [0] * (25 - len(side))) for side in (them, us))
    context = {{"plies": {plies}, "deterministic": 1, "noise": 0.0}}
    begin = time.process_time()
    cubeful = gnubg.cfevaluate(board, info, dict(context, cubeful=1))
    took = time.process_time() - begin
    cubeless = gnubg.evaluate(board, info, dict(context, cubeful=0))
    print("@", json.dumps([cubeless[5], cubeful[1], cubeful[2], took]))
"""


def size(text: str) -> tuple[int, int]:
    """Points and chequers of 8x8, or of the table in a file, without the fifteenth chequer, which loses a gammon."""
    if os.path.isfile(text):
        with bgfmt.open(text) as db:
            return db.table.points, min(db.table.chequers, MAX_CHEQUERS - 1)
    points, _, chequers = text.partition("x")
    return int(points), int(chequers)


def sample(points: int, chequers: int, count: int, rng: np.random.Generator) -> list[Position]:
    """Positions drawn at random, a chequer outside where the table has points there."""
    drawn: list[Position] = []
    while len(drawn) < count:
        numbers = rng.integers(1, board.count(points, chequers), 2)
        position = Position(*(Side.from_number(int(number), points) for number in numbers))
        if points <= HOME or max(position.us.highest, position.them.highest) > HOME:
            drawn.append(position)
    return drawn


def truth(text: str, positions: Sequence[Position], exact: bool = False) -> Array:
    """(N, 4) cubeless, owned, centered, double and take, from a table in a file or solved here."""
    sides = [p.us for p in positions], [p.them for p in positions]
    if os.path.isfile(text):
        with bgfmt.open(text) as db:
            equities = db.table.lookup_many(*sides)
    else:
        equities = solver.two_sided(*size(text), recipe="exact" if exact else "gnubg").lookup_many(*sides)
    return equities.astype(np.float64) * [1, 1, 1, 2]


def estimates(positions: Sequence[Position], effort: Effort, threads: int) -> tuple[Array, float]:
    """(N, 4) as `truth`, and a thread's seconds a position; the quick estimate keeps as many boards as in bulk."""

    def ask(estimator: Estimator, position: Position) -> Array:
        us, them = (np.array([side.padded(board.BAR)]) for side in (position.us, position.them))
        ((cubeless, centered, owned, opponent),) = estimator.values(us, them, money_columns())
        return np.array([cubeless, owned, centered, 2 * opponent])

    return _each(ask, positions, effort, threads)


def _each(
    ask: Callable[[Estimator, Position], Array], positions: Sequence[Position], effort: Effort, threads: int
) -> tuple[Array, float]:
    def part(start: int) -> tuple[list[Array], float]:
        estimator = Estimator(effort, 1 << 16 if effort is QUICK else 1 << 12)
        ask(estimator, positions[0])  # compiles
        begin = time.thread_time()
        answers = [ask(estimator, position) for position in positions[start::threads]]
        return answers, time.thread_time() - begin

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(part, range(threads)))
    out = np.empty((len(positions), len(parts[0][0][0])))
    for start, (answers, _) in enumerate(parts):
        out[start::threads] = answers
    return out, sum(seconds for _, seconds in parts) / len(positions)


def kept(off: Array) -> str:
    """The rms of errors, and what 95 and 99.9 % of them keep."""
    numbers = np.sqrt((off**2).mean()), *np.quantile(off, (0.95, 0.999))
    return " ".join(f"{number:8.5f}" for number in numbers)


# -- how far estimates err ---------------------------------------------------------------------------------


def money(text: str, options: Any) -> tuple[list[bool], Array, list[Array], Array]:
    """A table's positions for money, their errors printed.

    Returns whether both sides are within ten points, the truth, both estimates (careful, quick), and their seconds.
    """
    rng, (points, chequers) = np.random.default_rng(options.seed), size(text)
    positions = sample(points, chequers, options.positions, rng)
    exact = truth(text, positions, options.exact)
    both, times = [], []
    for name, effort in EFFORTS:
        answers, seconds = estimates(positions, effort, options.threads)
        off = abs(answers - exact)
        columns = "  ".join(kept(off[:, k]) for k in range(4))
        print(f"{points}x{chequers} {name:14} {columns}  {1000 * seconds:5.1f} ms", flush=True)
        both.append(answers)
        times.append(seconds)
    print(_bound(points, chequers, abs(both[0] - exact)[:, :3].max(axis=1), positions))
    return [_near(position) for position in positions], exact, both, np.array(times)


def _near(position: Position) -> bool:
    return max(position.us.highest, position.them.highest) <= FAR


def _bound(points: int, chequers: int, off: Array, positions: Sequence[Position]) -> str:
    stated = np.array([errors(position) for position in positions])
    usual, greatest = (off[:, None] <= stated).mean(axis=0)
    return f"{points}x{chequers} stated errors hold for {100 * usual:.2f} and {100 * greatest:.3f} %"


def at_scores(points: int, chequers: int, options: Any) -> list[tuple[bool, Array]]:
    """The same at scores: errors of no double and of double and take, in worths of a point."""
    result: list[tuple[bool, Array]] = []
    for place, away in enumerate(SCORES):
        rng = np.random.default_rng(options.seed + place)
        positions = sample(points, chequers, options.positions // len(SCORES), rng)
        score = Score(away, met.load())
        unit = (score.after(0, 1) - score.after(0, -1)) / 2
        table = match_score(points, chequers, away, met.load())

        def ask(estimator: Estimator, position: Position, score: Score = score) -> Array:
            cube = match_answer(estimator.solve(position, columns_for(position, score)), score).cube
            return np.array([cube.mwc.no_double, cube.mwc.double_take])

        answers, seconds = _each(ask, positions, CAREFUL, options.threads)
        mwcs = [answer_from_table(table, position, score).cube.mwc for position in positions]
        off = abs(answers - [[mwc.no_double, mwc.double_take] for mwc in mwcs])
        columns = "  ".join(kept(100 * off[:, k]) for k in range(2))
        print(
            f"{points}x{chequers} {away[0]}-{away[1]} away  {columns}  {1000 * seconds:5.1f} ms", flush=True
        )
        print(_bound(points, chequers, off[:, 0] / unit, positions))
        result += zip(map(_near, positions), off / unit, strict=True)
    return result


def report(options: Any) -> None:
    """Print all errors, and by kind of race what 95 and 99.9 % keep."""
    print("money, equities: rms, 95 %, 99.9 % of " + ", ".join(NUMBERS))
    parts = [money(text, options) for text in options.tables]
    if parts:
        exact = np.concatenate([part[1] for part in parts])
        print(f"{len(exact):,} positions\n{HEADER}")
        for k, (name, _) in enumerate(EFFORTS):
            answers = np.concatenate([part[2][k] for part in parts])
            seconds = float(np.mean([part[3][k] for part in parts]))
            print(row(name, exact[:, CENTERED], answers[:, CENTERED], seconds))
        off = [abs(part[2][0] - part[1]) for part in parts]
        near = [place for part in parts for place in part[0]]
        summary("money", list(zip(near, np.concatenate(off), strict=True)), NUMBERS)
    if options.scores:
        print("scores, % MWC: rms, 95 %, 99.9 % of no double, of double and take")
        found = [one for text in options.scores for one in at_scores(*size(text), options)]
        summary("scores", found, ("no double", "double, take"))


def summary(where: str, found: Sequence[tuple[bool, Array]], names: Sequence[str]) -> None:
    """Print what the errors are within ten points and beyond."""
    for near, kind in ((True, "within ten points"), (False, "beyond")):
        off = np.array([numbers for place, numbers in found if place is near])
        for k, name in enumerate(names):
            if len(off):
                print(f"{where}, {kind} ({len(off):,}): {name:12} {kept(off[:, k])}")


# -- beside gnubg and bgsage -------------------------------------------------------------------------------


def gnubg(program: str, positions: Sequence[Position], plies: int) -> tuple[Array, float]:
    """(N, 3) cubeless, no double, double and take by gnubg in a home of its own, and seconds a position."""
    with tempfile.TemporaryDirectory() as home:
        file, script = Path(home) / "asked", Path(home) / "ask.py"
        file.write_text("".join(json.dumps([p.us.counts, p.them.counts]) + "\n" for p in positions))
        script.write_text(SCRIPT.format(file=str(file), plies=plies))
        done = subprocess.run(
            [program, "-t", "-q", "-p", str(script)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, env={**os.environ, "HOME": home},
        )  # fmt: skip
    rows = np.array([json.loads(line[1:]) for line in done.stdout.splitlines() if line.startswith("@")])
    if len(rows) != len(positions):
        raise RuntimeError(f"gnubg answered {len(rows)} of {len(positions)} questions: {done.stderr[-300:]}")
    return rows[:, :3], float(rows[:, 3].mean())


def bgsage(positions: Sequence[Position], plies: int) -> tuple[Array, float]:
    """The same by bgsage."""
    from bgsage import BgBotAnalyzer

    analyzer = BgBotAnalyzer(eval_level=f"{plies}ply", parallel_threads=1)
    rows = []
    for number, position in enumerate((positions[0], *positions)):  # the first question loads
        us, them = position.us.padded(24), position.them.padded(24)
        counts = [position.them.bar, *(us[k] - them[23 - k] for k in range(24)), position.us.bar]
        if number == 1:
            begin = time.process_time()
        answer = analyzer.cube_action(counts, jacoby=False, beaver=False)
        rows.append([answer.cubeless_equity, answer.equity_nd, answer.equity_dt])
    return np.array(rows[1:]), (time.process_time() - begin) / len(positions)


def row(name: str, exact: Array, answers: Array, seconds: float) -> str:
    """One line of the comparison; exact, answers : (N, 3) cubeless, no double, double and take."""
    rms = np.sqrt(((answers - exact)[:, :2] ** 2).mean(axis=0))
    (_, rolling, taken), doubled = exact.T, np.minimum(exact[:, 2], 1)
    doubles = np.minimum(answers[:, 2], 1) > answers[:, 1]
    double_loss = np.maximum(rolling, doubled) - np.where(doubles, doubled, rolling)
    true = doubled > rolling
    take_loss = np.where(true & ((answers[:, 2] <= 1) != (taken <= 1)), abs(taken - 1), 0)
    wrong_doubles = (double_loss > ROUNDING).mean()
    wrong_takes = (take_loss > ROUNDING).sum() / true.sum()
    return (
        f"{name:14} {rms[0]:8.4f} {rms[1]:8.4f} {100 * wrong_doubles:7.2f} % {100 * wrong_takes:7.2f} % "
        f"{(double_loss + take_loss).mean():10.6f} {1000 * seconds:8.1f} ms"
    )


def compare(options: Any) -> None:
    """Print what each program makes of the same positions, `--positions` from each table."""
    rng, positions, parts = np.random.default_rng(options.seed), [], []
    for text in options.tables:
        drawn = sample(*size(text), options.positions, rng)
        parts.append(truth(text, drawn, options.exact)[:, CENTERED])
        positions += drawn
    exact = np.concatenate(parts)
    print(f"{len(positions):,} positions of {', '.join(options.tables)}, seed {options.seed}")
    print(HEADER)
    for name, effort in EFFORTS:
        answers, seconds = estimates(positions, effort, 1)
        print(row(name, exact, answers[:, CENTERED], seconds), flush=True)
    for plies in PLIES:
        print(row(f"gnubg {plies}-ply", exact, *gnubg(options.gnubg, positions, plies)), flush=True)
    for plies in SAGE_PLIES:
        print(row(f"bgsage {plies}-ply", exact, *bgsage(positions, plies)), flush=True)


def bulk(options: argparse.Namespace) -> None:
    """Print how many positions of each size `estimate_many` takes a second, on all cores."""
    for text in options.tables:
        points, chequers = size(text)
        positions = sample(points, chequers, options.positions, np.random.default_rng(options.seed))
        us, them = [p.us.padded(points) for p in positions], [p.them.padded(points) for p in positions]
        estimate_many(us[:9], them[:9])  # compiles
        begin, work = time.perf_counter(), time.process_time()
        estimate_many(us, them)
        took, spent = time.perf_counter() - begin, time.process_time() - work
        print(
            f"{text:6} {len(us) / took:6.0f} a second, {1000 * spent / len(us):.2f} ms of processor time each"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the errors, or the comparison."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--engines", action="store_true", help="compare with gnubg and bgsage")
    parser.add_argument("--bulk", action="store_true", help="how many are estimated a second")
    parser.add_argument(
        "--positions", type=int, help="of each table; default 3000, bulk 6000, with engines 200"
    )
    parser.add_argument("--tables", nargs="*", default=["8x8", "9x7", "10x6", "12x5"])
    parser.add_argument("--scores", nargs="*", default=["8x6", "10x4"])
    parser.add_argument("--exact", action="store_true", help="truth of float64: four times the memory")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gnubg", default=shutil.which("gnubg") or "/usr/games/gnubg")
    options = parser.parse_args(arguments)
    options.positions = options.positions or (200 if options.engines else 6000 if options.bulk else 3000)
    (compare if options.engines else bulk if options.bulk else report)(options)


if __name__ == "__main__":
    main()
