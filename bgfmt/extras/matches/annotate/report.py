"""Totals of the judgements of one match or many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from html import escape
from operator import add
from typing import Any, NamedTuple

from bgfmt.analysis.shapes import Plain, to_plain
from bgfmt.errors import BeyondMetError, NotCoveredError, PositionError
from bgfmt.extras.matches import Game, Match, printable
from bgfmt.extras.matches.annotate.judging import Judge, Judgement
from bgfmt.extras.matches.decisions import decisions
from bgfmt.met import Met

WORST = 10


@dataclass(eq=False)
class Figure:
    """Descriptor of one number of a `Total`; its name is that in JSON and CSV.

    of : the contribution of one judgement, None or False for none; if `whole`, the value computed from the total.
    heading : column heading on the page, empty for a number that the page does not show.
    form, factor : format specification, and the factor applied before printing.
    """

    of: Callable[[Any], float | None]
    heading: str = ""
    form: str = "d"
    factor: float = 1
    whole: bool = False
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, total: Any, owner: type) -> Any:
        if total is None:
            return self
        zero = 0 if self.form == "d" else 0.0
        of = self.of
        value = of(total) if self.whole else reduce(add, (of(one) or zero for one in total.judgements), zero)
        return vars(total).setdefault(self.name, value)

    def text(self, total: Total) -> str:
        """Format the value of this figure in a player's total as text, "" if it has none."""
        value = getattr(total, self.name)
        return "" if value is None else format(self.factor * value, self.form)


def _loss_rate(factor: float, decisions: str) -> Callable[[Total], float | None]:
    """Return a function for the equity lost for each of these decisions, times `factor`.

    None for a total without any.
    """

    def rate(total: Total) -> float | None:
        count = getattr(total, decisions)
        return factor * total.equity_lost / count if count else None

    return rate


@dataclass
class Total(Plain):
    """The totals of one player, as described in docs/json.md.

    Equities are for a cube at 1, in a match EMG; match winning probabilities are summed over all matches, and points
    include the cube. Losses estimated without an error bound are in `approximate_lost` only.
    """

    name: str
    player: int | None = None
    judgements: list[Judgement] = field(default_factory=list)

    decisions = Figure(lambda one: True, "decisions")
    plays = Figure(lambda one: one.play)
    unforced_plays = Figure(lambda one: one.play and not one.forced)
    cube_decisions = Figure(lambda one: not one.play)
    unforced = Figure(lambda total: total.right + total.close + total.errors, whole=True)
    forced = Figure(lambda one: one.verdict == "forced", "forced")
    right = Figure(lambda one: one.verdict == "right")
    close = Figure(lambda one: one.verdict == "close", "close")
    approximate = Figure(lambda one: one.verdict == "approximate", "approx.")
    illegal = Figure(lambda one: one.verdict == "illegal")
    errors = Figure(lambda one: one.verdict == "error", "errors")
    play_errors = Figure(lambda one: one.error and one.play, "play errors")
    cube_errors = Figure(lambda one: one.error and not one.play, "cube errors")
    equity_lost = Figure(lambda total: total.play_lost + total.cube_lost, "equity lost", ".4f", whole=True)
    mwc_lost = Figure(lambda one: one.bounded and one.loss_mwc, "MWC lost %", ".3f", 100)
    points_lost = Figure(lambda one: one.bounded and one.points, "points lost", ".3f")
    approximate_lost = Figure(lambda one: not one.bounded and one.loss, form=".4f")
    error_rate = Figure(_loss_rate(1, "unforced"), whole=True)
    play_lost = Figure(lambda one: one.bounded and one.play and one.loss, form=".4f")
    cube_lost = Figure(lambda one: one.bounded and not one.play and one.loss, form=".4f")
    xg_decisions = Figure(lambda one: one.counts("xg"))
    race_pr = Figure(_loss_rate(500, "xg_decisions"), "race PR", ".2f", whole=True)
    gnubg_decisions = Figure(lambda one: one.counts("gnubg"))
    race_memg = Figure(_loss_rate(1000, "gnubg_decisions"), "race mEMG", ".1f", whole=True)
    estimated = Figure(lambda one: one.method != "exact" and one.bounded, "estimated")
    doubles = Figure(lambda one: one.did == "double")
    takes = Figure(lambda one: one.did in ("take", "beaver"))
    passes = Figure(lambda one: one.did == "pass")
    missed_doubles = Figure(lambda one: one.error and one.did == "no double", "missed doubles")
    wrong_doubles = Figure(lambda one: one.error and one.did == "double", "wrong doubles")
    wrong_takes = Figure(lambda one: one.error and one.did in ("take", "beaver"), "wrong takes")
    wrong_passes = Figure(lambda one: one.error and one.did == "pass", "wrong passes")
    doubtful = Figure(lambda one: one.class_gnubg == "doubtful", "doubtful")
    bad = Figure(lambda one: one.class_gnubg == "bad", "bad")
    very_bad = Figure(lambda one: one.class_gnubg == "very bad", "very bad")
    xg_errors = Figure(lambda one: one.class_xg is not None, "XG errors")
    xg_blunders = Figure(lambda one: one.class_xg == "blunder", "XG blunders")
    file_judged = Figure(lambda one: one.file is not None)
    file_differs = Figure(lambda one: one.file is not None and one.file.differs, "file differs")
    rolls = Figure(lambda one: one.luck is not None)
    luck = Figure(lambda one: one.luck, "luck", "+.3f")
    luck_mwc = Figure(lambda one: one.luck_mwc, "luck MWC %", "+.3f", 100)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures of the player as a dictionary for JSON, by the names of docs/json.md."""
        return {"player": self.player, "name": self.name} | {f.name: getattr(self, f.name) for f in FIGURES}


FIGURES = [value for value in vars(Total).values() if isinstance(value, Figure)]


def sums(reports: Sequence[MatchReport], *, game: int | None = None) -> list[Total]:
    """Return the totals of the judgements by player, identified by name.

    reports : matches; for a single one the totals are in the order of its players. game : index of a game, None for
    all.
    """
    totals: dict[tuple[str, bool], Total] = {}
    for report in reports:
        first, second = report.match.players
        keys = ((first, False), (second, first == second))
        for player, key in enumerate(keys):
            totals.setdefault(key, Total(key[0], player if len(reports) == 1 else None))
        for one in report.judgements:
            if game in (None, one.decision.game):
                totals[keys[one.decision.player]].judgements.append(one)
    return list(totals.values())


@dataclass
class MatchReport(Plain):
    """All judged decisions of a match, in order.

    file, number, folder : the file's name, the number of the match in it from 1, and its folder.
    met : the match equity table, None for money. decisions : number of decisions of the match. races : number of
    those without contact. beyond : number of races that neither tables nor the limit of calculation cover. odd :
    messages why some decisions were not judged.
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
        """The players' names, safe to print to a terminal."""
        first, second = (printable(name) or "(no name)" for name in self.match.players)
        return first, second

    @property
    def problems(self) -> list[str]:
        """Contradictions in the record of the match, and reasons why decisions were not judged."""
        return [*self.match.problems, *self.odd]

    @property
    def totals(self) -> list[Total]:
        """Totals of both players over the match, the first player first."""
        return sums([self])

    @property
    def games(self) -> Iterator[tuple[Game, list[Total]]]:
        """Each game with judged decisions, with both players' totals in it."""
        judged = {one.decision.game for one in self.judgements}
        for place in sorted(judged):
            yield self.match.games[place], sums([self], game=place)

    def as_dict(self) -> dict[str, Any]:
        """Return the match and its totals, without its decisions, as a dictionary for JSON."""
        met = self.met
        match = self.match
        return {
            "file": self.file,
            "number": self.number,
            "players": list(match.players),
            "match_length": match.length,
            "games": len(match.games),
            "judged": "money" if met is None else "match",
            "met": None if met is None else {"name": met.name, "digest": met.digest},
            "decisions_met": self.decisions,
            "races": self.races,
            "decisions_covered": len(self.judgements),
            "beyond": self.beyond,
            "totals": to_plain(self.totals),
            "problems": self.problems,
            "folder": self.folder,
            "date": match.date,
            "event": match.event,
            "round": match.round,
            "place": match.place,
            "by_game": [
                {"game": game.number, "scores": list(game.scores), "totals": to_plain(totals)}
                for game, totals in self.games
            ],
        }


class Unread(NamedTuple):
    """A file that could not be read: its name, a one-line reason, and the class of the error."""

    file: str
    why: str
    kind: str

    def as_dict(self) -> dict[str, Any]:
        """Return the file and the error as a dictionary for JSON."""
        return {"file": self.file, "error": {"kind": self.kind, "message": self.why}}


#: renders a report as an HTML page, for notebooks; the module `page`, which is built on this one, adds itself
RENDERERS: list[Callable[[Report], str]] = []


@dataclass
class Report:
    """Judged matches, and files that could not be read.

    passed : number of ignored files that are no matches. page : address of a page of `bgfmt serve` or `bgfmt site`,
    to which the positions of an HTML page link.
    """

    matches: list[MatchReport] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    passed: int = 0
    page: str = ""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(RENDERERS[0](self))}" style="width:100%;height:40rem;border:0"></iframe>'

    @property
    def totals(self) -> list[Total]:
        """Totals of each player over all matches, in order of appearance; of a single match in player order."""
        return sums(self.matches)

    @property
    def folders(self) -> dict[str, list[Total]]:
        """Totals of each player over the matches of a folder, {name of the folder: totals}."""
        names = dict.fromkeys(report.folder for report in self.matches)
        return {name: sums([one for one in self.matches if one.folder == name]) for name in names}

    def worst(self, most: int = WORST) -> list[tuple[MatchReport, Judgement]]:
        """Return the `most` errors that lost most equity, each with its match, the largest loss first.

        Luck is not considered.
        """
        errors = [(report, one) for report in self.matches for one in report.judgements if one.error]
        return sorted(errors, key=lambda pair: -(pair[1].loss or 0.0))[:most]

    def as_dict(self, most: int = WORST) -> dict[str, Any]:
        """Return matches, decisions and totals as a dictionary for JSON; `worst` holds indices into `decisions`.

        most : number of worst errors.
        """
        every = [
            (place, report, one) for place, report in enumerate(self.matches) for one in report.judgements
        ]
        listed = [{"file": report.file, "match": place} | one.as_dict() for place, report, one in every]
        at = {id(one): place for place, (_, _, one) in enumerate(every)}
        return {
            "matches": to_plain(self.matches),
            "decisions_met": sum(report.decisions for report in self.matches),
            "races": sum(report.races for report in self.matches),
            "decisions_covered": len(every),
            "decisions": listed,
            "totals": to_plain(self.totals),
            "worst": [at[id(one)] for _, one in self.worst(most)],
            "problems": [problem for report in self.matches for problem in report.problems],
            "unread": [one.as_dict() for one in self.unread],
            "by_folder": [
                {"folder": name, "totals": to_plain(totals)} for name, totals in self.folders.items()
            ],
        }


def judge_match(
    match: Match, judge: Judge, *, file: str = "", number: int = 1, folder: str = ""
) -> MatchReport:
    """Judge every race decision of a match and return the report.

    Parameters
    ----------
    match, judge : the match and the judge.
    file, folder : the file's name and its folder, for the report.
    number : the number of the match in the file, from 1.
    """
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
            lost = "nothing is judged after a lost play until the file has a board"
            odd[f"game {match.games[decision.game].number}: {lost}"] = None
            continue
        try:
            report.judgements.append(judge.judge(decision))
        except NotCoveredError as error:
            report.beyond += 1
            if isinstance(error, BeyondMetError):
                odd[str(error)] = None
        except PositionError as error:
            odd[f"game {decision.game_number}: {error}"] = None
    report.odd += odd
    return report
