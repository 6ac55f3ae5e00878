"""Records of a compressed table by byte range: `python -m benchmarks.ranges TABLE.bgts [RECORDS] [MS] [PART] [OS]`.

Lays out a site with the table in parts of PART bytes (100 MB) and a one-sided table OS, serves it with ranges, MS
milliseconds a request (50), and asks for records (500) that Python looks up too: by plugins/js in node and in
Chromium, and by `bgfmt.open` over HTTP. Each record is cold: nothing but the directory and the heads of strips is
kept from one to the next. Then the page itself: milliseconds and bytes, in all, from a visit without any cache to its
first answer, and the same on a network of 1.6 Mbit/s with 150 ms a round trip.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import bgfmt
from bgfmt.extras.serve import page

SCRIPT = Path(__file__).resolve().parents[1] / "plugins" / "js" / "tests" / "ranges.mjs"


def row(what: str, found: dict[str, list[float]], right: int) -> str:
    """One line of the result."""
    times, requests, sizes = (found[name] for name in ("milliseconds", "requests", "bytes"))
    slowest = sorted(times)[int(0.99 * (len(times) - 1))]
    return (
        f"{what:<10} {right:5d} of {len(times)} equal; median {median(times):5.0f} ms, 99 % {slowest:5.0f} ms; "
        f"requests {median(requests):.0f}, at most {max(requests):.0f}; "
        f"bytes {median(sizes):,.0f}, at most {max(sizes):,.0f}"
    )


def by_python(url: str, us: np.ndarray, them: np.ndarray, expected: np.ndarray) -> str:
    """`bgfmt.open` of the whole file over HTTP."""
    found: dict[str, list[float]] = {"milliseconds": [], "requests": [], "bytes": []}
    right = 0
    with bgfmt.open(url) as db:
        cost = db.source.facts()
        print(f"python     opening: {cost['requests']} requests, {cost['bytes_fetched']:,} bytes")
    with bgfmt.open(url, cache_pages=8) as db:
        facts = db.source.facts
        for k in range(len(us)):
            before, begin = facts(), time.perf_counter()
            answer = db.lookup_many(us[k : k + 1], them[k : k + 1])
            found["milliseconds"].append(1000 * (time.perf_counter() - begin))
            after = facts()
            found["requests"].append(after["requests"] - before["requests"])
            found["bytes"].append(after["bytes_fetched"] - before["bytes_fetched"])
            right += bool(np.array_equal(answer[0], expected[k]))
    return row("python", found, right)


def main() -> None:
    """Lay out, serve, ask and compare."""
    table = Path(sys.argv[1])
    words = dict(enumerate(sys.argv[2:]))
    many, delay, most = (
        int(words.get(k, default)) for k, default in enumerate((500, 50, page.DEFAULT_PART_BYTES))
    )
    tables = [str(table), *sys.argv[5:]]
    random = np.random.default_rng(24)
    with bgfmt.open(table) as db:
        n = db.table.positions
        us, them = random.integers(0, n, (2, many))
        expected = db.lookup_many(us, them)
    with tempfile.TemporaryDirectory(dir=table.parent) as folder:
        site = Path(folder) / "site"
        page.write(site, tables, part=page.part_size(most))
        (site / "whole.bgts").symlink_to(table.resolve())
        asked = {"numbers": (us * n + them).tolist(), "values": expected.astype(float).tolist()}
        (site / "asked.json").write_text(json.dumps(asked))
        command = ["node", str(SCRIPT), str(site), str(delay)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
            assert node.stdin is not None
            assert node.stdout is not None
            url = json.loads(node.stdout.readline())["url"]
            print(by_python(f"{url}whole.bgts", us, them, expected))
            node.stdin.write("go\n")
            node.stdin.flush()
            for line in node.stdout:
                one = json.loads(line)
                if "page" in one:
                    print(
                        f"{one['page']:<10} first answer after {one['milliseconds']} ms, {one['bytes']:,} bytes"
                    )
                elif "opening" in one:
                    print(f"{one['what']:<10} opening: {one['opening']}")
                else:
                    print(row(one["what"], one, one["right"]), f"; {one['parts']} parts touched")


if __name__ == "__main__":
    main()
