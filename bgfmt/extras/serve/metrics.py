"""Counters of requests and answers since the start, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counters of the service. Routes are templates, never text from a client.

    worker : the number of this process among several, a label of every metric; None for a single process.
    """

    def __init__(self, version: str, tables: Iterable[tuple[str, int]], worker: int | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        own = {} if worker is None else {"worker": str(worker)}
        self._own = own
        self._registry = CollectorRegistry()
        build = Gauge("bgfmt_build_info", "The version.", ["version", *own], registry=self._registry)
        build.labels(version=version, **own).set(1)
        size = Gauge(
            "bgfmt_table_bytes", "Size of each table served.", ["table", *own], registry=self._registry
        )
        for name, table_bytes in tables:
            size.labels(table=name, **own).set(table_bytes)
        self._requests = self._counter("requests", "Requests answered.", "route", "method", "status")
        self._sent = self._counter("sent_bytes", "Bytes of bodies sent.", "route")
        self._positions = self._counter("positions", "Positions queried, bulk queries included.", "route")
        self._not_covered = self._counter("not_covered", "Positions not covered.")
        self._calculations = self._counter("calculations", "Calculations, by outcome.", "outcome")
        self._request_seconds = self._histogram(
            "request_seconds", "Time from a request to the end of its answer.", "route"
        )
        self._calculation_seconds = self._histogram("calculation_seconds", "Time of a calculation.")
        in_flight = Gauge("bgfmt_in_flight", "Requests under way.", [*own], registry=self._registry)
        self.in_flight = in_flight.labels(**own) if own else in_flight
        self._labelled(self._not_covered).inc(0)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"bgfmt_{name}", about, [*labels, *self._own], registry=self._registry)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(
            f"bgfmt_{name}", about, [*labels, *self._own], registry=self._registry, buckets=BOUNDS
        )

    def _labelled(self, metric: Counter | Histogram, **labels: object) -> Any:
        labels |= self._own
        return metric.labels(**labels) if labels else metric

    def count_request(self, route: str, method: str, status: int, sent: int, seconds: float) -> None:
        """Count a response by route, method and status; add its bytes (`sent`) and seconds."""
        self._labelled(self._requests, route=route, method=method, status=status).inc()
        self._labelled(self._sent, route=route).inc(sent)
        self._labelled(self._request_seconds, route=route).observe(seconds)

    def count_calculation(self, outcome: str, seconds: float) -> None:
        """Count a calculation by its outcome, and the seconds of a finished one.

        outcome : "done", "busy" or "share" (the client's share is used up).
        """
        self._labelled(self._calculations, outcome=outcome).inc()
        if outcome == "done":
            self._labelled(self._calculation_seconds).observe(seconds)

    def count_positions(self, route: str, positions: int, not_covered: int = 0) -> None:
        """Count positions in queries of a route, and those of them that no table covers."""
        self._labelled(self._positions, route=route).inc(positions)
        self._labelled(self._not_covered).inc(not_covered)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
