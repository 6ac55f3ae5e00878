"""Reads BGBlitz's .bgf: a line of JSON, then the match as JSON or Smile, usually packed."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from construct import Const, ConstructError, FlagsEnum, Int8ub, Struct

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.matches.model import Match, Opinion, Result, Rules, is_cube
from bgfmt.extras.matches.plays import Hop, signed_position
from bgfmt.extras.matches.walk import GameWalk, finish_match

NAME = "bgf"
LARGEST = 32 << 20  # of the document, unpacked
LARGEST_JSON = 8 << 20  # which becomes objects all at once
GREEN = -1
RED = 1
HEADERS = ("event", "site", "date", "round", "title", "location", "transcriber")


def recognise(data: bytes) -> bool:
    """Return whether the first line of these bytes names the format BGF."""
    head = data[:512].split(b"\n")[0]
    return head.lstrip(b"\xef\xbb\xbf \t").startswith(b"{") and b'"BGF"' in head.replace(b" ", b"")


def read(data: bytes, name: str = "<bgf>") -> Iterator[Match]:
    """Yield the match of a file; the field `at` of its records is the number of the move in the game, from 1.

    Raises FormatError if the file cannot be unpacked or is no such document.
    """
    document = _Fields(_document(data, name), name, "the match")
    games = document.array("games")
    limit = document.number("cubeLimit")
    rules = Rules(
        document.flag("useCrawford") is not False, document.flag("useJacoby"), document.flag("useBeaver"),
        limit if limit > 0 else None,
    )  # fmt: skip
    headers = {key: text for key in HEADERS if (text := document.text(key))}
    match = Match(
        (document.text("nameGreen").strip(), document.text("nameRed").strip()),
        document.number("matchlen", 0, 99_999),
        rules=rules,
        event=headers.get("event", ""),
        place=headers.get("site", headers.get("location", "")),
        date=headers.get("date", ""),
        round=headers.get("round", ""),
        headers=headers,
        format=NAME,
        unit="move",
    )
    fields_of_games = [_Fields(game, name, f"game {k}") for k, game in enumerate(games, 1)]
    walks = [_game(fields, match, k) for k, fields in enumerate(fields_of_games, 1)]
    scores = [walk.scores for walk in walks] + [(document.number("finalGreen"), document.number("finalRed"))]
    for walk, fields, after in zip(walks, fields_of_games, scores[1:], strict=True):
        gained = (after[0] - walk.scores[0], after[1] - walk.scores[1])
        if min(gained) == 0 < max(gained):
            resigned = bool(fields.flag("wasResignation"))
            walk.result = Result(gained.index(max(gained)), max(gained), resigned=resigned)
    yield finish_match(match, walks)


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
    return read_smile(body, name) if header.get("useSmile") else _json(body, name)


def _json(data: bytes, name: str) -> Any:
    if len(data) > LARGEST_JSON:
        raise FormatError(f"{name}: the JSON is larger than {LARGEST_JSON >> 20} MiB")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: expected JSON ({type(error).__name__})") from None


class _Fields:
    """An object of the document; missing values have a default, values of a wrong type are errors."""

    def __init__(self, value: Any, name: str, what: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{name}: {what}: expected an object, found {type(value).__name__}")
        self.value = value
        self.name = name
        self.what = what

    def bad(self, key: str, expected: str) -> FormatError:
        kind = type(self.value.get(key)).__name__
        return FormatError(f"{self.name}: {self.what}: expected {expected} as {key}, found {kind}")

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
        if not isinstance(value, str):
            return ""
        # JSON may spell half of a character, which nobody could print
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

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


def _game(game: _Fields, match: Match, number: int) -> GameWalk:
    scores = (game.number("scoreGreen", 0), game.number("scoreRed", 0))
    crawford = game.flag("isCrawford")
    walk = GameWalk(match, number=number, scores=scores, crawford=bool(crawford))
    if isinstance(game.value.get("initial"), dict):
        _start(walk, _Fields(game.value["initial"], game.name, game.what))
    for walk.at, entry in enumerate(game.array("moves"), 1):
        move = _Fields(entry, game.name, f"{game.what}, move {walk.at}")
        if move.text("type") in ("", "amove"):
            _move(walk, move)
        else:
            walk.problem("an entry that is no move")
    return walk


def _start(walk: GameWalk, initial: _Fields) -> None:
    # the 24 points counted by Red, Green's bar, Red's bar; two more mean nothing here
    points = initial.numbers("points", 26)
    try:
        walk.begin(signed_position([-abs(points[25]), *points[23::-1], abs(points[24])]))
    except PositionError as error:
        walk.problem(str(error))
        return
    cube = initial.number("cube")
    if cube > 1 and is_cube(cube):
        walk.setup(cube=(cube, {GREEN: 0, RED: 1}.get(initial.number("cubeOwner"))))


def _move(walk: GameWalk, move: _Fields) -> None:
    player = 0 if move.number("player") == GREEN else 1
    red = move.number("red")
    green = move.number("green")
    walk.opinion = _opinion(move.value, answers=green == 7 and red in (2, 3))
    actions = {1: walk.double, 2: walk.take, 3: walk.drop, 9: walk.resign}
    if green == 7 and red in actions:
        actions[red](player)
    elif green == 7 and red == 5:
        walk.roll(player, (move.numbers("from", 4)[0], move.numbers("to", 4)[0]), [])
    elif green != 7:
        walk.roll(player, (red, green), _hops(move.numbers("from", 4), move.numbers("to", 4)))
    elif red != 4:
        walk.problem(f"an action {red} that is not known")


def _opinion(move: dict[str, Any], *, answers: bool) -> Opinion | None:
    """Return the file's analysis of a move, None without one.

    answers : True if the move answers a double; its numbers are then from the view of the player who answers.
    """
    try:
        before = move.get("equity") or {}
        worth = before.get("cubeDecision") or {}
        ply = move.get("ply")
        level = f"{ply}-ply" if isinstance(ply, int) and 0 <= ply < 100 else ""
        mwc = bool(before.get("useMatchEquity"))
        cube = [float(worth.get(key, "nan")) for key in ("eqNoDouble", "eqDoubleTake")]
        if answers:
            cube = [mwc - number for number in cube]
        plays = []
        for one in move.get("moveAnalysis") or []:
            equity = one["eq"]
            number = equity["emg"] if equity["useMatchEquity"] else equity["cubeDecision"]["eqCubeFul"]
            plays.append((tuple(_hops(one["move"]["from"], one["move"]["to"])), float(number)))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None
    known = (cube[0], cube[1]) if all(abs(number) < 100 for number in cube) else None
    return Opinion("BGBlitz", level, level, known, mwc, tuple(play for play in plays if abs(play[1]) < 100))


def _hops(starts: list[int], ends: list[int]) -> list[Hop]:
    """Return (from, to) of each chequer of a play; -1 stands for no chequer, and as an end for off."""
    pairs = zip(map(int, starts), map(int, ends), strict=True)
    return [(start, max(0, end)) for start, end in pairs if start >= 0]


# -- Smile --------------------------------------------------------------------------------------------


SMILE = Struct(
    "magic" / Const(b":)\n"),
    "flags" / FlagsEnum(Int8ub, names=1, texts=2) * "1: names are shared; 2: short texts are shared",
)
STRUCTURES = {"smile": SMILE}
DEPTH = 64
MAX_VALUES = 2_000_000
MAX_BACK_REFERENCES = 1024  # texts, after which a writer begins anew


class _Smile:
    """Reader of a document in Smile, a binary form of JSON."""

    def __init__(self, data: bytes, name: str) -> None:
        try:
            SMILE.parse(data)
        except ConstructError:
            raise FormatError(f"{name}: expected Smile, found {data[:4]!r}") from None
        self.data = data
        self.name = name
        self.at: int = SMILE.sizeof()
        self.keys: list[str] = []  # texts to which later bytes may refer
        self.strings: list[str] = []
        self.count = 0

    def bad(self, expected: str) -> FormatError:
        """Return the error for the byte that was read last."""
        at = self.at - 1
        return FormatError(
            f"{self.name}: byte {at} of the document: expected {expected}, found {self.data[at]:#04x}"
        )

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise FormatError(
                f"{self.name}: byte {len(self.data)} of the document: expected more, found the end"
            )
        self.at += size
        return self.data[self.at - size : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def text(self, size: int, texts: list[str] | None = None) -> str:
        """Read the next `size` bytes as text.

        texts : the list to which the text is added, if later bytes may refer to it.
        """
        text = self.take(size).decode("utf-8", "replace")
        if texts is not None and size <= 64:
            if len(texts) >= MAX_BACK_REFERENCES:
                texts.clear()
            texts.append(text)
        return text

    def long_text(self) -> str:
        end = self.data.find(b"\xfc", self.at)
        text = self.text((end if end >= 0 else len(self.data)) - self.at)
        self.byte()
        return text

    def back_reference(self, texts: list[str], number: int) -> str:
        if number >= len(texts):
            raise self.bad(f"a shared text below {len(texts)}")
        return texts[number]

    def integer(self) -> int:
        value = 0
        for _ in range(10):
            byte = self.byte()
            if byte & 0x80:
                value = value << 6 | byte & 0x3F
                return value >> 1 ^ -(value & 1)
            value = value << 7 | byte
        raise self.bad("the last byte of an integer")

    def real(self, size: int, form: str) -> float:
        value = 0
        for byte in self.take(size):
            value = value << 7 | byte & 0x7F
        width = struct.calcsize(form)
        return float(struct.unpack(form, (value & (1 << 8 * width) - 1).to_bytes(width, "big"))[0])

    def key(self, token: int) -> str:
        if token == 0x20:
            return ""
        if 0x30 <= token <= 0x33:
            return self.back_reference(self.keys, (token & 3) << 8 | self.byte())
        if token == 0x34:
            return self.long_text()
        if 0x40 <= token <= 0x7F:
            return self.back_reference(self.keys, token - 0x40)
        if 0x80 <= token <= 0xF7:
            return self.text(token - (0x7F if token < 0xC0 else 0xBE), self.keys)
        raise self.bad("a key")

    def scalar(self, token: int) -> Any:
        if 0x01 <= token <= 0x1F:
            return self.back_reference(self.strings, token - 1)
        if 0xEC <= token <= 0xEF:
            return self.back_reference(self.strings, (token & 3) << 8 | self.byte())
        if 0x40 <= token <= 0xBF:
            return self.text(token - (0x3F if token < 0x80 else 0x7E), self.strings)
        if 0xC0 <= token <= 0xDF:
            return (token & 31) >> 1 ^ -(token & 1)
        if 0x20 <= token <= 0x23:
            return ("", None, False, True)[token - 0x20]
        if token in (0x24, 0x25):
            return self.integer()
        if token == 0x28:
            return self.real(5, ">f")
        if token == 0x29:
            return self.real(10, ">d")
        if token in (0xE0, 0xE4):
            return self.long_text()
        raise self.bad("a value")

    def value(self, token: int, depth: int = 0) -> Any:
        """Read the value that begins with the byte `token`, which is already read.

        depth : number of arrays and objects around it.
        """
        self.count += 1
        if self.count > MAX_VALUES:
            raise FormatError(f"{self.name}: more than {MAX_VALUES:,} values in the document")
        if token not in (0xF8, 0xFA):
            return self.scalar(token)
        if depth >= DEPTH:
            raise self.bad(f"at most {DEPTH} levels")
        array = []
        fields = {}
        while (start := self.byte()) != (0xF9 if token == 0xF8 else 0xFB):
            if token == 0xF8:
                array.append(self.value(start, depth + 1))
            else:
                key = self.key(start)
                fields[key] = self.value(self.byte(), depth + 1)
        return array if token == 0xF8 else fields


def read_smile(data: bytes, name: str = "<smile>") -> Any:
    """Return the value of a Smile document; FormatError names the byte at which reading failed."""
    reader = _Smile(data, name)
    return reader.value(reader.byte())
