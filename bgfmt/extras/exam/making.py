"""Build sets of questions: draw them from databases in bulk, solve single questions exactly, and cache named sets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import chain, product
from typing import Any, TypeAlias, cast

import numpy as np

from bgfmt import met as mets
from bgfmt import solver
from bgfmt.analysis.ondemand import solve_match, solve_money
from bgfmt.errors import BgfmtError, NotCoveredError, PositionError
from bgfmt.extras import matches
from bgfmt.extras.arrays.plays import results_of
from bgfmt.extras.exam import sets
from bgfmt.extras.exam.judging import cube_values
from bgfmt.extras.exam.sets import DOUBLE, EQUITY, KINDS, OWNERS, PLAY, TAKE, Array, Exam
from bgfmt.extras.matches.decisions import decisions
from bgfmt.files import gnubg_folders
from bgfmt.game import board
from bgfmt.game.board import MAX_CHEQUERS, Position, Side
from bgfmt.game.state import GameState
from bgfmt.met.score import NOBODY, CubeState, Score
from bgfmt.solver.match import match_score
from bgfmt.tables import MatchScore, Table, TwoSided
from bgfmt.tables.match_score import ScoreFacts

#: points to go of the side on roll and of the other: even and odd, leads and trails, after the Crawford game
SCORES = (
    (2, 1), (3, 1), (4, 1), (5, 1), (9, 1), (2, 2), (2, 3), (2, 4), (2, 7), (3, 2), (4, 2), (3, 3),
    (3, 5), (3, 6), (4, 4), (4, 9), (5, 3), (5, 5), (5, 9), (6, 4), (7, 7), (9, 4), (9, 9), (11, 11),
)  # fmt: skip
CLOSE_EQUITY = 0.02  # greatest difference of the two best answers in the set `close`
LIMIT = 8_000_000  # pairs of boards times cube states solved for one question
SMALL = 6  # points and chequers of the table that most questions are from
Rng: TypeAlias = "np.random.Generator"  # a string, so that listing commands does not import numpy.random


@cache
def small_table() -> TwoSided:
    """Return the exact two-sided table for money of 6 points and 6 chequers a side, from which most questions are."""
    return solver.two_sided(SMALL, SMALL, recipe="exact")


def small_match_table(away: tuple[int, int]) -> MatchScore:
    """Return the two-sided table of 6 points and 6 chequers a side at a match score, in float64.

    away : points to go of both players.
    """
    return match_score(SMALL, SMALL, away, mets.load(), dtype=np.float64)


@dataclass(frozen=True)
class Cube:
    """The cube as seen by the side on roll; owner "none" in a game without a cube."""

    owner: str = "none"
    value: int = 1

    def flip(self) -> Cube:
        """Return the cube as seen by the other side."""
        return replace(self, owner={"owned": "opponent", "opponent": "owned"}.get(self.owner, self.owner))


class Judge:
    """Values of answers for one of the two players, from a table that ignores gammons: for money or at its score.

    Methods take position numbers of both sides (`us` is on roll) as (M,) arrays and the cube as `us` sees it. They
    return points of a cube at 1, at a score the probability to win the match (MWC).

    roller : 0 or 1, for which player of the table's score; 0 for money.
    away : points to go of the player and of the opponent, (0, 0) for money.
    error : bound on the error of the values.
    """

    def __init__(self, table: TwoSided | MatchScore, roller: int = 0) -> None:
        self.table = cast(Any, table)
        self.roller = roller
        self.points = table.points
        self.chequers = min(table.chequers, MAX_CHEQUERS - 1)
        self.score: ScoreFacts | None = getattr(table, "score", None)
        if self.score is not None:
            self.met = self.score.met
            self.away = self.score.away[:: -1 if roller else 1]
            error = 2e-7
        else:
            self.met, self.away, error = "", (0, 0), 2 * float(self.table.known_errors.max())
        self.error = 0.0 if table.exact else error

    def ends(self, value: int) -> tuple[float, float]:
        """Return (lose, win), the values of losing and of winning a single game with the cube at `value`.

        They are -1 and 1 for money, match winning probabilities at a score.
        """
        if self.score is None:
            return -1.0, 1.0
        lose, win = ((1 + self.score.worth(self.roller, k * value)) / 2 for k in (-1, 1))
        return lose, win

    def may_double(self, cube: Cube) -> bool:
        """Return True if the player on roll may double; at a score not if the cube is dead."""
        if self.score is None or cube.owner == "none":
            return cube.owner in ("centered", "owned")
        return self.score.may_double(self.roller, self._state(cube))

    def _state(self, cube: Cube) -> CubeState:
        """Return the cube as `CubeState` of the table's score."""
        owners = {"owned": self.roller, "opponent": 1 - self.roller}
        return CubeState(cube.value, owners.get(cube.owner, NOBODY))

    def no_double_values(self, us: Array, them: Array, cube: Cube) -> Array:
        """Return the values to the player on roll if he does not double, (M,).

        us, them : position numbers. cube : one that can occur at the table's score, see `can_answer`.
        """
        if self.score is None:
            column = ("none", "owned", "centered", "opponent").index(cube.owner)
            return np.asarray(self.table.lookup_many(us, them), np.float64)[:, column]
        if cube.owner == "none":
            lose, win = self.ends(cube.value)
            cubeless = np.asarray(self.table.balance[us, them, 0], np.float64)
            return np.asarray(lose + (win - lose) * (1 + cubeless) / 2)
        found = self.score.locate(self.roller, self._state(cube))
        assert found is not None
        column, add, times = found
        value = add + times * np.asarray(self.table.balance[us, them, column], np.float64)
        return np.asarray((1 + value) / 2)

    def double_take_values(self, us: Array, them: Array, cube: Cube) -> Array:
        """Return the values to the player on roll if he doubles and the opponent takes, (M,).

        us, them : position numbers. cube : the cube before the double.
        """
        taken = self.no_double_values(us, them, Cube("opponent", 2 * cube.value))
        return taken if self.away[0] else 2 * taken

    def best_values(self, us: Array, them: Array, cube: Cube) -> Array:
        """Return the values to the player on roll with the best cube action of both players, (M,).

        us, them : position numbers.
        """
        best = self.no_double_values(us, them, cube)
        if not self.may_double(cube):
            return best
        return np.maximum(best, np.minimum(self.double_take_values(us, them, cube), self.ends(cube.value)[1]))

    def answer_values(self, kind: int, us: Array, them: Array, cube: Cube) -> Array:
        """Return the values of the answers to cube decisions, (M, 4), or to questions for equities, (M, 2).

        They are in the order that `Exam.worths` has; no beavers. kind : `DOUBLE`, `TAKE` or `EQUITY`. us, them :
        position numbers.
        """
        lose, win = self.ends(cube.value)
        if kind == EQUITY:
            cubeless = self.no_double_values(us, them, replace(cube, owner="none"))
            return np.stack([self.best_values(us, them, cube), (cubeless - lose) / (win - lose)], axis=1)
        rolling = self.no_double_values(us, them, cube)
        taken = self.double_take_values(us, them, cube)
        return np.stack([rolling, taken, np.full(len(us), win), np.full(len(us), np.nan)], axis=1)

    def values_after_play(self, results: Array, them: Array, cube: Cube) -> Array:
        """Return the values to the player who has just played, (M,).

        results : (M,) position numbers of his boards after the play; 0 has borne off all chequers. them : position
        numbers of the opponent, now on roll. cube : as the player sees it.
        """
        theirs = Judge(self.table, 1 - self.roller).best_values(them, results, cube.flip())
        values = 1 - theirs if self.away[0] else -theirs
        values[results == 0] = self.ends(cube.value)[1]
        return values

    def can_answer(self, kind: int, cube: Cube) -> bool:
        """Return True if questions of a kind with this cube come up and the table has their values."""
        if kind in (DOUBLE, TAKE) and not self.may_double(cube):
            return False
        if self.score is None:
            return True
        if self.score.gammons and (kind == EQUITY or cube.owner == "none"):  # there is no cubeless column
            return False
        if cube.owner == "owned" and self.away[0] <= cube.value:  # dead
            return False
        return cube.owner == "none" or self.score.locate(self.roller, self._state(cube)) is not None


def build_part(
    judge: Judge, kind: int, cube: Cube, us: Array, them: Array, dice: Array | None = None
) -> Exam:
    """Build a set of questions of one kind and one cube.

    Parameters
    ----------
    judge : computes the values.
    kind : one of `PLAY`, `DOUBLE`, `TAKE`, `EQUITY`.
    cube : as the side on roll sees it.
    us, them : (M,) position numbers of both sides, `us` on roll.
    dice : (M, 2), for plays only.
    """
    count = len(us)
    sides = [board.unrank_array(side, judge.points) for side in (us, them)]
    lengths = np.full(count, sets.WORTHS[kind])
    if kind == PLAY:
        lengths, results = results_of(sides[0], np.asarray(dice))
        worths = judge.values_after_play(results, np.repeat(them, lengths), cube)
    else:
        worths = judge.answer_values(kind, us, them, cube).reshape(-1)
        results = np.zeros(len(worths), np.int64)
    ends = judge.ends(cube.value) if judge.away[0] else (0.0, 0.0)
    rows = sets.rows_of(
        count, judge.points, kind=kind, us=sides[0], them=sides[1], dice=0 if dice is None else dice, cube=cube.value,
        owner=OWNERS.index(cube.owner), away=judge.away, error=judge.error, ends=ends,
    )  # fmt: skip
    return Exam(rows, sets.starts_of(lengths), results, worths, met=judge.met)


def draw_positions(judge: Judge, count: int, rng: Rng) -> tuple[Array, Array]:
    """Draw position numbers for both sides, (count,) each, at random.

    The number of chequers is uniform, and so are the positions of that number. judge : its table determines the size.
    rng : NumPy's random generator.
    """
    ends = np.array([board.count(judge.points, chequers) for chequers in range(judge.chequers + 1)])
    chequers = rng.integers(1, judge.chequers + 1, (2, count))
    first = ends[chequers - 1]
    us, them = first + (rng.random((2, count)) * (ends[chequers] - first)).astype(np.int64)
    return us, them


def from_table(
    table: Table, count: int, seed: int, *, kinds: Sequence[str] = KINDS, cubeless: bool = False,
    outside: bool = False,
) -> Exam:  # fmt: skip
    """Draw about `count` questions from a two-sided table, for money or at a match score.

    There are twice as many plays as questions of any other kind.

    Parameters
    ----------
    seed : of the random generator; the same arguments give the same questions.
    kinds : names of `KINDS` to include.
    cubeless : only questions of games without a cube.
    outside : only positions with a chequer outside the home board.

    Raises
    ------
    NotCoveredError : if the table is of another kind or answers no questions of these kinds.
    """
    if isinstance(table, MatchScore):
        judges = [Judge(table, roller) for roller in (0, 1)]
        judges = judges[: len({judge.away for judge in judges})]
    elif isinstance(table, TwoSided):
        judges = [Judge(table)]
        cubeless = cubeless or not table.cubeful
    else:
        raise NotCoveredError(
            f"questions can only be drawn from two-sided tables, not from a {table.kind} table"
        )
    cubes = [Cube()] if cubeless else [Cube("centered"), Cube("owned", 2), Cube("opponent", 2), Cube()]
    groups = [
        (judge, kind, cube)
        for judge, cube, kind in product(judges, cubes, range(len(KINDS)))
        if KINDS[kind] in kinds and judge.can_answer(kind, cube)
    ]
    if not groups:
        raise NotCoveredError(f"the table cannot answer questions of the kinds {', '.join(kinds)}")
    rng = np.random.default_rng(seed)
    whole = sum(2 if kind == PLAY else 1 for _, kind, _ in groups)
    parts = []
    for judge, kind, cube in groups:
        wanted = max(1, round(count * (2 if kind == PLAY else 1) / whole))
        us, them = draw_positions(judge, wanted * (8 if kind == PLAY or outside else 1) + 50, rng)
        if outside:
            far = [board.unrank_array(side, judge.points)[:, 6:].any(axis=1) for side in (us, them)]
            us = us[far[0] | far[1]]
            them = them[far[0] | far[1]]
        dice = np.sort(rng.integers(1, 7, (len(us), 2)))[:, ::-1] if kind == PLAY else None
        made = build_part(judge, kind, cube, us, them, dice)
        parts.append(made.part(np.flatnonzero(np.diff(made.starts) > 1)[:wanted]))
    exam = sets.join_sets(parts)
    most = np.maximum(exam.us.sum(axis=1, dtype=int), exam.them.sum(axis=1, dtype=int))
    exam.rows["stratum"] = np.searchsorted([3, 6, 10, 14], most)
    sizes = ("1 to 3", "4 to 6", "7 to 10", "11 to 14", "fifteen")
    return replace(exam, strata=tuple(f"{size} chequers" for size in sizes))


# -- one by one -----------------------------------------------------------------------------------------------

QuestionSpec = tuple[int, GameState, str, float]


def solve_questions(asked: Iterable[QuestionSpec]) -> Exam:
    """Solve single questions and return them as a set; those that need more than `LIMIT` are skipped.

    Parameters
    ----------
    asked : (kind, state, stratum, weight) of each question: index into `KINDS`, the state, the name of a group for
        reports, and how often the question comes up in practice.

    Raises
    ------
    NotCoveredError : if no question is left.
    """
    met = mets.load()
    parts = list[Exam]()

    @lru_cache(1)  # doubles and takes of one position follow one another
    def solve(position: Position, score: Score | None) -> Any:
        """Return the exact solution of a position (at a score if given), None if it is beyond the limit."""
        with suppress(NotCoveredError, PositionError):
            if score is None:
                return solve_money(position, limit=LIMIT)
            return solve_match(position, score, limit=LIMIT)
        return None

    for kind, state, stratum, weight in asked:
        owner = state.owner if state.cube_in_use else "none"
        cube = (state.crawford, state.cube_value, state.owner, 0, state.cube_in_use)
        score = None if state.away is None else Score(state.away, met, *cube)
        known = solve(state.position, score)
        worths = {} if known is None else _worths(kind, state, owner, known)
        if len(worths) < 2:
            continue
        us = state.position.us
        them = state.position.them
        points = max(6, us.highest, them.highest)
        row = sets.rows_of(
            1, points, kind=kind, us=us.padded(points), them=them.padded(points), dice=state.dice or 0,
            cube=state.cube_value, owner=OWNERS.index(owner), away=state.away or 0, crawford=state.crawford,
            beavers=bool(state.beavers), weight=weight, ends=0.0 if score is None else score.ends,
        )  # fmt: skip
        results = [board.rank(side.padded(points)) if kind == PLAY else 0 for side in worths]
        every = np.array(results, np.int64), np.array(list(worths.values()))
        parts.append(Exam(row, sets.starts_of([len(worths)]), *every, (stratum,), met=met.name))
    if not parts:
        raise NotCoveredError("no question is left: the positions have no decision, or all exceed the limit")
    return sets.join_sets(parts)


def _worths(kind: int, state: GameState, owner: str, known: Any) -> dict[Any, float]:
    """Return the values of the answers to a question from its exact solution, {} if the player may not double.

    The keys are the sides after each play, or numbers from 0 for other kinds of questions.
    """
    column = "cubeless" if owner == "none" else owner
    if kind == PLAY:
        dice = state.dice or (1, 1)
        return dict(known.values(*dice, known.column(column)) if state.money else known.plays(*dice))
    if state.money:
        rolling = known.equity(column)
        taken = 2 * known.equity("opponent")
        passed = 1.0
        win = np.nan if state.position.gammons else (1 + known.equity("cubeless")) / 2
    else:
        mwc = known.cube.mwc
        rolling = mwc.no_double
        taken = np.nan if mwc.double_take is None else mwc.double_take
        passed = mwc.double_pass
        win = np.nan if known.cube.cubeless_win is None else known.cube.cubeless_win
    may_double = owner in ("centered", "owned") and not np.isnan(taken)
    answers = [taken, passed, 2 * taken if state.beavers else np.nan]
    if kind == EQUITY:
        best = max(rolling, np.nanmin(answers)) if may_double else rolling
        return {0: best, 1: win}
    return dict(enumerate([rolling, *answers])) if may_double else {}


def _side(rng: Rng, chequers: int, points: int, least: int = 1) -> Side:
    """Draw a side with this many chequers on random points from `least` to `points`."""
    return Side(*np.bincount(rng.integers(least - 1, points, chequers), minlength=points).tolist())


def _trap_positions(rng: Rng, each: int) -> Iterator[tuple[tuple[int, ...], str, Position, dict[str, Any]]]:
    """Yield (kinds of questions, stratum, position, further arguments of `GameState.of`), `each` of each stratum."""
    for k in range(each):
        fifteen = _side(rng, 15, 3)
        other = _side(rng, int(rng.choice([1, 2, 3, 8, 15])), 3)
        away = None if k % 5 else (int(rng.integers(2, 6)), int(rng.integers(2, 6)))
        kinds = (PLAY, (DOUBLE, TAKE, EQUITY)[k % 3])
        yield kinds, "fifteen chequers", Position(*(fifteen, other)[:: 1 if k % 2 else -1]), {"away": away}
    for _ in range(each):
        ends = [int(n) for n in (*rng.integers(1, 3, 2), *rng.integers(1, 3, 2))]
        yield (PLAY,), "gaps", Position(Side(*ends[:2], 0, 0, *ends[2:]), _side(rng, 4, 4)), {}
    for k in range(each):
        position = Position(_side(rng, 2, 6, 2), _side(rng, int(rng.integers(1, 3)), 2))
        yield ((DOUBLE, TAKE)[k % 2],), "last roll", position, {}
    for k in range(each):
        position = Position(_side(rng, 3, 6, 3), _side(rng, 3, 6))
        yield ((TAKE, DOUBLE)[k % 2],), "beavers", position, {"beavers": True}
    for k in range(each):
        position = Position(_side(rng, int(rng.integers(2, 5)), 3), Side(*_side(rng, 14, 6, 4).padded(7), 1))
        yield ((DOUBLE, TAKE)[k % 2],), "too good", position, {}
    for k in range(each):
        more = {"away": (3, 2) if k % 2 else (4, 2), "cube_value": 2, "cube": "owned"}
        yield ((DOUBLE, TAKE, PLAY)[k % 3],), "dead cube", Position(_side(rng, 4, 6), _side(rng, 4, 6)), more


def trap_questions(rng: Rng, count: int) -> Iterable[QuestionSpec]:
    """Yield about `count` questions on which engines often err.

    These are fifteen chequers (gammons), gaps, last rolls, beavers, positions too good to double, and dead cubes.
    """
    for kinds, stratum, position, more in _trap_positions(rng, max(1, count // 6)):
        facts = more if more.get("away") else more | {"jacoby": False}
        for kind in kinds:
            dice = (int(rng.integers(1, 7)), int(rng.integers(1, 7))) if kind == PLAY else None
            yield kind, GameState.of(position, dice, doubled=kind == TAKE, **facts), stratum, 1.0


def match_questions(names: Iterable[str]) -> Iterable[QuestionSpec]:
    """Yield every race decision of recorded match files, weighted by how often it occurs.

    names : the files. Those that cannot be read are skipped.
    """
    kinds = {"play": PLAY, "double": DOUBLE, "no double": DOUBLE, "take": TAKE, "pass": TAKE, "beaver": TAKE}
    found: Counter[tuple[int, GameState]] = Counter()
    for name in names:
        held = []
        with suppress(BgfmtError):
            held = matches.read(name)
        for one in chain.from_iterable(map(decisions, held)):
            state = one.state
            if one.kind in kinds and not state.position.contact:
                plain = GameState.of(
                    state.position, state.dice, cube=state.owner, cube_value=state.cube_value, away=state.away,
                    crawford=state.crawford, cube_in_use=state.cube_in_use, doubled=state.doubled,
                    jacoby=False if state.money else None,
                )  # fmt: skip
                found[kinds[one.kind], plain] += 1
    for (kind, state), times in found.items():
        yield kind, state, "real matches", float(times)


# -- by name ------------------------------------------------------------------------------------------------------


def _scores(count: int, seed: int) -> Exam:
    """Draw the set `scores`."""
    return sets.join_sets([
        from_table(small_match_table(away), count // len(SCORES), seed + k)
        for k, away in enumerate(SCORES)
    ])  # fmt: skip


def _standard(count: int, seed: int) -> Exam:
    """Build the set `standard`."""
    few = solve_questions(trap_questions(np.random.default_rng(seed), min(1200, count // 4)))
    parts = [from_table(small_table(), count * 9 // 20, seed), _scores(count * 10 // 20, seed), few]
    return sets.join_sets(parts, met=few.met)


def _close(count: int, seed: int) -> Exam:
    """Draw the set `close`: decisions whose two best answers differ by less than `CLOSE_EQUITY`, closest first."""
    parts = []
    for kind in (PLAY, DOUBLE, TAKE):
        drawn = from_table(
            small_table(), count * (4 if kind == PLAY else 30), seed, kinds=KINDS[kind : kind + 1]
        )
        if kind == PLAY:
            gap = np.array([np.diff(np.sort(drawn.of(number))[-2:])[0] for number in range(len(drawn))])
        else:
            values = np.sort(cube_values(drawn), axis=1)  # NaN is last
            gap = values[:, 1] - values[:, 0]
        near = np.flatnonzero((gap > 1e-9) & (gap < CLOSE_EQUITY))
        parts.append(drawn.part(np.sort(near[np.argsort(gap[near], kind="stable")[: count // 3]])))
    return sets.join_sets(parts)


@dataclass(frozen=True)
class Recipe:
    """How a named set is built: its purpose, a function of (count, seed), and the default count."""

    purpose: str
    make: Callable[[int, int], Exam]
    count: int = 20_000


RECIPES = {
    "standard": Recipe("all of a bear-off: money, scores, every kind of question, and traps", _standard),
    "money": Recipe("up to six chequers a side for money, as many positions of each number of chequers",
                    lambda count, seed: from_table(small_table(), count, seed)),
    "scores": Recipe("up to six chequers a side at 24 scores", _scores),
    "close": Recipe("decisions for money between choices that differ by less than 0.02", _close, 5_000),
    "traps": Recipe("fifteen chequers, gaps, last rolls, beavers, too good to double, dead cubes",
                    lambda count, seed: solve_questions(trap_questions(np.random.default_rng(seed), count)), 1_200),
    "outside": Recipe("races of up to five chequers a side with a chequer outside the home board",
                      lambda count, seed: from_table(solver.two_sided(9, 5, recipe="exact"), count, seed,
                                                     outside=True)),
    "6x11": Recipe("plays without a cube of up to eleven chequers a side",
                   lambda count, seed: from_table(solver.two_sided(6, 11, cubeful=False, recipe="exact"), count, seed,
                                                  kinds=("play",))),
}  # fmt: skip
SEED = 1
SHIPPED = ("standard", "traps", "races", "matches")  # their files come with bgfmt


def make(name: str, count: int | None = None, seed: int = SEED) -> Exam:
    """Build a set of questions by its name; the same name, count and seed give the same set.

    name : a key of `RECIPES`, KeyError for others. count : how many questions, by default as many as the recipe says.
    seed : of the random generator.
    """
    recipe = RECIPES[name]
    exam = recipe.make(count or recipe.count, seed)
    origin = f"bgfmt exam --make {name} --count {count or recipe.count} --seed {seed}"
    return replace(exam, name=name, purpose=recipe.purpose, licence=sets.LICENCE, origin=origin)


def load_named(name: str, say: Callable[[str], None] = lambda text: None) -> Exam:
    """Return a set of questions by name or from a file.

    Sets that bgfmt ships are loaded. Others are built at the first call and cached in the user's data directory.

    name : a key of `RECIPES`, one of `SHIPPED`, or a path. say : called with a message before a set is built.

    PositionError if there is neither a set nor a file of this name.
    """
    if os.path.isfile(name):
        return sets.load(name)
    if name in SHIPPED:
        with as_file(files("bgfmt") / "data" / "exams" / f"{name}.npz") as kept:
            return sets.load(str(kept), name)
    if name not in RECIPES:
        known = ", ".join(dict.fromkeys([*RECIPES, *SHIPPED]))
        raise PositionError(f"{name}: expected the name of a set ({known}) or a file")
    path = gnubg_folders.user_data() / "bgfmt" / "exams" / f"{name}-{SEED}.npz"
    with suppress(OSError, BgfmtError):
        return sets.load(str(path), name)
    say(f"creating the set {name} in {path.parent}, once")
    exam = make(name)
    with suppress(OSError, BgfmtError):  # without the cache it is built again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        exam.save(str(path), force=True)
    return exam
