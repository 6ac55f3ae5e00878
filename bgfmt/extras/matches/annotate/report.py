"""What the judgements of a match, and of many, add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bgfmt.errors import BeyondMetError, NotCoveredError, PositionError
from bgfmt.extras.matches import Match, printable
from bgfmt.extras.matches.annotate.judging import Judge, Judgement
from bgfmt.extras.matches.decisions import decisions
from bgfmt.met import Met

WORST = 10


@dataclass
class Total:
    """One player's sums.

    decisions : judged; plays and cube decisions add up to them. unforced : where there was a choice. right, close,
    approximate, illegal : how many of those are not errors, and why; errors : the rest, by kind.
    equity_lost : by errors and close decisions; mwc_lost : of it in matches, chances to win the match, added up over
    all; points_lost : for money, with the cube. approximate_lost : by approximate decisions, not in the others.
    """

    name: str
    player: int | None = None
    decisions: int = 0
    plays: int = 0
    unforced_plays: int = 0
    cube_decisions: int = 0
    forced: int = 0
    right: int = 0
    close: int = 0
    approximate: int = 0
    illegal: int = 0
    errors: int = 0
    play_errors: int = 0
    cube_errors: int = 0
    equity_lost: float = 0.0
    mwc_lost: float = 0.0
    points_lost: float = 0.0
    approximate_lost: float = 0.0

    def add(self, one: Judgement) -> None:
        """Count a judgement."""
        play, verdict = one.decision.kind == "play", one.verdict
        self.decisions += 1
        self.plays += play
        self.cube_decisions += not play
        self.unforced_plays += play and verdict != "forced"
        name = "errors" if verdict == "error" else verdict
        setattr(self, name, getattr(self, name) + 1)
        if verdict == "error":
            self.play_errors += play
            self.cube_errors += not play
        if verdict == "approximate":
            self.approximate_lost += one.loss or 0.0
        else:
            self.equity_lost += one.loss or 0.0
            self.mwc_lost += one.loss_mwc or 0.0
            self.points_lost += one.points or 0.0

    @property
    def unforced(self) -> int:
        """Decisions with a choice, of which no number is only estimated."""
        return self.right + self.close + self.errors

    @property
    def rate(self) -> float | None:
        """Equity lost a decision with a choice; None without any."""
        return self.equity_lost / self.unforced if self.unforced else None

    def as_dict(self) -> dict[str, Any]:
        """The sums as plain values."""
        names = "player name decisions plays unforced_plays cube_decisions unforced forced right close approximate"
        names += " illegal errors play_errors cube_errors equity_lost mwc_lost points_lost approximate_lost"
        return {name: getattr(self, name) for name in names.split()} | {"error_rate": self.rate}


@dataclass
class MatchReport:
    """All judged decisions of a match, in order.

    file, number : where it is from, the first of a file being 1. met : the match equity table, None for money.
    decisions : all of the match; races : of them those past contact. beyond : races that neither tables nor the limit
    reach, and odd : why some were not judged, a line each.
    """

    match: Match
    judgements: list[Judgement]
    file: str = ""
    number: int = 1
    met: Met | None = None
    decisions: int = 0
    races: int = 0
    beyond: int = 0
    odd: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, str]:
        """The players, fit for a terminal."""
        first, second = (printable(name) or "(no name)" for name in self.match.players)
        return first, second

    @property
    def problems(self) -> list[str]:
        """What does not fit in the record of the match, and what could not be judged."""
        return [*self.match.problems, *self.odd]

    @property
    def totals(self) -> tuple[Total, Total]:
        """Each player's sums."""
        both = Total(self.match.players[0], 0), Total(self.match.players[1], 1)
        for one in self.judgements:
            both[one.decision.player].add(one)
        return both

    def as_dict(self) -> dict[str, Any]:
        """The match without its decisions."""
        met = self.met
        return {
            "file": self.file,
            "number": self.number,
            "players": list(self.match.players),
            "match_length": self.match.length,
            "games": len(self.match.games),
            "judged": "money" if met is None else "match",
            "met": None if met is None else {"name": met.name, "digest": met.digest},
            "decisions_met": self.decisions,
            "races": self.races,
            "decisions_covered": len(self.judgements),
            "beyond": self.beyond,
            "totals": [total.as_dict() for total in self.totals],
            "problems": self.problems,
        }


class Unread(NamedTuple):
    """A file that could not be read: its name, why in one line, and the class of the error."""

    file: str
    why: str
    kind: str

    def as_dict(self) -> dict[str, Any]:
        """As plain values, the error as commands give it."""
        return {"file": self.file, "error": {"kind": self.kind, "message": self.why}}


@dataclass
class Report:
    """Matches judged, and files that could not be read."""

    matches: list[MatchReport] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    passed: int = 0

    @property
    def totals(self) -> list[Total]:
        """Each player's sums over all matches, told apart by name; of a single match in the order of its players."""
        totals: dict[tuple[str, bool], Total] = {}
        for report in self.matches:
            first, second = report.match.players
            keys = ((first, False), (second, first == second))
            for player, key in enumerate(keys):
                totals.setdefault(key, Total(key[0], player if len(self.matches) == 1 else None))
            for one in report.judgements:
                totals[keys[one.decision.player]].add(one)
        return list(totals.values())

    def worst(self, most: int = WORST) -> list[tuple[MatchReport, Judgement]]:
        """The errors that lost most equity, the greatest first. Dice have no part in it."""
        errors = [(report, one) for report in self.matches for one in report.judgements if one.error]
        return sorted(errors, key=lambda pair: -(pair[1].loss or 0.0))[:most]

    def as_dict(self, most: int = WORST) -> dict[str, Any]:
        """All as plain values: the matches, all their decisions in one list, and what they add up to."""
        every = [
            (place, report, one) for place, report in enumerate(self.matches) for one in report.judgements
        ]
        listed = [{"file": report.file, "match": place} | one.as_dict() for place, report, one in every]
        at = {id(one): place for place, (_, _, one) in enumerate(every)}
        return {
            "matches": [report.as_dict() for report in self.matches],
            "decisions_met": sum(report.decisions for report in self.matches),
            "races": sum(report.races for report in self.matches),
            "decisions_covered": len(every),
            "decisions": listed,
            "totals": [total.as_dict() for total in self.totals],
            "worst": [at[id(one)] for _, one in self.worst(most)],
            "problems": [problem for report in self.matches for problem in report.problems],
            "unread": [one.as_dict() for one in self.unread],
        }


def judge_match(match: Match, judge: Judge, *, file: str = "", number: int = 1) -> MatchReport:
    """Judge every decision of a match that is a race."""
    report = MatchReport(match, [], file, number, judge.met if match.length else None)
    odd: dict[str, None] = {}  # each line once
    for decision in decisions(match):
        report.decisions += 1
        position = decision.state.position
        if position.contact or not position.us.chequers or not position.them.chequers:
            continue
        report.races += 1
        if not match.games[decision.game].records[decision.record].sure:
            number = match.games[decision.game].number
            odd[
                f"game {number}: nothing is judged after a play that is lost, until the file gives a board"
            ] = None
            continue
        try:
            report.judgements.append(judge.judge(decision))
        except NotCoveredError as error:
            report.beyond += 1
            if isinstance(error, BeyondMetError):
                odd[str(error)] = None
        except PositionError as error:
            odd[f"game {decision.game + 1}: {error}"] = None
    report.odd += odd
    return report
