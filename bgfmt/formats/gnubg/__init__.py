"""GNU Backgammon's databases: one-sided, two-sided and hypergammon; their structures are in `family`.

The names exported here are for code that must know how gnubg treats a file.
"""

from __future__ import annotations

from bgfmt.formats.gnubg.family import FOUR_GIB, SIZE, HeaderFacts, kind_of, read_header

__all__ = ["FOUR_GIB", "SIZE", "HeaderFacts", "kind_of", "read_header"]
