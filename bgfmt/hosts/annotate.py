"""Judges every decision of a match that tables cover: what was done, what was best, and what the difference costs.

Equities are those of the player who decides, in money play with the cube at 1 (multiply by the cube for points).
Scores are not looked at, and the report of a match says so. In the Crawford game, where nobody may double, plays are
judged by cubeless equities.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from bgfmt import matches
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import CubeAction
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position
from bgfmt.game.identifiers import gnubg_id, position_id
from bgfmt.matches import Match, printable
from bgfmt.matches.decisions import Decision, decisions
from bgfmt.matches.write_sgf import with_comments, write_sgf

ERROR = 1e-7  # a smaller loss is none
MATCH_NOTE = "match play: judged by money equities, the score is not looked at"


@dataclass(frozen=True)
class Judgement:
    """One decision and its price.

    did, best : what was done and what was best, in words.
    value, best_value : their equities to the player who decides, cube at 1.
    loss : the difference, never negative; cubeless_loss : the same without the cube, for plays.
    close : the loss is no more than the tables' rounding can make of nothing.
    approximate : from one-sided tables; basis : "money", "cubeless" or "approximate money".
    """

    decision: Decision
    did: str
    best: str
    value: float | None
    best_value: float | None
    loss: float | None
    cubeless_loss: float | None = None
    choices: int = 1
    close: bool = False
    approximate: bool = False
    measure: str = "money"
    forced: bool = False
    note: str = ""

    @property
    def error(self) -> bool:
        """Whether it cost anything."""
        return self.loss is not None and self.loss > ERROR and not self.close

    @property
    def points(self) -> float | None:
        """What it cost at the cube of that moment, in points."""
        return None if self.loss is None else self.loss * self.decision.state.cube_value

    def as_dict(self, names: tuple[str, str]) -> dict[str, Any]:
        decision, state = self.decision, self.decision.state
        return {
            "game": decision.game + 1,
            "record": decision.record + 1,
            "player": decision.player,
            "name": names[decision.player],
            "decision": decision.kind,
            "kind": "play" if decision.kind == "play" else "cube",
            "position_id": position_id(state.position),
            "gnubg_id": gnubg_id(state),
            "position": str(state.position),
            "dice": list(state.dice) if state.dice else None,
            "cube": state.cube_value,
            "cube_owner": decision.cube,
            "did": self.did,
            "best": self.best,
            "equity": self.value,
            "best_equity": self.best_value,
            "equity_lost": self.loss,
            "points_lost": self.points,
            "cubeless_equity_lost": self.cubeless_loss,
            "choices": self.choices,
            "forced": self.forced,
            "error": self.error,
            "close": self.close,
            "approximate": self.approximate,
            "measure": self.measure,
            "note": self.note,
        }

    def line(self) -> str:
        """One line in words."""
        if self.loss is None:
            return f"{self.did} ({self.note})"
        sign = "~" if self.approximate else ""
        text = f"{self.did} {sign}{self.value:+.5f}"
        if self.forced:
            return f"{text}, the only play"
        if self.loss <= ERROR:
            return f"{text}, right" + (f" ({self.note})" if self.note else "")
        close = " (within the table's rounding)" if self.close else ""
        text += f", best {self.best} {sign}{self.best_value:+.5f}, loses {sign}{self.loss:.5f}{close}"
        return text + (f" ({self.note})" if self.note else "")


@dataclass
class Report:
    """All judged decisions of a match, in order."""

    match: Match
    judgements: list[Judgement]
    met: int = 0
    problems: list[str] = field(default_factory=list)

    def total(self, player: int) -> dict[str, Any]:
        """One player's sums; `errors` counts what lies beyond the table's rounding, `equity_lost` adds up all."""
        own = [j for j in self.judgements if j.decision.player == player]
        wrong = [j for j in own if j.error]
        plays = [j for j in own if j.decision.kind == "play"]
        return {
            "player": player,
            "name": self.match.players[player],
            "decisions": len(own),
            "plays": len(plays),
            "unforced_plays": sum(not j.forced for j in plays),
            "cube_decisions": len(own) - len(plays),
            "errors": len(wrong),
            "play_errors": sum(j.decision.kind == "play" for j in wrong),
            "cube_errors": sum(j.decision.kind != "play" for j in wrong),
            "equity_lost": sum(j.loss or 0.0 for j in own),
            "points_lost": sum(j.points or 0.0 for j in own),
        }

    def as_dict(self) -> dict[str, Any]:
        return {
            "players": list(self.match.players),
            "match_length": self.match.length,
            "games": len(self.match.games),
            "equities": "money, of the player who decides, with the cube at 1",
            "note": MATCH_NOTE if self.match.length else "",
            "decisions_met": self.met,
            "decisions_covered": len(self.judgements),
            "decisions": [j.as_dict(self.match.players) for j in self.judgements],
            "totals": [self.total(player) for player in (0, 1)],
            "problems": self.problems,
        }

    def text(self) -> str:
        """The report in words, a decision a line."""
        names, length = [printable(name) for name in self.match.players], self.match.length
        kind = f"match to {length}" if length else "money"
        out = [f"{names[0]} against {names[1]}, {kind}, {len(self.match.games)} game(s)"]
        out.append("equities: money, of the player who decides, with the cube at 1")
        if length:
            out.append(MATCH_NOTE)
        out.append(f"{len(self.judgements)} of {self.met} decisions are covered by the tables")
        for j in self.judgements:
            state = j.decision.state
            dice = f"{state.dice[0]}{state.dice[1]}" if state.dice else "--"
            out.append(
                f"game {j.decision.game + 1} record {j.decision.record + 1:3d}  {position_id(state.position)}  "
                f"{names[j.decision.player]} {dice}  {j.line()}"
            )
        out += ["problem: " + printable(text) for text in self.problems]
        for player in (0, 1):
            out.append(self.total_line(player))
        return "\n".join(out) + "\n"

    def total_line(self, player: int) -> str:
        t = self.total(player)
        return (
            f"{printable(t['name'])}: {t['decisions']} covered decisions "
            f"({t['plays']} plays, {t['cube_decisions']} cube), "
            f"{t['errors']} errors ({t['play_errors']} plays, {t['cube_errors']} cube), "
            f"equity lost {t['equity_lost']:.5f} ({t['points_lost']:.5f} points)"
        )


def judge_match(match: Match, asked: Advisor | Databases) -> Report:
    """Judge every decision whose position the tables cover, as the adviser answers it."""
    advisor = asked if isinstance(asked, Advisor) else Advisor(asked)
    report = Report(match, [])
    for decision in decisions(match):
        report.met += 1
        judged = judge(decision, advisor)
        if judged is not None:
            report.judgements.append(judged)
    report.problems = list(match.problems)
    return report


def judge(decision: Decision, advisor: Advisor) -> Judgement | None:
    """The judgement of one decision, None where nothing covers it. Scores are not looked at."""
    position = decision.state.position
    if position.contact or not position.us.chequers or not position.them.chequers:
        return None
    if advisor.covering(position) is None:
        return None
    try:
        return _play(decision, advisor) if decision.kind == "play" else _cube(decision, advisor)
    except NotCoveredError:
        return None


def _play(decision: Decision, advisor: Advisor) -> Judgement | None:
    state = decision.state.as_money()
    ranked = advisor.plays(state, measure="cubeless" if decision.state.crawford else None)
    best = ranked.best
    if best is None:
        return None
    if decision.played is None:
        why, choices = "not a legal play", len(ranked.plays)
        return Judgement(
            decision, "an illegal play", best.notation, None, best.value, None, choices=choices, note=why
        )
    plain = advisor.plays(state, measure="cubeless")
    did, cubeless = (
        next(play for play in one.plays if _same(play.result, decision.played.result))
        for one in (ranked, plain)
    )
    assert did.loss is not None
    close = did.close and did.loss > ERROR
    if close:
        settled = advisor.exact_loss(did, best, ranked.cube or "cubeless")
        close = settled is None or settled <= ERROR
    return Judgement(
        decision,
        did.notation,
        best.notation,
        did.value,
        best.value,
        did.loss,
        cubeless.loss,
        len(ranked.plays),
        close,
        ranked.approximate,
        ranked.measure,
        forced=len(ranked.plays) == 1,
    )


def _same(one: object, other: Position) -> bool:
    return isinstance(one, Position) and one.us == other.us and one.them == other.them


def _cube(decision: Decision, advisor: Advisor) -> Judgement:
    action = advisor.cube(decision.state.as_money())
    worth, sure = _choices(decision.kind, action)
    did = decision.kind
    best = max(worth, key=lambda name: (worth[name], name == did))
    loss = max(0.0, worth[best] - worth[did])
    note = ""
    if did == "take" and action.beavers and not decision.state.length:
        note = "a beaver, where they are played, would gain more"
    return Judgement(
        decision,
        did,
        best if loss > ERROR else did,
        worth[did],
        worth[best],
        loss,
        choices=len(worth),
        close=loss > ERROR and not sure and not action.approximate,
        approximate=action.approximate,
        note=note,
    )


def _choices(kind: str, action: CubeAction) -> tuple[dict[str, float], bool]:
    """The choices of a cube decision, each with its equity to who decides, and whether the table is sure."""
    if kind in ("double", "no double"):
        return {"double": action.double, "no double": action.no_double}, action.sure_double
    worth = {"take": -action.double_take, "pass": -action.double_pass}
    if kind == "beaver":
        worth["beaver"] = -2 * action.double_take
    return worth, action.sure_take


# -- files -----------------------------------------------------------------------------------------------


@dataclass
class MatchFile:
    """A match as read from a file of `count` matches."""

    name: str
    match: Match
    data: bytes = b""
    count: int = 1

    def annotated(self, report: Report) -> bytes:
        """The .sgf file with a comment at every judged decision; a match of another form is made into one."""
        comments: dict[tuple[int, int], list[str]] = {}
        for j in report.judgements:
            where = f" [{position_id(j.decision.state.position)}]"
            comments.setdefault((j.decision.game, j.decision.record), []).append(j.line() + where)
        if self.match.format != "sgf":
            return write_sgf(self.match, comments)
        at = {key: self.match.games[key[0]].records[key[1]].at for key in comments}
        return with_comments(self.data, {at[key]: lines for key, lines in comments.items()})


def read_matches(path: str | os.PathLike[str]) -> list[MatchFile]:
    """The matches of a file in any form that `bgfmt.matches` reads.

    Raises
    ------
    FormatError where it is none.
    """
    name = printable(os.path.basename(os.fspath(path)))
    data = matches.content(path)
    found = matches.read(data, name)
    return [MatchFile(name, match, data, len(found)) for match in found]


def read_match(path: str | os.PathLike[str]) -> MatchFile:
    """The first match of a file in any form that `bgfmt.matches` reads.

    Raises
    ------
    FormatError where it is none.
    """
    return read_matches(path)[0]


__all__ = ["Judgement", "MatchFile", "Report", "judge", "judge_match", "read_match", "read_matches"]
