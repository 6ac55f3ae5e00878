"""Small questions by HTTP while others calculate: 64 clients, 16 of which ask for exact calculations all the time.

    python -m benchmarks.serve [SECONDS] [OPTIONS OF SERVE...]

Of the other 48, a third send look-ups by GET, a third one-row look-ups by POST and a third cube actions that the
table covers. Each client waits for its answer before it asks again, and is told apart by X-Forwarded-For. Printed are
answers a second, the median, the 99th percentile and the longest time of an answer, for each kind and for `/healthz`,
which is queried every 20 ms; and the memory of the service, at ten times from the start to the end.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

from benchmarks._measure import BGFMT, run

CALCULATING = 16
SMALL = ("look-ups by GET", "look-ups by POST", "covered cubes")
CLIENTS = ["/healthz", *(SMALL[k % len(SMALL)] for k in range(48)), *["calculations"] * CALCULATING]
TIMES = 10  # at which memory is read
spent: defaultdict[str, list[float]] = defaultdict(list)


def draw_side(chance: random.Random, points: int, chequers: int) -> str:
    """Return random counts of a side as text."""
    counts = [0] * points
    for _ in range(chequers):
        counts[chance.randrange(points)] += 1
    return ",".join(map(str, counts))


def draw_request(kind: str, chance: random.Random) -> tuple[str, str, bytes | None]:
    """Return method, path and body of a random question of a kind."""
    if kind == "/healthz":
        return "GET", kind, None
    points = 6
    chequers = 6
    if kind == "calculations":
        points = 7
        chequers = 9
    position = "/".join(draw_side(chance, points, chance.randint(chequers - 3, chequers)) for _ in "ab")
    if kind == "look-ups by POST":
        return "POST", "/v1/lookup", json.dumps({"positions": [position]}).encode()
    route = "lookup" if kind == "look-ups by GET" else "cube"
    return "GET", f"/v1/{route}?position={quote(position)}", None


def query(number: int, kind: str, port: int, until: float) -> None:
    """Send one kind of question until the time is up."""
    chance = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"X-Forwarded-For": f"10.0.0.{number}", "Content-Type": "application/json"}
    while time.perf_counter() < until:
        method, path, body = draw_request(kind, chance)
        begin = time.perf_counter()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        name = kind if answer.status == 200 else f"{kind} ({answer.status})"
        spent[name].append(time.perf_counter() - begin)
        if kind == "/healthz":
            time.sleep(0.02)


def read_memory(process: int) -> str:
    """Return a process's memory in MB: what it holds itself, and with the files that it maps."""
    fields = dict(re.findall(r"^(\w+):\s+(\d+) kB$", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M))
    return f"{int(fields['Anonymous']) // 1024} ({int(fields['Rss']) // 1024})"


def main(seconds: float, options: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "ts.bd")
        run([*BGFMT, "solve", "two-sided", "6x6", "--quiet", "-o", table])
        command = [*BGFMT, "serve", "--port", "0", "--quiet", "--proxy", "127.0.0.1", *options, str(table)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
            assert server.stdout is not None
            found = None
            while found is None:
                found = re.search(r"http://127\.0\.0\.1:(\d+)", server.stdout.readline())
            port = int(found[1])
            query(0, "calculations", port, time.perf_counter() + 5)  # what is compiled the first time is
            spent.clear()
            until = time.perf_counter() + seconds
            clients = [
                threading.Thread(target=query, args=(number, kind, port, until))
                for number, kind in enumerate(CLIENTS)
            ]
            for one in clients:
                one.start()
            memory = []
            for _ in range(TIMES):
                memory.append(read_memory(server.pid))
                time.sleep(seconds / TIMES)
            for one in clients:
                one.join()
            memory.append(read_memory(server.pid))
            server.terminate()
    for kind, times in sorted(spent.items()):
        times.sort()
        median = times[len(times) // 2]
        last_hundredth = times[int(0.99 * len(times))]
        print(
            f"{kind:<22} {len(times) / seconds:8.1f} a second   median {1000 * median:7.1f} ms   "
            f"99 % {1000 * last_hundredth:7.1f} ms   longest {1000 * times[-1]:7.1f} ms"
        )
    print("memory in MB (with mapped files):", ", ".join(memory))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, sys.argv[2:])
