"""What a player asks once a table is open: races, cubes, plays, at any score.

`Advisor` answers the questions of a `GameState`; the functions beside it answer single questions, and the `*_many`
ones arrays of positions. Names are imported from their modules when first used, so that asking one thing loads
nothing of the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgfmt.analysis.advisor import (
        Advisor,
        equities,
        exact_equities,
        judge_cube,
        race,
        rank_all_rolls,
        rank_plays,
    )
    from bgfmt.analysis.answers import (
        Decision,
        PositionEquities,
        RankedPlay,
        RankedPlays,
        Resignation,
        SideRace,
    )
    from bgfmt.analysis.approximate import (
        TwoSidedEstimate,
        twosided_from_onesided,
        twosided_many,
        win_chances,
    )
    from bgfmt.analysis.bulk import RankedMany, rank_many
    from bgfmt.analysis.chains import estimate_many
    from bgfmt.analysis.choose import Databases, equities_many
    from bgfmt.analysis.cube import CubeAction, CubeActions, cube_actions, judge_many
    from bgfmt.analysis.library import Library
    from bgfmt.analysis.oracle import PlayOuts, play_out
    from bgfmt.analysis.races import Races, race_many

_HOME = {
    "advisor": "Advisor equities exact_equities judge_cube race rank_all_rolls rank_plays",
    "answers": "Decision PositionEquities RankedPlay RankedPlays Resignation SideRace",
    "approximate": "TwoSidedEstimate twosided_from_onesided twosided_many win_chances",
    "bulk": "RankedMany rank_many",
    "chains": "estimate_many",
    "choose": "Databases equities_many",
    "cube": "CubeAction CubeActions cube_actions judge_many",
    "library": "Library",
    "oracle": "PlayOuts play_out",
    "races": "Races race_many",
}

__all__ = [
    "Advisor",
    "CubeAction",
    "CubeActions",
    "Databases",
    "Decision",
    "Library",
    "PlayOuts",
    "PositionEquities",
    "Races",
    "RankedMany",
    "RankedPlay",
    "RankedPlays",
    "Resignation",
    "SideRace",
    "TwoSidedEstimate",
    "cube_actions",
    "equities",
    "equities_many",
    "estimate_many",
    "exact_equities",
    "judge_cube",
    "judge_many",
    "play_out",
    "race",
    "race_many",
    "rank_all_rolls",
    "rank_many",
    "rank_plays",
    "twosided_from_onesided",
    "twosided_many",
    "win_chances",
]


def __getattr__(name: str) -> object:
    for home, names in _HOME.items():
        if name in names.split():
            value = getattr(import_module(f"bgfmt.analysis.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'bgfmt.analysis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
