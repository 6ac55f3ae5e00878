"""BKG, the engine of H. J. Berliner's paper; what an engine is and how to add one: `bgfmt.analysis.engines`."""

from bgfmt.analysis.engines import Engine, create, names

__all__ = ["Engine", "create", "names"]
