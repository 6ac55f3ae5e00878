"""A person at the terminal, as an engine: the board is drawn, legal plays are listed, refused plays explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from bgfmt.errors import PositionError
from bgfmt.extras.lab.playing import reading
from bgfmt.game.drawing import draw
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState

HELP = (
    "a play such as 8/5 6/5 or its number; list; board; resign [1-3]; quit. "
    "Points count from your own ace point; bar/20, 6/off, 8/5(2)."
)
COLUMNS = 3


class Quit(Exception):
    """The person has had enough."""


class Person:
    """Asks and tells through two functions of text.

    doubling : whether the person is asked about doubling; the other side's doubles are put in any case.
    """

    name: ClassVar[str] = "person"

    def __init__(
        self, ask: Callable[[str], str], say: Callable[[str], None], *, doubling: bool = False
    ) -> None:
        self._ask, self._say, self.doubling = ask, say, doubling
        self._offered = 0

    # -- the five questions ------------------------------------------------------------------------------

    def play(self, state: GameState) -> Play:
        """Ask until there is a legal play."""
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        self._say(self._drawn(state))
        self._say(listed(plays))
        while True:
            text = self._said(f"{state.names[state.turn]}, {state.dice[0]}-{state.dice[1]}? ")
            if text in ("list", "l"):
                self._say(listed(plays))
            elif text in ("board", "b"):
                self._say(self._drawn(state))
            elif text in ("help", "h", "?", ""):
                self._say(HELP)
            elif text.split()[0] == "resign":
                self._offered = int(text.split()[1]) if text.split()[1:] and text.split()[1] in "123" else 1
                self._say("you resign before your next roll if the other side accepts; play this one")
            else:
                try:
                    return reading.chosen(text, state.position, state.dice, plays)
                except PositionError as error:
                    self._say(f"refused: {error}")

    def double(self, state: GameState) -> bool:
        """Ask, where doubling was switched on."""
        if not self.doubling:
            return False
        self._say(self._drawn(state))
        return self._yes(f"{state.names[state.turn]}, double to {2 * state.cube_value}? ")

    def take(self, state: GameState) -> bool:
        """Ask whether to take."""
        self._say(self._drawn(state))
        who = state.names[1 - state.turn]
        return self._yes(f"{state.names[state.turn]} doubles to {2 * state.cube_value}. {who}, take? ")

    def resign(self, state: GameState) -> int:
        """What was offered while a play was asked for."""
        offered, self._offered = self._offered, 0
        return offered

    def accept(self, state: GameState) -> bool:
        """Ask whether to accept a resignation."""
        games = ("a game", "a gammon", "a backgammon")[state.resigned - 1]
        return self._yes(
            f"{state.names[state.turn]} resigns {games}. {state.names[1 - state.turn]}, accept? "
        )

    # -- words -------------------------------------------------------------------------------------------

    def _drawn(self, state: GameState) -> str:
        owner = "centered" if state.cube_owner is None else state.names[state.cube_owner]
        where = f" cube {state.cube_value} ({owner})" if state.cube_in_use else ""
        score = f" score {state.scores[0]}-{state.scores[1]}" + (
            f" to {state.length}" if state.length else ""
        )
        return f"{draw(state.position)}\n X is {state.names[state.turn]}.{where}{score}"

    def _said(self, prompt: str) -> str:
        text = self._ask(prompt).strip().lower()
        if text in ("quit", "q", "exit"):
            raise Quit
        return text

    def _yes(self, prompt: str) -> bool:
        while True:
            text = self._said(prompt)
            if text in ("y", "yes"):
                return True
            if text in ("n", "no"):
                return False
            self._say("yes or no, or quit")


def listed(plays: list[Play]) -> str:
    """The plays with their numbers, in columns."""
    cells = [f"{k:3d}. {play}" for k, play in enumerate(plays, 1)]
    width = max(len(cell) for cell in cells) + 2
    rows = -(-len(cells) // COLUMNS)
    return "\n".join("".join(f"{cell:<{width}}" for cell in cells[r::rows]).rstrip() for r in range(rows))
