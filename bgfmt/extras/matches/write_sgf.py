"""Writes matches as GNU Backgammon's .sgf, and puts comments into such files without touching anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bgfmt.extras.matches import plays
from bgfmt.extras.matches.model import Game, Match, Record, ending
from bgfmt.extras.matches.sgf import parse
from bgfmt.game.board import Position
from bgfmt.game.moves import BAR, OFF

MARK = "bgfmt: "  # every line that we write into a comment starts so
_WORDS = {"double": "double", "beaver": "double", "raccoon": "double", "take": "take", "drop": "drop"}


def write_sgf(match: Match, comments: Mapping[tuple[int, int], Sequence[str]] | None = None) -> bytes:
    """A match as .sgf, a node for each record in order; plays die by die, illegal ones as they were written.

    Resignations are told by the result only, as gnubg does.

    Parameters
    ----------
    comments
        Lines for records, by index of the game and of its record.
    """
    out = []
    for number, game in enumerate(match.games):
        out.append(_root(match, number, game))
        for at, record in enumerate(game.records):
            node = _node(record)
            lines = (comments or {}).get((number, at))
            if node and lines:
                node += b"C[" + b"\n".join(_escaped(MARK + line) for line in lines) + b"]"
            out.append(b"\n;" + node if node else b"")
            after, unwritten = record.after, not (record.legal or record.moves)
            if unwritten and after is not None and after != record.position:  # its board stands in its place
                out.append(b"\n;" + _board(after, record.player) + b"PL[%c]" % b"BW"[record.player])
        out.append(b")\n")
    return b"".join(out)


def with_comments(data: bytes, comments: Mapping[int, Sequence[str]]) -> bytes:
    """An .sgf file with lines added to the comments of the nodes that begin at these bytes (a record's `at`).

    Our own lines of an earlier time are replaced.
    """
    edits: list[tuple[int, int, bytes]] = []
    for tree in parse(data):
        for node in tree:
            lines = [_escaped(MARK + line) for line in comments.get(node.begin, [])]
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


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("]", "\\]").encode("utf-8", "replace")


def _root(match: Match, number: int, game: Game) -> bytes:
    rules = match.rules
    facts = [("PW", match.players[0]), ("PB", match.players[1])]
    facts += [("DT", match.date), ("EV", match.event), ("RO", match.round), ("PC", match.place)]
    words = []
    if match.length and rules.crawford:
        words.append("Crawford:CrawfordGame" if game.crawford else "Crawford")
    if not match.length and rules.jacoby:
        words.append("Jacoby")
    if rules.variation == "nackgammon":
        words.append("Nackgammon")
    if rules.cube_limit == 1:
        words.append("NoCube")
    info = (match.length, number, *game.scores)
    root = b"(;FF[4]GM[6]CA[UTF-8]AP[bgfmt]MI[length:%d][game:%d][ws:%d][bs:%d]" % info
    root += b"".join(
        b"%s[%s]" % (key.encode(), _escaped(text)) for key, text in facts if text or key[0] == "P"
    )
    if words:
        root += b"RU[" + ":".join(words).encode() + b"]"
    won = ending(game)
    if won is None:
        return root
    resigned = game.result is not None and game.result.resigned
    resigned = resigned or any(record.kind == "resign" for record in game.records[-1:])
    return root + b"RE[%c+%d%s]" % (b"WB"[won[0]], won[1], b"R" if resigned else b"")


def _node(record: Record) -> bytes:
    key = b"WB"[record.player : record.player + 1]
    if record.kind in _WORDS:
        return key + b"[" + _WORDS[record.kind].encode() + b"]"
    if record.kind == "set":
        cube = b"CV[%d]CP[%c]" % (record.cube, b"wbc"[2 if record.owner is None else record.owner])
        return b"PL[%c]" % b"WB"[record.turn] + _board(record.position, record.turn) + cube
    if record.dice is None:  # a resignation, or a roll that never was
        return b""
    letters = "".join(
        _letter(point, record.player) for move in record.moves for point in (move.start, move.end)
    )
    return key + b"[%d%d%s]" % (*record.dice, letters.encode())


def _board(position: Position, first: int) -> bytes:
    """AE, AW and AB of a board whose first side is player `first`'s."""
    sides = (position.us, position.them) if first == 0 else (position.them, position.us)
    out = b"AE[a:y]"
    for player, side in enumerate(sides):
        counts = plays.board(side)
        points = [p for p in range(1, BAR + 1) for _ in range(counts[p])]
        if points:
            out += b"AW" if player == 0 else b"AB"
            out += b"".join(b"[%s]" % _letter(point, player).encode() for point in points)
    return out


def _letter(point: int, player: int) -> str:
    if point == OFF:
        return "z"
    if point == BAR:
        return "y"
    return chr(96 + (point if player == 0 else 25 - point))
