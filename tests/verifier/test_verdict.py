"""Findings into a status and an exit code, and into words."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import bgfmt
from bgfmt.verifier import words
from bgfmt.verifier.findings import (
    Cause,
    Finding,
    Kind,
    LikelyCause,
    Observations,
    Outcome,
    Rule,
    Status,
    exit_code,
    status_of,
)
from bgfmt.verifier.report import build

PROVED = Outcome(10, 10, "gnubg")
FAILING = Outcome(10, 10, failing=3, wrong=2, inherited=1, largest=3.0)


def seen(*findings: Finding, outcome: Outcome | None = None, **more: object) -> Observations:
    return Observations(findings, outcome, "recurrence", **{"limited": False, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "status", "code"),
    [
        (seen(outcome=PROVED), Status.PROVED, 0),
        (seen(outcome=PROVED, limited=True), Status.UNPROVED, 0),
        (seen(), Status.UNPROVED, 1),
        (seen(limited=True), Status.UNPROVED, 0),
        (seen(outcome=FAILING), Status.DAMAGED, 1),
        (seen(outcome=FAILING, tolerance=2.9), Status.DAMAGED, 1),
        (seen(outcome=FAILING, tolerance=3.0), Status.TOLERATED, 0),
        (seen(outcome=dataclasses.replace(FAILING, systematic=True)), Status.DIFFERS, 1),
        (seen(Finding(Rule.LAYOUT), outcome=PROVED), Status.DAMAGED, 1),
        (seen(Finding(Rule.LEFT_OVER), outcome=FAILING, tolerance=9.0), Status.DAMAGED, 1),
        (seen(Finding(Rule.LAYOUT), outcome=PROVED, likely=LikelyCause(Cause.OTHER_SIZE)), Status.CLAIMS, 1),
        (seen(outcome=FAILING, likely=LikelyCause(Cause.BYTE_ORDER)), Status.CLAIMS, 1),
        (seen(outcome=PROVED, likely=LikelyCause(Cause.BYTE_ORDER)), Status.PROVED, 0),
        (seen(Finding(Rule.CARRIED), Finding(Rule.KNOWN), outcome=PROVED), Status.PROVED, 0),
        (seen(Finding(Rule.DIGEST), outcome=PROVED), Status.PROVED, 0),
        (seen(Finding(Rule.DIGEST), limited=True), Status.DIFFERS, 1),
        (seen(Finding(Rule.DIGEST), outcome=PROVED, limited=True), Status.DIFFERS, 1),
        (seen(Finding(Rule.AGAINST), outcome=PROVED), Status.DIFFERS, 1),
        (seen(Finding(Rule.AGAINST), outcome=FAILING, tolerance=9.0), Status.DAMAGED, 1),
        (seen(Finding(Rule.SENSE), limited=True), Status.DAMAGED, 1),
        (seen(Finding(Rule.REMADE), outcome=PROVED), Status.DAMAGED, 1),
        (seen(Finding(Rule.UNREADABLE), limited=True), Status.UNREADABLE, 2),
    ],
)  # fmt: skip
def test_status_and_exit_code(what: Observations, status: Status, code: int) -> None:
    assert status_of(what) is status
    assert exit_code(status, what.limited) == code


def test_every_rule_has_words() -> None:
    sides = (bgfmt.Side(1), bgfmt.Side(2, 1))
    for rule in Rule:
        finding = Finding(
            rule, entry=7, offset=48, expected=[1, 2], found=[1, 3], field="centered", sides=sides, count=2
        )
        text = words.message(finding)
        assert text
        assert "\n" not in text
        report = build("x.bd", seen(finding, outcome=PROVED), kind="two-sided")
        assert "\n" not in report.verdict
        assert (report.exit_code == 0) == (rule.kind is Kind.NOTE or rule is Rule.DIGEST)
    for cause in Cause:
        assert words.likely(LikelyCause(cause, "+2")).startswith("likely cause: ")


@pytest.mark.slow
def test_findings_and_reports_are_frozen(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "ts_06x03.bd")
    for thing, name in ((report, "status"), (Finding(Rule.ENTRY), "entry"), (PROVED, "failing")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, 1)
