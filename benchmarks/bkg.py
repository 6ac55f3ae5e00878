"""`python -m benchmarks.bkg`: BKG against itself and against GNU Backgammon, every play held against the rules.

    python -m benchmarks.bkg [--self 1000] [--gnubg 100] [--seed 1977] [--cube] [--program /usr/games/gnubg]

Against itself: the games of `bgfmt engine bkg series`, played once more by the referee, who checks every play; both
must end alike. Against gnubg 1.07 at 0 plies, as its external player, `--gnubg` games in each seat: the match that
gnubg exports is read again, and whatever does not fit the rules there is counted. Without --cube no cube is in use.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from bgfmt.extras import matches
from bgfmt.extras.engines import EngineDecider
from bgfmt.extras.hosts.external import Player
from bgfmt.extras.hosts.server import Server
from bgfmt.extras.lab.engine.bkg import Bkg
from bgfmt.extras.lab.playing import referee, series
from bgfmt.extras.lab.playing.dice import Seeded
from bgfmt.extras.matches.model import Game

SCRIPT = """
import gnubg
for line in {commands!r}:
    gnubg.command(line)
for game in range({games}):
    if game:
        gnubg.command("new game")
    gnubg.command("play")
gnubg.command("save match {file}")
"""


def against_itself(games: int, seed: int, cube: bool) -> None:
    """The series, twice: compiled, and by the referee."""
    engine, setting = Bkg(), referee.Setting(cube=cube, names=("BKG 1", "BKG 2"))
    series.play_compiled(engine, setting, 1, seed)  # compiles
    begin = time.perf_counter()
    compiled = series.play_compiled(engine, setting, games, seed)
    took = time.perf_counter() - begin
    print("\n".join(compiled.lines(setting.names)))
    print(f"{games / took:.0f} games a second")
    checked = series.of_games(referee.play_match((engine, engine), Seeded(seed), setting, games=games).games)
    same = checked.points.tolist() == compiled.points.tolist()
    print(f"by the referee: {games:,} games, every play legal, results {'the same' if same else 'OTHERS'}")


def against_gnubg(program: str, games: int, seed: int, cube: bool, seat: int) -> list[Game]:
    """Games of BKG as gnubg's external player `seat`, as gnubg exports them."""
    server, started = Server(Player(EngineDecider(Bkg()))), Future[int]()
    threading.Thread(target=server.run, args=(started.set_result,), daemon=True).start()
    port = started.result()
    with tempfile.TemporaryDirectory() as home:
        file, script = Path(home) / "match.sgf", Path(home) / "play.py"
        commands = [
            "set rng mersenne", f"set seed {seed}", "set automatic game off", "set automatic roll on",
            "set automatic move on", "set display off", "set confirm new off", "set confirm save off",
            f"set player {seat} external 127.0.0.1:{port}", f"set player {1 - seat} gnubg",
            f"set player {1 - seat} chequer evaluation plies 0", f"set player {1 - seat} cube evaluation plies 0",
            "set jacoby off", "set beavers 0", f"set cube use {'on' if cube else 'off'}", "new session",
        ]  # fmt: skip
        script.write_text(SCRIPT.format(commands=commands, games=games, file=file))
        subprocess.run(
            [program, "-t", "-q", "-p", str(script)], stdin=subprocess.DEVNULL, capture_output=True, check=True,
            env={**os.environ, "HOME": home},
        )  # fmt: skip
        found = matches.read(file)
    return [game for match in found for game in match.games]


def report(games: Sequence[Game], seat: int) -> None:
    """What came of it for BKG."""
    found = series.of_games(games).as_dict()
    sign = 1 if seat == 0 else -1
    wins = found["wins"] if seat == 0 else found["games"] - found["wins"]
    won, lost = (found[f"gammons_{way}"] for way in ("won", "lost")[::sign])
    problems = [problem for game in games for problem in game.problems]
    print(
        f"BKG as player {seat}: {found['games']} games, {wins} won ({won} gammons), "
        f"{found['games'] - wins} lost ({lost} gammons), "
        f"{sign * found['points_a_game']:+.3f} points a game, standard error {found['standard_error']:.3f}; "
        f"{len(problems)} things that the rules do not allow"
    )
    for problem in problems:
        print("  ", problem)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--self", type=int, default=1000, dest="alone")
    parser.add_argument("--gnubg", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1977)
    parser.add_argument("--cube", action="store_true")
    parser.add_argument("--program", default=shutil.which("gnubg") or "/usr/games/gnubg")
    options = parser.parse_args(arguments)
    if options.alone:
        against_itself(options.alone, options.seed, options.cube)
    for seat in (0, 1):
        if options.gnubg:
            games = against_gnubg(options.program, options.gnubg, options.seed + seat, options.cube, seat)
            report(games, seat)


if __name__ == "__main__":
    main()
