"""What the verifier knows of each kind of table: one `Proof` for each, registered as entry point `bgfmt.proofs`.

A proof names the recipes that tables of its kind may follow, finds the one that every entry follows, or else the
entries that do not follow, and can recompute a damaged table and solve it again. The name of its
entry point is the name of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from bgfmt.errors import VerificationError
from bgfmt.game.board import Side
from bgfmt.solver.registry import SOLVERS, solver_of
from bgfmt.tables import Table
from bgfmt.tables.registry import Registry
from bgfmt.verifier.findings import MAX_FINDINGS, Cause, Finding, LikelyCause, Outcome, Rule
from bgfmt.verifier.recurrence.floats import FloatRule
from bgfmt.verifier.recurrence.plays import Array, Progress, pips
from bgfmt.verifier.recurrence.two_sided import check, check_some

__all__ = [
    "EXACT",
    "MAX_PLAIN_POINTS",
    "PROOFS",
    "KnownRecipe",
    "Locate",
    "Proof",
    "Request",
    "float_outcome",
    "no_offset",
    "proof_of",
    "prove",
    "prove_pairs",
    "sort_by_pips",
]


Locate = Callable[..., int | None]
T = TypeVar("T", bound=Table)
SEED_MODULUS = 1 << 63
ENTRIES_PER_SAMPLED_ROW = 100  # a sample takes this many entries of each of its rows
MAX_PLAIN_POINTS = 12  # of a two-sided table; on more points the sides may be in contact

PROOFS: Registry[type[Proof[Any]]] = Registry("bgfmt.proofs")
"""The proofs there are, by kind of table."""


@dataclass(frozen=True)
class KnownRecipe:
    """A named recipe (arithmetic and rounding of one program) that tables of a kind may follow.

    Attributes
    ----------
    name, title : short name, and a description.
    source : what the recipe was taken from.
    is_default : True for a usual recipe of its kind; reports print only its name.
    aliases : other names under which files state it.
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
    """Return None: the entry lies in no file, so it has no byte offset (default of `Request.locate`)."""
    return None


@dataclass(frozen=True)
class Request:
    """How to check a table.

    Attributes
    ----------
    threads : number of threads.
    progress : called with (done, total).
    locate : (entry, column, item) -> byte offset in the file, or None.
    sample : number of entries to check, chosen by `seed`; None for all.
    seed : any integer.
    tolerance : the largest difference that the user accepts; every entry is then compared with it.
    """

    threads: int = 1
    progress: Progress | None = None
    locate: Locate = no_offset
    sample: int | None = None
    seed: int = 0
    tolerance: float | None = None

    def entry_finding(
        self, table: Table, number: int, stored: Array, right: Array | None, field: str = "",
        at: tuple[str, int] | None = None, meaning: tuple[str, ...] = (), settled: bool = True,
    ) -> Finding:  # fmt: skip
        """Return the finding that an entry holds other numbers than those that follow from other entries.

        Parameters
        ----------
        table, number : the table and the entry's number.
        stored, right : its stored and right numbers; `right` is None if unknown.
        field : name of the column concerned, or names separated by ", ".
        at : name of the entry's array and the item in it, for its byte offset; None if it lies in no file.
        meaning, settled : as for `Finding`.
        """
        asked = table.unrank(number)
        return Finding(
            Rule.ENTRY, entry=number, offset=None if at is None else self.locate(number, *at),
            expected=None if right is None else right.tolist(), found=stored.tolist(), field=field,
            sides=(asked,) if isinstance(asked, Side) else (asked.us, asked.them), meaning=meaning,
            settled=settled,
        )  # fmt: skip

    def rng(self) -> np.random.Generator:
        """Return a new random generator for the seed, so that the same sample is drawn each time."""
        return np.random.default_rng(self.seed % SEED_MODULUS)

    def sample_numbers(self, count: int) -> Array | None:
        """Return `sample` random numbers below `count`, sorted; None if every number is to be checked."""
        if self.sample is None:
            return None
        if self.sample >= count:
            return np.arange(count)
        return np.sort(self.rng().choice(count, self.sample, replace=False, shuffle=False))

    def sample_pairs(self, n: int) -> Array:
        """Return `sample` random entries us * n + them of a two-sided table, many for each of a few sides `them`.

        What an entry follows from lies in row `them` of the file.
        """
        rng = self.rng()
        sample = min(self.sample or 0, n * n)
        each = min(n, max(ENTRIES_PER_SAMPLED_ROW, -(-sample // n)))
        rows = rng.choice(n, -(-sample // each), replace=False)
        return np.concatenate([rng.choice(n, each, replace=False) * n + them for them in rows])[:sample]


class Proof(Generic[T]):
    """The checks of one kind of table; this base class stands for kinds of which no recipe is known.

    recipes : recipes that such tables may follow. solver : name of their solver, if it is not that of the kind.
    """

    recipes: ClassVar[tuple[KnownRecipe, ...]] = ()
    solver: ClassVar[str] = ""

    def prove(self, table: T, request: Request) -> Outcome | None:
        """Check whether every entry follows from others by a recipe (algorithm and rounding) known for this kind.

        Return None if no recipe is known.
        """
        return None

    def check_statements(self, table: T) -> Iterator[Finding]:
        """Yield findings about metadata that the table states and that none of its numbers depends on."""
        yield from ()

    def recompute(self, table: T, threads: int) -> tuple[Table, int]:
        """Return the table with every wrong entry computed again, and the number of entries that changed.

        threads : number of threads. Raises VerificationError if the table cannot be recomputed.
        """
        raise VerificationError(f"a {table.kind} table cannot be recomputed")

    def solve(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Table | None:
        """Solve a table of the same kind and size by the named recipe; return None if no solver supports it."""
        name = self.solver or table.kind
        called = (recipe, *self.recipe(recipe).aliases)
        follows = getattr(SOLVERS.get(name), "recipes", ())
        known = [one for one in called if one in follows]
        if not known:
            return None
        solver = solver_of(name, table.points, table.chequers, recipe=known[0], **self.options(table))
        made: Table = solver.solve(threads=threads, progress=progress)
        return made

    def solve_command(self, table: T) -> str:
        """Return the command line that solves a table of this kind, size and recipe into FILE."""
        size = f"{table.points}x{table.chequers}"
        return f"bgfmt solve {self.solver or table.kind} {size}{' --recipe exact' * table.exact} -o FILE"

    def options(self, table: T) -> dict[str, Any]:
        """Return the solver's options, apart from size and recipe, with which such a table is solved.

        Raises SolverError if the table does not determine them.
        """
        return {}

    def regenerate(self, table: T, recipe: str, threads: int, progress: Progress | None) -> Finding:
        """Compare the table, number by number, with one solved by the recipe; return a finding, or a note if equal.

        Raises SolverError if the solver refuses, for example for lack of memory.
        """
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

    def recipe(self, name: str) -> KnownRecipe:
        """Return the known recipe of that name, among those of this kind of table."""
        return next(known for known in self.recipes if known.name == name)


def proof_of(table: Table) -> Proof[Any]:
    """Return the object that checks tables of this kind; for unknown kinds the base class, which proves nothing."""
    return PROOFS.get(table.kind, Proof)()


def prove(table: Table, request: Request) -> Outcome | None:
    """Check whether every entry of a table follows from others by a known recipe; None for kinds without one.

    A recipe is the algorithm and rounding of one program.
    """
    outcome = proof_of(table).prove(table, request)
    if outcome is None or request.sample is None:
        return outcome
    return replace(outcome, facts={**outcome.facts, "seed": request.seed})


# -- tables of floats, whose numbers follow to the last bit or do not ------------------------------------------


def float_outcome(
    table: Table, checked: int, recipe: str, failing: int, largest: float, findings: list[Finding], last_bits: float
) -> Outcome:  # fmt: skip
    """Build the outcome of checking a table of floats, in which numbers match to the last bit or not at all.

    Parameters
    ----------
    table, checked : the table, and the number of entries checked.
    recipe : the recipe, if no entry fails.
    failing, largest, findings : number of failing entries, their greatest difference, and findings about them.
    last_bits : greatest difference that another order of additions, or other rounding, explains; if many entries
        differ by no more, the difference is called systematic.
    """
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
    """Check whether every entry of a two-sided table of floats follows from entries of fewer pips, to the last bit.

    recipe, last_bits : as in `float_outcome`. finding : called with an entry's number, its stored and its right
    numbers, for the first failing entries in order of pips; default `Request.entry_finding`.
    """
    finding = finding or partial(request.entry_finding, table, settled=False)
    rule = FloatRule(table)
    if request.sample is None:
        found = check(rule, threads=request.threads, progress=request.progress)
    else:
        found = check_some(rule, request.sample_pairs(rule.n), request.progress)
    some = sort_by_pips(table, found.numbers)[:MAX_FINDINGS]
    findings = [
        finding(*entry)
        for entry in zip(some.tolist(), rule.read_entries(some), rule.compute_entries(some), strict=True)
    ]
    return float_outcome(table, found.entries, recipe, found.failing, found.largest, findings, last_bits)


def sort_by_pips(table: Table, numbers: Array) -> Array:
    """Sort entries of a two-sided table, given as us * positions + them, by the pips of both sides together."""
    depth = pips(table.points, table.chequers)
    totals = depth[numbers // table.positions] + depth[numbers % table.positions]
    return numbers[np.lexsort((numbers, totals))]
