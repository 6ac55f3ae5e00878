"""Judges decisions of recorded matches by an adviser's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.answers import COLUMNS, HYPERGAMMON, ROLLOUT, RankedPlay, RankedPlays, Source
from bgfmt.analysis.choose import Asked
from bgfmt.analysis.cube import TIE, CubeAction, MatchCube, values_after_play
from bgfmt.analysis.insight import Insight, insight
from bgfmt.analysis.library import Library
from bgfmt.analysis.shapes import Plain
from bgfmt.analysis.solving import DEFAULT_LIMIT
from bgfmt.analysis.sources import Calculate, Limits, Progress
from bgfmt.errors import NotCoveredError
from bgfmt.extras.matches import plays
from bgfmt.extras.matches.decisions import Decision
from bgfmt.game.board import Position
from bgfmt.game.moves import Move
from bgfmt.game.state import GameState
from bgfmt.met import Met
from bgfmt.tables import TwoSided

BEST_PLAYS = 5  # that gnubg's records get
ERROR = 1e-7  # a smaller loss is none
CLOSE = {"gnubg": 0.16, "xg": 0.2}  # a double that would cost no less is no decision there
#: classes of errors by program, with the least loss of each, in EMG
CLASSES = {"gnubg": {"very bad": 0.16, "bad": 0.08, "doubtful": 0.04}, "xg": {"blunder": 0.08, "error": 0.02}}
Verdict = Literal["forced", "right", "close", "error", "approximate", "illegal"]
Method = Literal["exact", "estimated", "rollout"]


class CubeNumbers(NamedTuple):
    """The equities of a cube decision to the side on roll; `beaver` is None where none may be made."""

    rolling: float
    taken: float
    passed: float
    beaver: float | None = None

    @property
    def double(self) -> float:
        """Equity of doubling, to the side on roll, against the best reply."""
        replied = min(self.taken, self.passed)
        return replied if self.beaver is None else min(replied, self.beaver)

    def choices(self, doubling: bool, total: float = 0.0) -> dict[str, float]:
        """Return what each choice ("double", "no double"; "take", "pass", "beaver") is worth to who decides.

        Parameters
        ----------
        doubling : whether the side on roll decides, else the side that replies.
        total : what both sides have together, 0 of equity and 1 of match winning chances.
        """
        if doubling:
            return {"double": self.double, "no double": self.rolling}
        replies = {"take": self.taken, "pass": self.passed}
        if self.beaver is not None:
            replies["beaver"] = self.beaver
        return {name: total - value for name, value in replies.items()}


@dataclass(frozen=True)
class FileAnalysis(Plain):
    """Comparison of the file's own analysis of a decision with ours; equities as those of a `Judgement`.

    best, best_equity, equity : its best choice, the equity of that and of what was done, by its numbers.
    cost : what its best choice loses by our numbers. differs : whether that is more than their error.
    """

    engine: str
    level: str
    best: str
    best_equity: float
    equity: float | None
    cost: float
    differs: bool


@dataclass(frozen=True)
class Judgement(Plain):
    """One decision and its loss. Most fields are those of a decision in docs/json.md.

    equity, best_equity, loss : of what was done, of the best choice, and the difference, never negative; None for an
        illegal play. mwc, best_mwc, loss_mwc : the same as probabilities to win the match, None for money.
    cubeless_loss : what a wrong play for money loses without the cube.
    close : the loss is less than the error of the numbers, so that it may be none; it does not count as an error.
    open_error : the maximum error of the loss if it leaves open which choice is best, even one without a loss; else
        None.
    approximate : the numbers are estimates or rollouts. Without a known bound of their error the verdict is
        "approximate", which does not count as an error either. max_error : the maximum error of `equity` and `mwc`,
        None if unknown. proved : False if it is not proved for a table of this size, only measured on others.
    ends : match winning probabilities of the side on roll after losing and after winning the game, None for money.
    cube : for a cube decision the equities of its choices for the side on roll.
    file, insight : the file's own analysis; explanation of a wrong cube decision with exact numbers.
    ranking : for a play the best ones and the one made, each by its moves, its equity and that without a cube;
    cubeless : for a cube decision the equity without a cube. Both are looked up for gnubg's records only.
    """

    FIELDS = (
        "game=decision.game_number record=decision.record_number move=decision.move player=decision.player "
        "name=decision.name decision=decision.kind kind position_id=decision.state.position.id "
        "gnubg_id=decision.state.gnubg_id position=decision.state.position dice=decision.state.dice "
        "cube=decision.state.cube_value cube_owner=decision.cube away=decision.state.away "
        "crawford=decision.state.crawford did best verdict equity best_equity equity_lost=loss mwc best_mwc loss_mwc "
        "loss_emg points_lost=points cubeless_equity_lost=cubeless_loss choices forced error close approximate "
        "measure source table max_error gammons note method millipoints class_gnubg class_xg luck luck_mwc action "
        "advice insight file_analysis=file"
    )

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
    open_error: float | None = None
    approximate: bool = False
    measure: str = "money"
    source: Source = "two-sided"
    table: str | None = None
    max_error: Mapping[str, float] | None = None
    proved: bool = True
    usual_error: float | None = None
    gammons: str = "none"
    note: str = ""
    ends: tuple[float, float] | None = None
    cube: CubeNumbers | None = None
    action: str = ""
    file: FileAnalysis | None = None
    luck: float | None = None
    insight: Insight | None = None
    ranking: tuple[tuple[tuple[Move, ...], float, float], ...] = ()
    cubeless: float | None = None

    @property
    def bounded(self) -> bool:
        """Whether the error of the numbers is bounded: they are no estimates, or estimates with a known bound."""
        return not self.approximate or self.max_error is not None

    @property
    def verdict(self) -> Verdict:
        """Class in which the decision is counted.

        "illegal"; "forced" (one choice); "approximate" (no error bound known); "right" (no loss); "close" (a loss
        below the error of the numbers); "error".
        """
        if self.loss is None:
            return "illegal"
        if self.choices < 2:
            return "forced"
        if not self.bounded:
            return "approximate"
        if self.loss <= ERROR:
            return "right"
        return "close" if self.close else "error"

    @property
    def method(self) -> Method:
        """How the numbers were found: "exact" (a table or a calculation), "estimated" or by "rollout"."""
        return "rollout" if self.source == ROLLOUT else "estimated" if self.approximate else "exact"

    @property
    def play(self) -> bool:
        """Whether this is a checker play, not a cube decision."""
        return self.decision.kind == "play"

    @property
    def error(self) -> bool:
        """Whether the decision lost more than the error of the numbers, so that it counts as an error."""
        return self.verdict == "error"

    @property
    def points(self) -> float | None:
        """Loss for money in points, at the value of the cube then; None in a match and for an illegal play."""
        if self.loss is None or not self.decision.state.money:
            return None
        return self.loss * self.decision.state.cube_value

    @property
    def forced(self) -> bool:
        """Whether there was only one choice."""
        return self.verdict == "forced"

    @property
    def luck_mwc(self) -> float | None:
        """Luck of the roll as a probability to win the match; None for money and where the luck is unknown."""
        if self.luck is None or self.ends is None:
            return None
        return self.luck * (self.ends[1] - self.ends[0]) / 2

    def counts(self, program: str) -> bool:
        """Return True if the error rate of a program, "gnubg" or "xg", counts this decision.

        Both count plays with a choice, doubles, takes and passes. They count "no double" where it was wrong, or where
        doubling would lose less than `CLOSE`. Illegal plays and those with approximate numbers are not counted.
        """
        if self.verdict in ("forced", "illegal", "approximate"):
            return False
        if self.decision.kind != "no double" or self.cube is None or self.loss:
            return True
        return self.cube.rolling - self.cube.double < CLOSE[program]

    @property
    def advice(self) -> str:
        """For a cube decision the right action and the cost of others: "No double, take; doubling costs 0.703"."""
        if self.cube is None:
            return ""
        lost = self.cube.rolling - self.cube.double
        costs = {
            "doubling" if lost > 0 else "not doubling": abs(lost),
            "taking": self.cube.taken - self.cube.double,
            "passing": self.cube.passed - self.cube.double,
        }
        words = [f"{choice} costs {cost:.3f}" for choice, cost in costs.items() if cost > ERROR]
        return "; ".join(filter(None, (self.action, ", ".join(words))))

    def class_of(self, program: str) -> str | None:
        """Return the class of the loss as "gnubg" or "xg" names it, such as "very bad" or "blunder".

        None for a loss too small for any class, for an illegal play, and for approximate numbers.
        """
        if self.loss is None or self.verdict == "approximate":
            return None
        return next((name for name, least in CLASSES[program].items() if self.loss >= least), None)

    @property
    def kind(self) -> str:
        """Kind of decision: "play" or "cube"."""
        return "play" if self.play else "cube"

    @property
    def loss_emg(self) -> float | None:
        """Loss in a match; None for money."""
        return None if self.decision.state.money else self.loss

    @property
    def millipoints(self) -> float | None:
        """Loss in thousandths."""
        return None if self.loss is None else 1000 * self.loss

    @property
    def class_gnubg(self) -> str | None:
        """Class of the loss as gnubg names it."""
        return self.class_of("gnubg")

    @property
    def class_xg(self) -> str | None:
        """Class of the loss as eXtreme Gammon names it."""
        return self.class_of("xg")


#: most pairs of boards times cube states calculated for one question, a third of a second; what comes up later in
#: the game is answered from it; up to eight chequers a side at home are always calculated, in five seconds at most
LIMIT = 8_000_000

DOUBLING = ("double", "no double")


class Judge(AbstractContextManager["Judge"]):
    """Judges decisions by the answers of an adviser; a context manager.

    tables, met, limit : as `Advisor` takes them.
    met_player : which player of the match equity table a match's first player is; it matters for uneven tables only.
    calculate : False for answers from tables only.
    oracle : seconds of rollouts for a decision closer than the error of an estimate, 0 for none.
    records : whether judgements get the other numbers that gnubg's analysis records need.
    """

    def __init__(
        self,
        tables: Library | Asked | Sequence[Asked | str] | None = None,
        *,
        met: Met | str | None = None,
        met_player: int = 0,
        limit: int | None = None,
        calculate: bool = True,
        oracle: float = 0.0,
        records: bool = False,
        progress: Progress | None = None,
    ) -> None:
        what: Calculate = "all" if calculate else "nothing"
        self.met_player = met_player
        self.records = records
        limits = replace(Limits.of(LIMIT), small=DEFAULT_LIMIT) if limit is None else limit
        self.advisor = Advisor(
            tables, met=met, calculate=what, limit=limits, oracle=oracle, progress=progress
        )

    def __exit__(self, *error: object) -> None:
        self.advisor.close()

    @property
    def met(self) -> Met:
        """Match equity table by which decisions in matches are judged."""
        return self.advisor.met

    def judge(self, decision: Decision) -> Judgement:
        """Return the judgement of one decision, with the luck of the roll for a play.

        A wrong cube decision with exact numbers gets an explanation. Errors are those of the function `judge`.
        """
        player = self.met_player ^ decision.state.turn
        one = judge(decision, self.advisor, met_player=player)
        if decision.kind == "play" and one.bounded:
            one = replace(one, luck=self._luck(one, player))
        elif one.error and one.method == "exact":
            one = replace(one, insight=insight(decision.state, self.advisor, met_player=player))
        if self.records:
            one = replace(one, **_for_records(one, self.advisor, player))
        return one

    def _luck(self, one: Judgement, player: int) -> float | None:
        """Return the best equity after the roll minus the mean over all rolls.

        None if a number has no error bound.
        """
        state = one.decision.state.before_roll()
        if state.money and not state.cube_in_use:
            mean = (answer := self.advisor.equities(state)).cubeless
            known = answer.max_error is not None
        else:
            mean = (action := self.advisor.cube(state, met_player=player)).no_double
            known = action.error is not None
        return one.best_equity - mean if known and one.best_equity is not None else None


def judge(decision: Decision, advisor: Advisor, *, met_player: int | None = None) -> Judgement:
    """Return the judgement of one decision by the adviser's answer.

    Parameters
    ----------
    decision : the decision; its state has the position, cube and score.
    advisor : the adviser that answers.
    met_player : which player of an uneven match equity table is on roll; by default as the adviser was made.

    Raises
    ------
    NotCoveredError : for a position with contact, or one beyond the tables and the limit of calculation.
    PositionError : for an impossible position.
    """
    by_kind = _play if decision.kind == "play" else _cube
    return by_kind(decision, advisor, advisor.player_of(decision.state, met_player))


def _for_records(one: Judgement, advisor: Advisor, player: int) -> dict[str, Any]:
    """Return the fields that gnubg's records need: the ranking of plays, or the equity without a cube."""
    state = one.decision.state
    played = one.decision.played
    if one.decision.kind != "play":
        return {"cubeless": advisor.equities(state.before_roll()).cubeless}
    if played is None:
        return {}
    several = enumerate(advisor.plays(state, met_player=player).plays)
    best = [play for place, play in several if place < BEST_PLAYS or play.result == played.result]
    without = {play.result: play.value for play in advisor.plays(state, measure="cubeless").plays}
    ranking = [(p.moves, p.value or 0.0, without[p.result] or 0.0) for p in best]
    return {"ranking": tuple(ranking)}


def _play(decision: Decision, advisor: Advisor, player: int) -> Judgement:
    state = decision.state
    ranked = advisor.plays(state, met_player=player)
    best = ranked.best
    if best is None:
        raise NotCoveredError(f"{state.position}: no chequer can move")
    errors = ranked.max_error
    common: dict[str, Any] = _origin(state, ranked, advisor, player) | {
        "choices": len(ranked.plays),
        "measure": ranked.measure,
        "max_error": errors and {"equity" if key == "value" else key: x for key, x in errors.items()},
        "best_equity": best.value,
        "best_mwc": best.mwc,
        "usual_error": ranked.usual_error and ranked.usual_error["value"],
    }
    if decision.played is None:
        why = f"{decision.written} is not a legal play" if decision.written else "not a legal play"
        return Judgement(decision, "an illegal play", best.notation, None, loss=None, note=why, **common)
    result = decision.played.result
    did = _play_to(result, ranked)
    assert did.loss is not None
    wrong = did.loss > ERROR
    rivals = ranked.approximate and any(play.close for play in ranked.plays if play is not did)
    close = did.close and (wrong or rivals)
    cubeless = 0.0 if state.money else None
    if wrong and state.money:
        cubeless = _play_to(result, advisor.plays(state, measure="cubeless")).loss
        if close and not ranked.approximate:
            settled = _exact_loss(advisor, did, best, ranked.cube or "cubeless")
            close = settled is None or settled <= ERROR
    common |= {"loss_mwc": did.loss_mwc, "cubeless_loss": cubeless, "mwc": did.mwc, "close": close}
    common["open_error"] = 2 * errors["value"] if close and errors else None
    common["file"] = _plays_of_file(decision, ranked)
    right = best.notation if wrong else did.notation
    return Judgement(decision, did.notation, right, did.value, loss=did.loss, **common)


def _exact_loss(advisor: Advisor, played: RankedPlay, best: RankedPlay, cube: str) -> float | None:
    """Calculate how much equity for money a play loses against the best one of the same roll.

    cube : "centered", "owned" or "opponent" for the side that plays, or "cubeless".
    Returns None if the calculation exceeds the limit.
    """
    values = []
    for play in (played, best):
        if not play.result.us.chequers:
            values.append(1.0)
            continue
        after = advisor.sources.exact_equities(GameState.of(play.result.swapped()))
        if after is None:
            return None
        equities = np.array([[getattr(after, name) for name in COLUMNS]])
        values.append(float(values_after_play(equities, cube)[0]))
    return values[1] - values[0]


def _play_to(result: Position, ranked: RankedPlays) -> RankedPlay:
    """Return the ranked play that leads to this board."""
    return next(play for play in ranked.plays if play.result == result)


def _plays_of_file(decision: Decision, ranked: RankedPlays) -> FileAnalysis | None:
    opinion = decision.opinion
    dice = decision.state.dice
    position = decision.state.position
    if opinion is None or not opinion.plays or dice is None or decision.played is None:
        return None
    worth: dict[Position, float] = {}
    for hops, equity in opinion.plays:
        written = plays.find(position, dice, hops)
        if not isinstance(written, str) and written.legal:
            worth.setdefault(written.result, equity)
    if not worth:
        return None
    first, equity = next(iter(worth.items()))
    best = _play_to(first, ranked)
    played = worth.get(decision.played.result)
    cost = best.loss or 0.0
    differs = cost > ERROR and not best.close and ranked.max_error is not None
    return FileAnalysis(opinion.engine, opinion.level, best.notation, equity, played, cost, differs)


def _origin(
    state: GameState, answer: RankedPlays | CubeAction, advisor: Advisor, player: int
) -> dict[str, Any]:
    """Return the fields for the source of an answer, its treatment of gammons, and the ends of its scale."""
    gammons = "ignored" if answer.source == TwoSided.kind else "counted"
    if answer.source != HYPERGAMMON and not state.position.gammons:
        gammons = "none"
    return {
        "proved": answer.proved,
        "approximate": answer.approximate,
        "source": answer.source,
        "table": answer.table,
        "gammons": gammons,
        "ends": None if state.money else advisor.score(state, met_player=player).ends,
    }


# -- the cube --------------------------------------------------------------------------------------------


def _cube(decision: Decision, advisor: Advisor, player: int) -> Judgement:
    state = decision.state
    did = decision.kind
    doubling = did in DOUBLING
    action = advisor.cube(state if doubling else replace(state, doubled=True), met_player=player)
    error = None if action.error is None else {"equity": action.error}
    more = _origin(state, action, advisor, player)
    if action.match is None:
        numbers = CubeNumbers(action.no_double, action.double_take, action.double_pass, action.double_beaver)
        if did == "beaver" and numbers.beaver is None:  # made though none is played
            numbers = numbers._replace(beaver=2 * numbers.taken)
        sure = action.double_decided if doubling else action.take_decided
        error_of_loss = action.double_margin_error if doubling else action.take_margin_error
    else:
        mwc, more["note"] = _chances(state, action.match, advisor, player)
        numbers = CubeNumbers(*map(action.match.score.emg, mwc[:3]))
        error_of_mwc = action.match.mwc_error
        error = error and error | {"mwc": error_of_mwc}
        chances = mwc.choices(doubling, 1.0)
        sure = max(chances.values()) - min(chances.values()) > 2 * error_of_mwc
        error_of_loss = action.match.score.emg_loss(2 * error_of_mwc) if error_of_mwc > TIE else None
    worth = numbers.choices(doubling)
    best = max(worth, key=lambda name: (worth[name], name == did))
    loss = worth[best] - worth[did]
    if action.match is not None:
        more |= {"mwc": chances[did], "best_mwc": chances[best], "loss_mwc": chances[best] - chances[did]}
        more["measure"] = "match"
    more |= {
        "choices": len(worth),
        "cube": numbers,
        "action": action.action,
        "usual_error": action.usual_error,
        "max_error": error,
        "close": loss > ERROR and not sure and error is not None,
        "open_error": None if sure or error is None else error_of_loss,
        "file": _cube_of_file(decision, worth, more["ends"], sure and error is not None),
    }
    return Judgement(decision, did, did if loss <= ERROR else best, worth[did], worth[best], loss, **more)


def _cube_of_file(
    decision: Decision, worth: dict[str, float], ends: tuple[float, float] | None, sure: bool
) -> FileAnalysis | None:
    opinion = decision.opinion
    if opinion is None or opinion.cube is None:
        return None
    rolling, taken = opinion.cube
    if opinion.mwc and ends is not None and ends[0] != ends[1]:
        lost, won = ends
        rolling, taken = (2 * (chance - lost) / (won - lost) - 1 for chance in (rolling, taken))
    beaver = 2 * taken if decision.state.money and decision.state.beavers is not False else None
    theirs = CubeNumbers(rolling, taken, 1.0, beaver).choices(decision.kind in DOUBLING)
    best = max(theirs, key=lambda name: theirs[name])
    cost = max(worth.values()) - worth[best]
    differs = sure and cost > ERROR
    played = theirs.get(decision.kind)
    return FileAnalysis(opinion.engine, opinion.cube_level, best, theirs[best], played, cost, differs)


def _chances(state: GameState, decided: MatchCube, advisor: Advisor, player: int) -> tuple[CubeNumbers, str]:
    """Return the match winning chances of the side on roll for each choice, and a note."""
    mwc = decided.mwc
    if mwc.double_take is not None and mwc.double_pass is not None:
        return CubeNumbers(mwc.no_double, mwc.double_take, mwc.double_pass), ""
    # doubled all the same: with a dead cube, which the other side may then turn
    note = "; ".join(decided.notes[:1]).rstrip(".").lower()
    value = 2 * state.cube_value
    owner = 1 - state.turn
    other = replace(state, doubled=False, cube_value=value, cube_owner=owner, crawford=False)
    turned = advisor.cube(other, met_player=player)
    assert turned.match is not None
    passed = decided.score.after(0, state.cube_value)
    return CubeNumbers(mwc.no_double, turned.match.mwc.no_double, passed), note
