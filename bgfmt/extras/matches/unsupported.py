"""File formats of matches that bgfmt recognises but does not read, and the program that reads each."""

from __future__ import annotations

import re

HEAD = 1 << 16  # bytes in which a form shows
_IMPORT = "gnubg imports it (import {} FILE), and bgfmt reads what gnubg then saves (save match FILE.sgf)"

#: the name of each form and what to do, and what shows it
FORMS = {
    "a replay of bgammon.org: bgfmt does not read it; bgammon.org shows it": re.compile(
        rb"^i \d{6,12} \S{1,60} \S{1,60}(?: -?\d{1,6}){3,8}\s*$", re.M
    ),
    f"moves as FIBS lists them (oldmoves): {_IMPORT.format('oldmoves')}": re.compile(
        rb"^[ \t]*[XO]: \([1-6] [1-6]\)", re.M
    ),
    f"a match of TrueMoneyGames: {_IMPORT.format('tmg')}": re.compile(rb"^MatchId:[ \t]*\d", re.M),
    f"a match of PartyGammon: {_IMPORT.format('party')}": re.compile(rb"^PLAYER_1=", re.M),
    f"a match of GamesGrid (.sgg): {_IMPORT.format('sgg')}": re.compile(
        rb"^[ \t]*\d{1,4}b[ \t]+(?:[1-6]{2}:|Double|Accept|Take|Pass|Reject)", re.M | re.I
    ),
}


def name_format(data: bytes) -> str | None:
    """Return the name of the format of these bytes and which program reads it, if it is one that bgfmt does not read.

    None for any other bytes.
    """
    head = data[:HEAD].replace(b"\r\n", b"\n")
    if b"\0" in head:
        return None
    return next((form for form, pattern in FORMS.items() if pattern.search(head)), None)
