"""Cube decisions and plays at a match score, from their match winning chances: words, equities and losses.

Where the chances come from (exact play on demand, a table of the score) is not this module's business. Rules:
docs/theory/match-play.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from bgfmt.analysis.answers import DECISION, MetName
from bgfmt.analysis.shapes import Chance, Plain, fields_at
from bgfmt.game.board import Position
from bgfmt.met.score import Score

TIE = 1e-12  # two exact chances this near are equal


@dataclass(frozen=True)
class Numbers(Plain):
    """Match winning chances, or equities of a game at this score (EMG), of the side on roll."""

    FIELDS = "no_double double_take double_pass best"
    TITLE = "Choices"

    no_double: Annotated[float, "Of rolling on."]
    double_take: Annotated[float | None, "Of a double that is taken; null where doubling is not allowed."]
    double_pass: Annotated[float | None, "Of a double that is passed; null where doubling is not allowed."]
    best: Annotated[float, "Of the best choice."]


@dataclass(frozen=True)
class Losses(Plain):
    """What each choice costs, never negative."""

    FIELDS = "no_double double take pass=pass_"

    no_double: Annotated[float, "What not doubling costs the side on roll."]
    double: Annotated[float, "What doubling costs the side on roll."]
    take: Annotated[float, "What taking costs the other side."]
    pass_: Annotated[float, "What passing costs the other side."]


@dataclass(frozen=True)
class MatchCube(Plain):
    """A cube decision of the side on roll at a match score."""

    FIELDS = DECISION

    position: Position
    score: Score
    mwc: Annotated[Numbers, "The chances to win the match."]
    error: Annotated[float, "No chance is farther than this from the truth."]
    cubeless_win: Annotated[
        Chance | None, "The chance to win the game without a cube; null where it is not known."
    ] = None

    @property
    def gammons(self) -> bool:
        """Whether a side can still lose a gammon."""
        return self.position.gammons

    @property
    def ends(self) -> tuple[float, float]:
        """Match winning chance after losing, and after winning, a single game at the present cube."""
        return self.score.ends

    def emg_of(self, mwc: float) -> float:
        """The equity that puts losing a single game at the present cube at -1 and winning it at +1."""
        lose, win = self.ends
        return 2 * (mwc - lose) / (win - lose) - 1 if win != lose else 0.0

    def emg_loss(self, loss: float) -> float:
        """A loss of match winning chance as a loss of that equity."""
        lose, win = self.ends
        return 2 * loss / (win - lose) if win != lose else 0.0

    @property
    def emg(self) -> Numbers:
        """The same as equities of a game at this score."""
        m = self.mwc
        take = None if m.double_take is None else self.emg_of(m.double_take)
        drop = None if m.double_pass is None else self.emg_of(m.double_pass)
        return Numbers(self.emg_of(m.no_double), take, drop, self.emg_of(m.best))

    @property
    def may_double(self) -> bool:
        """Whether the side on roll may double."""
        return self.mwc.double_take is not None

    @property
    def reason(self) -> str:
        """Why the side on roll may not double: "crawford", "no cube", "opponent owns", "dead", or empty."""
        if self.may_double:
            return ""
        if self.score.crawford:
            return "crawford"
        if not self.score.cube_in_use:
            return "no cube"
        return "opponent owns" if self.score.owner == "opponent" else "dead"

    @property
    def double_margin(self) -> float:
        """What doubling gains over rolling on (MWC); negative when it costs, 0 where it is not allowed."""
        m = self.mwc
        return 0.0 if m.double_take is None or m.double_pass is None else (
            min(m.double_take, m.double_pass) - m.no_double
        )  # fmt: skip

    @property
    def take_margin(self) -> float:
        """What taking gains the other side over passing (MWC); negative when it costs."""
        m = self.mwc
        return 0.0 if m.double_take is None or m.double_pass is None else m.double_pass - m.double_take

    @property
    def double(self) -> Literal["yes", "no", "optional", "unavailable"]:
        """Whether to double: `yes`, `no`, `optional` or `unavailable`."""
        if not self.may_double:
            return "unavailable"
        if abs(self.double_margin) <= TIE:
            return "optional"
        return "yes" if self.double_margin > 0 else "no"

    @property
    def response(self) -> Literal["take", "pass", "either"] | None:
        """The other side's answer to a double: `take`, `pass` or `either`; null where there can be no double."""
        if not self.may_double:
            return None
        if abs(self.take_margin) <= TIE:
            return "either"
        return "take" if self.take_margin > 0 else "pass"

    @property
    def too_good(self) -> bool:
        """Whether playing on is worth more than the point a passed double wins; needs a gammon."""
        m = self.mwc
        return self.double == "no" and m.double_pass is not None and m.no_double - m.double_pass > TIE

    @property
    def losses(self) -> Losses | None:
        """What each choice costs in match winning chance; null where doubling is not allowed."""
        if not self.may_double:
            return None
        gain, take = self.double_margin, self.take_margin
        return Losses(max(gain, 0.0), max(-gain, 0.0), max(-take, 0.0), max(take, 0.0))

    @property
    def loss_emg(self) -> Losses | None:
        """What each choice costs as an equity of a game at this score."""
        lost, emg = self.losses, self.emg_loss
        return lost and Losses(emg(lost.no_double), emg(lost.double), emg(lost.take), emg(lost.pass_))

    @property
    def gammons_text(self) -> Literal["none", "counted"]:
        """`none` where no gammon can be lost, `counted` where one can."""
        return "counted" if self.gammons else "none"

    @property
    def met(self) -> MetName:
        """The match equity table."""
        return MetName(self.score.met.name, self.score.met.digest)

    @property
    def close(self) -> bool:
        """Whether a decision is closer than the error."""
        nearest = min(abs(self.double_margin), abs(self.take_margin))
        return self.may_double and nearest <= 2 * self.error

    @property
    def automatic(self) -> bool:
        """Whether a double risks nothing, since losing the game loses the match with the cube as it is."""
        return self.may_double and self.score.away[1] <= self.score.cube

    @property
    def action(self) -> str:
        """What to do in words, such as `Double, take`.

        Others are "No redouble, take", "Too good, pass" and "Optional double, take". Where taking and passing are
        worth the same, it says "take or pass"; where doubling is not allowed "Crawford", "No cube", "Opponent owns"
        or "Dead".
        """
        if not self.may_double:
            return self.reason.capitalize()
        word = "redouble" if self.score.owner == "owned" else "double"
        first = {"yes": word.capitalize(), "no": f"No {word}", "optional": f"Optional {word}"}[self.double]
        if self.too_good:
            first = "Too good"
        return f"{first}, {'take or pass' if self.response == 'either' else self.response}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a player should know, a sentence each."""
        score, cube = self.score, self.score.cube
        said = {
            "crawford": "There is no doubling in the Crawford game.",
            "no cube": "No cube is in use.",
            "opponent owns": "The other side owns the cube.",
            "dead": f"The cube is dead: {cube} {'point wins' if cube == 1 else 'points win'} the match already.",
        }.get(self.reason)
        notes = [said] if said else []
        if self.automatic:
            word = "redouble" if score.owner == "owned" else "double"
            notes.append(f"Automatic {word}: losing this game loses the match anyway, so it risks nothing.")
        if self.may_double and score.away[0] <= 2 * cube < score.away[1]:
            notes.append("After a take the other side has an automatic redouble.")
        if self.gammons:
            notes.append("Gammons are possible and counted.")
        if self.close and self.error > TIE:
            notes.append(f"Closer than the error of {self.error:.1g}.")
        if score.beyond:
            notes.append(
                f"The score lies beyond {score.met.name}, which was extended by a normal approximation."
            )
        return tuple(notes)


@dataclass(frozen=True)
class Cell(Plain):
    """The decision at one score of a grid."""

    FIELDS = "away crawford" + fields_at("decision", MatchCube.FIELDS)

    away: Annotated[tuple[int, int], "The points that the side on roll and the other need."]
    crawford: Annotated[bool, "Whether this is the Crawford game."]
    decision: MatchCube


def decide(
    position: Position,
    score: Score,
    no_double: float,
    double_take: float | None,
    *,
    error: float,
    cubeless_win: float | None = None,
) -> MatchCube:
    """The cube decision from the chances of rolling on and of a double taken (not used where none is allowed)."""
    if double_take is None or not score.may_double(0):
        numbers = Numbers(no_double, None, None, no_double)
    else:
        passed = score.after(0, score.cube)
        numbers = Numbers(no_double, double_take, passed, max(no_double, min(double_take, passed)))
    return MatchCube(position, score, numbers, error, cubeless_win)
