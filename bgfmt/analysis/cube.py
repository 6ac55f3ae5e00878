"""Cube actions from the four money equities of a race: in words, in numbers, and with how sure they are.

A stored equity is the value of rolling without doubling. With the cube at 1,

    no double    = centered (cube in the middle) or owned (cube on our side)
    double, take = 2 * opponent
    double, pass = 1
    beaver       = 4 * opponent: the taker turns the cube again and keeps it, right when 2 * opponent < 0

Nobody is too good to double here: passing costs one point and no more can be won, as gammons are not in these
tables. Rules and columns: `docs/formats/gnubg-ts.md`; labels 1 to 5 are those of Bob Koca's chart
(2007), where doubling is the choice when it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgfmt.analysis import choose
from bgfmt.analysis.choose import Databases
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.game.board import Position
from bgfmt.lookup import Equities
from bgfmt.tables import Table

CUBES = ("centered", "owned", "opponent")
#: Koca's labels
LABELS = {
    1: "no double, beaver",
    2: "no double, take",
    3: "double, no redouble, take",
    4: "redouble, take",
    5: "redouble, pass",
}
EXACT = 1e-9  # two exact equities this near are equal


def cube_owner(name: str) -> str:
    """One of "centered", "owned", "opponent"; PositionError for anything else."""
    known = {"centred": "centered", "us": "owned", "ours": "owned", "them": "opponent", "theirs": "opponent"}
    owner = known.get(name, name)
    if owner not in CUBES:
        raise PositionError(f"the cube is centered, owned or opponent, not {name!r}")
    return owner


@dataclass(frozen=True)
class CubeAction:
    """A cube decision of the side on roll; equities are its own, for a cube now at 1.

    no_double, double_take, double_pass : equity of rolling on, of a double taken, of a double passed.
    error : greatest error of the equities it was judged by (0 exact), None where unknown (approximate).
    """

    position: Position | None
    cube: str
    no_double: float
    double_take: float
    double_pass: float = 1.0
    error: float | None = None
    settled: bool = False
    approximate: bool = False

    @property
    def may_double(self) -> bool:
        """Whether the side on roll has access to the cube."""
        return self.cube != "opponent"

    @property
    def double(self) -> float:
        """Equity of doubling, against the better of take and pass."""
        return min(self.double_take, self.double_pass)

    @property
    def double_margin(self) -> float:
        """What doubling gains over rolling on; negative when it costs."""
        return self.double - self.no_double

    @property
    def take_margin(self) -> float:
        """What taking gains the other side over passing; negative when it costs."""
        return self.double_pass - self.double_take

    @property
    def tie_double(self) -> bool:
        """Whether doubling and rolling on are worth the same."""
        return abs(self.double_margin) <= EXACT

    @property
    def tie_take(self) -> bool:
        """Whether taking and passing cost the same."""
        return abs(self.take_margin) <= EXACT

    @property
    def doubles(self) -> bool:
        """Whether to double; a double that costs nothing counts as one."""
        return self.may_double and self.double_margin >= -EXACT

    @property
    def takes(self) -> bool:
        """Whether a double should be taken; an exact tie counts as a take."""
        return self.take_margin >= -EXACT

    @property
    def beavers(self) -> bool:
        """Whether a double would be beavered."""
        return self.double_take < -EXACT

    @property
    def best(self) -> float:
        """Equity of the side on roll when both sides handle the cube rightly."""
        return max(self.double, self.no_double) if self.may_double else self.no_double

    @property
    def exact(self) -> bool:
        """Whether the equities are exact, so that equal values are a proved tie."""
        return self.error is not None and self.error <= EXACT

    @property
    def sure_double(self) -> bool:
        """Whether the table's own error cannot turn the decision to double."""
        if not self.may_double or self.exact:
            return True
        if self.error is None:
            return False
        # a double that is passed gains the full point and can cost nothing: no error can make it wrong
        passed = self.double_take > 1 + 2 * self.error
        return passed or abs(self.double_margin) > 3 * self.error

    @property
    def sure_take(self) -> bool:
        """Whether the table's own error cannot turn the decision to take."""
        if not self.may_double or self.exact:
            return True
        return self.error is not None and abs(self.take_margin) > 2 * self.error

    @property
    def sure(self) -> bool:
        """Whether the table's own error cannot turn the action."""
        return self.sure_double and self.sure_take

    @property
    def action(self) -> str:
        """The action in words, such as "Double, take" or "No redouble, beaver"."""
        if not self.may_double:
            return "The other side owns the cube"
        word = "redouble" if self.cube == "owned" else "double"
        first = word.capitalize() if self.doubles else f"No {word}"
        if not self.doubles and not self.takes:  # with gammons only, so from one-sided tables only
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
        """How sure the action is, in words."""
        if not self.may_double:
            return "no decision to make"
        said = []
        if self.tie_take:
            said.append("taking and passing cost exactly the same" if self.exact else "taking equals passing")
        if self.tie_double:
            said.append("doubling and rolling on are worth the same")
        if self.approximate:
            said.append("approximate: from one-sided distributions")
        elif not said:
            if self.exact:
                said.append("exact")
            elif self.sure:
                said.append("sure: further from flipping than the table can err")
            else:
                what = "the double" if not self.sure_double else "the take"
                said.append(f"too close: {what} lies within the table's known error")
        return "; ".join(said)

    def as_dict(self) -> dict[str, Any]:
        names = (
            "cube action no_double double_take double_pass double best doubles takes beavers double_margin"
        )
        names += (
            " take_margin tie_double tie_take sure_double sure_take sure error settled approximate certainty"
        )
        return {name: getattr(self, name) for name in names.split()}


def judge_cube(
    asked: Equities | Databases,
    cube: str = "centered",
    *,
    position: Position | None = None,
    error: float | None = None,
    settle: bool = False,
) -> CubeAction:
    """The cube action of one position.

    Parameters
    ----------
    asked
        Equities of a position, or the databases to ask (then `position` is needed).
    cube
        "centered", "owned" (by the side on roll) or "opponent".
    error
        Greatest error of the equities; by default the known one of the table, or of a 6x8 table for bare
        equities.
    settle
        Where the table's error could turn the decision, calculate the position exactly (up to seconds for
        large positions), so that ties are proved and near ties decided.

    Raises
    ------
    NotCoveredError
        No table covers the position, or it holds cubeless equities only.
    """
    owner = cube_owner(cube)
    if isinstance(asked, Equities):
        values = asked
        known = max(choose.KNOWN_ERRORS[8]) if error is None else error
    else:
        if position is None:
            raise PositionError("say which position to judge")
        choose.check_race(position)
        table = choose.two_sided_for(asked, position, cubeful=True)
        if table is None:
            if choose.two_sided_for(asked, position) is None:
                return _approximate(asked, position, owner)
            raise NotCoveredError(f"{position}: the table holds cubeless equities only")
        values = choose.equities(table, position)
        known = float(choose.known_error(table).max()) if error is None else error
    if values.owned is None or values.centered is None or values.opponent is None:
        raise NotCoveredError(f"{values.position}: the table holds cubeless equities only")
    rolling = {"centered": values.centered, "owned": values.owned, "opponent": values.opponent}[owner]
    action = CubeAction(values.position, owner, rolling, 2 * values.opponent, error=known)
    if settle and not action.sure:
        from bgfmt.analysis import exact

        better = exact.exact_equities(values.position, limit=exact.SETTLE_LIMIT)
        if better is not None and better.opponent is not None:
            settled = judge_cube(better, owner, error=EXACT / 10)
            return CubeAction(
                values.position,
                owner,
                settled.no_double,
                settled.double_take,
                error=EXACT / 10,
                settled=True,
            )
    return action


def label_of(centered: CubeAction, owned: CubeAction) -> int:
    """Koca's label 1..5 of a position, from its actions with a centered and an owned cube.

    Where taking and passing cost exactly the same, his chart says pass, and so does the label.
    """
    if not centered.doubles:
        return 1 if centered.beavers else 2
    if centered.take_margin <= EXACT:
        return 5
    return 4 if owned.doubles else 3


def _approximate(databases: Databases, position: Position, owner: str) -> CubeAction:
    from bgfmt.analysis import approximate

    estimate = approximate.twosided_from_onesided(databases, position)
    chances = (estimate.win, estimate.win_gammon or 0.0, estimate.lose_gammon or 0.0)
    owned, centered, opponent = approximate.cubeful_of_chances(*chances)
    rolling = {"centered": centered, "owned": owned, "opponent": opponent}[owner]
    return CubeAction(position, owner, float(rolling), 2 * float(opponent), approximate=True)


# -- many at once ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CubeActions:
    """Cube actions of N positions, arrays of shape (N,), for a centered and for an owned cube.

    label : int8, Koca's label 1..5 (`LABELS`).
    double, redouble, take, beaver : bool.
    double_margin, redouble_margin, take_margin : what doubling, redoubling, taking gains over not doing it.
    close_double, close_redouble, close_take : bool, whether the table's error could turn that decision.

    Ties, as `tie_*`, are equal to 1e-9; from rounded equities most ties show as close decisions only.
    """

    label: NDArray[np.int8]
    double: NDArray[np.bool_]
    redouble: NDArray[np.bool_]
    take: NDArray[np.bool_]
    beaver: NDArray[np.bool_]
    double_margin: NDArray[Any]
    redouble_margin: NDArray[Any]
    take_margin: NDArray[Any]
    close_double: NDArray[np.bool_]
    close_redouble: NDArray[np.bool_]
    close_take: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def close(self) -> NDArray[np.bool_]:
        """Whether any of the three decisions is closer than the table can err."""
        return self.close_double | self.close_redouble | self.close_take

    @property
    def tie_double(self) -> NDArray[np.bool_]:
        """Whether doubling and rolling on are worth the same."""
        return np.asarray(np.abs(self.double_margin) <= EXACT)

    @property
    def tie_redouble(self) -> NDArray[np.bool_]:
        """Whether redoubling and rolling on are worth the same."""
        return np.asarray(np.abs(self.redouble_margin) <= EXACT)

    @property
    def tie_take(self) -> NDArray[np.bool_]:
        """Whether taking and passing cost the same."""
        return np.asarray(np.abs(self.take_margin) <= EXACT)


def cube_actions(equities: ArrayLike, error: float | Table | None = None) -> CubeActions:
    """Cube actions of many positions at once.

    Parameters
    ----------
    equities
        (N, 4): cubeless, owned, centered, opponent, of the side on roll, as `lookup_many` returns them.
    error
        Greatest error of the equities, or the table they come from; a 6x8 table's by default, and none for
        float64 equities.
    """
    values = np.asarray(equities)
    if values.ndim != 2 or values.shape[1] != 4:
        raise PositionError(f"cube actions need equities of shape (N, 4), not {values.shape}")
    if isinstance(error, Table):
        error = float(choose.known_error(error).max())
    if error is None:
        error = 0.0 if values.dtype == np.float64 else max(choose.KNOWN_ERRORS[8])
    width = values.dtype.type if values.dtype.kind == "f" else np.float64
    owned, centered, opponent = np.ascontiguousarray(values.T[1:], width)
    taken = opponent * width(2)
    doubled = np.minimum(taken, width(1))
    tie = width(EXACT)
    gain, regain, spare = doubled - centered, doubled - owned, width(1) - taken
    double, redouble, take, beaver = gain >= -tie, regain >= -tie, spare >= -tie, taken < -tie
    label = np.where(beaver & ~double, np.int8(1), np.int8(2))
    label += double.astype(np.int8) + (double & redouble)
    np.copyto(label, np.int8(5), where=double & (spare <= tie))
    if error <= EXACT:
        none = np.zeros(len(label), np.bool_)
        close = (none, none, none)
    else:
        near, passed = width(3 * error), spare < width(-2 * error)  # a double surely passed cannot be wrong
        close = (
            (np.abs(gain) <= near) & ~passed,
            (np.abs(regain) <= near) & ~passed,
            np.abs(spare) <= width(2 * error),
        )
    return CubeActions(label, double, redouble, take, beaver, gain, regain, spare, *close)
