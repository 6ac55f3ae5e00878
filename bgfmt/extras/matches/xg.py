"""Reads eXtreme Gammon's .xg: a header, an archive of zlib streams, and in it records of 2560 bytes.

Only the fields that a match needs are named; analyses, comments and rollouts are stepped over. The layout is the one
its producer published ("XG file format", GameSite 2000 Ltd), where files agree with it.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from construct import (
    Array,
    Bytes,
    Const,
    Construct,
    ConstructError,
    Container,
    Float64l,
    Int8sb,
    Int8ub,
    Int32sl,
    Int32ul,
    Padding,
    Pointer,
    Struct,
)

from bgfmt.errors import FormatError, PositionError, TruncatedError
from bgfmt.extras.matches import plays
from bgfmt.extras.matches.model import Match, Result, Rules, checked
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.board import Position

NAME = "xg"
MONEY = 99_999
VARIATIONS = {0: "backgammon", 1: "nackgammon"}
HOW = {0: "pass", 1: "single", 2: "gammon", 3: "backgammon", 4: "match"}

_BOARD = Array(26, Int8sb)


def _at(offset: int, field: Construct) -> Any:
    return Pointer(offset, field)


_ANSI = Struct("length" / Int8ub, "text" / Bytes(40))
_WIDE = Bytes(258)
_MATCH = Struct(
    "player1" / _at(9, _ANSI), "player2" / _at(50, _ANSI),
    "length" / _at(92, Int32sl), "variation" / _at(96, Int32sl), "rules" / _at(100, Array(4, Int8ub)),
    "date" / _at(128, Float64l), "version" / _at(552, Int32sl), "magic" / _at(556, Int32ul),
    "cube_limit" / _at(612, Int32sl), "event" / _at(622, _WIDE), "wide1" / _at(880, _WIDE),
    "wide2" / _at(1138, _WIDE), "place" / _at(1396, _WIDE),
    "round" / _at(1654, _WIDE), "transcriber" / _at(1960, _WIDE),
)  # fmt: skip
_GAME = Struct(
    "scores" / _at(12, Array(2, Int32sl)), "crawford" / _at(20, Int8ub), "start" / _at(21, _BOARD),
    "number" / _at(48, Int32sl), "automatic" / _at(64, Int32sl),
)  # fmt: skip
_CUBE = Struct(
    "turn" / _at(12, Int32sl), "double" / _at(16, Int32sl), "answers" / _at(20, Array(3, Int32sl)),
    "cube" / _at(32, Int32sl), "board" / _at(36, _BOARD),
)  # fmt: skip
_MOVE = Struct(
    "before" / _at(9, _BOARD), "after" / _at(35, _BOARD), "mover" / _at(64, Int32sl),
    "pairs" / _at(68, Array(8, Int32sl)), "dice" / _at(100, Array(2, Int32sl)), "cube" / _at(108, Int32sl),
    "played" / _at(2308, Int8ub), "error" / _at(2480, Int32sl),
)  # fmt: skip
_GAME_END = Struct("winner" / _at(24, Int32sl), "points" / _at(28, Int32sl), "how" / _at(32, Int32sl))
_MAGIC = 0x494C4D44


def recognise(data: bytes) -> bool:
    """Whether it begins with the container's four letters."""
    return data.startswith(b"RGMH")


def read(data: bytes, name: str = "<xg>") -> Iterator[Match]:
    """The match of a file; a record's `at` is the number of its record, from 0.

    Raises
    ------
    FormatError where the archive or a record cannot be.
    """
    walks: list[GameWalk] = []
    match: Match | None = None
    notes: list[str] = []
    for number, record in enumerate(records(data, name, notes)):
        kind = record[8]
        try:
            if match is None:
                if kind != 0:
                    raise FormatError(
                        f"{name}: record 0: expected a match header (type 0), found type {kind}"
                    )
                match = _match(_MATCH.parse(record), name)
            elif kind == 1:
                walks.append(_game(_GAME.parse(record), match, number))
            elif kind == 5:
                pass
            elif kind not in (2, 3, 4):
                raise FormatError(f"{name}: record {number}: expected type 1 to 5, found type {kind}")
            elif not walks:
                raise FormatError(
                    f"{name}: record {number}: expected a game header (type 1), found type {kind}"
                )
            else:
                (_cube, _move, _game_end)[kind - 2](record, walks[-1], number)
        except ConstructError as error:
            raise FormatError(f"{name}: record {number}: cannot be read ({type(error).__name__})") from None
    if match is None:
        raise FormatError(f"{name}: no record in it")
    yield checked(replace(match, games=tuple(walk.finish() for walk in walks), notes=tuple(notes)))


# -- the records -----------------------------------------------------------------------------------------


def _match(header: Container, name: str) -> Match:
    if header.magic != _MAGIC:
        raise FormatError(f"{name}: record 0: expected the mark of a match, found {header.magic:#010x}")
    if header.variation not in VARIATIONS:
        raise FormatError(
            f"{name}: record 0: variation {header.variation} is neither backgammon nor Nackgammon"
        )
    if not 0 <= header.length <= MONEY:
        raise FormatError(f"{name}: record 0: expected the length of a match, found {header.length}")
    wide = header.version >= 24
    players = [_wide(header.wide1), _wide(header.wide2)] if wide else ["", ""]
    players = [
        player or _ansi(old) for player, old in zip(players, (header.player1, header.player2), strict=True)
    ]
    crawford, jacoby, beaver, automatic = map(bool, header.rules)
    limit = header.cube_limit
    rules = Rules(
        crawford,
        jacoby,
        beaver,
        1 << limit if 0 < limit <= 15 else None,
        automatic,
        VARIATIONS[header.variation],
    )
    texts = {
        "event": _wide(header.event), "place": _wide(header.place), "round": _wide(header.round),
        "transcriber": _wide(header.transcriber) if header.version >= 30 else "",
    } if wide else {}  # fmt: skip
    return Match(
        (players[0], players[1]), 0 if header.length == MONEY else header.length, (), rules,
        event=texts.get("event", ""), place=texts.get("place", ""), date=_date(header.date),
        round=texts.get("round", ""), headers={key: value for key, value in texts.items() if value}, format=NAME,
    )  # fmt: skip


def _ansi(text: Container) -> str:
    return str(text.text[: text.length].decode("cp1252", "replace")).strip()


def _wide(data: bytes) -> str:
    """UTF-16 up to the first 0; what stands after it is rubbish."""
    for at in range(0, len(data), 2):
        if data[at : at + 2] == b"\0\0":
            return data[:at].decode("utf-16-le", "replace").strip()
    return data.decode("utf-16-le", "replace").strip()


def _date(days: float) -> str:
    if not 1 <= days < 200_000:
        return ""
    return (datetime.date(1899, 12, 30) + datetime.timedelta(int(days))).isoformat()


def _game(header: Container, match: Match, number: int) -> GameWalk:
    scores = (header.scores[0], header.scores[1])
    walk = GameWalk(
        match.players,
        match.length,
        match.rules,
        number=header.number,
        scores=scores,
        crawford=bool(header.crawford),
    )
    if any(header.start):
        start = _board(header.start)
        if start is None:
            walk.problem(number, "the board at the start is none")
        else:
            walk.begin(start)
    if header.automatic > 0:
        walk.problem(number, f"{header.automatic} automatic double(s), which the cube does not show")
    return walk


def _board(counts: list[int]) -> Position | None:
    """A board seen by the one whose chequers are positive, who comes first; None where it cannot be."""
    mine = [0, *(max(0, n) for n in counts[1:])]
    theirs = [0, *(max(0, -n) for n in counts[24::-1])]
    try:
        return plays.position(mine, theirs).check()
    except PositionError:
        return None


def _player(number: int) -> int:
    return 1 if number == -1 else 0


def _stands(cube: int) -> tuple[int, int | None]:
    """Value and owner of a cube as a signed power of two."""
    power = min(abs(cube), 15)
    return 1 << power, None if cube == 0 else 0 if cube > 0 else 1


def _see(walk: GameWalk, counts: list[int], cube: int, number: int) -> None:
    board = _board(counts)
    if board is None:
        walk.problem(number, "a board that cannot be")
    else:
        walk.see(0, board, number, *_stands(cube))


def _cube(record: bytes, walk: GameWalk, number: int) -> None:
    cube = _CUBE.parse(record)
    player = _player(cube.turn)
    _see(walk, cube.board, cube.cube, number)
    if cube.double == -1:
        walk.resign(player, number)
    if cube.double != 1:
        return
    walk.double(player, number)
    answer, beaver, raccoon = cube.answers
    player = 1 - player
    for turned in (answer == 2, beaver == 2):
        if turned:
            walk.double(player, number)
            player = 1 - player
    last = raccoon if answer == 2 and beaver == 2 else beaver if answer == 2 else answer
    if last == 0:
        walk.drop(player, number)
    elif last in (1, 2):
        walk.take(player, number)


def _move(record: bytes, walk: GameWalk, number: int) -> None:
    move = _MOVE.parse(record)
    player = _player(move.mover)
    dice = (move.dice[0], move.dice[1])
    _see(walk, move.before, move.cube, number)
    if not all(1 <= die <= 6 for die in dice):
        walk.stop(number, f"dice of {dice[0]} and {dice[1]}")
        return
    if not move.played:
        walk.unplayed(player, dice, number)
        return
    hops = []
    for start, end in zip(move.pairs[::2], move.pairs[1::2], strict=True):
        if start < 0:
            break
        hops.append((start + 1, max(0, end + 1)))
    after = _board(move.after)
    if move.error == 2 or after is None:
        if after is None:
            walk.stop(number, "a board after the play that cannot be")
        else:
            walk.played_to(player, dice, after, number)
        return
    walk.roll(player, dice, hops, number, board=after)


def _game_end(record: bytes, walk: GameWalk, number: int) -> None:
    end = _GAME_END.parse(record)
    how = end.how % 100 if end.how >= 0 else -1
    walk.result = Result(
        _player(end.winner),
        end.points,
        HOW.get(how, ""),
        resigned=end.how // 100 % 10 == 1,
        settled=end.how >= 1000,
    )


# -- the archive --------------------------------------------------------------------------------------


RECORD = 2560
MOST_RECORDS = 50_000  # over 500 games
INDEX_RECORD = 532

_HEADER = Struct(
    "magic" / Const(b"RGMH"), "version" / Int32ul, "size" / Int32ul, Padding(8), "thumbnail" / Int32ul
)
_END = Struct(
    "crc" / Int32ul, "members" / Int32ul, "version" / Int32ul, "index_size" / Int32ul, "size" / Int32ul,
    "compressed" / Int32ul, Padding(12),
)  # fmt: skip
_MEMBER = Struct(
    "length" / Int8ub, "name" / Bytes(255), Padding(256), "size" / Int32ul, "stored" / Int32ul, "start" / Int32ul,
    "crc" / Int32ul, "plain" / Int8ub, Padding(3),
)  # fmt: skip


def records(data: bytes, name: str, notes: list[str]) -> Iterator[bytes]:
    """The records of temp.xg, inflated one by one; a bomb is never held in memory."""
    try:
        header = _HEADER.parse(data)
    except ConstructError:
        raise FormatError(f"{name}: byte 0: expected the header of an .xg file, found {data[:8]!r}") from None
    begin = header.size + header.thumbnail
    if header.size < 24:
        raise FormatError(f"{name}: byte 8: expected the size of the header, found {header.size}")
    if begin >= len(data):
        raise TruncatedError(name, begin + 1, len(data), "header with its picture, and what follows,")
    member = _member(data, begin, notes)
    crc, count, rest = 0, 0, b""
    for piece in _pieces(data, member or (begin, 0, 0, False), name):
        crc = zlib.crc32(piece, crc)
        rest += piece
        whole = len(rest) - len(rest) % RECORD
        for at in range(0, whole, RECORD):
            count += 1
            if count > MOST_RECORDS:
                raise FormatError(f"{name}: more than {MOST_RECORDS:,} records in it")
            yield rest[at : at + RECORD]
        rest = rest[whole:]
    if rest:
        raise FormatError(
            f"{name}: expected whole records of {RECORD} bytes, found {len(rest)} bytes after {count}"
        )
    if member is not None and crc != member[2]:
        notes.append("the checksum of the match in the archive is wrong")


def _member(data: bytes, begin: int, notes: list[str]) -> tuple[int, int, int, bool] | None:
    """Where temp.xg lies: (byte, stored size, CRC-32, stored plainly); None where there is no sound index."""
    if len(data) < begin + _END.sizeof():
        return None
    end = _END.parse(data[-_END.sizeof() :])
    index = len(data) - _END.sizeof() - end.index_size
    if end.version != 1 or index - end.size != begin or not 1 <= end.members <= 100:
        notes.append("the archive has no index; its first member is read")
        return None
    if zlib.crc32(data[begin : -_END.sizeof()]) != end.crc:
        notes.append("the checksum of the archive is wrong")
    packed = data[index : index + end.index_size]
    size = end.members * INDEX_RECORD
    try:
        entries = zlib.decompressobj().decompress(packed, size) if end.compressed else packed[:size]
    except zlib.error:
        entries = b""
    for at in range(0, len(entries) - INDEX_RECORD + 1, INDEX_RECORD):
        entry = _MEMBER.parse(entries[at : at + INDEX_RECORD])
        if entry.name[: entry.length].lower() == b"temp.xg" and entry.start < end.size:
            return begin + entry.start, entry.stored, entry.crc, bool(entry.plain)
    notes.append("the archive's index names no match; its first member is read")
    return None


def _pieces(data: bytes, member: tuple[int, int, int, bool], name: str) -> Iterator[bytes]:
    at, size, _, plain = member
    if plain:
        yield data[at : at + min(size, MOST_RECORDS * RECORD)]
        return
    stream = zlib.decompressobj()
    while not stream.eof:
        piece = stream.unconsumed_tail
        if not piece:
            piece = data[at : at + 65536]
            at += len(piece)
        if not piece:
            raise FormatError(f"{name}: byte {at}: cut short, the match's stream goes on")
        try:
            yield stream.decompress(piece, 64 * RECORD)
        except zlib.error as error:
            raise FormatError(f"{name}: byte {member[0]}: expected a zlib stream ({error})") from None


__all__ = ["NAME", "read", "recognise"]
