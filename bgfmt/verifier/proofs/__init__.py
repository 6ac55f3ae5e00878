"""What the verifier knows of each kind of table: one `Proof` a kind, which comes by the entry points `bgfmt.proofs`.

A proof names the recipes that tables of its kind may follow, says which one every entry follows, or which entries do
not, and knows how a damaged table is put right, solved again and measured. The name of its entry point is the name of
the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from bgfmt.errors import VerificationError
from bgfmt.files.database import Database
from bgfmt.game.board import Side
from bgfmt.solver.registry import SOLVERS, solver_of
from bgfmt.tables import Table
from bgfmt.tables.registry import Registry
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome, Rule
from bgfmt.verifier.recurrence.floats import FloatRule
from bgfmt.verifier.recurrence.plays import Array, pips
from bgfmt.verifier.recurrence.two_sided import check, check_some
from bgfmt.verifier.spread import Progress, Spread

Locate = Callable[..., int | None]
T = TypeVar("T", bound=Table)
SEED_MODULUS = 1 << 63

PROOFS: Registry[type[Proof[Any]]] = Registry("bgfmt.proofs")
"""The proofs there are, by kind of table."""


@dataclass(frozen=True)
class KnownRecipe:
    """A rule with a name that tables of a kind may follow.

    title : whose rule it is, in words. source : what the rule was taken from. plain : the usual rule of its kind, of
    which a report says no more than the name. stated : other names under which files state it.
    """

    name: str
    title: str
    source: str
    is_default: bool = False
    aliases: tuple[str, ...] = ()


EXACT = KnownRecipe(
    "exact", "float64 throughout, nothing rounded", "bgfmt solve --recipe exact", is_default=True
)


def no_offset(entry: int, column: str = "", item: int = 0) -> int | None:
    """The byte offset of a number that lies in no file."""
    return None


@dataclass(frozen=True)
class Request:
    """How a table is to be proved.

    threads : to use. progress : called with (done, total). locate : (entry, column, item) -> byte offset in the file.
    sample : how many entries to look at, chosen by `seed`; None for all. spread : the workers of a cluster that help.
    tolerance : the difference that the user lets pass; every entry is then held against it.
    """

    threads: int = 1
    progress: Progress | None = None
    locate: Locate = no_offset
    sample: int | None = None
    seed: int = 0
    spread: Spread | None = None
    tolerance: float | None = None

    def entry_finding(
        self, table: Table, number: int, stored: Array, right: Array | None, field: str = "",
        at: tuple[str, int] | None = None, meaning: str = "",
    ) -> Finding:  # fmt: skip
        """The finding that an entry holds other numbers than follow; at : its array and item, where a file has it.

        meaning : the equities that stored integers stand for, in words.
        """
        asked = table.unrank(number)
        return Finding(
            Rule.ENTRY, entry=number, offset=None if at is None else self.locate(number, *at),
            expected=None if right is None else right.tolist(), found=stored.tolist(), field=field,
            sides=(asked,) if isinstance(asked, Side) else (asked.us, asked.them), meaning=meaning,
        )  # fmt: skip

    def rng(self) -> np.random.Generator:
        """The generator of this sample; any whole number is a seed."""
        return np.random.default_rng(self.seed % SEED_MODULUS)

    def sample_numbers(self, count: int) -> Array | None:
        """The sampled numbers below `count`, sorted; None where every number is looked at."""
        if self.sample is None:
            return None
        if self.sample >= count:
            return np.arange(count)
        return np.unique(self.rng().integers(0, count, self.sample))


class Proof(Generic[T]):
    """What is known of a kind of table; this class itself stands for kinds of which no rule is known.

    solver : the name of the solver of such tables, where it is not that of the kind.
    """

    recipes: ClassVar[tuple[KnownRecipe, ...]] = ()
    solver: ClassVar[str] = ""

    def prove(self, table: T, request: Request) -> Outcome | None:
        """Hold the table against the rules of its kind; None where no rule is known."""
        return None

    def check_statements(self, table: T) -> Iterator[Finding]:
        """What is to be said of facts that the table states, and that no number of it depends on."""
        yield from ()

    def supports_parts(self, table: T) -> bool:
        """Whether the workers of a cluster can prove it in parts."""
        return False

    def cause(self, db: Database, outcome: Outcome | None, start: int, end: int) -> LikelyCause | None:
        """The likely cause of damage, from patterns in the rounded numbers, which lie at bytes `start` to `end`."""
        return None

    def recompute(self, table: T, threads: int) -> tuple[Table, int]:
        """(the table with every wrong entry computed again, how many entries that changed).

        Raises VerificationError where that cannot be done.
        """
        raise VerificationError(f"a {table.kind} table cannot be recomputed")

    def solve(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Table | None:
        """The same table made by the solver; None where no solver makes tables of that recipe."""
        name = self.solver or table.kind
        called = (recipe, *self.recipe(recipe).aliases)
        follows = getattr(SOLVERS.get(name), "recipes", ())
        known = [one for one in called if one in follows]
        if not known:
            return None
        solver = solver_of(name, table.points, table.chequers, recipe=known[0], **self.options(table))
        made: Table = solver.solve(threads=threads, progress=progress)
        return made

    def options(self, table: T) -> dict[str, Any]:
        """What the solver has to be told beside the size and the recipe; SolverError where it cannot be told."""
        return {}

    def regenerate(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Finding:
        """Compare the table with the solver's, number by number; SolverError where the solver refuses."""
        solved = self.solve(table, recipe, threads, progress)
        if solved is None:
            return Finding(Rule.NOT_REMADE, found=f"no solver makes {table.kind} tables of recipe {recipe}")
        fresh = solved.arrays()
        for rows, block in table.blocks():
            for name, stored in block.items():
                made = np.asarray(fresh[name][rows])
                if made.tobytes() != np.asarray(stored).tobytes():
                    bad = (made != stored).reshape(len(made), -1).any(axis=1)
                    return Finding(Rule.REMADE, entry=rows.start + int(bad.argmax()), field=name)
        return Finding(Rule.SAME_REMADE, field=recipe)

    def measure(self, table: T, threads: int) -> dict[str, Any]:
        """How far the stored numbers are from the truth; see `bgfmt.verifier.truth`."""
        from bgfmt.verifier import truth

        return truth.measure_errors(table, threads)

    def recipe(self, name: str) -> KnownRecipe:
        return next(known for known in self.recipes if known.name == name)


def guess_other_size(db: Database) -> LikelyCause | None:
    """The likely cause where a header says less than the file holds: what its size fits."""
    fits = db.format.tables_of_size(db.source) if db.rest or db.others else []
    return LikelyCause(Cause.OTHER_SIZE, f"its size fits {' or '.join(fits)}") if fits else None


def guess_order_or_shift(fits: Callable[[int, str], bool]) -> LikelyCause | None:
    """The likely cause where numbers fit in the other byte order, or shifted; fits : (bytes shifted, order)."""
    if fits(0, ">"):
        return LikelyCause(Cause.BYTE_ORDER)
    nearest = (shift for size in range(1, 65) for shift in (size, -size))
    shift = next((shift for shift in nearest if fits(shift, "<")), None)
    return None if shift is None else LikelyCause(Cause.SHIFTED, f"{shift:+d}")


def proof_of(table: Table) -> Proof[Any]:
    """What is known of tables of this kind."""
    return PROOFS.get(table.kind, Proof)()


def prove(table: Table, request: Request) -> Outcome | None:
    """Hold a table against the rules of its kind; None for kinds that no rule is known of."""
    outcome = proof_of(table).prove(table, request)
    if outcome is None or request.sample is None:
        return outcome
    return replace(outcome, facts={**outcome.facts, "seed": request.seed})


# -- tables of floats, whose numbers follow to the last bit or do not ------------------------------------------


def float_outcome(
    table: Table, checked: int, recipe: str, failing: int, largest: float, findings: list[Finding], last_bits: float
) -> Outcome:  # fmt: skip
    """The outcome of a pass; last_bits : by which another order of additions, or other rounding, differs."""
    if not failing:
        return Outcome(table.entries, checked, recipe)
    systematic = largest <= last_bits and failing > max(20, checked // 50)
    return Outcome(
        table.entries, checked, failing=failing, largest=largest, unit="apart", systematic=systematic,
        likely=LikelyCause(Cause.ADDITIONS) if systematic else None,
        findings=() if systematic else tuple(findings[:MAX_FINDINGS]),
    )  # fmt: skip


def prove_pairs(
    table: Any,
    request: Request,
    recipe: str,
    last_bits: float,
    finding: Callable[[int, Array, Array], Finding] | None = None,
) -> Outcome:
    """Hold every entry of a two-sided table of floats against its own smaller ones.

    finding : of an entry's number, stored and right numbers; wanted of the first that are wrong, in order of pips.
    """
    finding = finding or partial(request.entry_finding, table)
    rule = FloatRule(table)
    numbers = request.sample_numbers(table.entries)
    if numbers is None:
        found = check(rule, threads=request.threads, progress=request.progress)
    else:
        found = check_some(rule, numbers)
    checked = table.entries if numbers is None else len(numbers)
    some = sort_by_pips(table, found.numbers)[:MAX_FINDINGS]
    findings = [
        finding(*entry) for entry in zip(some.tolist(), rule.stored(some), rule.at(some), strict=True)
    ]
    return float_outcome(table, checked, recipe, found.failing, found.largest, findings, last_bits)


def sort_by_pips(table: Table, numbers: Array) -> Array:
    """Entries us * n + them of a two-sided table, in order of pips."""
    depth = pips(table.points, table.chequers)
    totals = depth[numbers // table.positions] + depth[numbers % table.positions]
    return numbers[np.lexsort((numbers, totals))]
