"""What checks say: frozen findings, each by a rule, and the outcome of a recurrence; and the one place that judges.

`status_of` turns findings into a status and `exit_code` turns the status into an exit code; `bgfmt.verifier.words`
makes sentences of them. Exit code 0 is for a proof under a named recipe, or for differences within a tolerance that
the user named; and for less than a proof only where less was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bgfmt.files.database import RETURNS_LOST
from bgfmt.game.board import Side

LEVELS = ("structure", "digest", "sense", "recurrence", "regenerate")
#: findings of one rule that are kept; the rest are only counted
KEPT = 100


class Kind(Enum):
    """What a finding means for the file."""

    WRONG = "wrong"
    LAYOUT = "layout"
    NOTE = "note"


class Rule(Enum):
    """A rule that a file broke (or, for notes, something worth saying): name, rung and kind."""

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
    """One thing a check saw.

    entry : a side's position number, us * n + them for two sides, or None. offset : bytes from the start of the file.
    expected, found : numbers, bytes or text, as the rule has them. field : the column, array or header field it is
    about. sides : the position, for one or two sides. count : how many broke the rule, where only the first is kept.
    meaning : the equities for which stored integers stand, in words.
    """

    rule: Rule
    entry: int | None = None
    offset: int | None = None
    expected: Any = None
    found: Any = None
    field: str = ""
    sides: tuple[Side, ...] = ()
    count: int = 1
    meaning: str = ""


class Cause(Enum):
    """The likely cause of what was found."""

    OTHER_SIZE = "other points or chequers than the header says"
    BYTE_ORDER = "the other byte order"
    SHIFTED = "shifted"
    ZEROS = "nothing but zeros"
    ONES = "nothing but ones"
    BARE_HEADER = "a bare header"
    TEXT = RETURNS_LOST
    CUT = "cut short, or a header of other points or chequers"
    ROUNDED = "rounding where gnubg truncates"
    ROUNDED_DOWN = "rounding down where gnubg truncates towards zero"
    OTHER_ROUNDING = "other rounding, or plain negation instead of one's complement"
    OTHER_PLAYS = "another rule for equally good plays, or other rounding"
    HALVES = "exact halves rounded either way, as by a program that divides floats"
    ADDITIONS = "another order of additions"
    THRESHOLD = "another threshold, a restart or another build of makehyper"


@dataclass(frozen=True)
class Likely:
    """A cause, and what more is known of it (the sizes that fit, the bytes shifted)."""

    cause: Cause
    detail: str = ""


@dataclass(frozen=True)
class Outcome:
    """What holding a table against its own rule came to.

    entries, checked : how many the table has, how many were looked at. recipe : the name of the rule that every one
    checked follows, "" where none does. failing : entries that do not follow; wrong, inherited : those wrong in
    themselves and those that follow from wrong ones, wrong None where they were not told apart. largest : the
    greatest difference, in `unit`. systematic : the differences are small and everywhere, as of another program.
    differences : how many entries differ by how much. facts : what the words need more.
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
    likely: Likely | None = None
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """All that was seen of one table: findings of every rung, the outcome of the recurrence, how far it went.

    rung : the highest rung climbed whole. limited : less than a proof was asked for (a lower rung, a sample).
    tolerance : the largest difference the user allows, or None.
    """

    findings: tuple[Finding, ...]
    outcome: Outcome | None
    rung: str
    limited: bool
    tolerance: float | None = None
    likely: Likely | None = None

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that are no notes."""
        return tuple(f for f in self.findings if f.rule.kind is not Kind.NOTE)


# -- the verdict ---------------------------------------------------------------------------------------------


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
