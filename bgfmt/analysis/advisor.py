"""The adviser: every question that a game state may raise, answered from tables by one order of sources.

1. a two-sided table with cubeful equities that covers the question, exact numbers before rounded ones; a cube action
   that its rounding could turn is calculated instead;
2. calculation on demand, for what no table covers, up to a limit of work;
3. an estimate: the exact chance to win of a cubeless two-sided table, or else the chances of two one-sided
   distributions, each side playing alone, made cubeful by Janowski's formula;
4. outside all of these a rule or a second engine, where one is asked for: `decide` alone, since neither has numbers.

The command line, the engine protocols, the annotator and the adapters in `plugins/` translate into these questions
and out of these answers, and judge nothing themselves.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgfmt import lookup
from bgfmt.analysis import approximate, bulk, choose, match_estimate, races, rule
from bgfmt.analysis.answers import (
    COLUMNS,
    Decision,
    Gammons,
    PositionEquities,
    RankedPlay,
    RankedPlays,
    Resignation,
    SideRace,
    Source,
)
from bgfmt.analysis.choose import Asked
from bgfmt.analysis.cube import EXACT, CubeAction, MatchChances, action_of
from bgfmt.analysis.library import Library, PathLike
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import Play, legal_plays, notation
from bgfmt.game.state import GameState, Owner
from bgfmt.tables import OneSided, Table, TwoSided

Floats = NDArray[np.float64]
Outside = Literal["refuse", "rule"] | rule.Engine
#: most pairs of positions calculated to answer one question, some two seconds of one core
LIMIT = 3_000_000
SURE_LOSS = -1.0 + 1e-6  # a stored cubeless equity of 0 reads as -1 exactly


class Advisor:
    """Answers the questions of a `GameState` from one or more databases. A context manager.

    Parameters
    ----------
    tables
        Databases as `bgfmt.open` gives them, tables, paths of files or folders, or a sequence of these. None looks
        for databases as `bgfmt.analysis.library` says: `BGFMT_DB`, gnubg's own, the default tables.
    limit
        Most pairs of positions that may be calculated for one question; 0 calculates nothing.
    outside
        What `decide` does where nothing above covers the position: "refuse" raises NotCoveredError, "rule" goes by
        `bgfmt.analysis.rule`, and an engine is asked.

    Every method raises PositionError for a position that cannot be or a game that is over, and NotCoveredError, with
    the reason of each table, for a question that nothing answers.
    """

    def __init__(
        self,
        tables: Library | Asked | PathLike | Sequence[Asked | PathLike] | None = None,
        *,
        limit: int = LIMIT,
        outside: Outside = "refuse",
    ) -> None:
        self.library = tables if isinstance(tables, Library) else Library.of(tables)
        self.limit, self.outside = limit, outside

    def __enter__(self) -> Advisor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the databases that were opened here."""
        self.library.close()

    @property
    def tables(self) -> list[Table]:
        """The tables asked, in the order given."""
        return self.library.tables

    # -- one side ----------------------------------------------------------------------------------------

    def race(self, side: Side) -> SideRace:
        """Rolls, effective pips and wastage of one side, by the best one-sided table that covers it."""
        table = choose.one_sided_for(self.tables, side)
        if table is None:
            raise choose.not_covered(self.tables, side, wanted="the rolls of one side")
        return races.side_race(table, side, self.library.name(table))

    def chances(self, position: Position) -> approximate.TwoSidedEstimate:
        """Win and gammon chances by gnubg's formula from one-sided distributions, each side playing alone."""
        return approximate.twosided_from_onesided(self.tables, position)

    def side_plays(self, side: Side, dice: tuple[int, int], measure: str = "mean") -> RankedPlays:
        """All plays of a roll of one side alone, ranked by "mean" rolls to go or "off:n", off within n more rolls."""
        if not side.chequers:
            raise PositionError("there is nothing to play, all chequers are off")
        if side.bar:
            raise NotCoveredError(f"{side} has a chequer on the bar")
        plays = legal_plays(Position(side, Side()), *dice)
        return self._by_rolls(side, dice, plays, measure, [play.result.us for play in plays])

    def _by_rolls(
        self,
        asked: Position | Side,
        dice: tuple[int, int],
        plays: list[Play],
        measure: str,
        results: Sequence[Position | Side],
    ) -> RankedPlays:
        one_sided, rolls = bulk.parse_measure(measure)
        if not one_sided:
            raise PositionError(f"{measure!r} needs both sides, the one on roll first (side / side)")
        sides = [play.result.us for play in plays]
        table = choose.one_sided_for(self.tables, *sides, distributions=rolls is not None)
        if table is None:
            raise choose.not_covered(self.tables, *sides, wanted="what one side needs")
        numbers = np.array([side.number(table.points) for side in sides], np.int64)
        values = np.asarray(bulk.side_values(table, numbers, rolls), np.float64)
        error = choose.known_error_of_rolls(table)
        order = np.argsort(values if rolls is None else -values, kind="stable")
        ranked = _ranked(plays, results, values, order, measure, error)
        name = "mean_rolls" if rolls is None else "value"
        source = self._origin("one-sided", table)
        return RankedPlays(
            asked=asked, dice=dice, measure=measure, plays=ranked, max_error={name: error}, **source
        )

    # -- both sides --------------------------------------------------------------------------------------

    def equities(self, state: GameState | Position) -> PositionEquities:
        """Chances and money equities before the roll, whatever the score, by the first source that covers them."""
        position = state if isinstance(state, Position) else state.position
        choose.check_race(position)
        table = choose.two_sided_for(self.tables, position, cubeful=True)
        if table is not None:
            return self._looked_up(table, position)
        found = self._on_demand(position) or self._estimated(position)
        if found is None:
            raise choose.not_covered(
                self.tables, position.us, position.them, wanted="both sides' equities"
            )
        return found

    def _looked_up(self, table: TwoSided, position: Position) -> PositionEquities:
        """The stored numbers of a two-sided table, made cubeful by the formula where it holds cubeless ones only."""
        us, them = position.us.number(table.points), position.them.number(table.points)
        row = lookup.look_up_many(table, [us], [them])[0]
        cubeless = float(row[0])
        known = dict(zip(("win", *COLUMNS), _win_first(choose.known_error(table)), strict=True))
        cubeful = row[1:] if table.cubeful else approximate.cubeful_of_chances(cubeless / 2 + 0.5)
        return PositionEquities(
            **self._origin("two-sided", table),
            max_error=known if table.cubeful else None,
            position=position,
            win=cubeless / 2 + 0.5,
            win_gammon=0.0,
            lose_gammon=0.0,
            cubeless=cubeless,
            **{name: float(x) for name, x in zip(COLUMNS[1:], cubeful, strict=True)},
            gammons=_gammons(position, counted=False),
        )

    def _on_demand(self, position: Position) -> PositionEquities | None:
        """Exact equities of what no table covers; None where that is more work than allowed."""
        return None

    def _calculated(self, position: Position) -> PositionEquities | None:
        """The exact equities of a position whose stored ones are too close, None beyond the limit."""
        if not self.limit:
            return None
        from bgfmt.analysis import exact

        return exact.exact_equities(position, limit=self.limit)

    def _estimated(self, position: Position) -> PositionEquities | None:
        """A cubeless two-sided table's chances, else those of one-sided distributions, made cubeful by the formula."""
        table = choose.two_sided_for(self.tables, position)
        if table is not None:
            return self._looked_up(table, position)
        one = choose.one_sided_for(self.tables, position.us, position.them, distributions=True)
        if not isinstance(one, OneSided):
            return None
        estimate = approximate.twosided_from_onesided(one, position)
        won, lost = estimate.win_gammon or 0.0, estimate.lose_gammon or 0.0
        cubeful = approximate.cubeful_of_chances(estimate.win, won, lost)
        known = None not in (estimate.win_gammon, estimate.lose_gammon)
        return PositionEquities(
            **self._origin("one-sided", one),
            position=position,
            win=estimate.win,
            win_gammon=estimate.win_gammon,
            lose_gammon=estimate.lose_gammon,
            cubeless=estimate.cubeless,
            **{name: float(x) for name, x in zip(COLUMNS[1:], cubeful, strict=True)},
            gammons=_gammons(position, counted=known),
        )

    # -- the cube ----------------------------------------------------------------------------------------

    def cube(self, state: GameState) -> CubeAction:
        """Whether to double and what to answer, for the cube as it lies; in a match at the score.

        Dice are not looked at: the question is that before the roll. With a double pending it is about that double.
        """
        position, owner = state.position, state.owner
        if state.doubled and owner == "opponent":
            owner = "centered"
        found = self.equities(state)
        if not state.money:
            return self._match_cube(state, owner, found)
        barred = "" if state.cube_in_use else "No cube is in use"
        beavers = state.beavers is not False
        values = {name: getattr(found, name) for name in COLUMNS}
        error = None if found.max_error is None else max(found.max_error[name] for name in COLUMNS[1:])
        more: dict[str, Any] = {"barred": barred, "beaver_rule": beavers}
        action = action_of(
            values,
            position,
            owner,
            error,
            approximate=found.approximate,
            source=found.source,
            table=found.table,
            **more,
        )
        if action.sure or action.approximate or action.exact:
            return action
        better = self._calculated(position)
        if better is None:
            return action
        values = {name: getattr(better, name) for name in COLUMNS}
        return action_of(values, position, owner, EXACT, settled=True, source=better.source, **more)

    def _match_cube(self, state: GameState, owner: Owner, found: PositionEquities) -> CubeAction:
        away = state.away
        assert away is not None
        if min(away) < 1:
            raise PositionError(f"the match to {state.length} is over")
        cube = state.cube_value
        barred = ""
        if state.crawford or not state.cube_in_use:
            barred = "No double in the Crawford game" if state.crawford else "No cube is in use"
        elif away[0] <= cube:
            barred = "The cube is dead: winning at its present value wins the match"
        life = match_estimate.USUAL_LIFE if found.approximate else match_estimate.life_of(found)
        judged = match_estimate.judge(
            found.win, away, cube, "owned" if owner == "owned" else "centered", life, state.post_crawford
        )
        won = match_estimate.chance(away[0] - cube, away[1], state.post_crawford)
        lost = match_estimate.chance(away[0], away[1] - cube, state.post_crawford)
        rolling, taken, passed = (
            2 * (x - lost) / (won - lost) - 1
            for x in (judged.no_double, judged.double_take, judged.double_pass)
        )
        chances = MatchChances(
            judged.no_double,
            None if barred else judged.double_take,
            None if barred else judged.double_pass,
            match_estimate.NAME,
        )
        return CubeAction(
            state.position,
            owner,
            rolling,
            taken,
            passed,
            approximate=True,
            source=found.source,
            table=found.table,
            barred=barred,
            beaver_rule=False,
            mwc=chances,
        )

    # -- plays -------------------------------------------------------------------------------------------

    def plays(self, state: GameState, *, measure: str | None = None) -> RankedPlays:
        """All different results of the state's roll, best first; of equal ones the better cubeless, the tidier.

        Parameters
        ----------
        measure
            "money" (equity with the cube where it lies), "cubeless", "mean" or "off:n" (see `side_plays`). By
            default "money", and "cubeless" in a match or without a cube.
        """
        position = state.position.check()
        if state.dice is None:
            raise PositionError("no dice: say which roll to play")
        if not position.us.chequers or not position.them.chequers:
            raise PositionError(f"{position}: the game is over, one side has no chequers left")
        live = state.money and state.cube_in_use
        asked = measure or ("money" if live else "cubeless")
        one_sided, _ = bulk.parse_measure(asked)
        plays, dice = legal_plays(position, *state.dice), state.dice
        if one_sided and plays:
            return self._by_rolls(position, dice, plays, asked, [play.result for play in plays])
        cube = state.owner if asked == "money" else "cubeless"
        shown = state.owner if asked == "money" else None
        common: dict[str, Any] = {"asked": position, "dice": dice, "measure": asked, "cube": shown}
        if not plays:
            return RankedPlays(**common, source="forced", max_error={})
        found = self._valued(position, plays, cube)
        if found is None:
            choose.check_race(position)
            wanted = "both sides' equities"
            raise choose.not_covered(self.tables, position.us, position.them, wanted=wanted)
        values, cubeless, error, origin = found
        tidy = [rule.race_score(play.result.us) for play in plays]
        # where the other side cashes whatever we play, the better chance to win comes first
        order = sorted(range(len(plays)), key=lambda k: (-values[k], -cubeless[k], [-x for x in tidy[k]], k))
        ranked = _ranked(plays, [play.result for play in plays], values, order, asked, error)
        return RankedPlays(
            **common, **origin, plays=ranked, max_error=None if error is None else {"value": error}
        )

    def _valued(
        self, position: Position, plays: list[Play], cube: str
    ) -> tuple[Floats, Floats, float | None, dict[str, Any]] | None:
        """Worth to the mover of each result, with the cube and without, the error where known, and the source."""
        if any(play.result.contact for play in plays):
            return None
        results = [play.result.us for play in plays]
        table = choose.two_sided_for(self.tables, position, cubeful=cube != "cubeless", results=results)
        table = table or choose.two_sided_for(self.tables, position, results=results)
        if table is not None:
            ours = np.array([side.number(table.points) for side in results], np.int64)
            theirs = np.full(len(ours), position.them.number(table.points))
            equities = lookup.look_up_many(table, theirs, ours).astype(np.float64)
            origin = self._origin("two-sided", table)
            if cube == "cubeless" or table.cubeful:
                cubeless, owned, centered, opponent = choose.known_error(table)
                errors = {"cubeless": cubeless, "owned": opponent}
                errors |= {"centered": max(centered, 2 * opponent), "opponent": max(owned, 2 * opponent)}
                return bulk.turned(equities, cube), -equities[:, 0], float(errors[cube]), origin
            win = equities[:, 0] / 2 + 0.5
            cubeful = approximate.cubeful_of_chances(win)
            values = bulk.turned(np.stack([equities[:, 0], *cubeful], axis=1), cube)
            return values, -equities[:, 0], None, origin
        one = choose.one_sided_for(self.tables, position.them, *results, distributions=True)
        if not isinstance(one, OneSided):
            return None
        values, cubeless_values = approximate.worth_of_results(one, position.them, results, cube)
        return values, cubeless_values, None, self._origin("one-sided", one)

    def exact_loss(self, played: RankedPlay, best: RankedPlay, cube: str) -> float | None:
        """What a play loses against another by exact calculation, None where that is beyond the limit."""
        worth = []
        for play in (played, best):
            assert isinstance(play.result, Position)
            if not play.result.us.chequers:
                worth.append(1.0)
                continue
            after = self._calculated(play.result.swapped())
            if after is None:
                return None
            equities = np.array([[getattr(after, name) for name in COLUMNS]])
            worth.append(float(bulk.turned(equities, cube)[0]))
        return worth[1] - worth[0]

    # -- resignations ------------------------------------------------------------------------------------

    def resignation(self, state: GameState) -> Resignation:
        """Whether to accept what the player on roll has offered; with nothing offered, whether to resign.

        A game is resigned that a two-sided table gives as certainly lost, and only where no gammon can be lost.
        An offer is accepted when playing on could not win more.
        """
        position, points = state.position, state.resigned
        if not points:
            return self._resigning(state)
        sides = (position.us, position.them)
        most = 3 if position.contact else 2 if any(s.chequers >= state.chequers for s in sides) else 1
        if points >= most:
            return Resignation(source="rule", position=position, accept=True)
        try:
            found = self.equities(state.before_roll())
        except NotCoveredError:
            return Resignation(source="rule", position=position, accept=False)
        worth = found.cubeless if state.doubled else -found.cubeless  # of playing on, for the one asked
        accept = points >= worth - 1e-9
        return Resignation(
            source=found.source,
            table=found.table,
            max_error=found.max_error,
            position=position,
            accept=accept,
            worth=worth,
        )

    def _resigning(self, state: GameState) -> Resignation:
        position = state.position
        none = Resignation(source="rule", position=position)
        if position.contact or not position.them.chequers or not 0 < position.us.chequers < state.chequers:
            return none
        try:
            if state.kind == "play":  # the roll is known: some play may still win
                played = self.plays(state, measure="cubeless")
                source, table, worth = played.source, played.table, played.best and played.best.value
            else:
                found = self.equities(state)
                source, table, worth = found.source, found.table, found.cubeless
        except NotCoveredError:
            return none
        if source not in ("two-sided", "calculation") or worth is None or worth > SURE_LOSS:
            return none
        return Resignation(source=source, table=table, position=position, offer=1, worth=-1.0)

    # -- what to do --------------------------------------------------------------------------------------

    def decide(self, state: GameState) -> Decision:
        """What to do in a state, in one word or one play; outside of all tables as `outside` says."""
        position = state.position.check()
        if state.kind == "resignation":
            answer = self.resignation(state)
            return Decision("accept" if answer.accept else "reject", answer.source, answer.table, answer.worth)
        if not position.us.chequers or not position.them.chequers:
            raise PositionError(f"{position}: the game is over, one side has no chequers left")
        if state.kind == "play":
            return self._play(state)
        if state.kind == "cube" and not state.may_double:
            return Decision("roll", "rule")
        try:
            action = self.cube(state)
        except NotCoveredError:
            doubles, takes = self._outside_cube(state)
            source: Source = "engine" if isinstance(self.outside, rule.Engine) else "rule"
            word = ("take" if takes else "pass") if state.doubled else ("double" if doubles else "roll")
            return Decision(word, source)
        money = state.money
        if not state.doubled:
            value = action.best if money else None
            return Decision("double" if action.doubles else "roll", action.source, action.table, value)  # type: ignore[arg-type]
        word = "take" if action.takes else "pass"
        if state.beavers and action.beavers:
            word = "beaver"
        value = {"take": -action.double_take, "pass": -1.0, "beaver": -2 * action.double_take}[word]
        return Decision(word, action.source, action.table, value if money else None)  # type: ignore[arg-type]

    def _outside_cube(self, state: GameState) -> tuple[bool, bool]:
        if self.outside == "refuse":
            raise
        if isinstance(self.outside, rule.Engine):
            return self.outside.double(state)
        return rule.cube(state)

    def _play(self, state: GameState) -> Decision:
        try:
            ranked = self.plays(state)
        except NotCoveredError:
            return self._outside_play(state)
        best = ranked.best
        return Decision("play", ranked.source, ranked.table, best and best.value, best)

    def _outside_play(self, state: GameState) -> Decision:
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        source: Source = "forced" if len(plays) == 1 else "rule"
        ...
