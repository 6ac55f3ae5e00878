"""Text of unknown origin made fit for a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: object, limit: int = 200) -> str:
    """The text with every character that a terminal could obey (controls, escapes, direction marks) shown as ``?``.

    At most `limit` characters, the rest as ``...``. Names of players and files, and lines of network clients, go
    through this before they are shown.

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


def decoded(data: bytes) -> str:
    """UTF-8 with or without a mark, else the Western code page of Windows."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
