"""UBGI, an engine protocol of text lines on standard input and output: docs/hosts/ubgi.md.

Versions 0.1 and 0.2 have most commands in common. `Engine` starts with the version it is given and follows the
controller: `keys`, `set`, `get` and `go chequer` belong to 0.2, `setoption` and `go role chequer` to 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

from bgfmt import __version__
from bgfmt.analysis.advisor import Advisor
from bgfmt.errors import CONTACT, BgfmtError, NotCoveredError
from bgfmt.extras.engines import Decider, Outside
from bgfmt.extras.hosts.conformance import V01, V02
from bgfmt.extras.hosts.external import format_decision, format_play
from bgfmt.game.identifiers import from_gnubg_id, from_xgid, parse
from bgfmt.game.state import GameState

MAX_COMMAND_BYTES = 4096
MAX_INFO_PLAYS = 3
ROLES = ("chequer", "cube", "turn")
#: `option` lines of 0.1
OPTIONS = (
    "option name Outside type combo default refuse var refuse var rule",
    "option name Info type combo default off var off var on",
)
#: key of 0.2 -> what a `key` line says of its type and values
KEYS = {
    "game.variant": "enum backgammon backgammon",
    "engine.outside": "enum refuse|rule refuse what to do where no table covers a position",
    "engine.info": "bool false ! info lines before an answer",
}
#: error code of 0.1 -> code of 0.2, unless an error names another one
CODES = {
    "unknown_command": "bad_command",
    "bad_argument": "bad_command",
    "bad_dice": "bad_value",
    "bad_position": "bad_value",
    "no_position": "bad_state",
    "no_dice": "bad_state",
    "not_covered": "unsupported",
    "unsupported_feature": "unsupported",
}


class ProtocolError(Exception):
    """An `error` line.

    Parameters
    ----------
    code
        Error code of UBGI 0.1.
    text
        Explanation for people; in 0.1 the second word may name a feature.
    code_02
        Error code of UBGI 0.2, where it is not the one that `CODES` has for `code`.
    """

    def __init__(self, code: str, text: str, code_02: str = "") -> None:
        super().__init__(code, text, code_02)
        self.code = code
        self.text = text
        self.code_02 = code_02 or CODES[code]

    def format_line(self, version: str) -> str:
        """Return the line `error CODE TEXT` that reports this error in a version of the protocol, "0.1" or "0.2"."""
        return f"error {self.code_02 if version == V02 else self.code} {self.text}"


class Engine:
    """The engine's side of one conversation.

    Parameters
    ----------
    advisor
        Answers the queries: an `Advisor`, or an engine in its place.
    name
        Name of that engine; empty for bgfmt itself. A named engine has no options.
    version
        Version of the protocol to begin with, "0.1" or "0.2".
    fixed
        Keep to that version, whatever the controller's commands say.
    """

    def __init__(self, advisor: Decider, name: str = "", *, version: str = V01, fixed: bool = False) -> None:
        self.advisor = advisor
        self.name = name
        self.version = version
        self.fixed = fixed
        self.state: GameState | None = None
        self.session: dict[str, Any] = {}  # score and cube for positions that do not state them
        #: settings of 0.2; `setoption` of 0.1 changes them too
        self.settings = {"game.variant": "backgammon"}
        if not name:
            self.settings |= {"engine.outside": "refuse", "engine.info": "false"}
        self.over = False

    def reply(self, line: str) -> list[str]:
        """Return the lines that answer one command of the controller, often none; an error gives an `error` line."""
        words = line.replace("\0", "").split()
        if not words:
            return []
        try:
            return self._reply(line, words)
        except ProtocolError as error:
            return [error.format_line(self.version)]
        except BgfmtError as error:
            return [ProtocolError("bad_position", _make_printable(str(error))).format_line(self.version)]

    def _reply(self, line: str, words: list[str]) -> list[str]:
        if words[0].startswith(("board:", "XGID=")):
            return [self._answer(parse(line.strip()), "turn").partition(" ")[2]]
        command = getattr(self, f"do_{self._fold_case(words[0])}", None)
        if command is None:
            raise ProtocolError("unknown_command", _make_printable(words[0]))
        return list(command(words[1:]))

    def run(self, read: IO[bytes], write: Callable[[str], None]) -> None:
        """Answer commands until `quit` or the end of the input.

        read : the input. write : called with each line of the answers, without line feed.
        """
        while not self.over:
            data = read.readline(MAX_COMMAND_BYTES + 1)
            if not data:
                return
            if len(data) > MAX_COMMAND_BYTES and not data.endswith(b"\n"):
                while data and not data.endswith(b"\n"):
                    data = read.readline(MAX_COMMAND_BYTES)
                write(ProtocolError("bad_argument", "line too long").format_line(self.version))
                continue
            for line in self.reply(data.decode("utf-8", "replace")):
                write(line)

    def _fold_case(self, word: str) -> str:
        """Return a keyword as it is compared: 0.2 tells capitals apart, 0.1 does not."""
        return word if self.version == V02 else word.lower()

    def _follow(self, version: str) -> None:
        """Go on in the version that a command of the controller belongs to."""
        if not self.fixed:
            self.version = version

    # -- commands, each a method `do_NAME` ------------------------------------------------------------------

    def do_ubgi(self, words: list[str]) -> list[str]:
        """Answer `ubgi`: name, author and version of the engine, its options of UBGI 0.1, and `ubgiok`."""
        name = f"id name bgfmt {self.name}".strip()
        lines = [name, "id author the bgfmt authors", f"id version {__version__}"]
        if not self.fixed or self.version == V02:
            lines.append(f"proto {V02}")
        if not self.name and not (self.fixed and self.version == V02):
            lines += OPTIONS
        return [*lines, "ubgiok"]

    def do_isready(self, words: list[str]) -> list[str]:
        """Answer `isready`: `readyok`."""
        return ["readyok"]

    def do_stop(self, words: list[str]) -> list[str]:
        """Answer `stop` by nothing, as every answer is complete."""
        return []

    def do_newgame(self, words: list[str]) -> list[str]:
        """Answer `newgame`: forget the position."""
        self.state = None
        return []

    def do_newsession(self, words: list[str]) -> list[str]:
        """Answer `newsession [length N]`: begin money play or a match to N; forget position, score and cube."""
        form = r"(?:length (\d{1,2}))?"
        match = _match_arguments(form, words, "newsession or newsession length N")
        self.state = None
        self.session = {"length": int(match[1])} if match[1] else {}
        return []

    def do_score(self, words: list[str]) -> list[str]:
        """Answer `score A B`: set the points that the side on roll and the other side have won."""
        match = _match_arguments(r"(\d{1,2}) (\d{1,2})", words, "score A B")
        return self._update_session(score=(int(match[1]), int(match[2])))

    def do_cube(self, words: list[str]) -> list[str]:
        """Answer `cube VALUE [OWNER]`: set the cube; owner is centered, owned (by the side on roll) or opponent."""
        form = r"(\d+)(?: (centered|owned|opponent))?"
        match = _match_arguments(form, words, "cube VALUE centered, owned or opponent")
        return self._update_session(cube=(int(match[1]), (match[2] or "centered").lower()))

    def do_crawford(self, words: list[str]) -> list[str]:
        """Answer `crawford on` or `crawford off`: set whether this is the Crawford game."""
        match = _match_arguments("on|off", words, "crawford on or crawford off")
        return self._update_session(crawford=match[0].lower() == "on")

    def do_turn(self, words: list[str]) -> list[str]:
        """Answer `turn`: put the other side on roll, before its roll."""
        state = self._require_position()
        self.state = replace(state.before_roll(), turn=1 - state.turn)
        return []

    def do_eval(self, words: list[str]) -> list[str]:
        """Answer `eval`: equities and win probability of the side on roll before it rolls or doubles."""
        state = self._require_position().before_roll()
        if not isinstance(self.advisor, Advisor):
            raise ProtocolError("unsupported_feature", "eval")
        with _translate_refusal(state):
            if not state.money:
                match = self.advisor.cube(state).match
                assert match is not None
                return [f"eval mwc {match.mwc.best!r} equity {match.emg.best!r}"]
            equities = self.advisor.equities(state)
            best = self.advisor.cube(state).best
        win = "" if equities.win is None else f" win {float(equities.win)!r}"
        return [f"eval{win} cubeless {float(equities.cubeless)!r} equity {float(best)!r}"]

    def do_quit(self, words: list[str]) -> list[str]:
        """Answer `quit`: end the conversation."""
        self.over = True
        return []

    def do_position(self, words: list[str]) -> list[str]:
        """Answer `position FORM ID`: set the position from an identifier; FORM is gnubgid, xgid or fibs."""
        readers = {"gnubgid": from_gnubg_id, "xgid": from_xgid, "fibs": parse}
        form = self._fold_case(words[0]) if words else ""
        if len(words) < 2 or form not in readers:
            raise ProtocolError("bad_argument", "expected position gnubgid ID or position xgid ID")
        self.state = None
        text = " ".join(words[1:])
        state = readers[form](text)
        says_no_score = form == "gnubgid" and ":" not in text and len(words) == 2
        self.state = self._apply_session(state) if says_no_score and self.session else state
        return []

    def do_dice(self, words: list[str]) -> list[str]:
        """Answer `dice A B`: set the dice of the side on roll."""
        dice = [int(word) for word in words if len(word) == 1 and word in "123456"]
        if len(words) != 2 or len(dice) != 2:
            code = "bad_value" if len(words) == 2 else "bad_command"
            found = _make_printable(" ".join(words))
            raise ProtocolError("bad_dice", f"expected two numbers from 1 to 6, found {found}", code)
        self.state = self._require_position().rolled((dice[0], dice[1]))
        return []

    def do_go(self, words: list[str]) -> list[str]:
        """Answer `go`: the best play, cube action, or both ("turn"), as the words after `go` say."""
        folded = [self._fold_case(word) for word in words]
        role = "chequer"
        if "role" in folded[:-1]:
            self._follow(V01)
            role = folded[folded.index("role") + 1]
        elif len(folded) == 1 and folded[0] in (*ROLES, "checker"):
            self._follow(V02)
            role = folded[0]
        elif words and self.version == V02:
            raise ProtocolError("bad_argument", "expected go, go chequer, go cube or go turn")
        role = "chequer" if role == "checker" else role
        if role not in ROLES:
            raise ProtocolError("unsupported_feature", f"go_role_{_make_printable(role)}", "bad_command")
        state = self._require_position()
        info = self.settings.get("engine.info") == "true"
        lines = self._format_info(state, role) if info else []
        answer = self._answer_02(state, role) if self.version == V02 else self._answer(state, role)
        return [*lines, answer]

    # -- options: `setoption` of 0.1; `keys`, `set` and `get` of 0.2 ------------------------------------------

    def do_setoption(self, words: list[str]) -> list[str]:
        """Answer `setoption` of UBGI 0.1: set an option (Info or Outside)."""
        match = re.fullmatch(r"name (info|outside) value (\w+)", " ".join(words).lower())
        value = match and {"on": "true", "off": "false"}.get(match[2], match[2])
        if match is None or value not in self._list_values(f"engine.{match[1]}"):
            found = _make_printable(" ".join(words))
            raise ProtocolError("bad_argument", f"unknown option or value: {found}", "bad_value")
        self._set(f"engine.{match[1]}", value)
        self._follow(V01)
        return []

    def do_keys(self, words: list[str]) -> list[str]:
        """Answer `keys` of UBGI 0.2: list the engine's keys (its settings), a line each."""
        self._follow(V02)
        return [f"key {key} {KEYS[key]}" for key in self.settings]

    def do_set(self, words: list[str]) -> list[str]:
        """Answer `set KEY VALUE` of UBGI 0.2: change a setting."""
        self._follow(V02)
        if len(words) != 2:
            raise ProtocolError("bad_argument", "expected set KEY VALUE")
        key, value = words
        allowed = self._list_values(key)
        if value not in allowed:
            raise ProtocolError("bad_argument", f"{key} must be one of {' '.join(allowed)}", "bad_value")
        self._set(key, value)
        return []

    def do_get(self, words: list[str]) -> list[str]:
        """Answer `get KEY` of UBGI 0.2: return the value of a setting."""
        self._follow(V02)
        if len(words) != 1:
            raise ProtocolError("bad_argument", "expected get KEY")
        self._list_values(words[0])
        return [f"value {words[0]} {self.settings[words[0]]}"]

    def _list_values(self, key: str) -> list[str]:
        """Return the values that a key may have; ProtocolError where there is no such key."""
        if key not in self.settings:
            raise ProtocolError("bad_argument", f"there is no key {_make_printable(key)}", "bad_value")
        words = KEYS[key].split()
        return ["true", "false"] if words[0] == "bool" else words[1].split("|")

    def _set(self, key: str, value: str) -> None:
        """Change a setting."""
        self.settings[key] = value
        if key == "engine.outside":
            assert isinstance(self.advisor, Outside)
            self.advisor = self.advisor.with_outside(value)

    # -- position and session -----------------------------------------------------------------------------

    def _require_position(self) -> GameState:
        """Return the position; ProtocolError where none is set."""
        if self.state is None:
            raise ProtocolError("no_position", "set the position first")
        return self.state

    def _update_session(self, **facts: Any) -> list[str]:
        """Keep facts of the session and apply them to the position, if there is one."""
        before = self.session
        self.session = {**before, **facts}
        try:
            self.state = self.state and self._apply_session(self.state)
        except BgfmtError as error:
            self.session = before
            raise ProtocolError("bad_argument", _make_printable(str(error)), "bad_value") from None
        return []

    def _apply_session(self, state: GameState) -> GameState:
        """Return the position with the score and the cube of the session."""
        length = self.session.get("length", 0)
        (mine, other) = self.session.get("score", (0, 0))
        value, owner = self.session.get("cube", (1, "centered"))
        return GameState.of(
            state.position, state.dice, cube=owner, cube_value=value, doubled=state.doubled,
            away=(length - mine, length - other) if length else None, crawford=self.session.get("crawford", False),
        )  # fmt: skip

    # -- answers -----------------------------------------------------------------------------------------

    def _format_info(self, state: GameState, role: str) -> list[str]:
        """Return `info` lines: the best plays, or the equities of a cube action."""
        if not isinstance(self.advisor, Advisor):
            return []
        equity = "score" if self.version == V02 else "equity"
        try:
            if state.dice and role != "cube":
                ranked = self.advisor.plays(state).plays[:MAX_INFO_PLAYS]
                return [
                    f"info multipv {k} {equity} {play.value!r} pv {format_play(play.moves)}"
                    for k, play in enumerate(ranked, 1)
                    if play.value is not None
                ]
            action = self.advisor.cube(state.before_roll())
        except BgfmtError:
            return []  # the answer says why
        doubled = f"double_take {float(action.double_take)!r} double_pass {float(action.double_pass)!r}"
        return [f"info no_double {float(action.no_double)!r} {doubled} source {action.source}"]

    def _answer(self, state: GameState, role: str) -> str:
        """Return the answer to `go role ROLE` in 0.1."""
        _require_game(state)
        if role == "chequer" or (role == "turn" and state.kind == "play"):
            move = self._choose_play(state) or "none"
            return f"{'bestmove' if role == 'chequer' else 'bestturn'} {move}"
        action = self._choose_action(state)
        if role == "turn":
            return f"bestturn {action}"
        return f"bestcube {'nodouble' if action == 'roll' else action}"

    def _answer_02(self, state: GameState, role: str) -> str:
        """Return the answer to `go ROLE` in 0.2."""
        _require_game(state)
        if state.doubled:
            raise ProtocolError(
                "unsupported_feature", "a double is pending; answer it with go role cube (UBGI 0.1)"
            )
        move = "" if role == "cube" else self._choose_play(state) or "pass"
        if role == "chequer":
            return f"bestmove {move}"
        cube = "double" if self._choose_action(state) == "double" else "nodouble"
        return f"bestcube {cube}" if role == "cube" else f"bestturn cube={cube} move={move}"

    def _choose_play(self, state: GameState) -> str:
        """Return the play as from/to pairs, empty where none is legal; ProtocolError without dice."""
        if state.dice is None:
            raise ProtocolError("no_dice", "set the dice first")
        with _translate_refusal(state):
            return format_decision(self.advisor.decide(state.rolled(state.dice)))

    def _choose_action(self, state: GameState) -> str:
        """Return the cube action before the roll: double, roll, take or drop."""
        with _translate_refusal(state):
            return format_decision(self.advisor.decide(replace(state, dice=None, resigned=0)))


def _require_game(state: GameState) -> None:
    """Raise ProtocolError where a side has borne off all its chequers."""
    if not state.position.us.chequers or not state.position.them.chequers:
        raise ProtocolError("bad_position", "the game is over", "bad_state")


@contextmanager
def _translate_refusal(state: GameState) -> Iterator[None]:
    """Raise NotCoveredError of the block as an error of the protocol."""
    try:
        yield
    except NotCoveredError:
        reason = CONTACT if state.position.contact else "no table covers it"
        raise ProtocolError("not_covered", reason) from None


def _match_arguments(form: str, words: list[str], expected: str) -> re.Match[str]:
    """Match the arguments of a command, joined by spaces; ProtocolError where they do not match."""
    match = re.fullmatch(form, " ".join(words), re.IGNORECASE)
    if match is None:
        raise ProtocolError("bad_argument", f"expected {expected}")
    return match


def _make_printable(text: str) -> str:
    """Return text for one line of an answer: at most 120 printable characters."""
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
