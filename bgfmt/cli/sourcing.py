"""The line of text that states the source of an answer."""

from __future__ import annotations

from bgfmt.analysis.answers import CALCULATION, RankedPlays, SourcedAnswer, estimate_words

__all__ = ["source_line"]


def source_line(answer: SourcedAnswer) -> str:
    """Describe in words the source of an answer and its maximum error."""
    table = answer.table
    usual = answer.usual_error
    most = answer.max_error
    if usual is not None:
        close = isinstance(answer, RankedPlays) and any(play.close for play in answer.plays[1:])
        within = 2 * max(most.values()) if close and most else None
        words = estimate_words(answer.source, max(usual.values()), close_within=within)
        return f"{words}; a higher --limit N calculates exactly"
    where = f"from {table}" if table else f"by {answer.source}"
    if answer.source == CALCULATION:
        where = "calculated exactly"
    if most is None:
        return f"{where}; no error bound is known"
    worst = max(most.values(), default=0.0)
    return f"{where}; maximum error {worst:.2g}" if worst > 1e-11 else f"{where}; exact"
