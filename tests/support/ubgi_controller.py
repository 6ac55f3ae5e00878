"""A controller of UBGI 0.2, written from the protocol's text: two engines play games from a given position.

    python -m tests.support.ubgi_controller GAMES ENGINE ENGINE

An ENGINE is a command line, such as "bgfmt ubgi --engine bkg". The controller keeps the board, rolls the dice and
checks every play; games begin at the opening position.
"""

from __future__ import annotations

import random
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bgfmt.extras.hosts.conformance import EngineProcess, count_changes
from bgfmt.game.board import Position
from bgfmt.game.identifiers import position_id
from bgfmt.game.moves import BAR, OFF, legal_plays
from bgfmt.game.state import START

SECONDS = 60.0  # for an answer


class ProtocolFault(AssertionError):
    """An engine that breaks the protocol or the rules of the game."""


class Player:
    """One engine, greeted and ready."""

    def __init__(self, command: str) -> None:
        self.process = EngineProcess(shlex.split(command))
        greeting = self.ask("ubgi", "ubgiok")
        if "proto 0.2" not in greeting or not any(line.startswith("id name ") for line in greeting):
            raise ProtocolFault(f"no engine of 0.2: {greeting}")
        self.keys = [line.split()[1] for line in self.ask("keys", "") if line.startswith("key ")]

    def tell(self, line: str) -> None:
        """Send a command that has no answer."""
        self.process.send(line)

    def ask(self, line: str, last: str) -> list[str]:
        """Send a command; return the lines up to the one that begins with `last` (empty: up to `readyok`)."""
        self.process.send(line)
        if not last:
            self.process.send("isready")
        until = time.monotonic() + SECONDS
        lines: list[str] = []
        while not lines or not lines[-1].startswith(last or "readyok"):
            lines.append(self.process.read_line(until))
            if lines[-1].startswith("error "):
                raise ProtocolFault(f"{line}: {lines[-1]}")
        return lines

    def play(self, position: Position, dice: tuple[int, int]) -> Position:
        """Return the position after the engine's play; ProtocolFault where it is illegal."""
        self.tell(f"position gnubgid {position_id(position)}")
        self.tell(f"dice {dice[0]} {dice[1]}")
        word, _, text = self.ask("go chequer", "best")[-1].partition(" ")
        plays = legal_plays(position, *dice)
        if word != "bestmove" or (text == "pass") != (not plays):
            raise ProtocolFault(f"{word} {text}: {len(plays)} plays are legal")
        if not plays:
            return position
        points = {"bar": BAR, "off": OFF}
        pairs = [[points.get(end, end) for end in move.split("/")] for move in text.split()]
        wanted = count_changes([(int(start), int(end)) for start, end in pairs])
        for play in plays:
            if count_changes(play.moves) == wanted:
                return play.result
        raise ProtocolFault(f"bestmove {text} is not a legal play of {dice} in {position}")

    def wants_to_double(self, position: Position) -> bool:
        """Return whether the engine doubles before its roll."""
        self.tell(f"position gnubgid {position_id(position)}")
        answer = self.ask("go cube", "best")[-1]
        if answer not in ("bestcube double", "bestcube nodouble"):
            raise ProtocolFault(answer)
        return answer == "bestcube double"

    def close(self) -> int:
        """Say `quit`, and return the exit status."""
        self.tell("quit")
        status: int = self.process.process.wait(SECONDS)
        self.process.close()
        return status


@dataclass
class Result:
    """A finished game: who won (0 or 1), the number of rolls, and how often a side wanted to double."""

    winner: int
    rolls: int
    doubles: int


def play_game(players: Sequence[Player], start: Position, dice: random.Random) -> Result:
    """Play one game from a position in which player 0 is on roll."""
    for player in players:
        player.tell("newgame")
    position = start
    result = Result(0, 0, 0)
    while True:
        on_roll = result.rolls % 2
        result.doubles += players[on_roll].wants_to_double(position)
        result.rolls += 1
        after = players[on_roll].play(position, (dice.randint(1, 6), dice.randint(1, 6)))
        if not after.us.chequers:
            result.winner = on_roll
            return result
        position = after.swapped()


def play_games(games: int, commands: Sequence[str], start: Position, seed: int) -> list[Result]:
    """Play games with two engines; they begin in turn."""
    players = [Player(command) for command in commands]
    dice = random.Random(seed)
    results = [play_game(players[:: 1 if game % 2 == 0 else -1], start, dice) for game in range(games)]
    statuses = [player.close() for player in players]
    if any(statuses):
        raise ProtocolFault(f"exit statuses after quit: {statuses}")
    return results


if __name__ == "__main__":
    finished = play_games(int(sys.argv[1]), sys.argv[2:4], Position(START, START), 1)
    print(f"{len(finished)} games, {sum(one.rolls for one in finished)} rolls")
