"""bgfmt's own compressed two-sided tables: exact, checked in blocks, any record found by itself (see `layout`)."""

from bgfmt.formats.compressed.form import BgfmtTwoSided

__all__ = ["BgfmtTwoSided"]
