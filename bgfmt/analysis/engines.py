"""Engines: programs that play the whole game. They come in by the entry points `bgfmt.engines`.

    [project.entry-points."bgfmt.engines"]
    random = "my_package.random_mover:RandomMover"

An engine is made by its class and words from the command line (`RandomMover({"seed": "3"})`), and answers the five
questions of `Engine`. `EngineDecider` puts its answers in the adviser's words, so that a host asks either.

>>> "bkg" in names()
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from bgfmt.analysis import bulk, choose
from bgfmt.analysis.answers import Decision, RankedPlay, Resignation
from bgfmt.errors import BgfmtError, CapabilityError, EngineError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState
from bgfmt.tables import Table
from bgfmt.tables.registry import entry_points


class Engine(Protocol):
    """Plays the whole game. All questions come as a `GameState`, the side on roll being the one that is asked.

    name : as hosts call it. play is asked with dice and at least one legal play, the others before the roll.
    """

    name: ClassVar[str]

    def play(self, state: GameState) -> Play:
        """One of the legal plays of the state's dice."""

    def double(self, state: GameState) -> bool:
        """Whether to double; asked where the rules allow it."""

    def take(self, state: GameState) -> bool:
        """Whether the side that is doubled takes; the state's side on roll is the doubler."""

    def resign(self, state: GameState) -> int:
        """Games (1, 2 or 3, of the cube each) that the side on roll gives up, 0 to go on."""

    def accept(self, state: GameState) -> bool:
        """Whether the other side accepts what the side on roll offers to resign (`state.resigned`)."""


class Decider(Protocol):
    """Whom hosts ask: `bgfmt.analysis.advisor.Advisor`, or an engine in its place."""

    def decide(self, state: GameState) -> Decision:
        """One word or one play."""

    def resignation(self, state: GameState) -> Resignation:
        """Whether to accept what is offered; with nothing offered, whether to resign."""


@runtime_checkable
class Outside(Protocol):
    """A decider that can be told what to do where no table reaches."""

    def with_outside(self, outside: Any) -> Decider:
        """Return a decider that does this where no table reaches."""


class EngineDecider:
    """An engine asked as the adviser is: `decide` and `resignation`, for the hosts.

    Plays are checked against the rules, and an engine that breaks them gets a PositionError.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def resignation(self, state: GameState) -> Resignation:
        """Whether to accept what is offered; with nothing offered, whether to resign."""
        position = state.position
        if state.resigned:
            return Resignation(source="engine", position=position, accept=self.engine.accept(state))
        return Resignation(source="engine", position=position, offer=self.engine.resign(state))

    def decide(self, state: GameState) -> Decision:
        """What the engine does in a state, one word or one play."""
        position = state.position.check()
        if state.kind == "resignation":
            return Decision("accept" if self.engine.accept(state) else "reject", "engine")
        choose.check_going_on(position)
        if state.kind == "play":
            return self._play(state)
        if state.kind == "take":
            return Decision("take" if self.engine.take(state) else "pass", "engine")
        doubles = state.may_double and self.engine.double(state)
        return Decision("double" if doubles else "roll", "engine")

    def _play(self, state: GameState) -> Decision:
        assert state.dice is not None
        plays = legal_plays(state.position, *state.dice)
        if len(plays) < 2:
            return Decision("play", "forced", play=RankedPlay.forced(plays[0]) if plays else None)
        return Decision("play", "engine", play=RankedPlay.forced(checked(self.engine, state, plays)))


def checked(engine: Engine, state: GameState, plays: list[Play]) -> Play:
    """The engine's play; PositionError where it is none of the legal ones."""
    chosen = engine.play(state)
    found = next((play for play in plays if play.result == getattr(chosen, "result", None)), None)
    if found is None:
        raise PositionError(f"engine {engine.name} plays {chosen}, which the rules do not allow")
    return found


T = TypeVar("T")


ASKED = {"play": "a play", "double": "a double", "take": "a take"}
ASKED |= {"resign": "resigning", "accept": "a resignation"}


class Guest:
    """An engine of another package: its answers, and EngineError where it raises anything but a BgfmtError."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name

    def __getattr__(self, name: str) -> Any:
        if name == "engine":  # not made yet, as when it is unpickled
            raise AttributeError(name)
        value = getattr(self.engine, name)
        return partial(guarded, self.name, ASKED[name], value) if name in ASKED else value


def guarded(engine: str, what: str, question: Callable[..., T], *asked: Any) -> T:
    """The answer of a guest; EngineError where it raises anything but a BgfmtError."""
    try:
        return question(*asked)
    except BgfmtError:
        raise
    except Exception as error:
        raise EngineError(engine, what, error) from error


def names() -> list[str]:
    """Names of all engines."""
    return sorted(entry_points("bgfmt.engines"))


def options_of(items: Iterable[str]) -> dict[str, str]:
    """Options `KEY=VALUE` by name, empty ones left out; CapabilityError for a text without `=`."""
    pairs = [item.partition("=") for item in items if item]
    bad = next((key for key, equals, _ in pairs if not equals), None)
    if bad is not None:
        raise CapabilityError(f"{bad!r}: an option is KEY=VALUE")
    return {key: value for key, _, value in pairs}


def create(name: str, options: Mapping[str, str] | None = None) -> Engine:
    """A new engine; `options` are its own, by name, as words.

    Raises
    ------
    CapabilityError where there is none of that name, or it cannot be loaded; PositionError for an option that it
    does not have; EngineError where a guest raises another error.
    """
    point = entry_points("bgfmt.engines").get(name)
    if point is None:
        raise CapabilityError(f"no engine is called {name!r} (there are: {', '.join(names())})")
    try:
        made = point.load()
    except Exception as error:
        raise CapabilityError(f"engine {name} cannot be loaded: {type(error).__name__}: {error}") from None
    if point.value.startswith("bgfmt."):
        engine: Engine = made(dict(options or {}))
        return engine
    # the name of a guest is that of the engine it holds
    return cast(Engine, Guest(guarded(name, "being made", made, dict(options or {}))))


# -- where no table reaches -------------------------------------------------------------------------------


class OutsideEngine(Protocol):
    """A second engine, asked where no table covers the position."""

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after a play, greater is better; `us` is the side that has played."""

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether the player on roll doubles, and whether the other takes."""


class PlainRule:
    """A plain rule, with the one-sided tables there are.

    * play, no contact: the play that leaves the fewest mean rolls where a one-sided table knows them, else the most
      chequers off, then the fewest pips outside the home board, then the fewest gaps;
    * play, contact: the play with the best of a plain sum: pips ahead, less for our blots by how far they have come
      and how many opposing chequers can reach them, more for chequers of theirs on the bar and for points we hold;
    * cube, no contact: the 8-9-12 rule: double at a lead of 8 % of our pips, redouble at 9 %, take up to 12 %;
    * cube, contact: never double, take unless behind by more than a third of our pips.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def values(self, state: GameState, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after a play, greater is better."""
        if any(result.contact for result in results):
            return [_contact_score(result) for result in results]
        sides = [result.us for result in results]
        table = choose.one_sided_for(self.tables, *sides)
        if table is None:
            return [float(-np.dot(untidiness(side), (10_000, 10, 1))) for side in sides]
        numbers = np.array([side.number(table.points) for side in sides], np.int64)
        return [float(-mean) for mean in bulk.side_values(table, numbers, None)]

    def double(self, state: GameState) -> tuple[bool, bool]:
        """Whether to double, and whether to take."""
        us = state.position.us.pips
        them = state.position.them.pips
        if state.position.contact:
            return False, 3 * (them - us) <= us + them
        lead = them - us
        doubles = lead >= (0.09 if state.owner == "owned" else 0.08) * us
        takes = lead <= 0.12 * us
        if state.away is not None and state.away[0] <= state.cube_value:
            doubles = False  # the cube is worth nothing to us
        if state.away is not None and state.away[1] <= state.cube_value:
            takes = True  # passing loses the match
        return doubles, takes


def untidiness(result: Position | Side) -> tuple[int, ...]:
    """Of the side that has played: chequers left, pips outside the home board, gaps; the least is the tidiest."""
    side = result if isinstance(result, Side) else result.us
    outside = sum((point - 6) * n for point, n in enumerate(side.counts, 1) if point > 6) + 19 * side.bar
    gaps = sum(not n for n in (*side.counts, *(0,) * 6)[:6])
    return side.chequers, outside, gaps


def _contact_score(result: Position) -> float:
    us = result.us
    theirs = result.them.counts
    score = float(result.them.pips - us.pips) + 4.0 * result.them.bar
    for point, chequers in enumerate(us.counts, 1):
        if chequers == 1:
            # their chequers that have not yet passed this point of ours and stand within reach
            reach = sum(n for p, n in enumerate(theirs, 1) if 0 < p - (25 - point) <= 12) + result.them.bar
            score -= min(reach, 3) * (25 - point) * 0.35
        elif chequers > 1 and point <= 8:
            score += 2.0
    return score
