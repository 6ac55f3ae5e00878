"""Text from files of strangers: decoded whatever the bytes, and made fit for a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 200) -> str:
    """The text with every character that a terminal could obey (controls, escapes, direction marks) shown as ``?``.

    At most `limit` characters, the rest as ``...``. Shown names, headers and plays go through this.

    >>> printable("\\x1b]0;owned\\x07Ann\\u202e")
    '?]0;owned?Ann?'
    """
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    if text.isprintable():
        return text
    return "".join(
        " " if unicodedata.category(c) == "Zs" else "?" if unicodedata.category(c) in _HIDDEN else c
        for c in text
    )


def decoded(data: bytes) -> str:
    """UTF-8 with or without a mark, else the Western code page of Windows."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


__all__ = ["decoded", "printable"]
