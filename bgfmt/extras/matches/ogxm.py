"""Reads OGXM, versions 1 and 2, and streams of them: the format of HedgeHog, OpenGammon and GammonView.

Both versions record moves; boards come only where somebody set one. White, player 0 here, moves from point 1 of the
frame up to 24, his bar 0; Black moves down, his bar 25.
"""

from __future__ import annotations

import io
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from construct import (
    Bytes,
    Const,
    Construct,
    ConstructError,
    FlagsEnum,
    GreedyBytes,
    If,
    Int8ul,
    Int16ul,
    Int32ul,
    IntegerError,
    Pass,
    Prefixed,
    Struct,
    stream_read,
    this,
)

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.matches.model import Cube, Match, Result, Rules, is_cube, one_point_away
from bgfmt.extras.matches.plays import signed_position
from bgfmt.extras.matches.walk import GameWalk, finish_match
from bgfmt.game.board import Position

ROLLS = tuple((a, b) for a in range(1, 7) for b in range(a, 7))  # 11 12 13 ... 66
MAGIC = b"OGXM"
END = b"END!"
NO_START = b"\xff\xff"


class _Number(Construct):  # type: ignore[misc]
    """Unsigned integer of seven bits a byte, lowest first, in at most ten bytes."""

    def _parse(self, stream: io.BytesIO, context: Any, path: str) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte: int = stream_read(stream, 1, path)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise IntegerError("the end of a number", path=path)


def _masked(*first: Construct, **optional: Construct) -> Construct:
    """Return a record of version 2: its size, a mask of its optional fields (lowest bit first), and its fields."""
    fields = [name / If(this.mask & (1 << bit), field) for bit, (name, field) in enumerate(optional.items())]
    return Prefixed(_NUMBER, Struct("mask" / _NUMBER, *first, *fields))


_NUMBER = _Number()
_BOARD = Bytes(26)
_HEADER = Struct(
    "magic" / Const(MAGIC),
    "major" / Int16ul * "version, 1 or 2",
    "minor" / Int16ul,
    "least" / Int16ul * "lowest version whose readers can read it",
    "unread" / Int16ul,
    "size" / Int32ul * "bytes of the match, this header and the end included",
)

# -- structures of version 1; fields that are not needed are "unread"

_FLAGS_1 = Int32ul
_CHUNK_1 = Struct(
    "letters" / Bytes(4) * "`MHDR`, `GAME` or others",
    "size" / Int32ul * "bytes that follow the head",
    "unread" / Bytes(4),
)
_TEXT_1 = Prefixed(Int8ul, GreedyBytes)
_MATCH_1 = Struct(
    "length" / Int16ul,
    "unread" / Int8ul,
    "rules" / FlagsEnum(Int8ul, crawford=1, jacoby=2, beavers=4),
    "unread_2" / Bytes(20),
    "white" / _TEXT_1,
    "black" / _TEXT_1,
)
_GAME_1 = Struct(
    "unread" / Int8ul,
    "plies" / Int16ul,
    "winner" / Int8ul,
    "points" / Int8ul,
    "flags" / FlagsEnum(Int8ul, crawford=1),
    "unread_2" / Bytes(2),
    "start" / Bytes(2),  # of a board, or NO_START
    "start_2" / If(this.start != NO_START, Bytes(25)),
)
_END_1 = Struct("letters" / Const(END), "size" / Int32ul)

# -- structures of version 2: records, of which a mask tells the fields

_BYTES_2 = Prefixed(_NUMBER, GreedyBytes)
_LETTERS_2 = Bytes(4)
_SECTION_2 = Struct(
    "size" / Int32ul * "bytes that follow the head",
    "flags" / Int8ul * "1: a reader that does not know the letters must refuse the file",
)
_CHECKSUM_2 = _masked("kind" / _NUMBER, "size" / _NUMBER, "digest" / If(this.kind == 0, Bytes(this.size)))
_MATCH_2 = _masked(
    "length" / _NUMBER,
    "variant" / _NUMBER,
    white=_BYTES_2,
    black=_BYTES_2,
    rules=FlagsEnum(_NUMBER, crawford=1, jacoby=2, beavers=4, automatic=16),
    cube_limit=_NUMBER,
    scores=_NUMBER[2],
)
_GAME_2 = _masked(
    winner=_NUMBER, points=_NUMBER, unread=Pass, start=_BOARD, cube=_NUMBER, owner=_NUMBER, automatic=_NUMBER
)
_PLY_2 = _masked(
    dice=Int8ul[2],
    points=_NUMBER,
    cube=_NUMBER,
    unread=Pass,
    settlement=Bytes(4),
    steps=_BYTES_2,
    board=_BOARD,
    action=_NUMBER,
    owner=_NUMBER,
)

STRUCTURES = {"header": _HEADER, "chunk": _CHUNK_1, "section": _SECTION_2}


class Source:
    """Bytes from which structures are read one after another.

    begin : offset of the bytes in the file, which errors name.
    """

    def __init__(self, data: bytes, name: str, begin: int = 0) -> None:
        self.stream = io.BytesIO(data)
        self.name = name
        self.begin = begin
        self.end = begin + len(data)

    @property
    def at(self) -> int:
        """Return the offset in the file of what is read next."""
        return self.begin + self.stream.tell()

    def parse(self, layout: Construct, what: str) -> Any:
        """Read a structure; FormatError names the field that cannot be read.

        what : name of the structure, for the error.
        """
        at = self.at
        try:
            return layout.parse_stream(self.stream)
        except ConstructError as error:
            *_, part = error.path.split(" -> ")
            reason = str(error).splitlines()[-1]
            raise FormatError(f"{self.name}: byte {at}: {what}: {part}: {reason}") from None

    def part(self, size: int, what: str) -> Source:
        """Return the next `size` bytes as a source of their own."""
        begin = self.at
        return Source(self.parse("bytes" / Bytes(size), what), self.name, begin)


def _text(data: bytes | None) -> str:
    """Return the text of a field, "" if there is none."""
    return (data or b"").decode("utf-8", "replace").strip()


@dataclass
class Ply:
    action: int
    player: int
    steps: list[int] = field(default_factory=list)
    dice: tuple[int, int] | None = None
    board: bytes | None = None
    cube: int | None = None
    owner: int | None = None
    points: int = 0


def _position(board: bytes) -> Position:
    """Return the position, White first, of 26 signed counts with White's positive."""
    return signed_position(struct.unpack("26b", board)[::-1])


def _replay(walk: GameWalk, start: bytes | None, cube: Cube | None, plies: Iterable[Ply]) -> None:
    """Add a game to the walk: the board and the cube it starts with, None for the usual ones, and its plies.

    A ply's place in the file, as records and problems state it, is its number in the game from 1.
    """
    try:
        if start is not None:
            walk.begin(_position(start))
        if cube is not None:
            walk.setup(cube=cube)
        for walk.at, ply in enumerate(plies, 1):
            _add_ply(walk, ply)
    except PositionError as error:
        walk.stop(str(error))


def _add_ply(walk: GameWalk, ply: Ply) -> None:
    """Add the events of one ply: a roll with its play, a cube action, a resignation or a set board."""
    player = ply.player
    action = ply.action
    if action <= 20:
        points = [(25 - (step & 31) if player == 0 else step & 31, step >> 5) for step in ply.steps]
        walk.roll(player, ROLLS[action], [(start, max(0, start - die)) for start, die in points])
    elif action in (21, 32, 33):
        walk.double(player, ply.cube)
    elif action == 22:
        walk.take(player)
    elif action == 23:
        walk.drop(player)
    elif action in (27, 28, 29):
        walk.resign(player, ply.points)
    elif action in (31, 36):
        _set_up(walk, ply)
    elif action == 37:
        walk.turn = 1 - player
    elif action not in (24, 25, 26, 30, 34):
        walk.problem(f"an action {action} that is not known")


def _set_up(walk: GameWalk, ply: Ply) -> None:
    board = None if ply.board is None else _position(ply.board)
    if board is not None and ply.dice is not None and all(1 <= die <= 6 for die in ply.dice):
        walk.add_board(ply.player, ply.dice, board if ply.player == 0 else board.swapped())
        return
    cube = (ply.cube, ply.owner) if ply.cube is not None and is_cube(ply.cube) else None
    if board is not None or cube is not None:
        walk.setup(turn=ply.player if board is not None else None, board=board, cube=cube)


NAME = "ogxm"


def recognise(data: bytes) -> bool:
    """Return whether these bytes begin with "OGXM"."""
    return data.startswith(b"OGXM")


def read(data: bytes, name: str = "<ogxm>") -> Iterator[Match]:
    """Yield the matches of a file or stream; the field `at` of records is the number of the ply in the game, from 1.

    Raises FormatError for bytes that cannot be read or need a newer reader.
    """
    last: Match | None = None
    begin = 0
    while begin < len(data):
        try:
            match, size = _read_match(data, begin, name)
        except FormatError as error:
            if last is None:
                raise
            # of a stream that was cut short, what came before is whole
            last = replace(last, notes=(*last.notes, f"the rest of the stream is skipped: {error}"))
            break
        if last is not None:
            yield last
        last = match
        begin += size
    if last is not None:
        yield last


def _read_match(data: bytes, begin: int, name: str) -> tuple[Match, int]:
    header = Source(data[begin : begin + _HEADER.sizeof()], name, begin).parse(_HEADER, "OGXM")
    if header.major not in (1, 2) or header.least > 2:
        found = f"{header.major}, for readers of {header.least}"
        raise FormatError(f"{name}: byte {begin + 4}: expected version 1 or 2, found {found}")
    size = header.size
    if not 20 <= size <= len(data) - begin:
        most = len(data) - begin
        raise FormatError(f"{name}: byte {begin + 12}: expected a size up to {most}, found {size}")
    source = Source(data[begin : begin + size], name, begin)
    source.parse(_HEADER, "OGXM")
    return (_read_version_1 if header.major == 1 else _read_version_2)(source), size


# -- version 1 -------------------------------------------------------------------------------------------


def _read_version_1(source: Source) -> Match:
    source.parse(_FLAGS_1, "flags")
    match_chunk: Source | None = None
    games: list[Source] = []
    while source.end - source.at > _END_1.sizeof():
        head = source.parse(_CHUNK_1, "a chunk")
        chunk = source.part(head.size, f"chunk {head.letters!r}")
        if head.letters == b"MHDR":
            match_chunk = chunk
        elif head.letters == b"GAME":
            games.append(chunk)
    if source.parse(_END_1, "END! and the size").size != source.end - source.begin:
        raise FormatError(f"{source.name}: byte {source.end - 4}: expected the size of the match after END!")
    if match_chunk is None:
        raise FormatError(f"{source.name}: byte {source.begin}: no match header (MHDR)")
    header = match_chunk.parse(_MATCH_1, "the match header")
    rules = Rules(header.rules.crawford, header.rules.jacoby, header.rules.beavers)
    players = (_text(header.white), _text(header.black))
    match = Match(players, header.length, rules=rules, format=NAME, unit="ply")
    walks = list[GameWalk]()
    for number, chunk in enumerate(games, 1):
        walks.append(GameWalk(match, number=number, scores=_score_after(walks[-1]) if walks else (0, 0)))
        _read_game_1(chunk, walks[-1])
    return finish_match(match, walks)


def _score_after(walk: GameWalk) -> tuple[int, int]:
    """Return the score after a game, at most the match length for each player."""
    out = list(walk.scores)
    most = walk.match.length or sys.maxsize
    if walk.result is not None:
        out[walk.result.winner] += walk.result.points
    return min(out[0], most), min(out[1], most)


def _read_game_1(chunk: Source, walk: GameWalk) -> None:
    game = chunk.parse(_GAME_1, "a game")
    walk.crawford = game.flags.crawford
    if game.winner in (0, 1):
        walk.result = Result(game.winner, game.points)
    start = None if game.start_2 is None else (game.start + game.start_2)[:26]
    _replay(walk, start, None, (_read_ply_1(chunk) for _ in range(game.plies)))


def _read_ply_1(chunk: Source) -> Ply:
    head = chunk.parse(Int8ul, "a ply")
    ply = Ply(head & 31, 0 if head & 32 else 1)
    if ply.action <= 20:
        ply.steps = [step for step in chunk.parse(Bytes(_dice_count(ply.action)), "steps") if step]
    elif ply.action == 31:
        if head & 64:
            both = chunk.parse(Int8ul, "dice")
            ply.dice = (both & 15, both >> 4)
        ply.board = chunk.parse(_BOARD, "a board")
    return ply


def _dice_count(action: int) -> int:
    """Return how many dice a roll has: four for a double."""
    return 4 if ROLLS[action][0] == ROLLS[action][1] else 2


# -- version 2 -------------------------------------------------------------------------------------------


def _read_version_2(source: Source) -> Match:
    match_section: Source | None = None
    games: list[Source] = []
    notes: list[str] = []
    while True:
        at = source.at
        letters = source.parse(_LETTERS_2, "a section or END!")
        if letters == END:
            break
        head = source.parse(_SECTION_2, "a section")
        section = source.part(head.size, f"section {letters!r}")
        if letters == b"MTCH":
            match_section = section
        elif letters == b"GAME":
            games.append(section)
        elif letters == b"CSUM":
            stored = section.parse(_CHECKSUM_2, "a checksum").digest
            checked = source.stream.getbuffer()[: at - source.begin]
            if stored is not None and int.from_bytes(stored, "little") != zlib.crc32(checked):
                notes.append("the checksum of the file is wrong")
        elif head.flags & 1:
            unknown = f"a section {letters!r} that is required and unknown"
            raise FormatError(f"{source.name}: byte {at}: {unknown}")
    if match_section is None:
        raise FormatError(f"{source.name}: byte {source.begin}: no match header (MTCH)")
    header = match_section.parse(_MATCH_2, "the match header")
    if header.variant > 1:
        other = f"variant {header.variant} is neither backgammon nor Nackgammon"
        raise FormatError(f"{source.name}: byte {match_section.at}: {other}")
    rules = Rules(cube_limit=header.cube_limit)
    if header.rules is not None:
        said = header.rules
        rules = Rules(said.crawford, said.jacoby, said.beavers, header.cube_limit, said.automatic)
    players = (_text(header.white), _text(header.black))
    scores = (0, 0) if header.scores is None else (header.scores[0], header.scores[1])
    crawford_seen = bool(header.mask >> 11 & 1) or not rules.crawford
    length = min(header.length, 99_999)
    usual = Match(players, length, rules=rules, format=NAME, unit="ply", notes=tuple(notes))
    variations = [usual, replace(usual, rules=replace(rules, variation="nackgammon"))][: header.variant + 1]
    walks = list[GameWalk]()
    for number, section in enumerate(games, 1):
        crawford = not crawford_seen and one_point_away(usual.length, scores)
        crawford_seen = crawford_seen or crawford
        several = [GameWalk(match, number=number, scores=scores, crawford=crawford) for match in variations]
        for walk in several:
            section.stream.seek(0)
            _read_game_2(section, walk)
        # files that say Nackgammon were met with games from the usual start: the start that fits is taken
        walks.append(min(several, key=lambda walk: (walk.stopped, len(walk.problems))))
        scores = _score_after(walks[-1])
    return finish_match(variations[-1], walks)


def _read_game_2(section: Source, walk: GameWalk) -> None:
    game = section.parse(_GAME_2, "a game")
    if game.winner in (0, 1):
        walk.result = Result(game.winner, min(game.points or 0, 99_999))
    cube = 1 << min(game.automatic or 0, 16) if game.cube is None else game.cube
    turned = (cube, _seat(game.owner)) if cube > 1 and is_cube(cube) else None
    _replay(walk, game.start, turned, _read_plies_2(section))


def _seat(owner: int | None) -> int | None:
    """Return the number of a player, None for anything else."""
    return owner if owner in (0, 1) else None


def _read_plies_2(section: Source) -> Iterator[Ply]:
    while section.at < section.end:
        head = section.parse(Int8ul, "a ply")
        ply = Ply(head & 63, head >> 6 & 1)
        if ply.action <= 20:
            steps = (section.parse(Int8ul, "a step") for _ in range(_dice_count(ply.action)))
            ply.steps = list(takewhile(bool, steps))
        if head & 128:
            more = section.parse(_PLY_2, "a ply")
            ply.dice = more.dice and (more.dice[0], more.dice[1])
            ply.points = more.points or 0
            ply.cube = more.cube
            ply.steps = ply.steps if more.steps is None else list(more.steps)
            ply.board = more.board
            ply.action = ply.action if more.action is None else more.action
            ply.owner = _seat(more.owner)
        if ply.action == 31 and ply.dice is not None:
            ply.player = 1 - ply.player  # the seat of an illegal play is the side to move next
        yield ply
