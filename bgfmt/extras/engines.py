"""Engines: programs that play the whole game, registered as entry points `bgfmt.engines`.

    [project.entry-points."bgfmt.engines"]
    random = "my_package.random_mover:RandomMover"

An engine is created by calling its class with options from the command line (`RandomMover({"seed": "3"})`), and has
the five methods of `Engine`. `EngineDecider` gives it the interface of the adviser, so that a host can use either.

>>> "bkg" in names()
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

from bgfmt.analysis import choose
from bgfmt.analysis.answers import Decision, RankedPlay, Resignation
from bgfmt.errors import BgfmtError, CapabilityError, EngineError, PositionError, suggest_nearest
from bgfmt.game.moves import Play, legal_plays
from bgfmt.game.state import GameState
from bgfmt.tables.registry import entry_points

__all__ = [
    "METHODS",
    "Decider",
    "Engine",
    "EngineDecider",
    "Outside",
    "PluginEngine",
    "call_plugin",
    "create",
    "names",
    "parse_options",
    "query_play",
]


class Engine(Protocol):
    """Plays the whole game. Every method gets a `GameState`.

    The engine answers for the side on roll, except that `take` and `accept` are answers of the other side. `play` is
    called with dice and at least one legal play, the other methods before the roll.

    name : the name that hosts show.
    """

    name: ClassVar[str]

    def play(self, state: GameState) -> Play:
        """Choose one of the legal plays of the state's dice."""

    def double(self, state: GameState) -> bool:
        """Return whether to double; called only where the rules allow it."""

    def take(self, state: GameState) -> bool:
        """Return whether the side that is doubled takes; the state's side on roll is the doubler."""

    def resign(self, state: GameState) -> int:
        """Return what the side on roll resigns: 1 a single game, 2 a gammon, 3 a backgammon, 0 to play on."""

    def accept(self, state: GameState) -> bool:
        """Return whether the other side accepts what the side on roll offers to resign (`state.resigned`)."""


class Decider(Protocol):
    """What hosts query: `bgfmt.analysis.advisor.Advisor`, or an engine in its place."""

    def decide(self, state: GameState) -> Decision:
        """Return what to do in a state: a play, a cube action, or the answer to a double or resignation."""

    def resignation(self, state: GameState) -> Resignation:
        """Return whether to accept the resignation that is offered, or if none is, whether to resign."""


@runtime_checkable
class Outside(Protocol):
    """A decider with an option for positions that no table covers."""

    def with_outside(self, outside: Any) -> Decider:
        """Return a decider that answers where no table covers the position as `outside` says.

        outside : as for `bgfmt.analysis.advisor.Advisor`, such as "rule", "refuse" or an engine.
        """


class EngineDecider:
    """Gives an engine the methods `decide` and `resignation` of the adviser, for the hosts.

    Plays are checked against the rules; PositionError is raised for an illegal one.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def resignation(self, state: GameState) -> Resignation:
        """Return whether to accept the resignation that is offered, or if none is, whether to resign."""
        position = state.position
        if state.resigned:
            return Resignation(source="engine", position=position, accept=self.engine.accept(state))
        return Resignation(source="engine", position=position, offer=self.engine.resign(state))

    def decide(self, state: GameState) -> Decision:
        """Return what the engine does in a state: a play, a cube action, or its answer to a double or resignation."""
        position = state.position.check()
        if state.kind == "resignation":
            return Decision("accept" if self.engine.accept(state) else "reject", "engine")
        choose.check_unfinished(position)
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
        return Decision("play", "engine", play=RankedPlay.forced(query_play(self.engine, state, plays)))


def query_play(engine: Engine, state: GameState, plays: list[Play]) -> Play:
    """Return the play that an engine chooses for a state's dice; PositionError if it is none of the legal `plays`."""
    chosen = engine.play(state)
    found = next((play for play in plays if play.result == getattr(chosen, "result", None)), None)
    if found is None:
        raise PositionError(f"engine {engine.name} plays {chosen}, which is an illegal play")
    return found


T = TypeVar("T")


#: methods of an engine by what an error message calls them
METHODS = {
    "play": "a play",
    "double": "a double",
    "take": "a take",
    "resign": "resigning",
    "accept": "a resignation",
}


class PluginEngine:
    """Wraps an engine of another package: any exception but a BgfmtError becomes an EngineError."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name

    def __getattr__(self, name: str) -> Any:
        if name == "engine":  # not set yet, as when it is unpickled
            raise AttributeError(name)
        value = getattr(self.engine, name)
        return partial(call_plugin, self.name, METHODS[name], value) if name in METHODS else value


def call_plugin(engine: str, what: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of another package's engine; any exception but a BgfmtError becomes an EngineError.

    Parameters
    ----------
    engine
        The name of the engine, for the error.
    what
        What the call was to return, for the error.
    function, arguments
        What to call.
    """
    try:
        return function(*arguments)
    except BgfmtError:
        raise
    except Exception as error:
        raise EngineError(engine, what, error) from error


def names() -> list[str]:
    """Return the names of all installed engines, sorted."""
    return sorted(entry_points("bgfmt.engines"))


def parse_options(items: Iterable[str]) -> dict[str, str]:
    """Parse options `KEY=VALUE` to a dict; empty texts are skipped. CapabilityError for a text without `=`."""
    pairs = [item.partition("=") for item in items if item]
    bad = next((key for key, equals, _ in pairs if not equals), None)
    if bad is not None:
        raise CapabilityError(f"{bad!r}: expected an option KEY=VALUE")
    return {key: value for key, _, value in pairs}


def create(name: str, options: Mapping[str, str] | None = None) -> Engine:
    """Create an engine.

    Parameters
    ----------
    name
        One of `names()`.
    options
        The engine's options by name, as text.

    Raises
    ------
    CapabilityError
        There is no engine of this name, or it cannot be loaded.
    PositionError
        The engine has no such option.
    EngineError
        An engine of another package raised another exception.
    """
    point = entry_points("bgfmt.engines").get(name)
    if point is None:
        near = suggest_nearest(name, names())
        raise CapabilityError(f"no engine {name!r}{near}; known: {', '.join(names())}")
    try:
        made = point.load()
    except Exception as error:
        raise CapabilityError(f"engine {name} cannot be loaded: {type(error).__name__}: {error}") from None
    if point.value.startswith("bgfmt."):
        engine: Engine = made(dict(options or {}))
        return engine
    # cast: `name` is an attribute of the instance, not of the class
    return cast(Engine, PluginEngine(call_plugin(name, "starting", made, dict(options or {}))))
