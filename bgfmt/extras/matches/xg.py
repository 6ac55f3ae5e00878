"""Reads eXtreme Gammon's .xg: a header, an archive of zlib streams, and in it records of 2560 bytes.

Only the fields that a match and its analysis need are named; comments and rollouts are skipped. The layout follows
the one that its producer published ("XG file format", GameSite 2000 Ltd), where files agree with it.
"""

from __future__ import annotations

import datetime
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from construct import (
    Array,
    Bytes,
    Construct,
    Container,
    Float32l,
    Float64l,
    Int8sb,
    Int8ub,
    Int32sl,
    Int32ul,
    Pointer,
    Struct,
)

from bgfmt.errors import FormatError, PositionError, TruncatedError
from bgfmt.extras.matches.model import Hops, Match, Opinion, Result, Rules
from bgfmt.extras.matches.plays import signed_position
from bgfmt.extras.matches.walk import GameWalk, finish_match

NAME = "xg"
ENGINE = "eXtreme Gammon"
MONEY = 99_999
VARIATIONS = {0: "backgammon", 1: "nackgammon"}
#: the names of the levels; below 12 they count plies from 0
LEVELS = {12: "3-ply red", 100: "rollout", 998: "opening book", 999: "opening book", 1000: "XG Roller"}
LEVELS |= {1001: "XG Roller+", 1002: "XG Roller++"}
HOW = {0: "pass", 1: "single", 2: "gammon", 3: "backgammon", 4: "match"}

_BOARD = Array(26, Int8sb)


def _layout(**fields: tuple[int, Construct]) -> Struct:
    """Return the structure of a record: each field at its byte."""
    return Struct(*(name / Pointer(at, field) for name, (at, field) in fields.items()))


_ANSI = Struct("length" / Int8ub, "text" / Bytes(40))
_WIDE = Bytes(258)
_MATCH = _layout(
    player1=(9, _ANSI), player2=(50, _ANSI), length=(92, Int32sl), variation=(96, Int32sl),
    rules=(100, Array(4, Int8ub)), date=(128, Float64l), version=(552, Int32sl), magic=(556, Int32ul),
    cube_limit=(612, Int32sl), event=(622, _WIDE), wide1=(880, _WIDE), wide2=(1138, _WIDE), place=(1396, _WIDE),
    round=(1654, _WIDE), transcriber=(1960, _WIDE),
)  # fmt: skip
_GAME = _layout(
    scores=(12, Array(2, Int32sl)), crawford=(20, Int8ub), start=(21, _BOARD), number=(48, Int32sl),
    automatic=(64, Int32sl),
)  # fmt: skip
_CUBE = _layout(
    turn=(12, Int32sl), double=(16, Int32sl), answers=(20, Array(3, Int32sl)), cube=(32, Int32sl),
    board=(36, _BOARD), level=(92, Int32sl), equities=(152, Array(3, Float32l)),
)  # fmt: skip
_MOVE = _layout(
    before=(9, _BOARD), after=(35, _BOARD), mover=(64, Int32sl), pairs=(68, Array(8, Int32sl)),
    dice=(100, Array(2, Int32sl)), cube=(108, Int32sl), count=(188, Int32sl), level=(1280, Int32sl),
    played=(2308, Int8ub), error=(2480, Int32sl),
)  # fmt: skip
_GAME_END = _layout(winner=(24, Int32sl), points=(28, Int32sl), how=(32, Int32sl))
_MAGIC = 0x494C4D44
_PAIRS, _WORTH = struct.Struct("<8b"), struct.Struct("<f")  # of each play in the analysis


def recognise(data: bytes) -> bool:
    """Return whether these bytes begin with the magic number of the container."""
    return data.startswith(b"RGMH")


def read(data: bytes, name: str = "<xg>") -> Iterator[Match]:
    """Yield the match of a file; the field `at` of its records is the number of the record in temp.xg, from 0.

    Raises FormatError if the archive or a record is malformed.
    """
    walks: list[GameWalk] = []
    match: Match | None = None
    notes: list[str] = []
    for number, record in enumerate(records(data, name, notes)):
        kind = record[8]
        if match is None:
            if kind != 0:
                raise FormatError(f"{name}: record 0: expected a match header (type 0), found type {kind}")
            match = _match(_MATCH.parse(record), name)
        elif kind == 1:
            walks.append(_game(_GAME.parse(record), match, number))
        elif kind not in (2, 3, 4, 5):
            raise FormatError(f"{name}: record {number}: expected type 1 to 5, found type {kind}")
        elif kind != 5 and not walks:
            raise FormatError(f"{name}: record {number}: expected a game header (type 1), found type {kind}")
        elif kind != 5:
            walks[-1].at = number
            (_cube, _move, _game_end)[kind - 2](record, walks[-1])
    if match is None:
        raise FormatError(f"{name}: the file has no record")
    yield finish_match(replace(match, notes=tuple(notes)), walks)


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
    keys = ["event", "place", "round", "wide1", "wide2"] if header.version >= 24 else []
    keys += ["transcriber"] if header.version >= 30 else []
    texts = {key: _wide(header[key]) for key in keys}
    one = texts.pop("wide1", "") or _ansi(header.player1)
    two = texts.pop("wide2", "") or _ansi(header.player2)
    crawford, jacoby, beaver, automatic = map(bool, header.rules)
    limit = 1 << header.cube_limit if 0 < header.cube_limit <= 15 else None
    return Match(
        (one, two),
        0 if header.length == MONEY else header.length,
        rules=Rules(crawford, jacoby, beaver, limit, automatic, VARIATIONS[header.variation]),
        event=texts.get("event", ""),
        place=texts.get("place", ""),
        date=_date(header.date),
        round=texts.get("round", ""),
        headers={key: value for key, value in texts.items() if value},
        format=NAME,
    )


def _ansi(text: Container) -> str:
    return str(text.text[: text.length].decode("cp1252", "replace")).strip()


def _wide(data: bytes) -> str:
    """Decode UTF-16 up to the first 0; what follows it is undefined."""
    return data.decode("utf-16-le", "replace").partition("\0")[0].strip()


def _date(days: float) -> str:
    if not 1 <= days < 200_000:
        return ""
    return (datetime.date(1899, 12, 30) + datetime.timedelta(int(days))).isoformat()


def _game(header: Container, match: Match, number: int) -> GameWalk:
    scores = max(0, header.scores[0]), max(0, header.scores[1])
    walk = GameWalk(match, number=header.number, scores=scores, crawford=bool(header.crawford), at=number)
    if min(header.scores) < 0:
        walk.problem("a score below 0, read as 0")
    if any(header.start):
        try:
            walk.begin(signed_position(header.start))
        except PositionError:
            walk.problem("the starting board is invalid")
    if header.automatic > 0:
        walk.problem(f"{header.automatic} automatic double(s) that are not in the cube value")
    return walk


def _player(number: int) -> int:
    return 1 if number == -1 else 0


def _see(walk: GameWalk, counts: list[int], cube: int) -> None:
    """Compare the walk with a board (player 0 first) and a cube: a power of two, negative if player 1 owns it."""
    owner = None if cube == 0 else int(cube < 0)
    try:
        walk.see(signed_position(counts), (1 << min(abs(cube), 15), owner))
    except PositionError:
        walk.problem("an impossible board")


def _cube(record: bytes, walk: GameWalk) -> None:
    cube = _CUBE.parse(record)
    player = _player(cube.turn)
    _see(walk, cube.board, cube.cube)
    rolling, taken, passed = cube.equities
    known = cube.double >= 0 and passed == 1.0 and _finite(cube.equities)
    walk.opinion = Opinion(ENGINE, cube_level=_level(cube.level), cube=(rolling, taken) if known else None)
    if cube.double == -1:
        walk.resign(player)
    if cube.double != 1:
        return
    walk.double(player)
    for may_beaver, answer in zip((True, True, False), cube.answers, strict=True):
        player = 1 - player
        if answer == 2 and may_beaver:
            walk.double(player)
            continue
        if answer == 0:
            walk.drop(player)
        elif answer in (1, 2):
            walk.take(player)
        return


def _move(record: bytes, walk: GameWalk) -> None:
    move = _MOVE.parse(record)
    player = _player(move.mover)
    dice = (move.dice[0], move.dice[1])
    _see(walk, move.before, move.cube)
    if not move.played:
        walk.add_unplayed(player, dice)
        return
    try:
        after = signed_position(move.after)
    except PositionError:
        walk.stop("an impossible board after the play")
        return
    several = [
        (_hops(_PAIRS.unpack_from(record, 1024 + 8 * k)), _WORTH.unpack_from(record, 1432 + 28 * k)[0])
        for k in range(min(max(0, move.count), 32))
    ]
    cube = walk.opinion or Opinion(ENGINE)
    known = tuple(play for play in several if _finite(play[1:]))
    walk.opinion = replace(cube, level=_level(move.level & 0xFFFF), plays=known)
    if move.error == 2:
        walk.add_board(player, dice, after)
    else:
        walk.roll(player, dice, list(_hops(move.pairs)), board=after)
    walk.opinion = None


def _hops(pairs: Sequence[int]) -> Hops:
    """Return (from, to) of each chequer of a play, counted from 1, 25 the bar and 0 off."""
    several = zip(pairs[::2], pairs[1::2], strict=True)
    return tuple((start + 1, max(0, end + 1)) for start, end in takewhile(lambda pair: pair[0] >= 0, several))


def _level(number: int) -> str:
    return LEVELS.get(number) or (f"{number + 1}-ply" if 0 <= number < 12 else "")


def _finite(numbers: Iterable[float]) -> bool:
    """Return whether all numbers are finite and small enough to be equities."""
    return all(abs(number) < 100 for number in numbers)


def _game_end(record: bytes, walk: GameWalk) -> None:
    end = _GAME_END.parse(record)
    how = HOW.get(end.how % 100, "") if end.how >= 0 else ""
    resigned = end.how // 100 % 10 == 1
    settled = end.how >= 1000
    walk.result = Result(_player(end.winner), end.points, how, resigned, settled)


# -- the archive --------------------------------------------------------------------------------------


RECORD = 2560
MAX_RECORDS = 50_000  # over 500 games

_HEADER = struct.Struct("<8xI8xI")  # size, size of the picture that follows
_END = struct.Struct("<I4x4I12x")  # CRC-32, version, size of the index, size, whether the index is packed
#: length and text of the name, size, byte, whether it is stored plainly
_MEMBER = struct.Struct("<B255s260xII4xB3x")
MAX_MEMBERS = 100


def records(data: bytes, name: str, notes: list[str]) -> list[bytes]:
    """Return the records of the part temp.xg of an .xg file; no more is unpacked than a match may have.

    name : for errors. notes : receives messages about problems.
    """
    if len(data) < _HEADER.size:
        raise FormatError(
            f"{name}: byte {len(data)}: expected a header of {_HEADER.size} bytes, found the end"
        )
    begin = sum(_HEADER.unpack_from(data))
    if begin >= len(data):
        raise TruncatedError(name, begin + 1, len(data), "header with its picture, and what follows,")
    most = MAX_RECORDS * RECORD
    at, stored, plain = _member(data, begin, notes)
    stream = zlib.decompressobj()
    try:
        whole = data[at : at + stored] if plain else stream.decompress(data[at:], most + 1)
    except zlib.error as error:
        raise FormatError(f"{name}: byte {at}: expected a zlib stream ({error})") from None
    if len(whole) > most:
        raise FormatError(f"{name}: the file has more than {MAX_RECORDS:,} records")
    if not (plain or stream.eof):
        raise FormatError(f"{name}: byte {len(data)}: cut short, the match's stream goes on")
    count, rest = divmod(len(whole), RECORD)
    if rest:
        raise FormatError(
            f"{name}: expected whole records of {RECORD} bytes, found {rest} bytes after {count}"
        )
    return [whole[at : at + RECORD] for at in range(0, len(whole), RECORD)]


def _member(data: bytes, begin: int, notes: list[str]) -> tuple[int, int, bool]:
    """Return where temp.xg lies by the index at the end: (byte, stored size, whether it is stored plainly)."""
    end = len(data) - _END.size
    if end >= begin:
        crc, version, index_size, stored, packed = _END.unpack_from(data, end)
        if version == 1 and end - index_size - stored == begin:
            if zlib.crc32(data[begin:end]) != crc:
                notes.append("the checksum of the archive is wrong")
            index = data[end - index_size : end]
            try:
                if packed:
                    index = zlib.decompressobj().decompress(index, MAX_MEMBERS * _MEMBER.size)
                for length, text, size, start, plain in _MEMBER.iter_unpack(index):
                    if text[:length].lower() == b"temp.xg" and start < stored:
                        return begin + start, size, bool(plain)
            except (zlib.error, struct.error):
                pass
    notes.append("the archive has no index; its first member is read")
    return begin, 0, False
