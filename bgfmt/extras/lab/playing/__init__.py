"""Games played: a referee between two players, dice, series, a person at the terminal, games played back.

Players are engines (`bgfmt.extras.lab.engine.Engine`), a person being one too; games become recorded matches
(`bgfmt.matches`), so that they are written, read and annotated as any others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgfmt.extras.matches.model import Match


class Quit(Exception):
    """A person ends the session; `match` has what was played, the unfinished game last."""

    match: Match | None = None


class Undo(Exception):
    """A person takes back a play: the one before the play that is asked for."""
