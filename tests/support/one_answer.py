"""Random states asked through every door; all must say the same, or refuse a state that they cannot say.

    python -m tests.support.one_answer 10000

A state is money play, with Jacoby, beavers, owner and value of the cube, or a match, with Crawford, owner, value and
scores beyond the match equity table; it is covered by a table, calculated or estimated. `DOORS` are all the ways to
ask; `undoored` names the commands and routes that answer a question and are not among them.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bgfmt import GameState, Position, Side, met
from bgfmt.analysis import Advisor, questions
from bgfmt.analysis.answers import ESTIMATE
from bgfmt.errors import NotCoveredError
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.extras.hosts.ubgi import Engine
from bgfmt.extras.matches.annotate import Judgement, judge
from bgfmt.extras.matches.annotate.judging import ERROR
from bgfmt.extras.matches.decisions import Decision
from bgfmt.extras.serve import page
from bgfmt.extras.serve.app import Service
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.parameters import Settings
from bgfmt.game.identifiers import fibs, from_fibs, gnubg_id, parse, xgid
from bgfmt.game.moves import Play, legal_plays

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "fixtures" / "golden" / "gnubg"
TABLES = [str(GOLDEN / "ts_06x04.bd"), str(GOLDEN / "os_p06.bd")]
PAIRS = 50_000  # calculated for one question
LIMIT = 4 * PAIRS
Answer = dict[str, Any]
#: the answers of a door to all states; None for a state that it refuses, or that it cannot say
Door = Callable[["World"], list[Answer | None]]
DOORS: dict[str, Door] = {}


def door(name: str) -> Callable[[Door], Door]:
    """Add a door under a name."""

    def add(function: Door) -> Door:
        DOORS[name] = function
        return function

    return add


# -- the states ------------------------------------------------------------------------------------------


def side(rng: random.Random, chequers: tuple[int, int], points: int) -> Side:
    counts = [0] * points
    for _ in range(rng.randint(*chequers)):
        counts[rng.randrange(points)] += 1
    return Side(*counts)


#: chequers and points of a side: covered by the two-sided table, calculated, estimated, or covered by nothing
SIZES = [((1, 4), 6), ((1, 5), 6), ((9, 15), 6), ((9, 13), 8), ((4, 8), 14)]


def state(rng: random.Random, number: int) -> GameState:
    """A state of each of the sizes in turn, five for money, five at a score."""
    chequers, points = SIZES[number % len(SIZES)]
    while True:
        position = Position(side(rng, chequers, points), side(rng, chequers, points))
        try:
            position.check()
        except ValueError:
            continue
        break
    dice = rng.randint(1, 6), rng.randint(1, 6)
    value = rng.choice([1, 1, 2, 4, 16])
    cube = "centered" if value == 1 else rng.choice(["owned", "owned", "opponent"])
    if number // len(SIZES) % 2 == 0:
        rules = {name: rng.random() < 0.5 for name in ("jacoby", "beavers")}
        return GameState.of(position, dice, cube=cube, cube_value=value, **rules)
    longest = rng.choice([1, 3, 9, 30])
    away = rng.randint(1, longest), rng.randint(1, longest)
    if min(away) == 1 and max(away) > 1 and rng.random() < 0.5:
        return GameState.of(position, dice, away=away, crawford=True)
    return GameState.of(position, dice, cube=cube, cube_value=value, away=away)


class World:
    """The states, and what the doors ask about them."""

    def __init__(self, states: Sequence[GameState]) -> None:
        self.states = list(states)
        self.met = met.load(met.DEFAULT, extend=True)
        self.advisor = Advisor(TABLES, met=self.met, limit=LIMIT)
        self.expected = [through(self.advisor, one) for one in self.states]
        self.open = ExitStack()
        self.holdings = self.open.enter_context(Holdings.open(TABLES))
        self.service = Service(self.holdings, Settings(settle=PAIRS))
        self.app = self.service.app()

    def get(self, path: str, queries: Sequence[Answer | None]) -> list[Any]:
        """The answers of a route of HTTP to many queries, None for errors."""

        async def ask(query: Answer) -> Any:
            text = urlencode({name: _text(value) for name, value in query.items() if value is not None})
            scope = {
                "type": "http",
                "method": "GET",
                "path": path,
                "raw_path": path.encode(),
                "root_path": "",
            }
            scope |= {"query_string": text.encode(), "headers": [(b"host", b"localhost")], "scheme": "http"}
            body, status = b"", 0

            async def receive() -> Any:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Any) -> None:
                nonlocal body, status
                status = message.get("status", status)
                body += message.get("body", b"")

            await self.app(scope, receive, send)
            found = json.loads(body)
            assert status in (200, 404), (path, query, found)
            return found if status == 200 else None

        async def all_of_them() -> list[Any]:
            return [None if query is None else await ask(query) for query in queries]

        return asyncio.run(all_of_them())

    def close(self) -> None:
        self.advisor.close()
        self.open.close()


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def said(asked: GameState) -> Answer:
    """A state as the parameters of a question."""
    out: Answer = {"position": str(asked.position), "cube": asked.owner, "cube_value": asked.cube_value}
    if asked.away is None:
        return out | {"jacoby": asked.jacoby, "beavers": asked.beavers}
    return out | {"away": f"{asked.away[0]}-{asked.away[1]}", "crawford": asked.crawford, "extend_met": True}


#: the replies to a double
REPLIES = ("double_take", "double_pass", "double_beaver")


def roll(asked: GameState) -> str:
    assert asked.dice is not None
    return f"{max(asked.dice)}{min(asked.dice)}"


def told(cube: Any, play: Any) -> Answer:
    """What the JSON of a cube and of plays says."""
    out: Answer = {"doubles": None, "takes": None, "no_double": None, "double": None, "play": None}
    if cube:
        where = cube["cube"]
        worth = cube["emg"] if "emg" in cube else cube if where == "opponent" else cube[f"{where}_cube"]
        out |= {"doubles": cube["doubles"], "takes": cube["takes"]}
        out["no_double"] = round(worth["opponent" if worth is cube else "no_double"], 9)
        if worth is not cube and worth.get("double_take") is not None:
            replies = [worth[name] for name in REPLIES if worth.get(name) is not None]
            out["double"] = round(min(replies), 9)
    if play:
        out["play"] = play["plays"][0]["result"] if play["plays"] else None
    return out


def through(advisor: Advisor, asked: GameState) -> Answer:
    """What the adviser says, also of the best play without a cube."""
    out: Answer = dict.fromkeys(("doubles", "takes", "no_double", "double", "play", "bare"))
    try:
        action = advisor.cube(asked)
        out |= {"doubles": action.doubles, "takes": action.takes, "no_double": round(action.no_double, 9)}
        if action.may_double:
            out["double"] = round(action.double, 9)
    except NotCoveredError:
        pass
    for name, measure in (("play", None), ("bare", "cubeless" if asked.money else None)):
        try:
            best = advisor.plays(asked, measure=measure).best
            out[name] = best and str(best.result)
        except NotCoveredError:
            pass
    return out


# -- the doors -------------------------------------------------------------------------------------------


@door("bgfmt cube, bgfmt play")
def commands(world: World) -> list[Answer | None]:
    texts = [xgid(one) for one in world.states]
    cubes, plays = through_command("cube", texts), through_command("play", texts)
    pairs = zip(cubes, plays, strict=True)
    return [
        told(c if "error" not in c or "action" in c else None, p if "plays" in p else None) for c, p in pairs
    ]


def through_command(verb: str, lines: Sequence[str]) -> list[Answer]:
    """The answers of `bgfmt cube -` or `play -` to many lines."""
    from bgfmt.cli import run

    before, out = sys.stdin, io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()))
    try:
        with redirect_stdout(out):
            run([verb, *TABLES, "-", "--json", "--limit", str(LIMIT), "--extend-met"])
    finally:
        sys.stdin = before
    return [json.loads(line) for line in out.getvalue().splitlines()]


@door("the options of bgfmt cube and bgfmt play")
def options(world: World) -> list[Answer | None]:
    """A few states by the options of the command line."""
    from bgfmt.cli import run

    def ask(verb: str, asked: GameState, *more: str) -> Any:
        words = []
        for name, value in said(asked).items():
            switch = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{switch}" if value else f"--no-{switch}")
            elif name != "position":
                words += [f"--{switch}", str(value)]
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            code = run([verb, *TABLES, str(asked.position), *more, *words, "--limit", str(LIMIT), "--json"])
        return json.loads(out.getvalue()) if code == 0 else None

    out: list[Answer | None] = [None] * len(world.states)
    for k, asked in list(enumerate(world.states))[:: max(1, len(out) // 25)]:
        out[k] = told(ask("cube", asked), ask("play", asked, roll(asked)))
    return out


@door("/v1/cube, /v1/play")
def http(world: World) -> list[Answer | None]:
    cubes = world.get("/v1/cube", [said(one) for one in world.states])
    plays = world.get("/v1/play", [said(one) | {"roll": roll(one)} for one in world.states])
    return [told(cube, play) for cube, play in zip(cubes, plays, strict=True)]


@door("/v1/probe")
def probe(world: World) -> list[Answer | None]:
    found = world.get("/v1/probe", [said(one) | {"roll": roll(one)} for one in world.states])
    return [told(None, None) if one is None else told(one["cube"], one["play"]) for one in found]


def points(asked: GameState) -> Answer | None:
    """A state as wildbg puts it: money without Jacoby's rule and a centered cube, or one point each."""
    money = asked.money and not asked.jacoby and asked.owner == "centered"
    if not money and (asked.away != (1, 1) or asked.cube_value > 1):
        return None
    us, them = asked.position.us.counts, asked.position.them.counts
    out = {f"p{k}": n for k, n in enumerate(us, 1) if n} | {
        f"p{25 - k}": -n for k, n in enumerate(them, 1) if n
    }
    return out if money else out | {"x_away": 1, "o_away": 1}


@door("/eval")
def evaluate(world: World) -> list[Answer | None]:
    found = world.get("/eval", [points(one) for one in world.states])
    return [one and {"doubles": one["cube"]["double"], "takes": one["cube"]["accept"]} for one in found]


@door("/move")
def moves(world: World) -> list[Answer | None]:
    queries = [points(one) for one in world.states]
    for query, asked in zip(queries, world.states, strict=True):
        if query is not None:
            query |= dict(zip(("die1", "die2"), asked.dice or (), strict=True))
    found = world.get("/move", queries)

    def best(answer: Any, asked: GameState) -> Answer | None:
        if answer is None:
            return None
        text = " ".join(f"{one['from']}/{one['to'] or 'off'}" for one in answer["moves"][0]["play"])
        return {"bare": after(asked, text)}

    return [best(answer, asked) for answer, asked in zip(found, world.states, strict=True)]


@door("bgfmt ubgi")
def ubgi(world: World) -> list[Answer | None]:
    engine = Engine(world.advisor)

    def ask(asked: GameState, number: int) -> Answer:
        short = number % 2 and not asked.beavers  # which no GNUbg ID says

        def cube(state: GameState) -> str | None:
            engine.reply(f"position {'gnubgid ' + gnubg_id(state) if short else 'xgid ' + xgid(state)}")
            (text,) = engine.reply("go role cube")
            return None if text.startswith("error not_covered") else text.removeprefix("bestcube ")

        out: Answer = {}
        if asked.may_double:
            doubled, taken = cube(asked.before_roll()), cube(replace(asked, dice=None, doubled=True))
            out = {"doubles": doubled and doubled == "double", "takes": taken and taken in ("take", "beaver")}
        engine.reply(f"position xgid {xgid(asked)}")
        (text,) = engine.reply("go role chequer")
        covered = not text.startswith("error not_covered")
        return out | {
            "play": after(asked, text.removeprefix("bestmove ").replace("none", "")) if covered else None
        }

    return [ask(asked, number) for number, asked in enumerate(world.states)]


@door("bgfmt gnubg-external")
def external(world: World) -> list[Answer | None]:
    session = Session(Player(world.advisor))

    def ask(asked: GameState) -> Answer | None:
        line = from_fibs(fibs(asked))
        names = ("position", "owner", "cube_value", "away", "crawford")
        if any(getattr(line, name) != getattr(asked, name) for name in names) or (
            asked.jacoby and not line.jacoby
        ):
            return None
        states = [asked.before_roll(), replace(asked, dice=None, doubled=True), asked]
        cube, take, play = (
            None if text.startswith("Error") else text for text in map(session.reply, map(fibs, states))
        )
        out: Answer = {"play": None if play is None else after(asked, play)}
        if asked.may_double:
            out |= {"doubles": cube and cube == "double", "takes": take and take in ("take", "beaver")}
        return out

    return [ask(asked) for asked in world.states]


@door("bgfmt annotate, bgfmt judge")
def annotate(world: World) -> list[Answer | None]:
    """What the annotator calls best: what is best by the adviser must lose nothing."""

    def judged(asked: GameState, kind: str, player: int, play: Play | None = None) -> Judgement | None:
        try:
            return judge(Decision(0, 0, kind, player, asked, play), world.advisor)
        except NotCoveredError:
            return None

    def ask(asked: GameState, expected: Answer) -> Answer:
        best = expected["play"]
        plays = {str(play.result): play for play in legal_plays(asked.position, *(asked.dice or (0, 0)))}
        made = plays[best] if best else next(iter(plays.values()), None)
        found = judged(asked, "play", asked.turn, made) if made else None
        out: Answer = {
            "play": found and (best if found.loss is not None and found.loss <= ERROR else found.best)
        }
        if not asked.may_double or (expected["doubles"] is not None and not _live(world, asked)):
            return out
        did = "double" if expected["doubles"] else "no double"
        known = expected["doubles"] is not None
        beaver = known and asked.money and world.advisor.cube(asked).beavers
        answered = "beaver" if beaver else "take" if expected["takes"] else "pass"
        doubled = judged(asked.before_roll(), did, asked.turn)
        taken = judged(replace(asked, dice=None, doubled=True), answered, 1 - asked.turn)
        return out | {
            "double": doubled and doubled.cube and round(doubled.cube.double, 9),
            "doubles": doubled
            and (did == "double") == ((doubled.loss or 0.0) <= ERROR or did == "no double"),
            "takes": taken and (answered != "pass") == ((taken.loss or 0.0) <= ERROR or answered == "pass"),
        }

    return [ask(*pair) for pair in zip(world.states, world.expected, strict=True)]


def _live(world: World, asked: GameState) -> bool:
    """Whether doubling could change anything: a dead cube is turned in files, and no adviser turns it."""
    return world.advisor.cube(asked).may_double


SCRIPT = """
import { readFileSync } from "node:fs";
const [reader, ask, state, file] = process.argv.slice(2);
const { openFile } = await import(reader);
const { probe } = await import(ask);
const { questionOf, read } = await import(state);
const { tables, states, met, limit } = JSON.parse(readFileSync(file, "utf8"));
const opened = await Promise.all(tables.map((path) => openFile(path, { name: path.split("/").pop() })));
for (const { position, xgid, ...more } of states) {
  const question = questionOf(read(xgid));
  const options = { calculate: true, limit, ...(more.away ? { met } : {}), ...more };
  try {
    const { cube, play, not_covered: reasons } = await probe(opened, position, options);
    console.log(JSON.stringify({ question, cube, play, reasons }));
  } catch (error) {
    if (!error.code) throw error;
    const reasons = { cube: error.message, play: error.message };
    console.log(JSON.stringify({ question, cube: null, play: null, reasons }));
  }
}
"""


def by_node(world: World) -> list[Any]:
    """The question that the page makes of each state, and what the JavaScript reader answers."""
    states = [said(one) | {"xgid": xgid(one), "roll": roll(one)} for one in world.states]
    table = {name: getattr(world.met, name) for name in ("name", "digest", "even", "pre", "post")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        page.write(path / "site", TABLES)
        assets = path / "site" / "assets" / page.digest()
        (assets / "package.json").write_text('{"type": "module"}')
        (path / "ask.mjs").write_text(SCRIPT)
        asked = {"tables": TABLES, "states": states, "met": table, "limit": LIMIT}
        (path / "states.json").write_text(json.dumps(asked))
        js = ROOT / "plugins" / "js"
        words = [path / "ask.mjs", js / "node.js", js / "ask.js", assets / "state.js", path / "states.json"]
        done = subprocess.run(["node", *map(str, words)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def adviser_says(world: World, asked: GameState, section: str) -> Any:
    """The JSON of the cube or of the play; None where the adviser refuses it."""
    dice = asked.dice
    assert dice is not None
    try:
        if section == "cube":
            return questions.cube(world.advisor, replace(asked, dice=None)).as_dict()
        return questions.play(world.advisor, asked, [(max(dice), min(dice))]).as_dict()
    except NotCoveredError:
        return None


def apart(found: Any, expected: Any, path: str = "", most: float = 1e-12) -> str:
    """Where two answers differ by more than 1e-12, estimates by more than 1e-9; empty where they do not."""
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        most = 1e-9 if expected.get("source") == ESTIMATE else most
        pairs: Any = ((found[key], expected[key], f"{path}.{key}") for key in expected)
    elif isinstance(expected, (list, tuple)) and isinstance(found, list) and len(found) == len(expected):
        pairs = ((*pair, f"{path}[{k}]") for k, pair in enumerate(zip(found, expected, strict=True)))
    else:
        numbers = type(found) in (int, float) and type(expected) in (int, float)
        same = abs(found - expected) <= most if numbers else found == expected
        return "" if same else f"{path}: {found}, expected {expected}"
    return next(filter(None, (apart(*pair, most) for pair in pairs)), "")


@door("the page, served and static, and plugins/js")
def javascript(world: World) -> list[Answer | None]:
    """What the reader says is what the adviser says, to the last field; what the adviser refuses it refuses in
    words. Its differences are raised here."""
    found = by_node(world)
    queries = []
    for one, asked in zip(found, world.states, strict=True):
        question = {name: value for name, value in one["question"].items() if name != "match"}
        more = {} if asked.money else {"extend_met": True}
        queries.append(question | one["question"]["match"] | more)
        for section in ("cube", "play"):
            expected = adviser_says(world, asked, section)
            wrong = apart(one[section], expected, section)
            assert not wrong, (xgid(asked), asked, wrong, one["reasons"])
            assert one[section] or one["reasons"][section], (xgid(asked), one)
    pages = world.get("/v1/probe", queries)
    return [told(None, None) if one is None else told(one["cube"], one["play"]) for one in pages]


def after(asked: GameState, text: str) -> str | None:
    """The position after a play in single moves."""
    counts = [0, *asked.position.us.padded(25)]
    for move in text.split():
        start, end = move.split("/")
        counts[25 if start == "bar" else int(start)] -= 1
        if end != "off":
            counts[int(end)] += 1
    if not text:
        return None
    return next(
        str(p.result)
        for p in legal_plays(asked.position, *(asked.dice or (0, 0)))
        if p.result.us.padded(25) == tuple(counts[1:])
    )


# -- the comparison --------------------------------------------------------------------------------------


def undoored() -> set[str]:
    """Commands that take a state and routes that answer a question, and are no door."""
    import click

    from bgfmt.analysis.questions import QUESTIONS
    from bgfmt.cli import cli

    context = click.Context(cli)
    asking = set()
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is not None and {"cube", "cube_value", "limit"} & {one.name for one in command.params}:
            asking.add(f"bgfmt {name}")
    asking -= {
        "bgfmt label",
        "bgfmt check-labels",
    }  # rollouts, with a standard error; a verdict on others' numbers
    asking |= {f"/v1/{name}" for name in QUESTIONS if name not in ("lookup", "race")} | {"/eval", "/move"}
    doors = {one for name in DOORS for one in name.split(", ")}
    return asking - doors - {"bgfmt race", "bgfmt engine"}  # of one side; an engine with a mind of its own


def compare(many: int, seed: int = 1) -> list[tuple[str, str, Answer, Answer]]:
    """The states to which a door gives another answer than the adviser: the state, the door, both answers."""
    rng = random.Random(seed)
    world = World([state(rng, number) for number in range(many)])
    wrong = []
    try:
        for name, ask in DOORS.items():
            for asked, expected, answer in zip(world.states, world.expected, ask(world), strict=True):
                if answer is not None and answer != {key: expected[key] for key in answer}:
                    wrong.append((xgid(asked), name, answer, expected))
    finally:
        world.close()
    assert all(parse(xgid(one)).position == one.position for one in world.states)
    return wrong


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    wrong = compare(many, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for text, name, answer, expected in wrong[:30]:
        print(f"{text}\n  {name}: {answer}\n  adviser: {expected}")
    print(f"{many} states by {len(DOORS)} doors, {len(wrong)} with two answers")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
