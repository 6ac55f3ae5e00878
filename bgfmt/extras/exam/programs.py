"""Programs that sit an exam: UBGI, question lines, gnubg and its external protocol, HTTP."""

from __future__ import annotations

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
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from bgfmt.errors import CapabilityError
from bgfmt.extras.exam.candidates import DIED, ILLEGAL, LATE, REFUSED, Candidate, Failure
from bgfmt.extras.exam.sets import Question
from bgfmt.extras.hosts.conformance import START, Talk
from bgfmt.game.board import MAX_CHEQUERS
from bgfmt.game.identifiers import fibs
from bgfmt.game.state import GameState

OWNER = {"centered": -1, "none": -1, "owned": 1, "opponent": 0}


def failed(error: Exception) -> Failure:
    """What did not come from a program, as a failure."""
    return Failure(LATE if isinstance(error, TimeoutError) else DIED, str(error))


class Lines(Candidate):
    """A program that reads questions as `bgfmt exam --ask` prints them and writes a line of answer to each.

    A program that ends, or has not answered in time, is started anew for the next question.
    """

    threads = True

    def __init__(self, command: str, name: str = "lines") -> None:
        super().__init__(f"{name}:{command}")
        self.command = shlex.split(command)
        self.talk: Talk | None = None
        if not self.command:
            raise CapabilityError(f"{name}: which command? {name}:COMMAND")
        self.timeout = 10.0
        self.begin()

    def begin(self) -> Talk:
        """The program, started where it does not run."""
        talk = self.talk
        if talk is None:
            talk = self.talk = Talk(self.command)
            self.greet(talk)
        return talk

    def greet(self, talk: Talk) -> None:
        """What is said first."""

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        self.timeout = timeout
        yield from super().answers(
            questions, 2 * timeout + START
        )  # what is late is told by the line that did not come

    def reply(self, question: Question) -> object:
        try:
            talk = self.begin()
            return self.asked(talk, question, time.monotonic() + self.timeout)
        except (TimeoutError, EOFError) as error:
            self.close()
            raise failed(error) from None

    def asked(self, talk: Talk, question: Question, until: float) -> object:
        """The answer of the program."""
        talk.say(str(question))
        return talk.hear(until)

    def close(self) -> None:
        if self.talk is not None:
            self.talk.close()
        self.talk = None


def told(question: Question) -> GameState:
    """The state as identifiers can tell it; Failure where they cannot.

    A game for money without a cube is told as a match to one point, which is the same without gammons.
    """
    if question.owner != "none":
        return question.state
    if question.away is not None or MAX_CHEQUERS in (sum(question.us), sum(question.them)):
        raise Failure(REFUSED, "a game without a cube cannot be told")
    return GameState.of(question.position, question.dice, away=(1, 1))


class Ubgi(Lines):
    """A UBGI engine; equities by `eval`, where it knows that."""

    REFUSALS: ClassVar[tuple[str, ...]] = ("not_covered", "unsupported_feature", "unknown_command")

    def __init__(self, command: str) -> None:
        super().__init__(command, "ubgi")

    def greet(self, talk: Talk) -> None:
        talk.say("ubgi")
        until = time.monotonic() + START
        while talk.hear(until) != "ubgiok":
            pass

    def asked(self, talk: Talk, question: Question, until: float) -> object:
        state = told(question)
        talk.say(f"position gnubgid {state.gnubg_id}")
        if question.dice:
            talk.say(f"dice {question.dice[0]} {question.dice[1]}")
        talk.say("eval" if question.kind == "equity" else f"go role {'chequer' if question.dice else 'cube'}")
        while True:
            word, _, rest = talk.hear(until).partition(" ")
            if word == "error":
                raise Failure(REFUSED if rest.startswith(self.REFUSALS) else ILLEGAL, f"error {rest}")
            if word in ("bestmove", "bestcube", "bestturn"):
                return rest
            if word == "eval":
                pairs = dict(zip(*[iter(rest.split())] * 2, strict=False))
                if question.owner == "none":
                    return {"equity": pairs.get("cubeless"), "win": pairs.get("win", "nan")}
                return {
                    "equity": pairs.get("mwc" if question.away else "equity"),
                    "win": pairs.get("win", "nan"),
                }


class External(Candidate):
    """A server of gnubg's external player protocol at HOST:PORT, such as gnubg after `external 127.0.0.1:PORT`."""

    threads = True

    def __init__(self, address: str) -> None:
        super().__init__(f"external:{address}")
        host, _, port = address.rpartition(":")
        if not port.isdigit():
            raise CapabilityError(f"external: expected HOST:PORT, found {address!r}")
        self.address = host or "127.0.0.1", int(port)
        self.file: Any = None

    def reply(self, question: Question) -> object:
        if self.file is None:
            try:
                self.line = socket.create_connection(self.address, START)
            except OSError as error:
                raise Failure(DIED, f"no connection: {error.strerror}") from None
            self.file = self.line.makefile("rw", encoding="utf-8", newline="\n")
        text, numbers = fibs(told(question)), question.kind == "equity"
        cubeful = "cubeless" if question.owner == "none" else "cubeful"
        rules = f"jacobyrule off beavers {'on' if question.beavers else 'off'}"
        try:
            self.file.write(
                (f"evaluation fibsboard {text} plies 0 {cubeful}" if numbers else f"{text} {rules}") + "\n"
            )
            self.file.flush()
            said = self.file.readline().strip()
        except OSError as error:
            self.file = None
            raise Failure(LATE if isinstance(error, TimeoutError) else DIED, str(error)) from None
        if said.startswith("Error"):
            raise Failure(REFUSED if numbers else ILLEGAL, said)
        return (
            {"equity": said.split()[5], "win": said.split()[0]}
            if numbers and len(said.split()) == 6
            else said
        )

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.line.close()


class Http(Candidate):
    """A service with wildbg's two questions, `/move` and `/eval`, which are about money with a centered cube."""

    threads = True

    def __init__(self, address: str) -> None:
        super().__init__(address)
        parts = urlsplit(address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.netloc, timeout=START)
        self.prefix = parts.path.rstrip("/")

    def get(self, route: str, **given: int) -> dict[str, Any]:
        """The JSON of an answer; Failure where there is none."""
        try:
            self.connection.request("GET", f"{self.prefix}/{route}?{urlencode(given)}")
            answer = self.connection.getresponse()
            body, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            late = isinstance(error, TimeoutError)
            raise Failure(LATE if late else DIED, f"{type(error).__name__}: {error}") from None
        if status != 200:
            raise Failure(REFUSED, f"HTTP {status} {body[:80].decode('utf-8', 'replace')}")
        made: dict[str, Any] = json.loads(body)
        return made

    def reply(self, question: Question) -> object:
        if question.away is not None or question.owner not in ("none", "centered") or question.beavers:
            raise Failure(REFUSED, "only money with a centered cube can be asked")
        points = {f"p{k}": n for k, n in enumerate(question.us, 1) if n}
        points |= {f"p{25 - k}": -n for k, n in enumerate(question.them, 1) if n}
        if question.dice:
            moves = self.get("move", die1=question.dice[0], die2=question.dice[1], **points)["moves"]
            return " ".join(f"{one['from']}/{one['to'] or 'off'}" for one in moves[0]["play"])
        found = self.get("eval", **points)
        if question.kind in ("double", "take"):
            return bool(found["cube"]["double" if question.kind == "double" else "accept"])
        chances = found["probabilities"]
        equity = 2 * chances["win"] - 1 + chances["winG"] - chances["loseG"]
        if question.owner != "none":
            equity = found.get("equity", {}).get("centered")
            if equity is None:
                raise Failure(REFUSED, "no equity with a cube is told")
        return {"equity": equity, "win": chances["win"]}

    def close(self) -> None:
        self.connection.close()


# -- gnubg itself -----------------------------------------------------------------------------------------------

SCRIPT = """
import gnubg, json
for command in ('set automatic game off', 'set automatic roll off', 'set player 0 human', 'set player 1 human',
                'set jacoby off', 'set beavers 3', 'set matchequitytable "%s"' % MET, 'new session', 'set turn 1'):
    gnubg.command(command)
known = {}
for line in open(ASKED):
    kind, us, them, dice, cube, owner, away, crawford, cubeful, beavers = json.loads(line)
    length = max(away)
    info = gnubg.cubeinfo(cube, owner, 1, length, (length - away[1], length - away[0]), crawford, 0)
    board = tuple(tuple(side + [0] * (25 - len(side))) for side in (them, us))
    context = {'cubeful': cubeful, 'plies': PLIES, 'deterministic': 1, 'noise': 0.0}
    if kind == 'play':
        gnubg.command('set dice %d %d' % tuple(dice))
        said = gnubg.findbestmove(board, info, context)
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


class Gnubg(Candidate):
    """GNU Backgammon by its embedded Python: `plies=N`, `tables=no` for none of its databases, `program=PATH`.

    Plays by `findbestmove`, cube actions by `cfevaluate`, no noise, the match equity table that bgfmt ships.
    """

    threads = True

    def __init__(self, options: str = "") -> None:
        super().__init__(f"gnubg:{options}" if options else "gnubg")
        self.options = dict(item.split("=", 1) for item in options.split(",") if "=" in item)
        found = shutil.which(
            self.options.get("program", "gnubg"), path=f"{os.environ.get('PATH', '')}:/usr/games"
        )
        if found is None:
            raise CapabilityError("gnubg: no program of that name is installed")
        self.program, self.done = found, 0

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        begun = 0
        while begun < len(questions):
            with tempfile.TemporaryDirectory() as home:
                yield from self._run(home, questions[begun:], timeout)
            begun += self.done

    def _run(
        self, home: str, questions: Sequence[Question], timeout: float
    ) -> Iterator[tuple[object, float]]:
        """The answers of one process; `done` says how many there were."""
        from bgfmt import met

        asked, script = Path(home) / "asked", Path(home) / "ask.py"
        rows = [
            [
                q.kind,
                q.us,
                q.them,
                q.dice,
                q.cube,
                OWNER[q.owner],
                q.away or (0, 0),
                int(q.crawford),
                int(q.owner != "none"),
                q.beavers,
            ]
            for q in questions
        ]
        asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
        table = Path(met.__file__).parent.parent / "data" / "met" / "Kazaross-XG2.xml"
        head = f"ASKED, MET, PLIES = {str(asked)!r}, {str(table)!r}, {int(self.options.get('plies', 0))}\n"
        script.write_text(head + SCRIPT)
        no = ["-b"] * (self.options.get("tables") == "no")
        talk = Talk(
            [self.program, "-t", "-q", "-r", *no, "-p", str(script)], env={**os.environ, "HOME": home}
        )
        self.done, until = 0, time.monotonic() + START + timeout
        try:
            for question in questions:
                begin, self.done = time.monotonic(), self.done + 1
                try:
                    line = ""
                    while not line.startswith("@"):
                        line = talk.hear(until)
                except (TimeoutError, EOFError) as error:
                    yield failed(error), time.monotonic() - begin
                    return
                said = json.loads(line[1:])
                if question.kind == "play":
                    said = " ".join(f"{a}/{b or 'off'}" for a, b in zip(said[::2], said[1::2], strict=True))
                elif question.kind == "equity":
                    said = {"equity": said[0], "win": said[1]}
                yield said, time.monotonic() - begin
                until = time.monotonic() + timeout
        finally:
            talk.close()
