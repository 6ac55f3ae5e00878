"""Decisions a second of the external player server, over its socket, one question waiting for each answer.

    python benchmarks/external.py [TWO_SIDED ONE_SIDED]

Questions: plays of random rolls, half inside the two-sided table, half in one-sided positions of 7 to 15 chequers a
side (doubles included), and as many cube decisions; then contact positions from the opening, by the plain rule.
"""

from __future__ import annotations

import random
import socket
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from bgfmt import GameState, Position, Side
from bgfmt.analysis import Advisor
from bgfmt.extras.hosts.external import Player
from bgfmt.extras.hosts.server import Server
from bgfmt.game.identifiers import fibs
from bgfmt.game.moves import legal_plays

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "golden" / "gnubg"
QUESTIONS = 2000


def side(rng: random.Random, low: int, high: int, points: int) -> Side:
    counts = [0] * points
    for _ in range(rng.randint(low, high)):
        counts[rng.randrange(points)] += 1
    return Side(*counts)


def races(rng: random.Random, low: int, high: int, points: int, cube: bool) -> list[str]:
    lines = []
    for _ in range(QUESTIONS):
        position = Position(side(rng, low, high, points), side(rng, low, high, points))
        dice = None if cube else (rng.randint(1, 6), rng.randint(1, 6))
        lines.append(fibs(GameState.of(position, dice)))
    return lines


def contact(rng: random.Random) -> list[str]:
    start = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, *(0,) * 10, 2)
    lines: list[str] = []
    position = Position(start, start)
    while len(lines) < QUESTIONS:
        dice = rng.randint(1, 6), rng.randint(1, 6)
        if not position.us.chequers or not position.them.chequers or not position.contact:
            position = Position(start, start)
        lines.append(fibs(GameState.of(position, dice)))
        plays = legal_plays(position, *dice)
        position = (rng.choice(plays).result if plays else position).swapped()
    return lines


def main() -> None:
    rng = random.Random(1)
    paths = sys.argv[1:] or [str(FIXTURES / name) for name in ("ts_06x04.bd", "os_p06.bd")]
    few = 4 if len(sys.argv) < 2 else 6
    kinds = {
        f"two-sided plays (up to {few} chequers)": races(rng, 1, few, 6, False),
        f"two-sided cube (up to {few} chequers)": races(rng, 1, few, 6, True),
        "one-sided plays (7 to 15 chequers)": races(rng, 7, 15, 6, False),
        "one-sided cube (7 to 15 chequers)": races(rng, 7, 15, 6, True),
        "race outside the tables (12 points)": races(rng, 7, 15, 12, False),
        "contact, by the rule": contact(rng),
    }
    player = Player(Advisor(paths, outside="rule"))
    started: Future[int] = Future()
    threading.Thread(target=Server(player).run, args=(started.set_result,), daemon=True).start()
    with socket.create_connection(("127.0.0.1", started.result())) as sock:
        file = sock.makefile("rwb")
        for name, lines in kinds.items():
            slowest, begin = 0.0, time.perf_counter()
            for line in lines:
                asked = time.perf_counter()
                file.write(line.encode() + b"\n\0")
                file.flush()
                answer = file.readline()
                if answer.startswith(b"Error") or not answer.endswith(b"\n"):
                    raise SystemExit(f"{line}: {answer!r}")
                slowest = max(slowest, time.perf_counter() - asked)
            seconds = time.perf_counter() - begin
            print(f"{name:<40} {len(lines) / seconds:8,.0f} a second, slowest {1000 * slowest:6.1f} ms")


if __name__ == "__main__":
    main()
