"""Sets of questions made: drawn from tables in bulk, solved one by one where tables do not reach, kept by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from bgfmt import met as mets
from bgfmt import solver
from bgfmt.analysis.approximate import turned
from bgfmt.analysis.bulk import results_of
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError
from bgfmt.extras.exam.sets import (
    ARRAYS,
    DOUBLE,
    EQUITY,
    KINDS,
    OWNERS,
    PLAY,
    TAKE,
    Array,
    Exam,
    joined,
    load,
)  # fmt: skip
from bgfmt.files import gnubg_folders
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import GameState
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver.match import match_score
from bgfmt.tables import MatchScore, Table, TwoSided, of_kind

#: own and the other's points to go: even and odd, leads and trails, after the Crawford game
SCORES = (
    (2, 1), (3, 1), (4, 1), (5, 1), (9, 1), (2, 2), (2, 3), (2, 4), (2, 7), (3, 2), (4, 2), (3, 3),
    (3, 5), (3, 6), (4, 4), (4, 9), (5, 3), (5, 5), (5, 9), (6, 4), (7, 7), (9, 4), (9, 9), (11, 11),
)  # fmt: skip
LICENCE = "CC0-1.0"
CLOSE = 0.02
LIMIT = 8_000_000  # pairs of boards times cube states solved for one question
Rng = np.random.Generator


@dataclass(frozen=True)
class Cube:
    """What many questions have in common."""

    owner: str = "none"
    value: int = 1
    away: tuple[int, int] = (0, 0)

    @property
    def doubling(self) -> bool:
        """Whether the side on roll may double, to some purpose."""
        return self.owner in ("centered", "owned") and (not self.away[0] or self.away[0] > self.value)


class Money:
    """Worths for money from a two-sided table, which ignores gammons."""

    def __init__(self, table: TwoSided) -> None:
        self.table, self.points, self.chequers = table, table.points, min(table.chequers, MAX_CHEQUERS - 1)
        self.error, self.met = 0.0 if table.exact else 2 * float(table.known_errors.max()), ""

    def equities(self, us: Array, them: Array) -> Array:
        """(M, 4) float64, or (M, 1) of a cubeless table."""
        return np.asarray(self.table.lookup_many(us, them), np.float64)

    def numbers(self, us: Array, them: Array, cube: Cube) -> Array:
        """(M, 4) of a double."""
        equities = self.equities(us, them)
        rolling, taken = equities[:, 2 if cube.owner == "centered" else 1], 2 * equities[:, 3]
        return np.stack([rolling, taken, np.ones(len(us)), np.full(len(us), np.nan)], axis=1)

    def after(self, results: Array, them: Array, cube: Cube) -> Array:
        """(M,) worth to the side that has played to these boards."""
        values: Array = turned(
            self.equities(them, results), "cubeless" if cube.owner == "none" else cube.owner
        )
        return values

    def standing(self, us: Array, them: Array, cube: Cube) -> Array:
        """(M, 2): the equity before the roll with the right cube action, and the chance to win without a cube."""
        equities = self.equities(us, them)
        best = equities[:, {"none": 0, "centered": 2, "owned": 1, "opponent": 3}[cube.owner]]
        if cube.doubling:
            best = np.maximum(best, np.minimum(2 * equities[:, 3], 1))
        return np.stack([best, (1 + equities[:, 0]) / 2], axis=1)

    def mistaken(self, us: Array, them: Array, cube: Cube, what: str) -> Array:
        """(M, 12), see `Exam.mistaken`."""
        out = np.full((len(us), 4, 3), np.nan)
        out[:, 0] = getattr(self, what)(them, us, cube)[:, : 1 if what == "standing" else 3]
        return out.reshape(-1, 12)


class AtScore:
    """Worths at a score from the table of it, seen by one of its players. No side has fifteen chequers."""

    def __init__(self, table: MatchScore, roller: int, money: Money | None = None) -> None:
        self.table, self.roller, self.money = table, roller, money
        self.points, self.chequers = table.points, min(table.chequers, MAX_CHEQUERS - 1)
        self.error, self.met = 0.0 if table.exact else 2e-7, table.score.met

    def _ends(self, roller: int, value: int) -> tuple[float, float]:
        lose, win = ((1 + self.table.score.worth(roller, k * value)) / 2 for k in (-1, 1))
        return lose, win

    def _rolling(self, us: Array, them: Array, roller: int, cube: CubeState, live: bool = True) -> Array:
        """(M,) chances to win the match of a player on roll who does not double."""
        facts = self.table.score
        if cube.value not in facts.results or (
            live and facts.live(cube) and facts.found_in(roller, cube) is None
        ):
            raise NotCoveredError(f"the table holds no cube at {cube.value} of that owner")
        found = facts.found_in(roller, cube) if live else None
        column, add, times = found or (0, 0.0, 1.0)
        value = add + times * np.asarray(self.table.balance[us, them, column], np.float64)
        if found is not None:
            return np.asarray((1 + value) / 2)
        lose, win = self._ends(roller, cube.value)
        return np.asarray(lose + (win - lose) * (1 + value) / 2)

    def _state(self, cube: Cube, roller: int) -> CubeState:
        owner = {"owned": roller, "opponent": 1 - roller}.get(cube.owner, NOBODY)
        return CubeState(cube.value, owner)

    def numbers(self, us: Array, them: Array, cube: Cube, roller: int | None = None) -> Array:
        """(M, 4) of a double."""
        roller = self.roller if roller is None else roller
        rolling = self._rolling(us, them, roller, self._state(cube, roller))
        taken = self._rolling(us, them, roller, CubeState(2 * cube.value, 1 - roller))
        passed = np.full(len(us), self._ends(roller, cube.value)[1])
        return np.stack([rolling, taken, passed, np.full(len(us), np.nan)], axis=1)

    def _turn(self, us: Array, them: Array, roller: int, state: CubeState, live: bool) -> Array:
        """(M,) as `_rolling`, with the right cube action."""
        best = self._rolling(us, them, roller, state, live)
        if live and self.table.score.may_double(roller, state):
            taken = self._rolling(us, them, roller, CubeState(2 * state.value, 1 - roller))
            best = np.maximum(best, np.minimum(taken, self._ends(roller, state.value)[1]))
        return best

    def after(self, results: Array, them: Array, cube: Cube) -> Array:
        """(M,) chance of the side that has played to these boards to win the match."""
        state = self._state(cube, self.roller)
        values = 1 - self._turn(them, results, 1 - self.roller, state, cube.owner != "none")
        values[results == 0] = self._ends(self.roller, cube.value)[1]
        return values

    def standing(self, us: Array, them: Array, cube: Cube, roller: int | None = None) -> Array:
        """(M, 2): the chance to win the match, and the game without a cube."""
        roller = self.roller if roller is None else roller
        best = self._turn(us, them, roller, self._state(cube, roller), cube.owner != "none")
        lose, win = self._ends(roller, cube.value)
        chance = self._rolling(us, them, roller, self._state(cube, roller), False)
        return np.stack([best, (chance - lose) / (win - lose)], axis=1)

    def mistaken(self, us: Array, them: Array, cube: Cube, what: str) -> Array:
        """(M, 12), see `Exam.mistaken`."""
        out, width = np.full((len(us), 4, 3), np.nan), 1 if what == "standing" else 3
        ask, other = getattr(self, what), 1 - self.roller
        for k, (a, b, roller) in enumerate([(them, us, self.roller), (us, them, other), (them, us, other)]):
            with suppress(NotCoveredError):  # a cube that cannot come up
                out[:, k, :width] = ask(a, b, cube, roller)[:, :width]
        if self.money is not None:
            out[:, 3, :width] = getattr(self.money, what)(us, them, replace(cube, away=(0, 0)))[:, :width]
        return out.reshape(-1, 12)


Judge = Money | AtScore


def part(
    judge: Judge, kind: int, cube: Cube, us: Array, them: Array, dice: Array | None = None, **texts: Any
) -> Exam:
    """A set of questions of one kind on positions by number, with their worths."""
    count, numbers = len(us), board.unrank_array
    dice = np.zeros((count, 2), np.int64) if dice is None else dice
    lengths, mistaken = np.full(count, {PLAY: 0, EQUITY: 2}.get(kind, 4)), np.full((count, 12), np.nan)
    if kind == PLAY:
        lengths, results = results_of(numbers(us, judge.points), dice)
        worths = judge.after(results, np.repeat(them, lengths), cube)
    else:
        what = "standing" if kind == EQUITY else "numbers"
        worths = getattr(judge, what)(us, them, cube).reshape(-1)
        mistaken = judge.mistaken(us, them, cube, what)
        results = np.zeros(len(worths), np.int64)
    ends = judge._ends(judge.roller, cube.value) if isinstance(judge, AtScore) else (0.0, 0.0)
    constant: dict[str, Any] = {
        "kind": kind, "cube": cube.value, "owner": OWNERS.index(cube.owner), "away": cube.away, "crawford": 0,
        "beavers": 0, "stratum": 0, "weight": 1.0, "error": judge.error, "ends": ends,
    }  # fmt: skip
    filled: dict[str, Any] = {
        name: np.tile(np.array(value, ARRAYS[name][0]), (count, 1) if np.ndim(value) else count)
        for name, value in constant.items()
    }
    filled["us"], filled["them"] = (numbers(side, judge.points) for side in (us, them))
    texts = {
        "name": "",
        "purpose": "",
        "licence": LICENCE,
        "origin": "",
        "strata": ("",),
        "met": judge.met,
    } | texts
    return Exam(
        points=judge.points, **texts, **filled, dice=dice.astype(np.uint8), mistaken=mistaken.astype(np.float32),
        starts=np.concatenate([[0], np.cumsum(lengths)]), results=results, worths=worths,
    )  # fmt: skip


def draw(judge: Judge, count: int, rng: Rng) -> tuple[Array, Array]:
    """Position numbers of both sides: as many of each number of chequers, on any points of the table."""
    sizes = board.unrank_array(np.arange(board.count(judge.points, judge.chequers)), judge.points).sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    ends = np.searchsorted(sizes[order], np.arange(judge.chequers + 2))
    wanted = rng.integers(1, judge.chequers + 1, (2, count))
    places = ends[wanted] + (rng.random((2, count)) * (ends[wanted + 1] - ends[wanted])).astype(np.int64)
    return order[places[0]], order[places[1]]


def from_table(
    table: Table, count: int, seed: int, *, kinds: Sequence[str] = KINDS, cubeless: bool = False,
    money: Money | None = None, outside: bool = False, **texts: Any,
) -> Exam:  # fmt: skip
    """About `count` questions drawn from a two-sided table or that of a score; plays are half of them.

    cubeless : games without a cube. outside : a chequer of either side is outside the home board.
    """
    judges: list[tuple[Judge, tuple[int, int]]]
    if fitting := of_kind([table], MatchScore):
        away = fitting[0].score.away
        judges = [(AtScore(fitting[0], 0, money), away)]
        judges += [(AtScore(fitting[0], 1, money), away[::-1])] * (away[0] != away[1])
    elif two := of_kind([table], TwoSided):
        judges = [(Money(two[0]), (0, 0))]
        cubeless = cubeless or not two[0].cubeful
    else:
        raise NotCoveredError(f"questions are drawn from tables of both sides, not from a {table.kind} table")
    cubes = [Cube()] if cubeless else [Cube("centered"), Cube("owned", 2), Cube("opponent", 2), Cube()]
    groups = [
        (judge, kind, replace(cube, away=away))
        for judge, away in judges
        for cube in cubes
        for kind, word in enumerate(KINDS)
        if word in kinds and (kind not in (DOUBLE, TAKE) or replace(cube, away=away).doubling)
        and not (away[0] and cube.owner == "owned" and away[0] <= cube.value)
    ]  # fmt: skip
    groups = [one for one in groups if _answered(one[0], one[2])]
    rng, shares = np.random.default_rng(seed), [4 if kind == PLAY else 2 for _, kind, _ in groups]
    if not groups:
        raise NotCoveredError(f"the table answers no questions of the kinds {', '.join(kinds)}")
    parts = []
    for (judge, kind, cube), share in zip(groups, shares, strict=True):
        wanted = max(1, round(count * share / sum(shares)))
        us, them = draw(judge, wanted * (8 if kind == PLAY or outside else 1) + 50, rng)
        if outside:
            far = board.unrank_array(np.stack([us, them], axis=1).reshape(-1), judge.points)[:, 6:].any(
                axis=1
            )
            us, them = us[far.reshape(-1, 2).any(axis=1)], them[far.reshape(-1, 2).any(axis=1)]
        dice = np.sort(rng.integers(1, 7, (len(us), 2)))[:, ::-1] if kind == PLAY else None
        made = part(judge, kind, cube, us, them, dice, **texts)
        chosen = np.flatnonzero(np.diff(made.starts) > 1)[:wanted]
        parts.append(made.part(chosen))
    return _by_chequers(joined(parts, **_texts(parts[0], texts)))


def _answered(judge: Judge, cube: Cube) -> bool:
    """Whether a judge knows the cube, and what it is after a double."""
    try:
        one = np.ones(1, np.int64)
        (judge.numbers if cube.doubling else judge.standing)(one, one, cube)
    except NotCoveredError:
        return False
    return True


def _texts(one: Exam, texts: dict[str, Any]) -> dict[str, Any]:
    return {name: texts.get(name, getattr(one, name)) for name in Exam.TEXTS}


def _by_chequers(exam: Exam) -> Exam:
    """The same with strata by the number of chequers of the side that has more."""
    most = np.maximum(exam.us.sum(axis=1, dtype=int), exam.them.sum(axis=1, dtype=int))
    names = (
        "1 to 3 chequers",
        "4 to 6 chequers",
        "7 to 10 chequers",
        "11 to 14 chequers",
        "fifteen chequers",
    )
    return replace(exam, strata=names, stratum=np.searchsorted([3, 6, 10, 14], most).astype(np.uint8))


# -- one by one -----------------------------------------------------------------------------------------------

Asked = tuple[int, GameState, str, float]


def solved(asked: Iterable[Asked], limit: int = LIMIT, **texts: Any) -> Exam:
    """A set of questions (kind, state, stratum, weight), each solved exactly; those beyond the limit are left out."""
    rows: list[dict[str, Any]] = []
    last: tuple[Any, Any] = (None, None)
    met = mets.load()
    strata: dict[str, int] = {}
    for kind, state, stratum, weight in asked:
        owner = state.owner if state.cube_in_use else "none"
        money = state.money
        score = None if money else Score(
            state.away or (1, 1), met, state.crawford, state.cube_value, state.owner, 0, state.cube_in_use
        )  # fmt: skip
        key = (
            state.position,
            score and (score.away, score.crawford, score.cube, score.owner, score.cube_in_use),
        )
        if last[0] != key:
            try:
                how = (
                    solve_money(state.position, limit=limit)
                    if score is None
                    else solve_match(state.position, score, limit=limit)
                )
            except (NotCoveredError, PositionError):
                continue
            last = key, how
        try:
            worths, results = _worths(kind, state, owner, last[1])
        except PositionError:
            continue
        if kind == PLAY and len(worths) < 2:
            continue
        ends = (0.0, 0.0) if score is None else score.ends
        row = {
            "kind": kind, "dice": state.dice or (0, 0), "cube": state.cube_value, "owner": OWNERS.index(owner),
            "away": state.away or (0, 0), "crawford": state.crawford, "beavers": bool(state.beavers),
            "weight": weight,
            "stratum": strata.setdefault(stratum, len(strata)), "error": 0.0, "ends": ends, "mistaken": [np.nan] * 12,
        }  # fmt: skip
        rows.append(row | {"sides": state.position, "worths": worths, "results": results})
    if not rows:
        raise NotCoveredError("no question is left: nothing was asked, or all is beyond the limit")
    points = max(6, *(max(row["sides"].us.highest, row["sides"].them.highest) for row in rows))
    arrays: dict[str, Any] = {
        name: np.array([row[name] for row in rows], kind)
        for name, (kind, _) in ARRAYS.items()
        if name in rows[0]
    }
    for name in ("us", "them"):
        arrays[name] = np.array([getattr(row["sides"], name).padded(points) for row in rows], np.int8)
    lengths = [len(row["worths"]) for row in rows]
    flat = [board.rank(side.padded(points)) for row in rows for side in row["results"]]
    texts = {"name": "", "purpose": "", "licence": LICENCE, "origin": "", "met": met.name} | texts
    return Exam(
        points=points, strata=tuple(strata), **texts, **arrays, starts=np.concatenate([[0], np.cumsum(lengths)]),
        results=np.array(flat, np.int64), worths=np.concatenate([row["worths"] for row in rows]),
    )  # fmt: skip


def _worths(kind: int, state: GameState, owner: str, how: Any) -> tuple[Array, list[Side]]:
    """What one question's answers are worth, and of a play the sides it leads to."""
    nothing = Side()
    if state.money:
        column = "cubeless" if owner == "none" else owner
        if kind == PLAY:
            assert state.dice is not None
            values = how.values(*state.dice, how.column(column))
            return np.array(list(values.values())), list(values)
        rolling, taken = how.equity(column), 2 * how.equity("opponent")
        beaver = 2 * taken if state.beavers else np.nan
        if kind == EQUITY:
            doubled = np.nanmin([taken, 1, beaver]) if owner in ("centered", "owned") else -np.inf
            win = np.nan if state.position.gammons else (1 + how.equity("cubeless")) / 2
            return np.array([max(rolling, doubled), win]), [nothing] * 2
        return np.array([rolling, taken, 1.0, beaver]), [nothing] * 4
    mwc = how.cube.mwc
    if kind == PLAY:
        values = how.plays(*(state.dice or (1, 1)))
        return np.array(list(values.values())), list(values)
    if kind == EQUITY:
        win = how.cube.cubeless_win
        return np.array([mwc.best, np.nan if win is None else win]), [nothing] * 2
    if mwc.double_take is None:
        raise PositionError("no double is possible")
    return np.array([mwc.no_double, mwc.double_take, mwc.double_pass, np.nan]), [nothing] * 4


def _side(rng: Rng, chequers: int, points: int, least: int = 1) -> Side:
    return Side(*np.bincount(rng.integers(least - 1, points, chequers), minlength=points).tolist())


def _states(rng: Rng, kind: int, position: Position, **fields: Any) -> GameState:
    dice = (int(rng.integers(1, 7)), int(rng.integers(1, 7))) if kind == PLAY else None
    more: dict[str, Any] = {"jacoby": False} if fields.get("away") is None else {}
    return GameState.of(position, dice, doubled=kind == TAKE, **more, **fields)


def traps(rng: Rng, count: int) -> Iterable[Asked]:
    """Fifteen chequers, gaps, last rolls, beavers, too good to double, dead cubes: about `count` questions."""
    each = max(1, count // 6)
    for k in range(each):
        fifteen = _side(rng, 15, 3)
        other = _side(rng, int(rng.choice([1, 2, 3, 8, 15])), 3)
        position = Position(*((fifteen, other) if k % 2 else (other, fifteen)))
        away = None if k % 5 else (int(rng.integers(2, 6)), int(rng.integers(2, 6)))
        for kind in (PLAY, (DOUBLE, TAKE, EQUITY)[k % 3]):
            yield kind, _states(rng, kind, position, away=away), "fifteen chequers", 1.0
    for _ in range(each):
        gap = Side(*(int(n) for n in rng.integers(1, 3, 2)), 0, 0, *(int(n) for n in rng.integers(1, 3, 2)))
        yield PLAY, _states(rng, PLAY, Position(gap, _side(rng, 4, 4))), "gaps", 1.0
    for k in range(each):
        position = Position(_side(rng, 2, 6, 2), _side(rng, int(rng.integers(1, 3)), 2))
        yield (DOUBLE, TAKE)[k % 2], _states(rng, (DOUBLE, TAKE)[k % 2], position), "last roll", 1.0
    for k in range(each):
        position = Position(_side(rng, 3, 6, 3), _side(rng, 3, 6))
        yield (
            (TAKE, DOUBLE)[k % 2],
            _states(rng, (TAKE, DOUBLE)[k % 2], position, beavers=True),
            "beavers",
            1.0,
        )
    for k in range(each):
        position = Position(_side(rng, int(rng.integers(2, 5)), 3), Side(*_side(rng, 14, 6, 4).padded(7), 1))
        yield (DOUBLE, TAKE)[k % 2], _states(rng, (DOUBLE, TAKE)[k % 2], position), "too good", 1.0
    for k in range(each):
        position = Position(_side(rng, 4, 6), _side(rng, 4, 6))
        kind = (DOUBLE, TAKE, PLAY)[k % 3]
        away = (3, 2) if k % 2 else (4, 2)
        yield kind, _states(rng, kind, position, away=away, cube_value=2, cube="owned"), "dead cube", 1.0


def of_matches(names: Iterable[str]) -> Iterable[Asked]:
    """Every race decision of recorded matches, weighted by how often it came up."""
    from bgfmt.extras import matches
    from bgfmt.extras.matches.decisions import decisions

    kinds = {"play": PLAY, "double": DOUBLE, "no double": DOUBLE, "take": TAKE, "pass": TAKE, "beaver": TAKE}
    found: dict[tuple[int, GameState], int] = {}
    for name in names:
        try:
            held = matches.read(name)
        except BgfmtError:
            continue
        for match in held:
            for one in decisions(match):
                state, position = one.state, one.state.position
                if position.contact or position.us.bar or position.them.bar or one.kind not in kinds:
                    continue
                plain = GameState.of(
                    position, state.dice, cube=state.owner, cube_value=state.cube_value, away=state.away,
                    crawford=state.crawford, cube_in_use=state.cube_in_use, doubled=state.doubled,
                    jacoby=False if state.money else None,
                )  # fmt: skip
                found[kinds[one.kind], plain] = found.get((kinds[one.kind], plain), 0) + 1
    for (kind, state), times in found.items():
        yield kind, state, "real matches", float(times)


# -- by name ------------------------------------------------------------------------------------------------------


def _money(count: int, seed: int) -> Exam:
    return from_table(solver.two_sided(6, 6, recipe="exact"), count, seed)


def _scores(count: int, seed: int) -> Exam:
    money, parts = Money(solver.two_sided(6, 6, recipe="exact")), []
    for k, away in enumerate(SCORES):
        table = match_score(6, 6, away, mets.load(), dtype=np.float64)
        parts.append(from_table(table, count // len(SCORES), seed + k, money=money))
    return joined(parts, **_texts(parts[0], {}))


def _standard(count: int, seed: int) -> Exam:
    few = solved(traps(np.random.default_rng(seed), min(1200, count // 4)))
    parts = [_money(count * 9 // 20, seed), _scores(count * 10 // 20, seed), few]
    return joined(parts, **_texts(few, {}))


def _close(count: int, seed: int) -> Exam:
    table, parts = solver.two_sided(6, 6, recipe="exact"), []
    for kind in (PLAY, DOUBLE, TAKE):
        drawn = from_table(table, count * (4 if kind == PLAY else 30), seed, kinds=KINDS[kind : kind + 1])
        if kind == PLAY:
            order = np.lexsort((drawn.worths, np.repeat(np.arange(len(drawn)), np.diff(drawn.starts))))
            ends = drawn.starts[1:]
            gap = drawn.worths[order][ends - 1] - drawn.worths[order][ends - 2]
        else:
            rolling, taken, passed, _ = drawn.triples().T
            gap = np.abs(taken - passed) if kind == TAKE else np.abs(np.minimum(taken, passed) - rolling)
        near = np.flatnonzero((gap > 1e-9) & (gap < CLOSE))
        parts.append(drawn.part(np.sort(near[np.argsort(gap[near], kind="stable")[: count // 3]])))
    return joined(parts, **_texts(parts[0], {}))


def _differences(count: int, seed: int) -> Exam:
    """Positions of one to six chequers, won in 12 to 93 % without a cube, at `SCORES` with cubes of 1, 2 and 4."""
    table, rng = solver.two_sided(6, 6, recipe="exact"), np.random.default_rng(seed)
    sides = [
        np.array([board.rank(_side(rng, int(n), 6).padded(6)) for n in rng.integers(1, 7, 8 * count)])
        for _ in "ab"
    ]
    chance = (1 + table.lookup_many(*sides)[:, 0]) / 2
    us, them = (side[(chance >= 0.12) & (chance <= 0.93)][: max(1, count // 106)] for side in sides)
    parts = []
    for away in SCORES:
        judge = AtScore(match_score(6, 6, away, mets.load(), dtype=np.float64), 0, Money(table))
        for value in (1, 2, 4):
            if away[0] > value:
                cube = Cube("centered" if value == 1 else "owned", value, away)
                if _answered(judge, cube):
                    parts += [part(judge, kind, cube, us, them) for kind in (DOUBLE, TAKE)]
                else:  # a cube that does not come up in play
                    parts.append(solved(_doubles(us, them, cube)))
    return _by_chequers(joined(parts, **_texts(parts[0], {})))


def _doubles(us: Array, them: Array, cube: Cube) -> Iterable[Asked]:
    for mine, other in zip(us.tolist(), them.tolist(), strict=True):
        position = Position(Side.from_number(mine, 6), Side.from_number(other, 6))
        for kind in (DOUBLE, TAKE):
            state = GameState.of(
                position, cube=cube.owner, cube_value=cube.value, away=cube.away, doubled=kind == TAKE
            )
            yield kind, state, "", 1.0


def _outside(count: int, seed: int) -> Exam:
    return from_table(solver.two_sided(9, 5, recipe="exact"), count, seed, outside=True)


def _eleven(count: int, seed: int) -> Exam:
    table = solver.two_sided(6, 11, cubeful=False, recipe="exact")
    return from_table(table, count, seed, kinds=("play",))


def _traps(count: int, seed: int) -> Exam:
    return solved(traps(np.random.default_rng(seed), count))


@dataclass(frozen=True)
class Recipe:
    """How a named set is made. version : changes when other questions come of it."""

    purpose: str
    make: Callable[[int, int], Exam]
    count: int = 20_000


RECIPES = {
    "standard": Recipe("all of a bear-off: money, scores, every kind of question, and the traps", _standard),
    "money": Recipe("up to six chequers a side for money, as many positions of each number of chequers", _money),
    "scores": Recipe("up to six chequers a side at 24 scores", _scores),
    "close": Recipe("decisions for money between choices that differ by less than 0.02", _close, 5_000),
    "traps": Recipe("fifteen chequers, gaps, last rolls, beavers, too good to double, dead cubes", _traps, 1_200),
    "outside": Recipe("races of up to five chequers a side with a chequer outside the home board", _outside),
    "cubes-at-scores": Recipe("15,900 doubles and their takes: 300 positions at 24 scores", _differences, 31_800),
    "6x11": Recipe("plays without a cube of up to eleven chequers a side", _eleven),
}  # fmt: skip
SEED = 1


def make(name: str, count: int | None = None, seed: int = SEED) -> Exam:
    """A named set made anew; the same from the same count and seed."""
    recipe = RECIPES[name]
    exam = recipe.make(count or recipe.count, seed)
    origin = f"bgfmt exam --make {name} --count {count or recipe.count} --seed {seed}"
    return replace(exam, name=name, purpose=recipe.purpose, licence=LICENCE, origin=origin)


def named(name: str, say: Callable[[str], None] = lambda text: None) -> Exam:
    """A set by its name, made the first time and kept in the user's folder for programs' data, or a file of one."""
    shipped = files("bgfmt") / "data" / "exams" / f"{name}.npz"
    if os.path.isfile(name):
        return load(name)
    if re.fullmatch(r"[a-z-]+", name) and shipped.is_file():
        with as_file(shipped) as kept:
            return load(str(kept), name)
    if name not in RECIPES:
        there = ", ".join([*RECIPES, "matches"])
        raise PositionError(f"{name}: neither a set of questions by name ({there}) nor a file")
    path = gnubg_folders.user_data() / "bgfmt" / "exams" / f"{name}-{SEED}.npz"
    try:
        return load(str(path), name)
    except (OSError, BgfmtError):
        say(f"making the set {name} in {path.parent}, once")
    exam = make(name)
    with suppress(OSError, BgfmtError):  # it serves this once
        path.parent.mkdir(parents=True, exist_ok=True)
        exam.save(str(path), force=True)
    return exam
