"""Look-ups by HTTP while others calculate: 64 clients, 16 of which ask for exact calculations all the time.

    python -m benchmarks.serve [SECONDS] [OPTIONS OF SERVE...]

Each client waits for its answer before it asks again, and is told apart by X-Forwarded-For. Printed are answers a
second, the middle, the 99th percentile and the longest time of an answer, of look-ups, of calculations, and of
`/healthz`, asked every 20 ms.
"""

from __future__ import annotations

import http.client
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

LOOKING, CALCULATING = 48, 16
spent: defaultdict[str, list[float]] = defaultdict(list)


def side(chance: random.Random, points: int, chequers: int) -> str:
    counts = [0] * points
    for _ in range(chequers):
        counts[chance.randrange(points)] += 1
    return ",".join(map(str, counts))


def client(number: int, port: int, until: float) -> None:
    """Ask one kind of question until the time is up."""
    chance, kind = random.Random(number), "look-ups" if number < LOOKING else "calculations"
    kind = "/healthz" if number < 0 else kind
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    while time.perf_counter() < until:
        path = "/healthz"
        if number >= 0:
            points, chequers = (6, 6) if kind == "look-ups" else (7, 9)
            position = "/".join(side(chance, points, chance.randint(chequers - 3, chequers)) for _ in "ab")
            path = f"/v1/{'lookup' if kind == 'look-ups' else 'cube'}?position={quote(position)}"
        begin = time.perf_counter()
        connection.request("GET", path, headers={"X-Forwarded-For": f"10.0.0.{number % 200}"})
        answer = connection.getresponse()
        answer.read()
        spent[kind if answer.status == 200 else f"{kind} ({answer.status})"].append(
            time.perf_counter() - begin
        )
        if number < 0:
            time.sleep(0.02)


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
            client(LOOKING, port, time.perf_counter() + 5)  # what is compiled the first time is
            spent.clear()
            until = time.perf_counter() + seconds
            clients = [
                threading.Thread(target=client, args=(number, port, until))
                for number in range(-1, LOOKING + CALCULATING)
            ]
            for one in clients:
                one.start()
            for one in clients:
                one.join()
            server.terminate()
    for kind, times in sorted(spent.items()):
        times.sort()
        middle, most = times[len(times) // 2], times[int(0.99 * len(times))]
        print(
            f"{kind:<20} {len(times) / seconds:8.1f} a second   median {1000 * middle:7.1f} ms   "
            f"99 % {1000 * most:7.1f} ms   longest {1000 * times[-1]:7.1f} ms"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, sys.argv[2:])
