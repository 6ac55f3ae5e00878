"""Play games: a referee between two players, dice, series of games, a person at the terminal, replays.

Players are engines (`bgfmt.extras.lab.engine.Engine`), a person included; games become recorded matches
(`bgfmt.extras.matches`), which can be written, read and annotated.
"""

from __future__ import annotations

from bgfmt.extras.matches.model import Match


class Quit(Exception):
    """Raised when a person ends the session; `match` has what was played, the unfinished game last."""

    match = Match(("", ""))


class Undo(Exception):
    """Raised when a person takes back a play: the one before the play that is asked for."""
