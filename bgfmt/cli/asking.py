"""Shared by `race`, `cube`, `play` and the engines: options, parsing of arguments, and the adviser."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import click

from bgfmt import formats, met
from bgfmt.analysis import choose, library
from bgfmt.analysis.advisor import Advisor, Outside
from bgfmt.analysis.answers import SideRace
from bgfmt.analysis.positions import COUNTS, one_or_two
from bgfmt.analysis.questions import (
    MET,
    STATE,
    CubeAnswer,
    MatchCubeAnswer,
    PlayAnswer,
    Question,
    ScoresAnswer,
    TwoRaces,
    options,
)
from bgfmt.analysis.shapes import Plain
from bgfmt.analysis.sources import ASKED, PLAYING, Limits, Progress
from bgfmt.cli import terminal
from bgfmt.cli.options import answer_each_line, as_option, combine, echo_json, part_option
from bgfmt.errors import CapabilityError, PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.drawing import draw, draw_side
from bgfmt.game.identifiers import parse
from bgfmt.game.state import GameState
from bgfmt.tables import MatchScore
from bgfmt.tables.hypergammon import HyperSides
from bgfmt.tables.registry import Registry

__all__ = [
    "CHANCES",
    "DICE",
    "OTHER_SUFFIXES",
    "ROLL",
    "STDIN",
    "Words",
    "adviser",
    "answer_stdin",
    "board_of",
    "engine_adviser",
    "engine_options",
    "equity_table",
    "explain_ignored",
    "explain_ignored_in_race",
    "gather_question",
    "has_database_suffix",
    "limit_options",
    "load_charts",
    "note",
    "open_library",
    "percent",
    "question_and_limit_options",
    "question_options",
    "say",
    "split",
    "switch_of",
    "title",
]


F = TypeVar("F", bound=Callable[..., Any])
OTHER_SUFFIXES = (".bin", ".gz")  # further suffixes of databases, of no format
ROLL = re.compile(r"\d[-,]?\d|all", re.IGNORECASE)
STDIN = "-"
CHANCES = "match winning chances"
#: functions that format an answer as the text of another program, by the option `--format`
STYLES: Registry[Callable[[Any], str]] = Registry("bgfmt.styles")
#: modules with `cube_chart`, `distributions` and `score_chart`
CHARTS: Registry[Any] = Registry("bgfmt.charts")
DICE = "the identifier's dice are ignored: a cube action comes before the roll"


@dataclass(frozen=True)
class Words:
    """Parsed arguments: database paths, the position's text (empty for `-`), and the roll if any.

    many : True for `-`, one position per line of standard input.
    """

    paths: list[str]
    position: str
    roll: str | None = None
    many: bool = False


def split(words: tuple[str, ...], *, roll: bool = False) -> Words:
    """Split the arguments into databases, position and roll, which may be in any order.

    Files, folders and names with a database's suffix are databases; with `roll` the last of the other words is the
    roll if it looks like one; the rest, quoted or not, is the position, or `-` for one position per line of standard
    input. UsageError if there is no position, or a word is none of these.
    """
    paths = [word for word in words if _is_database(word)]
    rest = [word for word in words if not _is_database(word)]
    last = rest.pop() if roll and len(rest) > 1 and ROLL.fullmatch(rest[-1]) else None
    if rest == [STDIN]:
        return Words(paths, "", last, many=True)
    if not rest or (roll and last is None and ROLL.fullmatch(rest[-1])):
        raise click.UsageError(
            f"expected database files (optional), then the position{' and the roll' * roll} (from a text file: "
            '"$(cat FILE)")'
        )
    strange = [word for word in rest if not COUNTS.fullmatch(word)]
    if len(rest) > 1 and strange and not _is_position(" ".join(rest)):
        raise click.UsageError(f"{strange[0][:40]!r} is neither a file, a folder nor part of a position")
    return Words(paths, " ".join(rest), last)


def _is_position(text: str) -> bool:
    """Return True if words typed without quotes form a position, such as `Position ID: ...`."""
    try:
        return bool(one_or_two(text))
    except PositionError:
        return False


def _is_database(word: str) -> bool:
    """Return True if the word is an existing path, an address, or a name with a database's suffix."""
    if COUNTS.fullmatch(word) or word == STDIN:
        return False
    # not an address within a pasted text, nor one of a page that shows a position
    address = "://" in word and not re.search(r"\s|XGID=|[?&]pos\w*=", word, re.IGNORECASE)
    return address or os.path.exists(word) or has_database_suffix(word)


def has_database_suffix(name: str) -> bool:
    """Return whether a file's name ends in a suffix that some format of databases has."""
    return name.lower().endswith(
        (*OTHER_SUFFIXES, *(suffix for sign in formats.signatures().values() for suffix in sign.suffixes))
    )


@contextmanager
def open_library(
    paths: list[str], described: str | None, part: int | None, *, guard: bool = False
) -> Iterator[library.Library]:
    """Open the databases named, or this machine's default ones, and close them at the end; print what was skipped.

    described : format of a file without header (option --as). part : number of the database within a file (option
    --part). guard : read files instead of mapping them, so that this process survives if another truncates them.
    """
    if (described or part) and not paths:
        raise click.UsageError("--as and --part need the name of a database")
    databases = (
        library.open_paths(paths, part=part or 0, guard=guard, format=described)
        if paths
        else library.open_default()
    )
    with databases:
        for line in databases.notes:
            note(line)
        yield databases


# -- options -----------------------------------------------------------------------------------------------


def switch_of(name: str) -> str:
    """Return the command line's spelling of a query option, as `--cube-value` for `cube_value`."""
    return "--" + name.replace("_", "-")


def question_options(*names: str, **about: str) -> Callable[[F], F]:
    """Return a decorator that adds the options of a query with these names (fields of `Question`) to a command.

    about : help texts, by name, that replace the usual ones.
    """
    added = []
    for name in names:
        one = options()[name]
        spelled = switch_of(name)
        typed: dict[str, Any] = {}
        if one.kind is bool:
            spelled += f"/--no-{spelled[2:]}"
        elif one.kind is int:
            typed["type"] = int if one.choices else click.IntRange(*one.range)
        elif one.choices:
            typed["type"] = click.Choice(one.choices)
        text = about.get(name, one.about)
        added.append(click.option(spelled, name, default=None, metavar=one.metavar, help=text, **typed))
    return combine(*added)


def question_and_limit_options(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds query options, and those of limits and files, to a command.

    names : the query options, fields of `Question`; their values are passed as one `question`. The others are
    `--limit`, `--settle`, `--as` and `--part`.
    """
    late = [name for name in names if name in ("oracle", *MET)]
    early = [name for name in names if name not in late]
    return combine(
        question_options(*early), limit_options("what takes about ten seconds, see docs/ask.md"),
        question_options(*late),
        as_option, part_option, gather_question("settle", *names),
    )  # fmt: skip


def gather_question(*names: str) -> Callable[[F], F]:
    """Return a decorator that passes the options of these names, fields of `Question`, as one argument `question`."""

    def decorate(function: F) -> F:
        @wraps(function)
        def gathering(**given: Any) -> Any:
            question = Question(**{name: given.pop(name) for name in names})
            return function(question=question, **given)

        return gathering  # type: ignore[return-value]

    return decorate


def limit_options(default: str) -> Callable[[F], F]:
    """Return a decorator that adds `--limit`, `--settle` and `--no-settle`; `default` describes the default limit."""
    settle = options()["settle"].about + " With --no-settle all answers come from tables."
    most = (
        "Limit of the calculation for one query: the number of positions that can arise (one side's chequers against "
        f"the other's) times the number of states of the cube (default: {default})."
    )
    limit = click.option("--limit", type=click.IntRange(0), metavar="N", help=most)
    return combine(question_options("settle", settle=settle), limit)


#: options of the engines, which answer during a game: `--limit`, `--no-settle`, `--met`, `--extend-met`
engine_options = combine(
    limit_options("what takes about a second"),
    question_options("met", "extend_met"),
    gather_question("settle", "met", "extend_met"),
)


# -- the adviser -------------------------------------------------------------------------------------------


def equity_table(name: str | None, extend: bool | None) -> met.Met | None:
    """Return the match equity table for the values of `--met` and `--extend-met`; None if neither is given.

    name : name or file of the table. extend : whether it answers scores beyond its length.
    """
    if name is None and not extend:
        return None
    try:
        return met.load(name or met.DEFAULT, extend=bool(extend))
    except CapabilityError as error:  # neither a name nor a file
        raise click.BadParameter(str(error), param_hint="--met") from None


def engine_adviser(
    databases: library.Library,
    question: Question,
    limit: int | None = None,
    *,
    usual: Limits | None = None,
    outside: Outside = "refuse",
    progress: Progress | None = None,
) -> Advisor:
    """Return an adviser over the databases with the options of a query, for engines: its default limit is low.

    The players of an asymmetric match equity table are numbered as in queries.

    Parameters
    ----------
    limit : work per query, in pairs of boards times cube states; None for `usual`
    usual : default limits; those of an engine in the middle of a game if None
    outside : what to do with positions that no table covers
    progress : called with (done, total)
    """
    return Advisor(
        databases,
        met=equity_table(question.met, question.extend_met),
        met_player=question.met_player,
        calculate="nothing" if question.settle is False else "all",
        limit=(usual or PLAYING) if limit is None else limit,
        oracle=float(question.oracle or 0),
        outside=outside,
        progress=progress,
    )


@contextmanager
def adviser(
    said: Words, question: Question, limit: int | None, described: str | None, part: int | None
) -> Iterator[Advisor]:
    """Build an adviser over the databases named, or this machine's default ones, and close it at the end.

    said : the parsed arguments. question : its options choose match equity table, sources and rollouts. limit : work
    per query, in pairs of boards times cube states. described, part : format of a file without header, and number of
    the database in a file. For many queries the limits are lower, so that none delays the others for long. Progress
    is shown on a terminal.
    """
    question = replace(question, met_player=question.met_player or 0)
    beside = replace(ASKED, beside=Limits.beside) if said.paths else ASKED
    usual = Limits() if said.many else beside
    guard = said.many  # queries may arrive for hours
    with (
        open_library(said.paths, described, part, guard=guard) as tables,
        terminal.Progress("calculating", " pairs") as bar,
    ):
        yield engine_adviser(tables, question, limit, usual=usual, progress=bar)


# -- answers ---------------------------------------------------------------------------------------------


def title(state: GameState) -> str:
    """Return score, cube and rules of a state in words; empty for money play with a centered cube and usual rules."""
    words = []
    if state.away is not None:
        words.append(f"{state.away[0]}-away against {state.away[1]}-away")
        if state.crawford:
            words.append("Crawford game")
        elif state.post_crawford:
            words.append("after the Crawford game")
    if state.cube_value > 1 or state.owner != "centered":
        words.append(f"cube at {state.cube_value}, {state.owner}")
    if state.money and state.jacoby:
        words.append("Jacoby rule")
    if state.money and state.beavers is False:
        words.append("no beavers")
    return ", ".join(words)


def answer_stdin(answer: Callable[[str], Plain], style: str = "text") -> int:
    """Answer each line of standard input by a line of JSON; with another `style`, in the text of that program.

    Return the exit code: 1 if any line had an error, else 0.
    """

    def one(text: str) -> Any:
        found = answer(text)
        return {"asked": text} | found.as_dict() if style == "text" else STYLES[style](found)

    return answer_each_line(one)


def load_charts() -> Any:
    """Return the module that draws charts; CapabilityError if none is installed."""
    return CHARTS.first("nothing installed draws charts")


def note(text: str) -> None:
    """Print one line on stderr, such as what an answer ignores."""
    terminal.say(f"bgfmt: {text}", err=True)


def say(
    asked: str,
    answer: Plain,
    lines: Callable[[], list[str]],
    aside: list[str],
    as_json: bool,
    style: str = "text",
) -> None:
    """Print an answer: as JSON, as the text of another program (`style`), or as `lines`.

    asked : the text of the query. aside : lines about what was ignored; printed after `lines`, else on stderr.
    UsageError if both JSON and a style are requested.
    """
    if as_json and style != "text":
        raise click.UsageError(f"--json and --format {style} exclude each other")
    if style == "text" and not as_json:
        terminal.say("\n".join([*lines(), *(f"  {line}" for line in aside)]))
        return
    for line in aside:
        note(line)
    if as_json:
        echo_json({"asked": asked} | answer.as_dict())
    else:
        click.echo(STYLES[style](answer), nl=False)


def explain_ignored(
    advisor: Advisor,
    answer: CubeAnswer | MatchCubeAnswer | ScoresAnswer | PlayAnswer,
    asked: Question,
    named: object,
    spelled: Callable[[str], str] = switch_of,
) -> list[str]:
    """List, one line each, which parts of a query are ignored, and why tables that were `named` are not used.

    named : true if the user named databases. spelled : returns the spelling of an option's name in these lines.
    """
    state = answer.state
    lines = []
    names: tuple[str, ...] = MET if state and state.money else ()
    what = "this is not a match"
    if state is None:
        names = (*MET, *STATE, "oracle")
        what = "the position is one side"
    elif isinstance(answer, ScoresAnswer):
        names = ("away", "crawford", "jacoby", "beavers", "oracle")
        what = "the query covers all scores"
    elif isinstance(answer, PlayAnswer) and answer.first.measure not in ("money", "match"):
        names = (*MET, *STATE)
        what = f"plays are ranked by {answer.first.measure}"
    if words := ", ".join(spelled(name) for name in names if getattr(asked, name) is not None):
        lines.append(f"ignored: {words}; {what}")
    if state is not None and state.dice and not isinstance(answer, PlayAnswer):
        lines.append(DICE)
    if state is not None and state.limit < GameState.limit and state.cube_in_use:
        lines.append(f"the largest cube, {1 << state.limit}, is ignored")
    if state is not None and state.beavered:
        word = "beaver" if state.beavered == 1 else "raccoon"
        lines.append(f"a {word} has been offered; it is ignored, and the answer is that to the first double")
    if asked.insight and getattr(answer, "insight", None) is None:
        lines.append("no insight: it needs a decision at one score that is not estimated")
    if state is None or not named:
        return lines
    if isinstance(answer, ScoresAnswer):
        used = map(advisor.library.name, advisor.library.tables)
        return lines + [f"{name} is skipped: the cube at all scores is calculated" for name in used]
    if isinstance(answer, PlayAnswer):
        if answer.first.source == "forced":
            return lines
        table = answer.first.table
        wanted = CHANCES if answer.first.met else "both sides' equities"
    elif isinstance(answer, MatchCubeAnswer):
        table = answer.action.table
        wanted = CHANCES
    else:
        table = answer.equities.table
        wanted = "both sides' cubeful equities"
    return lines + _explain_unused_tables(advisor, table, state, wanted, asked.met_player)


def explain_ignored_in_race(
    advisor: Advisor, text: str, answer: SideRace | TwoRaces, named: object
) -> list[str]:
    """List, one line each, which parts of an identifier a race ignores, and why `named` tables are not used."""
    lines = []
    try:
        state = parse(text)
    except ValueError:
        state = None
    if state is not None:
        turned = state.cube_value > 1 or state.cube_owner is not None
        parts = [("dice", state.dice), ("cube", turned), ("score", state.length)]
        if ignored := " and ".join(name for name, there in parts if there):
            lines.append(f"ignored: {ignored} of the identifier; a race depends on the chequers alone")
    races = [answer.on_roll, answer.other_side] if isinstance(answer, TwoRaces) else [answer]
    library = advisor.library
    names = {library.name(table): table for table in library.tables}
    unanswered = [race.side for race in races if race.table not in names]
    if named and unanswered:
        for name, table in names.items():
            reason = choose.not_covered([table], *unanswered, wanted="the rolls of one side")
            lines.append(f"{name} is skipped: {reason}")
    return lines


def _explain_unused_tables(
    advisor: Advisor, used: str | None, state: GameState, wanted: str, met_player: int | None
) -> list[str]:
    """List, one line each, why named tables are not used.

    If no named table answered, each is explained; hypergammon tables always are.
    """
    library = advisor.library
    lines = []
    position = state.position
    for table in library.tables:
        name = library.name(table)
        reason: object = "hypergammon is another game; to use it, name no other table"
        if isinstance(table, MatchScore) and not state.money:
            from bgfmt.analysis import at_score

            reason = at_score.refusal(table, position, advisor.score(state, met_player=met_player))
        elif not isinstance(table, HyperSides):
            reason = used is None and choose.not_covered([table], position.us, position.them, wanted=wanted)
        if reason and name != used:
            lines.append(f"{name} is skipped: {reason}")
    return lines


def board_of(asked: GameState | Side | Position) -> str:
    """Return a drawing as text: of a state or position the whole board, of a side its own points alone."""
    if isinstance(asked, GameState):
        return draw(asked.position, asked.chequers)
    return draw(asked) if isinstance(asked, Position) else draw_side(asked)


def percent(chance: float) -> str:
    """Format a probability as per cent with three decimals and the sign, right-aligned: 0.12345 is "  12.345 %"."""
    return f"{100 * chance:8.3f} %"
