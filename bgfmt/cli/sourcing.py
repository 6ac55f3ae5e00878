"""The line of text that states the source of an answer."""

from __future__ import annotations

from bgfmt.analysis.answers import CALCULATION, PLAYED, SourcedAnswer


def source_line(answer: SourcedAnswer) -> str:
    """Describe in words the source of an answer and its maximum error."""
    table = answer.table
    usual = answer.usual_error
    most = answer.max_error
    if usual is not None and most is not None:
        within = f"within {max(usual.values()):.2g} (95 %), {max(most.values()):.2g} (99.9 %)"
        how = "played out" if answer.source == PLAYED else "estimated"
        return f"{how}: {within}; --limit N calculates what takes more"
    where = f"from {table}" if table else f"by {answer.source}"
    if answer.source == CALCULATION:
        where = "calculated exactly"
    if most is None:
        return f"{where}; no bound of the error is known"
    worst = max(most.values(), default=0.0)
    return f"{where}; numbers err by at most {worst:.2g}" if worst > 1e-11 else f"{where}; exact"
