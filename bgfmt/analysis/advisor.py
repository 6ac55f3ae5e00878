"""The adviser: answers every query about a game state.

The order of sources is that of `bgfmt.analysis.sources`: tables, calculation on demand, an estimate. Beyond these
`decide` alone can use a rule of thumb or a second engine, since neither gives equities. The command line, the engine
protocols, the annotator and the adapters in `plugins/` translate their queries to an adviser's methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bgfmt import met as mets
from bgfmt.analysis import choose, measures, races
from bgfmt.analysis.answers import (
    CALCULATION,
    COLUMNS,
    EQUAL,
    ESTIMATE,
    HYPERGAMMON,
    TABLES_OF_PAIRS,
    Decision,
    PositionEquities,
    RankedPlay,
    RankedPlays,
    Resignation,
    SideRace,
    Source,
    is_close,
)
from bgfmt.analysis.choose import Asked
from bgfmt.analysis.cube import CubeAction, Grid
from bgfmt.analysis.library import Library
from bgfmt.analysis.outside import OutsideEngine, PlainRule, untidiness
from bgfmt.analysis.sources import Calculate, Limits, Progress, Sources, Worths
from bgfmt.errors import NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.results import HOME
from bgfmt.game.state import OVER, Dice, GameState, as_state, pair_of_dice
from bgfmt.met import Met
from bgfmt.met.score import Score, score_of
from bgfmt.storage import PathLike

if TYPE_CHECKING:
    from bgfmt.analysis.solving import Solved

__all__ = ["SURE_LOSS", "Advisor", "Asking", "Outside"]


SURE_LOSS = -1.0 + 1e-6  # a stored cubeless equity of 0 reads as -1 exactly
Outside = Literal["refuse", "rule"] | OutsideEngine
Asking = GameState | Position | str  # the subject of a query; text is read as `GameState.parse` does


class Advisor:
    """Answers queries about a `GameState` from one or more databases. A context manager.

    Parameters
    ----------
    tables
        Databases as `bgfmt.open` returns them, tables, paths of files or folders, or a sequence of these. None looks
        for databases as `bgfmt.analysis.library` says: `BGFMT_DB`, gnubg's own, the default tables.
    met
        The match equity table: a name, a file, or what `bgfmt.met.load` returns. Kazaross-XG2 if None.
    met_player
        Which player of that table, 0 or 1, is on roll where a query does not say it; if None, the number of the
        player in the state. Matters only for tables that are not the same for both players.
    calculate
        "all": calculate what no table covers, and what the rounding of a table leaves open. "close": the latter
        only. "nothing": answer from tables and estimates.
    limit
        Largest calculation for one query in pairs of boards times cube states, a number or `Limits`. By default less
        where a one-sided table could estimate, more in a match.
    oracle
        Seconds of rollouts for a decision that is closer than the error of an estimate, 0 for none.
    outside
        What `decide` does where nothing covers the position: "refuse" raises NotCoveredError, "rule" uses
        `PlainRule`; else an engine that is then queried.
    progress
        Called as ``progress(done, total)`` during a calculation.

    An adviser does not change, so that threads may share it.

    Every method raises PositionError for an impossible position or a game that is over, and NotCoveredError, with
    the reason of each table, for a query that nothing answers.
    """

    def __init__(
        self,
        tables: Library | Asked | PathLike | Sequence[Asked | PathLike] | None = None,
        *,
        met: Met | PathLike | None = None,
        met_player: int | None = 0,
        calculate: Calculate = "all",
        limit: int | Limits | None = None,
        oracle: float = 0.0,
        outside: Outside = "refuse",
        progress: Progress | None = None,
    ) -> None:
        self.library = Library.of(tables)
        self.sources = Sources(self.library, calculate, limit, progress, oracle)
        self.outside = outside
        self._met_player = met_player
        self._met = met

    def with_outside(self, outside: Outside) -> Advisor:
        """Return an adviser with the same databases, limits and cache, and another `outside`.

        outside : what decides where no table covers a position: an engine, a rule of thumb, or "refuse".
        """
        other = copy(self)
        other.outside = outside
        return other

    def __enter__(self) -> Advisor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the databases that this adviser opened; those that were passed open stay open."""
        self.library.close()

    @property
    def met(self) -> Met:
        """The match equity table, loaded on first use."""
        if not isinstance(self._met, Met):
            self._met = mets.load(self._met or mets.DEFAULT)
        return self._met

    def player_of(self, state: GameState, met_player: int | None = None) -> int:
        """Return which player of the match equity table, 0 or 1, is on roll.

        This is `met_player`, else the one that the adviser was created with, else the player on roll in the state.
        """
        if met_player is not None:
            return met_player
        return state.turn if self._met_player is None else self._met_player

    def score(self, state: GameState, *, met_player: int | None = None) -> Score:
        """Return the match score of a state, with its cube and the adviser's match equity table.

        met_player : which player of the table, 0 or 1, is on roll; by default see `player_of`. PositionError for
        money play.
        """
        return score_of(state, self.met, self.player_of(state, met_player))

    def with_chequers(self, state: Asking) -> GameState:
        """Return the state with `chequers`, the number that each side began with, as the hypergammon table has it.

        The state is returned unchanged if no hypergammon table answers for it.
        """
        state = as_state(state)
        if state.chequers < MAX_CHEQUERS:
            return state
        table = self.sources.hypergammon(state)
        return state if table is None else replace(state, chequers=table.chequers)

    # -- one side ----------------------------------------------------------------------------------------

    def race(self, side: Side | str) -> SideRace:
        """Return the distribution of rolls, effective pips and wastage of one side.

        From the best one-sided table that covers it, else calculated. If that is too much work and a chequer is
        outside the home board, from the default table of ten points, with chequers beyond it estimated.
        NotCoveredError if none of these is possible.
        """
        side = Side.parse(side) if isinstance(side, str) else side
        if not isinstance(side, Side):
            raise PositionError(f"expected a Side or text, not {type(side).__name__}")
        table = choose.one_sided_for(self.library.tables, side)
        if table is not None:
            return races.side_race(table, side, self.library.name(table))
        found = self.sources.side(side)
        if found is not None:
            return races.calculated_race(found)
        may_calculate = self.sources.calculate == "all" and self.sources.limits.rolls
        if may_calculate and side.highest > HOME and not side.bar:
            return races.far_race(side)
        reason = choose.not_covered(self.library.tables, side, wanted="the rolls of one side")
        raise self.sources.add_limit(side, reason)

    def chances(self, position: Asking) -> races.TwoSidedEstimate:
        """Estimate win and gammon probabilities of a race by gnubg's formula, from each side's distribution of rolls.

        Each side plays as if alone. NotCoveredError for contact, and if the rolls of a side are not known.
        """
        position = as_state(position).position
        try:
            return self.sources.chances(position)
        except NotCoveredError:
            ours, theirs = (
                None if position.contact else self.race(side).bearoff for side in (position.us, position.them)
            )
            if ours is None or theirs is None:
                raise
        gammons = self.sources.estimated_gammons(position) if position.gammons else (0.0, 0.0)
        return races.TwoSidedEstimate(
            position, float(races.win_chances(ours, theirs)), *(gammons or (None, None))
        )

    def side_plays(self, side: Side, dice: Dice, measure: str = "mean") -> RankedPlays:
        """Rank all plays of a roll of one side, as if it were alone, best first.

        dice : (2, 1) or "21".
        measure : "mean" (fewest mean rolls to go) or "off:n" (probability of being off within n more rolls).
        """
        dice = pair_of_dice(dice)
        if not side.chequers:
            raise PositionError("all chequers are off, there is nothing to play")
        if side.bar:
            raise NotCoveredError(f"{side} has a chequer on the bar")
        return self._by_rolls(side, dice, legal_plays(Position(side, Side()), *dice), measure)

    def _by_rolls(
        self, asked: Position | Side, dice: tuple[int, int], plays: list[Play], measure: str
    ) -> RankedPlays:
        """Rank plays by a measure of one side, from the best one-sided table that covers all results."""
        one_sided, rolls = measures.parse_measure(measure)
        if not one_sided:
            raise PositionError(f"{measure!r} needs both sides, the one on roll first (side / side)")
        sides = [play.result.us for play in plays]
        tables = self.library.tables
        best = choose.one_sided_for if rolls is None else choose.distributions_for
        table = best(tables, *sides)
        if table is None:
            raise choose.not_covered(tables, *sides, wanted="what one side needs")
        numbers = np.array([side.number(table.points) for side in sides], np.int64)
        values = np.asarray(measures.side_values(table, numbers, rolls), np.float64)
        worths = Worths(values, values, table.rolls_error, "one-sided", self.library.name(table))
        order = np.argsort(values if rolls is None else -values, kind="stable").tolist()
        return _ranked(plays, worths, order, asked=asked, dice=dice, measure=measure)

    # -- both sides --------------------------------------------------------------------------------------

    def equities(self, state: Asking) -> PositionEquities:
        """Return win and gammon probabilities and money equities before the roll, by the first source that has them.

        Sources in order are tables, calculation and estimates. The score is ignored. NotCoveredError if none has
        them.
        """
        return self.sources.equities(_unfinished_state(state))

    def cube(
        self, state: Asking, *, met_player: int | None = None, equities: PositionEquities | None = None
    ) -> CubeAction:
        """Return whether to double and how to answer, with the cube where it is; in a match at its score.

        The action is that before the roll, dice are ignored. If a double is pending, it is about that double. Where
        the error of a table leaves the action open, it is calculated exactly unless that exceeds the limit of work;
        where the error of an estimate does, it is rolled out unless rollouts are off.

        met_player : as in `score`. equities : for money, those that `equities` returned for this position, if known.
        PositionError if the game is over; NotCoveredError if no source covers the position.
        """
        state = _unfinished_state(state)
        if not state.money:
            from bgfmt.analysis import at_score

            self.sources.hypergammon(state)  # raises for hypergammon, which has money equities only
            choose.check_race(state.position)
            return at_score.cube(self.sources, state, self.score(state, met_player=met_player))
        found = equities or self.sources.equities(state)
        action = _action(found, state)
        if found.source == HYPERGAMMON or action.error is None or action.exact or action.decided:
            return action
        estimated = found.source == ESTIMATE
        better = self.roll_out(state) if estimated else self.sources.exact_equities(state)
        return action if better is None else _action(better, state, settled=not estimated)

    def roll_out(self, state: GameState) -> PositionEquities | None:
        """Roll out a race for money if the error of its estimate leaves the cube action open.

        Return the equities found; None if the estimate decides the action, if the race cannot be estimated, or if
        rollouts are off.
        """
        to_equities = self.sources.to_equities

        def sure(solved: Solved) -> bool:
            return _action(to_equities(solved), state).sure

        solved = self.sources.roll_out(state, bool(state.jacoby), sure)
        return None if solved is None else to_equities(solved)

    def scores(self, state: Asking, upto: int = 7, *, met_player: int | None = None) -> Grid:
        """Return the cube actions at all match scores at which each side needs at most `upto` points.

        The cube has the value and owner of the state. met_player : as in `score`.
        """
        from bgfmt.analysis.ondemand import scores_grid

        state = _unfinished_state(state)
        sources = self.sources
        grid = partial(
            scores_grid,
            state.position,
            upto,
            met=self.met,
            player=self.player_of(state, met_player),
            cube=state.cube_value,
            owner=state.owner,
        )
        try:
            return grid(limit=sources.limits.match, progress=sources.progress)
        except TooMuchWorkError:
            if not sources.may_estimate(state.position):
                raise
            return grid(estimate=partial(sources.estimate, state.position))

    # -- plays -------------------------------------------------------------------------------------------

    def plays(
        self, state: Asking, *, measure: str | None = None, met_player: int | None = None
    ) -> RankedPlays:
        """Rank the plays of the state's roll, one for each different result, best first.

        Plays of equal value are ranked by cubeless equity, then by `untidiness` (chequers and gaps left).

        Parameters
        ----------
        state
            A state with dice; else PositionError is raised.
        measure
            "money" (equity with the cube where it is), "match" (equity at the score, EMG), "cubeless", or "mean" or
            "off:n" (see `side_plays`). By default "match" in a match, else "money", or "cubeless" if no cube is in
            use.
        met_player
            As in `score`.
        """
        state = _unfinished_state(state)
        position = state.position.check()
        if state.dice is None:
            raise PositionError("no roll given; add one, such as 61")
        choose.check_unfinished(position)
        measure = measure or ("match" if not state.money else "money" if state.cube_in_use else "cubeless")
        plays = legal_plays(position, *state.dice)
        if measure not in ("match", "money", "cubeless") and plays:
            return self._by_rolls(position, state.dice, plays, measure)
        if measure == "match":
            if state.money:
                raise PositionError("a money game has no score; give one, such as 3-5")
            from bgfmt.analysis import at_score

            self.sources.hypergammon(state)  # raises for hypergammon, which has money equities only
            score = self.score(state, met_player=met_player)
            ranked = at_score.plays(self.sources, state, score, plays)
            if ranked is not None:
                return ranked
            measure = "cubeless"
        cube = state.owner if measure == "money" else None
        common: dict[str, Any] = {"asked": position, "dice": state.dice, "measure": measure, "cube": cube}
        if not plays:
            return RankedPlays(**common, source="forced", max_error={})
        results = [play.result for play in plays]
        worths = self.sources.worths(state, results, cube or "cubeless")
        if worths is None:
            choose.check_race(position)
            raise self.sources.refusal(position)
        # where the other side cashes whatever we play, the better win probability comes first
        # (values that differ by less than the error of float64 count as equal)
        near = [
            (-round(float(v), 11), -round(float(w), 11))
            for v, w in zip(worths.values, worths.cubeless, strict=True)
        ]
        order = sorted(range(len(plays)), key=lambda k: (near[k], untidiness(results[k])))
        return _ranked(plays, worths, order, **common)

    # -- resignations, and what to do --------------------------------------------------------------------

    def resignation(self, state: Asking) -> Resignation:
        """Return whether to accept the resignation that is offered, or if none is, whether to resign.

        An offer is accepted if playing on could not win more. The player on roll resigns only a race that is
        certainly lost by a two-sided table or exact calculation, and in which he can't lose a gammon.
        """
        state = _unfinished_state(state)
        return self._accept_resignation(state) if state.resigned else self._offer_resignation(state)

    def _accept_resignation(self, state: GameState) -> Resignation:
        """Return whether the other side accepts the points that the player on roll offers to resign."""
        position = state.position
        points = state.resigned
        sides = (position.us, position.them)
        most = 3 if position.contact else 2 if any(side.chequers >= state.chequers for side in sides) else 1
        if points >= most:
            return Resignation(source="rule", position=position, accept=True)
        try:
            equities = self.equities(state)
        except (NotCoveredError, PositionError):
            return Resignation(source="rule", position=position, accept=False)
        worth = -equities.cubeless  # of playing on, for the side that answers
        return Resignation(
            source=equities.source,
            table=equities.table,
            max_error=equities.max_error,
            position=position,
            accept=points >= worth - 1e-9,
            worth=worth,
        )

    def _offer_resignation(self, state: GameState) -> Resignation:
        """Return how many points the player on roll should resign."""
        position = state.position
        none = Resignation(source="rule", position=position)
        if position.contact or not position.them.chequers or not 0 < position.us.chequers < state.chequers:
            return none
        try:
            if state.kind == "play":  # the roll is known: some play may still win
                answer: RankedPlays | PositionEquities = self.plays(state, measure="cubeless")
                best = answer.best if isinstance(answer, RankedPlays) else None
                worth = best.value if best else None
            else:
                answer = self.equities(state)
                worth = answer.cubeless
        except NotCoveredError:
            return none
        if answer.source not in (*TABLES_OF_PAIRS, CALCULATION) or worth is None or worth > SURE_LOSS:
            return none
        return Resignation(source=answer.source, table=answer.table, position=position, offer=1, worth=-1.0)

    def decide(self, state: Asking) -> Decision:
        """Return what to do in a state: a play, a cube action, or the answer to a double or resignation.

        Where no table, calculation or estimate covers the position, the engine or rule `outside` decides;
        NotCoveredError if that is "refuse".
        """
        state = _unfinished_state(state)
        position = state.position.check()
        if state.kind == "resignation":
            answer = self.resignation(state)
            word = "accept" if answer.accept else "reject"
            return Decision(word, answer.source, answer.table, answer.worth)
        choose.check_unfinished(position)
        if state.kind == "cube" and not state.may_double:
            return Decision("roll", "rule")
        try:
            return self._decide_play(state) if state.kind == "play" else self._decide_cube(state)
        except NotCoveredError:
            if self.outside == "refuse":
                raise
        engine = PlainRule(self.library.tables) if isinstance(self.outside, str) else self.outside
        source: Source = "rule" if isinstance(engine, PlainRule) else "engine"
        if state.kind != "play" or state.dice is None:
            doubles, takes = engine.double(state)
            word = ("take" if takes else "pass") if state.doubled else ("double" if doubles else "roll")
            return Decision(word, source)
        plays = legal_plays(position, *state.dice)
        if len(plays) == 1:
            return Decision("play", "forced", play=RankedPlay.forced(plays[0]))
        best = int(np.argmax(engine.values(state, [play.result for play in plays])))
        return Decision("play", source, play=RankedPlay.forced(plays[best]))

    def _decide_cube(self, state: GameState) -> Decision:
        action = self.cube(state)
        word = "double" if action.doubles else "roll"
        value = action.best
        if state.doubled:
            word = "beaver" if state.beavers and action.beavers else "take" if action.takes else "pass"
            values = {
                "pass": -action.double_pass,
                "take": -action.double_take,
                "beaver": -2 * action.double_take,
            }
            value = values[word]
        return Decision(word, action.source, action.table, value if state.money else None)

    def _decide_play(self, state: GameState) -> Decision:
        ranked = self.plays(state)
        best = ranked.best
        return Decision("play", ranked.source, ranked.table, best.value if best else None, best)


def _unfinished_state(asked: Asking) -> GameState:
    """Return the state that a query is about; PositionError if its game is over."""
    state = as_state(asked)
    if state.ended:
        raise PositionError(OVER[state.ended])
    return state


def _action(equities: PositionEquities, state: GameState, *, settled: bool = False) -> CubeAction:
    """Return the cube action of a state for money, given the equities of its position."""
    owner = "centered" if state.doubled and state.owner == "opponent" else state.owner
    errors = equities.max_error
    return CubeAction(
        equities.position,
        owner,
        getattr(equities, owner if state.cube_in_use else "cubeless"),
        2 * equities.opponent,
        error=None if errors is None else max(errors[name] for name in COLUMNS[1:]),
        usual_error=None if equities.usual_error is None else max(equities.usual_error.values()),
        proved=equities.proved,
        settled=settled,
        approximate=equities.approximate,
        source=equities.source,
        table=equities.table,
        barred="" if state.cube_in_use else "No cube is in use",
        beaver_rule=state.beavers is not False,
    )


def _ranked(plays: list[Play], worths: Worths, order: list[int], **asked: Any) -> RankedPlays:
    """Build the answer about a roll.

    Parameters
    ----------
    plays
        The plays.
    worths
        Their values.
    order
        Indices of the plays, the best first.
    asked
        Other fields of `RankedPlays`.
    """
    values = worths.values
    one_sided = isinstance(asked["asked"], Side)
    error = worths.error
    usual = worths.usual
    about = usual is not None or error is None
    rows = []
    for k in order:
        play = plays[k]
        lost = abs(float(values[k] - values[order[0]]))
        loss = lost if lost > EQUAL else 0.0
        rows.append(
            RankedPlay(
                str(play),
                play.result,
                float(values[k]),
                loss,
                play.moves,
                asked["measure"],
                approximate=about,
                close=is_close(loss, error),
                one_sided=one_sided,
            )
        )
    return RankedPlays(
        **asked,
        source=worths.source,
        table=worths.table,
        max_error=None if error is None else {"value": error},
        usual_error=None if usual is None else {"value": usual},
        proved=worths.proved,
        plays=tuple(rows),
    )
