"""File formats of matches that bgfmt recognises but does not read, and the program that reads each."""

from __future__ import annotations

import re

HEAD = 1 << 16  # bytes in which a form shows
_BGAMMON = re.compile(rb"^i \d{6,12} \S{1,60} \S{1,60}(?: -?\d{1,6}){3,8}\s*$", re.M)
_OLDMOVES = re.compile(rb"^[ \t]*[XO]: \([1-6] [1-6]\)", re.M)
_TMG = re.compile(rb"^MatchId:[ \t]*\d", re.M)
_PARTY = re.compile(rb"^PLAYER_1=", re.M)
_GAMESGRID = re.compile(rb"^[ \t]*\d{1,4}b[ \t]+(?:[1-6]{2}:|Double|Accept|Take|Pass|Reject)", re.M | re.I)


def _gnubg(command: str) -> str:
    return f"gnubg imports it (import {command} FILE), and bgfmt reads what gnubg then saves (save match FILE.sgf)"


#: what shows a form, its name, and what to do
FORMS: tuple[tuple[re.Pattern[bytes], str, str], ...] = (
    (_BGAMMON, "a replay of bgammon.org", "bgfmt does not read it; bgammon.org shows it"),
    (_OLDMOVES, "moves as FIBS lists them (oldmoves)", _gnubg("oldmoves")),
    (_TMG, "a match of TrueMoneyGames", _gnubg("tmg")),
    (_PARTY, "a match of PartyGammon", _gnubg("party")),
    (_GAMESGRID, "a match of GamesGrid (.sgg)", _gnubg("sgg")),
)


def name_format(data: bytes) -> str | None:
    """Return the name of the format of these bytes and which program reads it, if it is one that bgfmt does not read.

    None for any other bytes.
    """
    head = data[:HEAD].replace(b"\r\n", b"\n")
    if b"\0" in head:
        return None
    return next((f"{name}: {advice}" for pattern, name, advice in FORMS if pattern.search(head)), None)
