"""Measures of how far stored numbers are from the exact ones, from the entry points `bgfmt.measures`.

A measure is named by the option of `verify` that asks for it, `exact` or `bound`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from bgfmt.errors import CapabilityError
from bgfmt.tables import Table
from bgfmt.tables.registry import Registry
from bgfmt.verifier.recurrence.plays import Progress

__all__ = ["measure_of"]


class Measure(Protocol):
    """The interface of a measure: a module with these functions."""

    def estimate_seconds(self, table: Table) -> float:
        """Return about how many seconds of one core the measurement takes, 0 if that is not known."""

    def measure(self, table: Table, threads: int, progress: Progress | None = None) -> dict[str, Any]:
        """Measure the errors of the table's numbers; return them by name as values that JSON can hold.

        For kinds of table that cannot be measured the result has a note only. progress : called with (done, total).
        """

    def describe(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Yield lines of text about `found`, a result of `measure`."""


MEASURES: Registry[Measure] = Registry("bgfmt.measures")


def measure_of(name: str) -> Measure:
    """Return the measure of errors with this name; CapabilityError if none is installed.

    Measures are entry points of the group `bgfmt.measures`.
    """
    measure = MEASURES.get(name)
    if measure is None:
        reasons = [MEASURES.broken[name]] if name in MEASURES.broken else []
        raise CapabilityError("; ".join([f"nothing installed measures errors by --{name}", *reasons]))
    return measure
