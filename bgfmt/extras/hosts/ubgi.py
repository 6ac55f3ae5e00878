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
`bgfmt.analysis.rule` plays there. Other errors: unknown_command, bad_position, bad_dice, bad_argument, no_position,
no_dice. A line that is not understood gets one line and changes nothing; a bad position leaves none set. A bare FIBS
board line or XGID, the whole of an older draft of the protocol, is answered by the action alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import IO

from bgfmt import __version__
from bgfmt.analysis.engines import Decider, Outside
from bgfmt.errors import BgfmtError, NotCoveredError
from bgfmt.extras.hosts.external import spoken
from bgfmt.game.identifiers import from_gnubg_id, from_xgid, parse
from bgfmt.game.state import GameState

LONGEST = 4096  # bytes of a command


class Refused(Exception):
    """An error of the protocol: its code, then a text."""


class Engine:
    """The state of one conversation, answered by an adviser, or by an engine of that `name`."""

    def __init__(self, advisor: Decider, name: str = "") -> None:
        self.advisor, self.name = advisor, name
        self.state: GameState | None = None
        self.over = False

    def reply(self, line: str) -> list[str]:
        """The lines that answer one command."""
        words = line.replace("\0", "").split()
        if not words:
            return []
        try:
            if words[0].startswith(("board:", "XGID=")):
                return [self._act(_state(parse, line), "turn").partition(" ")[2]]
            word = words[0].lower()
            if word in ("isready", "stop"):
                return ["readyok"] if word == "isready" else []
            command = getattr(self, f"do_{word}", None)
            if command is None:
                raise Refused(f"unknown_command {_plain(words[0])}")
            return list(command(words[1:]))
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

    # -- commands, each a method `do_NAME` ------------------------------------------------------------------

    def do_ubgi(self, words: list[str]) -> list[str]:
        return [
            f"id name {' '.join(filter(None, ('bgfmt', self.name)))}",
            "id author the bgfmt authors",
            f"id version {__version__}",
            *([] if self.name else ["option name Outside type combo default refuse var refuse var rule"]),
            "ubgiok",
        ]

    def do_newgame(self, words: list[str]) -> list[str]:
        self.state = None
        return []

    def do_quit(self, words: list[str]) -> list[str]:
        self.over = True
        return []

    def do_position(self, words: list[str]) -> list[str]:
        readers = {"gnubgid": from_gnubg_id, "xgid": from_xgid, "fibs": parse}
        if len(words) < 2 or words[0].lower() not in readers:
            raise Refused("bad_argument expected position gnubgid ID or position xgid ID")
        self.state = None
        self.state = _state(readers[words[0].lower()], " ".join(words[1:]))
        return []

    def do_dice(self, words: list[str]) -> list[str]:
        dice = [int(word) for word in words if len(word) == 1 and word in "123456"]
        if len(words) != 2 or len(dice) != 2:
            raise Refused(f"bad_dice expected two numbers from 1 to 6, found {_plain(' '.join(words))}")
        if self.state is None:
            raise Refused("no_position say position first")
        self.state = self.state.rolled((dice[0], dice[1]))
        return []

    def do_setoption(self, words: list[str]) -> list[str]:
        lower = [word.lower() for word in words]
        wrong = lower[:3] != ["name", "outside", "value"] or lower[3:] not in (["rule"], ["refuse"])
        if wrong or not isinstance(self.advisor, Outside):
            raise Refused(f"bad_argument no such option or value: {_plain(' '.join(words))}")
        self.advisor.outside = "rule" if lower[3] == "rule" else "refuse"
        return []

    def do_go(self, words: list[str]) -> list[str]:
        lower = [word.lower() for word in words]
        role = lower[lower.index("role") + 1] if "role" in lower[:-1] else "chequer"
        role = {"checker": "chequer"}.get(role, role)
        if role not in ("chequer", "cube", "turn"):
            raise Refused(f"unsupported_feature go_role_{_plain(role)}")
        if self.state is None:
            raise Refused("no_position say position first")
        return [self._act(self.state, role)]

    # -- answers -----------------------------------------------------------------------------------------

    def _act(self, state: GameState, role: str) -> str:
        position = state.position
        if not position.us.chequers or not position.them.chequers:
            raise Refused("bad_position the game is over")
        if role == "chequer" or (role == "turn" and state.kind == "play"):
            return f"{'bestmove' if role == 'chequer' else 'bestturn'} {self._play(state)}"
        text = self._decide(replace(state, dice=None, resigned=0))
        if role == "turn":
            return f"bestturn {text}"
        return f"bestcube {'nodouble' if text == 'roll' else text}"

    def _play(self, state: GameState) -> str:
        if state.dice is None:
            raise Refused("no_dice say dice first")
        return self._decide(state.rolled(state.dice)) or "none"

    def _decide(self, state: GameState) -> str:
        try:
            decision = self.advisor.decide(state)
        except NotCoveredError:
            where = "the sides have not passed each other" if state.position.contact else "no table covers it"
            raise Refused(f"not_covered {where}") from None
        except BgfmtError as error:
            raise Refused(f"bad_position {_plain(str(error))}") from None
        return spoken(decision)


def _state(read: Callable[[str], GameState], text: str) -> GameState:
    try:
        return read(text.strip())
    except BgfmtError as error:
        raise Refused(f"bad_position {_plain(str(error))}") from None


def _plain(text: str) -> str:
    """Text for one line of an answer."""
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
