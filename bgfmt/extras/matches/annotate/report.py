"""What the judgements of a match, and of many, add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bgfmt.errors import BeyondMetError, NotCoveredError, PositionError
from bgfmt.extras.matches import Game, Match, printable
from bgfmt.extras.matches.annotate.judging import Judge, Judgement
from bgfmt.extras.matches.decisions import decisions
from bgfmt.met import Met

WORST = 10


class Figure(NamedTuple):
    """One number of a `Total`: its name in JSON and CSV, its heading on the page, and how it is printed.

    factor : what it is printed multiplied by. heading : empty for what the page leaves out.
    """

    name: str
    heading: str = ""
    form: str = "d"
    factor: float = 1.0

    def text(self, total: Total) -> str:
        """The number as printed, empty where there is none."""
        value = getattr(total, self.name)
        return "" if value is None else format(self.factor * value if self.factor != 1 else value, self.form)


FIGURES = (
    Figure("decisions", "decisions"), Figure("plays"), Figure("unforced_plays"), Figure("cube_decisions"),
    Figure("unforced"), Figure("forced", "forced"), Figure("right"), Figure("close", "close"),
    Figure("approximate", "approx."), Figure("illegal"), Figure("errors", "errors"),
    Figure("play_errors", "plays"), Figure("cube_errors", "cube"), Figure("equity_lost", "equity lost", ".4f"),
    Figure("mwc_lost", "MWC lost %", ".3f", 100), Figure("points_lost", "points lost", ".3f"),
    Figure("approximate_lost"), Figure("error_rate"), Figure("play_lost"), Figure("cube_lost"),
    Figure("xg_decisions"), Figure("race_pr", "race PR", ".2f"),
    Figure("gnubg_decisions"), Figure("race_memg", "race mEMG", ".1f"), Figure("estimated", "estimated"),
    Figure("doubles"), Figure("takes"), Figure("passes"),
    Figure("missed_doubles", "missed doubles"), Figure("wrong_doubles", "wrong doubles"),
    Figure("wrong_takes", "wrong takes"), Figure("wrong_passes", "wrong passes"),
    Figure("doubtful", "doubtful"), Figure("bad", "bad"), Figure("very_bad", "very bad"),
    Figure("xg_errors", "XG errors"), Figure("xg_blunders", "XG blunders"),
    Figure("file_judged"), Figure("file_differs", "file differs"),
    Figure("rolls"), Figure("luck", "luck", "+.3f"), Figure("luck_mwc", "luck MWC %", "+.3f", 100),
)  # fmt: skip
_WRONG = {"no double": "missed_doubles", "double": "wrong_doubles", "pass": "wrong_passes"}


@dataclass
class Total:
    """One player's sums.

    decisions : judged; plays and cube decisions add up to them. unforced : where there was a choice. right, close,
    approximate, illegal : how many of those are not errors, and why; errors : the rest, by kind. estimated : those
    whose numbers are estimated or played out within a known error.
    equity_lost : by errors and close decisions, play_lost and cube_lost of it by kind; mwc_lost : of it in matches,
    chances to win the match, added up over all; points_lost : for money, with the cube. approximate_lost : by
    approximate decisions, not in the others.
    xg_decisions, gnubg_decisions : those that the rates of the two programs are by. doubtful, bad, very_bad : gnubg's
    classes; xg_errors (with the blunders), xg_blunders : eXtreme Gammon's.
    file_judged, file_differs : decisions that the file's own analysis judges, and judges otherwise.
    rolls : those whose luck is known; luck, luck_mwc : its sum.
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
    estimated: int = 0
    play_lost: float = 0.0
    cube_lost: float = 0.0
    mwc_lost: float = 0.0
    points_lost: float = 0.0
    approximate_lost: float = 0.0
    xg_decisions: int = 0
    gnubg_decisions: int = 0
    doubles: int = 0
    takes: int = 0
    passes: int = 0
    missed_doubles: int = 0
    wrong_doubles: int = 0
    wrong_takes: int = 0
    wrong_passes: int = 0
    doubtful: int = 0
    bad: int = 0
    very_bad: int = 0
    xg_errors: int = 0
    xg_blunders: int = 0
    file_judged: int = 0
    file_differs: int = 0
    rolls: int = 0
    luck: float = 0.0
    luck_mwc: float = 0.0

    def add(self, one: Judgement) -> None:
        """Count a judgement."""
        play, verdict, kind = one.decision.kind == "play", one.verdict, one.decision.kind
        self.decisions += 1
        self.plays += play
        self.cube_decisions += not play
        self.unforced_plays += play and verdict != "forced"
        self.estimated += one.method != "exact" and one.bounded
        self._count("errors" if verdict == "error" else verdict)
        if not play and kind != "no double":
            self._count({"double": "doubles", "pass": "passes"}.get(kind, "takes"))
        if verdict == "error":
            self.play_errors += play
            self.cube_errors += not play
            if not play:
                self._count(_WRONG.get(kind, "wrong_takes"))
        if verdict == "approximate":
            self.approximate_lost += one.loss or 0.0
        else:
            self.play_lost += (play and one.loss) or 0.0
            self.cube_lost += (not play and one.loss) or 0.0
            self.mwc_lost += one.loss_mwc or 0.0
            self.points_lost += one.points or 0.0
        self.xg_decisions += one.counts("xg")
        self.gnubg_decisions += one.counts("gnubg")
        word, other = one.class_of("gnubg"), one.class_of("xg")
        if word:
            self._count(word.replace(" ", "_"))
        self.xg_errors += other is not None
        self.xg_blunders += other == "blunder"
        self.file_judged += one.file is not None
        self.file_differs += one.file is not None and one.file.differs
        if one.luck is not None:
            self.rolls += 1
            self.luck += one.luck
            self.luck_mwc += one.luck_mwc or 0.0

    def _count(self, name: str) -> None:
        setattr(self, name, getattr(self, name) + 1)

    @property
    def equity_lost(self) -> float:
        """Equity lost by plays and at the cube, normalised: for a cube at 1, in a match EMG."""
        return self.play_lost + self.cube_lost

    @property
    def unforced(self) -> int:
        """Decisions with a choice, of which no number is only estimated."""
        return self.right + self.close + self.errors

    @property
    def rate(self) -> float | None:
        """Equity lost a decision with a choice; None without any."""
        return self.equity_lost / self.unforced if self.unforced else None

    error_rate = rate  # its name in JSON

    @property
    def race_pr(self) -> float | None:
        """The performance rating of the race alone as eXtreme Gammon reckons it: 500 times the loss a decision."""
        return 500 * self.equity_lost / self.xg_decisions if self.xg_decisions else None

    @property
    def race_memg(self) -> float | None:
        """The error rate of the race alone as gnubg reckons it: thousandths of EMG a decision."""
        return 1000 * self.equity_lost / self.gnubg_decisions if self.gnubg_decisions else None

    def as_dict(self) -> dict[str, Any]:
        """The sums as plain values."""
        return {"player": self.player, "name": self.name} | {f.name: getattr(self, f.name) for f in FIGURES}


def sums(reports: Sequence[MatchReport], *, game: int | None = None) -> list[Total]:
    """Each player's sums over matches, or a game of them, told apart by name; of one match in the players' order."""
    totals: dict[tuple[str, bool], Total] = {}
    for report in reports:
        first, second = report.match.players
        keys = ((first, False), (second, first == second))
        for player, key in enumerate(keys):
            totals.setdefault(key, Total(key[0], player if len(reports) == 1 else None))
        for one in report.judgements:
            if game in (None, one.decision.game):
                totals[keys[one.decision.player]].add(one)
    return list(totals.values())


@dataclass
class MatchReport:
    """All judged decisions of a match, in order.

    file, number : where it is from, the first of a file being 1. met : the match equity table, None for money.
    decisions : all of the match; races : of them those past contact. beyond : races that neither tables nor the limit
    reach, and odd : why some were not judged, a line each. folder : where the file lies.
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
    folder: str = ""

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
    def totals(self) -> list[Total]:
        """Each player's sums."""
        return sums([self])

    @property
    def games(self) -> Iterator[tuple[Game, list[Total]]]:
        """The games of which something is judged, each with the players' sums."""
        judged = {one.decision.game for one in self.judgements}
        for place in sorted(judged):
            yield self.match.games[place], sums([self], game=place)

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
            "folder": self.folder,
            "date": self.match.date,
            "event": self.match.event,
            "round": self.match.round,
            "place": self.match.place,
            "by_game": [
                {"game": game.number, "scores": list(game.scores)} | {"totals": [t.as_dict() for t in totals]}
                for game, totals in self.games
            ],
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
        return sums(self.matches)

    @property
    def folders(self) -> dict[str, list[Total]]:
        """Each player's sums over the matches of a folder, by the folder's name."""
        names = dict.fromkeys(report.folder for report in self.matches)
        return {name: sums([one for one in self.matches if one.folder == name]) for name in names}

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
            "by_folder": [
                {"folder": name, "totals": [total.as_dict() for total in totals]}
                for name, totals in self.folders.items()
            ],
        }


def judge_match(
    match: Match, judge: Judge, *, file: str = "", number: int = 1, folder: str = ""
) -> MatchReport:
    """Judge every decision of a match that is a race."""
    met = judge.met if match.length else None
    report = MatchReport(match, [], file, number, met, folder=folder)
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
