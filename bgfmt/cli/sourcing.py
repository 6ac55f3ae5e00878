"""The line of text that states the source of an answer."""

from __future__ import annotations

from bgfmt.analysis.answers import CALCULATION, RankedPlays, SourcedAnswer, estimate_words
from bgfmt.errors import TooMuchWorkError

__all__ = ["source_line"]


def source_line(answer: SourcedAnswer, refusal: TooMuchWorkError | None = None) -> str:
    """Describe in words the source of an answer and its maximum error.

    refusal : why an estimate was not calculated exactly, if that is known; it has the work of the calculation.
    """
    table = answer.table
    usual = answer.usual_error
    most = answer.max_error
    if usual is not None:
        close = isinstance(answer, RankedPlays) and any(play.close for play in answer.plays[1:])
        within = 2 * max(most.values()) if close and most else None
        words = estimate_words(answer.source, max(usual.values()), close_within=within)
        if refusal is None or refusal.work is None:
            return f"{words}; a higher --limit N calculates exactly"
        return f"{words}; exact calculation takes a --limit of at least {refusal.work}"
    where = f"from {table}" if table else f"by {answer.source}"
    if answer.source == CALCULATION:
        where = "calculated exactly"
    if most is None:
        return f"{where}; no error bound is known"
    worst = max(most.values(), default=0.0)
    return f"{where}; maximum error {worst:.2g}" if worst > 1e-11 else f"{where}; exact"
