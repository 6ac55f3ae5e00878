"""Random money states asked through every door; all must say the same.

    python -m tests.support.one_answer 10000

States are covered by a two-sided table, by a one-sided one only, or by nothing. They go through `bgfmt cube -`,
`bgfmt play -`, UBGI, the external player, the annotator and the adviser itself.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from bgfmt import GameState, Position, Side
from bgfmt.analysis import Advisor
from bgfmt.errors import NotCoveredError
from bgfmt.extras.hosts.external import Player, Session
from bgfmt.extras.hosts.ubgi import Engine
from bgfmt.extras.matches.annotate import Judgement, judge
from bgfmt.extras.matches.decisions import Decision
from bgfmt.game.identifiers import fibs, gnubg_id, xgid
from bgfmt.game.moves import Play, legal_plays

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden" / "gnubg"
TABLES = [str(GOLDEN / "ts_06x04.bd"), str(GOLDEN / "os_p06.bd")]
UNCOVERED = None
Answer = dict[str, Any]


def side(rng: random.Random, chequers: tuple[int, int], points: int) -> Side:
    counts = [0] * points
    for _ in range(rng.randint(*chequers)):
        counts[rng.randrange(points)] += 1
    return Side(*counts)


def state(rng: random.Random) -> GameState:
    """A state covered by the two-sided table, by the one-sided one, or by neither."""
    chequers, points = rng.choice([((1, 4), 6), ((9, 15), 6), ((13, 15), 9), ((15, 15), 14)])
    while True:
        position = Position(side(rng, chequers, points), side(rng, chequers, points))
        try:
            position.check()
        except ValueError:
            continue
        break
    dice = rng.randint(1, 6), rng.randint(1, 6)
    return GameState.of(position, dice, cube=rng.choice(["centered", "owned"]), beavers=False)


def through_adviser(advisor: Advisor, asked: GameState) -> Answer:
    out: Answer = {}
    try:
        action = advisor.cube(asked)
        out |= {"doubles": action.doubles, "takes": action.takes}
    except NotCoveredError:
        out |= {"doubles": UNCOVERED, "takes": UNCOVERED}
    try:
        best = advisor.plays(asked).best
        out["play"] = best and str(best.result)
    except NotCoveredError:
        out["play"] = UNCOVERED
    return out


def through_ubgi(engine: Engine, asked: GameState, text: str) -> Answer:
    kind = "xgid" if text.startswith("XGID") else "gnubgid"

    def cube(state: GameState) -> str | None:
        write = xgid if kind == "xgid" else gnubg_id
        engine.reply(f"position {kind} {write(state)}")
        (said,) = engine.reply("go role cube")
        return UNCOVERED if said.startswith("error not_covered") else said.removeprefix("bestcube ")

    doubled, taken = cube(asked.before_roll()), cube(replace(asked, dice=None, doubled=True))
    engine.reply(f"position {kind} {text}")
    (said,) = engine.reply("go role chequer")
    play = UNCOVERED
    if not said.startswith("error not_covered"):
        play = after(asked, said.removeprefix("bestmove ").replace("none", ""))
    return {
        "doubles": doubled and doubled == "double",
        "takes": taken and taken == "take",
        "play": play,
    }


def through_external(session: Session, asked: GameState) -> Answer:
    said = [
        session.reply(fibs(s)) for s in (asked.before_roll(), replace(asked, dice=None, doubled=True), asked)
    ]
    cube, take, play = (UNCOVERED if text.startswith("Error") else text for text in said)
    return {
        "doubles": cube and cube == "double",
        "takes": take and take == "take",
        "play": UNCOVERED if play is UNCOVERED else after(asked, play),
    }


def through_annotate(advisor: Advisor, asked: GameState, best: str | None) -> Answer:
    """What the annotator calls best: a play that is best by another door must lose nothing."""
    plays = {str(play.result): play for play in legal_plays(asked.position, *(asked.dice or (0, 0)))}
    played = plays[best] if best else next(iter(plays.values()), None)

    def judged(kind: str, player: int, state: GameState, play: Play | None = None) -> Judgement | None:
        try:
            return judge(Decision(0, 0, kind, player, state, play), advisor)
        except NotCoveredError:
            return None

    found = judged("play", asked.turn, asked, played) if played else None
    doubled = judged("double", asked.turn, asked.before_roll())
    taken = judged("take", 1 - asked.turn, replace(asked, dice=None, doubled=True))
    return {
        "doubles": doubled and doubled.loss == 0,
        "takes": taken and taken.loss == 0,
        "play": found and (best if found.loss == 0 else found.best),
    }


def after(asked: GameState, text: str) -> str | None:
    """The position after a play in single moves."""
    counts = [0, *asked.position.us.padded(25)]
    for move in text.split():
        start, end = move.split("/")
        counts[25 if start == "bar" else int(start)] -= 1
        if end != "off":
            counts[int(end)] += 1
    if not text:
        return UNCOVERED
    return next(
        str(p.result)
        for p in legal_plays(asked.position, *(asked.dice or (0, 0)))
        if p.result.us.padded(25) == tuple(counts[1:])
    )


def through_command(verb: str, lines: Sequence[str]) -> list[Answer]:
    """The answers of `bgfmt cube -` or `play -` to many lines."""
    from bgfmt.cli import run

    before, out = sys.stdin, io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()))
    try:
        with redirect_stdout(out):
            run([verb, *TABLES, "-", "--json"])
    finally:
        sys.stdin = before
    return [json.loads(line) for line in out.getvalue().splitlines()]


def compare(many: int, seed: int = 1) -> list[tuple[str, dict[str, Answer]]]:
    """The states on which two doors disagree, each with the answers."""
    rng = random.Random(seed)
    states = [state(rng) for _ in range(many)]
    texts = [xgid(s) for s in states]
    cubes, plays = through_command("cube", texts), through_command("play", texts)
    wrong = []
    with Advisor(TABLES) as advisor, Advisor(TABLES) as other:
        engine, session = Engine(advisor), Session(Player(other))
        for asked, text, cube, play in zip(states, texts, cubes, plays, strict=True):
            own = through_adviser(advisor, asked)
            names = [text, gnubg_id(asked)]
            answers = {
                "adviser": own,
                "command": {
                    "doubles": cube.get("doubles", UNCOVERED),
                    "takes": cube.get("takes", UNCOVERED),
                    "play": play["plays"][0]["result"] if play.get("plays") else UNCOVERED,
                },
                "ubgi": through_ubgi(engine, asked, names[len(wrong) % 2]),
                "external": through_external(session, asked),
                "annotate": through_annotate(advisor, asked, own["play"]),
            }
            if any(answer != own for answer in answers.values()):
                wrong.append((text, answers))
    return wrong


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    wrong = compare(many)
    for text, answers in wrong[:20]:
        print(text)
        for who, answer in answers.items():
            print(f"  {who:<10} {answer}")
    print(f"{many} states, {len(wrong)} with two answers")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
