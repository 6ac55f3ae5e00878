"""Findings into a status and an exit code: the one place that judges.

Exit code 0 is for a proof under a named recipe, or for differences within a tolerance that the user named; and for
less than a proof only where less was asked for.
"""

from __future__ import annotations

from enum import Enum

from bgfmt.verifier.findings import Cause, Finding, Kind, Rule, Seen


class Status(Enum):
    """What a file is worth: the value is the word in reports."""

    PROVED = "proved"
    TOLERATED = "within tolerance"
    UNPROVED = "unproved"
    DIFFERS = "differs"
    DAMAGED = "damaged"
    CLAIMS = "not what it claims"
    UNREADABLE = "not readable"


CLAIMING = (Cause.OTHER_SIZE, Cause.BYTE_ORDER)


def counted(seen: Seen) -> tuple[Finding, ...]:
    """The faults that count against the file.

    That it is not the published file of its size counts where nothing else was looked at: held whole against the
    rules, it may be sound all the same, or is wrong for reasons that say more.
    """
    whole = seen.outcome is not None and not seen.limited
    return tuple(f for f in seen.faults if f.rule is not Rule.DIGEST or not whole)


def status_of(seen: Seen) -> Status:
    """The status of one table."""
    rules = {finding.rule for finding in counted(seen)}
    outcome = seen.outcome
    failing = outcome is not None and outcome.failing > 0
    likely = seen.likely or (outcome.likely if outcome else None)
    if Rule.UNREADABLE in rules:
        return Status.UNREADABLE
    if (rules or failing) and likely is not None and likely.cause in CLAIMING:
        return Status.CLAIMS
    if any(rule.kind is Kind.LAYOUT or rule in (Rule.SENSE, Rule.REMADE) for rule in rules):
        return Status.DAMAGED
    if outcome is not None and failing:
        if seen.tolerance is not None and outcome.largest <= seen.tolerance and Rule.AGAINST not in rules:
            return Status.TOLERATED
        return Status.DIFFERS if outcome.systematic else Status.DAMAGED
    if rules:
        return Status.DIFFERS
    if outcome is not None and outcome.recipe and outcome.checked and not seen.limited:
        return Status.PROVED
    return Status.UNPROVED


def exit_code(status: Status, limited: bool) -> int:
    """0, 1 or 2 as the command line returns it."""
    if status is Status.UNREADABLE:
        return 2
    if status in (Status.PROVED, Status.TOLERATED):
        return 0
    return 0 if status is Status.UNPROVED and limited else 1
