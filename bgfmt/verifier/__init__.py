"""The verifier: proves a database right, or names what is wrong; repairs it; compares two.

>>> import bgfmt
>>> bgfmt.verify("fixtures/golden/gnubg/ts_06x02.bd").verdict
'proved: every one of 784 entries follows from the rules (recipe gnubg)'
"""

from bgfmt.verifier.comparing import Diff, diff, diff_tables
from bgfmt.verifier.ladder import verify
from bgfmt.verifier.mending import repair
from bgfmt.verifier.report import Finding, Report

__all__ = ["Diff", "Finding", "Report", "diff", "diff_tables", "repair", "verify"]
