"""UBGI, an engine protocol of text lines on standard input and output: level 0 and cube actions, from tables.

    ubgi                            id name ..., id author ..., id version ..., option ..., ubgiok
    isready                         readyok
    newgame                         (nothing)
    position gnubgid ID | xgid ID   (nothing, or an error)
    dice 6 1                        (nothing, or an error)
    go role chequer                 bestmove 6/off 6/5
    go role cube                    bestcube double | nodouble; take | drop while a double is pending
    go role turn                    bestturn, with whichever of these is due
    setoption name Outside value rule | refuse
    stop, quit

What no table covers is refused with `error not_covered REASON`, unless the option Outside is "rule": then the rule of
`bgfmt.hosts.player` plays there. Other errors: unknown_command, bad_position, bad_dice, bad_argument, no_position,
no_dice. A line that is not understood gets one line and changes nothing; a bad position leaves none set. A bare FIBS
board line or XGID, the whole of an older draft of the protocol, is answered by the action alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import IO

from bgfmt import __version__
from bgfmt.analysis.choose import Databases
from bgfmt.errors import BgfmtError
from bgfmt.game.identifiers import MatchState, from_gnubg_id, from_xgid, parse
from bgfmt.hosts.external import Question
from bgfmt.hosts.player import Player

LONGEST = 4096  # bytes of a command
COVERED = ("two-sided", "one-sided")


class Refused(Exception):
    """An error of the protocol: its code, then a text."""


class Engine:
    """The state of one conversation."""

    def __init__(self, databases: Databases) -> None:
        self.player = Player(databases)
        self.state: MatchState | None = None
        self.outside = "refuse"
        self.over = False

    def reply(self, line: str) -> list[str]:
        """The lines that answer one command."""
        words = line.replace("\0", "").split()
        if not words:
            return []
        try:
            if words[0].startswith(("board:", "XGID=")):
                return [self._act(_state(parse, line), "turn").partition(" ")[2]]
            command = _COMMANDS.get(words[0].lower())
            if command is None:
                raise Refused(f"unknown_command {_plain(words[0])}")
            return command(self, words[1:])
        except Refused as error:
            return [f"error {error}"]

    def run(self, read: IO[bytes], write: Callable[[str], None]) -> None:
        """Answer commands until `quit` or the end of the input."""
        while not self.over:
            data = read.readline(LONGEST + 1)
            if not data:
                return
            if len(data) > LONGEST and not data.endswith(b"\n"):
                while data and not data.endswith(b"\n"):
                    data = read.readline(LONGEST)
                write("error bad_argument line too long")
                continue
            for line in self.reply(data.decode("utf-8", "replace")):
                write(line)

    # -- commands ----------------------------------------------------------------------------------------

    def _ubgi(self, words: list[str]) -> list[str]:
        return [
            "id name bgfmt",
            "id author the bgfmt authors",
            f"id version {__version__}",
            "option name Outside type combo default refuse var refuse var rule",
            "ubgiok",
        ]

    def _isready(self, words: list[str]) -> list[str]:
        return ["readyok"]

    def _newgame(self, words: list[str]) -> list[str]:
        self.state = None
        return []

    def _nothing(self, words: list[str]) -> list[str]:
        return []

    def _quit(self, words: list[str]) -> list[str]:
        self.over = True
        return []

    def _position(self, words: list[str]) -> list[str]:
        readers = {"gnubgid": from_gnubg_id, "xgid": from_xgid, "fibs": parse}
        if len(words) < 2 or words[0].lower() not in readers:
            raise Refused("bad_argument expected position gnubgid ID or position xgid ID")
        self.state = None
        self.state = _state(readers[words[0].lower()], " ".join(words[1:]))
        return []

    def _dice(self, words: list[str]) -> list[str]:
        dice = [int(word) for word in words if len(word) == 1 and word in "123456"]
        if len(words) != 2 or len(dice) != 2:
            raise Refused(f"bad_dice expected two numbers from 1 to 6, found {_plain(' '.join(words))}")
        if self.state is None:
            raise Refused("no_position say position first")
        self.state = replace(self.state, dice=(dice[0], dice[1]), doubled=False)
        return []

    def _setoption(self, words: list[str]) -> list[str]:
        lower = [word.lower() for word in words]
        if lower[:3] != ["name", "outside", "value"] or lower[3:] not in (["rule"], ["refuse"]):
            raise Refused(f"bad_argument no such option or value: {_plain(' '.join(words))}")
        self.outside = lower[3]
        return []

    def _go(self, words: list[str]) -> list[str]:
        lower = [word.lower() for word in words]
        role = lower[lower.index("role") + 1] if "role" in lower[:-1] else "chequer"
        role = {"checker": "chequer"}.get(role, role)
        if role not in ("chequer", "cube", "turn"):
            raise Refused(f"unsupported_feature go_role_{_plain(role)}")
        if self.state is None:
            raise Refused("no_position say position first")
        return [self._act(self.state, role)]

    # -- answers -----------------------------------------------------------------------------------------

    def _act(self, state: MatchState, role: str) -> str:
        position = state.position
        if not position.us.chequers or not position.them.chequers:
            raise Refused("bad_position the game is over")
        question = _question(state)
        if role == "chequer" or (role == "turn" and state.dice is not None and not state.doubled):
            return f"{'bestmove' if role == 'chequer' else 'bestturn'} {self._play(question)}"
        decision = self.player.take(question) if state.doubled else self.player.double(question)
        barred = not state.doubled and (not question.may_double[0] or question.crawford)
        if not barred:
            self._check(question, decision.source)
        if role == "turn":
            return f"bestturn {decision.text}"
        return f"bestcube {'nodouble' if decision.text == 'roll' else decision.text}"

    def _play(self, question: Question) -> str:
        if question.dice == (0, 0):
            raise Refused("no_dice say dice first")
        decision = self.player.play(question)
        self._check(question, decision.source)
        return decision.text or "none"

    def _check(self, question: Question, source: str) -> None:
        if self.outside == "rule" or source in COVERED:
            return
        if source == "forced" and not question.position.contact:
            return
        where = "the sides have not passed each other" if question.position.contact else "no table covers it"
        raise Refused(f"not_covered {where}")


_COMMANDS: dict[str, Callable[[Engine, list[str]], list[str]]] = {
    "ubgi": Engine._ubgi,
    "isready": Engine._isready,
    "newgame": Engine._newgame,
    "position": Engine._position,
    "dice": Engine._dice,
    "go": Engine._go,
    "setoption": Engine._setoption,
    "stop": Engine._nothing,
    "quit": Engine._quit,
}


def _state(read: Callable[[str], MatchState], text: str) -> MatchState:
    try:
        return read(text.strip())
    except BgfmtError as error:
        raise Refused(f"bad_position {_plain(str(error))}") from None


def _question(state: MatchState) -> Question:
    us, them = state.turn, 1 - state.turn
    return Question(
        state.position,
        dice=state.dice or (0, 0),
        length=state.length,
        scores=(state.scores[us], state.scores[them]),
        cube=1 << state.cube,
        may_double=(state.owner in (None, us), state.owner in (None, them)),
        doubled=state.doubled,
        crawford=state.crawford,
        post_crawford=state.post_crawford,
        jacoby=state.jacoby,
    )


def _plain(text: str) -> str:
    """Text for one line of an answer."""
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
