"""Reads matches in the .mat text form that GNU Backgammon, Jellyfish and others write."""

from __future__ import annotations

import re
from itertools import pairwise

from bgfmt.errors import FormatError
from bgfmt.game.moves import BAR, OFF
from bgfmt.hosts.match import Game, Match, Record

_LENGTH = re.compile(r"^\s*(\d{1,5})\s+point\s+match", re.I)
_MONEY = re.compile(r"^\s*(unlimited|money)\b", re.I)
_GAME = re.compile(r"^\s*Game\s+\d+\s*$", re.I)
_NAMES = re.compile(r"^\s*(.*?)\s*:\s*(\d{1,5})\s+(.*?)\s*:\s*(\d{1,5})\s*$")
_LINE = re.compile(r"^\s*\d+\)")
_ACTION = re.compile(
    r"(?P<dice>[1-6][1-6]):|(?P<word>Doubles|Redoubles|Beavers|Raccoons|Takes|Accepts|Drops|Passes|Rejects|Resigns?|Wins)\b",
    re.I,
)
_MOVE = re.compile(r"(bar|\d{1,2})((?:/(?:off|\d{1,2})\*?)+)(?:\((\d)\))?", re.I)
_KINDS = {
    "doubles": "double", "redoubles": "double", "beavers": "beaver", "raccoons": "beaver", "takes": "take",
    "accepts": "take", "drops": "drop", "passes": "drop", "rejects": "drop", "resigns": "resign", "resign": "resign",
}  # fmt: skip
RIGHT = 20  # columns: a lone cell that begins further right is the second player's


def read_mat(text: str, name: str = "<text>") -> Match:
    """The match of a .mat text.

    Raises
    ------
    FormatError where it holds no game.
    """
    match = Match([])
    crawford_rule, jacoby = True, None
    seen_crawford = False
    for number, line in enumerate(text.splitlines()):
        if found := re.match(r'^;\s*\[(\w+)\s+"([^"]*)"\]', line):
            key, value = found[1].lower(), found[2].strip().lower()
            if key in ("crawfordrule", "crawford"):
                crawford_rule = value not in ("off", "no", "false", "0")
            elif key == "jacoby":
                jacoby = value in ("on", "yes", "true", "1")
            elif key == "variation" and value != "backgammon":
                raise FormatError(f"{name}: {found[2]} is not ordinary backgammon")
        elif found := _LENGTH.match(line):
            match.length = int(found[1])
        elif _MONEY.match(line) and not match.games:
            match.length = 0
        elif _GAME.match(line):
            match.games.append(Game([], jacoby=jacoby))
        elif not match.games:
            continue
        elif _LINE.match(line) or (match.games[-1].records and _ACTION.search(line)):
            match.games[-1].records += _cells(line, number)
        elif not match.games[-1].records and (found := _NAMES.match(line)):
            match.names = (found[1] or match.names[0], found[3] or match.names[1])
            game = match.games[-1]
            game.scores = (int(found[2]), int(found[4]))
            if crawford_rule and match.length and not seen_crawford:
                game.crawford = seen_crawford = match.length - 1 in game.scores
    if not match.games:
        raise FormatError(f"{name}: neither an SGF match nor a .mat one (no line 'Game 1')")
    return match


def _cells(line: str, number: int) -> list[Record]:
    head = _LINE.match(line)
    body = head.end() if head else 0
    found = list(_ACTION.finditer(line, body))
    records = []
    for k, action in enumerate(found):
        rest = line[action.end() : found[k + 1].start() if k + 1 < len(found) else len(line)]
        player = 1 if k else int(action.start() >= RIGHT)
        if action["dice"]:
            moves, hits = read_moves(rest)
            dice = (int(action["dice"][0]), int(action["dice"][1]))
            records.append(Record("roll", player, dice, moves, hits, number))
        elif action["word"].lower() != "wins":
            records.append(Record(_KINDS[action["word"].lower()], player, node=number))
    return records


def read_moves(text: str) -> tuple[tuple[tuple[int, int], ...], int | None]:
    """(from, to) pairs of a play as players write it, and how many hits it names (None where it names none)."""
    moves: list[tuple[int, int]] = []
    hits = 0
    for found in _MOVE.finditer(text):
        stops = [stop for stop in found[2].split("/") if stop]
        points = [_point(found[1]), *(_point(stop.rstrip("*")) for stop in stops)]
        times = int(found[3] or 1)
        # a hit chequer is hit once, however many of ours go there
        hits += sum(stop.endswith("*") for stop in stops)
        moves += list(pairwise(points)) * times
    return tuple(moves), hits or None


def _point(text: str) -> int:
    word = text.lower()
    return BAR if word == "bar" else OFF if word == "off" else int(word)
