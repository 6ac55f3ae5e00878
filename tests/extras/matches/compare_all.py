"""Every match file of a folder against the walks beside it: `python -m tests.extras.matches.compare_all FOLDER`."""

from __future__ import annotations

import collections
import gzip
import json
import sys
import time
from pathlib import Path

from bgfmt.errors import BgfmtError
from bgfmt.extras.matches import read
from tests.extras.matches.expected import differences


def main(folder: Path, only: str = "") -> int:
    """Prints what differs; returns how many files do."""
    packed = folder / "expected.jsonl.gz"
    lines = (
        gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / "expected.jsonl").read_bytes()
    )
    rows = {row["name"]: row for row in map(json.loads, lines.splitlines())}
    wrong = games = 0
    took: dict[str, float] = collections.Counter()
    slowest = 0.0
    for path in sorted(folder.iterdir()):
        if path.suffix in (".tsv", ".md", ".gz", ".jsonl") or only not in path.name:
            continue
        begin = time.perf_counter()
        try:
            matches = read(path)
            said = differences(matches[0], rows[path.name]) if path.name in rows else []
        except BgfmtError as error:
            matches, said = [], [f"error: {error}"]
        seconds = time.perf_counter() - begin
        took[path.suffix] += seconds
        slowest = max(slowest, seconds)
        games += sum(len(match.games) for match in matches)
        for line in said:
            print(f"{path.name}: {line}")
        for match in matches:
            for line in match.problems:
                print(f"    {path.name}: {line}")
        wrong += bool(said)
    seconds = ", ".join(f"{s[1:]} {t:.1f} s" for s, t in took.items())
    print(f"{wrong} files differ; {games} games; {seconds}; slowest {slowest:.2f} s")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), *sys.argv[2:3])))
