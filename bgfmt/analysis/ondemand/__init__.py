"""Exact play on demand: one race solved from the rules alone, at any match score or for money.

Only what play can reach from the position is calculated, in float64, and nothing is read from any table.
"""

from bgfmt.analysis.ondemand.answers import (
    Grid,
    MatchAnswer,
    MoneyAnswer,
    MoneyPlay,
    gammons,
    plan_match,
    plan_money,
    scores_grid,
    solve_match,
    solve_money,
)
from bgfmt.analysis.ondemand.solving import DEFAULT_LIMIT, SideRolls, Work, solve_side

__all__ = [
    "DEFAULT_LIMIT",
    "Grid",
    "MatchAnswer",
    "MoneyAnswer",
    "MoneyPlay",
    "SideRolls",
    "Work",
    "gammons",
    "plan_match",
    "plan_money",
    "scores_grid",
    "solve_match",
    "solve_money",
    "solve_side",
]
