"""BKG, the program of H. J. Berliner that beat the world champion in 1979, after his paper of 1977.

`Bkg` is the engine; `Completion` fills the gaps of the paper; `measures` computes the numbers that its evaluation
uses.
"""

from bgfmt.extras.lab.engine.bkg.completion import C1, Completion
from bgfmt.extras.lab.engine.bkg.player import Bkg

__all__ = ["C1", "Bkg", "Completion"]
