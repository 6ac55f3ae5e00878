"""GNU Backgammon's external player: the adviser's decisions as answers to its questions, one client's conversation.

gnubg sends one line a question, a FIBS board line in its own dialect (`bgfmt.game.identifiers.fibs`), and takes one
line as the answer. No sockets here; see `bgfmt.extras.hosts.server`, and docs/hosts/external.md for gnubg's side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bgfmt.analysis.answers import Decision, Source
from bgfmt.analysis.engines import Decider
from bgfmt.errors import BgfmtError, extra
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
    """An answer and where it came from.

    text : the line to send. source : as of an answer of the adviser. left : after a play, the side of the player
    who made it. offer : points offered to be resigned.
    """

    text: str
    source: Source
    left: Side | None = None
    offer: int = 0


class Player:
    """Answers questions by an adviser, which should go by a rule or an engine outside its tables, or by an engine.

    resign : offer a resignation when the adviser says that the game is certainly lost.
    """

    def __init__(self, advisor: Decider, *, resign: bool = False) -> None:
        self.advisor = advisor
        self.resign = resign

    def answer(self, state: GameState) -> Reply:
        """The answer to a question. PositionError for a position that cannot be, NotCoveredError if refused."""
        position = state.position.check()
        over = not position.us.chequers or not position.them.chequers
        if over and state.kind != "resignation":
            text = {"take": "take", "cube": "roll", "play": ""}[state.kind]
            return Reply(text, "forced", position.us)
        if self.resign and state.kind in ("play", "cube"):
            offer = self.advisor.resignation(state)
            if offer.offer:
                return Reply(f"resign {RESIGNATIONS[offer.offer - 1]}", offer.source, offer=offer.offer)
        return self.play_on(state)

    def play_on(self, state: GameState) -> Reply:
        """The answer to a question without a resignation."""
        decision = self.advisor.decide(state)
        left = None
        if decision.act == "play":
            result = state.position if decision.play is None else decision.play.result
            left = result.us
        return Reply(spoken(decision), decision.source, left)


def spoken(decision: Decision) -> str:
    """A decision in gnubg's words."""
    if decision.act != "play":
        return "drop" if decision.act == "pass" else decision.act
    return format_play(decision.play.moves if decision.play else ())


def format_play(moves: Iterable[Move]) -> str:
    """A play as gnubg reads it, such as ``bar/21 6/off``, one die at a time; empty where there is none."""
    names = {BAR: "bar", OFF: "off"}
    return " ".join(f"{names.get(move.start, move.start)}/{names.get(move.end, move.end)}" for move in moves)


def error_line(message: object) -> str:
    """The answer that gnubg shows its user before it stops playing."""
    return f"Error: {' '.join(str(message).split())[:200]}"


@dataclass
class Session:
    """One client's conversation: what was asked before, as far as it matters."""

    player: Player
    log: Callable[[str], None] | None = None
    mistakes: int = 0
    asked: int = 0
    closing: bool = False
    cube_in_use: bool = True
    _offered: Position | None = None  # the last position in which we were asked whether to double
    _left: Side | None = None  # our own side after our last play
    #: the turn in which we last offered to resign, and how many points
    _resigned: tuple[object, int] = (None, 0)

    def reply(self, line: str) -> str:
        """The answer to one line, without its line feed."""
        text = line.replace("\0", "").strip()
        if not text.startswith("board:"):
            return self._command(text)
        try:
            state = from_fibs(text)
            self._watch_cube(state)
            question = state if self.cube_in_use else replace(state, cube_in_use=False)
            answer = self._once(question, self.player.answer(question))
        except BgfmtError as error:
            return self._mistake(str(error))
        except Exception as error:  # an answer must come: gnubg waits for one line
            return self._mistake(f"{type(error).__name__}: {error}")
        self.asked += 1
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

    def _once(self, state: GameState, answer: Reply) -> Reply:
        """A resignation, or where the same turn has seen one of as many points, which was declined, another answer.

        gnubg asks again after it has declined an offer, and ends its play where it gets the same offer once more.
        """
        if not answer.offer:
            return answer
        turn = (state.position, state.scores)
        if self._resigned[0] == turn and answer.offer <= self._resigned[1]:
            return self.player.play_on(state)
        self._resigned = turn, answer.offer
        return answer

    def _watch_cube(self, state: GameState) -> None:
        """Notice that no cube is in use, which gnubg's line does not say.

        gnubg asks "roll or double?" before every roll at which a double is legal. When the very position we left
        behind comes back with the dice thrown and that question was skipped, there is no cube.
        """
        if state.kind in ("cube", "take"):
            self.cube_in_use = True
        elif state.kind == "play" and state.money and state.may_double:
            if self._offered == state.position:
                self.cube_in_use = True
            elif self._left is not None and state.position.us == self._left:
                self.cube_in_use = False

    def _command(self, text: str) -> str:
        word = text.lower().split(" ", 1)[0]
        self.closing = word in ("exit", "quit")
        if self.closing:
            return ""
        help_text = "one line of gnubg's external player protocol, one answer"
        answers = {"version": VERSION, "help": help_text, "set": "not supported"}
        return answers.get(word) or self._mistake("expected a line that starts with board:")

    def _mistake(self, message: str) -> str:
        self.mistakes += 1
        if self.log is not None:
            self.log(f"refused: {printable(message)}")
        return error_line(printable(message))


class GnubgEngine:
    """The gnubg package's neural nets at 0 plies, for what no table covers; from the main thread only.

    The package gives its cubeless evaluation of one position at a time. The plays come from our own rules, so that
    they are legal whatever it says.
    """

    def __init__(self) -> None:
        missing = "the gnubg Python package is not installed"
        self._gnubg: Any = extra("gnubg", missing, "pip install gnubg")

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after our play, to us who have played."""
        return [-self._equity(result.swapped()) for result in results]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether to double and to take, by Janowski's formula from the cubeless equity."""
        owned, centered, opponent = janowski(self._equity(state.position))
        rolling = owned if state.owner == "owned" else centered
        return bool(min(1.0, 2 * opponent) > rolling), bool(2 * opponent <= 1)

    def _equity(self, position: Position) -> float:
        if not position.us.chequers:
            return 1.0
        if not position.them.chequers:
            return -2.0 if position.us.chequers == 15 else -1.0
        sides = (position.them, position.us)  # the side on roll comes second
        board = tuple((*side.counts, *(0,) * (24 - len(side.counts)), side.bar) for side in sides)
        return float(self._gnubg.evaluate(board)[5])
