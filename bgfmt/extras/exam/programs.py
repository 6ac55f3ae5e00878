"""Candidates that are other programs (UBGI, lines, gnubg's external protocol, HTTP), packages, rules or bgfmt."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

import numpy as np

from bgfmt import met
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.library import distributions
from bgfmt.errors import CapabilityError, extra
from bgfmt.extras.exam.candidates import ILLEGAL, REFUSED, Candidate, Failure, parse_options
from bgfmt.extras.exam.sets import Question
from bgfmt.extras.hosts.conformance import START_SECONDS, V01, EngineProcess, find_versions
from bgfmt.extras.lab.study.rules import Pairs, select_rules
from bgfmt.extras.lab.thumb.doubling import janowski as formula
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS
from bgfmt.game.identifiers import fibs
from bgfmt.game.state import GameState


class Lines(Candidate):
    """A program that reads questions as `bgfmt exam --ask` prints them and writes one line of answer to each.

    A program that exits or does not answer in time is restarted for the next question.
    """

    threads = True
    timeout = 10.0
    talk: EngineProcess | None = None

    def __init__(self, command: str) -> None:
        self.command = shlex.split(command)
        if not self.command:
            raise CapabilityError("the command is missing: lines:COMMAND or ubgi:COMMAND")
        self.begin()

    def begin(self) -> EngineProcess:
        """Return the running program; start and initialise it if needed."""
        if self.talk is None:
            self.talk = self.start()
            self.greet(self.talk)
        return self.talk

    def start(self) -> EngineProcess:
        """Start the program and return the connection to its input and output."""
        return EngineProcess(self.command)

    def greet(self, talk: EngineProcess) -> None:
        """Send a newly started program what its protocol needs before the first question; nothing by default."""

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        """Yield (answer or Failure, seconds taken) for each question; an answer is late after `timeout` seconds."""
        self.timeout = timeout  # `reply` raises Failure itself if a line does not come in time
        yield from super().answers(questions, 2 * timeout + START_SECONDS)

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Send one question and return the answer; stop a program that is late or has ended."""
        try:
            return self.ask(self.begin(), question, time.monotonic() + self.timeout)
        except (TimeoutError, EOFError):
            self.close()
            raise

    def ask(self, talk: EngineProcess, question: Question, until: float) -> object:
        """Send one question and return the line of the answer.

        talk : the program. until : time (of `time.monotonic`) at which the answer is late. Failure if there is more
        than one line.
        """
        talk.discard_output()
        talk.send(str(question))
        said = talk.read_line(until)
        if talk.unread:  # and more may follow
            self.close()
            raise Failure(ILLEGAL, "the answer has more than one line")
        return said

    def close(self) -> None:
        """Stop the program."""
        if self.talk is not None:
            self.talk.close()
        self.talk = None


def expressible_state(question: Question) -> GameState:
    """Return the state of a question in a form that identifiers can express; Failure if they cannot.

    Money play without a cube becomes a match to one point, which is the same as long as no gammon is possible.
    """
    if question.owner != "none":
        return question.state
    if question.away is not None or MAX_CHEQUERS in (sum(question.us), sum(question.them)):
        raise Failure(REFUSED, "the protocol has no game without a cube")
    return GameState.of(question.position, question.dice, away=(1, 1))


class Ubgi(Lines):
    """A UBGI engine of version 0.1 or 0.2; equities are queried by `eval` if it has that command."""

    REFUSALS = ("not_covered", "unsupported_feature", "unknown_command", "unsupported", "bad_command")
    go = "go role"

    def greet(self, talk: EngineProcess) -> None:
        """Send `ubgi` to a newly started engine and wait for its `ubgiok`."""
        talk.send("ubgi")
        until = time.monotonic() + START_SECONDS
        lines = [""]
        while lines[-1] != "ubgiok":
            lines.append(talk.read_line(until))
        self.go = "go role" if V01 in find_versions(lines) else "go"

    def ask(self, talk: EngineProcess, question: Question, until: float) -> object:
        """Send the position and dice of a question; return the best play or cube action, or the numbers of `eval`.

        until : time (of `time.monotonic`) at which the answer is late.
        """
        talk.send(f"position gnubgid {expressible_state(question).gnubg_id}")
        if question.dice:
            talk.send(f"dice {question.dice[0]} {question.dice[1]}")
        role = "chequer" if question.dice else "cube"
        talk.send("eval" if question.kind == "equity" else f"{self.go} {role}")
        while True:
            word, _, rest = talk.read_line(until).partition(" ")
            if word == "error":
                talk.send("isready")  # skip further output about this question
                while talk.read_line(until) != "readyok":
                    pass
                raise Failure(REFUSED if rest.startswith(self.REFUSALS) else ILLEGAL, f"error {rest}")
            if word in ("bestmove", "bestcube", "bestturn"):
                return "none" if rest == "pass" else rest
            if word == "eval":
                return self.numbers(question, dict(zip(*[iter(rest.split())] * 2, strict=False)))

    @staticmethod
    def numbers(question: Question, said: dict[str, str]) -> dict[str, str | float]:
        """Return equity and win probability from the names and numbers of an `eval` answer.

        A question without a cube is sent as a match to one point (see `expressible_state`): its match winning chance
        is the win probability.
        """
        if question.owner == "none" and "cubeless" not in said and "mwc" in said:
            with contextlib.suppress(ValueError):  # a text that is no number is no answer
                return {"equity": 2 * float(said["mwc"]) - 1, "win": said["mwc"]}
        name = "cubeless" if question.owner == "none" else "mwc" if question.away else "equity"
        return {"equity": said.get(name, ""), "win": said.get("win", "nan")}


class External(Candidate):
    """A server of gnubg's external player protocol at HOST:PORT, such as gnubg after `external 127.0.0.1:PORT`."""

    threads = True
    file = cast(Any, None)

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        if not port.isdecimal():
            raise CapabilityError(f"external: expected HOST:PORT, found {address!r}")
        self.address = host or "127.0.0.1", int(port)

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Return the answer to one question, by gnubg's protocol for external players."""
        text = fibs(expressible_state(question))
        numbers = question.kind == "equity"
        cubeful = "cubeless" if question.owner == "none" else "cubeful"
        rules = f"jacobyrule off beavers {'on' if question.beavers else 'off'}"
        asked = f"evaluation fibsboard {text} plies 0 {cubeful}" if numbers else f"{text} {rules}"
        try:
            said = self.send(asked)
        except ConnectionError:  # some servers hang up after mistakes
            said = self.send(asked)
        if said.startswith("Error"):
            raise Failure(REFUSED if numbers else ILLEGAL, said)
        if said == "beaver" and not question.beavers:  # gnubg 1.07 ignores `beavers off`
            return "take"
        words = said.split()
        return {"equity": words[5], "win": words[0]} if numbers and len(words) == 6 else said

    def send(self, line: str) -> str:
        """Send a line to the server, to which a connection is opened if there is none; return the line it answers."""
        try:
            if self.file is None:
                with socket.create_connection(self.address, START_SECONDS) as connection:
                    self.file = connection.makefile("rw", encoding="utf-8", newline="\n")
            self.file.write(line + "\n")
            self.file.flush()
            said: str = self.file.readline()
            if not said:
                raise ConnectionError("the server closed the connection")
        except OSError:
            self.file = None
            raise
        return said.strip()

    def close(self) -> None:
        """Close the connection to the server."""
        if self.file is not None:
            self.file.close()


class Http(Candidate):
    """An HTTP service with wildbg's routes `/move` and `/eval`, for money play with a centered cube."""

    threads = True

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.netloc, timeout=START_SECONDS)
        self.prefix = parts.path.rstrip("/")
        self.close = self.connection.close  # type: ignore[method-assign]

    def get(self, route: str, **given: int) -> Any:
        """Send a GET request with the parameters `given`, return the JSON of the response.

        route : path of the address. Failure if the status is not 200.
        """
        try:
            self.connection.request("GET", f"{self.prefix}/{route}?{urlencode(given)}")
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise
        if answer.status != 200:
            raise Failure(REFUSED, f"HTTP {answer.status} {body[:80].decode('utf-8', 'replace')}")
        return json.loads(body)

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Answer one question by a request to the service's route `/move` or `/eval`."""
        if question.away is not None or question.owner not in ("none", "centered") or question.beavers:
            raise Failure(REFUSED, "only money play with a centered cube is supported")
        points = {f"p{k}": n for k, n in enumerate(question.us, 1) if n}
        points |= {f"p{25 - k}": -n for k, n in enumerate(question.them, 1) if n}
        if question.dice:
            moves = self.get("move", die1=question.dice[0], die2=question.dice[1], **points)["moves"]
            return " ".join(f"{one['from']}/{one['to'] or 'off'}" for one in moves[0]["play"])
        found = self.get("eval", **points)
        if question.kind != "equity":
            return bool(found["cube"]["double" if question.kind == "double" else "accept"])
        chances = found["probabilities"]
        equity = 2 * chances["win"] - 1 + chances["winG"] - chances["loseG"]
        if question.owner != "none":
            equity = found.get("equity", {}).get("best")
            if equity is None:
                raise Failure(REFUSED, "the answer has no cubeful equity")
        return {"equity": equity, "win": chances["win"]}


SCRIPT = """
import gnubg, json, sys
for command in ('set automatic game off', 'set automatic roll off', 'set player 0 human', 'set player 1 human',
                'set jacoby off', 'set beavers 3', 'set matchequitytable "%s"' % MET, 'new session', 'set turn 1'):
    gnubg.command(command)
print('@', flush=True)
known = {}
for line in sys.stdin:
    kind, us, them, dice, cube, owner, away, crawford, cubeful, beavers = json.loads(line)
    length = max(away)
    info = gnubg.cubeinfo(cube, owner, 1, length, (length - away[1], length - away[0]), crawford, 0)
    board = tuple(tuple(side + [0] * (25 - len(side))) for side in (them, us))
    context = {'cubeful': cubeful, 'plies': PLIES, 'deterministic': 1, 'noise': 0.0}
    if kind == 'play':
        gnubg.command('set dice %d %d' % tuple(dice))
        said = gnubg.findbestmove(board, info, context)
        said = ' '.join('%d/%s' % (start, end or 'off') for start, end in zip(said[::2], said[1::2]))
    elif kind == 'equity':
        chances = gnubg.evaluate(board, info, context)
        best = gnubg.cfevaluate(board, info, context)[0] if cubeful else chances[5]
        said = [gnubg.eq2mwc(best, info) if length else best, chances[0]]
    else:
        key = line.partition(',')[2]  # doubles and takes of one position
        if key not in known:
            known[key] = gnubg.cfevaluate(board, info, context)[1:4]
        rolling, taken, passed = known[key]
        said = min(taken, passed) > rolling if kind == 'double' else taken <= passed
        said = 'beaver' if kind == 'take' and beavers and taken < 0 else said
    print('@', json.dumps(said), flush=True)
"""
OWNER = {"centered": -1, "none": -1, "owned": 1, "opponent": 0}


class Gnubg(Lines):
    """GNU Backgammon by its embedded Python: `plies=N`, `tables=no` for no bearoff databases, `program=PATH`.

    Plays by `findbestmove`, cube actions by `cfevaluate`, without noise, with the match equity table that bgfmt
    ships.
    """

    def __init__(self, options: str = "") -> None:
        words = parse_options(options, "plies", "tables", "program")
        found = shutil.which(words.get("program", "gnubg"), path=f"{os.environ.get('PATH', '')}:/usr/games")
        if found is None:
            raise CapabilityError("gnubg is not installed")
        self.command = [found, "-t", "-q", "-r"]
        self.options = words
        self.begin()

    def start(self) -> EngineProcess:
        """Start gnubg with a script that answers questions, in an empty home directory."""
        self.home = tempfile.TemporaryDirectory()
        table = Path(met.__file__).parent.parent / "data" / "met" / "Kazaross-XG2.xml"
        script = Path(self.home.name) / "ask.py"
        script.write_text(f"MET, PLIES = {str(table)!r}, {int(self.options.get('plies', 0))}\n{SCRIPT}")
        no = ["-b"] * (self.options.get("tables") == "no")
        return EngineProcess(
            [*self.command, *no, "-p", str(script)], env={**os.environ, "HOME": self.home.name}
        )

    def greet(self, talk: EngineProcess) -> None:
        """Wait until the script in gnubg (`talk`) reports that it is ready."""
        self.hear(talk, time.monotonic() + START_SECONDS)

    def hear(self, talk: EngineProcess, until: float) -> str:
        """Return the next line of gnubg's script, without the mark that distinguishes it from gnubg's own output.

        until : time (of `time.monotonic`) at which the line is late.
        """
        while not (line := talk.read_line(until)).startswith("@"):
            pass
        return line[1:]

    def ask(self, talk: EngineProcess, question: Question, until: float) -> object:
        """Send one question to gnubg's script as JSON and return the answer.

        until : time (of `time.monotonic`) at which the answer is late.
        """
        q = question
        state = (q.cube, OWNER[q.owner], q.away or (0, 0), int(q.crawford), int(q.owner != "none"), q.beavers)
        talk.send(json.dumps([q.kind, q.us, q.them, q.dice, *state]))
        return json.loads(self.hear(talk, until))

    def close(self) -> None:
        """Stop gnubg and remove its home directory."""
        super().close()
        self.home.cleanup()


# -- packages, rules and bgfmt itself --------------------------------------------------------------------------


class Bgsage(Candidate):
    """The bgsage package: `level=2ply` (gnubg calls this depth 1), `tables=no` for no bearoff databases."""

    def __init__(self, options: str = "") -> None:
        words = parse_options(options, "level", "tables")
        sage = extra("bgsage", "the bgsage Python package is not installed", "pip install bgsage")
        self.analyzer = sage.BgBotAnalyzer(
            eval_level=words.get("level", "1ply"), parallel_threads=1, bearoff_db=words.get("tables") != "no"
        )

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Answer one question by bgsage's analyzer; Failure for questions that it cannot answer."""
        if question.owner == "none" and question.kind != "equity":
            raise Failure(REFUSED, "games without a cube are not supported")
        us = question.us
        them = question.them
        points = [0, *us, *(0,) * (24 - len(us)), 0]
        for point, many in enumerate(them, 1):
            points[25 - point] -= many
        away = question.away or (0, 0)
        owner = {"owned": "player", "opponent": "opponent"}.get(question.owner, "centered")
        how = {
            "cube_value": question.cube, "cube_owner": owner, "away1": away[0], "away2": away[1],
            "is_crawford": question.crawford, "jacoby": False, "beaver": question.beavers,
        }  # fmt: skip
        if question.dice:
            best = self.analyzer.checker_play(points, *question.dice, **how).moves[0].board
            return tuple(max(0, n) for n in best[1 : len(us) + 1])
        found = self.analyzer.cube_action(points, **how)
        if question.kind == "double":
            return bool(found.should_double)
        if question.kind == "take":
            return "beaver" if question.beavers and found.is_beaver else bool(found.should_take)
        if question.away is not None:
            raise Failure(REFUSED, "it has no match winning probabilities")
        best = found.cubeless_equity if question.owner == "none" else found.optimal_equity
        return {"equity": best, "win": found.probs.win}


class Rule(Candidate):
    """A rule of thumb of `bgfmt study rules`: doubles, redoubles and takes in the home boards."""

    def __init__(self, name: str) -> None:
        (self.rule,) = select_rules((name,))
        self.chances = distributions(False)

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Answer a double or a take in the home boards; Failure for other questions."""
        if question.kind not in ("double", "take") or any((*question.us[6:], *question.them[6:])):
            raise Failure(REFUSED, "a rule of thumb for doubles and takes")
        sides = np.array([question.us[:6], question.them[:6]], np.int64)
        ours, theirs = self.chances[board.rank_array(sides)] / 65535
        found = self.rule.decide(Pairs(sides[:1], sides[1:], ours[None], theirs[None]))
        if question.kind == "take":
            return bool(found.take[0])
        return bool((found.redouble if question.owner == "owned" else found.double)[0])


class Formula(Candidate):
    """Janowski's formula (1993) with win probabilities from one-sided distributions: doubles and takes for money."""

    def __init__(self, options: str = "") -> None:
        self.advisor = Advisor()

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Answer a double or a take for money by Janowski's formula; Failure for other questions."""
        if question.kind not in ("double", "take") or question.away is not None:
            raise Failure(REFUSED, "a formula for doubles and takes for money")
        owned, centered, opponent = formula(self.advisor.chances(question.position).cubeless)
        if question.kind == "take":
            return bool(2 * opponent <= 1)
        return bool(min(1.0, 2 * opponent) > (owned if question.owner == "owned" else centered))


class Own(Candidate):
    """bgfmt's own adviser; `limit=0` makes it estimate without tables what it would otherwise calculate."""

    def __init__(self, options: str = "") -> None:
        limit = parse_options(options, "limit").get("limit")
        self.advisor = Advisor(None if limit is None else [], limit=None if limit is None else int(limit))

    def reply(self, question: Question) -> object:  # type: ignore[override]
        """Return the answer of bgfmt's own adviser to one question."""
        state: GameState = question.state
        if question.kind != "equity":
            decision = self.advisor.decide(state)
            return decision.play or decision.act
        if question.owner != "none":
            action = self.advisor.cube(state)
            return action.best if action.match is None else action.match.mwc.best
        if not state.money:
            raise Failure(REFUSED, "an equity without a cube at a score")
        found = self.advisor.equities(state)
        return {"equity": found.cubeless, "win": np.nan if found.win is None else found.win}
