"""`bgfmt convert`: another format or layout of the same numbers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import signature
from pathlib import Path
from typing import Any

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.info import seekable_input
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import Progress, echo_made, say
from bgfmt.errors import BgfmtError
from bgfmt.files.database import WORDS

STREAM = "-"  # standard input or output


@section("Files")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="SRC DST | SRC... -o DIR")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DST|DIR",
    help="File to write, or folder. With a single SRC, DIR is taken as a folder only if it exists or ends in /.",
)
@click.option(
    "--to",
    metavar="FORMAT",
    help="Format to write, such as npz or gnubg (default: the format of SRC if it uses the suffix of DST, else the "
    "format that this suffix stands for).",
)
@click.option("--points", type=click.IntRange(1, 24), help="Reduce to this many points (default: all).")
@click.option(
    "--chequers",
    "--checkers",
    type=click.IntRange(1, 15),
    help="Reduce to this many chequers (default: all).",
)
@click.option(
    "--compress/--no-compress",
    "compressed",
    default=None,
    help="One-sided: write the compressed layout (default: as in SRC, else yes).",
)
@click.option(
    "--gammon/--no-gammon",
    "gammon",
    default=None,
    help="One-sided: write gammon distributions (default: as in SRC).",
)
@click.option(
    "--header/--no-header", "header", default=None, help="gnubg: write the 40-byte header (default: yes)."
)
@options.no_option("--cubeless", "cubeful", "Two-sided: write only the cubeless equities.")
@click.option(
    "-O",
    "more",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the format; `bgfmt formats` lists them.",
)
@click.option("--lossy", is_flag=True, help="Convert even if information is lost, and list what is lost.")
@click.option("--plan", "dry", is_flag=True, help="List what would be lost, and write nothing.")
@options.as_option
@options.part_option
@options.quiet_option
@options.force_option
@options.json_option
def convert(
    files: tuple[str, ...],
    output: str | None,
    more: tuple[str, ...],
    dry: bool,
    described: str | None,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> int:
    """Write the table of SRC to DST in another format or layout.

    If neither changes, the copy is identical byte for byte.

    Several SRC are written into the folder DIR under their names, with the suffix of the format; two SRC that would
    get the same name are refused. If one fails, the others are still converted, and the exit code is 2. "-" is
    standard input or output, for formats that consist of one file.

    \b
    Examples:
      bgfmt convert gnubg_os0.bd bearoff.ijf
      bgfmt convert gnubg_ts.bd small.bd --chequers 6 --cubeless
      bgfmt convert *.bd -o parquet/ --to parquet
      bgfmt convert parquet/* -o back/ --to gnubg
      unxz < gnubg_ts.bd.xz | bgfmt convert - - --to csv | head
    """
    switches = {name: how.pop(name) for name in options.SWITCHES}
    chosen = {name: value for name, value in switches.items() if value is not None} | _format_options(more)
    pairs = _pairs(files, output, how["to"])
    how |= {"format": described, "dry": dry}
    if as_json and not dry and pairs[0][1] == STREAM:
        raise click.UsageError("--json cannot be used if the table goes to standard output")
    folder = Path(output) if not dry and output is not None and pairs[0][1] != output else None
    with _folder(folder):
        return _convert_all(pairs, how, chosen, quiet=quiet, as_json=as_json)


def _convert_all(
    pairs: Sequence[tuple[str, str]],
    how: dict[str, Any],
    chosen: dict[str, Any],
    *,
    quiet: bool,
    as_json: bool,
) -> int:
    """Convert each (source, destination), print what was done, and return the exit code.

    how : arguments of `bgfmt.convert`. chosen : options of the format.
    """
    several = len(pairs) > 1
    dry = how["dry"]
    made: list[dict[str, Any]] = []
    failed = 0
    for source, destination in pairs:
        began = time.monotonic()
        try:
            with (
                Progress("converting", "B", quiet=quiet) as progress,
                _written_to(destination, how["to"]) as path,
                seekable_input(source) as opened,
            ):
                lost = bgfmt.convert(opened, path, progress=progress, **how, **chosen)
        except (BgfmtError, OSError) as error:
            if not several:
                raise
            failed += 1
            made.append({"file": destination, "error": options.error_fields(error)})
            say(f"bgfmt: {options.message_about(source, error)}", err=True)
            continue
        if dry:
            made.append({"file": destination, "lost": lost})
            if not as_json:
                _say_plan(destination, lost, how["to"], several=several)
            continue
        for line in lost:
            say(f"{destination}: lost: {line}" if several else f"lost: {line}", err=True)
        if destination == STREAM:
            continue
        if as_json:
            made.append(options.written_fields(destination) | {"lost": list(lost)})
        if not quiet:
            echo_made(destination, began)
    if as_json:
        options.echo_json(made if several else made[0])
    if failed:
        say(f"{failed} of {len(pairs)} files not converted", err=True)
    return 2 if failed else 0


def _format_options(words: Sequence[str]) -> dict[str, Any]:
    """Parse options of the format given as -O NAME=VALUE."""
    chosen: dict[str, Any] = {}
    for item in words:
        name, equals, value = item.partition("=")
        key = name.strip().replace("-", "_")
        if (
            key in signature(bgfmt.convert).parameters
        ):  # else it would be an argument of `bgfmt.convert` itself
            raise click.UsageError(f"-O {item}: {key!r} is not an option of a format")
        chosen[key] = _value(value.strip()) if equals else True
    return chosen


def _pairs(files: Sequence[str], output: str | None, to: str | None) -> list[tuple[str, str]]:
    """Return (source, destination) of each conversion; UsageError for arguments that do not fit."""
    if output is None:
        if len(files) != 2:
            raise click.UsageError("expected SRC and DST, or one or more SRC and -o DIR")
        if os.path.isdir(files[1]):
            raise click.UsageError(f"{files[1]} is a folder: write -o {files[1]}")
        return [(files[0], files[1])]
    folder = len(files) > 1 or output.endswith(("/", os.sep)) or os.path.isdir(output)
    if not folder:
        return [(files[0], output)]
    if STREAM in (*files, output):
        raise click.UsageError("standard input and output (-) take one table: give SRC and DST")
    pairs = [(file, str(Path(output) / _file_name(file, to))) for file in files]
    sources: dict[str, str] = {}
    for source, destination in pairs:
        if destination in sources:
            both = f"{sources[destination]} and {source}"
            raise click.UsageError(f"{both} would both be written to {destination}")
        sources[destination] = source
    return pairs


def _file_name(source: str, to: str | None) -> str:
    """Return a source's name with the suffix of the format `to`, unchanged if it has one of its suffixes."""
    name = Path(source).name
    form = None if to is None else bgfmt.formats.get_family(to)[0]
    if form is None or not form.suffixes or name.lower().endswith(form.suffixes):
        return name
    return Path(name).stem + form.suffixes[0]


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """Create a folder, with its parents, and remove what is still empty in the end; None for no folder."""
    created = [] if path is None else [one for one in (path, *path.parents) if not one.exists()]
    try:
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for one in created:
            with suppress(OSError):  # not empty
                one.rmdir()


@contextmanager
def _written_to(destination: str, to: str | None) -> Iterator[str]:
    """Yield the path to write: for "-" a temporary file that is then copied to standard output."""
    if destination != STREAM:
        yield destination
        return
    if to is None:
        raise click.UsageError("the format to write to standard output is missing: --to FORMAT")
    with tempfile.TemporaryDirectory(prefix="bgfmt-") as folder:
        path = os.path.join(folder, "output")
        yield path
        if os.path.exists(path):
            with open(path, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _say_plan(destination: str, lost: Sequence[str], to: str | None, *, several: bool) -> None:
    """Print what a conversion would lose."""
    before = f"{destination}: " if several else ""
    say("\n".join(f"{before}loses: {line}" for line in lost) or f"{before}nothing is lost")
    form = bgfmt.formats.get_family(to)[0] if to else bgfmt.formats.by_suffix(destination)
    if form is not None and not form.reads:
        say(f"bgfmt cannot read {form.name} files back")


def _value(text: str) -> bool | int | str:
    """Parse the value of an option `-O NAME=VALUE`: a number, yes or no, or a word."""
    return int(text) if text.removeprefix("-").isdecimal() else WORDS.get(text.lower() or "yes", text)
