"""The file that a solved table is written to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from bgfmt.files.convert import Progress, choose_lossless_target
from bgfmt.formats import Format, placeholder_rows
from bgfmt.solver.layers import Array
from bgfmt.solver.registry import Solver
from bgfmt.storage import PathLike, check_output, create
from bgfmt.tables import Table

__all__ = ["OutputFile", "Progress"]


class OutputFile:
    """The file to write a solved table to; path, format and options are checked on creation, before the work.

    Errors are those of `bgfmt.solve` for the path, the format and its options.
    """

    def __init__(
        self, solver: Solver, path: PathLike, format: str | None, force: bool, options: dict[str, Any]
    ) -> None:
        check_output(path, force=force)
        self.path = path
        self.force = force
        self.options = options
        arrays = {name: placeholder_rows(*shape) for name, shape in solver.arrays().items()}
        self.blank: Table = solver.table(arrays)
        self.target: Format[Any] = choose_lossless_target(path, format, self.blank, solver.what, options)
        self.takes_body = self.target.takes_body(self.blank, options)

    def write(self, table: Table, progress: Progress | None = None) -> None:
        """Write a solved table to the output file; `progress` is called with (bytes written, bytes in all)."""
        with create(self.path, force=self.force) as sink:
            self.target.write(table, sink, progress=progress, **self.options)

    @contextlib.contextmanager
    def body(self) -> Iterator[tuple[Any, dict[str, Array]]]:
        """Make the output file with space for the table's numbers; yield its sink and the arrays to fill.

        The file appears under its name when the block ends without error.
        """
        with (
            create(self.path, force=self.force) as sink,
            self.target.body(sink, self.blank, **self.options) as arrays,
        ):
            yield sink, arrays
