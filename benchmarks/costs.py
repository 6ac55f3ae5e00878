"""The cost of large tables by the model of bgfmt.solver.costs, as docs/cluster.md has it.

python -m benchmarks.costs
"""

from __future__ import annotations

from bgfmt import met
from bgfmt.solver import costs

if __name__ == "__main__":
    print("\n".join([*costs.point_lines(), "", *costs.lines(met.load())]))
