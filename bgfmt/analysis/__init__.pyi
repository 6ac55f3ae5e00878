"""The names of `bgfmt.analysis` for type checkers."""

from typing import Any

from bgfmt.analysis.advisor import Advisor as Advisor
from bgfmt.analysis.answers import Decision as Decision
from bgfmt.analysis.answers import PositionEquities as PositionEquities
from bgfmt.analysis.answers import RankedPlay as RankedPlay
from bgfmt.analysis.answers import RankedPlays as RankedPlays
from bgfmt.analysis.answers import Resignation as Resignation
from bgfmt.analysis.answers import SideRace as SideRace
from bgfmt.analysis.choose import Databases as Databases
from bgfmt.analysis.choose import equities_many as equities_many
from bgfmt.analysis.cube import CubeAction as CubeAction
from bgfmt.analysis.library import Library as Library
from bgfmt.analysis.races import TwoSidedEstimate as TwoSidedEstimate
from bgfmt.analysis.races import twosided_from_onesided as twosided_from_onesided
from bgfmt.analysis.races import twosided_many as twosided_many
from bgfmt.analysis.races import win_chances as win_chances
from bgfmt.extras.arrays.cubes import CubeActions as CubeActions
from bgfmt.extras.arrays.cubes import cube_actions as cube_actions
from bgfmt.extras.arrays.cubes import judge_many as judge_many
from bgfmt.extras.arrays.plays import RankedMany as RankedMany
from bgfmt.extras.arrays.plays import rank_many as rank_many
from bgfmt.extras.arrays.races import Races as Races
from bgfmt.extras.arrays.races import race_many as race_many
from bgfmt.extras.races.chains import estimate_many as estimate_many
from bgfmt.extras.races.rollouts import PlayOuts as PlayOuts
from bgfmt.extras.races.rollouts import play_out as play_out

# names of extras, by the entry points `bgfmt.names`
def __getattr__(name: str) -> Any: ...
