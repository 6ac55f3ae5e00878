"""What theory says of every entry: the rules of the table's own kind, and that no table is one number throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bgfmt.tables import Table
from bgfmt.verifier.findings import Finding, Rule

LEAST = 4  # rows below which a table may well be one number


def check(table: Table, progress: Callable[[int, int], None] | None = None) -> Iterator[Finding]:
    """One pass; the first breach of each rule."""
    named: set[str] = set()
    alike: dict[str, bool] = {}
    for rows, block in table.blocks():
        for breach in table.breaches(rows.start, block):
            if breach.rule not in named and breach.bad.any():
                named.add(breach.rule)
                yield Finding(Rule.SENSE, entry=rows.start + int(breach.bad.argmax()), field=breach.what)
        for name, numbers in block.items():
            if alike.get(name, True):
                later = numbers[1:] if rows.start == 0 else numbers
                alike[name] = bool((later == later.reshape(-1)[:1]).all()) if later.size else True
        if progress is not None:
            progress(rows.stop, table.positions)
    for name, same in alike.items():
        # the gammon part of a table of few chequers is "off already" throughout
        if same and len(table.arrays()[name]) >= LEAST and len(alike) == 1:
            yield Finding(Rule.SENSE, entry=1, field=f"its {name} are one number throughout")
