"""BKG as an engine; `bgfmt.extras.engines` says what an engine is and how to add one."""

from bgfmt.extras.engines import Engine, create, names

__all__ = ["Engine", "create", "names"]
