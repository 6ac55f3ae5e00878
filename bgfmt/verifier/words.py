"""Findings, causes and outcomes as English sentences; no other module writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bgfmt.game.board import Position
from bgfmt.game.drawing import draw, draw_side
from bgfmt.verifier.findings import Finding, LikelyCause, Observations, Outcome, Rule, Status, select_faults

__all__ = ["plural"]

MAX_LISTED_NUMBERS = 12  # numbers of an entry that are written out
SENTENCES = {  # of a finding, by its rule
    Rule.UNREADABLE: "{0.found}",
    Rule.BROKEN: "{0.found}",
    Rule.NO_TABLE: "{0.found}",
    Rule.DIGEST: "not the bytes of a published file of its size and header ({0.field}): expected {0.expected}, "
    "found {0.found}",
    Rule.SENSE: "row {0.entry:,}: {0.field}",
    Rule.REMADE: "row {0.entry:,} of {0.field} differs from the solver's",
    Rule.AGAINST: "not the same as {0.field}: {0.found}",
    Rule.SAME_AGAINST: "against {0.field}: {0.found}",
    Rule.READ_AS: "{0.expected}; read as {0.found}",
    Rule.KNOWN: "its bytes are those of {0.found}",
    Rule.MADE_BY: "recipe {0.field}: {0.found}",
    Rule.STATED: "{0.field}: {0.found}",
    Rule.NO_RECURRENCE: "no rule is known for {0.found}; it was compared with theory alone",
    Rule.SAME_REMADE: "solved again by recipe {0.field}: the same numbers throughout",
    Rule.NOT_REMADE: "not solved again: {0.found}",
}


def plural(count: int, noun: str) -> str:
    """Return a count and its noun, `1 entry` or `3,000 entries`."""
    if count == 1:
        return f"1 {noun}"
    ending = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {ending}"


def position(finding: Finding) -> str:
    """Return the chequers of the position that a finding is about; "" if it is about none."""
    return " / ".join(str(side) for side in finding.sides)


def board(finding: Finding) -> str:
    """Return a drawing of the position that a finding is about, in which `X` is on roll; "" if it is about none."""
    if not finding.sides:
        return ""
    return draw_side(finding.sides[0]) if len(finding.sides) == 1 else draw(Position(*finding.sides))


def message(finding: Finding) -> str:
    """Return the sentence that a report prints for a finding."""
    f = finding
    rule = finding.rule
    if rule is Rule.ENTRY:
        return _entry(f)
    if rule in SENTENCES:
        return SENTENCES[rule].format(f)
    if rule is Rule.LEFT_OVER:
        verb = "belongs" if f.count == 1 else "belong"
        return f"{plural(f.count, 'byte')} after byte {f.offset:,} {verb} to no table"
    at = "" if f.offset is None else f"byte {f.offset:,}: "
    many = "" if f.count == 1 else f"; {f.count:,} bytes in all"
    what = "carried along" if rule is Rule.CARRIED else "not as written"
    return f"{f.field} {what}: {at}expected {f.expected}, found {f.found}{many}"


def _entry(f: Finding) -> str:
    where = "" if f.offset is None else f", byte {f.offset:,}"
    place = f"position {f.entry:,} ({position(f)}){where}"
    name = f"{f.field} " if f.field else ""
    if f.expected is None:
        return f"{place}: {name}stored {_short(f.found)} does not follow from the others"
    right = "right" if f.settled else "computed"
    differing = _differing(f)
    if not differing:
        return f"{place}: {name}stored {_short(f.found)}, {right} {_short(f.expected)}"
    if len(f.found) > MAX_LISTED_NUMBERS:
        k, stored, expected = differing[0]
        return f"{place}: {name}after {k} rolls stored {stored}, {right} {expected}"
    names = f.field.split(", ")
    if not f.field or len(names) != len(differing):  # it does not name each number
        return f"{place}: {name}stored {_short(f.found)}, {right} {_short(f.expected)}"
    each = []
    for index, (_, stored, expected) in enumerate(differing):
        meaning = f" ({f.meaning[index]})" if index < len(f.meaning) else ""
        each.append(f"{names[index]} stored {stored}, {right} {expected}{meaning}")
    return f"{place}: {'; '.join(each)}"


def _differing(f: Finding) -> list[tuple[int, Any, Any]]:
    """Return (index, stored, expected) of the numbers of an entry that differ; [] unless both are lists."""
    if not isinstance(f.found, Sequence) or not isinstance(f.expected, Sequence):
        return []
    pairs = zip(f.found, f.expected, strict=True)
    return [
        (k, stored, expected)
        for k, (stored, expected) in enumerate(pairs)
        if stored != expected  # NaN differs from itself
    ]


def differences(counts: Mapping[str, float]) -> str:
    """Return how many stored numbers differ by how much, as one phrase.

    counts : {difference as text: number of entries}, or measures of the differences by name.
    """
    if any(isinstance(count, float) for count in counts.values()):
        return ", ".join(f"{name} {size:.1e}" for name, size in counts.items())
    each = ", ".join(f"{count:,} by {size}" for size, count in counts.items())
    return f"stored numbers: {each} from what the file's other entries give"


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)) and len(value) > MAX_LISTED_NUMBERS:
        return f"[{', '.join(map(str, value[:MAX_LISTED_NUMBERS]))}, ...]"
    return str(value)


def likely(cause: LikelyCause | None) -> str:
    """Return the phrase that a report prints for a likely cause; "" for None."""
    if cause is None:
        return ""
    return f"likely cause: {cause.cause.value}{f'; {cause.detail}' if cause.detail else ''}"


# -- the verdict -----------------------------------------------------------------------------------------------


def verdict(seen: Observations, status: Status) -> str:
    """Return the one-line verdict that a report begins with: the table's status and the reason for it."""
    outcome = seen.outcome
    if status is Status.PROVED:
        assert outcome is not None
        return f"proved: {_proof(outcome)}"
    if status is Status.UNREADABLE:
        return f"not readable: {message(select_faults(seen)[0])}"
    if status is Status.UNPROVED:
        return _unproved(seen)
    if status is Status.TOLERATED:
        assert outcome is not None
        return (
            f"within the tolerance of {_units(seen.tolerance or 0, outcome.unit)}, not a proof: "
            f"{_share(outcome)} differ from what the rule gives, by {_units(outcome.largest, outcome.unit)} at most"
        )
    told = [message(f) for f in select_faults(seen) if f.rule is not Rule.ENTRY]
    if outcome is not None and outcome.failing:
        told.insert(0, _failing(outcome, status))
    elif outcome is not None and outcome.recipe and not seen.limited and told:
        told.append(f"otherwise {_proof(outcome)}")
    every = " from every known recipe" if status is Status.DIFFERS and outcome and outcome.failing else ""
    cause = likely(seen.likely or (outcome.likely if outcome else None))
    return f"{status.value}{every}: {'; '.join(told)}{f' ({cause})' if cause else ''}"


def _units(size: float, unit: str) -> str:
    return plural(round(size), "unit") if unit == "unit" else f"{size:.1e} {unit}"


def _proof(outcome: Outcome) -> str:
    every = f"every one of {plural(outcome.entries, 'entry')}"
    facts = outcome.facts
    if "sweeps" in facts:
        text = f"{every} is what {_whose(outcome)} iteration gives after {plural(facts['sweeps'], 'sweep')}"
    elif "threshold" in facts:
        text = (
            f"{every} reproduces itself in one step of {_whose(outcome)} iteration to its threshold of "
            f"{facts['threshold']:.0e}, finished games to the last bit"
        )
    elif outcome.recipe in ("exact", "match"):
        text = f"{every} follows from the rules to the last bit"
    else:
        text = f"{every} follows from the rules"
    if "change" in facts:
        text += f", not converged: the next sweep changes a number by {facts['change']:.1e}"
    given = f", given the chances that it states for {facts['given']}" if "given" in facts else ""
    return f"{text} (recipe {outcome.recipe}){given}"


def _whose(outcome: Outcome) -> str:
    return "the" if outcome.recipe == "exact" else "makehyper's"


def _share(outcome: Outcome) -> str:
    return f"{outcome.failing:,} of {plural(outcome.checked, 'entry')}"


def _failing(outcome: Outcome, status: Status) -> str:
    if outcome.systematic and status is Status.DIFFERS:
        verb = "differs" if outcome.failing == 1 else "differ"
        return (
            f"{_share(outcome)} {verb} from what the nearest rule gives, by "
            f"{_units(outcome.largest, outcome.unit)} at most"
        )
    entries = [f for f in outcome.findings if f.rule is Rule.ENTRY]
    numbers = [f.entry or 0 for f in entries]
    order = "first in order of pips" if numbers != sorted(numbers) else "first"
    tail = f"; {order}: {message(entries[0])}" if entries else ""
    if outcome.wrong is None:
        verb = "does" if outcome.failing == 1 else "do"
        others = "the others, which may be wrong instead" if "seed" in outcome.facts else "the others"
        return f"{_share(outcome)} {verb} not follow from {others}{tail}"
    verb = "inherits" if outcome.inherited == 1 else "inherit"
    inherits = f", {outcome.inherited:,} {verb} the error" if outcome.inherited else ""
    own = "itself" if outcome.wrong == 1 else "themselves"
    return f"{plural(outcome.wrong, 'entry')} wrong in {own}{inherits}{tail}"


def _unproved(seen: Observations) -> str:
    outcome = seen.outcome
    known = next((f"; {message(f)}" for f in seen.findings if f.rule is Rule.KNOWN), "")
    if outcome is not None and outcome.checked and seen.limited:
        seed = f"; seed {outcome.facts['seed']}" if "seed" in outcome.facts else ""
        return (
            f"nothing wrong found in a sample of {outcome.checked:,} of {plural(outcome.entries, 'entry')} "
            f"(not a proof{seed}){known}"
        )
    if not seen.limited:
        why = next((f for f in seen.findings if f.rule in (Rule.NO_RECURRENCE, Rule.NO_TABLE)), None)
        reason = message(why) if why else "no entry was checked"
        return f"not proved: {reason}; nothing wrong found up to level {seen.level}"
    return f"nothing wrong found up to level {seen.level} (not a proof){known}"
