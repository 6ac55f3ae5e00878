"""What both versions of OGXM share: reading within bounds, and what the codes of actions mean."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from bgfmt.errors import FormatError, PositionError
from bgfmt.extras.matches import plays
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.board import Position

ROLLS = tuple((a, b) for a in range(1, 7) for b in range(a, 7))  # 11 12 13 ... 66


class Source:
    """Bytes being read, between bounds."""

    def __init__(self, data: bytes, at: int, end: int, name: str) -> None:
        self.data, self.at, self.end, self.name = data, at, end, name

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
        """A source of the next so many bytes, which are stepped over here."""
        begin = self.at
        self.take(size, what)
        return Source(self.data, begin, begin + size, self.name)

    def record(self, leading: int = 0) -> tuple[Source, int, list[int]]:
        """The fields of a record, its mask, and the numbers that stand before its fields."""
        fields = self.part(self.varint(), "a record")
        mask = fields.varint()
        return fields, mask, [fields.varint() for _ in range(leading)]

    @property
    def left(self) -> bool:
        return self.at < self.end


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
    illegal: bool = False


def position(board: bytes) -> Position:
    """A board of 26 signed counts, White's positive, White first."""
    counts = struct.unpack("26b", board)
    white = [0, *(max(0, counts[25 - point]) for point in range(1, 26))]
    black = [0, *(max(0, -counts[point]) for point in range(1, 26))]
    return plays.position(white, black).check()


def tell(walk: GameWalk, ply: Ply, at: int) -> None:
    player, action = ply.player, ply.action
    if action <= 20:
        _roll(walk, ply, ROLLS[action], at)
    elif action in (21, 32, 33):
        walk.double(player, at, ply.cube)
    elif action == 22:
        walk.take(player, at)
    elif action == 23:
        walk.drop(player, at)
    elif action in (27, 28, 29):
        walk.resign(player, at, ply.points)
    elif action in (31, 36):
        _set(walk, ply, at)
    elif action == 37:
        walk.turn = 1 - player
    elif action not in (24, 25, 26, 30, 34):
        walk.problem(at, f"an action {action} that is not known")


def _roll(walk: GameWalk, ply: Ply, dice: tuple[int, int], at: int) -> None:
    hops = []
    for step in ply.steps:
        point = step & 31
        start = 25 - point if ply.player == 0 else point
        hops.append((start, max(0, start - (step >> 5))))
    walk.roll(ply.player, dice, hops, at)


def _set(walk: GameWalk, ply: Ply, at: int) -> None:
    try:
        board = None if ply.board is None else position(ply.board)
    except PositionError as error:
        walk.stop(at, str(error))
        return
    if board is not None and ply.dice is not None and all(1 <= die <= 6 for die in ply.dice):
        mover = ply.player
        walk.played_to(mover, ply.dice, board if mover == 0 else board.swapped(), at)
        return
    cube = None
    if ply.cube is not None and 1 <= ply.cube <= 1 << 15 and ply.cube & (ply.cube - 1) == 0:
        cube = (ply.cube, ply.owner)
    if board is not None or cube is not None:
        walk.setup(at, turn=ply.player if board is not None else None, board=board, cube=cube)
