"""Draw positions in plain text, in the manner of gnubg, and sanitise text of unknown origin for a terminal.

X is on roll and bears off at the lower right.
"""

from __future__ import annotations

import unicodedata

from bgfmt.game.board import MAX_CHEQUERS, Position, Side

__all__ = ["HEIGHT", "decode_text", "draw", "draw_side", "pluralize", "printable"]


HEIGHT = 5
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def draw(position: Position, chequers: int = MAX_CHEQUERS) -> str:
    """Draw a whole board as text; X is the side on roll, and points are numbered from its ace point.

    chequers : how many each side began with, from which those borne off are computed.

    >>> from bgfmt import Side
    >>> print(draw(Position(Side(4, 3, 1), Side(3, 3, 2))))
     +13-14-15-16-17-18-+---+19-20-21-22-23-24-+
     |                  |   |          O  O  O |   O: 8 chequers, 15 pips
     |                  |   |          O  O  O |   7 off
     |                  |   |             O  O |
     |                  |   |                  |
     |                  |   |                  |
     |                  |BAR|                  |
     |                  |   |                  |
     |                  |   |                X |
     |                  |   |             X  X |
     |                  |   |             X  X |   7 off
     |                  |   |          X  X  X |   X: 8 chequers, 13 pips, on roll
     +12-11-10--9--8--7-+---+-6--5--4--3--2--1-+
    """
    them = position.them
    us = position.us
    both = zip(us.padded(25)[:24], them.padded(25)[23::-1], strict=True)
    columns = [("X", mine) if mine else ("O", theirs) for mine, theirs in both]
    top = columns[12:]
    bottom = columns[11::-1]
    notes = {0: f"   O: {_facts(them)}", 1: f"   {max(0, chequers - them.chequers)} off"}
    notes |= {9: f"   {max(0, chequers - us.chequers)} off", 10: f"   X: {_facts(us)}, on roll"}
    lines = [" +13-14-15-16-17-18-+---+19-20-21-22-23-24-+"]
    for row in range(2 * HEIGHT + 1):
        if row == HEIGHT:
            cells = ["   "] * 12
            bar = "BAR"
        elif row < HEIGHT:
            cells = [_cell(column, row) for column in top]
            bar = _cell(("X", us.bar), row)
        else:
            cells = [_cell(column, 2 * HEIGHT - row) for column in bottom]
            bar = _cell(("O", them.bar), 2 * HEIGHT - row)
        lines.append(f" |{''.join(cells[:6])}|{bar}|{''.join(cells[6:])}|{notes.get(row, '')}")
    lines.append(" +12-11-10--9--8--7-+---+-6--5--4--3--2--1-+")
    return "\n".join(lines)


def draw_side(side: Side) -> str:
    """Draw one side's points as text, from its highest occupied quarter of the board down, with a line of counts.

    >>> print(draw_side(Side(0, 2, 2, 2, 0, 4)))
     6  5  4  3  2  1
     X     X  X  X
     X     X  X  X
     X
     X
    10 chequers, 42 pips, 5 off
    """
    points = max(6, -(-len(side.counts) // 6) * 6)
    counts = side.padded(points) if not side.bar else Side(*side.counts).padded(points)
    lines = ["".join(f"{point:2d} " for point in range(points, 0, -1)).rstrip()]
    for row in range(max(counts)):
        lines.append("".join(" X " if counts[p - 1] > row else "   " for p in range(points, 0, -1)).rstrip())
    bar = f", {side.bar} on the bar" if side.bar else ""
    lines.append(f"{_facts(side)}, {15 - side.chequers} off{bar}")
    return "\n".join(lines)


def pluralize(count: int, what: str) -> str:
    """Format a count and its noun: "1 pip", "2 pips"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _facts(side: Side) -> str:
    return f"{pluralize(side.chequers, 'chequer')}, {pluralize(side.pips, 'pip')}"


def _cell(column: tuple[str, int], row: int) -> str:
    """Return three characters of a stack; if it has more than fit, its last row shows their number."""
    who, count = column
    if row == HEIGHT - 1 and count > HEIGHT:
        return f"{count:2d} "
    return f" {who} " if row < count else "   "


def printable(text: object, limit: int = 200) -> str:
    """Return the text with ``?`` for characters that could control a terminal (escapes, direction marks).

    The result has at most `limit` characters, the rest is shown as ``...``. Use it for names of players and
    files, and for lines of network clients, before they are shown.

    >>> printable("\\x1b]0;owned\\x07Ann\\u202e")
    '?]0;owned?Ann?'
    """
    line = str(text)
    if len(line) > limit:
        line = line[: limit - 3] + "..."
    return line if line.isprintable() else "".join(map(_harmless, line))


def _harmless(letter: str) -> str:
    kind = unicodedata.category(letter)
    return " " if kind == "Zs" else "?" if kind in _HIDDEN else letter


def decode_text(data: bytes) -> str:
    """Decode UTF-8 with or without a byte-order mark, else Windows code page 1252."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
