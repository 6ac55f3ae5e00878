"""Engines: programs that play the whole game. BKG is built in; a guest is one module and one entry point.

    [project.entry-points."bgfmt.engines"]
    random = "my_package.random_mover:RandomMover"

An engine is made by its class and words from the command line (`RandomMover({"seed": "3"})`), and answers the five
questions of `Engine`. It knows the rest of bgfmt through the adviser, moves and tables only.

>>> sorted(names())[0]
'bkg'
"""

from bgfmt.extras.lab.engine.protocol import Engine
from bgfmt.extras.lab.engine.registry import create, names

__all__ = ["Engine", "create", "names"]
