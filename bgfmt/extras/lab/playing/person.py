"""A person at the terminal as an engine: draw the board, list the legal plays, refuse others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from bgfmt.errors import PositionError
from bgfmt.extras.lab.engine import Engine
from bgfmt.extras.lab.playing import Quit, Undo
from bgfmt.extras.matches.plays import find, read_play
from bgfmt.game.board import Position
from bgfmt.game.drawing import draw
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState

HELP = (
    "a play such as 8/5 6/5 or its number; list; board; hint; undo; doubling; resign [1-3]; quit. "
    "Points count from your own ace point; bar/20, 6/off, 8/5(2)."
)
DOUBLING = ("you are no longer asked about doubling", "you are asked about doubling before each roll")
COLUMNS = 3


@dataclass(eq=False)
class Person:
    """An engine whose decisions a person types in.

    _ask : called with a prompt, returns a line of text. _say : called with text to show.
    doubling : whether the person is asked about doubling before each roll (the paper's flag, toggled by the word
        "doubling"). Doubles of the other side are put to him in any case.
    adviser : gives hints.
    """

    name: ClassVar[str] = "person"
    _ask: Callable[[str], str]
    _say: Callable[[str], None]
    doubling: bool = field(default=False, kw_only=True)
    adviser: Engine | None = field(default=None, kw_only=True)
    _offered: int = field(default=0, init=False)

    # -- the five questions ------------------------------------------------------------------------------

    def play(self, state: GameState) -> Play:
        """Ask until the answer is a legal play; commands such as `list` and `hint` are carried out meanwhile."""
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        self._say(self._board_text(state))
        self._say(format_plays(plays))
        while True:
            text = self._answer(f"{state.names[state.turn]}, {state.dice[0]}-{state.dice[1]}? ")
            if text in ("list", "l"):
                self._say(format_plays(plays))
            elif text in ("board", "b"):
                self._say(self._board_text(state))
            elif text in ("help", "h", "?", ""):
                self._say(HELP)
            elif text == "hint" and self.adviser is not None:
                self._say(f"{self.adviser.name} plays {self.adviser.play(state)}")
            elif text == "undo":
                raise Undo
            elif text == "doubling":
                self.doubling = not self.doubling
                self._say(DOUBLING[self.doubling])
            elif text.split()[0] == "resign":
                self._offered = int(text.split()[1]) if text.split()[1:] and text.split()[1] in "123" else 1
                self._say("you resign before your next roll if the other side accepts; play this one")
            else:
                try:
                    return parse_play(text, state.position, state.dice, plays)
                except PositionError as error:
                    self._say(f"refused: {error}")

    def double(self, state: GameState) -> bool:
        """Ask whether to double, if `doubling` is on."""
        if not self.doubling:
            return False
        self._say(self._board_text(state))
        return self._yes(f"* {state.names[state.turn]}, double to {2 * state.cube_value}? ")

    def take(self, state: GameState) -> bool:
        """Ask whether to take the other side's double."""
        self._say(self._board_text(state))
        who = state.names[1 - state.turn]
        return self._yes(f"{state.names[state.turn]} doubles to {2 * state.cube_value}. {who}, take? ")

    def resign(self, state: GameState) -> int:
        """Return how many games (0 to 3) the person offered to resign when he was last asked for a play; then 0."""
        offered = self._offered
        self._offered = 0
        return offered

    def accept(self, state: GameState) -> bool:
        """Ask the person whether to accept the other side's resignation."""
        games = ("a game", "a gammon", "a backgammon")[state.resigned - 1]
        mine = state.names[state.turn]
        other = state.names[1 - state.turn]
        return self._yes(f"{mine} resigns {games}. {other}, accept? ")

    # -- words -------------------------------------------------------------------------------------------

    def ask_for_another_game(self) -> bool:
        """Ask whether to play another game; return False at the end of the input."""
        try:
            return self._yes("another game? ")
        except Quit:
            return False

    def _board_text(self, state: GameState) -> str:
        """Return the board, the cube and the score as text."""
        owner = "centered" if state.cube_owner is None else state.names[state.cube_owner]
        where = f" cube {state.cube_value} ({owner})" if state.cube_in_use else ""
        length = f" to {state.length}" if state.length else ""
        score = f" score {state.scores[0]}-{state.scores[1]}{length}"
        return f"{draw(state.position)}\n X is {state.names[state.turn]}.{where}{score}"

    def _answer(self, prompt: str) -> str:
        """Ask and return the answer in lower case; Quit if it is to quit."""
        text = self._ask(prompt).strip().lower()
        if text in ("quit", "q", "exit"):
            raise Quit
        return text

    def _yes(self, prompt: str) -> bool:
        """Ask until the answer is yes or no."""
        while True:
            text = self._answer(prompt)
            if text in ("y", "yes"):
                return True
            if text in ("n", "no"):
                return False
            self._say("yes or no, or quit")


def format_plays(plays: list[Play]) -> str:
    """Return plays with their numbers from 1 as text in columns."""
    cells = [f"{k:3d}. {play}" for k, play in enumerate(plays, 1)]
    width = max(len(cell) for cell in cells) + 2
    rows = -(-len(cells) // COLUMNS)
    return "\n".join("".join(f"{cell:<{width}}" for cell in cells[r::rows]).rstrip() for r in range(rows))


def parse_play(text: str, position: Position, dice: tuple[int, int], plays: list[Play]) -> Play:
    """Return the legal play that a person means.

    text : its number in `plays` from 1, or its moves such as 8/5 6/5. PositionError, which says why, if it is none of
    them.
    """
    if text.isdecimal():
        if 1 <= int(text) <= len(plays):
            return plays[int(text) - 1]
        raise PositionError(f"the number must be from 1 to {len(plays)}")
    hops, marks, rest = read_play(text)
    if rest or not hops:
        word = (rest or text)[:40]
        raise PositionError(f"{word!r} is not a move; write a play such as 8/5 6/5, bar/20 or 6/off")
    found = find(position, dice, hops, marks)
    if isinstance(found, str):
        raise PositionError(found)
    if not found.legal:
        raise PositionError(f"{text[:40]} is not a legal play of {dice[0]}-{dice[1]}; see `list`")
    return next(play for play in plays if play.result == found.result)
