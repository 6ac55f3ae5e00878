"""The verifier: proves a database right, or names what is wrong.

>>> import bgfmt
>>> bgfmt.verify("fixtures/golden/gnubg/ts_06x02.bd").verdict
'proved: every one of 784 entries follows from the rules (recipe gnubg)'
"""

from bgfmt.verifier.findings import Finding, Rule
from bgfmt.verifier.report import Report
from bgfmt.verifier.verification import verify

__all__ = ["Finding", "Report", "Rule", "verify"]
