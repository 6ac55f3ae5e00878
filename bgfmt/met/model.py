"""A match equity table: the chance to win the match at every score, and what the result of a game makes of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from struct import pack

from bgfmt.errors import BeyondMetError, CorruptError, PositionError

#: the longest table, and the farthest score an extended one answers
MAX_AWAY = 64
#: deviation of a player's result per point to go, for the scores beyond a table (gnubg's, fitted: 7e-8 off at most)
DEVIATIONS = (1.24, 1.27, 1.47, 1.50, 1.60, 1.61, 1.66, 1.68, 1.70, 1.72)
LAST_DEVIATION = 1.77
NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,3})?")
Row = tuple[float, ...]
GAMMONS = 0.25  # of the games a post-Crawford trailer wins, where a table does not say


@dataclass(frozen=True, eq=False)
class Met:
    """An explicit match equity table of two players, 0 and 1.

    name : short name, such as ``Kazaross-XG2``; title : what the file calls itself; source : where it was read.
    pre : row i, entry j (from 0): chance that player 0 wins needing i + 1 points against j + 1, before the
        Crawford game is over. Player 1 has the rest.
    post : for each player, entry n: his chance when he trails, needs n + 1 and the other needs 1, after it.
    extended : whether scores beyond the table are answered by a formula.
    """

    name: str
    pre: tuple[tuple[float, ...], ...]
    post: tuple[tuple[float, ...], tuple[float, ...]]
    title: str = ""
    source: str = ""
    extended: bool = False

    @property
    def length(self) -> int:
        """The largest away score the table itself holds."""
        return len(self.pre)

    @property
    def longest(self) -> int:
        """The largest away score that is answered."""
        return MAX_AWAY if self.extended else self.length

    @cached_property
    def digest(self) -> str:
        """SHA-256, hexadecimal, of the values, little-endian: length (uint32), then pre row by row, post of player 0
        and post of player 1 (float64)."""
        import hashlib

        numbers = [m for row in (*self.pre, *self.post) for m in row]
        packed = pack(f"<I{len(numbers)}d", self.length, *numbers)
        return hashlib.sha256(packed).hexdigest()

    @cached_property
    def even(self) -> bool:
        """Whether both players have equal chances at equal scores."""
        pairs = ((i, j) for i in range(self.length) for j in range(i + 1))
        return self.post[0] == self.post[1] and all(
            abs(self.pre[i][j] + self.pre[j][i] - 1) < 1e-12 for i, j in pairs
        )

    def __repr__(self) -> str:
        return f"<Met {self.name}, {self.length} points, {self.digest[:12]}>"

    def check(self, *away: int) -> None:
        """BeyondMetError for a score beyond the table, PositionError for fewer than 1 point."""
        for points in away:
            if points < 1:
                raise PositionError(f"a player needs 1 point or more, not {points}")
            if points > self.longest:
                raise BeyondMetError(self.name, points, self.longest, self.extended)

    def mwc(self, away: tuple[int, int], *, player: int = 0, after_crawford: bool = False) -> float:
        """Match winning chance, 0 to 1, of the player who needs `away[0]`; the table calls him `player`.

        Before the Crawford game is over unless `after_crawford`, which needs a side at 1. At 1-away each after
        the Crawford game, the player named counts as the trailer.
        """
        self.check(*away)
        mine, other = away
        if after_crawford:
            if other == 1:
                return self._post(player, mine)
            if mine != 1:
                raise PositionError(
                    f"{mine}-away, {other}-away: nobody needs 1 point, as after the Crawford game"
                )
            return 1.0 - self._post(1 - player, other)
        return self._pre(mine, other) if player == 0 else 1.0 - self._pre(other, mine)

    def after(self, away: tuple[int, int], points: int, *, player: int = 0) -> float:
        """Match winning chance of the player who needs `away[0]`, after he wins (loses, if negative) `points`.

        Whether the Crawford game is over then follows from `away`, the score at which the game was begun.
        """
        self.check(*away)
        mine = away[0] - max(points, 0)
        other = away[1] - max(-points, 0)
        if mine <= 0 or other <= 0:
            return 1.0 if mine <= 0 else 0.0
        if 1 not in away:
            return self.mwc((mine, other), player=player)
        if away[1] == 1:  # the other leads, or nobody does
            return self._post(player, mine)
        return 1.0 - self._post(1 - player, other)

    def _pre(self, first: int, second: int) -> float:
        if max(first, second) <= self.length:
            return self.pre[first - 1][second - 1]
        return normal(first, second)

    def _post(self, player: int, away: int) -> float:
        row = self.post[player]
        return row[away - 1] if away <= len(row) else completed(row, away)[away - 1]


def deviation(away: int) -> float:
    """Deviation per point of a player who needs this many, for the normal formula."""
    return DEVIATIONS[away - 1] if away <= len(DEVIATIONS) else LAST_DEVIATION


def normal(mine: int, other: int) -> float:
    """Return the win probability of who needs `mine` points against `other`, by the normal formula."""
    variance = (deviation(mine) ** 2 + deviation(other) ** 2) / 2 * (mine + other)
    return math.erfc(-(other - mine) / math.sqrt(2 * variance)) / 2


def completed(row: tuple[float, ...], length: int) -> tuple[float, ...]:
    """A post-Crawford row with the entries it lacks: the trailer doubles at once and wins a quarter as gammons."""
    values = list(row)
    while len(values) < length:
        four, two = ((values[-k] if len(values) >= k else 1.0) for k in (4, 2))
        values.append((GAMMONS * four + (1 - GAMMONS) * two) / 2)
    return tuple(values)


# -- what the readers of files share ---------------------------------------------------------------------


def chance(name: str, offset: int, text: str) -> float:
    """A number from 0 to 1; CorruptError at `offset` for anything else."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= 1:
        raise CorruptError(name, offset, "a number from 0 to 1", repr(text[:40]))
    return value


def whole(name: str, offset: int, text: str, what: str) -> int:
    """A table's length, 1 to 64; CorruptError for anything else."""
    if re.fullmatch(r"\+?\d{1,4}", text) and 1 <= int(text) <= MAX_AWAY:
        return int(text)
    raise CorruptError(name, offset, f"{what} from 1 to {MAX_AWAY}", repr(text[:40]))


def finished(
    source: str, short: str, title: str, rows: list[Row], post: tuple[Row, Row], *, extend: bool
) -> Met:
    """The table, with short post-Crawford rows completed."""
    first, second = (completed(row, len(rows)) for row in post)
    return Met(short, tuple(rows), (first, second), title or short, source, extend)
