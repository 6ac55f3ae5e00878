"""Files on web servers, read by byte range through urllib3 (the extra `remote`).

The first request is a GET of the first page, never HEAD, since some servers answer HEAD with the length of a packed
body. Every later answer is checked: the range asked for, the length, and that the file is still the one that was
opened, by its ETag, else its Last-Modified, else its size.
"""

from __future__ import annotations

import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock, RLock, Thread
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import (
    CapabilityError,
    ClosedError,
    NetworkError,
    RangeNotSupportedError,
    SourceChangedError,
    extra,
    install_hint,
)
from bgfmt.storage.source import LocalCopy, MemorySource, Progress, RangeSource, Scheme, Source

T = TypeVar("T")
WHOLE_BYTES = 64 << 20
TIMEOUT = 30.0
RETRIES = 2
PAGE_BYTES = 64 << 10
BGTS_PAGE_BYTES = 16 << 10  # for compressed tables, where a record is three short pieces of the file
CACHE_BYTES = 16 << 20
GAP_PAGES = 1  # missing pages with at most this many present ones between them share a request
MAX_REQUEST_BYTES = 4 << 20
MAX_REQUESTS = 8  # at the same time
UNCACHED_READ_BYTES = 1 << 20  # reads of this size or more bypass the page cache


def open_url(
    url: str,
    *,
    page_bytes: int | None = None,
    cache_pages: int | None = None,
    whole_bytes: int = WHOLE_BYTES,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    headers: Mapping[str, str] | None = None,
) -> Source:
    """Open a file at an http or https address as a source that fetches and caches pages of it.

    Parameters
    ----------
    page_bytes
        Size of a page, a power of two from 4096; by default 65536, for addresses that end in .bgts 16384.
    cache_pages
        How many pages are kept in memory, by default 16 MiB of them.
    whole_bytes
        A file of at most this size is read whole if necessary: from a server without ranges, or for a format
        that is not read by range.
    timeout
        Seconds for one request, its response included.
    retries
        Further attempts after a network failure, 429 or 5xx; none once `timeout` seconds have passed.
    headers
        Further request headers.

    Raises
    ------
    NetworkError
        There is no usable response from the server.
    RangeNotSupportedError
        The server sends whole files only, and this one has more than `whole_bytes` bytes.
    MissingExtraError
        Without urllib3.
    """
    web = Web(url, timeout=timeout, retries=retries, headers=headers or {}, whole_bytes=whole_bytes)
    if page_bytes is None:
        page_bytes = BGTS_PAGE_BYTES if urlsplit(web.name).path.endswith(".bgts") else PAGE_BYTES
    if page_bytes < 4096 or page_bytes & (page_bytes - 1):
        raise CapabilityError(f"page_bytes must be a power of two of at least 4096, not {page_bytes}")
    cache_pages = CACHE_BYTES // page_bytes if cache_pages is None else cache_pages
    try:
        first, whole = web.fetch_first(page_bytes)
        if whole is not None:
            return WholeRemote(whole, web)
        return RemoteSource(web, first, page_bytes, cache_pages)
    except BaseException:
        web.close()
        raise


#: of http and https addresses
WEB = Scheme(
    open_url, frozenset({"page_bytes", "cache_pages", "whole_bytes", "timeout", "retries", "headers"})
)


class RemoteSource(RangeSource):
    """A file on a web server, read in pages.

    Pages are cached (least recently used), neighbouring ones fetched in one request. Arrays of more than a page
    become rows on demand. first : the first page.
    """

    far = True

    def __init__(self, web: Web, first: bytes, page_bytes: int, cache_pages: int) -> None:
        super().__init__(web.name, web.size, self._through_pages)
        self._web = web
        self.page_bytes = page_bytes
        self.max_eager_bytes = page_bytes
        self.cache_pages = max(2, cache_pages)
        self._pages = OrderedDict({0: first})
        self._lock = RLock()
        self._pool = ThreadPoolExecutor(MAX_REQUESTS, thread_name_prefix="bgfmt-fetch")

    def facts(self) -> dict[str, Any]:
        return self._web.facts()

    def read_whole(self) -> Source:
        """Read the whole file into memory; CapabilityError if it has more than `whole_bytes` bytes."""
        if self.size > self._web.whole_bytes:
            raise CapabilityError(
                f"{self.name}: this format must be read whole, and {self.size:,} bytes are more than the "
                f"{self._web.whole_bytes:,} that are fetched at most"
            )
        return WholeRemote(self.read(0, self.size), self._web)

    def local(self, progress: Progress | None = None) -> Source:
        return LocalCopy(self, progress)

    def close(self) -> None:
        super().close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._web.close()
        with self._lock:
            self._pages.clear()

    def _through_pages(self, offset: int, size: int) -> bytes:
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        if size >= UNCACHED_READ_BYTES:
            return self._fetch([(offset, size)])[0]
        first = offset // self.page_bytes
        last = (offset + size - 1) // self.page_bytes
        pages = self.pages(range(first, last + 1))
        at = offset - first * self.page_bytes
        return b"".join(pages[page] for page in range(first, last + 1))[at : at + size]

    def prefetch(self, parts: Sequence[tuple[int, int]]) -> None:
        wanted = [
            range(start // self.page_bytes, (min(start + size, self.size) - 1) // self.page_bytes + 1)
            for start, size in parts
            if size < UNCACHED_READ_BYTES
        ]
        most = max(1, self.cache_pages // 2)  # more would evict one another
        self.pages(sorted({page for pages in wanted for page in pages})[:most])

    def pages(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """Return pages of the file as {number: bytes}; those not cached are fetched, neighbours in one request."""
        with self._lock:
            numbers = sorted(numbers)
            missing = np.array([page for page in numbers if page not in self._pages], np.int64)
            groups = np.split(missing, np.flatnonzero(np.diff(missing) > GAP_PAGES + 1) + 1)
            ends = [(int(group[0]), int(group[-1]) + 1) for group in groups if len(group)]
            places = [(a * self.page_bytes, min(b * self.page_bytes, self.size)) for a, b in ends]
            fetched = self._fetch([(start, end - start) for start, end in places])
            for (first, past), data in zip(ends, fetched, strict=True):
                for page in range(first, past):
                    at = (page - first) * self.page_bytes
                    self._pages[page] = data[at : at + self.page_bytes]
            found = {page: self._pages[page] for page in numbers}
            for page in numbers:
                self._pages.move_to_end(page)
            while len(self._pages) > self.cache_pages:
                self._pages.popitem(last=False)
            return found

    def _fetch(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Fetch ranges (offset, size), long ones in pieces, with several requests at the same time."""
        if self._read is None:
            raise ClosedError(f"{self.name} is closed")
        pieces = [
            (at, min(MAX_REQUEST_BYTES, offset + size - at))
            for offset, size in ranges
            for at in range(offset, offset + size, MAX_REQUEST_BYTES)
        ]
        run = map if len(pieces) < 2 else self._pool.map
        done = iter(run(lambda piece: self._web.fetch(*piece), pieces))
        return [b"".join(next(done) for _ in range(0, size, MAX_REQUEST_BYTES)) for _, size in ranges]

    def pick(self, offset: int, width: int, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the records `numbers`, (m, width), of an array of records of `width` bytes that begins at `offset`.

        The pages of many records are fetched together.
        """
        out = np.empty((len(numbers), width), np.uint8)
        order = np.argsort(numbers, kind="stable")
        # a record may span two pages, which must still be cached when it is read
        step = max(1, self.cache_pages // 4)
        for start in range(0, len(order), step):
            part = order[start : start + step]
            self.prefetch([(offset + number * width, width) for number in numbers[part].tolist()])
            out[part] = super().pick(offset, width, numbers[part])
        return out


class WholeRemote(MemorySource):
    """A file of a web server that was read whole into memory."""

    def __init__(self, data: bytes, web: Web) -> None:
        super().__init__(data, web.name)
        self._web = web

    def facts(self) -> dict[str, Any]:
        return self._web.facts()

    def close(self) -> None:
        super().close()
        self._web.close()


def retry(ask: Callable[..., T]) -> Callable[..., T]:
    """Decorate a method of `Web` so that it is repeated after failures of the network, up to `web.retries` times."""

    def asking(web: Web, *numbers: int) -> T:
        begun = time.monotonic()
        for tries in range(web.retries + 1):
            try:
                return _within(web, lambda: ask(web, *numbers))
            except NetworkError as error:
                lasting = error.status is not None and error.status != 429 and error.status < 500
                late = time.monotonic() - begun + web.pause >= web.timeout
                if lasting or late or tries == web.retries:
                    raise
                time.sleep(max(0.25 * 2**tries, web.pause))
        raise AssertionError

    return asking


def _within(web: Web, ask: Callable[[], T]) -> T:
    """Return the result of a request; NetworkError if it takes more than `timeout` seconds in all.

    The timeouts of sockets start again with every byte, so a slow server would never be given up otherwise.
    """
    found: Future[T] = Future()

    def work() -> None:
        try:
            found.set_result(ask())
        except BaseException as error:
            found.set_exception(error)

    Thread(target=work, daemon=True, name="bgfmt-request").start()
    try:
        return found.result(web.timeout)
    except TimeoutError:
        text = f"no answer within {web.timeout:g} seconds"
        raise NetworkError(f"{web.name}: {text}") from None


class Web:
    """Requests for byte ranges of one address, its `name`, over persistent connections."""

    def __init__(
        self, url: str, *, timeout: float, retries: int, headers: Mapping[str, str], whole_bytes: int
    ) -> None:
        self.size = 0
        self.requests = self.bytes_fetched = 0
        self.timeout = timeout
        self.retries = retries
        self.whole_bytes = whole_bytes
        self.pause = 0.0  # seconds before the next attempt that the server asked for
        self.seen: str | None = None  # identifies the version of the file, see `version_mark`
        self._lock = Lock()
        self._urllib3 = extra("urllib3", "reading over the network needs urllib3", install_hint("remote"))
        self.name, own = strip_credentials(url, self._urllib3)
        self._headers = {"Accept-Encoding": "identity", "User-Agent": "bgfmt", **own, **headers}
        self._pool = self._manager()

    def facts(self) -> dict[str, Any]:
        """Return the counts `requests` and `bytes_fetched` since the file was opened."""
        return {"requests": self.requests, "bytes_fetched": self.bytes_fetched}

    def close(self) -> None:
        """Close the connections to the server."""
        self._pool.clear()

    def _manager(self) -> Any:
        """Return a connection pool, through the proxy that the environment names."""
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(self.name)
        proxy = getproxies().get(parts.scheme)
        options = {"maxsize": MAX_REQUESTS, "block": True}
        if proxy and not proxy_bypass(parts.hostname or ""):
            return self._urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", **options)
        return self._urllib3.PoolManager(**options)

    # -- requests ----------------------------------------------------------------------------------------

    @retry
    def fetch_first(self, size: int) -> tuple[bytes, bytes | None]:
        """Fetch the first `size` bytes: return (bytes, None), or (b"", whole file) if the server has no ranges."""
        with self._get(0, size) as response:
            if response.status == 200:
                return b"", self._read_whole_body(response)
            if response.status == 416:
                return b"", b""
            _, _, total = self._parse_content_range(response)
            if total is None:
                raise NetworkError(f"{self.name}: the server does not state the size of the file", 206)
            self.size = total
            self.seen = version_mark(response)
            return self._body(response, 0, min(size, total)), None

    @retry
    def fetch(self, offset: int, size: int) -> bytes:
        """Fetch `size` bytes from an offset; SourceChangedError if the file was replaced since it was opened."""
        with self._get(offset, size) as response:
            same = response.status == 206 and version_mark(response) == self.seen
            if not same or self._parse_content_range(response)[2] not in (None, self.size):
                text = "the file was replaced while it was read; open it again"
                raise SourceChangedError(f"{self.name}: {text}")
            return self._body(response, offset, size)

    # -- one request -------------------------------------------------------------------------------------

    @contextmanager
    def _get(self, offset: int, size: int) -> Iterator[Any]:
        """Request a range; return a context manager of the response, which is 200, 206 or 416."""
        headers = {**self._headers, "Range": f"bytes={offset}-{offset + size - 1}"}
        with self._lock:
            self.requests += 1
        retries = self._urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=5)
        timeout = self._urllib3.Timeout(total=self.timeout)
        response = None
        self.pause = 0.0
        try:
            response = self._pool.request(
                "GET", self.name, headers=headers, preload_content=False, retries=retries, timeout=timeout
            )
            if response.status not in (200, 206, 416):
                with suppress(ValueError, self._urllib3.exceptions.HTTPError):  # neither a number nor a date
                    self.pause = retries.get_retry_after(response) or 0.0
                text = f"{self.name}: the server answered with status {response.status}"
                raise NetworkError(text, response.status)
            yield response
            response.release_conn()
        except BaseException as error:
            if response is not None:
                response.close()  # some of its body may not be read
            if isinstance(error, NetworkError) or not isinstance(
                error, (self._urllib3.exceptions.HTTPError, OSError)
            ):
                raise
            raise NetworkError(f"{self.name}: {describe_error(error)}") from None

    def _parse_content_range(self, response: Any) -> tuple[int, int, int | None]:
        """Return first byte, last byte and total size (None if unknown) from the Content-Range of a 206 response."""
        text = response.headers.get("Content-Range", "")
        match = re.fullmatch(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)", text.strip(), re.IGNORECASE)
        if match is None:
            raise NetworkError(f"{self.name}: the server sent the range {text[:80]!r}", response.status)
        first, last, size = match.groups()
        return int(first), int(last), None if size == "*" else int(size)

    def _body(self, response: Any, offset: int, size: int) -> bytes:
        """Return the body, which must be exactly these bytes."""
        first, last, _ = self._parse_content_range(response)
        if (first, last) != (offset, offset + size - 1):
            asked = (
                f"{size:,} bytes at {offset:,} were requested, but the server sent bytes {first} to {last}"
            )
            raise NetworkError(f"{self.name}: {asked}", response.status)
        data = self._read(response, size, size + 1)
        if len(data) > size:
            text = f"the server sent more than the {size:,} bytes it announced"
            raise NetworkError(f"{self.name}: {text}", response.status)
        return data

    def _read(self, response: Any, least: int, most: int) -> bytes:
        """Read up to `most` bytes of the body, which must have at least `least`."""
        data: bytes = response.read(most, decode_content=False)
        with self._lock:
            self.bytes_fetched += len(data)
        if len(data) < least:
            text = f"the connection was cut after {len(data):,} of {least:,} bytes"
            raise NetworkError(f"{self.name}: {text}")
        return data

    def _read_whole_body(self, response: Any) -> bytes:
        """Return the whole file from a server without ranges; RangeNotSupportedError if it is too large for that."""
        length = response.headers.get("Content-Length", "")
        size = int(length) if length.isdecimal() and len(length) < 20 else None
        if size is None or size <= self.whole_bytes:
            data = self._read(response, size or 0, self.whole_bytes + 1)
            if len(data) <= self.whole_bytes:
                return data
        shown = f"{size:,}" if size is not None else f"more than {self.whole_bytes:,}"
        raise RangeNotSupportedError(
            f"{self.name}: the server does not support byte ranges, and its {shown} bytes are more than the "
            f"{self.whole_bytes:,} that are read whole (`whole_bytes`): download it, or `bgfmt serve` it there"
        )


def strip_credentials(url: str, urllib3: Any) -> tuple[str, dict[str, str]]:
    """Return the address without user name and password, and a dict with the request header that carries them.

    The dict is empty if the address has none. urllib3 : the module.
    """
    try:
        parts = urllib3.util.parse_url(url)
    except urllib3.exceptions.LocationParseError:
        parts = None
    if parts is None or not parts.host:
        raise NetworkError(f"{url.rpartition('@')[2][:200]}: not the address of a server")
    clean = parts._replace(auth=None, path=parts.path or "/", fragment=None).url
    if parts.auth is None:
        return clean, {}
    user, _, password = parts.auth.partition(":")
    return clean, dict(urllib3.make_headers(basic_auth=f"{unquote(user)}:{unquote(password)}"))


def version_mark(response: Any) -> str:
    """Return a text that identifies the version of a file: its ETag, else Last-Modified, else its size.

    response : of urllib3.
    """
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
    if tag is None:
        tag = response.headers.get("Content-Range", "").rpartition("/")[2]
    return str(tag).removeprefix("W/")


def describe_error(error: BaseException) -> str:
    """Describe a network error in a few words."""
    inner: Any = getattr(error, "reason", None) or error
    inner = getattr(inner, "reason", None) or inner
    if isinstance(inner, OSError) and inner.errno is not None:
        return os.strerror(inner.errno)
    text = str(inner).rpartition(": ")[2].rpartition("] ")[2] or type(inner).__name__
    return " ".join(text.split())[:200]
