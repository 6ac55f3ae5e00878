from typing import Any

from bgfmt import analysis as analysis
from bgfmt import errors as errors
from bgfmt import formats as formats
from bgfmt import met as met
from bgfmt import solver as solver
from bgfmt import storage as storage
from bgfmt import tables as tables
from bgfmt.analysis.advisor import Advisor as Advisor
from bgfmt.errors import BgfmtError as BgfmtError
from bgfmt.files.convert import convert as convert
from bgfmt.files.convert import save as save
from bgfmt.files.database import Database as Database
from bgfmt.files.database import load as load
from bgfmt.files.database import open_database
from bgfmt.files.diff import diff as diff
from bgfmt.files.solve import solve as solve
from bgfmt.game import identifiers as identifiers
from bgfmt.game import moves as moves
from bgfmt.game.board import Position as Position
from bgfmt.game.board import Side as Side
from bgfmt.game.identifiers import parse_position as parse_position
from bgfmt.game.identifiers import parse_side as parse_side
from bgfmt.game.state import GameState as GameState
from bgfmt.verifier import verify as verify
from bgfmt.verifier.repair import repair as repair

open = open_database

__version__: str
__all__: list[str]

# names of extras, by the entry points `bgfmt.names`
def __getattr__(name: str) -> Any: ...
