"""Packages, rules and bgfmt itself as candidates: PyPI gnubg, bgsage, rules of thumb, Janowski's formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.library import distributions
from bgfmt.errors import CapabilityError, extra
from bgfmt.extras.exam.candidates import REFUSED, Candidate, Failure, given
from bgfmt.extras.exam.sets import Question
from bgfmt.extras.lab.study.rules import RULES, Pairs
from bgfmt.extras.lab.thumb.doubling import janowski as formula
from bgfmt.game import board
from bgfmt.game.state import GameState


class PyGnubg(Candidate):
    """The gnubg package: plays and equities without a cube by its evaluation, `plies=N`. It tells no cube actions."""

    def __init__(self, options: str = "") -> None:
        self.gnubg = extra("gnubg", "the gnubg Python package is not installed", "pip install gnubg")
        self.context = self.gnubg.evalcontext(0, int(given(options, "plies").get("plies", 0)), 1, 1, 0.0)

    def evaluated(self, us: Sequence[int], them: Sequence[int], info: Any) -> Any:
        """Six numbers of the side on roll, the last one the equity."""
        sides = tuple((*side, *(0,) * (25 - len(side))) for side in (them, us))
        return self.gnubg.evaluate(sides, info, self.context)

    def reply(self, question: Question) -> object:  # type: ignore[override]
        us, them, (mine, other) = question.us, question.them, question.away or (0, 0)
        length, play = max(mine, other), question.kind == "play"
        scores = length - mine, length - other  # the other side first, which is on roll after a play
        info = self.gnubg.cubeinfo(1, -1, 1, length, scores, int(question.crawford), 0)
        if play:
            plays = question.plays
            values = [-self.evaluated(them, play, info)[5] if any(play) else np.inf for play in plays]
            return int(np.argmax(values))
        if question.kind != "equity" or question.owner != "none" or length:
            raise Failure(REFUSED, "the package tells no cube actions")
        found = self.evaluated(us, them, info)
        return {"equity": found[5], "win": found[0]}


class Bgsage(Candidate):
    """bgsage: `level=2ply`, one ply more than gnubg counts for the same; `tables=no` without its database."""

    def __init__(self, options: str = "") -> None:
        words = given(options, "level", "tables")
        sage = extra("bgsage", "the bgsage Python package is not installed", "pip install bgsage")
        self.analyzer = sage.BgBotAnalyzer(
            eval_level=words.get("level", "1ply"), parallel_threads=1, bearoff_db=words.get("tables") != "no"
        )

    def reply(self, question: Question) -> object:  # type: ignore[override]
        if question.owner == "none" and question.kind != "equity":
            raise Failure(REFUSED, "it plays with a cube")
        us, them = question.us, question.them
        points = [0, *us, *(0,) * (24 - len(us)), 0]
        for point, many in enumerate(them, 1):
            points[25 - point] -= many
        away = question.away or (0, 0)
        owner = {"owned": "player", "opponent": "opponent"}.get(question.owner, "centered")
        how = {
            "cube_value": question.cube, "cube_owner": owner, "away1": away[0], "away2": away[1],
            "is_crawford": question.crawford, "jacoby": False, "beaver": question.beavers,
        }  # fmt: skip
        if question.dice:
            best = self.analyzer.checker_play(points, *question.dice, **how).moves[0].board
            return tuple(max(0, n) for n in best[1 : len(us) + 1])
        found = self.analyzer.cube_action(points, **how)
        if question.kind == "double":
            return bool(found.should_double)
        if question.kind == "take":
            return "beaver" if question.beavers and found.is_beaver else bool(found.should_take)
        if question.away is not None:
            raise Failure(REFUSED, "it tells no chances to win a match")
        best = found.cubeless_equity if question.owner == "none" else found.optimal_equity
        return {"equity": best, "win": found.probs.win}


class Rule(Candidate):
    """A rule of thumb of `bgfmt study rules`: doubles, redoubles and takes in the home boards."""

    def __init__(self, name: str) -> None:
        if name not in RULES:
            raise CapabilityError(f"no rule is called {name!r} (there are: {', '.join(RULES)})")
        self.rule = RULES[name]

    def answers(self, questions: Sequence[Question], timeout: float) -> Iterator[tuple[object, float]]:
        asked = [q for q in questions if q.kind in ("double", "take") and not any((*q.us[6:], *q.them[6:]))]
        said: dict[int, bool] = {}
        if asked:
            sides = [np.array([getattr(q, which)[:6] for q in asked], np.int64) for which in ("us", "them")]
            rows = distributions(False)
            ours, theirs = (rows[board.rank_array(side)] / 65535 for side in sides)
            decided = self.rule.decide(Pairs(sides[0], sides[1], ours, theirs))
            for k, question in enumerate(asked):
                yes = decided.take if question.kind == "take" else decided.double
                yes = decided.redouble if question.kind == "double" and question.owner == "owned" else yes
                said[question.number] = bool(yes[k])
        for question in questions:
            yield said.get(question.number, Failure(REFUSED, "a rule of thumb for doubles and takes")), 0.0


class Formula(Candidate):
    """Janowski's formula (1993) from the chance to win by the distributions of rolls: doubles and takes for money."""

    def __init__(self, options: str = "") -> None:
        self.advisor = Advisor()

    def reply(self, question: Question) -> object:  # type: ignore[override]
        if question.kind not in ("double", "take") or question.away is not None:
            raise Failure(REFUSED, "a formula for doubles and takes for money")
        owned, centered, opponent = formula(self.advisor.chances(question.position).cubeless)
        if question.kind == "take":
            return bool(2 * opponent <= 1)
        return bool(min(1.0, 2 * opponent) > (owned if question.owner == "owned" else centered))


class Own(Candidate):
    """bgfmt's adviser; `limit=0` has it estimate what it would otherwise calculate, without tables."""

    def __init__(self, options: str = "") -> None:
        limit = given(options, "limit").get("limit")
        self.advisor = Advisor(None if limit is None else [], limit=None if limit is None else int(limit))

    def reply(self, question: Question) -> object:  # type: ignore[override]
        state: GameState = question.state
        if question.kind == "play":
            best = self.advisor.plays(state).best
            return None if best is None else best.result
        if question.kind == "equity" and question.owner == "none":
            if question.away is not None:
                raise Failure(REFUSED, "an equity without a cube at a score")
            found = self.advisor.equities(state)
            return {"equity": found.cubeless, "win": np.nan if found.win is None else found.win}
        action = self.advisor.cube(state.before_roll())
        if question.kind == "double":
            return bool(action.doubles and action.double_margin > 0)
        if question.kind == "take":
            return "beaver" if question.beavers and action.beavers else bool(action.takes)
        return action.best if action.match is None else action.match.mwc.best
