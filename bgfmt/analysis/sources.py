"""Where an answer comes from: the order in which tables, calculation and estimate are tried.

1. A two-sided table with cubeful equities that covers the question, exact numbers before rounded ones; with fifteen
   chequers first one that counts gammons, by the rule of the question.
2. Calculation on demand, up to a limit of work: exact, gammons and Jacoby's rule counted.
3. The estimate of an installed estimator (`bgfmt.analysis.estimators`), for every race; the probability to win from a
   cubeless two-sided table where one covers it. With `oracle`, rollouts of what is closer than the estimate's error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.analysis import choose, races
from bgfmt.analysis.answers import COLUMNS, ESTIMATE, HYPERGAMMON, PositionEquities, Source
from bgfmt.analysis.cube import values_after_play
from bgfmt.analysis.estimators import RaceEstimator, new_estimator
from bgfmt.analysis.library import Library
from bgfmt.errors import CONTACT, NotCoveredError, SolverError, TooMuchWorkError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import GameState
from bgfmt.tables import Table, of_kind
from bgfmt.tables.hypergammon import HyperSides
from bgfmt.tables.two_sided import StoredEquities

if TYPE_CHECKING:  # imported late: a position that a table covers needs no calculation
    from bgfmt.analysis.ondemand import Games, Terms
    from bgfmt.analysis.solving import SideRolls, Solved

__all__ = [
    "ASKED",
    "CACHED_BYTES",
    "CACHED_RESULTS",
    "NOT_KNOWN",
    "PLAYING",
    "Calculate",
    "Floats",
    "Limits",
    "Progress",
    "ResultCache",
    "Sources",
    "Worths",
]


Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]
Calculate = Literal["all", "close", "nothing"]
T = TypeVar("T")
NOT_KNOWN = (None, None, None)  # the probabilities of results, where gammons are counted
CACHED_RESULTS = 6  # results in the cache: the cube and the play of one turn are queried one after the other
CACHED_BYTES = 64 << 20  # that these take at most


@dataclass(frozen=True)
class Limits:
    """Largest calculations for one query, in pairs of boards times cube states.

    close : where the rounding of a table leaves the decision open (about half a second).
    alone : where no table covers the position (any six chequers against six on six points).
    beside : where a one-sided table can estimate instead (a few ms).
    match : at a match score (about ten seconds of two cores).
    rolls : for the distribution of rolls of one side (10,000 boards, a quarter of a second); 0 for none.
    small : for up to eight chequers a side on six points, if larger than the limit that holds otherwise.
    """

    close: int = 12_000_000
    alone: int = 4_000_000
    beside: int = 400_000
    match: int = 100_000_000
    rolls: int = 4_000_000
    small: int = 0

    @classmethod
    def of(cls, limit: int | Limits | None) -> Limits:
        """Return limits from an integer, which all kinds of calculation but `small` get; the defaults for None."""
        if limit is None or isinstance(limit, Limits):
            return limit or cls()
        return cls(limit, limit, limit, limit, limit)


#: for a single query that somebody waits for, about ten seconds of two cores: any nine chequers against nine on
#: six points
ASKED = Limits(alone=100_000_000, beside=100_000_000, rolls=400_000_000)
#: for an engine in the middle of a game: about a second
PLAYING = Limits(match=24_000_000)


@dataclass(frozen=True)
class Worths:
    """Values of the results of a roll's plays, to the side that has played.

    values, cubeless : (M,) equities of the M results, with the cube where it lies, and without a cube.
    error : greatest error of the values, None if not known.
    source, table : where they come from.
    usual : for estimates and rollouts, the error that 95 % of them do not exceed.
    proved : False if `error` is not proved for a table of this size, only measured on others.
    """

    values: Floats
    cubeless: Floats
    error: float | None
    source: Source
    table: str | None
    usual: float | None = None
    proved: bool = True


class ResultCache:
    """Cache of the last calculations and estimates; several `Sources` may share it, as they don't depend on tables.

    games_bytes : memory limit of `games`, None for its default.
    """

    def __init__(self, games_bytes: int | None = None) -> None:
        self._games_bytes = games_bytes
        self._kept: dict[tuple[Any, ...], Any] = {}
        self._lock = Lock()

    @cached_property
    def estimator(self) -> RaceEstimator | None:
        """The estimator of races, made on first use; None where none is installed."""
        return new_estimator()

    @cached_property
    def games(self) -> Games:
        """Cache of solved races, which also answers for positions that come up later in their games."""
        from bgfmt.analysis.ondemand import GAMES_BYTES, Games

        return Games(self._games_bytes or GAMES_BYTES)

    def forget(self) -> None:
        """Remove all results, so that answers do not depend on earlier queries."""
        with self._lock:
            self._kept.clear()
            self.__dict__.pop("games", None)

    def find_refusal(self, asked: Position | Side) -> TooMuchWorkError | None:
        """Return the cached error if calculating this position or side took too much work; None if there is none."""
        with self._lock:
            kept = [one for key, one in self._kept.items() if key[0] == asked]
        return next((one for one in reversed(kept) if isinstance(one, TooMuchWorkError)), None)

    def get_or_solve(self, key: tuple[Any, ...], solve: Callable[[], T]) -> T | None:
        """Return the cached result of a key, else call `solve` and cache what it returns.

        If `solve` raises TooMuchWorkError, NotCoveredError or SolverError, None is returned, now and for this key
        later.
        """
        with self._lock:
            is_cached = key in self._kept
            found = self._kept.get(key)
        if not is_cached:
            try:
                found = solve()
            except TooMuchWorkError as error:
                found = error
            except (NotCoveredError, SolverError):
                found = None
            with self._lock:
                self._keep(key, found)
        return None if isinstance(found, TooMuchWorkError) else found

    def _keep(self, key: tuple[Any, ...], found: Any) -> None:
        """Add a result, whatever its size, and remove the oldest others beyond the limits."""
        self._kept[key] = found
        while len(self._kept) > 1 and (
            len(self._kept) > CACHED_RESULTS or sum(map(_size, self._kept.values())) > CACHED_BYTES
        ):
            del self._kept[next(iter(self._kept))]


def _size(found: Any) -> int:
    """Return the bytes of the arrays of a result."""
    family = getattr(found, "ours", None)
    arrays = [getattr(found, "after", None)]
    arrays += [getattr(family, name, None) for name in ("counts", "plies", "ends", "results")]
    return sum(array.nbytes for array in arrays if array is not None)


class Sources:
    """Answers from the tables of a library, from calculation and from estimates, in this order.

    calculate, limit, progress, oracle : see `bgfmt.analysis.advisor.Advisor`.
    """

    def __init__(
        self,
        library: Library,
        calculate: Calculate = "all",
        limit: int | Limits | None = None,
        progress: Progress | None = None,
        oracle: float = 0.0,
    ) -> None:
        self.library = library
        self.calculate = calculate
        self.progress = progress
        self.oracle = oracle
        self.limits = Limits.of(limit)
        self.results = ResultCache()

    @property
    def tables(self) -> list[Table]:
        """The tables of the library, in its order."""
        return self.library.tables

    def refusal(self, position: Position) -> NotCoveredError:
        """Return the error for a position that nothing answers.

        Its message has the reason of each table, and the limit that a calculation exceeded, if one did.
        """
        reason = choose.not_covered(self.tables, position.us, position.them, wanted="both sides' equities")
        return self.add_limit(position, reason)

    def add_limit(self, asked: Position | Side, reason: NotCoveredError) -> NotCoveredError:
        """Return the error `reason`, as TooMuchWorkError if calculating this position or side exceeded a limit.

        asked : the position or side. reason : why no table answers.
        """
        beyond = self.results.find_refusal(asked)
        return reason if beyond is None else TooMuchWorkError(str(reason), beyond.work, beyond.limit)

    # -- hypergammon --------------------------------------------------------------------------------------

    def hypergammon(self, state: GameState) -> HyperSides | None:
        """Return the hypergammon table that answers for a state, None if the state isn't of hypergammon.

        A game is hypergammon if it began with one to three chequers, or if the library holds tables of hypergammon
        only. A race in which nobody can lose a gammon any more is also answered by other tables.

        NotCoveredError if the state is of hypergammon but no table answers for it.
        """
        position = state.position
        began = state.chequers
        named = self.tables
        tables = of_kind(named, HyperSides)  # type: ignore[type-abstract]
        alone = len(tables) == len(named) > 0
        if began == MAX_CHEQUERS and not alone:
            if tables and position.contact:
                why = f"{CONTACT}; a hypergammon table answers only if it is the only one named"
                raise NotCoveredError(f"{position}: {why}")
            return None
        choose.check_unfinished(position.check())
        fitting = [t for t in tables if began in (t.chequers, MAX_CHEQUERS) and t.covers(position) is None]
        fewer = max(position.us.chequers, position.them.chequers) < began
        if not fitting and not alone and fewer and not position.contact:
            return None
        if not fitting:
            wanted = f"a game of {began} chequers" if began < MAX_CHEQUERS else ""
            raise choose.not_covered(named, position.us, position.them, wanted=wanted)
        table = max(fitting, key=lambda t: (t.chequers, t.exact))
        if not state.money:
            name = self.library.name(table)
            raise NotCoveredError(f"{name} has money equities of hypergammon, but this is a match")
        return table

    def _of_hypergammon(self, table: HyperSides, state: GameState) -> PositionEquities:
        equities, chances = _hyper_numbers(table, [state.position], bool(state.jacoby))
        full = table.chequers in (state.position.us.chequers, state.position.them.chequers)
        origin: dict[str, Any] = {"source": HYPERGAMMON, "table": self.library.name(table)}
        origin |= {"gammons": "counted" if full else "none", "max_error": _errors(table.max_error)}
        return _equities(state.position, chances[0].tolist(), equities[0], **origin)

    # -- money -------------------------------------------------------------------------------------------

    def equities(self, state: GameState) -> PositionEquities:
        """Return win and gammon probabilities and money equities before the roll, by the first source that has them.

        Positions with contact are answered in hypergammon only.
        """
        position = state.position
        hyper = self.hypergammon(state)
        if hyper is not None:
            return self._of_hypergammon(hyper, state)
        choose.check_race(position)
        stored = self._pairs(state)
        if stored is not None:
            return self._stored_equities(stored, position)
        solved = self._solved_or_estimated(state)
        if solved is None:
            raise self.refusal(position)
        equities = self.to_equities(solved)
        table = choose.two_sided_for(self.tables, position)
        if solved.usual is None or table is None or equities.gammons == "counted":
            return equities
        cubeless = float(table.lookup_many([position.us], [position.them])[0, 0])
        return replace(equities, win=cubeless / 2 + 0.5, cubeless=cubeless, table=self.library.name(table))

    def _pairs(
        self, state: GameState, results: list[Side] | None = None, *, cubeful: bool = True
    ) -> StoredEquities | None:
        """Return the best two-sided table that covers a state or `results`, or None.

        Where gammons are possible a table that counts them comes first.
        """
        position = state.position
        tables = self.tables
        counting = choose.counting_for(tables, position, jacoby=bool(state.jacoby), results=results)
        if counting is not None and position.gammons:
            return counting
        return choose.two_sided_for(tables, position, cubeful=cubeful, results=results) or counting

    def _stored_equities(self, table: StoredEquities, position: Position) -> PositionEquities:
        """Look up a position in a two-sided table that covers it."""
        row = table.lookup_many([position.us], [position.them])[0]
        counted = position.gammons and not table.tells_win
        chances = NOT_KNOWN if counted else (float(row[0]) / 2 + 0.5, 0.0, 0.0)
        errors = table.errors()
        origin: dict[str, Any] = {"source": table.kind, "table": self.library.name(table)}
        origin["proved"] = table.error_is_proved
        origin |= {"gammons": "counted" if counted else "ignored" if position.gammons else "none"}
        return _equities(position, chances, row, **origin, max_error={"win": errors["cubeless"] / 2} | errors)

    def exact_equities(self, state: GameState) -> PositionEquities | None:
        """Calculate exact money equities where those of a table leave a decision open.

        None if that takes more work than `limits.close`, or if calculation is switched off.
        """
        solved = self.solve(state.position, bool(state.jacoby), self.limits.close, close=True)
        return None if solved is None else self.to_equities(solved)

    def to_equities(self, solved: Solved) -> PositionEquities:
        """Return the money equities of a race whose values for money were calculated, estimated or rolled out."""
        position = solved.position
        equities = [solved.equity(name) for name in COLUMNS]
        chances = NOT_KNOWN if position.gammons else ((equities[0] + 1) / 2, 0.0, 0.0)
        errors = {"max_error": _errors(solved.error), "usual_error": _errors(solved.usual)}
        gammons = "counted" if position.gammons else "none"
        return _equities(position, chances, equities, source=solved.source, gammons=gammons, **errors)

    def _solved_or_estimated(self, state: GameState) -> Solved | None:
        """Solve or estimate, for money, a race that no two-sided table covers; None if neither is allowed."""
        position = state.position
        jacoby = bool(state.jacoby)
        beside = choose.distributions_for(self.tables, position.us, position.them)
        limit = self.limits.alone if beside is None else self.limits.beside
        return self.solve(position, jacoby, limit) or self.estimate_if_allowed(position, jacoby)

    def worths(self, state: GameState, results: Sequence[Position], cube: str) -> Worths | None:
        """Return the values of all results of a state's roll to the side that plays, by the first source with all.

        Parameters
        ----------
        state
            The state before the play, with its dice.
        results
            The positions after each play; `us` is the side that has played.
        cube
            "centered", "owned" or "opponent" as the side that plays sees it, or "cubeless".

        Returns
        -------
        The values in the order of `results`; None if no source has all of them.
        """
        position = state.position
        jacoby = bool(state.jacoby)
        dice = state.dice or (0, 0)
        hyper = self.hypergammon(state)
        if hyper is not None:
            results = [result.swapped() for result in results]
            equities, _ = _hyper_numbers(hyper, results, jacoby)
            error = None if hyper.max_error is None else 2 * hyper.max_error
            values, cubeless = (values_after_play(equities, owner) for owner in (cube, "cubeless"))
            return Worths(values, cubeless, error, HYPERGAMMON, self.library.name(hyper))
        if any(result.contact for result in results):
            return None
        sides = [result.us for result in results]
        table = self._pairs(state, sides, cubeful=cube != "cubeless")
        if table is not None:
            return self._stored_worths(table, position.them, sides, cube)
        solved = self._solved_or_estimated(state)
        if solved is None:
            return None
        solved = self.roll_out_plays(solved, jacoby, dice, solved.column(cube))
        worth = [solved.values(*dice, solved.column(name)) for name in (cube, "cubeless")]
        values, cubeless = (np.array([one[side] for side in sides]) for one in worth)
        return Worths(values, cubeless, solved.error, solved.source, None, solved.usual)

    def _stored_worths(self, table: StoredEquities, them: Side, sides: list[Side], cube: str) -> Worths:
        equities = table.lookup_many([them] * len(sides), sides).astype(np.float64)
        cubeless, owned, centered, opponent = (*table.known_errors.tolist(), 0.0, 0.0, 0.0)[:4]
        errors = {"cubeless": cubeless, "owned": opponent}
        errors |= {"centered": max(centered, 2 * opponent), "opponent": max(owned, 2 * opponent)}
        error = errors[cube]
        values = values_after_play(equities, cube)
        source: Source = table.kind  # type: ignore[assignment]
        name = self.library.name(table)
        return Worths(values, -equities[:, 0], error, source, name, proved=table.error_is_proved)

    # -- one side ----------------------------------------------------------------------------------------

    def side(self, side: Side) -> SideRolls | None:
        """Calculate the distribution of rolls of one side.

        None if that takes more work than `limits.rolls`, or if `calculate` is not "all".
        """
        if self.calculate != "all" or not self.limits.rolls:
            return None

        def solve() -> SideRolls:
            from bgfmt.analysis.solving import solve_side

            return solve_side(side, limit=self.limits.rolls)

        return self.results.get_or_solve((side, self.limits.rolls), solve)

    def chances(self, position: Position) -> races.TwoSidedEstimate:
        """Estimate the win and gammon probabilities of a race, each side playing alone.

        The distributions of rolls come from a one-sided table, else they are calculated.
        """
        choose.check_race(position)
        if choose.distributions_for(self.tables, position.us, position.them) is None:
            ours, theirs = (self.side(side) for side in (position.us, position.them))
            if ours is not None and theirs is not None:
                return races.estimate_from_rolls(position, ours, theirs)
        return races.twosided_from_onesided(self.tables, position)

    def estimated_gammons(self, position: Position) -> tuple[float, float] | None:
        """Estimate the probabilities (win gammon, lose gammon) of the side on roll in a race without a cube.

        None where `may_estimate` is false.
        """
        return self._estimator.gammons(position) if self.may_estimate(position) else None

    # -- solved and estimated ----------------------------------------------------------------------------

    def solve(self, position: Position, terms: Terms, limit: int, *, close: bool = False) -> Solved | None:
        """Solve a race exactly, or return the cached result; None if that isn't allowed or takes too much work.

        Parameters
        ----------
        position
            A race; for contact the result is None.
        terms
            A match score, or for money whether Jacoby's rule is in force.
        limit
            Largest calculation, in pairs of boards times cube states; None is returned beyond it.
        close
            A table has an answer, but its rounding leaves the decision open; then calculation is allowed also if only
            close decisions are to be calculated.
        """
        if position.contact or self.calculate == "nothing" or not (close or self.calculate == "all"):
            return None
        sides = position.us, position.them
        if all(side.chequers <= 8 and side.highest <= 6 for side in sides):
            limit = max(limit, self.limits.small)

        def solve() -> Solved:
            from bgfmt.analysis.ondemand import columns_for
            from bgfmt.analysis.solving import count_nearer_boards

            found = self.results.games.find(position, terms)
            if found is not None:
                return found
            # at least as many pairs of boards can come up
            least = (
                count_nearer_boards(position.us)
                * count_nearer_boards(position.them)
                // 2
                * len(columns_for(position, terms))
            )
            if least > limit:
                raise TooMuchWorkError(f"{position}", least, limit)
            return self.results.games.solve(position, terms, limit, self.progress)

        return self.results.get_or_solve((position, terms, limit), solve)

    def may_estimate(self, position: Position) -> bool:
        """Return whether a race may be estimated.

        An estimator must be installed, and either all calculation is allowed or a table covers both sides.
        """
        if position.contact:
            return False
        beside = self.calculate == "all" or choose.distributions_for(self.tables, position.us, position.them)
        allowed = bool(beside or choose.two_sided_for(self.tables, position))
        return allowed and self.results.estimator is not None

    @property
    def _estimator(self) -> RaceEstimator:
        """The estimator of races; NotCoveredError where none is installed."""
        if self.results.estimator is None:
            raise NotCoveredError("no table covers this position, and no estimator of races is installed")
        return self.results.estimator

    def estimate_if_allowed(self, position: Position, terms: Terms) -> Solved | None:
        """Return the estimate of a race, cached; None where `may_estimate` is false.

        terms : a match score, or for money whether Jacoby's rule is in force.
        """
        if not self.may_estimate(position):
            return None
        key = (position, terms, "estimate")
        return self.results.get_or_solve(key, lambda: self.estimate(position, terms))

    def estimate(self, position: Position, terms: Terms) -> Solved:
        """Estimate a race for money or at a match score.

        terms : a match score, or for money whether Jacoby's rule is in force. The errors are in points of equity for
        money, in match winning chance at a score. NotCoveredError if no estimator is installed.
        """
        from bgfmt.analysis.ondemand import columns_for

        lose, win = (-1.0, 1.0) if isinstance(terms, bool) else terms.ends
        return self._estimator.solve(position, columns_for(position, terms), (win - lose) / 2)

    def roll_out(self, state: GameState, terms: Terms, sure: Callable[[Solved], bool]) -> Solved | None:
        """Roll out a race whose estimate leaves the cube action open.

        Parameters
        ----------
        state
            The race.
        terms
            A match score, or for money whether Jacoby's rule is in force.
        sure
            Returns whether values decide the cube action; the rollouts stop when they do or the time is over.

        Returns
        -------
        The values by rollouts; None if rollouts are off or the estimate already decides.
        """
        solved = self.estimate_if_allowed(state.position, terms) if self.oracle else None
        if solved is None or sure(solved):
            return None

        def play() -> Solved:
            return self._estimator.settle(solved, terms, sure, self.oracle)

        return self.results.get_or_solve((state.position, terms, state.owner, "rollout"), play)

    def roll_out_plays(self, solved: Solved, terms: Terms, dice: tuple[int, int], column: int) -> Solved:
        """Return the values of a race after rollouts of a roll's best plays, if its estimate leaves the best open.

        Parameters
        ----------
        solved
            The race; returned as it is if it is no estimate, or if rollouts are off.
        terms
            A match score, or for money whether Jacoby's rule is in force.
        dice
            The roll.
        column
            The cube state (column of `solved`) that the plays are ranked by.
        """
        if not self.oracle or solved.source != ESTIMATE:
            return solved

        def play() -> Solved:
            return self._estimator.settle_plays(solved, terms, dice, column, self.oracle)

        return self.results.get_or_solve((solved.position, terms, dice, column), play) or solved


def _hyper_numbers(table: HyperSides, positions: Sequence[Position], jacoby: bool) -> tuple[Floats, Floats]:
    """Return (N, 4) money equities and (N, 3) probabilities of positions in a hypergammon table.

    The equities are in the order of `COLUMNS`; the probabilities are win, win gammon, lose gammon.
    """
    rows = table.lookup_many([one.us for one in positions], [one.them for one in positions]).astype(
        np.float64
    )
    column = {one.name: rows[:, k] for k, one in enumerate(table.columns)}
    gained = column["win_gammon"] + column["win_backgammon"]
    cubeless = 2 * column["win"] - 1 + gained - column["lose_gammon"] - column["lose_backgammon"]
    column = {"equity_cubeless": cubeless} | column
    if jacoby:
        column["equity_centered"] = np.minimum(
            column["equity_centered_jacoby"], 1
        )  # above 1 by rounding only
    chances = [column[name] for name in ("win", "win_gammon", "lose_gammon")]
    equities = np.stack([column[f"equity_{name}"] for name in COLUMNS], axis=1)
    # without gammons an equity exceeds 1 by rounding only
    equities = np.minimum(equities, np.where(gained > 0, 3, 1)[:, None])
    return equities, np.stack(chances, axis=1)


def _equities(
    position: Position, chances: Sequence[float | None], equities: Any, **origin: Any
) -> PositionEquities:
    """Build an answer from probabilities (win, win gammon, lose gammon) and equities in the order of `COLUMNS`.

    Without a win probability the errors in `origin` do not name it.
    """
    win, won, lost = chances
    if win is None:
        for kind in ("max_error", "usual_error"):
            if origin.get(kind):
                origin[kind] = {name: error for name, error in origin[kind].items() if name != "win"}
    origin |= dict(zip(COLUMNS, map(float, equities), strict=True))
    return PositionEquities(position=position, win=win, win_gammon=won, lose_gammon=lost, **origin)


def _errors(error: float | None) -> dict[str, float] | None:
    """Return one error for the win probability and all equities, by name; None if it isn't known."""
    return None if error is None else dict.fromkeys(("win", *COLUMNS), error)
