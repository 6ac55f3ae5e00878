"""CSV: any table, one line for each entry; written only.

The first line has the names of the columns, those of `bgfmt.tables.flat`. Numbers have all digits: 17 for stored
floats and the values of exact tables, 9 for the values of stored integers.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from bgfmt.errors import CapabilityError
from bgfmt.formats.base import Options, Outlet, Reading
from bgfmt.formats.described import AnyTable
from bgfmt.storage import Source
from bgfmt.tables import Table, flat

BATCH_ENTRIES = 1 << 13  # entries that are written together
#: printf format of a number by its dtype, enough digits to restore every bit; other numbers are integers
PRINTF_FORMATS = {"f8": "%.17g", "f4": "%.9g"}


class Csv(AnyTable):
    name = "csv"
    title = "CSV"
    suffixes = (".csv",)
    reads = False

    def read(self, source: Source, offset: int = 0, **_: Any) -> Reading[Table]:
        raise CapabilityError(f"{source.name}: CSV files can be written but not read")

    def emit(self, table: Table, sink: Outlet, options: Options) -> None:
        columns = flat.columns(table)
        forms = ("%s" if c.role == "id" else PRINTF_FORMATS.get(c.dtype.str[1:], "%d") for c in columns)
        line = ",".join(forms) + "\n"
        names = ",".join(column.name for column in columns)
        sink.write(f"{names}\n".encode())
        for piece in flat.pieces(table, BATCH_ENTRIES):
            cells = zip(*piece.lists(columns), strict=True)
            sink.write((line * piece.size % tuple(chain.from_iterable(cells))).encode())
