"""What a verification says: a verdict in one line, findings, and how far it looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bgfmt.errors import VerificationError

RUNGS = ("structure", "digest", "sense", "recurrence", "regenerate")
Status = Literal["proved", "consistent", "unproved", "damaged", "not what it claims", "not readable"]
EXIT = {"proved": 0, "consistent": 0, "unproved": 0, "damaged": 1, "not what it claims": 1, "not readable": 2}
FINDINGS_KEPT = 100


@dataclass(frozen=True)
class Finding:
    """One thing a check saw.

    `check` is the rung; `position_number` is a side's number, or us * n + them for two sides; `offset` is in bytes
    from the start of the file; `kind` is "wrong" (in itself), "inherits" (follows from a wrong entry), "layout" or
    "note"; `board` draws the position.
    """

    check: str
    message: str
    kind: str = "wrong"
    position_number: int | None = None
    position: str = ""
    offset: int | None = None
    expected: Any = None
    found: Any = None
    board: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain values, without what is empty."""
        out: dict[str, Any] = {"check": self.check, "kind": self.kind, "message": self.message}
        for name in ("position_number", "position", "offset", "expected", "found", "board"):
            value = getattr(self, name)
            if value not in (None, ""):
                out[name] = value
        return out

    def __str__(self) -> str:
        return self.message


@dataclass
class Report:
    """The result of `bgfmt.verify`.

    status : proved, consistent, unproved (nothing wrong as far as it looked), damaged, not what it claims, or not
    readable. rung : the highest rung that was climbed whole. wrong, inherited : entries wrong in themselves, and
    those that only follow from wrong ones. differences : for numbers that are near but not the recipe's, how many
    entries differ by how many units. exit_code : 0, 1 or 2 as the command line returns it.
    """

    file: str
    verdict: str = ""
    status: Status = "unproved"
    format: str = ""
    title: str = ""
    recipe: str = ""
    rung: str = ""
    known_as: str = ""
    entries: int = 0
    checked: int = 0
    wrong: int = 0
    inherited: int = 0
    cause: str = ""
    differences: dict[str, float] = field(default_factory=dict)
    exact: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parts: list[Report] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 proved, consistent or nothing found; 1 findings; 2 not readable."""
        return max([EXIT[self.status], *(part.exit_code for part in self.parts)])

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return self.exit_code == 0

    def __str__(self) -> str:
        return self.verdict

    def add(self, finding: Finding) -> None:
        """Keep a finding, up to a number a person may read."""
        if len(self.findings) < FINDINGS_KEPT:
            self.findings.append(finding)

    def findings_of(self, check: str) -> list[Finding]:
        """The findings of one rung."""
        return [finding for finding in self.findings if finding.check == check]

    def raise_for_findings(self) -> Report:
        """Return self; VerificationError with the verdict when anything was found."""
        if not self.ok:
            raise VerificationError(f"{self.file}: {self.verdict}", self)
        return self

    def as_dict(self) -> dict[str, Any]:
        """The whole report as plain values."""
        out: dict[str, Any] = {
            "file": self.file,
            "verdict": self.verdict,
            "status": self.status,
            "exit_code": self.exit_code,
            "format": self.format,
            "title": self.title,
            "recipe": self.recipe,
            "rung": self.rung,
            "known_as": self.known_as,
            "entries": self.entries,
            "checked": self.checked,
            "wrong": self.wrong,
            "inherited": self.inherited,
            "cause": self.cause,
            "differences": self.differences,
            "exact": self.exact,
            "findings": [finding.as_dict() for finding in self.findings],
            "notes": self.notes,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }
        if self.parts:
            out["parts"] = [part.as_dict() for part in self.parts]
        return out


def plural(count: int, noun: str) -> str:
    """`1 entry`, `3 entries`, with thousands separated."""
    if count == 1:
        return f"1 {noun}"
    ending = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {ending}"


def jsonable(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Numpy scalars as plain numbers."""
    return {key: value.item() if hasattr(value, "item") else value for key, value in mapping.items()}
