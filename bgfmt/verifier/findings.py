"""Findings of the checks, the outcome of a recurrence check, and the rules that turn them into a status.

`status_of` turns findings into a status and `exit_code` turns the status into an exit code; `bgfmt.verifier.words`
formats them as sentences. Exit code 0 is for a proof under a named recipe, for differences within a tolerance that
the user named, and for less than a proof only where less was requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bgfmt.game.board import Side

__all__ = [
    "LEVELS",
    "MAX_FINDINGS",
    "Cause",
    "Finding",
    "Kind",
    "LikelyCause",
    "Observations",
    "Outcome",
    "Rule",
    "Status",
    "exit_code",
    "select_faults",
    "status_of",
]


LEVELS = ("structure", "digest", "sense", "recurrence", "regenerate")
#: findings of one rule that are kept; the rest are only counted
MAX_FINDINGS = 100


class Kind(Enum):
    """What a finding means: a wrong number, bytes that the format does not write, or a note (no fault)."""

    WRONG = "wrong"
    LAYOUT = "layout"
    NOTE = "note"


class Rule(Enum):
    """A check that a file failed, or a note: its label in reports, the verification level and the kind of finding."""

    UNREADABLE = ("unreadable", "structure", Kind.LAYOUT)
    BROKEN = ("broken", "structure", Kind.LAYOUT)
    LEFT_OVER = ("left over", "structure", Kind.LAYOUT)
    LAYOUT = ("layout", "structure", Kind.LAYOUT)
    DIGEST = ("digest", "digest", Kind.WRONG)
    SENSE = ("sense", "sense", Kind.WRONG)
    ENTRY = ("entry", "recurrence", Kind.WRONG)
    REMADE = ("remade", "regenerate", Kind.WRONG)
    AGAINST = ("against", "against", Kind.WRONG)
    # notes
    NO_TABLE = ("no table", "structure", Kind.NOTE)
    CARRIED = ("carried", "structure", Kind.NOTE)
    READ_AS = ("read as", "structure", Kind.NOTE)
    KNOWN = ("known", "digest", Kind.NOTE)
    MADE_BY = ("made by", "recurrence", Kind.NOTE)
    STATED = ("stated", "recurrence", Kind.NOTE)
    NO_RECURRENCE = ("no recurrence", "recurrence", Kind.NOTE)
    SAME_REMADE = ("same remade", "regenerate", Kind.NOTE)
    NOT_REMADE = ("not remade", "regenerate", Kind.NOTE)
    SAME_AGAINST = ("same against", "against", Kind.NOTE)

    def __init__(self, label: str, check: str, kind: Kind) -> None:
        self.label = label
        self.check = check
        self.kind = kind


@dataclass(frozen=True)
class Finding:
    """One result of a check: a fault or a note.

    Attributes
    ----------
    entry : position number for one side, us * n + them for two sides, or None.
    offset : bytes from the start of the file, or None.
    expected, found : the right and the stored value (numbers, bytes or text, depending on the rule).
    field : name of the column, array, header field or file concerned.
    sides : the position, one side or two.
    count : number of violations, where only the first one is stored.
    meaning : for each column in `field`, the equities that its integers stand for, as text.
    settled : False if `expected` is computed from stored entries, which may be wrong themselves.
    """

    rule: Rule
    entry: int | None = None
    offset: int | None = None
    expected: Any = None
    found: Any = None
    field: str = ""
    sides: tuple[Side, ...] = ()
    count: int = 1
    meaning: tuple[str, ...] = ()
    settled: bool = True


class Cause(Enum):
    """Likely cause of the damage; the value is its description in reports."""

    OTHER_SIZE = "other points or chequers than the header says"
    BYTE_ORDER = "the other byte order"
    ZEROS = "only zeros"
    ONES = "only ones"
    BARE_HEADER = "a bare header"
    CUT = "truncated, or a header of other points or chequers"
    OTHER_ROUNDING = "other rounding, or plain negation instead of one's complement"
    OTHER_PLAYS = "another rule for equally good plays, or other rounding"
    ADDITIONS = "another order of additions"
    THRESHOLD = "another threshold, a restarted run or another build of makehyper"


@dataclass(frozen=True)
class LikelyCause:
    """A likely cause and its detail: the sizes that fit."""

    cause: Cause
    detail: str = ""


@dataclass(frozen=True)
class Outcome:
    """Result of checking a table against the recurrence of its kind.

    Attributes
    ----------
    entries, checked : number of entries of the table, and of those checked.
    recipe : name of the recipe that every checked entry follows; "" if there is none.
    failing : entries that do not follow from the others.
    wrong, inherited : of the recomputed table, failing entries that differ and entries that differ only because an
        entry that they depend on is wrong. `wrong` is None if this was not determined.
    largest : greatest difference, in `unit`.
    unit : "unit" for stored integers, else the word that reports print after the number.
    systematic : True if the differences are small and everywhere, as in a file of another program.
    differences : size of a difference (as text) -> number of entries, or a measure's name -> value.
    likely : likely cause of the differences, or None.
    facts : further values for the sentences of `bgfmt.verifier.words`, by name.
    """

    entries: int = 0
    checked: int = 0
    recipe: str = ""
    failing: int = 0
    wrong: int | None = None
    inherited: int = 0
    largest: float = 0.0
    unit: str = "unit"
    systematic: bool = False
    differences: Mapping[str, float] = field(default_factory=dict)
    likely: LikelyCause | None = None
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Observations:
    """Everything the verifier found out about one table; `status_of` judges it.

    Attributes
    ----------
    findings : findings and notes of every level.
    outcome : result of the recurrence, None if it was not run.
    level : the highest level that was completed.
    limited : True if less than a proof was requested (a lower level, or a sample).
    tolerance : largest difference that the user allows, or None.
    likely : likely cause of damage, or None.
    """

    findings: tuple[Finding, ...]
    outcome: Outcome | None
    level: str
    limited: bool
    tolerance: float | None = None
    likely: LikelyCause | None = None

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that report something wrong, without notes."""
        return tuple(f for f in self.findings if f.rule.kind is not Kind.NOTE)


# -- the verdict ---------------------------------------------------------------------------------------------


class Status(Enum):
    """Judgement of a file; the value is the word that reports print."""

    PROVED = "proved"
    TOLERATED = "within tolerance"
    UNPROVED = "unproved"
    DIFFERS = "differs"
    DAMAGED = "damaged"
    CLAIMS = "not what it claims"
    UNREADABLE = "not readable"


CLAIM_CAUSES = (Cause.OTHER_SIZE, Cause.BYTE_ORDER)


def select_faults(seen: Observations) -> tuple[Finding, ...]:
    """Return the findings that count against the file.

    A wrong checksum (`Rule.DIGEST`) counts only if it was not checked for the whole table that entries follow from
    each other (the recurrence): such a table may be right although it is not the published file, and if it is wrong
    the recurrence says more.
    """
    whole = seen.outcome is not None and not seen.limited
    return tuple(f for f in seen.faults if f.rule is not Rule.DIGEST or not whole)


def status_of(seen: Observations) -> Status:
    """Return the status of one table, judged by its findings and by whether its entries follow from each other."""
    rules = {finding.rule for finding in select_faults(seen)}
    outcome = seen.outcome
    failing = outcome is not None and outcome.failing > 0
    likely = seen.likely or (outcome.likely if outcome else None)
    if Rule.UNREADABLE in rules:
        return Status.UNREADABLE
    if (rules or failing) and likely is not None and likely.cause in CLAIM_CAUSES:
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
    """Return the exit code of `bgfmt verify`: 0 (fine), 1 (something is wrong or unproved) or 2 (not readable).

    limited : True if less than a proof was requested; then an unproved table is no failure.
    """
    if status is Status.UNREADABLE:
        return 2
    if status in (Status.PROVED, Status.TOLERATED):
        return 0
    return 0 if status is Status.UNPROVED and limited else 1
