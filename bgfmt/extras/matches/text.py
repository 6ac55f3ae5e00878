"""Text from files: decoded whatever the bytes."""

from __future__ import annotations


def decoded(data: bytes) -> str:
    """UTF-8 with or without a mark, else the Western code page of Windows."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


__all__ = ["decoded"]
