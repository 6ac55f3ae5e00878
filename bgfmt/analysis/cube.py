"""The cube action that follows from the equities of a position: in words, in numbers, and how certain it is.

A stored equity is the value of rolling without doubling. With the cube at 1,

    no double    = centered (cube in the middle) or owned (cube on our side)
    double, take = 2 * opponent
    double, pass = 1
    beaver       = 4 * opponent: the taker turns the cube again and keeps it, right when 2 * opponent < 0

The equity of a double is that after the other side's best reply; a beaver is a reply where beavers are played.

Nobody is too good to double where no gammon can be won: passing costs one point and no more can be won. Rules and
columns: `docs/formats/gnubg-ts.md`. Labels 1 to 5 are those of Bob Koca's chart (2007), which doubles whenever that
costs nothing. In a match the same numbers are equities of a single game at this score (EMG), so that passing is
worth 1 there, too; rules: `docs/theory/match-play.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from bgfmt.analysis.answers import CALCULATION, EXACT, MetName, Source, estimate_words
from bgfmt.analysis.endings import ends_soon
from bgfmt.analysis.shapes import Chance, Plain, fields_at
from bgfmt.game.board import Position
from bgfmt.game.display import html_table
from bgfmt.game.state import Owner, cube_owner
from bgfmt.met.model import Met
from bgfmt.met.score import Score

__all__ = [
    "LABELS",
    "TIE",
    "UNPROVED",
    "AtScore",
    "Cell",
    "CubeAction",
    "Grid",
    "Losses",
    "MatchCube",
    "Numbers",
    "decide",
    "label_of",
    "values_after_play",
]


#: Koca's labels
LABELS = {
    1: "no double, beaver",
    2: "no double, take",
    3: "double, no redouble, take",
    4: "redouble, take",
    5: "redouble, pass",
}
UNPROVED = "not proved for a table of this size"
TIE = 1e-12  # exact match winning chances that differ by no more are equal


@dataclass(frozen=True)
class CubeAction(Plain):
    """A cube decision of the side on roll; equities are its own, for a cube now at 1.

    barred : why there is no double, empty if there may be one.
    beaver_rule : whether beavers are played.
    proved : False if `error` is not proved for a table of this size, only measured on others; then no choice is sure.
    """

    FIELDS = (
        "cube action no_double double_take double_pass double_beaver best doubles takes beavers double_margin "
        "take_margin "
        "tie_double tie_take sure_double sure_take sure error usual_error? settled certainty source table approximate"
    )

    position: Position
    cube: Annotated[Owner, "Cube as seen by the side on roll: `centered`, `owned` or `opponent`."]
    no_double: Annotated[float, "Equity of not doubling."]
    double_take: Annotated[float, "Equity of double, take."]
    double_pass: Annotated[float, "Equity of double, pass."] = 1.0
    error: Annotated[
        float | None, "Maximum error of the equities (99.9 % bound for estimates and rollouts)."
    ] = None
    usual_error: Annotated[float | None, "For estimates and rollouts: 95 % bound of the error."] = None
    proved: bool = True
    settled: Annotated[bool, "Whether a calculation replaced a table whose error left it open."] = False
    approximate: Annotated[bool, "Whether no proved error bound is known, as for estimates."] = False
    source: Annotated[
        Source, "A kind of table, `calculation`, `estimate`, `rollout`, `forced`, `rule` or `engine`."
    ] = "two-sided"
    table: Annotated[str | None, "Name of the table; null for a calculation."] = None
    barred: str = ""
    beaver_rule: bool = True

    @property
    def match(self) -> MatchCube | None:
        """The action itself if it is a `MatchCube`, which has match winning chances; None for money."""
        return None

    @property
    def may_double(self) -> bool:
        """Whether the side on roll has access to the cube, and nothing else (`barred`) forbids a double."""
        return self.cube != "opponent" and not self.barred

    @property
    def double_beaver(self) -> float | None:
        """Equity of double, beaver; null if beavers are not played."""
        return 2 * self.double_take if self.beaver_rule else None

    @property
    def double(self) -> float:
        """Return the equity of doubling against the best reply: take, pass or, where it is played, beaver."""
        taken = min(self.double_take, self.double_pass)
        return taken if self.double_beaver is None else min(taken, self.double_beaver)

    @property
    def double_margin(self) -> float:
        """Gain of doubling over not doubling; negative for a loss.

        Equity of `double` minus `no_double`.
        """
        return self.double - self.no_double

    @property
    def take_margin(self) -> float:
        """Gain of taking over passing for the opponent; negative for a loss.

        Equity of `double_pass` minus `double_take`.
        """
        return self.double_pass - self.double_take

    @property
    def doubles(self) -> bool:
        """Whether to double; true if it costs nothing.

        False where no double is allowed.
        """
        return self.may_double and self.double_margin >= -EXACT

    @property
    def takes(self) -> bool:
        """Whether to take; true for an exact tie."""
        return self.take_margin >= -EXACT

    @property
    def beavers(self) -> bool:
        """Whether to beaver.

        True if beavers are played and the double leaves the doubler with a negative equity.
        """
        return self.beaver_rule and self.double_take < -EXACT

    @property
    def best(self) -> float:
        """Equity with correct cube decisions.

        The greater of doubling (if allowed) and not doubling, against the best reply.
        """
        return max(self.double, self.no_double) if self.may_double else self.no_double

    @property
    def exact(self) -> bool:
        """Whether the equities are exact to float64: `error` is at most 1e-12."""
        return self.error is not None and self.error <= EXACT

    @cached_property
    def proves_ties(self) -> bool:
        """Whether two equities that agree within 1e-12 are proved to be equal.

        True for exact money equities of a race that ends soon; see `ends_soon`.
        """
        return self.exact and self.match is None and not self.position.contact and ends_soon(self.position)

    @property
    def tie_double(self) -> bool:
        """Whether doubling and not doubling are proved equal.

        They differ by at most 1e-12, and equal numbers are a proof; see `proves_ties`.
        """
        return abs(self.double_margin) <= EXACT and self.proves_ties

    @property
    def tie_take(self) -> bool:
        """Whether taking and passing are proved equal.

        They differ by at most 1e-12, and equal numbers are a proof; see `proves_ties`.
        """
        return abs(self.take_margin) <= EXACT and self.proves_ties

    @property
    def double_margin_error(self) -> float | None:
        """Maximum error of `double_margin`: rolling on errs by `error`, a take by two errors, a beaver by four."""
        if self.error is None:
            return None
        beavered = self.beaver_rule and self.double_take < 2 * self.error
        return (5 if beavered else 3) * self.error

    @property
    def take_margin_error(self) -> float | None:
        """Maximum error of `take_margin`, twice that of an equity."""
        return None if self.error is None else 2 * self.error

    @property
    def double_decided(self) -> bool:
        """Whether no error of the equities up to `error` can make the other choice (to double or not) better.

        `error` may be proved, or only measured on other tables.
        """
        if not self.may_double:
            return True
        if self.error is None or self.double_margin_error is None:
            return False
        # without gammons a double that is passed gains the full point and costs nothing: no error can make it wrong
        passed = self.double_take > 1 + 2 * self.error and self.no_double <= 1 + self.error
        passed &= not (self.approximate and self.position.gammons)
        # a double that a take makes wrong is made no better by a beaver
        wrong = min(self.double_take, self.double_pass) - self.no_double < -3 * self.error
        return passed or wrong or abs(self.double_margin) > self.double_margin_error or self.tie_double

    @property
    def take_decided(self) -> bool:
        """Whether no error of the equities up to `error` can make another answer to a double better.

        `error` may be proved, or only measured on other tables.
        """
        if not self.may_double:
            return True
        if self.take_margin_error is None:
            return False
        nearest = abs(self.take_margin)
        if self.beaver_rule:
            nearest = min(nearest, abs(self.double_take))
        level = abs(self.double_take) <= EXACT and self.proves_ties  # neither a beaver nor none gains
        return nearest > self.take_margin_error or self.tie_take or level

    @property
    def decided(self) -> bool:
        """Whether both the double and the answer to it are decided; see `double_decided` and `take_decided`."""
        return self.double_decided and self.take_decided

    @property
    def sure_double(self) -> bool:
        """Whether the decision to double is certain.

        No error up to `error` can change it (`double_decided`), and that bound is proved.
        """
        return self.double_decided and (self.proved or not self.may_double)

    @property
    def sure_take(self) -> bool:
        """Whether the response (take, pass or beaver) is certain.

        No error up to `error` can change it (`take_decided`), and that bound is proved.
        """
        return self.take_decided and (self.proved or not self.may_double)

    @property
    def sure(self) -> bool:
        """Whether the action is certain in spite of the error.

        Both `sure_double` and `sure_take`.
        """
        return self.sure_double and self.sure_take

    @property
    def action(self) -> str:
        """Cube action in words, such as `Double, take`."""
        if not self.may_double:
            return self.barred or "The other side owns the cube"
        word = "redouble" if self.cube == "owned" else "double"
        first = word.capitalize() if self.doubles else f"No {word}"
        if not self.doubles and not self.takes:  # with gammons only
            first = f"Too good to {word}"
        if self.tie_double and self.no_double < 1:  # at 1 the game is won, and doubling ends it
            first = f"Optional {word}"
        answer = "take" if self.takes else "pass"
        if self.tie_take:
            answer = "take or pass"
        elif self.beavers:
            answer = "beaver"
        return f"{first}, {answer}"

    @property
    def certainty(self) -> str:
        """Certainty of the action, in words.

        For example "exact", or "estimate, ±0.006 (95 %): too close to call, within 0.048 (99.9 %)".
        """
        if not self.may_double:
            return "no decision to make"
        texts = []
        what = "the answer to it" if self.double_decided else "the double"
        within = self.take_margin_error if self.double_decided else self.double_margin_error
        if self.tie_take:
            texts.append("taking and passing cost exactly the same")
        if self.tie_double:
            texts.append("doubling and rolling on are worth exactly the same")
        if self.approximate and self.error is None:
            texts.append("approximate: no error bound is known")
        elif self.approximate:
            usual = self.error if self.usual_error is None else self.usual_error
            texts.append(
                estimate_words(self.source, usual or 0.0, close_within=None if self.decided else within)
            )
        elif not self.decided:
            texts.append(f"too close to call: {what} lies within the error of {within:.2g}")
        elif not self.proved:
            texts.append(
                f"{UNPROVED}: the margin exceeds the error measured on other tables, {self.error:.2g}"
            )
        elif not texts:
            texts.append("exact" if self.exact else "certain: the margin exceeds the table's maximum error")
        return "; ".join(texts)


def label_of(centered: CubeAction, owned: CubeAction) -> int:
    """Return the label 1 to 5 of a position on Koca's chart of bearoff doubles, such as 4 for "redouble, take".

    All five are in `LABELS`.

    Parameters
    ----------
    centered, owned
        The position's cube actions with a centered cube and with the side on roll owning it. Where taking and
        passing cost exactly the same, the label is that of a pass, as on his chart.
    """
    if not centered.doubles:
        return 1 if centered.double_take < -EXACT else 2
    if centered.take_margin <= EXACT:
        return 5
    return 4 if owned.doubles else 3


# -- at a match score -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers(Plain):
    """Match winning chances, or equities of a game at this score (EMG), of the side on roll."""

    no_double: Annotated[float, "No double."]
    double_take: Annotated[float | None, "Double, take."]
    double_pass: Annotated[float | None, "Double, pass."]
    best: Annotated[float, "Best choice."]


@dataclass(frozen=True)
class Losses(Plain):
    """What each choice costs, never negative."""

    FIELDS = "no_double double take pass=pass_"

    no_double: Annotated[float, "Cost of not doubling to the side on roll."]
    double: Annotated[float, "Cost of doubling to the side on roll."]
    take: Annotated[float, "Cost of taking to the opponent."]
    pass_: Annotated[float, "Cost of passing to the opponent."]


@dataclass(frozen=True, kw_only=True)
class MatchCube(CubeAction):
    """A cube action at a match score. Its equities are those of a game at this score (EMG).

    mwc, mwc_error, usual : the match winning chances that these come from, and their errors.
    """

    DECISION = (
        "mwc emg action double=doubling response loss_mwc=losses loss_emg gammons=gammons_text error=mwc_error close "
        "cubeless_win notes met"
    )
    ORIGIN = "doubles takes sure certainty source table approximate"
    FIELDS = f"{DECISION} usual_error?=usual cube {ORIGIN}"

    score: Score
    mwc: Annotated[Numbers, "Match winning chances (MWC)."]
    mwc_error: Annotated[float, "Maximum error of the MWC."]
    cubeless_win: Annotated[Chance | None, "Game win probability without a cube."] = None
    usual: Annotated[float | None, "For estimates and rollouts: 95 % bound of the error of the MWC."] = None

    @property
    def match(self) -> MatchCube:
        """The action itself."""
        return self

    @property
    def emg(self) -> Numbers:
        """The choices as equities of a single game at this score (EMG).

        EMG: losing the game at the present cube value is -1, winning it +1. Those of a double are None if it isn't
        allowed.
        """
        drop = None if self.mwc.double_pass is None else self.score.emg(self.mwc.double_pass)
        return Numbers(
            self.no_double, None if drop is None else self.double_take, drop, self.score.emg(self.mwc.best)
        )

    @property
    def margins(self) -> tuple[float, float]:
        """Differences in match winning chance: of doubling over not doubling, and of taking over passing.

        The first is the doubler's gain, the second the other side's. Both are 0 where doubling is not allowed.
        """
        m = self.mwc
        if m.double_take is None or m.double_pass is None:
            return 0.0, 0.0
        return min(m.double_take, m.double_pass) - m.no_double, m.double_pass - m.double_take

    @property
    def doubling(self) -> Literal["yes", "no", "optional", "unavailable"]:
        """Whether to double: `yes`, `no`, `optional` or `unavailable`.

        "optional" if both choices have equal match winning chances; "unavailable" where doubling is not allowed.
        """
        if not self.may_double:
            return "unavailable"
        gain = self.margins[0]
        return "optional" if abs(gain) <= TIE else "yes" if gain > 0 else "no"

    @property
    def response(self) -> Literal["take", "pass", "either"] | None:
        """`take`, `pass` or `either`; null if doubling is not allowed."""
        if not self.may_double:
            return None
        gain = self.margins[1]
        return "either" if abs(gain) <= TIE else "take" if gain > 0 else "pass"

    @property
    def code(self) -> str:
        """The decision in three letters, such as `D/T` (double, take).

        Before the slash D double, N no double, O optional (equal); after it T take, P pass, = either. "--" where
        doubling is not allowed.
        """
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
        """Cost of each choice in MWC.

        The cost is the loss of match winning chance against the better choice; 0 for the better one.
        """
        if not self.may_double:
            return None
        gain, take = self.margins
        return Losses(max(gain, 0.0), max(-gain, 0.0), max(-take, 0.0), max(take, 0.0))

    @property
    def loss_emg(self) -> Losses | None:
        """Cost of each choice in EMG.

        As `losses`, on the scale in which losing a single game at the present cube is -1 and winning it +1.
        """
        lost = self.losses
        emg = self.score.emg_loss
        return lost and Losses(emg(lost.no_double), emg(lost.double), emg(lost.take), emg(lost.pass_))

    @property
    def gammons_text(self) -> Literal["none", "counted"]:
        """`counted` if either side can still lose a gammon, which the equities include, else `none`."""
        return "counted" if self.position.gammons else "none"

    @property
    def met(self) -> MetName:
        """Match equity table.

        Its name, and the SHA-256 of its values.
        """
        return MetName(self.score.met.name, self.score.met.digest)

    @property
    def close(self) -> bool:
        """Whether a decision is within the error of the MWC.

        The smaller of the two `margins` is at most twice `mwc_error`; false for exact numbers.
        """
        if not self.may_double or self.mwc_error <= TIE:  # exact numbers within `TIE` are equal
            return False
        return min(map(abs, self.margins)) <= 2 * self.mwc_error

    @property
    def tie_double(self) -> bool:
        """Whether doubling and rolling on have equal match winning chances, by exact numbers.

        They are equal if they differ by at most 1e-12; false for numbers with a larger error.
        """
        return self.mwc_error <= TIE and self.doubling == "optional"

    @property
    def tie_take(self) -> bool:
        """Whether taking and passing have equal match winning chances, by exact numbers.

        They are equal if they differ by at most 1e-12; false for numbers with a larger error.
        """
        return self.mwc_error <= TIE and self.response == "either"

    @property
    def automatic(self) -> bool:
        """Whether a double risks nothing, since losing the game loses the match with the cube as it is."""
        return self.may_double and self.score.away[1] <= self.score.cube

    @property
    def action(self) -> str:
        """Cube action in words, such as `Double, take`.

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
        """Notes to the player, a sentence each."""
        score = self.score
        cube = self.score.cube
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
            notes.append(f"Closer than the error of {2 * self.mwc_error:.1g}.")
        if score.is_beyond_table:
            notes.append(
                f"The score lies beyond {score.met.name}, which was extended by a normal approximation."
            )
        return tuple(notes)


@dataclass(frozen=True)
class Cell(Plain):
    """The decision at one score of a grid."""

    FIELDS = "away crawford" + fields_at("decision", MatchCube.DECISION)

    away: Annotated[tuple[int, int], "Points that the side on roll and the opponent need."]
    crawford: Annotated[bool, "Whether this is the Crawford game."]
    decision: MatchCube


AtScore = tuple[int, int, bool]


@dataclass(frozen=True)
class Grid:
    """The cube decisions of a position at all scores up to `upto`-away.

    cells : by (away of the side on roll, away of the other, whether it is the Crawford game). Where one side needs 1
        there are two cells, for the Crawford game and for after it; 1-away, 1-away is there once, as (1, 1, False).
    usual : for estimates, the largest of the cells' errors that 95 % of estimates do not exceed.
    """

    position: Position
    upto: Annotated[int, "Largest number of points away."]
    met: Met
    cells: Mapping[AtScore, MatchCube]
    usual: float | None = None

    def __getitem__(self, cell: AtScore) -> MatchCube:
        return self.cells[cell]

    def __repr__(self) -> str:
        return f"<Grid {self.position}, up to {self.upto}-away, {self.met.name}>"

    def _repr_html_(self) -> str:
        away = range(1, self.upto + 1)
        rows = [[mine, *(self[mine, other, False].code for other in away)] for mine in away]
        return html_table(rows, ["you need", *map(str, away)])


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
    proved: bool = True,
) -> MatchCube:
    """Return the cube action at a score, given match winning chances (0 to 1) of the side on roll.

    Parameters
    ----------
    position
        Both sides, the side on roll first.
    score
        The score and the cube, as the side on roll sees them.
    no_double
        Match winning chance of rolling on.
    double_take
        Match winning chance after a double and a take; ignored if no double is allowed.
    error
        Greatest error of these two.
    cubeless_win
        Probability of winning the game without a cube, None if not known.
    source, table
        Where the numbers come from, and the name of the table if it is one.
    usual
        For estimates and rollouts, the error that 95 % of them do not exceed; else None.
    proved
        The error is proved for a table of this size, or is that of a calculation.
    """
    mwc = Numbers(no_double, None, None, no_double)
    taken = no_double
    if double_take is not None and score.may_double(0):
        taken = double_take
        passed = score.after(0, score.cube)
        mwc = Numbers(no_double, taken, passed, max(no_double, min(taken, passed)))
    return MatchCube(
        position,
        cube_owner(score.owner),
        score.emg(no_double),
        score.emg(taken),
        error=score.emg_loss(error),
        usual_error=None if usual is None else score.emg_loss(usual),
        proved=proved,
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
    """Return why no double is allowed."""
    if score.crawford:
        return "Crawford"
    if not score.cube_in_use:
        return "No cube"
    return "Opponent owns" if score.owner == "opponent" else "Dead"


# -- values of many positions -----------------------------------------------------------------------------


def values_after_play(equities: Any, cube: str) -> Any:
    """Convert the equities of the side that rolls next to the value for the side that has just played.

    The values are negated, after the side that rolls next has doubled where it may and gains by it.

    Parameters
    ----------
    equities
        (M, 4) float: cubeless, owned, centered, opponent of the side that rolls next. For "cubeless" one column is
        enough.
    cube
        Where the cube is for the side that has played: "centered", "owned" or "opponent", or "cubeless" to ignore it.

    Returns
    -------
    (M,) float
    """
    if cube in ("cubeless", "owned"):
        return -equities[:, 0 if cube == "cubeless" else 3]
    rolling = equities[:, 2 if cube == "centered" else 1]
    cashed = np.minimum(equities.dtype.type(1), 2 * equities[:, 3])
    return -np.maximum(rolling, cashed)
