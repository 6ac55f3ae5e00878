"""Tables the analysis tests share: made once a run, by the rules alone or by the solver."""

from __future__ import annotations

from functools import cache

from bgfmt.tables import MeanRolls, OneSided, TwoSided


@cache
def exact_two_sided(chequers: int = 6) -> TwoSided:
    """Exact equities of all pairs on six points."""
    from bgfmt import solver

    return solver.two_sided(6, chequers, recipe="exact")


@cache
def stored_two_sided(chequers: int = 6) -> TwoSided:
    """The 6-point table as gnubg's recipe stores it."""
    from bgfmt import solver

    return solver.two_sided(6, chequers)


@cache
def one_sided() -> OneSided:
    """The one-sided table of six points and fifteen chequers as gnubg's recipe stores it."""
    from bgfmt import solver

    return solver.one_sided(6)


@cache
def means() -> MeanRolls:
    """Peelle's table."""
    from bgfmt import solver

    return solver.mean_rolls(6, 15)
