"""Judges recorded matches: every bearoff decision, its equity and its loss against the best.

from bgfmt.extras.matches.annotate import annotate
report = annotate(["evening.mat"])
for match, judgement in report.worst(5):
    print(match.file, judgement.did, judgement.best, judgement.loss)
"""

from bgfmt.extras.matches.annotate.files import Annotated, annotate, annotate_all, annotate_file, find
from bgfmt.extras.matches.annotate.judging import LIMIT, Judge, Judgement, judge
from bgfmt.extras.matches.annotate.report import MatchReport, Report, Total, judge_match

__all__ = [
    "LIMIT",
    "Annotated",
    "Judge",
    "Judgement",
    "MatchReport",
    "Report",
    "Total",
    "annotate",
    "annotate_all",
    "annotate_file",
    "find",
    "judge",
    "judge_match",
]
