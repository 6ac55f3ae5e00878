"""The commands `matches`, which lists recorded matches, and `annotate` and `judge`, which judge bearoff decisions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from bgfmt import storage
from bgfmt.analysis.insight import insight
from bgfmt.analysis.questions import MET, STATE, Question, state_of
from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress
from bgfmt.errors import BgfmtError, PositionError
from bgfmt.extras.matches import each, plays, printable, read
from bgfmt.extras.matches.annotate import Judge, Judgement, Report, annotate_file, find, text
from bgfmt.extras.matches.annotate import judge as judged
from bgfmt.extras.matches.annotate.files import (
    SUFFIXES,
    Outcome,
    add_outcomes,
    content,
    form_of,
    outcome_of,
    write_folder,
)
from bgfmt.extras.matches.annotate.pool import judge_in_processes, judge_over, usual_workers
from bgfmt.extras.matches.decisions import Decision
from bgfmt.extras.options import choice_option, number_option
from bgfmt.game.moves import Play, parse_roll
from bgfmt.game.state import GameState

FORMS = ("sgf", "html", "json", "text", "csv", "sums")


def _address(_: click.Context, option: click.Parameter, url: str) -> str:
    if url and not re.fullmatch(r"https?://[!-~]+", url):
        raise click.BadParameter(
            f"{url!r} is not a valid address, such as http://localhost:8753/", param=option
        )
    return url.partition("?")[0]


@section("Matches")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE|FOLDER... [DB...]")
@click.option(
    "-o", "--output", type=click.Path(),
    help="File to write: .sgf (the match with comments and gnubg's analysis), .html, .json, .csv (a row for each "
    "decision) or .txt; or a folder (an existing one, or NAME/) for a file per match.",
)  # fmt: skip
@choice_option(
    "--to", "form", among=FORMS,
    help="Format to write (default: by the suffix of PATH); `sums` is a .csv with the totals of each player.",
)  # fmt: skip
@click.option(
    "--db", "databases", multiple=True, type=click.Path(),
    help="Database or folder of databases; repeatable. Databases may also be named among the files.",
)  # fmt: skip
@number_option(
    "--workers", least=1, most=256, help="Processes that share several files (default: all cores, 8 at most)."
)
@number_option("--worst", least=0, default=10, help="How many errors to show with a board.")
@click.option(
    "--page", default="", metavar="URL", callback=_address,
    help="Address of a page of `bgfmt serve` or `bgfmt site`; the positions in an .html file become links to it.",
)  # fmt: skip
@asking.question_options(
    *MET,
    met_player="Which of the table's players, 0 or 1, the first player of the file is, for a match equity table that "
    "differs by player.",
)
@asking.limit_options("8 million: a third of a second a game, enough for eight chequers a side at home")
@asking.question_options("oracle")
@options.force_option
@options.as_option
@options.json_option
def annotate(
    files: tuple[str, ...], output: str | None, form: str | None, databases: tuple[str, ...], worst: int, page: str,
    limit: int | None, settle: bool | None, oracle: bool | None, met: str | None, extend_met: bool | None,
    met_player: int | None, force: bool, described: str | None, as_json: bool, workers: int | None,
) -> int:  # fmt: skip
    """Judge every bearoff decision of the matches in FILE... and FOLDER... (.mat, .txt, .sgf, .xg, .bgf, OGXM).

    The report has plays, doubles, missed doubles, takes and passes: what was done, what was best and what the
    difference cost, at the score or for money; totals and rates of each player; and the worst errors with their
    boards. Positions that no table covers are calculated if --limit allows it. DB are databases; the default is
    BGFMT_DB, else gnubg's installed databases, else the default tables.

    A file that cannot be read is named and skipped; the exit code is then 2.

    \b
    Examples:
      bgfmt annotate evening.sgf -o evening-judged.sgf
      bgfmt annotate evening.mat -o evening.html
      bgfmt annotate matches/ -o judged/ --to html
    """
    more = [path for path in files if _is_database(path)]
    paths = [path for path in files if path not in more]
    target = _target(paths, output, form, force=force)
    report = Report(page=page)
    options_of_judge: dict[str, Any] = {
        "met": asking.equity_table(met, extend_met), "met_player": met_player or 0, "limit": limit,
        "calculate": settle is not False, "oracle": float(oracle or 0), "records": target.form == "sgf",
    }  # fmt: skip
    tables = [*more, *databases]
    make_judge = partial(judge_over, tables, described, **options_of_judge)
    written = 0
    with (
        asking.open_library(tables, described, None) as library,
        Judge(library, **options_of_judge) as judge,
        Progress("annotating", " files") as progress,
    ):
        outcomes, total = _judge_files(paths, judge, make_judge, workers, single=target.single)
        judged_files = add_outcomes(outcomes, total, report, progress=progress)
        if target.folder:
            written = write_folder(judged_files, target.folder, target.form, worst, force=force, page=page)
        data = b"".join(one.sgf() if target.form == "sgf" else b"" for one in judged_files)
    if not (report.matches or report.unread):
        raise click.UsageError(f"{', '.join(paths)}: no match in it")
    if target.file:
        with storage.create(target.file, force=force) as sink:
            sink.write(data or content(report, target.form, worst))
    _note_problems(report, extended=bool(extend_met))
    if as_json:
        options.echo_json(report.as_dict(worst))
    else:
        _say(report, worst, single=target.single, drawn=output is None)
        if written:
            click.echo(f"written: {written} files in {output}")
    return 2 if report.unread else 0


class _Target(NamedTuple):
    """What `annotate` writes, and where: into a file, into a folder, or only to the terminal.

    single : whether one file of matches was named.
    """

    form: str
    file: str | None
    folder: str | None
    single: bool


def _target(paths: list[str], output: str | None, form: str | None, *, force: bool) -> _Target:
    """Return where `annotate` writes; UsageError for options that contradict each other."""
    if not paths:
        raise click.UsageError("no match among the files; give a match file")
    if form and output is None:
        raise click.UsageError(f"the file for the {form} is missing: -o OUT")
    single = len(paths) == 1 and not os.path.isdir(paths[0])
    into_folder = output is not None and (output.endswith(("/", os.sep)) or os.path.isdir(output))
    form = form or ("sgf" if into_folder else form_of(output or ""))
    if form is None:
        raise click.UsageError(
            f"{output}: expected the suffix .sgf, .html, .json, .csv or .txt, or --to FORMAT"
        )
    if into_folder:
        return _Target(form, None, output, single)
    if output is not None:
        if form == "sgf" and not single:
            raise click.UsageError("an .sgf file holds one match; give a folder for several: -o NAME/")
        storage.check_output(output, force=force)
    return _Target(form, output, None, single)


def _judge_files(
    paths: list[str], judge: Judge, make_judge: Callable[[], Judge], workers: int | None, *, single: bool
) -> tuple[Iterable[Outcome], int]:
    """Return what becomes of each file, judged in several processes if there are many, and the number of files.

    single : whether this is one file, whose errors are raised.
    """
    if single:
        return [annotate_file(paths[0], judge)], 1
    found = list(find(paths))
    number = workers or usual_workers(len(found))
    if number > 1:
        return judge_in_processes(found, make_judge, number), len(found)
    return (outcome_of(one, judge) for one in found), len(found)


def _note_problems(report: Report, *, extended: bool) -> None:
    """Print the files that could not be read, and the problems of the others, to standard error."""
    for name, why, _ in report.unread:
        asking.note(f"{name}: {why}")
    for one in report.matches:
        for problem in one.problems:
            asking.note(f"{one.file}: {printable(problem)}")
    if not extended and any(one.met and one.match.length > one.met.longest for one in report.matches):
        asking.note("--extend-met judges scores beyond the match equity table")


def _say(report: Report, worst: int, *, single: bool, drawn: bool) -> None:
    if drawn and single:
        click.echo(text.text(report, most=worst), nl=False)
    elif drawn or len(report.matches) != 1:
        click.echo(text.overview(report, most=worst if drawn else 0), nl=False)
    else:
        click.echo("\n".join(map(text.total_line, report.totals)))
    if report.passed:
        asking.note(f"{report.passed} other files are no matches")


def _is_database(path: str) -> bool:
    """Return whether a file has the suffix of a database, or a folder holds databases and no matches."""
    if not os.path.isdir(path):
        return asking.has_database_suffix(path)
    names = [entry.name for entry in Path(path).iterdir() if not entry.name.startswith(".")]
    matches = any(Path(path, name).is_dir() or name.lower().endswith((*SUFFIXES, ".txt")) for name in names)
    return not matches and any(map(asking.has_database_suffix, names))


ABOUT_A_MATCH = "game record move player name forced error close luck luck_mwc file_analysis"
JUDGED = {"calculation": "calculated"}


@section("Matches")
@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[DB...] POSITION")
@click.option("--roll", metavar="ROLL", help="The dice, such as 61 or 6-1 (default: the identifier's).")
@click.option("--played", metavar="PLAY", help='The play that was made, such as "6/5 6/off".')
@click.option("--double", "--redouble", is_flag=True, help="The side on roll doubled.")
@click.option("--no-double", is_flag=True, help="The side on roll did not double.")
@click.option("--take", is_flag=True, help="The other side took a double.")
@click.option("--pass", "--drop", is_flag=True, help="The other side passed a double.")
@click.option("--beaver", is_flag=True, help="The other side beavered a double.")
@asking.question_and_limit_options(*STATE, "oracle", *MET)
@options.json_option
def judge(
    words: tuple[str, ...], roll: str | None, played: str | None, question: Question, limit: int | None,
    described: str | None, part: int | None, as_json: bool, **done: bool,
) -> int:  # fmt: skip
    """Judge one decision in POSITION: a play, a double, no double, a take or a pass, for money or at a score.

    POSITION has two sides, first the one on roll, or for a take or a pass the one that has doubled: chequer counts
    from the ace point up, or any identifier. The dice, the cube and the score of an identifier are used. DB are files
    or folders; the default is BGFMT_DB, else gnubg's installed databases, else the default tables. Positions that no
    table covers are calculated if --limit allows it.

    \b
    Examples:
      bgfmt judge "1 0 1 0 0 2 / 2 2" --roll 61 --played "6/5 6/off"
      bgfmt judge "1 0 0 1 1 0 / 0 0 1 1" --away 2-4 --double
    """
    did = [name.replace("_", " ") for name, yes in done.items() if yes]
    if (played is not None) + len(did) != 1:
        one_of = "one of --played PLAY, --double, --no-double, --take, --pass and --beaver"
        raise click.UsageError(f"expected {'one decision, not several' if did else one_of}")
    said = asking.split(words)
    if said.many:
        raise click.UsageError("only one position can be judged at a time")
    state = state_of(said.position, question)
    decision = _play(state, roll, played) if played is not None else _cube(state, roll, did[0])
    with asking.adviser(said, question, limit, described, part) as advisor:
        decision = replace(decision, state=advisor.with_chequers(decision.state))
        judgement = judged(decision, advisor)
        if did and judgement.method == "exact":
            judgement = replace(judgement, insight=insight(state, advisor))
        table = None if state.money else advisor.met
    if as_json:
        facts = judgement.as_dict()
        for name in ABOUT_A_MATCH.split():
            del facts[name]
        words_of = {"certainty": text.certainty(judgement), "text": text.verdict(judgement)}
        equities = None if table is None else {"name": table.name, "digest": table.digest}
        options.echo_json({"asked": said.position} | facts | words_of | {"met": equities})
    else:
        click.echo("\n".join(_lines(judgement)))
        if table is not None:
            click.echo(f"  match equity table {table.name} (values {table.digest[:12]})")
    return 0


def _play(state: GameState, roll: str | None, played: str) -> Decision:
    """Return the decision to play a roll as written; PositionError if the play is not legal."""
    dice = parse_roll(roll) if roll is not None else state.dice
    if dice is None:
        raise PositionError("no roll given; add the roll that was played (--roll 61)")
    state = state.rolled(dice)
    hops, marks, rest = plays.read_play(played)
    if rest or not hops:
        raise PositionError(f"a play must be written such as 6/5 6/off, not {played!r}")
    play = plays.find(state.position.check(), dice, hops, marks)
    if isinstance(play, str):
        raise PositionError(f"{played}: {play}")
    if not play.legal:
        raise PositionError(f"{played} is not a legal play of {dice[0]}{dice[1]}")
    return Decision(0, 0, "play", state.turn, state, Play(play.moves, play.result))


def _cube(state: GameState, roll: str | None, did: str) -> Decision:
    if roll is not None:
        raise click.UsageError("--roll is only for --played: a cube decision comes before the roll")
    doubling = did in ("double", "no double")
    beaver = did == "beaver"
    pending = "the identifier says that a double is pending; judge the answer, --take or --pass"
    owned = "the side on roll may not double: the other side owns the cube"
    for wrong, why in (
        (doubling and state.doubled, pending), (beaver and not state.money, "a match has no beavers"),
        (beaver and state.beavers is False, "beavers are not in use here"),
        (state.owner == "opponent" and not state.doubled, owned),
        (state.crawford, "there is no doubling in the Crawford game"),
    ):  # fmt: skip
        if wrong:
            raise PositionError(why)
    state = replace(state.before_roll(), doubled=not doubling)
    return Decision(0, 0, did, state.turn if doubling else 1 - state.turn, state)


def _lines(judgement: Judgement) -> list[str]:
    decision = judgement.decision
    state = decision.state
    who = "the other side" if decision.player != state.turn else "the side on roll"
    more = asking.title(state) or "money play"
    if state.money and state.beavers is not False and not judgement.play:
        more += ", beavers allowed (--no-beavers forbids them)"
    dice = f", roll {state.dice[0]}{state.dice[1]}" if state.dice else ""
    lines = [asking.board_of(state), "", f"{more}{dice}", ""]
    lines.append(text.verdict(judgement))
    width = max(len(judgement.did), len(judgement.best))
    choices = [("done", judgement.did)] + [("best", judgement.best)] * (judgement.best != judgement.did)
    lines += [f"  {label}  {name:<{width}}  {text.format_equity(judgement, name)}" for label, name in choices]
    lines += [f"  {words}" for words in text.explanation_lines(judgement)]
    lines += [f"  {judgement.note}"] if judgement.note else []
    lines += [f"  gammons are possible and {judgement.gammons}"] if judgement.gammons != "none" else []
    where = f"from {judgement.table}" if judgement.table else JUDGED.get(judgement.source, judgement.source)
    sure = text.certainty(judgement)
    sure = sure if sure.startswith(where) else f"{where}; {sure}"
    measured = "equity at the score (EMG)" if judgement.mwc is not None else f"{judgement.measure} equity"
    return [*lines, f"  {who}'s {measured}; {sure}"]


@section("Matches")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@options.json_option
def matches(files: tuple[str, ...], as_json: bool) -> int:
    """Show the matches in FILE... (.mat and .txt, .sgf, .xg, .bgf, OGXM), recognised by content.

    Prints a line for each game and each inconsistency. --json has every record with the board before it: a list for
    one file, one line of JSON a match for several files. Exit code 2: a file cannot be read; the others are shown.

    \b
    Example:
      bgfmt matches evening.xg
      bgfmt matches --json evening.mat
    """
    out: list[dict[str, Any]] = []
    listed = as_json and len(files) == 1
    show = out.append if listed else partial(options.echo_json, indent=None)
    code = 0
    for path in files:
        try:
            for match in read(path) if listed else each(path):
                if as_json:
                    show({"file": path, **match.as_dict()})
                    continue
                click.echo(f"{printable(path)}: {match}")
                for problem in match.problems:
                    click.echo(f"  problem: {printable(problem)}")
        except (BgfmtError, OSError) as error:
            asking.note(printable(options.message_of(error), 400))
            if as_json:
                show({"file": path, "error": options.error_fields(error)})
            code = 2
    if listed:
        options.echo_json(out)
    return code
