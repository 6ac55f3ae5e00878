"""`bgfmt info`: what a file contains, and how gnubg treats it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import click

import bgfmt
from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import say
from bgfmt.errors import BgfmtError
from bgfmt.game.drawing import pluralize
from bgfmt.storage.digests import compute_digests


@section("Files")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@options.as_option
@options.part_option
@click.option("--digest", is_flag=True, help="Also print the MD5 and SHA-256 of the whole file.")
@options.json_option
def info(files: tuple[str, ...], described: str | None, part: int | None, digest: bool, as_json: bool) -> int:
    """Describe each FILE: format, size, points, chequers, options, and whether gnubg can read it.

    "-" reads standard input; other pipes, such as /dev/stdin, are read as well.

    \b
    Examples:
      bgfmt info gnubg_os0.bd
      unxz < gnubg_ts.bd.xz | bgfmt info -
    """
    found = []
    failed = 0
    for k, file in enumerate(files):
        try:
            title, facts = _facts(file, described, part, digest)
        except (BgfmtError, OSError) as error:
            if len(files) == 1:
                raise
            failed = 2
            found.append({"file": file, "error": options.error_fields(error)})
            say(f"bgfmt: {options.message_of(error)}", err=True)
            continue
        found.append(facts)
        if not as_json:
            say(("\n" if k else "") + title)
            lines = _lines(facts)
            width = max(12, *(len(key) for key, _ in lines))
            for key, value in lines:
                say(f"  {key:<{width}} {value}")
    if as_json:
        options.echo_json(found[0] if len(files) == 1 else found)
    return failed


@contextmanager
def seekable_input(file: str) -> Iterator[str | BinaryIO]:
    """Yield a path unchanged, or for "-" (standard input) or a pipe in /dev a temporary file with what it delivers.

    A named pipe elsewhere is refused, because nothing may ever be written to it.
    """
    device = file.startswith("/dev/") and os.path.exists(file)
    pipe = file == "-" or (device and stat.S_ISFIFO(os.stat(file).st_mode))
    if not pipe:
        yield file
        return
    with tempfile.TemporaryFile(prefix="bgfmt-") as copied:
        if file == "-":
            shutil.copyfileobj(sys.stdin.buffer, copied)
        else:
            with open(file, "rb") as source:
                shutil.copyfileobj(source, copied)
        raw: Any = getattr(copied, "raw", copied)
        raw.name = file  # what messages call it
        yield copied


def _facts(file: str, described: str | None, part: int | None, digest: bool) -> tuple[str, dict[str, Any]]:
    """Return title and facts of a file, with `digest` also its MD5 and SHA-256."""
    with seekable_input(file) as opened, bgfmt.open(opened, part=part or 0, format=described) as db:
        facts = db.info()
        if digest:
            facts |= compute_digests(db.source, ("md5", "sha256"))
        return str(db), facts


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts to print as (name, text)."""
    lines = [("file", facts["file"]), ("size", f"{facts['size']:,} bytes"), ("format", facts["format"])]
    lines.append(("kind", facts["kind"]))
    if "points" in facts:
        size = (pluralize(facts["points"], "point"), pluralize(facts["chequers"], "chequer"))
        lines.append(("table", " x ".join(size)))
        lines.append(("positions", f"{facts['positions']:,} a side"))
    known = {"file", "size", "format", "title", "kind", "points", "chequers", "positions", "notes", "parts"}
    for key, value in facts.items():
        if key not in known | {"gnubg_name", "gnubg_reads", "md5", "sha256", "components"}:
            lines.append((key.replace("_", " "), _word(value)))
    if "gnubg_reads" in facts:
        name = facts.get("gnubg_name")
        verdict = f"reads it as {name}" if facts["gnubg_reads"] else "cannot use it"
        lines.append(("gnubg", verdict))
    for k, component in enumerate(facts.get("components", [])):
        lines.append((f"component {k}", str(component)))
    lines += [("note", note) for note in facts["notes"]]
    lines += [(key, facts[key]) for key in ("md5", "sha256") if key in facts]
    return lines


def _word(value: Any) -> str:
    """Format a fact as text."""
    if isinstance(value, (bool, type(None))):
        return {True: "yes", False: "no", None: "-"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)
