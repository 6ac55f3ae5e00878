"""Sums of tables that bgfmt makes, in bgfmt/data/digests.toml: made, appended, and every one recomputed.

python -m benchmarks.digests make [NAME ...]     tables that have no entry yet are made, summed, and appended
python -m benchmarks.digests check [NAME ...]    every table with an entry is made again and held against it
python -m benchmarks.digests page                the table of docs/digests.md

NAME : one of TABLES, or a pattern such as "two-sided 6x?"; without one, all of them. The folder that the variable
DIGESTS_FOLDER names takes the tables while they are summed.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import bgfmt
from bgfmt.extras.large.blocks import FileChecksums, compute_checksums
from bgfmt.storage import open_source
from bgfmt.verifier.checks import load_published

ROOT = Path(__file__).parents[1]
FILE, PAGE = ROOT / "bgfmt" / "data" / "digests.toml", ROOT / "docs" / "digests.md"
#: what `bgfmt solve` is told, by the suffix of the file that is summed; the last of each group take hours
TABLES = {
    ".bd": [
        *(f"one-sided {points}" for points in range(6, 15)),
        *(f"two-sided 6x{chequers}" for chequers in range(6, 16)),
        *(f"two-sided {size}" for size in ("8x6", "9x5", "12x4", "7x10", "8x8", "7x12")),
        *(f"hypergammon {chequers}" for chequers in (1, 2, 3)),
    ],
    ".npz": [
        *(f"two-sided-gammons {size}" for size in ("2x15", "3x15", "4x15", "5x15", "6x15")),
        *(f"two-sided-jacoby {size}" for size in ("2x15", "3x15", "4x15", "5x15", "6x15")),
        *(f"two-sided 6x{chequers} --recipe exact" for chequers in (4, 6, 8, 10)),
        *(f"hypergammon {chequers} --recipe exact" for chequers in (1, 2, 3)),
        "one-sided 6 --recipe exact",
    ],
    ".bgm": [
        f"match {size} --away {a}-{b}"
        for size in ("6x6", "6x8")
        for a, b in ((2, 2), (2, 3), (2, 4), (3, 3), (3, 5), (5, 5), (5, 9), (7, 7))
    ],
    ".xml": [f"hypergammon-met {length} --exact --chequers {c}" for length, c in ((25, 1), (9, 2), (9, 3))],
}


def main(what: str, *names: str) -> None:
    if what == "page":
        write_page()
        return
    known = {entry["command"]: entry for entry in load_published() if "command" in entry}
    wrong = 0
    for suffix, commands in TABLES.items():
        for command in commands:
            if (names and not any(fnmatch(command, name) for name in names)) or (command in known) != (
                what == "check"
            ):
                continue
            began = time.perf_counter()
            found = made(command, suffix)
            took = time.perf_counter() - began
            if what == "make":
                append(command, suffix, found, took)
                continue
            entry = known[command]
            same = (entry["sum"], entry["md5"], entry["root"]) == (found.sha256, found.md5, found.root)
            wrong += not same
            print(f"{'the same' if same else 'DIFFERS'}: {command}", flush=True)
    if what == "make":
        load_published.cache_clear()
        write_page()
    sys.exit(wrong > 0)


def made(command: str, suffix: str) -> FileChecksums:
    """The sums of a table made now, in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("DIGESTS_FOLDER")) as folder:
        path = Path(folder, f"table{suffix}")
        words = [sys.executable, "-m", "bgfmt", "solve", *command.split(), "-o", str(path)]
        subprocess.run([*words, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with open_source(path) as source:
            return compute_checksums(source)


def append(command: str, suffix: str, found: FileChecksums, took: float) -> None:
    """An entry more."""
    head = {".bd": "gnubg-", ".npz": "PK", ".bgm": "bgfmt", ".xml": "<?xml"}[suffix]
    fields: dict[str, Any] = {
        "name": f"bgfmt solve {command} -o FILE{suffix}", "size": found.size, "kind": "sha256", "sum": found.sha256,
        "md5": found.md5, "root": found.root, "command": command,
        "published_by": f"bgfmt {bgfmt.__version__}, Python {platform.python_version()}, {platform.machine()}",
        "header": head,
    }  # fmt: skip
    lines = [
        f"{key} = {value}" if isinstance(value, int) else f'{key} = "{value}"'
        for key, value in fields.items()
    ]
    with FILE.open("a", encoding="utf-8") as out:
        out.write("\n".join(["", "[[file]]", *lines, ""]))
    print(f"{took:8.1f} s  {found.size:>14,}  {found.sha256}  {command}", flush=True)


def write_page() -> None:
    """The list of the page anew, below its last heading."""
    text = PAGE.read_text("utf-8")
    begin = text.index("## Checksums\n")
    rows = [
        "| `bgfmt solve` | bytes | SHA-256 | MD5 | root of the blocks |",
        "| --- | --- | --- | --- | --- |",
    ]
    for entry in load_published():
        if "command" in entry:
            sums = f"`{entry['sum']}` | `{entry['md5']}` | `{entry['root']}`"
            rows.append(f"| {entry['command']} | {entry['size']:,} | {sums} |")
    PAGE.write_text(text[:begin] + "\n".join(["## Checksums", "", *rows, ""]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
