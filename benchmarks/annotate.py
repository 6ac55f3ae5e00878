"""Files a second of `bgfmt annotate`, and what became of their decisions.

    python -m benchmarks.annotate MATCHES... [--db TABLE]... [--limit N]

MATCHES are files or folders. Without --db a 6x8 two-sided and a ten-point one-sided table are solved first (a minute,
190 MB) into the folder that BGFMT_BENCH names, by default a temporary one.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import bgfmt
from bgfmt.extras.matches.annotate import LIMIT, Judge, Report, annotate_all, find, page, text

WANTED = {"ts_06x08.bd": ("two-sided", "6x8", "gnubg-ts"), "os_p10.bd": ("one-sided", "10", "gnubg-os")}


def tables(folder: Path) -> list[str]:
    """The two tables, made where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (kind, size, form) in WANTED.items():
        if not (folder / name).exists():
            print(f"solving {kind} {size}")
            points, _, chequers = size.partition("x")
            table = (
                bgfmt.solver.two_sided(int(points), int(chequers))
                if chequers
                else bgfmt.solver.one_sided(int(points))
            )
            bgfmt.save(table, folder / name, format=form)
    return [str(folder / name) for name in WANTED]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("matches", nargs="+")
    parser.add_argument("--db", action="append")
    parser.add_argument("--limit", type=int, default=LIMIT)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        databases = asked.db or tables(Path(os.environ.get("BGFMT_BENCH", folder)))
        begin, cpu = time.perf_counter(), time.process_time()
        report = Report()
        with Judge(databases, limit=asked.limit) as judge:
            for _ in annotate_all(list(find(asked.matches)), judge, report):
                pass
        seconds, used = time.perf_counter() - begin, time.process_time() - cpu
    files = len({one.file for one in report.matches})
    judged = [one for match in report.matches for one in match.judgements]
    races = sum(match.races for match in report.matches)
    print(f"{files} files, {files / seconds:.1f} a second ({seconds:.1f} s, {used:.1f} s of processor)")
    print(f"{races} races, {len(judged)} judged: {dict(Counter(one.verdict for one in judged))}")
    print(f"by {dict(Counter(one.source for one in judged))}")
    for name, write in (("text", text.text), ("page", page.page)):
        begin = time.perf_counter()
        size = len(write(report))
        print(f"{name}: {size / 1e6:.1f} MB in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
