"""Files on web servers, read by byte range through urllib3 (the extra `remote`).

The first request is a GET of the first page, never HEAD, since some servers answer HEAD with the length of a packed
body. Every later answer is checked: the range asked for, the length, and that the file is still the one that was
opened, by its ETag, else its Last-Modified, else its size.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bgfmt.errors import (
    CapabilityError,
    MissingExtraError,
    NetworkError,
    RangeNotSupportedError,
    SourceChangedError,
)
from bgfmt.storage.paged import AT_ONCE, CACHE_PAGES, PAGE_BYTES, PagedSource
from bgfmt.storage.responses import mark, reason, retry_after, shorn
from bgfmt.storage.source import MemorySource, Source

T = TypeVar("T")
WHOLE_BYTES = 64 << 20
TIMEOUT = 30.0
RETRIES = 2


def open_url(
    url: str,
    *,
    page_bytes: int = PAGE_BYTES,
    cache_pages: int = CACHE_PAGES,
    whole_bytes: int = WHOLE_BYTES,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    headers: Mapping[str, str] | None = None,
) -> Source:
    """The source of an http or https address.

    Parameters
    ----------
    page_bytes, cache_pages : size of a page, a power of two from 4096, and how many are kept.
    whole_bytes : a file of at most this size is read whole where that is needed: from a server without ranges, or
        for a format that is not read by range.
    timeout : seconds for one request. retries : further tries after a network failure, 429 or 5xx.

    Raises
    ------
    NetworkError, RangeNotSupportedError; MissingExtraError without urllib3.
    """
    if page_bytes < 4096 or page_bytes & (page_bytes - 1):
        raise CapabilityError(f"page_bytes is a power of two from 4096, not {page_bytes}")
    web = Web(url, timeout=timeout, retries=retries, headers=headers or {}, whole_bytes=whole_bytes)
    try:
        first, whole = web.first(page_bytes)
        if whole is not None:
            return WholeRemote(whole, web)
        return RemoteSource(web, first, page_bytes, cache_pages)
    except BaseException:
        web.close()
        raise


class RemoteSource(PagedSource):
    """A file on a web server, by pages."""

    def __init__(self, web: Web, first: bytes, page_bytes: int, cache_pages: int) -> None:
        assert web.size is not None
        super().__init__(web.name, web.size, web.fetch, page_bytes=page_bytes, cache_pages=cache_pages)
        self._web = web
        self.keep(0, first)

    def facts(self) -> dict[str, Any]:
        """Requests made and bytes fetched since it was opened."""
        return self._web.facts()

    def whole(self) -> Source:
        """All of it in memory; CapabilityError for a file too large for that."""
        if self.size > self._web.whole_bytes:
            raise CapabilityError(
                f"{self.name}: this format is read whole, and {self.size:,} bytes are more than the "
                f"{self._web.whole_bytes:,} that are fetched for that"
            )
        return WholeRemote(self.read(0, self.size), self._web)

    def close(self) -> None:
        super().close()
        self._web.close()


class WholeRemote(MemorySource):
    """A file of a web server that was read whole."""

    def __init__(self, data: bytes, web: Web) -> None:
        super().__init__(data, web.name)
        self._web = web

    def facts(self) -> dict[str, Any]:
        """Requests made and bytes fetched since it was opened."""
        return self._web.facts()

    def close(self) -> None:
        super().close()
        self._web.close()


class _Again(Exception):
    """A failure worth another try, after as many seconds as the server asks for."""

    def __init__(self, error: NetworkError, delay: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.delay = error, delay


class Web:
    """Byte ranges of one address, over connections that stay open."""

    def __init__(
        self, url: str, *, timeout: float, retries: int, headers: Mapping[str, str], whole_bytes: int
    ) -> None:
        self.size: int | None = None
        self.requests = self.bytes_fetched = 0
        self.timeout, self.retries, self.whole_bytes = timeout, retries, whole_bytes
        self._mark: str | None = None
        self._lock = Lock()
        self._urllib3 = _urllib3()
        self.url, self.name, own = shorn(url, self._urllib3)
        self._headers = {"Accept-Encoding": "identity", "User-Agent": "bgfmt", **own, **headers}
        self._pool = self._manager()

    def facts(self) -> dict[str, Any]:
        """Requests made and bytes fetched."""
        return {"requests": self.requests, "bytes_fetched": self.bytes_fetched}

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def _manager(self) -> Any:
        """Connections, through the proxy that the environment names."""
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(self.url)
        proxy = getproxies().get(parts.scheme)
        options = {"maxsize": AT_ONCE, "block": True}
        if proxy and not proxy_bypass(parts.hostname or ""):
            return self._urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", **options)
        return self._urllib3.PoolManager(**options)

    # -- what is asked -----------------------------------------------------------------------------------

    def first(self, size: int) -> tuple[bytes, bytes | None]:
        """The first page, and the whole file where the server knows no ranges."""
        return self._tried(lambda: self._first(size))

    def fetch(self, offset: int, size: int) -> bytes:
        """Exactly this range."""
        return self._tried(lambda: self._range(offset, size))

    def _first(self, size: int) -> tuple[bytes, bytes | None]:
        response = self._get(0, size)
        try:
            if response.status == 200:
                return b"", self._whole(response)
            if response.status == 416:
                self.size = 0
                return b"", b""
            _, last, total = self._said(response, 0)
            if total is None:
                raise NetworkError(f"{self.name}: the server does not say how large the file is", 206)
            if last != min(size, total) - 1:
                raise self._wrong(response, f"bytes 0 to {last}", 0, size)
            self.size, self._mark = total, mark(response)
            return self._body(response, last + 1), None
        finally:
            response.release_conn()

    def _range(self, offset: int, size: int) -> bytes:
        response = self._get(offset, size)
        try:
            if response.status in (200, 416) or mark(response) != self._mark:
                raise SourceChangedError(
                    f"{self.name}: the file was replaced while it was read; open it again"
                )
            first, last, total = self._said(response, offset)
            if total is not None and total != self.size:
                raise SourceChangedError(
                    f"{self.name}: the file was replaced while it was read; open it again"
                )
            if first != offset or last != offset + size - 1:
                raise self._wrong(response, f"bytes {first} to {last}", offset, size)
            return self._body(response, size)
        finally:
            response.release_conn()

    # -- one request -------------------------------------------------------------------------------------

    def _tried(self, ask: Callable[[], T]) -> T:
        """What `ask` gives, tried again after failures of the network."""
        for tries in range(self.retries + 1):
            try:
                return ask()
            except _Again as again:
                if tries == self.retries or again.delay > self.timeout:
                    raise again.error from None
                time.sleep(max(0.25 * 2**tries, again.delay))
        raise AssertionError

    def _get(self, offset: int, size: int) -> Any:
        headers = {**self._headers, "Range": f"bytes={offset}-{offset + size - 1}"}
        with self._lock:
            self.requests += 1
        retries = self._urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=5)
        timeout = self._urllib3.Timeout(total=self.timeout)
        try:
            response = self._pool.request(
                "GET", self.url, headers=headers, preload_content=False, retries=retries, timeout=timeout
            )
        except self._urllib3.exceptions.HTTPError as error:
            raise _Again(NetworkError(f"{self.name}: {reason(error)}")) from None
        if response.status in (200, 206, 416):
            return response
        response.release_conn()
        failed = NetworkError(f"{self.name}: the server answered {response.status}", response.status)
        if response.status == 429 or response.status >= 500:
            raise _Again(failed, retry_after(response))
        raise failed

    def _said(self, response: Any, offset: int) -> tuple[int, int, int | None]:
        """First and last byte and size, as a 206 says them."""
        said = response.headers.get("Content-Range", "")
        found = re.fullmatch(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)", said.strip(), re.IGNORECASE)
        if found is None:
            raise NetworkError(f"{self.name}: the server sent the range {said[:80]!r}", response.status)
        first, last = int(found[1]), int(found[2])
        return first, last, None if found[3] == "*" else int(found[3])

    def _wrong(self, response: Any, what: str, offset: int, size: int) -> NetworkError:
        text = f"{self.name}: asked for {size:,} bytes at {offset:,}, the server sent {what}"
        return NetworkError(text, response.status)

    def _body(self, response: Any, size: int) -> bytes:
        """The body, of exactly this many bytes."""
        data = self._read(response, size + 1)
        if len(data) > size:
            response.close()
            raise NetworkError(f"{self.name}: the server sent more than the {size:,} bytes it announced")
        if len(data) < size:
            raise _Again(
                NetworkError(f"{self.name}: the connection was cut after {len(data):,} of {size:,} bytes")
            )
        return data

    def _read(self, response: Any, most: int) -> bytes:
        pieces, length = [], 0
        try:
            while length < most:
                piece = response.read(min(1 << 20, most - length), decode_content=False)
                if not piece:
                    break
                pieces.append(piece)
                length += len(piece)
        except (self._urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            raise _Again(NetworkError(f"{self.name}: {reason(error)}")) from None
        finally:
            with self._lock:
                self.bytes_fetched += length
        return b"".join(pieces)

    def _whole(self, response: Any) -> bytes:
        """The file from a server without ranges, unless it is too large for that."""
        said = response.headers.get("Content-Length", "")
        size = int(said) if said.isdigit() and len(said) < 20 else None
        if size is None or size <= self.whole_bytes:
            data = self._read(response, self.whole_bytes + 1)
            if len(data) <= self.whole_bytes:
                if size is not None and len(data) < size:
                    raise _Again(
                        NetworkError(
                            f"{self.name}: the connection was cut after {len(data):,} of {size:,} bytes"
                        )
                    )
                self.size = len(data)
                return data
        response.close()
        shown = f"{size:,}" if size is not None else f"more than {self.whole_bytes:,}"
        raise RangeNotSupportedError(
            f"{self.name}: the server knows no byte ranges, and its {shown} bytes are more than the "
            f"{self.whole_bytes:,} that are read whole"
        )


def _urllib3() -> Any:
    try:
        import urllib3
    except ModuleNotFoundError:
        install = "pip install urllib3"
        raise MissingExtraError(f"reading over the network needs urllib3: {install}", install) from None
    return urllib3
