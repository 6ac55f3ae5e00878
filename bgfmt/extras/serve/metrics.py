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
        self._own = {} if worker is None else {"worker": str(worker)}
        self._registry = CollectorRegistry()
        make = self._make
        self._requests = make(Counter, "requests", "Requests answered.", "route", "method", "status")
        self._sent = make(Counter, "sent_bytes", "Bytes of bodies sent.", "route")
        self._positions = make(Counter, "positions", "Positions queried, bulk queries included.", "route")
        self._not_covered = make(Counter, "not_covered", "Positions not covered.")
        self._calculations = make(Counter, "calculations", "Calculations, by outcome.", "outcome")
        about = "Time from a request to the end of its answer."
        self._request_seconds = make(Histogram, "request_seconds", about, "route", buckets=BOUNDS)
        self._calculation_seconds = make(
            Histogram, "calculation_seconds", "Time of a calculation.", buckets=BOUNDS
        )
        self.in_flight = self._labelled(make(Gauge, "in_flight", "Requests under way."))
        self._labelled(self._not_covered).inc(0)
        self._labelled(make(Gauge, "build_info", "The version.", "version"), version=version).set(1)
        size = make(Gauge, "table_bytes", "Size of each table served.", "table")
        for name, table_bytes in tables:
            self._labelled(size, table=name).set(table_bytes)

    def _make(self, kind: Any, name: str, about: str, *labels: str, **more: Any) -> Any:
        return kind(f"bgfmt_{name}", about, [*labels, *self._own], registry=self._registry, **more)

    def _labelled(self, metric: Any, **labels: object) -> Any:
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
