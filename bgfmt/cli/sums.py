"""`bgfmt sums`: sums of a file and of its blocks, and a part of a download held against them."""

from __future__ import annotations

import re

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import say
from bgfmt.errors import FormatError
from bgfmt.storage import check_output, create, open_source
from bgfmt.storage.blocks import BLOCK, SUM, differing, root_of, sums_of
from bgfmt.verifier.rungs import published

DIGEST = "(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{32})"  # SHA-256 or MD5


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--blocks", type=click.Path(), help="Write the sums of the blocks, 32 bytes each, to a file.")
@click.option("--against", type=click.Path(), help="Hold FILE, whole or not, against such a file of sums.")
@options.force_option
def sums(file: str, blocks: str | None, against: str | None, force: bool) -> int:
    """MD5, SHA-256 and the root of the 1 MiB blocks of FILE, and the published file that has them.

    With --against each block is checked by itself, so that a part of a download tells what of it is right; or the
    whole file by its MD5 or SHA-256, or a list of those such as SHA256SUMS. Exit code 1: it differs.

    \b
    Examples:
      bgfmt sums gnubg_ts.bd --blocks gnubg_ts.blocks
      bgfmt sums half-a-download.bd --against gnubg_ts.blocks
      bgfmt sums gnubg_ts.bd --against SHA256SUMS
    """
    if against is not None and blocks is not None:
        raise click.UsageError("--blocks writes the sums that --against reads")
    if against is not None:
        if re.fullmatch(DIGEST, against):
            known = against.encode()
        else:
            with open_source(against, guard=True) as source:
                known = bytes(source.buffer[:])
        digests = re.findall(rf"\b{DIGEST}\b", known.decode().lower()) if known.isascii() else []
        if digests:
            with open_source(file, guard=True) as source:
                whole = sums_of(source)
            same = not {whole.md5, whole.sha256}.isdisjoint(digests)
            say(f"{file}: its MD5 or SHA-256 is {'' if same else 'not '}among those given")
            return 0 if same else 1
        root = root_of(known)
        with open_source(file, guard=True) as source:
            wrong, there = differing(source, known), min(len(known) // SUM, -(-source.size // BLOCK))
            if source.size > len(known) // SUM * BLOCK:
                raise FormatError(f"{file}: longer than the {len(known) // SUM} blocks of {against}")
        right = f"{there - len(wrong):,} of {len(known) // SUM:,} blocks are there and right"
        say(f"{file}: {right}; root of the list {root}")
        for k in wrong[:20]:
            cut = ", or is not whole: the file ends in it" if (k + 1) * BLOCK > source.size else ""
            last = min((k + 1) * BLOCK, source.size) - 1
            say(f"  block {k:,} differs{cut}: bytes {k * BLOCK:,} to {last:,}")
        return 1 if wrong else 0
    if blocks is not None:
        check_output(blocks, force=force)
    with open_source(file, guard=True) as source:
        found = sums_of(source)
    if not found.size:
        raise FormatError(f"{file}: the file is empty")
    say(f"{file}: {found.size:,} bytes")
    for name, value in (("MD5", found.md5), ("SHA-256", found.sha256), ("root", found.root)):
        say(f"  {name:<8} {value}")
    for entry in published():
        if entry["sum"] in (found.md5, found.sha256):
            say(f"  known    {entry['name']} ({entry['kind']} published by: {entry['published_by']})")
    if blocks is not None:
        with create(blocks, force=force) as sink:
            sink.write(found.blocks)
    return 0
