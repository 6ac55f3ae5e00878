"""What a player asks once a table is open: races, cubes, plays, at any score.

`Advisor` answers the questions of a `GameState`; the functions beside it answer single questions, and the `*_many`
ones arrays of positions. Names are imported from their modules when first used, so that asking one thing loads
nothing of the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgfmt.analysis.advisor import Advisor as Advisor
    from bgfmt.analysis.advisor import equities as equities
    from bgfmt.analysis.advisor import exact_equities as exact_equities
    from bgfmt.analysis.advisor import judge_cube as judge_cube
    from bgfmt.analysis.advisor import race as race
    from bgfmt.analysis.advisor import rank_all_rolls as rank_all_rolls
    from bgfmt.analysis.advisor import rank_plays as rank_plays
    from bgfmt.analysis.answers import Decision as Decision
    from bgfmt.analysis.answers import PositionEquities as PositionEquities
    from bgfmt.analysis.answers import RankedPlay as RankedPlay
    from bgfmt.analysis.answers import RankedPlays as RankedPlays
    from bgfmt.analysis.answers import Resignation as Resignation
    from bgfmt.analysis.answers import SideRace as SideRace
    from bgfmt.analysis.bulk import RankedMany as RankedMany
    from bgfmt.analysis.bulk import judge_many as judge_many
    from bgfmt.analysis.bulk import rank_many as rank_many
    from bgfmt.analysis.chains import estimate_many as estimate_many
    from bgfmt.analysis.choose import Databases as Databases
    from bgfmt.analysis.choose import equities_many as equities_many
    from bgfmt.analysis.cube import CubeAction as CubeAction
    from bgfmt.analysis.cube import CubeActions as CubeActions
    from bgfmt.analysis.cube import cube_actions as cube_actions
    from bgfmt.analysis.library import Library as Library
    from bgfmt.analysis.oracle import PlayOuts as PlayOuts
    from bgfmt.analysis.oracle import play_out as play_out
    from bgfmt.analysis.races import Races as Races
    from bgfmt.analysis.races import TwoSidedEstimate as TwoSidedEstimate
    from bgfmt.analysis.races import race_many as race_many
    from bgfmt.analysis.races import twosided_from_onesided as twosided_from_onesided
    from bgfmt.analysis.races import twosided_many as twosided_many
    from bgfmt.analysis.races import win_chances as win_chances

_NAMES = {
    "advisor": "Advisor equities exact_equities judge_cube race rank_all_rolls rank_plays",
    "answers": "Decision PositionEquities RankedPlay RankedPlays Resignation SideRace",
    "bulk": "RankedMany judge_many rank_many",
    "chains": "estimate_many",
    "choose": "Databases equities_many",
    "cube": "CubeAction CubeActions cube_actions",
    "library": "Library",
    "oracle": "PlayOuts play_out",
    "races": "Races TwoSidedEstimate race_many twosided_from_onesided twosided_many win_chances",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'bgfmt.analysis' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"bgfmt.analysis.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
