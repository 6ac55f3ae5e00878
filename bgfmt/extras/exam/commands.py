"""The commands `bgfmt exam` (judge engines by exact values) and `bgfmt check-labels` (check data files of others)."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import click
import numpy as np

from bgfmt import storage
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress
from bgfmt.errors import CapabilityError, UnknownFormatError
from bgfmt.extras.exam import candidates, judging, labels, making, report
from bgfmt.extras.exam.sets import KINDS, Exam
from bgfmt.extras.options import choice_option, number_option, resume_option
from bgfmt.files.database import open_database
from bgfmt.game.state import parse_away

#: parameters that are used only when an engine is asked
EXAM_OPTIONS = "against timeout worst least threads resume as_json"


@section("Engines")
@click.command()
@click.argument("engine", required=False)
@click.option(
    "--set",
    "name",
    metavar="NAME|FILE",
    default="standard",
    show_default=True,
    help="Set of questions: a name or a file (--list shows the names).",
)
@click.option(
    "--against",
    metavar="ENGINE",
    help="Another engine, which answers the same questions; the two are compared in pairs.",
)
@click.option(
    "--score", "scores", multiple=True, metavar="A-B|money",
    help="Ask only questions at this score, such as 3-5 (points needed); repeatable.",
)  # fmt: skip
@choice_option(
    "--kind", "kinds", among=KINDS, multiple=True, help="Ask only questions of this kind; repeatable."
)
@number_option("--sample", least=1, metavar="N", help="Draw N of the questions at random (default: all).")
@number_option("--seed", least=0, default=1, help="Seed of the draw.")
@number_option("--timeout", least=0.001, default=10.0, help="Seconds until an answer counts as late.")
@number_option(
    "--worst", least=0, most=1000, default=5, help="How many of the most expensive wrong decisions to show."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False),
    help="Write the report: .json, .html or text. The answers are stored next to it.",
)  # fmt: skip
@number_option(
    "--least", least=0, default=1e-7, help="Greatest loss that counts as right (points, or MWC at a score)."
)
@click.option("--ask", is_flag=True, help="Print the questions, one a line, and run no engine.")
@click.option("--list", "listing", is_flag=True, help="List the sets.")
@click.option(
    "--make", metavar="NAME|TABLE|FILES", multiple=True,
    help="Make a set: a standard one again by its name, or a new one from a table or match files.",
)  # fmt: skip
@number_option(
    "--count", least=1, most=10_000_000, metavar="N", help="With --make: how many questions to draw."
)
@click.option("--cubeless", is_flag=True, help="With --make: make questions without a cube.")
@options.threads_option
@options.force_option
@resume_option
@options.quiet_option
@options.json_option
def exam(
    engine: str | None, name: str, against: str | None, scores: tuple[str, ...], kinds: tuple[str, ...],
    sample: int | None, seed: int, ask: bool, listing: bool, make: tuple[str, ...], count: int | None,
    cubeless: bool, **how: Any,
) -> int:  # fmt: skip
    """Benchmark ENGINE by a set of plays, doubles, takes and equities with exact answers.

    ENGINE is a name, with options behind a colon (bkg, gnubg:plies=2, bgsage:level=2ply, rule:keith, ...),
    ubgi:COMMAND, lines:COMMAND, external:HOST:PORT, an http address, module:name or FILE.py:name of a Python
    callable, or a file of answers. Illegal, late and missing answers are counted. With -o the same command
    continues an interrupted run.

    \b
    Examples:
      bgfmt exam bkg --kind play --sample 2000
      bgfmt exam my_engine.py:answer -o report.html
      bgfmt exam gnubg --set money --against my_engine.py:answer
      bgfmt exam --make gnubg_ts0.bd --count 5000 -o my.npz
    """
    if listing:
        for key, recipe in making.RECIPES.items():
            about = f"about {recipe.count:,}"
            click.echo(f"{key:<16} {about:>12}  {recipe.purpose}")
        for key in ("races", "matches"):  # shipped, and not built from a recipe
            shipped = making.load_named(key)
            click.echo(f"{key:<16} {len(shipped):>12,}  {shipped.purpose}")
        return 0
    say: Any = (lambda text: None) if how["quiet"] else partial(click.echo, err=True)
    if make:
        options.refuse_ignored("--make", f"engine name sample ask {EXAM_OPTIONS}")
        return _make(make, how["output"], count, seed, cubeless, kinds, how["force"], say)
    options.refuse_ignored("an exam", "count cubeless" + " seed" * (sample is None))
    chosen = _select_questions(making.load_named(name, say), scores, kinds, sample, seed)
    if ask:
        options.refuse_ignored("--ask", f"engine output force {EXAM_OPTIONS}")
        click.echo("\n".join(map(str, chosen.questions())))
        return 0
    if engine is None:
        raise click.UsageError("expected an engine (or --list, --ask or --make)")
    return _run_exam(chosen, [engine, *([against] if against else [])], **how)


def _run_exam(
    exam: Exam, engines: list[str], *, timeout: float, least: float, worst: int, output: str | None,
    threads: int | None, force: bool, resume: bool, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Ask one or two engines, print or write the report, and remove the part files."""
    if output is not None:
        storage.check_output(output, force=force)
    parts = [f"{output}{k or ''}.part" if output else "" for k in range(len(engines))]
    judged = []
    with redirect_stdout(sys.stderr):  # the report has standard output to itself
        makers = [candidates.maker(engine) for engine in engines]
        for engine, make, part in zip(engines, makers, parts, strict=True):
            with Progress(f"asking {engine[:30]}", " questions", quiet=quiet) as progress:
                answers = judging.collect_answers(
                    make, exam, timeout=timeout, threads=threads or 1, part=part, force=force, resume=resume,
                    progress=progress,
                )  # fmt: skip
            one = judging.judge(exam, answers, engine, least)
            judged.append(one)
            if one.count("late") + one.count("died") and not one.count("answered") + one.count("illegal"):
                why = judging.findings(one)[0].words
                raise CapabilityError(f"{engine}: the engine answered no question: {why}")
    made = report.Report(judged, worst)
    if output is not None:
        with storage.create(output, force=force) as sink:
            sink.write(made.render_file(output).encode())
        for part in parts:
            os.remove(part)
    if as_json:
        options.echo_json(made.as_dict())
    elif output is None or not quiet:
        click.echo(made.text())
    return 0


def _select_questions(
    exam: Exam, scores: tuple[str, ...], kinds: tuple[str, ...], sample: int | None, seed: int
) -> Exam:
    """Return the questions that the options --score, --kind and --sample select; UsageError if none is left."""
    keep = np.ones(len(exam), np.bool_)
    if scores:
        pairs = [(0, 0) if score == "money" else parse_away(score) for score in scores]
        keep &= np.any([(exam.away == pair).all(axis=1) for pair in pairs], axis=0)
    if kinds:
        keep &= np.isin(exam.kind, [KINDS.index(kind) for kind in kinds])
    numbers = np.flatnonzero(keep)
    if sample is not None and sample < len(numbers):
        numbers = np.sort(np.random.default_rng(seed).choice(numbers, sample, replace=False))
    if not len(numbers):
        raise click.UsageError("no question of the set matches the options")
    return exam if len(numbers) == len(exam) else exam.part(numbers)


def _make(
    what: tuple[str, ...], output: str | None, count: int | None, seed: int, cubeless: bool, kinds: tuple[str, ...],
    force: bool, say: Any,
) -> int:  # fmt: skip
    """Build a set by name, from a table or from match files, and write it."""
    if output is None:
        raise click.UsageError("--make needs the file to write: -o FILE")
    by = f"--make {what[0]}"
    named = what[0] in making.RECIPES
    with ExitStack() as stack:
        db = None
        if not named:
            with suppress(UnknownFormatError):
                db = stack.enter_context(open_database(what[0]))
        if len(what) > 1 and (named or db):
            raise click.UsageError(
                f"{by} cannot be combined with other files; only match files can be several"
            )
        if named:
            options.refuse_ignored(by, "scores kinds cubeless")
            made = making.make(what[0], count, seed)
        elif db:
            options.refuse_ignored(by, "scores")
            count = count or 20_000
            made = making.from_table(db.table, count, seed, kinds=kinds or KINDS, cubeless=cubeless)
            purpose = f"drawn from {os.path.basename(what[0])}"
            how = f" --count {count} --seed {seed}" + " --cubeless" * cubeless
            how += "".join(f" --kind {kind}" for kind in kinds)
        else:
            options.refuse_ignored(by, "scores kinds cubeless count seed")
            made = making.solve_questions(making.match_questions(what))
            purpose = "race decisions of recorded matches"
            how = ""
    if not named:
        asked = " ".join(f"--make {os.path.basename(one)}" for one in what)
        origin = f"bgfmt exam {asked}{how}"
        made = replace(made, name=os.path.basename(output), purpose=purpose, origin=origin)
    made.save(output, force=force)
    say(f"{output}: {len(made):,} questions, SHA-256 {made.digest}")
    return 0


@section("Engines")
@click.command("check-labels")
@click.argument("file", type=click.Path())
@click.option(
    "--column", "mapped", multiple=True, metavar="WHAT=NAME",
    help="Column of a number, such as win=p1; repeatable.",
)  # fmt: skip
@number_option(
    "--tolerance", least=0, most=1, default=0.002, metavar="E", help="Allowed difference of a number."
)
@number_option(
    "--limit", least=0, default=400_000, metavar="N",
    help="Limit of the calculation for one row: positions that can arise (one side's chequers against the other's) "
    "times states of the cube.",
)  # fmt: skip
@options.quiet_option
@options.json_option
def check_labels(
    file: str, mapped: tuple[str, ...], tolerance: float, limit: int, quiet: bool, as_json: bool
) -> int:
    """Check the labels of positions (probabilities and equities) against the rules of the game and exact numbers.

    FILE is .csv, .jsonl or .parquet with a column of positions as any identifier, the side on roll first, and
    columns such as win, win_gammon, lose_gammon, cubeless (equity), owned, centered, opponent, no_double,
    double_take, mwc. Each kind of fault is listed, with its likely cause if one is known. Exit code 1: a fault was
    found.

    \b
    Examples:
      bgfmt check-labels races.parquet
      bgfmt check-labels train.csv --column position=xgid --column win=p_win
    """
    bad = next((one for one in mapped if "=" not in one), None)
    if bad is not None:
        raise click.UsageError(f"{bad!r}: expected WHAT=NAME, such as win=p1")
    with Progress("checking", " rows", quiet=quiet) as progress:
        pairs = dict(one.split("=", 1) for one in mapped)
        found = labels.check(file, mapped=pairs, tolerance=tolerance, limit=limit, progress=progress)
    code = int(bool(found.findings))
    if as_json:
        options.echo_json(asdict(found) | {"findings": [one.as_dict() for one in found.findings]})
        return code
    click.echo(f"{file}: {found.rows:,} rows, {found.compared:,} compared with exact numbers")
    click.echo("  columns: " + ", ".join(f"{what} ({name})" for what, name in found.columns.items()))
    for words in [str(one) for one in found.findings] or ["no fault found"]:
        click.echo(f"  {words}")
    return code
