"""The game in H. J. Berliner's paper on BKG (1977), section IX, as it is printed there.

    White: Berliner
    Black: BKG
    5,4 1-5,12-17
    5,6 24-18-13

One roll and play a line, White first. White moves from 1 to 24 (bar 0, off 25), Black from 24 to 1 (bar 25, off 0).
``X`` marks a hit, and every hit is marked. ``No legal move`` stands behind a roll, ``Double`` and ``Resign`` alone;
remarks in brackets are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from bgfmt.errors import FormatError
from bgfmt.extras.matches.model import Match, Result, Rules, outcome
from bgfmt.extras.matches.plays import Hop
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.drawing import printable

NAME = "berliner"
LARGEST = 1 << 20
WHITE = re.compile(r"^\s*White:\s*(.*)$", re.MULTILINE)
BLACK = re.compile(r"^\s*Black:\s*(.*)$", re.MULTILINE)
LINE = re.compile(r"([1-6]),([1-6])\s+(.*)")
PLAY = re.compile(r"\d{1,2}(?:-\d{1,2}X?)+(?:,\d{1,2}(?:-\d{1,2}X?)+)*")


def recognise(data: bytes) -> bool:
    """Return whether a text names White and Black and has a line such as ``5,4 1-5,12-17``."""
    text = data[:4096].decode("utf-8", "replace")
    lines = (LINE.match(line.strip()) for line in text.splitlines())
    names = not text.lstrip().startswith("(") and WHITE.search(text) and BLACK.search(text)
    return bool(names) and any(line and PLAY.match(line[3]) for line in lines)


def read(data: bytes, name: str = "<text>") -> Iterator[Match]:
    """Yield the one game of the text; contradictions, also a missing mark of a hit, become problems of the game."""
    text = data[: LARGEST + 1].decode("utf-8", "replace")
    white = WHITE.search(text)
    black = BLACK.search(text)
    if len(data) > LARGEST or not white or not black:
        raise FormatError(f"{name}: no game of White and Black of up to {LARGEST >> 20} MiB")
    players = (printable(white[1].strip()), printable(black[1].strip()))
    headers = {"source": "H. J. Berliner, BKG, a program that plays backgammon, 1977"}
    rules = Rules(jacoby=False, beavers=False)
    match = Match(players, rules=rules, headers=headers, format=NAME, unit="line")
    walk = GameWalk(match)
    turn = 0
    resigned = None
    for at, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"\([^)]*\)", "", line).strip()
        entry = LINE.fullmatch(words)
        if entry and not walk.stopped:
            _roll(walk, turn, (int(entry[1]), int(entry[2])), entry[3].strip(), at)
            turn = 1 - turn
        elif words.lower() == "double":
            walk.double(turn, at)
        elif words.lower() in ("resign", "resigns"):
            resigned = walk.offers[-1] if walk.offers else 1 - turn
            if walk.offers:  # the side that was doubled gives up the game: it drops
                walk.drop(1 - resigned, at)
            else:
                walk.resign(turn, at, walk.cube)
    game = walk.finish()
    won = outcome(game)
    if won is not None:
        game = replace(game, result=Result(won[0], won[1][-1], resigned=resigned is not None))
    yield replace(match, games=(game,))


def _roll(walk: GameWalk, turn: int, dice: tuple[int, int], text: str, at: int) -> None:
    if text.lower().startswith("no legal move"):
        walk.roll(turn, dice, [], at)
        return
    if not PLAY.fullmatch(text):
        walk.stop(at, f"{text[:40]!r} is not a play")
        return
    hops: list[Hop] = []
    marks = text.count("X")
    for chain in text.replace("X", "").split(","):
        stops = [25 - int(p) if turn == 0 else int(p) for p in chain.split("-")]
        if not all(0 <= stop <= 25 for stop in stops):
            walk.stop(at, f"{chain!r} leaves the board")
            return
        hops += list(pairwise(stops))
    before = len(walk.records)
    walk.roll(turn, dice, hops, at, marks=marks)
    for record in walk.records[before:]:
        hits = sum(move.hit for move in record.moves)
        if record.legal and hits and not marks:
            what = "a hit" if hits == 1 else f"{hits} hits"
            walk.problem(at, f"the mark of {what} is missing; the play hits")
