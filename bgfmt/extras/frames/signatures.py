"""First bytes of Parquet and SQLite files; see `bgfmt.formats.signatures`."""

from __future__ import annotations

from bgfmt.formats.signatures import Signature

SIGNATURES = {
    "parquet": Signature(rb"PAR1", (".parquet",)),
    "sqlite": Signature(rb"SQLite format 3", (".sqlite", ".sqlite3")),
}
