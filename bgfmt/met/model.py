"""A match equity table: the probability of winning the match at every score, and after a game of some points."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from struct import pack

from bgfmt.errors import BeyondMetError, CorruptError, PositionError

__all__ = [
    "DEVIATIONS",
    "GAMMONS",
    "LAST_DEVIATION",
    "MAX_AWAY",
    "NUMBER",
    "Met",
    "Row",
    "build_met",
    "complete_row",
    "deviation",
    "normal_probability",
    "parse_length",
    "parse_probability",
]


#: the largest length of a table, and the largest away score that an extended table answers
MAX_AWAY = 64
#: standard deviation of a player's result per point to go, by points to go from 1, for scores beyond a table
#: (fitted to gnubg's extension, which they reproduce within 7e-8)
DEVIATIONS = (1.24, 1.27, 1.47, 1.50, 1.60, 1.61, 1.66, 1.68, 1.70, 1.72)
LAST_DEVIATION = 1.77  # for more points
NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,3})?")
Row = tuple[float, ...]
GAMMONS = 0.25  # the part of a post-Crawford trailer's wins that are gammons, to complete a short row


@dataclass(frozen=True, eq=False)
class Met:
    """An explicit match equity table of two players, 0 and 1.

    name : short name, such as ``Kazaross-XG2``; title : what the file calls itself; source : where it was read.
    pre : row i, entry j (from 0): probability that player 0 wins the match needing i + 1 points while player 1
        needs j + 1, before the Crawford game is over. Player 1 wins with the rest.
    post : for each player, entry n: his probability of winning when he needs n + 1 points and the other needs 1,
        after the Crawford game.
    extended : whether scores beyond the table are answered by a normal approximation.
    """

    name: str
    pre: tuple[tuple[float, ...], ...]
    post: tuple[tuple[float, ...], tuple[float, ...]]
    title: str = ""
    source: str = ""
    extended: bool = False

    @property
    def length(self) -> int:
        """The largest number of points still needed ("away") that the table itself has probabilities for."""
        return len(self.pre)

    @property
    def longest(self) -> int:
        """The largest number of points still needed that is answered: `length`, or 64 if the table is extended."""
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
        """Whether both players have the same probabilities at mirrored scores, so that their order doesn't matter."""
        pairs = ((i, j) for i in range(self.length) for j in range(i + 1))
        return self.post[0] == self.post[1] and all(
            abs(self.pre[i][j] + self.pre[j][i] - 1) < 1e-12 for i, j in pairs
        )

    def __repr__(self) -> str:
        return f"<Met {self.name}, {self.length} points, {self.digest[:12]}>"

    def check(self, *away: int) -> None:
        """Check numbers of points still needed: BeyondMetError above `longest`, PositionError below 1."""
        for points in away:
            if points < 1:
                raise PositionError(f"a player must need at least 1 point, not {points}")
            if points > self.longest:
                raise BeyondMetError(self.name, points, self.longest, self.extended)

    def mwc(self, away: tuple[int, int], *, player: int = 0, after_crawford: bool = False) -> float:
        """Return the probability (0 to 1) that the player who needs `away[0]` points wins the match.

        Parameters
        ----------
        away
            Points needed by this player and by his opponent.
        player
            Which player of the table, 0 or 1, he is; matters only if the table is not `even`.
        after_crawford
            The Crawford game is over; one side must then need 1 point. If both do, this player counts as the
            trailer.

        Raises
        ------
        BeyondMetError
            A score is beyond the table.
        PositionError
            A side needs less than 1 point, or nobody needs 1 although `after_crawford` is true.
        """
        self.check(*away)
        mine, other = away
        if after_crawford:
            if other == 1:
                return self._post(player, mine)
            if mine != 1:
                raise PositionError(
                    f"{mine}-away, {other}-away: the score cannot be post-Crawford: neither side is 1-away"
                )
            return 1.0 - self._post(1 - player, other)
        return self._pre(mine, other) if player == 0 else 1.0 - self._pre(other, mine)

    def after(self, away: tuple[int, int], points: int, *, player: int = 0) -> float:
        """Return a player's probability of winning the match after a game that ends with `points`.

        Parameters
        ----------
        away
            Points needed by this player and by his opponent when the game began. From these follows whether the
            Crawford game is over afterwards.
        points
            Points that he wins; negative if he loses them.
        player
            Which player of the table, 0 or 1, he is.
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
        return normal_probability(first, second)

    def _post(self, player: int, away: int) -> float:
        row = self.post[player]
        return row[away - 1] if away <= len(row) else complete_row(row, away)[away - 1]


def deviation(away: int) -> float:
    """Return the standard deviation of a player's result, in points per point still needed, who needs `away` points.

    This is a parameter of `normal_probability`.
    """
    return DEVIATIONS[away - 1] if away <= len(DEVIATIONS) else LAST_DEVIATION


def normal_probability(mine: int, other: int) -> float:
    """Return the probability (0 to 1) of winning a match, needing `mine` points against `other`.

    A normal approximation, by which gnubg extends a table to scores beyond it.
    """
    variance = (deviation(mine) ** 2 + deviation(other) ** 2) / 2 * (mine + other)
    return math.erfc(-(other - mine) / math.sqrt(2 * variance)) / 2


def complete_row(row: tuple[float, ...], length: int) -> tuple[float, ...]:
    """Return a row of post-Crawford probabilities of the trailer, 1-away first, extended to `length` entries.

    For the entries added the trailer doubles at once, wins half of the games, and a quarter of these as gammons.
    """
    values = list(row)
    while len(values) < length:
        four, two = ((values[-k] if len(values) >= k else 1.0) for k in (4, 2))
        values.append((GAMMONS * four + (1 - GAMMONS) * two) / 2)
    return tuple(values)


# -- what the readers of files share ---------------------------------------------------------------------


def parse_probability(name: str, offset: int, text: str) -> float:
    """Parse a number from 0 to 1; CorruptError with file `name` and byte `offset` for anything else."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= 1:
        raise CorruptError(name, offset, "a number from 0 to 1", repr(text[:40]))
    return value


def parse_length(name: str, offset: int, text: str, what: str) -> int:
    """Parse a table's length, an integer from 1 to 64; CorruptError for anything else.

    name, offset : the file and the byte, for the message. what : what was expected there, such as "a length".
    """
    if re.fullmatch(r"\+?\d{1,4}", text) and 1 <= int(text) <= MAX_AWAY:
        return int(text)
    raise CorruptError(name, offset, f"{what} from 1 to {MAX_AWAY}", repr(text[:40]))


def build_met(
    source: str, short: str, title: str, rows: list[Row], post: tuple[Row, Row], *, extend: bool
) -> Met:
    """Build a `Met` from the numbers of a file, completing post-Crawford rows that are short.

    Parameters
    ----------
    source
        The file that was read.
    short
        The short name of the table.
    title
        What the file calls itself; `short` is used if it is empty.
    rows
        Player 0's probabilities of winning before the Crawford game is over: n rows, by the points that he needs,
        of n numbers, by those that player 1 needs.
    post
        For each player the probabilities after the Crawford game, as the trailer; 1 to n numbers, 1-away first.
    extend
        Let the table answer scores beyond n.
    """
    first, second = (complete_row(row, len(rows)) for row in post)
    return Met(short, tuple(rows), (first, second), title or short, source, extend)
