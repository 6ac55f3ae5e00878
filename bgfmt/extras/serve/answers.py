"""Answers a checked query with the adviser, as the plain values that the commands print."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from bgfmt import met as mets
from bgfmt.analysis import choose, questions
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import SideRace
from bgfmt.analysis.library import Library
from bgfmt.analysis.positions import COUNTS, one_or_two
from bgfmt.analysis.questions import CubeAnswer, Question, TwoRaces
from bgfmt.analysis.shapes import Plain
from bgfmt.analysis.solving import DEFAULT_LIMIT
from bgfmt.analysis.sources import ResultCache, Sources
from bgfmt.cli.asking import DICE, explain_ignored, explain_ignored_in_race
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.extras.serve.holdings import Holding, Holdings
from bgfmt.extras.serve.probe import ProbeAnswer, ProbeQuestion, describe
from bgfmt.extras.serve.refusals import Refusal, refusal_of
from bgfmt.extras.serve.work import CalculationTime
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import parse, parse_position
from bgfmt.game.moves import parse_roll
from bgfmt.game.state import GameState
from bgfmt.tables import Table, of_kind
from bgfmt.tables.hypergammon import HyperSides

MATCH_LIMIT = 24_000_000  # pairs times states of the cube calculated for one question at a match score
MAX_ADVISERS = 64  # kept, one for each table, match equity table and limit that questions name
GAMES_BYTES = 64 << 20  # of calculations kept for what comes up later in their games
COLUMNS = 4  # states of the cube that a calculation for money takes for each pair
T = TypeVar("T")
Of = Callable[[Advisor], T]


class Named(Library):
    """A library whose tables have the names under which they are served."""

    def __init__(self, held: list[Holding]) -> None:
        super().__init__([one.database for one in held])
        self._names = {id(one.table): one.name for one in held}


class Answers:
    """Answers queries from the served tables.

    settle : maximum number of pairs of boards calculated for one query; 0 for no calculation, None for the limit
        of the commands.
    """

    def __init__(
        self, holdings: Holdings, settle: int | None = None, time: CalculationTime | None = None
    ) -> None:
        self.holdings = holdings
        self.settle = settle
        self._time = time or CalculationTime()
        self._best_by_size: dict[tuple[object, ...], Holding] = {}  # for speed
        self._advisers = lru_cache(MAX_ADVISERS)(self._make_adviser)
        # one for all advisers, so that memory does not grow with their number
        self._results = ResultCache(GAMES_BYTES)

    def answer(self, route: str, asked: Question) -> tuple[dict[str, Any], bool]:
        """Return the answer to a query as plain values for JSON, and whether the answer is final.

        It is not final if another calculation kept its own from running. Raises Refusal if there is no answer.

        route : the query: "lookup", "race", "cube", "play" or "probe".
        """
        try:
            if (text := self._text(asked)) != asked.position:
                asked = replace(asked, position=text)
            if route == "lookup":
                return self.lookup(asked), True
            answer, settled = getattr(self, route)(asked)
            found = answer.as_dict()
            if aside := self._aside(asked, answer):
                found["notes"] = [*found.get("notes", ()), *aside]
            return found, settled
        except BgfmtError as error:
            raise refusal_of(error) from None

    def _aside(self, asked: Question, answer: Any) -> list[str]:
        """Return messages about ignored parameters, and about a named table that did not answer."""
        if isinstance(answer, (SideRace, TwoRaces)):
            return explain_ignored_in_race(self._adviser(asked), asked.position, answer, asked.table)
        parts = [answer.cube, answer.play] if isinstance(answer, ProbeAnswer) else [answer]
        adviser = self._adviser(asked)
        lines = [
            explain_ignored(adviser, part, asked, asked.table, str) for part in parts if part is not None
        ]
        passed = {DICE} if isinstance(answer, ProbeAnswer) else set()
        return list(dict.fromkeys(line for part in lines for line in part if line not in passed))

    # -- the five questions ------------------------------------------------------------------------------

    def lookup(self, asked: Question) -> dict[str, Any]:
        """Return the stored values of the position in the table named, by default in the best one that covers it.

        Keys: `table` (name), `max_error` and `answers`, one for a position, two if the table has one side alone.
        """
        text = asked.position
        one = one_or_two(text)
        if isinstance(one, Side) and ("/" in text or not COUNTS.fullmatch(text.replace(" ", ""))):
            one = parse_position(text)  # whose other side is empty
        holding = self._best(one) if asked.table is None else self.table_named(asked.table)
        sides: dict[str, Side | Position] = {"": one}
        if isinstance(one, Position) and holding.table.sides == 1:
            sides = {"on roll": one.us, "other side": one.them}
        answers = [
            ({"player": player} if player else {}) | holding.table.lookup(side).as_dict()
            for player, side in sides.items()
        ]
        return {"table": holding.name, "max_error": holding.max_error, "answers": answers}

    def race(self, asked: Question) -> tuple[Plain, bool]:
        """Return mean rolls, effective pip count and wastage of one side or of both, and whether the answer is final.

        It is not final if a calculation would be needed but cannot run now.
        """
        about = one_or_two(asked.position)
        return self.answer_or_calculate(asked, lambda adviser: questions.race(adviser, about))

    def cube(self, asked: Question, state: GameState | None = None) -> tuple[Plain, bool]:
        """Return the cube action of a position or state, or those at all scores, and whether the answer is final.

        It is not final if a calculation would be needed but cannot run now.
        """
        state = state or questions.state_of(asked.position, asked)
        grid = asked.scores is not None
        if grid and (self.settle == 0 or asked.settle is False):
            raise NotCoveredError("the cube at all scores must be calculated, but calculation is turned off")
        return self.answer_or_calculate(
            asked,
            lambda adviser: questions.cube(
                adviser, state, met_player=asked.met_player, **asked.specific_values("cube")
            ),
            lambda answer: grid or (_sure_cube(answer) and not asked.insight),  # it asks hundreds
            match=grid or not state.money,
        )

    def play(self, asked: Question) -> tuple[Plain, bool]:
        """Return the plays of one roll or of all rolls, best first, and whether the answer is final.

        It is not final if a calculation would be needed but cannot run now. Refusal if no roll is named.
        """
        text = asked.position
        if asked.roll is None and getattr(_state_in(text), "dice", None) is None:
            raise Refusal(
                "bad_parameter", "the parameter roll is missing; give the dice, such as 61, or all", "roll"
            )
        about, rolls = questions.rolls_of(text, asked.roll, asked)
        return self.answer_or_calculate(
            asked,
            lambda adviser: questions.play(
                adviser, about, rolls, met_player=asked.met_player, **asked.specific_values("play")
            ),
            lambda answer: not any(one.approximate for one in answer.ranked.values()),
            match=isinstance(about, GameState) and not about.money,
        )

    def probe(self, asked: Question) -> tuple[ProbeAnswer, bool]:
        """Return cube, race and play of a position in one answer, and whether it is final.

        Sections that cannot be answered are None, with the reason in `not_covered`.
        """
        one = one_or_two(asked.position)
        roll = asked.roll and asked.roll.lower()
        missing: dict[str, str] = {}
        sections: dict[str, Callable[[Question], Any]] = {"race": self.race}
        if isinstance(one, Side):
            us = one
            state = _state_in(asked.position) or GameState.of(Position(one, Side()))
            missing["cube"] = "the cube needs both sides"
        else:
            us = one.check().us
            state = questions.state_of(asked.position, asked)
            roll = roll or (state.dice and "{}{}".format(*state.dice))
            sections = {"cube": self.cube} | sections
        if not us.chequers:
            raise PositionError(f"{one}: the game is over, one side has no chequers left")
        dice = parse_roll(roll) if roll and roll != "all" else None
        if roll:
            roll = "{}{}".format(*dice) if dice else roll
            sections["play"] = self.play
        answers: dict[str, Any] = dict.fromkeys(("cube", "race", "play"))
        settled = True
        for name, answer in sections.items():
            try:
                answers[name], sure = answer(replace(asked, roll=roll) if name == "play" else asked)
                settled &= sure
            except NotCoveredError as error:
                missing[name] = " ".join(str(error).split())
        if not any(answers.values()):
            raise NotCoveredError(missing["cube" if isinstance(one, Position) else "race"])
        usual = "mean" if isinstance(one, Side) else "money" if state.money else "match"
        owner = asked.cube or state.owner
        question = ProbeQuestion(
            position=asked.position, roll=roll, cube=owner, measure=asked.measure or usual, table=asked.table
        )
        facts = {name: getattr(state, name) for name in ("cube_value", "away", "crawford", "jacoby")}
        beavers = state.beavers is not False  # as they are played where nothing is said
        whole = GameState.of(state.position, dice, cube=owner, beavers=beavers, **facts)
        about = describe(one, whole)
        return ProbeAnswer(question=question, position=about, not_covered=missing, **answers), settled

    def warm(self) -> None:
        """Compile, load and build what queries need, so that the first ones do not wait for it."""
        for held in self.holdings:
            for route in ("lookup", "race", "play"):
                with contextlib.suppress(Refusal, OSError):  # of a table on another server, too
                    self.answer(route, Question(position="1/1", table=held.name, roll="61", settle=False))
        if self.settle != 0:
            race = Position(Side(1, 1), Side(1))
            Sources(Library(), limit=DEFAULT_LIMIT).exact_equities(GameState.of(race))
            sources = self._adviser(Question(), calculate=True).sources
            with contextlib.suppress(BgfmtError, OSError):
                if sources.may_estimate(race):
                    sources.estimate(race, False)

    # -- which adviser, and when it calculates -----------------------------------------------------------

    def answer_or_calculate(
        self, asked: Question, answer: Of[T], sure: Callable[[T], bool] | None = None, match: bool = False
    ) -> tuple[T, bool]:
        """Return an answer from tables if it is certain, else one by calculation, and whether the answer is final.

        Parameters
        ----------
        asked : the query, whose `settle` may forbid a calculation.
        answer : computes the answer with a given adviser.
        sure : whether an answer from tables is certain in spite of its error; None if every one is.
        match : True for an answer at a match score, which is always calculated where that is allowed.

        Returns
        -------
        The answer and True, or the answer from tables and False if another calculation is running.
        """
        wanted = self.settle != 0 and asked.settle is not False
        refused: NotCoveredError | None = None
        if not match or not wanted:
            try:
                stored = answer(self._adviser(asked))
                if not wanted or sure is None or sure(stored):
                    return stored, True
            except NotCoveredError as error:
                if not wanted:
                    raise
                refused = error
        try:
            return self._time.spend(lambda: answer(self._adviser(asked, calculate=True, match=match))), True
        except Refusal as refusal:
            if refusal.code == "busy":
                with contextlib.suppress(NotCoveredError):
                    return answer(self._adviser(asked)), False
            raise
        except TooMuchWorkError:  # which names the work and the limit
            raise
        except NotCoveredError as error:
            raise refused or error from None

    def _adviser(self, asked: Question, *, calculate: bool = False, match: bool = False) -> Advisor:
        limit = None if self.settle is None else self.settle * COLUMNS
        if match:
            limit = MATCH_LIMIT if limit is None else min(limit, MATCH_LIMIT)
        oracle = float(calculate and asked.oracle is True)
        return self._advisers(asked.table, asked.met, asked.extend_met, calculate, limit, oracle)

    def _make_adviser(
        self,
        table: str | None,
        met: str | None,
        extend: bool | None,
        calculate: bool,
        limit: int | None,
        oracle: float,
    ) -> Advisor:
        if met is not None and met not in mets.names():
            raise Refusal("bad_parameter", f"met must be one of {', '.join(mets.names())}", "met")
        adviser = Advisor(
            Named(list(self.holdings) if table is None else [self.table_named(table)]),
            met=mets.load(met or mets.DEFAULT, extend=bool(extend)) if met or extend else None,
            calculate="all" if calculate else "nothing",
            limit=limit,
            oracle=oracle,
        )
        adviser.sources.results = self._results
        return adviser

    # -- tables, and positions in text -------------------------------------------------------------------

    def table_named(self, name: str) -> Holding:
        """Return the served table of this name; Refusal if there is none."""
        if name not in self.holdings.by_name:
            raise Refusal("no_such_table", f"no table {name[:80]!r} is served", "table")
        return self.holdings.by_name[name]

    def _best(self, asked: Side | Position) -> Holding:
        """Return the best table for a side or a position."""
        sides = (asked,) if isinstance(asked, Side) else (asked.us, asked.them)
        key = (
            isinstance(asked, Position) and asked.contact,
            *((side.highest, side.chequers) for side in sides),
        )
        if key in self._best_by_size:
            return self._best_by_size[key]
        tables = [one.table for one in self.holdings]
        best: Table | None = None
        if isinstance(asked, Position) and not asked.contact:
            best = choose.two_sided_for(tables, asked)
        best = best or choose.one_sided_for(tables, *sides)
        every = of_kind(tables, HyperSides)  # type: ignore[type-abstract]
        best = best or next((one for one in every if one.covers(asked) is None), None)
        if best is None:
            wanted = "one side alone" if isinstance(asked, Side) else "anything of it"
            raise choose.not_covered(tables, *sides, wanted=wanted)
        self._best_by_size[key] = next(one for one in self.holdings if one.table is best)
        return self._best_by_size[key]

    def _text(self, asked: Question) -> str:
        """Return the position as text: an identifier repaired, a position number replaced by its chequer counts."""
        text = asked.position
        if not text.startswith("#"):
            return _restore_position_id(text)
        if asked.table is None:
            raise Refusal("bad_position", "a position number (#N) needs the parameter table", "position")
        if not re.fullmatch(r"#[0-9]{1,38}", text):
            raise Refusal("bad_position", f"{text[:40]!r} is not a position number such as #7407", "position")
        return str(self.table_named(asked.table).table.unrank(int(text[1:])))


def _sure_cube(answer: Plain) -> bool:
    if isinstance(answer, CubeAnswer):
        actions = (answer.centered_cube, answer.owned_cube)
        return not answer.equities.approximate and all(action.decided for action in actions)
    if isinstance(answer, questions.MatchCubeAnswer):
        return answer.action.decided and not answer.action.approximate
    return False


def _restore_position_id(text: str) -> str:
    """Restore a Position ID that went through a URL: blanks and "-" were "+", "_" was "/"."""
    form = r"([A-Za-z0-9+/ _-]{14})(:[A-Za-z0-9+/ _-]{12})?"
    if not re.fullmatch(form, text) or re.fullmatch(r"[\d\s-]+", text):
        return text
    return text.replace(" ", "+").replace("-", "+").replace("_", "/")


def _state_in(text: str) -> GameState | None:
    """Return the state that an identifier describes, None for text that is no identifier."""
    try:
        return parse(text)
    except PositionError:
        return None
