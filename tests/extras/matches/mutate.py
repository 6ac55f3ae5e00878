"""Damaged matches: bytes changed, cut, doubled and moved, inside packed forms too.

`python -m tests.extras.matches.mutate FILE [COUNT]` reads COUNT damaged copies and says how each ended.
"""

from __future__ import annotations

import collections
import random
import struct
import sys
import time
import zlib
from pathlib import Path

from bgfmt.errors import BgfmtError
from bgfmt.extras.matches import read
from bgfmt.extras.matches.decisions import decisions
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.sgf import write_sgf

ODD = (
    b"",
    b"\0",
    b"\xff",
    b"\x80",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"(",
    b"[",
    b"]",
    b":",
    b"*",
    b"25/",
    b"\x1b[2J",
)


def damaged(data: bytes, source: random.Random) -> bytes:
    """The bytes with some damage."""
    out = bytearray(data)
    for _ in range(source.randint(1, 8)):
        at = source.randrange(len(out) + 1)
        how = source.randrange(7)
        if how == 0 and at < len(out):
            out[at] = source.randrange(256)
        elif how == 1 and at < len(out):
            out[at] ^= 1 << source.randrange(8)
        elif how == 2:
            out[at:at] = source.choice(ODD)
        elif how == 3:
            del out[at : at + source.randint(1, 40)]
        elif how == 4:
            out[at:at] = out[at : at + source.randint(1, 400)]
        elif how == 5:
            other = source.randrange(len(out) + 1)
            size = source.randint(1, 60)
            out[at : at + size] = out[other : other + size]
        elif source.random() < 0.1:
            del out[at:]
    return bytes(out)


def repacked(data: bytes, source: random.Random) -> bytes:
    """The same with the damage inside of what is packed; at times the container is damaged instead."""
    if source.random() < 0.2:
        return damaged(data, source)
    if data.startswith(b"RGMH"):
        size, thumbnail = struct.unpack_from("<I8xI", data, 8)
        begin = size + thumbnail
        inner = zlib.decompressobj().decompress(data[begin:])
        if source.random() < 0.7:  # whole records, fields of them
            out = bytearray(inner)
            for _ in range(source.randint(1, 20)):
                at = source.randrange(len(out) // 2560) * 2560 + source.choice(
                    (8, *range(9, 130), 2308, 2480)
                )
                out[at] = source.choice((0, 1, 2, 3, 4, 255, 127, 128, source.randrange(256)))
            inner = bytes(out)
        else:
            inner = damaged(inner, source)
        return data[:begin] + zlib.compress(inner, 1)
    if data.startswith(b"{"):
        line, _, body = data.partition(b"\n")
        return line + b"\n" + zlib.compress(damaged(zlib.decompress(body, 47), source), 1)
    return damaged(data, source)


#: plays that are lost, a forfeit, and boards in their place
LOST_PLAYS = b"""
 5 point match

 Game 1
 A : 0            B : 0
  1) 31: Illegal play (5;0;0;1;3;1;3;1;1;1;0;-2;0;0;0;1;4;0;2;1;0;0;-5;5;0;0;0;-3;0;-5;0;0;0;0;2;0;1;0)    42: 8/4 6/4
  2) 31: ~~~       64:
  3) Doubles => 2    Takes
   Wins 100 points

 Game 2
 A : 1     B : 0
  1) 31: 8/5 6/5     42: Resigns
"""


def one(data: bytes) -> str:
    """How reading, walking and writing ends: in a match, or in the kind of error, which must say it in one line."""
    try:
        for match in read(data):
            list(decisions(match))
            match.as_dict()
            write_sgf(match)
            write_mat(match)
    except BgfmtError as error:
        text = str(error)
        assert text, "an error without words"
        assert text.isprintable(), f"not one line: {text!r}"
        return type(error).__name__
    return "read"


def main(path: Path, count: int, seed: int = 1) -> None:
    """Reads `count` damaged copies; whatever is no BgfmtError goes through."""
    data = path.read_bytes()
    source = random.Random(seed)
    ends: collections.Counter[str] = collections.Counter()
    slowest = 0.0
    for k in range(count):
        copy = repacked(data, source)
        begin = time.perf_counter()
        try:
            ends[one(copy)] += 1
        except BaseException:
            print(f"{path.name}: copy {k} of seed {seed}")
            Path(f"/tmp/damaged-{path.name}").write_bytes(copy)
            raise
        slowest = max(slowest, time.perf_counter() - begin)
    print(f"{path.name}: {dict(ends)}, slowest {slowest:.3f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
