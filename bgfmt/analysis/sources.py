"""Where an answer comes from: the one order in which tables, calculation and estimate are asked.

1. A two-sided table with cubeful equities that covers the question, exact numbers before rounded ones.
2. Calculation on demand, up to a limit of work: exact, gammons and Jacoby's rule counted.
3. An estimate: the chance to win of a cubeless two-sided table, or else the chances of two one-sided distributions,
   each side playing alone, made cubeful by Janowski's formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import approximate, choose
from bgfmt.analysis.answers import COLUMNS, Gammons, PositionEquities, Source
from bgfmt.errors import NotCoveredError, SolverError, TooMuchWorkError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.tables import OneSided, Table, TwoSided

if TYPE_CHECKING:
    from bgfmt.analysis.library import Library
    from bgfmt.analysis.ondemand import MatchAnswer, MoneyAnswer, SideRolls
    from bgfmt.analysis.ondemand.answers import Games
    from bgfmt.met.score import Score

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]
Calculate = Literal["all", "close", "nothing"]
T = TypeVar("T")
MONEY_COLUMNS = 4
KEPT = 4  # calculated answers kept, as the cube and the play of one turn are asked one after the other


@dataclass(frozen=True)
class Limits:
    """Most pairs of boards times cube states calculated for one question.

    close : for what a table leaves too close, about half a second. alone : for what no table covers, any six
    chequers against six on six points. beside : for what a one-sided table could estimate, some milliseconds.
    match : at a score, some twenty seconds of two cores. rolls : for the rolls of one side; none are calculated
    unless they are asked for.
    """

    close: int = 12_000_000
    alone: int = 4_000_000
    beside: int = 400_000
    match: int = 400_000_000
    rolls: int = 0

    @classmethod
    def of(cls, limit: int | Limits | None) -> Limits:
        """One limit for all, or these, or by default those of many questions."""
        if limit is None or isinstance(limit, Limits):
            return limit or cls()
        return cls(limit, limit, limit, limit, limit)


#: for a single question that somebody waits for: any ten chequers against ten on six points
ASKED = Limits(alone=400_000_000, beside=400_000_000, rolls=400_000_000)
#: for who answers in the middle of a game: about a second
PLAYING = Limits(match=24_000_000)


@dataclass(frozen=True)
class Worths:
    """Worth of each result to the side that has played, with the cube where it is and without; the greatest error."""

    values: Floats
    cubeless: Floats
    error: float | None
    source: Source
    table: str | None


class Sources:
    """The tables of a library, and what may be calculated beside them."""

    def __init__(
        self,
        library: Library,
        calculate: Calculate = "all",
        limit: int | Limits | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.library, self.calculate, self.progress = library, calculate, progress
        self.limits = Limits.of(limit)
        self._kept: dict[Any, Any] = {}
        self._beyond: dict[Any, TooMuchWorkError] = {}
        self._lock = Lock()
        self._games: Games | None = None

    @property
    def tables(self) -> list[Table]:
        """The tables asked."""
        return self.library.tables

    def refusal(self, position: Position) -> NotCoveredError:
        """What the tables lack for a question of two sides that nothing answers, and why it was not calculated."""
        reason = choose.not_covered(self.tables, position.us, position.them, wanted="both sides' equities")
        return self.explained(position, reason)

    def explained(self, asked: Position | Side, reason: NotCoveredError) -> NotCoveredError:
        """The reason, and the limit where calculating was too much."""
        beyond = self._beyond.get(asked)
        return reason if beyond is None else TooMuchWorkError(str(reason), beyond.work, beyond.limit)

    def _limit(self, position: Position) -> int:
        beside = choose.distributions_for(self.tables, position.us, position.them)
        return self.limits.alone if beside is None else self.limits.beside

    # -- money -------------------------------------------------------------------------------------------

    def equities(self, position: Position, *, jacoby: bool = False) -> PositionEquities:
        """Chances and money equities of a race by the first source that has them."""
        choose.check_race(position)
        table = choose.two_sided_for(self.tables, position, cubeful=True)
        if table is not None:
            return self._stored(table, position)
        found = self._calculated(self._on_demand(position, jacoby))
        if found is not None:
            return found
        table = choose.two_sided_for(self.tables, position)
        if table is not None:
            return self._stored(table, position)
        one = choose.distributions_for(self.tables, position.us, position.them)
        if one is None:
            raise self.refusal(position)
        return self._estimated(one, position)

    def _stored(self, table: TwoSided, position: Position) -> PositionEquities:
        row = table.lookup_many([position.us], [position.them])[0]
        cubeless = float(row[0])
        cubeful = row[1:] if table.cubeful else approximate.cubeful_of_chances(cubeless / 2 + 0.5)
        known = choose.known_error(table)
        errors = dict(zip(("win", *COLUMNS), (known[0] / 2, *known), strict=True))
        return PositionEquities(
            source="two-sided",
            table=self.library.name(table),
            max_error={k: float(x) for k, x in errors.items()} if table.cubeful else None,
            position=position,
            win=cubeless / 2 + 0.5,
            win_gammon=0.0,
            lose_gammon=0.0,
            cubeless=cubeless,
            owned=float(cubeful[0]),
            centered=float(cubeful[1]),
            opponent=float(cubeful[2]),
            gammons=_gammons(position, counted=False),
        )

    def _estimated(self, table: OneSided, position: Position) -> PositionEquities:
        estimate = approximate.twosided_from_onesided(table, position)
        won, lost = estimate.win_gammon or 0.0, estimate.lose_gammon or 0.0
        owned, centered, opponent = map(float, approximate.cubeful_of_chances(estimate.win, won, lost))
        return PositionEquities(
            source="one-sided",
            table=self.library.name(table),
            position=position,
            win=estimate.win,
            win_gammon=estimate.win_gammon,
            lose_gammon=estimate.lose_gammon,
            cubeless=estimate.cubeless,
            owned=owned,
            centered=centered,
            opponent=opponent,
            gammons=_gammons(position, counted=None not in (estimate.win_gammon, estimate.lose_gammon)),
        )

    def calculated(self, position: Position, *, jacoby: bool = False) -> PositionEquities | None:
        """The exact equities of a race whose stored ones are too close, None beyond the limit."""
        return self._calculated(self._money(position, jacoby, self.limits.close))

    def _calculated(self, solved: MoneyAnswer | None) -> PositionEquities | None:
        if solved is None:
            return None
        position = solved.position
        gammon = solved.gammons
        return PositionEquities(
            source="calculation",
            max_error=dict.fromkeys(("win", *COLUMNS), solved.error),
            position=position,
            win=None if gammon else (solved.cubeless + 1) / 2,
            win_gammon=None if gammon else 0.0,
            lose_gammon=None if gammon else 0.0,
            cubeless=solved.cubeless,
            owned=solved.owned,
            centered=solved.centered,
            opponent=solved.opponent,
            gammons=_gammons(position, counted=True),
        )

    def _on_demand(self, position: Position, jacoby: bool) -> MoneyAnswer | None:
        """A race that no two-sided table covers, solved; None beyond the limit."""
        if self.calculate != "all":
            return None
        return self._money(position, jacoby, self._limit(position))

    def _money(self, position: Position, jacoby: bool, limit: int) -> MoneyAnswer | None:
        if self.calculate == "nothing" or position.contact:
            return None

        def solve() -> MoneyAnswer | None:
            found = self.games.money(position, jacoby)
            if found is not None:
                return found
            self._check(position, MONEY_COLUMNS, limit)
            return self.games.solve_money(position, jacoby, limit, self.progress)

        return self._once((position, jacoby, limit), solve)

    def worths(
        self,
        position: Position,
        dice: tuple[int, int],
        results: Sequence[Position],
        cube: str,
        *,
        jacoby: bool,
    ) -> Worths | None:
        """What each result of a roll is worth, by the first source that has all of them, or None.

        cube : "centered", "owned", "opponent" as the side that plays sees it, or "cubeless".
        """
        if any(result.contact for result in results):
            return None
        sides = [result.us for result in results]
        table = choose.two_sided_for(self.tables, position, cubeful=cube != "cubeless", results=sides)
        if table is not None:
            return self._stored_worths(table, position.them, sides, cube)
        solved = self._on_demand(position, jacoby)
        if solved is not None:
            plays = {play.result: play.equity for play in solved.plays(*dice, cube)}
            bare = {play.result: play.equity for play in solved.plays(*dice, "cubeless")}
            values, cubeless = (np.array([known[side] for side in sides]) for known in (plays, bare))
            return Worths(values, cubeless, solved.error, "calculation", None)
        table = choose.two_sided_for(self.tables, position, results=sides)
        if table is not None:
            return self._stored_worths(table, position.them, sides, cube)
        one = choose.distributions_for(self.tables, position.them, *sides)
        if one is None:
            return None
        values, cubeless = approximate.worth_of_results(one, position.them, sides, cube)
        return Worths(values, cubeless, None, "one-sided", self.library.name(one))

    def _stored_worths(self, table: TwoSided, them: Side, sides: list[Side], cube: str) -> Worths:
        equities = table.lookup_many([them] * len(sides), sides).astype(np.float64)
        name, bare = self.library.name(table), -equities[:, 0]
        if cube != "cubeless" and not table.cubeful:
            cubeful = approximate.cubeful_of_chances(equities[:, 0] / 2 + 0.5)
            values = approximate.turned(np.stack([equities[:, 0], *cubeful], axis=1), cube)
            return Worths(values, bare, None, "two-sided", name)
        cubeless, owned, centered, opponent = choose.known_error(table)
        errors = {"cubeless": cubeless, "owned": opponent}
        errors |= {"centered": max(centered, 2 * opponent), "opponent": max(owned, 2 * opponent)}
        return Worths(approximate.turned(equities, cube), bare, float(errors[cube]), "two-sided", name)

    # -- one side ----------------------------------------------------------------------------------------

    def side(self, side: Side) -> SideRolls | None:
        """The rolls of one side calculated, None beyond the limit."""
        if self.calculate != "all" or not self.limits.rolls:
            return None

        def solve() -> SideRolls:
            from bgfmt.analysis.ondemand import solve_side

            return solve_side(side, limit=self.limits.rolls)

        return self._once((side,), solve)

    def chances(self, position: Position) -> approximate.TwoSidedEstimate:
        """Chances of both sides, each playing alone, from a table or else from calculated rolls."""
        choose.check_race(position)
        if choose.distributions_for(self.tables, position.us, position.them) is None:
            ours, theirs = (self.side(side) for side in (position.us, position.them))
            if ours is not None and theirs is not None:
                return approximate.of_rolls(position, ours, theirs)
        return approximate.twosided_from_onesided(self.tables, position)

    # -- a match -----------------------------------------------------------------------------------------

    def match(self, position: Position, score: Score) -> MatchAnswer | None:
        """A race solved at a score, None beyond the limit."""
        limit = self.limits.match
        if self.calculate != "all" or position.contact:
            return None

        def solve() -> MatchAnswer | None:
            from bgfmt.analysis.ondemand.answers import match_columns

            found = self.games.match(position, score)
            if found is not None:
                return found
            self._check(position, len(match_columns(position, score)), limit)
            return self.games.solve_match(position, score, limit, self.progress)

        return self._once((position, score), solve)

    @staticmethod
    def _check(position: Position, columns: int, limit: int) -> None:
        """TooMuchWorkError where the pairs of boards that are met are known at once to be too many."""
        from bgfmt.analysis.ondemand.solving import no_farther

        least = no_farther(position.us) * no_farther(position.them) // 2 * columns
        if least > limit:
            raise TooMuchWorkError(f"{position}", least, limit)

    @property
    def games(self) -> Games:
        """The last calculations, which answer for what comes up later in their games."""
        if self._games is None:
            from bgfmt.analysis.ondemand.answers import Games

            self._games = Games()
        return self._games

    def _once(self, key: Any, solve: Callable[[], T | None]) -> T | None:
        """The calculated answer, from those kept where it is among them; None where it is beyond the limit."""
        with self._lock:
            if key in self._kept:
                kept: T | None = self._kept[key]
                return kept
        try:
            found = solve()
        except TooMuchWorkError as error:
            found = None
            with self._lock:
                while len(self._beyond) >= KEPT:
                    del self._beyond[next(iter(self._beyond))]
                self._beyond[key[0]] = error
        except (NotCoveredError, SolverError):
            found = None
        with self._lock:
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
        return found


def _gammons(position: Position, *, counted: bool) -> Gammons:
    if MAX_CHEQUERS not in (position.us.chequers, position.them.chequers):
        return "none"
    return "counted" if counted else "ignored"
