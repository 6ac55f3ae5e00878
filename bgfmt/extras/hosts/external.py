"""GNU Backgammon's external player: answer its questions by the decisions of an adviser.

gnubg sends one line for each question, a FIBS board line in its own dialect (`bgfmt.game.identifiers.fibs`), and
expects one line as the answer. There are no sockets here; see `bgfmt.extras.hosts.server`, and docs/hosts/external.md
for gnubg's side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bgfmt.analysis.answers import Decision, Source
from bgfmt.errors import BgfmtError, extra
from bgfmt.extras.engines import Decider
from bgfmt.extras.lab.thumb.doubling import janowski
from bgfmt.game.board import Position, Side
from bgfmt.game.drawing import printable
from bgfmt.game.identifiers import from_fibs
from bgfmt.game.moves import BAR, OFF, Move
from bgfmt.game.state import GameState

RESIGNATIONS = ("normal", "gammon", "backgammon")
VERSION = "Interface: 2\nRFBF: 0\nEngine: bgfmt\nSoftware: bgfmt"


@dataclass(frozen=True)
class Reply:
    """An answer and its source.

    text : the line to send. source : as of an answer of the adviser. left : after a play, the side of the player who
    made it.
    """

    text: str
    source: Source
    left: Side | None = None


class Player:
    """Answers questions by an adviser or an engine.

    An adviser should have a rule or an engine for positions that no table covers.

    resign : offer a resignation when the adviser says that the game is certainly lost.
    """

    def __init__(self, advisor: Decider, *, resign: bool = False) -> None:
        self.advisor = advisor
        self.resign = resign

    def answer(self, state: GameState) -> Reply:
        """Return the answer to a question of gnubg: a play, a cube action, or a word on a resignation.

        PositionError if the position is impossible, NotCoveredError if nothing covers it.
        """
        position = state.position.check()
        over = not position.us.chequers or not position.them.chequers
        if over and state.kind != "resignation":
            text = {"take": "take", "cube": "roll", "play": ""}[state.kind]
            return Reply(text, "forced", position.us)
        if self.resign and state.kind in ("play", "cube"):
            offer = self.advisor.resignation(state)
            if offer.offer:
                return Reply(f"resign {RESIGNATIONS[offer.offer - 1]}", offer.source)
        return self.play_on(state)

    def play_on(self, state: GameState) -> Reply:
        """Return the answer to a question of gnubg as `answer` does, but never offer a resignation."""
        decision = self.advisor.decide(state)
        left = None
        if decision.act == "play":
            result = state.position if decision.play is None else decision.play.result
            left = result.us
        return Reply(format_decision(decision), decision.source, left)


def format_decision(decision: Decision) -> str:
    """Return a decision in the words of gnubg's protocol: a play, or "double", "roll", "take", "drop" and others."""
    if decision.act != "play":
        return "drop" if decision.act == "pass" else decision.act
    return format_play(decision.play.moves if decision.play else ())


def format_play(moves: Iterable[Move]) -> str:
    """Return a play as gnubg reads it, such as ``bar/21 6/off``, one die at a time; "" if there are no moves."""
    names = {BAR: "bar", OFF: "off"}
    return " ".join(f"{names.get(move.start, move.start)}/{names.get(move.end, move.end)}" for move in moves)


def error_line(message: object) -> str:
    """Return the line that reports an error; gnubg shows it to its user before it stops playing."""
    return f"Error: {' '.join(str(message).split())[:200]}"


@dataclass(eq=False)
class Session:
    """The conversation with one client.

    mistakes, questions : numbers of invalid lines and of questions.
    closing : the client has said goodbye.
    cube_in_use : False once a question shows that the game is played without a cube.
    """

    player: Player
    log: Callable[[str], None] | None = None
    mistakes: int = 0
    questions: int = 0
    closing: bool = False
    cube_in_use: bool = True
    _offered: Position | None = None  # the last position of a question about doubling
    _left: Side | None = None  # our own side after our last play
    _resigned: object = None  # the turn of our last offer to resign

    def reply(self, line: str) -> str:
        """Return the answer to one line of the client (without its line feed): a question or a command.

        Invalid lines are counted and answered with an error line.
        """
        text = line.replace("\0", "").strip()
        if not text.startswith("board:"):
            return self._command(text)
        try:
            state = from_fibs(text)
            self._watch_cube(state)
            question = state if self.cube_in_use else replace(state, cube_in_use=False)
            answer = self.player.answer(question)
            if answer.text.startswith("resign"):
                turn = (state.position, state.scores)
                # gnubg declined the offer; it stops playing if it gets the same one again
                if turn == self._resigned:
                    answer = self.player.play_on(question)
                self._resigned = turn
        except Exception as error:  # gnubg waits for an answer in any case
            return self._mistake(str(error) if isinstance(error, BgfmtError) else repr(error))
        self.questions += 1
        if state.kind == "cube":
            self._offered = state.position
        elif state.kind == "play":
            self._offered = None
            self._left = answer.left if state.may_double else None
        if self.log is not None:
            names = " v ".join(printable(state.names[k], 30) for k in (state.turn, 1 - state.turn))
            words = f"{state.position} {state.kind} {state.dice or (0, 0)}"
            self.log(f"{names}: {words}: {answer.text} ({answer.source})")
        return answer.text

    def _watch_cube(self, state: GameState) -> None:
        """Detect that no cube is in use, which gnubg's line does not say.

        gnubg asks "roll or double?" before every roll at which a double is legal. If the very position after our play
        comes back with the dice rolled and without that question, there is no cube.
        """
        if state.kind in ("cube", "take"):
            self.cube_in_use = True
        elif state.kind == "play" and state.money and state.may_double:
            if self._offered == state.position:
                self.cube_in_use = True
            elif self._left is not None and state.position.us == self._left:
                self.cube_in_use = False

    def _command(self, text: str) -> str:
        """Answer a line that is not a question."""
        word = text.lower().split(" ", 1)[0]
        self.closing = word in ("exit", "quit")
        if self.closing:
            return ""
        help_text = "one line of gnubg's external player protocol, one answer"
        answers = {"version": VERSION, "help": help_text, "set": "not supported"}
        return answers.get(word) or self._mistake("expected a line that starts with board:")

    def _mistake(self, message: str) -> str:
        """Count an invalid line and return the answer to it."""
        self.mistakes += 1
        if self.log is not None:
            self.log(f"refused: {printable(message)}")
        return error_line(printable(message))


class GnubgEngine:
    """The gnubg package's neural nets at 0 plies, for positions without table; for the main thread only.

    The package evaluates one position at a time, cubeless. Plays are generated by our own rules and therefore always
    legal.
    """

    def __init__(self) -> None:
        missing = "the gnubg Python package is not installed"
        self._gnubg: Any = extra("gnubg", missing, "pip install gnubg")

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Return the cubeless equity of each position after a play, to the player who has just played.

        state : not used. results : the positions as seen by that player.
        """
        return [-self._equity(result.swapped()) for result in results]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Return (whether to double, whether to take), by Janowski's formula from the cubeless equity."""
        owned, centered, opponent = janowski(self._equity(state.position))
        rolling = owned if state.owner == "owned" else centered
        return bool(min(1.0, 2 * opponent) > rolling), bool(2 * opponent <= 1)

    def _equity(self, position: Position) -> float:
        """Return the cubeless equity of the side on roll."""
        if not position.us.chequers:
            return 1.0
        if not position.them.chequers:
            return -2.0 if position.us.chequers == 15 else -1.0
        sides = (position.them, position.us)  # the package expects the side on roll second
        board = tuple((*side.counts, *(0,) * (24 - len(side.counts)), side.bar) for side in sides)
        return float(self._gnubg.evaluate(board)[5])
