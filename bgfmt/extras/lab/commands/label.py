"""`bgfmt label`: equities of many races for those who train engines."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack

import click

from bgfmt.cli import options


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("-o", "--output", required=True, type=click.Path(), help="A .jsonl, .csv or .parquet file.")
@options.number(
    "--error", least=1e-6, most=1, metavar="E",
    help="Play on until no standard error is greater (default: 0.0005).",
)  # fmt: skip
@options.number("--seconds", least=0.001, most=1e6, metavar="S", help="At most this long a position.")
@options.number("--seed", least=0, most=1 << 60, default=1, help="Of the dice.")
@options.number(
    "--limit", least=0, default=400_000, metavar="N",
    help="Most pairs of boards times cube states to calculate exactly for one position; 0 plays out all.",
)  # fmt: skip
@options.threads_option
@options.force_option
@options.quiet_option
def label(
    file: str, output: str, error: float | None, seconds: float | None, seed: int, limit: int, threads: int | None,
    force: bool, quiet: bool,
) -> int:  # fmt: skip
    """Equities of the races in FILE with their standard errors, by play-outs without the luck of the dice.

    FILE has a position a line as any identifier, or is a .csv with a column `position`; "-" reads standard input. For
    money a label has the cubeless, owned, centered and opponent equities, at a score the chances to win the match
    without a double and after a double and a take. What was interrupted goes on when the same command is given again.
    A position that has no answer keeps its line, with the reason; the exit code is then 1.

    \b
    Examples:
      bgfmt label races.txt -o labels.jsonl
      bgfmt label races.csv -o labels.parquet --error 0.0002 --seed 7
    """
    from bgfmt.cli.terminal import Progress, echo_made
    from bgfmt.extras.lab import labels
    from bgfmt.solver.machine import thread_count

    if any(number is not None and math.isnan(number) for number in (error, seconds)):
        raise click.UsageError("--error and --seconds are numbers, not nan")
    if os.path.splitext(output)[1] not in labels.FORMS:
        raise click.UsageError(f"{output}: what is written is {', '.join(labels.FORMS)}")
    with ExitStack() as stack:
        lines = stack.enter_context(click.open_file(file, encoding="utf-8", errors="replace"))
        texts = labels.read(lines, separated=file.endswith(".csv"))
        progress = stack.enter_context(Progress("labelling", " positions", always=True, quiet=quiet))
        settings = labels.Settings(seed, error, seconds, limit)
        failed = labels.label_all(
            texts, output, settings, threads=thread_count(threads), force=force, progress=progress
        )
        began = progress.begin
    if not quiet:
        echo_made(output, began)
    return 1 if failed else 0
