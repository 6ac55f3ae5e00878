"""Reads and writes GNU Backgammon's .sgf matches; puts comments into them without touching anything else.

Points are letters: White (player 0) counts its own ace point as `a`, Black (player 1) counts it as `x`; `y` is the
bar, `z` is off. A node is `;` and properties such as `B[31hefe]`, `W[double]`, `CV[2]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bgfmt.errors import FormatError
from bgfmt.game.board import Side
from bgfmt.game.identifiers.state import full, side_of
from bgfmt.game.moves import BAR, OFF
from bgfmt.hosts.match import BARE_START, Game, Match, Record, walk

MARK = "bgfmt: "  # every line that we write into a comment starts so
LARGEST_CUBE = 1 << 15
Properties = dict[str, list[bytes]]
Sides = tuple[Side, Side]


@dataclass
class Node:
    """One node: its properties, where it ends in the file, and where the value of its comment lies, if it has one."""

    properties: Properties
    end: int = 0
    comment: tuple[int, int] | None = None


def parse(data: bytes, name: str = "<sgf>") -> list[list[Node]]:
    """The game trees of a file, each a list of nodes; of variations the first is followed.

    Raises
    ------
    FormatError with the byte where the text stops being SGF.
    """
    trees: list[list[Node]] = []
    at, depth, skip = 0, 0, 0
    size = len(data)
    while at < size:
        byte = data[at : at + 1]
        if byte == b"(":
            depth += 1
            if depth == 1:
                trees.append([])
            at += 1
        elif byte == b")":
            depth -= 1
            # what follows a closed variation of the same tree is another one, which was not played
            skip = 0 if depth <= 0 else depth
            if depth < 0:
                raise FormatError(f"{name}: byte {at}: a closing parenthesis too many")
            at += 1
        elif byte == b";" and depth:
            node, at = _node(data, at + 1, name)
            if not skip:
                trees[-1].append(node)
        elif byte.isspace() or not depth:
            at += 1
        else:
            raise FormatError(f"{name}: byte {at}: expected ';', '(' or ')', found {byte!r}")
    if not any(trees):
        raise FormatError(f"{name}: no SGF game in it")
    if depth:
        raise FormatError(f"{name}: byte {size}: cut short, {depth} game tree(s) still open")
    return [tree for tree in trees if tree]


def _node(data: bytes, at: int, name: str) -> tuple[Node, int]:
    node = Node({})
    key = ""
    node.end = at
    while at < len(data):
        byte = data[at : at + 1]
        if byte == b"[":
            end = at + 1
            while end < len(data) and data[end : end + 1] != b"]":
                end += 2 if data[end : end + 1] == b"\\" else 1
            if end >= len(data):
                raise FormatError(f"{name}: byte {at}: a property value without its ']'")
            if not key:
                raise FormatError(f"{name}: byte {at}: a value without a property")
            node.properties.setdefault(key, []).append(data[at + 1 : end])
            if key == "C":
                node.comment = (at + 1, end)
            at = node.end = end + 1
        elif byte.isalpha():
            end = at
            while data[end : end + 1].isalpha():
                end += 1
            key = "".join(c for c in data[at:end].decode("ascii", "replace") if c.isupper())
            at = end
        elif byte.isspace():
            at += 1
        else:
            break
    return node, at


def read_sgf(data: bytes, name: str = "<sgf>") -> tuple[Match, list[Node]]:
    """The match of a file and its nodes in order; `Record.node` is an index into them.

    Raises
    ------
    FormatError where it is not SGF, or not of ordinary backgammon.
    """
    match = Match([])
    nodes: list[Node] = []
    for tree in parse(data, name):
        root = tree[0].properties
        if root.get("GM", [b"6"])[0].strip() != b"6":
            raise FormatError(f"{name}: an SGF file of another game (GM is not 6)")
        info = dict(re.findall(rb"\[?(\w+):(\d{1,5})", b" ".join(root.get("MI", []))))
        rules = b" ".join(root.get("RU", []))
        if b"yper" in rules or b"Nackgammon" in rules:
            raise FormatError(f"{name}: {rules.decode('ascii', 'replace')} is not ordinary backgammon")
        if not match.games:
            match.length = int(info.get(b"length", 0))
            names = [_text(root[k][0]) if k in root else d for k, d in (("PW", "White"), ("PB", "Black"))]
            match.names = (names[0], names[1])
        game = Game(
            [],
            scores=(int(info.get(b"ws", 0)), int(info.get(b"bs", 0))),
            crawford=b"CrawfordGame" in rules,
            jacoby=None if match.length else b"Jacoby" in rules,
        )
        sides: Sides = BARE_START
        for node in tree:
            index = len(nodes)
            nodes.append(node)
            try:
                record, sides = _record(node.properties, index, sides)
            except (ValueError, IndexError, TypeError):
                raise FormatError(
                    f"{name}: the node that ends at byte {node.end} has a value that cannot be read"
                ) from None
            if record is not None:
                game.records.append(record)
        match.games.append(game)
    return match, nodes


def _text(value: bytes) -> str:
    return re.sub(r"\\(.)", r"\1", value.decode("utf-8", "replace"), flags=re.S)


def _record(properties: Properties, index: int, sides: Sides) -> tuple[Record | None, Sides]:
    for player, key in enumerate("WB"):
        if key in properties:
            return _action(properties[key][0].decode("ascii").strip(), player, index), sides
    setup: list[tuple[str, object]] = []
    if any(key in properties for key in ("AE", "AW", "AB")):
        zero, one = (list(full(side)) for side in sides)
        for value in _each(properties.get("AE", [])):
            zero[_point(value, 0) - 1] = one[_point(value, 1) - 1] = 0
        for player, counts in enumerate((zero, one)):
            for value in _each(properties.get(("AW", "AB")[player], [])):
                if value != "z":
                    counts[_point(value, player) - 1] += 1
        sides = (side_of(zero), side_of(one))
        setup.append(("sides", sides))
    if "PL" in properties:
        setup.append(("turn", 0 if properties["PL"][0].strip().upper().startswith(b"W") else 1))
    if "CV" in properties:
        cube = int(properties["CV"][0])
        if not 1 <= cube <= LARGEST_CUBE or cube & (cube - 1):
            raise ValueError(cube)
        setup.append(("cube", cube.bit_length() - 1))
    if "CP" in properties:
        setup.append(("owner", {b"w": 0, b"b": 1}.get(properties["CP"][0].strip().lower()[:1])))
    return (Record("set", 0, node=index, setup=tuple(setup)) if setup else None), sides


def _each(values: list[bytes]) -> list[str]:
    """Single points of a list of points and ranges such as a:y."""
    out: list[str] = []
    for value in values:
        first, colon, last = value.decode("ascii").strip().partition(":")
        out += [chr(c) for c in range(ord(first), ord(last) + 1)] if colon else [first]
    return out


def _point(letter: str, player: int) -> int:
    """The point a player counts: 1 to 24, 25 the bar, 0 off."""
    if letter == "z":
        return OFF
    if letter == "y":
        return BAR
    number = ord(letter) - 96
    if not 1 <= number <= 24:
        raise ValueError(letter)
    return number if player == 0 else 25 - number


def _action(value: str, player: int, index: int) -> Record:
    if value and value[0].isdigit():
        letters = value[2:]
        dice = (int(value[0]), int(value[1]))
        if not all(1 <= die <= 6 for die in dice) or len(letters) % 2:
            raise ValueError(value)
        points = [_point(letter, player) for letter in letters]
        return Record("roll", player, dice, tuple(zip(points[::2], points[1::2], strict=True)), node=index)
    words = {"double": "double", "redouble": "double", "beaver": "beaver", "take": "take", "drop": "drop"}
    kind = words.get(value.lower(), "drop" if value.lower() == "pass" else "resign")
    return Record(kind, player, node=index)


# -- comments --------------------------------------------------------------------------------------------


def with_comments(data: bytes, nodes: list[Node], comments: dict[int, list[str]]) -> bytes:
    """The file with lines added to the comments of nodes; our own lines of an earlier time are replaced."""
    edits: list[tuple[int, int, bytes]] = []
    for index, node in enumerate(nodes):
        lines = [_escaped(MARK + line) for line in comments.get(index, [])]
        if node.comment is not None:
            start, end = node.comment
            if not lines and MARK.encode() not in data[start:end]:
                continue
            old = [x for x in data[start:end].split(b"\n") if not x.startswith(MARK.encode())]
            while old and not old[-1].strip():
                old.pop()
            edits.append((start, end, b"\n".join(old + lines)))
        elif lines:
            edits.append((node.end, node.end, b"C[" + b"\n".join(lines) + b"]"))
    out, at = [], 0
    for start, end, text in sorted(edits):
        out += [data[at:start], text]
        at = end
    return b"".join([*out, data[at:]])


def _escaped(line: str) -> bytes:
    return line.replace("\\", "\\\\").replace("]", "\\]").encode()


# -- writing ---------------------------------------------------------------------------------------------


def write_sgf(match: Match) -> bytes:
    """A match as .sgf, a node for each record in order; plays die by die, as the legal play found by walking them."""
    played = {(d.game, d.record): d.played for d in walk(match) if d.played is not None}
    out = []
    names = [_escaped(name).decode() for name in match.names]
    for number, game in enumerate(match.games):
        root = f"(;FF[4]GM[6]CA[UTF-8]AP[bgfmt]MI[length:{match.length}][game:{number}]"
        root += f"[ws:{game.scores[0]}][bs:{game.scores[1]}]PW[{names[0]}]PB[{names[1]}]"
        if match.length:
            root += "RU[Crawford:CrawfordGame]" if game.crawford else "RU[Crawford]"
        elif game.jacoby:
            root += "RU[Jacoby]"
        out.append(root)
        for at, record in enumerate(game.records):
            if record.kind == "resign":
                break
            value = {"beaver": "double"}.get(record.kind, record.kind)
            if record.kind == "roll":
                play = played.get((number, at))
                moves = record.moves if play is None else [(m.start, m.end) for m in play.moves]
                letters = "".join(_letter(point, record.player) for move in moves for point in move)
                value = f"{record.dice[0]}{record.dice[1]}{letters}"
            out.append(f"\n;{'WB'[record.player]}[{value}]")
        out.append(")\n")
    return "".join(out).encode()


def _letter(point: int, player: int) -> str:
    if point == OFF:
        return "z"
    if point == BAR:
        return "y"
    return chr(96 + (point if player == 0 else 25 - point))
