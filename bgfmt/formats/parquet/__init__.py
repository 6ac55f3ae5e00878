"""Apache Parquet: any table, a row an entry, for data frames and query languages. Needs the extra `parquet`.

offset  content
0       "PAR1"
4       row groups of whole rows of the table, about a million entries; in each, for every column in order, its pages
...     footer in Thrift's compact protocol, its size as u32, "PAR1"

Columns are those of `bgfmt.tables.flat`. Metadata `bgfmt`: kind, size, arrays and facts, as in npz's bgfmt.json.
Written page by page by `pages`, so that equal tables give equal files; read by pyarrow, so that what another program
made of such a file is read too.
"""

from __future__ import annotations

from bgfmt.formats.parquet.form import Parquet

__all__ = ["Parquet"]
