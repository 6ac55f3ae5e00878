"""Labels of positions checked: chances that cannot be, equities beside exact ones, duplicates, likely causes."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from bgfmt import met, solver
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.errors import BgfmtError, FormatError, NotCoveredError, PositionError
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.drawing import many, printable
from bgfmt.game.identifiers import parse
from bgfmt.game.state import GameState
from bgfmt.met.score import Score
from bgfmt.tables import EQUITY_COLUMNS, TwoSided

Array = np.ndarray[Any, np.dtype[Any]]
#: what a column is about -> its names, small letters and digits alone
NAMES = {
    "position": "position pos id positionid xgid gnubgid board",
    "win": "win pwin w winchance wins chance",
    "lose": "lose plose l losechance loss",
    "win_gammon": "wingammon wing gammon pwingammon wg gammonwin",
    "win_backgammon": "winbackgammon winbg backgammon wbg",
    "lose_gammon": "losegammon loseg plosegammon lg gammonloss",
    "lose_backgammon": "losebackgammon losebg lbg",
    "cubeless": "cubeless equity eq cubelessequity value",
    "owned": "owned ownedcube", "centered": "centered cubeful cubefulequity centeredcube nodoubleequity",
    "opponent": "opponent opponentcube", "no_double": "nodouble nd", "double_take": "doubletake dt", "mwc": "mwc",
    "error": "error",
}  # fmt: skip
CHANCES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")
MONEY = ("win", *EQUITY_COLUMNS)  # what is known for money
MATCH = ("no_double", "double_take", "mwc")
TOLERANCE = 0.002
SLACK = 1e-6  # by which chances may break the rules of sums
SHOWN = 5
LIMIT = 400_000
SMALL = 6  # points and chequers of the table that answers most rows
Rows = list[dict[str, Any]]


@dataclass
class Finding:
    """One kind of fault: its name, the likely cause, the rows (from 1) that have it, and one of them in words."""

    name: str
    cause: str = ""
    rows: list[int] = field(default_factory=list)
    example: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "cause": self.cause or None, "count": len(self.rows), "rows": self.rows[:SHOWN],
                "example": self.example}  # fmt: skip

    def __str__(self) -> str:
        cause = f"; likely {self.cause}" if self.cause else ""
        return f"{self.name}: {many(len(self.rows), 'row')} (first {self.rows[0]}){cause}. {self.example}".rstrip()


@dataclass(frozen=True)
class Report:
    """What came of a check: rows read, those with an exact value beside theirs, findings."""

    file: str
    rows: int
    compared: int
    columns: dict[str, str]
    findings: list[Finding]


def read(path: str) -> Rows:
    """The rows of a .csv, .jsonl (.json, .ndjson) or .parquet file; FormatError where it is none."""
    try:
        if path.endswith((".parquet", ".pq")):
            from bgfmt.tables.arrow import pyarrow

            pyarrow()
            from pyarrow import parquet

            rows: Rows = parquet.read_table(path).to_pylist()
            return rows
        with open(path, encoding="utf-8", newline="") as file:
            if path.endswith((".jsonl", ".json", ".ndjson")):
                read_rows = [json.loads(line) for line in file if line.strip()]
            else:
                read_rows = list(csv.DictReader(file))
    except (ValueError, csv.Error) as error:
        raise FormatError(f"{path}: no labels ({printable(error, 100)})") from None
    if not read_rows or not all(isinstance(row, dict) for row in read_rows):
        raise FormatError(f"{path}: no labels, not a row with names of columns")
    return read_rows


def columns_of(rows: Rows, mapped: dict[str, str]) -> dict[str, str]:
    """What each known column is called in the file; `mapped` says it for some. FormatError without positions."""
    given = {name: None for row in rows for name in row if isinstance(name, str)}
    for role, name in mapped.items():
        if role not in NAMES or name not in given:
            there = (
                f"no column {name!r}"
                if role in NAMES
                else f"no such column is known (there are: {', '.join(NAMES)})"
            )
            raise FormatError(f"{role}={name}: {there}")
    found = dict(mapped)
    for name in given:
        plain = "".join(c for c in name.lower() if c.isalnum())
        role = next((role for role, names in NAMES.items() if plain in names.split()), "")
        if role and name not in mapped.values():
            found.setdefault(role, name)
    if "position" not in found:
        raise FormatError(
            f"no column of positions among {', '.join(map(repr, given))}; name it: --column position=NAME"
        )
    if not set(found) & {*CHANCES, *MONEY, *MATCH}:
        raise FormatError("no column of chances or equities is known; name them: --column win=NAME")
    return found


# -- what is true ---------------------------------------------------------------------------------------------


@cache
def _small() -> TwoSided:
    """The table of small positions."""
    return solver.two_sided(SMALL, SMALL, recipe="exact")


class Truth:
    """Exact numbers of positions by name, solved once each; None where that takes too much."""

    def __init__(self, limit: int) -> None:
        self.limit, self.met = limit, met.load()
        self.money, self.match = cache(self._money), cache(self._match)

    def _money(self, position: Position) -> dict[str, float] | None:
        us, them = position.us, position.them
        if not us.chequers or not them.chequers or us.bar or them.bar or position.contact:
            return None
        if max(us.highest, them.highest, us.chequers, them.chequers) <= SMALL:
            row = np.asarray(_small().lookup_many([us], [them]), np.float64)[0]
            return dict(zip(MONEY, [(1 + row[0]) / 2, *row], strict=True))
        try:
            solved = solve_money(position, limit=self.limit)
        except NotCoveredError:
            return None
        known = {name: solved.equity(name) for name in EQUITY_COLUMNS}
        return known if position.gammons else known | {"win": (1 + known["cubeless"]) / 2}

    def _match(self, state: GameState) -> dict[str, float] | None:
        score = Score(state.away or (1, 1), self.met, state.crawford, state.cube_value, state.owner)
        try:
            found = solve_match(state.position, score, limit=self.limit).cube.mwc
        except (NotCoveredError, PositionError):
            return None
        known = {"no_double": found.no_double, "mwc": found.best}
        return known if found.double_take is None else known | {"double_take": found.double_take}

    def of(self, state: GameState) -> dict[str, float] | None:
        """What is true of a state before the roll."""
        if state.money:
            return self.money(state.position)
        if state.position.contact or not state.position.us.chequers or not state.position.them.chequers:
            return None
        return self.match(state)


def _shifted(side: Side, by: int) -> Side | None:
    counts = side.counts
    if by > 0:
        return Side(0, *counts) if len(counts) < 24 else None
    return None if counts and counts[0] else Side(*counts[1:])


def _moved(state: GameState, by: int, which: Sequence[str] = ("us", "them")) -> GameState | None:
    sides = [
        _shifted(getattr(state.position, name), by) if name in which else getattr(state.position, name)
        for name in ("us", "them")
    ]
    return None if None in sides else _with(state, Position(*sides))  # type: ignore[arg-type]


def _with(state: GameState, position: Position) -> GameState:
    return replace(state, sides=(position.them, position.us) if state.turn else (position.us, position.them))


Change = Callable[[GameState], GameState | None]
SAME: Change = lambda state: state  # noqa: E731
TURNED: Change = lambda state: _with(state, state.position.swapped())  # noqa: E731
#: (cause, what position was meant, what was made of its number); `whole` is what both sides have together
CAUSES: tuple[tuple[str, Change, Callable[[float, float], float]], ...] = (
    ("sides exchanged: the other side is the one on roll", TURNED, lambda x, whole: x),
    ("the number is of the other side (sign, or chance to lose)", SAME, lambda x, whole: whole - x),
    ("the number is after the turn: that of the other side on roll, turned", TURNED, lambda x, whole: whole - x),
    ("in per cent", SAME, lambda x, whole: 100 * x),
    ("in thousandths", SAME, lambda x, whole: 1000 * x),
    ("points off by one: the bar counted as the first point", lambda s: _moved(s, 1), lambda x, whole: x),
    ("points off by one: the ace point left out", lambda s: _moved(s, -1), lambda x, whole: x),
    ("points of the other side off by one", lambda s: _moved(s, 1, ("them",)), lambda x, whole: x),
    ("points of the side on roll off by one", lambda s: _moved(s, 1, ("us",)), lambda x, whole: x),
)  # fmt: skip
#: of equities for money alone
UNITS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("a chance to win in place of an equity", lambda x: (1 + x) / 2),
    ("for a cube at 2", lambda x: 2 * x),
    ("for half of the cube", lambda x: x / 2),
    ("cut at one point", lambda x: min(max(x, -1.0), 1.0)),
    ("rounded to a tenth", lambda x: round(x, 1)),
)


def _hypotheses(
    column: str, state: GameState
) -> Iterable[tuple[str, GameState | None, str, Callable[[float], float]]]:
    whole = 1.0 if column in (*CHANCES, *MATCH) else 0.0
    for cause, change, turn in CAUSES:
        yield cause, change(state), column, lambda x, turn=turn: turn(x, whole)  # type: ignore[misc]
    if column in EQUITY_COLUMNS:
        for other in EQUITY_COLUMNS:
            words = "without a cube" if other == "cubeless" else f"with the cube {other}"
            if other != column:
                yield f"the cube: the equity {words} in its place", state, other, lambda x: x
        for cause, unit in UNITS:
            yield cause, state, column, unit
        yield "the cube: the best action counted, not rolling on", state, f"best {column}", lambda x: x
    elif column == "win":
        yield "an equity in place of a chance", state, "cubeless", lambda x: x
    elif column in MATCH:
        for other in MATCH:
            if other != column:
                yield f"the number of {other} in its place", state, other, lambda x: x
        yield "the score left out: an equity for money", state.as_money(), "centered", lambda x: x


# -- the check ------------------------------------------------------------------------------------------------


def check(
    path: str, *, mapped: dict[str, str] | None = None, tolerance: float = TOLERANCE, limit: int = LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> Report:  # fmt: skip
    """Check a file of labels; FormatError where it is none."""
    rows = read(path)
    columns = columns_of(rows, mapped or {})
    found: dict[tuple[str, str], Finding] = {}

    def note(row: int, name: str, cause: str, example: str) -> None:
        one = found.setdefault((name, cause), Finding(name, cause, example=example))
        if not one.rows or one.rows[-1] != row + 1:
            one.rows.append(row + 1)

    truth, states = Truth(limit), [_state(row, columns, k, note) for k, row in enumerate(rows)]
    numbers = {
        role: [
            None if s is None else _number(row, name, role, k, note)
            for k, (row, s) in enumerate(zip(rows, states, strict=True))
        ]
        for role, name in columns.items()
        if role not in ("position", "error")
    }
    compared, wrong = 0, defaultdict[str, list[int]](list)
    for k, state in enumerate(states):
        if state is None:
            continue
        values = {role: value for role, column in numbers.items() if (value := column[k]) is not None}
        _rules(k, state, values, tolerance, note)
        known = truth.of(state)
        compared += known is not None
        for role, value in values.items():
            if (
                known is not None
                and role in known
                and abs(value - known[role]) > _allowed(rows[k], columns, role, tolerance)
            ):
                wrong[role].append(k)
        if progress is not None:
            progress(k + 1, len(rows))
    for role, at in wrong.items():
        _explain(role, at, states, numbers[role], truth, tolerance, note)
    _duplicates(states, numbers, tolerance, truth, note)
    return Report(
        path, len(rows), compared, columns, sorted(found.values(), key=lambda one: (-len(one.rows), one.name))
    )


Note = Callable[[int, str, str, str], None]


def _state(row: dict[str, Any], columns: dict[str, str], k: int, note: Note) -> GameState | None:
    if row.get(columns.get("error", "")):
        return None  # it says itself that it has no label
    text = row.get(columns["position"])
    try:
        return parse(str(text)).before_roll()
    except BgfmtError as error:
        note(k, "no position", "", printable(error, 120))
        return None


def _number(row: dict[str, Any], name: str, role: str, k: int, note: Note) -> float | None:
    said = row.get(name)
    if said is None or said == "":
        return None
    try:
        number = float(said)
    except (TypeError, ValueError):
        note(k, f"{role} is no number", "", f"{name} is {printable(said, 40)!r}")
        return None
    if not np.isfinite(number):
        note(k, f"{role} is no number", "a division by zero or a missing value", f"{name} is {number}")
        return None
    return number


def _allowed(row: dict[str, Any], columns: dict[str, str], role: str, tolerance: float) -> float:
    """How far a value may be off: the tolerance, or five of the standard errors that the row states."""
    try:
        return max(tolerance, 5 * float(row.get(f"{columns[role]}_error") or 0))
    except (TypeError, ValueError):
        return tolerance


def _rules(k: int, state: GameState, values: dict[str, float], tolerance: float, note: Note) -> None:
    """What no position may break."""
    position, chances = state.position, {name: values[name] for name in CHANCES if name in values}
    for name, chance in chances.items():
        if not -SLACK <= chance <= 1 + SLACK:
            note(
                k,
                f"{name} is no chance",
                "in per cent"
                if 1 < chance <= 100
                else "an equity in place of a chance"
                if -1 <= chance < 0
                else "",
                f"{chance:g}",
            )
            return
    win, lose = chances.get("win"), 1 - chances.get("win", 0.0)
    if win is not None and "lose" in values and abs(win + values["lose"] - 1) > max(SLACK, tolerance):
        rest = win + values["lose"] + sum(chances.get(name, 0.0) for name in CHANCES[1:])
        cause = "gammons are counted apart from single games" if abs(rest - 1) <= tolerance else ""
        note(k, "win and lose are not 1 together", cause, f"{win:g} and {values['lose']:g}")
    pairs = (
        ("win_gammon", win), ("win_backgammon", chances.get("win_gammon")),
        ("lose_gammon", None if win is None else lose), ("lose_backgammon", chances.get("lose_gammon")),
    )  # fmt: skip
    for name, most in pairs:
        if name in chances and most is not None and chances[name] > most + SLACK:
            cause = (
                "gammons are not counted among the wins"
                if name == "win_gammon"
                else "gammons are not counted in it"
            )
            if name == "lose_gammon" and win is not None and chances[name] <= win + SLACK:
                cause = "sides exchanged"
            note(k, f"{name} is more than it is a part of", cause, f"{chances[name]:g} of {most:g}")
    for name, own, other in (
        ("win_gammon", position.them, position.us),
        ("lose_gammon", position.us, position.them),
    ):
        if chances.get(name, 0.0) > SLACK and own.chequers < MAX_CHEQUERS:
            cause = (
                "gammon columns exchanged between the sides"
                if other.chequers == MAX_CHEQUERS
                else "a side has borne off already: rolled out by a net"
            )
            note(k, f"{name} without fifteen chequers", cause, f"{chances[name]:g}, {own.chequers} chequers")
    if "cubeless" in values and win is not None and not set(CHANCES[1:4:2]) - set(chances) and state.money:
        sign = (2, 1, 1, -1, -1)
        made = sum(s * chances.get(name, 0.0) for s, name in zip(sign, CHANCES, strict=True)) - 1
        if abs(made - values["cubeless"]) > max(tolerance, 1e-3):
            note(k, "the equity is not that of its chances", "a cubeful equity, another unit, or of another row",
                 f"{values['cubeless']:g}, chances make {made:g}")  # fmt: skip
    owned, centered, opponent = (values.get(name) for name in EQUITY_COLUMNS[1:])
    if owned is not None and opponent is not None and owned < opponent - 2 * tolerance:
        note(
            k,
            "the cube is worth more to the other side",
            "cube columns exchanged",
            f"{owned:g} < {opponent:g}",
        )
    if centered is not None and centered > max(1.0, (values.get("cubeless") or 0)) + 3 + tolerance:
        note(k, "centered is no equity", "", f"{centered:g}")


def _explain(
    role: str,
    at: list[int],
    states: Sequence[GameState | None],
    values: Sequence[float | None],
    truth: Truth,
    tolerance: float,
    note: Note,
) -> None:
    """Name the causes of wrong numbers: the one that explains most rows first."""
    explained, scale = defaultdict[str, set[int]](set), dict[str, float]()
    for k in at:
        state, value = states[k], values[k]
        assert state is not None and value is not None  # noqa: PT018
        moved = [
            (f"labels moved by a row: that of the row {words}", states[k + by], role, float)
            for by, words in ((-1, "before"), (1, "behind"))
            if 0 <= k + by < len(states) and states[k + by] is not None
        ]
        for cause, meant, column, unit in (*_hypotheses(role, state), *moved):
            known = None if meant is None else truth.of(meant)
            best = column.startswith("best ")
            true = None if known is None else known.get(column.removeprefix("best "))
            if true is None or known is None:
                continue
            if best:
                true = max(true, min(1.0, 2 * known["opponent"])) if column != "best opponent" else true
            number = unit(true)
            scale.setdefault(cause, max(1.0, abs(unit(1.0) - unit(0.0))))
            if abs(number - value) <= tolerance * scale[cause]:
                explained[cause].add(k)
    left = set(at)
    while left and explained:
        cause = max(explained, key=lambda name: (len(explained[name] & left), -len(name)))
        rows = explained.pop(cause) & left
        if len(rows) < max(1, len(at) // 50):
            break
        for k in sorted(rows):
            note(k, f"{role} is wrong", cause, _beside(role, states[k], values[k], truth))
        left -= rows
    for k in sorted(left):
        note(k, f"{role} is wrong", "", _beside(role, states[k], values[k], truth))


def _beside(role: str, state: GameState | None, value: float | None, truth: Truth) -> str:
    assert state is not None
    return f"{state.position}: {value:g}, exact {(truth.of(state) or {}).get(role, np.nan):.6f}"


def _duplicates(
    states: Sequence[GameState | None],
    numbers: dict[str, list[float | None]],
    tolerance: float,
    truth: Truth,
    note: Note,
) -> None:
    """Rows of one position that differ."""
    first: dict[Any, int] = {}
    for k, state in enumerate(states):
        if state is None:
            continue
        key = state.position, state.away, state.crawford, state.cube_value, state.owner
        before = first.setdefault(key, k)
        for role, column in numbers.items():
            a, b = column[before], column[k]
            if a is not None and b is not None and abs(a - b) > tolerance:
                true = (truth.of(state) or {}).get(role)
                cause = (
                    ""
                    if true is None
                    else f"row {before + 1} is the nearer"
                    if abs(a - true) < abs(b - true)
                    else "the later row is the nearer"
                )
                cause = (
                    "labels of two runs or two settings in one file"
                    if not cause or cause.startswith("row")
                    else cause
                )
                note(
                    k,
                    f"{role} differs from an earlier row of the same position",
                    cause,
                    f"{a:g} in row {before + 1}, here {b:g}",
                )
