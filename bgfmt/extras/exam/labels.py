"""Check labels of positions: impossible probabilities, values against exact ones, duplicates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from bgfmt import met
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError
from bgfmt.extras.exam.label_files import CHANCES, MAX_TEXT, Row, columns_of, read_rows
from bgfmt.extras.exam.making import SMALL, small_table
from bgfmt.game.board import MAX_CHEQUERS, Position
from bgfmt.game.drawing import pluralize, printable
from bgfmt.game.identifiers import parse
from bgfmt.game.state import GameState
from bgfmt.met.score import Score
from bgfmt.tables import EQUITY_COLUMNS

SIGNS = (2, 1, 1, -1, -1)  # factors of `CHANCES` in the cubeless equity, which is their sum minus 1
TOLERANCE = 0.002  # default for the difference from an exact value
SLACK = 1e-6  # rounding allowed in rules of probabilities
MAX_ROWS_SHOWN = 5  # rows of a finding in the JSON report
LIMIT = 400_000  # pairs of boards times cube states solved for one row
LABEL_KEY = attrgetter(
    "position", "away", "crawford", "cube_value", "owner"
)  # labels of equal keys are of the same state


@dataclass
class Finding:
    """One kind of fault: its name, the likely cause, the rows (from 1) that have it, and an example in words."""

    name: str
    cause: str = ""
    rows: list[int] = field(default_factory=list)
    example: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fault as values for JSON: `name`, `cause` (or None), `count`, `example` and the first `rows`."""
        rows = self.rows[:MAX_ROWS_SHOWN]
        count = len(self.rows)
        return {
            "name": self.name, "cause": self.cause or None, "count": count, "rows": rows, "example": self.example,
        }  # fmt: skip

    def __str__(self) -> str:
        cause = f"; likely {self.cause}" if self.cause else ""
        rows = pluralize(len(self.rows), "row")
        return f"{self.name}: {rows} (first {self.rows[0]}){cause}. {self.example}".rstrip()


@dataclass(frozen=True)
class Report:
    """The result of a check: number of rows, how many have an exact value, columns by role, findings."""

    file: str
    rows: int
    compared: int
    columns: dict[str, str]
    findings: list[Finding]


# -- exact values ---------------------------------------------------------------------------------------------


class Truth:
    """Exact values of positions by name, solved once each; {} if a position is beyond the limit.

    Names are those of columns: for money `EQUITY_COLUMNS` and "win"; at a score "no_double", "double_take" and "mwc".

    limit : pairs of boards times cube states that may be solved for one position.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.met = met.load()
        self.solve = cache(self._solve)

    def lookup(self, state: GameState) -> dict[str, float]:
        """Return the exact values of a state before the roll by name, such as "cubeless", "win" or "mwc".

        The dict is empty if the state has contact or cannot be solved within the limit.
        """
        return self.solve(state.position, bool(state.jacoby), None if state.money else state)

    def _solve(self, position: Position, jacoby: bool, state: GameState | None) -> dict[str, float]:
        """Return the exact values of a position, for money if there is no `state`."""
        us = position.us
        them = position.them
        try:
            if state is not None:
                score = Score(state.away or (1, 1), self.met, state.crawford, state.cube_value, state.owner)
                found = solve_match(position, score, limit=self.limit).cube.mwc
                values = {"no_double": found.no_double, "double_take": found.double_take, "mwc": found.best}
                return {name: value for name, value in values.items() if value is not None}
            if max(us.highest, them.highest, us.chequers, them.chequers) <= SMALL:
                row = np.asarray(small_table().lookup_many([us], [them]), np.float64)[0].tolist()
                known = dict(zip(EQUITY_COLUMNS, row, strict=True))
            else:
                solved = solve_money(position, jacoby=jacoby, limit=self.limit)
                known = {name: solved.equity(name) for name in EQUITY_COLUMNS}
        except (NotCoveredError, PositionError):
            return {}
        return known if position.gammons else known | {"win": (1 + known["cubeless"]) / 2}


# -- rules without exact values -------------------------------------------------------------------------------


def _check_rules(
    state: GameState, values: dict[str, float], tolerance: float
) -> Iterator[tuple[str, str, str]]:
    """Yield (name, likely cause, example) of each rule that the values of a row violate without any exact value.

    values : {column: value} of the row. tolerance : how far sums may be off.
    """
    chances = {name: values[name] for name in CHANCES if name in values}
    for name, chance in chances.items():
        if not -SLACK <= chance <= 1 + SLACK:
            yield f"{name} is not a probability", "in per cent" if 1 < chance <= 100 else "", f"{chance:g}"
            return
    win = chances.get("win")
    lose = values.get("lose")
    if win is not None and lose is not None and abs(win + lose - 1) > max(SLACK, tolerance):
        yield "win and lose do not add up to 1", "", f"{win:g} and {lose:g}"
    wholes = {
        "win_gammon": win, "win_backgammon": chances.get("win_gammon"),
        "lose_gammon": None if win is None else 1 - win, "lose_backgammon": chances.get("lose_gammon"),
    }  # fmt: skip
    for name, whole in wholes.items():
        if whole is not None and chances.get(name, 0.0) > whole + SLACK:
            cause = "gammons are not counted among the games won or lost"
            yield f"{name} is more than it is a part of", cause, f"{chances[name]:g} of {whole:g}"
    for name, loser in (("win_gammon", state.position.them), ("lose_gammon", state.position.us)):
        if chances.get(name, 0.0) > SLACK and loser.chequers < MAX_CHEQUERS:
            example = f"{chances[name]:g}, {loser.chequers} chequers"
            yield f"{name} without fifteen chequers", "the loser has borne off already", example
    if "cubeless" in values and state.money and {"win", "win_gammon", "lose_gammon"} <= chances.keys():
        made = sum(sign * chances.get(name, 0.0) for sign, name in zip(SIGNS, CHANCES, strict=True)) - 1
        if abs(made - values["cubeless"]) > max(tolerance, 1e-3):
            cause = "a cubeful equity, another unit, or of another row"
            example = f"{values['cubeless']:g}, chances make {made:g}"
            yield "the equity does not follow from the probabilities", cause, example
    owned = values.get("owned")
    opponent = values.get("opponent")
    if owned is not None and opponent is not None and owned < opponent - 2 * tolerance:
        words = "the cube is worth more to the other side"
        yield words, "cube columns exchanged", f"{owned:g} < {opponent:g}"


# -- the check ------------------------------------------------------------------------------------------------


def check(
    path: str, *, mapped: dict[str, str] | None = None, tolerance: float = TOLERANCE, limit: int = LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> Report:  # fmt: skip
    """Check the labels (probabilities and equities) in a file of positions against rules and exact values.

    Parameters
    ----------
    mapped : {role: name of the column} of columns that are not recognised by their names; a role is such as "win".
    tolerance : how far a value may be from the exact one, in its unit.
    limit : pairs of boards times cube states that may be solved for one row.
    progress : called with the number of rows checked and the number of all.

    Raises
    ------
    FormatError : if it is not a file of labels.
    """
    rows = read_rows(path)
    columns = columns_of(rows, mapped or {})
    one = _Check(rows, columns, tolerance, limit)
    compared = 0
    for k in range(len(rows)):
        compared += one.check_row(k)
        if progress is not None:
            progress(k + 1, len(rows))
    found = sorted(one.found.values(), key=lambda one: (-len(one.rows), one.name))
    return Report(path, len(rows), compared, columns, found)


class _Check:
    """A check in progress.

    rows, columns : of the file, the columns by role.
    found : findings by (name, cause).
    first : (index of the row, values by role) of the first row of each state.
    """

    def __init__(self, rows: list[Row], columns: dict[str, str], tolerance: float, limit: int) -> None:
        self.rows = rows
        self.columns = columns
        self.roles = [role for role in columns if role not in ("position", "error")]
        self.tolerance = tolerance
        self.truth = Truth(limit)
        self.found = dict[tuple[str, str], Finding]()
        self.first = dict[Any, tuple[int, dict[str, float]]]()

    def check_row(self, k: int) -> bool:
        """Check a row against the rules, the exact values and earlier rows; return True if it has an exact value.

        k : index of the row from 0.
        """
        state = self.state(k)
        if state is None:
            return False
        values = self.values(k)
        for fault in _check_rules(state, values, self.tolerance):
            self.note(k, *fault)
        known = self.truth.lookup(state)
        both = sorted(values.keys() & known.keys())
        for role in both:
            if abs(values[role] - known[role]) > self.tolerance_of(role, k):
                example = f"{state.position}: {values[role]:g}, exact {known[role]:.6f}"
                self.note(k, f"{role} is wrong", "", example)
        before, others = self.first.setdefault((bool(state.jacoby), LABEL_KEY(state)), (k, values))
        for role in sorted(values.keys() & others.keys()):
            if abs(values[role] - others[role]) > self.tolerance_of(role, before, k):
                name = f"{role} differs from an earlier row of the same position"
                example = f"{others[role]:g} in row {before + 1}, here {values[role]:g}"
                self.note(k, name, "labels of two runs or two settings in one file", example)
        return bool(both)

    def note(self, row: int, name: str, cause: str, example: str) -> None:
        """Record that a row has a fault.

        row : index from 0. name, cause : of the fault; rows with equal ones are one finding. example : kept of the
        first row.
        """
        one = self.found.setdefault((name, cause), Finding(name, cause, example=example))
        if not one.rows or one.rows[-1] != row + 1:
            one.rows.append(row + 1)

    def state(self, k: int) -> GameState | None:
        """Return the game state of a row of the label file before the roll; None if it has none.

        k : index of the row from 0. An invalid position is noted as a fault; a row that states an error instead of
        values has no label.
        """
        row = self.rows[k]
        empty = all(row.get(self.columns[role]) in (None, "") for role in self.roles)
        if empty and row.get(self.columns.get("error", "")):
            return None
        text = row.get(self.columns["position"])
        try:
            state = parse(str(text)[: MAX_TEXT + 1]).before_roll()
            if not all(side.chequers for side in state.sides):
                raise PositionError(f"{state.position}: the game is over")
            return state
        except BgfmtError as error:
            cause = "the row has too few values" if text is None else ""
            self.note(k, "no position", cause, printable(error, 120))
            return None

    def values(self, k: int) -> dict[str, float]:
        """Return the numbers of a row by role. A text that is no finite number is noted as a fault.

        k : index of the row from 0.
        """
        values = {}
        for role in self.roles:
            said = self.rows[k].get(self.columns[role])
            if said is None or said == "":
                continue
            try:
                number = float(said)
            except (TypeError, ValueError, OverflowError):
                causes = {"%": "in per cent", ",": "a decimal comma"}
                cause = next((words for sign, words in causes.items() if sign in str(said)), "")
            else:
                if math.isfinite(number):
                    values[role] = number
                    continue
                cause = "a division by zero or a missing value"
            example = f"{self.columns[role]} is {printable(said, 40)!r}"
            self.note(k, f"{role} is not a number", cause, example)
        return values

    def tolerance_of(self, role: str, *rows: int) -> float:
        """Return by how much a value of a row, or the difference of the values of two rows, may be off.

        That is the tolerance, or five standard errors if the rows state greater ones.

        role : role of the column, such as "win". rows : one or two indices from 0.
        """
        try:
            errors = [float(self.rows[k].get(f"{self.columns[role]}_error") or 0) for k in rows]
        except (TypeError, ValueError, OverflowError):
            return self.tolerance
        return max(self.tolerance, 5 * math.hypot(*errors))
