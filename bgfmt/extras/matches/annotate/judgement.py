"""What is said of one decision: what was done, what was best, what the difference costs, and how sure that is.

Equities are those of the player who decides. For money they are for a cube at 1; in a match they are EMG (losing a
single game at the present cube is -1, winning it +1), beside the chance to win the match (MWC).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bgfmt.analysis.answers import Source
from bgfmt.extras.matches.decisions import Decision
from bgfmt.game.identifiers import gnubg_id, position_id

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
            "did": self.did,
            "best": self.best,
            "verdict": self.verdict,
            "equity": self.equity,
            "best_equity": self.best_equity,
            "equity_lost": self.loss,
            "mwc": self.mwc,
            "best_mwc": self.best_mwc,
            "loss_mwc": self.loss_mwc,
            "loss_emg": None if state.money else self.loss,
            "points_lost": self.points,
            "cubeless_equity_lost": self.cubeless_loss,
            "choices": self.choices,
            "forced": self.forced,
            "error": self.error,
            "close": self.close,
            "approximate": self.approximate,
            "measure": self.measure,
            "source": self.source,
            "table": self.table,
            "max_error": None if self.max_error is None else dict(self.max_error),
            "gammons": self.gammons,
            "note": self.note,
        }
