"""Counters in the text form that Prometheus reads. Routes are templates, never what a stranger typed."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What has been asked and answered since the start."""

    def __init__(self, version: str, tables: Iterable[tuple[str, int]]) -> None:
        self.version, self.tables = version, list(tables)
        self.in_flight = 0
        self.not_covered = 0
        self.positions: dict[str, int] = defaultdict(int)
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._sent: dict[str, int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def answered(self, route: str, method: str, status: int, seconds: float, sent: int) -> None:
        """Count one answer."""
        self._requests[route, method, status] += 1
        self._sent[route] += sent
        self._seconds[route] += seconds
        self._buckets[route][bisect_left(BOUNDS, seconds)] += 1

    def asked(self, route: str, positions: int, not_covered: int = 0) -> None:
        """Count positions asked."""
        self.positions[route] += positions
        self.not_covered += not_covered

    def text(self) -> str:
        """All of it."""
        out: list[str] = []

        def family(name: str, kind: str, help: str, lines: Iterable[tuple[str, float]]) -> None:
            out.append(f"# HELP {name} {help}")
            out.append(f"# TYPE {name} {kind}")
            out.extend(f"{name}{labels} {value}" for labels, value in lines)

        family("bgfmt_build_info", "gauge", "The version.", [(f'{{version="{_label(self.version)}"}}', 1)])
        requests = [
            (f'{{route="{r}",method="{m}",status="{s}"}}', n)
            for (r, m, s), n in sorted(self._requests.items())
        ]
        family("bgfmt_requests_total", "counter", "Requests answered.", requests)
        out.append("# HELP bgfmt_request_seconds Time from a request to the end of its answer.")
        out.append("# TYPE bgfmt_request_seconds histogram")
        for route, counts in sorted(self._buckets.items()):
            total = 0
            for bound, n in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                total += n
                out.append(f'bgfmt_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}')
            out.append(f'bgfmt_request_seconds_sum{{route="{route}"}} {self._seconds[route]}')
            out.append(f'bgfmt_request_seconds_count{{route="{route}"}} {total}')
        by_route = [(f'{{route="{r}"}}', n) for r, n in sorted(self.positions.items())]
        family("bgfmt_positions_total", "counter", "Positions asked, each of a bulk question.", by_route)
        family("bgfmt_not_covered_total", "counter", "Of them not covered.", [("", self.not_covered)])
        family("bgfmt_in_flight", "gauge", "Requests under way.", [("", self.in_flight)])
        sent = [(f'{{route="{r}"}}', n) for r, n in sorted(self._sent.items())]
        family("bgfmt_sent_bytes_total", "counter", "Bytes of bodies sent.", sent)
        sizes = [(f'{{table="{_label(name)}"}}', size) for name, size in self.tables]
        family("bgfmt_table_bytes", "gauge", "Size of each table served.", sizes)
        return "\n".join(out) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
