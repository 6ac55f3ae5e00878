"""What a player asks once a table is open: races, cubes, plays, and the articles' own systems.

Names are imported from their modules when first used, so that asking one thing loads nothing of the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "CubeAction": "cube",
    "CubeActions": "cube",
    "cube_actions": "cube",
    "judge_cube": "cube",
    "judge_many": "bulk",
    "RankedPlay": "play",
    "rank_plays": "play",
    "rank_all_rolls": "play",
    "rank_many": "bulk",
    "race": "races",
    "race_many": "races",
    "equities": "choose",
    "equities_many": "choose",
    "exact_equities": "exact",
    "twosided_from_onesided": "approximate",
    "win_chances": "approximate",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bgfmt.analysis' has no attribute {name!r}")
    value = getattr(import_module(f"bgfmt.analysis.{_HOME[name]}"), name)
    globals()[name] = value
    return value
