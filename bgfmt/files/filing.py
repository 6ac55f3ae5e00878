"""The file of a table that is solved through a store: checked before, written while tiles are made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgfmt.files.solve_table import target_of
from bgfmt.formats.base import promised
from bgfmt.formats.zarr import MAIN, Described, in_pips
from bgfmt.solver.job import Job
from bgfmt.solver.stored import room
from bgfmt.storage import PathLike, Sink, check_output, create, open_source
from bgfmt.storage.chunks import SUM, ChunkStore

Array = NDArray[Any]
ROWS_BYTES = 16 << 20  # of rows that a thread puts in order at a time


class Filing:
    """A file to make of a store.

    Raises
    ------
    As `bgfmt.solve`, for what is wrong with the path, the format and its options.
    """

    def __init__(
        self, made: Job, path: PathLike, format: str | None, force: bool, options: dict[str, Any]
    ) -> None:
        check_output(path, force=force)
        self.made, self.path, self.force, self.options = made, path, force, options
        self.blank = made.table({name: promised(*shape) for name, shape in made.arrays().items()})
        self.target = target_of(path, format, self.blank, made, options)
        self.rows = 0  # that are written

    @property
    def size(self) -> int:
        """Bytes of the file, or about."""
        return self.made.plan().output

    @contextlib.contextmanager
    def opened(
        self, store: str, said: Described, threads: int, tell: Callable[[], None]
    ) -> Iterator[Callable[[int, int], None]]:
        """What the block calls with places first..past-1 of sides whose records are all in the store, each once.

        The file appears when the block ends well: the store is whole then. While that is waited for, `tell` is
        called after some rows.
        """
        if not self.target.takes_body(self.blank, self.options):
            yield lambda first, past: None
            self._afterwards(store)
            return
        with (
            create(self.path, force=self.force) as sink,
            self.target.body(sink, self.blank, **self.options) as arrays,
        ):
            merge = Merge(store, said, arrays[MAIN], sink, self._told)
            with ThreadPoolExecutor(threads) as pool, ThreadPoolExecutor(1) as disk:
                jobs: list[Future[None]] = []

                def whole(first: int, past: int) -> None:
                    some = [pool.submit(merge.put, *part) for part in merge.parts(first, past)]
                    jobs.extend([*some, disk.submit(merge.settle, some)])
                    for job in jobs:
                        if job.done():
                            job.result()

                try:
                    yield whole
                    for job in jobs:
                        job.result()
                        tell()
                finally:
                    pool.shutdown(cancel_futures=True)
                    disk.shutdown(cancel_futures=True)

    def _told(self, rows: int) -> None:
        self.rows += rows

    def _afterwards(self, store: str) -> None:
        from bgfmt.files.database import read_source

        with open_source(store) as source, create(self.path, force=self.force) as sink:
            self.target.write(read_source(source).table, sink, **self.options)


class Merge:
    """Puts rows of a store in order of position numbers, into the body of a file."""

    def __init__(
        self, store: str, said: Described, out: Array, sink: Sink, told: Callable[[int], None]
    ) -> None:
        self.store, self.said, self.sink, self.told = ChunkStore(store), said, sink, told
        self.order = in_pips(said.points, said.chequers)
        n, k = said.n, said.columns
        self.record = np.dtype("<u8" if k == 4 else "<u2")
        self.out = out.reshape(n, n * k).view(self.record)
        self.most = max(1, ROWS_BYTES // self.out[:1].nbytes)

    def parts(self, first: int, past: int) -> Iterator[tuple[int, int]]:
        """Places first..past-1 as pieces of one row of chunks."""
        chunk = self.said.chunk
        while first < past:
            last = min(past, first + self.most, (first // chunk + 1) * chunk)
            yield first, last
            first = last

    def put(self, first: int, past: int) -> None:
        """The rows of places first..past-1."""
        n, c, order = self.said.n, self.said.chunk, self.order
        a, low = divmod(first, c)
        placed = room("placed", (past - first, n), self.record.type)
        space = room("chunk", (c * c * self.record.itemsize + SUM + 1,), np.uint8)
        for b in range(-(-n // c)):
            square = self.store.get(MAIN, (a, b, 0), self.record, (c, c), space)
            placed[:, b * c : (b + 1) * c] = square[low : low + past - first, : n - b * c]
        line = room("line", (n,), self.record.type)
        for number, row in zip(order[first:past], placed, strict=True):
            line[order] = row
            self.sink.put(self.out[number], line)
        self.told(past - first)

    def settle(self, jobs: list[Future[None]]) -> None:
        """Have the disk keep what these jobs put, while other rows are made: it takes long at the end."""
        if not any(job.exception() for job in jobs):
            self.sink.settle()
