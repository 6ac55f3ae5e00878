"""Reads OGXM, versions 1 and 2, and streams of them: the format of HedgeHog, OpenGammon and GammonView.

Both versions record moves; boards come only where somebody set one. White, player 0 here, moves from point 1 of the
frame up to 24, his bar 0; Black moves down, his bar 25.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from bgfmt.errors import FormatError, PositionError, format_bytes
from bgfmt.extras.matches.model import Match, Result, Rules, is_cube, one_point_away
from bgfmt.extras.matches.plays import signed_position
from bgfmt.extras.matches.walk import GameWalk, finish_match
from bgfmt.game.board import Position

ROLLS = tuple((a, b) for a in range(1, 7) for b in range(a, 7))  # 11 12 13 ... 66


@dataclass
class Source:
    """Cursor over a range of bytes."""

    data: bytes
    at: int
    end: int
    name: str

    def bad(self, expected: str, found: object) -> FormatError:
        return FormatError(f"{self.name}: byte {self.at}: expected {expected}, found {found}")

    def take(self, size: int, what: str) -> bytes:
        if size > self.end - self.at:
            raise self.bad(f"{size} bytes of {what}", f"{self.end - self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def unpack(self, form: str, what: str) -> tuple[int, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form), what))

    def byte(self) -> int:
        return self.take(1, "data")[0]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise self.bad("the end of a number", "more of it")

    def text(self, size: int) -> str:
        return self.take(size, "text").decode("utf-8", "replace").strip()

    def part(self, size: int, what: str) -> Source:
        """Return a cursor over the next `size` bytes, and skip them here."""
        begin = self.at
        self.take(size, what)
        return Source(self.data, begin, begin + size, self.name)

    def record(self, leading: int = 0) -> tuple[Source, int, list[int]]:
        """Return a cursor over the next record's fields, its field mask, and `leading` numbers before the fields."""
        fields = self.part(self.varint(), "a record")
        mask = fields.varint()
        return fields, mask, [fields.varint() for _ in range(leading)]


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


def _position(board: bytes, walk: GameWalk, at: int) -> Position | None:
    """Return the position, White first, of 26 signed counts with White's positive.

    Stop the walk if there is none such.
    """
    try:
        return signed_position(struct.unpack("26b", board)[::-1])
    except PositionError as error:
        walk.stop(at, str(error))
        return None


def add_ply(walk: GameWalk, ply: Ply, at: int) -> None:
    """Add the events of one ply to the walk."""
    player = ply.player
    action = ply.action
    if action <= 20:
        points = [(25 - (step & 31) if player == 0 else step & 31, step >> 5) for step in ply.steps]
        walk.roll(player, ROLLS[action], [(start, max(0, start - die)) for start, die in points], at)
    elif action in (21, 32, 33):
        walk.double(player, at, ply.cube)
    elif action == 22:
        walk.take(player, at)
    elif action == 23:
        walk.drop(player, at)
    elif action in (27, 28, 29):
        walk.resign(player, at, ply.points)
    elif action in (31, 36):
        _set_up(walk, ply, at)
    elif action == 37:
        walk.turn = 1 - player
    elif action not in (24, 25, 26, 30, 34):
        walk.problem(at, f"an action {action} that is not known")


def _set_up(walk: GameWalk, ply: Ply, at: int) -> None:
    board = None if ply.board is None else _position(ply.board, walk, at)
    if board is None and ply.board is not None:
        return
    if board is not None and ply.dice is not None and all(1 <= die <= 6 for die in ply.dice):
        walk.add_board(ply.player, ply.dice, board if ply.player == 0 else board.swapped(), at)
        return
    cube = (ply.cube, ply.owner) if ply.cube is not None and is_cube(ply.cube) else None
    if board is not None or cube is not None:
        walk.setup(at, turn=ply.player if board is not None else None, board=board, cube=cube)


NAME = "ogxm"


def recognise(data: bytes) -> bool:
    """Return whether these bytes begin with "OGXM"."""
    return data.startswith(b"OGXM")


def read(data: bytes, name: str = "<ogxm>") -> Iterator[Match]:
    """Yield the matches of a file or stream; a record's `at` is the number of its ply in the game, from 1.

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
            last = replace(last, notes=(*last.notes, f"the stream after it is left out: {error}"))
            break
        if last is not None:
            yield last
        last = match
        begin += size
    if last is not None:
        yield last


def _read_match(data: bytes, begin: int, name: str) -> tuple[Match, int]:
    source = Source(data, begin, len(data), name)
    if source.take(4, "OGXM") != b"OGXM":
        raise FormatError(
            f"{name}: byte {begin}: expected OGXM, found {format_bytes(data[begin : begin + 4])}"
        )
    major, _, least, _ = source.unpack("<HHHH", "versions")
    if major not in (1, 2) or least > 2:
        source.at = begin + 4
        raise source.bad("version 1 or 2", f"{major}, for readers of {least}")
    size = source.unpack("<I", "the size")[0]
    if not 20 <= size <= len(data) - begin:
        source.at = begin + 12
        raise source.bad(f"a size up to {len(data) - begin}", size)
    source.end = begin + size
    return (_read_version_1 if major == 1 else _read_version_2)(source, begin), size


# -- version 1 -------------------------------------------------------------------------------------------


def _read_version_1(source: Source, begin: int) -> Match:
    source.unpack("<I", "flags")
    header: Source | None = None
    games: list[Source] = []
    while source.end - source.at > 8:
        letters = source.take(4, "a chunk")
        size, _, _ = source.unpack("<IHH", "a chunk")
        chunk = source.part(size, f"chunk {letters!r}")
        if letters == b"MHDR":
            header = chunk
        elif letters == b"GAME":
            games.append(chunk)
    if source.take(4, "END!") != b"END!" or source.unpack("<I", "the size again")[0] != source.end - begin:
        raise source.bad("END! and the size", "something else")
    if header is None:
        raise FormatError(f"{source.name}: byte {begin}: no match header (MHDR)")
    length, _, flags, *_ = header.unpack("<HBBHHBBIH8s", "the match header")
    players = (header.text(header.byte()), header.text(header.byte()))
    rules = Rules(bool(flags & 1), bool(flags & 2), bool(flags & 4))
    match = Match(players, length, rules=rules, format=NAME, unit="ply")
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
    _, count, winner, points, flags, _, _ = chunk.unpack("<BHBBBBB", "a game")
    walk.crawford = bool(flags & 1)
    if winner in (0, 1):
        walk.result = Result(winner, points)
    start = chunk.take(2, "a start")
    if start != b"\xff\xff" and (board := _position((start + chunk.take(25, "a start"))[:26], walk, 0)):
        walk.begin(board)
    for at in range(1, count + 1):
        head = chunk.byte()
        ply = Ply(head & 31, 0 if head & 32 else 1)
        if ply.action <= 20:
            steps = chunk.take(_dice_count(ply.action), "steps")
            ply.steps = [step for step in steps if step]
        elif ply.action == 31:
            if head & 64:
                both = chunk.byte()
                ply.dice = (both & 15, both >> 4)
            ply.board = chunk.take(26, "a board")
        add_ply(walk, ply, at)


def _dice_count(action: int) -> int:
    """Return how many dice a roll has: four for a double."""
    return 4 if ROLLS[action][0] == ROLLS[action][1] else 2


# -- version 2 -------------------------------------------------------------------------------------------


def _read_version_2(source: Source, begin: int) -> Match:
    header: Source | None = None
    games: list[Source] = []
    notes: list[str] = []
    while True:
        at = source.at
        letters = source.take(4, "a section or END!")
        if letters == b"END!":
            break
        size, flags = source.unpack("<IB", "a section")
        section = source.part(size, f"section {letters!r}")
        if letters == b"MTCH":
            header = section
        elif letters == b"GAME":
            games.append(section)
        elif letters == b"CSUM":
            fields, _, (kind, size) = section.record(2)
            digest = fields.take(size, "a digest") if kind == 0 else b""
            if kind == 0 and int.from_bytes(digest, "little") != zlib.crc32(source.data[begin:at]):
                notes.append("the checksum of the file is wrong")
        elif flags & 1:
            unknown = f"a section {letters!r} that must be known, and is not"
            raise FormatError(f"{source.name}: byte {at}: {unknown}")
    if header is None:
        raise FormatError(f"{source.name}: byte {begin}: no match header (MTCH)")
    fields, mask, (length, variant) = header.record(2)
    if variant > 1:
        other = f"variant {variant} is neither backgammon nor Nackgammon"
        raise FormatError(f"{source.name}: byte {header.at}: {other}")
    names = [fields.text(fields.varint()) if mask >> bit & 1 else "" for bit in (0, 1)]
    rules = Rules()
    players = (names[0], names[1])
    if mask & 4:
        flags = fields.varint()
        crawford, jacoby, beavers, automatic = (bool(flags & bit) for bit in (1, 2, 4, 16))
        rules = Rules(crawford, jacoby, beavers, None, automatic)
    rules = replace(rules, cube_limit=fields.varint() if mask & 8 else None)
    scores = (fields.varint(), fields.varint()) if mask & 16 else (0, 0)
    crawford_seen = bool(mask >> 11 & 1) or not rules.crawford
    usual = Match(players, min(length, 99_999), rules=rules, format=NAME, unit="ply", notes=tuple(notes))
    starts = [usual, replace(usual, rules=replace(rules, variation="nackgammon"))][: variant + 1]
    walks = list[GameWalk]()
    for number, section in enumerate(games, 1):
        crawford = not crawford_seen and one_point_away(usual.length, scores)
        crawford_seen = crawford_seen or crawford
        several = [GameWalk(match, number=number, scores=scores, crawford=crawford) for match in starts]
        for walk in several:
            _read_game_2(section, walk)
        # files that say Nackgammon were met with games from the usual start: the start that fits is taken
        walks.append(min(several, key=lambda walk: (walk.stopped, len(walk.problems))))
        scores = _score_after(walks[-1])
    return finish_match(starts[-1], walks)


def _read_game_2(section: Source, walk: GameWalk) -> None:
    section = replace(section)  # it may be read for another start, too
    fields, mask, _ = section.record()
    winner = fields.varint() if mask & 1 else None
    points = fields.varint() if mask & 2 else 0
    if winner in (0, 1):
        walk.result = Result(winner, min(points, 99_999))
    if mask & 8 and (board := _position(fields.take(26, "a board"), walk, 0)):
        walk.begin(board)
    value = fields.varint() if mask & 16 else None
    owner = fields.varint() if mask & 32 else None
    automatic = fields.varint() if mask & 64 else 0
    cube = 1 << min(automatic, 16) if value is None else value
    if cube > 1 and is_cube(cube):
        walk.setup(0, cube=(cube, owner if owner in (0, 1) else None))
    for at, ply in enumerate(_read_plies_2(section), 1):
        if ply.action == 31 and ply.dice is not None:
            ply.player = 1 - ply.player  # the seat of an illegal play is the side to move next
        add_ply(walk, ply, at)


def _read_plies_2(section: Source) -> Iterator[Ply]:
    while section.at < section.end:
        head = section.byte()
        ply = Ply(head & 63, head >> 6 & 1)
        if ply.action <= 20:
            steps = (section.byte() for _ in range(_dice_count(ply.action)))
            ply.steps = list(takewhile(bool, steps))
        if head & 128:
            fields, mask, _ = section.record()
            ply.dice = (fields.byte(), fields.byte()) if mask & 1 else None
            ply.points = fields.varint() if mask & 2 else 0
            ply.cube = fields.varint() if mask & 4 else None
            fields.take(4 if mask & 16 else 0, "a settlement")
            ply.steps = list(fields.take(fields.varint(), "steps")) if mask & 32 else ply.steps
            ply.board = fields.take(26, "a board") if mask & 64 else None
            ply.action = fields.varint() if mask & 128 else ply.action
            owner = fields.varint() if mask & 256 else None
            ply.owner = owner if owner in (0, 1) else None
        yield ply
