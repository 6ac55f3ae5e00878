"""Cube decisions and plays at a match score, from their match winning chances: words, equities and losses.

Where the chances come from (exact play on demand, a table of the score) is not this module's business. Rules:
docs/theory/match-play.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from bgfmt.analysis.answers import CALCULATION, MetName, Source
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.shapes import Chance, Plain, fields_at
from bgfmt.game.board import Position
from bgfmt.game.state import cube_owner
from bgfmt.met.score import Score

TIE = 1e-12  # two exact chances this near are equal


@dataclass(frozen=True)
class Numbers(Plain):
    """Match winning chances, or equities of a game at this score (EMG), of the side on roll."""

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


@dataclass(frozen=True, kw_only=True)
class MatchCube(CubeAction):
    """A cube action at a match score. Its equities are those of a game at this score (EMG).

    mwc, mwc_error, usual : the chances behind these, and their errors.
    """

    DECISION = (
        "mwc emg action double=doubling response loss_mwc=losses loss_emg gammons=gammons_text error=mwc_error close "
        "cubeless_win notes met"
    )
    ORIGIN = "doubles takes sure certainty source table approximate"
    FIELDS = f"{DECISION} usual_error?=usual cube {ORIGIN}"

    score: Score
    mwc: Annotated[Numbers, "The chances to win the match."]
    mwc_error: Annotated[float, "No chance is farther than this from the truth."]
    cubeless_win: Annotated[
        Chance | None, "The chance to win the game without a cube; null where it is not known."
    ] = None
    usual: Annotated[
        float | None,
        "Of estimates and play-outs the error of a chance that 95 % of them keep; null for other answers.",
    ] = None

    @property
    def match(self) -> MatchCube:
        """The action itself."""
        return self

    @property
    def emg(self) -> Numbers:
        """The same as equities of a game at this score."""
        drop = None if self.mwc.double_pass is None else self.score.emg(self.mwc.double_pass)
        return Numbers(
            self.no_double, None if drop is None else self.double_take, drop, self.score.emg(self.mwc.best)
        )

    @property
    def margins(self) -> tuple[float, float]:
        """What doubling gains over rolling on, and taking over passing (MWC); 0 where doubling is not allowed."""
        m = self.mwc
        if m.double_take is None or m.double_pass is None:
            return 0.0, 0.0
        return min(m.double_take, m.double_pass) - m.no_double, m.double_pass - m.double_take

    @property
    def doubling(self) -> Literal["yes", "no", "optional", "unavailable"]:
        """Whether to double: `yes`, `no`, `optional` or `unavailable`."""
        if not self.may_double:
            return "unavailable"
        gain = self.margins[0]
        return "optional" if abs(gain) <= TIE else "yes" if gain > 0 else "no"

    @property
    def response(self) -> Literal["take", "pass", "either"] | None:
        """The other side's answer to a double: `take`, `pass` or `either`; null where there can be no double."""
        if not self.may_double:
            return None
        gain = self.margins[1]
        return "either" if abs(gain) <= TIE else "take" if gain > 0 else "pass"

    @property
    def code(self) -> str:
        """The decision in three letters: `D/T`, `D/P`, `N/T`, `N/P`, `O/T`, `D/=`; `--` where there is no double."""
        if not self.may_double:
            return "--"
        first = {"yes": "D", "no": "N", "optional": "O"}[self.doubling]
        return first + {"take": "/T", "pass": "/P", "either": "/="}[self.response or "take"]

    @property
    def too_good(self) -> bool:
        """Whether playing on is worth more than the point a passed double wins; needs a gammon."""
        m = self.mwc
        return self.doubling == "no" and m.double_pass is not None and m.no_double - m.double_pass > TIE

    @property
    def losses(self) -> Losses | None:
        """What each choice costs in match winning chance; null where doubling is not allowed."""
        if not self.may_double:
            return None
        gain, take = self.margins
        return Losses(max(gain, 0.0), max(-gain, 0.0), max(-take, 0.0), max(take, 0.0))

    @property
    def loss_emg(self) -> Losses | None:
        """What each choice costs as an equity of a game at this score."""
        lost, emg = self.losses, self.score.emg_loss
        return lost and Losses(emg(lost.no_double), emg(lost.double), emg(lost.take), emg(lost.pass_))

    @property
    def gammons_text(self) -> Literal["none", "counted"]:
        """`none` where no gammon can be lost, `counted` where one can."""
        return "counted" if self.position.gammons else "none"

    @property
    def met(self) -> MetName:
        """The match equity table."""
        return MetName(self.score.met.name, self.score.met.digest)

    @property
    def close(self) -> bool:
        """Whether a decision is closer than the error."""
        return self.may_double and min(map(abs, self.margins)) <= 2 * self.mwc_error

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
            return self.barred
        word = "redouble" if self.score.owner == "owned" else "double"
        first = {"yes": word.capitalize(), "no": f"No {word}", "optional": f"Optional {word}"}[self.doubling]
        if self.too_good:
            first = "Too good"
        return f"{first}, {'take or pass' if self.response == 'either' else self.response}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a player should know, a sentence each."""
        score, cube = self.score, self.score.cube
        said = {
            "Crawford": "There is no doubling in the Crawford game.",
            "No cube": "No cube is in use.",
            "Opponent owns": "The other side owns the cube.",
            "Dead": f"The cube is dead: {cube} {'point wins' if cube == 1 else 'points win'} the match already.",
        }.get(self.barred)
        notes = [said] if said else []
        if self.automatic:
            word = "redouble" if score.owner == "owned" else "double"
            notes.append(f"Automatic {word}: losing this game loses the match anyway, so it risks nothing.")
        if self.may_double and score.away[0] <= 2 * cube < score.away[1]:
            notes.append("After a take the other side has an automatic redouble.")
        if self.position.gammons:
            notes.append("Gammons are possible and counted.")
        if self.close and self.mwc_error > TIE and not self.approximate:  # else `certainty` says it
            notes.append(f"Closer than the error of {self.mwc_error:.1g}.")
        if score.beyond:
            notes.append(
                f"The score lies beyond {score.met.name}, which was extended by a normal approximation."
            )
        return tuple(notes)


@dataclass(frozen=True)
class Cell(Plain):
    """The decision at one score of a grid."""

    FIELDS = "away crawford" + fields_at("decision", MatchCube.DECISION)

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
    source: Source = CALCULATION,
    table: str | None = None,
    usual: float | None = None,
) -> MatchCube:
    """The cube action from the chances of rolling on and of a double taken (not used where none is allowed).

    error, usual : the greatest error of a chance; of estimates and play-outs also that which 95 % of them keep.
    """
    mwc, taken = Numbers(no_double, None, None, no_double), no_double
    if double_take is not None and score.may_double(0):
        taken, passed = double_take, score.after(0, score.cube)
        mwc = Numbers(no_double, taken, passed, max(no_double, min(taken, passed)))
    return MatchCube(
        position,
        cube_owner(score.owner),
        score.emg(no_double),
        score.emg(taken),
        error=score.emg_loss(error),
        usual_error=None if usual is None else score.emg_loss(usual),
        approximate=usual is not None,
        source=source,
        table=table,
        barred=_barred(score) if mwc.double_take is None else "",
        beaver_rule=False,
        score=score,
        mwc=mwc,
        mwc_error=error,
        cubeless_win=cubeless_win,
        usual=usual,
    )


def _barred(score: Score) -> str:
    """Why there is no double."""
    if score.crawford:
        return "Crawford"
    if not score.cube_in_use:
        return "No cube"
    return "Opponent owns" if score.owner == "opponent" else "Dead"
