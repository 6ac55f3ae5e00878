"""UBGI, an engine protocol of text lines on standard input and output, from tables: docs/hosts/ubgi.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

from bgfmt import __version__
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.engines import Decider, Outside
from bgfmt.errors import CONTACT, BgfmtError, NotCoveredError
from bgfmt.extras.hosts.external import format_decision, format_play
from bgfmt.game.identifiers import from_gnubg_id, from_xgid, parse
from bgfmt.game.state import GameState

LONGEST = 4096  # bytes of a command
INFO = 3  # plays that info lines tell
OPTIONS = (
    "option name Outside type combo default refuse var refuse var rule",
    "option name Info type combo default off var off var on",
)


class Refused(Exception):
    """An error of the protocol: its code, then a text."""


class Engine:
    """The state of one conversation, answered by an adviser, or by an engine of that `name`."""

    def __init__(self, advisor: Decider, name: str = "") -> None:
        self.advisor = advisor
        self.name = name
        self.state: GameState | None = None
        self.session: dict[str, Any] = {}  # what positions are asked with that do not say it themselves
        self.info = self.over = False

    def reply(self, line: str) -> list[str]:
        """The lines that answer one command."""
        words = line.replace("\0", "").split()
        if not words:
            return []
        try:
            if words[0].startswith(("board:", "XGID=")):
                return [self._act(parse(line.strip()), "turn").partition(" ")[2]]
            word = words[0].lower()
            if word in ("isready", "stop"):
                return ["readyok"] if word == "isready" else []
            command = getattr(self, f"do_{word}", None)
            if command is None:
                raise Refused(f"unknown_command {_plain(words[0])}")
            return list(command(words[1:]))
        except Refused as error:
            return [f"error {error}"]
        except BgfmtError as error:
            return [f"error bad_position {_plain(str(error))}"]

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
        name = f"id name bgfmt {self.name}".strip()
        told = [name, "id author the bgfmt authors", f"id version {__version__}"]
        return [*told, *([] if self.name else OPTIONS), "ubgiok"]

    def do_newgame(self, words: list[str]) -> list[str]:
        self.state = None
        return []

    def do_newsession(self, words: list[str]) -> list[str]:
        said = _matched(r"(?:length (\d{1,2}))?", words, "newsession or newsession length N", re.IGNORECASE)
        self.state = None
        self.session = {"length": int(said[1])} if said[1] else {}
        return []

    def do_score(self, words: list[str]) -> list[str]:
        said = _matched(r"(\d{1,2}) (\d{1,2})", words, "score A B")
        return self._set(score=(int(said[1]), int(said[2])))

    def do_cube(self, words: list[str]) -> list[str]:
        form = r"(\d+)(?: (centered|owned|opponent))?"
        said = _matched(form, words, "cube VALUE centered, owned or opponent")
        return self._set(cube=(int(said[1]), said[2] or "centered"))

    def do_crawford(self, words: list[str]) -> list[str]:
        said = _matched("on|off", words, "crawford on or crawford off")
        return self._set(crawford=said[0] == "on")

    @property
    def here(self) -> GameState:
        """The position there is; Refused where there is none."""
        if self.state is None:
            raise Refused("no_position say position first")
        return self.state

    def do_turn(self, words: list[str]) -> list[str]:
        self.state = replace(self.here.before_roll(), turn=1 - self.here.turn)
        return []

    def do_eval(self, words: list[str]) -> list[str]:
        state = self.here.before_roll()
        if not isinstance(self.advisor, Advisor):
            raise Refused("unsupported_feature eval")
        with _covered(state):
            if not state.money:
                match = self.advisor.cube(state).match
                assert match is not None
                return [f"eval mwc {match.mwc.best!r} equity {match.emg.best!r}"]
            equities = self.advisor.equities(state)
            best = self.advisor.cube(state).best
        win = "" if equities.win is None else f" win {float(equities.win)!r}"
        return [f"eval{win} cubeless {float(equities.cubeless)!r} equity {float(best)!r}"]

    def _set(self, **facts: Any) -> list[str]:
        """Keep facts of the session, and put them into the position there is."""
        before = self.session
        self.session = {**before, **facts}
        try:
            self.state = self.state and self._placed(self.state)
        except (Refused, BgfmtError) as error:
            self.session = before
            raise Refused(f"bad_argument {_plain(str(error))}") from None
        return []

    def _placed(self, state: GameState) -> GameState:
        """A position with what the session says of score and cube."""
        length = self.session.get("length", 0)
        (mine, other) = self.session.get("score", (0, 0))
        if length and max(mine, other) >= length:
            raise Refused(f"no match to {length} stands at {mine} to {other}")
        value, owner = self.session.get("cube", (1, "centered"))
        return GameState.of(
            state.position, state.dice, cube=owner, cube_value=value, doubled=state.doubled,
            away=(length - mine, length - other) if length else None, crawford=self.session.get("crawford", False),
        )  # fmt: skip

    def do_quit(self, words: list[str]) -> list[str]:
        self.over = True
        return []

    def do_position(self, words: list[str]) -> list[str]:
        readers = {"gnubgid": from_gnubg_id, "xgid": from_xgid, "fibs": parse}
        if len(words) < 2 or words[0].lower() not in readers:
            raise Refused("bad_argument expected position gnubgid ID or position xgid ID")
        self.state = None
        text = " ".join(words[1:])
        state = readers[words[0].lower()](text)
        alone = words[0].lower() == "gnubgid" and ":" not in text and len(words) == 2
        self.state = self._placed(state) if alone and self.session else state
        return []

    def do_dice(self, words: list[str]) -> list[str]:
        dice = [int(word) for word in words if len(word) == 1 and word in "123456"]
        if len(words) != 2 or len(dice) != 2:
            raise Refused(f"bad_dice expected two numbers from 1 to 6, found {_plain(' '.join(words))}")
        self.state = self.here.rolled((dice[0], dice[1]))
        return []

    def do_setoption(self, words: list[str]) -> list[str]:
        said = " ".join(words).lower()
        if (info := re.fullmatch("name info value (on|off)", said)) and not self.name:
            self.info = info[1] == "on"
        elif (outside := re.fullmatch("name outside value (rule|refuse)", said)) and isinstance(
            self.advisor, Outside
        ):
            self.advisor = self.advisor.with_outside(outside[1])
        else:
            raise Refused(f"bad_argument no such option or value: {_plain(' '.join(words))}")
        return []

    def do_go(self, words: list[str]) -> list[str]:
        lower = [word.lower() for word in words]
        role = lower[lower.index("role") + 1] if "role" in lower[:-1] else "chequer"
        role = {"checker": "chequer"}.get(role, role)
        if role not in ("chequer", "cube", "turn"):
            raise Refused(f"unsupported_feature go_role_{_plain(role)}")
        told = self._info(self.here, role) if self.info else []
        return [*told, self._act(self.here, role)]

    def _info(self, state: GameState, role: str) -> list[str]:
        """What the answer goes by: the best plays, or the worths of a cube action."""
        if not isinstance(self.advisor, Advisor):
            return []
        try:
            if state.dice and role != "cube":
                ranked = self.advisor.plays(state).plays[:INFO]
                return [
                    f"info multipv {k} equity {play.value!r} pv {format_play(play.moves)}"
                    for k, play in enumerate(ranked, 1)
                    if play.value is not None
                ]
            action = self.advisor.cube(state.before_roll())
        except BgfmtError:
            return []  # the answer says why
        doubled = f"double_take {float(action.double_take)!r} double_pass {float(action.double_pass)!r}"
        return [f"info no_double {float(action.no_double)!r} {doubled} source {action.source}"]

    # -- answers -----------------------------------------------------------------------------------------

    def _act(self, state: GameState, role: str) -> str:
        position = state.position
        if not position.us.chequers or not position.them.chequers:
            raise Refused("bad_position the game is over")
        if role == "chequer" or (role == "turn" and state.kind == "play"):
            if state.dice is None:
                raise Refused("no_dice say dice first")
            move = self._decide(state.rolled(state.dice)) or "none"
            return f"{'bestmove' if role == 'chequer' else 'bestturn'} {move}"
        text = self._decide(replace(state, dice=None, resigned=0))
        if role == "turn":
            return f"bestturn {text}"
        return f"bestcube {'nodouble' if text == 'roll' else text}"

    def _decide(self, state: GameState) -> str:
        with _covered(state):
            return format_decision(self.advisor.decide(state))


@contextmanager
def _covered(state: GameState) -> Iterator[None]:
    """Say in the protocol's words why nothing covers a position."""
    try:
        yield
    except NotCoveredError:
        where = CONTACT if state.position.contact else "no table covers it"
        raise Refused(f"not_covered {where}") from None


def _matched(form: str, words: list[str], expected: str, flags: int = 0) -> re.Match[str]:
    """The arguments of a command, in one text of this form."""
    said = re.fullmatch(form, " ".join(words), flags)
    if said is None:
        raise Refused(f"bad_argument expected {expected}")
    return said


def _plain(text: str) -> str:
    """Text for one line of an answer."""
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
