"""`bgfmt annotate`: every bearoff decision of matches, judged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from bgfmt.cli import _asking, options

if TYPE_CHECKING:
    from bgfmt.extras.matches.annotate import Report

FORMS = ("sgf", "html", "json", "text")


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE|FOLDER... [DB...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Where to write: .sgf (the match with comments), .html, .json or .txt; a folder (one that is there, or "
    "NAME/) for a file of each.",
)
@click.option(
    "--to", "form", type=click.Choice(FORMS), help="What to write, where the ending of OUT does not say it."
)
@click.option(
    "--db",
    "databases",
    multiple=True,
    type=click.Path(),
    help="A database, or a folder of them; may be said several times. Databases may also stand among the files.",
)
@click.option(
    "--worst", type=click.IntRange(0), default=10, show_default=True, help="How many errors to draw."
)
@_asking.question_options(
    "met",
    "met_player",
    "extend_met",
    met_player="The match's first player is this player of an uneven match equity table.",
)
@_asking.limit_options("2 million, less than a tenth of a second a game")
@options.force_option
@options.as_option
@options.json_option
def annotate(
    files: tuple[str, ...],
    output: str | None,
    form: str | None,
    databases: tuple[str, ...],
    worst: int,
    limit: int | None,
    settle: bool | None,
    met: str | None,
    extend_met: bool | None,
    met_player: int | None,
    force: bool,
    described: str | None,
    as_json: bool,
) -> int:
    """Judge every bearoff decision of the matches in FILE... and FOLDER... (.mat, .txt, .sgf, .xg, .bgf, OGXM).

    Plays, doubles, doubles not made, takes and passes: what was done, what was best, and what the difference cost,
    at the score of the match or for money; sums and rates for each player, and the worst errors with their boards.
    What no table covers is calculated, up to a limit. DB are databases; without any, BGFMT_DB, what gnubg has
    installed, or the default tables.

    A file that cannot be read is named in one line and left out, and the exit code is then 2.

    \b
    Examples:
      bgfmt annotate evening.sgf -o evening-judged.sgf
      bgfmt annotate evening.mat -o evening.html
      bgfmt annotate matches/ -o judged/ --to html
    """
    from bgfmt import storage
    from bgfmt.cli.terminal import Progress
    from bgfmt.extras.matches.annotate import LIMIT, Judge, Report, annotate_all, annotate_file, find
    from bgfmt.extras.matches.annotate.files import ReportFolder, content, form_of
    from bgfmt.game.text import printable

    paths, more = _told_apart(files)
    if not paths:
        raise click.UsageError("no match among the files; which is to be judged?")
    single = len(paths) == 1 and not os.path.isdir(paths[0])
    into_folder = output is not None and (output.endswith(("/", os.sep)) or os.path.isdir(output))
    form = form or ("sgf" if into_folder else form_of(output or ""))
    if form is None:
        raise click.UsageError(f"{output}: what is written is .sgf, .html, .json or .txt; --to says another")
    if output is not None and not into_folder:
        if form == "sgf" and not single:
            raise click.UsageError("an .sgf file holds one match; for several say a folder: -o NAME/")
        storage.check_output(output, force=force)
    report, written = Report(), 0
    with (
        _asking.opened([*more, *databases], described, None) as library,
        Judge(
            library,
            met=_asking.equity_table(met, extend_met),
            met_player=met_player or 0,
            limit=LIMIT if limit is None else limit,
            calculate=settle is not False,
        ) as judge,
        Progress("annotating", " files") as progress,
    ):
        if single:
            one = annotate_file(paths[0], judge)
            report.matches += one.reports
            each = iter([one])
        else:
            found = list(find(paths))
            each = annotate_all(found, judge, report, progress=progress)
        folder = ReportFolder(output or "", form, force=force) if into_folder else None
        data = b""
        for one in each:
            if folder is not None:
                folder.write(one, worst)
                written += 1
            elif single and form == "sgf":
                data = one.sgf()
    if not (report.matches or report.unread):
        raise click.UsageError(f"{', '.join(paths)}: no match in it")
    if output is not None and not into_folder:
        with storage.create(output, force=force) as sink:
            sink.write(data or content(report, form, worst))
    for name, why, _ in report.unread:
        click.echo(f"bgfmt: {name}: {why}", err=True)
    for one_match in report.matches:
        for problem in one_match.problems:
            click.echo(f"bgfmt: {one_match.file}: {printable(problem)}", err=True)
    if not extend_met and any(one.met and one.match.length > one.met.longest for one in report.matches):
        click.echo("bgfmt: --extend-met judges scores beyond the match equity table", err=True)
    if as_json:
        options.echo_json(report.as_dict(worst))
    else:
        _say(report, worst, full=single and output is None, drawn=output is None)
        if written:
            click.echo(f"written: {written} files in {output}")
    return 2 if report.unread else 0


def _say(report: Report, worst: int, *, full: bool, drawn: bool) -> None:
    from bgfmt.extras.matches.annotate import text

    if full:
        click.echo(text.text(report, most=worst), nl=False)
    elif len(report.matches) == 1 and not drawn:
        click.echo("\n".join(map(text.total_line, report.totals)))
    else:
        click.echo(text.overview(report, most=worst if drawn else 0), nl=False)
    if report.passed:
        _asking.note(f"{report.passed} other files are no matches")


def _told_apart(files: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The matches and the databases: by the ending of a file, and by what a folder holds."""
    databases = [path for path in files if _databases(path)]
    return [path for path in files if path not in databases], databases


def _databases(path: str) -> bool:
    if not os.path.isdir(path):
        return _asking.suffixed(path)
    from bgfmt.extras.matches.annotate.files import SUFFIXES
    from bgfmt.formats.opening import parts_of

    if parts_of(path):
        return True
    with os.scandir(path) as entries:
        names = [(entry.name.lower(), entry.is_dir()) for entry in entries if not entry.name.startswith(".")]
    databases = any(_asking.suffixed(name) for name, _ in names)
    return databases and not any(folder or name.endswith((*SUFFIXES, ".txt")) for name, folder in names)
