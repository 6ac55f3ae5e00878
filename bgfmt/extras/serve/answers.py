"""The seam: a checked question in, the adviser's answer out, as the plain values that the commands print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bgfmt.analysis import asking, choose
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.library import Library
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError, TooMuchWorkError
from bgfmt.extras.serve.holdings import Holding, Holdings
from bgfmt.extras.serve.parameters import Question
from bgfmt.extras.serve.positions import describe, number_in, one_or_two, said_by
from bgfmt.extras.serve.refusals import Refusal, refusal_of
from bgfmt.extras.serve.work import OneAtATime
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.tables import Table

UNSETTLED = "unsettled"  # marks an answer that another calculation kept from being calculated
MATCH_LIMIT = 24_000_000  # pairs times states of the cube calculated for one question at a match score
COLUMNS = 4  # states of the cube that a calculation for money takes for each pair
Plain = dict[str, Any]


class Named(Library):
    """A library whose tables go by the names under which they are served."""

    def __init__(self, held: list[Holding]) -> None:
        super().__init__([one.database for one in held])
        self._served = {id(one.table): one.name for one in held}

    def name(self, table: Table) -> str:
        return self._served.get(id(table)) or super().name(table)


class Answers:
    """The answers of the tables served.

    Parameters
    ----------
    settle
        Most pairs of boards that are calculated for one question, 0 for never, None for as many as the commands do.
    """

    def __init__(self, holdings: Holdings, settle: int | None = None) -> None:
        self.holdings, self.settle = holdings, settle
        self._one = OneAtATime()
        self._by_size: dict[tuple[tuple[int, int], ...], Holding] = {}
        self._advisers: dict[tuple[str | None, str | None, bool, int | None], Advisor] = {}

    # -- the five questions ------------------------------------------------------------------------------

    def lookup(self, asked: Question) -> Plain:
        """What the best table that covers the position, or the one named, says of it."""
        text, holding = asked.position, self._holding(asked.table)
        if text.startswith("#"):
            if holding is None:
                raise Refusal(
                    "bad_position", "a position number needs a table: say which with table", "position"
                )
            number = number_in(text)
            entry = holding.table.asked(number)
            sides: list[tuple[str, Side | Position]] = [("", entry)]
        else:
            one = one_or_two(text, keep=True)
            holding = holding or self._best(one)
            sides = [("", one)]
            if isinstance(one, Position) and holding.table.sides == 1:
                sides = [("on roll", one.us), ("other side", one.them)]
        found = []
        for who, entry in sides:
            said = {"player": who} if who else {}
            found.append(said | holding.table.lookup(entry).as_dict())
        return {"table": holding.name, "max_error": holding.max_error, "answers": found}

    def race(self, asked: Question) -> Plain:
        """Rolls, effective pips and wastage of one side or two."""
        adviser = self._adviser(asked)
        return asking.race(adviser, one_or_two(self._text(asked)))

    def cube(self, asked: Question) -> Plain:
        """The cube action."""
        state = _state(self._text(asked), asked)

        def sure(answer: Plain) -> bool:
            actions = [answer[k] for k in ("centered_cube", "owned_cube") if k in answer] or [answer]
            return not answer["approximate"] and all(action["sure"] for action in actions)

        return self._calculated(
            asked, lambda adviser: asking.cube(adviser, state), sure, match=not state.money
        )

    def play(self, asked: Question) -> Plain:
        """The plays of a roll, or of all rolls, best first."""
        text = self._text(asked)
        around = {
            "cube": asked.cube,
            "cube_value": asked.cube_value,
            "away": _away(asked),
            "crawford": bool(asked.crawford),
        }
        if asked.roll is None and not self._has_dice(text):
            raise Refusal("bad_parameter", "say the roll to play: 61, or all", "roll")
        about, rolls = asking.rolls_of(text, asked.roll, around)
        match = isinstance(about, GameState) and not about.money

        def answer(adviser: Advisor) -> Plain:
            ranked = {dice: asking.ranked(adviser, about, dice, asked.measure) for dice in rolls}
            return asking.plays(about, ranked)

        found = self._calculated(asked, answer, lambda one: not one["approximate"], match=match)
        if asked.top is not None:
            _cut(found, asked.top)
        return found

    def probe(self, asked: Question) -> Plain:
        """All of it for one position, and why a section is missing."""
        text = self._text(asked)
        one = one_or_two(text)
        said = said_by(text)
        roll = asked.roll or (said and said.dice and f"{max(said.dice)}{min(said.dice)}") or None
        out: Plain = {
            "question": {
                "position": asked.position,
                "roll": roll,
                "cube": asked.cube or (said.owner if said else "centered"),
                "measure": asked.measure or _measure(one, asked, said),
                "table": asked.table,
            },
            "position": describe(one),
        }
        missing: dict[str, str] = {}
        sections: dict[str, Callable[[Question], Plain] | None] = {
            "cube": self.cube if isinstance(one, Position) else None,
            "race": self.race,
            "play": self.play if roll else None,
        }
        out |= dict.fromkeys(sections)
        if isinstance(one, Side):
            if not one.chequers:
                raise Refusal(
                    "bad_position", f"{one}: the game is over, one side has no chequers left", "position"
                )
            missing["cube"] = "the cube needs both sides"
        else:
            one.check()
            if not one.us.chequers:
                raise Refusal(
                    "bad_position", f"{one}: the game is over, one side has no chequers left", "position"
                )
        for name, answer in sections.items():
            if answer is None:
                continue
            try:
                out[name] = answer(_for_section(asked, name, roll))
            except NotCoveredError as error:
                missing[name] = " ".join(str(error).split())
        if not any(out[name] for name in sections):
            raise NotCoveredError(missing.get("cube") if isinstance(one, Position) else missing["race"])
        return out | {"not_covered": missing}

    def answer(self, route: str, asked: Question) -> Plain:
        """The answer of a route; Refusal for everything that has none."""
        try:
            return (
                {"asked": asked.position} | getattr(self, route)(asked)
                if route != "probe"
                else self.probe(asked)
            )
        except BgfmtError as error:
            raise refusal_of(error) from None

    def warm(self) -> None:
        """Compile in a thread what exact calculations need; those asked meanwhile wait for it."""
        if self.settle == 0:
            return

        def compiling() -> None:
            from bgfmt.analysis import exact_equities

            for them in (Side(1, 1), Side(1)):  # sides alike have a kernel of their own
                exact_equities(Position(Side(1, 1), them))

        self._one.prepare(compiling)

    # -- which adviser, and when it calculates -----------------------------------------------------------

    def _calculated(
        self,
        asked: Question,
        answer: Callable[[Advisor], Plain],
        sure: Callable[[Plain], bool],
        *,
        match: bool,
    ) -> Plain:
        """The answer from the tables where that is sure, else the calculated one, unless another is under way."""

        def quick() -> Plain:
            return answer(self._adviser(asked))

        wanted = self.settle != 0 and asked.settle is not False
        refused: NotCoveredError | None = None
        if not match or not wanted:
            try:
                found = quick()
                if not wanted or sure(found):
                    return found
            except NotCoveredError as error:
                if not wanted or not isinstance(one_or_two(self._text(asked)), Position):
                    raise
                refused = error
        try:
            found, exact = self._one.do(
                lambda: answer(self._adviser(asked, calculate=True, match=match)), quick
            )
        except TooMuchWorkError:  # which names the work and the limit
            raise
        except NotCoveredError as error:
            if self._one.busy:
                raise Refusal(
                    "busy", "another calculation is under way", headers=(("Retry-After", "1"),)
                ) from None
            raise refused or error from None
        return found if exact else found | {UNSETTLED: True}

    def _adviser(self, asked: Question, *, calculate: bool = False, match: bool = False) -> Advisor:
        limit = None if self.settle is None else self.settle * COLUMNS
        if match:
            limit = MATCH_LIMIT if limit is None else min(limit, MATCH_LIMIT)
        key = (asked.table, asked.met, calculate, limit)
        if key not in self._advisers:
            if asked.met is not None and asked.met not in _mets():
                raise Refusal("bad_parameter", f"met is one of {', '.join(_mets())}", "met")
            holding = self._holding(asked.table)
            library = Named(list(self.holdings) if holding is None else [holding])
            mode: Any = "all" if calculate else "nothing"
            self._advisers[key] = Advisor(library, met=asked.met, calculate=mode, limit=limit)
        return self._advisers[key]

    def _holding(self, name: str | None) -> Holding | None:
        if name is None:
            return None
        if name not in self.holdings.by_name:
            raise Refusal("no_such_table", f"there is no table {name[:80]!r}", "table")
        return self.holdings.by_name[name]

    def _best(self, asked: Side | Position) -> Holding:
        """The table that answers for a side or a position; which it is depends on their sizes alone."""
        sides = (asked,) if isinstance(asked, Side) else (asked.us, asked.them)
        size = tuple((side.highest, side.chequers) for side in sides)
        if size not in self._by_size:
            self._by_size[size] = self._chosen(asked)
        return self._by_size[size]

    def _chosen(self, asked: Side | Position) -> Holding:
        tables = [one.table for one in self.holdings]
        sides = [asked] if isinstance(asked, Side) else [asked.us, asked.them]
        best: Table | None = None
        if isinstance(asked, Position) and not asked.contact:
            best = choose.two_sided_for(tables, asked)
        if best is None:
            best = choose.one_sided_for(tables, *sides)
        if best is None:
            if isinstance(asked, Side) and all(table.sides == 2 for table in tables):
                raise PositionError(
                    f"{asked} is one side; these tables need both, the side on roll first: side / side"
                )
            raise choose.not_covered(tables, *sides, wanted="anything of it")
        return next(one for one in self.holdings if one.table is best)

    def _text(self, asked: Question) -> str:
        """The position as text, a position number replaced by the counts it stands for."""
        if not asked.position.startswith("#"):
            return asked.position
        holding = self._holding(asked.table)
        if holding is None:
            raise Refusal("bad_position", "a position number needs a table: say which with table", "position")
        return str(holding.table.asked(number_in(asked.position)))

    @staticmethod
    def _has_dice(text: str) -> bool:
        one = one_or_two(text)
        said = None if isinstance(one, Side) else said_by(text)
        return said is not None and said.dice is not None


def _away(asked: Question) -> str | None:
    return None if asked.away is None else f"{asked.away[0]}-{asked.away[1]}"


def _state(text: str, asked: Question) -> GameState:
    return asking.state_of(
        text, cube=asked.cube, cube_value=asked.cube_value, away=_away(asked), crawford=bool(asked.crawford)
    )


def _measure(one: Side | Position, asked: Question, said: GameState | None) -> str:
    if isinstance(one, Side):
        return "mean"
    return "match" if asked.away or (said is not None and not said.money) else "money"


def _for_section(asked: Question, name: str, roll: str | None) -> Question:
    from dataclasses import replace

    if name == "play":
        return replace(asked, roll=roll)
    return asked


def _cut(found: Plain, top: int) -> None:
    """At most `top` plays of each roll, and how many there are in all."""
    for one in found.get("rolls", [found]):
        one["count"] = len(one["plays"])
        one["plays"] = one["plays"][:top]


def _mets() -> Mapping[str, None]:
    from bgfmt import met

    return dict.fromkeys(met.names())
