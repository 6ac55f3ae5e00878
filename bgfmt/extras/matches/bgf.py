"""Reads BGBlitz's .bgf: a line of JSON, then the match as JSON or Smile, usually packed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.matches import plays, smile
from bgfmt.extras.matches.model import Match, Result, Rules
from bgfmt.extras.matches.results import checked
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.board import Position

NAME = "bgf"
LARGEST = 32 << 20  # of the document, unpacked
LARGEST_JSON = 8 << 20  # which becomes objects all at once
GREEN, RED = -1, 1
HEADERS = ("event", "site", "date", "round", "title", "location", "transcriber")
WANTED = frozenset(
    (
        "nameGreen", "nameRed", "matchlen", "useCrawford", "useJacoby", "useBeaver", "cubeLimit", "finalGreen",
        "finalRed", "games", "scoreGreen", "scoreRed", "isCrawford", "wonPoints", "wasResignation", "lostOnTime",
        "wasForfeit", "initial", "points", "cube", "cubeOwner", "moves", "type", "player", "red", "green", "from",
        "to", *HEADERS,
    )
)  # fmt: skip


def recognise(data: bytes) -> bool:
    """Whether its first line says BGF."""
    head = data[:512].split(b"\n")[0]
    return head.lstrip(b"\xef\xbb\xbf \t").startswith(b"{") and b'"BGF"' in head.replace(b" ", b"")


def read(data: bytes, name: str = "<bgf>") -> Iterator[Match]:
    """The match of a file; a record's `at` is the number of its move in the game, from 1.

    Raises
    ------
    FormatError where it cannot be unpacked, or is not such a document.
    """
    document = _Fields(_document(data, name), name, "the match")
    games = document.array("games")
    green, red = (document.text(key).strip() for key in ("nameGreen", "nameRed"))
    length = document.number("matchlen", 0, 99_999)
    limit = document.number("cubeLimit")
    rules = Rules(
        document.flag("useCrawford") is not False, document.flag("useJacoby"), document.flag("useBeaver"),
        limit if limit > 0 else None,
    )  # fmt: skip
    found = [_Fields(game, name, f"game {k}") for k, game in enumerate(games, 1)]
    walks = [_game(fields, (green, red), length, rules, k) for k, fields in enumerate(found, 1)]
    scores = [walk.scores for walk in walks] + [(document.number("finalGreen"), document.number("finalRed"))]
    for walk, fields, after in zip(walks, found, scores[1:], strict=True):
        gained = (after[0] - walk.scores[0], after[1] - walk.scores[1])
        if sorted(gained)[0] == 0 < max(gained):
            winner = gained.index(max(gained))
            walk.result = Result(winner, max(gained), resigned=bool(fields.flag("wasResignation")))
    said = {key: text for key in HEADERS if (text := document.text(key))}
    match = Match(
        (green, red), length, tuple(walk.finish() for walk in walks), rules, event=said.get("event", ""),
        place=said.get("site", said.get("location", "")), date=said.get("date", ""), round=said.get("round", ""),
        headers=said, format=NAME, unit="move",
    )  # fmt: skip
    yield checked(match)


def _document(data: bytes, name: str) -> Any:
    line, _, body = data.partition(b"\n")
    header = _json(line, name)
    if not isinstance(header, dict):
        raise FormatError(f"{name}: byte 0: expected an object of JSON")
    if header.get("compress"):
        stream = zlib.decompressobj(47)  # gzip or zlib
        try:
            body = stream.decompress(body, LARGEST + 1)
        except zlib.error as error:
            raise FormatError(f"{name}: byte {len(line) + 1}: expected gzip or zlib ({error})") from None
        if len(body) <= LARGEST and not stream.eof:
            raise FormatError(f"{name}: byte {len(data)}: cut short, the packed document goes on")
    if len(body) > LARGEST:
        raise FormatError(f"{name}: the document is larger than {LARGEST >> 20} MiB")
    return smile.loads(body, WANTED, name) if header.get("useSmile") else _json(body, name)


def _json(data: bytes, name: str) -> Any:
    if len(data) > LARGEST_JSON:
        raise FormatError(f"{name}: the JSON is larger than {LARGEST_JSON >> 20} MiB")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: expected JSON ({type(error).__name__})") from None


class _Fields:
    """An object of the document; what is missing has a default, what is of another kind is refused."""

    def __init__(self, value: Any, name: str, what: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{name}: {what}: expected an object, found {type(value).__name__}")
        self.value, self.name, self.what = value, name, what

    def bad(self, key: str, expected: str) -> FormatError:
        found = type(self.value.get(key)).__name__
        return FormatError(f"{self.name}: {self.what}: expected {expected} as {key}, found {found}")

    def number(self, key: str, low: int = -99_999_999, high: int = 99_999_999) -> int:
        value = self.value.get(key, 0)
        if not isinstance(value, int) or not low <= value <= high:
            raise self.bad(key, "a number")
        return int(value)

    def flag(self, key: str) -> bool | None:
        value = self.value.get(key)
        return None if value is None else bool(value)

    def text(self, key: str) -> str:
        value = self.value.get(key)
        # JSON may spell half of a character, which no one could print
        return (
            value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if isinstance(value, str)
            else ""
        )

    def array(self, key: str) -> list[Any]:
        value = self.value.get(key)
        if not isinstance(value, list):
            raise self.bad(key, "an array")
        return value

    def numbers(self, key: str, count: int) -> list[int]:
        values = self.array(key)
        if len(values) < count or not all(isinstance(v, int) and abs(v) < 1000 for v in values[:count]):
            raise self.bad(key, f"{count} numbers")
        return values[:count]


def _game(game: _Fields, players: tuple[str, str], length: int, rules: Rules, number: int) -> GameWalk:
    scores = (game.number("scoreGreen", 0), game.number("scoreRed", 0))
    walk = GameWalk(
        players,
        length,
        rules,
        number=number,
        scores=scores,
        crawford=bool(game.flag("isCrawford")),
        unit="move",
    )
    if isinstance(game.value.get("initial"), dict):
        initial = _Fields(game.value["initial"], game.name, game.what)
        _start(walk, initial)
    for at, entry in enumerate(game.array("moves"), 1):
        move = _Fields(entry, game.name, f"{game.what}, move {at}")
        if move.text("type") in ("", "amove"):
            _move(walk, move, at)
        else:
            walk.problem(at, "an entry that is no move")
    return walk


def _start(walk: GameWalk, initial: _Fields) -> None:
    points = initial.numbers(
        "points", 26
    )  # the 24 points counted by Red, Green's bar, Red's bar; two more mean nothing here
    green = [0, *(max(0, n) for n in points[23::-1]), abs(points[24])]
    red = [0, *(max(0, -n) for n in points[:24]), abs(points[25])]
    try:
        board: Position = plays.position(green, red).check()
    except PositionError as error:
        walk.problem(0, str(error))
        return
    walk.begin(board)
    cube = initial.number("cube")
    owner = {GREEN: 0, RED: 1}.get(initial.number("cubeOwner"))
    if cube > 1 and cube & (cube - 1) == 0 and cube <= 1 << 15:
        walk.setup(0, cube=(cube, owner))


def _move(walk: GameWalk, move: _Fields, at: int) -> None:
    player = 0 if move.number("player") == GREEN else 1
    red, green = move.number("red"), move.number("green")
    if green == 7:
        if red == 1:
            walk.double(player, at)
        elif red == 2:
            walk.take(player, at)
        elif red == 3:
            walk.drop(player, at)
        elif red == 5:
            dice = (move.numbers("from", 4)[0], move.numbers("to", 4)[0])
            _roll(walk, player, dice, [], at)
        elif red == 9:
            walk.resign(player, at)
        elif red != 4:
            walk.problem(at, f"an action {red} that is not known")
        return
    pairs = zip(move.numbers("from", 4), move.numbers("to", 4), strict=True)
    _roll(walk, player, (red, green), [(start, max(0, end)) for start, end in pairs if start >= 0], at)


def _roll(walk: GameWalk, player: int, dice: tuple[int, int], hops: list[tuple[int, int]], at: int) -> None:
    if all(1 <= die <= 6 for die in dice):
        walk.roll(player, dice, hops, at)
    elif not walk.over:
        walk.stop(at, f"dice of {dice[0]} and {dice[1]}")


__all__ = ["NAME", "read", "recognise"]
