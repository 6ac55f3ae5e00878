"""The arrays of a table: an ndarray, a view of a mapped file, or rows made on demand.

All have the same interface: `shape`, `dtype`, `len`, indexing by number or slice along the first axis,
`np.asarray`.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "RANDOM_ACCESS_BYTES",
    "Array",
    "LazyRows",
    "Rows",
    "corner_of_pairs",
    "corner_of_rows",
    "mapping_of",
    "normalize_indices",
    "random_access",
]


Array = NDArray[Any]
RANDOM_ACCESS_BYTES = 1 << 28  # larger mapped arrays are read without read-ahead


class Rows(Protocol):
    """The interface of every array of a table: rows along the first axis."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, followed by the shape of one row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of every number."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __array__(self) -> Any: ...


class LazyRows:
    """Rows made on demand: `fetch(start, stop)` returns rows start..stop-1 as an ndarray.

    `rows[:, 3:5]` is lazy too.

    pick(numbers), if given, returns the rows of an int64 array of row numbers; without it each is fetched by
    itself. pairs(us, them), if given, returns the records of pairs [us, them], two int64 arrays; without it
    whole rows are made for them.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any] | str,
        fetch: Callable[[int, int], Array],
        pick: Callable[[NDArray[np.int64]], Array] | None = None,
        pairs: Callable[[NDArray[np.int64], NDArray[np.int64]], Array] | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._fetch = fetch
        self._pick = pick
        self._pairs = pairs

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, tuple):
            return self._at(key)
        if isinstance(key, (int, np.integer)):
            number = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= number < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return self._fetch(number, number + 1)[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step > 0:
                return self._fetch(start, max(start, stop))[::step]
        numbers = normalize_indices(key, len(self)) if _is_number(key) else np.arange(len(self))[key]
        flat = numbers.reshape(-1)
        if self._pick is not None:
            rows = self._pick(flat)
        else:
            rows = np.empty((len(flat), *self.shape[1:]), self.dtype)
            for i, one in enumerate(flat):
                rows[i] = self._fetch(int(one), int(one) + 1)[0]
        return rows.reshape(numbers.shape + self.shape[1:])

    def _at(self, key: tuple[Any, ...]) -> Any:
        """Index several axes, as an ndarray does."""
        first = key[0]
        rest = key[1:]
        if self._pairs is not None and len(key) > 1 and all(map(_is_number, key[:2])):
            sides = np.broadcast_arrays(*map(normalize_indices, key[:2], self.shape[:2]))
            found = self._pairs(*(side.reshape(-1) for side in sides))
            return found.reshape(*sides[0].shape, *self.shape[2:])[(..., *key[2:])]
        whole = isinstance(first, slice) and first == slice(None)
        if whole and len(self.shape) == 2 and isinstance(rest[0], slice):
            which = rest[0]  # some columns of all rows, still on demand
            shape = len(self), len(range(*which.indices(self.shape[1])))
            return LazyRows(shape, self.dtype, lambda a, b: self[a:b][:, which], lambda k: self[k][:, which])
        rows = self[first]
        if isinstance(first, np.ndarray) and rest and isinstance(rest[0], np.ndarray):
            return rows[(np.arange(len(rows)), *rest)]  # pairs
        return rows[rest] if isinstance(first, (int, np.integer)) else rows[(slice(None), *rest)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self._fetch(0, len(self)), dtype)


def _is_number(key: Any) -> bool:
    whole = isinstance(key, (int, np.integer))
    return whole or (isinstance(key, (np.ndarray, list)) and np.asarray(key).dtype.kind in "iu")


def normalize_indices(key: Any, size: int) -> NDArray[np.int64]:
    """Convert indices along an axis, of which negative ones count from its end, to indices from 0.

    key : an integer or an array of them. size : length of the axis. IndexError for an index out of bounds.
    """
    numbers = np.asarray(key, np.int64)
    numbers = np.where(numbers < 0, numbers + size, numbers)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= size):
        raise IndexError(f"an index is not from 0 to {size - 1}")
    return numbers


def mapping_of(rows: Rows) -> mmap.mmap | None:
    """Return the mmap of the file that an array is a view of, or None for any other array."""
    base: Any = rows if isinstance(rows, np.ndarray) else None
    while isinstance(base, np.ndarray):
        base = base.base
    mapped = getattr(base, "obj", base)
    return mapped if isinstance(mapped, mmap.mmap) else None


@contextmanager
def random_access(rows: Rows) -> Iterator[None]:
    """Mark a large mapped file as read at random (MADV_RANDOM: no read-ahead) while the block runs.

    Use it around reads of entries in any order, so that the disk reads only their own pages.
    """
    mapped = mapping_of(rows) if isinstance(rows, np.ndarray) and rows.nbytes > RANDOM_ACCESS_BYTES else None
    if mapped is None or not hasattr(mmap, "MADV_RANDOM"):
        yield
        return
    mapped.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        mapped.madvise(mmap.MADV_NORMAL)


def corner_of_rows(rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
    """Return the rows of an array for a table of a smaller size: `n` rows.

    numbers : their row numbers in `rows`; if None they are the first `n`. Rows other than those of an ndarray are
    made on demand.
    """
    if numbers is None and isinstance(rows, np.ndarray):
        return rows[:n]
    chosen = np.arange(n) if numbers is None else numbers
    return LazyRows(
        (n, *rows.shape[1:]),
        rows.dtype,
        lambda a, b: np.asarray(rows[a:b] if numbers is None else rows[numbers[a:b]]),
        lambda k: rows[chosen[k]],
    )


def corner_of_pairs(rows: Rows, n: int, numbers: NDArray[np.int64] | None) -> Rows:
    """Return the records of pairs, indexed [us, them], for a table of a smaller size: `n` rows and `n` columns.

    numbers : their numbers in `rows`, along both axes; if None they are the first `n`.
    """
    if numbers is None and isinstance(rows, np.ndarray):
        return rows[:n, :n]
    shape = (n, n, *rows.shape[2:])
    columns = np.arange(n) if numbers is None else numbers

    def fetch(start: int, stop: int) -> Array:
        out = np.empty((stop - start, *shape[1:]), rows.dtype)
        for k in range(start, stop):  # a row is thousands of records: take those, not rows of the wider table
            np.take(np.asarray(rows[int(columns[k])]), columns, axis=0, out=out[k - start], mode="clip")
        return out

    return LazyRows(shape, rows.dtype, fetch)
