"""CSV: any table, a line an entry; written, not read.

The first line has the names of the columns, those of `bgfmt.tables.flat`. Numbers have every digit: stored floats and
what exact tables say 17, what stored integers mean 9.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from bgfmt.errors import CapabilityError
from bgfmt.formats.base import Options, Outlet, Reading
from bgfmt.formats.described import AnyTable
from bgfmt.storage import Source
from bgfmt.tables import Table, flat

AT_ONCE = 1 << 13  # entries that are written together
#: how a number of a dtype is written, as printf has it: so that it can be had back to the last bit; others whole
FORMS = {"f8": "%.17g", "f4": "%.9g"}


class Csv(AnyTable):
    name = "csv"
    title = "CSV"
    suffixes = (".csv",)
    reads = False

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        raise CapabilityError(f"{source.name}: CSV files are written, not read; parquet and sqlite are read")

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        columns = flat.columns(table)
        forms = ("%s" if c.role == "id" else FORMS.get(c.dtype.str[1:], "%d") for c in columns)
        line = ",".join(forms) + "\n"
        names = ",".join(column.name for column in columns)
        sink.write(f"{names}\n".encode())
        for piece in flat.pieces(table, AT_ONCE):
            cells = zip(*piece.lists(columns), strict=True)
            sink.write((line * piece.size % tuple(chain.from_iterable(cells))).encode())
