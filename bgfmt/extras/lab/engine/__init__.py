"""BKG as an engine; `bgfmt.analysis.engines` says what an engine is and how to add one."""

from bgfmt.analysis.engines import Engine, create, names

__all__ = ["Engine", "create", "names"]
