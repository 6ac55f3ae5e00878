"""The commands `bgfmt articles`, `engine`, `label` and `new-format`."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import ExitStack
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import click

from bgfmt import formats as registry
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, echo_made
from bgfmt.errors import OutputExistsError
from bgfmt.extras.foreign import open_text
from bgfmt.extras.lab import labels, orders
from bgfmt.extras.lab.articles import systems
from bgfmt.extras.options import number_option, resume_option
from bgfmt.game.board import Side
from bgfmt.solver.machine import thread_count

_GAMES = "games length position seed dice cube output force quiet"
#: {mode: options that it uses}
MODES = {
    "play": f"{_GAMES} against doubling second", "referee": f"{_GAMES} doubling", "self": f"{_GAMES} against",
    "series": f"{_GAMES} against threads as_json", "replay": "second as_json", "explain": "as_json",
}  # fmt: skip
#: {file of a new package: its template in bgfmt/data/new-format}
KIT = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md",
    "{module}.py": "module.py.txt",
    "tests/test_{module}.py": "test.py.txt",
}
exact_option = click.option("--exact", is_flag=True, help="Calculate in fractions.")


@section("Solve and verify")
@click.group(cls=options.Group)
def articles() -> None:
    """Compute formulas of articles: Peelle's Ace, BTree, DoubleOffAce, Rolls and Pwin, Ross's hash, and others.

    \b
    Examples:
      bgfmt articles ace 8 6
      bgfmt articles btree 1/6 3
      bgfmt articles pwin "8" "6" --exact
      bgfmt articles hash "0 0 0 2 3 4"
    """


def _say(system: str, value: Any, as_json: bool) -> None:
    """Print a number or a list of them; fractions as such."""
    values = value if isinstance(value, list) else [value]
    plain = [str(one) if isinstance(one, Fraction) else one for one in values]
    if as_json:
        options.echo_json({"system": system, "value": plain if isinstance(value, list) else plain[0]})
    else:
        click.echo(" ".join(f"{one:.9g}" if isinstance(one, float) else str(one) for one in plain))


@articles.command()
@click.argument("x", type=click.IntRange(0, 10_000))
@click.argument("o", type=click.IntRange(0, 10_000))
@exact_option
@options.json_option
def ace(x: int, o: int, exact: bool, as_json: bool) -> None:
    """Compute Ace, the win probability on the ace points.

    The side on roll has X pieces on its ace point, the other side O pieces on its own.
    """
    _say("Ace", systems.Ace(x, o, exact=exact), as_json)


@articles.command()
@click.argument("p")
@click.argument("level", type=click.IntRange(0, 20))
@click.option("--truncated", is_flag=True, help="BTreeA: cut the branch after P short.")
@options.json_option
def btree(p: str, level: int, truncated: bool, as_json: bool) -> None:
    """Compute a level of the binary tree of P and 1 - P.

    The result is in fractions if P is a fraction, such as 1/6.
    """
    try:
        chance: float | Fraction = Fraction(p) if "/" in p else float(p)
    except (ValueError, ZeroDivisionError):
        chance = -1
    if not 0 <= chance <= 1:
        raise click.UsageError(f"{p!r}: expected a probability such as 1/6 or 0.25")
    name, tree = ("BTreeA", systems.BTreeA) if truncated else ("BTree", systems.BTree)
    _say(name, tree(chance, level), as_json)


@articles.command("double-off")
@click.argument("n", type=click.IntRange(0, 10_000))
@exact_option
@options.json_option
def double_off(n: int, exact: bool, as_json: bool) -> None:
    """Compute DoubleOffAce, the probability of a last double.

    It is the probability that the last of N pieces on the ace point is borne off by a double.
    """
    _say("DoubleOffAce", systems.DoubleOffAce(n, exact=exact), as_json)


@articles.command()
@click.argument("side")
@exact_option
@options.json_option
def rolls(side: str, exact: bool, as_json: bool) -> None:
    """Compute the smallest mean number of rolls of a side.

    SIDE has chequer counts from the ace point up.
    """
    _say("Rolls", systems.Rolls(Side.parse(side), exact=exact), as_json)


@articles.command()
@click.argument("ours")
@click.argument("theirs")
@exact_option
@options.json_option
def pwin(ours: str, theirs: str, exact: bool, as_json: bool) -> None:
    """Compute the probability that OURS is off before THEIRS.

    OURS is on roll; both sides minimise their mean number of rolls.
    """
    win = systems.Pwin(Side.parse(ours), Side.parse(theirs))
    _say("Pwin", win if exact else float(win), as_json)


@articles.command("hash")
@click.argument("side")
@click.option("--points", type=click.IntRange(1, 24), default=6, show_default=True)
@click.option("--rank", is_flag=True, help="SIDE is a rank; print its counts.")
@options.json_option
def hash_(side: str, points: int, rank: bool, as_json: bool) -> None:
    """Compute Ross's rank of a side of up to 15 pieces.

    Ranks are counted from 0; they are gnubg's position numbers.
    """
    if not rank:
        _say("Ross's hash", orders.ross_rank(orders.ross_list(Side.parse(side)), points), as_json)
    elif side.isdecimal():
        on = orders.ross_unrank(int(side), points=points)
        _say("Ross's hash", [on.count(point) for point in range(1, points + 1)], as_json)
    else:
        raise click.UsageError(f"{side!r}: expected a rank (a whole number)")


@articles.command()
@click.argument("points", type=click.IntRange(1, 24))
@click.argument("chequers", type=click.IntRange(1, 15))
@options.json_option
def layouts(points: int, chequers: int, as_json: bool) -> None:
    """Count the layouts of chequers, of one and of two sides.

    A side has 1 to CHEQUERS chequers on POINTS points.
    """
    _say("layouts", [systems.layouts(points, chequers), systems.two_sided_layouts(points, chequers)], as_json)


@section("Engines")
@click.command()
@click.argument("name", metavar="ENGINE")
@click.argument("words", nargs=-1, metavar="[MODE] [WORD...]")
@click.option(
    "-O",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the engine, such as scale=1; repeatable.",
)
@click.option(
    "--against",
    metavar="ENGINE",
    help="The other player (default: a person in play, else the engine itself).",
)
@number_option(
    "--games", least=1, most=10_000_000, help="Number of games (default: 1000 in a series, else 1)."
)
@number_option(
    "--match", "length", least=1, most=64, help="Play matches of this many points, not money games."
)
@click.option("--position", help="Starting position; the side on roll comes first and is player 1.")
@click.option("--seed", type=int, help="Seed of the dice (default: 1 in a series, else random).")
@click.option("--dice", metavar="FILE|-", help="Rolls from a file, or - to type them one by one.")
@click.option("--cube/--no-cube", default=None, help="Play with the cube (default: yes, in a series no).")
@click.option("--doubling", is_flag=True, help="Ask a person about doubling before each roll.")
@click.option(
    "--second", is_flag=True, help="play: the person is player 2; replay: only the turns of player 2."
)
@click.option("-o", "--output", type=click.Path(), help="Write the games to FILE (.sgf or .mat).")
@click.option("--quiet", is_flag=True, help="self: print results only.")
@options.threads_option
@options.force_option
@options.json_option
def engine(name: str, words: tuple[str, ...], **choices: Any) -> None:
    """Play against an engine, or watch and measure it. bkg is Berliner's program of 1977.

    \b
    Modes:
      play                      play against a person (default); draws the board, lists the legal plays
      referee                   referee a game between two persons
      self                      play against itself or --against another engine; prints each play
      series                    play many games; prints wins, gammons, points per game, standard error
      replay [FILE]             replay a recorded game and print the engine's plays (bkg: the paper's game)
      explain POSITION [ROLL]   print how the engine evaluates a position

    \b
    Examples:
      bgfmt engine bkg
      bgfmt engine bkg series --games 10000 --seed 1 --position "3 3 3 2 2 2 / 3 3 3 2 2 2"
      bgfmt engine bkg self --games 3 --seed 7 -o games.sgf
      bgfmt engine bkg replay
      bgfmt engine bkg explain 4PPgASHgc/ABMA 65
    """
    from bgfmt.extras.lab.commands import engine_modes

    mode = words[0] if words and words[0] in MODES else "play"
    rest = words[1:] if words and words[0] in MODES else words
    if rest and mode not in ("replay", "explain"):
        raise click.UsageError(f"{rest[0]!r}: the mode must be one of {', '.join(MODES)}")
    options.refuse_ignored(mode, " ".join(choices.keys() - {"pairs", *MODES[mode].split()}))
    engine_modes.run(engine_modes.Request(name=name, mode=mode, words=rest, **choices))


@section("Engines")
@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("-o", "--output", required=True, type=click.Path(), help="A .jsonl, .csv or .parquet file.")
@number_option(
    "--error", least=1e-6, most=1, metavar="E",
    help="Roll out until no standard error is larger than this (default: 0.001).",
)  # fmt: skip
@number_option(
    "--seconds",
    least=0.001,
    most=1e6,
    metavar="S",
    help="End a rollout after S seconds, even if its standard error is larger.",
)
@number_option("--seed", least=0, most=1 << 60, default=1, help="Seed of the dice.")
@number_option(
    "--limit", least=0, default=400_000, metavar="N",
    help="Limit of exact calculation: the number of positions that can arise (one side's chequers against the "
    "other's) times the number of states of the cube; 0 rolls out every position.",
)  # fmt: skip
@options.threads_option
@options.force_option
@resume_option
@options.quiet_option
def label(
    file: str, output: str, error: float | None, seconds: float | None, seed: int, limit: int, threads: int | None,
    force: bool, resume: bool, quiet: bool,
) -> int:  # fmt: skip
    """Compute equities of the races in FILE and their standard errors, by rollouts with variance reduction.

    FILE has one position per line, as any identifier, or is a .csv with a column `position`; "-" reads standard
    input. The output has a row for each position: for money four equities, cubeless, and with the cube owned,
    centered or the opponent's; at a score the match winning probabilities without a double, and after a double and a
    take. The same command continues an interrupted run. A position without an answer gets a line with the reason; the
    exit code is then 1. Blank lines are skipped, other columns are not copied, and a comment line counts as a
    position without an answer.

    \b
    Examples:
      bgfmt label races.txt -o labels.jsonl
      bgfmt label races.csv -o labels.parquet --error 0.0002 --seed 7
    """
    if os.path.splitext(output)[1] not in labels.FORMS:
        raise click.UsageError(f"{output}: the file of labels must end in {', '.join(labels.FORMS)}")
    if file.endswith(labels.FORMS) and not file.endswith(".csv"):
        raise click.UsageError(
            f"{file}: expected a text file with a position on each line, or a .csv with a column `position`"
        )
    with ExitStack() as stack:
        lines = stack.enter_context(
            click.open_file("-", errors="replace") if file == "-" else open_text(file)
        )
        texts = labels.read_positions(lines, separated=file.endswith(".csv"))
        progress = stack.enter_context(Progress("labelling", " positions", always=True, quiet=quiet))
        error = 0.001 if error is None and seconds is None else error
        settings = labels.Settings(seed, error, seconds, limit)
        failed = labels.label_all(
            texts,
            output,
            settings,
            threads=thread_count(threads),
            force=force,
            resume=resume,
            progress=progress,
        )
        began = progress.begin
    if not quiet:
        echo_made(output, began)
    if failed:
        click.echo(f"{output}: {failed:,} of {len(texts):,} positions have no label, see `error`", err=True)
    return 1 if failed else 0


@section("Files")
@click.command(name="new-format")
@click.argument("name")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
def new_format(name: str, folder: Path | None) -> None:
    """Create a package in DIR (default: bgfmt-NAME) that adds the format NAME.

    The package has an entry point, a reader, a writer, and the tests that bgfmt's own formats must pass. As an
    example the format holds mean rolls.

    \b
    Example:
      bgfmt new-format my-format
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 16:
        raise click.BadParameter(
            f"{name[:40]!r}: expected at most 16 small letters, digits and single hyphens", param_hint="NAME"
        )
    if name in registry.FORMATS.points:
        raise click.BadParameter(f"{name!r} is the name of a format of bgfmt already", param_hint="NAME")
    folder = folder or Path(f"bgfmt-{name}")
    if folder.exists():
        raise OutputExistsError(f"{folder}: exists already", replaceable=False)
    module = "bgfmt_" + name.replace("-", "_")
    words = {"name": name, "module": module, "cls": "".join(map(str.capitalize, name.split("-")))}
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent, prefix=f".{folder.name}-") as scratch:
        made = Path(scratch) / folder.name
        for target, template in KIT.items():
            text = files("bgfmt").joinpath("data", "new-format", template).read_text("utf-8")
            path = made / target.format(**words)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(words), "utf-8")
        os.rename(made, folder)
    click.echo(f"{folder}: now  cd {folder} && pip install -e '.[test]' && pytest")
