"""What tables give back: the answer for an entry, and entries that are no positions."""

from __future__ import annotations

from typing import Any, Protocol


class Listing(Protocol):
    """Entries that are no positions, decoded when asked for."""

    def __len__(self) -> int: ...
    def describe(self, k: int) -> str:
        """Entry k in a line."""

    def as_json(self, k: int) -> dict[str, Any]:
        """Entry k as plain values."""


class Answer(Protocol):
    """What a table says of one entry."""

    @property
    def number(self) -> int:
        """The position number of the entry."""

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, chances as fractions."""

    def describe(self, who: str = "") -> str:
        """All of it as text, with the decimals that gnubg's bearoffdump prints."""
