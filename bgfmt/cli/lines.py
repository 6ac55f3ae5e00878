"""Positions on standard input: one a line, or the text that a program puts on the clipboard for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bgfmt.game.identifiers import holds_identifier

#: a row of a drawn board, or its edge
_DRAWN = re.compile(r"^[>\s]*[v^]?\s*(?:\|.*\|(?:\s|$)|\+-?1[23]-1[14]-|\+2?24-23-)")
#: lines of eXtreme Gammon between an XGID and the board
_ABOVE_BOARD = re.compile(r"^[>\s]*(?:X:.*\bO:|Score is X:)")
#: gnubg's board begins with the Position ID, and the Match ID stands in the next line
_GNUBG_BOARD = re.compile(r"^[>\s]*GNU Backgammon\s")

#: counts of one side or two, or a position number
_COUNTS = re.compile(r"[\d\s,/#]+(?:bar[\d\s,/]+)*")


def texts(lines: Iterable[str]) -> Iterator[str]:
    """Yield what is to be answered, stripped: each line that is not blank, or one text for a pasted board.

    Of a board that is drawn below its identifier, and of the analysis below that, nothing else is yielded. Every text
    is yielded as soon as its line has been read, but for the first line of gnubg's board, which waits for the next.
    """
    waiting = ""
    below_identifier = False  # whether the last text may have a board below it
    in_board = False  # whether a board has begun below it
    for raw in lines:
        line = raw.strip()
        if not line:
            continue
        if waiting:
            joined = not _DRAWN.match(line) and holds_identifier(line)
            yield f"{waiting} {line}" if joined else waiting
            waiting = ""
            below_identifier = True
            if joined:
                continue
        if below_identifier and _DRAWN.match(line):
            in_board = True
            continue
        above_board = below_identifier and _ABOVE_BOARD.match(line)
        if (in_board or above_board) and not _COUNTS.fullmatch(line) and not holds_identifier(line):
            continue
        in_board = False
        below_identifier = True
        if _GNUBG_BOARD.match(line):
            waiting = line
        else:
            yield line
    if waiting:
        yield waiting
