"""GNU Backgammon's databases: those of one side, those of both, and in `family` the header they share.

What is named here is for hosts that must know what gnubg would make of a file.
"""

from __future__ import annotations

from bgfmt.formats.gnubg.family import FOUR_GIB, SIZE, HeaderFacts, kind_of, read_header

__all__ = ["FOUR_GIB", "SIZE", "HeaderFacts", "kind_of", "read_header"]
