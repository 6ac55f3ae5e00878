"""`bgfmt checksum`: print checksums of a file and of its blocks, or check a file or a part of it by them."""

from __future__ import annotations

import os
import re

import click

from bgfmt.cli import options
from bgfmt.cli.sections import section
from bgfmt.cli.terminal import say
from bgfmt.errors import BgfmtError, FormatError
from bgfmt.extras.large.blocks import (
    BLOCK,
    CHECKSUM_BYTES,
    compute_checksums,
    compute_root,
    find_damaged_blocks,
)
from bgfmt.storage import check_output, create, open_source
from bgfmt.verifier.checks import load_published

DIGEST = "(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{32})"  # SHA-256 or MD5
#: a line of `sha256sum` or `md5sum`, plain or with --tag; a backslash before it marks escapes in the name
LISTED = re.compile(rf"\\?(?:({DIGEST})[ \t]+\*?(.+)|(?:SHA256|MD5) \((.+)\) = ({DIGEST}))")
SHOWN_BLOCKS = 20
ESCAPES = {"n": "\n", "r": "\r"}  # by the letter after a backslash, in names of a list of checksums


@section("Files")
@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--blocks", type=click.Path(), help="Write the checksums of the blocks, 32 bytes each, to this file."
)
@click.option(
    "--against",
    type=click.Path(),
    help="Check FILE against checksums of blocks (FILE may be incomplete), an MD5 or SHA-256, or a list of them.",
)
@options.force_option
def sums(files: tuple[str, ...], blocks: str | None, against: str | None, force: bool) -> int:
    """Print MD5, SHA-256 and the hash over the 1 MiB blocks of each FILE, and the published file that has them.

    --against takes a file of block checksums, which finds the intact parts of a partial download, or an MD5 or
    SHA-256, or a list such as SHA256SUMS with a line for FILE. Exit code 1: FILE differs or is incomplete.

    \b
    Examples:
      bgfmt checksum gnubg_ts.bd --blocks gnubg_ts.blocks
      bgfmt checksum half-a-download.bd --against gnubg_ts.blocks
      bgfmt checksum *.bd --against SHA256SUMS
    """
    if against is not None and blocks is not None:
        raise click.UsageError("--blocks and --against exclude each other")
    if blocks is not None:
        if len(files) > 1:
            raise click.UsageError("--blocks takes only one FILE")
        check_output(blocks, force=force)
    code = 0
    for file in files:
        try:
            done = _print(file, blocks, force) if against is None else _check(file, against)
        except (BgfmtError, OSError) as error:
            if len(files) == 1:
                raise
            say(f"bgfmt: {options.message_about(file, error)}", err=True)
            done = 2
        code = max(code, done)
    return code


def _print(file: str, blocks: str | None, force: bool) -> int:
    """Print a file's checksums and the published files that have them; write those of its blocks to `blocks`."""
    with open_source(file, guard=True) as source:
        found = compute_checksums(source)
    if not found.size:
        raise FormatError(f"{file}: the file is empty")
    say(f"{file}: {found.size:,} bytes")
    for name, value in (("MD5", found.md5), ("SHA-256", found.sha256), ("root", found.root)):
        say(f"  {name:<8} {value}")
    known = [entry for entry in load_published() if entry["sum"] in (found.md5, found.sha256)]
    for entry in known:
        say(f"  known    {entry['name']} ({entry['kind']} published by: {entry['published_by']})")
    if not known:
        say("  known    no published file has these checksums")
    if blocks is not None:
        with create(blocks, force=force) as sink:
            sink.write(found.blocks)
    return 0


def _check(file: str, against: str) -> int:
    """Check a file by a digest, a list of digests or the checksums of its blocks; the exit code."""
    if re.fullmatch(DIGEST, against):
        return _check_digests(file, [(against.lower(), "")], against)
    with open_source(against, guard=True) as source:
        known = bytes(source.buffer[:])
    digests = _parse_digests(known)
    if digests:
        return _check_digests(file, digests, against)
    return _check_blocks(file, known, against)


def _parse_digests(data: bytes) -> list[tuple[str, str]]:
    """Return (digest, name) of each line of a list of digests, the name "" where the line has none."""
    if not data.isascii() and b"\0" in data:
        return []
    found = []
    for line in data.decode(errors="replace").splitlines():
        listed = LISTED.fullmatch(line.strip())
        if listed is None:
            found += [(digest.lower(), "") for digest in re.findall(rf"\b{DIGEST}\b", line)]
            continue
        name = listed[2] or listed[3]
        if line.startswith("\\"):
            name = re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), name)
        found.append(((listed[1] or listed[4]).lower(), name))
    return found


def _check_digests(file: str, digests: list[tuple[str, str]], against: str) -> int:
    """Check a file by the digests of its name, and by those without a name; the exit code."""
    with open_source(file, guard=True) as source:
        whole = compute_checksums(source)
    own = os.path.basename(file)
    meant = {digest for digest, name in digests if not name or os.path.basename(name) == own}
    if not meant.isdisjoint((whole.md5, whole.sha256)):
        say(f"{file}: its MD5 or SHA-256 is among those given")
        return 0
    others = [name for digest, name in digests if digest in (whole.md5, whole.sha256)]
    if others:
        say(f"{file}: its MD5 or SHA-256 is that of {others[0]} in {against}, not of {own}")
    elif not meant:
        say(f"{file}: {against} does not list {own}")
    else:
        say(f"{file}: its MD5 or SHA-256 is not among those given")
    return 1


def _check_blocks(file: str, known: bytes, against: str) -> int:
    """Check a file, whole or a part, by the checksums of its blocks; the exit code."""
    root = compute_root(known)
    total = len(known) // CHECKSUM_BYTES
    with open_source(file, guard=True) as source:
        wrong = find_damaged_blocks(source, known)
        there = min(total, -(-source.size // BLOCK))
        if source.size > total * BLOCK:
            raise FormatError(f"{file}: the file is longer than the {total} blocks of {against}")
    missing = f", {total - there:,} are missing" if there < total else ""
    right = there - len(wrong)
    say(f"{file}: {right:,} of {total:,} blocks are present and correct{missing}; root of the list {root}")
    for k in wrong[:SHOWN_BLOCKS]:
        cut = ", or is not whole: the file ends in it" if (k + 1) * BLOCK > source.size else ""
        last = min((k + 1) * BLOCK, source.size) - 1
        say(f"  block {k:,} differs{cut}: bytes {k * BLOCK:,} to {last:,}")
    return 0 if right == total else 1
