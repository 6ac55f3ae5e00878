"""A source read in pages: each kept, the least recently used let go, neighbours fetched together, many at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import RLock
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import ClosedError
from bgfmt.storage.brought import Brought
from bgfmt.storage.ranges import RangeRows, RangeSource
from bgfmt.storage.source import Progress, Source, length_of

PAGE_BYTES = 64 << 10
CACHE_PAGES = 256
GAP_PAGES = 1  # missing pages with no more than this many others between them are asked for together
LONGEST = 4 << 20  # bytes of one request
AT_ONCE = 8  # requests under way
WALK = 1 << 20  # bytes from which a reading is a walk through the file, which no page is kept of


class Fetch(Protocol):
    """Gives exactly these bytes, or raises."""

    def __call__(self, offset: int, size: int, /) -> bytes: ...


class PagedSource(RangeSource):
    """Bytes that cost a request each time.

    fetch : gives a range. page_bytes : a power of two. Arrays of more than a page or two become rows on demand.
    """

    def __init__(
        self,
        name: str,
        size: int,
        fetch: Fetch,
        *,
        page_bytes: int = PAGE_BYTES,
        cache_pages: int = CACHE_PAGES,
    ) -> None:
        super().__init__(name, size, self._through_pages)
        self._fetch, self.page_bytes, self.cache_pages = fetch, page_bytes, max(2, cache_pages)
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._lock = RLock()
        self._pool: ThreadPoolExecutor | None = None

    def keep(self, page: int, data: bytes) -> None:
        """Put a page into the cache."""
        with self._lock:
            self._kept[page] = data
            self._kept.move_to_end(page)
            while len(self._kept) > self.cache_pages:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        super().close()
        self.forget()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def local(self, progress: Progress | None = None) -> Source:
        return Brought(self, progress)

    def array(self, dtype: Any, shape: tuple[int, ...], offset: int, what: str = "table") -> NDArray[Any]:
        kind = np.dtype(dtype)
        size = length_of(shape) * kind.itemsize
        self.need(offset + size, what)
        if size <= self.page_bytes:
            return np.frombuffer(self.read(offset, size, what), kind).reshape(shape)
        return cast(NDArray[Any], RangeRows(self, kind, shape, offset))

    # -- pages -------------------------------------------------------------------------------------------

    def _through_pages(self, offset: int, size: int) -> bytes:
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        if size >= WALK:
            return b"".join(self._many([(offset, size)]))
        first, last = offset // self.page_bytes, (offset + size - 1) // self.page_bytes
        pages = self.pages(range(first, last + 1))
        data = b"".join(pages[page] for page in range(first, last + 1))
        at = offset - first * self.page_bytes
        return data[at : at + size]

    def pages(self, wanted: Iterable[int]) -> dict[int, bytes]:
        """These pages, those that are missing fetched together."""
        with self._lock:
            found, missing = {}, []
            for page in wanted:
                if page in self._kept:
                    self._kept.move_to_end(page)
                    found[page] = self._kept[page]
                else:
                    missing.append(page)
            stretches = list(self._stretches(sorted(missing)))
            ranges = [self._range(first, last) for first, last in stretches]
            for (first, last), data in zip(stretches, self._many(ranges), strict=True):
                for page in range(first, last + 1):
                    at = (page - first) * self.page_bytes
                    found[page] = data[at : at + self.page_bytes]
                    self.keep(page, found[page])
            return found

    def _stretches(self, missing: Sequence[int]) -> Iterator[tuple[int, int]]:
        longest = max(1, LONGEST // self.page_bytes)
        if not missing:
            return
        first = missing[0]
        for before, page in pairwise(missing):
            if page - before > GAP_PAGES + 1 or page - first >= longest:
                yield first, before
                first = page
        yield first, missing[-1]

    def _range(self, first: int, last: int) -> tuple[int, int]:
        offset = first * self.page_bytes
        return offset, min((last + 1) * self.page_bytes, self.size) - offset

    def _many(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of ranges, long ones in pieces, several requests at once."""
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        pieces = [
            (at, min(LONGEST, offset + size - at))
            for offset, size in ranges
            for at in range(offset, offset + size, LONGEST)
        ]
        if len(pieces) <= 1:
            return [self._fetch(*piece) for piece in pieces]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="bgfmt-fetch")
        done = iter(self._pool.map(lambda piece: self._fetch(*piece), pieces))
        return [b"".join(next(done) for _ in range(0, size, LONGEST)) for _, size in ranges]

    # -- records -----------------------------------------------------------------------------------------

    def pick(self, offset: int, width: int, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Records of `width` bytes from `offset` on by number, (N, width), in the order asked."""
        out = np.empty((len(numbers), width), np.uint8)
        order = np.argsort(numbers, kind="stable")
        begins = offset + numbers[order] * width
        first, last = begins // self.page_bytes, (begins + width - 1) // self.page_bytes
        room, touched = max(1, self.cache_pages // 2), _touched(first, last)
        start = 0
        while start < len(order):
            before = int(touched[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(touched, before + room, side="right")))
            part = slice(start, stop)
            wanted = np.unique(np.concatenate([first[part], last[part]]))
            if width > self.page_bytes:
                wanted = np.unique(
                    np.concatenate(
                        [np.arange(a, b + 1) for a, b in zip(first[part], last[part], strict=True)]
                    )
                )
            pages = self.pages(wanted.tolist())
            held = np.zeros(len(wanted) * self.page_bytes, np.uint8)
            for k, page in enumerate(wanted.tolist()):
                held[k * self.page_bytes :][: len(pages[page])] = np.frombuffer(pages[page], np.uint8)
            at = np.searchsorted(wanted, first[part]) * self.page_bytes + begins[part] % self.page_bytes
            out[order[part]] = held[at[:, None] + np.arange(width)]
            start = stop
        return out


def _touched(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pages the first record, the first two, ... lie in; both arrays ascend."""
    news = last - np.maximum(first - 1, np.concatenate([[-1], last[:-1]]))
    out: NDArray[np.int64] = np.cumsum(np.maximum(news, 0))
    return out
