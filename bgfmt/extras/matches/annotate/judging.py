"""Decisions judged by an adviser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import HYPERGAMMON, RankedPlay, RankedPlays, Source
from bgfmt.analysis.choose import Asked
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.library import Library
from bgfmt.analysis.match import MatchCube
from bgfmt.analysis.sources import Calculate, Progress
from bgfmt.errors import NotCoveredError
from bgfmt.extras.matches.decisions import Decision
from bgfmt.game.board import Position
from bgfmt.game.identifiers import gnubg_id, position_id
from bgfmt.game.state import GameState
from bgfmt.met import Met
from bgfmt.tables import TwoSided

ERROR = 1e-7  # a smaller loss is none
Verdict = Literal["forced", "right", "close", "error", "approximate", "illegal"]


@dataclass(frozen=True)
class Judgement:
    """One decision and its price.

    did, best : what was done and what was best, in words.
    equity, best_equity, loss : of what was done, of the best, and the difference, never negative; None for an
        illegal play. mwc, best_mwc, loss_mwc : the same as chances to win the match, None for money.
    cubeless_loss : what a wrong play for money loses without the cube.
    choices : how many different ones there were.
    close : the loss is no more than the error of the numbers can make of nothing; approximate : no bound of their
        error is known. Neither counts as an error.
    source, table : where the numbers come from; max_error : how far `equity` and `mwc` may err, None where it is not
        known. gammons : "none", "counted" or "ignored".
    """

    decision: Decision
    did: str
    best: str
    equity: float | None
    best_equity: float | None
    loss: float | None
    mwc: float | None = None
    best_mwc: float | None = None
    loss_mwc: float | None = None
    cubeless_loss: float | None = None
    choices: int = 2
    close: bool = False
    approximate: bool = False
    measure: str = "money"
    source: Source = "two-sided"
    table: str | None = None
    max_error: Mapping[str, float] | None = None
    gammons: str = "none"
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the decision counts as."""
        if self.loss is None:
            return "illegal"
        if self.choices < 2:
            return "forced"
        if self.approximate:
            return "approximate"
        if self.loss <= ERROR:
            return "right"
        return "close" if self.close else "error"

    @property
    def error(self) -> bool:
        """Whether it surely cost something."""
        return self.verdict == "error"

    @property
    def points(self) -> float | None:
        """What it cost for money at the cube of that moment, in points; None in a match."""
        if self.loss is None or not self.decision.state.money:
            return None
        return self.loss * self.decision.state.cube_value

    @property
    def forced(self) -> bool:
        """Whether there was one choice only."""
        return self.verdict == "forced"

    def as_dict(self) -> dict[str, Any]:
        """The judgement as plain values."""
        decision, state = self.decision, self.decision.state
        return {
            "game": decision.game + 1,
            "record": decision.record + 1,
            "player": decision.player,
            "name": state.names[decision.player],
            "decision": decision.kind,
            "kind": "play" if decision.kind == "play" else "cube",
            "position_id": position_id(state.position),
            "gnubg_id": gnubg_id(state),
            "position": str(state.position),
            "dice": list(state.dice) if state.dice else None,
            "cube": state.cube_value,
            "cube_owner": decision.cube,
            "away": None if state.away is None else list(state.away),
            "crawford": state.crawford,
            **self._values("did best verdict equity best_equity"),
            "equity_lost": self.loss,
            **self._values("mwc best_mwc loss_mwc"),
            "loss_emg": None if state.money else self.loss,
            "points_lost": self.points,
            "cubeless_equity_lost": self.cubeless_loss,
            **self._values("choices forced error close approximate measure source table"),
            "max_error": None if self.max_error is None else dict(self.max_error),
            **self._values("gammons note"),
        }

    def _values(self, names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names.split()}


#: most pairs of boards times cube states calculated for one question, less than a tenth of a second; what comes up
#: later in the game is answered from it
LIMIT = 2_000_000

DOUBLING = ("double", "no double")


class Judge:
    """Judges decisions as an adviser answers them. A context manager.

    Parameters
    ----------
    tables, met, limit
        As `Advisor` takes them.
    met_player
        Which player of the match equity table a match's first player is; it matters for uneven tables only.
    calculate
        False for the tables alone.
    """

    def __init__(
        self,
        tables: Library | Asked | Sequence[Asked | str] | None = None,
        *,
        met: Met | str | None = None,
        met_player: int = 0,
        limit: int = LIMIT,
        calculate: bool = True,
        progress: Progress | None = None,
    ) -> None:
        what: Calculate = "all" if calculate else "nothing"
        self.met_player = met_player
        self.advisor = Advisor(tables, met=met, calculate=what, limit=limit, progress=progress)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *error: object) -> None:
        self.advisor.close()

    @property
    def met(self) -> Met:
        """The match equity table."""
        return self.advisor.met

    def judge(self, decision: Decision) -> Judgement:
        """The judgement of one decision, as `judge`."""
        self.advisor.met_player = self.met_player ^ decision.state.turn
        return judge(decision, self.advisor)


def judge(decision: Decision, advisor: Advisor) -> Judgement:
    """The judgement of one decision as an adviser answers it.

    NotCoveredError for a position with contact, and where neither tables nor the limit reach; PositionError for what
    cannot be.
    """
    return _play(decision, advisor) if decision.kind == "play" else _cube(decision, advisor)


def _play(decision: Decision, advisor: Advisor) -> Judgement:
    state = decision.state
    ranked = advisor.plays(state)
    best = ranked.best
    if best is None:
        raise NotCoveredError(f"{state.position}: no chequer can move")
    errors = ranked.max_error
    common: dict[str, Any] = _origin(state.position, ranked) | {
        "choices": len(ranked.plays),
        "measure": ranked.measure,
        "max_error": errors and {"equity" if key == "value" else key: x for key, x in errors.items()},
        "best_equity": best.value,
        "best_mwc": best.mwc,
    }
    if decision.played is None:
        why = "not a legal play"
        return Judgement(decision, "an illegal play", best.notation, None, loss=None, note=why, **common)
    result = decision.played.result
    did = _play_to(result, ranked)
    assert did.loss is not None
    wrong = did.loss > ERROR
    close = did.close and wrong
    cubeless = 0.0 if state.money else None
    if wrong and state.money:
        cubeless = _play_to(result, advisor.plays(state, measure="cubeless")).loss
        if close and not ranked.approximate:
            settled = advisor.exact_loss(did, best, ranked.cube or "cubeless")
            close = settled is None or settled <= ERROR
    words: dict[str, Any] = {
        "did": did.notation,
        "best": best.notation if wrong else did.notation,
        "close": close,
    }
    losses: dict[str, Any] = {"loss": did.loss, "loss_mwc": did.loss_mwc, "cubeless_loss": cubeless}
    return Judgement(decision, equity=did.value, mwc=did.mwc, **words, **losses, **common)


def _play_to(result: Position, ranked: RankedPlays) -> RankedPlay:
    """The play that leads to a board."""
    return next(play for play in ranked.plays if play.result == result)


def _origin(position: Position, answer: RankedPlays | CubeAction) -> dict[str, Any]:
    """Where the numbers of an answer come from, and what they say of gammons."""
    return {
        "approximate": answer.approximate,
        "source": answer.source,
        "table": answer.table,
        "gammons": _gammons(position, answer.source),
    }


def _gammons(position: Position, source: Source) -> str:
    if source == HYPERGAMMON:
        return "counted"
    if 15 not in (position.us.chequers, position.them.chequers):
        return "none"
    return "ignored" if source == TwoSided.kind else "counted"


# -- the cube --------------------------------------------------------------------------------------------


def _cube(decision: Decision, advisor: Advisor) -> Judgement:
    state = decision.state
    action = advisor.cube(replace(state, doubled=True) if decision.kind not in DOUBLING else state)
    decided = action.match
    if decided is None:
        worth, sure, note = _for_money(decision, action)
        chances = None
    else:
        chances, sure, note = _at_score(decision, decided, advisor)
        sign = 1 if decision.kind in DOUBLING else -1
        worth = {name: sign * decided.emg_of(x if sign > 0 else 1 - x) for name, x in chances.items()}
    did = decision.kind
    best = max(worth, key=lambda name: (worth[name], name == did))
    loss = worth[best] - worth[did]
    if loss <= ERROR:
        best = did
    error: dict[str, float] | None = None if action.error is None else {"equity": action.error}
    more = _origin(state.position, action) | {"choices": len(worth), "note": note}
    more["close"] = loss > ERROR and not sure and not action.approximate
    if chances is not None and decided is not None:
        error = error and error | {"mwc": decided.error}
        more |= {"mwc": chances[did], "best_mwc": chances[best], "loss_mwc": chances[best] - chances[did]}
        more["measure"] = "match"
    return Judgement(decision, did, best, worth[did], worth[best], loss, max_error=error, **more)


def _for_money(decision: Decision, action: CubeAction) -> tuple[dict[str, float], bool, str]:
    """The choices of a cube decision for money, each with its equity to who decides, whether that is sure, a note."""
    if decision.kind in DOUBLING:
        return {"double": action.double, "no double": action.no_double}, action.sure_double, ""
    worth = {"take": -action.double_take, "pass": -action.double_pass}
    note = ""
    if decision.kind == "beaver":
        worth["beaver"] = -2 * action.double_take
    elif decision.kind == "take" and action.beavers:
        note = "a beaver, where they are played, would gain more"
    return worth, action.sure_take, note


def _at_score(decision: Decision, decided: MatchCube, advisor: Advisor) -> tuple[dict[str, float], bool, str]:
    """The choices at a score, each with the match winning chance of who decides, whether that is sure, and a note."""
    state, mwc = decision.state, decided.mwc
    taken, passed, note = mwc.double_take, mwc.double_pass, ""
    if taken is None or passed is None:
        # doubled all the same: with a dead cube, which the other side may then turn
        taken, passed = _after_a_dead_double(state, decided, advisor)
        note = "; ".join(decided.notes[:1]).rstrip(".").lower()
    if decision.kind in DOUBLING:
        chances = {"double": min(taken, passed), "no double": mwc.no_double}
    else:
        chances = {"take": 1 - taken, "pass": 1 - passed}
    one, other = chances.values()
    return chances, abs(one - other) > 2 * decided.error, note


def _after_a_dead_double(state: GameState, decided: MatchCube, advisor: Advisor) -> tuple[float, float]:
    value = 2 * state.cube_value
    turned = advisor.cube(
        replace(state, doubled=False, cube_value=value, cube_owner=1 - state.turn, crawford=False)
    )
    assert turned.match is not None
    return turned.match.mwc.no_double, decided.score.after(0, state.cube_value)
